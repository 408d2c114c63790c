"""Constants: SymPy expressions without symbols, as balls."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import flint
import sympy as sp
from flint import arb, fmpq
from sympy.logic.boolalg import Boolean

from dpsym.enclosures.failures import Undecided
from dpsym.enclosures.within import Within, is_exact
from dpsym.errors import InputError, UnsupportedError

__all__ = ["FUNCTIONS", "ball", "holds", "sign", "whole_power"]

FUNCTIONS = (
    "numbers, +, -, *, /, **, exp, log, sqrt, erf, erfc, atan, gamma, loggamma, factorial, "
    "binomial, besseli, Abs, sign, Max, Min, Piecewise, sinh, cosh, tanh, coth, pi, E"
)
_MOST_BITS, _MOST_FOR_INTERVALS = 2048, 128


def ball(value: sp.Expr) -> arb:
    """An enclosure of a constant at the present precision.

    Raises: UnsupportedError for a function that it does not know, InputError for a symbol.

    >>> abs(ball(sp.sqrt(2) + 1) * ball(sp.sqrt(2) - 1) - 1) < 1e-14
    True
    """
    return _ball(value, flint.ctx.prec)


@lru_cache(maxsize=8192)
def _ball(value: sp.Expr, bits: int) -> arb:
    if isinstance(value, sp.Rational):
        return arb(fmpq(int(value.p), int(value.q)))
    if isinstance(value, Within):
        return ball(value.low).union(ball(value.high))
    if value.free_symbols:
        raise InputError("where", "a number for every parameter", value)
    if isinstance(value, sp.Piecewise):
        return _pieces(value)
    if isinstance(value, sp.Pow):
        return _power(value.base, value.exp)
    function = _FUNCTIONS.get(type(value))
    if function is None:
        raise UnsupportedError("enclose", [type(value).__name__], FUNCTIONS)
    return function(*(ball(arg) for arg in value.args))


def _pieces(value: sp.Piecewise) -> arb:
    """The branch that holds; all that may hold, if that depends on where in an interval one is."""
    possible: list[arb] = []
    for branch, condition in value.args:
        try:
            certain = condition is sp.true or holds(condition)
        except Undecided:
            if is_exact(condition):
                raise
            possible.append(ball(branch))
            continue
        if certain:
            out = ball(branch)
            for other in possible:
                out = out.union(other)
            return out
    raise InputError("value", "a Piecewise that is defined", value)


def _power(base: sp.Expr, exponent: sp.Expr) -> arb:
    if base is sp.E:
        return ball(exponent).exp()
    if isinstance(exponent, sp.Integer):
        return whole_power(ball(base), int(exponent))
    if exponent == sp.Rational(1, 2):
        return ball(base).sqrt()
    return (ball(exponent) * ball(base).log()).exp()


def whole_power(value: Any, exponent: int) -> Any:
    """A whole power of a ball or a series; ``**`` gives nan for balls with 0 inside.

    >>> whole_power(arb(0, 1), 2).is_finite()
    True
    """
    count = abs(exponent)
    if exponent < 0:  # first, as the power of a wide ball may have 0 inside when the ball has not
        try:
            value = 1 / value
        except ValueError:  # a series that may start with 0
            return value * arb("nan")
    out = None
    while count:
        if count & 1:
            out = value if out is None else out * value
        count >>= 1
        if count:
            value = value * value
    return value * 0 + 1 if out is None else out


def _total(*args: arb) -> arb:
    return sum(args, arb(0))


def _product(*args: arb) -> arb:
    out = arb(1)
    for arg in args:
        out *= arg
    return out


def _binomial(above: arb, below: arb) -> arb:
    return ((above + 1).lgamma() - (below + 1).lgamma() - (above - below + 1).lgamma()).exp()


def _largest(*args: arb) -> arb:
    out = args[0]
    for arg in args[1:]:
        out = out.max(arg)
    return out


def _smallest(*args: arb) -> arb:
    out = args[0]
    for arg in args[1:]:
        out = out.min(arg)
    return out


_FUNCTIONS: dict[type, Callable[..., arb]] = {
    sp.Add: _total,
    sp.Mul: _product,
    sp.exp: lambda x: x.exp(),
    sp.log: lambda x: x.log(),
    sp.erf: lambda x: x.erf(),
    sp.erfc: lambda x: x.erfc(),
    sp.atan: lambda x: x.atan(),
    sp.gamma: lambda x: x.gamma(),
    sp.loggamma: lambda x: x.lgamma(),
    sp.factorial: lambda x: (x + 1).gamma(),
    sp.binomial: _binomial,
    sp.besseli: lambda n, x: x.bessel_i(n),
    sp.Abs: lambda x: abs(x),
    sp.sign: lambda x: x.sgn(),
    sp.Max: _largest,
    sp.Min: _smallest,
    sp.sinh: lambda x: x.sinh(),
    sp.cosh: lambda x: x.cosh(),
    sp.tanh: lambda x: x.tanh(),
    sp.coth: lambda x: x.coth(),
    type(sp.pi): arb.pi,
    type(sp.E): arb.const_e,
}


@lru_cache(maxsize=8192)
def sign(value: sp.Expr) -> int:
    """The sign of a constant: 1, -1, or 0 if SymPy shows it to be 0.

    Raises: Undecided if the most precision does not tell it from 0.

    >>> sign(sp.exp(1) - 3), sign(sp.S.Zero)
    (-1, 0)
    """
    if isinstance(value, sp.Rational):
        return (value.p > 0) - (value.p < 0)
    bits, most = 64, _MOST_BITS if is_exact(value) else _MOST_FOR_INTERVALS
    while bits <= most:
        with flint.ctx.workprec(bits):
            found = ball(value)
            if found > 0:
                return 1
            if found < 0:
                return -1
            if found.is_zero():  # as a factor is: Max(0, x) for a negative x
                return 0
        bits *= 2
    if value.is_zero or sp.expand(value) == 0:
        return 0
    raise Undecided(f"the sign of {value}")


def holds(condition: sp.Basic) -> bool:
    """Whether a condition on constants is true. Raises: Undecided."""
    if condition is sp.true or condition is sp.false:
        return condition is sp.true
    if isinstance(condition, sp.Not):
        return not holds(condition.args[0])
    if isinstance(condition, sp.And):
        return all(holds(part) for part in condition.args)
    if isinstance(condition, sp.Or):
        return any(holds(part) for part in condition.args)
    test = _TESTS.get(type(condition))
    if test is None or not isinstance(condition, Boolean):
        raise UnsupportedError("enclose", [type(condition).__name__], FUNCTIONS)
    return test(sign(condition.args[0] - condition.args[1]))


_TESTS: dict[type, Callable[[int], bool]] = {
    sp.Gt: lambda s: s > 0,
    sp.Ge: lambda s: s >= 0,
    sp.Lt: lambda s: s < 0,
    sp.Le: lambda s: s <= 0,
    sp.Eq: lambda s: s == 0,
    sp.Ne: lambda s: s != 0,
}
