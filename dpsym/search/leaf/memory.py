"""Leaves proved before, up to the names of their variables.

A leaf that differs from an earlier one by names alone is proved by one step of the rule
``instance``, so that a certificate holds the long proof once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dpsym.certificates import nodes
from dpsym.kernel.proofs import Lemma
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term, var

_MOST = 2000
_SMALL = 8  # steps


def shape(sequent: Sequent) -> tuple[Sequent, tuple[str, ...]]:
    """The sequent with its variables called 1, 2, ... and what they were called.

    >>> from dpsym.kernel.terms import num
    >>> def leaf(x: Term, y: Term) -> Sequent:
    ...     return Sequent((Fact(x, ">"),), Fact(y + num(2) * x, ">="))
    >>> first, _ = shape(leaf(var("a"), var("b")))
    >>> second, names = shape(leaf(var("q"), var("p")))
    >>> first == second, names
    (True, ('q', 'p'))
    """
    return _Shape().sequent(sequent)


class _Shape:
    def __init__(self) -> None:
        self.blind: dict[Term, str] = {}
        self.names: dict[str, str] = {}
        self.done: dict[Term, Term] = {}

    def sequent(self, sequent: Sequent) -> tuple[Sequent, tuple[str, ...]]:
        facts = [
            Fact(self.renamed(fact.term), fact.rel) for fact in (*sequent.hypotheses, sequent.goal)
        ]
        return Sequent(tuple(facts[:-1]), facts[-1]), tuple(self.names)

    def key(self, item: Term) -> str:
        """A text of the term that hides names and the order of sums and products."""
        found = self.blind.get(item)
        if found is None:
            parts = [self.key(arg) for arg in item.args]
            if item.op in ("add", "mul"):
                parts.sort()
            own = "" if item.op == "var" else str(item.value)
            text = f"{item.op}{own}({','.join(parts)})"
            found = self.blind[item] = text if len(text) < 60 else f"#{hash_text(text)}"
        return found

    def renamed(self, item: Term) -> Term:
        done = self.done.get(item)
        if done is None:
            if item.op == "var":
                name = self.names.setdefault(str(item.value), str(len(self.names) + 1))
                done = var(name)
            elif item.args:
                args = item.args
                if item.op in ("add", "mul"):
                    args = tuple(sorted(args, key=self.key))
                done = Term(item.op, tuple(self.renamed(arg) for arg in args), item.value)
            else:
                done = item
            self.done[item] = done
        return done


def hash_text(text: str) -> str:
    """A short digest, the same in every process."""
    from hashlib import blake2b

    return blake2b(text.encode(), digest_size=16).hexdigest()


def is_short(lemma: Lemma) -> bool:
    """Whether its proof is so short that it is found again rather than shared."""
    return sum(1 for _ in nodes(lemma.proof)) <= _SMALL


@dataclass(frozen=True)
class Failure:
    """A search of so many seconds for a sequent with these names, and what it left open."""

    seconds: float
    names: tuple[str, ...]
    left: tuple[Sequent, ...]


@dataclass
class Memory:
    """Lemmas by shape, with the names that their variables had; and shapes that stayed open."""

    lemmas: dict[Sequent, tuple[Lemma, tuple[str, ...]]] = field(default_factory=dict)
    open: dict[Sequent, Failure] = field(default_factory=dict)

    def find(self, key: Sequent) -> tuple[Lemma, tuple[str, ...]] | None:
        return self.lemmas.get(key)

    def keep(
        self, key: Sequent, lemma: Lemma, names: tuple[str, ...], at_once: bool = True
    ) -> None:
        """Remember a lemma, unless it was found at once by a proof so short that sharing it gains
        nothing."""
        if len(self.lemmas) >= _MOST:
            self.lemmas.clear()
        if not (at_once and is_short(lemma)):
            self.lemmas[key] = lemma, names

    def tried(self, key: Sequent, seconds: float) -> Failure | None:
        """The search with at least so many seconds that has failed, if there was one."""
        found = self.open.get(key)
        return found if found is not None and found.seconds >= seconds else None

    def failed(self, key: Sequent, failure: Failure) -> None:
        if len(self.open) >= _MOST:
            self.open.clear()
        known = self.open.get(key)
        if known is None or known.seconds <= failure.seconds:
            self.open[key] = failure

    def clear(self) -> None:
        """Forget everything."""
        self.lemmas.clear()
        self.open.clear()
