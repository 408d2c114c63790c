"""The entry points: ``prove``, ``refute`` and ``decide``."""

from __future__ import annotations

from dataclasses import dataclass, field

from flint import fmpq

from dpsym.kernel.proofs import Lemma, Proof, prove_lemma, top_obligations
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Facts, Sequent, context
from dpsym.kernel.statements import Fact
from dpsym.search.leaf import quick
from dpsym.search.leaf.budget import Budget, OutOfBudget, budget
from dpsym.search.leaf.steps import premises

_QUICK, _FIRST_LOOK, _LAST_LOOK = 0.3, 0.05, 2.0


@dataclass(frozen=True, slots=True)
class Open:
    """Neither proved nor refuted. ``left`` are sequents that would complete a proof."""

    reason: str
    left: tuple[Sequent, ...] = ()


@dataclass(frozen=True, slots=True)
class Point:
    """Exact values at which all hypotheses hold and the goal fails."""

    values: dict[str, fmpq] = field(default_factory=dict)


def prove(sequent: Sequent, seconds: Budget | float) -> Lemma | Open:
    """Search for a proof that the kernel accepts, for at most so many CPU seconds."""
    given = budget(seconds)
    found = _quickly(sequent, given)
    return found if found is not None else _thoroughly(sequent, given)


def refute(
    sequent: Sequent, seconds: Budget | float, integers: frozenset[str] = frozenset()
) -> dict[str, fmpq] | None:
    """A rational point at which all hypotheses hold and the goal fails, for certain, or None.

    Variables named in ``integers`` get whole values."""
    from dpsym.search.leaf import counterexample  # loads numpy

    return counterexample.find(sequent, budget(seconds), integers, thorough=True)


def decide(
    sequent: Sequent, seconds: Budget | float, integers: frozenset[str] = frozenset()
) -> Lemma | Point | Open:
    """Easy proofs, then a short search for a counterexample, a proof, a longer counterexample."""
    given = budget(seconds)
    found: Lemma | Open | None = _quickly(sequent, given)
    if found is not None:
        return found
    from dpsym.search.leaf import counterexample  # loads numpy

    point = counterexample.find(sequent, given.part(_FIRST_LOOK), integers, thorough=False)
    if point is not None:
        return Point(point)
    late = min(_LAST_LOOK, given.left() / 10)
    found = _thoroughly(sequent, given.part(given.left() - late))
    if isinstance(found, Lemma):
        return found
    point = counterexample.find(sequent, given.part(_LAST_LOOK), integers, thorough=True)
    return found if point is None else Point(point)


def _quickly(sequent: Sequent, given: Budget) -> Lemma | None:
    part = given.part(_QUICK)
    try:
        with part.enforced():
            proof = quick.prove(sequent, part)
            if proof is None:
                return None
            shown = [quick.prove(premise, part) for premise in _obligations(sequent)]
    except (OutOfBudget, Refusal):
        return None
    return _checked(sequent, proof, shown)


def _checked(sequent: Sequent, proof: Proof, shown: list[Proof | None]) -> Lemma | None:
    kept = tuple(item for item in shown if item is not None)
    if len(kept) != len(shown):
        return None
    try:
        return prove_lemma(sequent, proof, kept)
    except Refusal:
        return None


def _obligations(sequent: Sequent) -> list[Sequent]:
    return top_obligations(sequent.hypotheses, sequent.goal)


def _thoroughly(sequent: Sequent, given: Budget) -> Lemma | Open:
    from dpsym.search.leaf.prover import Search  # loads numpy

    search = Search(given)
    shown: list[Proof | None] = []
    try:
        needed = _obligations(sequent)
    except Refusal as refusal:
        return Open(str(refusal), (sequent,))
    for premise in needed:
        proof = search.run(premise)
        if proof is None:
            return Open(f"not shown to be defined: {premise}", (premise,))
        shown.append(proof)
    given_facts = [premise.goal for premise in needed if premise.hypotheses == sequent.hypotheses]
    proof = _with_facts(search, sequent, given_facts, dict(zip(needed, shown, strict=True)))
    if proof is None:
        return Open("no proof found within the budget", (sequent,))
    found = _checked(sequent, proof, shown)
    return found if found is not None else Open("the kernel refused the proof", (sequent,))


def _with_facts(
    search: object, sequent: Sequent, facts: list[Fact], known: dict[Sequent, Proof | None]
) -> Proof | None:
    """A proof that first states that the goal is defined, if that is not evident."""
    if not facts:
        return search.run(sequent)  # type: ignore[attr-defined, no-any-return]
    fact, *rest = facts
    if context(sequent.hypotheses).evident(fact):
        return _with_facts(search, sequent, rest, known)
    parameters = {"fact": fact}
    left = premises(sequent, "have", parameters)
    if left is None:
        return search.run(sequent)  # type: ignore[attr-defined, no-any-return]
    proofs = []
    for premise in left[:-1]:
        found = known.get(premise) or search.run(premise)  # type: ignore[attr-defined]
        if found is None:
            return None
        proofs.append(found)
    found = _with_facts(search, left[-1], rest, known)
    return found and Proof("have", parameters, (*proofs, found))


Hypotheses = Facts
