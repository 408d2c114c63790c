"""The outputs of a pair in finitely many disjoint events, with certified masses.

What is seen of an output is a post-processing of it, so a divergence over events is at most the
one over outputs: a lower bound, whatever the events are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Union

import flint
import sympy as sp
from flint import arb

from dpsym.enclosures import continuous, divergences
from dpsym.enclosures.closed import gaussian_rho
from dpsym.enclosures.divergences import Pair
from dpsym.enclosures.failures import NoEnclosureError, Undecided
from dpsym.enclosures.forms import Product
from dpsym.enclosures.integers import Run
from dpsym.enclosures.numbers import ball, sign
from dpsym.enclosures.pieces import Piece
from dpsym.testing.worlds import Stage, World

__all__ = ["BITS", "Event", "distance_of", "events", "gaussian_distance"]

BITS = 160
_CELLS, _GAUSSIAN_CELLS, _INTEGERS = 48, 384, 400
_TOGETHER = 256
_REACH = 11  # standard deviations
_MASS_BITS = 40
_GROWTH, _DOUBLINGS, _OUTSIDE = 1.19, 24, 1e-3
_UNKNOWN = arb(0).union(arb(1))
Mass = Union[arb, None]  # None: exactly 0


@dataclass(frozen=True)
class Event:
    """``count`` disjoint sets of outputs with these masses each; None for one that is exactly 0."""

    p: Mass
    q: Mass
    count: arb


def gaussian_distance(pair: Pair) -> sp.Expr | None:
    """The distance of the means over sigma, for two Gaussians of one variance on the line.

    >>> from dpsym.mechanisms import GaussianPair
    >>> gaussian_distance(divergences.pair_of(GaussianPair(0, 2, 3, 2).neighbours()[0].parts))
    3/2
    """
    if not pair.line:
        return None
    rho = gaussian_rho(pair)
    return None if rho is None else sp.sqrt(2 * rho)


def distance_of(stage: Stage) -> sp.Expr | None:
    """That of a stage's pair."""
    if stage.inside is not None:
        return None
    return stage.distance if stage.given is None else gaussian_distance(stage.given)


def events(stage: Stage) -> tuple[Event, ...]:
    """Events of the stage's two distributions, which make up all outputs but for those that
    neither has.

    Raises: NoEnclosureError; Undecided; Infinite.
    """
    with flint.ctx.workprec(BITS):
        if stage.inside is not None:
            base = _joint(stage.inside)
        else:
            base = _of_gaussians(stage.distance) if stage.given is None else _events(stage.given)
        return base if stage.plain else tuple(_mixed(base, stage))


def _mixed(base: tuple[Event, ...], stage: Stage) -> Iterator[Event]:
    for event in base:
        yield Event(
            _combined(stage.a, event.p, event.q), _combined(stage.b, event.p, event.q), event.count
        )


def _combined(weights: tuple[sp.Expr, sp.Expr], p: Mass, q: Mass) -> Mass:
    terms = [
        ball(weight) * mass
        for weight, mass in zip(weights, (p, q), strict=True)
        if mass is not None and weight != 0
    ]
    return sum(terms, arb(0)) if terms else None


@lru_cache(maxsize=64)
def _of_gaussians(distance: sp.Expr) -> tuple[Event, ...]:
    return tuple(_gaussian(ball(distance)))


@lru_cache(maxsize=256)
def _events(pair: Pair) -> tuple[Event, ...]:
    if not pair.normalised or pair.fog:
        raise NoEnclosureError("the masses of densities that are known up to a factor")
    found = [
        Event(_mass(p), _mass(q), ball(count)) for p, q, count in pair.atoms if sign(count) > 0
    ]
    distance = gaussian_distance(pair)
    if distance is not None:
        found += _gaussian(ball(distance))
        return tuple(found)
    found += _of_line(pair.line)
    for run in pair.lattice:
        found += _of_run(run)
    if pair.line or pair.lattice:
        found.append(_rest(found))
    return tuple(found)


def _mass(value: sp.Expr) -> Mass:
    return None if sign(value) == 0 else ball(value)


def _rest(found: list[Event]) -> Event:
    """All other outputs, as one event."""
    p, q = (
        1 - sum((event.count * (_value(side(event))) for event in found), arb(0))
        for side in (lambda event: event.p, lambda event: event.q)
    )
    return Event(p.max(arb(0)), q.max(arb(0)), arb(1))


def _value(mass: Mass) -> arb:
    return arb(0) if mass is None else mass


# --- several stages -------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _joint(world: World) -> tuple[Event, ...]:
    """Of independent stages. Outputs whose loss is about the same are put together."""
    joint: tuple[Event, ...] = (Event(arb(1), arb(1), arb(1)),)
    for stage, times in world.stages:
        joint = _product(joint, _power(_gathered(events(stage)), times))
    return joint


def _power(base: tuple[Event, ...], times: int) -> tuple[Event, ...]:
    half = _power(base, times // 2) if times > 1 else None
    if half is None:
        return base
    twice = _product(half, half)
    return _product(twice, base) if times % 2 else twice


def _product(one: tuple[Event, ...], other: tuple[Event, ...]) -> tuple[Event, ...]:
    return _gathered(
        tuple(
            Event(_both(a.p, b.p), _both(a.q, b.q), a.count * b.count) for a in one for b in other
        )
    )


def _both(one: Mass, other: Mass) -> Mass:
    return None if one is None or other is None else one * other


def _gathered(found: tuple[Event, ...]) -> tuple[Event, ...]:
    """No more than some of them, with those together that have about the same loss."""
    if len(found) <= _TOGETHER:
        return found
    losses = [_loss(event) for event in found]
    finite = [loss for loss in losses if isinstance(loss, float)]
    low = min(finite, default=0.0)
    step = (max(finite, default=0.0) - low) / _TOGETHER or 1.0
    sums: dict[object, Event] = {}
    for event, loss in zip(found, losses, strict=True):
        key = int((loss - low) / step) if isinstance(loss, float) else loss
        p, q = (None if x is None else x * event.count for x in (event.p, event.q))
        if key in sums:
            p, q = _sum(sums[key].p, p), _sum(sums[key].q, q)
        sums[key] = Event(p, q, arb(1))
    return tuple(sums.values())


def _loss(event: Event) -> object:
    """About the loss; a text for what has none, or is not known well enough."""
    p, q = event.p, event.q
    if p is None or q is None:
        return "only Q" if p is None else "only P"
    if not (p > 0 and q > 0) or p.rel_accuracy_bits() < 20 or q.rel_accuracy_bits() < 20:
        return "unknown"
    return float((p / q).log().mid())


def _sum(one: Mass, other: Mass) -> Mass:
    return other if one is None else one if other is None else one + other


# --- Gaussians ------------------------------------------------------------------------------------


def _gaussian(mu: arb) -> Iterator[Event]:
    """N(mu, 1) and N(0, 1), in equal steps and two ends."""
    low, high = -_REACH, float(mu.mid()) + _REACH
    cuts = [arb(low + (high - low) * i / _GAUSSIAN_CELLS) for i in range(_GAUSSIAN_CELLS + 1)]
    above_q, above_p = ([_above(x - shift) for x in cuts] for shift in (arb(0), mu))
    below_q, below_p = ([_above(shift - x) for x in cuts] for shift in (arb(0), mu))
    yield Event(below_p[0], below_q[0], arb(1))
    yield Event(above_p[-1], above_q[-1], arb(1))
    for i, left in enumerate(cuts[:-1]):
        # the smaller tail, so that far out nothing cancels
        p = above_p[i] - above_p[i + 1] if left > mu else below_p[i + 1] - below_p[i]
        q = above_q[i] - above_q[i + 1] if left > 0 else below_q[i + 1] - below_q[i]
        yield Event(p, q, arb(1))


def _above(x: arb) -> arb:
    return (x / arb(2).sqrt()).erfc() / 2


# --- pieces of the line ---------------------------------------------------------------------------


def _of_line(line: tuple[Piece, ...]) -> Iterator[Event]:
    marks, reach = _marks(line), 1.0
    ends = [end for piece in line for end in (piece.start, piece.end)]
    if sp.oo in ends or -sp.oo in ends:
        reach = _reach(line, marks)
    for piece in line:
        flat = piece.p is None or piece.q is None or piece.p.shape == piece.q.shape
        cuts = [] if flat else _cuts(piece, marks, reach)
        for left, right in pairwise((piece.start, *cuts, piece.end)):
            yield Event(_integral(piece.p, left, right), _integral(piece.q, left, right), arb(1))


def _marks(line: tuple[Piece, ...]) -> list[float]:
    """Where densities have their ends and kinks: around these they change."""
    ends = [end for piece in line for end in (piece.start, piece.end) if end.is_finite]
    return sorted({float(ball(end).mid()) for end in ends}) or [0.0]


def _reach(line: tuple[Piece, ...], marks: list[float]) -> float:
    """How far from the marks nearly all of P is."""
    reach = max(marks[-1] - marks[0], 1.0)
    for _ in range(_DOUBLINGS):
        low, high = sp.Rational(marks[0] - reach), sp.Rational(marks[-1] + reach)
        outside = arb(0)
        for piece in line:
            if piece.start is -sp.oo and piece.p is not None:
                outside += _integral(piece.p, piece.start, low) or 0
            if piece.end is sp.oo and piece.p is not None:
                outside += _integral(piece.p, high, piece.end) or 0
        if outside < _OUTSIDE:
            break
        reach *= 2
    return reach


def _cuts(piece: Piece, marks: list[float], reach: float) -> list[sp.Rational]:
    """Points in the piece: closer together near the marks, and reaching far at an infinite end."""
    low = None if piece.start is -sp.oo else ball(piece.start)
    high = None if piece.end is sp.oo else ball(piece.end)
    if low is not None and high is not None:
        places = [float((low + (high - low) * i / _CELLS).mid()) for i in range(1, _CELLS)]
    else:
        half = _CELLS // 2
        steps = [reach * (_GROWTH**i - 1) / (_GROWTH**half - 1) for i in range(1, half + 1)]
        places = [marks[0] - step for step in steps] + [marks[-1] + step for step in steps]
        places += [marks[0] + (marks[-1] - marks[0]) * i / 16 for i in range(17)]
    inside = [
        x
        for x in sorted(set(places))
        if (low is None or arb(x) > low) and (high is None or arb(x) < high)
    ]
    return [sp.Rational(x) for x in inside]


def _integral(density: Product | None, left: sp.Expr, right: sp.Expr) -> Mass:
    if density is None:
        return None
    closed = _exponential(density, left, right)
    if closed is not None:
        return closed
    piece = Piece(left, right, density, density)
    try:
        found = continuous.mass(((piece, density),), arb(2) ** -_MASS_BITS, 24).value
    except Undecided:
        return _UNKNOWN
    return found if found.is_finite() else _UNKNOWN


def _exponential(density: Product, left: sp.Expr, right: sp.Expr) -> arb | None:
    """The integral of factor * e^(c + m x)."""
    exponent = density.exponent
    if density.powers or exponent.rest or exponent.degree > 1:
        return None
    c, m = (*exponent.poly, sp.S.Zero, sp.S.Zero)[:2]
    factor = ball(density.factor) * ball(c).exp()
    if sign(m) == 0:
        return factor * (ball(right) - ball(left)) if left.is_finite and right.is_finite else None
    if (left is -sp.oo and sign(m) < 0) or (right is sp.oo and sign(m) > 0):
        return None
    slope, total = ball(m), arb(0)
    for end, side in ((right, 1), (left, -1)):
        if end.is_finite:
            total += side * (slope * ball(end)).exp()
    return factor * total / slope


# --- integers -------------------------------------------------------------------------------------


def _of_run(run: Run) -> Iterator[Event]:
    """Each integer near the middle by itself."""
    middle = run.last if run.first is None else run.first
    if run.first is None and run.last is None:
        start, end = -_INTEGERS // 2, _INTEGERS // 2
    elif run.first is None:
        start, end = int(middle or 0) - _INTEGERS // 2, int(middle or 0)
    else:
        start = run.first
        end = start + _INTEGERS if run.last is None else min(run.last, start + _INTEGERS)
    for k in range(start, end + 1):
        one = Run(k, k, run.p, run.q)
        p, q = (
            None if side is None else divergences.mass(Pair(lattice=(alone,)), _MASS_BITS)
            for side, alone in ((run.p, one), (run.q, Run(k, k, run.q, run.p)))
        )
        yield Event(p, q, arb(1))
