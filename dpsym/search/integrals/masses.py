"""Integrals by densities of known mass: the integrand is one density, moved and multiplied."""

from __future__ import annotations

from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import Form
from dpsym.kernel.refusal import Refusal, TooLarge
from dpsym.kernel.rules_mechanisms import Mass, homogeneous, is_integer
from dpsym.kernel.sequents import context, with_facts
from dpsym.kernel.statements import INTEGER, Pair, Statement
from dpsym.kernel.terms import ONE, Term, substitute, var
from dpsym.search.integrals.summands import coefficients

__all__ = ["mass_plan"]


def mass_plan(goal: Statement, pair: Pair, form: Form, swap: bool) -> tuple[Mass, ...] | None:
    """One mass whose density, shifted, is the integrand, or None."""
    if len(pair.regions) != 1 or form.f.kinked:
        return None
    (region,) = pair.regions
    if region.output is None or region.facts:
        return None
    p, q = (region.q, region.p) if swap else (region.p, region.q)
    x, canon = var(region.output), context(with_facts(goal.facts, *region.facts)).canon
    try:
        logs = [
            coefficients(canon, canon(tm.log(item)), x)
            for item in (homogeneous(form.f, p, q), region.q)
        ]
    except (Refusal, TooLarge):
        return None
    value, density = logs
    if value is None or density is None or len(value) != 3 or len(density) != 3:
        return None
    scale: Term = ONE
    if canon.normal(value[2] - density[2]) is not tm.ZERO:
        if region.kind == INTEGER:
            return None
        scale = canon.normal(tm.sqrt(value[2] / density[2]))
    shift = canon.normal((scale * density[1] - value[1]) / (2 * value[2]))
    if region.kind == INTEGER and not is_integer(shift, dict(goal.variables)):
        return None
    moved = substitute(region.q, {region.output: scale * (x - shift)})
    size: Term = canon.normal(homogeneous(form.f, p, q) / (scale * moved))
    if region.output in size.vars:
        return None
    return (Mass(size, "q", shift, scale, ()),)
