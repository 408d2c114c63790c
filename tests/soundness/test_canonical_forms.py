"""Canonical forms are the same function, and differentiation is right."""

from __future__ import annotations

import mpmath
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Context
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import ZERO, Term, absolute, derivative, exp, maximum, minimum, num, var
from tests.soundness.terms import NotDefined, agree, points, rationals, terms, value

x, y = var("x"), var("y")
givens = st.lists(
    st.sampled_from(
        [
            Fact(x, ">"),
            Fact(x, ">="),
            Fact(y, ">"),
            Fact(1 - y, ">"),
            Fact(x - 1, ">"),
            Fact(x - y, ">="),
            Fact(y - exp(x), ">="),
            Fact(x * y, ">"),
            Fact(-x, ">"),
        ]
    ),
    max_size=3,
    unique=True,
)


def satisfied(fact: Fact, at: dict[str, fmpq]) -> bool:
    found = value(fact.term, at)
    return bool(found > 0 or (fact.rel == ">=" and found == 0))


@settings(max_examples=500)
@given(terms, points, givens)
def test_a_form_has_the_value_of_its_term(
    item: Term, at: dict[str, fmpq], given_facts: list[Fact]
) -> None:
    try:
        assume(all(satisfied(fact, at) for fact in given_facts))
        found = value(item, at)
        form = Context(tuple(given_facts)).canon.normal(item)
    except (NotDefined, Refusal):
        assume(False)
    try:
        normal = value(form, at)
    except NotDefined:
        raise AssertionError(f"{form} is undefined") from None
    with mpmath.workdps(60):
        assert agree(found, normal), (item, form)


@settings(max_examples=200)
@given(terms, points, givens)
def test_what_is_evident_is_true(item: Term, at: dict[str, fmpq], given_facts: list[Fact]) -> None:
    try:
        assume(all(satisfied(fact, at) for fact in given_facts))
        found = value(item, at)
        known = Context(tuple(given_facts))
        weak, strict = known.evident(Fact(item, ">=")), known.evident(Fact(item, ">"))
        tidied = value(known.tidy(Fact(item, ">=")).term, at)
    except (NotDefined, Refusal):
        assume(False)
    slack = mpmath.mpf(10) ** -40 * (1 + abs(found))
    assert not weak or found >= -slack
    assert not strict or found > -slack
    assert abs(found) <= slack or abs(tidied) <= mpmath.mpf(10) ** -40 or found * tidied > 0


@settings(max_examples=200)
@given(terms, points)
def test_derivatives_are_limits_of_differences(item: Term, at: dict[str, fmpq]) -> None:
    assume(not item.kinked)
    step = fmpq(1, 10**12)
    try:
        slope = value(derivative(item, "x"), at)
        sides = [value(item, {**at, "x": at["x"] + sign * step}) for sign in (1, -1)]
    except (NotDefined, Refusal):
        assume(False)
    with mpmath.workdps(60):
        found = (sides[0] - sides[1]) * 10**12 / 2
        assume(abs(slope) < 10**6)
        assert abs(found - slope) <= mpmath.mpf(10) ** -3 * (1 + abs(slope) ** 2)


@given(rationals, rationals)
def test_max_min_and_abs_have_one_kind_of_kink(a: fmpq, b: fmpq) -> None:
    canon = Context(()).canon
    first, second = x + num(a), y + num(b)
    total = maximum(first, second) + minimum(first, second) - first - second
    assert canon.is_zero(canon(total))
    twice = 2 * maximum(first, second) - first - second - absolute(first - second)
    assert canon.is_zero(canon(twice))
    assert canon.normal(maximum(ZERO, num(a))) is num(max(a, fmpq(0)))
