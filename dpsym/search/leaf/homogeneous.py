"""Variables that can be scaled together without changing what is to be shown.

Densities often occur that way: f(p, q) = q f(p/q, 1), and hypotheses compare them with each other
alone. Then one of them may be taken for the unit of the others.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import var
from dpsym.search.leaf.numeric import Samples, Values, domain
from dpsym.search.leaf.steps import evident

_FACTOR = 3.0
_MOST_VARIABLES = 7


def unit(sequent: Sequent) -> tuple[str, str] | None:
    """``v, q``: writing v as q times a new variable makes the goal simpler."""
    names = sorted(sequent.goal.term.vars)
    positive = [name for name in names if evident(sequent.hypotheses, var(name), ">")]
    if not 2 <= len(positive) <= _MOST_VARIABLES:
        return None
    here = domain(sequent)
    for size in range(len(positive), 1, -1):
        for group in combinations(positive, size):
            if _scales(sequent, here, frozenset(group)):
                return group[0], group[-1]
    return None


def _scales(sequent: Sequent, here: Samples, group: frozenset[str]) -> bool:
    """Whether goal and hypotheses seem to be homogeneous in these variables, which bound nothing
    else by themselves."""
    points = {n: x * _FACTOR if n in group else x for n, x in here.points.items()}
    there = Values(points, here.count)
    shared = [fact for fact in sequent.hypotheses if len(fact.term.vars & group) > 1]
    single = [fact for fact in sequent.hypotheses if len(fact.term.vars & group) == 1]
    if not all(fact.term in map(var, group) for fact in single):  # more than a sign
        return False
    return all(_degree(here, there, fact) for fact in (sequent.goal, *shared))


def _degree(here: Values, there: Values, fact: Fact) -> bool:
    """Whether the term is multiplied by one power of the factor everywhere."""
    if not fact.term.vars <= set(here.points):
        return False
    with np.errstate(all="ignore"):
        before, after, size = here(fact.term), there(fact.term), here.scale(fact.term)
        clear = np.isfinite(before) & np.isfinite(after) & (np.abs(before) > 1e-6 * size)
        clear &= size > 1e-100
        degrees = np.log(after[clear] / before[clear]) / np.log(_FACTOR)
    if degrees.size < 5 or not np.isfinite(degrees).all():
        return False
    degree = round(2 * float(np.median(degrees))) / 2
    return bool(np.abs(degrees - degree).max() < 1e-6)
