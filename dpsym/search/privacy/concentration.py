"""Routes by zCDP: what each stage gives of it, and what the sum of these gives."""

from __future__ import annotations

import math
from collections.abc import Iterator

from dpsym.kernel import terms as tm
from dpsym.kernel.statements import Assumed, Fact, Guarantee, Stage, Statement
from dpsym.kernel.terms import Term
from dpsym.search.leaf.hinted import Have
from dpsym.search.privacy.families import mean_of_pure
from dpsym.search.samples import number, points

_TOLERANCE = 1e-9
Route = tuple[tuple[Guarantee, ...], Guarantee]


def routes(goal: Statement) -> Iterator[Route]:
    """A zCDP guarantee for each stage, and their total, where that is enough for the claim at
    sample values."""
    (claim,) = goal.claims
    options = [
        list(_concentrated(stage)) if isinstance(stage, Assumed) else [] for stage in goal.stages
    ]
    if not all(options):
        return
    for index in range(max(map(len, options))):
        parts = tuple(own[min(index, len(own) - 1)] for own in options)
        total = Guarantee(
            "ZCDP", (tm.add(*(part.args[0] for part in parts if part.args[0] is not None)),)
        )
        if reaches(total, claim, goal):
            yield parts, total


def _concentrated(stage: Stage) -> Iterator[Guarantee]:
    """Plain bounds first: Bun and Steinke (2016), Proposition 1.4; Cesar and Rogers (2021), Lemma
    3.4; Dong, Roth and Su (2022), Corollary B.6."""
    for one in stage.guarantees if isinstance(stage, Assumed) else ():
        first = one.args[0]
        if first is None or not one.two_way:
            continue
        for rho in _bounds(one.name, first):
            yield Guarantee("ZCDP", (rho,))


def _bounds(name: str, first: Term) -> tuple[Term, ...]:
    square = tm.power(first, 2)
    if name == "ZCDP":
        return (first,)
    if name == "PureDP":
        return square / 2, mean_of_pure(first)
    return {"BoundedRange": (square / 8,), "GDP": (square / 2,)}.get(name, ())


def sharper(goal: Statement, parts: tuple[Guarantee, ...]) -> tuple[Have, ...]:
    """That the sharp bounds among these are below the plain ones, for the inequalities after."""
    out = []
    for stage, part in zip(goal.stages, parts, strict=True):
        for one in stage.guarantees if isinstance(stage, Assumed) else ():
            loss, rho = one.args[0], part.args[0]
            if one.name == "PureDP" and loss is not None and rho is mean_of_pure(loss):
                out.append(Have(Fact(tm.power(loss, 2) / 2 - rho, ">=")))
    return tuple(out)


def reaches(total: Guarantee, claim: Guarantee, goal: Statement) -> bool:
    """Whether this zCDP gives the claim at sample values."""
    rho, samples = total.args[0] or tm.ZERO, points(goal.variables, goal.facts)
    return bool(samples) and all(_enough(number(rho, at), claim, at) for at in samples)


def _enough(rho: float, claim: Guarantee, at: dict[str, float]) -> bool:
    args = [number(arg, at) for arg in claim.args if arg is not None]
    if claim.name == "ZCDP":
        return rho <= args[0] * (1 + _TOLERANCE)
    if claim.name == "RenyiDP":
        return args[0] * rho <= args[1] * (1 + _TOLERANCE)
    if claim.name != "ApproxDP" or not 0 < args[1] < 1 or rho < 0:
        return claim.name == "ApproxDP" and args[1] >= 1
    return rho + 2 * math.sqrt(rho * -math.log(args[1])) <= args[0] * (1 + _TOLERANCE)
