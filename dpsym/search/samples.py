"""Sample values of parameters, and terms as floats: a guide for the search, never an answer."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping

from flint import arb

from dpsym.kernel.balls import Undefined, enclose
from dpsym.kernel.sequents import Facts
from dpsym.kernel.terms import Term
from dpsym.search.bounds import bounds

_TRIES = 4000
_USUAL = (0.1, 0.25, 0.5, 0.7, 0.9, 1.1, 1.3, 1.7, 2.0, 2.6, 4.0)


def number(item: Term, values: Mapping[str, float]) -> float:
    """The term's value in floating point; nan where it is undefined, infinite where it overflows.

    >>> from dpsym.kernel.terms import exp, var
    >>> round(number(exp(var("x")) - 1, {"x": 1.0}), 6)
    1.718282
    """
    memo: dict[Term, float] = {}

    def walk(node: Term) -> float:
        done = memo.get(node)
        if done is None:
            done = memo[node] = _apply(node, walk)
        return done

    def _apply(node: Term, walk: Callable[[Term], float]) -> float:
        op = node.op
        if op == "num":
            return float(node.value)
        if op == "var":
            return values[str(node.value)]
        if op == "pi":
            return math.pi
        if op == "ite":
            return float(walk(node.args[1] if walk(node.args[0]) >= 0 else node.args[2]))
        args = [walk(arg) for arg in node.args]
        if op == "add":
            return math.fsum(args) if all(map(math.isfinite, args)) else sum(args)
        if op == "mul":
            return math.prod(args)
        if op == "pow":
            return float(args[0] ** int(str(node.value)))
        if op == "max":
            return max(args)
        if op == "min":
            return min(args)
        return _FUNCTIONS[op](args[0])

    try:
        return walk(item)
    except (ValueError, ZeroDivisionError):
        return math.nan
    except OverflowError:
        return math.inf


_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "exp": lambda x: math.exp(x) if x < 700 else math.inf,
    "log": math.log,
    "sqrt": math.sqrt,
    "erfc": math.erfc,
    "atan": math.atan,
    "lgamma": math.lgamma,
    "abs": abs,
}


def sign(item: Term, values: Mapping[str, float]) -> int:
    """1, -1 or 0: the sign of the term's value, 0 also where it is undefined or too small to tell.

    >>> from dpsym.kernel.terms import exp, var
    >>> x = var("x")
    >>> sign(exp(x) - 1 - x, {"x": 1e-10}), number(exp(x) - 1 - x, {"x": 1e-10}) > 0
    (1, True)
    """
    box = {name: (arb(value), arb(value)) for name, value in values.items()}
    for bits in (64, 256):
        try:
            low, high = enclose(item, box, bits, False)
        except Undefined:
            return 0
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
    return 0


def points(
    variables: tuple[tuple[str, str], ...], facts: Facts, count: int = 6, seed: int = 7
) -> list[dict[str, float]]:
    """Up to ``count`` points at which all the facts hold; fewer, or none, if they are rare."""
    source = random.Random(seed)
    known = bounds(facts)
    found: list[dict[str, float]] = []
    for _ in range(_TRIES if variables else 1):
        values: dict[str, float] = {}
        for name, kind in variables:
            limits = known.get(name)
            low = None if limits is None or limits.lower is None else float(limits.lower)
            high = None if limits is None or limits.upper is None else float(limits.upper)
            if low is not None and high is not None:
                value = low + (high - low) * source.choice((0.03, 0.1, 0.3, 0.5, 0.8))
            elif low is not None:
                value = low + source.choice(_USUAL)
            elif high is not None:
                value = high - source.choice(_USUAL)
            else:
                value = source.choice(_USUAL) * source.choice((1, 1, -1))
            values[name] = float(math.ceil(value)) if kind == "integer" else value
        if all(_holds(number(fact.term, values), fact.rel) for fact in facts):
            found.append(values)
            if len(found) >= count:
                break
    return found


def _holds(value: float, rel: str) -> bool:
    return value > 0 if rel == ">" else value >= -1e-12 if rel == ">=" else value != 0
