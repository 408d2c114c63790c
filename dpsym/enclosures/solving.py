"""Where a certified quantity changes its sign."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import sympy as sp
from flint import arb

from dpsym.enclosures.enclosure import Enclosure
from dpsym.enclosures.failures import NoEnclosureError

__all__ = ["Test", "crossing", "descent"]

Test = Callable[[sp.Rational], arb]
"""A ball that is > 0 where a claim fails and <= 0 where it holds."""

_MAX_DOUBLINGS = 1100
_MAX_STEPS = 400


def crossing(test: Test, bits: int, start: sp.Rational, lowest: sp.Rational | None) -> Enclosure:
    """Two numbers, at one of which the test is certainly > 0, at the other certainly <= 0.

    They are found by doubling and halving from ``start`` on, which must be positive, then by
    secant steps, each of which is kept inside by halving.

    Raises: NoEnclosureError if there is no change of sign between 2**-1100 and 2**1100.

    >>> found = crossing(lambda x: arb(2) - arb(int(x.p)) / int(x.q), 40, sp.S.One, sp.S.Zero)
    >>> 2 in found, found.width < 1e-11
    (True, True)
    """
    low, high = _bracket(test, Fraction(int(start.p), int(start.q)))
    low, high = _narrow(test, low, high, Fraction(1, 2**bits))
    return Enclosure(_rational(low[0]), _rational(high[0]))


def descent(test: Test, bits: int) -> Enclosure:
    """Two numbers >= 0: the test is certainly > 0 below the first one, and certainly <= 0 from the
    second one on, for a test that falls and is known roughly, so that there is a gap in between.

    >>> found = descent(lambda x: arb(2, 0.1) - arb(int(x.p)) / int(x.q), 8)
    >>> found.lower < 1.9 < 2.1 < found.upper < 2.2
    True
    """
    high = Fraction(1)
    while not _value(test, high) <= 0:
        if high > Fraction(2) ** _MAX_DOUBLINGS:
            return Enclosure(_fails_until(test, Fraction(2), bits), sp.oo)
        high *= 4
    low = _fails_until(test, high, bits)
    least = Fraction(int(low.p), int(low.q))
    for _ in range(bits):
        middle = (least + high) / 2
        if _value(test, middle) <= 0:
            high = middle
        else:
            least = middle
    return Enclosure(low, _rational(high))


def _fails_until(test: Test, high: Fraction, bits: int) -> sp.Rational:
    """A number >= 0, below which the test is > 0."""
    low = Fraction(0)
    for _ in range(bits):
        middle = (low + high) / 2
        if _value(test, middle) > 0:
            low = middle
        else:
            high = middle
    return _rational(low)


Point = tuple[Fraction, arb]


def _value(test: Test, at: Fraction) -> arb:
    return test(_rational(at))


def _rational(value: Fraction) -> sp.Rational:
    return sp.Rational(value.numerator, value.denominator)


def _holds(value: arb) -> bool | None:
    return False if value > 0 else True if value <= 0 else None


def _bracket(test: Test, start: Fraction) -> tuple[Point, Point]:
    """Two points with different answers, the lower one first."""
    first = (start, _value(test, start))
    while _holds(first[1]) is None:
        start = start * Fraction(1025, 1024)
        first = (start, _value(test, start))
    up = down = first
    ratio = 2
    while True:
        last_up, last_down = up, down
        up = (up[0] * ratio, _value(test, up[0] * ratio))
        if _differ(first, up):
            return last_up, up
        down = (down[0] / ratio, _value(test, down[0] / ratio))
        if _differ(first, down):
            return down, last_down
        if up[0] > Fraction(2) ** _MAX_DOUBLINGS:
            raise NoEnclosureError("the claim holds everywhere, or nowhere, as far as one looked")
        ratio *= ratio if ratio < 2**64 else 1
        if _holds(up[1]) is None or _holds(down[1]) is None:
            ratio = 3


def _differ(first: Point, other: Point) -> bool:
    answers = _holds(first[1]), _holds(other[1])
    return None not in answers and answers[0] != answers[1]


def _narrow(test: Test, low: Point, high: Point, width: Fraction) -> tuple[Point, Point]:
    """Chandrupatla's method, with steps that keep off the ends, so that both move at last.

    T. Chandrupatla, Advances in Engineering Software 28(3), 1997.
    """
    new, old = high, low  # the root is between them
    third: Point | None = None
    share = Fraction(1, 2)
    for _ in range(_MAX_STEPS):
        gap = new[0] - old[0]
        size = abs(gap)
        if size <= width * max(new[0], old[0]):
            break
        margin = width * max(new[0], old[0]) / 3
        least = min(margin / size, Fraction(1, 2))
        share = min(max(share, least), 1 - least)
        at = _short(new[0] - share * gap, margin / 16)
        point = (at, _value(test, at))
        answer = _holds(point[1])
        if answer is None:
            first, last = sorted((new, old), key=lambda item: item[0])
            return _around(test, first, last, at, width)
        if answer == _holds(new[1]):
            third, new = new, point
        else:
            third, old, new = old, new, point
        share = _share(new, old, third)
    first, last = sorted((new, old), key=lambda item: item[0])
    return first, last


def _share(new: Point, old: Point, third: Point) -> Fraction:
    """Where between new (0) and old (1) to look: by inverse quadratic interpolation, or halving."""
    half = Fraction(1, 2)
    f_new, f_old, f_third = (_float(item[1]) for item in (new, old, third))
    if not all(map(math.isfinite, (f_new, f_old, f_third))):
        return half
    if f_third in (f_old, f_new) or f_new == f_old or third[0] == old[0]:
        return half
    xi = float((new[0] - old[0]) / (third[0] - old[0]))
    phi = (f_new - f_old) / (f_third - f_old)
    if not (phi * phi < xi and (1 - phi) * (1 - phi) < 1 - xi):
        return half
    alpha = float((third[0] - new[0]) / (old[0] - new[0]))
    found = f_new / (f_old - f_new) * f_third / (f_old - f_third) + alpha * f_new / (
        f_third - f_new
    ) * f_old / (f_third - f_old)
    return Fraction(found) if 0 < found < 1 else half


def _moved(test: Test, low: Point, high: Point, at: Fraction) -> tuple[Point, Point, str | None]:
    point = (at, _value(test, at))
    answer = _holds(point[1])
    if answer is None:
        return low, high, None
    if answer == _holds(low[1]):
        return point, high, "low"
    return low, point, "high"


def _around(
    test: Test, low: Point, high: Point, at: Fraction, width: Fraction
) -> tuple[Point, Point]:
    """At ``at`` the test does not tell: it is next to the root, so steps away from it do."""
    step = width * at / 4
    for _ in range(40):
        if at - step > low[0]:
            low, _, _ = _moved(test, low, (at, arb(0)), at - step)
        if at + step < high[0]:
            _, high, _ = _moved(test, (at, low[1]), high, at + step)
        if high[0] - low[0] <= 4 * step:
            break
        step *= 2
    return low, high


def _float(value: arb) -> float:
    return float(value.mid())


def _short(value: Fraction, tolerance: Fraction) -> Fraction:
    """A nearby number with a power of two below, so that numbers stay short."""
    places = max(0, tolerance.denominator.bit_length() - tolerance.numerator.bit_length() + 1)
    scale = 1 << places
    return Fraction(round(value * scale), scale)
