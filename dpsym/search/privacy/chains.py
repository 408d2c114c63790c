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

from dataclasses import dataclass

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import to_term
from dpsym.kernel.definitions import member
from dpsym.kernel.sequents import context
from dpsym.kernel.statements import Assumed, Blend, Fact, Guarantee, Statement
from dpsym.kernel.terms import ONE, ZERO, Term
from dpsym.search.leaf.hinted import Have

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
    """For a claim of Rényi DP, from two zCDP guarantees."""
    alpha = claim.args[0]
    first, second = (_family(link.stage, "ZCDP") for link in stage.links)
    if claim.name != "RenyiDP" or alpha is None or first is None or second is None:
        return None
    if claim.reverse:
        first, second = second, first
    canon = context(goal.facts).canon

    def short(item: Term) -> Term:
        return to_term(canon(item))

    s = short(tm.sqrt(short(second / first)))
    a, b = short(alpha + (alpha - 1) * s), short(alpha + alpha / s)
    step = (1 + s) * first  # the exponents are those of X^u Y^v / X and / Y
    exponents = short((alpha - 1) * s * step), short(-alpha * step)
    weights = [w * tm.exp(e) for w, e in zip((alpha / a, (alpha - 1) * s / a), exponents)]  # noqa: B905
    logs = (ZERO, tm.log(tm.var("$r1")), tm.log(tm.var("$r2")))
    p, r, q = reversed(logs) if claim.reverse else logs
    whole = alpha * p + (1 - alpha) * q
    parts = (a * p + (1 - a) * r, b * r + (1 - b) * q)
    tangents = [_tangent(e + part - whole) for e, part in zip(exponents, parts, strict=True)]
    links = [Guarantee("RenyiDP", (o, short(rho * o))) for o, rho in ((a, first), (b, second))]
    if claim.reverse:
        links.reverse()
        weights.reverse()
    rows = tuple((ZERO, w) if claim.reverse else (w, ZERO) for w in weights)
    return Orders((links[0], links[1]), rows, (tangents[0], tangents[1]))


def _tangent(item: Term) -> Have:
    return Have(Fact(tm.exp(item) - 1 - item, ">="))


def _family(stage: object, name: str) -> Term | None:
    """The argument of such a guarantee in both directions."""
    for one in stage.guarantees if isinstance(stage, Assumed) else ():
        if one.name == name and one.two_way:
            return one.args[0]
    return None
