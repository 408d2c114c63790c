"""Moments of noise at given parameters: how far off an answer is, beside how private it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import flint
import sympy as sp
from flint import arb

from dpsym.enclosures import continuous, integers
from dpsym.enclosures.asked import bits_of, unsupported, values_of
from dpsym.enclosures.continuous import Measured
from dpsym.enclosures.divergences import refined
from dpsym.enclosures.enclosure import Enclosure, enclosure_of
from dpsym.enclosures.failures import Infinite, NoEnclosureError, Undecided
from dpsym.enclosures.forms import Product, X, power, times, to_product
from dpsym.enclosures.numbers import ball, sign
from dpsym.enclosures.pieces import pieces
from dpsym.enclosures.shapes import is_even
from dpsym.errors import InputError
from dpsym.translate import exact

if TYPE_CHECKING:
    from dpsym.mechanisms.noise.base import Noise

__all__ = ["absolute_moment", "mean", "variance"]


def absolute_moment(
    noise: Noise, order: object, where: object = None, width: object = 1e-12
) -> Enclosure:
    """E |X|**order between two exact numbers; ``oo`` where it is infinite.

    Args:
        noise: numbers for all parameters, or symbols that ``where`` has numbers for.
        order: a number > 0: 1 for the mean absolute error, 2 for the mean squared error.
        where: ``{symbol: number}``.
        width: the relative width to aim for; the answer may be wider, never wrong.

    Raises: InputError, UnsupportedError.

    >>> from dpsym.mechanisms.noise import Cauchy, Laplace
    >>> 3 in absolute_moment(Laplace(3), 1), absolute_moment(Cauchy(3), 1)
    (True, Enclosure(oo))
    """
    bits, law = bits_of(width), _law(noise, where)
    degree = exact(order, "order")
    if degree.free_symbols or sign(degree) <= 0:
        raise InputError("order", "a number > 0", order)
    try:
        return enclosure_of(law.sum_of_sides(degree, bits), sp.S.Zero)
    except Infinite:
        return Enclosure(sp.oo, sp.oo)
    except Undecided as reason:
        raise unsupported(reason) from None


def mean(noise: Noise, where: object = None, width: object = 1e-12) -> Enclosure:
    """E X between two exact numbers.

    Raises: NoEnclosureError if there is no finite mean; InputError; UnsupportedError.

    >>> from dpsym.mechanisms.noise import Exponential
    >>> 2 in mean(Exponential(2))
    True
    """
    bits, law = bits_of(width), _law(noise, where)
    try:
        return enclosure_of(_to_relative(law.mean, bits))
    except Infinite:
        raise NoEnclosureError("the noise has no finite mean") from None
    except Undecided as reason:
        raise unsupported(reason) from None


def variance(noise: Noise, where: object = None, width: object = 1e-12) -> Enclosure:
    """The variance between two exact numbers; ``oo`` if the second moment is infinite.

    >>> from dpsym.mechanisms.noise import DiscreteGaussian
    >>> variance(DiscreteGaussian(1))
    Enclosure([0.9999997887677280831 +/- 1.19e-20])
    """
    bits, law = bits_of(width), _law(noise, where)

    def difference(accuracy: int) -> arb:
        square, centre = law.sum_of_sides(sp.Integer(2), accuracy), law.mean(accuracy)
        return square - centre * centre

    try:
        return enclosure_of(_to_relative(difference, bits), sp.S.Zero)
    except Infinite:
        return Enclosure(sp.oo, sp.oo)
    except Undecided as reason:
        raise unsupported(reason) from None


def _to_relative(value: Callable[[int], arb], bits: int) -> arb:
    """A difference to so many bits, as far as four times as many in its parts bring that."""
    accuracy = bits + 4
    while True:
        with flint.ctx.workprec(accuracy + 36):
            found = value(accuracy)
        missing = bits - int(found.rel_accuracy_bits())
        if found == 0 or missing <= 0 or accuracy > 4 * bits:
            return found
        accuracy += min(max(missing + 4, 8), 2 * bits)


# --- both sides of 0 ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Law:
    """A density or masses of x at given numbers."""

    density: sp.Expr
    x: sp.Symbol
    integer: bool
    normalised: bool

    def side(self, direction: int, order: sp.Expr, bits: int) -> arb:
        """The integral of ``|x|**order`` times the density over x > 0, or x < 0."""
        density = self.density if direction > 0 else self.density.xreplace({self.x: -self.x})
        steps = _steps(density.xreplace({sp.Abs(self.x): self.x}), self.x, order)
        if steps is not None:
            return refined(lambda tolerance, _: integers.mass(steps, tolerance), bits)
        weight = power(to_product(X), order)
        if self.integer:
            runs = integers.runs(density, density, self.x, sp.S.One, sp.oo)
            masses = [(run, times(run.p, weight)) for run in runs if run.p is not None]
            return refined(lambda tolerance, _: integers.mass(masses, tolerance), bits)
        line = [
            (piece, times(piece.p, weight))
            for piece in pieces(density, density, self.x, sp.S.Zero, sp.oo)
            if piece.p is not None
        ]

        def measure(tolerance: arb, accuracy: int) -> Measured:
            return continuous.mass(line, tolerance, accuracy)

        return refined(measure, bits)

    @property
    def even(self) -> bool:
        return is_even(self.density, self.x)

    def sum_of_sides(self, order: sp.Expr, bits: int) -> arb:
        """E |X|**order. Raises: Infinite."""
        right, left, total = self._right(order, bits), self._left(order, bits), self._total(bits)
        with flint.ctx.workprec(bits + 36):
            return (right + left) / total

    def mean(self, bits: int) -> arb:
        """E X. Raises: Infinite."""
        right, left = self._right(sp.S.One, bits), self._left(sp.S.One, bits)
        if self.even:
            return arb(0)
        total = self._total(bits)
        with flint.ctx.workprec(bits + 36):
            return (right - left) / total

    def _right(self, order: sp.Expr, bits: int) -> arb:
        return self.side(1, order, bits + 4)

    def _left(self, order: sp.Expr, bits: int) -> arb:
        return self.side(1 if self.even else -1, order, bits + 4)

    def _total(self, bits: int) -> arb:
        """The whole mass of a density that is known up to a factor."""
        if self.normalised:
            return arb(1)
        right, left = self._right(sp.S.Zero, bits), self._left(sp.S.Zero, bits)
        with flint.ctx.workprec(bits + 36):
            middle = self.density.xreplace({self.x: sp.S.Zero}) if self.integer else sp.S.Zero
            return right + left + ball(middle)


def _law(noise: Noise, where: object) -> _Law:
    values = values_of(where, noise)
    density = noise.density.xreplace(values)
    others = density.free_symbols - {noise.variable}
    if others:
        raise InputError("where", "a number for every parameter", sorted(map(str, others)))
    return _Law(density, noise.variable, noise.integer, noise.normalised)


def _steps(
    density: sp.Expr, x: sp.Symbol, order: sp.Expr
) -> list[tuple[integers.Run, Product]] | None:
    """For x > 0, a density that is constant where floor(a x + c) is: the integrals of
    ``x**order`` times it from step to step, as masses; None if it is another one."""
    floors = density.atoms(sp.floor)
    if len(floors) != 1:
        return None
    (floor,) = floors
    inside = sp.expand(floor.args[0])
    a, c = inside.coeff(x, 1), inside.coeff(x, 0)
    k = sp.Dummy("k", real=True)
    height = density.xreplace({floor: k})
    if height.has(x) or sp.expand(inside - a * x - c) != 0 or sign(a) <= 0:
        return None
    first = sp.floor(c)
    primitive = ((k - c) / a) ** (order + 1) / (order + 1)  # at the start of step k
    gap = sp.expand(primitive.xreplace({k: k + 1}) - primitive)
    top = height.xreplace({k: first}) * primitive.xreplace({k: first + 1})
    found = integers.runs(height * gap, height * gap, k, first + 1, sp.oo)
    alone = integers.runs(top, top, k, first, first)
    return [(run, run.p) for run in (*alone, *found) if run.p is not None]
