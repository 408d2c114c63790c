"""Product distributions that break a moment: linear programs over the stages in turn."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpsym.search.leaf.budget import Budget
from dpsym.search.refutation.curves import Array, Pmf, joint, sorted_once
from dpsym.search.refutation.problem import Columns, Goal, Problem

_SWEEPS = 5
_STARTS = 3
_SHARES = (0.5, 0.1, 0.9, 0.25, 0.75, 0.02, 0.98)  # of a range below 0
_CAP = 1e12
MOST_ACTIVE = 12  # stages with more than one outcome
_SAME: Pmf = (np.ones(1), np.ones(1))


@dataclass(frozen=True)
class Draft:
    """Distributions in floating point and the value of the goal on their product."""

    pmfs: tuple[Pmf, ...]
    value: float


def value(goal: Goal, pmfs: tuple[Pmf, ...]) -> float:
    """The goal's moment on the product."""
    with np.errstate(all="ignore"):
        return float(goal.curve(*joint(pmfs)).sum())


def gains(goal: Goal, others: Pmf, p: Array, q: Array) -> Array:
    """The goal's moment of each atom (p, q) of one stage, together with all of the others."""
    with np.errstate(all="ignore"):
        table = goal.curve(np.outer(p, others[0]), np.outer(q, others[1])).sum(axis=1)
    return np.clip(np.nan_to_num(table, nan=0.0, posinf=_CAP), -_CAP, _CAP)


def columns(problem: Problem, reach: float, count: int) -> Iterator[tuple[Columns, ...]]:
    """Columns for all stages, for several positions of what has a range only."""
    logs = problem.logs(reach, count)
    ranged = [not math.isinf(stage.length) for stage in problem.stages]
    places = [(share,) * len(ranged) for share in _SHARES]
    if sum(ranged) > 1:
        places += list(itertools.islice(itertools.product(_SHARES[:3], repeat=len(ranged)), 27))
    for place in dict.fromkeys(places if any(ranged) else [(0.5,) * len(ranged)]):
        out = []
        for stage, share in zip(problem.stages, place, strict=True):
            low = -stage.length * share if not math.isinf(stage.length) else -math.inf
            high = low + stage.length if not math.isinf(stage.length) else math.inf
            ends = [low, low + 1e-9, low + 1e-4, high, high - 1e-9, high - 1e-4]
            more = sorted_once([*logs.tolist(), *(end for end in ends if math.isfinite(end))])
            out.append(stage.columns(more, (low, high)))
        yield tuple(out)


def drafts(
    goal: Goal, stages: tuple[Columns, ...], active: tuple[int, ...], slack: float, budget: Budget
) -> Iterator[Draft]:
    """Local maxima of the goal over product distributions; inactive stages reveal nothing."""
    rng = np.random.default_rng(1)
    for start in range(_STARTS if len(active) > 1 else 1):
        pmfs = [_SAME] * len(stages)
        for k in active:
            p, q = stages[k].p, stages[k].q
            if start == 0:
                weights = gains(goal, _SAME, p, q) if len(active) == 1 else np.maximum(p - q, 0)
            elif start == 1:
                weights = gains(goal, _SAME, p, q) + 1e-3 * np.maximum(p - q, 0)
            else:
                weights = rng.random(p.size) * (p + q)
            masses = stages[k].best(weights, slack)
            if masses is None:
                return
            pmfs[k] = stages[k].pmf(masses)
        reached = value(goal, tuple(pmfs))
        for _ in range(_SWEEPS if len(active) > 1 else 0):
            before = reached
            for k in active:
                budget.check()
                others = joint(pmf for j, pmf in enumerate(pmfs) if j != k)
                masses = stages[k].best(gains(goal, others, stages[k].p, stages[k].q), slack)
                if masses is None:
                    continue
                fresh = [*pmfs[:k], stages[k].pmf(masses), *pmfs[k + 1 :]]
                now = value(goal, tuple(fresh))
                if now > reached:
                    pmfs, reached = fresh, now
            if reached <= before + 1e-9 * max(1.0, abs(before)):
                break
        yield Draft(tuple(pmfs), reached)


def actives(count: int) -> list[tuple[int, ...]]:
    """Which stages may have several outcomes."""
    if count <= MOST_ACTIVE:
        return [tuple(range(count))]
    return [tuple(range(MOST_ACTIVE)), tuple(range(count - MOST_ACTIVE, count)), (0, count - 1)]
