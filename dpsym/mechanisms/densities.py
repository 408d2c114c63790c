"""A pair of output distributions given by their densities."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from dpsym.errors import InputError
from dpsym.kernel import statements
from dpsym.kernel import terms as k
from dpsym.kernel.statements import Pair, Region
from dpsym.mechanisms.base import (
    Mechanism,
    density,
    free_parameters,
    output_variable,
    refuse_parameter,
)
from dpsym.scope import Scope, interval_facts

__all__ = ["DensityPair"]

_SIDES = {  # an assumption on the output symbol, and the support that makes it true
    "extended_nonnegative": ("start", 1),
    "extended_nonpositive": ("end", -1),
}


class DensityPair(Mechanism):
    """Two output distributions, of densities p and q in one variable on an interval.

    Both densities must be normalised, or have the same constant factor left out.

    Args:
        p: the density on the first input, an expression in ``variable``.
        q: the density on the second one.
        variable: the symbol of the output.
        support: an ``Interval`` that may depend on parameters, or ``Reals``.

    Raises: InputError for a support that is no interval, or that the variable's own assumptions
    do not cover (a positive symbol on the whole line).

    >>> x, b = sp.Symbol("x", real=True), sp.Symbol("b", positive=True)
    >>> DensityPair(sp.exp(-x / b), 2 * sp.exp(-2 * x / b), x, sp.Interval(0, sp.oo))
    DensityPair(p=exp(-x/b), q=2*exp(-2*x/b), variable=x, support=Interval(0, oo))
    """

    fields = ("p", "q", "variable", "support")
    p: sp.Expr
    q: sp.Expr
    variable: sp.Symbol
    support: sp.Set

    def __init__(
        self, p: object, q: object, variable: object, support: object = sp.S.Reals
    ) -> None:
        symbol = output_variable(variable)
        if not isinstance(support, sp.Interval) and support is not sp.S.Reals:
            raise InputError("support", "an Interval or Reals", support)
        _covered(symbol, support)
        self._set(p=density(p, "p"), q=density(q, "q"), variable=symbol, support=support)

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        for name, expr in (("p", self.p), ("q", self.q)):
            for symbol in free_parameters(expr, name, self.variable):
                yield name, symbol
        if isinstance(self.support, sp.Interval):
            for end in (self.support.start, self.support.end):
                if end not in (sp.oo, -sp.oo):
                    yield "support", end

    def assumptions(self) -> tuple[str, ...]:
        return ("p and q are densities of distributions, up to one constant factor for both",)

    def to_kernel(self, scope: Scope) -> statements.Mechanism:
        """One pair with one region, the support."""
        name = refuse_parameter(self.variable, scope)
        x = k.var(name)
        region = Region(
            p=scope.term(self.p, "p", {self.variable: x}),
            q=scope.term(self.q, "q", {self.variable: x}),
            output=name,
            facts=interval_facts(self.support, x, scope, "support"),
        )
        return statements.Mechanism((Pair((region,)),))


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
