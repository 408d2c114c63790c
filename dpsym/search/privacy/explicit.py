"""Explicit mechanisms: their pairs, and guarantees in their place."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from dpsym.kernel.definitions import Support, constraints
from dpsym.kernel.proofs import Proof
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import step
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Mechanism, Statement
from dpsym.search.integrals.closed import largest
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
from dpsym.search.privacy.comparing import contradictory, meets, same
from dpsym.search.privacy.steps import OUT_OF_TIME, PATIENT_SECONDS, Steps, Stuck, Unfit
from dpsym.search.samples import sign

_MOST_FACTS = 40  # case distinctions add facts


class Explicit(Steps):
    """Proofs about explicit mechanisms."""

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
                f"of stage {index + 1}, an explicit mechanism, no guarantee is known that is enough"
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

    def without_roots(self, goal: Statement) -> Proof:
        """A parameter in a root of a logarithm replaced by one for the root."""
        named = by_roots(goal, fresh(goal, "r"))
        if named is None:
            raise Unfit("no root of a logarithm")
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
        if found is None or same(found, claim, goal):
            return None
        if meets(claim, found, goal):
            return None  # the claim is the divergence itself, however it is written
        if not meets(found, claim, goal):
            raise Stuck(
                "a pair seems to have a larger divergence than is claimed, at sample values"
            )
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
        stuck = Stuck("no integral that the claim needs of this mechanism was found in closed form")
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
                if isinstance(stop, NoSamples) and contradictory(goal):
                    yield nothing(goal)
                if count:
                    return  # what stopped the earlier ones says more
                late = isinstance(stop, OutOfBudget)
                raise Stuck(OUT_OF_TIME if late else str(stop), out_of_time=late) from None
            if inference is None:
                return
            yield inference
