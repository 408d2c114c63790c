"""What every explicit mechanism has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import sympy as sp

from dpsym.errors import InputError, shown
from dpsym.kernel import statements
from dpsym.scope import check_symbol
from dpsym.translate import exact, is_random, nodes_of

if TYPE_CHECKING:
    from dpsym.guarantees import Guarantee
    from dpsym.scope import Scope

__all__ = ["Mechanism", "output_variable", "refuse_parameter"]


class Mechanism:
    """An explicit mechanism: a family of neighbouring pairs of output distributions. Immutable."""

    fields: tuple[str, ...]

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def _key(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.fields)

    def __repr__(self) -> str:
        values = ((name, getattr(self, name)) for name in self.fields)
        given = ", ".join(f"{name}={shown(value)}" for name, value in values if value is not None)
        return f"{type(self).__name__}({given})"

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        """The (name, expression) of every parameter, output variables left out."""
        raise NotImplementedError

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        """What the mechanism's meaning adds to the assumptions, such as ``scale > 0``."""
        return ()

    def obligations(self) -> tuple[sp.Basic, ...]:
        """What must be proved for the mechanism to be one, such as ``row sum = 1``."""
        return ()

    def assumptions(self) -> tuple[str, ...]:
        """What is taken for granted and not checked, in words."""
        return ()

    def suggested(self) -> tuple[Guarantee, ...]:
        """Guarantees that it probably has, for the search to prove and build on."""
        return ()

    def to_kernel(self, scope: Scope) -> statements.Mechanism:
        """The pairs as kernel data. All parameters have been declared in the scope before."""
        raise NotImplementedError


def output_variable(variable: object) -> sp.Symbol:
    """A symbol that runs over the outputs.

    Raises: InputError for what is no real symbol.
    """
    if not isinstance(variable, sp.Symbol) or is_random(variable):
        raise InputError("variable", "the symbol of the output", variable)
    check_symbol(variable)
    return variable


def density(expr: object, argument: str) -> sp.Expr:
    """The expression of a density, which must not be a negative number."""
    value = exact(expr, argument)
    if value.is_Rational and value <= 0:
        raise InputError(argument, "a density, which is positive somewhere", expr)
    return value


def free_parameters(expr: sp.Expr, argument: str, variable: sp.Symbol) -> Iterator[sp.Symbol]:
    """The symbols of a density but its variable.

    Raises: InputError for another symbol of the variable's name.
    """
    for node in nodes_of(expr, argument):
        if isinstance(node, sp.Symbol) and node != variable:
            if node.name == variable.name:
                raise InputError(argument, f"one symbol of the name {node.name}", expr)
            yield node


def refuse_parameter(variable: sp.Symbol, scope: Scope) -> str:
    """The name of an output variable, which no parameter of the claim may have.

    Raises: InputError for a clash.
    """
    if variable.name in scope.symbols:
        raise InputError("variable", "a symbol that is no parameter of the claim as well", variable)
    return variable.name
