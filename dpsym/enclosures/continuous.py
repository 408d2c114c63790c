"""Divergences of two densities on the line, enclosed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy as sp
from flint import acb, arb

from dpsym.enclosures.evaluate import COMPLEX, Function, function, product
from dpsym.enclosures.failures import Infinite, Undecided
from dpsym.enclosures.forms import (
    ZERO,
    Product,
    Sum,
    constant,
    logarithm,
    minus,
    power,
    times,
    to_product,
)
from dpsym.enclosures.numbers import ball, sign
from dpsym.enclosures.pieces import Piece
from dpsym.enclosures.ranges import cut_off
from dpsym.enclosures.rewriting import (
    aligned,
    aligned_product,
    product_towards,
    reflect,
    reflect_product,
    towards,
)
from dpsym.enclosures.roots import Segment, blurred, bounds, signs
from dpsym.enclosures.tails import bound_of_log, germ, hull, integral, of_sum, trend
from dpsym.enclosures.within import is_exact
from dpsym.quadrature import Integrand, between, integrate

__all__ = [
    "Measured",
    "constant_share",
    "excess_share",
    "hockey_stick",
    "kullback_leibler",
    "largest_loss",
    "loss_of",
    "mass",
    "moment",
    "sided",
    "sided_sum",
]

_ZERO, _ONE = arb(0), arb(1)
_MOST_EXPONENTS = 64
_MAX_STEPS = 4000


@dataclass(frozen=True)
class Measured:
    """A value, and how much of its radius comes from the tails."""

    value: arb
    tails: arb


@dataclass(frozen=True)
class _Range:
    """A bounded range on which functions are smooth, on one side of 0."""

    start: arb
    end: arb
    side: int


Tail = Callable[[arb, int], arb]
"""What is beyond T on one side (1: [T, oo), -1: (-oo, -T])."""


@lru_cache(maxsize=1024)
def reach(item: Product, side: int) -> int:
    """About how far out there is mass, as a power of two: where to look first."""
    near = sided(item, side)
    try:
        end, _ = cut_off(lambda t: integral(germ(near, t), t), arb(2) ** -64, _ZERO)
    except (Undecided, Infinite):
        return 0
    return round(math.log2(float(end))) if end > arb(2) ** -1000 else -1000


def _ranges(piece: Piece, item: Product, tail: Tail, tolerance: arb) -> tuple[list[_Range], arb]:
    """The piece without its infinite ends, and what these contribute."""
    outside = _ZERO
    low, high = piece.start, piece.end
    start = None if low is -sp.oo else ball(low)
    end = None if high is sp.oo else ball(high)
    if end is None:
        least = start if start is not None else _ZERO
        cut, rest = cut_off(lambda t: tail(t, 1), tolerance, least, reach(item, 1))
        end, outside = cut, outside + rest
    if start is None:
        least = _ZERO if high is sp.oo else -end
        cut, rest = cut_off(lambda t: tail(t, -1), tolerance, least, reach(item, -1))
        start, outside = -cut, outside + rest
    if start < 0 < end:
        return [_Range(start, _ZERO, -1), _Range(_ZERO, end, 1)], outside
    return [_Range(start, end, 1 if end > 0 else -1)], outside


@lru_cache(maxsize=1024)
def sided(item: Product, side: int) -> Product:
    """As a function of the distance from 0 on that side."""
    return product_towards(item if side > 0 else reflect_product(item), 1)


@lru_cache(maxsize=1024)
def sided_sum(term: Sum, side: int) -> Sum:
    return towards(term if side > 0 else reflect(term), 1)


# --- the integral of a product --------------------------------------------------------------------


def mass(pieces: Sequence[tuple[Piece, Product]], tolerance: arb, bits: int) -> Measured:
    """The integral of products, each over its piece.

    Raises: Infinite if one diverges for sure.
    """
    total, tails = _ZERO, _ZERO
    for piece, item in pieces:

        def tail(start: arb, side: int, item: Product = item) -> arb:
            return integral(germ(sided(item, side), start), start)

        ranges, outside = _ranges(piece, item, tail, tolerance)
        tails += outside.rad()
        total += outside
        for part in ranges:
            total += _integral(item, part, bits)
    return Measured(total, tails)


def _integral(item: Product, part: _Range, bits: int) -> arb:
    sided_item = product_towards(item, part.side)
    density = product(sided_item, COMPLEX)
    return _between(lambda z, _: density(z), product(sided_item), part.start, part.end, bits)


def _between(f: Integrand, rough: Function, start: arb, end: arb, bits: int) -> arb:
    """The integral of f, of which ``rough`` encloses the values, or a bound, on real balls.

    An end at which f is not analytic, such as that of x**(3/2) at 0, is cut off.
    """
    gap = (end - start).mid() * arb(2) ** (-2 * bits)
    cut = _ZERO
    inner_start, inner_end = start + gap, end - gap
    if not f(acb(start.union(inner_start)), True).is_finite():
        cut += rough(start.union(inner_start)) * gap
        start = inner_start
    if not f(acb(inner_end.union(end)), True).is_finite():
        cut += rough(inner_end.union(end)) * gap
        end = inner_end
    return integrate(f, start, end, bits) + cut


def moment(pieces: Sequence[Piece], alpha: sp.Expr, tolerance: arb, bits: int) -> Measured:
    """The integral of ``p**alpha * q**(1 - alpha)``, alpha > 0 and not 1.

    Raises: Infinite.
    """
    found = []
    for piece in pieces:
        if piece.p is None:
            continue
        if piece.q is None:
            if sign(alpha - 1) > 0:
                raise Infinite
            continue
        item = aligned_product(times(power(piece.p, alpha), power(piece.q, 1 - alpha)))
        found.append((piece, item))
    return mass(found, tolerance, bits)


def kullback_leibler(pieces: Sequence[Piece], tolerance: arb, bits: int) -> Measured:
    """The integral of ``p * log(p / q)``. Raises: Infinite."""
    found = []
    for piece in pieces:
        if piece.p is None:
            continue
        if piece.q is None:
            raise Infinite
        loss = loss_of(piece.p, piece.q)
        if loss != ZERO:
            found.append((piece, times(piece.p, to_product(loss))))
    return mass(found, tolerance, bits)


@lru_cache(maxsize=1024)
def loss_of(p: Product, q: Product) -> Sum:
    return aligned(minus(logarithm(p), logarithm(q)))


# --- the hockey-stick divergence ------------------------------------------------------------------


def hockey_stick(pieces: Sequence[Piece], eps: sp.Expr, tolerance: arb, bits: int) -> Measured:
    """The integral of ``max(0, p - exp(eps) * q)``."""
    total, tails = _ZERO, _ZERO
    for piece in pieces:
        if piece.p is None:
            continue
        if piece.q is None:
            found = mass([(piece, piece.p)], tolerance, bits)
        else:
            excess = minus(loss_of(piece.p, piece.q), constant(eps))
            if excess.is_constant:
                share = constant_share(excess)
                if share == 0:
                    continue
                whole = mass([(piece, piece.p)], tolerance, bits)
                found = Measured(whole.value * share, whole.tails * share.upper())
            else:
                found = _positive_part(piece, piece.p, excess, tolerance, bits)
        total += found.value
        tails += found.tails
    return Measured(total, tails)


def constant_share(excess: Sum) -> arb:
    """``max(0, 1 - exp(-excess))`` for an excess that is the same everywhere."""
    if not excess.poly:
        return _ZERO
    value = excess.poly[0]
    try:
        if sign(value) <= 0:
            return _ZERO
    except Undecided:
        if is_exact(value):
            raise
    return _positive(-((-ball(value)).expm1()))


def _positive_part(piece: Piece, p: Product, excess: Sum, tolerance: arb, bits: int) -> Measured:
    """The integral of ``p * max(0, 1 - exp(-excess))``."""

    def tail(start: arb, side: int) -> arb:
        whole = integral(germ(sided(p, side), start), start)
        return whole * excess_share(sided_sum(excess, side), start)

    ranges, outside = _ranges(piece, p, tail, tolerance)
    total = outside
    for part in ranges:
        near = towards(excess, part.side)
        density = product_towards(p, part.side)
        real = function(near)
        for segment in _segments(piece, part, excess, real):
            if segment.sign > 0:
                total += _between_roots(density, near, segment, bits)
            elif segment.sign == 0:
                total += _undecided(density, real, segment, bits)
    return Measured(total, outside.rad())


def _segments(piece: Piece, part: _Range, excess: Sum, real: Function) -> list[Segment]:
    """The signs of the excess on a part of the piece; its growth tells them far out at once."""
    if part.side > 0 and piece.end is sp.oo:
        far, sign_there = _settled(sided_sum(excess, 1), part.start, part.end)
        near = signs(real, part.start, far)
        return [*near, Segment(far, part.end, sign_there)] if sign_there else near
    if part.side < 0 and piece.start is -sp.oo:
        far, sign_there = _settled(sided_sum(excess, -1), -part.end, -part.start)
        near = signs(real, -far, part.end)
        return [Segment(part.start, -far, sign_there), *near] if sign_there else near
    return signs(real, part.start, part.end)


def _settled(excess: Sum, start: arb, end: arb) -> tuple[arb, int]:
    """A T between, and the sign on [T, end]; the end itself and 0 if growth does not tell."""
    exponent = 0
    while arb(2) ** exponent < end and exponent < _MOST_EXPONENTS:
        at = arb(2) ** exponent
        exponent += 1
        if not at > start:
            continue
        try:
            span = of_sum(excess, at).span
        except Undecided:
            continue
        if span > 0 or span < 0:
            return at, 1 if span > 0 else -1
    return end, 0


def excess_share(excess: Sum, start: arb) -> arb:
    """``max(0, 1 - exp(-excess))`` on [start, oo)."""
    try:
        found = of_sum(excess, start)
        if found.span <= 0:
            return _ZERO
        if trend(found) <= 0:
            return _positive(-((-hull(found, start)).expm1()))
    except Undecided:
        pass
    return between(_ZERO, _ONE)


def _positive(value: arb) -> arb:
    """The positive part of a ball."""
    if value <= 0:
        return _ZERO
    if value > 0:
        return value
    return between(_ZERO, value.upper() if value.is_finite() else _ONE)


def _between_roots(density: Product, excess: Sum, segment: Segment, bits: int) -> arb:
    p, r = product(density, COMPLEX), function(excess, COMPLEX)

    def integrand(z: acb, _: bool) -> Any:
        return -(p(z) * (-r(z)).expm1())

    height = product(density)
    found = _between(
        integrand, lambda z: height(z) * between(_ZERO, _ONE), segment.start, segment.end, bits
    )
    return _nonnegative(found)


def _nonnegative(value: arb) -> arb:
    """The same ball without what is below 0, which the value is not."""
    return value if value >= 0 or not value.is_finite() else between(_ZERO, value.upper())


def _undecided(density: Product, excess: Function, segment: Segment, bits: int) -> arb:
    whole = segment.start.union(segment.end)
    value, _, _ = bounds(excess, segment.start, segment.end)
    share = _positive(-((-value).expm1())) if value.is_finite() else between(_ZERO, _ONE)
    if share == 0:
        return _ZERO
    height = product(density)(whole)
    p = product(density, COMPLEX)
    inside = (
        _nonnegative(height) * (segment.end - segment.start)
        if height.is_finite() and height.rad() < abs(height.mid())
        else integrate(lambda z, _: p(z), segment.start, segment.end, bits)
    )
    return between(_ZERO, (inside * share).upper())


# --- the largest loss ---------------------------------------------------------------------------


def largest_loss(pieces: Sequence[Piece], tolerance: arb) -> arb:
    """The supremum of ``log(p / q)`` where p > 0. Raises: Infinite; Undecided."""
    losses = []
    for piece in pieces:
        if piece.p is None:
            continue
        if piece.q is None:
            raise Infinite
        losses.append((piece, piece.p, loss_of(piece.p, piece.q)))
    low = high = arb.neg_inf()
    for piece, _, loss in losses:
        for value in _samples(piece, loss):
            low = low.max(value.lower())
    for piece, p, loss in losses:
        if loss.is_constant:
            found = [ball(loss.poly[0]) if loss.poly else _ZERO]
        else:
            found = list(_suprema(piece, p, loss, tolerance, low))
        for value in found:
            low, high = low.max(value.lower()), high.max(value.upper())
    return between(low, high.max(low))


def _samples(piece: Piece, loss: Sum) -> Iterator[arb]:
    """Some values of the loss: the better the largest one is, the less must be searched."""
    start = arb.neg_inf() if piece.start is -sp.oo else ball(piece.start)
    end = arb.pos_inf() if piece.end is sp.oo else ball(piece.end)
    at = function(loss)
    for exponent in range(-6, 7):
        for point in (arb(2) ** exponent, -(arb(2) ** exponent)):
            if start < point < end:
                value = at(point)
                if value.is_finite():
                    yield value


def _suprema(piece: Piece, p: Product, loss: Sum, tolerance: arb, known: arb) -> Iterator[arb]:
    """Enclosures, the greatest of which holds the supremum if it is above ``known``."""
    tails: dict[tuple[int, object], arb] = {}  # by side and distance

    def tail(start: arb, side: int) -> arb:
        value = bound_of_log(sided_sum(loss, side), start)
        if value < known:
            return _ZERO
        tails[side, start.man_exp()] = value
        return value

    ranges, _ = _ranges(piece, p, tail, tolerance)
    for side, end in ((1, ranges[-1].end), (-1, -ranges[0].start)):
        if end.is_exact() and (side, end.man_exp()) in tails:
            yield tails[side, end.man_exp()]
    for part in ranges:
        yield from _supremum(function(towards(loss, part.side)), part, tolerance, known)


def _supremum(f: Function, part: _Range, tolerance: arb, known: arb) -> Iterator[arb]:
    best = known
    for end in (part.start, part.end):
        value = f(end)
        if value.is_finite():
            best = best.max(value.lower())
            yield value
    stack = [(part.start, part.end)]
    for _ in range(_MAX_STEPS):
        if not stack:
            return
        low, high = stack.pop()
        value, slope, _ = bounds(f, low, high)
        if value < best:
            continue
        if slope > 0 or slope < 0:
            yield f(high if slope > 0 else low)
            continue
        middle = ((low + high) / 2).mid()
        at = f(middle)
        if at.is_finite():
            yield at
            best = best.max(at.lower())
        settled = value.is_finite() and value.upper() - best < tolerance
        if settled or (value.is_finite() and blurred(f, value, low, middle, high)):
            yield value
            continue
        if not low < middle < high:
            break
        stack += [(low, middle), (middle, high)]
    raise Undecided("where the loss is largest")
