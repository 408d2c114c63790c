"""Noise on the real line, by its density."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from dpsym.arguments import positive, truth
from dpsym.errors import InputError, shown
from dpsym.guarantees import Guarantee, PureDP
from dpsym.mechanisms.base import density, output_variable
from dpsym.translate import is_random, symbols_of

__all__ = ["Density", "Laplace", "Noise"]

_OUTPUT = sp.Dummy("x", dummy_index=-4, real=True)


class Noise:
    """A distribution on the line. ``density`` is in ``variable``; unless ``normalised``, up to a
    constant factor."""

    density: sp.Expr
    variable: sp.Symbol
    normalised: bool = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Noise) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return (type(self), self.density, self.variable, self.normalised)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        """The (name, expression) of every parameter."""
        for symbol in symbols_of(self.density, "density"):
            if symbol != self.variable:
                yield symbol.name, symbol

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        """What the noise's parameters are assumed to satisfy."""
        return ()

    def assumptions(self) -> tuple[str, ...]:
        """What is taken for granted, in words."""
        return ()

    def suggested(self, sensitivity: sp.Expr) -> tuple[Guarantee, ...]:
        """Guarantees that it probably gives at this sensitivity."""
        return ()


class Laplace(Noise):
    """Laplace noise, with density e^(-|x|/scale)/(2 scale).

    Dwork, McSherry, Nissim, Smith, "Calibrating Noise to Sensitivity", TCC 2006.

    Args:
        scale: positive, in the unit of the output; the variance is 2*scale**2.

    Raises: InputError for a constant scale <= 0.

    >>> Laplace(scale=2)
    Laplace(scale=2)
    """

    scale: sp.Expr

    def __init__(self, scale: object) -> None:
        value = positive("scale", scale)
        object.__setattr__(self, "scale", value)
        object.__setattr__(self, "variable", _OUTPUT)
        object.__setattr__(self, "density", sp.exp(-sp.Abs(_OUTPUT) / value) / (2 * value))

    def __repr__(self) -> str:
        return f"Laplace(scale={shown(self.scale)})"

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        yield "scale", self.scale

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return (sp.Gt(self.scale, 0, evaluate=False),)

    def suggested(self, sensitivity: sp.Expr) -> tuple[Guarantee, ...]:
        return (PureDP(sensitivity / self.scale),)


class Density(Noise):
    """Noise with a density of the user's own.

    Args:
        expr: the density, in ``variable``; or a continuous random symbol of ``sympy.stats``.
        variable: the symbol of the output, declared ``real=True``; it runs over the whole line.
            Not given for a random symbol.
        normalised: False if a positive constant factor is left out; then claims of pure DP can be
            settled, others not.

    Raises: InputError for a variable that is more than real, and a random symbol without density.

    >>> x = sp.Symbol("x", real=True)
    >>> Density(sp.exp(-2 * sp.Abs(x)), x)
    Density(exp(-2*Abs(x)), x)
    """

    def __init__(self, expr: object, variable: object = None, normalised: bool = True) -> None:
        if is_random(expr) and variable is None:
            variable = _OUTPUT
            expr = _pdf(expr)(variable)
        symbol = output_variable(variable)
        if symbol.assumptions0.items() - sp.Symbol(symbol.name, real=True).assumptions0.items():
            raise InputError(
                "variable", "a symbol that is only real, since noise has all real values", symbol
            )
        object.__setattr__(self, "variable", symbol)
        object.__setattr__(self, "density", density(expr, "density"))
        object.__setattr__(self, "normalised", truth("normalised", normalised))

    def __repr__(self) -> str:
        also = "" if self.normalised else ", normalised=False"
        return f"Density({shown(self.density)}, {shown(self.variable)}{also})"

    def assumptions(self) -> tuple[str, ...]:
        factor = "" if self.normalised else ", up to a constant factor"
        return (f"the density is that of a distribution{factor}",)


def _pdf(symbol: sp.Expr) -> sp.Lambda:
    from sympy.stats import density as density_of

    pdf = density_of(symbol)
    if not symbol.pspace.is_Continuous or not callable(pdf):
        raise InputError("density", "a continuous random symbol", symbol)
    return pdf
