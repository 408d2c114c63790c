"""Exact numbers: always in their range, simple ones first."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import dpsym as dp
from dpsym.testing import parameters, rationals, simplest
from dpsym.testing.domains import Domain
from dpsym.testing.numbers import integers

ENDS = st.one_of(st.none(), st.fractions(-10, 10, max_denominator=50))


@given(st.data(), ENDS, ENDS, st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=60)
def test_numbers_are_in_the_range(data, low, high, low_open, high_open, floats):
    if low is not None and high is not None and low >= high:
        low, high = high - 1, low + 1
    numbers = rationals(low, high, low_open=low_open, high_open=high_open, floats=floats)
    x = data.draw(numbers)
    assert low is None or (x > low if low_open else x >= low)
    assert high is None or (x < high if high_open else x <= high)
    if floats:
        assert Fraction(float(x)) == x


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (rationals(), 0),
        (rationals(0), 0),
        (rationals(0, low_open=True), 1),
        (rationals(0, 1, low_open=True, high_open=True), Fraction(1, 2)),
        (rationals(Fraction(1, 3), Fraction(2, 3)), Fraction(1, 2)),
        (rationals(-3, -1), -1),
        (rationals(Fraction(1, 7), Fraction(1, 7)), Fraction(1, 7)),
        (rationals(Fraction(10001, 10**8), Fraction(10002, 10**8)), Fraction(10001, 10**8)),
        (integers(3, 8), 3),
    ],
)
def test_the_simplest_number(numbers, expected):
    assert simplest(numbers) == expected


def test_what_shrinking_leaves_is_readable():
    assert simplest(rationals(0, 1), lambda x: Fraction(1, 3) < x < 1) == Fraction(1, 2)
    assert simplest(rationals(0), lambda x: x > 7) == 8
    assert simplest(rationals(0, 1, floats=True), lambda x: 0 < x < Fraction(1, 100)) == Fraction(
        1, 1024
    )


def test_small_and_large_numbers_are_drawn():
    delta = rationals(0, 1, low_open=True, high_open=True)
    assert simplest(delta, lambda x: x < Fraction(1, 10**5)) <= Fraction(1, 10**5)
    assert simplest(delta, lambda x: x > 1 - Fraction(1, 10**5)) < 1


def test_an_empty_range_is_an_error():
    with pytest.raises(dp.InputError, match="a range with a number in it"):
        rationals(1, 0)
    with pytest.raises(dp.InputError, match="a range with a number in it"):
        rationals(Fraction(1, 3), Fraction(1, 3), floats=True)


# --- parameters -----------------------------------------------------------------------------------

EPSILON, DELTA = sp.symbols("epsilon delta", positive=True)
K = sp.Symbol("k", integer=True, positive=True)


@given(parameters(EPSILON, DELTA, K, where=[DELTA < 1, EPSILON < K, {K: sp.Interval(2, 5)}]))
@settings(max_examples=60)
def test_parameters_satisfy_what_is_assumed(values):
    assert 0 < values[DELTA] < 1
    assert 2 <= values[K] <= 5 and values[K].is_Integer
    assert 0 < values[EPSILON] < values[K]


def test_assumptions_that_only_sympy_knows_count():
    even = sp.Symbol("n", even=True, positive=True)
    found = simplest(parameters(even), lambda values: values[even] > 5)
    assert found == {even: 6}


def test_conditions_that_are_not_linear():
    x, y = sp.symbols("x y", positive=True)
    found = simplest(parameters(x, y, where=[x * y > 6, x < y]))
    assert found[x] * found[y] > 6 and found[x] < found[y]


def test_a_symbol_needs_a_domain():
    with pytest.raises(dp.InputError, match="a symbol with a domain"):
        parameters(sp.Symbol("x"))


def test_domains_that_nothing_satisfies():
    with pytest.raises(dp.InputError, match="a range with a number in it"):
        parameters(EPSILON, where=[EPSILON > 2, EPSILON < 1])
    with pytest.raises(dp.InputError, match="conditions that drawn numbers satisfy"):
        simplest(parameters(EPSILON, DELTA, where=[EPSILON < DELTA, DELTA < EPSILON]), examples=10)


def test_a_domain_has_what_the_subject_adds():
    x, y = sp.symbols("x y", real=True)
    domain = Domain((), dp.ApproxDP(x, y), (dp.PureDP(x),))
    assert domain.allows({x: sp.Integer(0), y: sp.Integer(1)})
    assert not domain.allows({x: sp.Integer(-1), y: sp.Integer(1)})
    assert not domain.allows({x: sp.Integer(0), y: sp.Integer(2)})
