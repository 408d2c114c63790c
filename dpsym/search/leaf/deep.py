"""A search for counterexamples in exact numbers, where floats are blind.

Points of ``corners`` are tried, and by turns directions of many lengths from the points where the
goal is zero or nearly so. The worst of these directions are made worse by small changes, at a fixed
length: a goal that vanishes to a high order may be negative in a narrow cone alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from flint import arb, fmpq

from dpsym.kernel.balls import precision
from dpsym.kernel.sequents import Sequent
from dpsym.search.leaf.budget import Budget
from dpsym.search.leaf.corners import Corners
from dpsym.search.leaf.exact import Balls
from dpsym.search.leaf.numeric import refutes

_BITS, _MORE_BITS, _MOST_BITS = 160, 1280, 4096
_FIRST = 0.02  # seconds at corners, and then nearby; each round takes longer
_MOST_UNCLEAR, _STARTS = 2000, 40
_LENGTHS = [fmpq(d, 10**k) for k in range(1, 5) for d in (3, 1)]
_LENGTHS += [fmpq(1, 10**k) for k in (6, 8, 12, 16, 24, 40)]
_DIRECTIONS, _CHANGES = 14, 40
_PLACES = 1000

Exact = dict[str, fmpq]


def find(sequent: Sequent, budget: Budget, integers: frozenset[str], seed: int = 1) -> Exact | None:
    """A rational point at which all hypotheses hold and the goal fails, for certain."""
    return _Deep(sequent, budget, integers, seed).run()


class _Deep:
    def __init__(
        self, sequent: Sequent, budget: Budget, integers: frozenset[str], seed: int
    ) -> None:
        self.sequent, self.budget, self.integers = sequent, budget, integers
        self.facts = sequent.hypotheses
        self.rel = sequent.goal.rel
        goal = sequent.goal.term
        self.parts = goal.args if goal.op == "add" else ()
        items = (*(fact.term for fact in self.facts), goal, *self.parts)
        names = tuple(sorted(sequent.vars))
        self.balls = Balls(items, names)
        self.random = random.Random(seed)
        self.corners = iter(Corners(sequent, integers, seed))
        self.unclear: list[Exact] = []
        self.touching: list[Exact] = []
        self.seen: set[tuple[fmpq, ...]] = set()
        self.least: list[tuple[float, int, Exact]] = []

    def run(self) -> Exact | None:
        if not self.sequent.vars:
            return {} if refutes(self.sequent, {}, bits=_MOST_BITS) else None
        seconds = _FIRST
        while True:
            self.budget.check()
            part = self.budget.part(min(seconds, self.budget.left() / 2))
            found = self.at_corners(part) or self.where_unclear()
            found = found or self.nearby(self.budget.part(seconds))
            if found is not None:
                return found
            seconds *= 3

    def goal(self, point: Mapping[str, fmpq]) -> list[arb] | None:
        """Balls of the goal and its summands; None if a hypothesis fails, or they are undefined."""
        values = self.balls(point)
        for fact, ball in zip(self.facts, values, strict=False):
            if not ball.is_finite() or (fact.rel != ">=" and ball == 0):
                return None
            if ball < 0 and fact.rel != "!=":
                return None
        found = values[len(self.facts) :]
        return found if found[0].is_finite() else None

    def at_corners(self, budget: Budget) -> Exact | None:
        with precision(_BITS):
            for count, point in enumerate(self.corners):
                if not count & 15 and budget.left() <= 0:
                    return None
                found = self.goal(point)
                if found is None:
                    continue
                value = found[0]
                if value < 0 and self.rel != "!=":
                    if self.confirmed(point):
                        return point
                elif not value > 0 and not (self.rel == "!=" and value < 0):
                    if len(self.unclear) < _MOST_UNCLEAR:
                        self.unclear.append(point)
                elif len(self.least) < _MOST_UNCLEAR:
                    scale = sum((abs(part.mid()) for part in found[1:]), abs(value.mid()))
                    self.least.append((float(abs(value.mid()) / scale), count, point))
        return None

    def confirmed(self, point: Exact) -> bool:
        return refutes(self.sequent, point, bits=_MOST_BITS)

    def where_unclear(self) -> Exact | None:
        """More bits where the sign is not clear; equality, if the goal is strict."""
        strict = self.rel != ">="
        touching = []
        for point in self.unclear:
            self.budget.check()
            with precision(_MORE_BITS):
                found = self.goal(point)
            if found is None or found[0] > 0:
                continue
            if (strict or found[0] < 0) and self.confirmed(point):
                return point
            touching.append(point)
        self.unclear = []
        for point in () if strict else touching[:_STARTS]:
            self.budget.check()
            if self.confirmed(point):
                return point
        self.touching += touching
        return None

    def starts(self) -> Iterator[Exact]:
        """Where to look around, by turns points of each kind; simple points are the first."""
        self.least.sort(key=lambda entry: entry[:2])
        least = [point for _, _, point in self.least]
        touching = sorted(self.touching, key=_height)
        for i in range(_STARTS):
            yield from touching[i : i + 1]
            yield from least[i : i + 1]

    def nearby(self, budget: Budget) -> Exact | None:
        if self.rel == "!=":
            return None
        with precision(_BITS * 4):
            for start in self.starts():
                key = tuple(start.values())
                if key in self.seen:
                    continue
                if budget.left() <= 0:
                    return None
                self.seen.add(key)
                found = self.around(start)
                if found is not None:
                    return found
        return None

    def around(self, start: Exact) -> Exact | None:
        names = [name for name in start if name not in self.integers]
        groups: dict[fmpq, list[str]] = {}
        for name in names:
            groups.setdefault(start[name], []).append(name)
        for length in _LENGTHS if names else ():
            self.budget.check()
            best: tuple[arb, Exact, Exact] | None = None
            for _ in range(_DIRECTIONS):
                shift = {name: fmpq(0) for name in names}
                found = self.look(start, length, shift, self.direction(names))
                if isinstance(found, dict):
                    return found
                if found is not None and (best is None or found[0] < best[0]):
                    best = found
            if best is None or len(names) == 1:
                continue
            for count in range(_CHANGES):
                value, shift, direction = best
                step = fmpq(1, 2 ** (count // 8 + 1))
                new = {name: direction[name] + step * self.normal() for name in names}
                most = max(map(abs, new.values()))
                if most == 0:
                    continue
                new = {name: _short(entry / most) for name, entry in new.items()}
                moved = dict(shift)
                for group in groups.values():  # what is tied moves together
                    by = step * length * self.normal() if self.random.random() < 0.5 else 0
                    moved.update((name, shift[name] + by) for name in group)
                found = self.look(start, length, moved, new)
                if isinstance(found, dict):
                    return found
                if found is not None and found[0] < value:
                    best = found
        return None

    def look(
        self, start: Exact, length: fmpq, shift: Exact, direction: Exact
    ) -> Exact | tuple[arb, Exact, Exact] | None:
        """The point if it refutes the goal, or the goal's value there with the direction."""
        point = dict(start)
        for name, entry in direction.items():
            size = abs(start[name]) or fmpq(1)
            point[name] = start[name] + size * (length * entry + shift[name])
        found = self.goal(point)
        if found is None:
            return None
        if found[0] < 0 and self.confirmed(point):
            return point
        return found[0].mid(), shift, direction

    def direction(self, names: list[str]) -> Exact:
        if self.random.random() < 0.4:
            out = {name: fmpq(self.random.choice((-1, 0, 1))) for name in names}
        else:
            out = {
                name: _short(fmpq(self.random.randint(-_PLACES, _PLACES), _PLACES))
                for name in names
            }
        return out

    def normal(self) -> fmpq:
        return fmpq(round(self.random.gauss(0, 1) * _PLACES), _PLACES)


def _short(value: fmpq) -> fmpq:
    return fmpq(round(value * _PLACES), _PLACES)


def _height(point: Exact) -> int:
    return sum(value.height_bits() for value in point.values())
