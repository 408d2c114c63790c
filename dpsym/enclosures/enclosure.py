"""What an enclosure is: two exact numbers with the true one between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import flint
import sympy as sp
from flint import arb, fmpq

from dpsym.enclosures.failures import Undecided
from dpsym.enclosures.numbers import ball
from dpsym.enclosures.within import Within, is_exact

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Enclosure", "enclosure_of", "ends"]

_MAX_EXPONENT = 20_000  # ends are rounded outwards to this many binary places
_MAX_DIGITS = 60
_SPARE = 64  # bits beyond those of the middle, so that the ends lose nothing


@dataclass(frozen=True)
class Enclosure:
    """Two exact numbers, rational or infinite, with the true value between them.

    It prints as many decimal digits as the ends settle, and how far off they are at most.

    Attributes:
        lower, upper: SymPy rationals, or ``oo``; equal if the value is known exactly.

    >>> Enclosure(sp.Rational(1, 3), sp.Rational(3334, 10000))
    Enclosure([0.3334 +/- 6.67e-5])
    """

    lower: sp.Expr
    upper: sp.Expr

    @property
    def width(self) -> sp.Expr:
        """The distance of the ends."""
        return sp.S.Zero if self.lower == self.upper else self.upper - self.lower

    @property
    def relative_width(self) -> sp.Expr:
        """The width over the smaller absolute value of an end; oo if 0 is inside."""
        if self.lower == self.upper:
            return sp.S.Zero
        if self.lower <= 0 <= self.upper or self.upper is sp.oo:
            return sp.oo
        return self.width / min(abs(self.lower), abs(self.upper))

    def __contains__(self, value: object) -> bool:
        number = sp.Integer(value) if isinstance(value, int) else value
        return bool(self.lower <= number) and bool(number <= self.upper)

    def __iter__(self) -> Iterator[sp.Expr]:
        yield self.lower
        yield self.upper

    def __str__(self) -> str:
        if self.lower == self.upper:
            text = str(self.lower)
            return text if len(text) <= _MAX_DIGITS else self._ball().str(_MAX_DIGITS)
        if self.upper is sp.oo:
            return f"[{_short(self.lower)}, oo]"
        return self._ball().str(_MAX_DIGITS)

    def __repr__(self) -> str:
        return f"Enclosure({self})"

    def _ball(self) -> arb:
        with flint.ctx.workprec(1024):
            return _exact(self.lower).union(_exact(self.upper))

    def _repr_latex_(self) -> str:
        if self.lower == self.upper:
            return f"${sp.latex(self.lower)}$"
        if self.upper is sp.oo:
            return rf"$[{_short(self.lower)}, \infty]$"
        with flint.ctx.workprec(1024):
            ball = self._ball()
        middle, _, radius = ball.str(_MAX_DIGITS).strip("[]").partition(" +/- ")
        shown = " \\pm ".join(_power_of_ten(part) for part in (middle, radius) if part)
        return f"${shown}$"


def _power_of_ten(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def _exact(value: sp.Expr) -> arb:
    return arb(fmpq(int(value.p), int(value.q)))


def _short(value: sp.Expr) -> str:
    return "-oo" if value is -sp.oo else _exact(value).str(15, radius=False)


def enclosure_of(
    value: arb, least: sp.Expr | None = None, most: sp.Expr | None = None
) -> Enclosure:
    """The enclosure that a ball is; the value is known to be within ``least`` and ``most``.

    >>> enclosure_of(arb(2)), enclosure_of(arb(1, 0.5), most=sp.S.One).upper
    (Enclosure(2), 1)
    """
    with flint.ctx.workprec(max(flint.ctx.prec, value.mid().bits() + _SPARE)):
        ends = [_end(value.lower(), -1), _end(value.upper(), 1)]
    if least is not None:
        ends = [max(end, least) for end in ends]
    if most is not None:
        ends = [min(end, most) for end in ends]
    return Enclosure(*ends)


def ends(value: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """A constant, twice; or two rational numbers that it is between, if it is not exact.

    >>> from dpsym.enclosures.within import Within
    >>> ends(sp.sqrt(2)), ends(Within("a", 1, 2) * 2)
    ((sqrt(2), sqrt(2)), (2, 4))
    """
    if is_exact(value):
        return value, value
    exactly = _span(value)
    if exactly is not None:
        return exactly
    with flint.ctx.workprec(128):
        found = enclosure_of(ball(value))
    if not (found.lower.is_Rational and found.upper.is_Rational):
        raise Undecided(f"the values of {value}")
    return found.lower, found.upper


def _span(value: sp.Expr) -> tuple[sp.Rational, sp.Rational] | None:
    """Bounds of a rational expression without rounding; None for another one."""
    if isinstance(value, sp.Rational):
        return value, value
    if isinstance(value, Within):
        return value.low, value.high
    if isinstance(value, (sp.Add, sp.Mul)):
        low, high = (sp.S.Zero,) * 2 if isinstance(value, sp.Add) else (sp.S.One,) * 2
        for arg in value.args:
            found = _span(arg)
            if found is None:
                return None
            if isinstance(value, sp.Add):
                low, high = low + found[0], high + found[1]
            else:
                products = [a * b for a in (low, high) for b in found]
                low, high = min(products), max(products)
        return low, high
    if isinstance(value, sp.Pow) and value.exp.is_Integer:
        found = _span(value.base)
        if found is not None and found[0] > 0:
            powers = [end**value.exp for end in found]
            return min(powers), max(powers)
    return None


def _end(end: arb, side: int) -> sp.Expr:
    """An exact number no further inside than the end of a ball."""
    if end.is_nan():
        return side * sp.oo
    if end == 0:
        return sp.S.Zero
    outward = (end > 0) == (side > 0)
    positive = 1 if end > 0 else -1
    if not abs(end) < arb(2) ** _MAX_EXPONENT:
        return positive * (
            sp.oo if outward or not end.is_finite() else sp.Integer(2**_MAX_EXPONENT)
        )
    if abs(end) < arb(2) ** -_MAX_EXPONENT:
        return positive * (sp.Rational(1, 2**_MAX_EXPONENT) if outward else sp.S.Zero)
    mantissa, shift = end.man_exp()
    exact = fmpq(mantissa) * fmpq(2) ** int(shift)
    return sp.Rational(int(exact.p), int(exact.q))
