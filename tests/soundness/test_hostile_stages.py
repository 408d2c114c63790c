"""That the attacks on the rules for repetitions, groups and blends would notice a fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dpsym.kernel import rules_privacy, rules_stages
from dpsym.kernel.rules import RULES, Goal
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Assumed, Fact, Group, Repeated, Statement
from dpsym.kernel.terms import var
from tests.soundness import hostile_gaussian, hostile_privacy, hostile_stages
from tests.soundness.hostile_leaf import Source
from tests.soundness.hostile_privacy import random_point

Keep = Callable[[Goal], bool]
MOST = 1500


def noticed(rule: str, recipe: hostile_privacy.Recipe | None = None) -> bool:
    """Whether an attack, one of those by the recipe, shows that the rule is unsound."""
    gaussian = rule in hostile_gaussian.RULES
    attack = hostile_gaussian.attack if gaussian else hostile_privacy.attack
    sources = (Source(f"{rule} {number}") for number in range(MOST))
    return any(attack(rule, source, recipe)[0] == "UNSOUND" for source in sources)


def blend(
    make: Callable[..., tuple[Statement, hostile_privacy.World, dict[str, Any]]],
) -> hostile_privacy.Recipe:
    """Attacks on blends of one kind."""
    return lambda source: hostile_privacy.Attempt(*make(source, random_point(source)))


def keeping(monkeypatch: pytest.MonkeyPatch, rule: str, keep: Keep) -> None:
    """Leave out the premises that are not kept."""
    known = RULES[rule]

    def apply(goal: Any, **parameters: Any) -> list[Goal]:
        return [premise for premise in known.apply(goal, **parameters) if keep(premise)]

    monkeypatch.setitem(RULES, rule, replace(known, apply=apply))


def mentions(premise: Goal, letter: str) -> bool:
    return isinstance(premise, Sequent) and any(name.startswith(letter) for name in premise.vars)


def is_base(premise: Goal) -> bool:
    """A statement of one pair with guarantees."""
    return (
        isinstance(premise, Statement)
        and len(premise.stages) == 1
        and isinstance(premise.stages[0], Assumed)
    )


def count_of(premise: Goal) -> str:
    """Whether a premise is about some of the copies."""
    if not isinstance(premise, Statement):
        return ""
    return "first" if isinstance(premise.stages[0], (Group, Repeated)) else "both"


@pytest.mark.parametrize(
    ("rule", "dropped"),
    [
        ("inner", is_base),
        ("inner", lambda p: isinstance(p, Statement) and not is_base(p)),
        ("unroll", lambda p: True),
        ("induct", is_base),
        ("induct", lambda p: isinstance(p, Statement) and not is_base(p)),
        ("induct", lambda p: isinstance(p, Sequent)),  # F(k) from F(k + 1)
        ("parted", lambda p: count_of(p) == "first"),
        ("parted", lambda p: isinstance(p, Statement) and count_of(p) != "first"),
        ("spent", lambda p: isinstance(p, Sequent)),  # F(b - x) from F(b)
        ("spent", is_base),
        ("spent", lambda p: isinstance(p, Statement) and not is_base(p)),
        ("ranged", lambda p: True),
        ("dominated", lambda p: isinstance(p, Sequent)),  # convexity
        ("dominated", lambda p: isinstance(p, Statement)),
        ("rotated", lambda p: isinstance(p, Sequent)),  # m^2 = a^2 + b^2
        ("rotated", lambda p: isinstance(p, Statement)),
        ("blended", lambda p: mentions(p, "$r")),
        ("blended", lambda p: isinstance(p, Sequent) and not mentions(p, "$")),
    ],
)
def test_a_rule_without_a_premise_is_noticed(
    monkeypatch: pytest.MonkeyPatch, rule: str, dropped: Keep
) -> None:
    keeping(monkeypatch, rule, lambda premise: not dropped(premise))
    assert noticed(rule)


def test_a_blend_without_convexity_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    keeping(monkeypatch, "blended", lambda premise: not mentions(premise, "$t"))
    assert noticed("blended", blend(hostile_stages.same_function))


@pytest.mark.parametrize("dropped", [Sequent, Statement])
def test_one_pair_without_a_premise_is_noticed(
    monkeypatch: pytest.MonkeyPatch, dropped: type[Goal]
) -> None:
    keeping(monkeypatch, "certain", lambda premise: not isinstance(premise, dropped))
    assert noticed("certain")


def test_a_range_that_is_shifted_by_what_is_hidden_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = rules_stages.require

    def require(holds: bool, rule: str, condition: str, got: object = "") -> None:
        known(holds or condition == "a convex claim", rule, condition, got)

    monkeypatch.setattr(rules_stages, "require", require)
    assert noticed("certain")


def test_more_copies_for_one_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules_stages, "require", lambda *_: None)
    assert noticed("unroll")


def test_a_group_taken_for_a_repetition_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    known = RULES["induct"]

    def apply(goal: Statement) -> list[Goal]:
        (stage,) = goal.stages
        if isinstance(stage, Group):
            goal = replace(goal, stages=(Repeated(stage.stage, stage.count),))
        return known.apply(goal)

    monkeypatch.setitem(RULES, "induct", replace(known, apply=apply))
    assert noticed("induct")


@pytest.mark.parametrize(
    ("part", "broken"),
    [
        ("_possible", lambda link, live, signs: signs[link.first] and signs[link.second]),
        ("_value", lambda form, p, q: rules_stages.ZERO),
        ("_mixed", lambda weights, point: rules_stages.tm.add(*point)),
    ],
)
def test_a_fault_in_blends_is_noticed(
    monkeypatch: pytest.MonkeyPatch, part: str, broken: Callable[..., Any]
) -> None:
    monkeypatch.setattr(rules_stages, part, broken)
    assert noticed("blended")


def test_supports_the_wrong_way_round_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    known = rules_privacy.stage_data

    def turned(stage: Assumed) -> rules_privacy.StageData:
        data = known(stage)
        supports = tuple(replace(s, reverse=not s.reverse) for s in data.supports)
        return replace(data, supports=supports)

    monkeypatch.setattr(rules_privacy, "stage_data", turned)
    assert noticed("blended", blend(hostile_stages.bounded))


def test_a_theorem_about_another_shape_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules_privacy, "_same_shape", lambda *_: None)
    assert noticed("use", hostile_stages.use)


def test_a_blend_taken_for_symmetric_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules_privacy, "Blend", type(None))
    assert noticed("forward", hostile_stages.both_ways)


def test_losses_on_one_side_of_zero_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the range could begin above 0, which no pair's does."""
    known = RULES["ranged"]

    def apply(goal: Statement, **parameters: Any) -> list[Goal]:
        (more,) = known.apply(goal, **parameters)
        facts = (*goal.facts, Fact(var(parameters["name"]), ">"))
        return [replace(more, facts=facts)]

    monkeypatch.setitem(RULES, "ranged", replace(known, apply=apply))
    assert noticed("ranged")
