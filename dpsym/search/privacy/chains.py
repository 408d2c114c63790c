"""Divergences along a chain of two pairs: Rényi divergences by Hölder's inequality, hockey-stick
divergences of Gaussian DP by one threshold.

For the orders a > alpha of (R_0, R_1) and b = 1 + (alpha - 1) / v of (R_1, R_2), with u = alpha / a
and v = 1 - u, the integral of p^alpha q^(1 - alpha) is at most X^u Y^v, where X and Y bound the
moments of the two pairs (Langlois, Stehle and Steinfeld (2014), Lemma 4.1; Mironov (2017),
Proposition 11). By Young's inequality that is a sum of multiples of the two.

For mu- and nu-GDP, p - e^E q = (p - e^a r) + e^a (r - e^(E - a) q), with the a at which the events
p > e^a r of the one pair of Gaussians and r > e^(E - a) q of the other have the same threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import to_term
from dpsym.kernel.definitions import member
from dpsym.kernel.sequents import context
from dpsym.kernel.statements import Assumed, Blend, Fact, Guarantee, Inner, Statement
from dpsym.kernel.terms import ONE, ZERO, Term
from dpsym.search.leaf.hinted import Have
from dpsym.search.samples import number, points

_CLOSE = 1e-9
_ENDS = (ONE, ZERO, ZERO), (ZERO, ZERO, ONE)


@dataclass(frozen=True)
class Orders:
    """A guarantee for each of the two links, the multipliers of the moments, and, for Young's
    inequality, two tangents of exp."""

    links: tuple[Guarantee, Guarantee]
    moments: tuple[tuple[Term, ...], ...]
    tangents: tuple[Have, ...] = ()


def is_chain(stage: Blend) -> bool:
    places = [(link.first, link.second) for link in stage.links]
    return (stage.p, stage.q) == _ENDS and places == [(0, 1), (1, 2)]


def orders(goal: Statement, stage: Blend) -> Orders | None:
    """The best members of two families, for a claim in one direction."""
    (claim,) = goal.claims
    return (_thresholds if claim.name == "ApproxDP" else _renyi)(goal, stage, claim)


def _thresholds(goal: Statement, stage: Blend, claim: Guarantee) -> Orders | None:
    """For a claim of approximate DP, from two Gaussian guarantees."""
    loss, (first, second) = claim.args[0], (_family(link.stage, "GDP") for link in stage.links)
    if loss is None or first is None or second is None:
        return None
    if claim.reverse:
        first, second = second, first
    a = to_term(context(goal.facts).canon(loss * first / (first + second) - first * second / 2))
    links, weights = [], [ONE, tm.exp(a)]
    for mu, own in ((first, a), (second, loss - a)):
        found = member(Guarantee("GDP", (mu,), False, claim.reverse), own)
        if found is None:
            return None
        links.append(found[1])
    if claim.reverse:
        links.reverse()
        weights.reverse()
    return Orders((links[0], links[1]), tuple((weight,) for weight in weights))


def _renyi(goal: Statement, stage: Blend, claim: Guarantee) -> Orders | None:
    """For a claim of Rényi DP, from two zCDP guarantees or from Rényi guarantees."""
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
    stages: list[Inner], alpha: Term, short: Callable[[Term], Term]
) -> tuple[Pair, Pair] | None:
    """The best orders for two zCDP guarantees."""
    first, second = (_family(stage, "ZCDP") for stage in stages)
    if first is None or second is None:
        return None
    s = short(tm.sqrt(short(second / first)))
    a, b = short(alpha + (alpha - 1) * s), short(alpha + alpha / s)
    return (a, short(first * a)), (b, short(second * b))


def _of_renyi(
    stages: list[Inner], alpha: Term, short: Callable[[Term], Term], goal: Statement
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


def _family(stage: object, name: str) -> Term | None:
    """The argument of such a guarantee in both directions."""
    for one in stage.guarantees if isinstance(stage, Assumed) else ():
        if one.name == name and one.two_way:
            return one.args[0]
    return None
