"""Families of guarantees at the orders that may help."""

from __future__ import annotations

from dataclasses import replace

from dpsym.kernel import terms as tm
from dpsym.kernel.proofs import Proof
from dpsym.kernel.rules import step
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import Assumed, Fact, Guarantee, Statement
from dpsym.kernel.terms import ZERO, Term, var
from dpsym.search import leaf
from dpsym.search.privacy import library
from dpsym.search.privacy.comparing import new_name
from dpsym.search.privacy.limits import kept, total_variation
from dpsym.search.privacy.orders import TAILS, markov, orders_for, splits, top_suffices
from dpsym.search.privacy.steps import Steps, Stuck, Unfit


class Specialising(Steps):
    """Proofs from zCDP and its relatives."""

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
        if claim.name == "KLDP":
            return self.at_one(goal, i, j)
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

    def at_one(self, goal: Statement, i: int, j: int) -> Proof:
        """At orders that decrease to 1."""
        stage = goal.stages[i]
        assert isinstance(stage, Assumed)
        rho, *ends = stage.guarantees[j].args
        name = new_name(goal, "x")
        less = var(name)
        for top in ends:
            less = ((top or ZERO) - 1) * (1 - tm.exp(-less))
        assert rho is not None
        order = 1 + less
        parameters = {"name": name, "start": ZERO, "value": order * rho}
        *shown, rest = step(goal, "limit", parameters)
        assert isinstance(rest, Statement)
        proofs = [self.sequent(one) for one in shown if isinstance(one, Sequent)]
        proofs += [self.apply(rest, "specialise", stage=i, guarantee=j, value=order)]
        return Proof("limit", parameters, tuple(proofs))

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
            raise Unfit("only a tail is bounded at the highest order")
        name = new_name(goal, "x")
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
            raise Unfit("no bound of a tail is known")
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
        stuck: Stuck = Unfit("nothing is known at the end of a range")
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
