"""Pairs of Gaussians among the stages of a statement."""

from __future__ import annotations

from dpsym.kernel import terms as tm
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import context
from dpsym.kernel.statements import Mechanism, Stage, Statement
from dpsym.kernel.terms import Term, var
from dpsym.search.integrals.summands import coefficients


def mean(goal: Statement, stage: Stage) -> Term | None:
    """The m for which the stage seems to be N(m, 1) against N(0, 1)."""
    pairs = stage.pairs if isinstance(stage, Mechanism) else ()
    if len(pairs) != 1 or len(pairs[0].regions) != 1 or pairs[0].variables:
        return None
    (region,), canon = pairs[0].regions, context(goal.facts).canon
    if region.output is None or region.facts:
        return None
    x = var(region.output)
    try:
        laws = [coefficients(canon, canon(tm.log(law)), x) for law in (region.p, region.q)]
    except Refusal:
        return None
    square = canon.normal(tm.num(-1) / 2)
    if any(law is None or len(law) != 3 or canon.normal(law[2]) is not square for law in laws):
        return None
    return None if laws[0] is None else laws[0][1]
