"""Theorems whose proofs use the rules that the proof scripts use seldom or not at all."""

from __future__ import annotations

from sympy import Max, Rational, erfc, exp, log, oo, pi, sqrt, symbols
from sympy.sets import Interval

import dpsym as dp
from dpsym import noise
from dpsym.scripts import proved

e, f, d = symbols("e f d", nonnegative=True)
a, b, q, rho, mu, nu = symbols("a b q rho mu nu", positive=True)
k, n = symbols("k n", integer=True, positive=True)
x = symbols("x", real=True)
AMPLIFIED = log(1 + q * (exp(e) - 1))


@proved
def repetitions():
    return [
        dp.check(dp.repeat(dp.ApproxDP(e, d), k), dp.ApproxDP(k * e, k * d)),
        dp.check(dp.repeat(dp.ApproxDP(e, d), 1), dp.ApproxDP(e, d)),
        dp.check(dp.repeat(dp.ZCDP(rho), k), dp.ZCDP(k * rho)),
    ]


@proved
def groups():
    return [
        dp.check(dp.group(dp.PureDP(e), k), dp.PureDP(k * e)),
        dp.check(dp.group(dp.RenyiDP(8, e), 2), dp.RenyiDP(4, 3 * e)),
    ]


@proved
def subsamples():
    return [
        dp.check(dp.subsample(dp.PureDP(e), q), dp.PureDP(AMPLIFIED), [q <= 1]),
        dp.check(dp.subsample(dp.ApproxDP(e, d), q), dp.ApproxDP(AMPLIFIED, q * d), [q <= 1]),
    ]


@proved
def filters():
    spent, budget = symbols("spent budget", nonnegative=True)
    return [dp.check(dp.filtered(dp.PureDP(spent), spent, budget), dp.PureDP(budget))]


@proved
def gaussian_dp():
    return [
        dp.check(dp.compose(dp.GDP(mu), dp.GDP(nu)), dp.GDP(sqrt(mu**2 + nu**2))),
        dp.check(dp.GDP(mu), dp.ZCDP(mu**2 / 2)),
        dp.check(dp.TCDP(rho, b), dp.RenyiDP(a, rho * a), [a > 1, a < b]),
    ]


@proved
def ranges():
    return [
        dp.check(dp.BoundedRange(e), dp.ZCDP(e**2 / 8)),
        dp.check(dp.RandomizedResponse(e), dp.BoundedRange(2 * e)),
        dp.check(dp.postprocess(dp.RenyiDP(a, e)), dp.RenyiDP(a, e), [a > 1]),
    ]


@proved
def poisson_masses():
    pair = dp.PMFPair(noise.Poisson(a), noise.Poisson(b))
    ways = a * log(a / b) + b - a, b * log(b / a) + a - b
    return [dp.check(pair, dp.RenyiDP(1, Max(*ways)))]


@proved
def whole_numbers():
    noisy = dp.AdditiveNoise(noise.Geometric(scale=b), sensitivity=n)
    return [dp.check(noisy, dp.RenyiDP(1, n / b), [n > Rational(1, 2)])]


@proved
def densities():
    waits = dp.DensityPair(exp(-x), 2 * exp(-2 * x), x, Interval(0, oo))
    laplace = dp.AdditiveNoise(noise.Laplace(scale=b), sensitivity=a)
    return [
        dp.check(waits, dp.ApproxDP(0, Rational(1, 4))),
        dp.check(laplace, dp.RenyiDP(1, a / b + exp(-a / b) - 1)),
    ]


@proved
def inequalities():
    order = symbols("order", positive=True)
    return [
        dp.check_inequality(
            log((exp(order * e) + exp((1 - order) * e)) / (1 + exp(e))),
            order * (order - 1) * e**2 / 2,
            [order > 1],
        ),
        dp.check_inequality(
            2 * exp(-(e**2) / 2) / (e + sqrt(e**2 + 4)), sqrt(pi / 2) * erfc(e / sqrt(2))
        ),
        dp.check_inequality(1 - exp(-e), sqrt(1 - (1 + e) ** 2 * exp(-2 * e))),
        dp.check_inequality(e * (exp(e) - 1), 2 * e**2, [e <= 1]),
    ]
