"""Noise on the integers."""

from __future__ import annotations

import sympy as sp

from dpsym.guarantees import ZCDP, Guarantee, PureDP
from dpsym.mechanisms.noise.base import Noise, ScaledNoise
from dpsym.mechanisms.values import COUNT, POSITIVE, PROBABILITY

__all__ = [
    "Binomial",
    "DiscreteGaussian",
    "Geometric",
    "Poisson",
    "RoundedLaplace",
    "Skellam",
    "TruncatedGeometric",
]


class Geometric(ScaledNoise):
    """Two-sided geometric noise, the discrete Laplace distribution: (1 - r)/(1 + r) r^|k|, where
    r = e^(-1/scale).

    Ghosh, Roughgarden, Sundararajan, "Universally Utility-Maximizing Privacy Mechanisms", STOC
    2009.

    Args:
        scale: positive, in the unit of the output.

    >>> Geometric(scale=1 / sp.log(2)).at(sp.Integer(0))
    1/3
    """

    title = "Geometric (discrete Laplace) noise"
    source = "Ghosh, Roughgarden, Sundararajan, STOC 2009"
    integer = True

    def at(self, x: sp.Expr) -> sp.Expr:
        ratio = sp.exp(-1 / self.scale)
        return (1 - ratio) / (1 + ratio) * sp.exp(-sp.Abs(x) / self.scale)

    def suggested(self, sensitivity: sp.Expr) -> tuple[Guarantee, ...]:
        return (PureDP(sensitivity / self.scale),)


class TruncatedGeometric(Noise):
    """Geometric noise under the condition that it lies in [-bound, bound].

    Its masses are r^|k| (1 - r)/(1 + r - 2 r^(bound + 1)), where r = e^(-1/scale).

    Args:
        scale: positive; that of the geometric noise.
        bound: an integer >= 1.

    >>> TruncatedGeometric(scale=1 / sp.log(2), bound=1).at(sp.Integer(1))
    1/4
    """

    fields = ("scale", "bound")
    domains = {"scale": POSITIVE, "bound": COUNT}
    title = "Truncated geometric noise"
    source = "Ghosh, Roughgarden, Sundararajan, STOC 2009, under a condition"
    integer = True
    scale: sp.Expr
    bound: sp.Expr

    def __init__(self, scale: object, bound: object) -> None:
        self._take(scale=scale, bound=bound)

    def at(self, x: sp.Expr) -> sp.Expr:
        ratio, beyond = sp.exp(-1 / self.scale), sp.exp(-(self.bound + 1) / self.scale)
        mass = (1 - ratio) / (1 + ratio - 2 * beyond) * sp.exp(-sp.Abs(x) / self.scale)
        return sp.Piecewise((mass, sp.Abs(x) <= self.bound), (0, True))


class RoundedLaplace(ScaledNoise):
    """A Laplace variable rounded to the nearest integer.

    Zero has the mass 1 - e^(-1/(2 scale)), any other k has e^(-|k|/scale) sinh(1/(2 scale)). This
    is not the geometric distribution: only the ratios in its tails are the same.

    Args:
        scale: positive; that of the Laplace variable.

    >>> RoundedLaplace(scale=1).at(sp.Integer(0))
    1 - exp(-1/2)
    """

    title = "Laplace noise rounded to integers"
    source = "Dwork, McSherry, Nissim, Smith, TCC 2006, rounded"
    integer = True

    def at(self, x: sp.Expr) -> sp.Expr:
        half = sp.exp(-1 / (2 * self.scale))
        return sp.Piecewise(
            (1 - half, sp.Eq(x, 0)), (sp.exp(-sp.Abs(x) / self.scale) * (1 / half - half) / 2, True)
        )

    def suggested(self, sensitivity: sp.Expr) -> tuple[Guarantee, ...]:
        return (PureDP(sensitivity / self.scale),)


class DiscreteGaussian(Noise):
    """Noise with masses proportional to e^(-k^2/(2 sigma^2)).

    Their sum is a theta function, so the constant factor is left out. Canonne, Kamath, Steinke,
    "The Discrete Gaussian for Differential Privacy", NeurIPS 2020, definition 1.

    Args:
        sigma: positive; the standard deviation is at most sigma.

    >>> DiscreteGaussian(sigma=1).density
    exp(-_k**2/2)
    """

    fields = ("sigma",)
    domains = {"sigma": POSITIVE}
    title = "Discrete Gaussian noise"
    source = "Canonne, Kamath, Steinke, NeurIPS 2020, definition 1"
    integer = True
    normalised = False
    sigma: sp.Expr

    def __init__(self, sigma: object) -> None:
        self._take(sigma=sigma)

    def at(self, x: sp.Expr) -> sp.Expr:
        return sp.exp(-(x**2) / (2 * self.sigma**2))

    def suggested(self, sensitivity: sp.Expr) -> tuple[Guarantee, ...]:
        return (ZCDP(sensitivity**2 / (2 * self.sigma**2)),)


class Skellam(Noise):
    """The difference of two independent Poisson variables of mean variance/2.

    Agarwal, Kairouz, Liu, "The Skellam Mechanism for Differentially Private Federated Learning",
    NeurIPS 2021. The masses are Bessel functions, for which there are rigorous
    numbers and no proofs.

    Args:
        variance: positive.

    >>> Skellam(variance=1).density
    exp(-1)*besseli(Abs(_k), 1)
    """

    fields = ("variance",)
    domains = {"variance": POSITIVE}
    title = "Skellam noise"
    source = "Agarwal, Kairouz, Liu, NeurIPS 2021"
    integer = True
    variance: sp.Expr

    def __init__(self, variance: object) -> None:
        self._take(variance=variance)

    def at(self, x: sp.Expr) -> sp.Expr:
        return sp.exp(-self.variance) * sp.besseli(sp.Abs(x), self.variance)


class Poisson(Noise):
    """Poisson noise, with masses e^-mean mean^k/k! for k >= 0.

    Args:
        mean: positive; the variance too.

    >>> Poisson(mean=2).at(sp.Integer(3))
    4*exp(-2)/3
    """

    fields = ("mean",)
    domains = {"mean": POSITIVE}
    title = "Poisson noise"
    source = "Johnson, Kemp, Kotz, Univariate Discrete Distributions, chapter 4"
    integer = True
    mean: sp.Expr

    def __init__(self, mean: object) -> None:
        self._take(mean=mean)

    def at(self, x: sp.Expr) -> sp.Expr:
        mass = sp.exp(-self.mean) * self.mean**x / sp.factorial(x)
        return sp.Piecewise((mass, x >= 0), (0, True))


class Binomial(Noise):
    """The number of successes in so many independent trials.

    Agarwal, Suresh, Yu, Kumar, McMahan, "cpSGD: Communication-efficient and Differentially-private
    Distributed SGD", NeurIPS 2018.

    Args:
        trials: an integer >= 1.
        probability: of success, in [0, 1].

    >>> Binomial(trials=4, probability=0.5).at(sp.Integer(2))
    3/8
    """

    fields = ("trials", "probability")
    domains = {"trials": COUNT, "probability": PROBABILITY}
    title = "Binomial noise"
    source = "Agarwal, Suresh, Yu, Kumar, McMahan, NeurIPS 2018"
    integer = True
    trials: sp.Expr
    probability: sp.Expr

    def __init__(self, trials: object, probability: object) -> None:
        self._take(trials=trials, probability=probability)

    def at(self, x: sp.Expr) -> sp.Expr:
        n, p = self.trials, self.probability
        mass = sp.binomial(n, x) * p**x * (1 - p) ** (n - x)
        return sp.Piecewise((mass, (x >= 0) & (x <= n)), (0, True))
