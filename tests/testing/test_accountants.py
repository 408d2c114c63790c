"""Correct accountants never fail, however loose; wrong ones do, at small exact parameters."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import dpsym as dp
from dpsym.testing import NotDecided, PromisesTooMuch, assert_accountant
from dpsym.testing.defaults import use
from examples import accountants as examples
from examples import claims
from tests.testing.accountants import (
    CORRECT,
    GAUSSIAN,
    LAPLACE,
    Delta,
    alpha,
    b,
    delta,
    epsilon,
    k,
    promised,
    q,
    sigma,
)
from tests.testing.running import alone, run

MANY = dp.repeat(LAPLACE, k)


def fails(function, mechanism, claim, **more):
    with pytest.raises(PromisesTooMuch) as caught:
        assert_accountant(function, mechanism, claim, **more)
    return caught.value


def forgets_count(b, Delta):
    return Delta / b


# --- correct ones ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "mechanism", "claim", "where"),
    [c[1:] for c in CORRECT],
    ids=[c[0] for c in CORRECT],
)
def test_correct_accountants_pass(function, mechanism, claim, where):
    outcome = assert_accountant(
        function, mechanism, claim, where=list(where), examples=25, slack=1e-9, absolute=1e-12
    )
    assert outcome.label == "not refuted at drawn parameters"
    assert outcome.undecided == 0 and outcome.examples > 10


def test_a_thousand_examples_in_a_minute():
    """The accountant whose count is dropped below, as it should be."""
    started = time.perf_counter()
    outcome = assert_accountant(
        examples.gaussian_epsilon,
        claims.gaussians,
        claims.gaussians_private,
        where=[delta < 1],
        examples=1000,
    )
    assert time.perf_counter() - started < 60
    assert outcome.examples > 800 and outcome.undecided == 0


def test_a_loose_accountant_passes_and_infinity_promises_nothing():
    assert_accountant(
        lambda b, Delta, k: 100 * k * Delta / b, MANY, dp.PureDP(promised), examples=20
    )
    assert_accountant(lambda k: math.inf, dp.repeat(GAUSSIAN, k), dp.PureDP(promised), examples=20)


# --- wrong ones -----------------------------------------------------------------------------------


def test_a_tight_accountant_that_is_a_little_short():
    """1 part in a thousand, in each of several notions."""
    short = 0.999
    for function, mechanism, claim in (
        (lambda b, Delta, k: short * k * Delta / b, MANY, dp.PureDP(promised)),
        (
            lambda sigma, Delta, k: short * math.sqrt(k) * Delta / sigma,
            dp.repeat(GAUSSIAN, k),
            dp.GDP(promised),
        ),
        (lambda sigma, Delta: short * Delta**2 / (2 * sigma**2), GAUSSIAN, dp.ZCDP(promised)),
        (
            lambda epsilon, q: short * math.log1p(q * math.expm1(epsilon)),
            dp.subsample(dp.PureDP(epsilon), q),
            dp.PureDP(promised),
        ),
        (
            lambda epsilon, k: short * k * epsilon,
            dp.group(dp.PureDP(epsilon), k),
            dp.PureDP(promised),
        ),
    ):
        found = fails(
            function,
            mechanism,
            claim,
            where={epsilon: sp.Interval.open(0, 9), q: sp.Interval.open(0, 1)},
            slack=1e-9,
        )
        assert set(found.values.values()) <= {1, 2, sp.Rational(1, 2)}


def rounds(b, Delta, k):
    """A float below for few, and two forgotten of more."""
    return (k * Delta / b) * (1 - 2**-52) if k < 4 else (k - 2) * Delta / b


def is_a_little_short(b, Delta, k):
    return (k * Delta / b) * (1 - 1e-6) if k < 4 else (k - 2) * Delta / b


def is_short_where_k_is_large(b, Delta, k):
    return (k * Delta / b) * (1 - 2**-52) if k < 4 else (k * Delta / b) * (1 - 1e-6)


@pytest.mark.parametrize("function", [rounds, is_a_little_short])
def test_a_clear_failure_is_shown_and_not_one_by_rounding(function):
    """It is at larger parameters, which are as small as they may be."""
    found = fails(function, MANY, dp.PureDP(promised), examples=60)
    assert found.values == {b: 1, Delta: 1, k: 4}
    assert "at least 4, and 2 is claimed: a gap of 2" in found.report
    assert "rounding" not in found.report


def test_a_small_failure_is_shown_where_there_is_no_clear_one():
    found = fails(is_short_where_k_is_large, MANY, dp.PureDP(promised), examples=60)
    assert found.values == {b: 1, Delta: 1, k: 4}
    assert "rounding" not in found.report
    for function in (rounds, is_a_little_short):
        found = fails(function, MANY, dp.PureDP(promised), where=[k <= 3], examples=60)
        assert ("may be a rounding error" in found.report) is (function is rounds)
        assert found.values == {b: 1, Delta: 1, k: 1}


def test_the_gap_is_the_largest_that_is_known():
    """Of two parts of the data, the one that loses more."""
    parts = dp.parallel(dp.PureDP(1), dp.PureDP(b))
    found = fails(lambda b: 0.995, parts, dp.PureDP(promised), where=[b >= 2], examples=30)
    assert found.values == {b: 2}
    assert "a gap of 1.005" in found.report  # of the first part it is 0.005


def test_the_report_has_claim_instance_and_gap():
    found = fails(forgets_count, MANY, dp.PureDP(epsilon))
    assert found.values == {b: 1, Delta: 1, k: 2}
    shown = found.script.rstrip()
    assert str(found) == f"{found.report}\n\nThis script reproduces it:\n\n{shown}"
    assert found.report.splitlines() == [
        "forgets_count promises more privacy than is true.",
        "  at the smallest parameters found: b = 1, Delta = 1, k = 2",
        "  forgets_count(b=1.0, Delta=1.0) returns 1.0, so that",
        "  repeat(AdditiveNoise(noise=Laplace(scale=1), sensitivity=1), 2) has PureDP(1)",
        "  certain: the largest loss is at least 2, and 1 is claimed: a gap of 1",
    ]


def test_the_script_reproduces_it():
    """By itself, with the function copied from this file."""
    found = fails(forgets_count, MANY, dp.PureDP(epsilon))
    assert "def forgets_count(b, Delta):\n    return Delta / b" in found.script
    assert "promised = forgets_count(b=1.0, Delta=1.0)" in found.script
    printed, error = alone(found.script)
    assert printed.splitlines() == [
        "forgets_count(b=1.0, Delta=1.0) returned 1.0",
        "epsilon: claimed 1.0, certainly at least 2.0",
    ]
    assert error.endswith("AssertionError: forgets_count promises more privacy than is true")
    assert "AssertionError" in run(found.script)
    assert not run(found.script.replace("return Delta / b", "return 2 * Delta / b"))


def test_a_function_that_no_script_can_copy_is_recorded():
    local = 1.0
    found = fails(lambda b, Delta: local * Delta / b, MANY, dp.PureDP(epsilon))
    assert "promised = 1.0  # what <lambda>(b=1.0, Delta=1.0) returned" in found.script


PLANTED = [
    (
        examples.gaussian_epsilon_without_count,
        claims.gaussians,
        claims.gaussians_private,
        {"sigma": 1, "Delta": 2, "k": 3, "delta": sp.Rational(1, 2)},
    ),
    (
        examples.gaussian_epsilon_of_multiplier,
        claims.gaussians,
        claims.gaussians_private,
        {"sigma": 1, "Delta": 2, "k": 1, "delta": sp.Rational(1, 4)},
    ),
    (
        examples.sampled_epsilon_in_bits,
        claims.sampled,
        claims.sampled_private,
        {"epsilon": 1, "q": sp.Rational(1, 2)},
    ),
    (examples.divergence_swapped, claims.exponentials, claims.exponentials_close, {"a": 1, "b": 2}),
    (
        examples.histogram_epsilon_of_one_count,
        claims.histograms,
        claims.histograms_private,
        {"b": 1, "k": 1},
    ),
]


@pytest.mark.parametrize(
    ("function", "mechanism", "claim", "expected"),
    PLANTED,
    ids=[case[0].__name__ for case in PLANTED],
)
def test_planted_bugs_are_found_and_shrunk(function, mechanism, claim, expected):
    """The mistakes of ``examples/test_planted_bugs.py``, at the smallest parameters."""
    where = [symbol < 1 for symbol in (delta, q) if symbol in _symbols(mechanism, claim)]
    found = fails(function, mechanism, claim, where=where, slack=1e-9)
    assert {symbol.name: value for symbol, value in found.values.items()} == expected
    assert f"from examples.accountants import {function.__name__}" in found.script
    assert (
        run(found.script)
        == f"AssertionError: {function.__name__} promises more privacy than is true"
    )


def _symbols(*items):
    return {s for item in items for _, expr in item.parameters() for s in expr.free_symbols}


def test_which_parameter_is_solved_for():
    """An epsilon is reported with the delta at it, and with the epsilon that would do."""
    found = fails(
        lambda sigma, Delta: 1.0,
        GAUSSIAN,
        dp.ApproxDP(epsilon, delta),
        where=[delta < 1],
        solve_for=epsilon,
    )
    assert "the smallest delta at this epsilon is at least" in found.report
    assert "epsilon would have to be at least" in found.report
    found = fails(lambda sigma, Delta, epsilon: 1e-9, GAUSSIAN, dp.ApproxDP(epsilon, promised))
    assert "would have to be" not in found.report


def test_a_negative_promise():
    found = fails(lambda b, Delta: -1.0, LAPLACE, dp.PureDP(epsilon))
    assert "-1 is claimed" in found.report
    assert run(found.script)
    found = fails(
        lambda b, Delta, delta: -1.0, LAPLACE, dp.ApproxDP(epsilon, delta), where=[delta < 1]
    )
    assert run(found.script)


# --- floats are exact numbers ---------------------------------------------------------------------


def test_floats_are_exact_and_slack_is_the_users():
    """k times 0.1 in floats is sometimes below k/10."""

    def tenths(k):
        return sum([0.1] * k)

    many = dp.repeat(dp.PureDP(sp.Rational(1, 10)), k)
    found = fails(tenths, many, dp.PureDP(epsilon))
    assert found.values == {k: 6}
    assert Fraction(sum([0.1] * 6)) < Fraction(6, 10)
    assert "may be a rounding error of floats: slack=1e-9" in found.report
    assert run(found.script)
    assert_accountant(tenths, many, dp.PureDP(epsilon), slack=1e-12)


def test_a_delta_that_underflows():
    """The hint names the difference, as there is nothing to be relative to."""

    def underflows(b, Delta, epsilon):
        return max(0.0, -math.expm1((epsilon - Delta / b) / 2)) * (1 - 1e-13) - 1e-300

    found = fails(underflows, LAPLACE, dp.ApproxDP(epsilon, promised))
    assert "absolute=1e-9 allows for it" in found.report
    assert_accountant(underflows, LAPLACE, dp.ApproxDP(epsilon, promised), absolute=1e-9)


def test_arguments_are_the_numbers_that_were_drawn():
    seen = []

    def remembers(b, Delta, k):
        seen.append((b, Delta, k))
        return k * Delta / b

    assert_accountant(remembers, MANY, dp.PureDP(epsilon), examples=20, slack=1e-9)
    assert all(type(b) is type(d) is float and type(k) is int for b, d, k in seen)
    assert all(Fraction(b).denominator <= 2**20 for b, _, _ in seen)


@pytest.mark.parametrize(
    "result", [2, Fraction(1, 2), sp.Rational(1, 2), np.float64(0.5), np.float32(0.5)]
)
def test_numbers_of_any_kind(result):
    found = fails(
        lambda b, Delta: result,
        LAPLACE,
        dp.PureDP(epsilon),
        where={b: sp.Interval(1, 2), Delta: sp.Interval(9, 10)},
    )
    assert run(found.script)


@pytest.mark.parametrize("result", [math.nan, -math.inf, None, "0.5", True])
def test_what_is_no_number(result):
    with pytest.raises(
        dp.InputError, match=r"function: expected a number, got .* from <lambda>\(b="
    ):
        assert_accountant(lambda b, Delta: result, LAPLACE, dp.PureDP(epsilon))


def test_an_error_of_the_function_says_where():
    def breaks(b, Delta):
        return 1 / (b - b)

    with pytest.raises(ZeroDivisionError) as caught:
        assert_accountant(breaks, LAPLACE, dp.PureDP(epsilon))
    assert any("breaks was called with b=1.0, Delta=1.0" in note for note in caught.value.__notes__)


# --- bad input ------------------------------------------------------------------------------------


def test_parameters_that_are_no_symbols():
    with pytest.raises(
        dp.InputError, match=r"parameters named as symbols, of b, Delta, epsilon, got 'noise'"
    ):
        assert_accountant(lambda noise: 1.0, LAPLACE, dp.PureDP(epsilon))
    assert_accountant(
        lambda b, Delta, more=1: Delta / b, LAPLACE, dp.PureDP(epsilon), examples=5, slack=1e-9
    )
    assert_accountant(
        lambda **given: given["Delta"] / given["b"],
        LAPLACE,
        dp.PureDP(epsilon),
        examples=5,
        slack=1e-9,
    )


def test_input_that_has_no_meaning():
    with pytest.raises(dp.InputError, match="the symbol of the claim that the function returns"):
        assert_accountant(lambda b: 1.0, LAPLACE, dp.ApproxDP(epsilon, delta), where=[delta < 1])
    with pytest.raises(dp.InputError, match="solve_for: expected a symbol of the claim"):
        assert_accountant(lambda b: 1.0, LAPLACE, dp.PureDP(epsilon), solve_for=alpha)
    with pytest.raises(dp.InputError, match="claim: expected one of ApproxDP"):
        assert_accountant(lambda b: 1.0, LAPLACE, dp.MomentBound(lambda L: L, epsilon))
    with pytest.raises(dp.InputError, match="slack: expected a number >= 0"):
        assert_accountant(lambda b: 1.0, LAPLACE, dp.PureDP(epsilon), slack=-1)
    with pytest.raises(dp.InputError, match="examples: expected a whole number >= 1"):
        assert_accountant(lambda b: 1.0, LAPLACE, dp.PureDP(epsilon), examples=0)
    with pytest.raises(dp.InputError, match="function: expected a function"):
        assert_accountant(1.0, LAPLACE, dp.PureDP(epsilon))


def test_without_any_bound_it_does_not_pass():
    with pytest.raises(NotDecided, match="no bound was found, as enclose: the probability"):
        assert_accountant(
            lambda b, Delta: 1.0, LAPLACE, dp.ProbabilisticDP(1, promised), examples=5
        )


def test_defaults_of_a_run():
    kept = []
    with use(examples=3, keeper=kept.append):
        outcome = assert_accountant(lambda b, Delta: 2 * Delta / b, LAPLACE, dp.PureDP(epsilon))
        with pytest.raises(PromisesTooMuch):
            assert_accountant(forgets_count, MANY, dp.PureDP(epsilon), examples=50)
    assert outcome.examples <= 3
    assert [sorted(item.evidence()) for item in kept] == [[".txt"], [".py", ".txt"]]
    assert sigma not in kept[1].values
