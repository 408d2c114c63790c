"""The signs of a smooth function on a bounded range, proved by interval arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import flint
from flint import arb

from dpsym.enclosures.evaluate import Function, jet

__all__ = ["Segment", "blurred", "bounds", "signs"]

_MAX_SEGMENTS, _MAX_IF_ROUGH = 4000, 200
_STEPS = 200
_BLUR = 2
_SPARE = 12  # bits of the precision that are not asked for


@dataclass(frozen=True)
class Segment:
    """A range, its ends balls; ``sign`` 0 means that the sign is not known there."""

    start: arb
    end: arb
    sign: int


def signs(f: Function, start: arb, end: arb) -> list[Segment]:
    """Segments from the left that cover [start, end], with the sign of f on each.

    A root is a ball that ends one segment and starts the next one. Where f is too flat to tell its
    sign, the segment says 0.

    >>> [segment.sign for segment in signs(lambda z: z * z - 2, arb(-3), arb(3))]
    [1, -1, 1]
    """
    found: list[Segment] = []
    for part in _scan(f, start, end):
        last = found[-1] if found else None
        if last is not None and last.sign == part.sign:
            found[-1] = Segment(last.start, part.end, part.sign)
        else:
            found.append(part)
    return found


def bounds(f: Function, start: arb, end: arb) -> tuple[arb, arb, arb]:
    """The range of f and of its derivative over [start, end], by the mean value theorem too."""
    whole = start.union(end)
    value, slope = jet(f, whole)
    middle = whole.mid()
    centred = f(middle) + slope * (whole - middle)
    return _meet(value, centred), slope, centred


def _meet(first: arb, second: arb) -> arb:
    """A ball with all points in both."""
    if not first.is_finite():
        return second
    if not second.is_finite():
        return first
    return first if first.rad() <= second.rad() else second


def _sign(value: arb) -> int:
    return 1 if value > 0 else -1 if value < 0 else 0


def _scan(f: Function, start: arb, end: arb) -> Iterator[Segment]:
    finest = arb(2) ** (_SPARE - flint.ctx.prec)
    smallest = (end - start).mid() * finest
    stack = [(start, end)]
    count = 0
    centre = f(((start + end) / 2).mid())
    rough = centre.rad() > (abs(centre.mid()) + 1) * arb(2) ** -(flint.ctx.prec // 2)
    limit = _MAX_IF_ROUGH if rough else _MAX_SEGMENTS
    while stack:
        low, high = stack.pop()
        count += 1
        value, slope, _ = bounds(f, low, high)
        at = _sign(value)
        if at:
            yield Segment(low, high, at)
            continue
        if _sign(slope):
            yield from _monotone(f, low, high, slope)
            continue
        narrow = not (high - low).mid() > smallest
        flat = value.is_finite() and abs(value).upper() < finest
        middle = ((low + high) / 2).mid()
        vague = narrow or flat or count > limit or not low < middle < high
        if vague or blurred(f, value, low, middle, high):
            yield Segment(low, high, 0)
            continue
        stack.append((middle, high))
        stack.append((low, middle))


def blurred(f: Function, value: arb, low: arb, middle: arb, high: arb) -> bool:
    """Whether f itself is known so roughly that its values on parts say no more than ``value``."""
    points = [f(point) for point in (low, middle, high)]
    if value.is_finite():
        return bool(value.rad() <= _BLUR * points[1].rad())
    return not any(point.is_finite() for point in points)


def _monotone(f: Function, low: arb, high: arb, slope: arb) -> Iterator[Segment]:
    """Segments where the slope is not 0: there is at most one root."""
    direction = _sign(slope)
    left, right = f(low), f(high)
    first, last = _sign(left), _sign(right)
    if first == last != 0:
        yield Segment(low, high, first)
    elif first == -direction and last == direction:
        root = _root(f, low, high, slope)
        yield Segment(low, root, first)
        yield Segment(root, high, last)
    elif last == direction:  # the root is at the left end, as far as one can see
        near = _meet_end(low + abs(left).upper() / abs(slope).lower(), low, high)
        yield Segment(low, near, 0)
        yield Segment(near, high, last)
    elif first == -direction:
        near = _meet_end(high - abs(right).upper() / abs(slope).lower(), low, high)
        yield Segment(low, near, first)
        yield Segment(near, high, 0)
    else:
        yield Segment(low, high, 0)


def _meet_end(point: arb, low: arb, high: arb) -> arb:
    """The point, or the nearer end if it is beyond it; an exact number where it is inside."""
    exact = point.mid()
    if not point.is_finite() or exact.is_nan():
        return high
    if exact > high:
        return high
    return low if exact < low else point


def _root(f: Function, low: arb, high: arb, slope: arb) -> arb:
    """An enclosure of the only root between low and high, by Newton's interval steps."""
    where = low.union(high)
    for _ in range(_STEPS):
        middle = where.mid()
        step = middle - f(middle) / slope
        if not step.overlaps(where):  # can not be, since there is a root
            return where
        closer = where.intersection(step)
        if not closer.rad() < where.rad() * 0.9:
            better = _halved(f, where, slope)
            if better is None:
                return closer
            closer = better
        where = closer
        slope_here = jet(f, where)[1]
        if slope_here.is_finite() and _sign(slope_here):
            slope = slope_here
    return where


def _halved(f: Function, where: arb, slope: arb) -> arb | None:
    """The half with the root in it, if the sign in the middle tells."""
    middle = where.mid()
    at = _sign(f(middle))
    if at == 0:
        return None
    end = where.lower() if at == _sign(slope) else where.upper()
    return middle.union(end)
