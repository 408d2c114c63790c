"""The types of rule parameters: each checks a value, and reads it from a certificate's JSON.

There, a term is its index in the certificate's table of terms, a rational a string, what has been
proved earlier (lemmas, theorems) its index; tuples and records are lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from flint import fmpq

from dpsym.kernel import statements as st
from dpsym.kernel.refusal import Refusal, require
from dpsym.kernel.terms import MAX_DIGITS, Term

MAX_ITEMS = 5000
_DIGITS = f"[0-9]{{1,{MAX_DIGITS}}}"
_RATIONAL = re.compile(f"-?{_DIGITS}(?:/({_DIGITS}))?")


class Reader(Protocol):
    """What looks the shared parts of a certificate up."""

    def term(self, index: object) -> Term: ...
    def earlier(self, index: object) -> object: ...


class Kind:
    """A type of parameter. ``describe`` completes the sentence "expected ..."."""

    describe: str

    def check(self, value: Any) -> None:
        """Refuse a value that is not of this kind."""
        raise self.refuse(value)

    def refuse(self, value: object) -> Refusal:
        return Refusal("parameter", f"expected {self.describe}", value)

    def read(self, data: Any, source: Reader) -> Any:
        """The value; it still has to be checked."""
        return data


@dataclass(frozen=True)
class Plain(Kind):
    """The values that pass a test."""

    describe: str
    fits: Callable[[Any], bool]

    def check(self, value: Any) -> None:
        if not self.fits(value):
            raise self.refuse(value)


class _Term(Plain):
    def read(self, data: Any, source: Reader) -> Any:
        return source.term(data)


class _Rational(Plain):
    def read(self, data: Any, source: Reader) -> Any:
        return read_rational(data)


def whole(low: int, high: int) -> Kind:
    what = f"a whole number from {low} to {high}"
    return Plain(what, lambda value: type(value) is int and low <= value <= high)


def choice(*options: object) -> Kind:
    known = [(type(option), option) for option in options]  # so that True is not 1
    return Plain(f"one of {options}", lambda value: (type(value), value) in known)


@dataclass(frozen=True)
class MaybeKind(Kind):
    """The inner kind, or None."""

    inner: Kind

    def check(self, value: object) -> None:
        if value is not None:
            self.inner.check(value)

    def read(self, data: Any, source: Reader) -> Any:
        return None if data is None else self.inner.read(data, source)


@dataclass(frozen=True)
class ListKind(Kind):
    """A tuple of values of one kind."""

    inner: Kind

    def check(self, value: object) -> None:
        if type(value) is not tuple or len(value) > MAX_ITEMS:
            raise Refusal("parameter", f"a list of at most {MAX_ITEMS} values", value)
        for item in value:
            self.inner.check(item)

    def read(self, data: Any, source: Reader) -> Any:
        return tuple([self.inner.read(item, source) for item in read_list(data)])


@dataclass(frozen=True)
class RowKind(Kind):
    """A tuple, or an instance of a data class: values of these kinds, in order."""

    inner: tuple[Kind, ...]
    made: Any = tuple

    def check(self, value: Any) -> None:
        require(type(value) is self.made, "parameter", f"a {self.made.__name__}", value)
        if self.made is not tuple:
            value = [getattr(value, name) for name in self.made.__match_args__]
        require(len(value) == len(self.inner), "parameter", f"{len(self.inner)} values", value)
        for kind, item in zip(self.inner, value, strict=True):
            kind.check(item)

    def read(self, data: Any, source: Reader) -> Any:
        items = read_list(data, len(self.inner))
        values = [kind.read(item, source) for kind, item in zip(self.inner, items, strict=True)]
        return tuple(values) if self.made is tuple else self.made(*values)


@dataclass(frozen=True)
class OneOfKind(Kind):
    """A record of one of several classes; in JSON the class's name goes before it."""

    options: tuple[RowKind, ...]

    def option(self, name: object) -> RowKind:
        found = [kind for kind in self.options if kind.made.__name__ == name]
        require(bool(found), "parameter", "one of the classes that can stand here", name)
        return found[0]

    def check(self, value: object) -> None:
        self.option(type(value).__name__).check(value)

    def read(self, data: Any, source: Reader) -> Any:
        name, rest = read_list(data, 2)
        return self.option(name).read(rest, source)


@dataclass(frozen=True)
class EarlierKind(Kind):
    """Something the kernel has proved: an instance of one of its sealed classes."""

    sealed: list[type] = field(default_factory=list, hash=False)
    describe = "something proved earlier"

    def check(self, value: Any) -> None:
        if type(value) not in self.sealed:
            raise self.refuse(value)

    def read(self, data: Any, source: Reader) -> Any:
        return source.earlier(data)


def read_list(data: object, length: int | None = None, most: int = MAX_ITEMS) -> Sequence[Any]:
    if type(data) is not list or len(data) > most:
        raise Refusal("certificate", f"a list of at most {most} items", type(data).__name__)
    fits = length is None or len(data) == length
    require(fits, "certificate", f"a list of {length} items", len(data))
    return data


def read_rational(data: object) -> fmpq:
    """A rational from ``"p"`` or ``"p/q"`` in decimal digits, q positive; nothing else."""
    found = _RATIONAL.fullmatch(data) if type(data) is str else None
    if found is None or (found[1] or "1").strip("0") == "":
        raise Refusal("certificate", "a rational p or p/q in digits", str(data)[:40])
    return fmpq(found[0])


TERM = _Term("a term", lambda value: isinstance(value, Term))
LABEL = Plain("at most 200 characters", lambda value: type(value) is str and len(value) <= 200)
NAME = Plain("a name of at most 200 characters", lambda value: LABEL.fits(value) and value != "")
RATIONAL = _Rational("a rational", lambda value: isinstance(value, fmpq))
POSITIVE = _Rational("a positive rational", lambda value: isinstance(value, fmpq) and value > 0)
INDEX = whole(0, 10_000)
SIGN, FLAG = choice(1, -1), choice(False, True)
NUMBERS = choice(st.REAL, st.INTEGER)
FACT = RowKind((TERM, choice(*st.RELATIONS)), st.Fact)
GUARANTEE = RowKind((NAME, ListKind(MaybeKind(TERM)), FLAG, FLAG), st.Guarantee)
VARIABLES = ListKind(RowKind((NAME, NUMBERS)))
FACTS, GUARANTEES = ListKind(FACT), ListKind(GUARANTEE)
REGION = RowKind((TERM, TERM, MaybeKind(NAME), FACTS, MaybeKind(TERM), NUMBERS), st.Region)
PAIR = RowKind((ListKind(REGION), VARIABLES, FACTS, LABEL, FLAG), st.Pair)
MECHANISM = RowKind((ListKind(PAIR),), st.Mechanism)
ASSUMED, PROCESSED = (RowKind((GUARANTEES,), kind) for kind in (st.Assumed, st.Processed))
FILTER = RowKind((NAME, ASSUMED, TERM), st.Filter)


def _made_of(inner: Kind) -> tuple[RowKind, ...]:
    link = RowKind((INDEX, INDEX, inner), st.Link)
    copies = (RowKind((inner, TERM), kind) for kind in (st.Repeated, st.Group))
    blend = RowKind((ListKind(TERM), ListKind(TERM), ListKind(link)), st.Blend)
    return (*copies, blend, RowKind((ListKind(inner),), st.Choice))


_inner = OneOfKind((ASSUMED, MECHANISM))
for _ in range(3):  # as deep as stages are made of others
    _joint = RowKind((ListKind(_inner),), st.Joint)
    _inner = OneOfKind((ASSUMED, MECHANISM, *_made_of(_inner), _joint))
STAGE = OneOfKind((ASSUMED, PROCESSED, MECHANISM, *_made_of(_inner), FILTER))
STATEMENT = RowKind((VARIABLES, FACTS, ListKind(STAGE), GUARANTEES), st.Statement)
