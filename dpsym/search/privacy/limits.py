"""Parameters at whose least value a proof breaks down, where the claim is a limit of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpsym.kernel import terms as tm
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import PREFIX, RATIO, Assumed, Fact, Statement
from dpsym.kernel.terms import var
from dpsym.search.samples import number, points

_SMALL = 1e-12


def vanishing(goal: Statement, premises: Sequence[Sequent]) -> Iterator[str]:
    """Parameters x >= 0 for which some premise asks something of x = 0 that is not so there."""
    (claim,) = goal.claims
    last = claim.args[-1]
    if len(goal.stages) > 1 or last is None or not isinstance(goal.stages[0], Assumed):
        return
    if any(item.op == "ite" for item in tm.subterms(last)):
        return
    strict = [one for one in premises if one.goal.rel != ">=" and not one.vars & {RATIO, PREFIX}]
    given = goal.stages[0].guarantees
    own = frozenset().union(*(arg.vars for one in given for arg in one.args if arg is not None))
    before = frozenset().union(*(arg.vars for arg in claim.args[:-1] if arg is not None))
    for name in sorted((own & last.vars) - before):
        x = var(name)
        others = [fact for fact in goal.facts if name in fact.term.vars and fact.term is not x]
        if others or Fact(x, ">=") not in goal.facts or Fact(x, ">") in goal.facts:
            continue
        samples = points(goal.variables, goal.facts, count=2)
        if any(_fails(one, {**values, name: 0.0}) for one in strict for values in samples):
            yield name


def _fails(sequent: Sequent, values: dict[str, float]) -> bool:
    value = number(sequent.goal.term, values)
    return not abs(value) > _SMALL
