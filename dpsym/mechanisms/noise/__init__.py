"""Noise: distributions on the line and on the integers."""

from __future__ import annotations

from dpsym.mechanisms.noise.base import NOISES, Noise
from dpsym.mechanisms.noise.bounded import Triangular, Uniform
from dpsym.mechanisms.noise.combined import Mixture, Shifted
from dpsym.mechanisms.noise.integers import (
    Binomial,
    DiscreteGaussian,
    Geometric,
    Poisson,
    RoundedLaplace,
    Skellam,
    TruncatedGeometric,
)
from dpsym.mechanisms.noise.laplace import Exponential, Laplace, Staircase, TruncatedLaplace
from dpsym.mechanisms.noise.logistic import Gumbel, Logistic
from dpsym.mechanisms.noise.normal import Cauchy, Gaussian, GeneralizedCauchy, StudentT
from dpsym.mechanisms.noise.own import Density, Masses, noise_of

__all__ = [
    "NOISES",
    "Binomial",
    "Cauchy",
    "Density",
    "DiscreteGaussian",
    "Exponential",
    "Gaussian",
    "GeneralizedCauchy",
    "Geometric",
    "Gumbel",
    "Laplace",
    "Logistic",
    "Masses",
    "Mixture",
    "Noise",
    "Poisson",
    "RoundedLaplace",
    "Shifted",
    "Skellam",
    "Staircase",
    "StudentT",
    "Triangular",
    "TruncatedGeometric",
    "TruncatedLaplace",
    "Uniform",
    "noise_of",
]
