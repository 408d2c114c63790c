"""What the rules for repetitions, groups and blends must refuse, and leave to show."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from dpsym.certificates import write
from dpsym.kernel import terms as tm
from dpsym.kernel.certificate import verify
from dpsym.kernel.proofs import step
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules_privacy import MOST, statement_obligations
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import (
    Assumed,
    Blend,
    Choice,
    Fact,
    Filter,
    Group,
    Guarantee,
    Joint,
    Link,
    Mechanism,
    Pair,
    Processed,
    Region,
    Repeated,
    Statement,
)
from dpsym.kernel.terms import ONE, ZERO, Term, exp, log, num, positive_part, var
from dpsym.search.privacy.prover import prove_statement

e, d, q, k, t = (var(name) for name in ("e", "d", "q", "k", "$t"))
VARIABLES = (("e", "real"), ("d", "real"), ("q", "real"), ("k", "integer"))
FACTS = (Fact(e, ">="), Fact(d, ">="), Fact(q, ">"), Fact(1 - q, ">"), Fact(k - 1, ">="))
ONE_WAY = {"two_way": False}


def pure(loss: Term, **way: bool) -> Guarantee:
    return Guarantee("PureDP", (loss,), **way)


def approx(loss: Term, mass: Term, **way: bool) -> Guarantee:
    return Guarantee("ApproxDP", (loss, mass), **way)


PURE, APPROX, ZCDP = (Assumed((g,)) for g in (pure(e), approx(e, d), Guarantee("ZCDP", (e,))))
COIN = Mechanism((Pair((Region(num(1), num(1), weight=ONE),)),))
ENDS = (ONE, ZERO, ZERO), (ZERO, ZERO, ONE)


SIDES = (ONE, ZERO), (ZERO, ONE)
ALONE = Blend(*SIDES, (Link(0, 1, PURE),))
DISTRIBUTIONS = Guarantee("Distributions", ())


def sampled(single: Assumed | Mechanism = PURE, rate: Term = q) -> Blend:
    return Blend((rate, 1 - rate), (ZERO, ONE), (Link(0, 1, single),))


def goal(*stages, claim=pure(e), facts=FACTS):  # noqa: B008
    return Statement(VARIABLES, facts, stages, (claim,))


COPIES, CHAIN = Repeated(PURE, k), Group(PURE, k)
CHOICE = Choice((PURE, Assumed((pure(d),))))
SAMPLED = goal(sampled(), claim=pure(e, **ONE_WAY))
MOMENT = goal(sampled(APPROX), claim=approx(e, d, **ONE_WAY))
ROW = {"linear": (ZERO, ZERO), "moments": ((q, ZERO),)}
NONE = {"linear": (), "moments": ()}
KL = Assumed((Guarantee("KLDP", (e,), **ONE_WAY),))

# ranges, and Gaussian pairs
x = var("x")
FILTER = Filter("x", Assumed((pure(x),)), e)
PARTS = {"first": 2, "before": (pure(2 * e),), "after": (pure(e),)}
RANGE, GDP = (Assumed((Guarantee(name, (e,)),)) for name in ("BoundedRange", "GDP"))
HALF_WAY, WIDE = approx(e, d, **ONE_WAY), Guarantee("BoundedRange", (e,), **ONE_WAY)
AT_X = {"stage": 0, "guarantee": 0, "name": "x"}
MEANS = {"first": e, "second": d, "mean": tm.sqrt(e * e + d * d)}


def density(item: Term) -> Term:
    return exp(-tm.power(item, 2) / 2) / tm.sqrt(2 * tm.PI)


def normal(mean: Term) -> Mechanism:
    return Mechanism((Pair((Region(density(x - mean), density(x), "x"),)),))


(NORMAL,) = normal(d).pairs

STAGE_RULES = {
    "inner": [
        (goal(COPIES), {"stage": 1, "part": 0, "guarantees": (pure(e),)}, "index of a stage"),
        (goal(COPIES), {"stage": 0, "part": 1, "guarantees": (pure(e),)}, "index of a part"),
        (goal(sampled()), {"stage": 0, "part": 1, "guarantees": (pure(e),)}, "index of a part"),
        (goal(PURE), {"stage": 0, "part": 0, "guarantees": (pure(e),)}, "made of others"),
        (
            goal(COPIES),
            {"stage": 0, "part": 0, "guarantees": (pure(var("stranger")),)},
            "declared variables",
        ),
    ],
    "each": [
        (goal(PURE), {}, "a choice of mechanisms"),
        (goal(COPIES), {}, "a choice of mechanisms"),
        (goal(), {}, "a first stage"),
        (goal(PURE, CHOICE), {}, "a choice of mechanisms"),  # it may depend on the first output
        (goal(Repeated(CHOICE, k)), {}, "a choice of mechanisms"),
    ],
    "certain": [
        (goal(PURE), {"stage": 0}, "a blend"),
        (goal(ALONE), {"stage": 1}, "the index of a stage"),
        (goal(sampled()), {"stage": 0}, "one distribution each, with a link"),
        (goal(Repeated(ALONE, k)), {"stage": 0}, "a blend"),
        (goal(Blend(*ENDS, (Link(0, 1, PURE), Link(1, 2, PURE)))), {"stage": 0}, "with a link"),
        (goal(Blend(*SIDES, (Link(1, 0, PURE),))), {"stage": 0}, "with a link"),
        (goal(ALONE, claim=Guarantee("BoundedRange", (e,))), {"stage": 0}, "a convex claim"),
        (goal(ALONE, claim=DISTRIBUTIONS), {"stage": 0}, "about the loss"),
    ],
    "unroll": [
        (goal(COPIES), {}, "at most 64 copies"),
        (goal(Repeated(PURE, num(65))), {}, "at most 64 copies"),
        (goal(Group(PURE, num(2))), {}, "at most 1 copies"),
        (goal(Repeated(PURE, ONE), PURE), {}, "one stage"),
        (goal(PURE), {}, "a number of copies"),
        (goal(sampled()), {}, "a number of copies"),
    ],
    "induct": [
        (goal(PURE), {}, "a number of copies"),
        (goal(sampled()), {}, "a number of copies"),
        (goal(COPIES, PURE), {}, "one stage"),
        (goal(Repeated(PURE, num(3))), {}, "a variable"),
        (goal(Repeated(PURE, k + 1)), {}, "a variable"),
        (goal(Repeated(COIN, k)), {}, "copies of guarantees"),
        (goal(Repeated(Assumed((pure(e / k),)), k)), {}, "without the number of copies"),
        (replace(goal(COPIES), claims=(pure(e), pure(d))), {}, "one claim"),
    ],
    "parted": [
        (goal(PURE), PARTS, "a number of copies"),
        (goal(sampled()), PARTS, "a number of copies"),
        (goal(COPIES), PARTS, "a part of a number"),
        (goal(Repeated(PURE, num(4)), PURE), PARTS, "one stage"),
        (goal(Repeated(PURE, num(2))), PARTS, "a part of a number"),
        (goal(Group(PURE, num(1))), PARTS, "a part of a number"),
        (goal(Repeated(PURE, num(4))), PARTS | {"first": 0}, "a whole number"),
        (goal(Repeated(PURE, num(4))), PARTS | {"first": -1}, "a whole number"),
        (goal(Repeated(PURE, num(4))), PARTS | {"before": ()}, "a part of a number"),
        (goal(Repeated(PURE, num(4))), PARTS | {"after": ()}, "a part of a number"),
        (
            goal(Repeated(PURE, num(4))),
            PARTS | {"after": (pure(var("stranger")),)},
            "declared variables",
        ),
    ],
    "spent": [
        (goal(PURE), {}, "a filter"),
        (goal(COPIES), {}, "a filter"),
        (goal(FILTER, PURE), {}, "one stage"),
        (replace(goal(FILTER), claims=(pure(e), pure(d))), {}, "one claim"),
        (goal(replace(FILTER, budget=e + d)), {}, "a real variable"),
        (goal(replace(FILTER, budget=num(3))), {}, "a real variable"),
        (goal(replace(FILTER, budget=k)), {}, "a real variable"),  # x need not be an integer
        (goal(replace(FILTER, stage=Assumed((pure(x + e),)))), {}, "without the budget"),
        (goal(replace(FILTER, name="d")), {}, "a new variable"),
        (goal(replace(FILTER, name="$t")), {}, "a new variable"),
    ],
    "ranged": [
        (goal(PURE, PURE), {"guarantee": 0, "name": "t"}, "one stage"),
        (goal(COPIES), {"guarantee": 0, "name": "t"}, "a guarantee"),
        (goal(RANGE), {"guarantee": 1, "name": "t"}, "the index of a guarantee"),
        (goal(PURE), {"guarantee": 0, "name": "t"}, "in both directions"),
        (  # where p = 0, the loss may be anything
            goal(Assumed((Guarantee("BoundedRange", (e,), **ONE_WAY),))),
            {"guarantee": 0, "name": "t"},
            "in both directions",
        ),
        (goal(RANGE), {"guarantee": 0, "name": "e"}, "a new variable"),
        (goal(RANGE), {"guarantee": 0, "name": "$t"}, "a new variable"),
        (
            replace(goal(RANGE), claims=(pure(e), pure(d))),
            {"guarantee": 0, "name": "t"},
            "one claim",
        ),
    ],
    "dominated": [
        (goal(GDP), AT_X, "in one direction"),
        (goal(GDP, claim=pure(e, **ONE_WAY)), AT_X, "about one moment"),
        (goal(GDP, claim=replace(ZCDP.guarantees[0], two_way=False)), AT_X, "about one moment"),
        (goal(GDP, claim=WIDE), AT_X, "about one moment"),
        (replace(goal(GDP), claims=(HALF_WAY, HALF_WAY)), AT_X, "one claim"),
        (goal(GDP, claim=HALF_WAY), AT_X | {"stage": 1}, "the index of a stage"),
        (goal(GDP, claim=HALF_WAY), AT_X | {"guarantee": 1}, "the index of a guarantee"),
        (goal(APPROX, claim=HALF_WAY), AT_X, "GDP"),
        (goal(Repeated(GDP, k), claim=HALF_WAY), AT_X, "a guarantee"),
        (goal(Processed(GDP.guarantees), claim=HALF_WAY), AT_X, "a guarantee"),
        (goal(GDP, claim=HALF_WAY), AT_X | {"name": "e"}, "a new name"),
        (goal(GDP, claim=HALF_WAY), AT_X | {"name": "$t"}, "a new name"),
    ],
    "rotated": [
        (goal(normal(e)), MEANS, "at least two stages"),
        (goal(normal(e), GDP), MEANS, "explicit mechanisms"),
        (goal(COPIES, normal(d)), MEANS, "explicit mechanisms"),
        (goal(normal(e), normal(d)), MEANS | {"mean": var("stranger")}, "declared variables"),
        (goal(normal(e), normal(d)), MEANS | {"first": x}, "declared variables"),
        (goal(normal(d), normal(e)), MEANS, "two normal densities"),
        (goal(normal(e), COIN), MEANS, "densities"),
        (goal(normal(e), Mechanism(normal(d).pairs * 2)), MEANS, "one pair"),
        *(
            (goal(normal(e), Mechanism((other,))), MEANS, "two normal densities")
            for other in (
                replace(NORMAL, normalised=False),
                replace(NORMAL, variables=(("u", "real"),)),
                replace(NORMAL, facts=(Fact(e, ">"),)),
                replace(NORMAL, regions=NORMAL.regions * 2),
                *(
                    replace(NORMAL, regions=(region,))
                    for region in (
                        replace(NORMAL.regions[0], facts=(Fact(x, ">="),)),
                        replace(NORMAL.regions[0], kind="integer"),
                        replace(NORMAL.regions[0], q=NORMAL.regions[0].p),
                        replace(NORMAL.regions[0], p=NORMAL.regions[0].q),
                        replace(NORMAL.regions[0], p=density(2 * (x - d)) * 2),
                        replace(NORMAL.regions[0], p=2 * density(x - d)),
                    )
                ),
            )
        ),
    ],
    "blended": [
        (goal(COPIES, claim=pure(e, **ONE_WAY)), NONE, "a blend"),
        (goal(CHAIN, claim=pure(e, **ONE_WAY)), NONE, "a blend"),
        (goal(sampled(), sampled(), claim=pure(e, **ONE_WAY)), NONE, "one stage"),
        (goal(sampled()), NONE, "in one direction"),
        (replace(SAMPLED, claims=(pure(e, **ONE_WAY),) * 2), NONE, "one claim"),
        (goal(sampled(COIN), claim=pure(e, **ONE_WAY)), NONE, "links that are guarantees"),
        (SAMPLED, {"linear": (ZERO, ZERO), "moments": ()}, "a multiplier for each"),
        (SAMPLED, {"linear": (), "moments": ((),)}, "a multiplier for each"),
        (MOMENT, NONE, "a multiplier for each"),
        (MOMENT, ROW | {"linear": (ZERO,)}, "a multiplier for each"),
        (MOMENT, ROW | {"moments": ((q,),)}, "a multiplier for each"),
        (MOMENT, ROW | {"moments": ((q, ZERO), (q, ZERO))}, "a multiplier for each"),
        (MOMENT, ROW | {"linear": (var("$r0"), ZERO)}, "declared variables"),
        (MOMENT, ROW | {"moments": ((var("$t"), ZERO),)}, "declared variables"),
        (  # a range may be as long as one likes for a mixture
            goal(sampled(), claim=Guarantee("BoundedRange", (e,), **ONE_WAY)),
            {"linear": (ZERO, ZERO), "moments": ((),)},
            "one moment or the support",
        ),
        (
            goal(sampled(ZCDP), claim=Guarantee("ZCDP", (e,), **ONE_WAY)),
            {"linear": (ZERO, ZERO), "moments": ((),)},
            "one moment or the support",
        ),
        (  # P may have mass where Q has none
            goal(sampled(APPROX), claim=Guarantee("KLDP", (e,), **ONE_WAY)),
            ROW,
            "a finite value where a density is 0",
        ),
        (  # (Q, P) is known, and (P, Q) is not
            goal(
                sampled(Assumed((replace(KL.guarantees[0], reverse=True),))),
                claim=Guarantee("KLDP", (e,), **ONE_WAY),
            ),
            {"linear": (ZERO, ZERO), "moments": ((q,),)},
            "a finite value where a density is 0",
        ),
    ],
}


def cases():
    for rule, refused in STAGE_RULES.items():
        for number, (statement, parameters, reason) in enumerate(refused, 1):
            yield pytest.param(rule, statement, parameters, reason, id=f"{rule}-{number}")


@pytest.mark.parametrize(("rule", "statement", "parameters", "reason"), list(cases()))
def test_refused(rule, statement, parameters, reason):
    with pytest.raises(Refusal) as caught:
        step(statement, rule, parameters)
    assert reason in str(caught.value)


# -- what is not well formed


def unequal(*places: tuple[int, int], count: int = 2) -> Blend:
    weights = (ONE, *(ZERO,) * (count - 1))
    return Blend(weights, weights, tuple(Link(i, j, PURE) for i, j in places))


def deep(times):
    """Copies of copies of ... of copies."""
    return PURE if not times else Repeated(deep(times - 1), k)


ILL_FORMED = [
    (Repeated(PURE, e), "a whole number"),  # declared real
    (Group(PURE, e), "a whole number"),
    (Repeated(PURE, k / 2), "a whole number"),
    (Repeated(PURE, num(1) / 2), "a whole number"),
    (Repeated(PURE, exp(k)), "a whole number"),
    (Repeated(PURE, var("stranger")), "a whole number"),
    (Repeated(Assumed((pure(var("stranger")),)), k), "declared variables"),
    (Blend((), (), ()), "weights each"),
    (Blend((ONE,), (ONE, ZERO), ()), "weights each"),
    (unequal(count=MOST + 1), "weights each"),
    (unequal((0, 2)), "distributions with weights"),
    (unequal((1, 1)), "two distributions"),
    (sampled(rate=var("stranger")), "declared variables"),
    (sampled(rate=var("$r0")), "declared variables"),
    (deep(5), "classes that can stand here"),
    (Choice(()), "at least one stage"),
    (Repeated(Choice(()), k), "at least one stage"),
    (Repeated(Repeated(PURE, e), k), "a whole number"),
    (Repeated(sampled(rate=var("stranger")), k), "declared variables"),
    (Joint((PURE,)), "classes that can stand here"),
    (Repeated(Processed((pure(e),)), k), "classes that can stand here"),
    (Blend((ONE,), (ONE,), (Link(-1, 0, PURE),)), "a whole number"),
    (replace(FILTER, budget=var("stranger")), "declared variables"),
    (replace(FILTER, budget=x), "declared variables"),
    (replace(FILTER, name="e"), "a new variable"),
    (replace(FILTER, name=""), "a name"),
    (replace(FILTER, stage=Assumed((pure(var("y")),))), "declared variables"),
    (replace(FILTER, stage=COPIES), "Assumed"),
]


@pytest.mark.parametrize(("stage", "reason"), ILL_FORMED)
def test_ill_formed_stages_are_refused(stage, reason):
    with pytest.raises(Refusal) as caught:
        statement_obligations(goal(stage))
    assert reason in str(caught.value)


def needed(stage, facts=FACTS):
    return {item.goal for item in statement_obligations(goal(stage, facts=facts))}


def test_a_number_of_copies_is_shown_to_be_at_least_one():
    without = FACTS[:-1]
    for stage in (COPIES, CHAIN):
        assert Fact(k - 1, ">=") in needed(stage, without)
    for count in (0, -1):
        assert Fact(num(count) - 1, ">=") in needed(Repeated(PURE, num(count)))


def test_weights_are_shown_to_be_nonnegative_with_sum_one():
    shown = needed(sampled())
    assert {Fact(q, ">="), Fact(1 - q, ">=")} <= shown
    wrong = Blend((q, q), (ZERO, ONE), ())
    rest = tm.add(q, q) - 1
    assert {Fact(rest, ">="), Fact(-rest, ">=")} <= needed(wrong)
    assert Fact(q, ">") in needed(Blend((log(q), 1 - log(q)), (ZERO, ONE), ()), ())


# -- other rules


def test_a_blend_is_not_symmetric():
    """P and Q are exchanged with their weights: qR_0 + (1 - q)R_1 and R_1."""
    with pytest.raises(Refusal, match="stages that are symmetric"):
        step(goal(sampled()), "forward", {})
    for stage in (COPIES, CHAIN):
        assert step(goal(stage), "forward", {})
        one_way = replace(stage, stage=Assumed((pure(e, **ONE_WAY),)))
        with pytest.raises(Refusal, match="two-way guarantees"):
            step(goal(one_way), "forward", {})


def test_multipliers_and_supports_are_for_single_stages():
    low = {"multipliers": (), "low": (ZERO, ZERO)}
    for stage in (COPIES, CHAIN, sampled()):
        with pytest.raises(Refusal, match="stages that are guarantees"):
            step(goal(stage, claim=pure(e, **ONE_WAY)), "support", {"bounds": (exp(e),)})
        with pytest.raises(Refusal, match="stages that are guarantees"):
            step(goal(stage, claim=approx(e, d, **ONE_WAY)), "tower", low)
        with pytest.raises(Refusal, match="a post-processed stage"):
            step(goal(stage), "postprocess", {"stage": 0})


def theorem(stage, claim):
    m, x, y = (var(name) for name in ("m", "x", "y"))
    facts = (Fact(x, ">="), Fact(y, ">="), Fact(1 - y, ">="), Fact(m - 1, ">="))
    names = (("m", "integer"), ("x", "real"), ("y", "real"))
    return prove_statement(Statement(names, facts, (stage(m, x, y),), (claim(m, x, y),)), 20)


@pytest.fixture(scope="module")
def known():
    def one(loss):
        return Assumed((pure(loss),))

    return {
        "repeated": theorem(lambda m, x, y: Repeated(one(x), m), lambda m, x, y: pure(m * x)),
        "group": theorem(lambda m, x, y: Group(one(x), m), lambda m, x, y: pure(m * x)),
        "sampled": theorem(
            lambda m, x, y: sampled(one(x), y), lambda m, x, y: pure(log(1 + y * (exp(x) - 1)))
        ),
    }


SAMPLE_LOSS = log(1 + q * (exp(e) - 1))
AT = {"m": k, "x": e, "y": q}
USES = [
    ("repeated", COPIES, pure(k * e), AT, None),
    ("group", CHAIN, pure(k * e), AT, None),
    ("sampled", sampled(), pure(SAMPLE_LOSS), AT, None),
    ("repeated", CHAIN, pure(k * e), AT, "a stage of the same kind"),
    ("group", COPIES, pure(k * e), AT, "a stage of the same kind"),
    ("repeated", PURE, pure(k * e), AT, "a stage of the same kind"),
    ("repeated", Repeated(PURE, k + 1), pure(k * e), AT, "the same shape"),
    ("repeated", COPIES, pure(e), AT | {"m": ONE}, "the same shape"),
    ("repeated", Repeated(APPROX, k), pure(k * e), AT, "a stage with the guarantee"),
    ("repeated", Repeated(COIN, k), pure(k * e), AT, "a stage of guarantees"),
    ("repeated", Repeated(PURE, k), pure(k * e), AT | {"m": q}, "an integer for an integer"),
    ("sampled", sampled(rate=q / 2), pure(SAMPLE_LOSS), AT, "the same shape"),
    (
        "sampled",
        Blend((1 - q, q), (ZERO, ONE), (Link(0, 1, PURE),)),
        pure(SAMPLE_LOSS),
        AT,
        "the same shape",
    ),
    (
        "sampled",
        Blend((q, 1 - q), (ONE, ZERO), (Link(0, 1, PURE),)),
        pure(SAMPLE_LOSS),
        AT,
        "the same shape",
    ),
    (
        "sampled",
        Blend((q, 1 - q), (ZERO, ONE), (Link(1, 0, PURE),)),
        pure(SAMPLE_LOSS),
        AT,
        "the same shape",
    ),
    ("sampled", Blend((q, 1 - q), (ZERO, ONE), ()), pure(SAMPLE_LOSS), AT, "the same shape"),
    (
        "sampled",
        Blend((q, 1 - q, ZERO), (ZERO, ONE, ZERO), (Link(0, 1, PURE),)),
        pure(SAMPLE_LOSS),
        AT,
        "the same shape",
    ),
]


@pytest.mark.parametrize(("name", "stage", "claim", "at", "reason"), USES)
def test_a_theorem_is_used_for_stages_of_the_same_shape(known, name, stage, claim, at, reason):
    parameters = {"theorem": known[name], "mapping": tuple(at.items())}
    if reason is None:
        assert all(
            isinstance(p, Sequent) for p in step(goal(stage, claim=claim), "use", parameters)
        )
        return
    with pytest.raises(Refusal) as caught:
        step(goal(stage, claim=claim), "use", parameters)
    assert reason in str(caught.value)


# -- what is left to show


def test_induction_needs_the_facts_for_fewer_copies():
    """From 2 copies on, the claim for 1 is not known."""
    facts = (*FACTS, Fact(k - 2, ">="))
    closed, *_ = step(goal(COPIES, facts=facts), "induct", {})[1:]
    given = (*(f.substitute({"k": k + 1}) for f in facts), Fact(k - 1, ">="))
    assert closed == Sequent(given, Fact(k - 2, ">="))


def test_induction_for_a_group_is_about_three_distributions():
    *_, base, more = step(goal(CHAIN, claim=pure(k * e)), "induct", {})
    assert base.stages == (PURE,)
    assert base.claims == (pure(k * e).substitute({"k": ONE}),)
    assert "k" not in dict(base.variables)
    (stage,) = more.stages
    assert (stage.p, stage.q) == ENDS
    assert stage.links == (Link(0, 1, Assumed((pure(k * e),))), Link(1, 2, PURE))
    assert more.claims == (pure((k + 1) * e),)


def test_induction_for_copies_is_about_two_stages():
    *_, base, more = step(goal(COPIES, claim=pure(k * e)), "induct", {})
    assert base.stages == (PURE,)
    assert more.stages == (Assumed((pure(k * e),)), PURE)


def test_blended_shows_convexity_and_nonnegative_multipliers():
    premises = step(MOMENT, "blended", ROW)
    assert any("$w" in p.vars for p in premises)
    same = context(()).same
    for shown in (q, d - q * d):
        assert any(p.goal.rel == ">=" and same(p.goal.term, shown) for p in premises)
    concave = Guarantee("MomentBound", (-positive_part(t - 1), ZERO, e), **ONE_WAY)
    premises = step(goal(sampled(APPROX), claim=concave), "blended", ROW)
    assert any("$w" in p.vars for p in premises)


def test_blended_looks_at_densities_that_are_zero():
    """With approximate DP alone, each may be 0 where the other is not."""
    reverse = approx(e, d, two_way=False, reverse=True)
    for claim in (approx(e, d, **ONE_WAY), reverse):
        premises = step(goal(sampled(APPROX), claim=claim), "blended", ROW)
        alone = [p for p in premises if not any(name.startswith("$") for name in p.vars)]
        assert len(alone) >= 3  # R_0 or R_1 alone, and the total
    with_support = step(goal(sampled(PURE), claim=approx(e, d, **ONE_WAY)), "blended", {
        "linear": (ZERO, ZERO), "moments": ((),)})  # fmt: skip
    inside = [p for p in with_support if "$r1" in p.vars]
    assert all(len(p.hypotheses) >= len(FACTS) + 3 for p in inside)  # r_1 > 0 and both ratios


# -- certificates


def prove(stage, claim):
    return prove_statement(goal(stage, claim=claim), 20)


CERTIFIED = [
    (COPIES, pure(k * e)),
    (CHAIN, pure(k * e)),
    (Repeated(PURE, num(5)), pure(5 * e)),
    (sampled(), pure(SAMPLE_LOSS)),
    (FILTER, pure(e)),
]


@pytest.mark.parametrize(("stage", "claim"), CERTIFIED)
def test_certificates_say_what_was_proved(stage, claim):
    proved = prove(stage, claim)
    again = verify(write(proved))
    assert again.statement == proved.statement == goal(stage, claim=claim)


def test_a_certificate_of_another_stage_is_refused():
    data = json.loads(write(prove(sampled(), pure(SAMPLE_LOSS))))
    text = json.dumps(data)
    for before, after, reason in (
        ('"Blend"', '"Blended"', "classes that can stand here"),
        ('["Blend", [', '["Blend", [[], ', "a list of 3 items"),
        ('"Assumed"', '"Repeated"', "a list of 2 items"),
        ('"Assumed"', '"Processed"', "classes that can stand here"),
    ):
        assert before in text
        with pytest.raises(Refusal) as caught:
            verify(text.replace(before, after))
        assert reason in str(caught.value), before
