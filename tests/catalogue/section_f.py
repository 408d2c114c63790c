"""Inequalities and identities between numbers, of which proofs are made."""

from __future__ import annotations

from sympy import Abs, Max, Rational, binomial, cosh, exp, log, pi, sinh, sqrt, symbols, tanh

from tests.catalogue.entries import REFUTED, Answer, Section, below, equal
from tests.catalogue.section_a import Phi, phi

F = Section("F")

x, y, z, c, e = symbols("x y z c epsilon", real=True)
p, q, r, s, v, w = symbols("p q r s v w", real=True)
at_least, other, t0, eps0 = symbols("x y t epsilon", nonnegative=True)
t, u, eps, alpha, rho, rate = symbols("t u epsilon alpha rho q", positive=True)
n, k = symbols("n k", integer=True, positive=True)
p0, q0 = symbols("p q", nonnegative=True)
pos_p, pos_q, pos_r, pos_s = symbols("p q r s", positive=True)

HALF = Rational(1, 2)
AT_LEAST_ONE, AT_MOST_ONE = [alpha >= 1], [alpha <= 1]


@F.entry()
def cosh_gauss() -> Answer:
    return below(cosh(x), exp(x**2 / 2))


@F.entry()
def sub_hinge() -> Answer:
    mixed = Max(0, 1 - rate + rate * x - c)
    return equal(mixed, rate * Max(0, x - (1 + (c - 1) / rate)), [rate <= 1])


@F.entry()
def sinh_to_cosh() -> Answer:
    left = (sinh(x) - sinh(y)) / sinh(x - y)
    right = cosh((x + y) / 2) / cosh((x - y) / 2)
    for side in (x > y, x < y):
        yield from equal(left, right, [side])


@F.entry(index="the powers 1 to 6")
def binomial_expansion() -> Answer:
    for order in range(1, 7):
        terms = [
            binomial(order, j) * (1 - rate) ** (order - j) * (rate * x) ** j
            for j in range(order + 1)
        ]
        yield from equal((1 - rate + rate * x) ** order, sum(terms), [rate < 1])


def chosen(j):
    """The number of ways to choose j of k."""
    return binomial(k, j).expand(func=True)


@F.entry(index="c from 1 to 5")
def binom_lower() -> Answer:
    for j in range(1, 6):
        yield below(j * log(k / j), log(chosen(j)), [j <= k])


@F.entry()
def power_tangent_rev() -> Answer:
    a = symbols("alpha", nonnegative=True)
    return below(t**a, 1 + a * (t - 1), [a <= 1])


@F.entry()
def exp_linear() -> Answer:
    return below(1 + x, exp(x))


@F.entry()
def hs_lipschitz() -> Answer:
    return below(Max(0, x - exp(e + t0) * other), Max(0, x - exp(e) * other))


@F.entry()
def hs_subadditive() -> Answer:
    return below(Max(0, p + r - c * (q + s)), Max(0, p - c * q) + Max(0, r - c * s))


@F.entry()
def gauss_exp_integral() -> Answer:
    return below(t**2 - e, (t - e / (2 * t)) ** 2)


@F.entry(index="c from 1 to 5")
def binom_upper() -> Answer:
    for j in range(1, 6):
        yield below(log(chosen(j)), j * (1 + log(k / j)), [j <= k])


@F.entry()
def log1p_lower() -> Answer:
    return below(x / (1 + x), log(1 + x), [x > -1])


@F.entry()
def chernoff_crude() -> Answer:
    return below(Max(0, 1 - exp(-x)), exp((alpha - 1) * x), AT_LEAST_ONE)


@F.entry()
def complete_square() -> Answer:
    return below(-(x**2) / (4 * rho), (y - 1) ** 2 * rho - (y - 1) * x)


@F.entry()
def mix_power() -> Answer:
    share = symbols("q", nonnegative=True)
    yield below(
        (1 - share + share * t) ** alpha, 1 - share + share * t**alpha, [share < 1, *AT_LEAST_ONE]
    )
    yield below((1 - share) ** alpha, 1 - share, [share < 1, *AT_LEAST_ONE])


@F.entry()
def tlogt() -> Answer:
    return below(t - 1, t * log(t))


@F.entry()
def power_tangent() -> Answer:
    return below(1 + alpha * (t - 1), t**alpha, AT_LEAST_ONE)


@F.entry()
def chi2_pointwise() -> Answer:
    return below(t * log(t), t * (t - 1))


@F.entry()
def bernoulli() -> Answer:
    return below(1 + n * x, (1 + x) ** n, [x > -1])


@F.entry()
def amgm_br() -> Answer:
    return below(2 * exp((w - e) / 2), exp(x - e) + exp(w - x))


@F.entry()
def cks_vs_mironov() -> Answer:
    return below((1 - 1 / alpha) ** (alpha - 1) / alpha, 1, [alpha > 1])


@F.entry()
def compose_plus_sharp() -> Answer:
    one, two = Max(0, 1 - at_least), Max(0, 1 - other)
    return below(Max(0, 1 - at_least * other), one + two - one * two)


@F.entry()
def mills_upper() -> Answer:
    return below(Phi(-t), phi(t) / t)


@F.entry()
def power_perspective_rev() -> Answer:
    a = symbols("alpha", nonnegative=True)
    left = pos_p**a * pos_q ** (1 - a) + pos_r**a * pos_s ** (1 - a)
    return below(left, (pos_p + pos_r) ** a * (pos_q + pos_s) ** (1 - a), [a <= 1])


@F.entry()
def polya_lower() -> Answer:
    return below(1 - exp(-(t0**2) / 2), (1 - 2 * Phi(-t0)) ** 2)


@F.entry()
def tanh_over_x_decreasing() -> Answer:
    return below(tanh(u + t0) / (u + t0), tanh(u) / u)


@F.entry()
def one_sided_tv() -> Answer:
    bound = 1 - exp(-eps0) + exp(-eps0) * Max(0, 1 - exp(eps0) * at_least)
    return below(Max(0, 1 - at_least), bound)


@F.entry()
def power_chord() -> Answer:
    ratio = exp(eps * x)
    chord = (exp(eps) - ratio) * exp(-alpha * eps) + (ratio - exp(-eps)) * exp(alpha * eps)
    where = [x >= -1, x <= 1, *AT_LEAST_ONE]
    return below(exp(alpha * eps * x), chord / (exp(eps) - exp(-eps)), where)


@F.entry()
def xlogx_chord() -> Answer:
    ratio = exp(eps * x)
    chord = (ratio - exp(-eps)) * eps * exp(eps) - (exp(eps) - ratio) * eps * exp(-eps)
    return below(eps * x * ratio, chord / (exp(eps) - exp(-eps)), [x >= -1, x <= 1])


@F.entry()
def young() -> Answer:
    a, one, two = symbols("a x y", positive=True)
    return below(one * two, one**a / a + two ** (a / (a - 1)) * (a - 1) / a, [a > 1])


@F.entry()
def mills_lower() -> Answer:
    return below(t0 / (1 + t0**2) * phi(t0), Phi(-t0))


@F.entry()
def two_sided_tv() -> Answer:
    hinges = Max(0, p0 - exp(eps0) * q0) + Max(0, q0 - exp(eps0) * p0)
    return below(Abs(p0 - q0), tanh(eps0 / 2) * (p0 + q0) + 2 / (exp(eps0) + 1) * hinges)


@F.entry()
def polya_upper() -> Answer:
    return below((1 - 2 * Phi(-t0)) ** 2, 1 - exp(-2 * t0**2 / pi))


@F.entry()
def logcosh_sqrt_concave() -> Answer:
    left = log(cosh((alpha - HALF) * eps) / cosh(eps / 2))
    return below(left, alpha * (alpha - 1) * eps * tanh(eps / 2), AT_LEAST_ONE)


@F.entry()
def bs_sinh() -> Answer:
    return below((sinh(other + t) - sinh(other)) / sinh(t), exp((other + t) * other / 2))


@F.entry()
def power_tangent_hinge() -> Answer:
    hinge = alpha * (exp((alpha - 1) * eps0) - 1) * Max(0, t - exp(eps0))
    return below(1 + alpha * (t - 1) + hinge, t**alpha, AT_LEAST_ONE)


@F.entry()
def pinsker_pointwise() -> Answer:
    return below(3 * (t - 1) ** 2, (4 + 2 * t) * (t * log(t) - t + 1))


@F.entry()
def sampford_upper() -> Answer:
    return below(Phi(-t0), 4 * phi(t0) / (3 * t0 + sqrt(t0**2 + 8)))


@F.entry()
def two_sided_smaller_eps() -> Answer:
    share = (exp(eps) - exp(w)) / (exp(eps) - exp(-eps))
    bound = (1 - share) * Max(0, p0 - exp(eps) * q0)
    bound += share * exp(-eps) * Max(0, q0 - exp(eps) * p0) + share * (p0 - exp(-eps) * q0)
    return below(Max(0, p0 - exp(w) * q0), bound, [w <= eps, w >= -eps])


# Neighbours that are false


@F.entry(REFUTED)
def false_cosh_gauss_third() -> Answer:
    return below(cosh(x), exp(x**2 * Rational(2, 5)))


@F.entry(REFUTED)
def false_pinsker_pointwise_smaller() -> Answer:
    return below(3 * (t - 1) ** 2, (4 + Rational(19, 10) * t) * (t * log(t) - t + 1))


@F.entry(REFUTED)
def false_polya_upper_faster() -> Answer:
    return below((1 - 2 * Phi(-t0)) ** 2, 1 - exp(-Rational(3, 5) * t0**2))


@F.entry(REFUTED)
def false_compose_plus_sharp_twice() -> Answer:
    one, two = Max(0, 1 - at_least), Max(0, 1 - other)
    return below(Max(0, 1 - at_least * other), one + two - 2 * one * two)


@F.entry(REFUTED)
def false_bs_sinh_smaller() -> Answer:
    left = (sinh(other + t) - sinh(other)) / sinh(t)
    return below(left, exp((other + t) * other * Rational(2, 5)))


@F.entry(REFUTED)
def false_mills_upper_smaller() -> Answer:
    return below(Phi(-t), phi(t) / (t + 1))


@F.entry(REFUTED)
def false_cks_vs_mironov_half() -> Answer:
    return below((1 - 1 / alpha) ** (alpha - 1) / alpha, HALF, [alpha > 1])
