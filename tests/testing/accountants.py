"""Correct accountants of many kinds: (name, function, mechanism, claim, conditions)."""

from __future__ import annotations

import math

import sympy as sp

import dpsym as dp

sigma, b, Delta, epsilon, delta, rho, mu, q = sp.symbols(
    "sigma b Delta epsilon delta rho mu q", positive=True
)
promised = sp.Symbol("promised", nonnegative=True)
alpha = sp.Symbol("alpha", positive=True)
k = sp.Symbol("k", integer=True, positive=True)
GAUSSIAN = dp.AdditiveNoise(dp.noise.Gaussian(sigma=sigma), Delta)
LAPLACE = dp.AdditiveNoise(dp.noise.Laplace(scale=b), Delta)
SMALL = {epsilon: sp.Interval.open(0, 8)}
RATE = [q < 1]


def by_gdp(sigma, Delta, k, epsilon):
    """The exact profile of k Gaussians (Balle, Wang, 2018)."""
    mu = math.sqrt(k) * Delta / sigma
    below, above = (s * mu / 2 - epsilon / mu for s in (1, -1))
    tail = math.erfc(-above / math.sqrt(2)) / 2
    return math.erfc(-below / math.sqrt(2)) / 2 - (math.exp(epsilon) * tail if tail else 0)


def by_renyi(sigma, Delta, k, alpha, delta):
    """Mironov, 2017, proposition 3, for one order."""
    return k * alpha * Delta**2 / (2 * sigma**2) + math.log(1 / delta) / (alpha - 1)


def laplace_renyi(b, Delta, alpha):
    """Mironov, 2017, table II."""
    t = Delta / b
    grow, fall = math.log(alpha / (2 * alpha - 1)) + (alpha - 1) * t, -alpha * t
    top = max(grow, fall)
    other = math.log((alpha - 1) / (2 * alpha - 1)) + fall
    return (top + math.log(math.exp(grow - top) + math.exp(other - top))) / (alpha - 1)


def advanced(epsilon, k, delta):
    """Dwork, Rothblum, Vadhan, 2010, theorem III.3."""
    return math.sqrt(2 * k * math.log(1 / delta)) * epsilon + k * epsilon * math.expm1(epsilon)


def sampled_delta(delta, q):
    return q * delta


def group_delta(epsilon, delta, k):
    """Vadhan, 2017, lemma 2.2."""
    return min(1.0, k * math.exp((k - 1) * epsilon) * delta)


CORRECT = [
    (
        "basic",
        lambda epsilon, k: k * epsilon,
        dp.repeat(dp.PureDP(epsilon), k),
        dp.PureDP(promised),
        (),
    ),
    ("laplace", lambda b, Delta, k: k * Delta / b, dp.repeat(LAPLACE, k), dp.PureDP(promised), ()),
    (
        "laplace renyi",
        laplace_renyi,
        LAPLACE,
        dp.RenyiDP(alpha, promised),
        [alpha > 1, {b: sp.Interval(1, 8)}, {alpha: sp.Interval.open(1, 9)}],
    ),
    (
        "advanced",
        advanced,
        dp.repeat(dp.PureDP(epsilon), k),
        dp.ApproxDP(promised, delta),
        [SMALL, delta < 1],
    ),
    (
        "gdp",
        by_gdp,
        dp.repeat(GAUSSIAN, k),
        dp.ApproxDP(epsilon, promised),
        [{sigma: sp.Interval(1, 20)}, SMALL],
    ),
    (
        "mu",
        lambda sigma, Delta, k: math.sqrt(k) * Delta / sigma,
        dp.repeat(GAUSSIAN, k),
        dp.GDP(mu),
        (),
    ),
    (
        "renyi",
        by_renyi,
        dp.repeat(GAUSSIAN, k),
        dp.ApproxDP(promised, delta),
        [alpha > 1, delta < 1],
    ),
    ("rho", lambda rho, k: k * rho, dp.repeat(dp.ZCDP(rho), k), dp.ZCDP(promised), ()),
    (
        "pure to zcdp",
        lambda epsilon: epsilon**2 / 2,
        dp.PureDP(epsilon),
        dp.ZCDP(promised),
        [SMALL],
    ),
    (
        "sampled delta",
        sampled_delta,
        dp.subsample(dp.ApproxDP(0, delta), q),
        dp.ApproxDP(0, promised),
        [delta < 1, *RATE],
    ),
    (
        "group",
        lambda epsilon, k: k * epsilon,
        dp.group(dp.PureDP(epsilon), k),
        dp.PureDP(promised),
        (),
    ),
    (
        "group delta",
        group_delta,
        dp.group(dp.ApproxDP(epsilon, delta), k),
        dp.ApproxDP(k * epsilon, promised),
        [SMALL, delta < 1],
    ),
    ("group zcdp", lambda rho, k: k**2 * rho, dp.group(dp.ZCDP(rho), k), dp.ZCDP(promised), ()),
    (
        "two kinds",
        lambda b, Delta, epsilon: Delta / b + epsilon,
        dp.compose(LAPLACE, dp.PureDP(epsilon)),
        dp.PureDP(promised),
        (),
    ),
]
