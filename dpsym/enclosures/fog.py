"""What short ranges contribute on which the branches of the densities have not been chosen.

Nothing is known of the densities there but an interval each, and of the range that it is no longer
than some length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy as sp
from flint import arb, fmpq

from dpsym.enclosures.failures import Undecided
from dpsym.enclosures.numbers import ball
from dpsym.enclosures.pieces import Fog
from dpsym.enclosures.within import Within

__all__ = ["highest_loss", "hockey_stick", "mass", "moment"]

_ZERO = arb(0)


def _values(fog: Fog) -> tuple[arb, arb, arb]:
    """The greatest length, and all values of p and of q."""
    low, high = ball(fog.start), ball(fog.end)
    length = (high - low).max(_ZERO).upper()
    whole = low.union(high)
    x = Within("dpsym x", _rational(whole.lower()), _rational(whole.upper()))
    p, q = (_nonnegative(ball(density.xreplace({fog.x: x}))) for density in (fog.p, fog.q))
    return length, p, q


def _rational(value: arb) -> sp.Rational:
    if not value.is_finite():
        raise Undecided("the ends of a range")
    mantissa, shift = value.man_exp()
    exact = fmpq(mantissa) * fmpq(2) ** int(shift)
    return sp.Rational(int(exact.p), int(exact.q))


def _nonnegative(value: arb) -> arb:
    if not value.is_finite():
        raise Undecided("the values of a density")
    return value if value >= 0 else _ZERO.union(value.upper().max(_ZERO))


def mass(items: Sequence[Fog]) -> arb:
    """The integral of p."""
    total = _ZERO
    for fog in items:
        length, p, _ = _values(fog)
        total += _ZERO.union(length * p.upper())
    return total


def hockey_stick(items: Sequence[Fog], eps: sp.Expr) -> arb:
    """The integral of ``max(0, p - exp(eps) * q)``."""
    total = _ZERO
    for fog in items:
        length, p, q = _values(fog)
        most = (p - ball(eps).exp() * q).upper().max(_ZERO)
        total += _ZERO.union(length * most)
    return total


def _positive(items: Sequence[Fog]) -> Iterator[tuple[arb, arb, arb]]:
    """Lengths and densities where there is mass of P. Raises: Undecided if one may be zero."""
    for fog in items:
        length, p, q = _values(fog)
        if length == 0 or p == 0:
            continue
        if not (p > 0 and q > 0):
            raise Undecided("where the densities are positive")
        yield length, p, q


def moment(items: Sequence[Fog], alpha: sp.Expr) -> arb:
    """The integral of ``p**alpha * q**(1 - alpha)``, or of ``p * log(p / q)`` if alpha is 1."""
    total = _ZERO
    for length, p, q in _positive(items):
        loss = (p / q).log()
        values = p * (loss if alpha == 1 else ((ball(alpha) - 1) * loss).exp())
        total += _ZERO.union(length * values)
    return total


def highest_loss(items: Sequence[Fog]) -> arb:
    """An upper bound of ``log(p / q)`` where p > 0, minus infinity if there is nothing."""
    highest = arb.neg_inf()
    for _, p, q in _positive(items):
        highest = highest.max((p / q).log().upper())
    return highest
