"""The public verbs: what each kind of claim comes to, and what bad input gets."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from sympy import (
    Abs,
    Add,
    I,
    Max,
    Mul,
    Piecewise,
    Rational,
    Symbol,
    exp,
    log,
    nan,
    oo,
    sqrt,
    symbols,
)

import dpsym as dp
from dpsym.kernel.certificate import verify

e, e1, e2 = symbols("epsilon epsilon1 epsilon2", nonnegative=True)
d, d1, d2 = symbols("delta delta1 delta2", nonnegative=True)
alpha, b, size, rho = symbols("alpha b Delta rho", positive=True)
k = symbols("k", integer=True, positive=True)
x, s1, s2 = symbols("x s1 s2", real=True)
LAPLACE = dp.AdditiveNoise(dp.noise.Laplace(scale=b), sensitivity=size)
TWO = dp.compose(dp.ApproxDP(e1, d1), dp.ApproxDP(e2, d2))

TRUE = [
    (dp.compose(dp.PureDP(e1), dp.PureDP(e2)), dp.PureDP(e1 + e2), []),
    (dp.PureDP(e), dp.PureDP(2 * e), []),
    (dp.PureDP(e), dp.ApproxDP(e, 0), []),
    (TWO, dp.ApproxDP(e1 + e2, d1 + d2), []),
    (TWO, dp.ApproxDP(e1 + e2, d1 + d2 - d1 * d2), []),
    (TWO, dp.ApproxDP(e1 + e2 + 1, d1 + d2 + d1 * d2), []),
    (dp.compose(dp.RenyiDP(2, e1), dp.RenyiDP(2, e2)), dp.RenyiDP(2, e1 + e2), []),
    (dp.compose(dp.ZCDP(e1), dp.ZCDP(e2), dp.ZCDP(e)), dp.ZCDP(e + e1 + e2), []),
    (dp.ZCDP(rho), dp.RenyiDP(alpha, rho * alpha), [alpha > 1]),
    (dp.both(dp.PureDP(e1), dp.RenyiDP(2, e2)), dp.RenyiDP(2, e2), []),
    (dp.PureDP(e), dp.both(dp.PureDP(e), dp.RenyiDP(3, e)), []),
    (dp.PureDP(e, one_way=True), dp.PureDP(e, one_way=True), []),
    (LAPLACE, dp.PureDP(size / b), []),
    (dp.compose(LAPLACE, dp.PureDP(e)), dp.PureDP(e + size / b), []),
    (dp.RandomizedResponse(e, categories=k), dp.PureDP(e), [k >= 2]),
    (dp.RandomizedResponse(e, categories=k), dp.PureDP(e), [k > 1]),
    (dp.postprocess(dp.RenyiDP(alpha, e)), dp.RenyiDP(alpha, e), [alpha > 1]),
]
FALSE = [
    (  # log 2 is needed for the second row against the first
        dp.Table([[Rational(1, 4), Rational(3, 4)], [Rational(1, 2), Rational(1, 2)]]),
        dp.PureDP(log(Rational(3, 2)), one_way=True),
        [],
    ),
    (dp.compose(dp.PureDP(e1), dp.PureDP(e2)), dp.PureDP(Max(e1, e2)), []),
    (dp.PureDP(e), dp.PureDP(Rational(99, 100) * e), []),
    (TWO, dp.ApproxDP(e1 + e2, d1 + d2 - 2 * d1 * d2), []),
    (dp.ApproxDP(e, d), dp.PureDP(e), []),
    (dp.PureDP(e, one_way=True), dp.PureDP(e), []),
    (LAPLACE, dp.PureDP(size / (2 * b)), []),
    (dp.RandomizedResponse(e, categories=k), dp.PureDP(0.99 * e), [k >= 2]),
]


@pytest.mark.parametrize(("subject", "claim", "where"), TRUE)
def test_true_claims_are_proved_and_their_certificates_checked(subject, claim, where):
    verdict = dp.check(subject, claim, where=where)
    assert isinstance(verdict, dp.Proved), verdict
    assert verify(verdict.certificate).statement == verdict.theorem.proved.statement


@pytest.mark.parametrize(("subject", "claim", "where"), FALSE)
def test_false_claims_are_refuted(subject, claim, where):
    verdict = dp.check(subject, claim, where=where)
    assert isinstance(verdict, dp.Refuted), verdict
    assert verdict.witness.text()


def test_prove_raises_with_the_verdict():
    with pytest.raises(dp.ProofError, match="Refuted") as caught:
        dp.prove(dp.PureDP(e), dp.PureDP(e / 2))
    assert isinstance(caught.value.verdict, dp.Refuted)


def test_a_float_is_read_as_the_decimal_that_prints_it():
    verdict = dp.check(dp.PureDP(0.1), dp.PureDP(Fraction(1, 10)))
    assert isinstance(verdict, dp.Proved)
    assert "PureDP(1/10)" in str(verdict)


def test_inequalities():
    assert isinstance(dp.check_inequality(1 + x, exp(x)), dp.Proved)
    assert isinstance(dp.check_inequality(1 + x, exp(x), strict=True), dp.Refuted)
    found = dp.check_inequality(1 + 2 * x, exp(x), where=[x >= 0])
    assert isinstance(found, dp.Refuted)
    value = found.witness.values["x"]
    number = Fraction(int(value.p), int(value.q))
    assert number >= 0
    assert 1 + 2 * number > math.exp(number)


@pytest.mark.parametrize("where", [[x > 1, x < 0], [x**2 < 0], [k < Rational(1, 2)]])
def test_an_empty_domain_is_vacuous(where):
    claim = dp.PureDP(e + k * 0 + x * 0)
    assert isinstance(dp.check(dp.PureDP(e), claim, where=where), dp.Vacuous)
    assert isinstance(dp.check_inequality(1, 0, where=where), dp.Vacuous)


BAD = [
    (lambda: dp.check(dp.PureDP(Symbol("q")), dp.PureDP(1)), "q"),
    (lambda: dp.ApproxDP(1, Rational(3, 2)), "delta.*3/2"),
    (lambda: dp.ApproxDP(-1, 0), "epsilon.*-1"),
    (lambda: dp.RenyiDP(0, 1), "alpha.*0"),
    (lambda: dp.RenyiDP(-oo, 1), "alpha"),
    (lambda: dp.PureDP(nan), "epsilon"),
    (lambda: dp.PureDP(oo), "epsilon"),
    (lambda: dp.PureDP(I), "epsilon"),
    (lambda: dp.PureDP("epsilon"), "epsilon"),
    (lambda: dp.check(dp.PureDP(e), dp.PureDP(e), where=[True]), "where.*Ne"),
    (lambda: dp.check(dp.PureDP(e), dp.PureDP(e), where=["e > 0"]), "where"),
    (lambda: dp.check(dp.PureDP(e), "PureDP"), "claim"),
    (lambda: dp.check("PureDP", dp.PureDP(e)), "subject"),
    (lambda: dp.check(dp.PureDP(e), dp.PureDP(e), budget=0), "budget"),
    (lambda: dp.check(dp.PureDP(e), dp.PureDP(e), budget=math.nan), "budget"),
    (lambda: dp.check(dp.PureDP(e), dp.PureDP(e), hints=[1]), "hints"),
    (lambda: dp.check(dp.PureDP(e), dp.PureDP(e), hints=[dp.derive("y")]), "hints.*y"),
    (lambda: dp.check(dp.RenyiDP(alpha, e), dp.RenyiDP(alpha, e)), "alpha"),
    (lambda: dp.check_inequality("x", 1), "lhs"),
    (lambda: dp.check_inequality(log(x), x), "lhs"),
    (lambda: dp.check_inequality(sqrt(x), Abs(x)), "lhs"),
    (lambda: dp.check_inequality(1 / x, 1 + x**2), "lhs"),
    (lambda: dp.check_inequality(1, 2, strict=1), "strict"),
    (
        lambda: dp.check(dp.PureDP(Symbol("z", positive=True)), dp.PureDP(Symbol("z", real=True))),
        "z",
    ),
]


@pytest.mark.parametrize(("call", "names"), BAD)
def test_bad_input_gets_one_clear_error(call, names):
    with pytest.raises(dp.InputError, match=f"(?s){names}"):
        call()


n1, n2 = symbols("n1 n2", nonnegative=True)
UNDEFINED = [  # sides, conditions, what fails, and the values at which it does
    (0, log(s2 / s1) + (s1**2 + x**2) / (2 * s2**2), [s1 > 0], "s2", "s2 = (-|0)"),
    (1 / (exp(x) - 1) ** 2, 1 + 1 / (exp(x) - 1) ** 2, [x > -0.001], "exp", "x = 0"),
    (1 / (n1 * n2 - 1) ** 2, 2 + 1 / (n1 * n2 - 1) ** 2, [], "n1.*!= 1", "n1 = .*n2 = "),
    (0, 1 / (x**2 - 2 * x - 15) ** 2, [], r"x\*\*2", "x = (5|-3)"),
    (0, 1 / (exp(x) - exp(2 * x - 1)) ** 2, [x >= 0, x <= 3], "exp", "x = 1"),
    (0, Piecewise((x**2 * log(x) ** 2, x >= 0), (1, True)), [x >= -1], "x > 0", "x = 0"),
]


@pytest.mark.parametrize(("lhs", "rhs", "where", "names", "values"), UNDEFINED)
def test_undefined_sides_are_named_with_a_point(lhs, rhs, where, names, values):
    with pytest.raises(dp.InputError, match=f"(?s)(?=.*{names}).*undefined at.*{values}"):
        dp.check_inequality(lhs, rhs, where=where, budget=10)


def test_an_assumption_that_the_kernel_drops_allows_no_witness():
    odd = Symbol("n", odd=True, positive=True)
    assert isinstance(dp.check(dp.PureDP(odd), dp.PureDP(odd / 2)), dp.Unknown)
    assert isinstance(dp.check(dp.PureDP(odd), dp.PureDP(2 * odd)), dp.Proved)


def test_a_huge_expression_is_unknown_in_bounded_time():
    deep = x
    for _ in range(3000):
        deep = Mul(Add(deep, 1, evaluate=False), 2, evaluate=False)
    found = dp.check_inequality(deep, 2, budget=5)
    assert isinstance(found, dp.Unknown)


def test_a_used_up_budget_is_unknown():
    hard = dp.ApproxDP(e1 + e2 - Rational(1, 1000), d1 + d2 + Rational(1, 999))
    verdict = dp.check(TWO, hard, where=[e1 >= 1, e2 >= 1], budget=0.2)
    assert isinstance(verdict, (dp.Unknown, dp.Refuted, dp.Proved))
    assert verdict.seconds < 3
