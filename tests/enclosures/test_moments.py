"""Moments of noise against closed forms and direct sums, evaluated by mpmath at 60 digits."""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
import pytest
import sympy as sp

import dpsym as dp
from dpsym.mechanisms import noise
from dpsym.mechanisms.noise import NOISES, Noise
from tests.enclosures.test_enclosing import DIGITS, R, holds

x = sp.Symbol("x", real=True)
LAPLACES = noise.Mixture([R(1, 3), R(2, 3)], [noise.Laplace(1), noise.Shifted(noise.Laplace(2), 3)])
SQUARES = noise.Density((1 + sp.Abs(x)) ** -6 * R(5, 2), x)


def over(mass: Callable[[int], mp.mpf], order: object, low: int = -200, high: int = 200) -> mp.mpf:
    """The sum of |k|**order times masses that need not be normalised."""
    ks = range(low, high + 1)
    order = mp.mpf(order)
    return mp.fsum(abs(mp.mpf(k)) ** order * mass(k) for k in ks if k) / mp.fsum(map(mass, ks))


def gauss(sigma: object) -> Callable[[int], mp.mpf]:
    return lambda k: mp.exp(-(mp.mpf(k) ** 2) / (2 * mp.mpf(sigma) ** 2))


def rounded(k: int) -> mp.mpf:
    """Laplace noise of scale 2, rounded: the integral over [k - 1/2, k + 1/2]."""
    if k == 0:
        return 1 - mp.exp(-mp.mpf(1) / 4)
    return mp.exp(-mp.mpf(abs(k)) / 2) * mp.sinh(mp.mpf(1) / 4)


def truncated(order: int) -> mp.mpf:
    """E |X|**order of Laplace noise of scale 1 on [-2, 2], by an incomplete gamma function."""
    return mp.gammainc(order + 1, 0, 2) / (1 - mp.exp(-2))


def staircase(order: int) -> mp.mpf:
    """Steps of epsilon 1, gamma 1/3 and width 2, integrated one by one."""
    ends = [mp.mpf(0), *(2 * (j + mp.mpf(1) / 3) for j in range(200))]
    heights = [mp.exp(-j) for j in range(200)]

    def moment(n: int) -> mp.mpf:
        return mp.fsum(
            h * (b ** (n + 1) - a ** (n + 1)) / (n + 1)
            for h, a, b in zip(heights, ends, ends[1:], strict=False)
        )

    return moment(order) / moment(0)


VARIANCES: dict[str, tuple[Noise, Callable[[], mp.mpf]]] = {
    "Gaussian": (noise.Gaussian(3), lambda: mp.mpf(9)),
    "Laplace": (noise.Laplace(3), lambda: mp.mpf(18)),
    "Logistic": (noise.Logistic(R(1, 2)), lambda: mp.pi**2 / 12),
    "Gumbel": (noise.Gumbel(2), lambda: 2 * mp.pi**2 / 3),
    "Exponential": (noise.Exponential(2), lambda: mp.mpf(4)),
    "StudentT": (noise.StudentT(5, 2), lambda: mp.mpf(20) / 3),
    "GeneralizedCauchy": (
        noise.GeneralizedCauchy(R(7, 2), 2),
        lambda: 4 * mp.sin(2 * mp.pi / 7) / mp.sin(6 * mp.pi / 7),
    ),
    "Cauchy": (noise.Cauchy(2), lambda: mp.inf),
    "Uniform": (noise.Uniform(3), lambda: mp.mpf(3)),
    "Triangular": (noise.Triangular(2), lambda: mp.mpf(2) / 3),
    "TruncatedLaplace": (noise.TruncatedLaplace(1, 2), lambda: truncated(2)),
    "Staircase": (noise.Staircase(1, R(1, 3), 2), lambda: staircase(2)),
    "Density": (SQUARES, lambda: 5 * mp.beta(3, 3)),
    "Geometric": (
        noise.Geometric(3),
        lambda: 2 * mp.exp(-mp.mpf(1) / 3) / (1 - mp.exp(-mp.mpf(1) / 3)) ** 2,
    ),
    "DiscreteGaussian": (noise.DiscreteGaussian(R(1, 3)), lambda: over(gauss(mp.mpf(1) / 3), 2)),
    "Skellam": (noise.Skellam(4), lambda: mp.mpf(4)),
    "Poisson": (noise.Poisson(3), lambda: mp.mpf(3)),
    "Binomial": (noise.Binomial(10, R(1, 3)), lambda: mp.mpf(20) / 9),
    "RoundedLaplace": (noise.RoundedLaplace(2), lambda: over(rounded, 2, -400, 400)),
    "TruncatedGeometric": (
        noise.TruncatedGeometric(2, 4),
        lambda: over(lambda k: mp.exp(-mp.mpf(abs(k)) / 2), 2, -4, 4),
    ),
    "Masses": (
        noise.Masses(2 ** -sp.Abs(noise.Poisson.variable), noise.Poisson.variable, False),
        lambda: mp.mpf(4),
    ),
    "Shifted": (noise.Shifted(noise.Laplace(1), 1000), lambda: mp.mpf(2)),
    "Mixture": (LAPLACES, lambda: mp.mpf(1) / 3 * 2 + mp.mpf(2) / 3 * (8 + 9) - 4),
}


def test_every_kind_of_noise_has_a_variance():
    assert set(VARIANCES) == set(NOISES)


@pytest.mark.parametrize("name", VARIANCES)
def test_variances(name):
    law, true = VARIANCES[name]
    found = law.enclose_variance()
    with mp.workdps(DIGITS):
        if mp.isinf(true()):
            assert found == dp.enclosures.Enclosure(sp.oo, sp.oo)
        else:
            holds(found, true())


@pytest.mark.parametrize(
    ("law", "order", "true"),
    [
        (noise.Laplace(3), R(1), lambda: mp.mpf(3)),
        (noise.Gaussian(2), R(1), lambda: 2 * mp.sqrt(2 / mp.pi)),
        (noise.Gaussian(2), R(7, 2), lambda: mp.mpf(2) ** 5.25 * mp.gamma(2.25) / mp.sqrt(mp.pi)),
        (noise.StudentT(2, 1), R(1), lambda: mp.sqrt(2)),
        (noise.Staircase(1, R(1, 3), 2), R(3), lambda: staircase(3)),
        (noise.TruncatedLaplace(1, 2), R(4), lambda: truncated(4)),
        (noise.DiscreteGaussian(2), R(3, 2), lambda: over(gauss(2), 1.5)),
        (noise.Poisson(2), R(1, 2), lambda: over(lambda k: 2**k / mp.factorial(k), 0.5, 0, 200)),
        (noise.Shifted(noise.Exponential(2), -1), R(1), lambda: 4 / mp.sqrt(mp.e) - 1),
        (noise.Cauchy(1), R(1, 2), lambda: mp.sqrt(2)),
    ],
)
def test_absolute_moments(law, order, true):
    with mp.workdps(DIGITS):
        holds(law.enclose_absolute_moment(order), true())


@pytest.mark.parametrize(
    ("law", "true"),
    [
        (noise.Gumbel(2), lambda: 2 * mp.euler),
        (noise.Exponential(3), lambda: mp.mpf(3)),
        (noise.Poisson(3), lambda: mp.mpf(3)),
        (noise.Binomial(10, R(1, 3)), lambda: mp.mpf(10) / 3),
        (noise.Shifted(noise.Poisson(2), -7), lambda: mp.mpf(-5)),
        (LAPLACES, lambda: mp.mpf(2)),
        (noise.Laplace(2), lambda: mp.mpf(0)),
    ],
)
def test_means(law, true):
    with mp.workdps(DIGITS):
        holds(law.enclose_mean(), true())


def test_thirty_digits_of_a_variance():
    found = noise.DiscreteGaussian(1).enclose_variance(width=R(1, 10**30))
    with mp.workdps(DIGITS):
        holds(found, over(gauss(1), 2), 1e-30)
    assert found.upper < 1


def test_what_is_not_there_is_said():
    assert noise.StudentT(2, 1).enclose_absolute_moment(2).lower == sp.oo
    with pytest.raises(dp.UnsupportedError, match="no finite mean"):
        noise.Cauchy(1).enclose_mean()
    with pytest.raises(dp.InputError, match="order: expected a number > 0"):
        noise.Laplace(1).enclose_absolute_moment(0)
    with pytest.raises(dp.InputError, match="where: expected a number for every parameter"):
        noise.Laplace(sp.Symbol("b", positive=True)).enclose_variance()


def test_numbers_for_symbols():
    b = sp.Symbol("b", positive=True)
    assert 8 in noise.Laplace(b).enclose_variance(where={b: 2})
    with pytest.raises(dp.InputError, match="a number that b may be"):
        noise.Laplace(b).enclose_variance(where={b: -2})


def test_a_mean_of_0_that_nothing_shows_is_narrow():
    found = noise.Logistic(1).enclose_mean()
    assert 0 in found and found.width < 1e-12
