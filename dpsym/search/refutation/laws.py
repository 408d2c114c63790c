"""Witnesses against claims about groups and samples: distributions that P and Q are mixtures of.

An outcome has a probability by each of these distributions. Up to a factor it is a point of a grid
of their ratios, and the best masses for such outcomes are a linear program.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import P_RAY, Q_RAY
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.statements import Assumed, Blend, Group, Link, Statement
from dpsym.refutations import Atom, Refutation, made_of, refute
from dpsym.search.leaf.budget import Budget
from dpsym.search.refutation.curves import Array
from dpsym.search.refutation.lp import maximise
from dpsym.search.refutation.points import points
from dpsym.search.refutation.problem import Goal, Problem, StageAt, problem

_POINTS = 40
_MOST = 4000  # outcomes
_INSIDE = 1 - 1e-5  # of the log-ratios at kinks, so that rounding keeps a support
_SLACKS = (1e-2, 1e-4)
_LARGEST = 1e9
_KEPT = (0.97, 0.999, 0.999999)  # of the masses; the rest goes to an outcome that shows little
_WHOLES = (100, 1000, 10**4, 10**6, 10**9)
Weights = list[tuple[fmpq, fmpq]]


@dataclass(frozen=True)
class _Made:
    """A group or a blend at a point, in floating point."""

    weights: Weights
    links: tuple[Link, ...]
    stages: tuple[StageAt, ...]  # what each link is

    def mixed(self, laws: Array) -> tuple[Array, Array]:
        """P and Q of outcomes, given by columns."""
        p, q = (np.array([float(pair[way]) for pair in self.weights]) for way in (0, 1))
        return p @ laws, q @ laws


def search(statement: Statement, budget: Budget) -> Refutation | None:
    """A checked witness against a claim about one group or blend of guarantees, or ``None``."""
    (stage,) = statement.stages
    if not isinstance(stage, (Group, Blend)):
        return None
    for values in itertools.islice(points(statement), _POINTS):
        budget.check()
        found = _at_point(statement, stage, values, budget)
        if found is not None:
            return found
    return None


def _at_point(
    statement: Statement, stage: Group | Blend, values: dict[str, fmpq], budget: Budget
) -> Refutation | None:
    numbers = {name: tm.num(value) for name, value in values.items()}
    try:
        weights, links = made_of(stage, numbers)
    except Refusal:
        return None
    assumed = tuple(link.stage for link in links if isinstance(link.stage, Assumed))
    if len(assumed) < len(links):
        return None
    here = problem(replace(statement, stages=assumed), values)
    made = _Made(weights, links, here.stages)
    laws = _columns(made, here)
    both = made.mixed(laws)
    for goal in here.goals:
        for first, second in (both, both[::-1]):
            budget.check()
            with np.errstate(all="ignore"):
                gain = np.nan_to_num(goal.curve(first, second), nan=0.0, posinf=_LARGEST)
            for slack in _SLACKS:
                masses = _best(made, laws, gain, slack)
                if masses is None or not goal.broken(float(masses @ gain)):
                    continue
                for witness in _witnesses(made, laws, masses):
                    found = _accepted(statement, here, goal, witness)
                    if found is not None:
                        return found
    return None


def _accepted(
    statement: Statement, here: Problem, goal: Goal, witness: tuple[Atom, ...]
) -> Refutation | None:
    try:
        return refute(statement, here.values, witness, goal.order, here.grid)
    except Refusal:
        return None


def _columns(made: _Made, here: Problem) -> Array:
    """Outcomes with sum 1, as far as the supports allow; one row for each distribution."""
    count = len(made.weights)
    own = {round(kink, 12) for stage in made.stages for kink in stage.kinks}
    aims = {round(kink, 12) for goal in here.goals for kink in goal.curve.kinks()}
    steps = [x * sign for x in own for sign in (_INSIDE, -_INSIDE)]
    steps += [x * sign for x in aims for sign in (1.0, -1.0, 0.5, -0.5)]
    grid = np.sinh(np.linspace(-2.5, 2.5, 41)) * (max(map(abs, own | aims | {1.0})) / 2)
    room = max(3, int(_MOST ** (1 / max(count - 1, 1))))
    inner = sorted(grid.tolist(), key=abs)
    logs = list(dict.fromkeys([0.0, *steps, *inner]))[:room]
    chain = all(link.second == link.first + 1 for link in made.links)
    found = []
    for choice in itertools.product([*logs, math.inf, -math.inf], repeat=count - 1):
        laws = _law(choice, chain)
        if laws is not None:
            found.append(laws)
    table = np.array(found).T
    for link, stage in zip(made.links, made.stages, strict=True):
        table = table[:, _allowed(stage, table[link.first], table[link.second])]
    return table / table.sum(axis=0)


def _law(choice: tuple[float, ...], chain: bool) -> list[float] | None:
    """Densities with these log-ratios, each to the one before it, or to the first; an infinite one
    makes the later density 0 (minus infinity: the earlier ones)."""
    laws = [1.0]
    for log in choice:
        before = laws[-1] if chain else laws[0]
        if log == math.inf:
            laws.append(0.0)
        elif log == -math.inf:
            if chain:
                laws = [0.0] * len(laws)
            elif len(laws) > 1:
                return None
            else:
                laws = [0.0]
            laws.append(1.0)
        elif before == 0:
            return None
        else:
            laws.append(before * math.exp(-log))
    return laws


def _allowed(stage: StageAt, p: Array, q: Array) -> Array:
    """Which outcomes the supports allow."""
    good = (p <= stage.high * q) | (p == 0) if stage.high < math.inf else np.ones(p.size, bool)
    if stage.low > 0:
        good &= q * stage.low <= p
    if P_RAY not in stage.rays:
        good &= ~((p > 0) & (q == 0))
    if Q_RAY not in stage.rays:
        good &= ~((q > 0) & (p == 0))
    return good


def _best(made: _Made, laws: Array, gain: Array, slack: float) -> Array | None:
    """The best masses, with moments so much short of their bounds."""
    rows, most = [], []
    one = np.ones(1)
    for link, stage in zip(made.links, made.stages, strict=True):
        for curve, bound in stage.moments:
            size = abs(bound) or 1.0
            with np.errstate(all="ignore"):
                row = np.nan_to_num(curve(laws[link.first], laws[link.second]), nan=_LARGEST)
            least = min(float(curve(one, one)[0]), bound)
            rows.append(np.clip(row / size, -_LARGEST, _LARGEST))
            most.append((bound - slack * (bound - least)) / size)
    table = np.array(rows) if rows else np.zeros((0, laws.shape[1]))
    return maximise(gain, laws, np.ones(len(laws)), table, np.array(most))


def _witnesses(made: _Made, laws: Array, masses: Array) -> Iterator[tuple[Atom, ...]]:
    used = np.flatnonzero(masses > 1e-9)
    table = laws[:, used] * masses[used]
    for whole in _WHOLES:
        for kept in _KEPT:
            rounded = [
                [fmpq(round(kept * x * whole), whole) for x in law] for law in table.tolist()
            ]
            rests = [1 - sum(law, fmpq(0)) for law in rounded]
            if any(rest < 0 for rest in rests):
                continue
            outcomes = [tuple(column) for column in zip(*rounded, strict=True)]
            outcomes = [column for column in (*outcomes, tuple(rests)) if any(column)]
            yield tuple(_atom(made.weights, column) for column in outcomes)


def _atom(weights: Weights, column: tuple[fmpq, ...]) -> Atom:
    p, q = (
        sum((pair[way] * x for pair, x in zip(weights, column, strict=True)), fmpq(0))
        for way in (0, 1)
    )
    return Atom(p, q, laws=column)
