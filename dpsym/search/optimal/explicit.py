"""Claims at numbers about explicit mechanisms and copies of them, by their Rényi divergences.

An explicit mechanism has the divergences that are measured, each proved by itself; then multipliers
give what follows from several of them, in the other direction too. Copies and several stages are
added up at one order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice, pairwise
from typing import Protocol

import numpy as np
from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.balls import Evaluator, exact, precision
from dpsym.kernel.definitions import Constraint, Moment, Support, T, constraints
from dpsym.kernel.proofs import Proof
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import step
from dpsym.kernel.rules_privacy import statement_obligations
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import (
    Assumed,
    Guarantee,
    Mechanism,
    Repeated,
    Stage,
    Statement,
    singles,
)
from dpsym.kernel.terms import ZERO, Term
from dpsym.kernel.theorems import Theorem, prove
from dpsym.search.leaf.budget import Budget, OutOfBudget
from dpsym.search.optimal.best import Infeasible, Question, Unsuited, best, bounded, settled
from dpsym.search.optimal.extremes import by_extremes
from dpsym.search.optimal.numbers import BITS, rounded
from dpsym.search.optimal.pieces import Failed, constant
from dpsym.search.optimal.program import Problem, float_of
from dpsym.search.privacy.prover import Stuck, prove_statement
from dpsym.search.refutation.exact import dyadic, number, rational

_ORDERS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128, 192, 256, 512)
_TRIED = 3  # orders for one claim
_MORE = 0.5
_LOW, _BELOW = (2, 3, 4, 5, 6), (3, 5)  # of moments that are used, and bounded from below too
_DIGITS, _SPARE = 25, fmpq(1, 10**21)
_CLOSE = 1e-9
_OWN, _SECONDS = 2.0, 10.0  # for one mechanism by itself, and for a step that should be easy


class Losses(Protocol):
    """Numbers that enclose a stage's divergences, None if they are infinite or not known."""

    def order(self, stage: int, alpha: fmpq, reverse: bool) -> tuple[fmpq, fmpq] | None: ...

    def largest(self, stage: int, reverse: bool) -> tuple[fmpq, fmpq] | None: ...


def at_numbers(statement: Statement, losses: Losses, seconds: float) -> Theorem | None:
    """A theorem without variables that multipliers prove, or None."""
    if statement.variables or len(statement.claims) != 1:
        return None
    budget = Budget(seconds)
    for attempt in (
        lambda: settled(statement, budget),
        lambda: by_extremes(statement, budget),
        lambda: by_divergences(statement, losses, budget),
    ):
        try:
            with budget.enforced():
                return attempt()
        except Unsuited:
            continue
        except (Failed, Infeasible, Stuck, Refusal, OutOfBudget):
            return None
    return None


def by_divergences(statement: Statement, losses: Losses, budget: Budget) -> Theorem:
    """A theorem; raises Unsuited, Failed, Stuck, Refusal or OutOfBudget."""
    if statement.variables or len(statement.claims) != 1:
        raise Unsuited("one claim at numbers")
    if not all(isinstance(stage, (Assumed, Mechanism, Repeated)) for stage in statement.stages):
        raise Unsuited("guarantees, explicit mechanisms, and copies of these")
    search = _Explicit(statement, losses, budget)
    proof = search.single() if len(statement.stages) == 1 else None
    return search.theorem(statement, proof or search.added())


class _Explicit:
    def __init__(self, statement: Statement, losses: Losses, budget: Budget) -> None:
        self.statement, self.losses, self.budget = statement, losses, budget
        (self.claim,) = statement.claims

    def seconds(self, most: float) -> float:
        self.budget.check()
        return min(most, self.budget.left())

    @staticmethod
    def theorem(statement: Statement, proof: Proof) -> Theorem:
        return prove(statement, proof, tuple(map(constant, statement_obligations(statement))))

    # -- one mechanism

    def single(self) -> Proof | None:
        stage = self.statement.stages[0]
        if not isinstance(stage, Mechanism):
            return None
        return self.of_mechanism(stage, 0, self.claim)

    def of_mechanism(self, stage: Mechanism, index: int, claim: Guarantee) -> Proof:
        """A proof that the mechanism has the claim, direction by direction."""
        if claim.two_way:
            sides = [replace(claim, two_way=False, reverse=way) for way in (False, True)]
            return Proof("directions", {}, tuple(self.one_way(stage, index, s) for s in sides))
        return self.one_way(stage, index, claim)

    def one_way(self, stage: Mechanism, index: int, claim: Guarantee) -> Proof:
        goal = replace(self.statement, stages=(stage,), claims=(claim,))
        stuck: Exception = Stuck("no divergence of the mechanism is known")
        if claim.name != "ApproxDP":  # that one has been tried
            try:
                return prove_statement(goal, self.seconds(_OWN)).proof
            except (Stuck, Refusal) as failed:
                stuck = failed
        for reverse in (False, True):
            try:
                return self.by_moments(goal, index, reverse)
            except (Stuck, Failed, Unsuited, Infeasible, Refusal) as failed:
                stuck = failed
        raise stuck

    def by_moments(self, goal: Statement, index: int, reverse: bool) -> Proof:
        """From moments of the mechanism in one direction, those that multipliers use; bounds of
        them from below as well, if that is not enough."""
        known = tuple(self.known(index, reverse))
        plain = tuple(one for one in known if one.name != "MomentBound")
        low = tuple(one for one in known if one not in plain)
        stuck = Failed("no moments are known")
        for count in range(len(low) + 1):  # few of them, as F is next to 0 where all are tight
            try:
                return self.by_guarantees(goal, (*plain, *low[:count]))
            except Failed as failed:
                stuck = failed
        raise stuck

    def by_guarantees(self, goal: Statement, known: tuple[Guarantee, ...]) -> Proof:
        item, *more = constraints(goal.claims[0]) or (None,)  # of a family there are none
        if more or not isinstance(item, Moment):
            raise Unsuited("a claim that bounds a moment")
        problem = Problem(tuple(one for own in known for one in constraints(own)), item)
        solution = None if problem.infinite() else problem.solve()
        if solution is None or solution.value > problem.goal.room * (1 + _CLOSE):
            raise Failed("no multipliers for these moments")
        weights: dict[Constraint, float] = dict(
            zip(problem.moments, solution.weights.tolist(), strict=True)
        )
        used = tuple(
            own
            for own in known
            if any(isinstance(one, Support) or weights[one] for one in constraints(own))
        )
        own_problem = Problem(tuple(one for own in used for one in constraints(own)), item)
        kept = np.array([weights[moment] for moment in own_problem.moments])
        own_solution = replace(solution, weights=kept)
        parameters = {"first": 0, "last": 0, "guarantees": used}
        *shown, first, last = step(goal, "cut", parameters)
        assert isinstance(first, Statement)
        assert isinstance(last, Statement)
        after = bounded(last, own_problem, own_solution, self.budget)  # fails sooner, if it does
        before = prove_statement(first, self.seconds(_SECONDS))
        proofs = [constant(one) for one in shown if isinstance(one, Sequent)]
        return Proof("cut", parameters, (*proofs, before.proof, after))

    def known(self, index: int, reverse: bool) -> Iterator[Guarantee]:
        """Bounds of the loss in both directions; of moments of the ratio from above, of low ones
        from below too."""
        for way in (reverse, not reverse):
            loss = self.losses.largest(index, way)
            if loss is not None and loss[1] >= 0:
                yield Guarantee("PureDP", (_above(loss[1]),), two_way=False, reverse=way)
        for alpha in sorted({*_LOW, *(self.orders() if self.claim.name == "ApproxDP" else ())}):
            found = self.losses.order(index, fmpq(alpha), reverse)
            if found is None:
                return
            low, high = found
            args: tuple[Term, ...] = (tm.num(alpha), _above(high))
            yield Guarantee("RenyiDP", args, two_way=False, reverse=reverse)
            if alpha in _BELOW:
                least = tm.num(_exp_below((alpha - 1) * low))
                args = (-tm.power(T, alpha), ZERO, -least)
                yield Guarantee("MomentBound", args, two_way=False, reverse=reverse)

    # -- sums at one order

    def orders(self) -> dict[int, float]:
        """Orders that may be best for the claim, the best first, and about how much larger their
        totals may be."""
        if self.claim.name == "RenyiDP" and self.claim.args[0] is not None:
            order = rational(self.claim.args[0], {})
            if order is None:
                raise Unsuited("a rational order")
            return {int(order): 0.0} if order.q == 1 else {}
        if self.claim.name != "ApproxDP":
            raise Unsuited("a claim of approximate or Rényi privacy")
        epsilon, delta = (number(arg, {}) for arg in self.claim.args if arg is not None)
        if not 0 < delta < 1:
            raise Unsuited("a delta between 0 and 1")
        found: dict[int, float] = {}

        def short(alpha: int) -> float:
            """By how much the epsilon of this order is above the claim's (Canonne, Kamath and
            Steinke 2020, Proposition 12)."""
            if alpha not in found:
                self.budget.check()
                total = self.total(fmpq(alpha))
                found[alpha] = math.inf
                if total is not None:
                    less = math.log(1 / delta) - math.log(alpha)
                    loss = less / (alpha - 1) + math.log1p(-1 / alpha)
                    found[alpha] = float_of(total) + loss - epsilon
            return found[alpha]

        for alpha in _ORDERS:
            if math.isinf(short(alpha)) or short(alpha) > 4 * min(found.values()) + 10:
                break
        for _ in range(8):
            middle = min(found, key=lambda alpha: found[alpha])
            near = sorted(found)
            place = near.index(middle)
            sides = near[max(0, place - 1) : place + 2]
            between = {(a + b) // 2 for a, b in pairwise(sides)}
            if not between - set(found):
                break
            for alpha in between:
                short(alpha)
        best_first = sorted(found, key=lambda alpha: found[alpha])
        return {alpha: -found[alpha] for alpha in best_first if found[alpha] < math.inf}

    def total(self, alpha: fmpq) -> fmpq | None:
        """About the sum of all stages' losses of this order."""
        out = fmpq(0)
        for index, stage in enumerate(self.statement.stages):
            value = self.loss(stage, index, alpha)
            if value is None:
                return None
            out += value * _count(stage)
        return out

    def loss(self, stage: Stage, index: int, alpha: fmpq) -> fmpq | None:
        """What one copy of the stage has at this order."""
        (single,) = singles(stage) if len(singles(stage)) == 1 else (None,)
        if isinstance(single, Mechanism):
            ways = (False, True) if self.claim.two_way else (self.claim.reverse,)
            both = [self.losses.order(index, alpha, way) for way in ways]
            values = [found[1] for found in both if found is not None]
            return max(values) if len(values) == len(both) else None
        if isinstance(single, Assumed):
            return self.assumed(single, alpha)
        return None

    def assumed(self, single: Assumed, alpha: fmpq) -> fmpq | None:
        """The best that the guarantees give at this order."""
        known = [_closed(one, alpha) for one in single.guarantees if one.two_way]
        values = [value for value in known if value is not None]
        if len(values) == len(single.guarantees):
            return min(values)
        claim = replace(self.claim, name="RenyiDP", args=(tm.num(alpha), tm.var("x")))
        asked = Statement((("x", "real"),), (), (single,), (claim,))
        with suppress(Unsuited, Infeasible):
            return best(Question(asked, "x"), self.budget).proved
        return None

    def added(self) -> Proof:
        """The claim from the total of an order."""
        stuck: Exception = Failed("no order whose total meets the claim")
        for alpha, spare in islice(self.orders().items(), _TRIED):
            try:
                return self.at_order(fmpq(alpha), spare)
            except (Stuck, Failed, Unsuited, Infeasible, Refusal) as failed:
                stuck = failed
        raise stuck

    def at_order(self, alpha: fmpq, spare: float) -> Proof:
        """With mechanisms' divergences a little larger if they may be, as they are shown then."""
        order = tm.num(alpha)
        same = replace(self.claim, name="RenyiDP")
        total = self.total(alpha) or fmpq(1)
        more = min(_MORE, max(0.0, spare / 2 / float_of(total))) if total > 0 else 0.0
        parts = []
        for index, stage in enumerate(self.statement.stages):
            value = self.loss(stage, index, alpha)
            if value is None or not isinstance(stage, (Assumed, Mechanism, Repeated)):
                raise Unsuited("stages with a divergence of one order")
            (single,) = singles(stage)
            size = 1 + dyadic(more) if isinstance(single, Mechanism) else fmpq(1)
            parts.append(replace(same, args=(order, _above(value * size))))
        counts = [_count(stage) for stage in self.statement.stages]
        sums = [
            tm.num(part.args[-1].value * count)
            for part, count in zip(parts, counts, strict=True)
            if part.args[-1] is not None
        ]
        added = replace(same, args=(order, tm.add(*sums)))
        whole = replace(self.statement, stages=(Assumed((added,)),))
        last = self.of_assumed(whole) if added != self.claim else None
        return self.replaced(self.statement, parts, 0, added, last)

    def replaced(
        self,
        goal: Statement,
        parts: list[Guarantee],
        index: int,
        total: Guarantee,
        last: Proof | None,
    ) -> Proof:
        """Stages replaced by their divergences, from one on; then the total, and the claim."""
        if index == len(parts):
            if last is None:
                return prove_statement(goal, self.seconds(_SECONDS)).proof
            parameters = {"first": 0, "last": index - 1, "guarantees": (total,)}
            *shown, first, _ = step(goal, "cut", parameters)
            assert isinstance(first, Statement)
            proofs = [constant(one) for one in shown if isinstance(one, Sequent)]
            summed = prove_statement(first, self.seconds(_SECONDS)).proof
            return Proof("cut", parameters, (*proofs, summed, last))
        stage, part = goal.stages[index], parts[index]
        if isinstance(stage, Repeated):
            rule, parameters = "inner", {"stage": index, "part": 0, "guarantees": (part,)}
        else:
            rule, parameters = "cut", {"first": index, "last": index, "guarantees": (part,)}
        *shown, first, rest = step(goal, rule, parameters)
        assert isinstance(first, Statement)
        assert isinstance(rest, Statement)
        (own,) = first.stages
        proofs = [constant(one) for one in shown if isinstance(one, Sequent)]
        if isinstance(own, Mechanism):
            proofs.append(self.of_mechanism(own, index, part))
        else:
            proofs.append(self.of_assumed(first))
        proofs.append(self.replaced(rest, parts, index + 1, total, last))
        return Proof(rule, parameters, tuple(proofs))

    def of_assumed(self, goal: Statement) -> Proof:
        """By multipliers, or for claims that are as good as the best one by a formula."""
        with suppress(Failed, Unsuited):
            return settled(goal, self.budget).proof
        return prove_statement(goal, self.seconds(_OWN)).proof


def _closed(one: Guarantee, alpha: fmpq) -> fmpq | None:
    """The best of a guarantee by itself, if there is a formula: randomized response's for pure
    privacy; Bun and Steinke (2016), Proposition 1.6, for zCDP and Gaussian pairs."""
    order, last = tm.num(alpha), one.args[-1]
    if last is None:
        return None
    if one.name == "RenyiDP" and one.args[0] is order:
        return _upper(last)
    if one.name == "PureDP":
        sums = tm.exp(order * last) + tm.exp((1 - order) * last)
        return _upper(tm.log(sums / (1 + tm.exp(last))) / (order - 1))
    if one.name in ("ZCDP", "GDP"):
        return _upper(order * (last if one.name == "ZCDP" else last * last / 2))
    return None


def _upper(item: Term) -> fmpq:
    with precision(BITS):
        high = exact(Evaluator({}, True)(item)[1])
    if high is None:
        raise Failed("an infinite divergence")
    return high


def _count(stage: Stage) -> fmpq:
    count = rational(stage.count, {}) if isinstance(stage, Repeated) else fmpq(1)
    if count is None:
        raise Unsuited("a number of copies")
    return count


def _above(value: fmpq) -> Term:
    """Above by enough that it is easy to show."""
    return tm.num(rounded(value + abs(value) * _SPARE, up=True, digits=_DIGITS))


def _exp_below(value: fmpq) -> fmpq:
    """A rational number just below an exponential."""
    with precision(BITS):
        low = exact(Evaluator({}, True)(tm.exp(tm.num(value)))[0])
    if low is None:
        raise Failed("an infinite moment")
    return rounded(low * (1 - _SPARE), up=False, digits=_DIGITS)
