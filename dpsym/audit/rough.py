"""Values in floating point, to leave out points at which facts clearly fail, and no more."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term

_CLEAR = 1e-9
_RATIONAL = frozenset({"num", "var", "add", "mul", "pow", "abs", "max", "min"})


class Rough:
    """Values at one point; ``scale`` grows with the largest number that occurred on the way."""

    def __init__(self, at: dict[str, float]) -> None:
        self.at = at
        self.scale = 1.0
        self._memo: dict[Term, float] = {}

    def __call__(self, item: Term) -> float:
        """The value. Raises ValueError, OverflowError or ZeroDivisionError where it has none."""
        done = self._memo.get(item)
        if done is None:
            done = self._memo[item] = self._value(item)
            if abs(done) > self.scale:
                self.scale = abs(done)
        return done

    def _value(self, item: Term) -> float:
        op, args = item.op, item.args
        if op == "num":
            return int(item.value.p) / int(item.value.q)
        if op == "var":
            return self.at[item.value]
        if op == "pi":
            return math.pi
        if op == "ite":
            return self(args[1] if self(args[0]) >= 0 else args[2])
        if op == "add":
            return math.fsum(map(self, args))
        if op == "mul":
            return math.prod(map(self, args))
        if op == "pow":
            return float(self(args[0]) ** item.value)
        if op in ("max", "min"):
            return (max if op == "max" else min)(map(self, args))
        return _FUNCTIONS[op](self(args[0]))


_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "erfc": math.erfc,
    "atan": math.atan,
    "lgamma": math.lgamma,
    "abs": abs,
}


def clearly_fails(facts: tuple[Fact, ...], at: dict[str, float]) -> bool:
    """Whether one of the facts fails by more than rounding can explain."""
    values = Rough(at)
    for fact in facts:
        if fact.rel == "!=":
            continue
        try:
            number = values(fact.term)
        except (ValueError, OverflowError, ZeroDivisionError, KeyError):
            return False
        if number < -_CLEAR * values.scale:
            return True
    return False


def relative(fact: Fact, at: dict[str, float]) -> float:
    """By how much the fact holds, for an order of points; least where it may be undefined."""
    values = Rough(at)
    try:
        number = values(fact.term)
    except (ValueError, OverflowError, ZeroDivisionError, KeyError):
        return -math.inf
    return (abs(number) if fact.rel == "!=" else number) / values.scale


@lru_cache(maxsize=20_000)
def is_rational(item: Term) -> bool:
    """Whether only rational operations occur."""
    return item.op in _RATIONAL and all(map(is_rational, item.args))
