"""Steps on sequents that must be refused, each with the condition that fails.

Accepted, or refused for another reason: both fail.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq

from dpsym.kernel.proofs import RULES, Lemma, Proof, check, prove_lemma, step
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import (
    ONE,
    ZERO,
    Term,
    absolute,
    exp,
    ite,
    log,
    maximum,
    num,
    positive_part,
    power,
    sqrt,
    var,
)
from tests.soundness.values import fails

x, y, u = var("x"), var("y"), var("u")
HALF = num(fmpq(1, 2))
Q = fmpq


def facts(*items: Term | tuple[Term, str]) -> tuple[Fact, ...]:
    return tuple(Fact(*item) if isinstance(item, tuple) else Fact(item, ">=") for item in items)


def goal(item: Term, *given: Term | tuple[Term, str], rel: str = ">=") -> Sequent:
    return Sequent(facts(*given), Fact(item, rel))


def derive(name: Any = "x", start: Any = ZERO, direction: Any = 1, from_open: Any = False) -> Any:
    return {"name": name, "start": start, "direction": direction, "from_open": from_open}


def approach(start: Any = ZERO, direction: Any = 1, near: Any = ONE, rate: Any = ONE) -> Any:
    return {"name": "x", "start": start, "direction": direction, "near": near, "rate": rate}


def secant(start: Any = ONE, before: Any = ZERO, direction: Any = 1) -> dict[str, Any]:
    return {"name": "x", "start": start, "direction": direction, "before": before}


def hump(upper: Any = ONE, **others: Any) -> dict[str, Any]:
    base = {"name": "x", "lower": ZERO, "upper": upper, "new": "u", "weight": ONE}
    return base | {"tail": (ONE, ONE)} | others


def change(kind: str, item: Term, new: str = "u", name: str = "x") -> dict[str, Any]:
    return {"name": name, "kind": kind, "new": new, "item": item}


def vertex(smooth: Term, *hinges: Any, lower: Any = ZERO, upper: Any = None) -> dict[str, Any]:
    return {"name": "x", "lower": lower, "upper": upper, "smooth": smooth, "hinges": hinges}


def products(
    facts: tuple[Any, ...] = (),
    multiplier: tuple[Any, ...] = ((Q(1), (), None),),
    terms: tuple[Any, ...] = (),
    contradiction: bool = False,
) -> dict[str, Any]:
    return {
        "facts": facts,
        "multiplier": multiplier,
        "terms": terms,
        "contradiction": contradiction,
    }


def boxes(*tree: Any, bits: int = 96) -> dict[str, Any]:
    return {"tree": tree, "bits": bits}


HYPOTHESIS = ("hypothesis", 0, None, None)
POSITIVE_X = ("positive", None, x, None)
SQUARE = prove_lemma(
    goal(power(x, 2)), Proof("positivstellensatz", products(terms=((Q(1), (), x),)))
)

MUST_REJECT: list[tuple[str, Sequent, dict[str, Any], str]] = [
    ("evident", goal(x), {}, "the goal is evident"),
    ("evident", goal(x, y), {}, "the goal is evident"),
    ("evident", goal(x, x, rel=">"), {}, "the goal is evident"),
    ("evident", goal(2 * x, -x), {}, "the goal is evident"),
    ("evident", goal(log(x), (x, ">")), {}, "the goal is evident"),
    ("tidy", goal(x), {"sign": 1}, "the parameters"),
    ("nonzero", goal(x), {"sign": 1}, "a goal with one of"),
    ("nonzero", goal(x, rel="!="), {"sign": 0}, "one of (1, -1)"),
    ("nonzero", goal(x, rel="!="), {"sign": True}, "one of (1, -1)"),
    ("cases", goal(absolute(x)), {"kinked": absolute(y)}, "the kinked term occurs"),
    ("cases", goal(exp(x)), {"kinked": exp(x)}, "a term abs, max, min or ite"),
    ("branch", goal(absolute(x)), {"kinked": absolute(y), "sign": 1}, "the kinked term occurs"),
    ("branch", goal(x, absolute(x)), {"kinked": absolute(x), "sign": 1}, "the kinked term occurs"),
    ("split", goal(x), {"item": "x"}, "expected a term"),
    ("have", goal(x), {"fact": x}, "a Fact"),
    ("instance", goal(x), {"lemma": SQUARE, "mapping": ()}, "the goal is the lemma's"),
    ("instance", goal(power(x, 2)), {"lemma": SQUARE.sequent, "mapping": ()}, "expected something"),
    (
        "instance",
        goal(power(x, 2)),
        {"lemma": SQUARE, "mapping": (("x", x), ("x", y))},
        "each variable once",
    ),
    ("instance", goal(power(x, 2), rel=">"), {"lemma": SQUARE, "mapping": ()}, "the goal is the"),
    ("multiply", goal(x), {"factor": 2}, "expected a term"),
    ("multiply", goal(x), {"factor": power(ZERO, -1)}, "the divisor is not zero"),
    ("clear", goal(x), {"signs": ()}, "the canonical form has denominators"),
    ("clear", goal(1 / (1 + x)), {"signs": ((1 + x, 2),)}, "one of (1, -1)"),
    (
        "monotone",
        goal(exp(x) - exp(y)),
        {"function": "exp", "larger": y, "smaller": x},
        "the goal is f(larger) - f(smaller)",
    ),
    (
        "monotone",
        goal(2 * exp(x) - exp(y)),
        {"function": "exp", "larger": x, "smaller": y},
        "the goal is f(larger) - f(smaller)",
    ),
    (
        "monotone",
        goal(x - y),
        {"function": "cos", "larger": x, "smaller": y},
        "one of ('exp', 'log', 'sqrt', 'atan', 'erfc')",
    ),
    ("factor", goal(-x), {"coefficient": Q(-1), "factors": ((x, 1, 1),)}, "a positive product"),
    ("factor", goal(x), {"coefficient": Q(0), "factors": ((x, 1, 1),)}, "a coefficient other"),
    ("factor", goal(x), {"coefficient": Q(1), "factors": ((y, 1, 1),)}, "the product is the goal"),
    ("factor", goal(x), {"coefficient": Q(1), "factors": ((x, 0, 1),)}, "an exponent other than 0"),
    ("factor", goal(x), {"coefficient": 1.0, "factors": ()}, "a rational"),
    (
        "subtract",
        goal(exp(x)),
        {"multiplier": ONE, "lemma": ("exp_taylor", (x, -2))},
        "a whole number from 0 to 15",
    ),
    (
        "subtract",
        goal(exp(x)),
        {"multiplier": ONE, "lemma": ("exp_taylor_above", (x, 1))},
        "takes an even order",
    ),
    (
        "subtract",
        goal(exp(x)),
        {"multiplier": ONE, "lemma": ("exp_taylor", (x, True))},
        "a whole number",
    ),
    ("subtract", goal(x), {"multiplier": ONE, "lemma": ("false", ())}, "the name of a lemma"),
    ("subtract", goal(x), {"multiplier": ONE, "lemma": ("pi_below", (x,))}, "takes 0 arguments"),
    ("positivstellensatz", goal(x), products(), "the identity holds"),
    (
        "positivstellensatz",
        goal(-x, x),
        products((HYPOTHESIS,), terms=((Q(-1), (0,), None),)),
        "a positive rational",
    ),
    (
        "positivstellensatz",
        goal(x, x, rel=">"),
        products((HYPOTHESIS,), terms=((Q(1), (0,), None),)),
        "a positive summand",
    ),
    (
        "positivstellensatz",
        goal(power(x, 2), rel=">"),
        products(terms=((Q(1), (), x),)),
        "a positive summand",
    ),
    (
        "positivstellensatz",
        goal(x, (x, "!=")),
        products((HYPOTHESIS,), terms=((Q(1), (0,), None),)),
        "an order hypothesis",
    ),
    (
        "positivstellensatz",
        goal(x),
        products((POSITIVE_X,), terms=((Q(1), (0,), None),)),
        "an evidently positive term",
    ),
    (
        "positivstellensatz",
        goal(x),
        products((("nonnegative", None, x, None),), terms=((Q(1), (0,), None),)),
        "an evidently nonnegative term",
    ),
    (
        "positivstellensatz",
        goal(x, x),
        products((POSITIVE_X,), terms=((Q(1), (0,), None),)),
        "an evidently positive term",
    ),
    (
        "positivstellensatz",
        goal(-1 - x, x),
        products((HYPOTHESIS,), multiplier=((Q(1), (0,), None),), terms=()),
        "a positive multiplier",
    ),
    (
        "positivstellensatz",
        goal(-x, x),
        products((HYPOTHESIS,), multiplier=(), terms=()),
        "a positive multiplier",
    ),
    (
        "positivstellensatz",
        goal(x, x),
        products((HYPOTHESIS,), terms=((Q(1), (1,), None),)),
        "indices of facts",
    ),
    (
        "positivstellensatz",
        goal(x, y),
        products((("hypothesis", 1, None, None),), terms=((Q(1), (0,), None),)),
        "a hypothesis, a term or a lemma",
    ),
    ("square", goal(x - y, x), {"larger": y, "smaller": x}, "the goal is larger - smaller"),
    ("square", goal(x - y, x, rel="!="), {"larger": x, "smaller": y}, "a goal with one of"),
    (
        "positivstellensatz",
        goal(-1 + 0 * x, x),
        products((HYPOTHESIS,), (), ((Q(1), (0,), None),), True),
        "a sum that is negative",
    ),
    (
        "positivstellensatz",
        goal(num(-1), x, -x),
        products(
            (HYPOTHESIS, ("hypothesis", 1, None, None)),
            (),
            ((Q(1), (0,), None), (Q(1), (1,), None)),
            True,
        ),
        "a sum that is negative",
    ),
    ("derive", goal(x, x), derive(start=ONE), "a hypothesis that states the bound"),
    ("derive", goal(x, (x, "!=")), derive(), "a hypothesis that states the bound"),
    ("derive", goal(x, -x), derive(), "a hypothesis that states the bound"),
    ("derive", goal(x, power(x, 3)), derive(), "a hypothesis that states the bound"),
    ("derive", goal(x, x), derive(start=x), "a hypothesis that states the bound"),
    ("derive", goal(x, x), derive(name=x), "expected a name"),
    ("derive", goal(x, x), derive(direction=0), "one of (1, -1)"),
    ("derive", goal(absolute(x) - x, x), derive(), "without kinks"),
    ("derive", goal(ite(x - 1, ONE, -ONE), x), derive(), "without kinks"),
    ("derive", goal(x, x, rel=">"), derive(from_open=True), "a strict goal and bound"),
    ("derive", goal(x, (x, ">")), derive(from_open=True), "a strict goal and bound"),
    ("approach", goal(x, x), approach(), "an open bound"),
    ("approach", goal(x, (x, ">")), approach(start=ONE), "a hypothesis that states the bound"),
    ("approach", goal(x, (-x, ">")), approach(), "a hypothesis that states the bound"),
    ("approach", goal(x, (x, ">")), approach(rate=x), "terms without"),
    ("approach", goal(x, (x, ">")), approach(near=x), "terms without"),
    ("approach", goal(x, (x, ">")), approach(start=None, rate=x), "terms without"),
    ("approach", goal(absolute(x), (x, ">")), approach(), "without kinks"),
    ("approach", goal(x, (x, ">")), approach(direction=0), "one of (1, -1)"),
    ("secant", goal(x, x), secant(), "a hypothesis that states the bound"),
    ("secant", goal(x, 1 - x), secant(), "a hypothesis that states the bound"),
    ("secant", goal(x, x - 1), secant(before=x), "a point without"),
    ("secant", goal(absolute(x), x - 1), secant(), "without kinks"),
    ("hump", goal(x, x), hump(), "a hypothesis that states the bound"),
    ("hump", goal(x, 1 - x), hump(), "a hypothesis that states the bound"),
    ("hump", goal(x, x, 1 - x), hump(new="x"), "a new variable"),
    ("hump", goal(x, x, 1 - x, y), hump(new="y"), "a new variable"),
    ("hump", goal(x, x, 1 - x), hump(weight=1 + power(var("u"), 2)), "a new variable"),
    ("hump", goal(x, x, 1 - x), hump(lower=var("u") - var("u")), "a new variable"),
    ("hump", goal(x, x), hump(None, tail=(x, ONE)), "terms without"),
    ("hump", goal(x, x), hump(None, tail=(ONE, power(x, 2))), "terms without"),
    ("hump", goal(absolute(x), x, 1 - x), hump(), "without kinks"),
    ("hump", goal(x, x, 1 - x, rel=">"), hump(), "a goal with one of"),
    ("change", goal(x, y), change("shift", ONE, new="y"), "a new variable"),
    ("change", goal(x), change("shift", x), "a term without the variable"),
    ("change", goal(x), change("shift", log(y)), "a term evidently defined"),
    ("change", goal(x), change("scale", y), "a term evidently positive"),
    ("change", goal(x), change("scale", num(-1)), "a term evidently positive"),
    ("change", goal(x), change("scale", ZERO), "a term evidently positive"),
    ("change", goal(x), change("inverse", ONE), "evidently x > 0"),
    ("change", goal(x, x), change("inverse", ONE), "evidently x > 0"),
    ("change", goal(x, x), change("decay", ONE), "evidently x > 0"),
    ("change", goal(x), change("square", ONE), "evidently x >= 0"),
    ("change", goal(x), change("cube", ONE), "one of ("),
    ("change", goal(x), change("log", -ONE), "a term evidently positive"),
    (
        "vertex",
        goal(positive_part(x - 1) - x, x),
        vertex(x, (ONE, -ONE, ONE, 1)),
        "the sum is the goal",
    ),
    ("vertex", goal(-positive_part(x - 1) + x, x), vertex(x, (-x, -ONE, ONE, 1)), "hinges without"),
    ("vertex", goal(x, x), vertex(x, lower=ONE), "a hypothesis that states the bound"),
    ("vertex", goal(x, x), vertex(x, upper=ONE), "a hypothesis that states the bound"),
    ("vertex", goal(power(x, 2), x), vertex(power(x, 2)), "an affine part"),
    ("vertex", goal(-power(x, 2), x), vertex(-power(x, 2)), "an affine part"),
    ("vertex", goal(absolute(x - 1), x), vertex(absolute(x - 1)), "without kinks"),
    ("vertex", goal(x, x, rel=">"), vertex(x), "a goal with one of"),
    ("boxes", goal(x, x + 1), boxes("direct"), "a sign"),
    ("boxes", goal(x, x, rel=">"), boxes("direct"), "a sign"),
    ("boxes", goal(x), boxes("zero"), "the form is zero"),
    ("boxes", goal(x - x, rel=">"), boxes("zero"), "the form is zero"),
    ("boxes", goal(x), boxes("split", "x", Q(1, 3), ("direct",), ("direct",)), "a binary fraction"),
    ("boxes", goal(x, x), boxes("split", "x", Q(-1), ("direct",), ("direct",)), "inside the box"),
    ("boxes", goal(x, x), boxes("empty", 0), "a hypothesis that fails"),
    ("boxes", goal(x, x), boxes("empty", 1), "a hypothesis's index"),
    ("boxes", goal(x, (ZERO, "!=")), boxes("empty", 0), "a hypothesis that fails"),
    ("boxes", goal(x * (x - 1), x, 1 - x), boxes("face", "x", -1, ("zero",)), "a monotone term"),
    ("boxes", goal(-x, x, 1 - x), boxes("face", "x", -1, ("zero",)), "a monotone term"),
    ("boxes", goal(x), boxes("face", "x", -1, ("zero",)), "a finite end"),
    ("boxes", goal(-x, x), boxes("face", "x", 1, ("direct",)), "a finite end"),
    ("boxes", goal(sqrt(x), x, 1 - x), boxes("face", "x", -1, ("zero",)), "defined on the box"),
    ("boxes", goal(1 / x, x + 1, 1 - x), boxes("face", "x", 1, ("direct",)), "defined on the box"),
    ("boxes", goal(absolute(x), x, 1 - x), boxes("face", "x", -1, ("zero",)), "without kinks"),
    ("boxes", goal(x, x), boxes("mean"), "a finite box"),
    ("boxes", goal(x - 1, x, 1 - x), boxes("mean"), "a sign"),
    ("boxes", goal(x), boxes("half"), "expected a tree of boxes"),
    ("boxes", goal(ONE), boxes("direct", bits=10**6), "a whole number"),
]


@pytest.mark.parametrize(
    ("rule", "sequent", "parameters", "condition"),
    MUST_REJECT,
    ids=[f"{row[0]}-{number}" for number, row in enumerate(MUST_REJECT)],
)
def test_refused(rule: str, sequent: Sequent, parameters: dict[str, Any], condition: str) -> None:
    with pytest.raises(Refusal) as refused:
        step(sequent, rule, parameters)
    assert condition in str(refused.value), refused.value


def test_every_rule_on_sequents_is_in_the_table() -> None:
    on_sequents = {name for name, rule in RULES.items() if rule.goal is Sequent}
    assert {row[0] for row in MUST_REJECT} == on_sequents


def test_limits_and_secants_leave_what_fails() -> None:
    # -1 has no limit that is nonnegative; 1/x - 2 falls; x^2 - 4 is negative at 1; -x at 1, too
    left = step(goal(num(-1), (x, ">")), "approach", approach())
    assert Sequent(facts((x, ">"), 1 - x), Fact(-ONE + x, ">=")) in left
    left = step(goal(1 / x - 2, (x, ">")), "approach", approach())
    assert Sequent(facts((x, ">")), Fact(-power(x, -2), ">=")) in left
    left = step(goal(power(x, 2) - 4, x - 1), "secant", secant())
    assert Sequent((), Fact(num(-3), ">=")) in left
    left = step(goal(-x, x - 1), "secant", secant(before=-ONE))
    assert Sequent((), Fact(num(-1), ">=")) in left
    left = step(goal(x - y, y), "square", {"larger": x, "smaller": y})
    assert Sequent(facts(y), Fact(x, ">=")) in left


def test_humps_leave_what_fails() -> None:
    # x (1 - x) (1 - 2 x) is negative at 3/4: its slope is negative at 1/2, positive at 15/16
    left = step(goal(x * (1 - x) * (1 - 2 * x), x, 1 - x), "hump", hump())
    at = {"x": Fraction(15, 16), "u": Fraction(1, 2)}
    assert any(fails(premise, at) for premise in left)
    # -x is negative at 1
    left = step(goal(-x, x, 1 - x), "hump", hump())
    assert Sequent(facts(ONE), Fact(num(-1), ">=")) in left
    # a negative weight would turn the pattern round
    left = step(goal(-x * (1 - x), x, 1 - x), "hump", hump(weight=num(-1)))
    assert Sequent(facts((x, ">"), (1 - x, ">")), Fact(num(-1), ">")) in left
    # -x exp(-x) is negative with limit zero: it falls, then rises
    left = step(goal(-x * exp(-x), x), "hump", hump(None))
    assert any(fails(premise, {"x": Fraction(2), "u": Fraction(1, 2)}) for premise in left)
    # -exp(-x)/2 has limit zero and rises, but is negative at 0
    left = step(goal(-exp(-x) / 2, x), "hump", hump(None))
    assert Sequent((), Fact(-HALF, ">=")) in left


def test_every_rule_says_when_it_fails() -> None:
    for rule in RULES.values():
        if rule.goal is Sequent:
            assert "--" in rule.text, rule.name
            assert "ails when" in rule.text or "Never fails" in rule.text, rule.name


def test_a_proof_with_too_few_premises_is_refused() -> None:
    with pytest.raises(Refusal, match="proofs of 2 premises"):
        check(goal(absolute(x)), Proof("cases", {"kinked": absolute(x)}, (Proof("evident"),)))


def test_lemmas_come_from_the_kernel_alone() -> None:
    with pytest.raises(Refusal, match="made by the kernel alone"):
        Lemma()


def test_a_lemma_needs_proofs_that_it_is_defined() -> None:
    proof = Proof("evident")
    with pytest.raises(Refusal, match="proofs of definedness"):
        prove_lemma(goal(maximum(ZERO, ONE) + 0 * log(x), x), proof)
