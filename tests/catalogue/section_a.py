"""Closed forms of divergences."""

from __future__ import annotations

import mpmath
from sympy import (
    Abs,
    Eq,
    Interval,
    Max,
    Min,
    Piecewise,
    Range,
    Rational,
    erfc,
    exp,
    log,
    oo,
    pi,
    sinh,
    sqrt,
    symbols,
    tanh,
)

import dpsym as dp
from dpsym import noise
from tests.catalogue.entries import (
    DIGITS,
    ENCLOSED,
    UNKNOWN,
    Answer,
    Enclosed,
    Section,
    below,
    check,
    encloses,
    equal,
    hockey_stick_is,
    integral_is,
    is_formula,
    kl_is,
    renyi_is,
)

A = Section("A")

alpha, sigma, b, D, w, s = symbols("alpha sigma b Delta w s", positive=True)
mu, eps, eps0, delta, t, l1, l2 = symbols(
    "mu epsilon epsilon0 delta t lambda1 lambda2", positive=True
)
real_eps, x = symbols("epsilon x", real=True)
n, k = symbols("n k", integer=True, positive=True)
j = symbols("j", integer=True)
p, q = symbols("p q", nonnegative=True)

ORDERS = (alpha > 1, alpha < 1)

gaussian = dp.AdditiveNoise(noise.Gaussian(sigma=sigma), sensitivity=mu)
laplace = dp.AdditiveNoise(noise.Laplace(scale=b), sensitivity=D)


def _number(value):
    return mpmath.mpf(int(Rational(value).p)) / int(Rational(value).q)


def Phi(value):  # noqa: N802
    """The distribution function of the standard normal."""
    return erfc(-value / sqrt(2)) / 2


def phi(value):
    """Its density."""
    return exp(-(value**2) / 2) / sqrt(2 * pi)


def moved(law, by):
    """The pair of a law moved by a distance, and the law."""
    pair = dp.PMFPair if law.integer else dp.DensityPair
    return pair(noise.Shifted(law, by), law)


def orders(mechanism, formula, *where) -> Answer:
    """D_alpha at all orders but 1."""
    for side in ORDERS:
        yield from is_formula(mechanism.renyi(alpha, [side, *where]), formula, [side, *where])


@A.entry()
def gauss_renyi() -> Answer:
    return orders(gaussian, alpha * mu**2 / (2 * sigma**2))


@A.entry()
def laplace_pure() -> Answer:
    return is_formula(laplace.max_divergence(), D / b)


@A.entry()
def gauss_kl() -> Answer:
    return is_formula(gaussian.kl(), mu**2 / (2 * sigma**2))


@A.entry()
def gauss_plrv_mgf() -> Answer:
    pair, t = moved(noise.Gaussian(sigma=sigma), mu), symbols("t", real=True)
    total = exp(t * (t + 1) * mu**2 / (2 * sigma**2))
    for sign in (1, -1):  # no output has infinite loss

        def moment(loss, sign=sign):
            return sign * exp(t * loss)

        yield check(pair, dp.MomentBound(moment, sign * total, at_infinity=0, one_way=True))


@A.entry()
def krr_renyi() -> Answer:
    total = exp(eps0) + k - 1
    keep, other = exp(eps0) / total, 1 / total
    moment = (
        keep**alpha * other ** (1 - alpha) + other**alpha * keep ** (1 - alpha) + (k - 2) * other
    )
    return orders(dp.RandomizedResponse(eps0, k), log(moment) / (alpha - 1), k >= 2)


@A.entry(slow=True)
def bern_hs() -> Answer:
    pair = dp.PMFPair(
        Piecewise((p, Eq(j, 1)), (1 - p, True)),
        Piecewise((q, Eq(j, 1)), (1 - q, True)),
        j,
        Range(0, 2),
    )
    formula = Max(0, p - exp(real_eps) * q) + Max(0, 1 - p - exp(real_eps) * (1 - q))
    return hockey_stick_is(pair, real_eps, formula, [p <= 1, q <= 1])


@A.entry()
def rr_kl() -> Answer:
    return is_formula(dp.RandomizedResponse(eps0).kl(), eps0 * tanh(eps0 / 2))


@A.entry()
def poisson_kl() -> Answer:
    pair = dp.PMFPair(noise.Poisson(l1), noise.Poisson(l2))
    return kl_is(pair, l1 * log(l1 / l2) + l2 - l1)


@A.entry(slow=True)
def uniform_hs() -> Answer:
    where = [2 * w >= D]
    formula = D / (2 * w) + (1 - D / (2 * w)) * Max(0, 1 - exp(real_eps))
    found = dp.AdditiveNoise(noise.Uniform(w), D).hockey_stick(real_eps, where)
    return is_formula(found, formula, where)


@A.entry()
def laplace_kl() -> Answer:
    return is_formula(laplace.kl(), D / b + exp(-D / b) - 1)


@A.entry(slow=True)
def laplace_tv() -> Answer:
    return is_formula(laplace.total_variation(), 1 - exp(-D / (2 * b)))


@A.entry()
def rnm_exp2() -> Answer:
    d = symbols("d", nonnegative=True)
    chosen = dp.ReportNoisyMax([[d, 0], [d, 0]], noise.Exponential(b)).probabilities((d, 0))[0]
    flipped = dp.PermuteAndFlip([[d, 0], [d, 0]], 2 / b).probabilities((d, 0))[0]
    formula = 1 - exp(-d / b) / 2
    yield from equal(chosen, formula)
    yield from equal(flipped, formula)
    wins = exp(-x / b) / b * (1 - exp(-(x + d) / b))
    yield integral_is(wins, x, Interval(0, oo), formula)


@A.entry()
def exponential_renyi() -> Answer:
    pair = dp.DensityPair(noise.Exponential(1 / l1), noise.Exponential(1 / l2))
    mixed = alpha * l1 + (1 - alpha) * l2
    return renyi_is(pair, alpha, log(l1 / l2) + log(l1 / mixed) / (alpha - 1), [mixed > 0])


@A.entry()
def renyi_skew() -> Answer:
    c = symbols("c", nonnegative=True)
    where = [alpha < 1]
    yield check(dp.RenyiDP(alpha, alpha * c), dp.RenyiDP(1 - alpha, (1 - alpha) * c), where)


@A.entry()
def gdp_tradeoff() -> Answer:
    c, m = symbols("c", real=True), symbols("mu", nonnegative=True)
    return integral_is(phi(x - m), x, Interval(-oo, c), Phi(c - m))


@A.entry()
def geometric_renyi() -> Answer:
    p1, p2 = symbols("p1 p2", positive=True)
    i = symbols("i", integer=True, nonnegative=True)
    pair = dp.PMFPair(p1 * (1 - p1) ** i, p2 * (1 - p2) ** i, i, Range(0, oo))
    ratio = (1 - p1) ** alpha * (1 - p2) ** (1 - alpha)
    formula = log(p1**alpha * p2 ** (1 - alpha) / (1 - ratio)) / (alpha - 1)
    return renyi_is(pair, alpha, formula, [p1 < 1, p2 < 1, ratio < 1])


@A.entry()
def rr_warner() -> Answer:
    lam = symbols("lambda", nonnegative=True)
    odds = 1 + k * lam / (1 - lam)
    where = [lam < 1, k >= 2]
    # Randomized response that keeps the value with the same probability.
    response = dp.RandomizedResponse(log(odds), k)
    yield from equal(lam + (1 - lam) / k, odds / (odds + k - 1), where)
    yield from is_formula(response.max_divergence(where), log(odds), where)


@A.entry(slow=True)
def br_pair() -> Answer:
    where = [t <= eps]
    q1 = (exp(-t) - exp(-eps)) / (1 - exp(-eps))
    p1 = (1 - exp(t - eps)) / (1 - exp(-eps))
    yield check(dp.Table([[p1, 1 - p1], [q1, 1 - q1]]), dp.BoundedRange(eps), where)
    yield from equal(p1, exp(t) * q1, where)
    yield from equal(1 - p1, exp(t - eps) * (1 - q1), where)


@A.entry(slow=True)
def dlaplace_shift1_is_rr() -> Answer:
    where = [eps <= 1 / b]
    found = dp.AdditiveNoise(noise.Geometric(b), 1).hockey_stick(eps, where)
    return is_formula(found, (exp(1 / b) - exp(eps)) / (1 + exp(1 / b)), where)


@A.entry(slow=True)
def laplace_renyi() -> Answer:
    moment = alpha / (2 * alpha - 1) * exp((alpha - 1) * D / b)
    moment += (alpha - 1) / (2 * alpha - 1) * exp(-alpha * D / b)
    for side in ([alpha > 1], [alpha < 1, alpha > Rational(1, 2)], [alpha < Rational(1, 2)]):
        yield from is_formula(laplace.renyi(alpha, side), log(moment) / (alpha - 1), side)


@A.entry()
def expmech2() -> Answer:
    u, v = symbols("u v", real=True)
    formula = 1 / (1 + exp(-eps * (u - v) / (2 * D)))
    mechanism = dp.ExponentialMechanism([[u, v], [u, v]], eps, D)
    yield from equal(mechanism.probabilities((u, v))[0], formula)
    gap = symbols("d", real=True)  # eps*(u - v)/(2*D)
    wins = exp(-x - exp(-x)) * exp(-exp(-(x + gap)))
    yield integral_is(wins, x, Interval(-oo, oo), 1 / (1 + exp(-gap)))


@A.entry()
def exp_shift_renyi_rev() -> Answer:
    pair = moved(noise.Exponential(b), D)
    yield from renyi_is(pair, alpha, D / b)
    yield check(pair, dp.PureDP(D / b, one_way=True))


@A.entry()
def dgauss_kl() -> Answer:
    found = dp.AdditiveNoise(noise.DiscreteGaussian(sigma), n).kl()
    return is_formula(found, n**2 / (2 * sigma**2))


@A.entry()
def exp_shift_hs() -> Answer:
    law = noise.Exponential(b)
    pair = dp.DensityPair(law, noise.Shifted(law, D))
    return hockey_stick_is(pair, real_eps, 1 - exp(-D / b), [real_eps >= -D / b])


@A.entry()
def br_hs_sup() -> Answer:
    at = symbols("t", nonnegative=True)
    v = symbols("w", real=True)
    p1 = (1 - exp(at - eps)) / (1 - exp(-eps))
    q1 = (exp(-at) - exp(-eps)) / (1 - exp(-eps))
    bound = (1 - exp(-(eps - v) / 2)) ** 2 / (1 - exp(-eps))
    return below(p1 - exp(v) * q1, bound, [Abs(v) <= eps, at <= eps])


@A.entry(slow=True)
def hs_tail() -> Answer:
    delta = symbols("delta", nonnegative=True)

    def tails(loss):
        return Piecewise((1 - exp(real_eps - loss), real_eps < loss), (0, True))

    by_tails = dp.MomentBound(tails, delta, at_infinity=1)
    yield check(by_tails, dp.ApproxDP(real_eps, delta))
    yield check(dp.ApproxDP(real_eps, delta), by_tails)
    tail = exp(real_eps - x) * Phi(mu / 2 - x / mu)
    formula = Phi(mu / 2 - real_eps / mu) - exp(real_eps) * Phi(-mu / 2 - real_eps / mu)
    yield integral_is(tail, x, Interval(real_eps, oo), formula)


@A.entry(slow=True)
def leaky_rr_hs() -> Answer:
    e0, e, d0 = symbols("epsilon0 epsilon delta0", nonnegative=True)
    keep = (1 - d0) * exp(e0) / (1 + exp(e0))
    flip = (1 - d0) / (1 + exp(e0))
    table = dp.Table([[d0, keep, flip, 0], [0, flip, keep, d0]])
    formula = d0 + (1 - d0) * Max(0, (exp(e0) - exp(e)) / (1 + exp(e0)))
    where = [d0 <= 1]
    return is_formula(table.hockey_stick(e, where), formula, where)


@A.entry(slow=True)
def dlaplace_kl1() -> Answer:
    found = dp.AdditiveNoise(noise.Geometric(b), 1).kl()
    return is_formula(found, tanh(1 / (2 * b)) / b)


@A.entry(slow=True)
def rr_renyi() -> Answer:
    moment = (sinh(alpha * eps0) - sinh((alpha - 1) * eps0)) / sinh(eps0)
    return orders(dp.RandomizedResponse(eps0), log(moment) / (alpha - 1))


@A.entry()
def cauchy_pure_attained() -> Answer:
    # asinh z = ln(z + sqrt(z^2 + 1))
    loss = 2 * log(D / (2 * s) + sqrt(D**2 / (4 * s**2) + 1))
    yield check(dp.AdditiveNoise(noise.Cauchy(s), D), dp.PureDP(loss))
    at = (D - sqrt(D**2 + 4 * s**2)) / 2
    yield from equal(log((s**2 + (at - D) ** 2) / (s**2 + at**2)), loss)


@A.entry()
def gauss_diffvar_renyi() -> Answer:
    s1, s2 = symbols("sigma1 sigma2", positive=True)
    m1, m2 = symbols("mu1 mu2", real=True)
    v = alpha * s2**2 + (1 - alpha) * s1**2
    spread = log(s2**2 / v) / (alpha - 1) / 2  # SymPy would write 2*(alpha - 1) as 2*alpha - 2
    formula = log(s2 / s1) + spread + alpha * (m1 - m2) ** 2 / (2 * v)
    return renyi_is(dp.GaussianPair(m1, s1, m2, s2), alpha, formula, [v > 0])


@A.entry(slow=True)
def gauss_scale_hs() -> Answer:
    s1, s2 = symbols("sigma1 sigma2", positive=True)
    at = sqrt(2 * (real_eps - log(s2 / s1)) / (1 / s2**2 - 1 / s1**2))
    formula = 2 * (Phi(-at / s1) - exp(real_eps) * Phi(-at / s2))
    where = [s1 > s2, real_eps >= log(s2 / s1)]
    return hockey_stick_is(dp.GaussianPair(0, s1, 0, s2), real_eps, formula, where)


@A.entry()
def dgauss_renyi_int() -> Answer:
    order = symbols("alpha", integer=True, positive=True)
    found = dp.AdditiveNoise(noise.DiscreteGaussian(sigma), n).renyi(order, [order >= 2])
    return is_formula(found, order * n**2 / (2 * sigma**2), [order >= 2])


@A.entry(slow=True)
def gauss_hs() -> Answer:
    formula = Phi(mu / (2 * sigma) - real_eps * sigma / mu)
    formula -= exp(real_eps) * Phi(-mu / (2 * sigma) - real_eps * sigma / mu)
    return is_formula(gaussian.hockey_stick(real_eps), formula)


@A.entry(slow=True)
def uniform_renyi_lt1() -> Answer:
    where = [2 * w > D, alpha < 1]
    found = dp.AdditiveNoise(noise.Uniform(w), D).renyi(alpha, where)
    return is_formula(found, log(1 - D / (2 * w)) / (alpha - 1), where)


@A.entry(UNKNOWN, why="a symbolic power of |x|; the slope is bounded", slow=True)
def gencauchy_pure() -> Answer:
    c, z = symbols("c z", positive=True)  # at z = 0 the slope is 0
    slope = (c - 1) ** ((c - 1) / c)
    yield below(c * z ** (c - 1) / (1 + z**c), slope, [c > 1])
    yield check(dp.AdditiveNoise(noise.GeneralizedCauchy(c, 1), D), dp.PureDP(D * slope), [c > 1])


@A.entry()
def br_kl() -> Answer:
    at = symbols("t", nonnegative=True)
    p1 = (1 - exp(at - eps)) / (1 - exp(-eps))
    most = eps / (1 - exp(-eps))
    return below(p1 * at + (1 - p1) * (at - eps), most - 1 - log(most), [at <= eps])


@A.entry(slow=True)
def logistic_hs() -> Answer:
    where = [Abs(real_eps) <= D / b]
    found = dp.AdditiveNoise(noise.Logistic(b), D).hockey_stick(real_eps, where)
    return is_formula(found, (1 - exp((real_eps - D / b) / 2)) ** 2 / (1 - exp(-D / b)), where)


@A.entry(slow=True)
def staircase_renyi() -> Answer:
    g = symbols("gamma", positive=True)
    mechanism = dp.AdditiveNoise(noise.Staircase(eps0, g, D), D)
    return orders(mechanism, _staircase(g), g <= 1)


def _staircase(g):
    m = Rational(1, 2) + (1 - exp(-eps0)) * Min(g, 1 - g) / (2 * (g + exp(-eps0) * (1 - g)))
    moment = m * exp((alpha - 1) * eps0) + m * exp(-alpha * eps0) + 1 - m - m * exp(-eps0)
    return log(moment) / (alpha - 1)


@A.entry(slow=True)
def gumbel_renyi_rev() -> Answer:
    formula = D / b - log(1 + (alpha - 1) * (1 - exp(-D / b))) / (alpha - 1)
    return renyi_is(moved(noise.Gumbel(b), D), alpha, formula)


@A.entry(slow=True)
def triangular_hs() -> Answer:
    where = [w > D, eps >= log(w / (w - D))]
    formula = D**2 * exp(eps) / (2 * w**2 * (exp(eps) - 1))
    found = dp.AdditiveNoise(noise.Triangular(w), D).hockey_stick(eps, where)
    return is_formula(found, formula, where)


@A.entry(slow=True)
def dlaplace_renyi() -> Answer:
    mechanism = dp.AdditiveNoise(noise.Geometric(b), n)
    for side in ([alpha > 1], [alpha < 1, alpha > Rational(1, 2)], [alpha < Rational(1, 2)]):
        yield from is_formula(mechanism.renyi(alpha, side), _dlaplace(), side)


def _dlaplace():
    r = exp(-1 / b)
    moment = (r ** ((1 - alpha) * n) + r ** (alpha * n)) / (1 + r)
    middle = (r ** (2 * alpha - 1) - r ** ((2 * alpha - 1) * n)) / (1 - r ** (2 * alpha - 1))
    moment += (1 - r) / (1 + r) * r ** ((1 - alpha) * n) * middle
    return log(moment) / (alpha - 1)


@A.entry(slow=True)
def rr_tight_zcdp() -> Answer:
    yield check(dp.RandomizedResponse(eps), dp.ZCDP(eps * tanh(eps / 2)))
    yield check(dp.PureDP(eps), dp.ZCDP(eps * tanh(eps / 2)))


@A.entry(ENCLOSED, why="the antiderivative has dilogarithms")
def cauchy_kl() -> Answer:
    found = dp.AdditiveNoise(noise.Cauchy(s), D).kl()
    return is_formula(found, log(1 + D**2 / (4 * s**2)))


@A.at_points("cauchy_kl")
def _() -> Answer:
    e = symbols("e", positive=True)
    mechanism = dp.AdditiveNoise(noise.Cauchy(s), D)
    points = [{s: 1, D: 1}, {s: 2, D: Rational(1, 3)}, {s: Rational(1, 2), D: 5}]
    return encloses(mechanism, dp.RenyiDP(1, e), e, log(1 + D**2 / (4 * s**2)), points)


@A.entry(ENCLOSED, why="two sums without a closed form")
def dgauss_hs() -> Answer:
    yield dp.Unknown("a divergence without a closed form", reason="its value is two sums")


@A.at_points("dgauss_hs")
def _() -> Answer:
    mechanism = dp.AdditiveNoise(noise.DiscreteGaussian(sigma), n)

    def formula(at):
        s2, shift, e = mpmath.mpf(at[sigma]) ** 2, int(at[n]), _number(at[eps])

        def upper(threshold):
            first = int(mpmath.floor(threshold)) + 1
            return sum(mpmath.exp(-(mpmath.mpf(i) ** 2) / (2 * s2)) for i in range(first, 200))

        middle = e * s2 / shift
        total = upper(middle - mpmath.mpf(shift) / 2)
        total -= mpmath.exp(e) * upper(middle + mpmath.mpf(shift) / 2)
        return total / sum(mpmath.exp(-(mpmath.mpf(i) ** 2) / (2 * s2)) for i in range(-200, 201))

    points = [
        {sigma: 2, n: 1, eps: 1},
        {sigma: 3, n: 2, eps: Rational(1, 2)},
        {sigma: 1, n: 3, eps: Rational(1, 10)},
    ]
    return encloses(mechanism, dp.ApproxDP(eps, delta), delta, formula, points)


@A.entry(ENCLOSED, why="two incomplete gamma functions, which are not in the language")
def poisson_hs() -> Answer:
    yield dp.Unknown("a divergence without a closed form", reason="incomplete gamma functions")


@A.at_points("poisson_hs")
def _() -> Answer:
    pair = dp.PMFPair(noise.Poisson(l1), noise.Poisson(l2))

    def formula(at):
        a, c, e = _number(at[l1]), _number(at[l2]), _number(at[eps])
        m = int(mpmath.floor((e + a - c) / mpmath.log(a / c)))

        def above(mean):
            return mpmath.gammainc(m + 1, 0, mean, regularized=True)

        return above(a) - mpmath.exp(e) * above(c)

    points = [
        {l1: 3, l2: 2, eps: Rational(1, 2)},
        {l1: 10, l2: 4, eps: 2},
        {l1: 2, l2: 1, eps: Rational(1, 10)},
    ]
    return encloses(pair, dp.ApproxDP(eps, delta, one_way=True), delta, formula, points)


@A.entry(ENCLOSED, why="a moment of the noise, not of its loss")
def dgauss_variance() -> Answer:
    yield dp.Unknown("the variance of the discrete Gaussian", reason="no moment of the loss")


@A.at_points("dgauss_variance")
def _() -> Answer:
    for scale, width in ((Rational(1, 4), 1e-12), (Rational(1, 2), 1e-12), (1, 1e-12), (2, 1e-38)):
        found = noise.DiscreteGaussian(scale).enclose_variance(width=width)
        with mpmath.workdps(DIGITS):
            yield Enclosed(found, _number(scale) ** 2, sign=-1)


@A.entry(ENCLOSED, why="Bessel functions are not in the language of proofs")
def skellam_renyi() -> Answer:
    order = symbols("alpha", integer=True, positive=True)
    mechanism = dp.AdditiveNoise(noise.Skellam(mu), n)
    yield check(mechanism, dp.RenyiDP(order, _skellam(order)), [order >= 2])


def _skellam(order):
    more = Min(((2 * order - 1) * n**2 + 6 * n) / (4 * mu**2), 3 * n / (2 * mu))
    return order * n**2 / (2 * mu) + more


@A.at_points("skellam_renyi")
def _() -> Answer:
    e = symbols("e", positive=True)
    mechanism = dp.AdditiveNoise(noise.Skellam(mu), n)
    points = [
        {mu: 1, n: 1, alpha: 2},
        {mu: 10, n: 2, alpha: 5},
        {mu: Rational(1, 2), n: 3, alpha: 3},
    ]
    return encloses(mechanism, dp.RenyiDP(alpha, e), e, _skellam(alpha), points, sign=-1)


@A.entry(ENCLOSED, why="that a theta function is largest at 0 is not in the calculus", slow=True)
def dgauss_renyi_bound() -> Answer:
    mechanism = dp.AdditiveNoise(noise.DiscreteGaussian(sigma), n)
    return check(mechanism, dp.ZCDP(n**2 / (2 * sigma**2)))


@A.at_points("dgauss_renyi_bound")
def _() -> Answer:
    e = symbols("e", positive=True)
    mechanism = dp.AdditiveNoise(noise.DiscreteGaussian(sigma), n)
    points = [
        {sigma: Rational(1, 2), n: 1, alpha: Rational(3, 2)},
        {sigma: Rational(1, 3), n: 2, alpha: Rational(5, 4)},
        {sigma: 1, n: 1, alpha: Rational(5, 2)},
        {sigma: Rational(3, 4), n: 3, alpha: Rational(22, 7)},
    ]
    formula = alpha * n**2 / (2 * sigma**2)
    return encloses(mechanism, dp.RenyiDP(alpha, e), e, formula, points, sign=-1)


@A.entry(slow=True)
def laplace_tight_zcdp() -> Answer:
    mechanism = dp.AdditiveNoise(noise.Laplace(scale=1), eps)
    return check(mechanism, dp.ZCDP(eps + exp(-eps) - 1))


@A.entry()
def br_renyi_sup() -> Answer:
    at = symbols("t", nonnegative=True)
    q1 = (exp(-at) - exp(-eps)) / (1 - exp(-eps))
    moment = q1 * exp(alpha * at) + (1 - q1) * exp(alpha * (at - eps))
    top = (1 - exp(-alpha * eps)) ** alpha * (alpha - 1) ** (alpha - 1)
    bottom = (1 - exp(-eps)) * alpha**alpha * (exp(-eps) - exp(-alpha * eps)) ** (alpha - 1)
    return below(moment, top / bottom, [alpha > 1, at <= eps])
