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


def test_guarantees_that_no_pair_has():
    """E[e^L] is at least 1, by Jensen's inequality."""
    impossible = dp.MomentBound(lambda loss: exp(loss), Rational(1, 2))
    with pytest.raises(dp.InputError, match="some pair of distributions"):
        dp.bound(impossible, CLAIM, DELTA)


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
