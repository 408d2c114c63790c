"""Values of terms, by code that shares nothing with the kernel's evaluator.

A number is exact (a ``Fraction``) or a ``Ball`` of mpmath numbers, whose radius is an upper bound
of all rounding errors. ``Unsure`` says that the digits do not decide; ``Undefined`` is certain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from math import isqrt
from typing import Any, TypeAlias

import mpmath
from mpmath import mpf

from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term

DIGITS = 60
MORE_DIGITS = 240  # where the first are not enough
LARGEST_BITS = 4000
FURTHEST = 10**7  # the largest argument of exp
LONGEST = 4000  # the largest power


class Undefined(Exception):
    """The term has no value at the point."""


class Unsure(Exception):
    """Rounding or size leaves it open what the value is."""


@dataclass(frozen=True)
class Ball:
    middle: Any
    radius: Any


Number: TypeAlias = Fraction | Ball
Point: TypeAlias = dict[str, Number]


def ball(number: Number) -> Ball:
    if isinstance(number, Ball):
        return number
    return rounded(mpf(number.numerator) / number.denominator)


def rounded(middle: Any, error: Any = 0) -> Ball:
    """A computed value, with the error that it inherits and that of its last operation."""
    if not mpmath.isfinite(middle) or not mpmath.isfinite(error):
        raise Unsure
    return Ball(middle, error * _MORE + abs(middle) * _last_digits(mpmath.mp.dps))


_MORE = 1 + mpf(10) ** -10  # for the rounding of the radius itself


@lru_cache(maxsize=10)
def _last_digits(digits: int) -> Any:
    return mpf(10) ** (3 - digits)


def sign(number: Number) -> int:
    """-1, 0 or 1; 0 only for an exact zero."""
    if isinstance(number, Fraction):
        return (number > 0) - (number < 0)
    if abs(number.middle) <= number.radius:
        raise Unsure
    return 1 if number.middle > 0 else -1


def value(item: Term, at: Point, digits: int = DIGITS) -> Number:
    """The value; raises ``Undefined`` or ``Unsure``."""
    with mpmath.workdps(digits):
        return Evaluator(at)(item)


class Evaluator:
    """Values at one point, each sub-term once, with mpmath's precision of the moment."""

    def __init__(self, at: Point) -> None:
        self.at = at
        self._memo: dict[Term, Number] = {}

    def __call__(self, item: Term) -> Number:
        done = self._memo.get(item)
        if done is None:
            done = self._memo[item] = self._value(item)
        return done

    def _value(self, item: Term) -> Number:
        op, args = item.op, item.args
        if op == "num":
            return Fraction(int(item.value.p), int(item.value.q))
        if op == "var":
            if item.value not in self.at:
                raise Unsure
            return self.at[item.value]
        if op == "pi":
            return rounded(+mpmath.pi)
        if op == "ite":
            return self(args[1] if sign(self(args[0])) >= 0 else args[2])
        known = self._all(args)
        if op in ("add", "mul"):
            return reduce(plus if op == "add" else times, known)
        if op == "pow":
            return power(known[0], int(item.value))
        if op in ("max", "min"):
            return _extreme(known, op == "max")
        return _FUNCTIONS[op](known[0])

    def _all(self, args: tuple[Term, ...]) -> list[Number]:
        """All values; that one is undefined is known even where another is unsure."""
        known: list[Number] = []
        unsure = False
        for arg in args:
            try:
                known.append(self(arg))
            except Unsure:
                unsure = True
        if unsure:
            raise Unsure
        return known

    def holds(self, fact: Fact) -> bool:
        """Whether the fact is true; raises ``Undefined`` or ``Unsure``."""
        side = sign(self(fact.term))
        return {">=": side >= 0, ">": side > 0, "!=": side != 0}[fact.rel]


# -- arithmetic


def _exact(number: Fraction) -> Number:
    large = max(number.numerator.bit_length(), number.denominator.bit_length()) > LARGEST_BITS
    return ball(number) if large else number


def plus(first: Number, second: Number) -> Number:
    if isinstance(first, Fraction) and isinstance(second, Fraction):
        return _exact(first + second)
    a, b = ball(first), ball(second)
    return rounded(a.middle + b.middle, a.radius + b.radius)


def minus(first: Number, second: Number) -> Number:
    return plus(first, times(second, Fraction(-1)))


def times(first: Number, second: Number) -> Number:
    if isinstance(first, Fraction) and isinstance(second, Fraction):
        return _exact(first * second)
    if first == 0 or second == 0:
        return Fraction(0)
    a, b = ball(first), ball(second)
    error = abs(a.middle) * b.radius + abs(b.middle) * a.radius + a.radius * b.radius
    return rounded(a.middle * b.middle, error)


def over(first: Number, second: Number) -> Number:
    return times(first, power(second, -1))


def total(numbers: list[Number]) -> Number:
    out: Number = Fraction(0)
    for number in numbers:
        out = plus(out, number)
    return out


def power(base: Number, count: int) -> Number:
    if count < 0:
        if sign(base) == 0:
            raise Undefined
        return _inverse(power(base, -count))
    if count > LONGEST:
        raise Unsure
    out: Number = Fraction(1)
    while count:
        if count % 2:
            out = times(out, base)
        count //= 2
        if count:
            base = times(base, base)
    return out


def _inverse(number: Number) -> Number:
    if isinstance(number, Fraction):
        return 1 / number
    sign(number)
    lowest = abs(number.middle) - number.radius
    return rounded(1 / number.middle, number.radius / lowest**2)


def exp(arg: Number) -> Number:
    if arg == 0:
        return Fraction(1)
    a = ball(arg)
    if abs(a.middle) > FURTHEST or a.radius > 1:
        raise Unsure
    out = mpmath.exp(a.middle)
    return rounded(out, out * 2 * a.radius)


def log(arg: Number) -> Number:
    if sign(arg) <= 0:
        raise Undefined
    if arg == 1:
        return Fraction(0)
    a = ball(arg)
    return rounded(mpmath.log(a.middle), a.radius / (a.middle - a.radius))


def sqrt(arg: Number) -> Number:
    side = sign(arg)
    if side < 0:
        raise Undefined
    if isinstance(arg, Fraction):
        root = Fraction(isqrt(arg.numerator), isqrt(arg.denominator))
        if root * root == arg:
            return root
    a = ball(arg)
    return rounded(mpmath.sqrt(a.middle), a.radius / mpmath.sqrt(a.middle - a.radius))


def erfc(arg: Number) -> Number:
    if arg == 0:
        return Fraction(1)
    a = ball(arg)
    if abs(a.middle) > 2000:
        raise Unsure
    near = max(a.middle - a.radius, mpf(0)) if a.middle > 0 else min(a.middle + a.radius, mpf(0))
    return rounded(mpmath.erfc(a.middle), 2 * mpmath.exp(-(near**2)) * a.radius)


def _atan(arg: Number) -> Number:
    if arg == 0:
        return Fraction(0)
    a = ball(arg)
    return rounded(mpmath.atan(a.middle), a.radius)


def _lgamma(arg: Number) -> Number:
    if sign(arg) <= 0:
        raise Undefined
    if arg in (1, 2):
        return Fraction(0)
    a = ball(arg)
    low = a.middle - a.radius
    if low < mpf(1) / 1000 or a.middle > 10**6:
        raise Unsure
    slope = abs(mpmath.digamma(low)) + abs(mpmath.digamma(a.middle + a.radius))  # convex
    return rounded(mpmath.loggamma(a.middle), slope * a.radius)


def _abs(arg: Number) -> Number:
    if isinstance(arg, Fraction):
        return abs(arg)
    return Ball(abs(arg.middle), arg.radius)


def _extreme(known: list[Number], largest: bool) -> Number:
    pick = max if largest else min
    exact = [number for number in known if isinstance(number, Fraction)]
    if len(exact) == len(known):
        return pick(exact)
    first, second = known
    try:
        return first if (sign(minus(first, second)) > 0) == largest else second
    except Unsure:  # nearly the same
        balls = [ball(number) for number in known]
        return Ball(pick(b.middle for b in balls), max(b.radius for b in balls))


_FUNCTIONS: dict[str, Callable[[Number], Number]] = {
    "exp": exp,
    "log": log,
    "sqrt": sqrt,
    "erfc": erfc,
    "atan": _atan,
    "lgamma": _lgamma,
    "abs": _abs,
}


def as_float(number: Number) -> float:
    return float(number) if isinstance(number, Fraction) else float(number.middle)


# -- facts and sequents


def at_most(left: Number, right: Number) -> bool:
    """Whether left <= right; raises ``Unsure``."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left <= right
    return sign(minus(right, left)) >= 0


def holds(fact: Fact, at: Point) -> bool:
    """Whether the fact is true at the point; raises ``Undefined`` or ``Unsure``."""
    with mpmath.workdps(DIGITS):
        return Evaluator(at).holds(fact)


def fails(sequent: Sequent, at: Point) -> bool:
    """Whether the hypotheses are defined and true at the point, and the goal defined and false."""
    try:
        return all(holds(fact, at) for fact in sequent.hypotheses) and not holds(sequent.goal, at)
    except Undefined:
        return False
