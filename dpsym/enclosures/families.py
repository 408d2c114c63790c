"""From a mechanism at given numbers to the pairs whose divergences are the worst."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

import sympy as sp

from dpsym.enclosures.divergences import Pair, pair_of
from dpsym.enclosures.failures import NoEnclosureError
from dpsym.enclosures.numbers import sign
from dpsym.enclosures.shapes import is_even, is_translation, largest_shift_is_worst
from dpsym.errors import InputError
from dpsym.mechanisms.base import Neighbours, Part

__all__ = ["at", "worst_pairs"]

_MAX_SHIFTS = 64


def at(
    families: Iterable[Neighbours], values: Mapping[sp.Symbol, sp.Expr]
) -> tuple[Neighbours, ...]:
    """The families with numbers for symbols."""
    return tuple(_at(family, values) for family in families) if values else tuple(families)


def _at(family: Neighbours, values: Mapping[sp.Symbol, sp.Expr]) -> Neighbours:
    def put(expr: sp.Basic) -> sp.Basic:
        return expr.xreplace(values)

    parts = tuple(
        replace(
            part, p=put(part.p), q=put(part.q), support=put(part.support), weight=put(part.weight)
        )
        for part in family.parts
    )
    low = None if family.low is None else put(family.low)
    high = None if family.high is None else put(family.high)
    return replace(family, parts=parts, low=low, high=high)


@lru_cache(maxsize=256)
def worst_pairs(families: tuple[Neighbours, ...], one_way: bool) -> tuple[Pair, ...]:
    """Pairs (P, Q), the largest divergence of which is the largest over all neighbours.

    Raises: NoEnclosureError if no finite set of shifts is known to be the worst.
    """
    found: dict[Pair, None] = {}
    for family in families:
        for parts, symmetric in _instances(family, one_way):
            pair = pair_of(parts, family.normalised)
            found[pair] = None
            if not (one_way or symmetric):
                found[pair.reversed()] = None
    return tuple(found)


def _instances(family: Neighbours, one_way: bool) -> list[tuple[tuple[Part, ...], bool]]:
    """The parts at the shifts that matter; and whether the reversed pair is as bad as the pair."""
    shift = family.shift
    if shift is None:
        return [(family.parts, False)]
    if family.low is None or family.high is None:
        raise NoEnclosureError("the shifts are not bounded")
    low, high = family.low, family.high
    for end in (low, high):
        _refuse_symbols(end)
    translated = all(_translated(part, shift) for part in family.parts)
    even = translated and all(is_even(part.p, part.variable) for part in family.parts)
    if translated and all(_monotone(part) for part in family.parts):
        largest = high if sign(high + low) >= 0 else low
        # (f(x), f(x + t)) is (f(x - t), f(x)) moved: the other sign is the other direction
        ends = [low, high] if one_way and not even else [largest]
        return [(_put(family.parts, shift, end), even) for end in ends]
    if family.integer and sign(high - low - _MAX_SHIFTS) <= 0:
        steps = range(int(sp.ceiling(low)), int(sp.floor(high)) + 1)
        shifts = [step for step in steps if not even or step > 0 or -step not in steps]
        return [(_put(family.parts, shift, sp.Integer(step)), even) for step in shifts]
    raise NoEnclosureError(
        "which shift is the worst is known for densities that are log-concave, or even and falling "
        "on both sides of 0, and for few integer shifts"
    )


def _refuse_symbols(value: sp.Expr) -> None:
    if value.free_symbols:
        raise InputError("where", "a number for every parameter", value)


def _translated(part: Part, shift: sp.Symbol) -> bool:
    return (
        part.variable is not None
        and part.support == sp.S.Reals
        and not part.p.has(shift)
        and is_translation(part.p, part.q, part.variable, shift)
    )


def _monotone(part: Part) -> bool:
    return part.variable is not None and largest_shift_is_worst(part.p, part.variable)


def _put(parts: tuple[Part, ...], shift: sp.Symbol, value: sp.Expr) -> tuple[Part, ...]:
    return tuple(
        replace(part, p=part.p.xreplace({shift: value}), q=part.q.xreplace({shift: value}))
        for part in parts
    )
