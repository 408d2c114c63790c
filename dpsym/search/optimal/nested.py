"""Two adaptive stages at numbers: multipliers for the second one, for each ratio of the first.

With (p, q) = (s, 1) before it, the second stage's part of the goal is the integral of
(s p - K q)_+, a convex function psi of s. Between nodes, (s t - K)_+ is at most the chord of its
values there, so psi is at most the chord of bounds of psi at the nodes; the first stage's bound of
this piecewise linear function is the bound of the composition. Nodes are added where the first
stage has its mass, until what its atoms reach with their own second stages is as much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.balls import precision
from dpsym.kernel.definitions import Form, Moment, T, constraints
from dpsym.kernel.proofs import Proof
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import step
from dpsym.kernel.rules_privacy import Multipliers, statement_obligations
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import PREFIX, RATIO, Assumed, Guarantee, Statement
from dpsym.kernel.terms import ONE, ZERO, Term, positive_part
from dpsym.kernel.theorems import Theorem, prove
from dpsym.refutations import Atom, Refutation, refute
from dpsym.search.leaf.budget import Budget
from dpsym.search.optimal.best import Answer, Infeasible, Question, Unsuited, bounded
from dpsym.search.optimal.families import is_family
from dpsym.search.optimal.lower import Masses, witness
from dpsym.search.optimal.numbers import BITS, rounded
from dpsym.search.optimal.pieces import Failed, constant, positive, taken
from dpsym.search.optimal.program import Problem, Solution, float_of
from dpsym.search.privacy.leaves import prove_leaf
from dpsym.search.refutation.exact import dyadic, number

_FIRST = np.linspace(-6, 6, 25)  # logarithms of the first nodes, about the goal's
_ROUNDS, _MOST = 16, 120
_CLOSE, _CLOSER = 2e-6, 1e-7  # gaps, relative to the value
_SPARE = 1e-6  # of the value at ratio 1, which is at most the whole
_DIGITS, _LEAST, _TINY, _FAR = 15, 1e-14, 1e-9, 5e-4
_LEAF = 10.0
S = tm.var(PREFIX)


@dataclass(frozen=True)
class _Node:
    """A ratio of the first stage, and the most that the second stage's part can be there."""

    at: fmpq
    value: float
    problem: Problem
    solution: Solution

    spare: float

    @property
    def bound(self) -> fmpq:
        """A little above the value."""
        whole = dyadic(self.value) + self.problem.goal.base
        more = dyadic(16 * self.value * self.solution.gap + self.spare)
        return rounded(max(whole, fmpq(0)) + more, True, _DIGITS)


class Nested:
    """Both ends of the hockey-stick divergence, in one direction, of two stages of guarantees."""

    def __init__(self, statement: Statement, loss: Term, budget: Budget) -> None:
        self.statement, self.budget = statement, budget
        self.first, self.second = _items(statement)
        self.threshold = tm.exp(loss)
        self.known: dict[fmpq, _Node] = {}
        center = number(loss, {})
        kinks = [0.0, *Problem(self.first, self.goal_at(fmpq(1))).kinks]
        own = Problem(self.second, self.goal_at(fmpq(1))).kinks
        places = [center - k for k in own] + kinks
        wide = max(6.0, *(abs(place) + 1 for place in places)) / 6
        self.reach = 7.5 * wide
        self.nodes: list[fmpq] = []
        for at in sorted({_short(x) for x in [*(_FIRST * wide).tolist(), *places]}, reverse=True):
            far = self.node(at).value < (_FAR if self.above(at) else _TINY)
            if len(self.nodes) == 1 and far and self.above(at):
                self.nodes.clear()  # above the next one, the slope of 1 will do
            self.nodes.insert(0, at)
            if far and not self.above(at):
                break  # below it, the line to 0 will do
        self.atoms: Solution | None = None
        self.refine()

    def above(self, at: fmpq) -> bool:
        """Whether the loss is reached before the second stage."""
        return float_of(at) > number(self.threshold, {})

    def goal_at(self, at: fmpq) -> Moment:
        """The integral of (s p - K q)_+ over the second stage."""
        ratio = tm.num(at)
        return Moment(Form(positive_part(ratio * T - self.threshold), ratio, ZERO), ONE)

    def node(self, at: fmpq) -> _Node:
        if at not in self.known:
            self.budget.check()
            problem = Problem(self.second, self.goal_at(at))
            solution = problem.solve(1e-8)
            if solution is None:
                raise Infeasible
            value = max(solution.value, 0.0)
            spare = _SPARE * (value if at == 1 else self.node(fmpq(1)).value) + _LEAST
            self.known[at] = _Node(at, value, problem, solution, spare)
        return self.known[at]

    def chord(self) -> Form:
        """The piecewise linear function of the first stage's ratio."""
        nodes = [self.node(at) for at in self.nodes]
        slopes = [nodes[0].bound / nodes[0].at]
        slopes += [(two.bound - one.bound) / (two.at - one.at) for one, two in pairwise(nodes)]
        slopes.append(fmpq(1))
        parts = [slopes[0] * T]
        for node, (before, after) in zip(nodes, pairwise(slopes), strict=True):
            parts.append((after - before) * positive_part(T - tm.num(node.at)))
        return Form(tm.add(*parts), ONE, ZERO)

    def refine(self) -> None:
        """More nodes, until the ends meet."""
        for _ in range(_ROUNDS):
            self.budget.check()
            problem = Problem(self.first, Moment(self.chord(), ONE))
            found = problem.solve(_CLOSER)
            if found is None:
                raise Infeasible
            self.problem, self.atoms = problem, found
            upper = found.value + float_of(problem.goal.base)
            used = [(p, q) for p, q in zip(found.p.tolist(), found.q.tolist(), strict=True) if q]
            lower = sum(found.p[found.q == 0].tolist())
            new: set[fmpq] = set()
            for p, q in used:
                log = math.log(p / q) if p else -math.inf
                if abs(log) > self.reach or log < math.log(float_of(self.nodes[0])):
                    lower += max(0.0, p - number(self.threshold, {}) * q)
                    continue
                at = _short(log)
                lower += q * (self.node(at).value + float_of(self.node(at).problem.goal.base))
                new |= self.around(at)
            self.upper, self.lower = upper, lower
            if upper - lower < _CLOSE * upper or len(self.nodes) > _MOST:
                return
            self.nodes = sorted({*self.nodes, *(at for at in new if at > self.nodes[0])})

    def around(self, at: fmpq) -> set[fmpq]:
        """A ratio, and the middles to the nodes next to it."""
        under = [node for node in self.nodes if node < at]
        above = [node for node in self.nodes if node > at]
        ends = [*under[-1:], *above[:1]]
        logs = [math.log(float_of(end)) for end in ends]
        middle = math.log(float_of(at))
        near = {_short((middle + log) / 2) for log in logs if abs(middle - log) > 1e-4}
        return {at, *near}

    # -- from above

    def theorem(self, side: Statement) -> Proof:
        """A proof of the one-way claim."""
        nodes = [self.node(at) for at in self.nodes]
        forms = [self.goal_at(node.at).form for node in nodes]
        bounds = tuple(
            _moment(form, tm.num(node.bound)) for form, node in zip(forms, nodes, strict=True)
        )
        chord = self.chord()
        (claim,) = side.claims
        bound = claim.args[-1]
        assert bound is not None
        whole = (_moment(chord, bound),)
        parameters = {"first": 1, "last": 1, "guarantees": bounds}
        *shown, second, rest = step(side, "cut", parameters)
        assert isinstance(second, Statement)
        assert isinstance(rest, Statement)
        proofs = [_constant(one) for one in shown if isinstance(one, Sequent)]
        each = tuple(
            self.one(second, one, self.second, node.solution)
            for one, node in zip(bounds, nodes, strict=True)
        )
        proofs.append(Proof("claims", {}, each))
        through = {"first": 0, "last": 0, "guarantees": whole}
        *known, first, last = step(rest, "cut", through)
        assert isinstance(first, Statement)
        assert isinstance(last, Statement)
        assert self.atoms is not None
        own = self.one(first, whole[0], self.first, self.atoms)
        inner = [_constant(one) for one in known if isinstance(one, Sequent)]
        proofs.append(Proof("cut", through, (*inner, own, self.joined(last, forms, chord))))
        return Proof("cut", parameters, tuple(proofs))

    def one(
        self, goal: Statement, claim: Guarantee, items: tuple[Moment, ...], found: Solution
    ) -> Proof:
        """One stage has one moment's bound."""
        (item,) = constraints(claim)
        assert isinstance(item, Moment)
        return bounded(replace(goal, claims=(claim,)), Problem(items, item), found, self.budget)

    def joined(self, goal: Statement, forms: list[Form], chord: Form) -> Proof:
        """The first stage's bound of the chord, the second stage's bounds at the nodes."""
        zero = Form(ZERO, ZERO, ZERO)
        last = tm.num(self.nodes[-1])
        more = Form(positive_part(T - last), ONE, ZERO)
        hats = tuple(Form(self.hat(i), ZERO, ZERO) for i in range(len(forms)))
        rows = (
            Multipliers(zero, zero, (Form(ONE, ZERO, ZERO),)),
            Multipliers(more, zero, hats, chord),
        )
        parameters = {"multipliers": rows, "low": (ZERO, ZERO)}
        premises = step(goal, "tower", parameters)
        proofs = [self.leaf(one) for one in premises if isinstance(one, Sequent)]
        return Proof("tower", parameters, tuple(proofs))

    def hat(self, i: int) -> Term:
        """1 at a node, 0 at the others, linear between; before the first one from 0, and 1 after
        the last one."""
        at = self.nodes[i]
        under = self.nodes[i - 1] if i else fmpq(0)
        rising = (T - tm.num(under)) / tm.num(at - under)
        item = tm.ite(T - tm.num(under), rising, ZERO) if i else rising
        if i == len(self.nodes) - 1:
            return tm.ite(T - tm.num(at), ONE, item)
        over = self.nodes[i + 1]
        falling = (tm.num(over) - T) / tm.num(over - at)
        return tm.ite(T - tm.num(over), ZERO, tm.ite(T - tm.num(at), falling, item))

    def leaf(self, goal: Sequent) -> Proof:
        names = goal.goal.term.vars
        if PREFIX in names:
            with precision(BITS):
                return self.in_cells(goal, self.nodes)
        return positive(goal, self.budget) if RATIO in names else _constant(goal)

    def in_cells(self, goal: Sequent, places: list[fmpq]) -> Proof:
        """Between neighbouring nodes, where one branch of each hat is taken."""
        self.budget.check()
        steps, goal = taken(goal, PREFIX)
        if not places:
            found = prove_leaf(goal, _LEAF, ())
            if not isinstance(found, Proof):
                raise Failed(f"not shown: {goal.goal}")
            return steps(found)
        middle = len(places) // 2
        item = S - tm.num(places[middle])
        *shown, above, under = (x for x in step(goal, "split", {"item": item}))
        assert isinstance(above, Sequent)
        assert isinstance(under, Sequent)
        proofs = [_constant(one) for one in shown if isinstance(one, Sequent)]
        proofs += [
            self.in_cells(above, places[middle + 1 :]),
            self.in_cells(under, places[:middle]),
        ]
        return steps(Proof("split", {"item": item}, tuple(proofs)))

    # -- from below

    def atoms_tree(self) -> tuple[Atom, ...] | None:
        """The first stage's atoms, each with a second stage of its own."""
        assert self.atoms is not None
        found = witness(self.first, self.atoms.p, self.atoms.q, self.chord())
        if found is None:
            return None
        out = []
        for p, q in found.masses:
            then = self.after(p, q)
            if then is None:
                return None
            out.append(Atom(p, q, tuple(Atom(*pair) for pair in then)))
        return tuple(out)

    def after(self, p: fmpq, q: fmpq) -> Masses | None:
        if not p or not q or p / q < self.nodes[0] or p / q > dyadic(math.exp(self.reach)):
            return ((fmpq(1), fmpq(1)),)
        node = self.node(_short(math.log(float_of(p / q))))
        solution = node.solution
        seen = witness(self.second, solution.p, solution.q, self.goal_at(node.at).form)
        return ((fmpq(1), fmpq(1)),) if seen is None else seen.masses


def _constant(goal: Sequent) -> Proof:
    try:
        return constant(goal)
    except Failed:
        found = prove_leaf(goal, _LEAF, ())
        if isinstance(found, Proof):
            return found
        raise


def _moment(form: Form, bound: Term) -> Guarantee:
    return Guarantee("MomentBound", (form.f, form.at_p, bound), two_way=False)


def _short(log: float) -> fmpq:
    """A ratio near an exponential, with a short binary fraction."""
    value = math.exp(log)
    size = 2 ** max(8, 26 - math.ceil(math.log2(value)))
    return fmpq(max(1, round(value * size)), size)


def _items(statement: Statement) -> tuple[tuple[Moment, ...], tuple[Moment, ...]]:
    found = []
    for stage in statement.stages:
        if not isinstance(stage, Assumed):
            raise Unsuited("stages of guarantees")
        if any(is_family(one) or not constraints(one) for one in stage.guarantees):
            raise Unsuited("guarantees that are bounds of moments or of the loss")
        found.append(
            tuple(dict.fromkeys(item for one in stage.guarantees for item in constraints(one)))
        )
    if len(found) != 2:
        raise Unsuited("two stages")
    return found[0], found[1]  # type: ignore[return-value]


def optimum(question: Question, budget: Budget) -> Answer:
    """The best delta of two stages; raises Unsuited, Infeasible, Failed, Refusal or OutOfBudget."""
    (claim,) = question.claims
    loss, delta = claim.args if claim.name == "ApproxDP" else (None, None)
    statement = question.statement
    if loss is None or delta is None or loss.vars or delta.op != "var" or claim.reverse:
        raise Unsuited("an unknown delta of approximate privacy")
    two_way = [
        one.two_way
        for stage in statement.stages
        if isinstance(stage, Assumed)
        for one in stage.guarantees
    ]
    if claim.two_way and not all(two_way):
        raise Unsuited("guarantees in both directions")
    search = Nested(statement, loss, budget)
    return Answer(*search_above(search, question), *search_below(search, question))


def search_above(search: Nested, question: Question) -> tuple[fmpq | None, Theorem | None]:
    gap = search.atoms.gap if search.atoms is not None else 0.0
    value = rounded(dyadic(search.upper * (1 + _SPARE + 16 * gap)), True)
    statement = question.at(value)
    (claim,) = statement.claims
    side = replace(statement, claims=(replace(claim, two_way=False),))
    proof = search.theorem(side)
    if claim.two_way:
        proof = Proof("forward", {}, (proof,))
    shown = tuple(map(constant, statement_obligations(statement)))
    return value, prove(statement, proof, shown)


def search_below(search: Nested, question: Question) -> tuple[fmpq | None, Refutation | None]:
    tree = search.atoms_tree()
    for gap in (1e-8, 1e-7, 1e-6, 3e-6, 1e-5, 1e-4, 1e-3, 1e-2) if tree else ():
        value = rounded(dyadic(search.lower * (1 - gap)), False)
        if value <= 0:
            break
        try:
            return value, refute(question.at(value), {}, tree or ())
        except Refusal:
            continue
    return None, None
