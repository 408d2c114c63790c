"""The types of rule parameters: each checks a value, and reads it from a certificate's JSON.

There, a term is its index in the certificate's table of terms, a rational a string, what has been
proved earlier (lemmas, theorems) its index; tuples and records are lists.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

from flint import fmpq

from dpsym.kernel import statements as st
from dpsym.kernel.refusal import Refusal, expect, require
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

    describe = "a value"

    def fits(self, value: object) -> bool:
        return False

    def check(self, value: object) -> None:
        """Refuse a value that is not of this kind."""
        if not self.fits(value):
            raise self.refuse(value)

    def refuse(self, value: object) -> Refusal:
        return Refusal("parameter", f"expected {self.describe}", value)

    def read(self, data: Any, source: Reader) -> Any:
        """The value; it still has to be checked."""
        return data


class TermKind(Kind):
    describe = "a term"

    def fits(self, value: object) -> bool:
        return isinstance(value, Term)

    def read(self, data: Any, source: Reader) -> Any:
        return source.term(data)


@dataclass(frozen=True)
class NameKind(Kind):
    describe = "a name of at most 200 characters"
    shortest: int = 1

    def fits(self, value: object) -> bool:
        return type(value) is str and self.shortest <= len(value) <= 200


@dataclass(frozen=True)
class WholeKind(Kind):
    """A whole number from ``low`` to ``high``."""

    low: int
    high: int

    def check(self, value: object) -> None:
        fits = type(value) is int and self.low <= value <= self.high
        require(fits, "parameter", f"a whole number from {self.low} to {self.high}", value)


@dataclass(frozen=True)
class RationalKind(Kind):
    positive: bool = False

    def check(self, value: object) -> None:
        number = expect(fmpq, value, "parameter", "a rational")
        require(not self.positive or number > 0, "parameter", "a positive rational", value)

    def read(self, data: Any, source: Reader) -> Any:
        return read_rational(data)


@dataclass(frozen=True)
class ChoiceKind(Kind):
    options: tuple[object, ...]

    def check(self, value: object) -> None:
        fits = any(type(value) is type(option) and value == option for option in self.options)
        require(fits, "parameter", f"one of {self.options}", value)


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

    def read(self, data: Any, source: Reader) -> Any:
        items = read_list(data, len(self.inner))
        return tuple(kind.read(item, source) for kind, item in zip(self.inner, items, strict=True))


@dataclass(frozen=True)
class RecordKind(Kind):
    """An instance of a data class, whose fields have these kinds, in order."""

    made: type
    inner: tuple[Kind, ...]

    def check(self, value: Any) -> None:
        require(type(value) is self.made, "parameter", f"a {self.made.__name__}", value)
        RowKind(self.inner).check(tuple(getattr(value, part.name) for part in fields(value)))

    def read(self, data: Any, source: Reader) -> Any:
        values = RowKind(self.inner).read(data, source)
        RowKind(self.inner).check(values)
        return self.made(*values)


@dataclass(frozen=True)
class OneOfKind(Kind):
    """A record of one of several classes; in JSON the class's name goes before it."""

    options: tuple[RecordKind, ...]

    def option(self, name: object) -> RecordKind:
        for kind in self.options:
            if kind.made.__name__ == name:
                return kind
        raise Refusal("parameter", f"one of {[kind.made.__name__ for kind in self.options]}", name)

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

    def fits(self, value: object) -> bool:
        return any(type(value) is kind for kind in self.sealed)

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


TERM, NAME = TermKind(), NameKind()
RATIONAL, POSITIVE = RationalKind(), RationalKind(positive=True)
SIGN, FLAG = ChoiceKind((1, -1)), ChoiceKind((False, True))
FACT = RecordKind(st.Fact, (TERM, ChoiceKind(st.RELATIONS)))
GUARANTEE = RecordKind(st.Guarantee, (NAME, ListKind(MaybeKind(TERM)), FLAG, FLAG))
VARIABLES = ListKind(RowKind((NAME, ChoiceKind((st.REAL, st.INTEGER)))))
FACTS, GUARANTEES = ListKind(FACT), ListKind(GUARANTEE)
REGION = RecordKind(st.Region, (TERM, TERM, MaybeKind(NAME), FACTS, MaybeKind(TERM)))
PAIR = RecordKind(st.Pair, (ListKind(REGION), VARIABLES, FACTS, NameKind(shortest=0)))
MECHANISM = RecordKind(st.Mechanism, (ListKind(PAIR),))
ASSUMED, PROCESSED = (RecordKind(kind, (GUARANTEES,)) for kind in (st.Assumed, st.Processed))
STAGE = OneOfKind((ASSUMED, PROCESSED, MECHANISM))
STATEMENT = RecordKind(st.Statement, (VARIABLES, FACTS, ListKind(STAGE), GUARANTEES))
