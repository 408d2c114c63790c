"""Densities that no factor makes distributions are refused: nothing about them has a meaning."""

from __future__ import annotations

import pytest
import sympy as sp

import dpsym as dp
from dpsym import noise
from dpsym.errors import InputError

x = sp.Symbol("x", real=True)
k = sp.Symbol("k", integer=True)
c = sp.Symbol("c", positive=True)
epsilon = sp.Symbol("epsilon", nonnegative=True)
TWO_FACTORS = [  # masses 1/2 and 3; 3/2 and 4; 2 and 2 c
    dp.DensityPair(sp.exp(-2 * x), 3 * sp.exp(-x), x, sp.Interval(0, sp.oo), normalised=False),
    dp.PMFPair(
        sp.Rational(1, 3) ** k,
        2 * sp.Rational(1, 2) ** k,
        k,
        sp.Interval(0, sp.oo),
        normalised=False,
    ),
    dp.DensityPair(sp.exp(-sp.Abs(x)), c * sp.exp(-sp.Abs(x)), x, sp.Reals, normalised=False),
]
INFINITE = [
    dp.AdditiveNoise(noise.Density(1 / (1 + sp.Abs(x)), x, normalised=False), 1),
    dp.AdditiveNoise(noise.Density(1 + 0 * x, x, normalised=False), 1),
]


@pytest.mark.parametrize("mechanism", [*TWO_FACTORS, *INFINITE], ids=repr)
def test_nothing_is_settled(mechanism: dp.DensityPair) -> None:
    with pytest.raises(InputError, match="normalised"):
        dp.check(mechanism, dp.PureDP(sp.log(1 + c)), [c > 1])


@pytest.mark.parametrize("mechanism", TWO_FACTORS[:2], ids=repr)
@pytest.mark.parametrize("claim", [dp.PureDP(epsilon), dp.RenyiDP(2, epsilon, one_way=True)])
def test_no_number_is_given(mechanism: dp.DensityPair, claim: dp.PureDP) -> None:
    with pytest.raises(InputError, match="normalised"):
        mechanism.enclose(claim)


TWICE = dp.AdditiveNoise(noise.Density(sp.exp(-sp.Abs(x)), x), 1)  # of mass 2
BELOW = dp.AdditiveNoise(noise.Density((1 - x**2) * sp.exp(-sp.Abs(x)), x), 1)


@pytest.mark.parametrize(
    "mechanism", [TWICE, BELOW, TWO_FACTORS[0]], ids=["mass", "sign", "factors"]
)
@pytest.mark.parametrize(
    "made",
    [
        lambda one: dp.repeat(one, 2),
        lambda one: dp.parallel(dp.PureDP(1), one),
        lambda one: dp.subsample(one, sp.Rational(1, 2)),
        lambda one: dp.group(one, 2),
        lambda one: dp.compose(dp.PureDP(1), dp.repeat(dp.parallel(one, one), k)),
    ],
    ids=["copies", "parts", "sample", "group", "deeper"],
)
def test_nor_deep_inside_of_a_subject(mechanism: dp.DensityPair, made) -> None:
    claim = dp.ApproxDP(0, sp.Rational(1, 2))
    with pytest.raises(InputError, match=r"density|normalised"):
        dp.check(made(mechanism), claim, [k >= 1, c > 1], budget=5)
    with pytest.raises(InputError, match=r"density|normalised"):
        dp.bound(made(mechanism), dp.ApproxDP(0, epsilon), epsilon, [k >= 1], budget=5)


def test_one_factor_is_enough() -> None:
    laws = [3 * sp.exp(-sp.Abs(x - shift)) for shift in (0, 1)]
    pair = dp.DensityPair(*laws, x, sp.Reals, normalised=False)
    assert isinstance(dp.check(pair, dp.PureDP(1)), dp.Proved)
    assert pair.enclose(dp.PureDP(epsilon)).upper >= 1
