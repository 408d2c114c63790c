"""Exactness of the translation, against mpmath on SymPy's side and rationals by hand."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp
from flint import fmpq, fmpz
from hypothesis import given
from hypothesis import strategies as st
from sympy.stats import Normal, cdf

from dpsym.errors import InputError, TooLargeError, UnsupportedError
from dpsym.kernel import terms as k
from dpsym.translate import exact, to_sympy, to_term

X, Y = sp.symbols("x y", real=True)
NAMES = {X: k.var("x"), Y: k.var("y")}
x, y = k.var("x"), k.var("y")
HALF = sp.Rational(1, 2)


def term(expr):
    return to_term(expr, "value", NAMES)


def value(item, at):
    """An evaluation of terms that shares nothing with the translation."""
    args = [value(arg, at) for arg in item.args]
    if item.op == "num":
        return mpmath.mpf(int(item.value.p)) / int(item.value.q)
    if item.op == "var":
        return at[item.value]
    if item.op == "pow":
        return args[0] ** item.value
    return {
        "pi": lambda: +mpmath.pi,
        "add": lambda *a: mpmath.fsum(a),
        "mul": lambda *a: mpmath.fprod(a),
        "exp": mpmath.exp,
        "log": mpmath.log,
        "sqrt": mpmath.sqrt,
        "erfc": mpmath.erfc,
        "atan": mpmath.atan,
        "lgamma": mpmath.loggamma,
        "abs": abs,
        "max": max,
        "min": min,
        "ite": lambda c, a, b: a if c >= 0 else b,
    }[item.op](*args)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (X**HALF, k.sqrt(x)),
        (X**-HALF, k.power(k.sqrt(x), -1)),
        (X ** (3 * HALF), x * k.sqrt(x)),
        (X ** (-3 * HALF), k.power(x, -1) * k.power(k.sqrt(x), -1)),
        (X**-2, k.power(x, -2)),
        (X**0.5, k.sqrt(x)),
        (sp.Pow(X, sp.Float(2.0), evaluate=False), k.power(x, 2)),
        (X ** sp.Rational(1, 3), k.exp(fmpq(1, 3) * k.log(x))),
        (X**Y, k.exp(y * k.log(x))),
        (sp.E**X, k.exp(x)),
        (sp.Pow(sp.E, X, evaluate=False), k.exp(x)),
        (sp.E, k.exp(1)),
        (sp.pi, k.PI),
        (sp.erf(X), 1 - k.erfc(x)),
        (sp.atan(X), k.atan(x)),
        (sp.loggamma(X), k.lgamma(x)),
        (sp.factorial(X), k.exp(k.lgamma(x + 1))),
        (sp.log(X, evaluate=False), k.log(x)),
        (sp.Abs(X), k.absolute(x)),
        (sp.sign(X), k.ite(x, k.ite(-x, 0, 1), -1)),
        (sp.Add(X, -X, evaluate=False), x - x),
    ],
)
def test_each_construct_has_its_term(expr, expected):
    assert term(expr) is expected


@pytest.mark.parametrize("relation", [sp.Ge, sp.Gt, sp.Le, sp.Lt, sp.Eq, sp.Ne])
@pytest.mark.parametrize("at", [-1, 0, 1])
def test_conditions_are_exact_on_the_boundary(relation, at):
    expr = sp.Piecewise((10, relation(X, 0)), (20, True))
    assert value(term(expr), {"x": mpmath.mpf(at)}) == expr.subs(X, at)


@pytest.mark.parametrize("at", [-1, 0, 1, 2, 3])
def test_conjunction_disjunction_and_negation(at):
    for condition in (sp.And(X >= 0, X < 2), sp.Or(X < 0, X >= 2), sp.Not(sp.And(X > 0, X < 2))):
        expr = sp.Piecewise((10, condition), (20, X > 2), (30, True))
        assert value(term(expr), {"x": mpmath.mpf(at)}) == expr.subs(X, at)


LEAVES = st.one_of(
    st.sampled_from([X, Y, sp.pi, sp.E]),
    st.fractions(min_value=-3, max_value=3, max_denominator=9).map(sp.Rational),
)
FUNCTIONS = (sp.erf, sp.erfc, sp.Abs, sp.sign, sp.cosh, sp.sinh, sp.tanh)


def grow(inner):
    return st.one_of(
        st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] * p[1]),
        st.tuples(inner, inner, inner).map(lambda p: sp.Max(*p)),
        st.tuples(inner, inner, inner).map(lambda p: sp.Min(*p)),
        st.tuples(st.sampled_from(FUNCTIONS), inner).map(lambda p: p[0](p[1])),
        inner.map(lambda p: sp.exp(-sp.Abs(p))),
        inner.map(lambda p: sp.log(1 + p**2)),
        inner.map(lambda p: (1 + sp.Abs(p)) ** sp.Rational(-3, 2)),
        inner.map(lambda p: (1 + sp.Abs(p)) ** sp.Rational(2, 3)),
        st.tuples(inner, inner).map(lambda p: sp.Piecewise((p[0], X < Y), (p[1], True))),
    )


@given(st.recursive(LEAVES, grow, max_leaves=6), st.tuples(*[st.integers(-5, 5)] * 2))
def test_a_term_has_the_value_of_its_expression(expr, point):
    at = {X: sp.Rational(2 * point[0] + 1, 7), Y: sp.Rational(2 * point[1] + 1, 11)}
    with mpmath.workdps(40):
        expected = expr.subs(at).evalf(30)
        places = {str(s): mpmath.mpf(int(v.p)) / int(v.q) for s, v in at.items()}
        assert abs(value(term(expr), places) - mpmath.mpf(expected)) <= 1e-20 * (1 + abs(expected))


@given(st.recursive(LEAVES, grow, max_leaves=4))
def test_there_and_back_keeps_the_value(expr):
    back = to_sympy(term(expr), {"x": X, "y": Y})
    at = {X: sp.Rational(3, 7), Y: sp.Rational(-5, 11)}
    assert abs((back - expr).subs(at).evalf(20, chop=True)) < 1e-15


def test_a_stats_distribution_function_is_an_expression():
    phi = cdf(Normal("Z", 0, 1))(X)
    with mpmath.workdps(30):
        assert abs(value(term(phi), {"x": mpmath.mpf(1)}) - mpmath.ncdf(1)) < 1e-25


@pytest.mark.parametrize(
    ("given_value", "expected"),
    [
        (0.1, sp.Rational(1, 10)),
        (1e-6, sp.Rational(1, 10**6)),
        (5e-324, sp.Rational(5, 10**324)),
        (np.float64(0.1), sp.Rational(1, 10)),
        (np.int64(3), sp.Integer(3)),
        (Fraction(1, 3), sp.Rational(1, 3)),
        (fmpq(-2, 3), sp.Rational(-2, 3)),
        (fmpz(7), sp.Integer(7)),
        (0.1 * X, X / 10),
        (sp.Float(0.1), sp.Rational(1, 10)),
        (X + sp.Float("0.3"), X + sp.Rational(3, 10)),
        (0.1 + 0.2, sp.Rational("0.30000000000000004")),
    ],
)
def test_numbers_are_read_exactly(given_value, expected):
    assert exact(given_value, "a") == expected


@pytest.mark.parametrize(
    "bad",
    [
        "x", b"x", True, None, [1], 1j, float("nan"), float("inf"), sp.nan, sp.oo, -sp.oo, sp.zoo,
        sp.I, 2 + sp.I, sp.Float("0.1", 30), sp.Float("1e-400"), sp.true, X > 0, sp.oo + X * sp.I,
        np.float32(0.1), Normal("Z", 0, 1), sp.Matrix([1]),
    ],
)  # fmt: skip
def test_what_is_no_real_number_is_refused_by_name(bad):
    with pytest.raises(InputError, match=r"^epsilon: expected "):
        to_term(exact(bad, "epsilon"), "epsilon", NAMES)


@pytest.mark.parametrize(
    ("expr", "name"),
    [
        (sp.floor(X), "floor"), (sp.ceiling(X), "ceiling"), (sp.Mod(X, 2), "Mod"),
        (sp.Heaviside(X), "Heaviside"), (sp.sin(X), "sin"), (sp.zeta(X), "zeta"),
        (sp.Function("f")(X), "f"), (sp.EulerGamma, "EulerGamma"), (sp.zeta(3), "zeta"),
        (sp.Integral(X, (X, 0, Y)), "Integral"), (sp.Sum(X, (X, 1, 9)), "Sum"),
        (sp.Derivative(sp.Abs(X), X), "Derivative"),
    ],
)  # fmt: skip
def test_functions_outside_the_language_are_named(expr, name):
    with pytest.raises(UnsupportedError, match=rf"^a: {name} is not in the language.*exp"):
        to_term(expr, "a", NAMES)


def test_a_piecewise_must_cover_everything():
    with pytest.raises(InputError, match="last condition is True"):
        term(sp.Piecewise((X, X > 0)))


def deep_sum(depth):
    expr = X
    for _ in range(depth):
        expr = sp.Add(expr, 1, evaluate=False)
    return expr


def shared(depth):
    """A tree of 2**depth leaves, in depth nodes."""
    expr = X
    for _ in range(depth):
        expr = sp.Mul(sp.Add(expr, 1, evaluate=False), expr, evaluate=False)
    return expr


@pytest.mark.parametrize(
    "expr",
    [
        deep_sum(1000),
        deep_sum(100_000),
        sp.Add(*[X**i for i in range(1, 15_000)]),
        sp.Integer(7) ** 9000 * X,
        sp.Pow(X, 5000),
    ],
    ids=["deep", "very deep", "long", "digits", "power"],
)
def test_too_large_is_an_error_of_its_own(expr):
    with pytest.raises(TooLargeError):
        term(exact(expr, "a"))


def test_a_shared_expression_takes_no_time():
    assert term(shared(60)).size == 10**9


def test_missing_symbol_is_an_error():
    with pytest.raises(InputError, match=r"^a: "):
        to_term(sp.Symbol("z"), "a", NAMES)
