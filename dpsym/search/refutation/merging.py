"""Witnesses against claims about a post-processing: outcomes of the mechanism that are merged."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from flint import fmpq

from dpsym.kernel.refusal import Refusal
from dpsym.kernel.statements import Assumed, Processed, Statement
from dpsym.refutations import Atom, Refutation, refute
from dpsym.search.leaf.budget import Budget
from dpsym.search.refutation.curves import Array
from dpsym.search.refutation.lp import maximise
from dpsym.search.refutation.points import points
from dpsym.search.refutation.problem import Columns, Goal, problem

_POINTS = 12
_GRID = 12
_MOST = 70  # atoms of which pairs are merged
_SHARES = (0.5, 0.1, 0.9, 0.01, 0.99)
_SLACK = 1e-3
_KEPT = 0.97  # of the masses; the rest goes to an outcome that reveals next to nothing
_WHOLES = (10, 20, 100, 1000, 10**6)
Parts = tuple[tuple[float, float], ...]


def search(statement: Statement, budget: Budget) -> Refutation | None:
    """A checked witness against a claim about one post-processed stage, or ``None``."""
    (stage,) = statement.stages
    if not isinstance(stage, Processed):
        return None
    inner = replace(statement, stages=(Assumed(stage.guarantees),))
    for values in itertools.islice(points(statement), _POINTS):
        here = problem(inner, values)
        logs = here.logs(here.reach(), _GRID)
        columns = here.stages[0].columns(logs, (-math.inf, math.inf))
        for goal in here.goals:
            budget.check()
            for witness in _witnesses(columns, goal):
                try:
                    return refute(statement, values, witness, goal.order, here.grid)
                except Refusal:
                    continue
    return None


def _witnesses(columns: Columns, goal: Goal) -> Iterator[tuple[Atom, ...]]:
    """Distributions in which some pairs of atoms come out as one, rounded in several ways."""
    thin = np.unique(np.linspace(0, columns.p.size - 1, min(_MOST, columns.p.size)).astype(int))
    pairs = [(i, i, 1.0) for i in range(columns.p.size)]
    pairs += [(i, j, s) for i, j in itertools.combinations(thin.tolist(), 2) for s in _SHARES]
    first, second = (np.array([pair[k] for pair in pairs]) for k in (0, 1))
    share = np.array([pair[2] for pair in pairs])

    def mixed(items: Array) -> Array:
        return share * items[..., first] + (1 - share) * items[..., second]

    p, q, rows = mixed(columns.p), mixed(columns.q), mixed(columns.rows)
    with np.errstate(all="ignore"):
        gain = np.nan_to_num(goal.curve(p, q), nan=0.0, posinf=1e9)
    toward = np.where(columns.trivial <= columns.bounds, columns.trivial, columns.bounds)
    most = columns.bounds - _SLACK * (columns.bounds - toward)
    masses = maximise(gain, np.array([p, q]), np.ones(2), rows, most)
    if masses is None or not goal.broken(float(masses @ gain)):
        return
    used = [
        tuple(
            (mass * part * float(columns.p[k]), mass * part * float(columns.q[k]))
            for k, part in ((i, s), (j, 1 - s))
            if part
        )
        for mass, (i, j, s) in zip(masses.tolist(), pairs, strict=True)
        if mass > 1e-7
    ]
    for whole in _WHOLES:
        yield from _rounded(used, whole)


def _rounded(used: list[Parts], whole: int) -> Iterator[tuple[Atom, ...]]:
    """Every mass rounded to a multiple of 1/whole towards ratio 1; what is left is one more."""
    atoms = []
    for parts in used:
        exact = []
        for a, b in ((_KEPT * a, _KEPT * b) for a, b in parts):
            less, more = (1, 0) if a >= b else (0, 1)
            first, second = (
                math.floor(x * whole + 1e-9) if down else math.ceil(x * whole - 1e-9)
                for x, down in ((a, less), (b, more))
            )
            exact.append((fmpq(first, whole), fmpq(second, whole)))
        merged = tuple(pair for pair in exact if pair[0] or pair[1])
        total = [sum((pair[k] for pair in merged), fmpq(0)) for k in (0, 1)]
        if merged:
            atoms.append(Atom(total[0], total[1], parts=merged if len(merged) > 1 else ()))
    left = [1 - sum((getattr(atom, way) for atom in atoms), fmpq(0)) for way in ("p", "q")]
    if all(rest >= 0 for rest in left):
        yield (*atoms, Atom(left[0], left[1])) if any(left) else tuple(atoms)
