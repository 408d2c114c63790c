"""Easy leaves, known inequalities of privacy proofs, and false ones near them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from flint import fmpq

from dpsym.kernel.proofs import Lemma, check
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import (
    Term,
    absolute,
    erfc,
    exp,
    ite,
    log,
    maximum,
    minimum,
    power,
    sqrt,
    substitute,
    term,
    var,
)
from dpsym.search.leaf import Open, Point, decide, prove, refute
from dpsym.search.leaf.entry import MEMORY
from dpsym.search.leaf.numeric import refutes


def normal_cdf(arg):
    return erfc(-arg / sqrt(term(2))) / 2


x, t, b, s, K, r = (var(name) for name in ("x", "t", "b", "s", "K", "r"))
eps, alpha, delta, q, D, L = (var(name) for name in ("eps", "alpha", "delta", "q", "D", "L"))
P1, Q1, P2, Q2, e1, e2 = (var(name) for name in ("P1", "Q1", "P2", "Q2", "e1", "e2"))
p, rho = var("p"), var("rho")


def leaf(goal: Term | int, *given: Term | tuple[Term, str], rel: str = ">=") -> Sequent:
    facts = [Fact(*item) if isinstance(item, tuple) else Fact(item, ">=") for item in given]
    return Sequent(tuple(facts), Fact(term(goal), rel))


def plus(item: Term | int) -> Term:
    return maximum(item, 0)


moment = exp(alpha * eps) + exp((1 - alpha) * eps)

TRUE = {
    # Dwork, McSherry, Nissim, Smith 2006: the loss of the Laplace mechanism
    "laplace loss": leaf(D - absolute(x - t) + absolute(x), D - t, D + t),
    "laplace densities": leaf(
        exp(D / b) * exp(-absolute(x - t) / b) - exp(-absolute(x) / b), D - t, D + t, (b, ">")
    ),
    # report noisy max, sparse vector: a shift of the Laplace distribution function
    "laplace distribution function": leaf(
        exp(D) * ite(-x, exp(x) / 2, 1 - exp(-x) / 2)
        - ite(-(x + D), exp(x + D) / 2, 1 - exp(-(x + D)) / 2),
        D,
    ),
    "clipping": leaf(
        absolute(x - t) - absolute(maximum(-1, minimum(1, x)) - maximum(-1, minimum(1, t)))
    ),
    # basic composition, pointwise
    "composition": leaf(
        plus(P1 - exp(e1) * Q1) * P2
        + P1 * plus(P2 - exp(e2) * Q2)
        - plus(P1 * P2 - exp(e1 + e2) * Q1 * Q2),
        *(P1, Q1, P2, Q2, e1, e2),
    ),
    # one step of the composition of approximate guarantees, with the ratio of earlier stages
    "composition step": leaf(
        (D * s + (1 - D) * plus(s - K / exp(e1))) * t
        + (1 - D) * minimum(s, K / exp(e1)) * plus(t - exp(e1))
        - (D * s * t + (1 - D) * plus(s * t - K)),
        *(e1, (K, ">"), D, 1 - D, (s, ">"), (t, ">")),
    ),
    # Bun, Steinke 2016: randomized response
    "Rényi divergence of randomized response": leaf(
        (alpha - 1) * eps - log(moment / (1 + exp(eps))), (alpha - 1, ">"), (eps, ">")
    ),
    # Mironov 2017
    "Rényi to approximate": leaf(
        exp(-(alpha - 1) * eps) * exp(alpha * log(r)) - plus(r - exp(eps)),
        *((alpha - 1, ">"), (r, ">")),
    ),
    # Bun, Steinke 2016: the best order of a zCDP conversion
    "order of a conversion": leaf(
        rho * alpha + L / (alpha - 1) - rho - 2 * sqrt(rho * L),
        *((alpha - 1, ">"), (rho, ">"), (L, ">")),
    ),
    "Hellinger affinity": leaf(
        sqrt(r) - (r + 1) / (exp(eps / 2) + exp(-eps / 2)), eps, r - exp(-eps), exp(eps) - r
    ),
    "subsampling": leaf(q * (exp(eps) - 1) - log(1 + q * (exp(eps) - 1)), q, 1 - q, eps),
    "Gaussian tail": leaf(exp(-power(x, 2) / 2) / 2 - normal_cdf(-x), x),
    "total variation of Gaussians": leaf(x / 2 - 1 + 2 * normal_cdf(-x / 2), x),
    # joint convexity of Rényi moments
    "convexity": leaf(
        r * exp(alpha * log(x / r))
        + s * exp(alpha * log(t / s))
        - (r + s) * exp(alpha * log((x + t) / (r + s))),
        *((alpha - 1, ">"), (x, ">"), (t, ">"), (r, ">"), (s, ">")),
    ),
    "logs of hypotheses": leaf(eps - e1 + e2, exp(eps - e1) - exp(-e2)),
    "strict": leaf(exp(x) - 1 - x, (x, ">"), rel=">"),
    "identity": leaf((power(x, 2) - 1) / (x - 1) - x - 1, (x - 1, ">")),
    "empty": leaf(-1, x - 1, -x),
}

FALSE = {
    "laplace loss": leaf(D / 2 - absolute(x - t) + absolute(x), D - t, D + t),
    "composition": leaf(
        plus(P1 - exp(e1) * Q1) * P2
        + P1 * plus(P2 - exp(e2) * Q2) / 2
        - plus(P1 * P2 - exp(e1 + e2) * Q1 * Q2),
        *(P1, Q1, P2, Q2, e1, e2),
    ),
    "randomized response": leaf(
        alpha * (alpha - 1) * power(eps, 2) / 4 - log(moment / (1 + exp(eps))),
        *((alpha - 1, ">"), (eps, ">")),
    ),
    "Pinsker": leaf(
        p * log(p / q) + (1 - p) * log((1 - p) / (1 - q)) - fmpq(21, 10) * power(p - q, 2),
        *((p, ">"), (1 - p, ">"), (q, ">"), (1 - q, ">")),
    ),
    "needle": leaf(exp(x) - exp(1 + 0 * x) * x - fmpq(1, 1_000_000)),
    "equality at a point": leaf(absolute(x - 1), rel=">"),
    "a corner": leaf(1 - delta - eps, delta, 1 - delta, eps, 1 - eps),
}


@pytest.mark.parametrize("name", TRUE)
def test_true(name: str) -> None:
    found = decide(TRUE[name], 10)
    assert isinstance(found, Lemma), found
    assert found.sequent == TRUE[name]
    check(found.sequent, found.proof)


@pytest.mark.parametrize("name", FALSE)
def test_false(name: str) -> None:
    found = decide(FALSE[name], 10)
    assert isinstance(found, Point), found
    assert set(found.values) == FALSE[name].vars
    assert refutes(FALSE[name], found.values)


def test_whole_numbers() -> None:
    fractional = leaf(absolute(x - fmpq(1, 2)) - fmpq(1, 2), x, 3 - x)
    assert refute(fractional, 1) is not None
    assert refute(fractional, 1, frozenset({"x"})) is None
    found = refute(leaf(7 - 3 * x, x, 5 - x), 1, frozenset({"x"}))
    assert found is not None and found["x"].q == 1


def test_a_point_where_a_hypothesis_is_an_equality() -> None:
    found = refute(leaf(fmpq(1, 2) - x, x - exp(-absolute(t)), 1 - x, t, -t), 2)
    assert found == {"x": 1, "t": 0}


def test_what_cannot_be_decided_stays_open() -> None:
    hard = leaf(exp(x * t) + exp(-power(x * t, 3)) - log(1 + power(t, 4)) * x - fmpq(1, 10**9))
    found = prove(hard, 0.3)
    assert isinstance(found, Open)
    assert found.left


def test_undefined_terms_are_not_proved() -> None:
    assert isinstance(prove(leaf(log(x) - log(x), x), 1), Open)
    assert isinstance(prove(leaf(power(1 / x, 2)), 1), Open)
    assert isinstance(prove(leaf(sqrt(x) + 1), 1), Open)


@pytest.mark.parametrize("strict", [x - 1, 2 * x - 2])
def test_hypotheses_that_only_meet_where_one_is_strict(strict: Term) -> None:
    assert isinstance(prove(leaf(t, 1 - x, (strict, ">"), rel=">"), 1), Lemma)
    assert isinstance(prove(leaf(t, 1 - x, x - 1, (strict, ">")), 1), Lemma)
    assert isinstance(prove(leaf(t, 1 - x, strict), 1), Open)
    assert isinstance(prove(leaf(t, 2 - x, (strict, ">")), 1), Open)


def test_a_value_at_one_point_alone() -> None:
    at_one = ite(x - 1, ite(1 - x, t, b), b)
    for sign in (1, -1):
        assert isinstance(prove(leaf(sign * (at_one - t), x - 1, 1 - x), 1), Lemma)
        assert isinstance(prove(leaf(sign * (at_one - b), -x), 1), Lemma)
        assert isinstance(prove(leaf(sign * (at_one - t), x - 1), 1), Open)


def test_a_renamed_leaf_is_an_instance() -> None:
    MEMORY.clear()
    first = decide(TRUE["composition"], 10)
    new = {name: var("z" + name) for name in TRUE["composition"].vars}
    facts = tuple(fact.substitute(new) for fact in TRUE["composition"].hypotheses)
    goal = substitute(TRUE["composition"].goal.term, new)
    second = decide(Sequent(facts, Fact(goal, ">=")), 10)
    assert isinstance(first, Lemma) and isinstance(second, Lemma)
    assert second.proof.rule == "instance"
    assert second.proof.parameters["lemma"] is first
    again = decide(TRUE["composition"], 10)
    assert again is first


def test_easy_leaves_load_no_numpy() -> None:
    code = (
        "import sys\n"
        "from dpsym.kernel.terms import *\n"
        "from dpsym.kernel.sequents import Sequent\n"
        "from dpsym.kernel.statements import Fact\n"
        "from dpsym.search.leaf import decide\n"
        "x, t, D = var('x'), var('t'), var('D')\n"
        "given = (Fact(D - t, '>='), Fact(D + t, '>='))\n"
        "goal = Fact(exp(D) * exp(-absolute(x - t)) - exp(-absolute(x)), '>=')\n"
        "print(type(decide(Sequent(given, goal), 1)).__name__)\n"
        "print('numpy' in sys.modules, 'highspy' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["Lemma", "False", "False"]
