"""Logistic noise and Gumbel's."""

from __future__ import annotations

import sympy as sp

from dpsym.guarantees import Guarantee, PureDP
from dpsym.mechanisms.noise.base import ScaledNoise

__all__ = ["Gumbel", "Logistic"]


class Logistic(ScaledNoise):
    """Logistic noise, with distribution function 1/(1 + e^(-x/scale)).

    The difference of two independent Gumbel variables. Johnson, Kotz, Balakrishnan, "Continuous
    Univariate Distributions", volume 2, 1995, chapter 23.

    Args:
        scale: positive, in the unit of the output.

    >>> Logistic(scale=1).density
    exp(-_x)/(1 + exp(-_x))**2
    """

    title = "Logistic noise"
    source = "Johnson, Kotz, Balakrishnan, Continuous Univariate Distributions 2, 1995, chapter 23"

    def at(self, x: sp.Expr) -> sp.Expr:
        decay = sp.exp(-x / self.scale)
        return decay / (self.scale * (1 + decay) ** 2)

    def suggested(self, sensitivity: sp.Expr) -> tuple[Guarantee, ...]:
        return (PureDP(sensitivity / self.scale),)


class Gumbel(ScaledNoise):
    """Gumbel noise, with distribution function exp(-e^(-x/scale)).

    Durfee, Rogers, "Practical Differentially Private Top-k Selection with Pay-what-you-get
    Composition", NeurIPS 2019.

    Args:
        scale: positive, in the unit of the output.

    >>> Gumbel(scale=1).density
    exp(-_x - exp(-_x))
    """

    title = "Gumbel noise"
    source = "Durfee, Rogers, NeurIPS 2019"

    def at(self, x: sp.Expr) -> sp.Expr:
        place = x / self.scale
        return sp.exp(-place - sp.exp(-place)) / self.scale
