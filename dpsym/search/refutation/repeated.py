"""Witnesses against claims about repeated stages, for small numbers of copies or identical ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product

import numpy as np
from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.statements import (
    INTEGER,
    Assumed,
    Choice,
    Filter,
    Group,
    Repeated,
    Stage,
    Statement,
    opened,
    replaced,
    shapes,
)
from dpsym.refutations import Refutation, chosen
from dpsym.search.leaf.budget import Budget, OutOfBudget
from dpsym.search.refutation import abstract, products
from dpsym.search.refutation.exact import holds, rational
from dpsym.search.refutation.points import points
from dpsym.search.refutation.problem import Columns, Goal, Problem, problem
from dpsym.search.refutation.products import Draft
from dpsym.search.refutation.rounding import DENOMINATORS, allowed, mixed, tree

_COUNTS = (2, 1, 3, 5, 9, 16, 30, 60, 100)
_MOST_COPIES = 400
_FEW = 6  # copies, up to which they may differ
_MOST_POINTS, _GRID, _SWEEPS = 12, 60, 3
_SHARE = 4  # of the time that is left goes to one number of copies


def search(statement: Statement, budget: Budget) -> Refutation | None:
    """A checked witness, or ``None``; raises ``OutOfBudget`` when the time is over."""
    several = any(isinstance(stage, Choice) for stage in statement.stages)
    options = (found for one in chosen(statement) for found in unrolled(one))
    from dpsym.search.refutation.dispatch import transferred

    for counts, copies in options:
        budget.check()
        part = budget.part(budget.left() / _SHARE) if counts or several else budget
        try:
            with part.enforced():
                found = _against(copies, part)
        except OutOfBudget:
            budget.check()
            continue
        if found is not None:
            return transferred(found, statement, counts)
    return None


def unrolled(statement: Statement) -> Iterator[tuple[dict[str, fmpq], Statement]]:
    """Numbers for the variables in numbers of copies, and the statement with so many stages."""
    kinds = dict(statement.variables)
    names = sorted(
        {
            name
            for stage in statement.stages
            for made in shapes(stage)
            if isinstance(made, (Repeated, Group))
            for name in made.count.vars
        }
    )
    if not all(kinds[name] == INTEGER for name in names):
        return
    for numbers in islice(product(_COUNTS, repeat=len(names)), 40):
        counts = {name: fmpq(count) for name, count in zip(names, numbers, strict=True)}
        here = replaced(statement, {name: tm.num(count) for name, count in counts.items()})
        stages: list[Stage] = []
        for stage in here.stages:
            count = rational(stage.count, {}) if isinstance(stage, Repeated) else fmpq(1)
            if count is None or not 1 <= count <= _MOST_COPIES:
                break
            stages += _copy(stage) * int(count)
        else:
            left = tuple(pair for pair in here.variables if pair[0] not in counts)
            possible = all(fact.term.vars or holds(fact, {}) for fact in here.facts)
            if possible and len(stages) <= _MOST_COPIES:
                yield counts, replace(here, variables=left, stages=tuple(stages))


def _copy(stage: Stage) -> list[Stage]:
    """The stages of one copy of a repeated stage; for a filter, one mechanism that spends the
    budget."""
    if isinstance(stage, Filter):
        spent = replaced(stage.stage, {stage.name: stage.budget})
        return [Assumed(spent.guarantees)]
    return list(opened(stage.stage)) if isinstance(stage, Repeated) else [stage]


def _against(copies: Statement, budget: Budget) -> Refutation | None:
    from dpsym.search.refutation.dispatch import search_for

    if len(copies.stages) > _FEW and isinstance(copies.stages[0], Assumed):
        return _identical(copies, budget)
    found = search_for(copies)
    return None if found is None else found(copies, budget)


# -- identical copies


def _identical(copies: Statement, budget: Budget) -> Refutation | None:
    """A witness in which all stages have the same distributions."""
    if len(set(copies.stages)) > 1:
        return None
    for values in islice(points(copies), _MOST_POINTS):
        here = problem(copies, values)
        one = replace(here, stages=here.stages[:1])
        for columns in products.columns(one, here.reach(), _GRID):
            for goal in here.goals:
                budget.check()
                draft = _ascended(goal, columns[0], len(copies.stages))
                if draft is not None:
                    found = _rounded(copies, here, one, goal, draft)
                    if found is not None:
                        return found
    return None


def _value(goal: Goal, draft: Draft, count: int) -> float:
    return products.value(goal, draft.pmfs * count)


def _ascended(goal: Goal, columns: Columns, count: int) -> Draft | None:
    """The best of the distributions found by improving one stage against copies of the last."""
    best: Draft | None = None
    objective = np.maximum(columns.p - columns.q, 0)
    for _ in range(_SWEEPS):
        masses = columns.best(objective, 1e-6)
        if masses is None:
            return best
        pmf = columns.pmf(masses)
        reached = products.value(goal, (pmf,) * count)
        if best is None or reached > best.value:
            best = Draft((pmf,), reached)
        others = products.joint((pmf,) * (count - 1))
        objective = products.gains(goal, others, columns.p, columns.q)
    return best


def _rounded(
    copies: Statement, here: Problem, one: Problem, goal: Goal, draft: Draft
) -> Refutation | None:
    count, (pmf,) = len(copies.stages), draft.pmfs
    if not goal.broken(draft.value):
        return None
    for whole in DENOMINATORS:
        for p, q in zip(*allowed(one.stages[0], pmf, whole, strictly=False), strict=True):
            exact = (p / whole, q / whole)
            if goal.broken(products.value(goal, (exact,) * count)):
                masses = [
                    (fmpq(a, whole), fmpq(b, whole))
                    for a, b in zip(p.tolist(), q.tolist(), strict=True)
                    if a or b
                ]
                witness = tree([masses] * count)
                found = abstract.accepted(copies, here, goal.order, witness)
                if found is not None:
                    return found
            break
    for (masses,) in mixed(draft):
        found = abstract.accepted(copies, here, goal.order, tree([masses] * count))
        if found is not None:
            return found
    return None
