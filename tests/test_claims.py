"""From a claim to the kernel's statement."""

import pytest
import sympy as sp
from flint import fmpq

from dpsym.claims import read_claim, read_inequality
from dpsym.combinators import compose
from dpsym.errors import InputError, TooLargeError
from dpsym.guarantees import ApproxDP, PureDP, RenyiDP, both
from dpsym.kernel.statements import Assumed, Fact, Guarantee, Statement
from dpsym.kernel.terms import num, var
from dpsym.mechanisms import AdditiveNoise, Table, noise

e1, e2, d1, d2 = sp.symbols("e1 e2 d1 d2", nonnegative=True)
a = sp.Symbol("alpha")


def ask(subject, claim, where=(), decide=lambda term, facts: None):
    return read_claim(subject, claim, where, decide)


def test_the_statement_of_approximate_composition():
    goal = ask(compose(ApproxDP(e1, d1), ApproxDP(e2, d2)), ApproxDP(e1 + e2, d1 + d2))
    eps1, eps2, delta1, delta2 = (var(name) for name in ("e1", "e2", "d1", "d2"))
    assert goal.statement == Statement(
        variables=tuple((name, "real") for name in ("e1", "d1", "e2", "d2")),
        facts=(
            *(Fact(term, ">=") for term in (eps1, delta1, eps2, delta2)),
            Fact(1 - delta1, ">="),
            Fact(1 - delta2, ">="),
        ),
        stages=(
            Assumed((Guarantee("ApproxDP", (eps1, delta1)),)),
            Assumed((Guarantee("ApproxDP", (eps2, delta2)),)),
        ),
        claims=(Guarantee("ApproxDP", (eps1 + eps2, delta1 + delta2)),),
    )
    assert (goal.obligations, goal.assumptions, goal.scope.dropped) == ((), (), [])


def test_a_claims_own_parameters_need_only_be_real():
    z = sp.Symbol("z", real=True)
    goal = ask(PureDP(1), ApproxDP(z, 2 * z))
    assert goal.statement.facts == ()


def test_signs_are_asked_under_all_facts():
    seen = []

    def decide(term, facts):
        seen.append((term, facts))
        return ">"

    goal = ask(RenyiDP(a, e1), RenyiDP(a, e1), [a > 1], decide)
    assert seen[0] == (var("alpha") - 1, goal.statement.facts)
    assert Fact(var("alpha") - 1, ">") in goal.statement.facts


def test_where_that_is_false_is_vacuous():
    assert ask(PureDP(e1), PureDP(e1), [e1 < 0]).scope.vacuous


@pytest.mark.parametrize("claim", [1, "PureDP(1)", compose(PureDP(1)), noise.Laplace(1), None])
def test_a_claim_must_be_a_guarantee(claim):
    with pytest.raises(InputError, match=r"^claim: expected a guarantee such as"):
        ask(PureDP(1), claim)


def test_a_subject_must_be_one():
    with pytest.raises(InputError, match=r"^subject: expected a guarantee such as"):
        ask(noise.Laplace(1), PureDP(1))


def test_symbols_of_one_name_across_the_claim():
    with pytest.raises(InputError, match="e1: expected one symbol for one name"):
        ask(PureDP(e1), PureDP(sp.Symbol("e1", positive=True)))


def test_obligations_and_assumptions_are_collected():
    p, x = sp.Symbol("p", positive=True), sp.Symbol("x", real=True)
    table = Table([[p, 1 - p], [1 - p, p]])
    own = AdditiveNoise(noise.Density(sp.exp(-sp.Abs(x)), x, normalised=False), 1)
    goal = ask(compose(table, own, own), both(PureDP(1), ApproxDP(1, 0)), [p < 1])
    assert Fact(1 - var("p"), ">=") in goal.obligations
    assert len(goal.assumptions) == 1
    assert len(goal.statement.claims) == 2


def test_two_stages_of_one_mechanism_may_share_output_names():
    laplace = AdditiveNoise(noise.Laplace(1), 1)
    goal = ask(compose(laplace, laplace), PureDP(2))
    assert goal.statement.stages[0] == goal.statement.stages[1]


def test_a_huge_parameter_is_too_large_only_when_it_is_asked_about():
    deep = sp.Symbol("x", positive=True)
    for _ in range(100_000):
        deep = sp.Add(deep, 1, evaluate=False)
    guarantee = PureDP(deep)
    assert "too long to print" in repr(guarantee)
    with pytest.raises(TooLargeError, match=r"^epsilon: "):
        ask(guarantee, PureDP(1))


def test_inequalities():
    term, scope = read_inequality(e1, 0.5, [e1 < 0.5])
    assert term is num(fmpq(1, 2)) - var("e1")
    assert scope.variables == (("e1", "real"),)
    with pytest.raises(InputError, match=r"^lhs: "):
        read_inequality("x", 1, [])
    with pytest.raises(InputError, match=r"^rhs: "):
        read_inequality(1, sp.oo, [])
