"""What ``dp.bound`` refuses, and what it says when it has no answer."""

from __future__ import annotations

import pytest
from sympy import Rational, Symbol, exp, oo, symbols

import dpsym as dp

DELTA = Symbol("delta", nonnegative=True)
EPSILON = Symbol("epsilon", nonnegative=True)
CLAIM = dp.ApproxDP(1, DELTA)


@pytest.mark.parametrize(
    ("subject", "claim", "symbol", "argument"),
    [
        ([], CLAIM, DELTA, "subject"),
        ("PureDP(1)", CLAIM, DELTA, "subject"),
        ([dp.PureDP(1), "PureDP(1)"], CLAIM, DELTA, "both"),
        (dp.PureDP(1), "ApproxDP(1, delta)", DELTA, "claim"),
        (dp.PureDP(1), dp.both(CLAIM, dp.PureDP(2)), DELTA, "claim"),
        (dp.PureDP(1), CLAIM, "delta", "solve_for"),
        (dp.PureDP(1), CLAIM, EPSILON, "solve_for"),
        (dp.PureDP(1), dp.ApproxDP(1, 0), DELTA, "solve_for"),
        (dp.PureDP(DELTA), CLAIM, DELTA, "solve_for"),
    ],
)
def test_refused(subject, claim, symbol, argument):
    with pytest.raises(dp.InputError) as caught:
        dp.bound(subject, claim, symbol)
    assert caught.value.argument == argument


def test_a_symbol_without_a_domain():
    bare = Symbol("delta")
    with pytest.raises(dp.InputError, match="a symbol with a domain"):
        dp.bound(dp.PureDP(1), dp.ApproxDP(1, bare), bare)


@pytest.mark.parametrize("seconds", [0, -1, True, "1"])
def test_budget(seconds):
    with pytest.raises(dp.InputError, match="budget"):
        dp.bound(dp.PureDP(1), CLAIM, DELTA, budget=seconds)


C = Symbol("c", positive=True)


@pytest.mark.parametrize(
    ("impossible", "where"),
    [
        (dp.MomentBound(lambda loss: exp(loss), Rational(1, 2)), []),
        (dp.MomentBound(lambda loss: loss, -1), []),
        (dp.both(dp.PureDP(1), dp.MomentBound(lambda loss: exp(2 * loss), C)), [C < 1]),
    ],
)
def test_guarantees_that_no_pair_has(impossible, where):
    """E[e^(aL)] is at least 1 for a >= 0, and E[L] at least 0, by Jensen's inequality."""
    for subject in (impossible, dp.compose(dp.PureDP(1), impossible)):
        for answer in (
            dp.check(subject, dp.ApproxDP(1, 0), where),
            dp.bound(subject, CLAIM, DELTA, where),
        ):
            assert isinstance(answer, dp.Vacuous)
            assert "no pair of distributions has MomentBound" in str(answer)


@pytest.mark.parametrize(
    "possible",
    [
        dp.MomentBound(lambda loss: exp(loss), 1),  # of equal distributions
        dp.MomentBound(lambda loss: -exp(-loss), -1),  # the bound is met by equal distributions
        dp.MomentBound(lambda loss: loss * exp(-loss), Rational(-1, 100)),  # not convex
    ],
)
def test_guarantees_that_some_pair_has(possible):
    assert not isinstance(dp.check(possible, dp.ApproxDP(1, 0), budget=2), dp.Vacuous)


def test_no_values_of_the_symbol():
    assert isinstance(dp.bound(dp.PureDP(1), CLAIM, DELTA, where=[DELTA < 0]), dp.Vacuous)


def test_the_budget_is_kept():
    orders = [dp.RenyiDP(Rational(3, 2) + k, 1 + k) for k in range(6)]
    answer = dp.bound(orders, CLAIM, DELTA, budget=0.01)
    assert isinstance(answer, dp.Unknown)
    assert "budget" in answer.reason


def test_unknown_names_the_question():
    e = symbols("e", positive=True)
    answer = dp.bound(dp.MomentBound(lambda loss: loss**2, e), CLAIM, DELTA)
    assert isinstance(answer, dp.Unknown)
    assert "ApproxDP(1, delta)" in answer.statement
    assert answer.reason


def test_a_bound_that_falls_with_the_symbol():
    """1 - x is largest at 0: no x is the smallest one."""
    x = Symbol("x", nonnegative=True)
    answer = dp.bound(dp.RenyiDP(2, 1), dp.ApproxDP(Rational(3, 2), 1 - x), x)
    assert isinstance(answer, dp.Unknown)


def test_an_epsilon_that_no_number_is_large_enough_for():
    """delta stays above that of the guarantee."""
    given, claim = dp.ApproxDP(1, Rational(1, 5)), dp.ApproxDP(EPSILON, Rational(1, 10))
    found = dp.bound(given, claim, EPSILON)
    assert isinstance(found, dp.Bound)
    assert found.upper is oo
    assert found.lower > 1
    assert isinstance(found.refuted, dp.Refuted)
    assert found.proved is None
