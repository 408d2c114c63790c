"""Whatever the parameters: if a goal is false, a step refuses it or leaves something false."""

from __future__ import annotations

from typing import Any

import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpsym.kernel.proofs import step
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import (
    ONE,
    ZERO,
    Term,
    absolute,
    exp,
    log,
    maximum,
    num,
    positive_part,
    power,
    sqrt,
    subterms,
    term,
    var,
)
from dpsym.search.leaf import refute
from tests.soundness.terms import NAMES, NotDefined, points, terms, value

x, y = var("x"), var("y")
signs = st.sampled_from([1, -1])
rels = st.sampled_from([">=", ">"])
facts = st.builds(Fact, terms, rels)
scales = st.builds(fmpq, st.integers(-3, 3), st.integers(1, 3))


def truth(fact: Fact, at: dict[str, fmpq]) -> bool | None:
    """Whether the fact holds at the point; None where its term is undefined."""
    try:
        found = value(fact.term, at)
    except NotDefined:
        return None
    if abs(found) < 1e-40:
        found = 0
    return bool(found > 0 if fact.rel == ">" else found >= 0 if fact.rel == ">=" else found != 0)


def falsified(sequent: Sequent, at: dict[str, fmpq]) -> bool:
    """Whether the hypotheses hold at the point and the goal does not."""
    return all(truth(fact, at) for fact in sequent.hypotheses) and not truth(sequent.goal, at)


@st.composite
def steps(draw: st.DrawFn, sequent: Sequent) -> tuple[str, dict[str, Any]]:
    goal = sequent.goal.term
    inner = st.sampled_from(sorted(subterms(goal), key=lambda item: item.key))
    some = st.one_of(inner, terms)
    factor = st.tuples(some, st.integers(-2, 2), signs)
    lemma = st.one_of(
        st.tuples(st.just("exp_taylor"), st.tuples(some, st.integers(0, 3))),
        st.tuples(
            st.sampled_from(["log_above", "log_below", "exp_inverse", "erfc_chernoff"]),
            st.tuples(some),
        ),
    )
    fact = st.one_of(
        st.tuples(st.just("hypothesis"), st.integers(0, 2), st.none(), st.none()),
        st.tuples(st.sampled_from(["positive", "nonnegative"]), st.none(), some, st.none()),
        st.tuples(st.just("lemma"), st.none(), st.none(), lemma),
    )
    positive = st.builds(fmpq, st.integers(1, 3), st.integers(1, 3))
    product = st.tuples(positive, st.lists(st.integers(0, 1), max_size=2).map(tuple), st.none())
    pools: dict[str, dict[str, st.SearchStrategy[Any]]] = {
        "evident": {},
        "tidy": {},
        "cases": {"kinked": inner},
        "branch": {"kinked": inner, "sign": signs},
        "split": {"item": some},
        "have": {"fact": facts},
        "multiply": {"factor": some},
        "clear": {"signs": st.lists(st.tuples(some, signs), max_size=2).map(tuple)},
        "monotone": {
            "function": st.sampled_from(["exp", "log", "sqrt", "atan", "erfc"]),
            "larger": some,
            "smaller": some,
        },
        "factor": {
            "coefficient": scales,
            "factors": st.lists(factor, min_size=1, max_size=2).map(tuple),
        },
        "subtract": {"multiplier": some, "lemma": lemma},
        "positivstellensatz": {
            "facts": st.lists(fact, max_size=2).map(tuple),
            "multiplier": st.lists(product, max_size=1).map(tuple),
            "terms": st.lists(product, max_size=2).map(tuple),
            "contradiction": st.booleans(),
        },
    }
    rule = draw(st.sampled_from(sorted(pools)))
    return rule, {key: draw(pool) for key, pool in pools[rule].items()}


@settings(max_examples=600)
@given(st.data(), terms, rels, st.lists(facts, max_size=2), points)
def test_steps_that_keep_the_variables(
    data: st.DataObject, item: Term, rel: str, given_facts: list[Fact], at: dict[str, fmpq]
) -> None:
    goal = Fact(item, rel)
    holds = truth(goal, at)
    assume(holds is not None)
    if holds:  # then its opposite fails
        goal = Fact(-item, ">" if rel == ">=" else ">=")
    hypotheses = []
    for fact in given_facts:
        known = truth(fact, at)
        if known is not None:
            turned = Fact(-fact.term, ">" if fact.rel == ">=" else ">=")
            hypotheses.append(fact if known else turned)
    sequent = Sequent(tuple(hypotheses), goal)
    rule, parameters = data.draw(steps(sequent))
    try:
        left = step(sequent, rule, parameters)
    except Refusal:
        return
    assert any(falsified(premise, at) for premise in left if premise.vars <= set(NAMES))


def sequent(item: Term | int, *given_terms: Term | int, rel: str = ">=") -> Sequent:
    return Sequent(tuple(Fact(term(t), ">=") for t in given_terms), Fact(term(item), rel))


FALSE = [
    sequent(x - 1, x, 2 - x),
    sequent(-x, x, 1 - x),
    sequent(1 - x, x),
    sequent(power(x - 1, 2) - fmpq(1, 2), x, 2 - x),
    sequent(positive_part(x - 1) - x * fmpq(1, 2), x, 2 - x),
    sequent(fmpq(1, 2) - positive_part(x - 1), x),
    sequent(absolute(x - 1) - fmpq(1, 2), x),
    sequent(exp(-x) - fmpq(1, 2), x),
    sequent(exp(x) - 2, x),
    sequent(log(x) + 1, x - fmpq(1, 8), 1 - x),
    sequent(fmpq(1, 2) - sqrt(x), x),
    sequent(1 / x - 1, x - fmpq(1, 2)),
    sequent(x - y, x - y + 1, y),
    sequent(y - x, x, 1 - x, y, 1 - y),
    sequent(x * y - 1, x, y),
    sequent(x, x, rel=">"),
    sequent(maximum(x, y) - 1, x, y),
]
ENDS = [ZERO, ONE, num(2), num(fmpq(1, 2)), num(fmpq(1, 8)), y, y - 1, num(-1)]
HINGES: list[tuple[Any, ...]] = [
    (),
    ((ONE, -ONE, ONE, 1),),
    ((ONE, -ONE, ONE, -1),),
    ((-ONE, -ONE, ONE, 1),),
    ((num(2), -ONE, ONE, 1),),
    ((ONE, ONE, -ONE, -1),),
]


def calculus() -> list[tuple[str, dict[str, Any]]]:
    out: list[tuple[str, dict[str, Any]]] = []
    for kind in ("shift", "negate", "scale", "inverse", "log", "decay", "square"):
        for item in ENDS:
            out.append(("change", {"name": "x", "kind": kind, "new": "u", "item": item}))
    for start in ENDS:
        for direction in (1, -1):
            for is_open in (False, True):
                out.append(
                    (
                        "derive",
                        {"name": "x", "start": start, "direction": direction, "from_open": is_open},
                    )
                )
    for near in (ONE, ZERO):
        for rate in (ONE, num(-1)):
            for start in (None, *ENDS):
                for direction in (1, -1):
                    parameters = {"name": "x", "start": start, "direction": direction}
                    out.append(("approach", parameters | {"near": near, "rate": rate}))
    for start in ENDS:
        for before in ENDS:
            for direction in (1, -1):
                parameters = {"name": "x", "start": start, "direction": direction}
                out.append(("secant", parameters | {"before": before}))
    for upper in (None, ONE, num(2)):
        for weight in (ONE, num(-1), x, exp(-x)):
            for tail in ((ONE, ONE), (ZERO, ONE), (ONE, num(-1))):
                parameters = {"name": "x", "lower": ZERO, "upper": upper, "new": "u"}
                out.append(("hump", parameters | {"weight": weight, "tail": tail}))
    smooths = [ZERO, x - 1, -x * fmpq(1, 2), num(fmpq(1, 2)), 1 - x, x, num(fmpq(-1, 2))]
    for smooth in smooths:
        for hinges in HINGES:
            for upper in (None, num(2)):
                out.append(
                    (
                        "vertex",
                        {
                            "name": "x",
                            "lower": ZERO,
                            "upper": upper,
                            "smooth": smooth,
                            "hinges": hinges,
                        },
                    )
                )
    for at in (fmpq(1, 2), fmpq(1), fmpq(3, 2)):
        for left in (("direct",), ("mean",), ("face", "x", -1, ("direct",)), ("zero",)):
            for right in (("direct",), ("mean",), ("face", "x", 1, ("direct",)), ("empty", 0)):
                out.append(("boxes", {"tree": ("split", "x", at, left, right), "bits": 64}))
    return out


@pytest.mark.parametrize("given_sequent", FALSE, ids=str)
def test_calculus(given_sequent: Sequent) -> None:
    accepted = 0
    for rule, parameters in calculus():
        try:
            left = step(given_sequent, rule, parameters)
        except Refusal:
            continue
        accepted += 1
        refuted = any(_refuted(premise, seconds) for seconds in (0.05, 2.0) for premise in left)
        assert refuted, (rule, parameters, left)
    assert accepted


def _refuted(premise: Sequent, seconds: float) -> bool:
    if refute(premise, seconds) is not None:
        return True
    constant = premise.goal.rel != "!=" and not premise.vars
    if constant and all(truth(fact, {}) for fact in premise.hypotheses):
        return truth(premise.goal, {}) is not True
    return False
