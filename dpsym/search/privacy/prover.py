"""From a statement to a theorem: structure, known totals, then multipliers."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable, Iterator
from typing import Any

from dpsym.kernel.definitions import DEFINITIONS, Moment, Support, constraints
from dpsym.kernel.proofs import Proof
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import step
from dpsym.kernel.rules_privacy import stage_data, statement_obligations
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import (
    INTEGER,
    Assumed,
    Fact,
    Guarantee,
    Mechanism,
    Processed,
    Statement,
)
from dpsym.kernel.terms import MINUS_ONE, Term
from dpsym.kernel.theorems import Theorem, prove
from dpsym.search import leaf
from dpsym.search.bounds import bounds
from dpsym.search.integrals.closed import largest
from dpsym.search.integrals.growth import growing
from dpsym.search.integrals.inferences import (
    Inference,
    by_largest_loss,
    fresh,
    inferences,
    nothing,
    settled,
)
from dpsym.search.integrals.plans import NoPlan, NoSamples
from dpsym.search.integrals.roots import by_roots
from dpsym.search.leaf.budget import Budget, OutOfBudget
from dpsym.search.leaf.hinted import Hint
from dpsym.search.privacy import library
from dpsym.search.privacy.families import epsilon, sums
from dpsym.search.privacy.leaves import plausible, prove_leaf
from dpsym.search.privacy.towers import plans
from dpsym.search.samples import number, points, sign

LEAF_SECONDS, PATIENT_SECONDS = 10.0, 30.0
_MOST_FACTS = 40  # case distinctions add facts
_TOLERANCE = 1e-9


Suggestions = tuple[tuple[Guarantee, ...], ...]


class Stuck(Exception):
    """No proof was found: ``remaining`` is what one attempt left open, ``reason`` says why."""

    def __init__(
        self, reason: str, remaining: tuple[Sequent, ...] = (), out_of_time: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason, self.remaining, self.out_of_time = reason, remaining, out_of_time


def prove_statement(
    statement: Statement,
    seconds: float,
    suggestions: Suggestions = (),
    hints: tuple[Hint, ...] = (),
) -> Theorem:
    """A theorem, or ``Stuck``; gives up after about so many seconds of processor time.

    ``suggestions`` are guarantees, for each stage, to prove of explicit mechanisms and build on;
    ``hints`` are for the real inequalities.
    """
    return _Prover(time.process_time() + seconds, suggestions, hints).theorem(statement)


class _Prover:
    def __init__(
        self, deadline: float, suggestions: Suggestions = (), hints: tuple[Hint, ...] = ()
    ) -> None:
        self.deadline, self.suggestions, self.hints = deadline, suggestions, hints
        self.leaf_seconds = LEAF_SECONDS

    def left(self) -> float:
        left = self.deadline - time.process_time()
        if left <= 0:
            raise Stuck("the budget is used up", out_of_time=True)
        return left

    def theorem(self, statement: Statement) -> Theorem:
        definedness = tuple(self.sequent(item) for item in statement_obligations(statement))
        return prove(statement, self.whole_numbers(statement), definedness)

    def lemma(self, statement: Statement) -> Theorem | None:
        """A theorem for the library, found without its help."""
        try:
            definedness = tuple(self.sequent(item) for item in statement_obligations(statement))
            return prove(statement, self.directly(statement), definedness)
        except Stuck:
            self.left()  # out of time is not a reason to remember
            return None

    # -- one inference

    def apply(self, goal: Statement, rule: str, **parameters: Any) -> Proof:
        try:
            premises = step(goal, rule, parameters)
        except Refusal as refusal:
            raise Stuck(str(refusal)) from None
        found: dict[int, Proof] = {}
        for index in sorted(range(len(premises)), key=lambda i: _effort(premises[i])):
            premise = premises[index]
            if isinstance(premise, Sequent):
                guesses = growing(goal, premise) if rule == "integral" else ()
                found[index] = self.sequent(premise, guesses)
            else:
                found[index] = self.statement(premise)
        return Proof(rule, parameters, tuple(found[i] for i in range(len(premises))))

    def sequent(self, goal: Sequent, guesses: Iterable[tuple[Hint, ...]] = ()) -> Proof:
        limit, started = min(self.left(), self.leaf_seconds), time.process_time()
        try:
            answer = prove_leaf(goal, limit, self.hints, guesses)
        except RecursionError:
            raise Stuck("a goal that is too deep", (goal,)) from None
        if isinstance(answer, Proof):
            return answer
        spent = time.process_time() - started
        short = spent > limit / 2 or answer.reason == leaf.TRIED
        raise Stuck(answer.reason, answer.left or (goal,), out_of_time=short)

    # -- statements

    def whole_numbers(self, goal: Statement) -> Proof:
        """Bounds of integer variables that are not whole, or strict, made whole."""
        known = bounds(goal.facts)
        for name, kind in goal.variables:
            limits = known.get(name)
            if kind != INTEGER or limits is None or limits.lower is None:
                continue
            floor = int(limits.lower.floor())
            if abs(floor) < 10**9 and (limits.lower_open or limits.lower != floor):
                below, above = step(goal, "integers", {"name": name, "bound": floor})
                if isinstance(below, Sequent) and isinstance(above, Statement):
                    proofs = (self.sequent(below), self.whole_numbers(above))
                    return Proof("integers", {"name": name, "bound": floor}, proofs)
        return self.mechanisms(goal, 0)

    def mechanisms(self, goal: Statement, start: int) -> Proof:
        """Explicit mechanisms replaced by guarantees that they are shown to have."""
        stuck: Stuck | None = None
        if len(goal.stages) == 1 and isinstance(goal.stages[0], Mechanism) and start == 0:
            try:
                return self.statement(goal)
            except Stuck as failed:
                self.left()
                stuck = failed
        for index in range(start, len(goal.stages)):
            if not isinstance(goal.stages[index], Mechanism):
                continue
            for guarantee in self.candidates(goal, index):
                if guarantee in goal.claims:
                    continue
                parameters = {"first": index, "last": index, "guarantees": (guarantee,)}
                try:
                    return self.replaced(goal, parameters, index)
                except Stuck:
                    self.left()
            raise stuck or Stuck(
                f"no guarantee is known of stage {index + 1}, an explicit mechanism"
            )
        return self.statement(goal)

    def replaced(self, goal: Statement, parameters: dict[str, Any], index: int) -> Proof:
        premises = step(goal, "cut", parameters)
        proofs = [
            self.sequent(premise) if isinstance(premise, Sequent) else self.statement(premise)
            for premise in premises[:-1]
        ]
        last = premises[-1]
        if not isinstance(last, Statement):
            raise Stuck("not a statement")
        return Proof("cut", parameters, (*proofs, self.mechanisms(last, index + 1)))

    def candidates(self, goal: Statement, index: int) -> Iterator[Guarantee]:
        """What a mechanism is suggested to have, and what the claim asks for."""
        if index < len(self.suggestions):
            yield from self.suggestions[index]
        for claim in goal.claims:
            if claim.name not in ("Distributions", "MomentBound"):
                yield Guarantee("PureDP", (epsilon(claim),))

    def statement(self, goal: Statement) -> Proof:
        self.left()
        if len(goal.claims) > 1:
            return self.apply(goal, "claims")
        if goal.claims[0].name == "Distributions":
            return self.explicit(goal)
        for index, stage in enumerate(goal.stages):
            if isinstance(stage, Processed):
                return self.apply(goal, "postprocess", stage=index)
        first: Stuck | None = None
        explicit = any(isinstance(stage, Mechanism) for stage in goal.stages)
        for attempt in (self.directly,) if explicit else (self.by_totals, self.directly):
            try:
                return attempt(goal)
            except Stuck as stuck:
                self.left()
                if first is None or (stuck.remaining and not first.remaining):
                    first = stuck
        raise first or Stuck("no rule applies")

    def directly(self, goal: Statement) -> Proof:
        """The rules of the calculus on the statement as it stands."""
        (claim,) = goal.claims
        if DEFINITIONS[claim.name].member is not None:
            return self.apply(goal, "every", name=_fresh(goal, "alpha"))
        if len(goal.stages) == 1 and isinstance(goal.stages[0], Mechanism):
            try:
                return self.without_roots(goal)
            except (Stuck, Refusal):
                self.left()
        worst = self.by_worst_pair(goal)
        if worst is not None:
            return worst
        if claim.two_way:
            return self.both_ways(goal)
        if any(isinstance(stage, Mechanism) for stage in goal.stages):
            return self.explicit(goal)
        constraint = next(iter(constraints(claim)), None)
        if isinstance(constraint, Support):
            return self.support(goal, constraint)
        if isinstance(constraint, Moment):
            return self.tower(goal)
        raise Stuck(f"no rule proves a claim of {claim.name}")

    def without_roots(self, goal: Statement) -> Proof:
        """A parameter in a root of a logarithm replaced by one for the root."""
        named = by_roots(goal, fresh(goal, "r"))
        if named is None:
            raise Stuck("no root of a logarithm")
        rule, parameters = named
        if rule != "either":
            return self.apply(goal, rule, **parameters)
        *shown, wrong, right = step(goal, rule, parameters)
        proofs = [self.sequent(one) for one in shown if isinstance(one, Sequent)]
        assert isinstance(wrong, Statement)
        assert isinstance(right, Statement)
        proofs += [self.contradicted(wrong), self.statement(right)]
        return Proof(rule, parameters, tuple(proofs))

    def contradicted(self, goal: Statement) -> Proof:
        """For facts that contradict each other."""
        rule, parameters = nothing(goal)
        proofs = [
            self.sequent(one) if isinstance(one, Sequent) else self.contradicted(one)
            for one in step(goal, rule, parameters)
        ]
        return Proof(rule, parameters, tuple(proofs))

    def by_worst_pair(self, goal: Statement) -> Proof | None:
        """First that one explicit mechanism has the divergence of its worst pair, then the claim.

        Raises: Stuck if that divergence exceeds the claim at sample values."""
        (claim,) = goal.claims
        single = len(goal.stages) == 1 and isinstance(goal.stages[0], Mechanism)
        if not single or not any(pair.variables for pair in goal.stages[0].pairs):  # type: ignore[union-attr]
            return None
        try:
            with Budget(self.left()).enforced():
                found = largest(goal)
        except (OutOfBudget, Refusal):
            return None
        if found is None or _same(found, claim, goal):
            return None
        if _meets(claim, found, goal):
            return None  # the claim is the divergence itself, however it is written
        if not _meets(found, claim, goal):
            raise Stuck("the divergence of one pair exceeds the bound at sample values")
        parameters = {"first": 0, "last": 0, "guarantees": (found,)}
        *shown, last = step(goal, "cut", parameters)
        try:
            proofs = [
                self.sequent(one) if isinstance(one, Sequent) else self.statement(one)
                for one in shown
            ]
        except Stuck:
            self.left()
            return None
        assert isinstance(last, Statement)
        before, self.leaf_seconds = self.leaf_seconds, PATIENT_SECONDS  # it all hangs on this
        try:
            return Proof("cut", parameters, (*proofs, self.statement(last)))
        except Stuck:
            self.left()
            return None
        finally:
            self.leaf_seconds = before

    def explicit(self, goal: Statement) -> Proof:
        """One explicit mechanism."""
        (claim,) = goal.claims
        support = isinstance(next(iter(constraints(claim)), None), Support)
        stuck = Stuck("no rule for a claim about this mechanism")
        if any(not fact.term.vars and sign(fact.term, {}) < 0 for fact in goal.facts):
            return self.contradicted(goal)  # a side of a distinction that numbers settle
        if len(goal.stages) == 1 and len(goal.facts) < _MOST_FACTS:
            for rule, parameters in self.planned(goal, support):
                if rule == "either" and settled(goal, parameters["item"]):
                    continue
                try:
                    return self.apply(goal, rule, **parameters)
                except Stuck as failed:
                    self.left()
                    late = stuck.out_of_time or failed.out_of_time
                    stuck = Stuck(failed.reason, failed.remaining, late)
                    if rule == "either" and all(one.goal.rel == ">=" for one in failed.remaining):
                        break  # its boundary on the other side would not help
        raise stuck

    def planned(self, goal: Statement, support: bool) -> Iterator[Inference]:
        """Rules to try for one explicit mechanism, planned within the time that is left."""
        if support:
            yield "pointwise", {}
        if goal.claims[0].name == "BoundedRange":
            yield "spread", {}
            return
        found = (by_largest_loss if support else inferences)(goal)
        for count in itertools.count():
            try:
                with Budget(self.left()).enforced():
                    inference = next(found, None)
            except (OutOfBudget, Refusal, NoPlan) as stop:
                if isinstance(stop, NoSamples) and _contradictory(goal):
                    yield nothing(goal)
                if count:
                    return  # what stopped the earlier ones says more
                raise Stuck(str(stop), out_of_time=isinstance(stop, OutOfBudget)) from None
            if inference is None:
                return
            yield inference

    def both_ways(self, goal: Statement) -> Proof:
        try:
            step(goal, "forward", {})
        except Refusal:
            return self.apply(goal, "directions")
        (one_way,) = step(goal, "forward", {})
        if not isinstance(one_way, Statement):
            raise Stuck("not a statement")
        return Proof("forward", {}, (self.directly(one_way),))

    def support(self, goal: Statement, claimed: Support) -> Proof:
        bounds: list[Term] = []
        for stage in goal.stages:
            if not isinstance(stage, Assumed):
                raise Stuck("a stage is not a guarantee")
            own = [item for item in stage_data(stage).supports if item.reverse == claimed.reverse]
            if not own:
                raise Stuck("a stage has no bound on its loss", ())
            bounds.append(own[0].bound)
        return self.apply(goal, "support", bounds=tuple(bounds))

    def tower(self, goal: Statement) -> Proof:
        stuck = Stuck("no multipliers whose bound meets the claim")
        for parameters in plans(goal):
            try:
                premises = [p for p in step(goal, "tower", parameters) if isinstance(p, Sequent)]
            except Refusal as refusal:
                stuck = Stuck(str(refusal))
                continue
            if not all(map(plausible, premises)):
                continue
            try:
                return self.apply(goal, "tower", **parameters)
            except Stuck as failed:
                self.left()
                stuck = failed
        raise stuck

    # -- totals of known families

    def by_totals(self, goal: Statement) -> Proof:
        (claim,) = goal.claims
        specialised = self.specialised(goal, claim)
        if specialised is not None:
            return specialised
        given = [stage.guarantees for stage in goal.stages if isinstance(stage, Assumed)]
        if len(given) < len(goal.stages):
            raise Stuck("a stage is not a guarantee")
        for totals in _chains(given, claim):
            if _meets(totals[-1][0], claim, goal):
                return self.chain(goal, totals[1:])
        raise Stuck("no total of known families meets the claim")

    def specialised(self, goal: Statement, claim: Guarantee) -> Proof | None:
        """Families among the guarantees, at the order of the claim."""
        order = claim.args[0]
        if claim.name != "RenyiDP" or order is None:
            return None
        for i, stage in enumerate(goal.stages):
            guarantees = stage.guarantees if isinstance(stage, Assumed) else ()
            for j, guarantee in enumerate(guarantees):
                family = DEFINITIONS[guarantee.name].member is not None
                if family and not any(g.name == "RenyiDP" for g in guarantees):
                    return self.apply(goal, "specialise", stage=i, guarantee=j, value=order)
        return None

    def chain(self, goal: Statement, totals: list[tuple[Guarantee, int]]) -> Proof:
        """The first two stages become one, until one is left."""
        (claim,) = goal.claims
        first = goal.stages[0]
        if not isinstance(first, Assumed):
            raise Stuck("a stage is not a guarantee")
        if not totals:
            return self.converted(goal, claim)
        (total, index), rest = totals[0], totals[1:]
        pair = self.summed(goal, total, index)
        if not rest and _same(total, claim, goal):
            return self.used(goal, pair)
        parameters = {"first": 0, "last": 1, "guarantees": (total,)}
        proofs: list[Proof] = []
        for premise in step(goal, "cut", parameters):
            if isinstance(premise, Sequent):
                proofs.append(self.sequent(premise))
            elif len(premise.claims) == 1 and premise.claims[0] is total:
                proofs.append(self.used(premise, pair))
            else:
                proofs.append(self.chain(premise, rest))
        return Proof("cut", parameters, tuple(proofs))

    def summed(self, goal: Statement, total: Guarantee, index: int) -> library.Use:
        one, two = (_usable(stage, total.name) for stage in goal.stages[:2])
        if one is None or two is None:
            raise Stuck("no guarantee to add")
        found = library.composition(one, two, total.name, index, self.lemma)
        if found is None:
            raise Stuck(f"no proof that {one.name} and {two.name} compose to {total.name}")
        return found

    def converted(self, goal: Statement, claim: Guarantee) -> Proof:
        one = _usable(goal.stages[0], claim.name)
        found = None if one is None else library.conversion(one, claim, self.lemma)
        if found is None:
            raise Stuck("no conversion between these families")
        return self.used(goal, found)

    def used(self, goal: Statement, found: library.Use) -> Proof:
        return self.apply(goal, "use", theorem=found[0], mapping=found[1])


def _contradictory(goal: Statement) -> bool:
    """Whether it is easy that the facts contradict each other."""
    return leaf.easy(Sequent(goal.facts, Fact(MINUS_ONE, ">=")))


def _effort(premise: Sequent | Statement) -> int:
    return premise.goal.term.size if isinstance(premise, Sequent) else 10**9


def _fresh(goal: Statement, stem: str) -> str:
    names = {name for name, _ in goal.variables}
    while stem in names:
        stem += "'"
    return stem


_PREFERRED = ("PureDP", "ApproxDP", "ProbabilisticDP", "RenyiDP", "RenyiDPBelowOne", "KLDP")


def _usable(stage: object, family: str) -> Guarantee | None:
    """The stage's guarantee that helps most towards the family."""
    guarantees = stage.guarantees if isinstance(stage, Assumed) else ()
    for name in (family, *_PREFERRED):
        for guarantee in guarantees:
            if guarantee.name == name:
                return guarantee
    return None


def _chains(
    given: list[tuple[Guarantee, ...]], claim: Guarantee
) -> Iterator[list[tuple[Guarantee, int]]]:
    """Running totals of the stages, coarse first."""
    stages = [_usable(Assumed(guarantees), claim.name) for guarantees in given]
    for prefer in (0, 1):
        total = stages[0]
        if total is None:
            return
        chain = [(total, 0)]
        for stage in stages[1:]:
            found = [] if stage is None else sums(total, stage, claim.name)
            if not found:
                break
            index = min(prefer, len(found) - 1)
            total = found[index].total
            chain.append((total, index))
        if len(chain) == len(stages):
            yield chain


def _meets(total: Guarantee, claim: Guarantee, goal: Statement) -> bool:
    """Whether the claim's arguments are at least the total's, at sample points."""
    if (
        total.name.startswith("RenyiDP")
        and total.name == claim.name
        and not _equal(total.args[0], claim.args[0], goal)
    ):
        return False
    if "MomentBound" in (total.name, claim.name):
        return False
    pairs = [(epsilon(total), epsilon(claim))]
    if claim.name in ("ApproxDP", "ProbabilisticDP") and len(total.args) == 2:
        pairs.append((total.args[1] or epsilon(total), claim.args[1] or epsilon(claim)))
    for values in points(goal.variables, goal.facts):
        for ours, theirs in pairs:
            gap = number(theirs, values) - number(ours, values)
            if math.isnan(gap) or gap < -_TOLERANCE * (1 + abs(number(theirs, values))):
                return False
    return True


def _equal(first: Term | None, second: Term | None, goal: Statement) -> bool:
    if first is None or second is None:
        return first is second
    canon = context(goal.facts).canon
    return first is second or canon.is_zero(canon(first - second))


def _same(total: Guarantee, claim: Guarantee, goal: Statement) -> bool:
    return total.name == claim.name and all(
        _equal(a, b, goal) for a, b in zip(total.args, claim.args, strict=True)
    )
