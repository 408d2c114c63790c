"""``enclose`` against closed forms and direct sums, evaluated by mpmath at 60 digits."""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
import pytest
import sympy as sp

import dpsym as dp
from dpsym.enclosures import masses

R = sp.Rational
DELTA = sp.Symbol("delta", nonnegative=True)
EPSILON = sp.Symbol("epsilon", nonnegative=True)
RHO = sp.Symbol("rho", nonnegative=True)
DIGITS = 60


def additive(noise: dp.noise.Noise, sensitivity: object = 1) -> dp.AdditiveNoise:
    return dp.AdditiveNoise(noise, sensitivity)


def holds(found: dp.enclosures.Enclosure, true: mp.mpf, width: float = 1e-12) -> None:
    """The true value is inside, and the ends are close together."""
    low, high = (mp.mpf(int(end.p)) / int(end.q) for end in found)
    slack = abs(true) * mp.mpf(10) ** (10 - DIGITS)
    assert low <= true + slack
    assert high >= true - slack
    assert high - low <= width * abs(true)


def number(value: sp.Expr) -> mp.mpf:
    return mp.mpf(int(value.p)) / int(value.q)


def phi(x: mp.mpf) -> mp.mpf:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def gaussian(eps: mp.mpf, sigma: object = 1) -> mp.mpf:
    """Balle, Wang, ICML 2018, theorem 8."""
    s = mp.mpf(sigma)
    return phi(1 / (2 * s) - eps * s) - mp.exp(eps) * phi(-1 / (2 * s) - eps * s)


def laplace(eps: mp.mpf) -> mp.mpf:
    return -mp.expm1((eps - 1) / 2)


def logistic(eps: mp.mpf) -> mp.mpf:
    """P(loss > eps) and the same under Q, from where the two densities cross."""
    half = mp.exp(eps / 2)
    u = (half * mp.exp(mp.mpf(1) / 2) - mp.e) / (1 - half * mp.exp(mp.mpf(1) / 2))
    root = mp.log(u)  # p = e^eps q at root: (1 + e^(x - 1))/(1 + e^x) = e^((eps - 1)/2)
    cdf = lambda x: 1 / (1 + mp.exp(-x))  # noqa: E731
    return cdf(root) - mp.exp(eps) * cdf(root - 1)


def student(eps: mp.mpf) -> mp.mpf:
    """Between the roots of (1 + (x - 1)^2/3)^2 = e^eps (1 + x^2/3)^2."""
    c = mp.exp(eps / 2)
    a, b, d = (c - 1) / 3, mp.mpf(2) / 3, c - 1 - mp.mpf(1) / 3
    gap = mp.sqrt(b * b - 4 * a * d)
    low, high = (-b - gap) / (2 * a), (-b + gap) / (2 * a)

    def cdf(x: mp.mpf) -> mp.mpf:
        s = x / mp.sqrt(3)
        return mp.mpf(1) / 2 + (mp.atan(s) + s / (1 + s * s)) / mp.pi

    mass = cdf(high) - cdf(low)
    return mass - mp.exp(eps) * (cdf(high - 1) - cdf(low - 1))


def direct(mass: Callable[[int], mp.mpf]) -> Callable[[mp.mpf], mp.mpf]:
    """The hockey-stick divergence of a mass function and its shift by 1, summed."""

    def divergence(eps: mp.mpf) -> mp.mpf:
        total = mp.fsum(mass(k) for k in range(-260, 261))
        parts = (max(mp.mpf(0), mass(k) - mp.exp(eps) * mass(k - 1)) for k in range(-260, 261))
        return mp.fsum(parts) / total

    return divergence


def subsampled(eps: mp.mpf) -> mp.mpf:
    """At rate 1/100: q times the divergence at log(1 + (e^eps - 1)/q)."""
    return gaussian(mp.log(1 + 100 * mp.expm1(eps))) / 100


def mixture() -> dp.DensityPair:
    base = dp.noise.Gaussian(1)
    return dp.DensityPair(
        dp.noise.Mixture([R(99, 100), R(1, 100)], [base, dp.noise.Shifted(base, 1)]), base
    )


FAMILIES: dict[str, tuple[Callable[[], object], Callable[[mp.mpf], mp.mpf], list[sp.Rational]]] = {
    "Gaussian": (
        lambda: additive(dp.noise.Gaussian(1)),
        gaussian,
        [R(0), R(1, 2), R(3), R(7), R(21), R(37)],
    ),
    "Laplace": (
        lambda: additive(dp.noise.Laplace(1)),
        laplace,
        [R(0), R(1, 2), 1 - R(1, 10**12), 1 - R(1, 10**40)],
    ),
    "logistic": (
        lambda: additive(dp.noise.Logistic(1)),
        logistic,
        [R(0), R(1, 2), R(9, 10), 1 - R(1, 10**6)],
    ),
    "Student": (
        lambda: additive(dp.noise.StudentT(3, 1)),
        student,
        [R(1, 100), R(1, 2), R(1), R(11, 10), R(1139236, 10**6)],
    ),
    "subsampled": (mixture, subsampled, [R(1, 10), R(1), R(3)]),
    "discrete Gaussian": (
        lambda: additive(dp.noise.DiscreteGaussian(1)),
        direct(lambda k: mp.exp(-(mp.mpf(k) ** 2) / 2)),
        [R(0), R(1, 2), R(5), R(12)],
    ),
    "geometric": (
        lambda: additive(dp.noise.Geometric(1)),
        direct(lambda k: mp.exp(-abs(k))),
        [R(0), R(1, 2), 1 - R(1, 10**12)],
    ),
    "Skellam": (
        lambda: additive(dp.noise.Skellam(4)),
        direct(lambda k: mp.besseli(abs(k), 4)),
        [R(0), R(1, 2), R(2), R(5, 2)],
    ),
}


@pytest.mark.parametrize(
    ("name", "eps"), [(name, eps) for name, (_, _, all_eps) in FAMILIES.items() for eps in all_eps]
)
def test_hockey_stick(name: str, eps: sp.Rational) -> None:
    make, true, _ = FAMILIES[name]
    with mp.workdps(DIGITS + 80):
        holds(make().enclose(dp.ApproxDP(eps, DELTA), DELTA), true(number(eps)))


RENYI = {
    "Gaussian": (dp.noise.Gaussian(3), lambda a: a / 18),
    "Laplace": (  # Mironov, CSF 2017, proposition 6
        dp.noise.Laplace(1),
        lambda a: (
            mp.log(a / (2 * a - 1) * mp.exp(a - 1) + (a - 1) / (2 * a - 1) * mp.exp(-a)) / (a - 1)
        ),
    ),
}


@pytest.mark.parametrize("alpha", [R(1, 3), R(3, 2), R(5, 2), R(40)])
@pytest.mark.parametrize("name", ["Gaussian", "Laplace"])
def test_renyi(name: str, alpha: sp.Rational) -> None:
    noise, true = RENYI[name]
    with mp.workdps(DIGITS):
        holds(additive(noise).enclose(dp.RenyiDP(alpha, EPSILON), EPSILON), true(number(alpha)))


def test_renyi_of_tiny_divergences() -> None:
    """Relative accuracy although the moment is 1 + 1e-20."""
    noise = additive(dp.noise.Laplace(10**10))
    with mp.workdps(DIGITS):
        b, a = mp.mpf(10) ** 10, mp.mpf(2)
        true = mp.log(
            a / (2 * a - 1) * mp.exp((a - 1) / b) + (a - 1) / (2 * a - 1) * mp.exp(-a / b)
        )
        holds(noise.enclose(dp.RenyiDP(2, EPSILON), EPSILON), true / (a - 1))


def test_kullback_leibler() -> None:
    """Order 1: 1/e for Laplace noise, log(1 + 1/4) for Cauchy's (Chyzak, Nielsen, 2019)."""
    order = dp.RenyiDP(1, EPSILON)
    with mp.workdps(DIGITS):
        holds(additive(dp.noise.Laplace(1)).enclose(order, EPSILON), mp.exp(-1))
        holds(additive(dp.noise.Cauchy(1)).enclose(order, EPSILON), mp.log(mp.mpf(5) / 4))


INFINITE = {
    "unequal variances": (
        lambda: dp.GaussianPair(0, 2, 0, 1).enclose(dp.RenyiDP(R(4, 3), EPSILON), EPSILON)
    ),
    "unequal variances, beyond": (
        lambda: dp.GaussianPair(0, 2, 1, 1).enclose(dp.RenyiDP(2, EPSILON), EPSILON)
    ),
    "Gumbel": (
        lambda: additive(dp.noise.Gumbel(1 / sp.log(2))).enclose(dp.RenyiDP(2, EPSILON), EPSILON)
    ),
    "Gumbel, beyond": (
        lambda: additive(dp.noise.Gumbel(1)).enclose(dp.RenyiDP(2, EPSILON), EPSILON)
    ),
    "uniform": (lambda: additive(dp.noise.Uniform(2)).enclose(dp.RenyiDP(1, EPSILON), EPSILON)),
    "triangular": (
        lambda: additive(dp.noise.Triangular(2)).enclose(dp.RenyiDP(2, EPSILON), EPSILON)
    ),
    "Gaussian, pure": lambda: additive(dp.noise.Gaussian(1)).enclose(dp.PureDP(EPSILON), EPSILON),
    "truncated": (
        lambda: additive(dp.noise.TruncatedLaplace(1, 4)).enclose(
            dp.ApproxDP(EPSILON, 1e-9), EPSILON
        )
    ),
}


@pytest.mark.parametrize("name", INFINITE)
def test_infinite(name: str) -> None:
    assert list(INFINITE[name]()) == [sp.oo, sp.oo]


def test_finite_next_to_the_critical_order() -> None:
    """Gumbel noise of scale 1/log(2) at order 2 - 1/1000, and unequal variances below 4/3."""
    gumbel = additive(dp.noise.Gumbel(1 / sp.log(2)))
    found = gumbel.enclose(dp.RenyiDP(R(1999, 1000), EPSILON), EPSILON)
    assert found.relative_width < 1e-11
    pair = dp.GaussianPair(0, 2, 0, 1)
    assert pair.enclose(dp.RenyiDP(R(13, 10), EPSILON), EPSILON).relative_width < 1e-11


def test_gumbel_renyi() -> None:
    """In u = exp(-x) the integral is that of c**(1 - a) exp(-u (a + (1 - a) c))."""
    alpha = R(3, 2)
    with mp.workdps(DIGITS):
        a = number(alpha)
        values = []
        for shift in (1, -1):  # the two directions
            c = mp.exp(mp.mpf(shift) / 2)
            values.append(mp.log(c ** (1 - a) / (a + (1 - a) * c)) / (a - 1))
        found = additive(dp.noise.Gumbel(2)).enclose(dp.RenyiDP(alpha, EPSILON), EPSILON)
        holds(found, max(values))


def test_zero_is_exact() -> None:
    """From the largest loss on there is nothing left, and no tiny number stands for it."""
    for noise in (dp.noise.Laplace(1), dp.noise.Logistic(1), dp.noise.Geometric(1)):
        for eps in (1, 2):
            assert list(additive(noise).enclose(dp.ApproxDP(eps, DELTA), DELTA)) == [0, 0]


def test_scales_beyond_doubles() -> None:
    tiny, huge = (additive(dp.noise.Gaussian(R(10) ** n)) for n in (-155, 155))
    found = tiny.enclose(dp.ApproxDP(1, DELTA), DELTA)
    assert found.upper == 1
    assert found.lower > 1 - R(1, 10**12)
    with mp.workdps(400):
        true = mp.erf(mp.mpf(10) ** -155 / (2 * mp.sqrt(2)))
        holds(huge.enclose(dp.ApproxDP(0, DELTA), DELTA), true)
    assert tiny.enclose(dp.RenyiDP(2, EPSILON), EPSILON).lower > R(10) ** 309
    assert huge.enclose(dp.RenyiDP(2, EPSILON), EPSILON).upper < R(1, 10**309)
    far = huge.enclose(dp.ApproxDP(1, DELTA), DELTA)
    assert 0 <= far.lower < far.upper < R(1, 10**3000)


def test_smallest_rho() -> None:
    with mp.workdps(DIGITS):
        laplace_noise = additive(dp.noise.Laplace(1)).enclose(dp.ZCDP(RHO), RHO)
        holds(laplace_noise, mp.exp(-1))  # the divergence of order 1
        geometric = additive(dp.noise.Geometric(1)).enclose(dp.ZCDP(RHO), RHO)
        holds(geometric, mp.tanh(mp.mpf(1) / 2))  # that of randomized response
    exact = additive(dp.noise.DiscreteGaussian(3), 2).enclose(dp.ZCDP(RHO), RHO)
    assert list(exact) == [R(4, 18), R(4, 18)]


def test_a_parameter_fails_below_and_holds_above() -> None:
    sigma = sp.Symbol("sigma", positive=True)
    claim = dp.ApproxDP(1, R(1, 10**6))
    found = additive(dp.noise.Gaussian(sigma)).enclose(claim, sigma)
    with mp.workdps(DIGITS):
        assert gaussian(mp.mpf(1), number(found.lower)) > mp.mpf(10) ** -6
        assert gaussian(mp.mpf(1), number(found.upper)) <= mp.mpf(10) ** -6
    assert found.relative_width < R(1, 10**11)


def test_one_way() -> None:
    """Exponential noise: moved to the right it has an infinite loss in one direction only."""
    x = sp.Symbol("x", real=True)
    at = dp.noise.Exponential(1).at
    pair = dp.DensityPair(at(x - 1), at(x), x)
    assert list(pair.enclose(dp.PureDP(EPSILON, one_way=True), EPSILON)) == [1, 1]
    assert list(pair.enclose(dp.PureDP(EPSILON), EPSILON)) == [sp.oo, sp.oo]


def test_numbers_for_symbols() -> None:
    b, e = sp.symbols("b e", positive=True)
    mechanism = additive(dp.noise.Laplace(b))
    given = mechanism.enclose(dp.ApproxDP(e, DELTA), DELTA, where={b: 2, e: 0.25})
    direct_numbers = additive(dp.noise.Laplace(2)).enclose(dp.ApproxDP(0.25, DELTA), DELTA)
    assert given == direct_numbers
    for where, message in (
        ({b: 2}, "every parameter"),
        ({sp.Symbol("b"): 2, e: 1}, "themselves"),
        ({b: -2, e: 1}, "may be"),
        ({b: e, e: 1}, "a number"),
        ([b], "dictionary"),
    ):
        with pytest.raises(dp.InputError, match=message):
            mechanism.enclose(dp.ApproxDP(e, DELTA), DELTA, where=where)


def test_masses_of_what_is_no_distribution() -> None:
    x = sp.Symbol("x", real=True)
    wrong = dp.DensityPair(sp.exp(-(x**2)) / 2, sp.exp(-(x**2)), x)
    with mp.workdps(DIGITS):
        for found, true in zip(masses(wrong), (mp.sqrt(mp.pi) / 2, mp.sqrt(mp.pi)), strict=True):
            holds(found, true)
    endless = dp.DensityPair(1 / (1 + sp.Abs(x)), sp.exp(-sp.Abs(x)) / 2, x)
    assert list(masses(endless)[0]) == [sp.oo, sp.oo]
    narrow = dp.noise.Gaussian(R(1, 1000)).at(x - R(3, 5))  # a peak that sampling misses
    with mp.workdps(DIGITS):
        holds(masses(dp.DensityPair(narrow, narrow, x))[0], mp.mpf(1))


def test_what_it_has_no_method_for() -> None:
    laplace_noise = additive(dp.noise.Laplace(1))
    with pytest.raises(dp.UnsupportedError, match="BoundedRange"):
        laplace_noise.enclose(dp.BoundedRange(EPSILON), EPSILON)
    sigma = sp.Symbol("sigma", positive=True)
    shifted = dp.noise.Shifted(dp.noise.Geometric(1), 3)
    peaks = dp.noise.Mixture([R(1, 3), R(2, 3)], [dp.noise.Geometric(1), shifted])
    with pytest.raises(dp.UnsupportedError, match="which shift"):
        additive(peaks, 100).enclose(dp.ApproxDP(R(1, 2), DELTA), DELTA)
    x = sp.Symbol("x", real=True)
    two_peaks = dp.noise.Density(x**2 * sp.exp(-(x**2)) * 2 / sp.sqrt(sp.pi), x)
    with pytest.raises(dp.UnsupportedError, match="which shift"):
        dp.AdditiveNoise(two_peaks, sigma).enclose(dp.ApproxDP(1, R(1, 2)), sigma)
    with pytest.raises(dp.UnsupportedError, match="bounded"):
        additive(dp.noise.Skellam(4)).enclose(dp.ZCDP(RHO), RHO)
    with pytest.raises(dp.InputError, match="width"):
        laplace_noise.enclose(dp.ApproxDP(1, DELTA), DELTA, width=2)


def test_power_laws_with_an_even_exponent() -> None:
    """By hand: p > e q between the two points where (1 + |y|)/(1 + |y - 1|) is sqrt(e)."""
    x, delta = sp.Symbol("x", real=True), sp.Symbol("delta", positive=True)
    heavy = dp.noise.Density(1 / (2 * (1 + sp.Abs(x)) ** 2), x)
    found = dp.AdditiveNoise(heavy, 1).enclose(dp.ApproxDP(1, delta))
    root = sp.sqrt(sp.E)
    a, b = (2 * root - 1) / (1 + root), 1 / (root - 1)
    near = (1 - 1 / (2 - a)) / 2 + (1 - 1 / b) / 2
    exact = near - sp.E / 2 * (1 / (1 + a) - 1 / (1 + b))
    assert found.lower <= exact.n(40) <= found.upper
    assert found.upper - found.lower < exact.n(40) / 10**12
