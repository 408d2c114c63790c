"""The part of the data that has the record may depend on the earlier outputs, as where an analyst
chooses how to divide the data: a case for each part covers the first stage alone."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

import dpsym as dp

# e^epsilon is 3; randomized response, and a table with (0, 1/4)-DP
RESPONSE = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
REVEALING = (
    (Fraction(3, 4), Fraction(3, 4)),
    (Fraction(1, 4), Fraction(0)),
    (Fraction(0), Fraction(1, 4)),
)
LOSS = sp.log(3)
FIRST, PURE, APPROX = dp.PureDP(LOSS), dp.PureDP(LOSS), dp.ApproxDP(0, sp.Rational(1, 4))


def mass(chosen) -> Fraction:
    """The hockey-stick divergence of order 3, where the first output chooses the second pair."""
    joint = (
        (p * x, q * y) for (p, q), second in zip(RESPONSE, chosen, strict=True) for x, y in second
    )
    return sum((max(p - 3 * q, Fraction(0)) for p, q in joint), Fraction(0))


ADAPTIVE = mass((RESPONSE, REVEALING))
FIXED = max(mass((RESPONSE,) * 2), mass((REVEALING,) * 2))


def test_choosing_by_the_first_output_is_worse():
    assert ADAPTIVE > FIXED


@pytest.mark.parametrize(
    "subject",
    [
        dp.compose(FIRST, dp.parallel(PURE, APPROX)),
        dp.compose(dp.parallel(FIRST, FIRST), dp.parallel(PURE, APPROX)),
        dp.compose(FIRST, dp.subsample(dp.parallel(PURE, APPROX), 1)),
        dp.repeat(dp.parallel(PURE, APPROX), 2),
    ],
    ids=str,
)
def test_no_less_is_proved_than_the_parts_in_turn(subject):
    between = (ADAPTIVE + FIXED) / 2
    claim = dp.ApproxDP(LOSS, sp.Rational(between.numerator, between.denominator))
    assert not isinstance(dp.check(subject, claim, budget=3), dp.Proved)


def test_what_all_parts_have_is_proved():
    subject = dp.compose(FIRST, dp.parallel(PURE, APPROX))
    claim = dp.ApproxDP(2 * LOSS, sp.Rational(1, 4))
    assert isinstance(dp.check(subject, claim), dp.Proved)
