"""Where the loss log(p/q) of one pair may be largest."""

from __future__ import annotations

from dpsym.kernel import terms as tm
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import context
from dpsym.kernel.statements import Pair, Region, Statement
from dpsym.kernel.terms import ZERO, Term, var
from dpsym.search.integrals.cuts import Split, roots
from dpsym.search.integrals.limits import limit_at
from dpsym.search.integrals.plans import NoPlan, Samples, Stretch, stretches

__all__ = ["candidates"]

Candidate = tuple[Term, Region, Term | None]


def candidates(goal: Statement, pair: Pair) -> list[Candidate]:
    """Values that the loss takes or tends to, with the region and the output (None: an atom, or
    not taken)."""
    out: list[Candidate] = []
    for region in pair.regions:
        if region.output is None:
            out.append((tm.log(region.p) - tm.log(region.q), region, None))
            continue
        x = var(region.output)
        try:
            for stretch, p, q, samples in stretches(goal, region):
                out += _on(stretch, p, q, x, region, samples)
        except (Split, NoPlan, Refusal):
            continue
    return out


def _on(
    stretch: Stretch, p: Term, q: Term, x: Term, region: Region, samples: Samples
) -> list[Candidate]:
    facts = stretch.facts
    canon = context(facts).canon
    loss = canon.normal(tm.log(p) - tm.log(q))
    name = str(x.value)
    out: list[Candidate] = []
    if name not in loss.vars:
        middle = stretch.start if stretch.start is not None else stretch.end
        return [(loss, region, middle)]
    for end, way in ((stretch.start, -1), (stretch.end, 1)):
        if end is not None:
            out.append((canon.normal(tm.substitute(loss, {name: end})), region, end))
        else:
            limit = limit_at(facts, p / q, x, way, samples)
            if limit is not None and limit.value is not ZERO:
                out.append((canon.normal(tm.log(limit.value)), region, None))
    for point in roots(tm.derivative(loss, name), x, facts, samples):
        out.append((canon.normal(tm.substitute(loss, {name: point})), region, point))
    return out
