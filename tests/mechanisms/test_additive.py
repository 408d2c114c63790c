"""Additive noise: shifts, integer sensitivities, relations, staircases."""

from itertools import pairwise

import mpmath as mp
import pytest
import sympy as sp

import dpsym as dp
from dpsym.errors import InputError, UnsupportedError
from dpsym.mechanisms import AdditiveNoise, noise
from tests.mechanisms.numbers import function, hockey_stick, pairs

b, D = sp.symbols("b Delta", positive=True)
n = sp.Symbol("n", integer=True, positive=True)
HALF = sp.Rational(1, 2)


@pytest.mark.parametrize(
    ("kind", "sensitivity"),
    [
        (noise.Geometric(1), HALF),
        (noise.Geometric(1), 1.5),
        (noise.DiscreteGaussian(1), sp.sqrt(2)),
        (noise.Poisson(1), D),
    ],
)
def test_noise_on_the_integers_needs_an_integer_sensitivity(kind, sensitivity):
    with pytest.raises(
        InputError, match=r"^sensitivity: expected an integer, or a symbol declared"
    ):
        AdditiveNoise(kind, sensitivity)
    assert AdditiveNoise(kind, n).sensitivity is n


def test_integer_noise_has_integer_outputs_and_shifts():
    (pair,) = pairs(AdditiveNoise(noise.Geometric(b), n))
    assert pair.variables == (("t", "integer"),) and pair.regions[0].kind == "integer"
    (pair,) = pairs(AdditiveNoise(noise.Laplace(b), n))
    assert pair.variables == (("t", "real"),) and pair.regions[0].kind == "real"


def test_an_unknown_constant_factor_is_said():
    (pair,) = pairs(AdditiveNoise(noise.DiscreteGaussian(b), 1))
    assert not pair.normalised


def test_what_the_kernel_cannot_read_says_what_can_be_done():
    with pytest.raises(UnsupportedError, match=r"besseli is not in the language.*enclose\(\)"):
        pairs(AdditiveNoise(noise.Skellam(b), 1))


def test_relations_are_names():
    assert AdditiveNoise(noise.Laplace(1), 1, "zero-out").relation == "zero-out"
    for bad in ("bounded", 3, True):
        with pytest.raises(InputError, match=r"^relation: expected one of add/remove, replace-one"):
            AdditiveNoise(noise.Laplace(1), 1, relation=bad)


@pytest.mark.parametrize(
    ("subject", "epsilon"),
    [
        (AdditiveNoise(noise.Logistic(b), D), D / b),
        (AdditiveNoise(noise.Geometric(b), n), n / b),
        (dp.VectorLaplace(b, D), D / b),
        (AdditiveNoise(noise.Staircase(b, HALF), D), b),
    ],
    ids=repr,
)
def test_pure_guarantees_for_all_parameters(subject, epsilon):
    assert isinstance(dp.check(subject, dp.PureDP(epsilon)), dp.Proved)
    assert isinstance(dp.check(subject, dp.PureDP(epsilon / 2)), dp.Refuted)


@pytest.mark.parametrize(
    "kind",
    [noise.Uniform(2), noise.Exponential(1), noise.TruncatedLaplace(1, 3), noise.Binomial(4, HALF)],
    ids=repr,
)
def test_noise_on_a_bounded_set_has_no_pure_guarantee(kind):
    assert isinstance(dp.check(AdditiveNoise(kind, 1), dp.PureDP(20)), dp.Refuted)


# --- staircases -----------------------------------------------------------------------------------

GAMMAS = (sp.Rational(1, 5), HALF, sp.Rational(9, 10), sp.Integer(0), sp.Integer(1))


@pytest.mark.parametrize("gamma", GAMMAS, ids=str)
def test_a_staircase_by_its_steps_is_its_density(gamma):
    """The hockey-stick divergence from the steps, against an integral of the densities."""
    mechanism = AdditiveNoise(noise.Staircase(1, gamma), 1)
    (family,) = mechanism.neighbours()
    f = function(mechanism.noise.density, mechanism.noise.variable)
    for shift in (sp.Rational(1, 10), sp.Rational(7, 10), sp.Integer(1)):
        t, last = mp.mpf(shift.p) / shift.q, 60
        edges = {j + g for j in range(-last, last) for g in (gamma, -gamma)}
        cuts = sorted(mp.mpf(edge.p) / edge.q for edge in {*edges, *(e + shift for e in edges)})
        middles = [((low + high) / 2, high - low) for low, high in pairwise(cuts)]
        for epsilon in (mp.mpf(0), mp.mpf("0.4"), mp.mpf("-0.4")):
            direct = mp.fsum(
                length * max(f(x) - mp.exp(epsilon) * f(x - t), 0) for x, length in middles
            )
            assert abs(hockey_stick(family, epsilon, shift) - direct) < 1e-12


def test_the_hockey_stick_divergence_of_a_staircase_by_hand():
    """At width and shift 1, gamma = 1/2: f(x) is e f(x - 1) for x < 1/2 and less beyond, so that
    H = P(X < 1/2) (1 - e^(e' - 1))."""
    (family,) = AdditiveNoise(noise.Staircase(1, HALF), 1).neighbours()
    top = (1 - mp.exp(-1)) / (1 + mp.exp(-1))
    above = top * mp.exp(-1) / (1 - mp.exp(-1))  # the steps of length 1 to the right of 1/2
    for epsilon in (mp.mpf(0), mp.mpf("0.5")):
        expected = (1 - above) * (1 - mp.exp(epsilon - 1))
        assert abs(hockey_stick(family, epsilon, 1) - expected) < 1e-13


def test_a_staircase_is_as_wide_as_the_sensitivity_at_least():
    assert AdditiveNoise(noise.Staircase(1, HALF), 3).noise.width == 3
    assert AdditiveNoise(noise.Staircase(1, HALF, width=4), 3).noise.width == 4
    with pytest.raises(InputError, match=r"^width: expected at least the sensitivity 3, got 2$"):
        AdditiveNoise(noise.Staircase(1, HALF, width=2), 3)
    with pytest.raises(InputError, match=r"^width: .*got none"):
        noise.Staircase(1, HALF).at(sp.Integer(0))
