"""What an undecided search shows: few goals, short ones, none that is false, enough for a proof."""

from __future__ import annotations

import pytest

import dpsym as dp
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import PI, Term, erfc, exp, log, num, power, sqrt, var
from dpsym.reader import read_expression, read_relation
from dpsym.search import leaf
from dpsym.search.leaf.frontier import cost, frontier

a, x, y = map(var, "axy")
POSITIVE = (Fact(x, ">"), Fact(y, ">"))


def goal(item: Term, *more: Fact) -> Sequent:
    return Sequent((*POSITIVE, *more), Fact(item, ">="))


def birnbaum(u: Term) -> Term:
    """Birnbaum's lower bound of erfc(u), u >= 0, taken off: true, and out of quick reach."""
    return erfc(u) - 2 * exp(-power(u, 2)) / (sqrt(PI) * (u + sqrt(power(u, 2) + 2)))


SHORT = goal(birnbaum(x))
MIDDLE = goal(birnbaum(x + log(1 + y)))
LONG = goal(birnbaum(x) + birnbaum(y))
FALSE = goal(x - y)
EVIDENT = goal(x + y)


def found(steps: dict[Sequent, list[tuple[Sequent, ...]]], *proved: Sequent) -> list[Fact]:
    return [left.goal for left in frontier(LONG, steps, proved, 2.0)]


def test_without_steps_the_claim_is_left() -> None:
    assert found({}) == [LONG.goal]


def test_costs_are_as_assumed_here() -> None:
    assert cost(SHORT, LONG) < cost(MIDDLE, LONG) < cost(LONG, LONG)
    assert cost(SHORT, LONG) + cost(MIDDLE, LONG) > cost(LONG, LONG)


def test_the_cheapest_step_is_followed() -> None:
    assert found({LONG: [(MIDDLE,), (SHORT,)]}) == [SHORT.goal]
    assert found({LONG: [(MIDDLE,)], MIDDLE: [(SHORT,)]}) == [SHORT.goal]


def test_several_goals_must_together_be_shorter_than_the_claim() -> None:
    assert found({LONG: [(MIDDLE, SHORT)]}) == [LONG.goal]


def test_what_is_proved_is_left_out() -> None:
    assert found({LONG: [(MIDDLE, SHORT)]}, MIDDLE) == [SHORT.goal]
    assert found({LONG: [(EVIDENT, SHORT)]}) == [SHORT.goal]


def test_a_goal_that_is_false_somewhere_is_avoided() -> None:
    assert found({LONG: [(FALSE,), (MIDDLE,)]}) == [MIDDLE.goal]
    assert found({LONG: [(FALSE,)]}) == [LONG.goal]


def test_steps_in_a_circle_end() -> None:
    assert found({LONG: [(MIDDLE,)], MIDDLE: [(LONG,), (SHORT,)], SHORT: [(MIDDLE,)]}) == [
        SHORT.goal
    ]


def test_a_narrower_domain_is_nearer_to_a_proof() -> None:
    narrow = goal(LONG.goal.term, Fact(3 - x, ">="))
    assert frontier(LONG, {LONG: [(narrow,)]}, (), 1.0) == (narrow,)


def test_hypotheses_that_follow_from_others_are_not_shown() -> None:
    many = (Fact(x - 2, ">="), Fact(x - 1, ">"), Fact(exp(y), ">"), Fact(num(3), ">"), Fact(a, ">"))
    (left,) = frontier(LONG, {LONG: [(goal(SHORT.goal.term, *many),)]}, (), 1.0)
    assert left.hypotheses == (Fact(x - 2, ">="),)  # y and a are not in the goal


HARD = {
    "jensen": ([], "exp((x1+x2+x3+x4+x5)/5)", "(exp(x1)+exp(x2)+exp(x3)+exp(x4)+exp(x5))/5"),
    "pinsker3": (
        ["p1 > 0", "p2 > 0", "q1 > 0", "q2 > 0", "p1 + p2 < 1", "q1 + q2 < 1"],
        "(Abs(p1-q1) + Abs(p2-q2) + Abs(p1+p2-q1-q2))**2/2",
        "p1*log(p1/q1) + p2*log(p2/q2) + (1-p1-p2)*log((1-p1-p2)/(1-q1-q2))",
    ),
    "szarek_werner": (["x >= 0"], "Phi(-x)", "4/(3*x + sqrt(x**2 + 8))*exp(-x**2/2)/sqrt(2*pi)"),
    "max_lipschitz": (
        [],
        "Abs(Max(x1,x2,x3,x4) - Max(y1,y2,y3,y4))",
        "Max(Abs(x1-y1),Abs(x2-y2),Abs(x3-y3),Abs(x4-y4))",
    ),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_ones_leave_little_to_read(name: str) -> None:
    where, lhs, rhs = HARD[name]
    symbols: dict[str, object] = {}
    conditions = [read_relation(text, symbols) for text in where]
    sides = [read_expression(text, symbols) for text in (lhs, rhs)]
    verdict = dp.check_inequality(*sides, where=conditions, budget=1)
    assert isinstance(verdict, dp.Unknown), verdict
    scope = verdict.remaining[0].scope
    claim = Sequent(tuple(scope.facts), Fact(scope.term(sides[1] - sides[0], "claim"), ">="))
    sequents = [item.sequent for item in verdict.remaining]
    assert 1 <= len(sequents) <= 4
    assert sum(cost(item, claim) for item in sequents) <= cost(claim, claim)
    for item in verdict.remaining:
        assert leaf.refute(item.sequent, 0.2) is None
        assert item.relation.free_symbols
