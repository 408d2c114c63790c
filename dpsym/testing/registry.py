"""One registry of strategies: by name, for every notion, noise, mechanism and combinator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import sympy as sp
from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from dpsym.errors import InputError
from dpsym.guarantees import NOTIONS
from dpsym.mechanisms import MECHANISMS
from dpsym.mechanisms.noise import NOISES
from dpsym.mechanisms.values import Domain, Value
from dpsym.testing.domains import parameters
from dpsym.testing.numbers import rationals

__all__ = ["COMBINATORS", "FIELDS", "STRATEGIES", "exact", "made", "register", "strategy_for"]

T = TypeVar("T")
Make = Callable[[], SearchStrategy[Any]]

STRATEGIES: dict[str, Make] = {}
"""What draws each kind of thing, by its name. Filled with ``register``."""

COMBINATORS = (
    "both",
    "compose",
    "filtered",
    "group",
    "parallel",
    "postprocess",
    "repeat",
    "subsample",
)


def register(kind: type | str, make: Make | None = None) -> Callable[[Make], Make]:
    """Say how to draw a notion, noise or mechanism: as a decorator, or at once with ``make``.

    What is made of parameters with declared ``domains`` alone needs no strategy of its own.

    Args:
        kind: the class, or the name of a combinator.
        make: a function without arguments that returns a Hypothesis strategy.

    Raises: InputError for what is no such kind.
    """
    name = kind if isinstance(kind, str) else kind.__name__
    if name not in {*NOTIONS, *NOISES, *MECHANISMS, *COMBINATORS}:
        raise InputError("kind", "a notion, noise, mechanism or combinator", kind)

    def add(function: Make) -> Make:
        STRATEGIES[name] = function
        return function

    if make is not None:
        add(make)
    return add


def strategy_for(kind: type | str) -> SearchStrategy[Any]:
    """The strategy of a notion, noise, mechanism or combinator, at exact rational numbers.

    Raises: InputError for a kind that has none.

    >>> from dpsym.testing import simplest
    >>> simplest(strategy_for("Laplace"))
    Laplace(scale=1)
    """
    import dpsym.testing.strategies  # noqa: F401  (fills the registry)

    name = kind if isinstance(kind, str) else kind.__name__
    if name in STRATEGIES:
        return STRATEGIES[name]()
    found = NOTIONS.get(name) or NOISES.get(name) or MECHANISMS.get(name)
    if found is not None and issubclass(found, Value) and _of_parameters(found):
        return _built(found)
    if name in NOTIONS and set(NOTIONS[name].fields) <= set(FIELDS):
        notion = NOTIONS[name]
        return st.builds(notion, *(FIELDS[field]() for field in notion.fields))
    raise InputError(
        "kind", f"one of {', '.join(sorted(STRATEGIES))}, or what dpsym.testing.register adds", kind
    )


def exact(numbers: SearchStrategy[Any]) -> SearchStrategy[sp.Rational]:
    """As SymPy's numbers."""
    return numbers.map(lambda x: sp.Rational(x.numerator, x.denominator))


def _nonnegative() -> SearchStrategy[sp.Rational]:
    return exact(rationals(0, 8))


def _probability() -> SearchStrategy[sp.Rational]:
    return exact(rationals(0, 1))


def _order() -> SearchStrategy[sp.Expr]:
    finite = exact(rationals(0, 64, low_open=True))
    return st.tuples(finite, st.booleans()).map(lambda drawn: sp.oo if drawn[1] else drawn[0])


FIELDS: dict[str, Make] = {
    "alpha": _order,
    "delta": _probability,
    "epsilon": _nonnegative,
    "mu": lambda: exact(rationals(0, 8, low_open=True)),
    "omega": lambda: exact(rationals(1, 64, low_open=True)),
    "rho": _nonnegative,
}
"""Parameters of privacy notions, by name."""


def _of_parameters(kind: type[Value]) -> bool:
    return bool(kind.domains) and set(kind.fields) - {"relation"} == set(kind.domains)


def _built(kind: type[Value]) -> SearchStrategy[Any]:
    values = {name: in_domain(kind.domains[name], name) for name in kind.domains}
    return st.fixed_dictionaries(values).map(lambda found: made(kind, **found))


def made(kind: Callable[..., T], *args: object, **fields: object) -> T:
    """One of a kind; what it does not take, for a reason beyond the domains, is drawn anew."""
    try:
        return kind(*args, **fields)
    except InputError:
        reject()


def in_domain(domain: Domain, name: str) -> SearchStrategy[sp.Rational]:
    """Numbers of a parameter's domain."""
    symbol = domain.symbol(name)
    return parameters(symbol, where=list(domain.facts(symbol))).map(lambda values: values[symbol])
