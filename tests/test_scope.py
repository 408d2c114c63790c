"""Domains of symbols: what is assumed, what is dropped, what is refused."""

import itertools

import pytest
import sympy as sp
from flint import fmpq

from dpsym.errors import InputError
from dpsym.kernel import terms as k
from dpsym.kernel.balls import enclose
from dpsym.kernel.statements import Fact
from dpsym.scope import Scope

n = k.var("n")


@pytest.mark.parametrize(
    ("assumptions", "kind", "facts", "dropped"),
    [
        ({"real": True}, "real", [], []),
        ({"positive": True}, "real", [Fact(n, ">")], []),
        ({"negative": True}, "real", [Fact(-n, ">")], []),
        ({"nonnegative": True}, "real", [Fact(n, ">=")], []),
        ({"nonpositive": True}, "real", [Fact(-n, ">=")], []),
        ({"nonzero": True, "real": True}, "real", [Fact(n, "!=")], []),
        ({"integer": True}, "integer", [], []),
        ({"integer": True, "positive": True}, "integer", [Fact(n - 1, ">=")], []),
        ({"integer": True, "negative": True}, "integer", [Fact(-n - 1, ">=")], []),
        ({"integer": True, "nonnegative": True}, "integer", [Fact(n, ">=")], []),
        ({"odd": True}, "integer", [Fact(n, "!=")], ["odd"]),
        ({"even": True}, "integer", [], ["even"]),
        ({"prime": True}, "integer", [Fact(n - 1, ">=")], ["prime"]),
        ({"rational": True}, "real", [], ["algebraic", "rational"]),
        ({"irrational": True}, "real", [Fact(n, "!=")], ["irrational", "noninteger"]),
        ({"zero": True}, "integer", [Fact(n, ">="), Fact(-n, ">=")], []),
    ],
)
def test_assumptions_become_facts(assumptions, kind, facts, dropped):
    scope = Scope()
    scope.declare(sp.Symbol("n", **assumptions), "a")
    assert scope.variables == (("n", kind),)
    assert scope.facts == facts
    assert [what for _, what in scope.dropped] == dropped


p, q = sp.symbols("p q")  # no assumption at all
P, Q = k.var("p"), k.var("q")


@pytest.mark.parametrize(
    ("where", "facts"),
    [
        (p > 1, [Fact(P - 1, ">")]),
        (p >= 1, [Fact(P - 1, ">=")]),
        (p < 1, [Fact(1 - P, ">")]),
        ([p <= 1], [Fact(1 - P, ">=")]),
        ([p > 0, sp.Ne(p, 1)], [Fact(P, ">"), Fact(P - 1, "!=")]),
        ([p > 0, sp.Eq(p, 2)], [Fact(P, ">"), Fact(P - 2, ">="), Fact(2 - P, ">=")]),
        ([p < q], [Fact(Q - P, ">")]),
        ({p: sp.Interval(0, 1)}, [Fact(P, ">="), Fact(1 - P, ">=")]),
        ([{p: sp.Interval.open(0, sp.oo)}], [Fact(P, ">")]),
        ((p, sp.Interval.Lopen(0, 1)), [Fact(P, ">"), Fact(1 - P, ">=")]),
        ({p: sp.S.Reals}, []),
        ([sp.Contains(p, sp.Interval(0, sp.oo))], [Fact(P, ">=")]),
        ([sp.true, p < 0.5], [Fact(k.num(fmpq(1, 2)) - P, ">")]),
        (None, []),
    ],
)
def test_where_becomes_facts(where, facts):
    assert Scope(where).facts == facts


i, j = sp.symbols("i j", integer=True)
n_i, n_j = k.var("i"), k.var("j")


@pytest.mark.parametrize(
    ("where", "facts"),
    [
        ([i > 1], [Fact(n_i - 2, ">=")]),
        ([i < 1], [Fact(-n_i, ">=")]),
        ([i >= sp.Rational(1, 2)], [Fact(n_i - 1, ">=")]),
        ([2 * i > 5], [Fact(n_i - 3, ">=")]),
        ([i > j], [Fact(n_i - n_j - 1, ">=")]),
        ([i / 2 > j / 3 + sp.Rational(1, 7)], [Fact(-2 * n_j + 3 * n_i - 1, ">=")]),
        ({i: sp.Interval.open(0, 1)}, [Fact(n_i - 1, ">="), Fact(-n_i, ">=")]),
        ([i > p, p > 0], [Fact(n_i - P, ">"), Fact(P, ">")]),
        ([i * j > 0], [Fact(n_i * n_j, ">")]),
        ([sp.Ne(i, 1)], [Fact(n_i - 1, "!=")]),
    ],
)
def test_bounds_of_integers_are_whole(where, facts):
    assert Scope(where).facts == facts


def test_whole_bounds_hold_at_the_same_integers():
    halves = [sp.Rational(c, 6) for c in range(-13, 14)]
    for a, c, relation in itertools.product((1, -2, 3), halves, (sp.Gt, sp.Ge, sp.Lt, sp.Le)):
        (fact,) = Scope([relation(a * i / 5, c, evaluate=False)]).facts
        for value in range(-40, 41):
            here = k.substitute(fact.term, {"i": k.num(value)})
            low, high = enclose(here, {}, 64, True)
            assert fact.rel == ">=" and (low >= 0 or high < 0)
            assert (low >= 0) == bool(relation(sp.Rational(a * value, 5), c)), (a, c, relation)


def test_a_false_condition_is_vacuous():
    positive = sp.Symbol("p", positive=True)
    for where in ([positive < 0], {positive: sp.S.EmptySet}, [sp.false]):
        scope = Scope(where)
        assert scope.vacuous and Fact(k.MINUS_ONE, ">=") in scope.facts
    assert not Scope([positive > -1]).vacuous


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ([p != 1], r"where: .*Ne\(a, b\).*got True"),
        ([False], r"where: .*Ne\(a, b\).*got False"),
        (["p > 0"], "where: expected a relation"),
        ([sp.Or(p > 0, p < -1)], "where: expected a relation"),
        ([p], "where: expected a relation"),
        ([1], "where: expected a relation"),
        ([sp.Ne(p, 1)], r"p: expected a symbol with a domain.*nonnegative=True.*Symbol\('p'\)"),
        ({1: sp.Interval(0, 1)}, "where: expected a symbol"),
        ({p: sp.FiniteSet(1)}, "where: expected an Interval for p"),
        ({p: 3}, "where: expected an Interval for p"),
        ([p < sp.oo], "where: expected a real number"),
        ([sp.Symbol("$t") > 0], r'without "\$"'),
        ([sp.Symbol("") > 0], "a name"),
        ([sp.Symbol("p\n") > 0], "printable"),
        ([sp.Symbol("p" * 300) > 0], "a name"),
    ],
)
def test_where_that_means_nothing_is_refused(where, message):
    with pytest.raises(InputError, match=message):
        Scope(where)


@pytest.mark.parametrize("assumption", ["imaginary", "infinite"])
def test_symbols_that_are_not_real_are_refused(assumption):
    with pytest.raises(InputError, match="p: expected a real symbol"):
        Scope().declare(sp.Symbol("p", **{assumption: True}), "a")


def test_a_plain_symbol_needs_an_order_relation():
    with pytest.raises(InputError, match="p: expected a symbol with a domain"):
        Scope().term(p + 1, "a")
    assert Scope([p > q]).term(q, "a") is Q


def test_two_symbols_of_one_name_are_refused():
    real, positive = sp.Symbol("p", real=True), sp.Symbol("p", positive=True)
    with pytest.raises(InputError, match=r"p: expected one symbol for one name.*positive=True"):
        Scope().declare(real + positive, "a")
    with pytest.raises(InputError, match="one symbol for one name"):
        Scope().declare(sp.Dummy("p", real=True) + sp.Dummy("p", real=True), "a")
    scope = Scope()
    scope.declare(sp.Dummy("p", real=True), "a")
    assert scope.variables == (("p", "real"),)


def test_a_set_of_conditions_has_one_order():
    assert Scope({q > 0, p > 0}).facts == Scope([p > 0, q > 0]).facts


def test_fresh_names_avoid_the_symbols():
    scope = Scope([p > 0, sp.Symbol("p_1") > 0])
    assert (scope.fresh("p"), scope.fresh("z")) == ("p_2", "z")


def test_true_hypotheses_of_numbers_are_left_out_false_ones_are_not():
    scope = Scope()
    scope.assume([sp.Ge(2, 2, evaluate=False), sp.Gt(1, 0, evaluate=False)], "a")
    assert scope.facts == []
    scope.assume([sp.Ge(1, 2, evaluate=False)], "a")
    assert len(scope.facts) == 1
