from __future__ import annotations

import re
from dataclasses import replace

import pytest

from dpsym.goals import goal_text
from dpsym.kernel.statements import (
    Assumed,
    Fact,
    Guarantee,
    Mechanism,
    Pair,
    Region,
    Stage,
    Statement,
)
from dpsym.kernel.terms import ONE, Term, exp, log, num, var

e, d, x = var("e"), var("d"), var("x")


def about(*stages: Stage, claim: Guarantee, facts: tuple[Fact, ...] = ()) -> str:
    return goal_text(Statement((("e", "real"), ("k", "integer")), facts, stages, (claim,)))


def claimed(epsilon: Term) -> str:
    """The line of the claim of a goal with this epsilon."""
    return about(Assumed(()), claim=Guarantee("PureDP", (epsilon,))).splitlines()[1]


def test_one_stage_with_several_guarantees() -> None:
    stage = Assumed((Guarantee("PureDP", (e,)), Guarantee("ApproxDP", (e, d), two_way=False)))
    claim = Guarantee("ZCDP", (e,), two_way=False, reverse=True)
    assert about(stage, claim=claim) == (
        "any mechanism with PureDP(e) and ApproxDP(e, d) one way, (P, Q)\n"
        "has ZCDP(e) one way, (Q, P)\n"
        "for all real e and integer k"
    )


def test_facts_are_all_there() -> None:
    facts = (Fact(e, ">"), Fact(ONE - d, ">="), Fact(e - d, "!="))
    out = about(Assumed(()), claim=Guarantee("PureDP", (e,)), facts=facts)
    assert out.endswith(" with e > 0, d <= 1, e != d")


def test_a_mechanism_shows_its_densities_and_where_they_hold() -> None:
    atom = Region(d, ONE - d, weight=var("k"))
    density = Region(exp(-x), exp(x), output="x", facts=(Fact(x, ">="),))
    pair = Pair((atom, density), (("t", "real"),), (Fact(var("t"), ">"),), label="shift t")
    assert about(Mechanism((pair, Pair((atom,)))), claim=Guarantee("PureDP", (e,))) == (
        "the mechanism with the neighbouring pairs\n"
        "  ('shift t') for all real t with t > 0:\n"
        "    k times an atom with p = d, q = 1 - d\n"
        "    densities p = exp(-x), q = exp(x) of x where x >= 0\n"
        "  one pair:\n"
        "    k times an atom with p = d, q = 1 - d\n"
        "has PureDP(e)\n"
        "for all real e and integer k"
    )


def test_infinity_of_a_moment_bound() -> None:
    claim = Guarantee("MomentBound", (log(var("$t")), None, d))
    assert "MomentBound(log($t), +oo, d)" in about(Assumed(()), claim=claim)


@pytest.mark.parametrize("depth", [3, 11, 12, 13, 14, 40, 140])
def test_nothing_of_a_deep_term_is_left_out(depth: int) -> None:
    node: Term = e
    for _ in range(depth - 1):
        node = exp(node)
    line = claimed(node)
    assert "..." not in line
    assert line.count("exp(") == depth - 1
    names = re.findall(r"\$\d+", line)
    assert all(names.count(name) == 2 for name in names)  # used once, given once


def test_a_term_that_doubles_at_every_level_stays_short() -> None:
    node: Term = e
    for number in range(40):
        node = exp(node) * log(node + num(number))
    line = claimed(node)
    assert "..." not in line
    assert len(line) < 200_000


@pytest.mark.parametrize("name", ["0", "e + 1", "pi", "exp", "$1", "$t ", "ο"])
def test_an_unclear_name_is_quoted(name: str) -> None:
    assert claimed(var(name)) == f"has PureDP({name!a})"


def test_goals_that_differ_read_differently() -> None:
    """Integers are not reals, and densities up to a factor are not densities."""
    region = Region(exp(-x), exp(-x), "x", (Fact(x, ">="),))
    pairs = (
        Pair((region,)),
        Pair((replace(region, kind="integer"),)),
        Pair((region,), normalised=False),
        Pair((replace(region, facts=()),)),
        Pair((Region(ONE, ONE),)),
        Pair((Region(ONE, ONE, weight=var("n")),)),
    )
    claims = (Guarantee("PureDP", (ONE,)), Guarantee("Distributions", ()))
    goals = [
        Statement((("n", "real"),), (), (Mechanism((pair,)),), (claim,))
        for pair in pairs
        for claim in claims
    ]
    assert len({goal_text(goal) for goal in goals}) == len(goals)
    texts = [goal_text(goal) for goal in goals]
    assert "masses p = exp(-x), q = exp(-x) of each integer x where x >= 0" in texts[2]
    assert "one pair, up to one positive factor of p and q:" in texts[4]
    assert "has nonnegative densities of mass 1" in texts[1]
