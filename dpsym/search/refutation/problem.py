"""A statement about assumed guarantees at one point, in floating point.

A stage's distributions are sought among atoms of given likelihood ratios: the moment problem
becomes a linear program over their masses.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import (
    P_RAY,
    Q_RAY,
    Constraint,
    Moment,
    Support,
    constraints,
    hockey_stick,
    live_rays,
    member,
)
from dpsym.kernel.statements import Assumed, Blend, Guarantee, Statement, singles
from dpsym.search.refutation.curves import Array, Curve, Pmf, sorted_once
from dpsym.search.refutation.exact import Values, number
from dpsym.search.refutation.lp import maximise
from dpsym.search.refutation.points import menu

TOLERANCE = 1e-12
_NUDGES = (1.0, 1 - 1e-9, 1 + 1e-9, 1 - 1e-4, 1 + 1e-4)
_ONE = np.ones(1)
_LARGEST = 1e9  # a column beyond it carries no useful mass
_MOST_KINKS = 30
_GAUSSIAN = tuple(fmpq(k, 4) for k in range(-16, 17))  # epsilon over mu, for a few members
_FAR = 300.0  # the largest log-ratio that is tried


@dataclass(frozen=True)
class Goal:
    """What a witness must exceed: a moment's bound, or for a support 0 by the mass beyond it."""

    curve: Curve
    bound: float
    order: fmpq | None = None

    @property
    def margin(self) -> float:
        """How far above the bound a value must be for floats to be believed."""
        return 1e-9 * max(abs(self.bound), 1e-6)

    def broken(self, value: float) -> bool:
        return value > self.bound + self.margin


class StageAt:
    """A stage at a point: its constraints in floating point."""

    def __init__(self, items: Iterable[Constraint], values: Values) -> None:
        found = tuple(items)
        self.rays = live_rays(found)
        self.low, self.high, self.length = 0.0, math.inf, math.inf
        self.moments: list[tuple[Curve, float]] = []
        for item in found:
            if isinstance(item, Moment):
                self.moments.append((Curve.of(item.form, values), number(item.bound, values)))
            elif isinstance(item, Support):
                bound = number(item.bound, values)
                if item.reverse:
                    self.low = max(self.low, 1 / bound if bound else math.inf)
                else:
                    self.high = min(self.high, bound)
            else:
                self.length = min(self.length, number(item.length, values))
        ends = [math.log(end) for end in (self.low, self.high) if 0 < end < math.inf]
        self.kinks = ends + [kink for curve, _ in self.moments for kink in curve.kinks()]

    def allows(self, p: Array, q: Array, strictly: bool = False) -> NDArray[np.bool_]:
        """Which rows of masses seem to meet every constraint (each row one distribution);
        ``strictly``: with room to spare in moments that P = Q does not exhaust."""
        good = np.ones(p.shape[:-1], dtype=bool)
        if self.high < math.inf:
            good &= np.all(p <= self.high * q * (1 + TOLERANCE), axis=-1)
        good &= np.all(q * self.low <= p * (1 + TOLERANCE), axis=-1)
        if P_RAY not in self.rays:
            good &= ~np.any((p > 0) & (q <= 0), axis=-1)
        if Q_RAY not in self.rays:
            good &= ~np.any((q > 0) & (p <= 0), axis=-1)
        if self.length < math.inf:
            with np.errstate(all="ignore"):
                logs = np.log(p / q)
            used = (p > 0) & (q > 0)
            top = np.where(used, logs, -np.inf).max(axis=-1)
            good &= top - np.where(used, logs, np.inf).min(axis=-1) <= self.length + TOLERANCE
        for curve, bound in self.moments:
            if not good.any():
                break
            total = np.full(good.shape, np.inf)
            with np.errstate(all="ignore"):
                total[good] = curve(p[good], q[good]).sum(axis=-1)
            room = TOLERANCE * max(abs(bound), 1e-3)
            if strictly and float(curve(_ONE, _ONE)[0]) < bound - room:
                room = -room
            good &= total <= bound + room
        return good

    def columns(self, logs: Array, window: tuple[float, float]) -> Columns:
        """Atoms with these log-ratios, as far as the constraints and the window allow."""
        low = max(self.low, math.exp(min(window[0], _FAR)))
        high = min(self.high, math.exp(window[1]) if window[1] < _FAR else math.inf)
        ratios = np.exp(logs[np.abs(logs) <= _FAR])
        strictly = (ratios >= low * (1 + TOLERANCE)) & (ratios <= high * (1 - TOLERANCE))
        ratios = ratios[strictly | (ratios == 1.0)]
        rays = sorted(self.rays) if math.isinf(window[1]) else []
        p = np.concatenate([ratios / (1 + ratios), [float(ray == P_RAY) for ray in rays]])
        q = np.concatenate([1 / (1 + ratios), [float(ray == Q_RAY) for ray in rays]])
        return Columns.made(self, p, q)


@dataclass(frozen=True)
class Columns:
    """Unit atoms, and their moments divided by the size of the bound."""

    p: Array
    q: Array
    rows: Array
    bounds: Array
    trivial: Array  # the moments of P = Q

    @staticmethod
    def made(stage: StageAt, p: Array, q: Array) -> Columns:
        rows, bounds, trivial = [], [], []
        keep = np.ones(p.size, dtype=bool)
        for curve, bound in stage.moments:
            if math.isinf(bound):
                continue
            size = abs(bound) or 1.0
            with np.errstate(all="ignore"):
                row = curve(p, q) / size
                trivial.append(float(curve(_ONE, _ONE)[0]) / size)
            keep &= np.isfinite(row) & (np.abs(row) < _LARGEST)
            rows.append(row)
            bounds.append(bound / size)
        table = np.array([row[keep] for row in rows]) if rows else np.zeros((0, int(keep.sum())))
        return Columns(p[keep], q[keep], table, np.array(bounds), np.array(trivial))

    def best(self, objective: Array, slack: float) -> Array | None:
        """Masses of the columns that maximise the objective, with the moments so much short of
        their bounds, on the way to those of P = Q."""
        if not self.p.size:
            return None
        toward = np.where(self.trivial <= self.bounds, self.trivial, self.bounds)
        most = self.bounds - slack * (self.bounds - toward)
        sums = np.array([self.p, self.q])
        return maximise(objective, sums, np.ones(2), self.rows, most)

    def pmf(self, masses: Array) -> Pmf:
        """The atoms that matter, neighbours of nearly the same ratio as one."""
        used = np.flatnonzero(masses > 1e-9)
        p, q = masses[used] * self.p[used], masses[used] * self.q[used]
        order = np.argsort(p / (p + q), kind="stable")
        merged: list[list[float]] = []
        for mass, other in zip(p[order].tolist(), q[order].tolist(), strict=True):
            last = merged[-1] if merged else [0.0, 0.0]
            near = abs(mass * last[1] - other * last[0]) < 2e-3 * (mass + other) * sum(last)
            if merged and near and min(mass, other, *last) > 0:
                merged[-1] = [mass + last[0], other + last[1]]
            else:
                merged.append([mass, other])
        return np.array([m[0] for m in merged]), np.array([m[1] for m in merged])


@dataclass(frozen=True)
class Problem:
    """All stages and goals at one point; ``grid`` are the orders for families assumed."""

    values: dict[str, fmpq]
    stages: tuple[StageAt, ...]
    goals: tuple[Goal, ...]
    grid: tuple[fmpq, ...] = ()

    def logs(self, reach: float, count: int) -> Array:
        """Log-ratios to try: a grid that is finer near 0, kinks, their sums and differences."""
        own = sorted({round(k, 13) for stage in self.stages for k in stage.kinks})
        kinks = list(own)
        for goal in self.goals:
            kinks += goal.curve.kinks()
        more = [a + b for a in kinks for b in own] + [a - b for a in kinks for b in own]
        if len(self.stages) > 2:
            more += [a - b for a in more for b in own]
        near = sorted(dict.fromkeys(round(k, 13) for k in (*kinks, *more)), key=abs)
        special = [k + math.log(n) for k in (*kinks, *near[:_MOST_KINKS]) for n in _NUDGES]
        steps = np.sinh(np.linspace(-3, 3, count)) * (reach / math.sinh(3))
        return sorted_once([*steps.tolist(), 0.0, *special])

    def reach(self) -> float:
        """How far from 0 a log-ratio may matter."""
        kinks = [k for stage in self.stages for k in stage.kinks]
        kinks += [k for goal in self.goals for k in goal.curve.kinks()]
        return min(60.0, max([8.0, *(2 * abs(k) + 2 for k in kinks)]))


# -- building one


def orders(family: str) -> list[fmpq]:
    """Orders at which to try a claim that is a family."""
    if family == "GDP":
        return menu("epsilon")
    return [*menu("order"), fmpq(65, 64), fmpq(100)]


def order_grid(reach: float, fine: bool) -> tuple[fmpq, ...]:
    """Orders above 1 that grow geometrically beyond ``reach``."""
    out: list[fmpq] = []
    order, factor = 1.0, 1.06 if fine else 1.25
    while order < reach:
        order *= factor
        out.append(fmpq(math.ceil(order * 20), 20))
    return tuple(dict.fromkeys(out))


def enough(guarantee: Guarantee, grid: tuple[fmpq, ...], values: Values) -> Iterator[Constraint]:
    """Finitely many constraints that give the guarantee, by the kernel's choice for families."""
    rho, *ends = guarantee.args
    if rho is None:
        return
    if guarantee.name == "GDP":
        for steps in _GAUSSIAN:
            found = member(guarantee, tm.num(steps) * rho)
            yield from constraints(found[1]) if found is not None else ()
        return
    if guarantee.name not in ("ZCDP", "TCDP"):
        yield from constraints(guarantee)
        return
    last = fmpq(1)
    for order in grid:
        bound = rho * tm.num(last)
        yield from constraints(replace(guarantee, name="RenyiDP", args=(tm.num(order), bound)))
        last = order
        if any(number(end, values) <= float(order) for end in ends if end is not None):
            return
    if not ends:
        yield from constraints(replace(guarantee, name="PureDP", args=(rho * tm.num(last),)))


def claimed(statement: Statement, values: Values) -> Iterator[tuple[Constraint, fmpq | None]]:
    """The constraints that a witness may break, with the order for members of a family; one
    direction only if the hypotheses are symmetric."""
    symmetric = all(g.two_way for g in assumed(statement))
    symmetric = symmetric and not any(isinstance(stage, Blend) for stage in statement.stages)
    for claim in statement.claims:
        if symmetric:
            claim = replace(claim, two_way=False, reverse=False)
        plain = constraints(claim)
        for item in plain:
            yield item, None
        if not plain:
            for order in orders(claim.name):
                found = member(claim, tm.num(order))
                if found is not None:
                    for item in constraints(found[1]):
                        yield item, order


def goals(statement: Statement, values: Values) -> Iterator[Goal]:
    """The claims as moments to maximise; claims of a range are not among them."""
    for item, order in claimed(statement, values):
        if isinstance(item, Moment):
            bound = number(item.bound, values)
            if math.isfinite(bound):
                yield Goal(Curve.of(item.form, values), bound, order)
        elif isinstance(item, Support):
            form = hockey_stick(item.bound.args[0])
            form = form.swapped() if item.reverse else form
            yield Goal(Curve.of(form, values), 0.0, order)


def families(statement: Statement) -> bool:
    """Whether a family is assumed."""
    return any(not constraints(guarantee) for guarantee in assumed(statement))


def assumed(statement: Statement) -> Iterator[Guarantee]:
    """All the guarantees that stages have."""
    for stage in statement.stages:
        for single in singles(stage):
            if isinstance(single, Assumed):
                yield from single.guarantees


def problem(statement: Statement, values: dict[str, fmpq], fine: bool = False) -> Problem:
    """The statement at a point."""
    aims = tuple(goals(statement, values))
    grid: tuple[fmpq, ...] = ()
    if families(statement):
        rhos = [
            number(guarantee.args[0], values)
            for guarantee in assumed(statement)
            if guarantee.name in ("ZCDP", "TCDP") and guarantee.args[0] is not None
        ]
        kinks = [abs(k) for goal in aims for k in goal.curve.kinks()] or [2.0]
        least = max(min(rhos, default=1.0), 1e-3)
        grid = order_grid(min(max(6.0, 2 * max(kinks) / least), 400.0), fine)
    stages = tuple(
        StageAt((item for g in stage.guarantees for item in enough(g, grid, values)), values)
        for stage in statement.stages
        if isinstance(stage, Assumed)
    )
    return Problem(values, stages, aims, grid)
