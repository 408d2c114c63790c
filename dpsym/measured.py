"""Certified divergences of a goal's explicit mechanisms, for searches that choose among orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import sympy as sp
from flint import arb, fmpq

from dpsym.enclosures import divergences
from dpsym.enclosures.best import renyi_of
from dpsym.enclosures.enclosing import largest_pairs
from dpsym.enclosures.failures import Infinite, Undecided
from dpsym.errors import DpsymError
from dpsym.kernel.balls import exact, precision
from dpsym.mechanisms.base import Mechanism

__all__ = ["Measured"]

_BITS = 80


class Measured:
    """Divergences of the mechanisms that stages are, or are made of, at the largest shift.

    A number of one mechanism is between two, in the direction (P, Q), or (Q, P) if ``reverse``.
    """

    def __init__(self, parts: Sequence[object]) -> None:
        self._parts = [getattr(part, "subject", part) for part in parts]
        self.order = cache(self._order)
        self.largest = cache(self._largest)

    def _pairs(self, stage: int, reverse: bool) -> list[divergences.Pair]:
        part = self._parts[stage]
        if not isinstance(part, Mechanism):
            return []
        found = [pair for family, pair in largest_pairs(part, None) if family.normalised]
        return [pair.reversed() for pair in found] if reverse else found

    def _order(self, stage: int, alpha: fmpq, reverse: bool) -> tuple[fmpq, fmpq] | None:
        """The Rényi divergence of an order above 1; None if it is infinite, or not known."""
        order = sp.Rational(int(alpha.p), int(alpha.q))
        return self._worst(stage, reverse, lambda pair: renyi_of(pair, order, _BITS))

    def _largest(self, stage: int, reverse: bool) -> tuple[fmpq, fmpq] | None:
        """The largest loss."""
        return self._worst(stage, reverse, lambda pair: divergences.largest_loss(pair, _BITS))

    def _worst(
        self, stage: int, reverse: bool, measure: Callable[[divergences.Pair], arb]
    ) -> tuple[fmpq, fmpq] | None:
        try:
            found = [measure(pair) for pair in self._pairs(stage, reverse)]
        except (Infinite, Undecided, DpsymError):
            return None
        if not found:
            return None
        with precision(2 * _BITS):
            worst = divergences.greatest(found)
            low, high = exact(worst.lower()), exact(worst.upper())
        return None if low is None or high is None else (low, high)
