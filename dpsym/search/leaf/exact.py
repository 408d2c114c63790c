"""Values of terms at rational points: exactly, where that is a rational, and as balls.

Balls are a guide: their midpoints explore. What is certain comes from the kernel's enclosures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from math import isqrt
from operator import add, mul

from flint import arb, fmpq

from dpsym.kernel.terms import Term, subterms

Point = Mapping[str, fmpq]
_MOST_POWER, _MOST_BITS = 64, 20_000


def rational_at(item: Term, point: Point) -> fmpq | None:
    """The term's value, if it is seen to be a rational; None also where it is undefined.

    >>> from dpsym.kernel.terms import exp, sqrt, var
    >>> x = var("x")
    >>> rational_at(exp(x - 4) + sqrt(x), {"x": fmpq(4)})
    3
    >>> rational_at(exp(x), {"x": fmpq(4)}) is None
    True
    """
    memo: dict[Term, fmpq | None] = {}

    def walk(node: Term) -> fmpq | None:
        if node not in memo:
            memo[node] = value(node)
        return memo[node]

    def value(node: Term) -> fmpq | None:
        op = node.op
        if op == "num":
            return fmpq(node.value)
        if op == "var":
            return point.get(str(node.value))
        if op == "ite":
            condition = walk(node.args[0])
            return None if condition is None else walk(node.args[1 if condition >= 0 else 2])
        args = [walk(arg) for arg in node.args]
        known = [arg for arg in args if arg is not None]
        if len(known) < len(args) or not known:
            return None
        first = known[0]
        if op in ("add", "mul"):
            found = reduce(add if op == "add" else mul, known)
            return found if found.height_bits() <= _MOST_BITS else None
        if op == "pow":
            power = int(node.value)
            fits = abs(power) <= _MOST_POWER and (first != 0 or power > 0)
            return first**power if fits and first.height_bits() <= _MOST_BITS / 8 else None
        if op in ("max", "min"):
            return max(known) if op == "max" else min(known)
        return _SPECIAL[op](first)

    return walk(item)


def _root(value: fmpq) -> fmpq | None:
    if value < 0:
        return None
    above, below = isqrt(int(value.p)), isqrt(int(value.q))
    found = fmpq(above, below)
    return found if found * found == value else None


_SPECIAL: dict[str, Callable[[fmpq], fmpq | None]] = {
    "exp": lambda x: fmpq(1) if x == 0 else None,
    "log": lambda x: fmpq(0) if x == 1 else None,
    "erfc": lambda x: fmpq(1) if x == 0 else None,
    "atan": lambda x: fmpq(0) if x == 0 else None,
    "lgamma": lambda x: fmpq(0) if x in (1, 2) else None,
    "sqrt": _root,
    "abs": abs,
}

_Step = Callable[[list[arb]], arb]


class Balls:
    """Balls that hold the values of some terms at a point, at the precision that is set.

    A ball that is not finite says that a term is undefined or too large. Where a condition may be
    zero it is taken to be so.
    """

    def __init__(self, items: tuple[Term, ...], names: tuple[str, ...]) -> None:
        self.names = names
        self._steps: list[_Step] = []
        where = {name: i for i, name in enumerate(names)}
        slots: dict[Term, int] = {}
        for item in items:
            for part in subterms(item):
                if part in slots:
                    continue
                if part.op == "var":
                    slots[part] = where[str(part.value)]
                    continue
                self._steps.append(_step(part, [slots[arg] for arg in part.args]))
                slots[part] = len(names) + len(self._steps) - 1
        self._out = [slots[item] for item in items]

    def __call__(self, point: Point) -> list[arb]:
        values = [arb(point[name]) for name in self.names]
        for step in self._steps:
            values.append(step(values))
        return [values[i] for i in self._out]


def _raised(base: arb, power: int) -> arb:
    """Also where the base may be zero, of which Arb's own power makes nothing."""
    out = arb(1)
    while power:
        if power & 1:
            out = out * base
        base, power = base * base, power >> 1
    return out


def _step(item: Term, at: list[int]) -> _Step:
    op = item.op
    if op == "num":
        number = fmpq(item.value)
        return lambda _: arb(number)
    if op == "pi":
        return lambda _: arb.pi()
    first = at[0]
    if op == "add":
        return lambda v: reduce(add, [v[i] for i in at])
    if op == "mul":
        return lambda v: reduce(mul, [v[i] for i in at])
    if op == "pow":
        power = int(item.value)
        if power < 0:
            return lambda v: 1 / _raised(v[first], -power)
        return lambda v: _raised(v[first], power)
    if op == "ite":
        _, then, otherwise = at
        return lambda v: v[otherwise if v[first] < 0 else then]
    if op in ("max", "min"):
        second = at[1]
        if op == "max":
            return lambda v: v[first].max(v[second])
        return lambda v: v[first].min(v[second])
    return {
        "exp": lambda v: v[first].exp(),
        "log": lambda v: v[first].log(),
        "sqrt": lambda v: v[first].sqrt(),
        "erfc": lambda v: v[first].erfc(),
        "atan": lambda v: v[first].atan(),
        "lgamma": lambda v: v[first].lgamma(),
        "abs": lambda v: abs(v[first]),
    }[op]
