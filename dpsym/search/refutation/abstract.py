"""Witnesses against claims about assumed guarantees."""

from __future__ import annotations

import itertools
import math

from flint import fmpq

from dpsym.kernel.refusal import Refusal
from dpsym.kernel.statements import Statement
from dpsym.refutations import MAX_ATOMS, Atom, Refutation, refute
from dpsym.search.leaf.budget import Budget
from dpsym.search.refutation import adaptive, products, ranges
from dpsym.search.refutation.points import points
from dpsym.search.refutation.problem import Goal, Problem, problem
from dpsym.search.refutation.rounding import mixed, readable, simplified, tree

MOST_POINTS = 40
_LEVELS = ((1.5, 40, 0.1), (0.0, 200, 1e-6))  # reach (0: as needed), grid points, slack
_CHECKS = 2  # roundings of one draft that the kernel looks at


def search(statement: Statement, budget: Budget) -> Refutation | None:
    """A checked witness, or ``None``; raises ``OutOfBudget`` when the time is over."""
    for values in itertools.islice(points(statement), MOST_POINTS):
        budget.check()
        found = at_point(statement, values, budget)
        if found is not None:
            return found
    return None


def at_point(statement: Statement, values: dict[str, fmpq], budget: Budget) -> Refutation | None:
    """A checked witness at these values of the parameters."""
    found = ranges.search(statement, values)
    if found is not None:
        return found
    for fine in (False, True):
        here = problem(statement, values, fine)
        for reach, count, slack in _LEVELS:
            for stages in products.columns(here, reach or here.reach(), count):
                for goal in here.goals:
                    for active in products.actives(len(stages)):
                        budget.check()
                        for draft in products.drafts(goal, stages, active, slack, budget):
                            if goal.broken(draft.value):
                                found = confirm(statement, here, goal, draft)
                                if found is not None:
                                    return found
        if adaptive.worthwhile(statement):
            for goal in here.goals:
                found = adaptively(statement, here, goal, budget)
                if found is not None:
                    return found
        if not here.grid:
            break
    return None


def adaptively(
    statement: Statement, here: Problem, goal: Goal, budget: Budget
) -> Refutation | None:
    """A witness in which later stages depend on the earlier outcomes."""
    plan = adaptive.plan(here, goal, budget)
    if plan is not None:
        for witness in itertools.islice(adaptive.witnesses(plan, budget), _CHECKS):
            found = accepted(statement, here, goal.order, witness)
            if found is not None:
                return found
    return None


def confirm(
    statement: Statement, here: Problem, goal: Goal, draft: products.Draft
) -> Refutation | None:
    """The first rounding of the draft that the kernel accepts."""
    short = simplified(here, goal, draft)
    ways = (
        readable(here, goal, short),
        readable(here, goal, short, strictly=True),
        readable(here, goal, draft, strictly=True),
        mixed(draft),
    )
    for candidates in ways:
        for stages in itertools.islice(candidates, _CHECKS):
            if math.prod(len(masses) for masses in stages) > MAX_ATOMS:
                continue
            found = accepted(statement, here, goal.order, tree(stages))
            if found is not None:
                return found
    return None


def accepted(
    statement: Statement, here: Problem, order: fmpq | None, witness: tuple[Atom, ...]
) -> Refutation | None:
    """What the kernel makes of the witness."""
    try:
        return refute(statement, here.values, witness, order, here.grid)
    except Refusal:
        return None
