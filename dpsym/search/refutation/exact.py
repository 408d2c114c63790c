"""Terms at rational parameter values, and simple rationals."""

from __future__ import annotations

import math
from collections.abc import Mapping

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.balls import Enclosure, Evaluator, Undefined, exact, precision
from dpsym.kernel.canon import UNIT, Canon
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term, substitute

Values = Mapping[str, fmpq]
BITS = 128


def at(item: Term, values: Values) -> Term:
    """The term with numbers for the parameters."""
    return substitute(item, {name: tm.num(value) for name, value in values.items()})


def enclosure(item: Term, values: Values, bits: int = BITS) -> Enclosure | None:
    """End points around the value; ``None`` if the term is undefined there."""
    try:
        with precision(bits):
            return Evaluator({}, True)(at(item, values))
    except (Undefined, ZeroDivisionError):
        return None


def number(item: Term, values: Values) -> float:
    """The value as a float; nan if it is undefined.

    >>> number(tm.exp(tm.var("x")), {"x": fmpq(1)})
    2.718281828459045
    """
    ends = enclosure(item, values)
    if ends is None:
        return math.nan
    low, high = float(ends[0]), float(ends[1])
    return low if math.isinf(low) or low == high else (low + high) / 2


def rational(item: Term, values: Values) -> fmpq | None:
    """The value, if it is plain that it is rational."""
    ends = enclosure(item, values)
    if ends is not None and ends[0] == ends[1]:
        return exact(ends[0])
    try:
        form = Canon()(at(item, values))
    except (Refusal, ArithmeticError):
        return None
    return form.get(UNIT, fmpq(0)) if set(form) <= {UNIT} else None


def holds(fact: Fact, values: Values) -> bool:
    """Whether the fact holds for certain at the values."""
    ends = enclosure(fact.term, values)
    if ends is None:
        return False
    low, high = ends
    if low > 0 or (fact.rel == "!=" and high < 0):
        return True
    if fact.rel != ">=" or high < 0:
        return False
    return bool(low >= 0) or rational(fact.term, values) == 0


def simplest(low: fmpq, high: fmpq) -> fmpq:
    """The fraction of least denominator strictly between two numbers, low < high.

    >>> simplest(fmpq(27, 10), fmpq(272, 100))
    19/7

    Raises ValueError if there is nothing between them.
    """
    if not low < high:
        raise ValueError(f"nothing between {low} and {high}")
    if low < 0 < high:
        return fmpq(0)
    if high <= 0:
        return -simplest(-high, -low)
    whole = fmpq(low.p // low.q)
    if whole + 1 < high:
        return whole + 1
    rest, top = low - whole, high - whole  # 0 <= rest < top <= 1
    if rest == 0:
        return whole + 1 / fmpq(math.floor(1 / top) + 1)
    return whole + 1 / simplest(1 / top, 1 / rest)


def dyadic(value: float) -> fmpq:
    """The float's own value."""
    above, below = float(value).as_integer_ratio()
    return fmpq(above, below)
