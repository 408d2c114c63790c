"""All values of a quantity over a box of parameters, by subdivision.

On a part of the box the quantity is enclosed for all parameters at once, in ball arithmetic; at
single points it is enclosed as ever. The parts cover the box, so the ends of all enclosures bound
every value. What is reached for sure says how far that is from the truth, and which part to split
next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import sympy as sp

from dpsym.enclosures.enclosure import Enclosure
from dpsym.enclosures.failures import Infinite, NoEnclosureError, Undecided
from dpsym.enclosures.within import Within
from dpsym.errors import UnsupportedError

__all__ = [
    "Box",
    "Cell",
    "Value",
    "constants",
    "halves",
    "largest",
    "middle_of",
    "range_of",
    "smallest",
]

_SMALLEST = sp.Rational(1, 2**48)  # a part of the box, to its whole length

Span = tuple[sp.Rational, sp.Rational]
Box = Mapping[sp.Symbol, Span]
Cell = tuple[tuple[sp.Symbol, Span], ...]
Value = Callable[[Mapping[sp.Symbol, sp.Expr]], Enclosure]
"""A quantity >= 0 at constants for the symbols of the box, some known by an interval only.

Raises: Infinite, Undecided, UnsupportedError.
"""


@dataclass(frozen=True)
class _Part:
    cell: Cell
    low: sp.Expr
    high: sp.Expr


def range_of(value: Value, box: Box, width: sp.Rational, cells: int) -> Enclosure:
    """Two numbers with all values over the box between them.

    Each end is within the relative ``width`` of a value that is taken in the box, unless that
    needs more than so many parts.

    Raises: NoEnclosureError if for some part of the box nothing was found.

    >>> from dpsym.enclosures.enclosure import enclosure_of
    >>> from dpsym.enclosures.numbers import ball
    >>> x = sp.Symbol("x", real=True)
    >>> found = range_of(
    ...     lambda at: enclosure_of(ball(at[x] * (2 - at[x]))),
    ...     {x: (sp.Rational(1, 2), sp.Rational(2, 3))},
    ...     sp.Rational(1, 100),
    ...     200,
    ... )
    >>> 0.74 < found.lower <= sp.Rational(3, 4), sp.Rational(8, 9) <= found.upper < 0.9
    (True, True)
    """
    return _Search(value, box, width).run(cells, (True, False))


def largest(value: Value, box: Box, width: sp.Rational, cells: int) -> Enclosure:
    """Two numbers with the largest value over the box between them."""
    return _Search(value, box, width).run(cells, (True,))


def smallest(value: Value, box: Box, width: sp.Rational, cells: int) -> Enclosure:
    """Two numbers with the smallest value over the box between them."""
    return _Search(value, box, width).run(cells, (False,))


# --- parts ----------------------------------------------------------------------------------------


def constants(cell: Cell) -> dict[sp.Symbol, sp.Expr] | None:
    """What to put in for the symbols; None if several integers are left, which are put in one by
    one."""
    if any(symbol.is_integer and low != high for symbol, (low, high) in cell):
        return None
    return {
        symbol: low if low == high else Within(symbol.name, low, high)
        for symbol, (low, high) in cell
    }


def middle_of(cell: Cell) -> dict[sp.Symbol, sp.Expr]:
    return {
        symbol: sp.floor((low + high) / 2) if symbol.is_integer else (low + high) / 2
        for symbol, (low, high) in cell
    }


def halves(cell: Cell, box: Box) -> list[Cell] | None:
    """Two halves of a part, across its longest side; None if it is too small."""

    def length(i: int) -> tuple[bool, sp.Rational]:
        symbol, (low, high) = cell[i]
        start, end = box[symbol]
        return bool(symbol.is_integer), (high - low) / (end - start)

    sides = [i for i, (_, (low, high)) in enumerate(cell) if low != high]
    if not sides:
        return None
    chosen = max(sides, key=length)
    symbol, (low, high) = cell[chosen]
    middle = (low + high) / 2
    ends = [(low, middle), (middle, high)]
    if symbol.is_integer:
        ends = [(low, sp.floor(middle)), (sp.floor(middle) + 1, high)]
    elif length(chosen)[1] < _SMALLEST:
        return None
    return [(*cell[:chosen], (symbol, span), *cell[chosen + 1 :]) for span in ends]


class _Search:
    """Branch and bound, for the upper end (True) and the lower one (False)."""

    def __init__(self, value: Value, box: Box, width: sp.Rational) -> None:
        self.value, self.width, self.box = value, width, box
        self.reached: dict[bool, sp.Expr] = {True: -sp.oo, False: sp.oo}
        self.reason: Exception | None = None

    def run(self, count: int, sides: tuple[bool, ...]) -> Enclosure:
        for corner in product(*(dict.fromkeys(span) for span in self.box.values())):
            self.look(dict(zip(self.box, corner, strict=True)))
        parts = [self.part(tuple(self.box.items()))]
        for _ in range(count):
            open_sides = [side for side in sides if not self.enough(parts, side)]
            if not open_sides:
                break
            side = open_sides[0]
            worst = max(parts, key=lambda c: c.high) if side else min(parts, key=lambda c: c.low)
            cells = halves(worst.cell, self.box)
            if cells is None:
                break
            if worst.high is not sp.oo and constants(worst.cell) is not None:
                self.look(middle_of(worst.cell))
            parts.remove(worst)
            parts += map(self.part, cells)
        upper = max(part.high for part in parts)
        if sides == (False,):
            return Enclosure(min(part.low for part in parts), max(self.reached[False], sp.S.Zero))
        if upper is sp.oo and self.reached[True] is not sp.oo:
            raise self.failure(next(part for part in parts if part.high is sp.oo))
        if sides == (True,):
            return Enclosure(max(self.reached[True], sp.S.Zero), upper)
        return Enclosure(min(part.low for part in parts), upper)

    def enough(self, parts: Sequence[_Part], side: bool) -> bool:
        reached = self.reached[side]
        end = max(part.high for part in parts) if side else min(part.low for part in parts)
        if end == reached:
            return True
        if sp.oo in (end, reached) or reached is -sp.oo:
            return False
        return bool(abs(end - reached) <= self.width * abs(reached))

    def look(self, point: Mapping[sp.Symbol, sp.Expr]) -> None:
        """Take in the value at a point."""
        try:
            found = self.value(point)
        except Infinite:
            found = Enclosure(sp.oo, sp.oo)
        except Undecided as reason:
            self.reason = reason
            return
        self.take(found)

    def take(self, found: Enclosure) -> None:
        """Some value is at least the lower end, and some at most the upper one."""
        self.reached[True] = max(self.reached[True], found.lower)
        self.reached[False] = min(self.reached[False], found.upper)

    def part(self, cell: Cell) -> _Part:
        values = constants(cell)
        if values is None:
            return _Part(cell, sp.S.Zero, sp.oo)
        try:
            found = self.value(values)
        except Infinite:
            found = Enclosure(sp.oo, sp.oo)
        except (Undecided, UnsupportedError) as reason:
            self.reason = reason
            return _Part(cell, sp.S.Zero, sp.oo)
        self.take(found)
        return _Part(cell, *found)

    def failure(self, part: _Part) -> NoEnclosureError:
        where = ", ".join(f"{symbol} in [{low}, {high}]" for symbol, (low, high) in part.cell)
        return NoEnclosureError(f"nothing was found for {where}: {self.reason}")
