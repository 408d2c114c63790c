"""Enclosures hold the values that another library computes."""

from __future__ import annotations

import mpmath
from flint import arb, fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpsym.kernel.balls import Evaluator, Undefined, precision, rational
from dpsym.kernel.terms import Term, exp, var
from tests.soundness.terms import NotDefined, points, terms, value

widths = st.sampled_from([fmpq(0), fmpq(1, 10), fmpq(1), fmpq(5)])


def inside(found: mpmath.mpf, lo: arb, hi: arb) -> bool:
    slack = mpmath.mpf(10) ** -40 * (1 + abs(found))
    low = -mpmath.inf if not lo.is_finite() else mpmath.mpf(lo.str(60, radius=False))
    high = mpmath.inf if not hi.is_finite() else mpmath.mpf(hi.str(60, radius=False))
    return bool(low - slack <= found <= high + slack)


@settings(max_examples=400)
@given(terms, points, widths, widths, st.booleans())
def test_values_at_a_point_lie_in_the_enclosure_of_a_box(
    item: Term, at: dict[str, fmpq], left: fmpq, right: fmpq, strict: bool
) -> None:
    try:
        found = value(item, at)
    except NotDefined:
        assume(False)
    box = {name: (rational(v - left)[0], rational(v + right)[1]) for name, v in at.items()}
    try:
        with precision(200), mpmath.workdps(60):
            lo, hi = Evaluator(box, strict)(item)
            assert inside(found, lo, hi), (found, lo, hi)
    except Undefined:
        assert strict  # undefined somewhere in the box, though not at the point


@settings(max_examples=300)
@given(terms, points)
def test_strict_evaluation_at_a_point_is_undefined_where_the_term_is(
    item: Term, at: dict[str, fmpq]
) -> None:
    box = {name: rational(v) for name, v in at.items()}
    try:
        with precision(200):
            Evaluator(box, True)(item)
    except Undefined:
        return
    try:
        value(item, at)
    except NotDefined:
        assume(False)  # too large to compare, or undefined by rounding alone


def test_infinity_is_an_end_and_never_a_value() -> None:
    lo, hi = Evaluator({}, False)(exp(var("x")) * 0)
    assert lo == 0 and hi == 0
