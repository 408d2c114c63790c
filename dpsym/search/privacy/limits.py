"""Parameters at whose least value a proof breaks down, where the claim is a limit of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpsym.kernel import terms as tm
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import PREFIX, RATIO, Assumed, Fact, Guarantee, Statement
from dpsym.kernel.terms import ZERO, Term, var
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


def ends(goal: Statement, bound: Term, needed: Sequence[Fact]) -> bool:
    """Whether something that is needed fails where a bound >= 0 that is a variable is 0."""
    if bound.op != "var" or Fact(bound, ">=") not in goal.facts or Fact(bound, ">") in goal.facts:
        return False
    at_zero = [
        {**values, str(bound.value): 0.0} for values in points(goal.variables, goal.facts, count=2)
    ]
    return any(
        fact.rel != ">=" and not abs(number(fact.term, values)) > _SMALL
        for fact in needed
        for values in at_zero
    )


def total_variation(goal: Statement) -> Guarantee | None:
    """A bound of the total variation distance that is 0 with the bound of the stage's guarantee."""
    (claim,), stage = goal.claims, goal.stages[0]
    if len(goal.stages) > 1 or not isinstance(stage, Assumed):
        return None
    one = stage.guarantees[0]
    last = one.args[-1]
    if last is None or one.name not in ("ZCDP", "KLDP"):
        return None
    loss = tm.sqrt(tm.exp(2 * last) - 1) / 2 if one.name == "ZCDP" else tm.sqrt(last / 2)
    return Guarantee("ApproxDP", (ZERO, loss), claim.two_way, claim.reverse)


def kept(goal: Statement) -> tuple[Fact, ...]:
    """The facts about what the stage says, but those that a distinction has added."""
    stage = goal.stages[0]
    given = stage.guarantees if isinstance(stage, Assumed) else ()
    own = frozenset().union(*(arg.vars for one in given for arg in one.args if arg is not None))
    return tuple(fact for fact in goal.facts if fact.term.vars <= own and fact.term.op != "mul")
