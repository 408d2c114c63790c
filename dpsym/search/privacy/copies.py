"""Stages that are made of others: repetitions, groups, samples, filters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from flint import fmpq

from dpsym.kernel.definitions import DEFINITIONS, Support, conditions, constraints
from dpsym.kernel.proofs import Proof
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import step
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import (
    INTEGER,
    REAL,
    Assumed,
    Blend,
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
from dpsym.kernel.terms import ONE, ZERO, var
from dpsym.kernel.theorems import Theorem
from dpsym.search.privacy import library, whole_orders
from dpsym.search.privacy.blends import multipliers
from dpsym.search.privacy.chains import Orders, is_chain, orders
from dpsym.search.privacy.comparing import is_pure, meets, new_name, same, turns
from dpsym.search.privacy.families import epsilon
from dpsym.search.privacy.learned import consequences
from dpsym.search.privacy.sampling import powers
from dpsym.search.privacy.stages import (
    Total,
    before_sampling,
    by_inner_loss,
    is_either,
    of_each,
    of_sample,
    parts,
    sampled,
    totals,
    wholes,
)
from dpsym.search.privacy.steps import Steps, Stuck, Unfit, refused
from dpsym.search.samples import number, points

_FEW = 4  # copies that are worth a stage each
_OF_ANY_SIGN = ("PureDP", "RenyiDP", "RenyiDPBelowOne", "KLDP", "GDP")


class Copies(Steps):
    """Proofs about stages that are made of others."""

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
                        return self.inside(goal, parameters)
                    except Stuck as failed:
                        self.left()
                        stuck = failed
                raise stuck or Stuck(
                    "of an explicit mechanism in it no guarantee is known that is enough"
                )
        return None

    def inside(self, goal: Statement, parameters: dict[str, Any]) -> Proof:
        """A guarantee of a part; of a composition, by what its explicit mechanisms have."""
        try:
            *shown, part, last = step(goal, "inner", parameters)
        except Refusal as refusal:
            raise refused(refusal) from None
        assert isinstance(part, Statement)
        assert isinstance(last, Statement)
        proofs = [self.sequent(one) for one in shown if isinstance(one, Sequent)]
        several = len(part.stages) > 1
        proofs += [self.mechanisms(part, 0) if several else self.statement(part)]
        return Proof("inner", parameters, (*proofs, self.statement(last)))

    def by_whole_orders(self, goal: Statement) -> Proof | None:
        """Of Poisson samples, by a divergence of all stages together."""
        for total in whole_orders.proposals(goal, self.known):
            parameters = {"first": 0, "last": len(goal.stages) - 1, "guarantees": (total,)}
            try:
                *shown, first, last = step(goal, "cut", parameters)
                assert isinstance(first, Statement)
                assert isinstance(last, Statement)
                proofs = [self.sequent(one) for one in shown if isinstance(one, Sequent)]
                proofs += [self.at_rates(first), self.for_any_total(last)]
                return Proof("cut", parameters, tuple(proofs))
            except (Stuck, Refusal):
                self.left()
        return None

    def for_any_total(self, goal: Statement) -> Proof:
        """What follows from a Rényi guarantee, with a variable for its bound if the claim is that
        and something else."""
        general = whole_orders.of_any_total(goal, new_name(goal, "x"))
        if general is not None:
            try:
                every, mapping = general
                return self.used(goal, (self.theorem(every), mapping))
            except Stuck:
                self.left()
        return self.statement(goal)

    def candidates(
        self, goal: Statement, single: Inner | Stage, whole: Stage | None = None
    ) -> Iterator[Guarantee]:
        """What a mechanism is suggested to have, and what the claim asks for; or what a stage that
        is made of others may have, if it is a part of another one."""
        for claim in goal.claims:
            if isinstance(whole, Blend) and is_either(whole) and isinstance(single, Blend):
                yield from of_each(single, claim, self.known)
            elif isinstance(whole, Blend) and not is_chain(whole):
                if isinstance(single, Group):
                    for one in wholes(single, claim, self.known):
                        if any(meets(own, claim, goal) for own in of_sample(whole, one, claim)):
                            yield one
                needed = before_sampling(whole, claim, goal.facts)
                if needed is not None:
                    yield needed
        if not isinstance(single, Mechanism):
            for claim in goal.claims:
                yield from wholes(single, claim, self.known)
            return
        yield from self.known(single)
        yield from (one for claim in goal.claims for one in consequences(single, claim))
        for claim in goal.claims:
            if claim.name not in ("Distributions", "MomentBound"):
                yield Guarantee("PureDP", (epsilon(claim),))

    def known(self, mechanism: Mechanism) -> tuple[Guarantee, ...]:
        """What an explicit mechanism is suggested to have."""
        return tuple(one for own, some in self.suggestions if own == mechanism for one in some)

    def of_made_stages(self, goal: Statement) -> Proof | None:
        """Stages that are made of others, replaced by what they have in all."""
        (claim,) = goal.claims
        for index, stage in enumerate(goal.stages):
            if isinstance(stage, (Assumed, Processed, Mechanism)):
                continue
            stuck = Stuck("what is known of a part of the subject is not enough for the claim")
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
        late = [one for one in found if is_pure(one, claim, goal)]
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
        stuck = Stuck("what the known theorems give of so many copies is more than the claim")
        for way in ways:
            try:
                return way()
            except Stuck as failed:
                self.left()
                stuck = failed
        raise stuck

    def by_total(self, goal: Statement, stage: Repeated | Group, total: Total) -> Proof:
        (claim,) = goal.claims
        if not same(total.many, claim, goal):
            return self.through(goal, stage, total)
        if not isinstance(stage.stage, Assumed):
            raise Unfit("copies of what has no guarantee")
        if stage.stage.guarantees != (total.one,):
            return self.apply(goal, "inner", stage=0, part=0, guarantees=(total.one,))
        if stage.count.op != "var":
            return self.for_every_count(goal, stage, total)
        if any(arg is not None and arg.op not in ("var", "num") for arg in total.one.args):
            found = self.of_any_arguments(goal, stage, total)
            if found is not None:
                return self.used(goal, found)
        return self.apply(goal, "induct")

    def of_any_arguments(
        self, goal: Statement, stage: Repeated | Group, total: Total
    ) -> library.Use | None:
        """The theorem with a variable for each argument, of the sign that it has at samples."""
        rename, samples = library.Abstraction(), points(goal.variables, goal.facts)
        one, count = rename(total.one), rename.variable(stage.count)
        facts = [Fact(count - 1, ">="), *conditions(one)]
        for arg, name in rename.names.items():
            needed = arg is not stage.count and one.name not in _OF_ANY_SIGN
            if needed and all(number(arg, at) >= 0 for at in samples):
                facts.append(Fact(var(name), ">="))
        if one.name in ("ApproxDP", "ProbabilisticDP") and one.args[1] is not None:
            facts.append(Fact(1 - one.args[1], ">="))
        kinds = ((own, INTEGER if own == count.value else REAL) for own, _ in rename.variables)
        general = replace(stage, stage=Assumed((one,)), count=count)
        for found in totals(general, total.many):
            if same(found.many.substitute(dict(rename.mapping)), total.many, goal):
                every = Statement(tuple(kinds), tuple(facts), (general,), (found.many,))
                return self.theorem(every), rename.mapping
        return None

    def for_every_count(self, goal: Statement, stage: Repeated | Group, total: Total) -> Proof:
        """A number of copies, as one of all numbers."""
        name = new_name(goal, "k")
        more = replace(stage, count=var(name))
        for one in totals(more, total.many):
            if same(one.many.substitute({name: stage.count}), total.many, goal):
                variables = (*goal.variables, (name, INTEGER))
                facts = (*goal.facts, Fact(var(name) - 1, ">="))
                every = Statement(variables, facts, (more,), (one.many,))
                mapping = ((name, stage.count), *((own, var(own)) for own, _ in goal.variables))
                return self.apply(goal, "use", theorem=self.theorem(every), mapping=mapping)
        raise Stuck("what the known theorems give of so many copies is more than the claim")

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
        if not any(same(total, claim, goal) for total in totals):
            stuck = Stuck("no theorem about such a budget is known for these guarantees")
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
        name = new_name(goal, "b")
        b = var(name)
        every = Statement(
            (*goal.variables, (name, REAL)),
            (*goal.facts, Fact(b, ">=")),
            (replace(stage, budget=b),),
            tuple(
                one.substitute({stage.name: b})
                for one, total in zip(stage.stage.guarantees, totals, strict=True)
                if same(total, claim, goal)
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
            return self.apply(goal, "every", name=new_name(goal, "alpha"))
        for total in sampled(stage, claim):
            if claim.two_way and total.two_way and same(total, claim, goal):
                theorem = self.of_any_rate(stage, claim)
                try:
                    if theorem is not None:
                        return self.used(goal, theorem)
                except Stuck:
                    self.left()
            if not is_chain(stage) and not same(total, claim, goal) and meets(total, claim, goal):
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
        stuck = Stuck("what the mixture has by the inequalities that were tried exceeds the claim")
        for parameters in multipliers(goal, stage):
            weights = [w for row in parameters["moments"] for w in row]
            for item in dict.fromkeys([*parameters["linear"], *weights]):
                if turns(item, goal):  # one sign at a time
                    return self.apply(goal, "either", item=item)
            try:
                return self.apply(goal, "blended", **parameters)
            except Stuck as failed:
                self.left()
                stuck = failed
        raise stuck

    def of_any_rate(self, stage: Blend, claim: Guarantee) -> library.Use | None:
        """The theorem with a variable for a rate that is an expression."""
        if stage.p[0].op in ("var", "num") and not is_either(stage):
            return None
        return library.sample(stage, claim, sampled, self.lemma_at_rates)

    def lemma_at_rates(self, statement: Statement) -> Theorem | None:
        try:
            return self.theorem(statement)
        except Stuck:
            self.left()
            return None

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
