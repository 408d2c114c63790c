"""A small sample of ``hostile``, that it would notice a fault, and faults that it has found."""

from __future__ import annotations

from typing import Any

import pytest
from flint import fmpq

from dpsym.kernel import rules_algebra, rules_calculus, rules_logic, rules_mechanisms
from dpsym.kernel.proofs import step
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import RULES
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Assumed, Fact, Guarantee, Processed, Statement
from dpsym.kernel.terms import ite, maximum, num, power, sqrt, var
from tests.soundness import hostile_leaf, hostile_mechanisms, hostile_privacy
from tests.soundness.hostile import attacks
from tests.soundness.hostile_forms import exp_bounds, log_bounds
from tests.soundness.hostile_leaf import Source

x = var("x")
SAMPLE = 60


ATTACKS = list(attacks())


@pytest.mark.parametrize(("name", "attack"), ATTACKS, ids=[name for name, _ in ATTACKS])
def test_no_attack_succeeds(name: str, attack: Any) -> None:
    for number in range(SAMPLE):
        outcome, case = attack(Source(f"test {name} {number}"))
        assert outcome != "UNSOUND", case


def test_every_rule_is_attacked() -> None:
    recipes = {*hostile_leaf.RECIPES, *hostile_privacy.RECIPES, *hostile_mechanisms.RULES}
    assert set(RULES) == recipes


def test_a_rule_without_its_side_condition_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules_logic, "obligations", lambda *_: [])
    monkeypatch.setattr(rules_algebra, "require", lambda *_: None)
    for rule in ("split", "have", "monotone", "factor"):
        outcomes = {hostile_leaf.attack(rule, Source(f"{rule} {k}"))[0] for k in range(400)}
        assert "UNSOUND" in outcomes, rule


def test_a_hump_without_its_pattern_or_ends_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = Sequent((), Fact(num(0), ">="))
    monkeypatch.setattr(rules_calculus, "normal", lambda *_: empty)
    outcomes = {hostile_leaf.attack("hump", Source(f"hump {k}"))[0] for k in range(200)}
    assert "UNSOUND" in outcomes


@pytest.mark.parametrize(
    ("rule", "part"),
    [
        ("integral", "rp.shown"),
        ("integral", "sq.normal"),
        ("masses", "rp.shown"),
        ("masses", "sq.normal"),
        ("distributions", "sq.normal"),
        ("series", "_written"),
        ("equal", "Sequent"),
    ],
)
def test_a_rule_for_mechanisms_without_a_premise_is_noticed(
    monkeypatch: pytest.MonkeyPatch, rule: str, part: str
) -> None:
    empty = Sequent((), Fact(num(0), ">="))
    left = {"rp.shown": [], "_written": ([], num(0))}.get(part, empty)
    monkeypatch.setattr(f"{rules_mechanisms.__name__}.{part}", lambda *_: left)
    sources = (Source(f"{rule} {k}") for k in range(900))
    assert any(hostile_mechanisms.attack(rule, source)[0] == "UNSOUND" for source in sources)


def test_a_negative_number_over_something_negative_is_no_contradiction() -> None:
    given = Fact(x + 1, "!="), Fact(-power(1 + x, -1), ">")
    parameters = {
        "facts": (("hypothesis", 1, None, None),),
        "multiplier": (),
        "terms": ((fmpq(1), (0,), None),),
        "contradiction": True,
    }
    with pytest.raises(Refusal, match="a sum that is negative"):
        step(Sequent(given, Fact(num(-1), ">=")), "positivstellensatz", parameters)


def test_cases_shows_a_condition_defined_that_another_branch_hides() -> None:
    hidden = maximum(sqrt(x), 0)
    goal = Sequent((), Fact(ite(x, hidden, -1), ">="))  # false at x = -1
    assert Sequent((), Fact(x, ">=")) in step(goal, "cases", {"kinked": hidden})


def test_a_one_way_bounded_range_is_not_closed_under_post_processing() -> None:
    """P = (1/2, 1/2, 0) and Q = (1/4, 1/4, 1/2): joining the last two makes the loss vary."""
    claim = Guarantee("BoundedRange", (num(0),), two_way=False)
    goal = Statement((), (), (Processed((claim,)),), (claim,))
    with pytest.raises(Refusal, match="in both directions"):
        step(goal, "postprocess", {"stage": 0})
    both = Guarantee("BoundedRange", (num(0),))
    kept = step(Statement((), (), (Processed((both,)),), (claim,)), "postprocess", {"stage": 0})
    assert kept == [Statement((), (), (Assumed((both,)),), (claim,))]


def test_bounds_of_exp_and_log_by_fractions() -> None:
    from fractions import Fraction

    one, e = Fraction(1), Fraction(2718281828459045235360287471352, 10**30)
    assert exp_bounds(one)[0] < e + Fraction(1, 10**29) and exp_bounds(one)[1] > e
    low, high = log_bounds(e)
    assert 0 <= high - low < Fraction(1, 10**40) and abs(low - 1) < Fraction(1, 10**29)


def test_what_attacks_start_from_is_true() -> None:
    """By the same means by which an attack is seen to be false."""
    found = 0
    for rule, own in hostile_mechanisms.bases().items():
        for number, (goal, parameters) in enumerate(own):
            source = Source(f"{rule} {number}")
            points = [hostile_mechanisms.random_point(source, goal) for _ in range(12)]
            for at in points:
                found += hostile_mechanisms.agrees(goal, rule, parameters, at)
    assert found > 100
