"""From a statement to a theorem: structure, known totals, then multipliers."""

from __future__ import annotations

from dataclasses import replace

from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import DEFINITIONS, Moment, Range, Support, constraints
from dpsym.kernel.proofs import Proof
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import step
from dpsym.kernel.rules_privacy import assumed, stage_data, statement_obligations
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import (
    INTEGER,
    Assumed,
    Blend,
    Choice,
    Fact,
    Filter,
    Group,
    Mechanism,
    Processed,
    Repeated,
    Statement,
)
from dpsym.kernel.terms import Term, substitute, var
from dpsym.kernel.theorems import Theorem, prove
from dpsym.search.bounds import bounds
from dpsym.search.leaf.budget import clock
from dpsym.search.leaf.hinted import Hint
from dpsym.search.privacy import whole_orders
from dpsym.search.privacy.comparing import new_name, range_of, same
from dpsym.search.privacy.copies import Copies
from dpsym.search.privacy.explicit import Explicit
from dpsym.search.privacy.gaussians import mean
from dpsym.search.privacy.learned import consequences, fits
from dpsym.search.privacy.leaves import plausible
from dpsym.search.privacy.limits import vanishing
from dpsym.search.privacy.rates import Rates
from dpsym.search.privacy.specialising import Specialising
from dpsym.search.privacy.steps import Stuck, Suggestions, Undefined, Unfit, better, refused
from dpsym.search.privacy.totals import Totals, instead_of_range
from dpsym.search.privacy.towers import plans


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
    return Prover(clock() + seconds, suggestions, hints).theorem(statement)


class Prover(Copies, Explicit, Rates, Specialising, Totals):
    """The search, within its time."""

    def theorem(self, statement: Statement) -> Theorem:
        definedness = tuple(self.defined(item) for item in statement_obligations(statement))
        return prove(statement, self.whole_numbers(statement), definedness)

    def defined(self, item: Sequent) -> Proof:
        try:
            return self.sequent(item)
        except Stuck as stuck:
            reason = "a term is not shown to be defined for all values of the parameters"
            raise Undefined(reason, (item,), stuck.out_of_time) from None

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
        return self.samples(goal)

    def samples(self, goal: Statement) -> Proof:
        """For claims that follow at a whole order, that first; then the ends of the rates."""
        if not whole_orders.sampled(goal.stages):
            return self.at_rates(goal)
        if len(goal.claims) > 1:
            claims = (one for one in step(goal, "claims", {}) if isinstance(one, Statement))
            return Proof("claims", {}, tuple(map(self.samples, claims)))
        return self.by_whole_orders(goal) or self.at_rates(goal)

    def statement(self, goal: Statement) -> Proof:
        self.left()
        if len(goal.claims) > 1:
            return self.apply(goal, "claims")
        if goal.claims[0].name == "Distributions":
            return self.explicit(goal)
        for index, stage in enumerate(goal.stages):
            if isinstance(stage, Processed):
                return self.processed(goal, index, stage)
        learned = self.by_learned(goal) or self.with_learned(goal)
        if learned is not None:
            return learned
        for index in range(len(goal.stages)):
            known = instead_of_range(index, goal)
            if known is not None:
                return self.apply(goal, "cut", first=index, last=index, guarantees=(known,))
        if isinstance(goal.stages[0], Choice):
            return self.each(goal)
        pair = self.one_pair(goal)
        if pair is not None:
            return pair
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
                if first is None or better(stuck, first):
                    first = stuck
        raise first or Stuck("no theorem fits these stages and this claim")

    def each(self, goal: Statement) -> Proof:
        """For each of the mechanisms in a choice; what an explicit one has may be of use."""
        cases = (one for one in step(goal, "each", {}) if isinstance(one, Statement))
        return Proof("each", {}, tuple(self.mechanisms(one, 0) for one in cases))

    def processed(self, goal: Statement, index: int, stage: Processed) -> Proof:
        """By convexity of what is known of the mechanism, or of the claim, which it has."""
        try:
            return self.apply(goal, "postprocess", stage=index)
        except Stuck:
            self.left()
            weaker = replace(goal.claims[0], two_way=True, reverse=False)
            if weaker in stage.guarantees or len(goal.stages) > 1:
                raise
        return self.apply(goal, "inner", stage=index, part=0, guarantees=(weaker,))

    def by_learned(self, goal: Statement) -> Proof | None:
        """The claim from a theorem that was added, as it is or weakened."""
        (claim,) = goal.claims
        for fit in fits(goal):
            use = (fit.theorem, fit.mapping)
            try:
                if same(fit.total, claim, goal):
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

    def with_learned(self, goal: Statement) -> Proof | None:
        """One of several stages by what a theorem that was added says of it."""
        (claim,) = goal.claims
        for index, stage in enumerate(goal.stages):
            if len(goal.stages) == 1 or not isinstance(stage, Assumed):
                continue
            if any(one.name == claim.name for one in stage.guarantees):
                continue
            for one in consequences(stage, claim):
                try:
                    return self.apply(goal, "cut", first=index, last=index, guarantees=(one,))
                except Stuck:
                    self.left()
        return None

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
            return self.apply(goal, "dominated", stage=i, guarantee=j, name=new_name(goal, "x"))
        means = [mean(goal, stage) for stage in goal.stages[-2:]] if moment else []
        if len(means) == 2 and means[0] is not None and means[1] is not None:
            total = tm.sqrt(tm.power(means[0], 2) + tm.power(means[1], 2))
            total = context(goal.facts).canon.normal(total)
            return self.apply(goal, "rotated", first=means[0], second=means[1], mean=total)
        return None

    def directly(self, goal: Statement) -> Proof:
        """The rules of the calculus on the statement as it stands."""
        (claim,) = goal.claims
        if DEFINITIONS[claim.name].member is not None:
            return self.apply(goal, "every", name=new_name(goal, "alpha"))
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
        place = range_of(goal)
        if place is not None:
            return self.apply(goal, "ranged", guarantee=place, name=new_name(goal, "r"))
        constraint = next(iter(constraints(claim)), None)
        if isinstance(constraint, Range):
            return self.apply(goal, "spanned")
        if isinstance(constraint, Support):
            return self.support(goal, constraint)
        if isinstance(constraint, Moment):
            return self.tower(goal)
        raise Unfit(f"nothing is known that proves a claim of {claim.name} of such stages")

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
                raise Unfit("a stage has no guarantee to build on")
            own = [item for item in stage_data(stage).supports if item.reverse == claimed.reverse]
            if not own:
                raise Stuck("a stage has no bound on its loss, which a claim of pure privacy needs")
            bounds.append(own[0].bound)
        return self.apply(goal, "support", bounds=tuple(bounds))

    def tower(self, goal: Statement) -> Proof:
        stuck = Stuck("what follows by the inequalities that were tried exceeds the claim")
        for parameters in plans(goal):
            try:
                premises = [p for p in step(goal, "tower", parameters) if isinstance(p, Sequent)]
            except Refusal as refusal:
                stuck = refused(refusal)
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
        x, larger = var(name), new_name(goal, name)
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
