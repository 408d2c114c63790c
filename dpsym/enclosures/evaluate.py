"""Normal forms as closures over balls: real, complex, and real with a derivative."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import flint
import sympy as sp
from flint import acb, arb, arb_series

from dpsym.enclosures.forms import Atom, Product, Sum
from dpsym.enclosures.numbers import FUNCTIONS, ball, whole_power
from dpsym.errors import UnsupportedError

__all__ = ["COMPLEX", "REAL", "Function", "function", "jet", "product"]

Function = Callable[[Any], Any]
REAL, COMPLEX = "real", "complex"


def function(term: Sum, kind: str = REAL) -> Function:
    """The closure of a sum at the present precision.

    A complex one is nan where it is not analytic on all of its argument, or not real on the line.

    >>> from dpsym.enclosures.forms import X, exponential
    >>> function(Sum((), (exponential(X),)))(arb(1))
    [2.71828182845905 +/- 5.36e-15]
    """
    return _sum(term, kind, flint.ctx.prec)


def product(item: Product, kind: str = REAL) -> Function:
    """The closure of a product at the present precision."""
    return _product(item, kind, flint.ctx.prec)


def jet(closure: Function, at: arb) -> tuple[arb, arb]:
    """Value and derivative of a real closure on a ball."""
    series = closure(arb_series([at, 1], prec=2))
    if not isinstance(series, arb_series):
        return arb(series), arb(0)
    return series[0], series[1]


@lru_cache(maxsize=4096)
def _sum(term: Sum, kind: str, bits: int) -> Function:
    parts = [_product(item, kind, bits) for item in term.rest]
    polynomial = _polynomial(term.poly)
    if polynomial is None:
        if not parts:
            return lambda z: z * 0
        if len(parts) == 1:
            return parts[0]
        first, *others = parts

        def total(z: Any) -> Any:
            out = first(z)
            for part in others:
                out = out + part(z)
            return out

        return total
    if not parts:
        return polynomial

    def both(z: Any) -> Any:
        out = polynomial(z)
        for part in parts:
            out = out + part(z)
        return out

    return both


def _number(value: sp.Expr) -> Any:
    """A whole number stays exact, and small ones multiply faster."""
    return int(value) if value.is_Integer else ball(value)


def _polynomial(poly: tuple[sp.Expr, ...]) -> Function | None:
    if not poly:
        return None
    if len(poly) == 1:
        only = ball(poly[0])
        return lambda z: z * 0 + only
    if len(poly) == 3:
        return _quadratic(*poly)
    top, *others = (_number(c) for c in reversed(poly))
    if len(others) == 1:
        start = others[0]
        return (lambda z: z * top) if start == 0 else (lambda z: z * top + start)

    def horner(z: Any) -> Any:
        out = z * top + others[0]
        for c in others[1:]:
            out = out * z + c
        return out

    return horner


def _quadratic(start: sp.Expr, middle: sp.Expr, top: sp.Expr) -> Function:
    """Around its vertex, where it is exact over wide balls too."""
    factor = _number(top)
    vertex, value = -middle / (2 * top), start - middle**2 / (4 * top)
    if vertex == 0:
        if value == 0:
            return lambda z: z * z * factor
        lowest = _number(value)
        return lambda z: z * z * factor + lowest
    centre, lowest = _number(vertex), _number(value)

    def around(z: Any) -> Any:
        distance = z - centre
        return distance * distance * factor + lowest

    return around


@lru_cache(maxsize=4096)
def _product(item: Product, kind: str, bits: int) -> Function:
    factor = ball(item.factor)
    plain = item.factor == 1
    powers = [_power(base, exponent, kind, bits) for base, exponent in item.powers]
    if item.exponent.poly or item.exponent.rest:
        inside = _sum(item.exponent, kind, bits)
        powers.append(lambda z: inside(z).exp())
    if not powers:
        return lambda z: z * 0 + factor
    first, *others = powers
    if not others:
        return first if plain else (lambda z: first(z) * factor)

    def whole(z: Any) -> Any:
        out = first(z)
        for part in others:
            out = out * part(z)
        return out if plain else out * factor

    return whole


def _power(base: Atom, exponent: sp.Expr, kind: str, bits: int) -> Function:
    inner = _atom(base, kind, bits)
    if exponent == 1:
        return inner
    if exponent.is_Integer:
        whole = int(exponent)
        return lambda z: whole_power(inner(z), whole)
    number = ball(exponent)
    if kind == COMPLEX:
        return lambda z: (inner(z).log(analytic=True) * number).exp()
    return lambda z: _real_power(inner(z), number)


def _real_power(value: Any, exponent: arb) -> Any:
    """Of what is not negative: a ball with 0 inside gives one from 0 on, if the exponent is > 0."""
    if isinstance(value, arb) and exponent > 0 and not value > 0 and value.is_finite():
        upper = value.upper()
        top = (upper.log() * exponent).exp() if upper > 0 else arb(0)
        return top.union(arb(0))
    return (value.log() * exponent).exp()


def _atom(base: Atom, kind: str, bits: int) -> Function:
    inside = _sum(base.args[-1], kind, bits)
    if base.name == "sum":
        return inside
    if base.name == "log":
        if kind == COMPLEX:
            return lambda z: inside(z).log(analytic=True)
        return lambda z: inside(z).log()
    if base.name == "erfc":
        return lambda z: inside(z).erfc()
    if base.name == "atan":
        return (lambda z: _atan(inside(z))) if kind == COMPLEX else lambda z: inside(z).atan()
    if base.name == "lgamma":
        return (lambda z: _lgamma(inside(z))) if kind == COMPLEX else lambda z: inside(z).lgamma()
    if base.name == "0F1":
        at = _sum(base.args[0], kind, bits)
        argument = base.args[1].poly[0]
        return lambda z: _series(at(z), argument)
    raise UnsupportedError("enclose", [base.name], FUNCTIONS)


def _atan(z: acb) -> acb:
    """nan unless z surely misses the cuts, above i and below -i."""
    if z.real > 0 or z.real < 0 or abs(z.imag) < 1:
        return z.atan()
    return acb("nan")


def _lgamma(z: acb) -> acb:
    return z.lgamma() if z.real > 0 else acb("nan")


def _series(at: Any, argument: sp.Expr) -> arb:
    if not isinstance(at, arb):
        raise UnsupportedError("enclose", ["besseli of a continuous order"], FUNCTIONS)
    whole = at.unique_fmpz() if at.is_exact() and at.is_integer() else None
    if whole is not None:
        return _whole_series(int(whole), argument, flint.ctx.prec)
    return ball(argument).hypgeom_0f1(at)


@lru_cache(maxsize=65536)
def _whole_series(at: int, argument: sp.Expr, bits: int) -> arb:
    return ball(argument).hypgeom_0f1(arb(at))
