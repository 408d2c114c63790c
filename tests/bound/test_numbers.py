"""``dp.bound`` for one stage at numbers, against values from papers and exact reasoning."""

from __future__ import annotations

import random

import mpmath as mp
import pytest
from sympy import Integer, Rational, Symbol, exp, log, oo

import dpsym as dp
from benchmarks.bounds import problem
from dpsym.kernel.certificate import verify
from tests.bound.witnesses import excess, holds, masses

DELTA = Symbol("delta", nonnegative=True)
EPSILON = Symbol("epsilon", nonnegative=True)
HALF = Rational(1, 2)


def narrow(found: object) -> dp.Bound:
    """The bound, checked to have both ends, not more than 1e-6 apart."""
    assert isinstance(found, dp.Bound), found
    assert isinstance(found.proved, dp.Proved)
    assert isinstance(found.refuted, dp.Refuted)
    assert found.relative_width < Rational(1, 10**6)
    return found


def test_renyi_to_approximate():
    """Attained, and below the 0.1516327 that the usual formula, e^((alpha-1)(epsilon'-epsilon))
    (alpha-1)^(alpha-1) / alpha^alpha, gives."""
    found = narrow(dp.bound(dp.RenyiDP(2, 1), dp.ApproxDP(Rational(3, 2), DELTA), DELTA))
    assert found.lower < Rational("0.11929259761") < found.upper
    assert abs(float(exp(-HALF) / 4) - 0.1516327) < 1e-7
    assert found.upper < Rational("0.12")


def test_it_prints_decimals_that_are_rounded_outward():
    found = narrow(dp.bound(dp.RenyiDP(2, 1), dp.ApproxDP(Rational(3, 2), DELTA), DELTA))
    name, _, low, _, high = str(found).splitlines()[0].split()
    assert name == "delta" and "/" not in low + high
    low, high = Rational(low), Rational(high)
    assert low <= found.lower < found.upper <= high
    assert high - low < Rational(3, 2) * (found.upper - found.lower)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (Rational(1, 3), Rational(1, 3), "x = 1/3"),
        (Rational(1, 8), Rational(1, 8), "x = 0.125"),
        (None, Rational(1, 3), "x <= 0.333333333334"),
        (None, log(2), "x <= log(2)"),
        (Rational(1, 3), oo, "x in 0.333333333333 .. oo"),
        (0, Rational(1, 10**9), "x in 0 .. 1e-9"),
        (Rational(-2, 3), Rational(-1, 3), "x in -0.666667 .. -0.333333"),
    ],
)
def test_how_a_bound_prints(low, high, text):
    low = None if low is None else Integer(low) if isinstance(low, int) else low
    assert str(dp.Bound(Symbol("x"), low, high, None, None)) == text


def test_ends_are_what_the_verdicts_say():
    found = narrow(dp.bound(dp.RenyiDP(2, 1), dp.ApproxDP(Rational(3, 2), DELTA), DELTA))
    assert f"has ApproxDP(3/2, {found.upper})" in found.proved.statement
    assert f"has ApproxDP(3/2, {found.lower})" in found.refuted.statement
    proved = verify(found.certificate)
    (claim,) = proved.statement.claims
    assert claim.two_way
    assert str(claim.args[1].value) == str(found.upper)


@pytest.mark.parametrize(("epsilon", "delta"), [(1, Rational(1, 10)), (HALF, Rational(1, 1000))])
def test_approximate_to_total_variation(epsilon, delta):
    """(e^eps - 1 + 2 delta)/(e^eps + 1): Kairouz, Oh and Viswanath (2015)."""
    found = narrow(dp.bound(dp.ApproxDP(epsilon, delta), dp.ApproxDP(0, DELTA), DELTA))
    value = (exp(epsilon) - 1 + 2 * delta) / (exp(epsilon) + 1)
    assert found.lower <= value <= found.upper


@pytest.mark.parametrize("order", ["11/10", "3/2", "2", "7/2", "16"])
def test_pure_to_renyi_is_that_of_randomized_response(order):
    alpha, epsilon = Rational(order), Rational(3, 4)
    k = exp(epsilon)
    value = log((k**alpha + k ** (1 - alpha)) / (1 + k)) / (alpha - 1)
    found = narrow(dp.bound(dp.PureDP(epsilon), dp.RenyiDP(alpha, EPSILON), EPSILON))
    assert found.lower <= value <= found.upper


def test_small_losses_keep_their_digits():
    epsilon = Rational(1, 1000)
    k = exp(epsilon)
    value = log((k**2 + 1 / k) / (1 + k))
    found = narrow(dp.bound(dp.PureDP(epsilon), dp.RenyiDP(2, EPSILON), EPSILON))
    assert found.lower <= value <= found.upper


def test_pure_to_kullback_leibler():
    """eps tanh(eps/2)."""
    found = narrow(dp.bound(dp.PureDP(1), dp.RenyiDP(1, EPSILON), EPSILON))
    assert found.lower <= (exp(1) - 1) / (exp(1) + 1) <= found.upper


def test_pure_below_order_one():
    k = exp(1)
    value = log((k**HALF + k**HALF) / (1 + k)) / (HALF - 1)
    found = narrow(dp.bound(dp.PureDP(1), dp.RenyiDP(HALF, EPSILON), EPSILON))
    assert found.lower <= value <= found.upper


def test_renyi_to_a_smaller_order_with_a_logarithm():
    """The best is below that of the order itself."""
    for order in (1, Rational(3, 2)):
        found = narrow(dp.bound(dp.RenyiDP(2, 1), dp.RenyiDP(order, EPSILON), EPSILON))
        assert HALF < found.lower < found.upper < 1


def test_epsilon_of_a_claim():
    """The inverse of the bound on delta."""
    found = narrow(dp.bound(dp.RenyiDP(2, 1), dp.ApproxDP(EPSILON, Rational(1, 10)), EPSILON))
    back = narrow(dp.bound(dp.RenyiDP(2, 1), dp.ApproxDP(found.upper, DELTA), DELTA))
    assert back.upper < Rational(1, 10) + Rational(1, 10**6)
    back = narrow(dp.bound(dp.RenyiDP(2, 1), dp.ApproxDP(found.lower, DELTA), DELTA))
    assert back.lower > Rational(1, 10) - Rational(1, 10**6)


def test_an_order_is_bounded_from_above_by_the_witness():
    alpha = Symbol("alpha", positive=True)
    claim = dp.RenyiDP(alpha, HALF)
    found = narrow(dp.bound(dp.PureDP(1), claim, alpha, where=[alpha > 1]))
    k = exp(1)

    def loss(order):
        return float(log((k**order + k ** (1 - order)) / (1 + k)) / (order - 1))

    assert loss(found.lower) < 0.5 < loss(found.upper)
    assert str(found.lower) in found.proved.statement


def test_one_way_guarantees_leave_the_other_direction_open():
    """From D_2(P || Q) <= 1 alone: Q may have mass 1 - 1/e where P has none."""
    claim = dp.ApproxDP(Rational(3, 2), DELTA)
    found = narrow(dp.bound(dp.RenyiDP(2, 1, one_way=True), claim, DELTA))
    assert found.lower < 1 - exp(-1) < found.upper
    one = narrow(
        dp.bound(
            dp.RenyiDP(2, 1, one_way=True), dp.ApproxDP(Rational(3, 2), DELTA, one_way=True), DELTA
        )
    )
    assert one.lower < Rational("0.11929259761") < one.upper


def test_probabilistic():
    """The largest P(L > eps) under D_2 <= 1 is above the largest delta."""
    found = narrow(dp.bound(dp.RenyiDP(2, 1), dp.ProbabilisticDP(Rational(3, 2), DELTA), DELTA))
    assert found.lower > Rational(1, 2)


def test_zero():
    found = dp.bound(dp.PureDP(1), dp.ApproxDP(Rational(3, 2), DELTA), DELTA)
    assert isinstance(found, dp.Bound)
    assert (found.lower, found.upper, found.refuted) == (0, 0, None)
    assert isinstance(found.proved, dp.Proved)


@pytest.mark.parametrize(
    ("given", "order"),
    [(dp.RenyiDP(2, 1), 4), (dp.ApproxDP(1, Rational(1, 10)), 2), (dp.RenyiDP(1, 1), 2)],
)
def test_infinite(given, order):
    found = dp.bound(given, dp.RenyiDP(order, EPSILON), EPSILON)
    assert isinstance(found, dp.Bound)
    assert found.upper is oo
    assert found.proved is None
    assert isinstance(found.refuted, dp.Refuted)
    assert found.lower > 1


RNG = random.Random(20)
PROBLEMS = [problem(RNG) for _ in range(10)]


@pytest.mark.parametrize(("guarantees", "claim"), PROBLEMS)
def test_random_problems(guarantees, claim):
    """Both ends certified; the distributions checked again with other arithmetic."""
    found = dp.bound(guarantees, claim, DELTA)
    assert isinstance(found, dp.Bound)
    assert found.relative_width < Rational(1, 10**6)
    verify(found.certificate)
    if found.upper == 0:
        return
    pairs = masses(found)
    for guarantee in guarantees:
        assert holds(pairs, guarantee), guarantee
    worst = max(excess(pairs, claim.epsilon), excess([(q, p) for p, q in pairs], claim.epsilon))
    with mp.workdps(50):
        assert worst > mp.mpf(int(found.lower.p)) / int(found.lower.q)


def test_more_guarantees_never_hurt():
    claim = dp.ApproxDP(Rational(3, 2), DELTA)
    one = dp.bound(dp.RenyiDP(2, 1), claim, DELTA)
    two = dp.bound([dp.RenyiDP(2, 1), dp.RenyiDP(Rational(5, 2), Rational(11, 10))], claim, DELTA)
    assert isinstance(one, dp.Bound)
    assert isinstance(two, dp.Bound)
    assert two.lower < two.upper < one.lower


def test_own_moments():
    """E[e^L] <= e is D_2 <= 1."""
    own = dp.MomentBound(lambda loss: exp(loss), exp(Integer(1)))
    found = narrow(dp.bound(own, dp.ApproxDP(Rational(3, 2), DELTA), DELTA))
    assert found.lower < Rational("0.11929259761") < found.upper
