"""Short rational numbers on one side of a real one; where an increasing term has a value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.balls import Evaluator, Undefined, precision
from dpsym.kernel.terms import Term, substitute
from dpsym.search.refutation.exact import dyadic

BITS = 192
_DIGITS = 11
_MOST = 1e15


def rounded(value: fmpq, up: bool, digits: int = _DIGITS) -> fmpq:
    """A decimal fraction with at least so many significant digits, not on the other side.

    >>> rounded(fmpq(2, 3), up=True, digits=3), rounded(fmpq(2, 3), up=False, digits=3)
    (667/1000, 333/500)
    """
    if value == 0:
        return value
    size = abs(value)
    places = digits - (_digits(int(size.p)) - _digits(int(size.q)))
    unit = fmpq(10) ** places
    whole = (math.ceil if up else math.floor)(value * unit)
    return fmpq(whole) / unit


def _digits(whole: int) -> int:
    """About how many decimal digits, of numbers that may be too long to be written."""
    return int(whole.bit_length() * math.log10(2)) + 1


def around(value: float, up: bool) -> Iterator[fmpq]:
    """Numbers beyond a float, ever farther away."""
    for k in (12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2):
        step = abs(value) * 10.0**-k
        yield rounded(dyadic(value + step if up else value - step), up)


def at_least(item: Term) -> bool:
    """Whether a term without variables is certainly >= 0."""
    try:
        with precision(BITS):
            return bool(Evaluator({}, True)(item)[0] >= 0)
    except Undefined:
        return False


def sign(item: Term) -> int:
    """The sign of a number, 0 if it is not certain."""
    try:
        with precision(BITS):
            lo, hi = Evaluator({}, True)(item)
    except Undefined:
        return 0
    return 1 if lo > 0 else -1 if hi < 0 else 0


def reached(item: Term, name: str, value: fmpq, up: bool) -> fmpq | None:
    """A short number near the place where a term that grows with a variable reaches a value: with
    ``up``, one at which it is at least that; else one at which it is at most that."""

    def beyond(x: fmpq) -> bool:
        gap = substitute(item, {name: tm.num(x)}) - value
        return at_least(gap if up else -gap)

    if item.op == "var":
        return rounded(value, up)
    if up and beyond(fmpq(0)):
        return fmpq(0)

    def above(x: float) -> bool:
        return sign(substitute(item, {name: tm.num(dyadic(x))}) - value) > 0

    root = crossing(above)
    if root is None:
        return None
    return next((x for x in around(root, up) if beyond(x)), None)


def crossing(above: Callable[[float], bool]) -> float | None:
    """Where a condition begins to hold, among floats above 0."""
    high = 1.0
    while not above(high):
        high *= 2
        if high > _MOST:
            return None
    low = high / 2
    while above(low):
        high, low = low, low / 2
        if low < 1 / _MOST:
            return low
    for _ in range(60):
        middle = (low + high) / 2
        if above(middle):
            high = middle
        else:
            low = middle
    return high
