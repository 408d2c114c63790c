"""From multipliers in floating point to a theorem: exact multipliers with a little to spare."""

from __future__ import annotations

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.balls import Evaluator, exact, precision
from dpsym.kernel.definitions import Form
from dpsym.kernel.proofs import Proof
from dpsym.kernel.rules import step
from dpsym.kernel.rules_privacy import Multipliers, assumed, stage_data
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import RATIO, Statement
from dpsym.kernel.terms import ZERO
from dpsym.search.leaf.budget import Budget
from dpsym.search.optimal.pieces import BITS, Failed, constant, positive
from dpsym.search.optimal.program import Problem, Solution
from dpsym.search.refutation.exact import dyadic

SPARE = (4e-9, 4e-8, 1e-6, 1e-4, 1e-2)  # added to a and b, relative to the value


def bound_of(
    goal: Statement, problem: Problem, found: Solution, spare: float
) -> tuple[Multipliers, fmpq]:
    """Exact multipliers for the tower rule, and a rational number that is at least their value.

    ``goal`` is a statement with one stage and a one-way claim that is a moment."""
    data = stage_data(assumed(goal, "bound")[0])
    weights = [dyadic(max(0.0, w)) for w in found.weights.tolist()]
    extra = dyadic(abs(found.value) * (max(found.gap, 0.0) * 2 + spare) or 1e-18)
    goal_row = problem.goal
    a = dyadic(found.a) + extra + goal_row.slope
    b = dyadic(found.b) + extra + goal_row.base - goal_row.slope
    for weight, row in zip(weights, problem.rows, strict=True):
        a -= weight * row.slope
        b -= weight * (row.base - row.slope)
    value = tm.num(a + b)
    for weight, moment in zip(weights, data.moments, strict=True):
        value = value + tm.num(weight) * moment.bound
    with precision(BITS):
        upper = exact(Evaluator({}, True)(value)[1])
    if upper is None:
        raise Failed("an infinite bound")
    return Multipliers(_constant(a), _constant(b), tuple(map(_constant, weights))), upper


def _constant(value: fmpq) -> Form:
    return Form(tm.num(value), ZERO, ZERO)


def tower(goal: Statement, row: Multipliers, budget: Budget) -> Proof:
    """A proof of the one-way statement with these multipliers; raises Failed."""
    parameters = {"multipliers": (row,), "low": (ZERO, ZERO)}
    proofs = []
    for premise in step(goal, "tower", parameters):
        assert isinstance(premise, Sequent)
        proofs.append(
            positive(premise, budget) if RATIO in premise.goal.term.vars else constant(premise)
        )
    return Proof("tower", parameters, tuple(proofs))
