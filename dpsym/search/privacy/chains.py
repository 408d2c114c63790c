"""Rényi divergences along a chain of two pairs, by Hölder's inequality.

For the orders a > alpha of (R_0, R_1) and b = 1 + (alpha - 1) / v of (R_1, R_2), with u = alpha / a
and v = 1 - u, the integral of p^alpha q^(1 - alpha) is at most X^u Y^v, where X and Y bound the
moments of the two pairs (Langlois, Stehle and Steinfeld (2014), Lemma 4.1; Mironov (2017),
Proposition 11). By Young's inequality that is a sum of multiples of the two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import to_term
from dpsym.kernel.sequents import context
from dpsym.kernel.statements import Assumed, Blend, Fact, Guarantee, Single, Statement
from dpsym.kernel.terms import ONE, ZERO, Term
from dpsym.search.leaf.hinted import Have
from dpsym.search.samples import number, points

_CLOSE = 1e-9
_ENDS = (ONE, ZERO, ZERO), (ZERO, ZERO, ONE)


@dataclass(frozen=True)
class Orders:
    """A guarantee for each of the two links, the multipliers of the four moments, and the two
    tangents of exp that make Young's inequality."""

    links: tuple[Guarantee, Guarantee]
    moments: tuple[tuple[Term, ...], ...]
    tangents: tuple[Have, Have]


def is_chain(stage: Blend) -> bool:
    places = [(link.first, link.second) for link in stage.links]
    return (stage.p, stage.q) == _ENDS and places == [(0, 1), (1, 2)]


def orders(goal: Statement, stage: Blend) -> Orders | None:
    """Orders for a claim of Rényi DP, from two zCDP guarantees or from Rényi guarantees."""
    (claim,) = goal.claims
    alpha = claim.args[0]
    if claim.name != "RenyiDP" or alpha is None:
        return None
    stages = [link.stage for link in stage.links]
    if claim.reverse:
        stages.reverse()
    canon = context(goal.facts).canon

    def short(item: Term) -> Term:
        return to_term(canon(item))

    found = _of_zcdp(stages, alpha, short) or _of_renyi(stages, alpha, short, goal)
    if found is None:
        return None
    (a, first), (b, second) = found
    u = short(alpha / a)
    v = short(1 - u)
    size = short((a - 1) * first), short((b - 1) * second)
    exponents = short((u - 1) * size[0] + v * size[1]), short(u * size[0] + (v - 1) * size[1])
    weights = [w * tm.exp(e) for w, e in zip((u, v), exponents, strict=True)]
    logs = (ZERO, tm.log(tm.var("$r1")), tm.log(tm.var("$r2")))
    p, r, q = reversed(logs) if claim.reverse else logs
    whole = alpha * p + (1 - alpha) * q
    parts = (a * p + (1 - a) * r, b * r + (1 - b) * q)
    tangents = [_tangent(e + part - whole) for e, part in zip(exponents, parts, strict=True)]
    links = [Guarantee("RenyiDP", pair) for pair in found]
    if claim.reverse:
        links.reverse()
        weights.reverse()
    rows = tuple((ZERO, w) if claim.reverse else (w, ZERO) for w in weights)
    return Orders((links[0], links[1]), rows, (tangents[0], tangents[1]))


Pair = tuple[Term, Term]  # an order and a bound of the divergence


def _of_zcdp(
    stages: list[Single], alpha: Term, short: Callable[[Term], Term]
) -> tuple[Pair, Pair] | None:
    """The best orders for two zCDP guarantees."""
    first, second = map(_zcdp, stages)
    if first is None or second is None:
        return None
    s = short(tm.sqrt(short(second / first)))
    a, b = short(alpha + (alpha - 1) * s), short(alpha + alpha / s)
    return (a, short(first * a)), (b, short(second * b))


def _of_renyi(
    stages: list[Single], alpha: Term, short: Callable[[Term], Term], goal: Statement
) -> tuple[Pair, Pair] | None:
    """Orders among those that are given, or below one that is."""
    given = [
        [
            (one.args[0], one.args[1])
            for one in (stage.guarantees if isinstance(stage, Assumed) else ())
            if one.name == "RenyiDP" and one.two_way
        ]
        for stage in stages
    ]
    samples = points(goal.variables, goal.facts)
    for a, first in given[0]:
        if a is None or first is None or not all(number(a - alpha, v) > 0 for v in samples):
            continue
        b = short(1 + (alpha - 1) / (1 - alpha / a))
        above = [
            (number(order - b, samples[0]), order, second)
            for order, second in given[1]
            if order is not None and second is not None and samples
            if all(number(order - b, values) >= -_CLOSE for values in samples)
        ]
        if above:
            return (a, first), (b, min(above, key=lambda entry: entry[0])[2])
    return None


def _tangent(item: Term) -> Have:
    return Have(Fact(tm.exp(item) - 1 - item, ">="))


def _zcdp(stage: object) -> Term | None:
    for one in stage.guarantees if isinstance(stage, Assumed) else ():
        if one.name == "ZCDP" and one.two_way:
            return one.args[0]
    return None
