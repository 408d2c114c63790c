"""What every part of the search for a proof does: one inference, and what it leaves."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dpsym.kernel.proofs import Proof
from dpsym.kernel.refusal import Refusal, TooLarge
from dpsym.kernel.rules import step
from dpsym.kernel.rules_privacy import statement_obligations
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Blend, Guarantee, Inner, Mechanism, Stage, Statement
from dpsym.kernel.theorems import Theorem, prove
from dpsym.search import leaf
from dpsym.search.integrals.growth import growing
from dpsym.search.leaf.budget import clock, look
from dpsym.search.leaf.hinted import Hint
from dpsym.search.privacy import library
from dpsym.search.privacy.blends import at_kinks
from dpsym.search.privacy.leaves import prove_leaf
from dpsym.search.privacy.sampling import in_odds
from dpsym.search.privacy.stages import is_either

LEAF_SECONDS, PATIENT_SECONDS = 10.0, 30.0
Suggestions = tuple[tuple[Mechanism, tuple[Guarantee, ...]], ...]


class Stuck(Exception):
    """No proof was found: ``remaining`` is what one attempt left open, ``reason`` says why."""

    def __init__(
        self, reason: str, remaining: tuple[Sequent, ...] = (), out_of_time: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason, self.remaining, self.out_of_time = reason, remaining, out_of_time


class Unfit(Stuck):
    """One way to prove a statement that is not meant for such statements: it says little."""


class Undefined(Stuck):
    """A term of the statement is not shown to be defined for all values of its parameters."""


class Exhausted(Stuck):
    """A limit of size, of Python's stack, or of memory was reached."""


OUT_OF_TIME = "the budget is used up before a proof or a counterexample was found"


def refused(refusal: Refusal) -> Stuck:
    """What the kernel says of a step that was tried."""
    if isinstance(refusal, TooLarge):
        return Exhausted(too_large(refusal))
    return Stuck(f"a step that was tried does not fit ({refusal})")


def too_large(refusal: Refusal) -> str:
    """That a limit of the kernel was reached."""
    return f"a formula on the way is too large ({refusal.condition} are allowed)"


def better(one: Stuck, other: Stuck) -> bool:
    """Whether the first one says more of what is left."""
    return (bool(one.remaining), not isinstance(one, Unfit)) > (
        bool(other.remaining),
        not isinstance(other, Unfit),
    )


class Steps(ABC):
    """One inference, by way of the rest of the search."""

    def __init__(
        self, deadline: float, suggestions: Suggestions = (), hints: tuple[Hint, ...] = ()
    ) -> None:
        self.deadline, self.suggestions, self.hints = deadline, suggestions, hints
        self.leaf_seconds = LEAF_SECONDS

    def left(self) -> float:
        look()
        left = self.deadline - clock()
        if left <= 0:
            raise Stuck(OUT_OF_TIME, out_of_time=True)
        return left

    def lemma(self, statement: Statement) -> Theorem | None:
        """A theorem for the library, found without its help."""
        try:
            definedness = tuple(self.sequent(item) for item in statement_obligations(statement))
            (claim,) = statement.claims
            family = None if claim.name == "ZCDP" else self.specialised(statement, claim)
            return prove(statement, family or self.directly(statement), definedness)
        except Stuck:
            self.left()  # out of time is not a reason to remember
            return None

    def apply(self, goal: Statement, rule: str, **parameters: Any) -> Proof:
        try:
            premises = step(goal, rule, parameters)
        except Refusal as refusal:
            raise refused(refusal) from None
        found: dict[int, Proof] = {}
        for index in sorted(range(len(premises)), key=lambda i: _effort(premises[i])):
            premise = premises[index]
            if isinstance(premise, Sequent):
                guesses = _guesses(goal, rule, premise)
                found[index] = self.sequent(premise, guesses)
            else:
                found[index] = self.statement(premise)
        return Proof(rule, parameters, tuple(found[i] for i in range(len(premises))))

    def sequent(self, goal: Sequent, guesses: Iterable[tuple[Hint, ...]] = ()) -> Proof:
        limit, started = min(self.left(), self.leaf_seconds), clock()
        try:
            answer = prove_leaf(goal, limit, self.hints, guesses)
        except RecursionError:
            raise Exhausted("a formula is too deep for Python's stack", (goal,)) from None
        if isinstance(answer, Proof):
            return answer
        spent = clock() - started
        short = spent > limit / 2 or answer.reason == leaf.TRIED
        raise Stuck(answer.reason, answer.left or (goal,), out_of_time=short)

    def used(self, goal: Statement, found: library.Use) -> Proof:
        return self.apply(goal, "use", theorem=found[0], mapping=found[1])

    @abstractmethod
    def theorem(self, statement: Statement) -> Theorem: ...

    @abstractmethod
    def statement(self, goal: Statement) -> Proof: ...

    @abstractmethod
    def at_rates(self, goal: Statement) -> Proof: ...

    @abstractmethod
    def mechanisms(self, goal: Statement, start: int) -> Proof: ...

    @abstractmethod
    def directly(self, goal: Statement) -> Proof: ...

    @abstractmethod
    def both_ways(self, goal: Statement) -> Proof: ...

    @abstractmethod
    def tower(self, goal: Statement) -> Proof: ...

    @abstractmethod
    def contradicted(self, goal: Statement) -> Proof: ...

    @abstractmethod
    def specialised(self, goal: Statement, claim: Guarantee) -> Proof | None: ...

    @abstractmethod
    def at_the_end(self, goal: Statement) -> Proof: ...

    @abstractmethod
    def converted(self, goal: Statement, claim: Guarantee) -> Proof: ...

    @abstractmethod
    def cut_through(
        self,
        goal: Statement,
        found: tuple[library.Use, Guarantee],
        rest: Callable[[Statement], Proof] | None = None,
    ) -> Proof: ...

    @abstractmethod
    def candidates(
        self, goal: Statement, single: Inner | Stage, whole: Stage | None = None
    ) -> Iterator[Guarantee]: ...


def _guesses(goal: Statement, rule: str, premise: Sequent) -> Iterable[tuple[Hint, ...]]:
    if rule == "integral":
        return growing(goal, premise)
    if rule != "blended":
        return ()
    (stage,) = goal.stages
    if isinstance(stage, Blend) and is_either(stage):
        return ()
    return itertools.chain(in_odds(premise, stage), at_kinks(premise))


def _effort(premise: Sequent | Statement) -> int:
    return premise.goal.term.size if isinstance(premise, Sequent) else 10**9
