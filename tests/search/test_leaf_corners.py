"""False claims that fail in a corner, at a face or at a tie alone: each with a point where it does.

The points are exact reasoning, checked here with the kernel's enclosures; the search has to find
one of its own.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import fmpq
from sympy import Rational, Symbol, tanh

import dpsym as dp
from dpsym.claims import read_inequality
from dpsym.kernel.balls import enclose, rational
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import absolute, erfc, exp, ite, log, maximum, power, sqrt, term, var
from dpsym.reader import Symbols, read_expression, read_relation
from dpsym.search.leaf import Budget, OutOfBudget, refute
from dpsym.search.leaf.corners import linear_root, ties
from dpsym.search.leaf.deep import find
from dpsym.search.leaf.exact import Balls, rational_at
from dpsym.search.leaf.numeric import refutes, sign_at

NONE = frozenset[str]()
MILLIONTH = "1/1000000"

# name: conditions, left side, relation, right side, a point where it fails
CASES: dict[str, tuple[str, str, str, str, dict[str, str]]] = {
    # 1 - tanh(x/2) = 2/(1 + e^x), which is below 1e-200 for x > 461.2
    "tanh corner": ("x >= 0", "tanh(x/2)", "<=", "1 - 10**(-200)", {"x": "470"}),
    # log(1/delta) for delta = 1e-250 is 575.6
    "zcdp at tiny delta": (
        "rho >= 0; rho <= 1/9; delta > 0; delta <= 1/2",
        "rho + 2*sqrt(rho*log(1/delta))",
        "<=",
        "16",
        {"rho": "1/9", "delta": "1e-260"},
    ),
    # sqrt(d) <= 10^100 d for d >= 1e-200 alone
    "root at zero": ("d >= 0; d <= 1", "sqrt(d)", "<=", "10**100*d", {"d": "1e-210"}),
    # y = alpha - 1: y (1 - 1e-9) against y (1 - 2e-9 + y/2 + ...): fails below y = 2e-9 alone
    "order at one": (
        "alpha > 1; alpha <= 2",
        "alpha - 1 - (alpha - 1)*(10**(-9))",
        "<=",
        "log(alpha)*(1 - 2*(10**(-9)) + (alpha - 1))",
        {"alpha": "1000000001/1000000000"},
    ),
    # e^y - 1 > y, against 1 + 1e-9: fails below y = 2e-9 alone
    "expm1 at an order near one": (
        "alpha > 1; alpha <= 3",
        "(1 + 10**(-9))*(alpha - 1)",
        "<=",
        "exp(alpha - 1) - 1",
        {"alpha": "1000000001/1000000000"},
    ),
    # fails beyond 9999.0001 alone
    "far": ("eps >= 0; eps <= 10000", "eps", "<=", "9999 + eps/100000000", {"eps": "10000"}),
    # fails within 1e-6 of eps = 1e4 alone
    "far face": (
        "eps >= 0; eps <= 10000",
        "exp(eps - 10000)",
        "<=",
        "1 - 10**(-6)",
        {"eps": "10000"},
    ),
    # equal where p = q
    "strict Pinsker": (
        "p > 0; p < 1; q > 0; q < 1",
        "2*(p - q)**2",
        "<",
        "p*log(p/q) + (1 - p)*log((1 - p)/(1 - q))",
        {"p": "1/2", "q": "1/2"},
    ),
    # Gibbs, with equality where P = Q
    "strict Gibbs": ("P > 0; Q > 0", "P - Q", "<", "P*log(P/Q)", {"P": "1", "Q": "1"}),
    # equal at the closed face a = 0 alone
    "strict at a face": ("a >= 0; x >= 0", "x", "<", "x*exp(a) + a", {"a": "0", "x": "3"}),
    "strict at two faces": (
        "a >= 0; b >= 0; x > 0",
        "x",
        "<",
        "x*exp(a*a + b) + sqrt(a + b)",
        {"a": "0", "b": "0", "x": "1"},
    ),
    # the last summand is 1 at the tie x = 2 y alone
    "tie in a condition": (
        "x >= 0; y >= 0",
        "Ite(x - 2*y >= 0, 1, 0)",
        "<=",
        "Ite(x - 2*y > 0, 1, 0) + Abs(x - 2*y)",
        {"x": "2", "y": "1"},
    ),
    "ties of three products": (
        "P >= 0; Q >= 0; R >= 0; S >= 0; a >= 0",
        "Ite(P*R - exp(a)*Q*S >= 0, P*R, 0)",
        "<=",
        "Ite(P - exp(a)*Q > 0, P, 0)*R + P*Ite(R - S > 0, R, 0)",
        {"P": "1", "Q": "1", "R": "1", "S": "1", "a": "0"},
    ),
    # at p = 1/2 + d/2, q = 1/2 - d/2 the divergence is 2 d^2 + 2 d^4/3 + ..., but with
    # p = 1/2 + 2 d/3, q = 1/2 - d/3 only 2 d^2 + 4 d^4/9 + ...
    "quartic": (
        "p > 0; p < 1; q > 0; q < 1",
        "2*(p - q)**2 + 447*(p - q)**4/1000",
        "<=",
        "p*log(p/q) + (1 - p)*log((1 - p)/(1 - q))",
        {"p": "0.502", "q": "0.499"},
    ),
    # p log(p/q) + ... is p (t - 1 - log t) + ..., t = q/p, with second order p (t - 1)^2/2
    "Chernoff's lower tail, scaled": (
        "p > 0; q >= p; q < 1",
        "(p - q)**2/(2*q)",
        "<=",
        f"(1 - {MILLIONTH})*(p*log(p/q) + (1 - p)*log((1 - p)/(1 - q)))",
        {"p": "1e-9", "q": "1.00000000001e-9"},
    ),
    # e^-x - 1 + x = x^2/2 - x^3/6 + ..., so it fails for x < 3e-6 alone
    "series, scaled": (
        "x >= 0",
        "exp(-x) - 1 + x",
        "<=",
        f"x**2/2*(1 - {MILLIONTH})",
        {"x": "1e-7"},
    ),
    # p^2 + (1 - p)^2 >= 1/2 with equality at p = 1/2 alone, and nothing else below zero
    "strict inside": ("p >= 0; p <= 1", "exp(0) - p**2 - (1 - p)**2", "<", "1/2", {"p": "1/2"}),
    # exp(-eps^2) < 1e-300 for eps > 26.3
    "tail of Gaussian type": (
        "eps >= 0",
        "1",
        "<=",
        "1 - 10**(-300) + exp(-eps**2)",
        {"eps": "27"},
    ),
}


def sequent(where: str, lhs: str, rel: str, rhs: str) -> Sequent:
    symbols: Symbols = {}
    given = [read_relation(text.strip(), symbols) for text in where.split(";") if text.strip()]
    goal, scope = read_inequality(
        read_expression(lhs, symbols), read_expression(rhs, symbols), given
    )
    return Sequent(tuple(scope.facts), Fact(goal, ">" if rel == "<" else ">="))


def exact(text: str) -> fmpq:
    value = Fraction(text)
    return fmpq(value.numerator, value.denominator)


@pytest.mark.parametrize("name", CASES)
def test_corners_are_found(name: str) -> None:
    *claim, witness = CASES[name]
    item = sequent(*claim)
    assert refutes(item, {key: exact(text) for key, text in witness.items()}, bits=4096)
    found = refute(item, 4)
    assert found is not None
    assert refutes(item, found, bits=4096)


def test_a_true_claim_that_touches_zero_has_no_counterexample() -> None:
    item = sequent("x >= 0; y >= 0", "2*x*y", "<=", "x**2 + y**2")
    assert refute(item, 0.5) is None
    with pytest.raises(OutOfBudget):  # exact points alone; the search would go on
        find(item, Budget(0.3), NONE)


def test_whole_values_stay_whole() -> None:
    item = sequent("n >= 1; x >= 0", "n**2 + x", "<=", "99999999*n + x**2 + 3")
    found = find(item, Budget(5), frozenset({"n"}))
    assert found is not None
    assert found["n"].q == 1
    assert refutes(item, found)


x, y = var("x"), var("y")
FOUR = {"x": fmpq(4), "y": fmpq(-2, 3)}


@pytest.mark.parametrize(
    ("item", "value"),
    [
        (x + y * 3, 2),
        (power(y, -2), fmpq(9, 4)),
        (sqrt(x / 9), fmpq(2, 3)),
        (exp(x - 4) + log(x - 3) + erfc(x - 4), 2),
        (absolute(y) + maximum(x, y), fmpq(14, 3)),
        (ite(x - 4, 1, log(x)), 1),
        (ite(3 - x, log(x), 1), 1),
        (ite(4 - x, log(x), 1), None),  # log 4 is not rational
        (sqrt(x / 2), None),
        (sqrt(-x), None),
        (power(x - 4, -1), None),
        (log(y), None),
        (var("z") + 1, None),
    ],
)
def test_rational_values(item, value) -> None:
    assert rational_at(term(item), FOUR) == value


def test_balls_hold_what_the_kernel_encloses() -> None:
    items = (
        exp(x * y) - sqrt(x) / 3,
        power(y, 3) + erfc(y) * log(x),
        maximum(x, y) + absolute(y) - ite(x - 4, x, y),
        power(exp(x) - exp(power(x, 2) / 4), 2),  # zero, but only nearly so as a ball
    )
    for item, ball in zip(items, Balls(items, ("x", "y"))(FOUR), strict=True):
        assert ball.is_finite()
        for bits in (64, 256):
            low, high = enclose(item, {k: rational(v) for k, v in FOUR.items()}, bits, True)
            assert ball.overlaps(low.union(high))
    outside = Balls((log(y), sqrt(y), power(x - 4, -1)), ("x", "y"))(FOUR)
    assert not any(ball.is_finite() for ball in outside)


def test_ties_are_solved_exactly() -> None:
    item = sequent("a >= 0; P >= 0; Q > 0", "Ite(P - exp(a)*Q >= 0, P/(P + 3*Q), 0)", "<=", "a")
    point = {"a": fmpq(0), "P": fmpq(5), "Q": fmpq(7)}
    names = {str(tie): tie for tie in ties(item)}
    condition = next(tie for text, tie in names.items() if "exp" in text and "P" in text)
    assert linear_root(condition, "Q", point) == 5
    assert linear_root(condition, "Q", {**point, "a": fmpq(1)}) is None  # e is not rational
    assert linear_root(condition, "a", point) is None  # not affine
    assert any(tie.vars == {"P", "Q"} and "exp" not in text for text, tie in names.items())


def test_more_bits_tell_more_signs() -> None:
    gap = fmpq(1, 10**300) - 1 + (exp(x) - 1) / (exp(x) + 1)
    assert sign_at(term(gap), {"x": fmpq(1000)}) is None
    assert sign_at(term(gap), {"x": fmpq(1000)}, bits=2048) == 1


def test_a_false_claim_is_refuted_while_a_proof_is_sought() -> None:
    x = Symbol("x", nonnegative=True)
    verdict = dp.check_inequality(tanh(x / 2), 1 - Rational(1, 10**300), budget=60)
    assert isinstance(verdict, dp.Refuted)
    assert verdict.seconds < 10
    low, _, high = verdict.witness.text().split("[")[1].partition(", ")
    assert low.startswith("-") and high.startswith("-")  # enough digits to see the sign
