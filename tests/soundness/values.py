"""Values of terms, by code that shares nothing with the kernel's evaluator.

A number is exact (a ``Fraction``) or a ``Ball`` of mpmath numbers with 60 digits, whose radius is
an upper bound of all rounding errors. ``Unsure`` says that the digits do not decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import isqrt
from typing import Union

import mpmath
from mpmath import mpf

from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term

DIGITS = 60
LARGEST_BITS = 4000
FURTHEST = 2000  # the largest argument of exp, and the largest power of a ball


class Undefined(Exception):
    """The term has no value at the point."""


class Unsure(Exception):
    """Rounding or size leaves it open what the value is."""


@dataclass(frozen=True)
class Ball:
    middle: mpf
    radius: mpf


Number = Union[Fraction, Ball]
Point = dict[str, Number]


def ball(number: Number) -> Ball:
    if isinstance(number, Ball):
        return number
    return rounded(mpf(number.numerator) / number.denominator)


def rounded(middle: mpf, error: mpf | int = 0) -> Ball:
    """A computed value, with the error that it inherits and that of its last operation."""
    if not mpmath.isfinite(middle):
        raise Unsure
    return Ball(middle, error * (1 + mpf(10) ** -20) + abs(middle) * mpf(10) ** (3 - DIGITS))


def sign(number: Number) -> int:
    """-1, 0 or 1; 0 only for an exact zero."""
    if isinstance(number, Fraction):
        return (number > 0) - (number < 0)
    if abs(number.middle) <= number.radius:
        raise Unsure
    return 1 if number.middle > 0 else -1


def value(item: Term, at: Point) -> Number:
    """The value; raises ``Undefined`` or ``Unsure``."""
    with mpmath.workdps(DIGITS):
        return _value(item, at, {})


def _value(item: Term, at: Point, memo: dict[Term, Number]) -> Number:
    if item not in memo:
        memo[item] = _new_value(item, at, memo)
    return memo[item]


def _new_value(item: Term, at: Point, memo: dict[Term, Number]) -> Number:
    op, args = item.op, item.args
    if op == "num":
        return Fraction(int(item.value.p), int(item.value.q))
    if op == "var":
        if item.value not in at:
            raise Unsure
        return at[item.value]
    if op == "pi":
        return rounded(+mpmath.pi)
    if op == "ite":
        taken = args[1] if sign(_value(args[0], at, memo)) >= 0 else args[2]
        return _value(taken, at, memo)
    known = [_value(arg, at, memo) for arg in args]
    if op in ("add", "mul"):
        return reduce(_plus if op == "add" else _times, known)
    if op == "pow":
        return _power(known[0], int(item.value))
    if op in ("max", "min"):
        return _extreme(known, op == "max")
    return _FUNCTIONS[op](known[0])


def _exact(number: Fraction) -> Number:
    large = max(number.numerator.bit_length(), number.denominator.bit_length()) > LARGEST_BITS
    return ball(number) if large else number


def _plus(first: Number, second: Number) -> Number:
    if isinstance(first, Fraction) and isinstance(second, Fraction):
        return _exact(first + second)
    a, b = ball(first), ball(second)
    return rounded(a.middle + b.middle, a.radius + b.radius)


def _times(first: Number, second: Number) -> Number:
    if isinstance(first, Fraction) and isinstance(second, Fraction):
        return _exact(first * second)
    if Fraction(0) in (first, second):
        return Fraction(0)
    a, b = ball(first), ball(second)
    error = abs(a.middle) * b.radius + abs(b.middle) * a.radius + a.radius * b.radius
    return rounded(a.middle * b.middle, error)


def _power(base: Number, count: int) -> Number:
    if count < 0:
        if sign(base) == 0:
            raise Undefined
        return _inverse(_power(base, -count))
    if count > FURTHEST:
        raise Unsure
    out: Number = Fraction(1)
    for _ in range(count):
        out = _times(out, base)
    return out


def _inverse(number: Number) -> Number:
    if isinstance(number, Fraction):
        return 1 / number
    sign(number)
    lowest = abs(number.middle) - number.radius
    return rounded(1 / number.middle, number.radius / lowest**2)


def _exp(arg: Number) -> Number:
    if arg == Fraction(0):
        return Fraction(1)
    a = ball(arg)
    if abs(a.middle) > FURTHEST or a.radius > 1:
        raise Unsure
    out = mpmath.exp(a.middle)
    return rounded(out, out * 2 * a.radius)


def _log(arg: Number) -> Number:
    if sign(arg) <= 0:
        raise Undefined
    if arg == Fraction(1):
        return Fraction(0)
    a = ball(arg)
    return rounded(mpmath.log(a.middle), a.radius / (a.middle - a.radius))


def _sqrt(arg: Number) -> Number:
    side = sign(arg)
    if side < 0:
        raise Undefined
    if isinstance(arg, Fraction):
        root = Fraction(isqrt(arg.numerator), isqrt(arg.denominator))
        if root * root == arg:
            return root
    a = ball(arg)
    return rounded(mpmath.sqrt(a.middle), a.radius / mpmath.sqrt(a.middle - a.radius))


def _erfc(arg: Number) -> Number:
    if arg == Fraction(0):
        return Fraction(1)
    a = ball(arg)
    if abs(a.middle) > 40:
        raise Unsure
    return rounded(mpmath.erfc(a.middle), 2 * a.radius)


def _atan(arg: Number) -> Number:
    if arg == Fraction(0):
        return Fraction(0)
    a = ball(arg)
    return rounded(mpmath.atan(a.middle), a.radius)


def _lgamma(arg: Number) -> Number:
    if sign(arg) <= 0:
        raise Undefined
    if arg in (Fraction(1), Fraction(2)):
        return Fraction(0)
    a = ball(arg)
    low = a.middle - a.radius
    if low < mpmath.mpf(1) / 1000 or a.middle > 10**6:
        raise Unsure
    slope = abs(mpmath.digamma(low)) + abs(mpmath.digamma(a.middle + a.radius))  # convex
    return rounded(mpmath.loggamma(a.middle), slope * a.radius)


def _abs(arg: Number) -> Number:
    if isinstance(arg, Fraction):
        return abs(arg)
    return Ball(abs(arg.middle), arg.radius)


def _extreme(known: list[Number], largest: bool) -> Number:
    if all(isinstance(number, Fraction) for number in known):
        return max(known) if largest else min(known)  # type: ignore[type-var]
    balls = [ball(number) for number in known]
    pick = max if largest else min
    return Ball(pick(b.middle for b in balls), max(b.radius for b in balls))


def holds(fact: Fact, at: Point) -> bool:
    """Whether the fact is true at the point; raises ``Undefined`` or ``Unsure``."""
    side = sign(value(fact.term, at))
    return {">=": side >= 0, ">": side > 0, "!=": side != 0}[fact.rel]


def fails(sequent: Sequent, at: Point) -> bool:
    """Whether the hypotheses are defined and true at the point, and the goal defined and false."""
    try:
        return all(holds(fact, at) for fact in sequent.hypotheses) and not holds(sequent.goal, at)
    except Undefined:
        return False


_FUNCTIONS = {
    "exp": _exp,
    "log": _log,
    "sqrt": _sqrt,
    "erfc": _erfc,
    "atan": _atan,
    "lgamma": _lgamma,
    "abs": _abs,
}
