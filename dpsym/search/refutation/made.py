"""Witnesses against claims about a group or a blend: several distributions at once.

Their outcomes are sought among those with likelihoods of given ratios, again by a linear program.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from dpsym.kernel.definitions import P_RAY, Q_RAY
from dpsym.kernel.statements import Assumed, Blend, Group, Statement
from dpsym.refutations import Atom, Refutation
from dpsym.search.leaf.budget import Budget
from dpsym.search.refutation.abstract import accepted
from dpsym.search.refutation.curves import Array
from dpsym.search.refutation.exact import Values, rational
from dpsym.search.refutation.lp import maximise
from dpsym.search.refutation.mixtures import same_pairs
from dpsym.search.refutation.points import points
from dpsym.search.refutation.problem import Goal, Problem, StageAt, enough, problem

_MOST_POINTS, _MOST_DISTRIBUTIONS, _MOST_COLUMNS = 48, 5, 4000
_DENOMINATORS = (10, 20, 30, 60, 100, 200, 500, 1000, 10**4, 10**6, 10**9)
_SLACK, _LARGE, _FAR = 1e-6, 1e9, 60.0
_READABLE, _INSIDE = 0.95, 1 - 1e-7  # parts of the kinks: with room for rounding, or next to none
_ETAS = (fmpq(1, 10**6), fmpq(1, 10**4), fmpq(1, 1000), fmpq(1, 100))
_DIGITS = 10**12
_TRIES = 2  # readable witnesses that are checked exactly
_ONE = np.ones(1)
Table = NDArray[np.float64]  # a row for each distribution


@dataclass(frozen=True)
class _Made:
    """The stage at a point: weights of P and Q, and what pairs of the distributions have."""

    p: tuple[fmpq, ...]
    q: tuple[fmpq, ...]
    links: tuple[tuple[int, int, StageAt], ...]

    def mixed(self, table: Table) -> tuple[Array, Array]:
        first, second = (
            np.array([float(int(w.p) / int(w.q)) for w in ws]) for ws in (self.p, self.q)
        )
        return first @ table, second @ table

    def allows(self, table: Table) -> bool:
        return all(bool(stage.allows(table[i], table[j])) for i, j, stage in self.links)


def search(statement: Statement, budget: Budget) -> Refutation | None:
    """A checked witness, or ``None``; raises ``OutOfBudget`` when the time is over."""
    for values in islice(points(statement), _MOST_POINTS):
        here = problem(statement, values)
        made = _made(statement, values, here.grid)
        if made is None:
            continue
        for table in _columns(made, here):
            for goal in here.goals:
                budget.check()
                found = _best(made, goal, table)
                for witness in () if found is None else _rounded(made, goal, found):
                    refuted = accepted(statement, here, goal.order, witness)
                    if refuted is not None:
                        return refuted
    return None


def _made(statement: Statement, values: Values, grid: tuple[fmpq, ...]) -> _Made | None:
    (stage,) = statement.stages
    if isinstance(stage, Group):
        count = rational(stage.count, values)
        if count is None or not 1 <= count < _MOST_DISTRIBUTIONS:
            return None
        k = int(count)
        first, last = (tuple(fmpq(int(i == j)) for i in range(k + 1)) for j in (0, k))
        places = [(i, i + 1, stage.stage) for i in range(k)]
    elif isinstance(stage, Blend):
        samples = same_pairs(stage)
        ways = {(sample.p, sample.q) for sample in samples}
        weights = [[rational(w, values) for w in ws] for ws in ways.pop()]
        if ways or any(w is None for ws in weights for w in ws):
            return None
        first, last = (tuple(w for w in ws if w is not None) for ws in weights)
        places = [(x.first, x.second, x.stage) for sample in samples for x in sample.links]
    else:
        return None
    links = []
    for i, j, single in places:
        while isinstance(single, Group) and isinstance(stage, Blend):
            single = single.stage  # a chain of it and of equal ones
        if not isinstance(single, Assumed):
            return None
        items = (item for g in single.guarantees for item in enough(g, grid, values))
        links.append((i, j, StageAt(items, values)))
    return _Made(first, last, tuple(links))


def _columns(made: _Made, here: Problem) -> Iterator[Table]:
    """Likelihoods of outcomes under each of the distributions: coarse steps, then finer ones."""
    count = len(made.p)
    kinks = {abs(k) for _, _, stage in made.links for k in stage.kinks}
    kinks |= {abs(k) for goal in here.goals for k in goal.curve.kinks()}
    own = sorted(k for k in kinks if 1e-9 < k < _FAR)[:3]
    steps = {0.0, *own, *(a + b for a in own for b in own), *(2 * a + b for a in own for b in own)}
    steps |= {abs(a - b) for a in steps for b in steps}
    each = max(3, int(_MOST_COLUMNS ** (1 / (count - 1))) // 2)
    for more, inside in (
        ((), _READABLE),
        ((), _INSIDE),
        (np.linspace(0.25, 6, 24).tolist(), _INSIDE),
    ):
        sizes = sorted({round(size, 12) for size in (*steps, *more) if size < _FAR})[:each]
        logs = sorted({sign * size * inside for size in sizes for sign in (1, -1)})
        rows = [(1.0, *rest) for rest in product([0.0, *map(math.exp, logs)], repeat=count - 1)]
        rows += [(0.0, *rest) for rest in product((0.0, 1.0), repeat=count - 1) if any(rest)]
        table = np.array(rows).T
        keep = np.ones(table.shape[1], dtype=bool)
        for i, j, stage in made.links:
            keep &= _possible(stage, table[i], table[j])
        yield table[:, keep]


def _possible(stage: StageAt, p: Array, q: Array) -> NDArray[np.bool_]:
    """The outcomes whose ratios no support excludes."""
    with np.errstate(all="ignore"):
        good = (q == 0) | (p <= stage.high * q)
    good &= q * stage.low <= p
    for ray, here, other in ((P_RAY, p, q), (Q_RAY, q, p)):
        if ray not in stage.rays:
            good &= (here == 0) | (other > 0)
    return good


def _best(made: _Made, goal: Goal, table: Table) -> Table | None:
    """Probabilities of the outcomes that break the goal, if there are any."""
    rows, most = [], []
    keep = np.ones(table.shape[1], dtype=bool)
    for i, j, stage in made.links:
        for curve, bound in stage.moments:
            size = abs(bound) or 1.0
            with np.errstate(all="ignore"):
                row = np.nan_to_num(curve(table[i], table[j]) / size, nan=_LARGE, posinf=_LARGE)
            keep &= np.abs(row) < _LARGE
            rows.append(row)
            same = float(curve(_ONE, _ONE)[0]) / size
            most.append(bound / size - _SLACK * max(0.0, bound / size - same))
    p, q = made.mixed(table)
    with np.errstate(all="ignore"):
        objective = goal.curve(p, q)
    keep &= np.isfinite(objective)
    if not keep.any():
        return None
    table = table[:, keep]
    moments = np.array([row[keep] for row in rows]) if rows else np.zeros((0, table.shape[1]))
    masses = maximise(objective[keep], table, np.ones(len(table)), moments, np.array(most))
    if masses is None or not goal.broken(float(objective[keep] @ masses)):
        return None
    used = masses > 1e-9
    return table[:, used] * masses[used]


def _rounded(made: _Made, goal: Goal, found: Table) -> Iterator[tuple[Atom, ...]]:
    """Witnesses near the probabilities: with a small denominator first, then with a little of an
    outcome that reveals next to nothing."""
    tried = 0
    for whole in _DENOMINATORS:
        counts = np.round(found * whole).astype(np.int64)
        largest = counts.argmax(axis=1)
        counts[np.arange(len(counts)), largest] += whole - counts.sum(axis=1)
        if counts.min() < 0 or not made.allows(counts / whole):
            continue
        with np.errstate(all="ignore"):
            reached = float(goal.curve(*made.mixed(counts / whole)).sum())
        if goal.broken(reached):
            yield _witness(made, [[fmpq(n, whole) for n in row] for row in counts.tolist()])
            tried += 1
            if tried == _TRIES:
                break
    for eta in _ETAS:
        rows = [
            [(1 - eta) * fmpq(round(x * 10**12), 10**12) for x in row] for row in found.tolist()
        ]
        rows = [[*row, 1 - sum(row, fmpq(0))] for row in rows]
        if all(row[-1] >= 0 for row in rows):
            yield _witness(made, rows)


def _witness(made: _Made, rows: list[list[fmpq]]) -> tuple[Atom, ...]:
    atoms = []
    for under in zip(*rows, strict=True):
        if any(under):
            p, q = (
                sum((w * r for w, r in zip(weights, under, strict=True)), fmpq(0))
                for weights in (made.p, made.q)
            )
            atoms.append(Atom(p, q, under=tuple(under)))
    return tuple(atoms)
