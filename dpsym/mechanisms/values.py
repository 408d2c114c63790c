"""Immutable values, and the domains of their parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy as sp

from dpsym.arguments import nonnegative, positive, probability, real
from dpsym.errors import InputError, shown
from dpsym.translate import exact

__all__ = ["COUNT", "INTEGER", "NONNEGATIVE", "POSITIVE", "PROBABILITY", "REAL", "Domain", "Value"]


@dataclass(frozen=True)
class Domain:
    """Where a parameter lives: what a constant must be, and the facts about it otherwise."""

    check: Callable[[str, object], sp.Expr]
    facts: Callable[[sp.Expr], tuple[sp.Basic, ...]]
    assumptions: dict[str, bool]

    def symbol(self, name: str) -> sp.Symbol:
        """A symbol that runs over it."""
        return sp.Symbol(name, **self.assumptions)


def _count(argument: str, value: object) -> sp.Expr:
    expr = exact(value, argument)
    if not expr.is_integer or (expr.is_Integer and expr < 1):
        raise InputError(argument, "an integer >= 1, or a symbol declared with integer=True", value)
    return expr


def _integer(argument: str, value: object) -> sp.Expr:
    expr = exact(value, argument)
    if not expr.is_integer:
        raise InputError(argument, "an integer, or a symbol declared with integer=True", value)
    return expr


def _at_least(low: int) -> Callable[[sp.Expr], tuple[sp.Basic, ...]]:
    return lambda expr: (sp.Ge(expr, low, evaluate=False),)


REAL = Domain(real, lambda _: (), {"real": True})
NONNEGATIVE = Domain(nonnegative, _at_least(0), {"nonnegative": True})
POSITIVE = Domain(positive, lambda x: (sp.Gt(x, 0, evaluate=False),), {"positive": True})
PROBABILITY = Domain(
    probability,
    lambda x: (sp.Ge(x, 0, evaluate=False), sp.Le(x, 1, evaluate=False)),
    {"nonnegative": True},
)
INTEGER = Domain(_integer, lambda _: (), {"integer": True})
COUNT = Domain(_count, _at_least(1), {"integer": True, "positive": True})


class Value:
    """An immutable value: equal if its class and its fields are.

    ``domains`` has the parameters among the fields.
    """

    fields: ClassVar[tuple[str, ...]]
    domains: ClassVar[dict[str, Domain]] = {}

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _take(self, **values: object) -> None:
        """Set parameters, each checked to be in its domain."""
        self._set(**{name: self.domains[name].check(name, x) for name, x in values.items()})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return (type(self), *(getattr(self, name) for name in self.fields))

    def __repr__(self) -> str:
        values = ((name, getattr(self, name)) for name in self.fields)
        given = ", ".join(
            f"{name}={shown(value)}"
            for name, value in values
            if value is not None and value is not True
        )
        return f"{type(self).__name__}({given})"

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        """The (name, expression) of every parameter, output variables left out."""
        for name in self.domains:
            value = getattr(self, name)
            if value is not None:
                yield name, value

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        """What the meaning adds to the assumptions, such as ``scale > 0``."""
        values = ((name, getattr(self, name)) for name in self.domains)
        return tuple(
            fact
            for name, value in values
            if value is not None
            for fact in self.domains[name].facts(value)
        )

    def obligations(self) -> tuple[sp.Basic, ...]:
        """What must be proved for it to be what it says, such as ``row sum = 1``."""
        return ()

    def assumptions(self) -> tuple[str, ...]:
        """What is taken for granted and not checked, in words."""
        return ()
