"""Accountants as people write them, each with a wrong one beside it."""

from __future__ import annotations

import math


def gaussian_epsilon(sigma: float, Delta: float, k: int, delta: float) -> float:
    """The epsilon of k adaptive Gaussian mechanisms at this delta, by zCDP."""
    rho = k * Delta**2 / (2 * sigma**2)
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def gaussian_epsilon_without_count(sigma: float, Delta: float, delta: float) -> float:
    """The number of mechanisms is lost on the way."""
    rho = Delta**2 / (2 * sigma**2)
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def gaussian_epsilon_of_multiplier(sigma: float, k: int, delta: float) -> float:
    """Takes sigma for the noise multiplier, which is sigma over the sensitivity."""
    rho = k / (2 * sigma**2)
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def sampled_epsilon(epsilon: float, q: float) -> float:
    """Of a pure mechanism on a Poisson sample, in nats."""
    return math.log1p(q * math.expm1(epsilon))  # for small epsilon log(1 + x) loses digits


def sampled_epsilon_in_bits(epsilon: float, q: float) -> float:
    """The same formula with logarithms and powers to the base 2."""
    return math.log1p(q * math.expm1(epsilon * math.log(2))) / math.log(2)


def divergence(a: float, b: float) -> float:
    """The larger of the two KL divergences of exponential distributions with rates a and b."""
    return max(_one_way(a, b), _one_way(b, a))


def _one_way(a: float, b: float) -> float:
    return math.log(a / b) + b / a - 1


def divergence_swapped(a: float, b: float) -> float:
    """Of the second distribution from the first one."""
    return _one_way(b, a)


def histogram_epsilon(b: float, k: int) -> float:
    """Of k histograms with Laplace noise: a replaced record changes two counts by 1."""
    return 2 * k / b


def histogram_epsilon_of_one_count(b: float, k: int) -> float:
    """As if a record were added or removed, which changes one count."""
    return k / b
