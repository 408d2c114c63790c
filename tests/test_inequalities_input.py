"""Input of ``check_inequality`` that has no meaning, and input that is too much for its budget."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import pytest
import sympy as sp
from sympy import Abs, Max, Piecewise, Rational, exp, log, oo, sqrt, symbols, zoo

import dpsym as dp
from dpsym.translate import SUPPORTED
from tests.repo.source import ROOT

x, y, r = symbols("x y r", real=True)
p = symbols("p", positive=True)
n = symbols("n", integer=True)

# --- sides that are undefined somewhere ---------------------------------------------------------

# lhs, rhs, where, the sub-term, what it needs, and whether a point fails
UNDEFINED: list[tuple[object, object, list[object], str, str, Callable[..., bool]]] = [
    (log(x), x, [x <= 5], "log(x)", "x > 0", lambda x: x <= 0),
    (x * log(x), x**2, [x >= 0, x <= 1], "log(x)", "x > 0", lambda x: x == 0),
    (1 / (x - 2), 9, [x >= Rational(3, 2)], "1/(-2 + x)", "x != 2", lambda x: x == 2),
    (x, sqrt(1 - x) + 9, [x >= 0, x <= 3], "sqrt(1 - x)", "x <= 1", lambda x: 1 < x <= 3),
    (x ** Rational(1, 3), x + 9, [x >= -1], "x**(1/3)", "x > 0", lambda x: -1 <= x <= 0),
    (exp(1 / log(p)), 9, [p <= 3], "1/log(p)", "log(p) != 0", lambda p: p == 1),
    (x / (x - y), 9, [x >= 1], "1/(x - y)", "x != y", lambda x, y: x == y >= 1),
    (1 / x + y, 1 / x + exp(y), [], "1/x", "x != 0", lambda x: x == 0),
    (1 / n, 2, [n >= -3], "1/n", "n != 0", lambda n: n == 0),
    (Piecewise((log(x), x > -1), (0, True)), 9, [], "log(x)", "x > 0", lambda x: -1 < x <= 0),
]


@pytest.mark.parametrize(("lhs", "rhs", "where", "part", "needs", "fails"), UNDEFINED)
def test_an_undefined_side_is_named_with_a_point(lhs, rhs, where, part, needs, fails):
    with pytest.raises(dp.InputError) as caught:
        dp.check_inequality(lhs, rhs, where=where)
    text = str(caught.value)
    before, at, rest = text.partition(", which is undefined at ")
    assert at, text
    assert before == f"lhs, rhs: expected sides that are defined on the whole domain, got {part}"
    point, _, need = rest.partition(" (it needs ")
    assert need == f"{needs})"
    values = dict(item.split(" = ") for item in point.split(", "))
    assert fails(**{name: Rational(value) for name, value in values.items()}), text


def test_a_condition_that_is_undefined_is_named_too():
    with pytest.raises(dp.InputError, match=r"^where: .* got log\(x\), which is undefined at x = "):
        dp.check_inequality(x, exp(x), where=[log(x) > 0])
    found = dp.check_inequality(x, exp(x), where=[x > 0, log(x) > 0])
    assert isinstance(found, dp.Proved)


def test_constants_that_are_undefined():
    with pytest.raises(dp.InputError, match=r"got log\(-1\), which is undefined \(it needs"):
        dp.check_inequality(log(-1, evaluate=False), x**2)


def test_a_term_in_a_branch_is_needed_only_there():
    inside = Piecewise((log(x), x > 1), (0, True))
    assert isinstance(dp.check_inequality(inside, x**2 + 1), dp.Proved)


def test_an_assumption_that_the_kernel_has_not_is_respected():
    odd = sp.Symbol("m", odd=True)  # 1/(m - 2) is defined at every odd m
    found = dp.check_inequality(1 / (odd - 2), 2, budget=2)
    assert not isinstance(found, dp.Refuted)


# --- what is no side ----------------------------------------------------------------------------

NO_SIDES = [
    "x", b"x", x <= exp(x), sp.Eq(x, 1), sp.Ne(x, 1), (x > 0) & (x < 1), True, None, [x], {x},
    sp.Matrix([x]), oo, -oo, zoo, sp.nan, sp.I, 1 + 2j, sp.I * x, float("nan"),
    sp.Symbol("c", commutative=False), sp.Interval(0, 1),
]  # fmt: skip


@pytest.mark.parametrize("bad", NO_SIDES, ids=str)
def test_what_is_no_real_expression_is_refused(bad):
    with pytest.raises(dp.InputError, match=r"^lhs: expected "):
        dp.check_inequality(bad, x)
    with pytest.raises(dp.InputError, match=r"^rhs: expected "):
        dp.check_inequality(x, bad)


@pytest.mark.parametrize("where", ["x > 0", ["x > 0"], [x], [x > 0, True], x**2, 1, [Max(x, 1)]])
def test_where_takes_relations_only(where):
    with pytest.raises(dp.InputError, match=r"^where: expected a relation"):
        dp.check_inequality(x, exp(x), where=where)


@pytest.mark.parametrize("kind", ["imaginary", "infinite"])
def test_symbols_that_are_never_real_are_refused(kind):
    z = sp.Symbol("z", **{kind: True})
    with pytest.raises(dp.InputError, match=rf"^z: expected a real symbol, .*{kind}=True"):
        dp.check_inequality(z, 1)


@pytest.mark.parametrize("assumptions", [{}, {"complex": True}, {"finite": True}])
def test_symbols_without_a_domain_need_one(assumptions):
    z = sp.Symbol("z", **assumptions)
    with pytest.raises(dp.InputError, match=r"^z: .*symbols\('z', nonnegative=True\).* z >= 0"):
        dp.check_inequality(z, exp(z))
    assert isinstance(dp.check_inequality(z, exp(z), where=[z >= 0]), dp.Proved)


UNSUPPORTED = [
    (sp.sin(x), ["sin"]),
    (sp.zeta(p) + sp.floor(x) * sp.sin(x), ["floor", "sin", "zeta"]),
    (sp.Function("f")(x), ["f"]),
    (sp.Sum(n, (n, 1, 3)), ["Sum"]),
    (sp.Integral(exp(-x), (x, 0, 1)), ["Integral"]),
    (sp.re(sp.Symbol("w")) + x, ["re"]),
]


@pytest.mark.parametrize(("expr", "names"), UNSUPPORTED)
def test_unsupported_functions_are_all_named_with_what_is_supported(expr, names):
    with pytest.raises(dp.UnsupportedError) as caught:
        dp.check_inequality(0, expr)
    assert sorted(caught.value.functions) == names
    assert all(name in str(caught.value) for name in names)
    assert SUPPORTED in str(caught.value)


# --- more than a budget allows ------------------------------------------------------------------

HALF = Rational(1, 2)


def wide_sum(count: int) -> tuple[object, object]:
    """Jensen's inequality for exp."""
    v = symbols(f"x:{count}", real=True)
    return exp(sum(v) / count), sum(map(exp, v)) / count


def log_sums(count: int) -> tuple[object, object]:
    """The log-sum inequality of so many terms, and something on top."""
    a, b = symbols(f"a:{count}", positive=True), symbols(f"b:{count}", positive=True)
    each = sum(u * log(u / v) for u, v in zip(a, b, strict=True))
    return sum(a) * log(sum(a) / sum(b)), each + sqrt(sum(a)) ** 3


def nested(count: int) -> tuple[object, object]:
    """Max is 1-Lipschitz in the maximum norm, written as nested maxima."""
    u, v = symbols(f"u:{count // 2}", real=True), symbols(f"v:{count // 2}", real=True)

    def tower(items, shift):
        out = items[0]
        for item in items[1:]:
            out = Max(out - shift, item, evaluate=False) + shift
        return out

    gap = tower([Abs(a - b) for a, b in zip(u, v, strict=True)], 0)
    return Abs(tower(u, HALF) - tower(v, HALF)), gap


def squares(count: int) -> tuple[object, object]:
    """exp(a) is at most exp(2*a) or exp(a/3); written with all products."""
    v = symbols(f"q:{count}", real=True)
    products = sp.Add(*(exp(a) * exp(b) for a in v for b in v if a is not b))
    return 2 * products, 9 * sp.Add(*(exp(2 * a) + exp(a / 3) for a in v)) ** 2


MEASURE = """
import json, resource, sys, time
import sympy
import dpsym as dp
from tests import test_inequalities_input as cases
make, count, budget = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
lhs, rhs = getattr(cases, make)(count)
dp.check_inequality(1, 2)  # loads what is loaded when it is needed
start = time.process_time()
found = dp.check_inequality(lhs, rhs, budget=budget)
spent = time.process_time() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([type(found).__name__, spent, peak, len(getattr(found, "remaining", ()))]))
"""


@pytest.mark.parametrize(
    ("make", "count"), [(wide_sum, 12), (wide_sum, 40), (log_sums, 40), (nested, 40), (squares, 40)]
)
def test_many_parameters_take_bounded_time_and_memory(make, count):
    budget = 2.0
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, make.__name__, str(count), str(budget)],
        capture_output=True, text=True, cwd=ROOT, timeout=60, check=True,
    )  # fmt: skip
    kind, spent, peak, left = json.loads(done.stdout)
    assert (kind, left >= 1) in [("Unknown", True), ("Proved", False)]
    assert spent <= 3 * budget + 2  # no measurement: the machine may be busy
    assert peak < 2 * 2**30
