"""Rényi divergences along a chain of two pairs, by Hölder's inequality.

For the orders a > alpha of (R_0, R_1) and b = 1 + (alpha - 1) / v of (R_1, R_2), with u = alpha / a
and v = 1 - u, the integral of p^alpha q^(1 - alpha) is at most X^u Y^v, where X and Y bound the
moments of the two pairs (Langlois, Stehle and Steinfeld (2014), Lemma 4.1; Mironov (2017),
Proposition 11). By Young's inequality that is a sum of multiples of the two.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import to_term
from dpsym.kernel.sequents import context
from dpsym.kernel.statements import Assumed, Blend, Fact, Guarantee, Statement
from dpsym.kernel.terms import ONE, ZERO, Term
from dpsym.search.leaf.hinted import Have

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
    """The best orders for two zCDP guarantees, for a claim of Rényi DP."""
    (claim,) = goal.claims
    alpha = claim.args[0]
    first, second = (_zcdp(link.stage) for link in stage.links)
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


def _zcdp(stage: object) -> Term | None:
    for one in stage.guarantees if isinstance(stage, Assumed) else ():
        if one.name == "ZCDP" and one.two_way:
            return one.args[0]
    return None
