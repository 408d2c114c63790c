"""Rényi divergences at whole orders of what is made of Poisson samples, for claims of other kinds.

A sample's divergence at order n follows from the mechanism's at the orders 2 to n; it adds up over
copies and stages, and gives (epsilon, delta) and divergences of smaller orders.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import reduce

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.balls import Evaluator, Undefined, exact, precision
from dpsym.kernel.sequents import context
from dpsym.kernel.statements import (
    REAL,
    Assumed,
    Blend,
    Choice,
    Guarantee,
    Inner,
    Joint,
    Repeated,
    Stage,
    Statement,
    shapes,
)
from dpsym.kernel.terms import ZERO, Term, num
from dpsym.search.optimal.numbers import rounded
from dpsym.search.privacy.sampling import divergence, is_poisson, of_one
from dpsym.search.privacy.stages import Known, alone, wholes
from dpsym.search.samples import number, points

_SYMBOLIC, _NUMBERS = range(2, 17), range(2, 65)
_TRIED, _HALF = 3, 0.5
_TOLERANCE, _BITS, _SPARE = 1e-9, 192, fmpq(1, 10**12)


def sampled(stages: tuple[Stage, ...]) -> bool:
    """Whether some of it is a Poisson sample that is not everything or nothing."""
    every = (one for stage in stages for one in shapes(stage))
    return any(isinstance(one, Blend) and is_poisson(one) and alone(one) is None for one in every)


def at_order(stage: Stage | Inner, n: int, known: Known) -> Term | None:
    """A bound of the Rényi divergence of the whole order n, in both directions."""
    if isinstance(stage, Repeated):
        each = at_order(stage.stage, n, known)
        return None if each is None else stage.count * each
    if isinstance(stage, (Joint, Choice)):
        parts = [part for one in stage.stages if (part := at_order(one, n, known)) is not None]
        if len(parts) < len(stage.stages):
            return None
        return tm.add(*parts) if isinstance(stage, Joint) else reduce(tm.maximum, parts)
    if isinstance(stage, Blend):
        sure = alone(stage)
        if sure is not None:
            return at_order(sure, n, known)
        inside = stage.links[0].stage
        every = inside.guarantees if isinstance(inside, Assumed) else ()
        single = ((one,) for one in _wholes(inside, n, known))
        found = (divergence(stage, given, n) for given in ((every,) if every else single))
        return next((one.args[-1] for one in found if one is not None), None)
    values = (of_one(one, n) for one in _wholes(stage, n, known))
    return next((value for value in values if value is not None), None)


def _wholes(stage: Stage | Inner, n: int, known: Known) -> list[Guarantee]:
    claim = Guarantee("RenyiDP", (num(n), ZERO))
    return [one for one in wholes(stage, claim, known) if one.two_way]


def proposals(goal: Statement, known: Known) -> Iterator[Guarantee]:
    """Divergences of all stages together that give the claim at sample values: at numbers the one
    that is best by itself, else the smallest orders first."""
    (claim,) = goal.claims
    samples = points(goal.variables, goal.facts)
    terms = (at_order(Joint(goal.stages), 2, known), *claim.args)  # type: ignore[arg-type]
    numbers = all(term is None or not term.vars for term in terms)
    found = []
    for n, total in _totals(goal, known, _NUMBERS if numbers else _SYMBOLIC):
        spares = (_spare(claim, n, number(total, at), at) for at in samples)
        spare = min(spares, default=-math.inf)
        if spare >= -_TOLERANCE:
            found.append((spare, _divergence(n, total)))
    if numbers:
        found.sort(key=lambda pair: -pair[0])
    yield from (one for _, one in found[:_TRIED])


def best_of(goal: Statement, known: Known) -> Guarantee | None:
    """The divergence of all stages together from which the most follows, at numbers but for one
    argument of the claim."""
    (claim,) = goal.claims
    mass = claim.args[-1]
    small = claim.name == "ApproxDP" and mass is not None and not mass.vars
    at = {name: 0.0 if small else _HALF for name, _ in goal.variables}
    found = []
    for n, total in _totals(goal, known, _NUMBERS):
        spare = _spare(claim, n, number(total, at), at)
        if claim.name == "ApproxDP" and not small:  # a smaller mass for the same loss
            spare *= n - 1
        found.append((spare, _divergence(n, total)))
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _divergence(n: int, total: Term) -> Guarantee:
    return Guarantee("RenyiDP", (num(n), total if total.vars else above(total)))


def _totals(goal: Statement, known: Known, orders: Iterable[int]) -> Iterator[tuple[int, Term]]:
    """Bounds of the divergences of all stages together, at the orders that may help."""
    least = _least(goal.claims[0])
    whole = Joint(goal.stages)  # type: ignore[arg-type]
    for n in () if least is None else (least,) if least else orders:
        total = at_order(whole, n, known)
        if total is None:
            return
        yield n, total


def above(item: Term) -> Term:
    """A short number just above, if that can be told."""
    with precision(_BITS):
        try:
            high = exact(Evaluator({}, True)(item)[1])
        except Undefined:
            high = None
    return item if high is None else num(rounded(high + abs(high) * _SPARE, up=True))


def of_any_total(
    goal: Statement, name: str
) -> tuple[Statement, tuple[tuple[str, Term], ...]] | None:
    """For a bound x and the claim of a loss x + c, or of a mass with e^x: that with a variable for
    x, and what it stands for."""
    (stage,), (claim,) = goal.stages, goal.claims
    (one,) = stage.guarantees if isinstance(stage, Assumed) else (claim,)
    total, loss = one.args[-1], claim.args[0]
    if claim.name != "ApproxDP" or total is None or loss is None or not total.vars:
        return None
    rest = context(goal.facts).canon.normal(loss - total)
    if rest.size >= loss.size:
        return None
    x = tm.var(name)
    known = Assumed((replace(one, args=(*one.args[:-1], x)),))
    more = replace(claim, args=(x + rest, *claim.args[1:]))
    variables = (*goal.variables, (name, REAL))
    mapping = ((name, total), *((own, tm.var(own)) for own, _ in goal.variables))
    return Statement(variables, goal.facts, (known,), (more,)), mapping


def _least(claim: Guarantee) -> int | None:
    """The smallest order that a claim can follow from; 0 if any may be the best."""
    if claim.name in ("ApproxDP", "KLDP"):
        return 0 if claim.name == "ApproxDP" else 2
    order = claim.args[0] if claim.name.startswith("RenyiDP") else None
    value = None if order is None else order.value
    if not isinstance(value, fmpq) or (value.q == 1 and value >= 2):
        return None  # a whole order is proved as it is
    return max(2, int(value.ceil()))


def _spare(claim: Guarantee, n: int, total: float, at: dict[str, float]) -> float:
    """By how much the loss of the claim, or its bound, is above what follows: Canonne, Kamath and
    Steinke (2020), Proposition 12."""
    bounds = [number(arg, at) for arg in claim.args if arg is not None]
    if claim.name != "ApproxDP":
        return bounds[-1] - total
    loss, mass = bounds
    if not 0 < mass < 1:
        return math.inf if mass >= 1 else -math.inf
    return loss - total - math.log1p(-1 / n) + (math.log(mass) + math.log(n)) / (n - 1)
