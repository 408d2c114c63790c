"""From a statement to a theorem: structure, known totals, then multipliers."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import DEFINITIONS, Moment, Range, Support, constraints
from dpsym.kernel.proofs import Proof
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import step
from dpsym.kernel.rules_privacy import assumed, stage_data, statement_obligations
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import (
    INTEGER,
    REAL,
    Assumed,
    Blend,
    Choice,
    Fact,
    Filter,
    Group,
    Guarantee,
    Inner,
    Mechanism,
    Processed,
    Repeated,
    Stage,
    Statement,
)
from dpsym.kernel.statements import parts as inner
from dpsym.kernel.terms import MINUS_ONE, ONE, ZERO, Term, substitute, var
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
from dpsym.search.privacy.blends import at_kinks, multipliers
from dpsym.search.privacy.chains import Orders, is_chain, orders
from dpsym.search.privacy.concentration import reaches, routes, sharper
from dpsym.search.privacy.families import concentrated, epsilon, sums
from dpsym.search.privacy.gaussians import mean
from dpsym.search.privacy.learned import fits
from dpsym.search.privacy.leaves import plausible, prove_leaf
from dpsym.search.privacy.limits import ends, kept, total_variation, vanishing
from dpsym.search.privacy.orders import TAILS, markov, orders_for, splits, top_suffices
from dpsym.search.privacy.sampling import in_odds, powers
from dpsym.search.privacy.stages import (
    Total,
    before_sampling,
    by_inner_loss,
    parts,
    sampled,
    totals,
    wholes,
)
from dpsym.search.privacy.towers import plans
from dpsym.search.samples import number, points, sign

_PLAIN = 5  # size of an order as a user gives it
_FEW = 4  # copies that are worth a stage each
LEAF_SECONDS, PATIENT_SECONDS = 10.0, 30.0
_MOST_FACTS = 40  # case distinctions add facts
_TOLERANCE = 1e-9


Suggestions = tuple[tuple[Mechanism, tuple[Guarantee, ...]], ...]


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

    ``suggestions`` are guarantees to prove of explicit mechanisms and build on;
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
            (claim,) = statement.claims
            family = None if claim.name == "ZCDP" else self.specialised(statement, claim)
            return prove(statement, family or self.directly(statement), definedness)
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
                guesses = _guesses(goal, rule, premise)
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
            for guarantee in self.candidates(goal, goal.stages[index]):
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

    def candidates(
        self, goal: Statement, single: Inner | Stage, whole: Stage | None = None
    ) -> Iterator[Guarantee]:
        """What a mechanism is suggested to have, and what the claim asks for; or what a stage that
        is made of others may have, if it is a part of another one."""
        for claim in goal.claims:
            if isinstance(whole, Blend) and not is_chain(whole):
                needed = before_sampling(whole, claim, goal.facts)
                if needed is not None:
                    yield needed
        if not isinstance(single, Mechanism):
            for claim in goal.claims:
                yield from wholes(single, claim, self.known)
            return
        yield from self.known(single)
        for claim in goal.claims:
            if claim.name not in ("Distributions", "MomentBound"):
                yield Guarantee("PureDP", (epsilon(claim),))

    def known(self, mechanism: Mechanism) -> tuple[Guarantee, ...]:
        """What an explicit mechanism is suggested to have."""
        return tuple(one for own, some in self.suggestions if own == mechanism for one in some)

    def statement(self, goal: Statement) -> Proof:
        self.left()
        if len(goal.claims) > 1:
            return self.apply(goal, "claims")
        if goal.claims[0].name == "Distributions":
            return self.explicit(goal)
        for index, stage in enumerate(goal.stages):
            if isinstance(stage, Processed):
                return self.apply(goal, "postprocess", stage=index)
        learned = self.by_learned(goal)
        if learned is not None:
            return learned
        for index in range(len(goal.stages)):
            known = instead_of_range(index, goal)
            if known is not None:
                return self.apply(goal, "cut", first=index, last=index, guarantees=(known,))
        for index, stage in enumerate(goal.stages):
            if isinstance(stage, Choice):
                return self.apply(goal, "each", stage=index)
        inner = self.of_inner_mechanisms(goal)
        if inner is not None:
            return inner
        if len(goal.stages) > 1:
            made = self.of_made_stages(goal)
            if made is not None:
                return made
        if len(goal.stages) == 1 and isinstance(goal.stages[0], (Repeated, Group)):
            return self.copies(goal, goal.stages[0])
        if len(goal.stages) == 1 and isinstance(goal.stages[0], Blend):
            return self.blended(goal, goal.stages[0])
        if len(goal.stages) == 1 and isinstance(goal.stages[0], Filter):
            return self.filtered(goal, goal.stages[0])
        first: Stuck | None = None
        explicit = any(isinstance(stage, Mechanism) for stage in goal.stages)
        attempts = (
            self.by_conversion,
            self.by_totals,
            self.by_concentration,
            self.apart,
            self.directly,
        )
        for attempt in attempts[3:] if explicit else attempts:
            try:
                return attempt(goal)
            except Stuck as stuck:
                self.left()
                if first is None or (stuck.remaining and not first.remaining):
                    first = stuck
        raise first or Stuck("no rule applies")

    def by_learned(self, goal: Statement) -> Proof | None:
        """The claim from a theorem that was added, as it is or weakened."""
        (claim,) = goal.claims
        for fit in fits(goal):
            use = (fit.theorem, fit.mapping)
            try:
                if _same(fit.total, claim, goal):
                    return self.used(goal, use)
                last = len(goal.stages) - 1
                parameters = {"first": 0, "last": last, "guarantees": (fit.total,)}
                *shown, first, weaker = step(goal, "cut", parameters)
                assert isinstance(first, Statement)
                assert isinstance(weaker, Statement)
                proofs = [self.sequent(one) for one in shown if isinstance(one, Sequent)]
                proofs += [self.used(first, use), self.statement(weaker)]
                return Proof("cut", parameters, tuple(proofs))
            except (Stuck, Refusal):
                self.left()
        return None

    # -- Gaussian pairs

    def gaussian(self, goal: Statement) -> Proof | None:
        """A Gaussian guarantee at its epsilon, or as the pair of Gaussians; two pairs as one."""
        (claim,) = goal.claims
        places = [
            (i, j)
            for i, stage in enumerate(goal.stages)
            if isinstance(stage, Assumed)
            for j, one in enumerate(stage.guarantees)
            if one.name == "GDP"
        ]
        moment = DEFINITIONS[claim.name].member is None and not claim.two_way
        if places and moment:
            i, j = places[0]
            if len(goal.stages) == 1 and claim.name == "ApproxDP":
                given = goal.stages[0].guarantees  # type: ignore[union-attr]
                if any(one.name == "ApproxDP" for one in given):
                    return None
                return self.apply(goal, "specialise", stage=i, guarantee=j, value=claim.args[0])
            return self.apply(goal, "dominated", stage=i, guarantee=j, name=_fresh(goal, "x"))
        means = [mean(goal, stage) for stage in goal.stages[-2:]] if moment else []
        if len(means) == 2 and means[0] is not None and means[1] is not None:
            total = tm.sqrt(tm.power(means[0], 2) + tm.power(means[1], 2))
            total = context(goal.facts).canon.normal(total)
            return self.apply(goal, "rotated", first=means[0], second=means[1], mean=total)
        return None

    # -- stages made of others

    def of_inner_mechanisms(self, goal: Statement) -> Proof | None:
        """Explicit mechanisms that stages are made of, replaced by guarantees that they have."""
        stuck: Stuck | None = None
        known = by_inner_loss(goal)
        if known is not None:
            try:
                statement, mapping = known
                return self.apply(goal, "use", theorem=self.theorem(statement), mapping=mapping)
            except Stuck as failed:
                self.left()
                stuck = failed
        for index, stage in enumerate(goal.stages):
            for part, single in enumerate(() if isinstance(stage, Mechanism) else inner(stage)):
                if isinstance(single, Assumed):
                    continue
                for guarantee in self.candidates(goal, single, stage):
                    parameters = {"stage": index, "part": part, "guarantees": (guarantee,)}
                    try:
                        return self.apply(goal, "inner", **parameters)
                    except Stuck as failed:
                        self.left()
                        stuck = failed
                raise stuck or Stuck("no guarantee is known of an explicit mechanism")
        return None

    def apart(self, goal: Statement) -> Proof:
        """Stages with zCDP among others with approximate DP: all that is claimed, less what the
        others take, is for them."""
        (claim,) = goal.claims
        sizes = [_hockey(stage) for stage in goal.stages]
        places = [i for i, size in enumerate(sizes) if size is None]
        if claim.name != "ApproxDP" or not places or len(places) == len(sizes):
            raise Stuck("no stages to set apart")
        first, last = places[0], places[-1]
        others = [size for i, size in enumerate(sizes) if size and not first <= i <= last]
        loss, mass = claim.args
        if len(others) < len(sizes) - len(range(first, last + 1)) or loss is None or mass is None:
            raise Stuck("stages of different kinds that take turns")
        normal = context(goal.facts).canon.normal
        left = [
            normal(whole - tm.add(*(size[i] for size in others)))
            for i, whole in enumerate((loss, mass))
        ]
        samples = points(goal.variables, goal.facts)
        if not all(number(one, at) >= -_TOLERANCE for one in left for at in samples):
            raise Stuck("the claim is less than what some of the stages take")
        rest = Guarantee("ApproxDP", tuple(left))
        return self.apply(goal, "cut", first=first, last=last, guarantees=(rest,))

    def by_concentration(self, goal: Statement) -> Proof:
        """The claim from the total of what the stages give of zCDP."""
        (claim,) = goal.claims
        stuck, last = Stuck("no route by zCDP"), len(goal.stages) - 1
        if not last and claim.name != "ApproxDP":
            raise stuck
        for each, total in routes(goal):
            changed = [
                (i, part)
                for i, (stage, part) in enumerate(zip(goal.stages, each, strict=True))
                if isinstance(stage, Assumed) and part not in stage.guarantees
            ]
            if not changed and (not last or claim.name != "ApproxDP"):
                continue
            first, end, one = (*changed[0][:1] * 2, changed[0][1]) if changed else (0, last, total)
            before, self.hints = self.hints, (*self.hints, *sharper(goal, each))
            try:
                return self.apply(goal, "cut", first=first, last=end, guarantees=(one,))
            except Stuck as failed:
                self.left()
                stuck = failed
            finally:
                self.hints = before
        raise stuck

    def of_made_stages(self, goal: Statement) -> Proof | None:
        """Stages that are made of others, replaced by what they have in all."""
        (claim,) = goal.claims
        for index, stage in enumerate(goal.stages):
            if isinstance(stage, (Assumed, Processed, Mechanism)):
                continue
            stuck = Stuck("no total is known of a stage that is made of others")
            for total in wholes(stage, claim, self.known):
                try:
                    return self.apply(goal, "cut", first=index, last=index, guarantees=(total,))
                except Stuck as failed:
                    self.left()
                    stuck = failed
            raise stuck
        return None

    def copies(self, goal: Statement, stage: Repeated | Group) -> Proof:
        """The total of one copy's guarantee, by induction, then the claim from it; or a stage for
        each of a few copies."""
        (claim,) = goal.claims
        found = list(totals(stage, claim))
        late = [one for one in found if _is_pure(one, claim, goal)]
        ways: list[Callable[[], Proof]] = [
            partial(self.by_total, goal, stage, total)
            for total in sorted(found, key=late.__contains__)
        ]
        ways += [partial(self.apply, goal, "parted", **one) for one in parts(goal, stage)]
        count = stage.count.value
        most = _FEW if isinstance(stage, Repeated) else 1
        if isinstance(count, fmpq) and count <= most:
            first = stage.count is ONE or claim.name == "ApproxDP"
            ways.insert(0 if first else len(ways), partial(self.apply, goal, "unroll"))
        stuck = Stuck("no total of so many copies is known")
        for way in ways:
            try:
                return way()
            except Stuck as failed:
                self.left()
                stuck = failed
        raise stuck

    def by_total(self, goal: Statement, stage: Repeated | Group, total: Total) -> Proof:
        (claim,) = goal.claims
        if not _same(total.many, claim, goal):
            return self.through(goal, stage, total)
        if not isinstance(stage.stage, Assumed):
            raise Stuck("copies of what is not a guarantee")
        if stage.stage.guarantees != (total.one,):
            return self.apply(goal, "inner", stage=0, part=0, guarantees=(total.one,))
        if stage.count.op != "var":
            return self.for_every_count(goal, stage, total)
        return self.apply(goal, "induct")

    def for_every_count(self, goal: Statement, stage: Repeated | Group, total: Total) -> Proof:
        """A number of copies, as one of all numbers."""
        name = _fresh(goal, "k")
        more = replace(stage, count=var(name))
        for one in totals(more, total.many):
            if _same(one.many.substitute({name: stage.count}), total.many, goal):
                variables = (*goal.variables, (name, INTEGER))
                facts = (*goal.facts, Fact(var(name) - 1, ">="))
                every = Statement(variables, facts, (more,), (one.many,))
                mapping = ((name, stage.count), *((own, var(own)) for own, _ in goal.variables))
                return self.apply(goal, "use", theorem=self.theorem(every), mapping=mapping)
        raise Stuck("no total of so many copies is known")

    def through(self, goal: Statement, stage: Repeated | Group, total: Total) -> Proof:
        parameters = {"first": 0, "last": 0, "guarantees": (total.many,)}
        *shown, first, last = step(goal, "cut", parameters)
        assert isinstance(first, Statement)
        assert isinstance(last, Statement)
        proofs = [self.sequent(one) for one in shown if isinstance(one, Sequent)]
        proofs += [self.by_total(first, stage, total), self.statement(last)]
        return Proof("cut", parameters, tuple(proofs))

    def filtered(self, goal: Statement, stage: Filter) -> Proof:
        """What a filter has in all, the same as one mechanism that spends the budget, then the
        claim from it."""
        (claim,) = goal.claims
        own = {stage.name: stage.budget}
        totals = [one.substitute(own) for one in stage.stage.guarantees]
        if not any(_same(total, claim, goal) for total in totals):
            stuck = Stuck("a filter of other guarantees")
            for total in totals:
                parameters = {"first": 0, "last": 0, "guarantees": (total,)}
                try:
                    return self.apply(goal, "cut", **parameters)
                except Stuck as failed:
                    self.left()
                    stuck = failed
            raise stuck
        about = [fact for fact in goal.facts if fact.term.vars & stage.budget.vars]
        if stage.budget.op == "var" and set(about) <= {Fact(stage.budget, ">=")}:
            return self.apply(goal, "spent")
        name = _fresh(goal, "b")
        b = var(name)
        every = Statement(
            (*goal.variables, (name, REAL)),
            (*goal.facts, Fact(b, ">=")),
            (replace(stage, budget=b),),
            tuple(
                one.substitute({stage.name: b})
                for one, total in zip(stage.stage.guarantees, totals, strict=True)
                if _same(total, claim, goal)
            )[:1],
        )
        mapping = ((name, stage.budget), *((own, var(own)) for own, _ in goal.variables))
        return self.apply(goal, "use", theorem=self.theorem(every), mapping=mapping)

    def blended(self, goal: Statement, stage: Blend) -> Proof:
        (claim,) = goal.claims
        whole = None
        if claim.name == "GDP" and is_chain(stage) and claim.two_way:
            whole = claim.args[0]
        if whole is not None and whole.op != "var":
            theorem = library.chain(stage, claim, self.lemma)
            if theorem is not None:
                return self.used(goal, theorem)
        if DEFINITIONS[claim.name].member is not None:
            return self.apply(goal, "every", name=_fresh(goal, "alpha"))
        for total in sampled(stage, claim):
            if not is_chain(stage) and not _same(total, claim, goal) and _meets(total, claim, goal):
                try:
                    return self.apply(goal, "cut", first=0, last=0, guarantees=(total,))
                except Stuck:
                    self.left()
        if claim.two_way:
            return self.apply(goal, "directions")
        if isinstance(next(iter(constraints(claim)), None), Support):
            return self.apply(goal, "blended", linear=(), moments=())
        found = powers(goal, stage)
        if found is not None:
            given = stage.links[0].stage
            if isinstance(given, Assumed) and given.guarantees != found.needed:
                return self.apply(goal, "inner", stage=0, part=0, guarantees=found.needed)
            return self.apply(goal, "blended", **found.parameters)
        if is_chain(stage):
            thresholds = orders(goal, stage)
            if thresholds is not None:
                return self.by_orders(goal, thresholds, 0)
        stuck = Stuck("no multipliers for a blend")
        for parameters in multipliers(goal, stage):
            weights = [w for row in parameters["moments"] for w in row]
            for item in dict.fromkeys([*parameters["linear"], *weights]):
                if _turns(item, goal):  # one sign at a time
                    return self.apply(goal, "either", item=item)
            try:
                return self.apply(goal, "blended", **parameters)
            except Stuck as failed:
                self.left()
                stuck = failed
        raise stuck

    def by_orders(self, goal: Statement, found: Orders, link: int) -> Proof:
        if link == len(found.links):
            before, self.hints = self.hints, found.tangents
            try:
                return self.apply(goal, "blended", linear=(ZERO,) * 3, moments=found.moments)
            finally:
                self.hints = before
        parameters = {"stage": 0, "part": link, "guarantees": (found.links[link],)}
        *shown, one, last = step(goal, "inner", parameters)
        assert isinstance(one, Statement)
        assert isinstance(last, Statement)
        proofs = [self.sequent(item) for item in shown if isinstance(item, Sequent)]
        proofs += [self.statement(one), self.by_orders(last, found, link + 1)]
        return Proof("inner", parameters, tuple(proofs))

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
        gaussian = self.gaussian(goal)
        if gaussian is not None:
            return gaussian
        if any(isinstance(stage, Mechanism) for stage in goal.stages):
            return self.explicit(goal)
        place = _range_of(goal)
        if place is not None:
            return self.apply(goal, "ranged", guarantee=place, name=_fresh(goal, "r"))
        constraint = next(iter(constraints(claim)), None)
        if isinstance(constraint, Range):
            return self.apply(goal, "spanned")
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
            for name in vanishing(goal, premises):
                try:
                    return self.as_limit(goal, name)
                except Stuck as failed:
                    self.left()
                    stuck = failed
            try:
                return self.apply(goal, "tower", **parameters)
            except Stuck as failed:
                self.left()
                stuck = failed
        raise stuck

    def as_limit(self, goal: Statement, name: str) -> Proof:
        """For a parameter >= 0, what holds of all larger ones: of a stage that has less, where the
        parameter is positive, and then in the limit."""
        (claim,) = goal.claims
        (stage,) = assumed(goal, "limit")
        x, larger = var(name), _fresh(goal, name)
        moved = {name: var(larger)}
        facts = tuple(Fact(x, ">") if fact.term is x else fact for fact in goal.facts)
        positive = self.theorem(replace(goal, facts=facts))
        (first,) = (arg for arg in claim.args[-1:] if arg is not None)
        parameters = {"name": larger, "start": x, "value": substitute(first, moved)}
        *shown, beyond = step(goal, "limit", parameters)
        assert isinstance(beyond, Statement)
        weaker = tuple(one.substitute(moved) for one in stage.guarantees)
        through = {"first": 0, "last": 0, "guarantees": weaker}
        *known, less, last = step(beyond, "cut", through)
        assert isinstance(less, Statement)
        assert isinstance(last, Statement)
        mapping = tuple((own, var(larger if own == name else own)) for own, _ in goal.variables)
        used = self.apply(last, "use", theorem=positive, mapping=mapping)
        proofs = [self.sequent(one) for one in known if isinstance(one, Sequent)]
        cut = Proof("cut", through, (*proofs, self.statement(less), used))
        proofs = [self.sequent(one) for one in shown if isinstance(one, Sequent)]
        return Proof("limit", parameters, (*proofs, cut))

    # -- totals of known families

    def by_totals(self, goal: Statement) -> Proof:
        (claim,) = goal.claims
        specialised = self.specialised(goal, claim)
        if specialised is not None:
            return specialised
        given = [stage.guarantees for stage in goal.stages if isinstance(stage, Assumed)]
        if len(given) < len(goal.stages):
            raise Stuck("a stage is not a guarantee")
        for running in _chains(given, claim):
            if _meets(running[-1][0], claim, goal):
                return self.chain(goal, running[1:])
        raise Stuck("no total of known families meets the claim")

    def specialised(self, goal: Statement, claim: Guarantee) -> Proof | None:
        """Families among the guarantees, at the orders that may help the claim."""
        for i, stage in enumerate(goal.stages):
            guarantees = stage.guarantees if isinstance(stage, Assumed) else ()
            for j, guarantee in enumerate(guarantees):
                family = guarantee.name in ("ZCDP", "TCDP")
                if family and not any(g.name == "RenyiDP" for g in guarantees):
                    return self.at_orders(goal, claim, i, j)
        return None

    def at_orders(self, goal: Statement, claim: Guarantee, i: int, j: int) -> Proof | None:
        stuck: Stuck | None = None
        stage = goal.stages[i]
        assert isinstance(stage, Assumed)
        if top_suffices(goal, stage.guarantees[j]):
            return self.at_top(goal, i, j)
        for order in orders_for(goal, claim, stage.guarantees[j]):
            try:
                return self.below_top(goal, i, j, order)
            except Stuck as failed:
                self.left()
                stuck = failed
        if stuck is not None:
            raise stuck
        return None

    def below_top(self, goal: Statement, i: int, j: int, order: Term) -> Proof:
        """At an order, or where the family does not reach it at its highest orders."""
        stage = goal.stages[i]
        assert isinstance(stage, Assumed)
        top = stage.guarantees[j].args[-1]
        if stage.guarantees[j].name != "TCDP" or top is None:
            return self.at_order(goal, i, j, order)
        gap = context(goal.facts).canon.normal(order - top)
        if leaf.easy(Sequent(goal.facts, Fact(-gap, ">"))):
            return self.at_order(goal, i, j, order)
        *shown, beyond, below = step(goal, "either", {"item": gap})
        assert isinstance(beyond, Statement)
        assert isinstance(below, Statement)
        proofs = [self.sequent(one) for one in shown if isinstance(one, Sequent)]
        proofs += [self.at_top(beyond, i, j), self.at_order(below, i, j, order)]
        return Proof("either", {"item": gap}, tuple(proofs))

    def at_top(self, goal: Statement, i: int, j: int) -> Proof:
        """By Markov's inequality at orders that grow to the family's highest."""
        stage, (claim,) = goal.stages[i], goal.claims
        assert isinstance(stage, Assumed)
        top, loss = stage.guarantees[j].args[1], claim.args[0]
        if top is None or loss is None or claim.name not in TAILS:
            raise Stuck("only a tail is bounded at the highest order")
        name = _fresh(goal, "x")
        order = 1 + (top - 1) * tm.exp(-var(name))
        value = markov(stage.guarantees[j], order, loss)
        parameters = {"name": name, "start": ZERO, "value": value}
        *shown, rest = step(goal, "limit", parameters)
        assert isinstance(rest, Statement)
        proofs = [self.sequent(one) for one in shown if isinstance(one, Sequent)]
        proofs += [self.by_markov(rest, i, j, order)]
        return Proof("limit", parameters, tuple(proofs))

    def by_markov(self, goal: Statement, i: int, j: int, order: Term) -> Proof:
        """A tail's bound from a family at one order."""
        parameters = {"stage": i, "guarantee": j, "value": order}
        *shown, last = step(goal, "specialise", parameters)
        assert isinstance(last, Statement)
        stage = last.stages[i]
        assert isinstance(stage, Assumed)
        found = library.markov(stage.guarantees[-1], last.claims[0], self.lemma)
        if found is None:
            raise Stuck("no bound of a tail")
        proofs = [self.sequent(one) for one in shown if isinstance(one, Sequent)]
        return Proof("specialise", parameters, (*proofs, self.used(last, found)))

    def at_order(self, goal: Statement, i: int, j: int, order: Term) -> Proof:
        """The family at one order; where it is not above 1 there, the claim without the family."""
        for item in splits(goal, order):
            *shown, without, positive = step(goal, "either", {"item": item})
            assert isinstance(without, Statement)
            assert isinstance(positive, Statement)
            proofs = [self.sequent(one) for one in shown if isinstance(one, Sequent)]
            proofs += [self.at_the_end(without), self.at_order(positive, i, j, order)]
            return Proof("either", {"item": item}, tuple(proofs))
        return self.apply(goal, "specialise", stage=i, guarantee=j, value=order)

    def at_the_end(self, goal: Statement) -> Proof:
        """A guarantee whose bound is 0, or a claim that says nothing."""
        (claim,) = goal.claims
        given = goal.stages[0]
        if isinstance(given, Assumed) and given.guarantees[0].name == "BoundedRange":
            pure = Guarantee("PureDP", given.guarantees[0].args)
            return self.apply(goal, "cut", first=0, last=0, guarantees=(pure,))
        if isinstance(given, Assumed) and given.guarantees[0].name == "RenyiDP":
            one = given.guarantees[0]
            average = Guarantee("KLDP", one.args[1:], one.two_way, one.reverse)
            found = next(library.naturals(one, average, self.lemma, lambda total: True), None)
            if found is not None:
                return self.cut_through(goal, found, self.at_the_end)
        nothing = total_variation(goal)
        stuck = Stuck("nothing is known at the end of a range")
        if claim.name == "ApproxDP" and nothing is not None:
            # shown for all values of the bound
            general = replace(goal, facts=kept(goal), claims=(nothing,))
            try:
                theorem = self.theorem(general)
                parameters = {"first": 0, "last": 0, "guarantees": (nothing,)}
                *shown, first, last = step(goal, "cut", parameters)
                assert isinstance(first, Statement)
                assert isinstance(last, Statement)
                proofs = [self.sequent(one) for one in shown if isinstance(one, Sequent)]
                mapping = tuple((name, var(name)) for name, _ in goal.variables)
                proofs += [self.apply(first, "use", theorem=theorem, mapping=mapping)]
                return Proof("cut", parameters, (*proofs, self.statement(last)))
            except Stuck as failed:
                self.left()
                stuck = failed
        if claim.two_way:
            return self.both_ways(goal)
        try:
            return self.tower(goal)
        except Stuck:
            self.left()
            raise stuck from None

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

    def by_conversion(self, goal: Statement) -> Proof:
        """The best that one guarantee gives of the claim's family, then the claim from it."""
        (claim,) = goal.claims
        (stage,) = assumed(goal, "cut") if len(goal.stages) == 1 else (Assumed(()),)
        stuck = Stuck("no conversion is as good as the claim")
        if any(_same(one, claim, goal) for one in stage.guarantees):
            return self.converted(goal, claim)
        for one in stage.guarantees:
            if one.args[0] is not None and one.args[0].size > _PLAIN and one.name == "RenyiDP":
                continue  # at an order that was chosen for one inequality

            def enough(total: Guarantee) -> bool:
                return _same(total, claim, goal) or _meets(total, claim, goal)

            for found in library.naturals(one, claim, self.lemma, enough):
                if _same(found[1], claim, goal) and not needs_more(goal, one, found[0]):
                    return self.used(goal, found[0])
                try:
                    return self.cut_or_split(goal, one, found)
                except Stuck as failed:
                    self.left()
                    stuck = failed
            if one.name == "BoundedRange" and claim.name in ("RenyiDP", *TAILS):
                between = concentrated(one)
                if claim.name == "RenyiDP" and not _from_family(between, claim, goal):
                    continue
                return self.apply(goal, "cut", first=0, last=0, guarantees=(between,))
        raise stuck

    def cut_or_split(
        self, goal: Statement, one: Guarantee, found: tuple[library.Use, Guarantee]
    ) -> Proof:
        """Apart from where the guarantee's bound is 0, if the conversion needs that."""
        last = one.args[-1]
        if last is None or not needs_more(goal, one, found[0]):
            return self.cut_through(goal, found)
        *shown, without, positive = step(goal, "either", {"item": -last})
        assert isinstance(without, Statement)
        assert isinstance(positive, Statement)
        proofs = [self.sequent(item) for item in shown if isinstance(item, Sequent)]
        proofs += [self.at_the_end(without), self.cut_through(positive, found)]
        return Proof("either", {"item": -last}, tuple(proofs))

    def cut_through(
        self,
        goal: Statement,
        found: tuple[library.Use, Guarantee],
        rest: Callable[[Statement], Proof] | None = None,
    ) -> Proof:
        parameters = {"first": 0, "last": 0, "guarantees": (found[1],)}
        *shown, first, last = step(goal, "cut", parameters)
        assert isinstance(first, Statement)
        assert isinstance(last, Statement)
        proofs = [self.sequent(one) for one in shown if isinstance(one, Sequent)]
        then = self.converted(last, last.claims[0]) if rest is None else rest(last)
        proofs += [self.used(first, found[0]), then]
        return Proof("cut", parameters, tuple(proofs))

    def used(self, goal: Statement, found: library.Use) -> Proof:
        return self.apply(goal, "use", theorem=found[0], mapping=found[1])


def _hockey(stage: Stage) -> tuple[Term, Term] | None:
    """The epsilon and delta of a stage with pure or approximate DP."""
    for one in stage.guarantees if isinstance(stage, Assumed) else ():
        loss = one.args[0]
        if one.two_way and loss is not None and one.name in ("PureDP", "ApproxDP"):
            return loss, (one.args[1] if len(one.args) > 1 else None) or ZERO
    return None


def _is_pure(total: Total, claim: Guarantee, goal: Statement) -> bool:
    """Pure DP, for approximate DP of another epsilon."""
    pure = total.many.name == "PureDP" and claim.name == "ApproxDP"
    return pure and not _equal(total.many.args[0], claim.args[0], goal)


def _from_family(family: Guarantee, claim: Guarantee, goal: Statement) -> bool:
    """Whether zCDP gives a Rényi guarantee that is not the one it is proved by."""
    order, rho = claim.args[0], family.args[0]
    if order is None or rho is None or not reaches(family, claim, goal):
        return False
    return order.op != "var" or not _equal(order * rho, claim.args[1], goal)


def needs_more(goal: Statement, one: Guarantee, found: library.Use) -> bool:
    """Whether a theorem does not hold where the guarantee's bound is 0."""
    last = one.args[-1]
    needed = [fact.substitute(dict(found[1])) for fact in found[0].statement.facts]
    return last is not None and ends(goal, last, needed)


def instead_of_range(index: int, goal: Statement) -> Guarantee | None:
    """For one of several stages, what adds up instead of its bounded range."""
    (claim,), stage = goal.claims, goal.stages[index]
    (one, *more) = stage.guarantees if isinstance(stage, Assumed) else (claim,)
    if len(goal.stages) == 1 or more or one is claim or one.name != "BoundedRange":
        return None
    if claim.name == "PureDP" or (claim.name == "BoundedRange" and index):
        return Guarantee("PureDP", one.args)
    return concentrated(one) if one.two_way and claim.name in _CONCENTRATED else None


_CONCENTRATED = ("ZCDP", "RenyiDP", "ApproxDP", "ProbabilisticDP", "KLDP")


def _range_of(goal: Statement) -> int | None:
    """The place of a bounded range of the only stage, if its support is not known yet."""
    stage = goal.stages[0]
    if len(goal.stages) > 1 or not isinstance(stage, Assumed) or stage_data(stage).supports:
        return None
    names = [one.name if one.two_way else "" for one in stage.guarantees]
    return names.index("BoundedRange") if "BoundedRange" in names else None


def _turns(item: Term, goal: Statement) -> bool:
    """Whether the term has either sign at sample points."""
    values = [number(item, point) for point in points(goal.variables, goal.facts)]
    return min(values, default=0) < -_TOLERANCE and max(values, default=0) > _TOLERANCE


def _guesses(goal: Statement, rule: str, premise: Sequent) -> Iterable[tuple[Hint, ...]]:
    if rule == "integral":
        return growing(goal, premise)
    if rule != "blended":
        return ()
    return itertools.chain(in_odds(premise, goal.stages[0]), at_kinks(premise))


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
