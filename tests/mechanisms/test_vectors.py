"""Vectors: their reduction to one coordinate."""

import mpmath as mp
import pytest
import sympy as sp

import dpsym as dp
from dpsym.errors import InputError
from dpsym.mechanisms import AdditiveNoise, VectorGaussian, VectorLaplace, noise

sigma, D = sp.symbols("sigma Delta", positive=True)


def one(shift, epsilon):
    """The hockey-stick divergence of Laplace noise of scale 1, from its loss: shift where x <= 0,
    -shift where x >= shift, shift - 2x between."""
    if epsilon >= shift:
        return mp.mpf(0)
    if epsilon <= -shift:
        return 1 - mp.exp(epsilon)
    return 1 - mp.exp((epsilon - shift) / 2)


def two(first, second, epsilon):
    """That of two coordinates: the first one's at epsilon less the loss of the second."""
    kinks = {(second - epsilon + side * first) / 2 for side in (1, -1)}
    cuts = [0, *sorted(kink for kink in kinks if 0 < kink < second), second]
    between = mp.quad(lambda x: mp.exp(-x) / 2 * one(first, epsilon - second + 2 * x), cuts)
    ends = one(first, epsilon - second) / 2
    return ends + between + mp.exp(-second) / 2 * one(first, epsilon + second)


CASES = [
    (mp.mpf(a), mp.mpf(b)) for a, b in [("1", "1"), ("2", "0.5"), ("3", "0.1"), ("0.7", "0.6")]
]


def test_the_divergence_of_one_coordinate_is_that_of_its_densities():
    for shift, epsilon in ((mp.mpf(2), mp.mpf("0.5")), (mp.mpf(1), mp.mpf("-0.3"))):

        def gap(x, shift=shift, epsilon=epsilon):
            p, q = mp.exp(-abs(x)) / 2, mp.exp(-abs(x - shift)) / 2
            return max(p - mp.exp(epsilon) * q, 0)

        kink = (shift - epsilon) / 2
        assert abs(mp.quad(gap, [-mp.inf, 0, kink, shift, mp.inf]) - one(shift, epsilon)) < 1e-13


@pytest.mark.parametrize(("first", "second"), CASES, ids=str)
def test_two_laplace_coordinates_as_the_documentation_says(first, second):
    total = first + second
    for step in range(21):
        epsilon = total * step / 20
        if epsilon <= first - second:
            expected = 1 - mp.exp((epsilon - total) / 2) * (1 + second / 2)
        else:
            expected = 1 - mp.exp((epsilon - total) / 2) * (1 + (total - epsilon) / 4)
        found = two(first, second, epsilon)
        assert abs(found - expected) < 1e-13
        assert found <= one(total, epsilon) + mp.mpf(10) ** -14
        assert two(first, second, -epsilon) <= one(total, -epsilon) + mp.mpf(10) ** -14


def test_vectors_are_their_worst_coordinate_and_say_so():
    laplace, gauss = VectorLaplace(sigma, D), VectorGaussian(sigma, D)
    assert laplace.neighbours() == AdditiveNoise(noise.Laplace(sigma), D).neighbours()
    assert gauss.neighbours() == AdditiveNoise(noise.Gaussian(sigma), D).neighbours()
    multiple = VectorGaussian(noise_multiplier=3, l2_sensitivity=2)
    assert multiple.neighbours() == VectorGaussian(6, 2).neighbours()
    for vector in (laplace, gauss):
        (text,) = vector.assumptions()
        assert "coordinate" in text
    verdict = dp.check(laplace, dp.PureDP(D / sigma))
    assert "taken for granted: independent Laplace coordinates" in str(verdict)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: VectorGaussian(), "^sigma, noise_multiplier: expected exactly one"),
        (lambda: VectorGaussian(1, 1, 1), "^sigma, noise_multiplier: expected exactly one"),
        (lambda: VectorGaussian(1, 0), "^l2_sensitivity: expected a number > 0, got 0$"),
        (lambda: VectorLaplace(1, -1), "^l1_sensitivity: expected a number > 0, got -1$"),
        (lambda: VectorLaplace(0, 1), "^scale: expected a number > 0, got 0$"),
        (lambda: VectorLaplace(1, 1, "add"), "^relation: expected one of"),
    ],
)
def test_what_has_no_meaning_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
