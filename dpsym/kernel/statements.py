"""What a theorem says: parameters, facts about them, the stages of a mechanism, and the claims.

A statement is plain data. Its meaning:

    for all values of ``variables`` at which every one of ``facts`` holds, and for every adaptive
    composition of one mechanism per stage, where the mechanism of a stage has, for each fixed
    output of the earlier stages and with fresh randomness, everything that the stage says:
    the composition has every one of ``claims``.

An ``Assumed`` stage is any pair of output distributions with the listed guarantees, and a
``Processed`` stage one that such a pair becomes under a randomised map. A ``Mechanism``
stage is an explicit family of neighbouring pairs, written as densities. ``Repeated``, ``Group``,
``Blend`` and ``Filter`` stages are made of these. What a guarantee's name means is in
``definitions``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Union

from dpsym.kernel.refusal import Refusal
from dpsym.kernel.terms import Term, substitute

RELATIONS = (">=", ">", "!=")
RATIO = "$t"  # the likelihood ratio p/q of a stage; "$" cannot occur in a user's name
PREFIX = "$s"  # the likelihood ratio of all earlier stages
REAL, INTEGER = "real", "integer"


@dataclass(frozen=True, slots=True)
class Fact:
    """``term rel 0``, where ``rel`` is ``>=``, ``>`` or ``!=``."""

    term: Term
    rel: str

    def __post_init__(self) -> None:
        if not isinstance(self.term, Term) or self.rel not in RELATIONS:
            raise Refusal("fact", "a term and one of >=, >, !=", self.term, self.rel)

    def substitute(self, mapping: dict[str, Term]) -> Fact:
        return Fact(substitute(self.term, mapping), self.rel)

    def __repr__(self) -> str:
        return f"{self.term!r} {self.rel} 0"


@dataclass(frozen=True, slots=True)
class Guarantee:
    """A privacy notion's name and arguments, for (P, Q) and (Q, P) if ``two_way``, else for (P, Q),
    or for (Q, P) if ``reverse``.

    An argument is a term over the parameters, except that ``MomentBound`` has the three arguments
    f (a term in ``$t`` too), its value on the ray q = 0 (None: plus infinity) and the bound.
    """

    name: str
    args: tuple[Term | None, ...]
    two_way: bool = True
    reverse: bool = False

    def substitute(self, mapping: dict[str, Term]) -> Guarantee:
        args = tuple(None if arg is None else substitute(arg, mapping) for arg in self.args)
        return Guarantee(self.name, args, self.two_way, self.reverse)


@dataclass(frozen=True, slots=True)
class Region:
    """A part of the output space: ``weight`` atoms of masses p and q each, or, if ``output`` names
    a variable, densities p and q of that variable on the interval that ``facts`` describe; for the
    ``kind`` "integer", masses p and q of each integer there."""

    p: Term
    q: Term
    output: str | None = None
    facts: tuple[Fact, ...] = ()
    weight: Term | None = None
    kind: str = REAL


@dataclass(frozen=True, slots=True)
class Pair:
    """A family of pairs (P, Q), one for every value of ``variables`` at which ``facts`` hold.

    The densities and masses are those of P and Q; unless ``normalised``, up to one positive factor,
    the same for both, that may depend on everything but the output."""

    regions: tuple[Region, ...]
    variables: tuple[tuple[str, str], ...] = ()
    facts: tuple[Fact, ...] = ()
    label: str = ""
    normalised: bool = True


@dataclass(frozen=True, slots=True)
class Assumed:
    """Any mechanism with all of these guarantees."""

    guarantees: tuple[Guarantee, ...]


@dataclass(frozen=True, slots=True)
class Processed:
    """The output of any mechanism with all of these guarantees, sent through any randomised map
    that does not see the data."""

    guarantees: tuple[Guarantee, ...]


@dataclass(frozen=True, slots=True)
class Mechanism:
    """An explicit mechanism: its neighbouring pairs."""

    pairs: tuple[Pair, ...]


Single = Union[Assumed, Mechanism]


@dataclass(frozen=True, slots=True)
class Joint:
    """An adaptive composition as one mechanism, of which other stages are made."""

    stages: tuple[Inner, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """An adaptive composition of ``count`` mechanisms, each of which has, for fixed outputs of the
    earlier ones, what ``stage`` says."""

    stage: Inner
    count: Term


@dataclass(frozen=True, slots=True)
class Group:
    """A pair (R_0, R_k) for k = ``count``, where ``stage`` says what each (R_i, R_(i + 1)) is."""

    stage: Inner
    count: Term


@dataclass(frozen=True, slots=True)
class Link:
    """What the pair (R_first, R_second) of a blend's distributions is."""

    first: int
    second: int
    stage: Inner


@dataclass(frozen=True, slots=True)
class Blend:
    """A pair (P, Q) of which, given a random value that is the same for both and that the output
    need not show, P is the mixture of distributions R_0, R_1, ... with the weights ``p``, Q the one
    with the weights ``q``, and ``links`` say what the pairs of these distributions are."""

    p: tuple[Term, ...]
    q: tuple[Term, ...]
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """An adaptive composition of mechanisms, each of which has what ``stage`` says at a value of
    ``name`` that is at least 0 and may depend on the outputs of the earlier ones, as the decision
    to go on may. The values add up to at most ``budget``, and there are at most so many mechanisms,
    some number that is fixed in advance."""

    name: str
    stage: Assumed
    budget: Term


@dataclass(frozen=True, slots=True)
class Choice:
    """One of these mechanisms; which one may depend on the earlier outputs, and is not known."""

    stages: tuple[Inner, ...]


Inner = Union[Assumed, Mechanism, Repeated, Group, Blend, Choice, Joint]
Stage = Union[Assumed, Processed, Mechanism, Repeated, Group, Blend, Choice, Filter]


def parts(stage: Stage | Joint) -> tuple[Inner, ...]:
    """The stages that a stage is made of, or itself."""
    if isinstance(stage, Processed):
        return (Assumed(stage.guarantees),)
    if isinstance(stage, Blend):
        return tuple(link.stage for link in stage.links)
    if isinstance(stage, (Joint, Choice)):
        return stage.stages
    return (stage.stage,) if isinstance(stage, (Repeated, Group, Filter)) else (stage,)


def opened(stage: Inner) -> tuple[Stage, ...]:
    """The stages of a composition that a stage is made of, or the stage."""
    if isinstance(stage, Joint):
        return tuple(one for part in stage.stages for one in opened(part))
    return (stage,)


def singles(stage: Stage | Joint) -> tuple[Single, ...]:
    """The guarantees and explicit mechanisms that a stage is made of, however deep."""
    if isinstance(stage, (Assumed, Mechanism)):
        return (stage,)
    return tuple(single for part in parts(stage) for single in singles(part))


def shapes(stage: Stage | Joint) -> tuple[Stage | Joint, ...]:
    """The stage, and what it is made of."""
    if isinstance(stage, (Assumed, Mechanism, Processed)):
        return (stage,)
    return (stage, *(one for part in parts(stage) for one in shapes(part)))


@dataclass(frozen=True, slots=True)
class Statement:
    """See the module's text. ``variables`` are (name, "real" or "integer") in a fixed order."""

    variables: tuple[tuple[str, str], ...]
    facts: tuple[Fact, ...]
    stages: tuple[Stage, ...]
    claims: tuple[Guarantee, ...]


def replaced(
    item: Any, names: dict[str, Term], idle: Callable[[Fact], bool] = lambda fact: False
) -> Any:
    """Any of these data with other terms for variables, without the facts that become ``idle``."""
    if isinstance(item, Term):
        return substitute(item, names)
    if isinstance(item, tuple):
        moved = (replaced(part, names, idle) for part in item)
        return tuple(part for part in moved if not (isinstance(part, Fact) and idle(part)))
    fields: tuple[str, ...] = getattr(item, "__match_args__", ())
    parts = (replaced(getattr(item, name), names, idle) for name in fields)
    return type(item)(*parts) if fields else item
