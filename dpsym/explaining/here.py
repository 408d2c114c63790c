"""What a sentence about one step of a proof may speak of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpsym.explaining.abbreviating import Abbreviated
from dpsym.kernel.rules import Goal
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term, var

__all__ = ["Headings", "Here", "Mark", "Sentence", "earlier", "names", "says"]


@dataclass(frozen=True)
class Here:
    """A step of a proof as its sentence sees it: the goal (a sequent or a statement), the rule's
    parameters, the premises, how to write, and the names of earlier results."""

    goal: Any
    parameters: Mapping[str, Any]
    premises: Sequence[Any]
    notation: Abbreviated
    name: Callable[[object], str]

    def __getitem__(self, key: str) -> Any:
        return self.parameters[key]

    def show(self, item: Term) -> str:
        return self.notation.show(item)

    def fact(self, item: Term, rel: str) -> str:
        return self.notation.show_fact(Fact(item, rel))

    def named(self, name: str) -> str:
        return self.show(var(name))

    def equal(self, name: str, value: Term) -> str:
        return self.notation.show_equal(var(name), value)


Sentence = Callable[[Here], str]
Mark = Fact | Term | Callable[[Goal], bool]
Headings = Callable[[Here], Iterator[tuple[Mark, str]]]
"""Headings, each of the premise that has the fact as a new hypothesis, is about the term, or passes
the test."""


def says(text: str) -> Sentence:
    return lambda here: text


def names(template: str, *keys: str) -> Sentence:
    """A sentence with parameters in it."""

    def fill(here: Here) -> str:
        values = [here[key] for key in keys]
        shown = (here.show(v) if isinstance(v, Term) else here.named(v) for v in values)
        return template.format(*shown)

    return fill


def earlier(here: Here) -> str:
    known = here.parameters.get("lemma") or here["theorem"]
    at = ", ".join(here.equal(name, item) for name, item in here["mapping"])
    return f"This is {here.name(known)}{f' at {at}' if at else ''}."
