"""From a mechanism at given numbers to the pairs whose divergences are the worst."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import sympy as sp

from dpsym.enclosures.divergences import Pair, pair_of, refuse_two_factors
from dpsym.enclosures.enclosure import ends
from dpsym.enclosures.failures import NoEnclosureError, Undecided
from dpsym.enclosures.numbers import sign
from dpsym.enclosures.shapes import is_even, is_translation, largest_shift_is_worst
from dpsym.enclosures.within import Within, is_exact
from dpsym.errors import InputError
from dpsym.mechanisms.base import Neighbours, Part

__all__ = ["SHARE", "Shifts", "Worst", "at", "worst_pairs"]

_MAX_SHIFTS = 64
SHARE = sp.Dummy("shift", dummy_index=-11, real=True)
"""What share of all shifts is below one."""


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


@dataclass(frozen=True)
class Worst:
    """What the largest divergence over all neighbours comes from.

    It is at most the largest one of the pairs ``above`` and of the ``shifts``, at least that of
    the pairs ``below`` and of the shifts; the pairs are the same but for intervals.
    """

    above: tuple[Pair, ...]
    below: tuple[Pair, ...]
    shifts: tuple[Shifts, ...] = ()


@dataclass(frozen=True)
class Shifts:
    """A family of which it is not known which shift is the worst; ``symmetric`` if the reversed
    pair is as bad as the pair."""

    family: Neighbours
    symmetric: bool
    one_way: bool

    def pairs(self, share: sp.Expr) -> tuple[Pair, ...]:
        """Those at the shift with this share of the shifts below it, between 0 and 1.

        Raises: NoEnclosureError if the shifts are integers.
        """
        family = self.family
        if family.integer:
            raise NoEnclosureError(
                "which shift is the worst is known for masses that are log-concave, or even and "
                f"falling on both sides of 0; else at most {_MAX_SHIFTS} shifts are tried"
            )
        assert family.low is not None and family.high is not None
        shift = family.low + share * (family.high - family.low)
        parts = _put(family.parts, family.shift, shift)
        pair = pair_of(parts, family.normalised)
        return (pair,) if self.one_way or self.symmetric else (pair, pair.reversed())


@lru_cache(maxsize=256)
def worst_pairs(families: tuple[Neighbours, ...], one_way: bool) -> Worst:
    """The pairs (P, Q) that count.

    Raises: NoEnclosureError if the shifts are not bounded.
    """
    above: dict[Pair, None] = {}
    below: dict[Pair, None] = {}
    shifts: list[Shifts] = []
    for family in families:
        for item in _instances(family, one_way):
            if isinstance(item, Shifts):
                shifts.append(item)
                continue
            for found, parts in ((above, item.above), (below, item.below)):
                pair = pair_of(parts, family.normalised)
                if not family.normalised:
                    refuse_two_factors(pair)
                found[pair] = None
                if not (one_way or item.symmetric):
                    found[pair.reversed()] = None
    return Worst(tuple(above), tuple(below), tuple(shifts))


@dataclass(frozen=True)
class _Instance:
    """The parts at a shift that matters, or at one that is no smaller, and one that is no larger;
    and whether the reversed pair is as bad as the pair."""

    above: tuple[Part, ...]
    below: tuple[Part, ...]
    symmetric: bool


def _instances(family: Neighbours, one_way: bool) -> Iterator[_Instance | Shifts]:
    shift = family.shift
    if shift is None:
        yield _Instance(family.parts, family.parts, False)
        return
    if family.low is None or family.high is None:
        raise NoEnclosureError("the shifts are not bounded")
    for end in (family.low, family.high):
        _refuse_symbols(end)
    translated = all(_translated(part, shift) for part in family.parts)
    even = translated and all(is_even(part.p, part.variable) for part in family.parts)
    monotone = translated and all(_monotone(part) for part in family.parts)
    if monotone:
        family = _rescaled(family)
    low, high = family.low, family.high
    assert low is not None and high is not None
    if monotone:
        for end in _ends(low, high, one_way and not even):
            near, far = _nearest_and_farthest(end)
            yield _Instance(_put(family.parts, shift, far), _put(family.parts, shift, near), even)
    elif family.integer and sign(high - low - _MAX_SHIFTS) <= 0:
        steps = range(int(sp.ceiling(low)), int(sp.floor(high)) + 1)
        for step in steps:
            if not even or step > 0 or -step not in steps:
                parts = _put(family.parts, shift, sp.Integer(step))
                yield _Instance(parts, parts, even)
    else:
        # (f(x), f(x + t)) is (f(x), f(x - t)) mirrored if f is even, and reversed if it is moved
        if translated and (even or not one_way) and sign(high + low) == 0:
            family = replace(family, low=sp.S.Zero)
        yield Shifts(family, even, one_way)


def _ends(low: sp.Expr, high: sp.Expr, both: bool) -> list[sp.Expr]:
    """The largest shift; (f(x), f(x + t)) is (f(x - t), f(x)) moved, so that the other sign is the
    other direction, which counts unless the claim is about one."""
    if both:
        return [low, high]
    return [high if sign(high + low) >= 0 else low]


def _nearest_and_farthest(shift: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The shift; or two numbers that it is between, the one that is nearer to 0 first."""
    if is_exact(shift):
        return shift, shift
    near, far = ends(shift)
    if near >= 0:
        return near, far
    if far <= 0:
        return far, near
    raise Undecided("the sign of a shift")


def _rescaled(family: Neighbours) -> Neighbours:
    """The same divergences, with constants that are only a scale of the outputs taken out of the
    densities, so that they are in the shifts alone.

    With y = x/s the density f(x) becomes s f(s y), and x - t becomes y - t/s.
    """
    if family.integer or len(family.parts) != 1 or family.shift is None:
        return family
    part, t = family.parts[0], family.shift
    x = part.variable
    for constant in sorted(part.p.atoms(Within), key=str):
        for scale in (constant, 1 / constant):
            p = scale * part.p.xreplace({x: scale * x})
            if p.has(constant) or not constant.low > 0:
                continue
            part = replace(part, p=p, q=p.xreplace({x: x - t}))
            family = replace(
                family, parts=(part,), low=family.low / scale, high=family.high / scale
            )
            break
    return family


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
