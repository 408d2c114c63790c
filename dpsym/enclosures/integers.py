"""Divergences of two distributions on the integers, enclosed: finite sums and certified tails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import sympy as sp
from flint import arb

from dpsym.enclosures.continuous import (
    Measured,
    constant_share,
    excess_share,
    loss_of,
    reach,
    sided,
    sided_sum,
)
from dpsym.enclosures.evaluate import function, product
from dpsym.enclosures.failures import Infinite, Undecided
from dpsym.enclosures.forms import Product, Sum, constant, minus, power, times, to_product
from dpsym.enclosures.numbers import ball, holds, sign
from dpsym.enclosures.pieces import pieces
from dpsym.enclosures.ranges import cut_off
from dpsym.enclosures.rewriting import aligned_product, towards
from dpsym.enclosures.tails import bound_of_log, germ, series
from dpsym.quadrature import add_up, between

__all__ = ["Run", "hockey_stick", "largest_loss", "mass", "moment", "runs"]

_ZERO = arb(0)


@dataclass(frozen=True)
class Run:
    """Integers from first to last (None: without end), the masses smooth, None where they are 0."""

    first: int | None
    last: int | None
    p: Product | None
    q: Product | None


@lru_cache(maxsize=512)
def runs(p: sp.Expr, q: sp.Expr, k: sp.Symbol, start: sp.Expr, end: sp.Expr) -> tuple[Run, ...]:
    """The integers of [start, end] as runs; one where masses may jump is a run by itself.

    >>> k = sp.Symbol("k", integer=True)
    >>> found = runs(2 ** -sp.Abs(k), 2 ** -sp.Abs(k - 3), k, -sp.oo, sp.oo)
    >>> [(run.first, run.last) for run in found]
    [(None, -1), (0, 0), (1, 2), (3, 3), (4, None)]
    """
    out: list[Run] = []
    x = sp.Dummy("x", real=True)  # what SymPy knows of integers need not hold between them
    p, q = p.xreplace({k: x}), q.xreplace({k: x})

    def single(at: int) -> None:
        masses = (to_product(constant(_at(mass, x, at))) for mass in (p, q))
        kept = [None if item.factor == 0 else item for item in masses]
        out.append(Run(at, at, *kept))

    if start is not -sp.oo and start.is_Integer:
        single(int(start))
        if end == start:
            return tuple(out)
    for piece in pieces(p, q, x, start, end):
        first = None if piece.start is -sp.oo else _floor(piece.start) + 1
        last = None if piece.end is sp.oo else -_floor(-piece.end) - 1
        if first is None or last is None or first <= last:
            out.append(Run(first, last, piece.p, piece.q))
        if last is not None and piece.end.is_Integer:
            single(last + 1)
    return tuple(out)


def _at(mass: sp.Expr, x: sp.Symbol, at: int) -> sp.Expr:
    value = mass.subs(x, at)
    if isinstance(value, sp.Piecewise):
        value = next(branch for branch, condition in value.args if holds(condition))
    return sp.S.Zero if value.is_number and value.is_zero else value


def _floor(value: sp.Expr) -> int:
    if value.is_Rational:
        return int(value.p // value.q)
    return _whole(ball(value).floor())


Tail = Callable[[int, int], arb]
"""The sum from N on, on one side (1: k >= N, -1: k <= -N)."""


def _finite(run: Run, item: Product, tail: Tail, tolerance: arb) -> tuple[int, int, arb]:
    """The run without its infinite ends, and what these add."""
    first, last, outside = run.first, run.last, _ZERO
    if last is None:
        least = first if first is not None else 0
        n, rest = _cut(lambda n: tail(n, 1), tolerance, least, reach(item, 1))
        last, outside = n - 1, outside + rest
    if first is None:
        least = -last if run.last is not None else 0
        n, rest = _cut(lambda n: tail(n, -1), tolerance, least, reach(item, -1))
        first, outside = 1 - n, outside + rest
    return first, last, outside


def _cut(tail: Callable[[int], arb], tolerance: arb, least: int, hint: int) -> tuple[int, arb]:
    """An N > least, N >= 1, about the smallest with a tail this accurate."""

    def from_power(end: arb) -> arb:
        if end < 1:
            raise Undecided("a tail from below 1 on")
        return tail(_whole(end))

    end, found = cut_off(from_power, tolerance, arb(max(least, 1)), hint)
    good = _whole(end)
    bad = max(least, good // 2)
    while good - bad > max(1, good // 4):
        middle = (good + bad) // 2
        try:
            value = tail(middle)
        except Undecided:
            bad = middle
            continue
        if value.is_finite() and value.rad() <= tolerance:
            good, found = middle, value
        else:
            bad = middle
    return good, found


def _whole(value: arb) -> int:
    found = value.unique_fmpz()
    if found is None:
        raise Undecided("a whole number")
    return int(found)


def mass(items: Sequence[tuple[Run, Product]], tolerance: arb) -> Measured:
    """The sum of products, each over its run. Raises: Infinite."""
    total, tails = _ZERO, _ZERO
    for run, item in items:

        def tail(n: int, side: int, item: Product = item) -> arb:
            return series(germ(sided(item, side), arb(n)), n)

        first, last, outside = _finite(run, item, tail, tolerance)
        tails += outside.rad()
        total += outside + _finite_sum(item, first, last)
    return Measured(total, tails)


def _finite_sum(item: Product, first: int, last: int) -> arb:
    closure = product(item)
    return add_up(lambda k: closure(arb(k)), first, last)


def moment(items: Sequence[Run], alpha: sp.Expr, tolerance: arb) -> Measured:
    """The sum of ``p**alpha * q**(1 - alpha)``, or of ``p log(p / q)`` if alpha is 1."""
    found = []
    for run in items:
        if run.p is None:
            continue
        if run.q is None:
            if sign(alpha - 1) >= 0:
                raise Infinite
            continue
        if alpha == 1:
            loss = to_product(loss_of(run.p, run.q))
            item = times(run.p, loss)
        else:
            item = aligned_product(times(power(run.p, alpha), power(run.q, 1 - alpha)))
        if item.factor != 0:
            found.append((run, item))
    return mass(found, tolerance)


def hockey_stick(items: Sequence[Run], eps: sp.Expr, tolerance: arb) -> Measured:
    """The sum of ``max(0, p - exp(eps) * q)``."""
    total, tails = _ZERO, _ZERO
    factor = ball(eps).exp()
    for run in items:
        if run.p is None:
            continue
        if run.q is None:
            found = mass([(run, run.p)], tolerance)
        else:
            excess = minus(loss_of(run.p, run.q), constant(eps))
            if excess.is_constant:
                found = _constant(run, run.p, excess, tolerance)
            else:
                found = _positive_part(run, run.p, run.q, factor, excess, tolerance)
        total += found.value
        tails += found.tails
    return Measured(total, tails)


def _constant(run: Run, p: Product, excess: Sum, tolerance: arb) -> Measured:
    """Where the loss is the same everywhere."""
    share = constant_share(excess)
    if share == 0:
        return Measured(_ZERO, _ZERO)
    found = mass([(run, p)], tolerance)
    return Measured(found.value * share, found.tails * share.upper())


def _positive_part(
    run: Run, p: Product, q: Product, factor: arb, excess: Sum, tolerance: arb
) -> Measured:
    def tail(n: int, side: int) -> arb:
        start = arb(n)
        return series(germ(sided(p, side), start), n) * excess_share(sided_sum(excess, side), start)

    first, last, outside = _finite(run, p, tail, tolerance)
    at_p, at_q = product(p), product(q)

    def term(k: int) -> arb:
        value = at_p(arb(k)) - factor * at_q(arb(k))
        if value > 0:
            return value
        return _ZERO if value <= 0 else between(_ZERO, value.upper())

    return Measured(outside + add_up(term, first, last), outside.rad())


def largest_loss(items: Sequence[Run], tolerance: arb) -> arb:
    """The supremum of ``log(p / q)`` where p > 0. Raises: Infinite; Undecided."""
    low, high = arb.neg_inf(), arb.neg_inf()
    for run in items:
        if run.p is None:
            continue
        if run.q is None:
            raise Infinite
        loss = loss_of(run.p, run.q)
        if loss.is_constant:
            values = [ball(loss.poly[0]) if loss.poly else _ZERO]
        else:
            values = _losses(run, run.p, loss, tolerance, low)
        for value in values:
            low, high = low.max(value.lower()), high.max(value.upper())
    return between(low, high)


def _losses(run: Run, p: Product, loss: Sum, tolerance: arb, known: arb) -> list[arb]:
    values: list[arb] = []

    def tail(n: int, side: int) -> arb:
        value = bound_of_log(sided_sum(loss, side), arb(n))
        if value < known:
            return _ZERO
        if value.rad() <= tolerance:
            values.append(value)
        return value

    first, last, _ = _finite(run, p, tail, tolerance)
    forms = {side: function(towards(loss, side)) for side in (1, -1)}
    values.extend(forms[1 if k >= 0 else -1](arb(k)) for k in range(first, last + 1))
    return values
