"""Guarantees compared, in canonical form or at sample points."""

from __future__ import annotations

import math

from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules_privacy import stage_data
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import Assumed, Fact, Guarantee, Stage, Statement
from dpsym.kernel.terms import MINUS_ONE, ZERO, Term
from dpsym.search import leaf
from dpsym.search.privacy import library
from dpsym.search.privacy.concentration import reaches
from dpsym.search.privacy.families import epsilon
from dpsym.search.privacy.limits import ends
from dpsym.search.privacy.stages import Total
from dpsym.search.samples import number, points

_TOLERANCE = 1e-9


def meets(total: Guarantee, claim: Guarantee, goal: Statement) -> bool:
    """Whether the claim's arguments are at least the total's, at sample points."""
    if (
        total.name.startswith("RenyiDP")
        and total.name == claim.name
        and not equal(total.args[0], claim.args[0], goal)
    ):
        return False
    if "MomentBound" in (total.name, claim.name):
        return False
    pairs = [(epsilon(total), epsilon(claim))]
    if claim.name in ("ApproxDP", "ProbabilisticDP") and len(total.args) == 2:
        pairs.append((total.args[1] or epsilon(total), claim.args[1] or epsilon(claim)))
    for values in points(goal.variables, goal.facts):
        for ours, theirs in pairs:
            gap = number(theirs, values) - number(ours, values)
            if math.isnan(gap) or gap < -_TOLERANCE * (1 + abs(number(theirs, values))):
                return False
    return True


def equal(first: Term | None, second: Term | None, goal: Statement) -> bool:
    if first is None or second is None:
        return first is second
    canon = context(goal.facts).canon
    try:
        return first is second or canon.is_zero(canon(first - second))
    except Refusal:  # one of them is undefined
        return False


def same(total: Guarantee, claim: Guarantee, goal: Statement) -> bool:
    return total.name == claim.name and all(
        equal(a, b, goal) for a, b in zip(total.args, claim.args, strict=True)
    )


def from_family(family: Guarantee, claim: Guarantee, goal: Statement) -> bool:
    """Whether zCDP gives a Rényi guarantee that is not the one it is proved by."""
    order, rho = claim.args[0], family.args[0]
    if order is None or rho is None or not reaches(family, claim, goal):
        return False
    return order.op != "var" or not equal(order * rho, claim.args[1], goal)


def needs_more(goal: Statement, one: Guarantee, found: library.Use) -> bool:
    """Whether a theorem does not hold where the guarantee's bound is 0."""
    last = one.args[-1]
    needed = [fact.substitute(dict(found[1])) for fact in found[0].statement.facts]
    return last is not None and ends(goal, last, needed)


def is_pure(total: Total, claim: Guarantee, goal: Statement) -> bool:
    """Pure DP, for approximate DP of another epsilon."""
    pure = total.many.name == "PureDP" and claim.name == "ApproxDP"
    return pure and not equal(total.many.args[0], claim.args[0], goal)


def hockey(stage: Stage) -> tuple[Term, Term] | None:
    """The epsilon and delta of a stage with pure or approximate DP."""
    for one in stage.guarantees if isinstance(stage, Assumed) else ():
        loss = one.args[0]
        if one.two_way and loss is not None and one.name in ("PureDP", "ApproxDP"):
            return loss, (one.args[1] if len(one.args) > 1 else None) or ZERO
    return None


def usable(stage: object, family: str) -> Guarantee | None:
    """The stage's guarantee that helps most towards the family."""
    guarantees = stage.guarantees if isinstance(stage, Assumed) else ()
    for name in (family, *_PREFERRED):
        for guarantee in guarantees:
            if guarantee.name == name:
                return guarantee
    return None


def range_of(goal: Statement) -> int | None:
    """The place of a bounded range of the only stage, if its support is not known yet."""
    stage = goal.stages[0]
    if len(goal.stages) > 1 or not isinstance(stage, Assumed) or stage_data(stage).supports:
        return None
    names = [one.name if one.two_way else "" for one in stage.guarantees]
    return names.index("BoundedRange") if "BoundedRange" in names else None


def turns(item: Term, goal: Statement) -> bool:
    """Whether the term has either sign at sample points."""
    values = [number(item, point) for point in points(goal.variables, goal.facts)]
    return min(values, default=0) < -_TOLERANCE and max(values, default=0) > _TOLERANCE


def contradictory(goal: Statement) -> bool:
    """Whether it is easy that the facts contradict each other."""
    return leaf.easy(Sequent(goal.facts, Fact(MINUS_ONE, ">=")))


def new_name(goal: Statement, stem: str) -> str:
    names = {name for name, _ in goal.variables}
    while stem in names:
        stem += "'"
    return stem


_PREFERRED = ("PureDP", "ApproxDP", "ProbabilisticDP", "RenyiDP", "RenyiDPBelowOne", "KLDP")
