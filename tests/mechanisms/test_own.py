"""A density, masses or a random symbol of the user's own."""

import mpmath as mp
import pytest
import sympy as sp
from sympy import stats

from dpsym.errors import InputError
from dpsym.mechanisms import AdditiveNoise, noise
from tests.mechanisms.numbers import integral, pairs, total

x = sp.Symbol("x", real=True)
n = sp.Symbol("k", integer=True)
b = sp.Symbol("b", positive=True)
HALF = sp.Rational(1, 2)


def test_a_random_symbol_is_its_density():
    density = noise.Density(stats.Laplace("X", 0, b))
    assert density.density == sp.exp(-sp.Abs(density.variable) / b) / (2 * b)
    assert noise.Density(stats.Normal("X", 0, 1)) == noise.Density(stats.Normal("Y", 0, 1))
    assert AdditiveNoise(stats.Normal("X", 0, 2), 1).noise == noise.Density(stats.Normal("X", 0, 2))


@pytest.mark.parametrize(
    ("symbol", "outside"),
    [
        (stats.Exponential("X", 2), -1),
        (stats.Uniform("X", -1, 3), 4),
        (stats.Beta("X", 2, 3), 2),
        (stats.Triangular("X", -1, 1, 0), -2),
    ],
    ids=str,
)
def test_a_density_is_zero_outside_of_its_set(symbol, outside):
    density = noise.Density(symbol)
    assert density.at(sp.Integer(outside)) == 0
    support = symbol.pspace.set
    ends = [end for end in (support.start, support.end) if end.is_finite]
    assert abs(integral(density.density, density.variable, *ends) - 1) < 1e-14


@pytest.mark.parametrize(
    ("symbol", "values"),
    [
        (stats.Poisson("X", 3), {-1: 0, 2: 9 * sp.exp(-3) / 2}),
        (stats.Binomial("X", 3, HALF), {-1: 0, 0: sp.Rational(1, 8), 4: 0}),
        (stats.Die("X", 6), {0: 0, 1: sp.Rational(1, 6), 7: 0}),
        (stats.Geometric("X", HALF), {0: 0, 1: HALF, 3: sp.Rational(1, 8)}),
        (stats.Rademacher("X"), {-1: HALF, 0: 0, 1: HALF}),
        (stats.Hypergeometric("X", 10, 4, 3), {0: sp.Rational(1, 6), 3: sp.Rational(1, 30), 4: 0}),
    ],
    ids=str,
)
def test_masses_of_random_symbols(symbol, values):
    masses = AdditiveNoise(symbol, 1).noise
    assert isinstance(masses, noise.Masses)
    for at, mass in values.items():
        assert sp.simplify(masses.at(sp.Integer(at)) - mass) == 0
    with mp.workdps(30):
        assert abs(total(masses.density, masses.variable, -5, 100) - 1) < mp.mpf(10) ** -20


def test_random_symbols_with_symbols_for_parameters():
    m, p = sp.Symbol("m", integer=True, positive=True), sp.Symbol("p", positive=True)
    masses = AdditiveNoise(stats.Binomial("X", m, p), 1).noise
    assert masses.at(sp.Integer(2)).subs({m: 3, p: HALF}) == sp.Rational(3, 8)
    assert masses.at(sp.Integer(4)).subs({m: 3, p: HALF}) == 0
    (pair,) = pairs(AdditiveNoise(stats.StudentT("X", m), 1))
    assert pair.regions[0].q.vars == {"x", "t", "m"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: noise.Density(stats.Die("X", 6)), "^density: expected a continuous random symbol"),
        (lambda: noise.Masses(stats.Normal("X", 0, 1)), "^masses: expected a random symbol with"),
        (
            lambda: noise.Masses(stats.FiniteRV("X", {HALF: HALF, 1: HALF})),
            "^masses: expected a random symbol with integer values",
        ),
        (
            lambda: AdditiveNoise(stats.Normal("X", [0, 0], [[1, 0], [0, 1]]), 1),
            "^noise: expected noise such as .*on the line",
        ),
        (lambda: AdditiveNoise(stats.Normal("X", 0, 1) + 1, 1), "^noise: expected noise such as"),
        (lambda: AdditiveNoise(sp.exp(-x), 1), "^noise: expected noise such as"),
        (lambda: noise.Density(sp.exp(-b), b), "^variable: expected a symbol that is only real"),
        (lambda: noise.Density(sp.exp(-n), n), "^variable: expected a symbol that is only real"),
        (lambda: noise.Density(sp.exp(-x), "x"), "^variable: expected the symbol"),
        (lambda: noise.Density(sp.exp(-x), sp.I * x), "^variable: expected the symbol"),
        (lambda: noise.Density(-1, x), "^density: expected a density"),
        (lambda: noise.Density("exp(-x)", x), "^density: "),
        (lambda: noise.Density(sp.exp(-sp.Abs(x)), x, 1), "^normalised: expected True or False"),
        (lambda: noise.Masses(HALF**n, x), "^variable: expected a symbol declared with integer"),
        (
            lambda: noise.Masses(HALF**n, sp.Symbol("k", integer=True, positive=True)),
            "^variable: expected a symbol that is only integer",
        ),
        (lambda: noise.Masses(0, n), "^masses: expected a density"),
    ],
)
def test_what_has_no_meaning_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_masses_of_ones_own_with_integer_shifts():
    (pair,) = pairs(AdditiveNoise(noise.Masses(HALF ** sp.Abs(n) / 3, n), 2))
    (region,) = pair.regions
    assert (region.kind, region.output, pair.variables) == ("integer", "k", (("t", "integer"),))
    assert pair.normalised
    (rough,) = pairs(AdditiveNoise(noise.Masses(HALF ** sp.Abs(n), n, normalised=False), 2))
    assert not rough.normalised
