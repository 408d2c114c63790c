"""From masses in floating point to exact ones: small common denominators first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from dpsym.refutations import Atom
from dpsym.search.refutation.curves import Array, Pmf, joint
from dpsym.search.refutation.exact import dyadic
from dpsym.search.refutation.problem import Goal, Problem, StageAt
from dpsym.search.refutation.products import Draft, gains, value

Whole = NDArray[np.int64]
Masses = list[tuple[fmpq, fmpq]]
DENOMINATORS = (
    *(2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80),
    *(100, 120, 150, 200, 300, 500, 1000, 10**4, 10**5, 10**6, 10**8, 10**10),
)
_MOST_CHOICES = 12  # undecided roundings that are tried in all combinations
_ETAS = (fmpq(0), fmpq(1, 10**6), fmpq(1, 10**4), fmpq(1, 1000), fmpq(1, 100), fmpq(1, 20))
_DIGITS = 10**12
_KEPT = 0.3  # of the excess over the bound


def roundings(masses: Array, whole: int) -> Whole:
    """Rows of counts with sum ``whole``, each mass rounded down or up; zeros stay zero."""
    scaled = masses * whole
    down = np.floor(scaled + 1e-9).astype(np.int64)
    lacking = whole - int(down.sum())
    free = np.flatnonzero((masses > 0) & (np.abs(scaled - down) > 1e-9))
    if lacking == 0:
        return down[None, :]
    if not 0 < lacking <= free.size:
        return np.zeros((0, masses.size), dtype=np.int64)
    free = free[np.argsort(-(scaled - down)[free], kind="stable")][:_MOST_CHOICES]
    if lacking > free.size:
        return np.zeros((0, masses.size), dtype=np.int64)
    chosen = list(itertools.islice(itertools.combinations(range(free.size), lacking), 64))
    out = np.repeat(down[None, :], len(chosen), axis=0)
    for row, places in enumerate(chosen):
        out[row, free[list(places)]] += 1
    return out


def allowed(stage: StageAt, pmf: Pmf, whole: int, strictly: bool) -> tuple[Whole, Whole]:
    """Pairs of counts near the masses that seem to meet the stage's constraints."""
    first, second = roundings(pmf[0], whole), roundings(pmf[1], whole)
    left = np.repeat(np.arange(len(first)), len(second))
    right = np.tile(np.arange(len(second)), len(first))
    p, q = first[left], second[right]
    if not len(p):
        return p, q
    good = stage.allows(p / whole, q / whole, strictly)
    return p[good], q[good]


def readable(
    problem: Problem, goal: Goal, draft: Draft, strictly: bool = False
) -> Iterator[list[Masses]]:
    """Distributions with a small common denominator that seem to break the goal; ``strictly``:
    and that leave room in the moments."""
    for whole in DENOMINATORS:
        pmfs = list(draft.pmfs)
        counts: list[tuple[Whole, Whole]] = []
        for k, stage in enumerate(problem.stages):
            if pmfs[k][0].size == 1:
                counts.append((np.ones(1, dtype=np.int64), np.ones(1, dtype=np.int64)))
                continue
            p, q = allowed(stage, pmfs[k], whole, strictly)
            if not len(p):
                break
            others = joint(pmf for j, pmf in enumerate(pmfs) if j != k)
            flat = gains(goal, others, p.ravel() / whole, q.ravel() / whole)
            best = int(np.argmax(flat.reshape(p.shape).sum(axis=1)))
            pmfs[k] = (p[best] / whole, q[best] / whole)
            counts.append((p[best], q[best]))
        if len(counts) == len(pmfs) and goal.broken(value(goal, tuple(pmfs))):
            yield [
                [
                    (fmpq(a, sum(p.tolist())), fmpq(b, sum(q.tolist())))
                    for a, b in zip(p.tolist(), q.tolist(), strict=True)
                    if a or b
                ]
                for p, q in counts
            ]


def mixed(draft: Draft) -> Iterator[list[Masses]]:
    """The masses as they are, with ever more of an outcome that reveals next to nothing."""
    for eta in _ETAS:
        out: list[Masses] = []
        for p, q in draft.pmfs:
            masses: Masses = []
            for a, b in zip(p.tolist(), q.tolist(), strict=True):
                first, second = (fmpq(round(x * _DIGITS), _DIGITS) for x in (a, b))
                masses.append((second * dyadic(a / b) if a and b else first, second))
            masses = [((1 - eta) * a, (1 - eta) * b) for a, b in masses if a or b]
            left, right = (1 - sum((m[i] for m in masses), fmpq(0)) for i in (0, 1))
            out.append([*masses, (left, right)] if left or right else masses)
        if all(a >= 0 and b >= 0 for masses in out for a, b in masses):
            yield out


def simplified(problem: Problem, goal: Goal, draft: Draft) -> Draft:
    """The draft with neighbouring outcomes merged while that costs little of the excess."""
    pmfs = list(draft.pmfs)
    least = goal.bound + _KEPT * (draft.value - goal.bound)
    for k, stage in enumerate(problem.stages):
        others = joint(pmf for j, pmf in enumerate(pmfs) if j != k)
        while pmfs[k][0].size > 2:
            best: tuple[float, Pmf] | None = None
            for i in range(pmfs[k][0].size - 1):
                pmf = _merged(pmfs[k], i)
                total = float(gains(goal, others, *pmf).sum())
                if total > least and (best is None or total > best[0]) and stage.allows(*pmf):
                    best = total, pmf
            if best is None:
                break
            pmfs[k] = best[1]
    return Draft(tuple(pmfs), value(goal, tuple(pmfs)))


def _merged(pmf: Pmf, i: int) -> Pmf:
    p, q = (np.concatenate([m[:i], [m[i] + m[i + 1]], m[i + 2 :]]) for m in pmf)
    return p, q


def tree(stages: list[Masses]) -> tuple[Atom, ...]:
    """The witness in which no stage depends on the earlier ones."""
    then: tuple[Atom, ...] = ()
    for masses in reversed(stages):
        then = tuple(Atom(p, q, then) for p, q in masses)
    return then
