"""Gaussian noise and Student's."""

from __future__ import annotations

import sympy as sp

from dpsym.errors import InputError
from dpsym.guarantees import GDP, ZCDP, Guarantee, PureDP
from dpsym.mechanisms.noise.base import Noise, ScaledNoise
from dpsym.mechanisms.values import POSITIVE

__all__ = ["Cauchy", "Gaussian", "GeneralizedCauchy", "StudentT", "one_scale"]


def one_scale(sigma: object, noise_multiplier: object) -> None:
    """Check that exactly one of the two is given.

    Raises: InputError.
    """
    if (sigma is None) == (noise_multiplier is None):
        raise InputError(
            "sigma, noise_multiplier",
            "exactly one of them: sigma is the standard deviation in the unit of the answer, "
            "noise_multiplier the standard deviation over the sensitivity",
            (sigma, noise_multiplier),
            got="none" if sigma is None else f"{sigma} and {noise_multiplier}",
        )


class Gaussian(Noise):
    """Gaussian noise with standard deviation sigma.

    Dwork, Kenthapadi, McSherry, Mironov, Naor, "Our Data, Ourselves", EUROCRYPT 2006.

    Args:
        sigma: the standard deviation, positive, in the unit of the output.
        noise_multiplier: instead of sigma, the standard deviation over the sensitivity.

    Raises: InputError for a constant <= 0, and unless exactly one of the two is given.

    >>> Gaussian(sigma=2).density
    sqrt(2)*exp(-_x**2/8)/(4*sqrt(pi))
    >>> Gaussian(noise_multiplier=sp.Symbol("z", positive=True)).calibrated(sp.Integer(3))
    Gaussian(sigma=3*z)
    """

    fields = ("sigma", "noise_multiplier")
    domains = {"sigma": POSITIVE, "noise_multiplier": POSITIVE}
    title = "Gaussian noise"
    source = "Dwork, Kenthapadi, McSherry, Mironov, Naor, EUROCRYPT 2006"
    sigma: sp.Expr | None
    noise_multiplier: sp.Expr | None

    def __init__(self, sigma: object = None, noise_multiplier: object = None) -> None:
        one_scale(sigma, noise_multiplier)
        self._set(sigma=None, noise_multiplier=None)
        if sigma is not None:
            self._take(sigma=sigma)
        else:
            self._take(noise_multiplier=noise_multiplier)

    @classmethod
    def symbolic(cls) -> Gaussian:
        return cls(sigma=POSITIVE.symbol("sigma"))

    def at(self, x: sp.Expr) -> sp.Expr:
        if self.sigma is None:
            raise InputError("sigma", "a standard deviation", self, got="a multiple of it")
        return sp.exp(-(x**2) / (2 * self.sigma**2)) / (sp.sqrt(2 * sp.pi) * self.sigma)

    def calibrated(self, sensitivity: sp.Expr) -> Gaussian:
        if self.noise_multiplier is None:
            return self
        return Gaussian(sigma=self.noise_multiplier * sensitivity)

    def suggested(self, sensitivity: sp.Expr) -> tuple[Guarantee, ...]:
        if self.sigma is None:
            return ()
        mean = sensitivity / self.sigma
        return ZCDP(mean**2 / 2), GDP(mean)


class StudentT(Noise):
    """Student's t noise with so many degrees of freedom, times the scale.

    Bun, Steinke, "Average-Case Averages: Private Algorithms for Smooth Sensitivity and Mean
    Estimation", NeurIPS 2019.

    Args:
        degrees: of freedom, positive.
        scale: positive, in the unit of the output.

    >>> StudentT(degrees=3, scale=1).density
    2*sqrt(3)/(3*pi*(_x**2/3 + 1)**2)
    """

    fields = ("degrees", "scale")
    domains = {"degrees": POSITIVE, "scale": POSITIVE}
    title = "Student's t noise"
    source = "Bun, Steinke, NeurIPS 2019"
    degrees: sp.Expr
    scale: sp.Expr

    def __init__(self, degrees: object, scale: object) -> None:
        self._take(degrees=degrees, scale=scale)

    def at(self, x: sp.Expr) -> sp.Expr:
        n, s = self.degrees, self.scale
        half = (n + 1) / 2
        factor = sp.gamma(half) / (sp.sqrt(sp.pi * n) * s * sp.gamma(n / 2))
        return factor * (1 + x**2 / (n * s**2)) ** (-half)


class Cauchy(ScaledNoise):
    """Cauchy noise, with density 1/(pi scale (1 + (x/scale)^2)).

    Nissim, Raskhodnikova, Smith, "Smooth Sensitivity and Sampling", STOC 2007.

    Args:
        scale: positive, in the unit of the output.

    >>> Cauchy(scale=2).density
    1/(2*pi*(_x**2/4 + 1))
    """

    title = "Cauchy noise"
    source = "Nissim, Raskhodnikova, Smith, STOC 2007"

    def at(self, x: sp.Expr) -> sp.Expr:
        return 1 / (sp.pi * self.scale * (1 + x**2 / self.scale**2))

    def suggested(self, sensitivity: sp.Expr) -> tuple[Guarantee, ...]:
        """2 arsinh(sensitivity/(2 scale)), written with log."""
        half = sensitivity / (2 * self.scale)
        return (PureDP(2 * sp.log(half + sp.sqrt(half**2 + 1))),)


class GeneralizedCauchy(Noise):
    """Noise with density proportional to 1/(1 + |x/scale|^exponent).

    The constant factor is left out, since it holds a sine of the exponent: only claims of pure DP
    can be settled. Nissim, Raskhodnikova, Smith, "Smooth Sensitivity and Sampling in Private Data
    Analysis", STOC 2007.

    Args:
        exponent: above 1.
        scale: positive, in the unit of the output.

    Raises: InputError for a constant exponent <= 1.

    >>> GeneralizedCauchy(exponent=4, scale=1).density
    1/(_x**4 + 1)
    """

    fields = ("exponent", "scale")
    domains = {"exponent": POSITIVE, "scale": POSITIVE}
    title = "Generalized Cauchy noise"
    source = "Nissim, Raskhodnikova, Smith, STOC 2007"
    normalised = False
    exponent: sp.Expr
    scale: sp.Expr

    def __init__(self, exponent: object, scale: object) -> None:
        self._take(exponent=exponent, scale=scale)
        if self.exponent.is_Rational and self.exponent <= 1:
            raise InputError("exponent", "a number > 1", exponent)

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return (*super().hypotheses(), sp.Gt(self.exponent, 1, evaluate=False))

    def at(self, x: sp.Expr) -> sp.Expr:
        size = sp.Abs(x / self.scale)
        if self.exponent.is_Integer:
            return 1 / (1 + size**self.exponent)
        inner = sp.Piecewise((0, sp.Eq(x, 0)), (size**self.exponent, True))  # 0^c is no e^(c log 0)
        return 1 / (1 + inner)
