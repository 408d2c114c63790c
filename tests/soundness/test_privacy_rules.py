"""What every privacy rule must refuse, each with its reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpsym.kernel.definitions import Form
from dpsym.kernel.proofs import step
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import RULES
from dpsym.kernel.rules_mechanisms import Limit, Mass, Piece, Slack
from dpsym.kernel.rules_privacy import Multipliers, statement_obligations
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import (
    Assumed,
    Fact,
    Guarantee,
    Mechanism,
    Pair,
    Processed,
    Region,
    Statement,
)
from dpsym.kernel.terms import MINUS_ONE, ONE, ZERO, exp, ite, lgamma, maximum, num, power, var
from dpsym.kernel.theorems import prove
from dpsym.search.privacy.prover import prove_statement
from tests.soundness.test_stage_rules import STAGE_RULES

e1, e2, d1, d2, alpha, n, x, t = map(var, ("e1", "e2", "d1", "d2", "alpha", "n", "x", "t"))
REALS = (("e1", "real"), ("e2", "real"), ("d1", "real"), ("d2", "real"), ("alpha", "real"))
FACTS = (Fact(e1, ">="), Fact(e2, ">="), Fact(d1, ">="), Fact(d2, ">="), Fact(alpha - 1, ">"))


def pure(e, **way):
    return Guarantee("PureDP", (e,), **way)


def approx(e, d, **way):
    return Guarantee("ApproxDP", (e, d), **way)


def goal(*stages, claims, variables=REALS, facts=FACTS):
    made = tuple(s if isinstance(s, (Mechanism, Processed)) else Assumed(s) for s in stages)
    return Statement(variables, facts, made, claims)


ONE_WAY = {"two_way": False}
COIN = Mechanism((Pair((Region(num(1), num(1), weight=ONE),)),))
TWO_PURE = goal((pure(e1),), (pure(e2),), claims=(pure(e1 + e2, **ONE_WAY),))
TWO_APPROX = goal(
    (approx(e1, d1),), (approx(e2, d2),), claims=(approx(e1 + e2, d1 + d2, **ONE_WAY),)
)
ZCDP = Guarantee("ZCDP", (e1,))
NULL = Form(ZERO, ZERO, ZERO)


def row(a=NULL, b=NULL, weights=(NULL, NULL), larger=None):
    return Multipliers(a, b, weights, larger)


def theorem():
    return prove_statement(
        Statement(
            (("y", "real"), ("m", "integer")),
            (Fact(var("y"), ">="), Fact(var("m"), ">=")),
            (Assumed((pure(var("y")),)),),
            (pure(var("y") + var("m")),),
        ),
        10,
    )


# -- explicit mechanisms: exponential densities of rate e1 > 0, on x >= 0 or formally on the line

HALF_LINE, LINE = (Fact(x, ">="),), ()
RATES = (("e1", "real"), ("d1", "real"), ("n", "integer"))
POSITIVE = (Fact(e1, ">"),)
ENDLESS = Limit(ZERO, (Slack(ONE, "exp", 0, ONE, ZERO),))
DISTRIBUTIONS = Guarantee("Distributions", ())


def decaying(facts=HALF_LINE, **more):
    return Region(e1 * exp(-e1 * x), e1 * exp(-e1 * x), "x", facts, **more)


def noise(*regions, claim=None, stages=1, variables=(), facts=(), normalised=True):
    """A statement about one pair of these regions."""
    pair = Pair(regions or (decaying(),), variables, facts, "", normalised)
    stage = Mechanism((pair,))
    claims = (claim or approx(d1, d1, **ONE_WAY),)
    return Statement(RATES, POSITIVE, (stage,) * stages, claims)


def by_pieces(*pieces, low=(ZERO, ZERO)):
    return {"low": low, "pieces": pieces}


def mass(coefficient=ONE, density="q", shift=ZERO, scale=ONE, mapping=()):
    return {"masses": (Mass(coefficient, density, shift, scale, mapping),), "mirror": None}


TAIL = Piece(-exp(-e1 * x), last=ENDLESS)
ONE_PIECE = by_pieces((TAIL,))
FROM_U = noise(variables=(("u", "real"),), facts=(Fact(var("u"), ">="),))
PAIRS_OF_U = Mechanism((Pair((Region(var("u"), ONE),), (("u", "real"),)),))
KL = Guarantee("KLDP", (d1,), **ONE_WAY)
RANGE = Guarantee("BoundedRange", (e1,), **ONE_WAY)
STEPS = {"kind": "integer"}

MECHANISM_RULES = {
    "pairs": [
        (TWO_PURE, {}, "one explicit mechanism"),
        (noise(stages=2), {}, "one explicit mechanism"),
        (noise(variables=(("e1", "real"),)), {}, "variables declared once"),
        (noise(variables=(("$t", "real"),)), {}, "names without $"),
    ],
    "either": [
        (noise(), {"item": x}, "declared variables"),
        (FROM_U, {"item": var("u")}, "declared variables"),
        (noise(), {"item": var("$t")}, "declared variables"),
    ],
    "named": [
        (noise(), {"name": "n", "value": e1, "kind": "integer"}, "a new variable"),
        (noise(), {"name": "x", "value": e1, "kind": "integer"}, "a new variable"),
        (FROM_U, {"name": "u", "value": e1, "kind": "integer"}, "a new variable"),
        (noise(), {"name": "$n", "value": e1, "kind": "integer"}, "a new variable"),
        (noise(), {"name": "m", "value": x, "kind": "integer"}, "declared variables"),
        (noise(), {"name": "m", "value": var("m"), "kind": "integer"}, "declared variables"),
        (
            replace(noise(), claims=(KL, KL)),
            {"name": "m", "value": e1, "kind": "integer"},
            "one claim",
        ),
        (noise(), {"name": "m", "value": e1, "kind": "whole"}, "one of"),
    ],
    "equal": [
        (noise(), {"name": "x", "value": ONE}, "a variable"),
        (FROM_U, {"name": "u", "value": ONE}, "a variable"),
        (noise(), {"name": "n", "value": num(1) / 2}, "an integer for an integer"),
        (noise(), {"name": "n", "value": e1}, "an integer for an integer"),
        (noise(), {"name": "n", "value": power(num(2), -1)}, "an integer for an integer"),
        (noise(), {"name": "d1", "value": d1}, "declared variables"),
        (noise(), {"name": "d1", "value": x}, "declared variables"),
    ],
    "integral": [
        (TWO_APPROX, ONE_PIECE, "one explicit mechanism"),
        (noise(stages=2), ONE_PIECE, "one explicit mechanism"),
        (goal(PAIRS_OF_U, claims=(KL,)), ONE_PIECE, "without variables"),
        (noise(facts=(Fact(d1, ">"),)), ONE_PIECE, "without variables"),
        (noise(claim=pure(d1, **ONE_WAY)), ONE_PIECE, "about one moment"),
        (noise(claim=DISTRIBUTIONS), ONE_PIECE, "one direction"),
        (noise(claim=replace(DISTRIBUTIONS, two_way=False)), ONE_PIECE, "about one moment"),
        (noise(claim=approx(d1, d1)), ONE_PIECE, "in one direction"),
        (noise(claim=replace(ZCDP, two_way=False)), ONE_PIECE, "about one moment"),
        (noise(claim=Guarantee("BoundedRange", (d1,), **ONE_WAY)), ONE_PIECE, "about one moment"),
        (replace(noise(), claims=(KL, KL)), ONE_PIECE, "one claim"),
        (noise(normalised=False), ONE_PIECE, "normalised densities"),
        (noise(decaying(), decaying()), ONE_PIECE, "pieces for each region"),
        (noise(), by_pieces(()), "at least one piece"),
        (noise(), by_pieces((Piece(-exp(-e1 * x)),)), "limits where there is no end"),
        (noise(decaying(LINE)), ONE_PIECE, "limits where there is no end"),
        (noise(), by_pieces((TAIL, TAIL)), "ends of all but the last"),
        (noise(), by_pieces((replace(TAIL, until=ONE),)), "ends of all but the last"),
        (noise(), by_pieces((replace(TAIL, until=x), TAIL)), "declared variables"),
        (noise(), by_pieces((Piece(TAIL.primitive, last=Limit(x)),)), "declared variables"),
        (noise(), ONE_PIECE | {"low": (x, ZERO)}, "declared variables"),
        (noise(), by_pieces((replace(TAIL, primitive=var("y")),)), "declared variables"),
        (noise(), by_pieces((replace(TAIL, primitive=ite(x - 1, ZERO, x)),)), "without kinks"),
        (noise(), by_pieces((replace(TAIL, primitive=lgamma(x + 1)),)), "kinks and lgamma"),
        *(
            (noise(), by_pieces((Piece(ZERO, last=Limit(ZERO, (slack,))),)), reason)
            for slack, reason in (
                (Slack(MINUS_ONE, "inverse", 0, ONE, ZERO), "slacks that vanish"),
                (Slack(ONE, "inverse", 2, ONE, ZERO), "slacks that vanish"),
                (Slack(x, "exp", 0, ONE, ZERO), "declared variables"),
                (Slack(ONE, "exp", 0, x, ZERO), "declared variables"),
                (Slack(ONE, "exp", 0, ONE, x), "declared variables"),
                (Slack(ONE, "one", 0, ONE, ZERO), "one of"),
                (Slack(ONE, "exp", 61, ONE, ZERO), "a whole number"),
            )
        ),
        # regions that are no interval, or of which one cannot tell
        (noise(decaying((Fact(power(x, 2) - 1, ">="),))), ONE_PIECE, "an interval"),
        (noise(decaying((Fact(x, "!="),))), ONE_PIECE, "an interval"),
        (noise(decaying((Fact(d1, ">="),))), ONE_PIECE, "an interval"),
        (noise(decaying((Fact(x, ">="), Fact(x - 1, ">=")))), ONE_PIECE, "an interval"),
        (noise(decaying((Fact(d1 * x, ">="),))), ONE_PIECE, "an interval"),
        # sums
        (noise(decaying((Fact(x, ">"),), **STEPS)), ONE_PIECE, "closed bounds of integers"),
        (noise(decaying((Fact(2 * x - 1, ">="),), **STEPS)), ONE_PIECE, "integer ends"),
        (noise(decaying((Fact(x - d1, ">="),), **STEPS)), ONE_PIECE, "integer ends"),
        (noise(decaying((Fact(x - power(n, -1), ">="),), **STEPS)), ONE_PIECE, "integer ends"),
        (noise(decaying((Fact(x - n / 2, ">="),), **STEPS)), ONE_PIECE, "integer ends"),
        (
            noise(decaying(**STEPS)),
            by_pieces((Piece(ZERO, until=num(1) / 2), TAIL)),
            "integer ends",
        ),
        (noise(decaying(**STEPS)), by_pieces((replace(TAIL, first=ENDLESS),)), "none at integers"),
        # where one density is zero
        (
            noise(claim=KL),
            by_pieces((replace(TAIL, q=ZERO),)),
            "a finite value where a density is zero",
        ),
        (
            noise(claim=replace(KL, reverse=True, two_way=False)),
            by_pieces((replace(TAIL, q=ZERO),)),
            "a finite value where a density is zero",
        ),
        (noise(), by_pieces((replace(TAIL, p=var("y")),)), "declared variables"),
        (noise(), by_pieces((replace(TAIL, q=var("$t")),)), "declared variables"),
    ],
    "masses": [
        (TWO_APPROX, mass(), "one explicit mechanism"),
        (noise(stages=2), mass(), "one explicit mechanism"),
        (FROM_U, mass(), "without variables"),
        (noise(claim=pure(d1, **ONE_WAY)), mass(), "about one moment"),
        (noise(claim=approx(d1, d1)), mass(), "in one direction"),
        (noise(claim=replace(ZCDP, two_way=False)), mass(), "about one moment"),
        (noise(decaying(), decaying()), mass(), "one region"),
        (noise(Region(ONE, ONE, weight=ONE)), mass(), "densities"),
        (noise(), mass(shift=ONE), "or a line"),
        (noise(), mass(scale=num(2)), "or a line"),
        (noise(decaying((Fact(e1, ">"),))), mass(shift=ONE), "or a line"),
        (noise(decaying(LINE, **STEPS)), mass(scale=num(2)), "no scale for integers"),
        (noise(decaying(LINE, **STEPS)), mass(shift=num(1) / 2), "integers for integers"),
        (noise(decaying(LINE, **STEPS)), mass(shift=d1), "integers for integers"),
        (noise(), mass(mapping=(("n", d1),)), "integers for integers"),
        (noise(), mass(mapping=(("x", ONE),)), "parameters of the goal"),
        (noise(), mass(mapping=(("stranger", ONE),)), "parameters of the goal"),
        (noise(), mass(mapping=(("e1", x),)), "declared variables"),
        (noise(), mass(coefficient=x), "declared variables"),
        (noise(decaying(LINE)), mass(shift=x), "declared variables"),
        (noise(decaying(LINE)), mass(scale=x), "declared variables"),
        (noise(normalised=False), mass(mapping=(("e1", 2 * e1),)), "the same parameters"),
        (
            noise(decaying((Fact(x - e1, ">="),))),
            mass(mapping=(("e1", 2 * e1),)),
            "free of the parameters",
        ),
        (noise(), mass(density="$t"), "one of"),
        (noise(), mass() | {"mirror": (ZERO, None)}, "a mirror of the whole line"),
        (
            noise(decaying(LINE, **STEPS)),
            mass() | {"mirror": (num(1) / 2, None)},
            "a mirror of the whole line",
        ),
        (noise(decaying(LINE, **STEPS)), mass() | {"mirror": (d1, None)}, "the whole line"),
        (noise(decaying(LINE)), mass() | {"mirror": (x, None)}, "declared variables"),
        (noise(decaying(LINE)), mass() | {"mirror": (ZERO, (x, ZERO))}, "declared variables"),
        (noise(decaying(LINE)), mass() | {"mirror": (ZERO, ())}, "2 values"),
    ],
    "distributions": [
        (noise(), {"pieces": ()}, "that claim"),
        (noise(claim=DISTRIBUTIONS, stages=2), {"pieces": ()}, "one explicit mechanism"),
        (goal(claims=(DISTRIBUTIONS,)), {"pieces": ()}, "one explicit mechanism"),
        (goal((DISTRIBUTIONS,), claims=(DISTRIBUTIONS,)), {"pieces": ()}, "one explicit mechanism"),
        (noise(claim=DISTRIBUTIONS, normalised=False), {"pieces": ()}, "normalised densities"),
        (noise(claim=DISTRIBUTIONS), {"pieces": ()}, "pieces for each region"),
        (
            noise(claim=DISTRIBUTIONS),
            {"pieces": (((TAIL,), (TAIL,), (TAIL,), ()),)},
            "at least one piece",
        ),
        (goal(PAIRS_OF_U, claims=(DISTRIBUTIONS,)), {"pieces": ()}, "without variables"),
    ],
}

REFUSED = {
    **MECHANISM_RULES,
    "claims": [(TWO_PURE, {}, "several claims")],
    "forward": [
        (TWO_PURE, {}, "a two-way claim"),
        (goal((pure(e1, **ONE_WAY),), claims=(pure(e1),)), {}, "two-way guarantees"),
        (goal(COIN, claims=(pure(e1),)), {}, "two-way guarantees"),
    ],
    "directions": [(TWO_PURE, {}, "a two-way claim")],
    "integers": [
        (TWO_PURE, {"name": "e1", "bound": 0}, "an integer variable"),
        (TWO_PURE, {"name": "e1", "bound": 10**12}, "whole number"),
    ],
    "every": [
        (goal((ZCDP,), claims=(ZCDP,)), {"name": "alpha"}, "a new variable"),
        (TWO_PURE, {"name": "order"}, "a family"),
    ],
    "specialise": [
        (goal((ZCDP,), claims=(ZCDP,)), {"stage": 1, "guarantee": 0, "value": alpha}, "a stage"),
        (goal((ZCDP,), claims=(ZCDP,)), {"stage": 0, "guarantee": 1, "value": alpha}, "index"),
        (TWO_PURE, {"stage": 0, "guarantee": 0, "value": alpha}, "a family"),
        (
            goal((ZCDP,), claims=(ZCDP,)),
            {"stage": 0, "guarantee": 0, "value": var("stranger")},
            "declared variables",
        ),
    ],
    "cut": [
        (TWO_PURE, {"first": 1, "last": 0, "guarantees": (pure(e1),)}, "a range of stages"),
        (TWO_PURE, {"first": 0, "last": 2, "guarantees": (pure(e1),)}, "a range of stages"),
        (TWO_PURE, {"first": 0, "last": 1, "guarantees": ()}, "at least one guarantee"),
        (
            TWO_PURE,
            {"first": 0, "last": 1, "guarantees": (pure(var("stranger")),)},
            "declared variables",
        ),
    ],
    "use": [
        (TWO_PURE, {"theorem": "text", "mapping": ()}, "proved earlier"),
        (TWO_PURE, lambda: {"theorem": theorem(), "mapping": ()}, "a term for each variable"),
        (
            goal((pure(e1),), claims=(pure(e1 + e2),)),
            lambda: {"theorem": theorem(), "mapping": (("y", e1), ("m", e2))},
            "an integer for an integer",
        ),
        (
            goal((pure(e1),), claims=(pure(e1),)),
            lambda: {"theorem": theorem(), "mapping": (("y", e1), ("m", num(2)))},
            "the claim of the theorem",
        ),
        (
            goal((pure(e2),), claims=(pure(e1 + 2),)),
            lambda: {"theorem": theorem(), "mapping": (("y", e1), ("m", num(2)))},
            "a stage with the guarantee",
        ),
        (
            goal((pure(e1, **ONE_WAY),), claims=(pure(e1 + 2),)),
            lambda: {"theorem": theorem(), "mapping": (("y", e1), ("m", num(2)))},
            "a stage with the guarantee",
        ),
        (
            TWO_PURE,
            lambda: {"theorem": theorem(), "mapping": (("y", e1), ("m", num(2)))},
            "as many stages",
        ),
    ],
    "spanned": [
        (TWO_PURE, {}, "about the range"),
        (replace(TWO_PURE, claims=(RANGE, RANGE)), {}, "one claim"),
        (replace(TWO_APPROX, claims=(RANGE,)), {}, "bounded on both sides"),
        (goal((pure(e1, **ONE_WAY),), claims=(RANGE,)), {}, "bounded on both sides"),
        (goal((pure(e1),), (RANGE,), claims=(RANGE,)), {}, "bounded on both sides"),
        (goal(COIN, claims=(RANGE,)), {}, "guarantees"),
    ],
    "support": [
        (TWO_PURE, {"bounds": (exp(e1),)}, "a bound for each stage"),
        (TWO_APPROX, {"bounds": (exp(e1), exp(e2))}, "about the support"),
        (
            replace(TWO_APPROX, claims=(pure(e1, **ONE_WAY),)),
            {"bounds": (exp(e1), exp(e2))},
            "where the loss is infinite",
        ),
        (
            goal((pure(e1, **ONE_WAY),), claims=(pure(e1, two_way=False, reverse=True),)),
            {"bounds": (exp(e1),)},
            "where the loss is infinite",
        ),
        (goal(COIN, claims=(pure(e1, **ONE_WAY),)), {"bounds": (exp(e1),)}, "guarantees"),
        (goal((pure(e1),), claims=(pure(e1),)), {"bounds": (exp(e1),)}, "in one direction"),
    ],
    "tower": [
        (TWO_PURE, {"multipliers": (), "low": (ZERO, ZERO)}, "about one moment"),
        (TWO_APPROX, {"multipliers": (row(),), "low": (ZERO, ZERO)}, "for each stage"),
        (
            TWO_APPROX,
            {"multipliers": (row(), row(weights=(NULL,))), "low": (ZERO, ZERO)},
            "for each moment",
        ),
        (
            TWO_APPROX,
            {"multipliers": (row(), row(a=Form(ONE, None, ZERO))), "low": (ZERO, ZERO)},
            "a finite value",
        ),
        (
            TWO_APPROX,
            {"multipliers": (row(), row(a=Form(var("stranger"), ONE, ZERO))), "low": (ZERO, ZERO)},
            "declared variables",
        ),
        (
            TWO_APPROX,
            {"multipliers": (row(), row(a=Form(var("$s"), ONE, ZERO))), "low": (ZERO, ZERO)},
            "declared variables",
        ),
        (  # L = oo may happen, and the Renyi moment is infinite there
            replace(TWO_APPROX, claims=(Guarantee("RenyiDP", (alpha, e1), **ONE_WAY),)),
            {"multipliers": (row(), row()), "low": (ZERO, ZERO)},
            "a finite value",
        ),
    ],
    "limit": [
        (TWO_PURE, {"name": "e1", "start": ONE, "value": e1}, "a new variable"),
        (TWO_PURE, {"name": "y", "start": ONE, "value": ite(var("y"), e1, e2)}, "no ite"),
        (TWO_PURE, {"name": "y", "start": var("y"), "value": e1}, "declared variables"),
        (
            goal((pure(e1),), claims=(Guarantee("BoundedRange", (e1,)),)),
            {"name": "y", "start": ONE, "value": e1},
            "closed under limits",
        ),
        (
            goal((pure(e1),), claims=(Guarantee("Distributions", ()),)),
            {"name": "y", "start": ONE, "value": e1},
            "a claim with a bound",
        ),
        (  # a higher order is more
            goal((Guarantee("TCDP", (e1, num(2))),), claims=(Guarantee("TCDP", (e1, num(9))),)),
            {"name": "y", "start": ZERO, "value": num(2)},
            "weaker upwards",
        ),
    ],
    "postprocess": [
        (TWO_PURE, {"stage": 0}, "a post-processed stage"),
        (TWO_PURE, {"stage": 5}, "the index of a stage"),
        (
            goal(Processed((replace(RANGE, two_way=False),)), claims=(ZCDP,)),
            {"stage": 0},
            "a bounded range in both directions",
        ),
        (goal(Processed((DISTRIBUTIONS,)), claims=(ZCDP,)), {"stage": 0}, "about the loss"),
    ],
    "series": [
        (goal(pure(e1), claims=(DISTRIBUTIONS,)), {"parameters": (ONE, ONE)}, "explicit mechanism"),
        (goal(COIN, claims=(pure(e1),)), {"parameters": (ONE, ONE)}, "that claim"),
        (goal(COIN, claims=(DISTRIBUTIONS,)), {"parameters": (ONE, ONE)}, "integers from 0"),
    ],
    "spread": [
        (goal(pure(e1), claims=(RANGE,)), {}, "one explicit mechanism"),
        (goal(COIN, COIN, claims=(RANGE,)), {}, "one explicit mechanism"),
        (goal(COIN, claims=(pure(e1, **ONE_WAY),)), {}, "a claim of a bounded range"),
        (goal(COIN, claims=(replace(RANGE, two_way=True),)), {}, "in one direction"),
        (goal(COIN, claims=(replace(ZCDP, two_way=False),)), {}, "a claim of a bounded range"),
    ],
    "pointwise": [
        (TWO_PURE, {}, "one explicit mechanism"),
        (goal(COIN, COIN, claims=(pure(e1, **ONE_WAY),)), {}, "one explicit mechanism"),
        (goal(COIN, claims=(approx(e1, d1, **ONE_WAY),)), {}, "a claim of pure DP"),
        (goal(COIN, claims=(pure(e1),)), {}, "in one direction"),
        (goal(COIN, claims=(replace(DISTRIBUTIONS, two_way=False),)), {}, "a claim of pure DP"),
        (goal(COIN, claims=(replace(ZCDP, two_way=False),)), {}, "a claim of pure DP"),
    ],
}


def cases():
    for rule, refused in REFUSED.items():
        for number, (statement, parameters, reason) in enumerate(refused, 1):
            yield pytest.param(rule, statement, parameters, reason, id=f"{rule}-{number}")


@pytest.mark.parametrize(("rule", "statement", "parameters", "reason"), list(cases()))
def test_refused(rule, statement, parameters, reason):
    given = parameters() if callable(parameters) else parameters
    with pytest.raises(Refusal) as caught:
        step(statement, rule, given)
    assert reason in str(caught.value)


def test_every_privacy_rule_has_its_refusals():
    rules = {name for name, rule in RULES.items() if rule.goal is Statement}
    assert rules == set(REFUSED) | set(STAGE_RULES)
    assert all((REFUSED | STAGE_RULES).values())


def test_every_rule_says_when_it_fails():
    for rule in RULES.values():
        assert "Fails when" in rule.text or "Fails for" in rule.text or "Never fails" in rule.text
        assert "---" in rule.text, f"{rule.name} has no inference"


COIN_OF_E = Mechanism((Pair((Region(e1, e1, weight=ONE),), (("e1", "real"),)),))
ILL_FORMED = [
    (replace(TWO_PURE, stages=()), "at least one stage"),
    (replace(TWO_PURE, claims=()), "at least one claim"),
    (replace(TWO_PURE, variables=(*REALS, ("e1", "real"))), "variables declared once"),
    (replace(TWO_PURE, variables=(*REALS, ("$t", "real"))), "names without $"),
    (replace(TWO_PURE, facts=(Fact(x, ">"),)), "declared variables only"),
    (replace(TWO_PURE, claims=(pure(t),)), "declared variables only"),
    (replace(TWO_PURE, claims=(Guarantee("PerfectDP", (e1,)),)), "the name of a guarantee"),
    (replace(TWO_PURE, claims=(Guarantee("PureDP", (e1, e2)),)), "1 arguments"),
    (replace(TWO_PURE, claims=(Guarantee("PureDP", (None,)),)), "arguments that are terms"),
    (replace(TWO_PURE, stages=(COIN_OF_E,)), "fresh names"),
    (
        replace(TWO_PURE, stages=(Mechanism((Pair((Region(e1, e1, output="e2"),)),)),)),
        "a fresh name for the output",
    ),
    (
        replace(TWO_PURE, stages=(Mechanism((Pair((Region(x, x, "x", weight=ONE),)),)),)),
        "no weight for a density",
    ),
    (  # an atom that is only sometimes there, which a sum would count always
        replace(TWO_PURE, stages=(Mechanism((Pair((Region(e1, e1, None, (Fact(e1, ">"),)),)),)),)),
        "no facts about atoms",
    ),
]


@pytest.mark.parametrize(("statement", "reason"), ILL_FORMED)
def test_ill_formed_statements_are_refused(statement, reason):
    with pytest.raises(Refusal) as caught:
        statement_obligations(statement)
    assert reason in str(caught.value)


def test_a_theorem_is_made_by_a_proof_alone():
    found = theorem()
    with pytest.raises(Refusal, match="made by the kernel alone"):
        type(found)()
    with pytest.raises(AttributeError):
        found.statement = TWO_PURE
    with pytest.raises(TypeError):
        found.__reduce__()
    with pytest.raises(Refusal):
        prove(replace(found.statement, claims=(pure(var("y")),)), found.proof, found.definedness)


def test_a_renyi_claim_needs_an_order_above_one():
    claim = Guarantee("RenyiDP", (alpha, e1))
    statement = goal((claim,), claims=(claim,), facts=(Fact(alpha, ">"),))
    assert Fact(alpha - 1, ">") in [item.goal for item in statement_obligations(statement)]


def test_no_multipliers_prove_a_false_total():
    """Whatever rows are given, a false claim leaves a premise that is false at some point."""
    import itertools

    from dpsym.search.samples import number

    false = replace(TWO_APPROX, claims=(approx(maximum(e1, e2), d1 + d2, **ONE_WAY),))
    ratio = var("$t")
    hinge = Form(maximum(ratio - exp(e1), 0), ONE, ZERO)
    forms = [NULL, Form(ratio, ONE, ZERO), Form(ONE, ZERO, ONE), hinge]
    grid = [0.01, 0.5, 1.0, 1.5, 2.0, 3.5, 8.0, 60.0]
    at = {"e1": 0.7, "e2": 0.7, "d1": 0.05, "d2": 0.05, "alpha": 2.0}
    count = 0
    for a, lam, mu in itertools.product(forms, repeat=3):
        later = row(a=a, weights=(lam, mu))
        first = row(a=Form(num(1), ZERO, ZERO), weights=(Form(ONE, ZERO, ZERO), NULL))
        try:
            premises = step(false, "tower", {"multipliers": (first, later), "low": (ZERO, ZERO)})
        except Refusal:
            continue
        count += 1
        points = [{**at, "$s": s, "$t": r} for s in grid for r in grid]
        assert any(
            all(number(f.term, p) >= 0 for f in premise.hypotheses)
            and number(premise.goal.term, p) < -1e-9
            for premise in premises
            for p in points
        )
    assert count > 20


def test_a_limit_is_one_of_claims_that_mean_something():
    """A Gaussian guarantee of a mean that is not positive has no members."""
    claimed = goal((pure(e1),), claims=(Guarantee("GDP", (e2 + 1,)),))
    premises = step(claimed, "limit", {"name": "y", "start": ZERO, "value": e1 - var("y")})
    needed = Fact(e1 - var("y"), ">")
    assert any(isinstance(one, Sequent) and one.goal == needed for one in premises)
