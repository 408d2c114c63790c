"""The law of a sum of independent privacy losses, from below.

Losses are rounded down to a grid and masses to integers, and what is negligible is dropped. All
that is asked of the law grows with the losses and with the masses, so it is a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import flint
from flint import arb, fmpq, fmpz, fmpz_poly

from dpsym.testing.events import BITS, Event

__all__ = ["Losses", "losses_of"]

_SCALE = 96  # masses are whole multiples of 2**-_SCALE
_NEGLIGIBLE = fmpz(2) ** 40  # of these
_LEAST = arb(2) ** -56  # events with less mass are dropped
_GRID = 1 << 11
_FARTHEST = 200  # losses beyond are put there


@dataclass(frozen=True)
class Losses:
    """Masses of P at losses ``(first + i) * step``; at infinite losses a mass of at least
    ``infinite``."""

    masses: fmpz_poly
    first: int
    step: fmpq
    infinite: arb

    def hockey_stick(self, epsilon: arb) -> arb:
        """At least the sum of ``p (1 - e^(epsilon - loss))_+``."""
        with flint.ctx.workprec(BITS):
            total = self.infinite
            if not self.masses.length():
                return total
            decay = (-arb(self.step)).exp()
            factor = (epsilon - arb(self.step) * self.first).exp()  # e^(epsilon - loss)
            for mass in self.masses.coeffs():
                if mass and factor < 1:
                    total += arb(mass) * (1 - factor) * arb(2) ** -_SCALE
                factor *= decay
            return total

    def above(self, epsilon: arb) -> arb:
        """At least the mass of losses > epsilon."""
        with flint.ctx.workprec(BITS):
            total = self.infinite
            for i, mass in enumerate(self.masses.coeffs()):
                if arb(self.step) * (self.first + i) > epsilon:
                    total += arb(mass) * arb(2) ** -_SCALE
            return total


def losses_of(stages: Iterable[tuple[tuple[Event, ...], int]]) -> Losses:
    """The losses of stages, each so many times, from the events of each.

    >>> fair = Event(arb(3) / 4, arb(1) / 4, arb(1)), Event(arb(1) / 4, arb(3) / 4, arb(1))
    >>> twice = losses_of([(fair, 2)])
    >>> 0.49 < float(twice.hockey_stick(arb(0)).mid()) <= 0.5
    True
    """
    with flint.ctx.workprec(BITS):
        given = [(list(_rounded(found)), times) for found, times in stages]
        step = _step(given)
        finite = arb(1)
        product, first = fmpz_poly([fmpz(1) << _SCALE]), 0
        for found, times in given:
            finite *= (1 - sum((mass for mass, loss in found if loss is None), arb(0))) ** times
            one = _on_grid(found, step)
            product, first = _times((product, first), _power(one, times))
        return Losses(product, first, step, (1 - finite).max(arb(0)))


Rounded = tuple[arb, "arb | None"]
Series = tuple[fmpz_poly, int]


def _rounded(found: tuple[Event, ...]) -> Iterable[Rounded]:
    """Lower bounds of mass and loss; None for an infinite loss."""
    for event in found:
        if event.p is None:
            continue
        mass, p = (event.p * event.count).lower(), event.p.lower()
        if not mass > 0:
            continue
        if event.q is None:
            yield mass, None
            continue
        if mass < _LEAST:
            continue
        q = event.q.upper()
        if q > 0:
            loss = (p / q).log().lower()
            if loss.is_finite():
                yield mass, loss.min(arb(_FARTHEST))


def _step(given: list[tuple[list[Rounded], int]]) -> fmpq:
    """A grid fine enough for the number of stages, whose sum has some thousands of cells.

    The sum spreads as the root of their number, and each is rounded down once.
    """
    spread, times = 0.0, 0
    for found, count in given:
        losses = [float(loss.mid()) for _, loss in found if loss is not None]
        wide = max(losses) - min(losses) if losses else 0.0
        spread += max(wide, 1e-6) ** 2 * count
        times += count
    cells = _GRID if times <= 64 else max(_GRID // 4, int(_GRID * 8 / times**0.5))
    return fmpq(int(spread**0.5 / cells * (1 << 60)) or 1, 1 << 60)


def _on_grid(found: list[Rounded], step: fmpq) -> Series:
    cells: dict[int, fmpz] = {}
    for mass, loss in found:
        if loss is None:
            continue
        index = (loss / arb(step)).lower().floor().unique_fmpz()
        whole = (mass * arb(2) ** _SCALE).lower().floor().unique_fmpz()
        if index is not None and whole is not None:
            cells[int(index)] = cells.get(int(index), fmpz(0)) + whole
    if not cells:
        return fmpz_poly([]), 0
    first = min(cells)
    return fmpz_poly([cells.get(first + i, 0) for i in range(max(cells) - first + 1)]), first


def _power(base: Series, times: int) -> Series:
    out: Series = (fmpz_poly([fmpz(1) << _SCALE]), 0)
    while times:
        if times & 1:
            out = _times(out, base)
        times >>= 1
        if times:
            base = _times(base, base)
    return out


def _times(one: Series, other: Series) -> Series:
    product = one[0] * other[0]
    coefficients = [mass >> _SCALE for mass in product.coeffs()]
    start, end = 0, len(coefficients)
    while start < end and coefficients[start] < _NEGLIGIBLE:
        start += 1
    while end > start and coefficients[end - 1] < _NEGLIGIBLE:
        end -= 1
    return fmpz_poly(coefficients[start:end]), one[1] + other[1] + start
