"""About how small a hockey-stick divergence is: a hint where tails may be cut, nothing more."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp
from flint import arb

from dpsym.enclosures.continuous import loss_of
from dpsym.enclosures.evaluate import Function, function
from dpsym.enclosures.failures import Undecided
from dpsym.enclosures.forms import Product, constant, logarithm, minus
from dpsym.enclosures.numbers import ball

__all__ = ["smallness"]

_EXPONENTS = range(-6, 16)
_HALVINGS = 12
_LOG_2 = 0.6931471805599453


def smallness(
    start: sp.Expr | int | None,
    end: sp.Expr | int | None,
    p: Product | None,
    q: Product | None,
    eps: sp.Expr,
) -> int | None:
    """About -log2 of the integral of ``max(0, p - exp(eps) q)``; None where that is 0.

    An end is None or infinite where there is none.
    """
    if p is None:
        return None
    if q is None:
        return 0
    excess = minus(loss_of(p, q), constant(eps))
    if excess.is_constant:
        return 0
    try:
        loss, log_p = function(excess), function(logarithm(p))
        found = list(_candidates(list(_points(start, end)), loss, log_p))
    except (Undecided, ValueError, OverflowError):
        return 0
    return min(found) if found else None


def _points(start: sp.Expr | int | None, end: sp.Expr | int | None) -> Iterator[arb]:
    """From the left."""
    low, high = _end(start, arb.neg_inf()), _end(end, arb.pos_inf())
    points = [-(arb(2) ** k) for k in reversed(_EXPONENTS)] + [arb(2) ** k for k in _EXPONENTS]
    inside = [point for point in points if low < point < high]
    if low.is_finite():
        yield low.mid()
    yield from inside
    if high.is_finite():
        yield high.mid()


def _end(value: sp.Expr | int | None, otherwise: arb) -> arb:
    if value is None or value in (sp.oo, -sp.oo):
        return otherwise
    return ball(sp.Integer(value) if isinstance(value, int) else value)


def _candidates(points: list[arb], loss: Function, log_p: Function) -> Iterator[int]:
    signs = [loss(point).mid() > 0 for point in points]
    for i, (point, positive) in enumerate(zip(points, signs, strict=True)):
        if not positive:
            continue
        yield from _size(point, loss, log_p)
        for j in (i - 1, i + 1):  # nearer to where the sign changes there may be more
            if 0 <= j < len(points) and not signs[j]:
                yield from _size(_nearer(loss, point, points[j]), loss, log_p)


def _nearer(loss: Function, inside: arb, outside: arb) -> arb:
    for _ in range(_HALVINGS):
        middle = ((inside + outside) / 2).mid()
        if loss(middle).mid() > 0:
            inside = middle
        else:
            outside = middle
    return inside


def _size(point: arb, loss: Function, log_p: Function) -> Iterator[int]:
    height = log_p(point).mid()
    share = loss(point).mid()
    if height.is_finite() and share > 0:
        log_share = min(float(share.log().mid()), 0.0)
        yield max(0, int(-(float(height) + log_share) / _LOG_2))
