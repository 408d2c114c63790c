"""Random terms for property tests, and their values by mpmath."""

from __future__ import annotations

import mpmath
from flint import fmpq
from hypothesis import strategies as st

from dpsym.kernel import terms as tm
from dpsym.kernel.terms import Term

NAMES = ("x", "y")
small = st.integers(-3, 3)
rationals = st.builds(fmpq, st.integers(-12, 12), st.integers(1, 6))
points = st.fixed_dictionaries(dict.fromkeys(NAMES, rationals))


def _more(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    return st.one_of(
        st.builds(tm.add, inner, inner),
        st.builds(tm.mul, inner, inner),
        st.builds(tm.power, inner, small.filter(lambda k: k != 1)),
        st.builds(tm.exp, inner),
        st.builds(tm.log, inner),
        st.builds(tm.sqrt, inner),
        st.builds(tm.erfc, inner),
        st.builds(tm.atan, inner),
        st.builds(tm.lgamma, inner),
        st.builds(tm.absolute, inner),
        st.builds(tm.maximum, inner, inner),
        st.builds(tm.minimum, inner, inner),
        st.builds(tm.ite, inner, inner, inner),
    )


terms = st.recursive(
    st.one_of(st.sampled_from([tm.var(name) for name in NAMES]), st.builds(tm.num, rationals)),
    _more,
    max_leaves=7,
)


class NotDefined(Exception):
    """The term has no value at the point, or one too large to compare."""


def value(item: Term, at: dict[str, fmpq]) -> mpmath.mpf:
    """The value, with 60 digits, by code that shares nothing with the kernel."""
    with mpmath.workdps(60):
        return _value(item, at)


def _value(item: Term, at: dict[str, fmpq]) -> mpmath.mpf:
    op = item.op
    if op in ("num", "var"):
        number = item.value if op == "num" else at[str(item.value)]
        return mpmath.mpf(int(number.p)) / int(number.q)
    if op == "pi":
        return +mpmath.pi
    if op == "ite":
        return _value(item.args[1 if _value(item.args[0], at) >= 0 else 2], at)
    args = [_value(arg, at) for arg in item.args]
    first = args[0]
    if op == "add":
        return mpmath.fsum(args)
    if op == "mul":
        return mpmath.fprod(args)
    if op == "pow":
        if first == 0 and int(item.value) < 0:
            raise NotDefined
        return first ** int(item.value)
    if op == "exp":
        if abs(first) > 1000:
            raise NotDefined
        return mpmath.exp(first)
    if op in ("log", "sqrt"):
        if first < 0 or (op == "log" and first == 0):
            raise NotDefined
        return mpmath.log(first) if op == "log" else mpmath.sqrt(first)
    if op == "erfc":
        if abs(first) > 30:
            raise NotDefined
        return mpmath.erfc(first)
    if op == "lgamma":
        if first <= 0 or first > 10**6:
            raise NotDefined
        return mpmath.loggamma(first)
    return {"abs": abs, "atan": mpmath.atan, "max": max, "min": min}[op](*args)


def agree(first: mpmath.mpf, second: mpmath.mpf) -> bool:
    return abs(first - second) <= mpmath.mpf(10) ** -30 * (1 + abs(first) + abs(second))
