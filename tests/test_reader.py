"""Text: what it means, and that nothing else is let in."""

import pytest
import sympy as sp

from dpsym.combinators import compose, postprocess
from dpsym.errors import DpsymError, InputError, TooLargeError
from dpsym.guarantees import NOTIONS, ZCDP, ApproxDP, MomentBound, PureDP, RenyiDP, both
from dpsym.kernel import terms as k
from dpsym.losses import PrivacyLoss
from dpsym.mechanisms import AdditiveNoise, RandomizedResponse, Table, noise
from dpsym.reader import _CONSTRUCTORS, read_expression, read_relation, read_subject
from dpsym.scope import Scope

x, y, a, b, e = sp.symbols("x y a b e", real=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*x + y/3 - 1", 2 * x + y / 3 - 1),
        ("-x**2", -(x**2)),
        ("(-x)**2", x**2),
        ("x**-1", 1 / x),
        ("2**3**2", sp.Integer(512)),
        ("1 - 2 - 3", sp.Integer(-4)),
        ("12/4/3", sp.Integer(1)),
        ("x - y - 1", x - y - 1),
        ("x/y/2", x / y / 2),
        ("x/(y/2)", 2 * x / y),
        ("0.1", sp.Rational(1, 10)),
        ("1e-6", sp.Rational(1, 10**6)),
        ("0.1234567890123456789012", sp.Rational("0.1234567890123456789012")),
        ("1_000", sp.Integer(1000)),
        ("+x", x),
        ("x**(1/2)", sp.sqrt(x)),
        ("sqrt(x)", sp.sqrt(x)),
        ("exp(x)*log(1 + x**2)", sp.exp(x) * sp.log(1 + x**2)),
        ("log(x, 2)", sp.log(x) / sp.log(2)),
        ("Max(x, y, 0) - Min(x, 1)", sp.Max(x, y, 0) - sp.Min(x, 1)),
        ("Abs(x) + sign(y)", sp.Abs(x) + sp.sign(y)),
        ("Phi(x)", (1 + sp.erf(x / sp.sqrt(2))) / 2),
        ("erf(x) + erfc(y)", sp.erf(x) + sp.erfc(y)),
        ("cosh(x) + sinh(x) + tanh(y)", sp.cosh(x) + sp.sinh(x) + sp.tanh(y)),
        ("pi*x", sp.pi * x),
        ("Ite(x >= 1, x, y)", sp.Piecewise((x, x >= 1), (y, True))),
        ("Ite(0 < x < 1, x, y)", sp.Piecewise((x, (x > 0) & (x < 1)), (y, True))),
    ],
)
def test_the_value_of_a_text(text, expected):
    found = read_expression(text)
    for at in ((sp.Rational(3, 4), 2), (sp.Rational(5, 2), sp.Rational(1, 3))):
        place = dict(zip((x, y), at, strict=True))
        assert abs((found.subs(place) - expected.subs(place)).evalf(30)) < 1e-25


def test_nothing_is_simplified():
    assert Scope().term(read_expression("x/x"), "a") is k.var("x") * k.power(k.var("x"), -1)
    assert read_expression("0*log(x)") != 0
    assert read_expression("exp(log(x))") != x
    assert read_expression("x - x") != 0


def test_names_are_shared_through_the_mapping():
    n = sp.Symbol("n", integer=True)
    symbols = {"n": n}
    assert read_expression("n + z", symbols).free_symbols == {n, sp.Symbol("z", real=True)}
    assert symbols["z"] == sp.Symbol("z", real=True)
    assert read_expression("z", symbols) is symbols["z"]
    assert read_subject("RandomizedResponse(e, n)", symbols) == RandomizedResponse(e, n)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x < 1", sp.Lt(x, 1)),
        ("x != 1", sp.Ne(x, 1)),
        ("x == y", sp.Eq(x, y)),
        ("0 <= x < y", sp.And(sp.Le(0, x, evaluate=False), x < y)),
        ("x > 1 and y >= 2", sp.And(x > 1, y >= 2)),
        ("1 < 2", sp.Lt(1, 2, evaluate=False)),
    ],
)
def test_relations(text, expected):
    assert read_relation(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PureDP(e)", PureDP(e)),
        ("ApproxDP(e, delta=0.5)", ApproxDP(e, sp.Rational(1, 2))),
        ("RenyiDP(oo, e)", RenyiDP(sp.oo, e)),
        ("ZCDP(e, one_way=True)", ZCDP(e, one_way=True)),
        ("both(PureDP(a), ZCDP(b))", both(PureDP(a), ZCDP(b))),
        ("compose(PureDP(a), compose(ZCDP(b)))", compose(PureDP(a), ZCDP(b))),
        ("postprocess(PureDP(a))", postprocess(PureDP(a))),
        ("MomentBound(exp(2*L), a)", MomentBound(sp.exp(2 * PrivacyLoss()), a)),
        ("AdditiveNoise(Laplace(scale=b), sensitivity=1)", AdditiveNoise(noise.Laplace(b), 1)),
        ("Table([[1/2, 1/2], [1, 0]])", Table([[0.5, 0.5], [1, 0]])),
        ("RandomizedResponse(e, categories=3)", RandomizedResponse(e, 3)),
    ],
)
def test_subjects(text, expected):
    assert read_subject(text) == expected


def test_every_notion_can_be_written():
    assert set(NOTIONS) <= set(_CONSTRUCTORS)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')", "x.__class__", "(lambda: 1)()", "[x for x in y]",
        "x if y else 1", "'x'", "b'x'", "f'{x}'", "True", "None", "...", "x[0]", "{x}", "(x, y)",
        "x := 1", "x @ y", "x // y", "x % y", "x ^ y", "x | y", "~x", "not x", "x and y", "x < y",
        "f(x)", "exp(x, y)", "exp()", "exp(x=1)", "exp(*x)", "log(x, y, 1)", "Ite(x, y, 1)",
        "Ite(x > 0, y)", "PureDP(1)", "1j", "E", "I", "oo", "oo - oo", "nan", "zoo", "exp",
        "PureDP",
        "", " ", "x y", "x +", "1/0", "x/0", "0**-1", "(", "x\0", "import os", "x = 1", "eval(x)",
        "exp(exp)", "(x)(y)", "await x", "yield", "9" * 5000, "()" , "x\ny", "$t", "Phi", "Max()",
    ],
)  # fmt: skip
def test_what_is_no_expression_is_refused(text):
    with pytest.raises(InputError, match=r"^text: expected "):
        read_expression(text)


@pytest.mark.parametrize(
    "text", ["x", "x > 1 or y > 1", "x in y", "x is y", "not x > 1", "PureDP(1)", "1", "x > L.y"]
)
def test_what_is_no_relation_is_refused(text):
    with pytest.raises(InputError, match=r"^text: expected "):
        read_relation(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "^text: expected one of .*PureDP"),
        ("Laplace(1)", "^text: expected one of"),
        ("PureDP()", "^text: expected the arguments of PureDP"),
        ("PureDP(1, delta=1)", "^text: expected the arguments of PureDP"),
        ("PureDP(1, epsilon=1)", "^text: expected the arguments of PureDP"),
        ("PureDP(*[1])", "^text: expected plain arguments"),
        ("PureDP(**x)", "^text: expected plain arguments"),
        ("dp.PureDP(1)", "^text: expected a function by its name"),
        ("ApproxDP(e, 2)", r"^delta: expected a number in \[0, 1\], got 2$"),
        ("PureDP(oo)", "^epsilon: "),
        ("compose()", "^compose: "),
        ("compose(1)", "^compose: "),
        ("Table([[1/2, 1/3], [1, 0]])", "^row 1: "),
        ("[PureDP(1)]", "^text: "),
        ("RandomizedResponse(e, x)", "^categories: "),
        ("PureDP(_set(1))", "^text: "),
    ],
)
def test_what_is_no_subject_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        read_subject(text)


@pytest.mark.parametrize(
    "text",
    [
        "-" * 5000 + "1", "exp(" * 150 + "x" + ")" * 150, "+".join(["x"] * 9000), "x*" * 9999 + "x",
        "2**10**9", "2**2**2**2**2**2", "1e999999999", "1e-99999",
        "1/3**6000 + 1/7**3500", "x" * 30000,
        "9**3000*" * 40 + "1", "Max(" + "1," * 9990 + "x)",
    ],
)  # fmt: skip
def test_too_large_ends_quickly(text):
    with pytest.raises((TooLargeError, InputError)):
        read_expression(text)


def test_deep_subjects_are_refused():
    with pytest.raises(DpsymError):
        read_subject("compose(" * 150 + "PureDP(1)" + ")" * 150)


def test_numbers_without_end_take_no_time():
    assert read_expression("Max(exp(exp(exp(100))), Abs(exp(exp(exp(100))) - 1))").has(sp.Max)


def test_a_text_must_be_a_string():
    with pytest.raises(InputError, match=r"^text: expected a string"):
        read_expression(3)
