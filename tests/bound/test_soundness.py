"""Wrong bounds are refused: by the kernel from above, by the check of witnesses from below."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import Moment, constraints
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import step
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import RATIO, Assumed, Fact, Guarantee, Statement
from dpsym.search.leaf.budget import Budget
from dpsym.search.optimal.best import Question, best
from dpsym.search.optimal.lower import Found, refutation
from dpsym.search.optimal.pieces import Failed, positive
from dpsym.search.optimal.program import Problem
from dpsym.search.optimal.upper import bound_of, tower

RENYI = Guarantee("RenyiDP", (tm.num(2), tm.num(1)))
CLAIM = Guarantee("ApproxDP", (tm.num(fmpq(3, 2)), tm.var("x")), two_way=False)
T = tm.var(RATIO)


def question(claim: Guarantee = CLAIM) -> Question:
    return Question(Statement((("x", "real"),), (), (Assumed((RENYI,)),), (claim,)), "x")


def solved():
    items = constraints(RENYI)
    (goal,) = constraints(CLAIM)
    assert isinstance(goal, Moment)
    problem = Problem(items, goal)
    found = problem.solve()
    assert found is not None
    return problem, found


def test_a_smaller_claim_than_the_multipliers_give_is_not_proved():
    problem, found = solved()
    row, upper = bound_of(question().statement, problem, found, 4e-9)
    assert tower(question().at(upper + fmpq(1, 10**20)), row, Budget(20))
    with pytest.raises(Failed):
        tower(question().at(upper * (1 - fmpq(1, 10**12))), row, Budget(20))


@pytest.mark.parametrize("change", ["a", "b", "weight"])
def test_multipliers_that_are_too_small_are_not_proved(change):
    """With 1e-6 less of one of them, the inequality fails at a contact."""
    problem, found = solved()
    less = dict(vars(found))
    if change == "weight":
        less["weights"] = found.weights * (1 - 1e-5)
    else:
        less[change] = less[change] - 1e-6
    row, _ = bound_of(question().statement, problem, type(found)(**less), 4e-9)
    with pytest.raises(Failed):
        tower(question().at(fmpq(1)), row, Budget(20))


def test_a_witness_above_the_best_value_is_refused():
    answer = best(question(), Budget(20))
    assert answer.refutation is not None
    assert answer.proved is not None
    masses = tuple((atom.p, atom.q) for atom in answer.refutation.witness)
    assert refutation(question().at(answer.broken), Found(masses, None)) is not None
    assert refutation(question().at(answer.proved), Found(masses, None)) is None


def test_a_witness_that_breaks_a_guarantee_is_refused():
    answer = best(question(), Budget(20))
    assert answer.refutation is not None
    assert answer.broken is not None
    masses = [(atom.p, atom.q) for atom in answer.refutation.witness]
    top = max(range(len(masses)), key=lambda i: masses[i][0] / masses[i][1])
    more = fmpq(1, 10**6)
    worse = [(p + more, q) if i == top else (p, q) for i, (p, q) in enumerate(masses)]
    rest = max(range(len(masses)), key=lambda i: masses[i][1] if i != top else fmpq(0))
    worse[rest] = (worse[rest][0] - more, worse[rest][1])
    assert sum(p for p, _ in worse) == 1
    assert refutation(question().at(answer.broken), Found(tuple(worse), None)) is None


@pytest.mark.parametrize("seed", range(12))
def test_functions_that_dip_below_zero_are_not_proved(seed):
    """Sums of powers with a double zero at a random ratio, less a little; and with a little more
    they are proved."""
    rng = random.Random(seed)
    place = fmpq(rng.randint(1, 80), 16)
    power = rng.choice((2, 3, fmpq(5, 2), fmpq(3, 2)))
    curve = tm.real_power(T, power)
    at = tm.substitute(curve, {RATIO: tm.num(place)})
    slope = tm.num(fmpq(power)) * tm.real_power(tm.num(place), fmpq(power) - 1)
    item = curve - at - slope * (T - tm.num(place))  # convex, 0 at the place
    tiny = tm.num(fmpq(1, 10**9))
    given = (Fact(T, ">"),)
    assert positive(Sequent(given, Fact(item + tiny, ">=")), Budget(20))
    with pytest.raises(Failed):
        positive(Sequent(given, Fact(item - tiny, ">=")), Budget(20))


@pytest.mark.parametrize(
    "item",
    [
        T - fmpq(1, 10**30),  # negative near 0 alone
        1 - tm.num(fmpq(1, 10**30)) * T,  # negative far out alone
        tm.positive_part(T - tm.exp(1)) - fmpq(1, 1000),
        tm.ite(T - 2, T, 1) - 1 - tm.ite(T - 2, tm.ZERO, tm.num(fmpq(1, 10**12))),
        T * tm.log(T) + fmpq(1, 3),  # least at 1/e
    ],
)
def test_negative_in_one_place(item):
    with pytest.raises((Failed, Refusal)):
        positive(Sequent((Fact(T, ">"),), Fact(item, ">=")), Budget(20))


def test_multipliers_are_for_the_rows_in_the_kernels_order():
    """The weights of the linear program are read off in the order of the tower rule."""
    guarantees = (RENYI, Guarantee("ApproxDP", (tm.num(1), tm.num(fmpq(1, 10)))))
    statement = Statement((("x", "real"),), (), (Assumed(guarantees),), (CLAIM,))
    items = tuple(dict.fromkeys(item for one in guarantees for item in constraints(one)))
    (goal,) = constraints(CLAIM)
    assert isinstance(goal, Moment)
    problem = Problem(items, goal)
    found = problem.solve()
    assert found is not None
    assert np.count_nonzero(found.weights > 1e-6) >= 2
    row, upper = bound_of(statement, problem, found, 4e-9)
    assert math.isclose(int(upper.p) / int(upper.q), found.value, rel_tol=1e-6)
    swapped = type(row)(row.p, row.q, tuple(reversed(row.moments)))
    at = Question(statement, "x").at(upper + fmpq(1, 10**20))
    assert tower(at, row, Budget(20))
    with pytest.raises(Failed):
        tower(at, swapped, Budget(20))
    assert step(at, "tower", {"multipliers": (row,), "low": (tm.ZERO, tm.ZERO)})
