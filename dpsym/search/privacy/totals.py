"""Totals of known families, conversions, and routes by zCDP."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dpsym.kernel import terms as tm
from dpsym.kernel.proofs import Proof
from dpsym.kernel.rules import step
from dpsym.kernel.rules_privacy import assumed
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import Assumed, Guarantee, Statement
from dpsym.search.privacy import library
from dpsym.search.privacy.comparing import from_family, hockey, meets, needs_more, same, usable
from dpsym.search.privacy.concentration import routes, sharper
from dpsym.search.privacy.families import concentrated, sums
from dpsym.search.privacy.orders import TAILS
from dpsym.search.privacy.steps import Steps, Stuck, Unfit
from dpsym.search.samples import number, points

_PLAIN = 5  # size of an order as a user gives it
_TOLERANCE = 1e-9
_CONCENTRATED = ("ZCDP", "RenyiDP", "ApproxDP", "ProbabilisticDP", "KLDP")


class Totals(Steps):
    """Proofs by theorems about the notions."""

    def by_totals(self, goal: Statement) -> Proof:
        (claim,) = goal.claims
        specialised = self.specialised(goal, claim)
        if specialised is not None:
            return specialised
        given = [stage.guarantees for stage in goal.stages if isinstance(stage, Assumed)]
        if len(given) < len(goal.stages):
            raise Unfit("a stage has no guarantee to build on")
        for running in chains_of(given, claim):
            if meets(running[-1][0], claim, goal):
                return self.chain(goal, running[1:])
        raise Stuck("what the known theorems give of all stages together is more than the claim")

    def chain(self, goal: Statement, totals: list[tuple[Guarantee, int]]) -> Proof:
        """The first two stages become one, until one is left."""
        (claim,) = goal.claims
        first = goal.stages[0]
        if not isinstance(first, Assumed):
            raise Unfit("a stage has no guarantee to build on")
        if not totals:
            return self.converted(goal, claim)
        (total, index), rest = totals[0], totals[1:]
        pair = self.summed(goal, total, index)
        if not rest and same(total, claim, goal):
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
        one, two = (usable(stage, total.name) for stage in goal.stages[:2])
        if one is None or two is None:
            raise Unfit("a stage has no guarantee that could be added up")
        found = library.composition(one, two, total.name, index, self.lemma)
        if found is None:
            raise Stuck(f"no theorem adds {one.name} and {two.name} up to {total.name}")
        return found

    def converted(self, goal: Statement, claim: Guarantee) -> Proof:
        one = usable(goal.stages[0], claim.name)
        found = None if one is None else library.conversion(one, claim, self.lemma)
        if found is None:
            raise Unfit("no theorem converts the guarantee into the claim's notion")
        return self.used(goal, found)

    def by_conversion(self, goal: Statement) -> Proof:
        """The best that one guarantee gives of the claim's family, then the claim from it."""
        (claim,) = goal.claims
        (stage,) = assumed(goal, "cut") if len(goal.stages) == 1 else (Assumed(()),)
        stuck = Stuck("what the known conversions of the guarantees give is more than the claim")
        if any(same(one, claim, goal) for one in stage.guarantees):
            return self.converted(goal, claim)
        for one in stage.guarantees:
            if one.args[0] is not None and one.args[0].size > _PLAIN and one.name == "RenyiDP":
                continue  # at an order that was chosen for one inequality

            def enough(total: Guarantee) -> bool:
                return same(total, claim, goal) or meets(total, claim, goal)

            for found in library.naturals(one, claim, self.lemma, enough):
                if same(found[1], claim, goal) and not needs_more(goal, one, found[0]):
                    return self.used(goal, found[0])
                try:
                    return self.cut_or_split(goal, one, found)
                except Stuck as failed:
                    self.left()
                    stuck = failed
            if one.name == "BoundedRange" and claim.name in ("RenyiDP", *TAILS):
                between = concentrated(one)
                if claim.name == "RenyiDP" and not from_family(between, claim, goal):
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

    def by_concentration(self, goal: Statement) -> Proof:
        """The claim from the total of what the stages give of zCDP."""
        (claim,) = goal.claims
        stuck: Stuck = Unfit("no route by zCDP")
        last = len(goal.stages) - 1
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

    def apart(self, goal: Statement) -> Proof:
        """Stages with zCDP among others with approximate DP: all that is claimed, less what the
        others take, is for them."""
        (claim,) = goal.claims
        sizes = [hockey(stage) for stage in goal.stages]
        places = [i for i, size in enumerate(sizes) if size is None]
        if claim.name != "ApproxDP" or not places or len(places) == len(sizes):
            raise Unfit("no stages to set apart")
        first, last = places[0], places[-1]
        others = [size for i, size in enumerate(sizes) if size and not first <= i <= last]
        loss, mass = claim.args
        if len(others) < len(sizes) - len(range(first, last + 1)) or loss is None or mass is None:
            raise Unfit("stages of different kinds that take turns")
        normal = context(goal.facts).canon.normal
        left = [
            normal(whole - tm.add(*(size[i] for size in others)))
            for i, whole in enumerate((loss, mass))
        ]
        samples = points(goal.variables, goal.facts)
        if not all(number(one, at) >= -_TOLERANCE for one in left for at in samples):
            raise Stuck("some of the stages alone take more than the claim")
        rest = Guarantee("ApproxDP", tuple(left))
        return self.apply(goal, "cut", first=first, last=last, guarantees=(rest,))


def instead_of_range(index: int, goal: Statement) -> Guarantee | None:
    """For one of several stages, what adds up instead of its bounded range."""
    (claim,), stage = goal.claims, goal.stages[index]
    (one, *more) = stage.guarantees if isinstance(stage, Assumed) else (claim,)
    if len(goal.stages) == 1 or more or one is claim or one.name != "BoundedRange":
        return None
    if claim.name == "PureDP" or (claim.name == "BoundedRange" and index):
        return Guarantee("PureDP", one.args)
    return concentrated(one) if one.two_way and claim.name in _CONCENTRATED else None


def chains_of(
    given: list[tuple[Guarantee, ...]], claim: Guarantee
) -> Iterator[list[tuple[Guarantee, int]]]:
    """Running totals of the stages, coarse first."""
    stages = [usable(Assumed(guarantees), claim.name) for guarantees in given]
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
