"""Compositions of pure and approximate privacy at numbers: the optimal bound, and what attains it.

The extreme pair of (epsilon, delta) has masses (1 - delta)/(1 + e^epsilon) times e^epsilon and 1,
and delta where the other has none; the composition of these is the worst (Kairouz, Oh and Viswanath
2015, Theorem 3.3). The proof goes stage by stage: what the first m stages have at a loss x follows
from what the first m - 1 have at x - epsilon and x + epsilon.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from flint import arb, fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.balls import Evaluator, exact, precision
from dpsym.kernel.canon import Canon
from dpsym.kernel.definitions import Form, T
from dpsym.kernel.proofs import Proof
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import step
from dpsym.kernel.rules_privacy import Multipliers, statement_obligations
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import (
    REAL,
    Assumed,
    Fact,
    Guarantee,
    Inner,
    Repeated,
    Stage,
    Statement,
)
from dpsym.kernel.terms import ONE, ZERO, Term, positive_part, var
from dpsym.kernel.theorems import Theorem, prove
from dpsym.refutations import Atom, Refutation, refute
from dpsym.search.leaf.budget import Budget
from dpsym.search.optimal.best import Answer, Question, Unsuited
from dpsym.search.optimal.numbers import BITS, rounded
from dpsym.search.optimal.pieces import Failed, constant
from dpsym.search.privacy.leaves import prove_leaf
from dpsym.search.privacy.prover import prove_statement
from dpsym.search.refutation.exact import rational

_DIGITS, _SPARE = 45, fmpq(1, 10**42)
_MOST_NODES, _MOST_OUTCOMES, _MOST_STAGES = 6000, 20_000, 2000
_LEMMA = 20.0  # seconds for the lemma of one step, which is proved once
_FINE = 2**72  # the denominator of a witness's likelihood ratio
_LARGE = 10**4  # a loss
_SHOWN, _NEAR = 21, fmpq(1, 10**19)  # digits of an end, and how far it is from the best value
E, X, Y, D, D1, D2, U, V = map(var, ("e", "x", "y", "d", "d1", "d2", "u", "v"))


def _approx(loss: Term, delta: Term) -> Guarantee:
    return Guarantee("ApproxDP", (loss, delta))


@dataclass(frozen=True)
class Extreme:
    """What one stage has: a loss, and delta."""

    loss: Term
    delta: fmpq


def extremes(stages: tuple[Stage, ...]) -> list[Extreme]:
    """One for each stage and copy; raises Unsuited."""
    out: list[Extreme] = []
    for index, stage in enumerate(stages):
        inner: Stage | Inner = stage
        count = fmpq(1)
        if isinstance(stage, Repeated):
            found = rational(stage.count, {})
            if found is None or index:
                raise Unsuited("copies first, and a number of them")
            inner, count = stage.stage, found
        if not isinstance(inner, Assumed) or len(inner.guarantees) != 1:
            raise Unsuited("stages with one guarantee each")
        (one,) = inner.guarantees
        if one.name not in ("PureDP", "ApproxDP") or not one.two_way or one.args[0] is None:
            raise Unsuited("pure or approximate privacy in both directions")
        delta = rational(one.args[1], {}) if one.name == "ApproxDP" and one.args[1] else fmpq(0)
        if delta is None or not 0 <= delta <= 1 or not _sign(one.args[0]) > 0:
            raise Unsuited("losses above 0, and a rational delta")
        out += [Extreme(one.args[0], delta)] * int(count)
        if len(out) > _MOST_STAGES:
            raise Unsuited(f"at most {_MOST_STAGES} stages")
    if len(out) < 2:
        raise Unsuited("several stages")
    return out


# -- the optimal value


class Worst:
    """The composition of the extreme pairs: how much mass there is at each loss."""

    def __init__(self, stages: list[Extreme]) -> None:
        masses: dict[Term, arb] = {ZERO: arb(1)}
        kept, normal = arb(1), Canon().normal
        with precision(BITS):
            for stage in stages:
                growth = _ball(tm.exp(stage.loss))
                up, down = growth / (1 + growth), 1 / (1 + growth)
                kept *= 1 - arb(stage.delta)
                more: dict[Term, arb] = {}
                for loss, mass in masses.items():
                    for end, share in ((loss + stage.loss, up), (loss - stage.loss, down)):
                        key = normal(end)
                        more[key] = more.get(key, arb(0)) + mass * share
                masses = more
                if len(masses) > _MOST_OUTCOMES:
                    raise Unsuited("fewer sums of losses")
            self.lost = 1 - kept
            pairs = [(_ball(loss), kept * mass) for loss, mass in masses.items()]
        self.pairs = pairs

    def delta(self, loss: arb) -> arb:
        """The hockey-stick divergence."""
        with precision(BITS):
            total = arb(self.lost)
            for own, mass in self.pairs:
                gap = 1 - (loss - own).exp()
                total += mass * gap.max(arb(0))
            return total

    def loss(self, delta: fmpq, up: bool) -> fmpq | None:
        """A loss near the smallest one >= 0 with at most this delta, on one side of it; None if
        there is none."""

        def meets(loss: fmpq) -> bool:
            with precision(BITS):
                return bool(self.delta(arb(loss)) <= arb(delta))

        if up and not self.lost < arb(delta):
            return None
        if meets(fmpq(0)):
            return fmpq(0)
        low, high = fmpq(0), fmpq(1)
        while not meets(high):
            low, high = high, 2 * high
            if high > 10**6:
                return None
        for _ in range(90):
            middle = (low + high) / 2
            low, high = (low, middle) if meets(middle) else (middle, high)
        return high if up else low


def _ball(item: Term) -> arb:
    low, high = Evaluator({}, True)(item)
    return low.union(high)


def _sign(item: Term) -> int:
    with precision(BITS):
        low, high = Evaluator({}, True)(item)
    return 1 if low > 0 else -1 if high < 0 else 0


# -- one step, for all numbers


def _lemma(
    names: tuple[Term, ...], facts: tuple[Fact, ...], stages: tuple[Stage, ...], end: Term
) -> Statement:
    variables = tuple((str(name.value), REAL) for name in names)
    return Statement(variables, (*facts, Fact(Y - end, ">=")), stages, (_approx(X, Y),))


_RANGE = (Fact(E, ">"), Fact(D, ">="), Fact(1 - D, ">="))
_BEFORE = (Fact(D1, ">="), Fact(1 - D1, ">="))
_GROWTH = tm.exp(E)


@cache
def step_lemma() -> Theorem:
    """For e > 0: the first stages' delta at u <= x - e and at v <= x + e, weighted."""
    facts = (*_RANGE, Fact(D1, ">="), Fact(D2, ">="), Fact(X - E - U, ">="), Fact(X + E - V, ">="))
    stages = Assumed((_approx(U, D1), _approx(V, D2))), Assumed((_approx(E, D),))
    end = D + (1 - D) * (_GROWTH * D1 + D2) / (1 + _GROWTH)
    statement = _lemma((E, X, Y, D, D1, D2, U, V), facts, stages, end)
    above = Form(_GROWTH * positive_part(T - tm.exp(X - E)), _GROWTH, ZERO)
    under = Form(positive_part(T - tm.exp(X + E)) / _GROWTH, 1 / _GROWTH, ZERO)
    slope = (above.f - under.f) / (_GROWTH - 1 / _GROWTH)
    base = above.f - _GROWTH * slope  # the line through both, at ratios e^e and e^-e
    forms = Form(slope, ONE, ZERO), Form(base, ZERO, ZERO)
    hinges = Form(T - slope, ZERO, ZERO), Form(-base, ZERO, ZERO)
    shares = (1 - D) * _GROWTH / (1 + _GROWTH), ZERO, (1 - D) / (1 + _GROWTH), ZERO
    first = Multipliers(_constant(D), _constant(ZERO), tuple(map(_constant, shares)))
    parameters = {"multipliers": (first, Multipliers(*forms, hinges)), "low": (ZERO, ZERO)}
    (one_way,) = step(statement, "forward", {})
    leaves = [_leaf(one) for one in step(one_way, "tower", parameters) if isinstance(one, Sequent)]
    proof = Proof("forward", {}, (Proof("tower", parameters, tuple(leaves)),))
    return prove(statement, proof, tuple(map(_leaf, statement_obligations(statement))))


def _constant(item: Term) -> Form:
    return Form(item, ZERO, ZERO)


def _leaf(goal: Sequent) -> Proof:
    found = prove_leaf(goal, _LEMMA, ())
    if not isinstance(found, Proof):
        raise Failed(f"not shown: {goal.goal}")
    return found


_SUM = D1 + D - D1 * D


@cache
def top_lemma() -> Theorem:
    """At the sum of the losses or above it, the sharp sum of the deltas."""
    facts = (*_RANGE, *_BEFORE, Fact(X - U - E, ">="))
    stages = Assumed((_approx(U, D1),)), Assumed((_approx(E, D),))
    return prove_statement(_lemma((E, X, Y, D, D1, U), facts, stages, _SUM), _LEMMA)


@cache
def low_lemma() -> Theorem:
    """At minus the sum of the losses or below it: all but what both have in common."""
    facts = (*_RANGE, *_BEFORE, Fact(-X - U - E, ">="), Fact(U, ">="))
    stages = Assumed((_approx(U, D1),)), Assumed((_approx(E, D),))
    end = 1 - tm.exp(X) * (1 - D1) * (1 - D)
    statement = _lemma((E, X, Y, D, D1, U), facts, stages, end)
    total = (_approx(U + E, _SUM),)
    parameters = {"first": 0, "last": 1, "guarantees": total}
    *shown, first, last = step(statement, "cut", parameters)
    proofs = [_leaf(one) for one in shown if isinstance(one, Sequent)]
    for goal in (first, last):
        assert isinstance(goal, Statement)
        proofs.append(prove_statement(goal, _LEMMA).proof)
    obligations = tuple(map(_leaf, statement_obligations(statement)))
    return prove(statement, Proof("cut", parameters, tuple(proofs)), obligations)


@cache
def first_lemma(place: int) -> Theorem:
    """One stage: above its loss (1), below minus its loss (-1), or between (0)."""
    facts = {
        1: (Fact(X - E, ">="),),
        0: (Fact(E - X, ">="), Fact(X + E, ">=")),
        -1: (Fact(-X - E, ">="),),
    }[place]
    end = {
        1: D,
        0: D + (1 - D) * (_GROWTH - tm.exp(X)) / (1 + _GROWTH),
        -1: 1 - tm.exp(X) * (1 - D),
    }[place]
    stages = (Assumed((_approx(E, D),)),)
    return prove_statement(_lemma((E, X, Y, D), (*_RANGE, *facts), stages, end), _LEMMA)


# -- from the last stage to the first, and back


@dataclass(frozen=True)
class _Node:
    """That the first stages have a delta at a loss, with how it is shown: the theorem and what its
    variables are, but for ``x`` and ``y``."""

    loss: Term
    delta: fmpq
    theorem: Theorem
    mapping: tuple[tuple[str, Term], ...]


class _Ladder:
    """What the first m stages have, for each m, as far as it is needed at the end."""

    def __init__(self, stages: list[Extreme], loss: Term, budget: Budget) -> None:
        self.stages, self.budget = stages, budget
        self.normal = Canon().normal
        self.sums = [ZERO]
        for stage in stages:
            self.sums.append(self.normal(self.sums[-1] + stage.loss))
        needed: list[dict[Term, None]] = [{} for _ in range(len(stages) + 1)]
        needed[-1] = {self.normal(loss): None}
        count = 0
        for m in range(len(stages), 1, -1):
            needed[m - 1][self.sums[m - 1]] = None
            for x in needed[m]:
                if self.place(x, m) == 0:
                    needed[m - 1].update(dict.fromkeys(self.before(x, m)))
            count += len(needed[m - 1])
            if count > _MOST_NODES:
                raise Unsuited("fewer sums of losses")
        self.levels: list[list[_Node]] = [[]]
        known: dict[Term, fmpq] = {}
        with precision(BITS):
            for m in range(1, len(stages) + 1):
                budget.check()
                own = [self.node(x, m, known) for x in needed[m]]
                known = {node.loss: node.delta for node in own}
                self.levels.append(own)

    def place(self, x: Term, m: int) -> int:
        """Above the sum of the first m losses, below minus that, or between."""
        if _sign(x - self.sums[m]) > 0 or x is self.sums[m]:
            return 1
        return -1 if _sign(x + self.sums[m]) < 0 else 0

    def before(self, x: Term, m: int) -> tuple[Term, Term]:
        """The losses that a step uses, none above the sum."""
        e, top = self.stages[m - 1].loss, self.sums[m - 1]
        low, high = self.normal(x - e), self.normal(x + e)
        return (top if self.place(low, m - 1) > 0 else low), (
            top if self.place(high, m - 1) > 0 else high
        )

    def node(self, x: Term, m: int, known: dict[Term, fmpq]) -> _Node:
        stage, place = self.stages[m - 1], self.place(x, m)
        e, d = stage.loss, arb(stage.delta)
        growth, at = _ball(tm.exp(e)), _ball(tm.exp(x))
        own = ("e", e), ("d", tm.num(stage.delta))
        if m == 1:
            value = (1 - at * (1 - d), d + (1 - d) * (growth - at) / (1 + growth), d)[place + 1]
            return _Node(x, _above(value), first_lemma(place), own)
        if place:
            u, d1 = self.sums[m - 1], known[self.sums[m - 1]]
            kept = (1 - arb(d1)) * (1 - d)
            value = 1 - kept if place > 0 else 1 - at * kept
            mapping = (*own, ("u", u), ("d1", tm.num(d1)))
            return _Node(x, _above(value), top_lemma() if place > 0 else low_lemma(), mapping)
        u, v = self.before(x, m)
        value = d + (1 - d) * (growth * arb(known[u]) + arb(known[v])) / (1 + growth)
        deltas = ("d1", tm.num(known[u])), ("d2", tm.num(known[v]))
        return _Node(x, _above(value), step_lemma(), (*own, ("u", u), ("v", v), *deltas))

    def guarantees(self, m: int) -> tuple[Guarantee, ...]:
        return tuple(_approx(node.loss, tm.num(node.delta)) for node in self.levels[m])

    def proof(self, goal: Statement) -> Proof:
        """Of a statement about the stages, each of which is approximate privacy."""
        goals, rules = [goal], list[Callable[[Proof], Proof]]()
        for m in range(len(self.stages), 1, -1):
            self.budget.check()
            proved, rule = self.peeled(goals[-1], m)
            goals.append(proved)
            rules.append(rule)
        found = self.first(goals[-1])
        for rule in reversed(rules):
            found = rule(found)
        return found

    def peeled(self, goal: Statement, m: int) -> tuple[Statement, Callable[[Proof], Proof]]:
        """The statement about the stages before, and the proof from its proof."""
        known = self.guarantees(m - 1)
        if isinstance(goal.stages[-1], Repeated) and len(goal.stages) == 1:
            (own,) = goal.stages[0].stage.guarantees  # type: ignore[union-attr]
            rule = "parted"
            parameters = {"first": m - 1, "before": known, "after": (own,)}
        else:
            rule, parameters = "cut", {"first": 0, "last": m - 2, "guarantees": known}
            if isinstance(goal.stages[0], Repeated):
                parameters["last"] = len(goal.stages) - 2
        premises = step(goal, rule, parameters)
        shown = [constant(one) for one in premises if isinstance(one, Sequent)]
        before, *more, last = (one for one in premises if isinstance(one, Statement))
        after = [self.first(one, alone=True) for one in more]
        done = self.steps(last, m)

        def proof(found: Proof) -> Proof:
            return Proof(rule, parameters, (*shown, found, *after, done))

        return before, proof

    def first(self, goal: Statement, alone: bool = False) -> Proof:
        """One stage, or one copy of it."""
        if isinstance(goal.stages[0], Repeated):
            (plain,) = step(goal, "unroll", {})
            assert isinstance(plain, Statement)
            return Proof("unroll", {}, (self.first(plain, alone),))
        if alone:
            e, d = goal.claims[0].args
            assert e is not None
            assert d is not None
            mapping = ("x", e), ("y", d), ("e", e), ("d", d)
            return self.used(goal, first_lemma(1), mapping)
        return self.steps(goal, 1)

    def steps(self, goal: Statement, m: int) -> Proof:
        """Each claim by its lemma; the last one's delta may be larger than what follows."""
        proofs = []
        for node, claim in zip(self.levels[m], goal.claims, strict=True):
            ends = zip(("x", "y"), claim.args, strict=True)
            mapping = (*node.mapping, *((name, arg) for name, arg in ends if arg is not None))
            proofs.append(self.used(replace(goal, claims=(claim,)), node.theorem, mapping))
        return proofs[0] if len(proofs) == 1 else Proof("claims", {}, tuple(proofs))

    @staticmethod
    def used(goal: Statement, theorem: Theorem, mapping: tuple[tuple[str, Term], ...]) -> Proof:
        parameters = {"theorem": theorem, "mapping": mapping}
        premises = step(goal, "use", parameters)
        shown = [constant(one) for one in premises if isinstance(one, Sequent)]
        return Proof("use", parameters, tuple(shown))


def _above(value: arb) -> fmpq:
    high = exact(value.upper())
    if high is None:
        raise Failed("an infinite delta")
    return min(fmpq(1), rounded(max(high, fmpq(0)) * (1 + _SPARE) + _SPARE**2, True, _DIGITS))


def by_extremes(statement: Statement, budget: Budget) -> Theorem:
    """A theorem about stages of pure and approximate privacy at numbers; raises Unsuited, Failed,
    Stuck, Refusal or OutOfBudget."""
    loss, delta = _claimed(statement)
    stages = extremes(statement.stages)
    with precision(BITS):
        wanted, at = _ball(delta), _ball(loss)
    if not Worst(stages).delta(at) <= wanted:
        raise Failed("the composition of the extreme pairs has more")
    goal, wrap = _as_approximate(statement)
    ladder = _Ladder(stages, loss, budget)
    proof = wrap(ladder.proof(goal))
    return prove(statement, proof, tuple(map(constant, statement_obligations(statement))))


def _claimed(statement: Statement) -> tuple[Term, Term]:
    (claim,) = statement.claims if len(statement.claims) == 1 else (None,)
    loss, delta = (None, None) if claim is None or claim.name != "ApproxDP" else claim.args
    if statement.variables or loss is None or delta is None:
        raise Unsuited("a claim of approximate privacy at numbers")
    return loss, delta


def _as_approximate(statement: Statement) -> tuple[Statement, Callable[[Proof], Proof]]:
    """With approximate privacy of delta 0 for pure privacy, and what adds the steps to that."""
    goal, steps = statement, list[Callable[[Proof], Proof]]()
    for index, stage in enumerate(statement.stages):
        inner = stage.stage if isinstance(stage, Repeated) else stage
        assert isinstance(inner, Assumed)
        (one,) = inner.guarantees
        if one.name != "PureDP" or one.args[0] is None:
            continue
        new = (_approx(one.args[0], ZERO),)
        rule, parameters = "cut", {"first": index, "last": index, "guarantees": new}
        if isinstance(stage, Repeated):
            rule, parameters = "inner", {"stage": index, "part": 0, "guarantees": new}
        *shown, first, rest = step(goal, rule, parameters)
        assert isinstance(first, Statement)
        assert isinstance(rest, Statement)
        proofs = [constant(each) for each in shown if isinstance(each, Sequent)]
        proofs.append(prove_statement(first, _LEMMA).proof)

        def wrapped(
            found: Proof,
            rule: str = rule,
            parameters: dict = parameters,
            proofs: list = proofs,  # type: ignore[type-arg]
        ) -> Proof:
            return Proof(rule, parameters, (*proofs, found))

        goal = rest
        steps.append(wrapped)

    def all_steps(found: Proof) -> Proof:
        for wrapped in reversed(steps):
            found = wrapped(found)
        return found

    return goal, all_steps


# -- both ends


def optimum(question: Question, budget: Budget) -> Answer:
    """The best delta or epsilon of a composition, to many digits; raises as ``by_extremes``."""
    (claim,) = question.claims
    if claim.name != "ApproxDP" or question.name not in [
        arg.value for arg in claim.args if arg is not None and arg.op == "var"
    ]:
        raise Unsuited("a claim of approximate privacy in which epsilon or delta is unknown")
    loss, delta = claim.args
    assert loss is not None
    assert delta is not None
    worst = Worst(extremes(question.statement.stages))
    if not loss.vars:
        with precision(BITS):
            found = worst.delta(_ball(loss))
            ends = exact(found.lower()), exact(found.upper())
    else:
        number = rational(delta, {})
        if number is None:
            raise Unsuited("a rational delta")
        ends = worst.loss(number, up=False), worst.loss(number, up=True)
    low, high = ends
    refutation = theorem = None
    if high is None:  # each loss is too small, as this one is
        low = fmpq(_LARGE)
    elif low is not None:
        low = rounded(low * (1 - _NEAR), False, _SHOWN)
    if low is not None and low > 0:
        refutation = attained(question.at(low))
    if high is not None:
        high = rounded(high * (1 + _NEAR), True, _SHOWN)
        theorem = by_extremes(question.at(high), budget)
    broken = None if refutation is None else low
    return Answer(high, theorem, broken, refutation, infinite=high is None)


# -- what attains it


def against(statement: Statement) -> Refutation | None:
    """A witness against a claim at numbers, if this search is for it."""
    try:
        loss, delta = _claimed(statement)
        worst = Worst(extremes(statement.stages))
        with precision(BITS):
            broken = worst.delta(_ball(loss)) > _ball(delta)
        return attained(statement) if broken else None
    except Unsuited:
        return None


def attained(statement: Statement) -> Refutation | None:
    """A witness against a claim that is less than the optimal value, if it is not too close."""
    masses: list[tuple[tuple[fmpq, fmpq], ...]] = []
    for stage in extremes(statement.stages):
        with precision(BITS):
            growth = exact(Evaluator({}, True)(tm.exp(stage.loss))[0])
        if growth is None:
            return None
        ratio = fmpq(int((growth * _FINE).floor()), _FINE)
        low = (1 - stage.delta) / (1 + ratio)
        ends = ((stage.delta, fmpq(0)), (fmpq(0), stage.delta)) if stage.delta else ()
        masses.append(((ratio * low, low), (low, ratio * low), *ends))
    then: tuple[Atom, ...] = ()
    for pairs in reversed(masses):
        then = tuple(Atom(p, q, then) for p, q in pairs)
    try:
        return refute(statement, {}, then)
    except Refusal:
        return None
