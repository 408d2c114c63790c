"""Subjects and claims with numbers for their symbols."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, TypeVar

import sympy as sp

from dpsym.combinators import SUBJECTS, parts_of
from dpsym.guarantees import Both, Guarantee, MomentBound
from dpsym.mechanisms.values import Value

__all__ = ["at", "symbols_in"]

T = TypeVar("T")
Values = Mapping[sp.Symbol, sp.Expr]


def at(item: T, values: Values) -> T:
    """The subject or claim with numbers for symbols. Whether they are in range is not looked at.

    >>> from dpsym.guarantees import PureDP
    >>> x, y = sp.symbols("x y", positive=True)
    >>> at(PureDP(x / y), {x: sp.Integer(1), y: sp.Integer(3)})
    PureDP(1/3)
    """
    return _at(item, values) if values else item


def _at(item: Any, values: Values) -> Any:
    if isinstance(item, sp.Basic):
        return item.xreplace(values)
    if isinstance(item, (tuple, list)):
        return type(item)(_at(part, values) for part in item)
    made = isinstance(item, (Value, *SUBJECTS)) or (is_dataclass(item) and hasattr(item, "subject"))
    if not made:
        return item
    copy = object.__new__(type(item))
    for name, part in vars(item).items():
        object.__setattr__(copy, name, _at(part, values))
    return copy


def symbols_in(subject: object, *claims: Guarantee | Both) -> tuple[sp.Symbol, ...]:
    """The parameters, in the order in which they are met.

    >>> from dpsym.guarantees import ApproxDP, ZCDP
    >>> symbols_in(ZCDP(sp.Symbol("rho")), ApproxDP(*sp.symbols("epsilon delta")))
    (rho, epsilon, delta)
    """
    found: dict[sp.Symbol, None] = {}
    for item in (*parts_of(subject, "subject"), *claims):
        for _, expr in item.parameters():
            found.update(dict.fromkeys(sorted(expr.free_symbols, key=str)))
        for claim in item.guarantees if isinstance(item, Both) else (item,):
            if isinstance(claim, MomentBound):
                found.update(dict.fromkeys(sorted(claim.h.free_symbols, key=str)))
    return tuple(found)
