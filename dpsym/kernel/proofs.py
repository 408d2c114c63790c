"""Proofs as trees of rule applications, and what the kernel has proved.

``Lemma`` and ``Theorem`` are sealed: only ``prove_lemma`` and ``prove`` make them, by checking a
proof with ``step``. A proof says which rule with which parameters, nothing else; the kernel
computes what is left to prove.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dpsym.kernel import boxes, rules_algebra, rules_calculus, rules_logic
from dpsym.kernel.kinds import FACT, FACTS, RowKind
from dpsym.kernel.limits import interruptible
from dpsym.kernel.refusal import Refusal, TooLarge, require
from dpsym.kernel.rules import RULES, Goal, step
from dpsym.kernel.sequents import Facts, Sequent, defined
from dpsym.kernel.statements import Fact

__all__ = ["RULES", "Lemma", "Proof", "check", "prove_lemma", "step", "top_obligations"]
MAX_STEPS = 500_000
SEQUENT = RowKind((FACTS, FACT), Sequent)
Made = TypeVar("Made")

_REGISTERED = (boxes, rules_algebra, rules_calculus, rules_logic)  # importing registers the rules


@dataclass(frozen=True, slots=True)
class Proof:
    """One inference and the proofs of its premises, in the order in which ``step`` gives them."""

    rule: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    premises: tuple[Proof, ...] = ()


class Sealed:
    """A class whose instances are made by ``seal`` alone."""

    __slots__ = ()

    def __init__(self) -> None:
        raise Refusal(type(self).__name__, "made by the kernel alone")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} is immutable")

    def __init_subclass__(cls) -> None:
        if cls.__module__ not in (__name__, "dpsym.kernel.theorems", "dpsym.refutations"):
            raise Refusal("Sealed", "not subclassed outside what is trusted", cls.__module__)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError(f"a {type(self).__name__} is not pickled; use certificates")


class Lemma(Sealed):
    """A proved sequent, with everything in it defined where its hypotheses hold."""

    __slots__ = ("definedness", "proof", "sequent")

    sequent: Sequent
    proof: Proof
    definedness: tuple[Proof, ...]


rules_logic.LEMMA.sealed.append(Lemma)


def check(goal: Goal, proof: Proof) -> None:
    """Check one proof of one goal, uninterrupted; raises ``Refusal``.

    Each pair of a goal and a proof is checked once; the number of steps is bounded.
    """
    done: set[tuple[Goal, int]] = set()
    todo = [(goal, proof)]
    with interruptible(None):
        while todo:
            goal, proof = todo.pop()
            if (goal, id(proof)) in done:
                continue
            done.add((goal, id(proof)))
            if len(done) > MAX_STEPS:
                raise TooLarge("proof", f"at most {MAX_STEPS} steps")
            try:
                premises = step(goal, proof.rule, proof.parameters)
            except RecursionError:
                raise TooLarge("proof", "terms that Python's stack can hold") from None
            if len(premises) != len(proof.premises):
                given = len(proof.premises)
                raise Refusal(proof.rule, f"proofs of {len(premises)} premises", given, goal)
            todo.extend(zip(premises, proof.premises, strict=True))


def check_all(goals: Sequence[Goal], proofs: tuple[Proof, ...]) -> None:
    """Check one proof for each goal, in order."""
    require(len(goals) == len(proofs), "proof", "as many proofs of definedness", len(proofs))
    for goal, proof in zip(goals, proofs, strict=True):
        check(goal, proof)


def top_obligations(hypotheses: Facts, fact: Fact) -> list[Sequent]:
    """What makes a sequent that comes from outside defined, in order."""
    return list(dict.fromkeys(defined(hypotheses, fact.term)))


def prove_lemma(sequent: Sequent, proof: Proof, definedness: tuple[Proof, ...] = ()) -> Lemma:
    """Check a proof of the sequent, and proofs that it is defined, one per top obligation."""
    SEQUENT.check(sequent)
    check_all(top_obligations(sequent.hypotheses, sequent.goal), definedness)
    check(sequent, proof)
    return seal(Lemma, sequent=sequent, proof=proof, definedness=definedness)


def seal(kind: type[Made], **values: object) -> Made:
    """For this module, ``theorems`` and ``dpsym.refutations`` alone, after a check."""
    made = object.__new__(kind)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made
