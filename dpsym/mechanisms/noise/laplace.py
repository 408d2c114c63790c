"""Laplace noise, its relatives on bounded and half-bounded sets, and staircases."""

from __future__ import annotations

import sympy as sp

from dpsym.errors import InputError
from dpsym.guarantees import Guarantee, PureDP
from dpsym.mechanisms.base import Neighbours, Part
from dpsym.mechanisms.noise.base import Noise, ScaledNoise
from dpsym.mechanisms.values import POSITIVE, PROBABILITY

__all__ = ["Exponential", "Laplace", "Staircase", "TruncatedLaplace"]

_WIDE = sp.Dummy("t", dummy_index=-8, real=True)
_INDEX = sp.Dummy("j", dummy_index=-9, integer=True)


class Laplace(ScaledNoise):
    """Laplace noise, with density e^(-|x|/scale)/(2 scale).

    Dwork, McSherry, Nissim, Smith, "Calibrating Noise to Sensitivity", TCC 2006.

    Args:
        scale: positive, in the unit of the output; the variance is 2*scale**2.

    Raises: InputError for a constant scale <= 0.

    >>> Laplace(scale=2)
    Laplace(scale=2)
    """

    title = "Laplace noise"
    source = "Dwork, McSherry, Nissim, Smith, TCC 2006"

    def at(self, x: sp.Expr) -> sp.Expr:
        return sp.exp(-sp.Abs(x) / self.scale) / (2 * self.scale)

    def suggested(self, sensitivity: sp.Expr) -> tuple[Guarantee, ...]:
        return (PureDP(sensitivity / self.scale),)


class TruncatedLaplace(Noise):
    """Laplace noise under the condition that it lies in [-bound, bound].

    Geng, Ding, Guo, Kumar, "Tight Analysis of Privacy and Utility Tradeoff in Approximate
    Differential Privacy", AISTATS 2020.

    Args:
        scale: positive; that of the Laplace noise.
        bound: positive; both in the unit of the output.

    >>> b, A = sp.symbols("b A", positive=True)
    >>> TruncatedLaplace(scale=b, bound=A).at(sp.Integer(0))
    1/(2*b*(1 - exp(-A/b)))
    """

    fields = ("scale", "bound")
    domains = {"scale": POSITIVE, "bound": POSITIVE}
    title = "Truncated Laplace noise"
    source = "Geng, Ding, Guo, Kumar, AISTATS 2020"
    scale: sp.Expr
    bound: sp.Expr

    def __init__(self, scale: object, bound: object) -> None:
        self._take(scale=scale, bound=bound)

    def at(self, x: sp.Expr) -> sp.Expr:
        inside = 2 * self.scale * (1 - sp.exp(-self.bound / self.scale))
        density = sp.exp(-sp.Abs(x) / self.scale) / inside
        return sp.Piecewise((density, sp.Abs(x) <= self.bound), (0, True))


class Exponential(ScaledNoise):
    """One-sided noise, with density e^(-x/scale)/scale for x >= 0.

    Ding, Kifer, Sayed, Steinke, Wang, Xiao, Zhang, "The Permute-and-Flip Mechanism Is Identical to
    Report-Noisy-Max with Exponential Noise", 2021.

    Args:
        scale: positive, in the unit of the output.

    >>> Exponential(scale=2).density
    Piecewise((exp(-_x/2)/2, _x >= 0), (0, True))
    """

    title = "Exponential (one-sided) noise"
    source = "Ding, Kifer, Sayed, Steinke, Wang, Xiao, Zhang, 2021"

    def at(self, x: sp.Expr) -> sp.Expr:
        return sp.Piecewise((sp.exp(-x / self.scale) / self.scale, x >= 0), (0, True))


class Staircase(Noise):
    """Noise whose density falls by the factor e^-epsilon at each step, steps one width apart.

    The density is a e^(-epsilon j), where j = floor(|x|/width + 1 - gamma). The top step reaches
    from -gamma width to gamma width. Geng, Viswanath, "The Optimal Noise-Adding Mechanism in
    Differential Privacy", IEEE Transactions on Information Theory 62(2), 2016.

    Args:
        epsilon: positive, in nats.
        gamma: in [0, 1].
        width: at least the sensitivity; by default the sensitivity.

    >>> Staircase(epsilon=1, gamma=0.5)
    Staircase(epsilon=1, gamma=1/2)
    """

    fields = ("epsilon", "gamma", "width")
    domains = {"epsilon": POSITIVE, "gamma": PROBABILITY, "width": POSITIVE}
    title = "Staircase noise"
    source = "Geng, Viswanath, IEEE Trans. Inf. Theory 62(2), 2016"
    epsilon: sp.Expr
    gamma: sp.Expr
    width: sp.Expr | None

    def __init__(self, epsilon: object, gamma: object, width: object = None) -> None:
        self._take(epsilon=epsilon, gamma=gamma)
        self._set(width=None)
        if width is not None:
            self._take(width=width)

    def _top(self) -> sp.Expr:
        step = sp.exp(-self.epsilon)
        return (1 - step) / (2 * self._wide() * (self.gamma + step * (1 - self.gamma)))

    def _wide(self) -> sp.Expr:
        if self.width is None:
            raise InputError("width", "a width of the steps", self, got="none")
        return self.width

    def at(self, x: sp.Expr) -> sp.Expr:
        index = sp.floor(sp.Abs(x) / self._wide() + 1 - self.gamma)
        return self._top() * sp.exp(-self.epsilon * index)

    def calibrated(self, sensitivity: sp.Expr) -> Staircase:
        if self.width is None:
            return Staircase(self.epsilon, self.gamma, sensitivity)
        if not (self.width - sensitivity).is_nonnegative:
            raise InputError("width", f"at least the sensitivity {sensitivity}", self.width)
        return self

    def suggested(self, sensitivity: sp.Expr) -> tuple[Guarantee, ...]:
        return (PureDP(self.epsilon),)

    def neighbours(self, sensitivity: sp.Expr) -> tuple[Neighbours, ...]:
        """Outputs x of one pair of steps (that of x, that of x - t) put together: they have one
        likelihood ratio. By symmetry t >= 0 is enough, and t is at most a width.

        On the right, step j >= 1 loses a part of length t to step j - 1 and keeps width - t; on
        the left, j >= 0 goes to j + 1. A top step shorter than t is jumped over.
        """
        t, j, top, wide = _WIDE, _INDEX, self._top(), self._wide()

        def mass(index: sp.Expr) -> sp.Expr:
            return top * sp.exp(-self.epsilon * index)

        def steps(first: int, length: sp.Expr, move: int) -> Part:
            support = sp.Interval(first, sp.oo)
            return Part(length * mass(j), length * mass(j + move), j, support, integer=True)

        cap = 2 * self.gamma * wide
        stays, leaves = sp.Max(cap - t, 0), sp.Min(cap, t)
        jumps = sp.Max(t - cap, 0)
        first, second = sp.Integer(0), sp.Integer(1)
        parts = (
            Part(stays * mass(first), stays * mass(first)),
            Part(leaves * mass(first), leaves * mass(second)),
            Part(leaves * mass(second), leaves * mass(first)),
            Part(jumps * mass(second), jumps * mass(second)),
            steps(1, 2 * (wide - t), 0),
            steps(1, t, 1),
            steps(2, t, -1),
        )
        label = "answers within the sensitivity, outputs of one loss together"
        return (Neighbours(parts, t, sp.Integer(0), sensitivity, label=label),)
