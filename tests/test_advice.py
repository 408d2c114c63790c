"""What an Unknown says: why it stopped in words, what is left, and what may help."""

from __future__ import annotations

import pytest
from sympy import Rational, Symbol, exp, log, symbols

import dpsym as dp

e, rho, x, y = symbols("epsilon rho x y", positive=True)
delta = Symbol("delta", nonnegative=True)
GAUSS = dp.AdditiveNoise(dp.noise.Gaussian(sigma=x), sensitivity=1)
LAPLACE = dp.AdditiveNoise(dp.noise.Laplace(scale=x), sensitivity=1)


def unknown(found: object) -> dp.Unknown:
    assert isinstance(found, dp.Unknown), found
    assert found.reason
    text = str(found)
    assert [line for line in text.splitlines() if line.startswith("  what may help: ")] == [
        f"  what may help: {item}" for item in found.advice
    ]
    first = found.statement.splitlines()[0]
    assert text.count(first) == 1  # the claim is said once
    return found


def test_a_premise_that_is_missing():
    found = unknown(dp.bound(dp.MomentBound(lambda loss: loss**2, e), dp.ZCDP(x), x))
    assert found.advice[0] == (
        "a guarantee from which ZCDP follows, by dp.both(A, B): PureDP, BoundedRange, GDP or ZCDP, "
        "as MomentBound is not enough"
    )
    two = dp.compose(dp.PureDP(1), dp.MomentBound(lambda loss: loss**2, 3))
    found = unknown(dp.bound(two, dp.RenyiDP(2, x), x))
    assert found.advice[0].startswith("a guarantee of stage 2 from which RenyiDP follows")


def test_what_is_given_is_no_premise_that_is_missing():
    found = unknown(dp.check(dp.compose(dp.GDP(rho), dp.PureDP(e)), dp.GDP(rho + e), budget=1))
    assert not any("dp.both" in item for item in found.advice)


def test_an_explicit_mechanism_in_a_composition():
    found = unknown(dp.check(dp.compose(LAPLACE, GAUSS), dp.GDP(2 / x), budget=1))
    assert any(item.startswith("in place of an explicit mechanism") for item in found.advice)


def test_a_term_that_is_undefined_somewhere():
    with pytest.raises(dp.InputError, match=r"undefined at epsilon = .* needs epsilon >= 2"):
        dp.check(dp.PureDP(e), dp.PureDP(e + (e - 2) ** Rational(1, 2)), budget=1)


def test_a_budget_that_is_too_small():
    found = unknown(dp.check(dp.BoundedRange(e), dp.ZCDP(e**2 / 9 + e**3), budget=0.2))
    assert "the budget is used up" in found.reason
    assert "a larger budget than these 0.2 seconds" in found.advice


def test_a_formula_that_is_too_large():
    many = symbols("a:7", positive=True)
    found = unknown(dp.check(dp.PureDP(sum(many) ** 9), dp.PureDP(sum(many) ** 40 - 1), budget=1))
    assert "canonical form" not in found.reason
    assert any("a shorter claim" in item for item in found.advice)


def test_nothing_false_is_left_to_prove():
    """One step on the way would need e^(1/2) >= 2."""
    table = dp.Table([[Rational(1, 2)] * 2, [Rational(1, 4), Rational(3, 4)]])
    found = unknown(dp.check(dp.group(table, 2), dp.PureDP(Rational(1, 2))))
    assert "left to prove" not in str(found)
    assert found.reason == "what the theorems that were tried give is not enough for the claim"


def test_numbers_for_an_explicit_mechanism():
    heavy = dp.AdditiveNoise(dp.noise.StudentT(degrees=3, scale=1), sensitivity=1)
    found = unknown(dp.check(heavy, dp.ApproxDP(1, Rational(1, 30)), budget=1))
    assert any("enclose()" in item for item in found.advice)


def test_an_inequality():
    found = unknown(
        dp.check_inequality(exp(x) * log(1 + x**2 * y), 40 * exp(x * y + x**2 + y**2), budget=0.01)
    )
    assert found.advice[0].startswith("hints for what is left")


def test_bound():
    found = unknown(dp.bound(dp.subsample(GAUSS, Rational(1, 2)), dp.ZCDP(e), e, budget=2))
    assert "no formula of the literature" in found.reason
    found = unknown(dp.bound(dp.compose(dp.GDP(1), dp.PureDP(1)), dp.ZCDP(e), e, budget=2))
    assert "only for a single stage" in found.reason
    assert found.advice[-1].startswith("check with a value")


@pytest.mark.parametrize(
    ("subject", "claim", "line"),
    [
        (dp.TCDP(rho, 5), dp.PureDP(rho), "TCDP(1/2, 5), by orders 1 = a_0 < a_1"),
        (dp.TCDP(rho, 5), dp.ZCDP(rho), "TCDP(1/5, 5), by orders 1 = a_0 < a_1"),
        (dp.GDP(1), dp.ApproxDP(1, Rational(1, 10)), "GDP(1), by the sets S of outcomes"),
    ],
)
def test_how_a_witness_has_a_guarantee_of_all_orders(subject, claim, line):
    found = dp.check(subject, claim)
    assert isinstance(found, dp.Refuted)
    assert line in found.witness.text()
    assert found.witness.script()
