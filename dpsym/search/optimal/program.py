"""The moment problem in floating point: the most that a moment can be, and the multipliers.

Atoms are pairs (p, q) with p + q = 1 at log-ratios on a grid, and the rays that may carry mass. The
grid grows where the dual inequality F(t) = a t + b + sum l_i g_i(t) - phi(t) >= 0 fails most.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import P_RAY, Q_RAY, Moment, Support, live_rays
from dpsym.kernel.rules_logic import branches
from dpsym.kernel.statements import RATIO
from dpsym.kernel.terms import KINKED, ONE, Term, derivative, substitute, subterms
from dpsym.search.refutation.curves import Array, Curve, sorted_once
from dpsym.search.refutation.exact import dyadic, number

COUNT = 321  # points of the first grid
_ROUNDS = 40
_ADDED = 40  # points in one round
CLOSE = 1e-9  # the gap at which the rounds end
_LARGEST = 1e12  # a column beyond it carries no useful mass
_NEXT = 1e-12  # how far from a kink of the goal a jump is seen
_FARTHEST = 80.0
_ROUNDING, _NO_ROOM = 4e-16, 1e-12
_EVERYWHERE = np.linspace(-100, 100, 801)
_NEAR = np.geomspace(1e-6, 0.3, 120)


@dataclass(frozen=True)
class Row:
    """A constraint less its tangent at ratio 1: the integral of g - base q - slope (p - q) is at
    most ``room``, in floating point; ``base`` and ``slope`` are exact."""

    curve: Curve
    base: fmpq
    slope: fmpq
    bound: float

    @property
    def room(self) -> float:
        return self.bound - float_of(self.base)

    def __call__(self, p: Array, q: Array) -> Array:
        return self.curve(p, q) - float_of(self.base) * q - float_of(self.slope) * (p - q)


def float_of(value: fmpq) -> float:
    return int(value.p) / int(value.q)


def row_of(item: Moment) -> Row:
    """The constraint with numbers for all parameters."""
    curve, slope = Curve.of(item.form, {}), 0.0
    base, plain = number(item.form.at(ONE), {}), _at_one(item.form.f)
    if not plain.kinked:
        slope = number(substitute(derivative(plain, RATIO), {RATIO: ONE}), {})
    return Row(curve, dyadic(base), dyadic(slope), number(item.bound, {}))


def _at_one(item: Term) -> Term:
    """With the branches of kinked terms that are taken around ratio 1."""
    while item.kinked:
        part = next(one for one in subterms(item) if one.op in KINKED)
        condition, then, otherwise = branches(part)
        sign = number(substitute(condition, {RATIO: ONE}), {})
        if not abs(sign) > _NEXT:
            break
        item = tm.replace(item, part, then if sign > 0 else otherwise)
    return item


@dataclass(frozen=True)
class Solution:
    """``value`` is the most that the goal, less its tangent at 1, can be with these atoms; ``p``,
    ``q`` are the masses of those that are used; ``a``, ``b``, ``weights`` are multipliers."""

    value: float
    p: Array
    q: Array
    a: float
    b: float
    weights: Array
    gap: float  # how far below 0 the dual inequality falls, relative to the value


class Problem:
    """One stage's constraints, and a goal to maximise."""

    def __init__(self, items: tuple[Any, ...], goal: Moment) -> None:
        self.rays = live_rays(items)
        self.moments = tuple(item for item in items if isinstance(item, Moment))
        self.rows = [row_of(item) for item in self.moments]
        self.used = [math.isfinite(row.room) for row in self.rows]
        self.goal = row_of(goal)
        self.low, self.high = -math.inf, math.inf
        self.jumps: set[float] = set()
        kinks = self.goal.curve.kinks()
        for row in self.rows:
            own = row.curve.kinks()
            kinks += own
            if any(part.op == "ite" for part in subterms(row.curve.f)):
                self.jumps.update(own)
            if row.room <= 0 and own:  # no mass where the function is positive
                self.restrict(row)
        for item in items:
            if isinstance(item, Support):
                end = math.log(number(item.bound, {}))
                if item.reverse:
                    self.low = max(self.low, -end)
                else:
                    self.high = min(self.high, end)
        self.kinks = kinks + [x for x in (self.low, self.high) if math.isfinite(x)]

    def infinite(self) -> bool:
        """Whether the goal has no bound: it is infinite where mass may be, or outgrows all
        constraints far out."""
        ends = {P_RAY: self.goal.curve.at_p, Q_RAY: self.goal.curve.at_q}
        if any(math.isinf(ends[ray]) for ray in self.rays):
            return True
        for sign in (1.0, -1.0):
            end = self.high if sign > 0 else -self.low
            if math.isfinite(end):
                continue
            far = sign * np.array([30.0, 60.0])
            p, q = atoms(far)
            with np.errstate(all="ignore"):
                size = np.abs(self.goal(p, q))
                most = np.full(2, 1.0)
                for row, used in zip(self.rows, self.used, strict=True):
                    if used:
                        most = np.maximum(most, np.abs(row.curve(p, q)))
                growth = size / most
            if growth[1] > 10 * growth[0] and size[1] > 10:
                return True
        return False

    def unbounded(self) -> list[tuple[Array, Array]]:
        """Atoms with a little mass where the goal is largest."""
        out = []
        for share in (1e-3, 1e-6, 1e-9, 1e-12):
            for first, second in ((share, 0.0), (0.0, share)):
                out.append((np.array([first, 1 - share]), np.array([second, 1 - share])))
        for reach in (40.0, 30.0, 20.0, 10.0):
            far = self.on(self.inside(np.linspace(-reach, reach, 401)), 1.0)
            if far is not None:
                out.append((far.p, far.q))
        return out

    def restrict(self, row: Row) -> None:
        """A hockey stick whose bound is 0 says what a support says."""
        far = np.array([-_FARTHEST, _FARTHEST])
        with np.errstate(all="ignore"):
            ends = self.values(row.curve, far)
        (kink, *_) = row.curve.kinks()
        if ends[1] > 0 and not ends[0] > 0:
            self.high = min(self.high, kink)
            self.rays -= {P_RAY}
        elif ends[0] > 0 and not ends[1] > 0:
            self.low = max(self.low, kink)
            self.rays -= {Q_RAY}

    @staticmethod
    def values(curve: Callable[[Array, Array], Array], logs: Array) -> Array:
        """A homogeneous function at atoms of these log-ratios."""
        p, q = atoms(logs)
        return curve(p, q)

    def reach(self) -> float:
        """How far from 0 a log-ratio may matter: some way beyond the kinks, and to where a moment
        allows almost all of the mass."""
        found = [10.0, *(2 * abs(k) + 6 for k in self.kinks)]
        p, q = atoms(_EVERYWHERE)
        for row in self.rows:
            with np.errstate(all="ignore"):
                open_to = np.abs(_EVERYWHERE[row.curve(p, q) < row.bound])
            if 0 < open_to.size < _EVERYWHERE.size:
                found.append(float(open_to.max()) + 2)
        return min(_FARTHEST, max(found))

    def grid(self) -> Array:
        reach = self.reach()
        steps = np.sinh(np.linspace(-4, 4, COUNT)) * (reach / math.sinh(4))
        if any(row.room < 0 for row in self.rows):  # some mass must be away from 0
            steps = np.concatenate([steps, _NEAR, -_NEAR])
        special = [k + d for k in self.kinks for d in (_NEXT, -_NEXT)]
        # floats do not tell on which side of a jump the kink itself is
        special += [k for k in self.kinks if k not in self.jumps]
        return self.inside(sorted_once([*steps.tolist(), 0.0, *special]))

    def inside(self, logs: Array) -> Array:
        """Those that supports allow, with room for rounding."""
        low = self.low + _ROUNDING * (1 + abs(self.low)) if math.isfinite(self.low) else -math.inf
        high = (
            self.high - _ROUNDING * (1 + abs(self.high)) if math.isfinite(self.high) else math.inf
        )
        kept = logs[(logs >= low) & (logs <= high)]
        ends = [x for x in (low, high) if math.isfinite(x)]
        return sorted_once([*kept.tolist(), *ends])

    def solve(self, close: float = CLOSE) -> Solution | None:
        """The multipliers after enough rounds; None if the atoms cannot meet the constraints.
        ``close`` is the gap at which the rounds end."""
        logs, scale = self.grid(), 1.0
        found: Solution | None = None
        best: Solution | None = None
        for _ in range(_ROUNDS):
            found = self.on(logs, scale)
            if found is None:
                break
            if found.value > 0 and not 0.2 < found.value / scale < 5:
                scale = max(abs(found.value), 1e-15)
                continue
            more, gap = self.lowest(found, logs)
            found = Solution(**{**vars(found), "gap": gap})
            if best is None or gap <= best.gap:
                best = found
            if gap < close or not len(more):
                break
            logs = self.inside(sorted_once([*logs.tolist(), *more.tolist()]))
        if best is None:
            return None
        found = self.outweighed(self.without_noise(best, logs))
        if found.weights is not best.weights:
            found = Solution(**{**vars(found), "gap": self.lowest(found, logs)[1]})
        return found if found.gap <= best.gap else best

    def without_noise(self, found: Solution, logs: Array) -> Solution:
        """With 0 for the weights that seem to be rounding: F is then not curved on pieces where it
        is 0, which would take many boxes."""
        shares = self.shares(found)
        for i in np.flatnonzero((shares > 0) & (shares < 1e-9 * abs(found.value))).tolist():
            weights = found.weights.copy()
            weights[i] = 0.0
            less = Solution(**{**vars(found), "weights": weights})
            _, gap = self.lowest(less, logs)
            if gap < max(CLOSE, 2 * found.gap):
                found = Solution(**{**vars(less), "gap": gap})
        return found

    def shares(self, found: Solution) -> Array:
        """What each row adds to the value."""
        pairs = zip(self.rows, self.used, strict=True)
        return np.array([row.room if used else 0.0 for row, used in pairs]) * found.weights

    def outweighed(self, found: Solution) -> Solution:
        """With larger weights where F is negative far out: there the functions are so large that
        the linear program leaves them out, and little more of one is enough."""
        for _ in range(4):
            far = self.inside(_EVERYWHERE[np.abs(_EVERYWHERE) > 4])
            values = self.slack(found, far) + found.gap * abs(found.value)
            p, q = atoms(far)
            bad = (values < 0) & (np.abs(far) > 4)
            if not bad.any():
                break
            costs = []
            for i, row in enumerate(self.rows):
                with np.errstate(all="ignore"):
                    more = float(np.max(-values[bad] / row(p[bad], q[bad])))
                if self.used[i] and 0 < more < math.inf:
                    costs.append((more * row.room, i, more))
            if not costs:
                break
            _, i, more = min(costs)
            weights = found.weights.copy()
            weights[i] += 1.01 * more
            found = Solution(**{**vars(found), "weights": weights})
        return found

    def slack(self, found: Solution, logs: Array) -> Array:
        """F at atoms of these log-ratios."""
        return self.at(found, *atoms(logs))

    def far_ends(self) -> list[tuple[float, float]]:
        """The ends of the range of ratios that no support cuts off."""
        ends = [(1.0, 0.0)] if math.isinf(self.high) else []
        return [*ends, (0.0, 1.0)] if math.isinf(self.low) else ends

    def at(self, found: Solution, p: Array, q: Array) -> Array:
        """F at these atoms."""
        with np.errstate(all="ignore"):
            total = found.a * p + found.b * q - self.goal(p, q)
            for weight, row in zip(found.weights.tolist(), self.rows, strict=True):
                if weight:
                    total = total + weight * row(p, q)
        return np.where(np.isnan(total), np.inf, total)

    def lowest(self, found: Solution, logs: Array) -> tuple[Array, float]:
        """Log-ratios of local minima of F below zero, and the least value relative to the goal."""
        reach = max(self.reach(), float(np.abs(logs).max()))
        steps = [*np.linspace(-reach, reach, 4001).tolist(), *_EVERYWHERE.tolist()]
        fine = self.inside(sorted_once([*logs.tolist(), *steps]))
        values = self.slack(found, fine)
        inner = np.arange(1, len(fine) - 1)
        dips = inner[(values[inner] <= values[inner - 1]) & (values[inner] <= values[inner + 1])]
        points: list[float] = []
        least = float(values.min())
        if len(dips):
            low, high = fine[dips - 1], fine[dips + 1]
            rows = np.arange(len(dips))
            for _ in range(6):
                zoom = np.linspace(low, high, 17, axis=1)
                seen = self.slack(found, zoom.ravel()).reshape(zoom.shape)
                j = np.clip(np.argmin(seen, axis=1), 1, 15)
                low, high = zoom[rows, j - 1], zoom[rows, j + 1]
            lowest = seen.min(axis=1)
            least = min(least, float(lowest.min()))
            places = zoom[rows, np.argmin(seen, axis=1)]
            order = np.argsort(lowest, kind="stable")[:_ADDED]
            points += places[order][lowest[order] < 0].tolist()
        for end in (0, len(fine) - 1):
            if values[end] < 0:
                points.append(float(fine[end]))
        for p, q in self.far_ends():
            least = min(least, float(self.at(found, np.array([p]), np.array([q]))[0]))
        size = max(abs(found.value), 1e-300)
        return np.array(points), max(0.0, -least / size)

    def on(self, logs: Array, scale: float) -> Solution | None:
        """The linear program on these atoms; ``scale`` is about what its value is."""
        p, q = atoms(logs)
        rays = sorted(self.rays)
        p = np.concatenate([p, [float(ray == P_RAY) for ray in rays]])
        q = np.concatenate([q, [float(ray == Q_RAY) for ray in rays]])
        used = [i for i, kept in enumerate(self.used) if kept]
        sizes = [row.room if row.room > 0 else 1.0 for row in self.rows]
        with np.errstate(all="ignore"):
            goal = self.goal(p, q) / scale
            table = np.array([self.rows[i](p, q) / sizes[i] for i in used]).reshape(
                len(used), p.size
            )
            keep = np.isfinite(goal)
            keep &= np.all(np.isfinite(table) & (np.abs(table) < _LARGEST), axis=0)
        # an unbounded goal is told from the columns that are left out
        p, q, goal, table = p[keep], q[keep], goal[keep], table[:, keep]
        matrix = np.vstack([p, q, table])
        unit = 1 / np.maximum(1.0, np.abs(np.vstack([matrix, goal])).max(axis=0))
        rooms = [_unit(self.rows[i].room) for i in used]
        solved = maximum(goal * unit, matrix * unit, 2, np.array([1.0, 1.0, *rooms]))
        if solved is None:
            return None
        masses, duals = solved
        masses = masses * unit
        weights = np.zeros(len(self.rows))
        for k, i in enumerate(used):
            weights[i] = max(0.0, duals[2 + k]) * scale / sizes[i]
        value = float(masses @ goal) * scale
        mass = masses > 0
        a, b = duals[0] * scale, duals[1] * scale
        return Solution(value, (masses * p)[mass], (masses * q)[mass], a, b, weights, math.inf)


def _unit(room: float) -> float:
    """A room as the linear program has it: 1, or 0 but for rounding."""
    return 1.0 if room > 0 else 0.0 if room > -_NO_ROOM else room


def atoms(logs: Array) -> tuple[Array, Array]:
    """p and q with sum 1 and these log-ratios."""
    with np.errstate(all="ignore"):
        return 1 / (1 + np.exp(-logs)), 1 / (1 + np.exp(logs))


def maximum(
    objective: Array, matrix: Array, equal: int, right: Array
) -> tuple[Array, Array] | None:
    """x >= 0 of largest objective with the first rows equal to, the others at most ``right``; and
    the multipliers of the rows."""
    height, width = matrix.shape
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = width, height
    model.col_cost_ = -objective
    model.col_lower_, model.col_upper_ = np.zeros(width), np.full(width, highspy.kHighsInf)
    lower = np.full(height, -highspy.kHighsInf)
    lower[:equal] = right[:equal]
    model.row_lower_, model.row_upper_ = lower, right
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.arange(0, height * width + 1, height)
    model.a_matrix_.index_ = np.tile(np.arange(height), width)
    model.a_matrix_.value_ = matrix.T.ravel()
    solver: Any = vars(highspy)["_Highs"]()  # `Highs` prints a banner when it is made
    for name, value in _OPTIONS.items():
        solver.setOptionValue(name, value)
    solver.passModel(model)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    solution = solver.getSolution()
    return np.maximum(np.array(solution.col_value), 0.0), -np.array(solution.row_dual)


_OPTIONS: dict[str, object] = {
    "output_flag": False,
    "threads": 1,
    "solver": "simplex",
    "simplex_iteration_limit": 20_000,
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
}
