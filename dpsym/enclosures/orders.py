"""All orders at once: the smallest rho with D_alpha <= rho * alpha for every alpha > 1.

With t = alpha - 1, psi(t) = t D_(t + 1) is convex and psi(0) = 0. On [a, b] it lies below its
chord, so that psi(t)/(t (t + 1)) <= chord(t)/(t (t + 1)): an upper bound from two orders, off by
the square of b - a. Beyond an order that is large enough, D_alpha is at most the largest loss.

Next to t = 0: D_alpha grows with alpha, so it is below the best value known until some order; or
the supremum is the limit KL, and psi(t) <= KL t + s t**2 + C t**3/6 shows it, where the third
derivative of psi, a third cumulant of a loss within an interval of length R, is at most
C = R**3/(6 sqrt(3)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import flint
import sympy as sp
from flint import arb, fmpq

from dpsym.enclosures import divergences
from dpsym.enclosures.closed import gaussian_rho
from dpsym.enclosures.divergences import Pair
from dpsym.enclosures.enclosure import Enclosure, enclosure_of
from dpsym.enclosures.failures import Infinite, NoEnclosureError

__all__ = ["smallest_rho"]

_MAX_CELLS, _MAX_IF_ROUGH = 1000, 40
_CLOSEST, _STEP = Fraction(1, 2**12), Fraction(1, 2**14)
Renyi = Callable[[Pair, sp.Expr, int], arb]


def smallest_rho(pairs: tuple[Pair, ...], bits: int, renyi: Renyi) -> Enclosure:
    """The supremum of D_alpha/alpha over alpha > 1 and the pairs.

    Raises: Infinite; NoEnclosureError for a loss that is unbounded, but for Gaussians.
    """
    found = [_rho(pair, bits, renyi) for pair in pairs]
    with flint.ctx.workprec(bits + 36):
        if all(isinstance(item, sp.Rational) for item in found):
            largest = max(found)
            return Enclosure(largest, largest)
        return enclosure_of(divergences.greatest([_ball(item) for item in found]), sp.S.Zero)


def _ball(value: sp.Expr | arb) -> arb:
    return value if isinstance(value, arb) else divergences.ball(value)


def _rho(pair: Pair, bits: int, renyi: Renyi) -> sp.Expr | arb:
    closed = gaussian_rho(pair)
    if closed is not None:
        return closed
    try:
        top = divergences.largest_loss(pair, bits)
    except Infinite:
        _refuse_infinite(pair, renyi)
        raise NoEnclosureError(
            "rho is enclosed for a loss that is bounded, and for Gaussians"
        ) from None
    if top <= 0:
        return sp.S.Zero
    return _Search(pair, bits, renyi, top).run()


def _refuse_infinite(pair: Pair, renyi: Renyi) -> None:
    """An order at which the divergence is infinite settles it. Raises: Infinite."""
    for alpha in (2, 64, 4096):
        renyi(pair, sp.Integer(alpha), 20)


@dataclass(frozen=True)
class _Cell:
    """Orders 1 + start to 1 + end, and psi there."""

    start: Fraction
    end: Fraction
    at_start: arb
    at_end: arb


class _Search:
    """Branch and bound over t = alpha - 1."""

    def __init__(self, pair: Pair, bits: int, renyi: Renyi, top: arb) -> None:
        self.pair, self.bits, self.renyi, self.top = pair, bits, renyi, top
        self.best = arb(0)
        self.known: dict[Fraction, arb] = {}

    def psi(self, t: Fraction) -> arb:
        """t * D_(1 + t), its quotient by t (t + 1) being a value that is reached."""
        if t not in self.known:
            alpha = sp.Rational(t.numerator, t.denominator) + 1
            value = self.renyi(self.pair, alpha, self.bits + 6)
            self.known[t] = value * _exact(t)
            self.best = self.best.max((value / _exact(t + 1)).lower())
        return self.known[t]

    def run(self) -> arb:
        with flint.ctx.workprec(2 * self.bits + 64):
            return self._run()

    def _run(self) -> arb:
        limit = divergences.moment(self.pair, sp.S.One, self.bits + 6)  # alpha = 1
        self.best = self.best.max(limit.lower())
        for power in range(-4, 4):
            self.psi(Fraction(2) ** power)
        largest = Fraction(8)
        while not self.top / _exact(largest + 1) < self.best:
            largest *= 2
        start, high = self._next_to_zero(limit)
        cells = self._geometric(start, largest)
        slack = arb(2) ** -self.bits
        count, most = 0, _MAX_CELLS if self.pair.exact else _MAX_IF_ROUGH
        while cells:
            cell = cells.pop()
            bound = _bound(cell)
            if bound < self.best:
                continue
            count += 1
            if bound.upper() - self.best < self.best * slack or count > most:
                high = high.max(bound.upper())
                continue
            middle = (cell.start + cell.end) / 2
            at = self.psi(middle)
            cells += [
                _Cell(cell.start, middle, cell.at_start, at),
                _Cell(middle, cell.end, at, cell.at_end),
            ]
        return self.best.union(high.max(self.best))

    def _next_to_zero(self, limit: arb) -> tuple[Fraction, arb]:
        """A t, and an upper bound of the quotient on (0, t]."""
        t = Fraction(1)
        while t > _CLOSEST:
            if self.psi(t) / _exact(t) < self.best:
                return t, self.best
            t /= 4
        until = self._decreasing(limit)
        if until is not None:
            return until, limit.upper()
        least = Fraction(1, 2 ** (self.bits + 2))
        return least, (self.psi(least) / _exact(least)).upper()

    def _decreasing(self, limit: arb) -> Fraction | None:
        """A t such that the quotient is at most its limit at 0 on all of (0, t]."""
        try:
            length = self.top - (-divergences.largest_loss(self.pair.reversed(), self.bits))
        except Infinite:
            return None
        third = length**3 / (6 * arb(3).sqrt())
        step = _STEP
        second = (self.psi(step) / _exact(step) - limit) / _exact(step) + third * _exact(step) / 6
        room = ((limit - second) * 6 / third).lower()
        if not room > 0:
            return None
        scaled = (room.min(arb(1)) * 2**20).floor().unique_fmpz()
        return Fraction(int(scaled), 2**20) if scaled else None

    def _geometric(self, start: Fraction, end: Fraction) -> list[_Cell]:
        cells = []
        while start < end:
            after = min(start * 2, end)
            cells.append(_Cell(start, after, self.psi(start), self.psi(after)))
            start = after
        return cells


def _exact(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def _bound(cell: _Cell) -> arb:
    """An upper bound of chord(t)/(t (t + 1)) on the cell: the better one of two."""
    bounds = [bound for bound in (_by_formula(cell), _by_slope(cell)) if bound.is_finite()]
    return bounds[0].min(bounds[-1]) if bounds else arb.pos_inf()


def _by_formula(cell: _Cell) -> arb:
    """chord(t) = u + v t, so the quotient is u/(t (t + 1)) + v/(t + 1): term by term."""
    a, b = _exact(cell.start), _exact(cell.end)
    v = (cell.at_end - cell.at_start) / (b - a)
    u = cell.at_start - v * a
    first = u / (b * (b + 1)) if u < 0 else u.max(arb(0)) / (a * (a + 1))
    second = v / (a + 1) if v > 0 else v.max(arb(0)) / (a + 1)
    return first + second


def _by_slope(cell: _Cell) -> arb:
    """The value in the middle, and the slope over the cell: good for narrow cells."""
    a, b = _exact(cell.start), _exact(cell.end)
    v = (cell.at_end - cell.at_start) / (b - a)
    whole, middle = a.union(b), (a + b) / 2
    chord = cell.at_start + v * (whole - a)
    square = whole * (whole + 1)
    slope = (v * square - chord * (2 * whole + 1)) / (square * square)
    at_middle = (cell.at_start + v * (middle - a)) / (middle * (middle + 1))
    return at_middle + slope * (whole - middle)
