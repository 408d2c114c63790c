"""A pair of output distributions given by their densities."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from dpsym.arguments import truth
from dpsym.errors import InputError
from dpsym.mechanisms.base import (
    Mechanism,
    Neighbours,
    Part,
    density,
    free_parameters,
    output_variable,
)

__all__ = ["DensityPair"]

_SIDES = {  # an assumption on the output symbol, and the support that makes it true
    "extended_nonnegative": ("start", 1),
    "extended_nonpositive": ("end", -1),
}


class DensityPair(Mechanism):
    """Two output distributions, of densities p and q in one variable on an interval.

    Args:
        p: the density on the first input, an expression in ``variable``.
        q: the density on the second one.
        variable: the symbol of the output.
        support: an ``Interval`` that may depend on parameters, or ``Reals``.
        normalised: False if the same positive constant factor is left out of both; then claims of
            pure DP can be settled, others not.

    Raises: InputError for a support that is no interval, or that the variable's own assumptions
    do not cover (a positive symbol on the whole line).

    >>> x, b = sp.Symbol("x", real=True), sp.Symbol("b", positive=True)
    >>> DensityPair(sp.exp(-x / b), 2 * sp.exp(-2 * x / b), x, sp.Interval(0, sp.oo))
    DensityPair(p=exp(-x/b), q=2*exp(-2*x/b), variable=x, support=Interval(0, oo))
    """

    fields = ("p", "q", "variable", "support", "normalised")
    p: sp.Expr
    q: sp.Expr
    variable: sp.Symbol
    support: sp.Set
    normalised: bool

    def __init__(
        self,
        p: object,
        q: object,
        variable: object,
        support: object = sp.S.Reals,
        normalised: bool = True,
    ) -> None:
        symbol = output_variable(variable)
        if not isinstance(support, sp.Interval) and support is not sp.S.Reals:
            raise InputError("support", "an Interval or Reals", support)
        _covered(symbol, support)
        self._set(
            p=density(p, "p"),
            q=density(q, "q"),
            variable=symbol,
            support=support,
            normalised=truth("normalised", normalised),
        )

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        for name, expr in (("p", self.p), ("q", self.q)):
            for symbol in free_parameters(expr, name, self.variable):
                yield name, symbol
        if isinstance(self.support, sp.Interval):
            for end in (self.support.start, self.support.end):
                if end not in (sp.oo, -sp.oo):
                    yield "support", end

    def assumptions(self) -> tuple[str, ...]:
        factor = "" if self.normalised else ", up to one constant factor for both"
        return (f"p and q are densities of distributions{factor}",)

    def neighbours(self) -> tuple[Neighbours, ...]:
        """One pair with one part, the support."""
        part = Part(self.p, self.q, self.variable, self.support)
        return (Neighbours((part,), normalised=self.normalised),)


def _covered(symbol: sp.Symbol, support: sp.Set) -> None:
    """SymPy may have used what it knows of the symbol, so this must hold on all of the support,
    up to single points."""
    expressed = {"real": True}
    for assumption, (end, side) in _SIDES.items():
        if getattr(symbol, f"is_{assumption}"):
            bound = getattr(support, end, sp.nan)
            if not (bound * side).is_nonnegative:
                raise InputError(
                    "support", f"an Interval on which {symbol} is {assumption[9:]}", support
                )
            expressed[assumption] = True
            if symbol.is_extended_nonzero:
                expressed["extended_nonzero"] = True
    if symbol.assumptions0.items() - sp.Symbol(symbol.name, **expressed).assumptions0.items():
        raise InputError("variable", "a symbol that takes all real values in the support", symbol)
