"""From SymPy expressions, whose branches have been chosen, to normal forms."""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from dpsym.enclosures.forms import (
    ONE,
    ZERO,
    Atom,
    Sum,
    X,
    constant,
    exponential,
    logarithm,
    minus,
    of,
    plus,
    power,
    scaled,
    single,
    times,
    to_product,
    to_sum,
)
from dpsym.enclosures.numbers import FUNCTIONS, sign
from dpsym.errors import UnsupportedError

__all__ = ["read"]

_HALF = sp.Rational(1, 2)


@lru_cache(maxsize=4096)
def read(expr: sp.Expr, x: sp.Symbol) -> Sum:
    """The normal form of an expression in x alone whose branches have been chosen.

    Raises: UnsupportedError.

    >>> t = sp.Symbol("t", real=True)
    >>> read((t - 1) ** 2, t).poly
    (1, -2, 1)
    """
    if expr == x:
        return X
    if not expr.has(x):
        return constant(expr)
    if isinstance(expr, sp.Add):
        return plus(*(read(arg, x) for arg in expr.args))
    if isinstance(expr, sp.Mul):
        out = ONE
        for arg in expr.args:
            out = times(out, to_product(read(arg, x)))
        return to_sum(out)
    if isinstance(expr, (sp.exp, sp.Pow)):
        base, exponent = expr.as_base_exp() if isinstance(expr, sp.Pow) else (sp.E, expr.args[0])
        if base is sp.E:
            return to_sum(exponential(read(exponent, x)))
        if exponent.has(x):
            log_base = logarithm(to_product(read(base, x)))
            both = times(to_product(read(exponent, x)), to_product(log_base))
            spread = _spread(read(exponent, x), log_base) or to_sum(both)
            return to_sum(exponential(spread))
        return to_sum(power(to_product(read(base, x)), exponent))
    return _function(expr, x)


def _spread(first: Sum, second: Sum) -> Sum | None:
    """The product of a sum and a constant, term by term."""
    for one, other in ((first, second), (second, first)):
        if one.is_constant:
            return scaled(other, one.poly[0]) if one.poly else ZERO
    return None


def _function(expr: sp.Expr, x: sp.Symbol) -> Sum:
    args = [read(arg, x) for arg in expr.args]
    kind = type(expr)
    if kind is sp.log:
        return logarithm(to_product(args[0]))
    if kind is sp.erfc:
        return single("erfc", args[0])
    if kind is sp.erf:
        return minus(constant(1), single("erfc", args[0]))
    if kind is sp.atan:
        return single("atan", args[0])
    if kind is sp.loggamma:
        return _lgamma(args[0])
    if kind is sp.gamma:
        return to_sum(exponential(_lgamma(args[0])))
    if kind is sp.factorial:
        return to_sum(exponential(_lgamma(plus(args[0], constant(1)))))
    if kind is sp.binomial:
        above, below = (plus(arg, constant(1)) for arg in args)
        gap = plus(minus(args[0], args[1]), constant(1))
        log = minus(minus(_lgamma(above), _lgamma(below)), _lgamma(gap))
        return to_sum(exponential(log))
    if kind is sp.besseli and args[1].is_constant and sign(expr.args[1]) > 0:
        return _bessel(args[0], expr.args[1])
    if kind in (sp.sinh, sp.cosh, sp.tanh, sp.coth):
        return read(_in_exponentials(kind, expr.args[0]), x)
    raise UnsupportedError("enclose", [kind.__name__], FUNCTIONS)


def _in_exponentials(kind: type, u: sp.Expr) -> sp.Expr:
    if kind is sp.sinh:
        return sp.exp(u) * _HALF - sp.exp(-u) * _HALF
    if kind is sp.cosh:
        return sp.exp(u) * (1 + sp.exp(-2 * u)) * _HALF
    ratio = (1 - sp.exp(-2 * u)) / (1 + sp.exp(-2 * u))
    return ratio if kind is sp.tanh else 1 / ratio


def _bessel(order: Sum, argument: sp.Expr) -> Sum:
    """I_v(c) = (c/2)**v / Gamma(v + 1) times 0F1(v + 1; c**2/4), which is near 1 for large v."""
    above = plus(order, constant(1))
    log = minus(scaled(order, sp.log(argument / 2)), _lgamma(above))
    series = Atom("0F1", (above, constant(argument**2 / 4)))
    return to_sum(times(exponential(log), of(series)))


def _lgamma(arg: Sum) -> Sum:
    if arg.is_constant:
        return constant(sp.loggamma(arg.poly[0] if arg.poly else sp.S.Zero))
    return single("lgamma", arg)
