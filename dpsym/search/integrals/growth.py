"""Totals that grow with the shift: what the search for a proof of that is told."""

from __future__ import annotations

from collections.abc import Iterator

from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import Mechanism, Statement
from dpsym.kernel.terms import Term
from dpsym.search.integrals.sampling import is_largest, parameters
from dpsym.search.leaf.hinted import Clear, Derive, Hint, Scale

__all__ = ["growing"]

_SAMPLES = 20


def growing(goal: Statement, total: Sequent) -> Iterator[tuple[Hint, ...]]:
    """Beginnings of proofs for a bound, free of a variable of the densities, that is the total at
    the upper end of that variable: its derivative is positive from its lower end on, or positive.
    """
    if total.hypotheses != goal.facts or not total.vars <= {name for name, _ in goal.variables}:
        return  # a goal about each output
    (claim,) = goal.claims
    fixed = frozenset().union(*(arg.vars for arg in claim.args if arg is not None))
    moving: set[str] = set()
    for stage in goal.stages:
        for pair in stage.pairs if isinstance(stage, Mechanism) else ():
            for region in pair.regions:
                moving |= region.p.vars ^ region.q.vars
    for name, _ in goal.variables:
        if name in (moving - fixed) & total.goal.term.vars:
            below, above = _end(goal, name, 1), _end(goal, name, -1)
            if below is not None and above is not None:
                first = (Clear(), Derive(name, above), Clear())
                yield (*first, Scale(name), Derive(name, below))
                yield first


def _end(goal: Statement, name: str, way: int) -> Term | None:
    """The closest lower (way 1) or upper (way -1) bound of the variable."""
    known = context(goal.facts)
    ends = [
        split[1]
        for fact in goal.facts
        if fact.rel != "!=" and (split := known.affine(fact.term, name)) and way * split[0] > 0
    ]
    samples = parameters(goal.variables, goal.facts, _SAMPLES)
    for end in ends:
        if is_largest(way * end, (way * other for other in ends), samples):
            return end
    return None
