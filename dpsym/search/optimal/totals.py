"""Several stages as one: the totals of what they have in common, and a bound from these."""

from __future__ import annotations

from dataclasses import dataclass, replace

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.proofs import Proof
from dpsym.kernel.rules import step
from dpsym.kernel.rules_privacy import statement_obligations
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Assumed, Guarantee, Repeated, Stage
from dpsym.kernel.terms import ONE, ZERO, Term
from dpsym.kernel.theorems import Theorem, prove
from dpsym.search.leaf.budget import Budget
from dpsym.search.optimal.best import Question, Unsuited, best
from dpsym.search.optimal.pieces import constant
from dpsym.search.privacy.prover import prove_statement

_ADDED = ("PureDP", "RenyiDP", "RenyiDPBelowOne", "KLDP", "ZCDP")
_MOST = 10  # of one kind in a stage
_FIRST = 10.0  # seconds


@dataclass(frozen=True)
class Total:
    """A value for which the claim is a theorem."""

    value: fmpq
    theorem: Theorem


def totals(stages: tuple[Stage, ...]) -> tuple[Guarantee, ...]:
    """The guarantees of a family, and of one order, that every stage has, added up."""
    parts: list[tuple[tuple[Guarantee, ...], Term]] = []
    for stage in stages:
        inner, count = (stage.stage, stage.count) if isinstance(stage, Repeated) else (stage, ONE)
        if not isinstance(inner, Assumed):
            return ()
        parts.append((inner.guarantees, count))
    found: dict[Guarantee, None] = {}
    for first in parts[0][0][:_MOST]:
        if first.name in _ADDED:
            losses: list[Term] = []
            for guarantees, count in parts:
                same = [other for other in guarantees if _alike(first, other)]
                if not same:
                    break
                loss = same[0].args[-1] or ZERO
                losses.append(loss if count is ONE else count * loss)
            else:
                found[replace(first, args=(*first.args[:-1], tm.add(*losses)))] = None
    return tuple(found)


def _alike(first: Guarantee, other: Guarantee) -> bool:
    return replace(first, args=first.args[:-1]) == replace(other, args=other.args[:-1])


def by_totals(question: Question, budget: Budget) -> Total | None:
    """The best bound that follows from the totals; raises Stuck, Failed or Unsuited."""
    stages = question.statement.stages
    common = totals(stages)
    if (len(stages) == 1 and not isinstance(stages[0], Repeated)) or not common:
        raise Unsuited("stages with guarantees of the same family, and of the same order")
    single = replace(question.statement, stages=(Assumed(common),))
    found = best(replace(question, statement=single), budget)
    if found.proved is None or found.theorem is None:
        return None
    statement = question.at(found.proved)
    both = prove_statement(replace(statement, claims=common), max(0.1, min(_FIRST, budget.left())))
    parameters = {"first": 0, "last": len(stages) - 1, "guarantees": common}
    premises = step(statement, "cut", parameters)
    shown = [constant(one) for one in premises if isinstance(one, Sequent)]
    proof = Proof("cut", parameters, (*shown, both.proof, found.theorem.proof))
    definedness = tuple(constant(one) for one in statement_obligations(statement))
    return Total(found.proved, prove(statement, proof, definedness))
