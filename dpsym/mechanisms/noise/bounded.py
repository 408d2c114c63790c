"""Noise on an interval."""

from __future__ import annotations

import sympy as sp

from dpsym.mechanisms.noise.base import Noise
from dpsym.mechanisms.values import POSITIVE

__all__ = ["Triangular", "Uniform"]


class Uniform(Noise):
    """Uniform noise on [-half_width, half_width].

    Geng, Ding, Guo, Kumar, "Optimal Noise-Adding Mechanism in Additive Differential Privacy",
    AISTATS 2019.

    Args:
        half_width: positive, in the unit of the output.

    >>> Uniform(half_width=2).density
    Piecewise((1/4, Abs(_x) <= 2), (0, True))
    """

    fields = ("half_width",)
    domains = {"half_width": POSITIVE}
    title = "Uniform noise"
    source = "Geng, Ding, Guo, Kumar, AISTATS 2019"
    half_width: sp.Expr

    def __init__(self, half_width: object) -> None:
        self._take(half_width=half_width)

    def at(self, x: sp.Expr) -> sp.Expr:
        return sp.Piecewise((1 / (2 * self.half_width), sp.Abs(x) <= self.half_width), (0, True))


class Triangular(Noise):
    """Noise with density (half_width - |x|)/half_width^2 on [-half_width, half_width].

    The sum of two independent uniform variables of half the half-width each.

    Args:
        half_width: positive, in the unit of the output.

    >>> Triangular(half_width=1).density
    Piecewise((1 - Abs(_x), Abs(_x) <= 1), (0, True))
    """

    fields = ("half_width",)
    domains = {"half_width": POSITIVE}
    title = "Triangular noise"
    source = "Johnson, Kotz, Balakrishnan, Continuous Univariate Distributions 2, 1995, chapter 26"
    half_width: sp.Expr

    def __init__(self, half_width: object) -> None:
        self._take(half_width=half_width)

    def at(self, x: sp.Expr) -> sp.Expr:
        w, distance = self.half_width, sp.Abs(x)
        return sp.Piecewise(((w - distance) / w**2, distance <= w), (0, True))
