"""Bits of a one-hot vector, and relations of composed mechanisms."""

import mpmath as mp
import pytest
import sympy as sp

import dpsym as dp
from dpsym.errors import InputError
from dpsym.mechanisms import UnaryEncoding
from tests.mechanisms.numbers import number, pairs

p, q = sp.symbols("p q", positive=True)
QUARTER = sp.Rational(1, 4)


def test_two_bits_are_a_distribution():
    (pair,) = pairs(UnaryEncoding(QUARTER * 3, sp.Rational(1, 10)))
    for side in ("p", "q"):
        assert sum(getattr(region, side).value for region in pair.regions) == 1


def test_the_loss_counts_two_bits():
    """log(p (1 - q)/((1 - p) q)); for q = 1 - p twice the loss of one bit."""
    where = [p < 1, q < p]
    asymmetric = sp.log(p * (1 - q) / ((1 - p) * q))
    assert isinstance(dp.check(UnaryEncoding(p, q), dp.PureDP(asymmetric), where), dp.Proved)
    half = [p < 1, p > sp.Rational(1, 2)]
    assert isinstance(dp.check(UnaryEncoding(p), dp.PureDP(sp.log(p / (1 - p))), half), dp.Refuted)


def test_losses_by_hand():
    (family,) = UnaryEncoding(sp.Rational(3, 4)).neighbours()
    losses = sorted(number(sp.log(part.p / part.q)) for part in family.parts)
    expected = [-2 * mp.log(3), 0, 0, 2 * mp.log(3)]
    assert all(abs(a - b) < 1e-15 for a, b in zip(losses, expected, strict=True))


@pytest.mark.parametrize(("keep", "flip"), [(2, None), (-1, None), (0.5, 1.5)])
def test_probabilities(keep, flip):
    with pytest.raises(InputError, match=r"^(keep|flip): expected a number in \[0, 1\]"):
        UnaryEncoding(keep, flip)


def laplace(relation):
    return dp.AdditiveNoise(dp.noise.Laplace(1), 1, relation=relation)


def test_relations_do_not_mix():
    both = r"^compose: expected one neighbouring relation .* add/remove for AdditiveNoise.* and "
    with pytest.raises(
        InputError, match=both + r"replace-one for .*; a replacement is one removal"
    ):
        dp.compose(laplace("add/remove"), laplace("replace-one"))
    with pytest.raises(
        InputError, match=r"add/remove for .* and zero-out for VectorGaussian\(.*\)$"
    ):
        dp.compose(
            laplace("add/remove"), dp.VectorGaussian(sigma=1, relation="zero-out"), laplace(None)
        )


def test_one_relation_or_none_is_fine():
    mixed = dp.compose(laplace("zero-out"), laplace(None), dp.PureDP(1), laplace("zero-out"))
    assert len(mixed.parts) == 4
