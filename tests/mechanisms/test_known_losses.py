"""The largest privacy loss of explicit mechanisms, where it is known exactly: a claim of it is
proved, a claim of a thousandth less is refuted.

The values are elementary: the ratio at the output that is named, and no output has a larger one.
"""

import pytest
import sympy as sp

import dpsym as dp
from dpsym.mechanisms import (
    AdditiveNoise,
    DensityPair,
    ExponentialMechanism,
    PMFPair,
    RandomizedResponse,
    Table,
    UnaryEncoding,
    noise,
)

x = sp.Symbol("x", real=True)
k = sp.Symbol("k", integer=True)
e = sp.Symbol("epsilon", positive=True)
HALF, LESS = sp.Rational(1, 2), sp.Rational(999, 1000)


def bounded_laplace(width, scale, first, second):
    """Laplace noise around each answer, drawn again until it lies in [0, width]."""

    def density(center):
        inside = 1 - (sp.exp(-center / scale) + sp.exp(-(width - center) / scale)) / 2
        return sp.exp(-sp.Abs(x - center) / scale) / (2 * scale * inside)

    first, second = sp.sympify(first), sp.sympify(second)
    return DensityPair(density(first), density(second), x, sp.Interval(0, width))


EXACT = [
    # output at or below both answers
    (AdditiveNoise(noise.Laplace(HALF), 2), sp.Integer(4)),
    (AdditiveNoise(noise.Laplace(sp.Rational(1, 100)), HALF), sp.Integer(50)),
    (AdditiveNoise(noise.Laplace(1), 100), sp.Integer(100)),
    (AdditiveNoise(noise.Geometric(2), 3), 3 * HALF),
    (AdditiveNoise(noise.RoundedLaplace(2), 3), 3 * HALF),
    # output 0: 1/2, and the logarithm of the two normalisers' ratio
    (bounded_laplace(1, 1, 0, HALF), HALF + sp.log(2 / (1 + sp.exp(-HALF)))),
    # the second output
    (
        Table(
            [[sp.Rational(15, 16), sp.Rational(1, 16)], [sp.Rational(3, 16), sp.Rational(13, 16)]]
        ),
        sp.log(13),
    ),
    (Table([[HALF, HALF], [1 - sp.exp(-2) / 2, sp.exp(-2) / 2]]), sp.Integer(2)),
    # candidate 1, weights e^(u/2): zeros against (-1, 1, ..., 1)
    (ExponentialMechanism([[0] * 10, [-1] + [1] * 9], 1), sp.log((1 + 9 * sp.E) / 10)),
    # weights e^(u/4), scores (0, 0) against (4, -4)
    (ExponentialMechanism([[0, 0], [4, -4]], 2, sensitivity=4), sp.log((1 + sp.exp(2)) / 2)),
    (RandomizedResponse(sp.log(7), 5), sp.log(7)),
    (UnaryEncoding(sp.Rational(3, 4), HALF), sp.log(3)),
    # the last output, k = 4, where the ratio (3/2)^(k + 1)/2 is largest
    (
        PMFPair(
            HALF ** (k + 1),
            sp.Rational(31 * 243, 16 * 242) * sp.Rational(1, 3) ** (k + 1),  # as much on 0, ..., 4
            k,
            sp.Interval(0, 4),
            normalised=False,
        ),
        sp.log(sp.Rational(121, 31)),
    ),
]


@pytest.mark.parametrize(("mechanism", "loss"), EXACT, ids=lambda item: repr(item)[:60])
def test_the_largest_loss(mechanism, loss):
    proof = dp.check(mechanism, dp.PureDP(loss), budget=20)
    assert isinstance(proof, dp.Proved), proof
    assert isinstance(dp.check(mechanism, dp.PureDP(loss * LESS), budget=20), dp.Refuted)


INFINITE = [
    AdditiveNoise(noise.Uniform(10), 1),
    AdditiveNoise(noise.Triangular(10), 1),
    AdditiveNoise(noise.Exponential(1), 1),
    AdditiveNoise(noise.TruncatedLaplace(1, 20), 1),
    AdditiveNoise(noise.TruncatedGeometric(1, 20), 1),
    AdditiveNoise(noise.Poisson(10), 1),
    AdditiveNoise(noise.Gaussian(10), 1),
    AdditiveNoise(noise.DiscreteGaussian(10), 1),
    AdditiveNoise(noise.Gumbel(1), 1),
    Table([[1, 0], [0, 1]]),
    Table([[sp.Rational(1, 4)] * 4, [HALF, 0, HALF, 0]]),
    # the pattern (no, yes) of a sparse vector without query noise has probability 0
    Table(
        [
            [(1 - sp.exp(-HALF)) / 2, sp.exp(-HALF) / 2, HALF],
            [0, sp.exp(-HALF) / 2, 1 - sp.exp(-HALF) / 2],
        ]
    ),
]


@pytest.mark.parametrize("mechanism", INFINITE, ids=lambda item: repr(item)[:60])
def test_losses_that_no_constant_bounds(mechanism):
    assert isinstance(dp.check(mechanism, dp.PureDP(50), budget=20), dp.Refuted)
