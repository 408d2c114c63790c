"""Mechanisms made of mechanisms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Union

import sympy as sp

from dpsym.errors import InputError
from dpsym.guarantees import Both, Decide, Guarantee
from dpsym.kernel import statements
from dpsym.mechanisms.base import Mechanism
from dpsym.mechanisms.relations import one_relation
from dpsym.scope import Scope
from dpsym.stages import Filtered, Grouped, Made, Parallel, Repeated, Subsampled, inner

__all__ = ["Composition", "Postprocessed", "compose", "postprocess"]


class Postprocessed:
    """The output of a mechanism, sent through a map that does not see the data. Made by
    ``postprocess``."""

    subject: Guarantee | Both

    def __init__(self, subject: Guarantee | Both) -> None:
        object.__setattr__(self, "subject", subject)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("Postprocessed is immutable")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Postprocessed) and self.subject == other.subject

    def __hash__(self) -> int:
        return hash((Postprocessed, self.subject))

    def __repr__(self) -> str:
        return f"postprocess({self.subject!r})"

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        return self.subject.parameters()

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return self.subject.hypotheses()


Part = Union[
    Guarantee, Both, Postprocessed, Mechanism, Repeated, Grouped, Subsampled, Parallel, Filtered
]
"""A subject that is one stage: any mechanism with these guarantees, an explicit one, or one made of
these."""


class Composition(Made):
    """Mechanisms run one after the other on the same input. Made by ``compose``."""

    parts: tuple[Part, ...]

    @property
    def subjects(self) -> tuple[Part, ...]:  # type: ignore[override]  # checked where it is used
        return self.parts

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        for part in self.parts:
            yield from part.parameters()

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return hypotheses(self.parts)

    def to_inner(self, scope: Scope, decide: Decide) -> statements.Joint:
        return statements.Joint(tuple(inner(part, scope, decide) for part in self.subjects))  # type: ignore[arg-type]

    def __init__(self, parts: tuple[Part, ...]) -> None:
        object.__setattr__(self, "parts", parts)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("Composition is immutable")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Composition) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash((Composition, self.parts))

    def __repr__(self) -> str:
        return f"compose({', '.join(map(repr, self.parts))})"


Subject = Union[Part, Composition]
_MADE = (Repeated, Grouped, Subsampled, Parallel, Filtered)
SUBJECTS = (Guarantee, Both, Postprocessed, Mechanism, *_MADE, Composition)


def compose(*subjects: Subject) -> Composition:
    """Run mechanisms one after the other, each knowing the outputs of the earlier ones.

    The composition is adaptive: a stage may be any mechanism that, for every fixed value of the
    earlier outputs and with fresh randomness, has its guarantee. A composition of compositions is
    one composition of all their stages.

    Raises: InputError for no subjects, for what is no guarantee, mechanism or composition, and for
    mechanisms with different neighbouring relations.

    >>> from dpsym.guarantees import PureDP, ZCDP
    >>> compose(PureDP(1), compose(PureDP(2), ZCDP(3)))
    compose(PureDP(1), PureDP(2), ZCDP(3))
    """
    if not subjects:
        raise InputError("compose", "one or more guarantees or mechanisms", "none", got="none")
    parts = tuple(part for subject in subjects for part in parts_of(subject, "compose"))
    one_relation("compose", parts)
    return Composition(parts)


def postprocess(subject: Guarantee | Both) -> Postprocessed:
    """The output of any mechanism with a guarantee, sent through any randomised map that does not
    see the data.

    Raises: InputError for what is no guarantee.

    >>> from dpsym.guarantees import PureDP
    >>> postprocess(PureDP(1))
    postprocess(PureDP(1))
    """
    if not isinstance(subject, (Guarantee, Both)):
        raise InputError("postprocess", "a guarantee such as PureDP(epsilon)", subject)
    return Postprocessed(subject)


def parts_of(subject: object, argument: str) -> Iterator[Part]:
    """The stages of a subject, in order."""
    if isinstance(subject, Composition):
        yield from subject.parts
    elif isinstance(subject, (Guarantee, Both, Postprocessed, Mechanism, *_MADE)):
        yield subject
    else:
        raise InputError(
            argument,
            "a guarantee such as PureDP(epsilon), a mechanism, or a composition of these",
            subject,
        )


def stage(part: Part, scope: Scope, decide: Decide) -> statements.Stage:
    """One stage of a statement."""
    if isinstance(part, Mechanism):
        return part.to_kernel(scope)
    if isinstance(part, (Repeated, Grouped, Subsampled, Parallel)):
        return part.to_inner(scope, decide)
    if isinstance(part, Filtered):
        return part.to_kernel(scope, decide)
    if isinstance(part, Postprocessed):
        return statements.Processed(part.subject.to_kernel(scope, decide))
    return statements.Assumed(part.to_kernel(scope, decide))


def hypotheses(parts: tuple[Part, ...]) -> tuple[sp.Basic, ...]:
    """What the stages add to the assumptions."""
    return tuple(fact for part in parts for fact in part.hypotheses())
