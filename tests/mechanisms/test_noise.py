"""Densities and masses: they sum to 1, and are those of the distributions they are named for."""

import mpmath as mp
import pytest
import sympy as sp
from sympy import stats

from dpsym.errors import InputError
from dpsym.mechanisms import AdditiveNoise, noise
from dpsym.mechanisms.noise import NOISES
from tests.mechanisms.numbers import DIGITS, function, integral, number, total

x, k = noise.Noise.variable, noise.Geometric.variable
HALF, THIRD = sp.Rational(1, 2), sp.Rational(1, 3)
EPSILON = mp.mpf(10) ** -20

REAL = [
    (noise.Gaussian(HALF), ()),
    (noise.Gaussian(7), ()),
    (noise.Laplace(THIRD), ()),
    (noise.Laplace(5), ()),
    (noise.TruncatedLaplace(2, 3), (-3, 3)),
    (noise.TruncatedLaplace(HALF, 10), (-10, 10)),
    (noise.Exponential(3), ()),
    (noise.Logistic(2), ()),
    (noise.Uniform(THIRD), (-THIRD, THIRD)),
    (noise.Triangular(4), (-4, 4)),
    (noise.StudentT(3, 2), ()),
    (noise.StudentT(5 * HALF, 1), ()),
    (noise.Cauchy(2), ()),
    (noise.Shifted(noise.Laplace(1), 2), (2,)),
    (noise.Mixture([THIRD, 2 * THIRD], [noise.Laplace(1), noise.Gaussian(2)]), ()),
]
INTEGER = [
    noise.Geometric(2),
    noise.Geometric(THIRD),
    noise.TruncatedGeometric(3, 4),
    noise.TruncatedGeometric(HALF, 1),
    noise.RoundedLaplace(2),
    noise.RoundedLaplace(THIRD),
    noise.Skellam(3),
    noise.Skellam(HALF),
    noise.Poisson(4),
    noise.Binomial(6, HALF / 2),
    noise.Binomial(1, 0),
    noise.Shifted(noise.Poisson(1), 3),
    noise.Mixture([HALF, HALF], [noise.Geometric(1), noise.Poisson(2)]),
]


@pytest.mark.parametrize(("kind", "kinks"), REAL, ids=lambda item: repr(item))
def test_a_density_integrates_to_1(kind, kinks):
    with mp.workdps(DIGITS):
        assert abs(integral(kind.density, kind.variable, *kinks) - 1) < EPSILON


def test_gumbels_density_integrates_to_1():
    """Beyond these ends there is less than 1e-30: e^-(e^14) below, e^-80 above."""
    kind = noise.Gumbel(HALF)
    with mp.workdps(DIGITS):
        found = integral(kind.density, kind.variable, -1, 2, 6, low=-7, high=40)
        assert abs(found - 1) < EPSILON


@pytest.mark.parametrize("kind", INTEGER, ids=repr)
def test_masses_sum_to_1(kind):
    with mp.workdps(DIGITS):
        assert abs(total(kind.density, kind.variable) - 1) < EPSILON


def test_every_noise_of_parameters_is_among_these():
    """All that are normalised, but for two with tests of their own."""
    tested = {type(kind).__name__ for kind in (*(kind for kind, _ in REAL), *INTEGER)}
    left = {"Staircase", "Gumbel", "DiscreteGaussian", "GeneralizedCauchy", "Density", "Masses"}
    assert tested | left == set(NOISES)
    assert not tested & left


def test_a_staircase_integrates_to_1():
    stairs = noise.Staircase(epsilon=1, gamma=THIRD, width=2)
    f = function(stairs.density, stairs.variable)
    with mp.workdps(DIGITS):
        steps = [f(0) * 2 * mp.mpf(2) / 3]  # from -gamma width to gamma width
        steps += [f((j - mp.mpf(1) / 3) * 2) * 2 * 2 for j in range(1, 80)]  # mid-step, two sides
        assert abs(mp.fsum(steps) - 1) < EPSILON
        assert abs(f(mp.mpf("0.66")) / f(mp.mpf("0.67")) - mp.e) < EPSILON  # the edge at 2/3


def of_stats(symbol, at):
    return sp.N(stats.density(symbol)(at), DIGITS)


@pytest.mark.parametrize(
    ("kind", "symbol"),
    [
        (noise.Gaussian(3), stats.Normal("X", 0, 3)),
        (noise.Laplace(3), stats.Laplace("X", 0, 3)),
        (noise.Logistic(3), stats.Logistic("X", 0, 3)),
        (noise.Gumbel(3), stats.Gumbel("X", 3, 0)),
        (noise.Cauchy(3), stats.Cauchy("X", 0, 3)),
        (noise.StudentT(3, 1), stats.StudentT("X", 3)),
        (noise.Exponential(3), stats.Exponential("X", THIRD)),
        (noise.Triangular(3), stats.Triangular("X", -3, 3, 0)),
        (noise.Poisson(3), stats.Poisson("X", 3)),
        (noise.Skellam(3), stats.Skellam("X", 3 * HALF, 3 * HALF)),
        (noise.Binomial(5, THIRD), stats.Binomial("X", 5, THIRD)),
    ],
    ids=lambda item: repr(item),
)
def test_the_values_of_sympys_distributions(kind, symbol):
    for at in (0, 1, 2) if kind.integer else (HALF, 1, sp.Rational(9, 4)):
        with mp.workdps(DIGITS):
            assert abs(number(kind.at(sp.sympify(at))) - number(of_stats(symbol, at))) < EPSILON


def test_discrete_gaussian_and_generalized_cauchy_leave_out_their_factor():
    gauss = noise.DiscreteGaussian(2)
    ratio = gauss.at(sp.Integer(1)) / gauss.at(sp.Integer(0))
    assert ratio == sp.exp(sp.Rational(-1, 8)) and not gauss.normalised
    heavy = noise.GeneralizedCauchy(sp.Symbol("c", positive=True), 2)
    assert heavy.at(sp.Integer(0)) == 1 and not heavy.normalised
    assert noise.GeneralizedCauchy(4, 2).at(sp.Integer(2)) == HALF


def test_rounded_laplace_is_not_geometric():
    """Mass at 0: 1 - e^(-1/2) against (1 - e^-1)/(1 + e^-1)."""
    assert noise.RoundedLaplace(1).at(sp.Integer(0)) == 1 - sp.exp(-HALF)
    at_zero = noise.Geometric(1).at(sp.Integer(0))
    assert abs(float(at_zero) - 0.46211715726) < 1e-11
    rounded = [float(noise.RoundedLaplace(1).at(sp.Integer(j))) for j in (1, 2)]
    assert abs(rounded[0] / rounded[1] - 2.718281828459) < 1e-11


def test_the_loss_of_cauchy_noise_at_its_worst_output():
    """It is 2 arsinh(Delta/(2 s)) at the output (Delta - sqrt(Delta^2 + 4 s^2))/2."""
    size, scale = 3, 2
    kind = noise.Cauchy(scale)
    at = (size - sp.sqrt(size**2 + 4 * scale**2)) / 2
    loss = sp.N(sp.log(kind.at(at) / kind.at(at - size)), 25)
    assert abs(loss - sp.N(2 * sp.asinh(sp.Rational(size, 2 * scale)), 25)) < 1e-22
    (guarantee,) = kind.suggested(sp.Integer(size))
    assert abs(loss - sp.N(guarantee.epsilon, 25)) < 1e-22
    f = function(kind.density, x)
    losses = [mp.log(f(mp.mpf(j) / 10) / f(mp.mpf(j) / 10 - size)) for j in range(-200, 200)]
    assert max(losses) <= float(loss) + 1e-12


def test_sigma_and_noise_multiplier_are_two_arguments():
    assert AdditiveNoise(noise.Gaussian(noise_multiplier=3), 2) == AdditiveNoise(
        noise.Gaussian(sigma=6), 2
    )
    for given in ({}, {"sigma": 1, "noise_multiplier": 1}):
        with pytest.raises(InputError, match=r"^sigma, noise_multiplier: expected exactly one"):
            noise.Gaussian(**given)
    with pytest.raises(InputError, match=r"^sigma: .*got a multiple of it"):
        noise.Gaussian(noise_multiplier=1).at(x)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: noise.Laplace(0), "^scale: expected a number > 0, got 0$"),
        (lambda: noise.Laplace(-2), "^scale: "),
        (lambda: noise.Laplace(stats.Normal("X", 0, 1)), "^scale: expected a parameter"),
        (lambda: noise.Gaussian(-1), "^sigma: expected a number > 0, got -1$"),
        (lambda: noise.StudentT(0, 1), "^degrees: expected a number > 0"),
        (lambda: noise.GeneralizedCauchy(1, 1), "^exponent: expected a number > 1, got 1$"),
        (lambda: noise.Staircase(1, 2), r"^gamma: expected a number in \[0, 1\], got 2$"),
        (lambda: noise.Binomial(2.5, HALF), "^trials: expected an integer >= 1"),
        (lambda: noise.Binomial(0, HALF), "^trials: "),
        (lambda: noise.Binomial(2, 2), r"^probability: expected a number in \[0, 1\], got 2$"),
        (lambda: noise.TruncatedGeometric(1, HALF), "^bound: expected an integer"),
        (lambda: noise.Shifted(noise.Poisson(1), HALF), "^by: expected an integer"),
        (lambda: noise.Shifted(3, 1), "^noise: expected noise such as"),
        (lambda: noise.Mixture([], []), "^weights: expected a list"),
        (lambda: noise.Mixture([1], []), "^components: expected a list"),
        (lambda: noise.Mixture([1], [noise.Laplace(1)] * 2), "^weights: expected 2 weights"),
        (
            lambda: noise.Mixture([HALF, THIRD], [noise.Laplace(1)] * 2),
            "^weights: expected probabilities that sum to 1",
        ),
        (
            lambda: noise.Mixture([HALF, HALF], [noise.Laplace(1), noise.Poisson(1)]),
            "^components: expected noise on the real line, or",
        ),
        (
            lambda: noise.Mixture([1], [noise.DiscreteGaussian(1)]),
            "^components: expected distributions with normalised",
        ),
    ],
)
def test_what_is_no_noise_is_refused_at_once(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_mixture_with_symbolic_weights_has_obligations():
    a = sp.Symbol("a", real=True)
    mixed = noise.Mixture([a, 1 - a], [noise.Laplace(1), noise.Gaussian(1)])
    facts = AdditiveNoise(mixed, 1).obligations()
    assert sp.Ge(a, 0, evaluate=False) in facts and len(facts) == 3
    assert noise.Mixture([HALF, HALF], [noise.Laplace(1)] * 2).obligations() == ()


def test_hypotheses_are_the_domains():
    n, p = sp.Symbol("n", integer=True), sp.Symbol("p", real=True)
    assert set(noise.Binomial(n, p).hypotheses()) == {
        sp.Ge(n, 1, evaluate=False),
        sp.Ge(p, 0, evaluate=False),
        sp.Le(p, 1, evaluate=False),
    }
    c = sp.Symbol("c", real=True)
    assert sp.Gt(c, 1, evaluate=False) in noise.GeneralizedCauchy(c, 1).hypotheses()
