"""Closed forms for geometric noise: symbolic shifts, and all cases of epsilon."""

import mpmath as mp
import pytest
import sympy as sp

from dpsym.mechanisms import AdditiveNoise, noise

b, alpha = sp.symbols("b alpha", positive=True)
n = sp.Symbol("n", integer=True, positive=True)
eps = sp.Symbol("epsilon", real=True)


def _mass(scale, k):
    r = mp.exp(-1 / mp.mpf(scale))
    return (1 - r) / (1 + r) * r ** abs(k)


def _summed(function, scale, shift):
    pairs = ((_mass(scale, k), _mass(scale, k - shift)) for k in range(-400, 400))
    return mp.fsum(function(p, q) for p, q in pairs)


@pytest.mark.parametrize(
    ("side", "points"),
    [
        ([alpha > 1], [(1, 3, 2), (2, 7, 1.25), (0.5, 1, 3)]),
        ([alpha < 1, alpha > sp.Rational(1, 2)], [(2.5, 2, 0.75), (1, 4, 0.9)]),
    ],
)
def test_the_renyi_divergence_at_a_symbolic_shift(side, points):
    found = AdditiveNoise(noise.Geometric(b), n).renyi(alpha, side)
    for scale, shift, order in points:
        total = _summed(lambda p, q, a=order: p**a * q ** (1 - a), scale, shift)
        value = found.value.subs({b: scale, n: shift, alpha: order}).evalf(20)
        assert abs(value - mp.log(total) / (order - 1)) < 1e-12
    assert found.lower is not None


def test_the_hockey_stick_divergence_at_shift_one_for_every_epsilon():
    found = AdditiveNoise(noise.Geometric(b), 1).hockey_stick(eps)
    assert len(found.value.args) == 3  # below -1/b, above 1/b, between
    for scale in (0.5, 2):
        for epsilon in (-3, -0.5, -0.1, 0, 0.3, 0.5, 1.9, 2.5):
            total = _summed(lambda p, q, e=epsilon: max(p - mp.exp(e) * q, 0), scale, 1)
            value = found.value.subs({b: scale, eps: epsilon}).evalf(20)
            assert abs(value - total) < 1e-12
