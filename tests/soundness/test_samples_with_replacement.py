"""What is nearly a theorem about samples with replacement, which the kernel refuses to believe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import pytest
import sympy as sp

import dpsym as dp
from dpsym.kernel.definitions import constraints
from dpsym.kernel.proofs import check
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import step
from dpsym.kernel.rules_privacy import stage_data
from dpsym.kernel.statements import Assumed, Blend, Fact, Group, Guarantee, Link, Statement
from dpsym.kernel.terms import ZERO, Term, exp, log, num, var
from dpsym.kernel.theorems import Theorem
from tests.soundness.values import value

e, q = sp.symbols("epsilon q", positive=True)
E, Q = var("epsilon"), var("q")
DRAWS = 2


@lru_cache(maxsize=1)
def proved() -> Theorem:
    sample = dp.subsample(dp.PureDP(e), q, method="with_replacement", draws=DRAWS)
    claim = dp.PureDP(sp.log(1 + (1 - (1 - q) ** DRAWS) * (sp.exp(DRAWS * e) - 1)))
    found = dp.check(sample, claim, [q < 1]).theorem.proved
    assert isinstance(found, Theorem)
    return found


def inside(stage: Blend, part: int) -> Blend:
    found = stage.links[part].stage
    assert isinstance(found, Blend)
    return found


def with_part(stage: Blend, part: int, new: object) -> Blend:
    links = list(stage.links)
    links[part] = replace(links[part], stage=new)  # type: ignore[arg-type]
    return replace(stage, links=tuple(links))


def changes(stage: Blend) -> Iterator[tuple[str, Blend]]:
    once, twice = inside(stage, 0), inside(stage, 1)
    some, _, never = once.p
    yield "each of a half", replace(stage, p=(num(1) / 2, num(1) / 2, ZERO, ZERO))
    yield "once and twice exchanged", with_part(with_part(stage, 0, twice), 1, once)
    for part, sample in enumerate((once, twice)):
        for i in range(3):
            larger = Group(Assumed((Guarantee("PureDP", (E,)),)), num(3))
            yield f"three records {part}, {i}", with_part(stage, part, with_part(sample, i, larger))
        for i in range(3):
            loose = Assumed((Guarantee("PureDP", (3 * E,)),))
            yield f"larger loss {part}, {i}", with_part(stage, part, with_part(sample, i, loose))
            links = tuple(link for j, link in enumerate(sample.links) if j != i)
            yield f"without link {part}, {i}", with_part(stage, part, replace(sample, links=links))
        rate = {"p": (Q, ZERO, 1 - Q), "q": (ZERO, Q, 1 - Q)}
        yield f"the rate of one draw {part}", with_part(stage, part, replace(sample, **rate))
        yield (
            f"other sides {part}",
            with_part(stage, part, replace(sample, p=(some, never, ZERO), q=(never, some, ZERO))),
        )


def test_the_proof_is_of_no_other_sample():
    found = proved()
    (stage,) = found.statement.stages
    assert isinstance(stage, Blend)
    for name, changed in changes(stage):
        assert changed != stage
        with pytest.raises(Refusal):
            check(replace(found.statement, stages=(changed,)), found.proof)
            pytest.fail(name)


LESS = {
    "the rate of one draw": log(1 + Q * (exp(2 * E) - 1)),
    "no groups": log(1 + (1 - (1 - Q) ** 2) * (exp(E) - 1)),
    "a little less": log(1 + (1 - (1 - Q) ** 2) * (exp(2 * E) - 1)) * num(99) / 100,
}


@pytest.mark.parametrize("name", LESS)
def test_the_proof_is_of_no_smaller_loss(name):
    found = proved()
    check(found.statement, found.proof)
    claim = Guarantee("PureDP", (LESS[name],))
    with pytest.raises(Refusal):
        check(replace(found.statement, claims=(claim,)), found.proof)


V, X, A, B = (var(name) for name in ("v", "x", "a", "b"))
POINTS = [
    {"v": Fraction(3, 4), "x": Fraction(1), "a": Fraction(a, 100), "b": Fraction(b, 100)}
    for a, b in ((1, 10), (10, 1))
]


def totals(delta: Term, first: Term, second: Term) -> list[Fraction]:
    """What is left of delta, with these multipliers, for one of two pairs."""
    each = [Assumed((Guarantee("ApproxDP", (X, mass)),)) for mass in (A, B)]
    links = tuple(Link(i, i + 2, one) for i, one in enumerate(each))
    stage = Blend((V, 1 - V, ZERO, ZERO), (ZERO, ZERO, V, 1 - V), links)
    variables = tuple((name, "real") for name in POINTS[0])
    facts = Fact(V, ">"), Fact(1 - V, ">"), Fact(A, ">="), Fact(B, ">=")
    claim = Guarantee("ApproxDP", (X, delta), False)
    goal = Statement(variables, facts, (stage,), (claim,))
    rows = []
    for one, weight in zip(each, (first, second), strict=True):
        (wanted,) = constraints(replace(one.guarantees[0], two_way=False))
        rows.append(tuple(weight if x == wanted else ZERO for x in stage_data(one).moments))
    premises = step(goal, "blended", {"linear": (ZERO,) * 4, "moments": tuple(rows)})
    about = [p.goal.term for p in premises if p.goal.term.vars & {"a", "b"}]
    assert about
    return [value(term, at) for term in about for at in POINTS]


def test_delta_is_the_mean():
    assert min(totals(V * A + (1 - V) * B, V, 1 - V)) >= 0


@pytest.mark.parametrize("delta", [A, V * A, V * B, (1 - V) * B, (A + B) / 2, V * A + (1 - V) * A])
def test_no_smaller_delta_is_left_to_show(delta):
    assert min(totals(delta, V, 1 - V)) < 0
