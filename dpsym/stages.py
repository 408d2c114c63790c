"""Mechanisms run many times, on groups, or on random samples of the data."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Union

import sympy as sp

from dpsym.arguments import nonnegative, probability, real
from dpsym.errors import InputError, shown
from dpsym.guarantees import Both, Decide, Guarantee
from dpsym.kernel import statements
from dpsym.kernel.terms import ONE, ZERO, Term, num, var
from dpsym.mechanisms.base import Mechanism
from dpsym.scope import Scope

__all__ = [
    "Filtered",
    "Grouped",
    "Made",
    "Parallel",
    "Repeated",
    "Subsampled",
    "filtered",
    "group",
    "parallel",
    "repeat",
    "subsample",
]

_ONE = "a guarantee such as PureDP(epsilon), a mechanism, or one made of these"
_COUNT = "a whole number >= 1, or an integer symbol"
_DEEPEST, _MOST_DRAWS = 4, 8


class Made(ABC):
    """A mechanism that is made of others, and of which others can be made."""

    @property
    @abstractmethod
    def subjects(self) -> tuple[One, ...]:
        """What it is made of."""

    @property
    def depth(self) -> int:
        """How many times something is made of something else."""
        return 1 + max((one.depth for one in self.subjects if isinstance(one, Made)), default=0)

    @property
    def relation(self) -> str | None:
        known = (getattr(one, "relation", None) for one in self.subjects)
        return next((relation for relation in known if relation is not None), None)

    @abstractmethod
    def parameters(self) -> Iterator[tuple[str, sp.Expr]]: ...

    @abstractmethod
    def hypotheses(self) -> tuple[sp.Basic, ...]: ...

    @abstractmethod
    def to_inner(self, scope: Scope, decide: Decide) -> statements.Inner: ...


One = Union[Guarantee, Both, Mechanism, Made]


def inner(part: One, scope: Scope, decide: Decide) -> statements.Inner:
    """What a stage is made of."""
    if isinstance(part, Made):
        return part.to_inner(scope, decide)
    if isinstance(part, Mechanism):
        return part.to_kernel(scope)
    return statements.Assumed(part.to_kernel(scope, decide))


@dataclass(frozen=True, repr=False)
class _Copies(Made):
    subject: One
    count: sp.Expr
    argument: ClassVar[str] = "count"

    @property
    def subjects(self) -> tuple[One, ...]:
        return (self.subject,)

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        yield from self.subject.parameters()
        yield self.argument, self.count

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        least = () if self.count.is_number else (sp.Ge(self.count, 1),)
        return (*self.subject.hypotheses(), *least)


class Repeated(_Copies):
    """Copies of a mechanism, one after the other. Made by ``repeat``."""

    def __repr__(self) -> str:
        return f"repeat({self.subject!r}, {self.count})"

    def to_inner(self, scope: Scope, decide: Decide) -> statements.Repeated:
        each = inner(self.subject, scope, decide)
        return statements.Repeated(each, scope.term(self.count, self.argument))


class Grouped(_Copies):
    """A mechanism on data sets that differ in several records. Made by ``group``."""

    argument: ClassVar[str] = "size"

    def __repr__(self) -> str:
        return f"group({self.subject!r}, {self.count})"

    def to_inner(self, scope: Scope, decide: Decide) -> statements.Group:
        each = inner(self.subject, scope, decide)
        return statements.Group(each, scope.term(self.count, self.argument))


@dataclass(frozen=True, repr=False)
class Subsampled(Made):
    """A mechanism on a random sample of the data. Made by ``subsample``."""

    subject: One | tuple[Guarantee | Both, ...]
    rate: sp.Expr
    method: str
    draws: int | None = None

    @property
    def subjects(self) -> tuple[One, ...]:
        return self.subject if isinstance(self.subject, tuple) else (self.subject,)

    @property
    def depth(self) -> int:
        tree = ((self.draws or 1) - 1).bit_length()
        groups = bool(tree) and not isinstance(self.subject, tuple)
        return super().depth + tree + groups

    @property
    def relation(self) -> str:
        return METHODS[self.method]

    def __repr__(self) -> str:
        subject = list(self.subject) if isinstance(self.subject, tuple) else self.subject
        draws = "" if self.draws is None else f", draws={self.draws}"
        return f"subsample({subject!r}, {self.rate}, method={self.method!r}{draws})"

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        for subject in self.subjects:
            yield from subject.parameters()
        yield "rate", self.rate

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        q = self.rate
        inside = () if q.is_number else (sp.Ge(q, 0), sp.Le(q, 1))
        return (*(fact for subject in self.subjects for fact in subject.hypotheses()), *inside)

    def to_inner(self, scope: Scope, decide: Decide) -> statements.Blend:
        each = tuple(inner(subject, scope, decide) for subject in self.subjects)
        if self.draws is not None:
            return _drawn(each, self.rate, self.draws, scope)
        q, rest = _shares(self.rate, scope)
        if self.method == "poisson":  # with the record in the sample, and without it
            link = statements.Link(0, 1, each[0])
            return statements.Blend((q, rest), (ZERO, ONE), (link,))
        return _fixed(each[0], q, rest)


def _shares(chance: sp.Expr, scope: Scope) -> tuple[Term, Term]:
    """A probability and that of the opposite."""
    q = scope.term(chance, "rate")
    return q, scope.term(1 - chance, "rate") if chance.is_Rational else 1 - q


def _fixed(each: statements.Inner, q: Term, rest: Term) -> statements.Blend:
    """With the one record, with the other, and with another of the data in its place."""
    other = _or_equal(each)
    links = (statements.Link(0, 1, each), *(statements.Link(i, 2, other) for i in (0, 1)))
    return statements.Blend((q, ZERO, rest), (ZERO, q, rest), links)


def _drawn(
    each: tuple[statements.Inner, ...], rate: sp.Expr, draws: int, scope: Scope
) -> statements.Blend:
    """Given that the record occurs, it does so k times with some probability. Then this is a sample
    of a fixed size, at the rate at which the record occurs at all, in which k records are replaced.

    That says less than that one mechanism is run on all samples: two k have nothing to do with each
    other here. A witness is to be the same pair for all k, as where what is published depends on
    nothing but whether the record occurs, so that it is one for all samples.
    """
    q, rest = rate, 1 - rate
    some = scope.term(1 - rest**draws, "rate")
    never = scope.term(rest**draws, "rate")

    def sample(k: int) -> statements.Blend:
        own = k == 1 or len(each) > 1
        return _fixed(each[k - 1] if own else statements.Group(each[0], num(k)), some, never)

    def between(low: int, high: int) -> statements.Blend:
        """The record occurs so many times: as a tree, as kernel statements are not deep."""
        if low == high:
            return sample(low)
        middle = (low + high - 1) // 2
        chances = [
            math.comb(draws, k) * q ** (k - low) * rest ** (high - k) for k in range(low, high + 1)
        ]
        fewer, more = _shares(sp.Add(*chances[: middle + 1 - low]) / sp.Add(*chances), scope)
        if fewer is ZERO or more is ZERO:
            return between(low, middle) if more is ZERO else between(middle + 1, high)
        links = (
            statements.Link(0, 2, between(low, middle)),
            statements.Link(1, 3, between(middle + 1, high)),
        )
        return statements.Blend((fewer, more, ZERO, ZERO), (ZERO, ZERO, fewer, more), links)

    return between(1, draws)


def _directed(subject: object) -> bool:
    """Whether the first of two neighbours is the one with the record."""
    if isinstance(subject, Subsampled):
        return subject.method == "poisson"
    return isinstance(subject, Made) and any(map(_directed, subject.subjects))


def _or_equal(each: statements.Inner) -> statements.Inner:
    """Of explicit mechanisms, a single pair may be two equal distributions as well: the record that
    takes the other's place may be like it."""
    if isinstance(each, statements.Assumed):
        return each
    if isinstance(each, (statements.Joint, statements.Choice)):
        return replace(each, stages=tuple(map(_or_equal, each.stages)))
    if isinstance(each, (statements.Repeated, statements.Group)):
        return replace(each, stage=_or_equal(each.stage))
    if isinstance(each, statements.Blend):
        links = (replace(link, stage=_or_equal(link.stage)) for link in each.links)
        return replace(each, links=tuple(links))
    alike = []
    for pair in each.pairs:
        for old, new in () if pair.variables else (("p", "q"), ("q", "p")):
            regions = (replace(one, **{new: getattr(one, old)}) for one in pair.regions)
            alike.append(replace(pair, regions=tuple(regions), label="one of them twice"))
    return statements.Mechanism(tuple(dict.fromkeys([*each.pairs, *alike])))


@dataclass(frozen=True, repr=False)
class Parallel(Made):
    """Mechanisms on parts of the data that have no record in common. Made by ``parallel``."""

    parts: tuple[One, ...]

    @property
    def subjects(self) -> tuple[One, ...]:
        return self.parts

    def __repr__(self) -> str:
        return f"parallel({', '.join(map(repr, self.parts))})"

    @property
    def relation(self) -> str:
        return "add/remove"

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        for subject in self.subjects:
            yield from subject.parameters()

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return tuple(fact for subject in self.subjects for fact in subject.hypotheses())

    def to_inner(self, scope: Scope, decide: Decide) -> statements.Choice:
        return statements.Choice(tuple(inner(part, scope, decide) for part in self.subjects))


@dataclass(frozen=True, repr=False)
class Filtered:
    """Mechanisms whose parameter is chosen as they run, within a budget. Made by ``filtered``."""

    subject: Guarantee | Both
    parameter: sp.Symbol
    budget: sp.Expr

    def __repr__(self) -> str:
        return f"filtered({self.subject!r}, {self.parameter}, {shown(self.budget)})"

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        for name, value in self.subject.parameters():
            if self.parameter not in value.free_symbols:
                yield name, value
            else:
                for symbol in sorted(value.free_symbols - {self.parameter}, key=str):
                    yield name, symbol
        yield "budget", self.budget

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        own = self.subject.hypotheses()
        kept = (fact for fact in own if self.parameter not in fact.free_symbols)
        return (*kept, sp.Ge(self.budget, 0, evaluate=False))

    def to_kernel(self, scope: Scope, decide: Decide) -> statements.Filter:
        if self.parameter.name in scope.symbols:
            raise InputError(
                "parameter", "a symbol that is no parameter of the claim", self.parameter
            )
        name = self.parameter.name
        inside = scope.binding({self.parameter: var(name)})
        stage = statements.Assumed(self.subject.to_kernel(inside, decide))
        return statements.Filter(name, stage, scope.term(self.budget, "budget"))


def filtered(subject: object, parameter: object, budget: object) -> Filtered:
    """Run mechanisms one after the other whose privacy parameters are chosen on the way.

    Each next mechanism, its parameter, and whether to go on may depend on all earlier outputs, as
    long as the parameters are at least 0 and add up to at most the budget; how many mechanisms
    there can be is fixed in advance.

    Args:
        subject: what a mechanism has at a value of the parameter: a guarantee.
        parameter: the symbol in it that is chosen on the way.
        budget: the most that these may add up to, >= 0.

    Raises: InputError for another subject, and a parameter that is no symbol of it.

    Source: Rogers, Roth, Ullman and Vadhan (2016); for Rényi divergences Feldman and Zrnic (2021),
    Theorem 3.1.

    >>> from sympy import symbols
    >>> from dpsym.guarantees import PureDP
    >>> x, b = symbols("x b", nonnegative=True)
    >>> filtered(PureDP(x), x, b)
    filtered(PureDP(x), x, b)
    """
    if not isinstance(subject, (Guarantee, Both)):
        raise InputError("subject", "a guarantee such as PureDP(x)", subject)
    symbols = {symbol for _, value in subject.parameters() for symbol in value.free_symbols}
    if not isinstance(parameter, sp.Symbol) or parameter not in symbols:
        raise InputError("parameter", "a symbol of the guarantee", parameter)
    most = nonnegative("budget", budget)
    if parameter in most.free_symbols:
        raise InputError("budget", f"an expression without {parameter}", budget)
    return Filtered(subject, parameter, most)


def repeat(subject: One, count: object) -> Repeated:
    """Run ``count`` mechanisms one after the other, each knowing the outputs of the earlier ones.

    Args:
        subject: what each of them is: a guarantee, for any mechanisms that have it, or an explicit
            mechanism.
        count: a whole number of at least 1, or an integer symbol, which stands for every such
            number.

    Raises: InputError for another subject or count.

    >>> from sympy import Symbol
    >>> from dpsym.guarantees import PureDP
    >>> repeat(PureDP(1), Symbol("k", integer=True))
    repeat(PureDP(1), k)
    """
    return Repeated(one("repeat", subject), _count("count", count))


def group(subject: One, size: object) -> Grouped:
    """The mechanism on data sets that differ in ``size`` records: each of ``size`` steps from one
    to the other is one between neighbours.

    Args:
        subject: a guarantee, for any mechanism that has it, or an explicit mechanism.
        size: a whole number of at least 1, or an integer symbol.

    Raises: InputError for another subject or size, and for what is made of Poisson samples: some
        steps may add a record and others remove one, while a sample tells which of the two data
        sets has it. Take the guarantee that the sample has.

    >>> from dpsym.guarantees import PureDP
    >>> group(PureDP(1), 3)
    group(PureDP(1), 3)
    """
    if _directed(subject):
        raise InputError("group", "a guarantee of the sample, in both directions", subject)
    return Grouped(one("group", subject), _count("size", size))


METHODS = {
    "poisson": "add/remove",
    "without_replacement": "replace-one",
    "with_replacement": "replace-one",
}
"""Ways to draw a sample, and the neighbouring relation for which each is meant."""


def subsample(
    subject: One | Sequence[Guarantee | Both],
    rate: object,
    method: str = "poisson",
    draws: int | None = None,
) -> Subsampled:
    """Run the mechanism on a random sample of the data that is not published.

    Args:
        subject: a guarantee, for any mechanism that has it, or an explicit mechanism; for the same
            neighbouring relation. With replacement, also a list of guarantees: the first for
            samples that differ in one record, the next for those that differ in at most two, and
            so on to the number of draws. Of one guarantee, those of groups are used.
        rate: the probability that a record is in the sample, or with replacement that one draw
            takes it, which is 1/n for n records; in [0, 1].
        method: "poisson", in which each record is in the sample independently of the others, for
            the relation add/remove; "without_replacement", a sample of a fixed number of records,
            and "with_replacement", of so many independent draws, for replace-one.
        draws: how many draws with replacement: a number from 1 to 8.

    Raises: InputError for another subject, rate, method or number of draws, and a mechanism for
        another relation.

    Sources: Balle, Barthe and Gaboardi (2018), Theorems 8, 9 and 10.

    >>> from sympy import Rational
    >>> from dpsym.guarantees import ApproxDP, PureDP
    >>> subsample(PureDP(1), Rational(1, 10))
    subsample(PureDP(1), 1/10, method='poisson')
    >>> pairs = [ApproxDP(1, Rational(1, 100)), ApproxDP(1, Rational(1, 20))]
    >>> subsample(pairs, Rational(1, 10), method="with_replacement", draws=2)
    subsample([ApproxDP(1, 1/100), ApproxDP(1, 1/20)], 1/10, method='with_replacement', draws=2)
    """
    if method not in METHODS:
        raise InputError("method", " or ".join(METHODS), method)
    count = _times(method, draws)
    if isinstance(subject, (list, tuple)):
        known = _for_each(subject, count)
        return Subsampled(known, probability("rate", rate), method, count)
    part = one("subsample", subject)
    own = getattr(part, "relation", None)
    if own not in (None, METHODS[method]):
        raise InputError(
            "method", f"one for {own}, as for the mechanism that is run on the sample", method
        )
    made = Subsampled(part, probability("rate", rate), method, count)
    if made.depth > _DEEPEST:
        most = "fewer draws, or a list of guarantees: one for each number of records that differ"
        raise InputError("draws", most, draws)
    return made


def _times(method: str, draws: object) -> int | None:
    if method != "with_replacement":
        if draws is not None:
            raise InputError("draws", "none: these are for the method with_replacement", draws)
        return None
    count = real("draws", draws) if draws is not None else None
    if not isinstance(count, sp.Integer) or not 1 <= count <= _MOST_DRAWS:
        raise InputError("draws", f"a number from 1 to {_MOST_DRAWS}, no symbol", draws)
    return int(count)


def _for_each(subject: Sequence[object], draws: int | None) -> tuple[Guarantee | Both, ...]:
    if draws is None:
        raise InputError("subject", "one, unless the sample is with_replacement", subject)
    known = tuple(one for one in subject if isinstance(one, (Guarantee, Both)))
    if len(known) != len(subject) or len(known) != draws:
        raise InputError("subject", "a guarantee for each number of draws", subject)
    return known


def parallel(*subjects: One) -> Parallel:
    """Run each mechanism on a part of the data of its own, where each record is in one part at
    most, whatever the other records are.

    Neighbours differ by one record that is added or removed, so the outputs of all mechanisms but
    one have the same distribution; which one it is, nobody knows, and in a composition it may
    depend on the earlier outputs. Where a record may be replaced, two parts may change: use
    ``compose`` of two.

    Raises: InputError for no subjects, what is no guarantee or mechanism, and mechanisms for
    another neighbouring relation.

    Source: McSherry (2009), Privacy Integrated Queries, Theorem 4.

    >>> from dpsym.guarantees import PureDP
    >>> parallel(PureDP(1), PureDP(2))
    parallel(PureDP(1), PureDP(2))
    """
    if not subjects:
        raise InputError("parallel", "one or more guarantees or mechanisms", "none", got="none")
    for subject in subjects:
        part = one("parallel", subject)
        relation = getattr(part, "relation", None)
        if relation not in (None, "add/remove"):
            raise InputError("parallel", "mechanisms for the relation add/remove", subject)
    return Parallel(subjects)


def one(argument: str, subject: object) -> One:
    """What a mechanism may be made of, or an error."""
    parts = subject.subjects if isinstance(subject, Made) else (subject,)
    if not all(isinstance(part, (Guarantee, Both, Mechanism, Made)) for part in parts):
        raise InputError(argument, _ONE, subject)
    assert isinstance(subject, (Guarantee, Both, Mechanism, Made))
    if isinstance(subject, Made) and subject.depth >= _DEEPEST:
        raise InputError(argument, f"what is made of others at most {_DEEPEST} times", subject)
    return subject


def _count(argument: str, value: object) -> sp.Expr:
    expr = real(argument, value)
    symbol = isinstance(expr, sp.Symbol) and expr.is_integer
    if not symbol and not (isinstance(expr, sp.Integer) and expr >= 1):
        raise InputError(argument, _COUNT, value)
    return expr
