"""Distributions that depend on the earlier outcomes, by dynamic programming from the last stage.

The most that the later stages can make of a prefix is a function of its two probabilities that is
homogeneous, so of one number u = p/(p + q) if p + q = 1. It is computed on a grid of u, each point
by linear programs, and interpolated. The witness is then built from the first stage on.

For moments that are sums of hockey sticks nothing is gained: a product of the extreme pairs is
optimal at every prefix. For others, and for bounded range, the best pair depends on the prefix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from dpsym.kernel.statements import Assumed, Statement
from dpsym.refutations import Atom
from dpsym.search.leaf.budget import Budget
from dpsym.search.refutation.curves import Array, Pmf, sorted_once
from dpsym.search.refutation.problem import Columns, Goal, Problem
from dpsym.search.refutation.rounding import allowed

MOST_STAGES = 4
_POINTS = 45  # of a grid
_SHARES = (0.02, 0.25, 0.5, 0.75, 0.98)  # of a range below 0
_SLACK = 1e-4
_CAP = 1e9
_DENOMINATORS = (10, 20, 50, 100, 200, 1000, 10**4, 10**6, 10**8)
_EXTREME = frozenset(("PureDP", "ApproxDP"))

Value = Callable[[Array, Array], Array]  # of the probabilities of prefixes


def worthwhile(statement: Statement) -> bool:
    """Whether a stage after the first has constraints for which the prefix may matter."""
    stages = statement.stages
    return 1 < len(stages) <= MOST_STAGES and any(
        guarantee.name not in _EXTREME
        for stage in stages[1:]
        if isinstance(stage, Assumed)
        for guarantee in stage.guarantees
    )


@dataclass(frozen=True)
class Plan:
    """The later stages' value at every depth, and the columns of each stage in each position."""

    problem: Problem
    goal: Goal
    columns: tuple[tuple[Columns, ...], ...]
    values: tuple[Value, ...]  # values[k]: what stages k, k + 1, ... make of a prefix

    def best(self, k: int, p: float, q: float) -> tuple[float, Pmf] | None:
        """The best distribution of stage k after a prefix, and what it leads to."""
        return _best(self.columns[k], self.values[k + 1], p, q)


def _best(
    columns: tuple[Columns, ...], later: Value, p: float, q: float
) -> tuple[float, Pmf] | None:
    found: tuple[float, Pmf] | None = None
    for choice in columns:
        gain = later(p * choice.p, q * choice.q)
        masses = choice.best(gain, _SLACK)
        if masses is not None:
            total = float(masses @ gain)
            if found is None or total > found[0]:
                found = total, choice.pmf(masses)
    return found


def plan(problem: Problem, goal: Goal, budget: Budget) -> Plan | None:
    """The dynamic program; ``None`` if a stage's program has no solution."""
    logs = problem.logs(min(problem.reach(), 12.0), _POINTS)
    columns = tuple(
        tuple(
            stage.columns(*_window(logs, stage.length, share))
            for share in ((0.5,) if math.isinf(stage.length) else _SHARES)
        )
        for stage in problem.stages
    )
    grid = 1 / (1 + np.exp(-np.sinh(np.linspace(-3, 3, _POINTS)) * (12.0 / math.sinh(3))))
    grid = np.concatenate([[0.0], grid, [1.0]])

    def last(p: Array, q: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.clip(np.nan_to_num(goal.curve(p, q), nan=0.0), -_CAP, _CAP)

    values: list[Value] = [last]
    for k in range(len(columns) - 1, 0, -1):
        heights = []
        for u in grid.tolist():
            budget.check()
            found = _best(columns[k], values[0], u, 1 - u)
            if found is None:
                return None
            heights.append(found[0])
        values.insert(0, _interpolated(grid, np.array(heights)))
    values.insert(0, last)  # nothing precedes the first stage
    return Plan(problem, goal, columns, tuple(values))


def _interpolated(grid: Array, heights: Array) -> Value:
    def value(p: Array, q: Array) -> Array:
        size = p + q
        with np.errstate(all="ignore"):
            u = np.where(size > 0, p / size, 0.5)
        return np.asarray(size * np.interp(u, grid, heights), dtype=np.float64)

    return value


def _window(logs: Array, length: float, share: float) -> tuple[Array, tuple[float, float]]:
    if math.isinf(length):
        return logs, (-math.inf, math.inf)
    low = -length * share
    ends = [low + 1e-9, low + 1e-4, low + length - 1e-9, low + length - 1e-4]
    return sorted_once([*logs.tolist(), *ends]), (low, low + length)


def witnesses(found: Plan, budget: Budget) -> Iterator[tuple[Atom, ...]]:
    """Trees of exact distributions on which the goal seems to be broken."""
    first = found.best(0, 1.0, 1.0)
    if first is None or not found.goal.broken(first[0]):
        return
    for whole in _DENOMINATORS:
        budget.check()
        made = _tree(found, 0, 1.0, 1.0, whole)
        if made is not None and found.goal.broken(made[0]):
            yield made[1]


def _tree(
    found: Plan, k: int, p: float, q: float, whole: int
) -> tuple[float, tuple[Atom, ...]] | None:
    """The stages from k on after a prefix, with masses of one denominator, and their value."""
    if k == len(found.columns):
        return float(found.values[k](np.array([p]), np.array([q]))[0]), ()
    size = p + q
    best = found.best(k, p / size, q / size)
    if best is None:
        return None
    first, second = allowed(found.problem.stages[k], best[1], whole, strictly=True)
    if not len(first):
        return None
    left, right = first / whole, second / whole
    gains = found.values[k + 1](p * left.ravel(), q * right.ravel()).reshape(left.shape)
    row = int(np.argmax(gains.sum(axis=1)))
    total, atoms = 0.0, []
    for a, b in zip(first[row].tolist(), second[row].tolist(), strict=True):
        if a or b:
            below = _tree(found, k + 1, p * a / whole, q * b / whole, whole)
            if below is None:
                return None
            total += below[0]
            atoms.append(Atom(fmpq(a, whole), fmpq(b, whole), below[1]))
    return total, tuple(atoms)
