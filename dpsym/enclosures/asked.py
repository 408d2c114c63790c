"""What users give beside the mechanism: numbers for symbols, and a width."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

import sympy as sp

from dpsym.enclosures.boxes import Box
from dpsym.enclosures.failures import NoEnclosureError, Undecided
from dpsym.enclosures.numbers import sign
from dpsym.errors import InputError
from dpsym.translate import exact

__all__ = ["Values", "bits_of", "unsupported", "values_and_box", "values_of"]

_WIDEST, _NARROWEST = sp.Rational(1, 2), sp.Rational(1, 2**2000)
Values = Mapping[sp.Symbol, sp.Expr]


class Parametrised(Protocol):
    """A mechanism, noise or a claim."""

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        """The (name, expression) of every parameter."""
        ...


def bits_of(width: object) -> int:
    """Bits of relative accuracy that make a relative width.

    Raises: InputError.

    >>> bits_of(1e-3)
    12
    """
    accuracy = exact(width, "width")
    if not accuracy.is_Rational or not _NARROWEST <= accuracy <= _WIDEST:
        raise InputError("width", "a relative width between 2**-2000 and 1/2", width)
    return int(accuracy.q // accuracy.p).bit_length() + 2


def unsupported(reason: Undecided) -> NoEnclosureError:
    return NoEnclosureError(f"no precision decides {reason}")


def values_of(where: object, *items: Parametrised) -> Values:
    """The numbers for symbols that are parameters of the items.

    Raises: InputError for what is no such symbol, or no number that it may be.
    """
    values, box = values_and_box(where, *items)
    if box:
        raise InputError("where", "a number for every parameter", sorted(map(str, box)))
    return values


def values_and_box(where: object, *items: Parametrised) -> tuple[Values, Box]:
    """The numbers for symbols that are parameters of the items, and the ends of intervals.

    Raises: InputError for what is no such symbol, or nothing that it may be.
    """
    if where is None:
        return {}, {}
    if not isinstance(where, Mapping):
        raise InputError("where", "a dictionary {symbol: number or Interval}", where)
    known: dict[str, sp.Symbol] = {}
    for item in items:
        for _, expr in item.parameters():
            known |= {symbol.name: symbol for symbol in expr.free_symbols}
    values, box = {}, {}
    for symbol, value in where.items():
        if not isinstance(symbol, sp.Symbol) or known.get(symbol.name) != symbol:
            raise InputError("where", f"symbols among {sorted(known)} themselves", symbol)
        if isinstance(value, sp.Interval):
            box[symbol] = _span(symbol, value)
            continue
        if isinstance(value, sp.FiniteSet) and len(value) == 1:
            (value,) = value  # an Interval of one number is that
        number = exact(value, str(symbol))
        if number.free_symbols:
            raise InputError(symbol.name, "a number", value)
        _check_domain(symbol, number)
        values[symbol] = number
    return values, box


def _span(symbol: sp.Symbol, interval: sp.Interval) -> tuple[sp.Rational, sp.Rational]:
    """The ends, rounded inwards for an integer."""
    ends = [exact(end, symbol.name) for end in (interval.start, interval.end)]
    if not all(end.is_Rational for end in ends):
        raise InputError(symbol.name, "an Interval with finite rational ends", interval)
    low, high = ends
    if symbol.is_integer:
        low, high = sp.ceiling(low), sp.floor(high)
        if low > high:
            raise InputError(symbol.name, "an Interval with an integer in it", interval)
    for end in (low, high):
        _check_domain(symbol, end)
    if symbol.is_nonzero and low < 0 < high:
        raise InputError(symbol.name, f"numbers that {symbol} may be", interval)
    return low, high


def _check_domain(symbol: sp.Symbol, number: sp.Expr) -> None:
    """What the symbol was declared to be must be true of the number."""
    at_number = sign(number)
    wrong = (
        (symbol.is_positive and at_number <= 0)
        or (symbol.is_nonnegative and at_number < 0)
        or (symbol.is_negative and at_number >= 0)
        or (symbol.is_nonpositive and at_number > 0)
        or (symbol.is_nonzero and at_number == 0)
        or (symbol.is_integer and not number.is_Integer)
    )
    if wrong:
        raise InputError(symbol.name, f"a number that {symbol} may be", number)
