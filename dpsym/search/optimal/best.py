"""The best value of a claim's parameter that follows from one stage's guarantees, at numbers.

From above by a theorem, from below by distributions that meet the guarantees and break the claim.
Nothing that is computed in floating point is reported before the kernel, or the trusted check of
witnesses, has accepted it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from flint import fmpq

from dpsym.kernel import balls
from dpsym.kernel import terms as tm
from dpsym.kernel.balls import Evaluator, Undefined, precision
from dpsym.kernel.definitions import Constraint, Moment, Support, constraints, hockey_stick
from dpsym.kernel.proofs import Proof
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import step
from dpsym.kernel.rules_privacy import statement_obligations
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Assumed, Fact, Guarantee, Statement
from dpsym.kernel.terms import ONE, Term, derivative, substitute
from dpsym.kernel.theorems import Theorem, prove
from dpsym.refutations import Refutation
from dpsym.search.leaf.budget import Budget
from dpsym.search.optimal.families import Chosen, atoms, grid, is_family, items_of, members, orders
from dpsym.search.optimal.lower import Found, refutation, witness
from dpsym.search.optimal.numbers import BITS, at_least, reached, rounded, sign
from dpsym.search.optimal.pieces import Failed, constant
from dpsym.search.optimal.program import CLOSE, Problem, Solution
from dpsym.search.optimal.upper import SPARE, bound_of, tower
from dpsym.search.privacy.prover import prove_statement
from dpsym.search.privacy.steps import Stuck
from dpsym.search.refutation.curves import Array
from dpsym.search.refutation.exact import dyadic, number

_TRIES = 24  # linear programs for one place of a parameter inside of a divergence
_STEPS, _AT_ROOT = 6, 3e-9  # of the secant method
_SMALL = 1e-13
_PARTS = 3  # of what a bound leaves, two of which are spared
_START = {"RenyiDP": 1.0}  # of an order
_FAR = 20  # a large loss
_GAPS = (3e-8, 3e-7, 3e-6, 1e-4, 1e-3, 1e-2)  # logarithms of how far a divergence is from its bound


class Unsuited(Exception):
    """The statement is not of the kind that this search is for."""


class Infeasible(Exception):
    """No pair of distributions seems to meet the guarantees."""


@dataclass(frozen=True)
class Answer:
    """``proved`` is a value with which the claim is a theorem, ``broken`` one with which it has a
    witness; None if there is none, or none was found. ``infinite``: it seems that no value makes it
    true. ``weaker``: larger values make the claim weaker, so that ``broken`` is the lower end."""

    proved: fmpq | None
    theorem: Theorem | None
    broken: fmpq | None
    refutation: Refutation | None
    infinite: bool = False
    weaker: bool = True


@dataclass(frozen=True)
class Question:
    """A statement without variables but for the parameter of its claim that is asked for."""

    statement: Statement
    name: str

    def at(self, value: fmpq) -> Statement:
        """The statement with a number for the parameter."""
        claims = tuple(claim.substitute({self.name: tm.num(value)}) for claim in self.claims)
        return replace(self.statement, variables=(), facts=self.facts, claims=claims)

    @property
    def claims(self) -> tuple[Guarantee, ...]:
        return self.statement.claims

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Those that are not about the parameter."""
        return tuple(fact for fact in self.statement.facts if self.name not in fact.term.vars)

    def allows(self, value: fmpq) -> bool:
        """Whether the value is one that the parameter may have, for certain."""
        at = {self.name: tm.num(value)}
        own = (fact for fact in self.statement.facts if self.name in fact.term.vars)
        return all(at_least(substitute(fact.term, at)) for fact in own)


def ways(claim: Guarantee, symmetric: bool) -> list[Guarantee]:
    """The claim for (P, Q) alone and for (Q, P) alone, once if they say the same."""
    if not claim.two_way:
        return [claim]
    sides = (False,) if symmetric else (False, True)
    return [replace(claim, two_way=False, reverse=reverse) for reverse in sides]


def guarantees(statement: Statement) -> tuple[Guarantee, ...]:
    """The only stage's guarantees; raises Unsuited for other statements."""
    if len(statement.stages) != 1 or not isinstance(statement.stages[0], Assumed):
        raise Unsuited("a single stage that is given by guarantees")
    if len(statement.claims) != 1:
        raise Unsuited("one claim")
    return statement.stages[0].guarantees


def best(question: Question, budget: Budget) -> Answer:
    """Both ends; raises Unsuited, Infeasible or OutOfBudget."""
    search, sides, forms = _prepared(question, budget)
    if any(isinstance(item, Support) for items in forms for item in items):
        return search.largest_loss(forms)
    moments = _moments(forms)
    if not all(_grows(item.bound, question.name) for item in moments):
        raise Unsuited("a claim that becomes weaker as the symbol grows")
    if any(question.name in item.form.f.vars for item in moments):
        if any(map(is_family, search.given)):
            raise Unsuited("a symbol in the bound alone, for guarantees of all orders")
        return search.inside(sides)
    return search.outside(sides, moments)


def settled(statement: Statement, budget: Budget) -> Theorem:
    """A theorem about one stage at numbers, by the best multipliers; raises Unsuited, Infeasible or
    OutOfBudget, and Failed if the claim is false, or as good as the best one."""
    if statement.variables:
        raise Unsuited("a claim at numbers")
    search, sides, forms = _prepared(Question(statement, ""), budget)
    moments = _moments(forms)
    search.choose_orders(moments)
    if any(Problem(search.items, item).infinite() for item in moments):
        raise Failed("a divergence without a bound")
    solved = [search.solved(item) for item in moments]
    goals = [search.specialised(replace(statement, claims=(side,))) for side in sides]
    proofs = [bounded(goal, *one, budget) for goal, one in zip(goals, solved, strict=True)]
    return search.theorem(fmpq(0), proofs)


def bounded(goal: Statement, problem: Problem, found: Solution, budget: Budget) -> Proof:
    """A proof of a one-way claim about one stage by these multipliers; with as much to spare as its
    bound leaves, since the inequality is easier then. Raises Failed."""
    (item,) = constraints(goal.claims[0])
    assert isinstance(item, Moment)
    room = problem.goal.room - found.value * (1 + 4 * found.gap)
    spare = room / max(abs(found.value), 1e-300) / _PARTS
    row, upper = bound_of(goal, problem, found, max(spare, 0.0))
    if not at_least(item.bound - tm.num(upper)):
        raise Failed("no multipliers whose bound meets the claim")
    try:
        return tower(goal, row, budget)
    except Refusal as refusal:
        raise Failed(str(refusal)) from None


Forms = list[tuple[Constraint, ...]]


def _prepared(question: Question, budget: Budget) -> tuple[_Search, list[Guarantee], Forms]:
    """The search, the claim in each direction, and what it says there."""
    given = guarantees(question.statement)
    for guarantee in given:
        found = constraints(guarantee)
        if not (found or is_family(guarantee)) or not all(
            isinstance(item, (Moment, Support)) for item in found
        ):
            raise Unsuited("guarantees that are bounds of moments or of the loss")
    (claim,) = question.claims
    symmetric = all(guarantee.two_way for guarantee in given)
    sides = ways(claim, symmetric)
    search = _Search(question, given, symmetric, budget)
    return search, sides, [constraints(side) for side in sides]


def _moments(forms: Forms) -> list[Moment]:
    if not all(len(items) == 1 and isinstance(items[0], Moment) for items in forms):
        raise Unsuited("a claim that bounds a moment")
    return [item for (item,) in forms if isinstance(item, Moment)]


def _grows(item: Term, name: str) -> bool:
    """Whether a term does not fall where the variable is at least 0, as enclosures tell."""
    if name not in item.vars or item.op == "var":
        return True
    try:
        with precision(BITS):
            box = {name: (balls.rational(fmpq(0))[0], balls.POS)}
            return bool(Evaluator(box, False)(derivative(item, name))[0] >= 0)
    except (Undefined, Refusal):
        return False


class _Search:
    def __init__(
        self, question: Question, given: tuple[Guarantee, ...], symmetric: bool, budget: Budget
    ) -> None:
        self.question, self.given, self.symmetric = question, given, symmetric
        self.budget = budget
        self.items = items_of(given, ())
        self.orders: Chosen = ()
        self.wide: Chosen = ()

    def choose_orders(self, goals: list[Moment]) -> None:
        """For families: the members that a proof uses, and those that a witness keeps to."""
        if any(map(is_family, self.given)):
            own = [
                arg.value
                for claim in self.question.claims
                for arg in claim.args[:1]
                if arg is not None and isinstance(arg.value, fmpq) and arg.value > 1
            ]
            self.orders, wide = orders(self.given, goals, own, self.budget)
            self.items = items_of(self.given, self.orders)
            self.wide = wide

    def solved(self, goal: Moment, close: float = CLOSE) -> tuple[Problem, Solution]:
        self.budget.check()
        problem = Problem(self.items, goal)
        found = problem.solve(close)
        if found is None:
            if any(sign(item.bound - item.form.at(ONE)) < 0 for item in problem.moments):
                raise Infeasible  # not even P = Q, which is best for convex functions
            raise Unsuited("guarantees for which the linear program is solved")
        return problem, found

    # -- the parameter is in the bound alone

    def outside(self, sides: list[Guarantee], moments: list[Moment]) -> Answer:
        self.choose_orders(moments)
        problems = [Problem(self.items, item) for item in moments]
        if any(problem.infinite() for problem in problems):
            return self.unbounded(moments, problems)
        solved = [self.solved(item) for item in moments]
        if all(found.value <= _SMALL for _, found in solved):
            return self.least()
        broken, refuted = self.from_below(moments, solved)
        proved, theorem = self.from_above(sides, moments, solved)
        return Answer(proved, theorem, broken, refuted)

    def from_below(
        self, moments: list[Moment], solved: list[tuple[Problem, Solution]]
    ) -> tuple[fmpq | None, Refutation | None]:
        """The largest value at which one direction is broken."""
        found: tuple[fmpq | None, Refutation | None] = (None, None)
        for item, (_, solution) in zip(moments, solved, strict=True):
            if self.orders:
                wider = atoms(self.given, self.wide, item, self.budget)
                if wider is None:
                    continue
                solution = wider
            seen = self.witness(solution.p, solution.q, item)
            if seen is None or seen.value is None:
                continue
            below = seen.value - abs(seen.value) / 10**30
            value = reached(item.bound, self.question.name, below, False)
            if value is not None and (found[0] is None or value > found[0]):
                refuted = refutation(self.question.at(value), seen)
                if refuted is not None:
                    found = value, refuted
        return found

    def witness(self, p: Array, q: Array, item: Moment) -> Found | None:
        return witness(self.items, p, q, item.form, lambda masses: grid(self.given, masses))

    def from_above(
        self, sides: list[Guarantee], moments: list[Moment], solved: list[tuple[Problem, Solution]]
    ) -> tuple[fmpq | None, Theorem | None]:
        """The smallest value at which both directions are proved."""
        for spare in SPARE:
            rows, values = [], []
            for side, item, (problem, solution) in zip(sides, moments, solved, strict=True):
                row, upper = bound_of(self.one_way(side), problem, solution, spare)
                value = reached(item.bound, self.question.name, upper, True)
                if value is None:
                    return None, None
                rows.append(row)
                values.append(value)
            top = max(values)
            try:
                proofs = [
                    tower(self.one_way(side, top), row, self.budget)
                    for side, row in zip(sides, rows, strict=True)
                ]
                return top, self.theorem(top, proofs)
            except (Failed, Refusal):
                continue
        return None, None

    def one_way(self, side: Guarantee, value: fmpq | None = None) -> Statement:
        """With the members of families that are used, and the claim in one direction."""
        if value is None:
            return self.specialised(replace(self.question.statement, claims=(side,)))
        claim = side.substitute({self.question.name: tm.num(value)})
        return self.specialised(replace(self.question.at(value), claims=(claim,)))

    def specialised(self, statement: Statement) -> Statement:
        more = Assumed((*self.given, *members(self.given, self.orders)))
        return replace(statement, stages=(more,))

    def theorem(self, value: fmpq, proofs: list[Proof]) -> Theorem:
        """The theorem for both directions, from proofs of what is left of them."""
        statement = self.question.at(value)
        (claim,) = statement.claims
        proof = proofs[0]
        if claim.two_way:
            rule = "forward" if self.symmetric else "directions"
            proof = Proof(rule, {}, tuple(proofs))
        shown = tuple(constant(one) for one in statement_obligations(statement))
        return prove(statement, self.with_orders(statement, proof), shown)

    def with_orders(self, statement: Statement, proof: Proof) -> Proof:
        """From the proof for the families' members, in order."""
        steps = []
        for index, order in self.orders:
            parameters = {"stage": 0, "guarantee": index, "value": tm.num(order)}
            *shown, last = step(statement, "specialise", parameters)
            assert isinstance(last, Statement)
            steps.append((parameters, [constant(one) for one in shown if isinstance(one, Sequent)]))
            statement = last
        for parameters, first in reversed(steps):
            proof = Proof("specialise", parameters, (*first, proof))
        return proof

    def least(self) -> Answer:
        """Nothing is left of the divergence: 0, if that is proved."""
        statement = self.question.at(fmpq(0))
        pure_first = sorted(self.given, key=lambda one: one.name != "PureDP")
        single = [Assumed((one,)) for one in pure_first if len(self.given) > 1]
        for stage in (*single, Assumed(self.given)):
            try:
                known = prove_statement(
                    replace(statement, stages=(stage,)), min(5.0, self.budget.left())
                )
                parameters = {"theorem": known, "mapping": ()}
                premises = step(statement, "use", parameters)
                used = tuple(constant(one) for one in premises if isinstance(one, Sequent))
                shown = tuple(constant(one) for one in statement_obligations(statement))
                theorem = prove(statement, Proof("use", parameters, used), shown)
                break
            except (Stuck, Refusal, Failed):
                continue
        else:
            return Answer(None, None, None, None)
        return Answer(fmpq(0), theorem, None, None)

    def unbounded(self, moments: list[Moment], problems: list[Problem]) -> Answer:
        """No finite value: a witness against a large one."""
        for item, problem in zip(moments, problems, strict=True):
            if not problem.infinite():
                continue
            for p, q in problem.unbounded():
                seen = self.witness(p, q, item)
                if seen is None:
                    continue
                value: fmpq | None = fmpq(10**6)
                if seen.value is not None:
                    most = seen.value * fmpq(999, 1000)
                    value = reached(item.bound, self.question.name, most, False)
                if value is None:
                    continue
                refuted = refutation(self.question.at(value), seen)
                if refuted is not None:
                    return Answer(None, None, value, refuted, infinite=True)
        return Answer(None, None, None, None, infinite=True)

    def largest_loss(self, forms: Forms) -> Answer:
        """A claim about the support: witnesses against a large loss, if the loss has no bound."""
        far = hockey_stick(tm.num(_FAR))
        for (item,) in forms:
            assert isinstance(item, Support)
            form = far.swapped() if item.reverse else far
            problem = Problem(self.items, Moment(form, tm.num(1)))
            if math.isfinite(problem.low if item.reverse else problem.high):
                continue
            found = problem.solve(1e-6)
            for p, q in problem.unbounded() if found is None else [(found.p, found.q)]:
                seen = self.witness(p, q, Moment(form, tm.num(1)))
                value = reached(tm.log(item.bound), self.question.name, fmpq(_FAR), False)
                refuted = None
                if seen is not None and value is not None:
                    refuted = refutation(self.question.at(value), seen)
                if refuted is not None:
                    return Answer(None, None, value, refuted, infinite=True)
        raise Unsuited("a claim that bounds a moment")

    # -- the parameter is in the divergence itself

    def inside(self, sides: list[Guarantee]) -> Answer:
        """The place where the most that the divergence can be crosses its bound."""
        start = max(_START.get(side.name, 0.0) for side in sides)
        found = _root(self.excess(sides, 1e-5), self.excess(sides, CLOSE), start)
        if found is None:
            return Answer(None, None, None, None)
        if math.isinf(found.place):
            broken, refuted = self.first_broken(sides, [fmpq(_FAR)])
            return Answer(None, None, broken, refuted)
        if found.slope == 0:
            proved, theorem = self.first_proved(sides, [dyadic(found.place)])
            return Answer(proved, theorem, None, None)
        falling = found.slope < 0
        proved, theorem = self.first_proved(sides, found.beyond(up=falling))
        broken, refuted = self.first_broken(sides, found.beyond(up=not falling))
        return Answer(proved, theorem, broken, refuted, weaker=falling)

    def moments(self, sides: list[Guarantee], value: fmpq) -> list[Moment]:
        out = []
        for side in sides:
            (item,) = constraints(side.substitute({self.question.name: tm.num(value)}))
            assert isinstance(item, Moment)
            out.append(item)
        return out

    def excess(self, sides: list[Guarantee], close: float) -> Callable[[float], float]:
        """The logarithm of the largest quotient of a divergence and its bound."""

        def at(value: float) -> float:
            most = -math.inf
            for item in self.moments(sides, dyadic(value)):
                problem = Problem(self.items, item)
                if problem.infinite():
                    return math.inf
                problem, found = self.solved(item, close)
                room = number(item.bound - tm.num(problem.goal.base), {})
                if found.value <= _SMALL:
                    continue
                most = max(most, math.inf if room <= 0 else math.log(found.value / room))
            return most

        return at

    def first_proved(
        self, sides: list[Guarantee], values: Iterable[fmpq]
    ) -> tuple[fmpq | None, Theorem | None]:
        for value in values:
            if not self.question.allows(value):
                continue
            proofs = []
            try:
                for side, item in zip(sides, self.moments(sides, value), strict=True):
                    goal = self.one_way(side, value)
                    problem, found = self.solved(item)
                    row, upper = bound_of(goal, problem, found, SPARE[0])
                    if not at_least(item.bound - tm.num(upper)):
                        break
                    proofs.append(tower(goal, row, self.budget))
                else:
                    return value, self.theorem(value, proofs)
            except (Failed, Refusal):
                continue
        return None, None

    def first_broken(
        self, sides: list[Guarantee], values: Iterable[fmpq]
    ) -> tuple[fmpq | None, Refutation | None]:
        for value in values:
            for item in self.moments(sides, value):
                _, found = self.solved(item)
                seen = self.witness(found.p, found.q, item)
                if seen is None:
                    continue
                refuted = refutation(self.question.at(value), seen)
                if refuted is not None:
                    return value, refuted
        return None, None


@dataclass(frozen=True)
class _Root:
    """Where a function is about 0, and its slope there; slope 0: it is below 0 from there on. An
    infinite place: it falls, and stays above 0."""

    place: float
    slope: float

    def beyond(self, up: bool) -> Iterator[fmpq]:
        """Places on one side, ever farther away, at which the function is not too close to 0."""
        for gap in _GAPS:
            step = gap / abs(self.slope)
            yield rounded(dyadic(self.place + step if up else self.place - step), up)


def _root(
    coarse: Callable[[float], float], fine: Callable[[float], float], start: float
) -> _Root | None:
    """Where a monotone function crosses 0 beyond a start."""

    def value(x: float) -> float:
        return max(-700.0, min(700.0, coarse(start + x)))

    low, high = 1e-6, 1.0
    a, b = value(low), value(high)
    if a <= 0 and b <= a:
        return _Root(start, 0.0)
    falling = b < a
    while (b > 0) == falling:
        if high > 1e6:
            return _Root(math.inf, -1.0) if falling else None
        low, high = high, high * 2
        a, b = b, value(high)
    side = 0
    for count in range(_TRIES):
        middle = (low * b - high * a) / (b - a) if a != b else math.nan
        if count % 4 == 3 or not low < middle < high:
            middle = (low + high) / 2
        here = value(middle)
        if abs(here) < 1e-3 or high - low < 1e-6 * high:
            break
        if (here > 0) == (a > 0):
            low, a, b = middle, here, b / 2 if side == 1 else b
            side = 1
        else:
            high, b, a = middle, here, a / 2 if side == -1 else a
            side = -1
    slope, place, here = (b - a) / (high - low), middle, fine(start + middle)
    slope = slope or (-1.0 if falling else 1.0) / middle
    for _ in range(_STEPS):
        if abs(here) < _AT_ROOT:
            break
        after = place - here / slope
        if not after > 0 or not math.isfinite(after):
            return None
        before, (place, here) = (place, here), (after, fine(start + after))
        slope = (here - before[1]) / (place - before[0]) or slope
    return _Root(start + place, slope) if math.isfinite(slope) and slope else None
