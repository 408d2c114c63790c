"""The text of a term, read by Python, has the term's value."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from dpsym.kernel import terms as tm
from dpsym.kernel.statements import Fact
from dpsym.printing import show, show_fact
from dpsym.search.samples import number

AT = {"x": 0.7, "y": 1.9, "z": 3.1}
NAMESPACE = {
    **AT,
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "erfc": math.erfc,
    "Phi": NormalDist().cdf,
    "Abs": abs,
    "Max": max,
    "Min": min,
    "Ite": lambda c, a, b: a if c >= 0 else b,
    "pi": math.pi,
}

leaves = st.sampled_from([tm.var("x"), tm.var("y"), tm.var("z"), tm.PI]) | st.builds(
    lambda p, q: tm.num(fmpq(p, q)), st.integers(-5, 5), st.integers(1, 4)
)


def grow(inner):
    several = st.lists(inner, min_size=1, max_size=3)
    return (
        st.builds(lambda a: tm.add(*a), several)
        | st.builds(lambda a: tm.mul(*a), several)
        | st.builds(tm.power, inner, st.integers(-3, 3))
        | st.builds(lambda op, a: tm.Term(op, (a,)), st.sampled_from(["exp", "abs"]), inner)
        | st.builds(tm.maximum, inner, inner)
        | st.builds(tm.real_power, st.sampled_from([tm.var("x"), tm.var("y")]), inner)
        | st.builds(tm.ite, inner, inner, inner)
    )


@given(st.recursive(leaves, grow, max_leaves=12))
def test_the_text_has_the_value(term):
    value = number(term, AT)
    if not math.isfinite(value) or abs(value) > 1e100:
        return
    try:
        read = eval(show(term), {"__builtins__": {}}, NAMESPACE)  # noqa: S307 - our own text
    except OverflowError:
        return
    assert read == pytest.approx(value, rel=1e-6, abs=1e-9)


def test_examples():
    x, y = tm.var("x"), tm.var("y")
    assert show(-x / y) == "-x/y"
    assert show(x - (y - 1)) == "x - (y - 1)"
    assert show(tm.power(-x, 2)) == "(-x)**2"
    assert show(tm.num(fmpq(1, 2)) * x) == "x/2"
    assert show(1 / (x * y)) == "1/(x*y)"
    assert show(tm.power(tm.num(fmpq(1, 2)), 3)) == "(1/2)**3"


def test_the_normal_distribution_function():
    x, root = tm.var("x"), tm.sqrt(tm.num(2))
    half = tm.num(fmpq(1, 2))
    assert show(half * tm.erfc(-x / root)) == "Phi(x)"
    assert show(half * tm.erfc(half * root * (x - 1))) == "Phi(-(x - 1))"
    assert show(-3 * half * x * tm.erfc(x / root)) == "-3*x*Phi(-x)"
    assert show(tm.erfc(x / root)) == "erfc(x/sqrt(2))"  # which is 2*Phi(-x)
    assert show(half * tm.erfc(x)) == "erfc(x)/2"


def test_real_powers():
    a, x = tm.var("a"), tm.var("x")
    assert show(tm.exp(a - a * tm.log(x))) == "exp(a)*x**(-a)"
    assert show(x * x * tm.exp(a * tm.log(x) * fmpq(1, 2))) == "x**2*x**(a/2)"
    assert show(tm.exp(2 * tm.log(x))) == "exp(2*log(x))"  # x**2 would be defined at 0


def test_facts():
    x, y = tm.var("x"), tm.var("y")
    assert show_fact(Fact(-(x - y), ">")) == "y > x"
    assert show_fact(Fact(x - y - 1, ">=")) == "x >= y + 1"
    assert show_fact(Fact(-2 * (x - y), ">=")) == "2*(x - y) <= 0"
