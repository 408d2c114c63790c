"""The answers: ``Proved``, ``Refuted``, ``Unknown`` and ``Vacuous``.

Each is frozen, prints one clear paragraph, keeps what it rests on, and can be matched on::

    match dp.check(subject, claim):
        case Proved(theorem=theorem): ...
        case Refuted(witness=witness): ...
        case Unknown(remaining=left): ...

A verdict has no truth value: ``Unknown`` is neither true nor false, and a test that reads
``if dp.check(...)`` would take a refutation for a proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import NoReturn, Protocol

__all__ = ["Proved", "Refuted", "Unknown", "Vacuous", "Verdict"]


class TheoremLike(Protocol):
    """What a verdict needs of a theorem of the kernel."""

    @property
    def postulates(self) -> tuple[str, ...]:
        """The facts that were assumed with a source and not proved."""

    def certificate(self) -> str:
        """The whole proof as JSON, for ``dpsym verify``."""

    def explain(self, latex: bool = False) -> str:
        """The proof as numbered steps."""

    def rules(self) -> Mapping[str, int]:
        """How often each rule was used."""

    def route(self) -> tuple[str, ...]:
        """The guarantees that the proof goes through, a line each."""


class WitnessLike(Protocol):
    """What a verdict needs of a witness."""

    @property
    def values(self) -> Mapping[str, object]:
        """The exact value of every parameter."""

    def text(self) -> str:
        """Lines that a reader can redo by hand."""


@dataclass(frozen=True, repr=False, eq=False)
class Verdict:
    """What is common to all answers.

    ``statement`` is the claim as the kernel reads it, ``assumptions`` are what is taken for
    granted and not checked, one text each, ``seconds`` is the time it took, and ``latex`` is the
    statement in LaTeX without dollar signs (empty: the plain text is shown).
    """

    statement: str
    assumptions: tuple[str, ...] = field(default=(), kw_only=True)
    seconds: float = field(default=0.0, kw_only=True)
    latex: str = field(default="", kw_only=True)

    def __bool__(self) -> NoReturn:
        name = type(self).__name__
        raise TypeError(
            f"a verdict is not true or false (this one is {name}): match on it, "
            "use isinstance(verdict, dpsym.Proved), "
            "or call dpsym.prove(), which raises unless the claim is proved"
        )

    def __str__(self) -> str:
        statement = self.statement.replace("\n", "\n  ")
        lines = [f"{type(self).__name__}: {statement}"]
        if self.assumptions:
            lines.append(f"taken for granted: {', '.join(self.assumptions)}")
        return "\n  ".join((*lines, *self._grounds()))

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        """The verdict for a notebook."""
        body = self.latex or _latex_text(self.statement)
        return rf"$\displaystyle \text{{{type(self).__name__}: }}{body}$"

    def _grounds(self) -> list[str]:
        """What the answer rests on, one text a line."""
        return []


@dataclass(frozen=True, repr=False, eq=False)
class Proved(Verdict):
    """The claim holds for every value of its parameters, by a proof that the kernel has checked.

    >>> class Theorem:
    ...     postulates = ()
    ...     def rules(self): return {"dual": 2, "tower": 1}
    ...     def route(self): return ()
    ...     def certificate(self): return "{}"
    >>> Proved("the composition has PureDP(e1 + e2)", Theorem(), assumptions=("a density",))
    Proved: the composition has PureDP(e1 + e2)
      taken for granted: a density
      by 3 steps of 2 rules that the kernel checked, on no postulate
    """

    theorem: TheoremLike

    @cached_property
    def certificate(self) -> str:
        """The proof as JSON text, which ``dpsym verify`` re-checks."""
        return self.theorem.certificate()

    @cached_property
    def route(self) -> tuple[str, ...]:
        """The guarantees by way of which the claim is proved, with their sources, a line each."""
        return self.theorem.route()

    def explain(self, latex: bool = False) -> str:
        """The proof as numbered steps that a mathematician can follow.

        With ``latex``, as paragraphs for a LaTeX document that loads amsmath.
        """
        return self.theorem.explain(latex)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the certificate to a file.

        Raises OSError if the file cannot be written.
        """
        Path(path).write_text(self.certificate, encoding="utf-8")

    def _grounds(self) -> list[str]:
        rules, postulates = self.theorem.rules(), self.theorem.postulates
        steps = sum(rules.values())
        assumed = f"postulates: {', '.join(postulates)}" if postulates else "on no postulate"
        way = ["by way of", *(f"  {line}" for line in self.route)] if self.route else []
        return [
            *way,
            f"by {_count(steps, 'step')} of {_count(len(rules), 'rule')} that the kernel checked, "
            f"{assumed}",
        ]


@dataclass(frozen=True, repr=False, eq=False)
class Refuted(Verdict):
    """The claim is false: ``witness`` has exact values that satisfy the hypotheses and break it."""

    witness: WitnessLike

    def _grounds(self) -> list[str]:
        first, *rest = self.witness.text().splitlines() or ["(no text)"]
        return [f"by the witness: {first}", *rest]


@dataclass(frozen=True, repr=False, eq=False)
class Unknown(Verdict):
    """Neither a proof nor a witness was found; it does not mean that the claim is false.

    ``remaining`` are the obligations that are left, each printing as text; ``reason`` says why it
    stopped; ``advice`` is what may help, the most promising first.

    >>> Unknown("x <= y", ("y - x >= 0",), "the budget is used up", advice=("a larger budget",))
    Unknown: x <= y
      the budget is used up
      left to prove: y - x >= 0
      what may help: a larger budget
    """

    remaining: tuple[object, ...] = ()
    reason: str = ""
    advice: tuple[str, ...] = field(default=(), kw_only=True)

    def _grounds(self) -> list[str]:
        """The reason, and what is left unless that is the claim itself."""
        claim = self.statement.split()
        items = [str(item) for item in self.remaining]
        left = [f"left to prove: {item}" for item in items if item.split() != claim]
        helps = [f"what may help: {item}" for item in self.advice]
        return [*([self.reason] if self.reason else []), *left, *helps]


@dataclass(frozen=True, repr=False, eq=False)
class Vacuous(Verdict):
    """No values of the parameters satisfy the conditions, so the claim says nothing.

    Neither ``Proved`` nor ``Refuted``: an empty domain is nearly always a slip.

    >>> Vacuous("x <= y", "x > 1 and x < 0 contradict each other")
    Vacuous: x <= y
      no values satisfy the conditions: x > 1 and x < 0 contradict each other
    """

    reason: str = ""

    def _grounds(self) -> list[str]:
        return ["no values satisfy the conditions" + (f": {self.reason}" if self.reason else "")]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _latex_text(text: str) -> str:
    """The text as it stands; ``\\verb`` is what both LaTeX and MathJax show unchanged."""
    mark = next(char for char in "|!;@\x7f" if char not in text)
    return rf"\verb{mark}{' '.join(text.split())}{mark}"
