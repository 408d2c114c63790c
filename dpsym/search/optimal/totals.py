"""Several stages as one: the totals of what they have in common, and a bound from these."""

from __future__ import annotations

from dataclasses import dataclass, replace

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.proofs import Proof
from dpsym.kernel.rules import step
from dpsym.kernel.rules_privacy import statement_obligations
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import (
    Assumed,
    Guarantee,
    Joint,
    Mechanism,
    Processed,
    Repeated,
    Stage,
    Statement,
)
from dpsym.kernel.terms import ONE, ZERO, Term
from dpsym.kernel.theorems import Theorem, prove
from dpsym.search.leaf.budget import Budget
from dpsym.search.optimal.best import Question, Unsuited, best
from dpsym.search.optimal.pieces import constant
from dpsym.search.privacy.prover import prove_statement
from dpsym.search.privacy.stages import wholes
from dpsym.search.privacy.steps import Suggestions
from dpsym.search.privacy.whole_orders import best_of, sampled

_ADDED = ("PureDP", "RenyiDP", "RenyiDPBelowOne", "KLDP", "ZCDP")
_MOST = 10  # of one kind in a stage
_FIRST = 10.0  # seconds


@dataclass(frozen=True)
class Total:
    """A value for which the claim is a theorem."""

    value: fmpq
    theorem: Theorem


def totals(statement: Statement, suggestions: Suggestions) -> tuple[Guarantee, ...]:
    """What the stages have in all: the guarantees of a family, and of one order, that every stage
    has, added up; of what is made of others, at whole orders."""
    return _sums(statement.stages) or _wholes(statement, suggestions)


def _wholes(statement: Statement, suggestions: Suggestions) -> tuple[Guarantee, ...]:
    """The best divergence at a whole order, if some of it is a sample; else what the whole may
    have."""

    def known(mechanism: Mechanism) -> tuple[Guarantee, ...]:
        return tuple(one for own, some in suggestions if own == mechanism for one in some)

    whole = Joint(statement.stages)  # type: ignore[arg-type]
    best_order = best_of(statement, known) if sampled(statement.stages) else None
    if best_order is not None:
        return (best_order,)
    every = wholes(whole, statement.claims[0], known)
    return tuple(dict.fromkeys(one for one in every if one.two_way))[:_MOST]


def _sums(stages: tuple[Stage, ...]) -> tuple[Guarantee, ...]:
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


def by_totals(question: Question, budget: Budget, suggestions: Suggestions = ()) -> Total | None:
    """The best bound that follows from the totals; raises Stuck, Failed or Unsuited."""
    stages = question.statement.stages
    single = len(stages) == 1 and isinstance(stages[0], (Assumed, Mechanism, Processed))
    common = () if single else totals(question.statement, suggestions)
    if not common:
        raise Unsuited("stages with guarantees of the same family, and of the same order")
    only = replace(question.statement, stages=(Assumed(common),))
    found = best(replace(question, statement=only), budget)
    if found.proved is None or found.theorem is None:
        return None
    statement = question.at(found.proved)
    seconds = max(0.1, min(_FIRST, budget.left()))
    both = prove_statement(replace(statement, claims=common), seconds, suggestions)
    parameters = {"first": 0, "last": len(stages) - 1, "guarantees": common}
    premises = step(statement, "cut", parameters)
    shown = [constant(one) for one in premises if isinstance(one, Sequent)]
    proof = Proof("cut", parameters, (*shown, both.proof, found.theorem.proof))
    definedness = tuple(constant(one) for one in statement_obligations(statement))
    return Total(found.proved, prove(statement, proof, definedness))
