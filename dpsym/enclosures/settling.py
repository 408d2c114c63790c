"""Whether a claim holds for all parameters in a box, by subdivision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import NoReturn

import sympy as sp
from flint import arb

from dpsym.enclosures.boxes import Box, Cell, constants, halves, middle_of
from dpsym.enclosures.failures import Infinite, Undecided
from dpsym.errors import UnsupportedError

__all__ = ["Settled", "settle"]

Excess = Callable[[Mapping[sp.Symbol, sp.Expr]], arb]
"""A ball that is > 0 where a claim fails and <= 0 where it holds.

Raises: Infinite where it fails infinitely; Undecided, UnsupportedError.
"""


@dataclass(frozen=True)
class Settled:
    """Whether a claim holds throughout a box, by ball arithmetic.

    Attributes:
        holds: True if it holds for all parameters in the box, False if it fails for some, None if
            that is not known.
        where: parameters with which it fails; if that is not known, a part of the box for which it
            is not, as intervals.
        reason: why it is not known.

    >>> Settled(False, {sp.Symbol("mu"): sp.Integer(6)})
    Settled(fails at mu = 6)
    """

    holds: bool | None
    where: Mapping[sp.Symbol, sp.Expr]
    reason: str = ""

    def __bool__(self) -> NoReturn:
        raise TypeError("an answer may be open: ask for its attribute holds, True, False or None")

    def __str__(self) -> str:
        if self.holds:
            return "holds for all parameters in the box"
        what = "fails at" if self.holds is False else "open for"
        link = "=" if self.holds is False else "in"
        places = ", ".join(f"{symbol} {link} {value}" for symbol, value in self.where.items())
        return f"{what} {places}" if places else "fails" if self.holds is False else "open"

    def __repr__(self) -> str:
        return f"Settled({self})"


def settle(excess: Excess, box: Box, cells: int) -> Settled:
    """By halves, until each part is settled or one fails.

    >>> from dpsym.enclosures.numbers import ball
    >>> x = sp.Symbol("x", real=True)
    >>> box = {x: (sp.Rational(0), sp.Rational(1))}
    >>> settle(lambda at: ball(at[x] * (1 - at[x]) - sp.Rational(26, 100)), box, 100)
    Settled(holds for all parameters in the box)
    >>> settle(lambda at: ball(at[x] * (1 - at[x]) - sp.Rational(24, 100)), box, 100)
    Settled(fails at x = 1/2)
    """
    symbols = tuple(box)
    for corner in product(*(dict.fromkeys(span) for span in box.values())):
        at = dict(zip(symbols, corner, strict=True))
        if _fails(excess, at):
            return Settled(False, at)
    stack: list[Cell] = [tuple(box.items())]
    count, reason = 0, ""
    while stack:
        cell = stack.pop()
        count += 1
        values = constants(cell)
        try:
            if values is not None and excess(values) <= 0:
                continue
        except Infinite:
            reason = "the divergence is infinite for some parameters"
        except (Undecided, UnsupportedError) as error:
            reason = str(error)
        at = middle_of(cell)
        if _fails(excess, at):
            return Settled(False, at)
        parts = halves(cell, box)
        if parts is None or count >= cells:
            return Settled(None, {symbol: sp.Interval(*span) for symbol, span in cell}, reason)
        stack += parts
    return Settled(True, {})


def _fails(excess: Excess, at: Mapping[sp.Symbol, sp.Expr]) -> bool:
    """Whether the claim certainly fails at a point."""
    try:
        return bool(excess(at) > 0)
    except Infinite:
        return True
    except Undecided:
        return False
