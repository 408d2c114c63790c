"""Noise of the user's own: a density, masses, or a random symbol of ``sympy.stats``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import sympy as sp

from dpsym.arguments import truth
from dpsym.errors import InputError
from dpsym.mechanisms.base import density, free_parameters, output_variable
from dpsym.mechanisms.noise.base import Noise
from dpsym.translate import exact, is_random

__all__ = ["Density", "Masses", "noise_of"]

_MAX_OUTPUTS = 1000


class Density(Noise):
    """Noise with a density of the user's own.

    Args:
        expr: the density, in ``variable``; or a continuous random symbol of ``sympy.stats``.
        variable: the symbol of the output, declared ``real=True``; it runs over the whole line, so
            a density on an interval is a ``Piecewise``. Not given for a random symbol.
        normalised: False if a positive constant factor is left out; then claims of pure DP can be
            settled, others not.

    Raises: InputError for a variable that is more than real, and a random symbol without density.

    >>> x = sp.Symbol("x", real=True)
    >>> Density(sp.exp(-2 * sp.Abs(x)), x)
    Density(expr=exp(-2*Abs(x)), variable=x)
    """

    fields = ("expr", "variable", "normalised")
    title = "A density of one's own"
    source = "the user"
    expr: sp.Expr

    def __init__(self, expr: object, variable: object = None, normalised: bool = True) -> None:
        if is_random(expr) and variable is None:
            variable = Noise.variable
            expr = _density(expr, variable)
        symbol = output_variable(variable)
        _whole("real", symbol)
        self._set(
            expr=density(expr, "density"),
            variable=symbol,
            normalised=truth("normalised", normalised),
        )

    def at(self, x: sp.Expr) -> sp.Expr:
        return self.expr.xreplace({self.variable: x})

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        for symbol in free_parameters(self.expr, "density", self.variable):
            yield "density", symbol

    def assumptions(self) -> tuple[str, ...]:
        if self.normalised:
            return ()
        return ("the density is that of a distribution, up to a constant factor",)


class Masses(Noise):
    """Noise on the integers, with masses of the user's own.

    Args:
        expr: the mass of the integer ``variable``; or a random symbol of ``sympy.stats`` that
            takes integer values.
        variable: the symbol of the output, declared ``integer=True``; it runs over all integers.
        normalised: as for ``Density``.

    >>> k = sp.Symbol("k", integer=True)
    >>> Masses(2 ** -sp.Abs(k) / 3, k)
    Masses(expr=1/(3*2**Abs(k)), variable=k)
    """

    fields = ("expr", "variable", "normalised")
    title = "Masses of one's own"
    source = "the user"
    integer = True
    expr: sp.Expr

    def __init__(self, expr: object, variable: object = None, normalised: bool = True) -> None:
        if is_random(expr) and variable is None:
            variable = type(self).variable
            expr = _masses(expr, variable)
        symbol = output_variable(variable, integer=True)
        _whole("integer", symbol)
        self._set(
            expr=density(expr, "masses"),
            variable=symbol,
            normalised=truth("normalised", normalised),
        )

    def at(self, x: sp.Expr) -> sp.Expr:
        return self.expr.xreplace({self.variable: x})

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        for symbol in free_parameters(self.expr, "masses", self.variable):
            yield "masses", symbol

    def assumptions(self) -> tuple[str, ...]:
        if self.normalised:
            return ()
        return ("the masses are those of a distribution, up to a constant factor",)


def noise_of(value: Any, argument: str) -> Noise:
    """Noise as it is, or that of a random symbol.

    Raises: InputError for what is neither.

    >>> from sympy.stats import Normal
    >>> noise_of(Normal("X", 0, 1), "noise").density
    sqrt(2)*exp(-_x**2/2)/(2*sqrt(pi))
    """
    if isinstance(value, Noise):
        return value
    if is_random(value):
        space = value.pspace
        if space.is_Continuous:
            return Density(value)
        if space.is_Discrete or space.is_Finite:
            return Masses(value)
    raise InputError(
        argument,
        "noise such as noise.Laplace(scale=b), a random symbol of sympy.stats on the line, or "
        "noise.Density(expression, variable)",
        value,
    )


def _whole(kind: str, symbol: sp.Symbol) -> None:
    """SymPy may use what it knows of the symbol, so it must hold of all outputs."""
    plain = sp.Symbol(symbol.name, **{kind: True})
    if symbol.assumptions0.items() - plain.assumptions0.items():
        raise InputError(
            "variable", f"a symbol that is only {kind}, since noise has all {kind} values", symbol
        )


def _density(symbol: sp.Expr, x: sp.Symbol) -> sp.Expr:
    """The density of a continuous random symbol, zero outside of its set."""
    from sympy.stats import density as density_of

    pdf = density_of(symbol)
    if not symbol.pspace.is_Continuous or not callable(pdf):
        raise InputError("density", "a continuous random symbol", symbol)
    support = getattr(symbol.pspace, "set", sp.S.Reals)
    if not isinstance(support, sp.Interval):
        raise InputError("density", "a random symbol with values in an interval", symbol)
    return _within(_in_the_language(pdf(x)), x, support.start, support.end)


def _masses(symbol: sp.Expr, k: sp.Symbol) -> sp.Expr:
    """The masses of a random symbol with integer values, zero where it has none."""
    space = symbol.pspace
    distribution = getattr(space, "distribution", None)
    if space.is_Continuous or distribution is None:
        raise InputError("masses", "a random symbol with integer values", symbol)
    support = distribution.set
    if isinstance(support, (sp.Range, sp.Interval)) or support in (
        sp.S.Naturals,
        sp.S.Naturals0,
        sp.S.Integers,
    ):
        return _within(_in_the_language(distribution.pdf(k)), k, support.inf, support.sup)
    pmf = distribution.dict
    if not isinstance(pmf, (Mapping, sp.Dict)):  # as many values as a symbol says
        return _within(distribution.pmf(k), k, distribution.low, distribution.high)
    masses = {exact(value, "masses"): mass for value, mass in pmf.items()}
    if len(masses) > _MAX_OUTPUTS or not all(value.is_integer for value in masses):
        raise InputError("masses", "a random symbol with integer values", symbol)
    return sp.Piecewise(*((mass, sp.Eq(k, value)) for value, mass in masses.items()), (0, True))


def _in_the_language(expr: sp.Expr) -> sp.Expr:
    """The beta function written with gamma."""
    return expr.replace(sp.beta, lambda a, b: sp.gamma(a) * sp.gamma(b) / sp.gamma(a + b))


def _within(expr: sp.Expr, x: sp.Symbol, low: sp.Expr, high: sp.Expr) -> sp.Expr:
    ends = [sp.Ge(x, low)] if low is not -sp.oo else []
    ends += [sp.Le(x, high)] if high is not sp.oo else []
    return sp.Piecewise((expr, sp.And(*ends)), (0, True)) if ends else expr
