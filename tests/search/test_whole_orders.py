"""(epsilon, delta) of Poisson samples by Rényi divergences at whole orders."""

from __future__ import annotations

import math

import pytest
from sympy import Rational, exp, log, symbols

import dpsym as dp

q, sigma, delta, epsilon, rho = symbols("q sigma delta epsilon rho", positive=True)
k = symbols("k", integer=True, positive=True)
WHERE = [q <= 1, delta < 1]
GAUSSIAN = dp.AdditiveNoise(dp.noise.Gaussian(sigma=sigma), 1)
STEP = dp.subsample(GAUSSIAN, q)
AT_TWO = log(1 + q**2 * (exp(1 / sigma**2) - 1))
AT_THREE = (  # Mironov, Talwar and Zhang (2019), Section 3.3, at order 3
    log((1 - q) ** 2 * (1 + 2 * q) + 3 * q**2 * (1 - q) * exp(1 / sigma**2)
        + q**3 * exp(3 / sigma**2)) / 2
)  # fmt: skip
FEW, NOISE, RATE, STEPS = Rational(1, 10**5), 2, Rational(1, 100), 500
MANY = dp.repeat(dp.subsample(dp.AdditiveNoise(dp.noise.Gaussian(sigma=NOISE), 1), RATE), STEPS)


def by_orders() -> float:
    """The epsilon of ``MANY`` at delta 1/100000, by the best whole order and the conversion of
    Canonne, Kamath and Steinke (2020), Proposition 12."""

    def at(n: int) -> float:
        share = float(RATE)
        moment = math.fsum(
            math.comb(n, j) * (1 - share) ** (n - j) * share**j
            * math.exp(j * (j - 1) / (2 * NOISE**2))
            for j in range(n + 1)
        )  # fmt: skip
        total = STEPS * math.log(moment) / (n - 1)
        return total + math.log1p(-1 / n) - (math.log(float(FEW)) + math.log(n)) / (n - 1)

    return min(map(at, range(2, 65)))


PROVED = {
    "Mironov's conversion": (
        dp.repeat(STEP, k), dp.ApproxDP(k * AT_TWO + log(1 / delta), delta)
    ),
    "the sharper one": (
        dp.repeat(STEP, k),
        dp.ApproxDP(k * AT_THREE + log(1 / delta) / 2 + log(Rational(2, 3)) - log(3) / 2, delta),
    ),
    "a composition": (
        dp.compose(STEP, GAUSSIAN), dp.ApproxDP(AT_TWO + 1 / sigma**2 + log(1 / delta), delta)
    ),
    "a part of the data": (
        dp.parallel(STEP, dp.PureDP(0)), dp.ApproxDP(AT_TWO + log(1 / delta), delta)
    ),
    "a smaller order": (STEP, dp.RenyiDP(Rational(3, 2), AT_TWO)),
    "the mean": (dp.repeat(STEP, k), dp.RenyiDP(1, k * AT_TWO)),
    "guarantees at two orders": (
        dp.subsample(dp.both(dp.RenyiDP(2, rho), dp.RenyiDP(3, 2 * rho)), q),
        dp.ApproxDP(epsilon, (1 + q**2 * (exp(rho) - 1)) * exp(-epsilon)),
    ),
    "numbers": (MANY, dp.ApproxDP(Rational(math.ceil(by_orders() * 10**4), 10**4), FEW)),
    "a delta": (MANY, dp.ApproxDP(1 + log(1 / delta), delta)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROVED)
def test_proved(name):
    subject, claim = PROVED[name]
    verdict = dp.check(subject, claim, WHERE)
    assert isinstance(verdict, dp.Proved), verdict


FALSE = {  # the total variation of one step alone is q times that of the noise, 0.00197 here
    "less than one step": (MANY, dp.ApproxDP(0, Rational(1, 1000))),
    "rate squared": (STEP, dp.ApproxDP(0, q**2)),  # the total variation is near q for little noise
}


@pytest.mark.parametrize("name", FALSE)
def test_not_proved(name):
    subject, claim = FALSE[name]
    assert not isinstance(dp.check(subject, claim, WHERE, budget=3), dp.Proved)


def test_the_best_bound_is_at_least_as_good_as_the_conversion():
    loss = Rational(math.ceil(by_orders() * 10**9), 10**9)
    found = dp.bound(MANY, dp.ApproxDP(loss, delta), delta)
    assert found.proved is not None
    assert float(FEW) / 2 < float(found.upper) <= float(FEW)
