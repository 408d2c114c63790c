"""``dp.bound`` with parameters: the formula, proved for all of them; and compositions."""

from __future__ import annotations

import pytest
from sympy import Rational, exp, log, simplify, symbols

import dpsym as dp
from dpsym.kernel.certificate import verify

E, F, X = symbols("e f x", positive=True)
DELTA = symbols("delta", nonnegative=True)
ALPHA = symbols("alpha", positive=True)


@pytest.mark.parametrize(
    ("given", "claim", "symbol", "formula"),
    [
        (dp.PureDP(E), dp.PureDP(X), X, E),
        (dp.PureDP(E), dp.ZCDP(X), X, E**2 / 2),
        (dp.ZCDP(E), dp.RenyiDP(ALPHA, X), X, ALPHA * E),
        (dp.ApproxDP(E, DELTA), dp.ApproxDP(0, X), X, (exp(E) - 1 + 2 * DELTA) / (exp(E) + 1)),
        (
            dp.RenyiDP(ALPHA, E),
            dp.ApproxDP(F, X),
            X,
            exp((ALPHA - 1) * (E - F)) * (1 - 1 / ALPHA) ** (ALPHA - 1) / ALPHA,
        ),
        (dp.compose(dp.PureDP(E), dp.PureDP(F)), dp.PureDP(X), X, E + F),
        (dp.compose(dp.ZCDP(E), dp.ZCDP(F)), dp.ZCDP(X), X, E + F),
    ],
)
def test_formula(given, claim, symbol, formula):
    where = [ALPHA > 1] if ALPHA in formula.free_symbols else []
    found = dp.bound(given, claim, symbol, where=where)
    assert isinstance(found, dp.Bound), found
    assert simplify(found.upper - formula) == 0
    assert found.lower is None
    assert isinstance(found.proved, dp.Proved)
    verify(found.certificate)


def test_two_approximate_stages():
    """Kairouz, Oh and Viswanath (2015): the product of the extreme pairs, computed here."""
    epsilon, delta, target = Rational(1, 2), Rational(1, 100), Rational(3, 4)
    k = exp(epsilon)
    ratios = {2 * epsilon: k**2, 0: 2 * k, -2 * epsilon: 1}  # masses of P, times (1 + k)^2
    kept = (
        sum(mass * (1 - exp(target - loss)) for loss, mass in ratios.items() if loss > target)
        * ((1 - delta) / (1 + k)) ** 2
    )
    value = 1 - (1 - delta) ** 2 + kept
    stage = dp.ApproxDP(epsilon, delta)
    found = dp.bound(dp.compose(stage, stage), dp.ApproxDP(target, DELTA), DELTA)
    assert isinstance(found, dp.Bound)
    assert found.lower < value <= found.upper
    assert found.relative_width < Rational(1, 10**5)


def test_renyi_stages_of_one_order_are_one():
    """Adaptive composition adds up: no more than one stage with the total."""
    stages = (dp.RenyiDP(2, Rational(1, k)) for k in (4, 3, 6))
    claim = dp.ApproxDP(Rational(3, 2), DELTA)
    found = dp.bound(dp.compose(*stages), claim, DELTA)
    one = dp.bound(dp.RenyiDP(2, Rational(3, 4)), claim, DELTA)
    assert isinstance(found, dp.Bound)
    assert isinstance(one, dp.Bound)
    assert found.upper == one.upper
    assert "the adaptive composition" in found.proved.statement
    assert found.lower is None or found.lower < one.upper


def test_copies_are_one():
    three = dp.repeat(dp.RenyiDP(2, Rational(1, 4)), 3)
    claim = dp.ApproxDP(Rational(3, 2), DELTA)
    found = dp.bound(three, claim, DELTA)
    one = dp.bound(dp.RenyiDP(2, Rational(3, 4)), claim, DELTA)
    assert isinstance(found, dp.Bound)
    assert found.upper == one.upper


def test_zcdp():
    """Between the sharpest single order, here found by hand, and what some distributions show."""
    claim = dp.ApproxDP(1, DELTA)
    found = dp.bound(dp.ZCDP(Rational(1, 10)), claim, DELTA)
    assert isinstance(found, dp.Bound)
    assert isinstance(found.proved, dp.Proved)
    verify(found.certificate)
    best = min(
        float(exp((a - 1) * (a / 10 - 1)) * (1 - 1 / a) ** (a - 1) / a)
        for a in (Rational(k, 10) for k in range(40, 90))
    )
    assert 0 < found.lower < found.upper < best


def test_explicit_mechanism():
    """1 - e^((eps - eps0)/2) for Laplace noise."""
    laplace = dp.AdditiveNoise(dp.noise.Laplace(scale=2), sensitivity=1)
    found = dp.bound(laplace, dp.ApproxDP(Rational(1, 4), DELTA), DELTA)
    assert isinstance(found, dp.Bound)
    value = 1 - exp(-Rational(1, 8))
    assert found.lower < value <= found.upper
    assert found.relative_width < Rational(1, 10**6)


def test_renyi_of_pure_is_not_the_loose_one():
    found = dp.bound(dp.PureDP(1), dp.RenyiDP(2, X), X)
    assert isinstance(found, dp.Bound)
    k = exp(1)
    assert found.upper < log((k**2 + 1 / k) / (1 + k)) + Rational(1, 10**6) < 1


def test_an_order_is_no_upper_end():
    """A larger order is a stronger claim: what is proved is a lower end."""
    found = dp.bound(dp.RenyiDP(3, F), dp.RenyiDP(ALPHA, F), ALPHA, where=[ALPHA > 1])
    assert isinstance(found, dp.Unknown)
