"""Whether explicit mechanisms are mechanisms: densities that are nowhere negative and have mass 1.

This is proved where it can be, and looked at with certified numbers where it can not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

import sympy as sp
from flint import fmpq

from dpsym.claims import Goal, explicit_in
from dpsym.errors import DpsymError, InputError, shown
from dpsym.kernel.proofs import Proof
from dpsym.kernel.refusal import Refusal, TooLarge
from dpsym.kernel.sequents import Sequent, with_facts
from dpsym.kernel.statements import INTEGER, Fact, Guarantee, Mechanism, Pair, Region
from dpsym.kernel.terms import Term
from dpsym.kernel.theorems import Theorem, prove
from dpsym.mechanisms.base import Mechanism as Explicit
from dpsym.search import leaf
from dpsym.search.privacy.prover import Stuck, prove_statement
from dpsym.undefined import shown_values

__all__ = ["DISTRIBUTIONS", "Masses", "look_at_masses"]

DISTRIBUTIONS = Guarantee("Distributions", ())
_NEGATIVE_SECONDS, _POINTS = 1.0, 3
_WIDTH = sp.Rational(1, 10**9)


class Masses:
    """What was found about the stages: ``theorems`` by their number, ``open`` in words."""

    def __init__(self) -> None:
        self.theorems: dict[int, Theorem] = {}
        self.open: list[str] = []

    def joined(self, theorem: Theorem) -> Theorem:
        """The theorem, for one explicit mechanism with the claim that it is one."""
        own = self.theorems.get(0)
        if own is None or len(theorem.statement.stages) > 1:
            return theorem
        statement = replace(theorem.statement, claims=(*theorem.statement.claims, DISTRIBUTIONS))
        single = len(theorem.statement.claims) == 1
        proofs = (theorem.proof,) if single else theorem.proof.premises
        proof = Proof("claims", {}, (*proofs, own.proof))
        try:
            return prove(statement, proof, theorem.definedness)
        except Refusal:  # such as a proof of several claims together
            return theorem


def look_at_masses(goal: Goal, seconds: float) -> Masses:
    """Prove of each explicit mechanism, however deep in a stage, that it is one, if its densities
    are given in full.

    Raises: InputError for a density that is negative somewhere, or has another mass than 1.
    """
    found = Masses()
    for index, part in enumerate(goal.parts):
        which = f"stage {index + 1}" if len(goal.parts) > 1 else "the mechanism"
        for own in dict.fromkeys(explicit_in(part)):
            theorem = _looked_at(goal, own, seconds)
            if theorem is not None and own is part:
                found.theorems[index] = theorem
            if theorem is None and _in_full(own.to_kernel(goal.scope)):
                inside = which if own is part else f"a mechanism in {which}"
                found.open.append(f"the densities of {inside} have mass 1")
    found.open = list(dict.fromkeys(found.open))
    return found


def _looked_at(goal: Goal, part: Explicit, seconds: float) -> Theorem | None:
    """That a mechanism is one, if that is proved."""
    stage = part.to_kernel(goal.scope)
    if not all(pair.normalised for pair in stage.pairs):
        refuse_two_factors(goal, part)
    if not _in_full(stage):
        return None
    alone = replace(goal.statement, stages=(stage,), claims=(DISTRIBUTIONS,))
    try:
        return prove_statement(alone, seconds)
    except (Stuck, TooLarge, RecursionError):
        refuse_negative(goal, stage)
        refuse_other_mass(goal, part)
    return None


def _in_full(stage: Mechanism) -> bool:
    densities = any(region.output for pair in stage.pairs for region in pair.regions)
    return densities and all(pair.normalised for pair in stage.pairs)


def refuse_negative(goal: Goal, stage: Mechanism) -> None:
    """InputError with a point at which a density is negative, if one is found."""
    statement = goal.statement
    for pair, region, item in _densities(stage):
        facts = with_facts(statement.facts, *pair.facts, *region.facts)
        integers = {
            name for name, kind in (*statement.variables, *pair.variables) if kind == INTEGER
        }
        if region.kind == INTEGER:
            integers.add(region.output or "")
        sequent = Sequent(facts, Fact(item, ">="))
        answer = leaf.decide(sequent, _NEGATIVE_SECONDS, frozenset(integers))
        if isinstance(answer, leaf.Point):
            raise InputError(
                "density",
                "a density that is nowhere negative",
                "one that is negative somewhere",
                got=f"one that is negative at {shown_values(answer.values)}",
            )


def _densities(stage: Mechanism) -> Iterator[tuple[Pair, Region, Term]]:
    for pair in stage.pairs:
        for region in pair.regions:
            if region.output is not None:
                yield pair, region, region.p
                yield pair, region, region.q


def refuse_other_mass(goal: Goal, part: Explicit) -> None:
    """InputError with the certified mass of a density at simple values of the parameters, if it is
    not 1."""
    from dpsym.enclosures import masses
    from dpsym.enclosures.numbers import Undecided
    from dpsym.search.refutation.points import points

    for values in islice(points(goal.statement), _POINTS):
        try:
            found = masses(part, _where(goal, values, part), _WIDTH)
        except (DpsymError, Undecided):
            return
        for mass in found:
            if mass.lower > 1 or mass.upper < 1:
                at = f" at {shown_values(values)}" if values else ""
                raise InputError(
                    "density",
                    "a density that integrates to 1 (or normalised=False for one that is known "
                    "up to a factor)",
                    shown(part),
                    got=f"one with a mass between {mass.lower.n(12)} and {mass.upper.n(12)}{at}",
                )


def refuse_two_factors(goal: Goal, part: Explicit) -> None:
    """InputError if no common factor makes p and q distributions at simple values of the
    parameters."""
    from dpsym.enclosures import divergences
    from dpsym.enclosures.enclosing import largest_pairs
    from dpsym.enclosures.numbers import Undecided
    from dpsym.search.refutation.points import points

    for values in islice(points(goal.statement), _POINTS):
        try:
            found = list(largest_pairs(part, _where(goal, values, part)))
        except (DpsymError, Undecided):
            return
        for family, pair in found:
            if not family.normalised:
                words = f" at {shown_values(values)}" if values else ""
                divergences.refuse_two_factors(pair, words)


def _where(goal: Goal, values: Mapping[str, fmpq], part: Explicit) -> dict[sp.Symbol, sp.Rational]:
    used = {name for _, expr in part.parameters() for name in map(str, expr.free_symbols)}
    return {
        symbol: sp.Rational(int(values[name].p), int(values[name].q))
        for name, symbol in goal.scope.symbols.items()
        if name in values and name in used
    }
