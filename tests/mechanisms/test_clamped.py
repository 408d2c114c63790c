"""Geometric noise in a range."""

import mpmath as mp
import pytest
import sympy as sp

import dpsym as dp
from dpsym.errors import InputError
from dpsym.mechanisms import ClampedGeometric, Table, noise
from tests.mechanisms.numbers import DIGITS, hockey_stick, number

b = sp.Symbol("b", positive=True)
a = sp.Symbol("a", integer=True)


def masses(scale, low, high, answer):
    """Of each output, from those of the noise alone."""
    noisy = noise.Geometric(scale)
    found = {}
    for z in range(-300, 301):
        output = min(max(answer + z, low), high)
        found[output] = found.get(output, mp.mpf(0)) + number(noisy.at(sp.Integer(z)))
    return [found[output] for output in range(low, high + 1)]


@pytest.mark.parametrize(
    ("low", "high", "answer", "shift"), [(0, 4, 1, 2), (0, 1, 0, 1), (-3, 3, -3, 1)]
)
def test_the_parts_are_the_clamped_noise(low, high, answer, shift):
    with mp.workdps(DIGITS):
        (family,) = ClampedGeometric(2, low, high, answer, sensitivity=2).neighbours()
        p, q = (masses(2, low, high, at) for at in (answer, answer + shift))
        for epsilon in (mp.mpf(0), mp.mpf("0.3"), mp.mpf("-0.3")):
            expected = mp.fsum(max(x - mp.exp(epsilon) * y, 0) for x, y in zip(p, q, strict=True))
            found = hockey_stick(family, epsilon, shift, last=high)
            assert abs(found - expected) < mp.mpf(10) ** -20
        at = {family.shift: shift}
        assert all(family.low.subs(at) <= t <= family.high.subs(at) for t in (shift,))


def test_neighbours_stay_in_the_range():
    (family,) = ClampedGeometric(2, 0, 4, 1, sensitivity=3).neighbours()
    assert (family.low, family.high, family.integer) == (-1, 3, True)


@pytest.mark.parametrize("range_", [(0, 1), (0, 5)])
def test_pure_guarantee_for_all_answers(range_):
    mechanism = ClampedGeometric(b, *range_, answer=a)
    assert isinstance(dp.check(mechanism, dp.PureDP(1 / b)), dp.Proved)
    assert isinstance(dp.check(mechanism, dp.PureDP(1 / (2 * b))), dp.Refuted)


def test_the_range_of_two_is_randomized_response():
    """With answers 0 and 1 the table is [[1, r], [r, 1]]/(1 + r)."""
    r = sp.exp(-1 / b)
    (family,) = ClampedGeometric(b, 0, 1, 0).neighbours()
    found = [[part.p, part.q.subs(family.shift, 1)] for part in family.parts]
    table = Table([[1 / (1 + r), r / (1 + r)], [r / (1 + r), 1 / (1 + r)]])
    for row, expected in zip(found, table.matrix, strict=True):
        assert all(sp.simplify(x - y) == 0 for x, y in zip(row, expected, strict=True))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ClampedGeometric(0, 0, 1, 0), "^scale: expected a number > 0, got 0$"),
        (lambda: ClampedGeometric(1, 0, 0, 0), "^high: expected an integer above low"),
        (lambda: ClampedGeometric(1, 0, 2, 3), "^answer: expected an integer from 0 to 2, got 3$"),
        (lambda: ClampedGeometric(1, 0, 2, 0.5), "^answer: expected an integer, or a symbol"),
        (lambda: ClampedGeometric(1, 0, 2, 1, 0), "^sensitivity: expected an integer >= 1"),
        (lambda: ClampedGeometric(1, 0, b, 1), "^high: expected an integer, or a symbol"),
    ],
)
def test_what_has_no_meaning_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
