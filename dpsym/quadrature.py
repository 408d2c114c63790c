"""Certified integrals and sums of functions given as callables, in ball arithmetic.

The standard library and python-flint only. Every result is a ball that holds the true value,
whatever the hints; hints (``scale``) cost accuracy if they are wrong, never truth.
"""

from __future__ import annotations

from collections.abc import Callable

import flint
from flint import acb, arb, fmpq

__all__ = [
    "Integrand",
    "add_up",
    "between",
    "exponential_tail",
    "geometric_tail",
    "integrate",
    "magnitude",
    "power_tail",
]

Integrand = Callable[[acb, bool], acb]
"""``f(z, analytic)``: a ball with f(z). If ``analytic`` is set, it must be nan unless f is
analytic on all of z; functions without branch cuts may ignore it."""

_SAMPLES, _STEPS = 4, 200
_DEPTH = 4000  # halvings of the range: a peak may be 1e-300 of it
_EVALUATIONS = 150  # times the precision in bits; a few hundred in all do for a smooth function
_ZERO = arb(0)


def integrate(f: Integrand, start: arb, end: arb, bits: int = 60, scale: arb | None = None) -> arb:
    """The integral of a real function over a bounded range whose ends may be balls.

    If an end is a ball, f must be analytic (or what it says on the real line must hold) on it.

    Args:
        f: the function, on balls of the complex plane.
        start, end: the ends of the range, ``start <= end``.
        bits: the relative accuracy to aim for; the precision is the caller's.
        scale: about how large the integral is; None finds it by a few samples.

    >>> with flint.ctx.workprec(80):
    ...     value = integrate(lambda z, _: (-z * z).exp(), arb(0), arb(30))
    ...     print(abs(value - arb.pi().sqrt() / 2) < 1e-18)
    True
    """
    failure: list[Exception] = []

    def guarded(z: acb, analytic: bool) -> acb:
        if failure:
            return acb("nan")
        try:
            return f(z, analytic)
        except Exception as error:  # flint prints what passes through it, and goes on
            failure.append(error)
            return acb("nan")

    if scale is None:
        scale = magnitude(f, start, end)
    tolerance = scale.mid() if scale.is_finite() else _ZERO
    bits = min(bits, _known(f, start, end) + 2)
    found = acb.integral(
        guarded,
        acb(start),
        acb(end),
        rel_tol=arb(2) ** -bits,
        abs_tol=tolerance * arb(2) ** -bits,
        depth_limit=_DEPTH,
        eval_limit=_EVALUATIONS * flint.ctx.prec,
        use_heap=False,
    ).real
    if failure:
        raise failure[0]
    return found


def _known(f: Integrand, start: arb, end: arb) -> int:
    """How accurately f is known where it is best known, in bits: no integral can be better."""
    length = (end - start).mid()
    points = [(start.mid() + length * fmpq(k, 8)).mid() for k in (1, 4, 7)]
    return max(1, *(int(f(acb(at), False).real.rel_accuracy_bits()) for at in points))


def magnitude(f: Integrand, start: arb, end: arb) -> arb:
    """About the size of the integral of f, a hint only: from a few points near the ends, and from
    a walk uphill to where f is level over a part of the range."""
    start, end = start.mid(), end.mid()

    def at(point: arb) -> arb:
        value = abs(f(acb(point.mid()), False).real.mid())
        return value if value.is_finite() else _ZERO

    largest = _ZERO
    for i in range(_SAMPLES):
        distance = ((end - start) * fmpq(1, 2 * 64**i)).mid()
        for point in (start + distance, end - distance):
            largest = largest.max(at(point) * distance)
    for _ in range(_STEPS):
        third = ((end - start) / 3).mid()
        left, right = at(start + third), at(end - third)
        if left == right == 0:
            break
        if 4 * left > right and 4 * right > left:
            return largest.max(left.max(right) * third)
        start, end = (start, end - third) if left > right else (start + third, end)
    return largest


def between(low: arb, high: arb) -> arb:
    """The ball from the lower end of ``low`` to the upper end of ``high``.

    >>> 2 in between(arb(1), arb(3)), 4 in between(arb(1), arb(3))
    (True, False)
    """
    return low.union(high)


def exponential_tail(value: arb, rate: arb) -> arb:
    """The integral over [T, oo) of a function f >= 0 with f(T) = value and (log f)' <= -rate.

    >>> exponential_tail(arb(1), arb(2)).contains(arb("0.5"))
    True
    """
    _require(rate, "rate")
    return between(_ZERO, value / rate)


def power_tail(value: arb, start: arb, exponent: arb) -> arb:
    """The integral over [start, oo) of ``value * (x / start)**exponent``, exponent < -1.

    >>> power_tail(arb(1), arb(2), arb(-3))
    1.00000000000000
    """
    _require(-1 - exponent, "-1 - exponent")
    return value * start / (-1 - exponent)


def geometric_tail(value: arb, ratio: arb) -> arb:
    """The sum of f(k) >= 0 over k = N, N + 1, ... with f(N) = value, f(k + 1) <= ratio * f(k).

    >>> geometric_tail(arb(1), arb("0.5")).contains(arb(2))
    True
    """
    _require(1 - ratio, "1 - ratio")
    return between(_ZERO, value / (1 - ratio))


def add_up(f: Callable[[int], arb], first: int, last: int) -> arb:
    """The sum of f(k) over first <= k <= last, the ends included.

    >>> add_up(lambda k: arb(k), 1, 10)
    55.0000000000000
    """
    total = arb(0)
    for k in range(first, last + 1):
        total += f(k)
    return total


def _require(value: arb, name: str) -> None:
    if not value > 0:
        raise ValueError(f"a tail needs {name} > 0, got {value}")
