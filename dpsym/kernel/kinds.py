"""The types of rule parameters: each checks a value, and writes and reads its JSON form.

Terms are written as their index in a certificate's table of terms; rationals as strings; what has
been proved earlier (lemmas, theorems) as its index in the certificate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from flint import fmpq

from dpsym.kernel.refusal import Refusal
from dpsym.kernel.statements import (
    INTEGER,
    REAL,
    RELATIONS,
    Assumed,
    Fact,
    Guarantee,
    Mechanism,
    Pair,
    Processed,
    Region,
    Statement,
)
from dpsym.kernel.terms import MAX_DIGITS, Term

MAX_ITEMS = 5000


class Writer(Protocol):
    """What collects the shared parts of a certificate."""

    def term(self, item: Term) -> int: ...
    def earlier(self, item: object) -> int: ...


class Reader(Protocol):
    """What looks the shared parts of a certificate up."""

    def term(self, index: object) -> Term: ...
    def earlier(self, index: object) -> object: ...


class Kind:
    """A type of parameter. ``describe`` completes the sentence "expected ..."."""

    describe = "a value"

    def check(self, value: object) -> None:
        raise Refusal("parameter", "a known kind", value)

    def refuse(self, value: object) -> Refusal:
        return Refusal("parameter", f"expected {self.describe}", value)

    def write(self, value: Any, to: Writer) -> Any:
        return value

    def read(self, data: Any, source: Reader) -> Any:
        return data


@dataclass(frozen=True)
class TermKind(Kind):
    describe = "a term"

    def check(self, value: object) -> None:
        if not isinstance(value, Term):
            raise self.refuse(value)

    def write(self, value: Any, to: Writer) -> Any:
        return to.term(value)

    def read(self, data: Any, source: Reader) -> Any:
        return source.term(data)


@dataclass(frozen=True)
class NameKind(Kind):
    describe = "a name of at most 200 characters"
    shortest: int = 1

    def check(self, value: object) -> None:
        if type(value) is not str or not self.shortest <= len(value) <= 200:
            raise self.refuse(value)


@dataclass(frozen=True)
class WholeKind(Kind):
    """A whole number from ``low`` to ``high``."""

    low: int
    high: int

    def check(self, value: object) -> None:
        if type(value) is not int or not self.low <= value <= self.high:
            raise Refusal("parameter", f"a whole number from {self.low} to {self.high}", value)


@dataclass(frozen=True)
class RationalKind(Kind):
    describe = "a rational number"
    positive: bool = False

    def check(self, value: object) -> None:
        if not isinstance(value, fmpq) or (self.positive and not value > 0):
            raise Refusal(
                "parameter", "a positive rational" if self.positive else "a rational", value
            )

    def write(self, value: Any, to: Writer) -> Any:
        return str(value)

    def read(self, data: Any, source: Reader) -> Any:
        return read_rational(data)


@dataclass(frozen=True)
class ChoiceKind(Kind):
    options: tuple[object, ...]

    def check(self, value: object) -> None:
        if not any(type(value) is type(option) and value == option for option in self.options):
            raise Refusal("parameter", f"one of {self.options}", value)


@dataclass(frozen=True)
class MaybeKind(Kind):
    """The inner kind, or None."""

    inner: Kind

    def check(self, value: object) -> None:
        if value is not None:
            self.inner.check(value)

    def write(self, value: Any, to: Writer) -> Any:
        return None if value is None else self.inner.write(value, to)

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

    def write(self, value: Any, to: Writer) -> Any:
        return [self.inner.write(item, to) for item in value]

    def read(self, data: Any, source: Reader) -> Any:
        return tuple(self.inner.read(item, source) for item in read_list(data))


@dataclass(frozen=True)
class RowKind(Kind):
    """A tuple of values of these kinds, in order."""

    inner: tuple[Kind, ...]

    def check(self, value: object) -> None:
        if type(value) is not tuple or len(value) != len(self.inner):
            raise Refusal("parameter", f"{len(self.inner)} values", value)
        for kind, item in zip(self.inner, value, strict=True):
            kind.check(item)

    def write(self, value: Any, to: Writer) -> Any:
        return [kind.write(item, to) for kind, item in zip(self.inner, value, strict=True)]

    def read(self, data: Any, source: Reader) -> Any:
        items = read_list(data, len(self.inner))
        return tuple(kind.read(item, source) for kind, item in zip(self.inner, items, strict=True))


@dataclass(frozen=True)
class RecordKind(Kind):
    """An instance of a data class, whose fields have these kinds, in order."""

    made: type
    fields: tuple[Kind, ...]

    def values(self, value: Any) -> tuple[Any, ...]:
        return tuple(getattr(value, name) for name in self.made.__dataclass_fields__)

    def check(self, value: object) -> None:
        if type(value) is not self.made:
            raise Refusal("parameter", f"a {self.made.__name__}", value)
        RowKind(self.fields).check(self.values(value))

    def write(self, value: Any, to: Writer) -> Any:
        return RowKind(self.fields).write(self.values(value), to)

    def read(self, data: Any, source: Reader) -> Any:
        values = RowKind(self.fields).read(data, source)
        RowKind(self.fields).check(values)
        return self.made(*values)


@dataclass(frozen=True)
class OneOfKind(Kind):
    """A record of one of several classes; written with the class's name."""

    options: tuple[RecordKind, ...]

    def option(self, name: object) -> RecordKind:
        for kind in self.options:
            if kind.made.__name__ == name:
                return kind
        raise Refusal("parameter", f"one of {[kind.made.__name__ for kind in self.options]}", name)

    def check(self, value: object) -> None:
        self.option(type(value).__name__).check(value)

    def write(self, value: Any, to: Writer) -> Any:
        name = type(value).__name__
        return [name, self.option(name).write(value, to)]

    def read(self, data: Any, source: Reader) -> Any:
        name, rest = read_list(data, 2)
        return self.option(name).read(rest, source)


@dataclass(frozen=True)
class EarlierKind(Kind):
    """Something the kernel has proved: an instance of one of its sealed classes."""

    sealed: list[type] = field(default_factory=list, hash=False)
    describe = "something proved earlier"

    def check(self, value: object) -> None:
        if not any(type(value) is kind for kind in self.sealed):
            raise self.refuse(value)

    def write(self, value: Any, to: Writer) -> Any:
        return to.earlier(value)

    def read(self, data: Any, source: Reader) -> Any:
        return source.earlier(data)


def read_list(data: object, length: int | None = None) -> Sequence[Any]:
    if type(data) is not list or len(data) > MAX_ITEMS:
        raise Refusal("certificate", f"a list of at most {MAX_ITEMS} items", type(data).__name__)
    if length is not None and len(data) != length:
        raise Refusal("certificate", f"a list of {length} items", len(data))
    return data


def read_rational(data: object) -> fmpq:
    """A rational from ``"p"`` or ``"p/q"`` in decimal digits; nothing else."""
    if type(data) is not str or len(data) > 2 * MAX_DIGITS:
        raise Refusal("certificate", "a rational is a short string", str(data)[:40])
    above, _, under = data.partition("/")
    digits = above.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > MAX_DIGITS:
        raise Refusal("certificate", "a rational is p or p/q in digits", data[:40])
    if "/" in data and not (under.isascii() and under.isdigit() and under.strip("0")):
        raise Refusal("certificate", "a rational's denominator is positive", data[:40])
    try:
        return fmpq(int(above), int(under or "1"))
    except ValueError as error:  # Python's own limit on digits
        raise Refusal("certificate", "a rational has not too many digits", len(data)) from error


TERM = TermKind()
NAME = NameKind()
RATIONAL = RationalKind()
POSITIVE = RationalKind(positive=True)
SIGN = ChoiceKind((1, -1))
FLAG = ChoiceKind((False, True))
FACT = RecordKind(Fact, (TERM, ChoiceKind(RELATIONS)))
GUARANTEE = RecordKind(Guarantee, (NAME, ListKind(MaybeKind(TERM)), FLAG, FLAG))
VARIABLES = ListKind(RowKind((NAME, ChoiceKind((REAL, INTEGER)))))
FACTS, GUARANTEES = ListKind(FACT), ListKind(GUARANTEE)
REGION = RecordKind(Region, (TERM, TERM, MaybeKind(NAME), FACTS, MaybeKind(TERM)))
PAIR = RecordKind(Pair, (ListKind(REGION), VARIABLES, FACTS, NameKind(shortest=0)))
STAGE = OneOfKind(
    (
        RecordKind(Assumed, (GUARANTEES,)),
        RecordKind(Processed, (GUARANTEES,)),
        RecordKind(Mechanism, (ListKind(PAIR),)),
    )
)
STATEMENT = RecordKind(Statement, (VARIABLES, FACTS, ListKind(STAGE), GUARANTEES))
