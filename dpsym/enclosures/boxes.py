"""All values of a quantity over a box of parameters, by subdivision.

On a part of the box the quantity is enclosed for all parameters at once, in ball arithmetic; at
single points it is enclosed as ever. The parts cover the box, so the ends of all enclosures bound
every value; the points say how much of that is reached, and which part to split next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Union

import sympy as sp

from dpsym.enclosures.enclosure import Enclosure
from dpsym.enclosures.failures import Infinite, NoEnclosureError, Undecided
from dpsym.enclosures.within import Within

__all__ = ["Box", "Value", "largest", "range_of"]

Span = tuple[sp.Rational, sp.Rational]
Box = Mapping[sp.Symbol, Span]
Value = Callable[[Mapping[sp.Symbol, sp.Expr]], Enclosure]
"""A quantity >= 0 at constants for the symbols of the box, some known by an interval only.

Raises: Infinite, Undecided, NoEnclosureError.
"""
_Ends = tuple[Union[sp.Expr, None], Union[sp.Expr, None]]


@dataclass(frozen=True)
class _Cell:
    box: tuple[tuple[sp.Symbol, Span], ...]
    low: sp.Expr
    high: sp.Expr


def range_of(value: Value, box: Box, width: sp.Rational, cells: int) -> Enclosure:
    """Two numbers with all values over the box between them.

    Each end is within the relative ``width`` of a value that is taken in the box, unless that
    needs more than so many cells.

    Raises: NoEnclosureError if for some part of the box nothing was found.

    >>> from dpsym.enclosures.enclosure import enclosure_of
    >>> from dpsym.enclosures.numbers import ball
    >>> x = sp.Symbol("x", real=True)
    >>> found = range_of(
    ...     lambda at: enclosure_of(ball(at[x] * (1 - at[x]))),
    ...     {x: (sp.Rational(0), sp.Rational(1))},
    ...     sp.Rational(1, 100),
    ...     200,
    ... )
    >>> found.lower, sp.Rational(1, 4) <= found.upper < 0.2526
    (0, True)
    """
    return _Search(value, box, width).run(cells, (True, False))


def largest(value: Value, box: Box, width: sp.Rational, cells: int) -> Enclosure:
    """Two numbers with the largest value over the box between them."""
    return _Search(value, box, width).run(cells, (True,))


def _several_integers(box: tuple[tuple[sp.Symbol, Span], ...]) -> bool:
    return any(symbol.is_integer and low != high for symbol, (low, high) in box)


class _Search:
    """Branch and bound, for the upper end (True) and the lower one (False)."""

    def __init__(self, value: Value, box: Box, width: sp.Rational) -> None:
        self.value, self.width = value, width
        self.reached: dict[bool, sp.Expr] = {True: -sp.oo, False: sp.oo}
        self.reason: Exception | None = None
        self.box = tuple(box.items())
        self.done: set[tuple[sp.Expr, ...]] = set()

    def run(self, count: int, sides: tuple[bool, ...]) -> Enclosure:
        for corner in product(*(dict.fromkeys(span) for _, span in self.box)):
            self.look(corner, first=True)
        cells = [self.cell(self.box)]
        for _ in range(count):
            open_sides = [side for side in sides if not self.enough(cells, side)]
            if not open_sides:
                break
            side = open_sides[0]
            worst = max(cells, key=lambda c: c.high) if side else min(cells, key=lambda c: c.low)
            parts = self.split(worst)
            if parts is None:
                break
            cells.remove(worst)
            cells += parts
        upper = max(cell.high for cell in cells)
        if upper is sp.oo and self.reached[True] is not sp.oo:
            raise self.failure(next(cell for cell in cells if cell.high is sp.oo))
        if len(sides) == 1:
            return Enclosure(self.reached[True], upper)
        return Enclosure(min(cell.low for cell in cells), upper)

    def enough(self, cells: Sequence[_Cell], side: bool) -> bool:
        reached = self.reached[side]
        end = max(cell.high for cell in cells) if side else min(cell.low for cell in cells)
        if end == reached:
            return True
        if sp.oo in (end, reached) or reached is -sp.oo:
            return False
        return bool(abs(end - reached) <= self.width * abs(reached))

    def look(self, point: tuple[sp.Expr, ...], first: bool = False) -> None:
        """Take in the value at a point."""
        if point in self.done:
            return
        self.done.add(point)
        symbols = (symbol for symbol, _ in self.box)
        try:
            found = self.value(dict(zip(symbols, point, strict=True)))
        except Infinite:
            found = Enclosure(sp.oo, sp.oo)
        except Undecided as reason:
            self.reason = reason
            return
        except NoEnclosureError as reason:
            if first:
                raise
            self.reason = reason
            return
        self.reached[True] = max(self.reached[True], found.lower)
        self.reached[False] = min(self.reached[False], found.upper)

    def cell(self, box: tuple[tuple[sp.Symbol, Span], ...]) -> _Cell:
        values = {
            symbol: low if low == high else Within(symbol.name, low, high)
            for symbol, (low, high) in box
        }
        if _several_integers(box):
            return _Cell(box, sp.S.Zero, sp.oo)  # they are put in one by one
        try:
            low, high = self.value(values)
        except Infinite:
            low = high = sp.oo
        except (Undecided, NoEnclosureError) as reason:
            self.reason = reason
            low, high = sp.S.Zero, sp.oo
        return _Cell(box, low, high)

    def split(self, cell: _Cell) -> list[_Cell] | None:
        """Two halves of a cell, across its longest side."""
        sides = [i for i, (_, (low, high)) in enumerate(cell.box) if low != high]
        if not sides:
            return None
        whole = dict(self.box)

        def length(i: int) -> tuple[bool, sp.Rational]:
            symbol, (low, high) = cell.box[i]
            start, end = whole[symbol]
            return bool(symbol.is_integer), (high - low) / (end - start)

        chosen = max(sides, key=length)
        symbol, (low, high) = cell.box[chosen]
        middle = (low + high) / 2
        ends = [(low, middle), (middle, high)]
        if symbol.is_integer:
            ends = [(low, sp.floor(middle)), (sp.floor(middle) + 1, high)]
        if not _several_integers(cell.box):
            self.look(tuple((start + end) / 2 for _, (start, end) in cell.box))
        return [
            self.cell((*cell.box[:chosen], (symbol, span), *cell.box[chosen + 1 :]))
            for span in ends
        ]

    def failure(self, cell: _Cell) -> NoEnclosureError:
        where = ", ".join(f"{symbol} in [{low}, {high}]" for symbol, (low, high) in cell.box)
        return NoEnclosureError(f"nothing was found for {where}: {self.reason}")
