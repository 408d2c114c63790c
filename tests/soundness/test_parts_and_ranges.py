"""The rules ``ranged`` and ``parted`` refuse what they are not about."""

from __future__ import annotations

import pytest

from dpsym.kernel import rules_stages  # noqa: F401 - its rules are known then
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import step
from dpsym.kernel.statements import (
    INTEGER,
    REAL,
    Assumed,
    Fact,
    Group,
    Guarantee,
    Repeated,
    Statement,
)
from dpsym.kernel.terms import num, var

e, k = var("e"), var("k")
WIDE, LESS = Guarantee("BoundedRange", (e,)), Guarantee("BoundedRange", (e,), two_way=False)
PURE, TWICE = Guarantee("PureDP", (e,)), Guarantee("PureDP", (2 * e,))


def about(*stages, claim=TWICE):
    names = (("e", REAL), ("k", INTEGER))
    return Statement(names, (Fact(e, ">="), Fact(k - 1, ">=")), stages, (claim,))


def test_a_bounded_range_has_ends_around_one() -> None:
    (premise,) = step(about(Assumed((WIDE,))), "ranged", {"guarantee": 0, "name": "r"})
    r = var("r")
    assert premise.facts[-2:] == (Fact(-r, ">="), Fact(r + e, ">="))
    above, below = premise.stages[0].guarantees[1:]
    assert above == Guarantee("PureDP", (r + e,), two_way=False)
    assert below == Guarantee("PureDP", (-r,), two_way=False, reverse=True)


@pytest.mark.parametrize(
    ("goal", "parameters", "what"),
    [
        (about(Assumed((LESS,))), {"guarantee": 0, "name": "r"}, "both directions"),
        (about(Assumed((PURE,))), {"guarantee": 0, "name": "r"}, "both directions"),
        (about(Assumed((WIDE,))), {"guarantee": 1, "name": "r"}, "index of a guarantee"),
        (about(Assumed((WIDE,))), {"guarantee": 0, "name": "e"}, "a new variable"),
        (about(Assumed((WIDE,)), Assumed((WIDE,))), {"guarantee": 0, "name": "r"}, "one stage"),
        (about(Repeated(Assumed((WIDE,)), num(2))), {"guarantee": 0, "name": "r"}, "a guarantee"),
    ],
)
def test_ranged_refuses(goal, parameters, what) -> None:
    with pytest.raises(Refusal, match=what):
        step(goal, "ranged", parameters)


def parts(first=1, before=(PURE,), after=(PURE,)):
    return {"first": first, "before": before, "after": after}


def test_a_group_in_two_parts_is_a_chain() -> None:
    *_, one, two, both = step(about(Group(Assumed((PURE,)), num(3))), "parted", parts())
    assert one.stages[0].count == num(1)
    assert two.stages[0].count == num(2)
    assert [(link.first, link.second) for link in both.stages[0].links] == [(0, 1), (1, 2)]
    *_, both = step(about(Repeated(Assumed((PURE,)), num(3))), "parted", parts())
    assert both.stages == (Assumed((PURE,)), Assumed((PURE,)))


@pytest.mark.parametrize(
    ("stage", "parameters"),
    [
        (Group(Assumed((PURE,)), num(2)), parts(first=2)),
        (Group(Assumed((PURE,)), num(2)), parts(first=0)),
        (Group(Assumed((PURE,)), k), parts()),
        (Group(Assumed((PURE,)), num(2)), parts(before=())),
        (Repeated(Assumed((PURE,)), num(1)), parts()),
        (Assumed((PURE,)), parts()),
    ],
)
def test_parted_refuses(stage, parameters) -> None:
    with pytest.raises(Refusal):
        step(about(stage), "parted", parameters)
