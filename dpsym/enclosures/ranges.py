"""Bounded ranges for unbounded ones: how far out one must go for the rest to be small enough."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from dpsym.enclosures.failures import Undecided

__all__ = ["Tail", "cut_off"]

Tail = Callable[[arb], arb]
"""An enclosure of what [T, oo) contributes; raises Undecided if T is too small to tell."""

_FARTHEST = 1 << 14  # T up to 2**this
_NEAREST = -(1 << 14)


def cut_off(tail: Tail, tolerance: arb, least: arb, hint: int = 0) -> tuple[arb, arb]:
    """A power of two T > least, about the smallest with a tail this accurate, and the tail.

    The search starts from 2**hint, which is taken if there is nothing beyond it at all.

    Raises: Undecided if there is none.

    >>> end, tail = cut_off(lambda end: (-end).exp().union(arb(0)), arb("1e-9"), arb(0))
    >>> end
    32.0000000000000
    """
    found: dict[int, arb] = {}

    def enough(exponent: int) -> bool:
        try:
            value = tail(arb(2) ** exponent)
        except Undecided:
            return False
        if not value.is_finite() or value.rad() > tolerance:
            return False
        found[exponent] = value
        return True

    lowest = _NEAREST
    if not least <= 0:
        lowest = _exponent(least) + 1
    good, bad = _gallop(enough, found, max(hint, lowest), lowest)
    while good - bad > 1:
        middle = (good + bad) // 2
        if enough(middle):
            good = middle
        else:
            bad = middle
    return arb(2) ** good, found[good]


def _gallop(
    enough: Callable[[int], bool], found: dict[int, arb], start: int, lowest: int
) -> tuple[int, int]:
    """Exponents (good, bad) with bad < good."""
    step = 1
    if enough(start):
        if found[start] == 0:  # nothing to gain
            return start, start - 1
        good = start
        while good > lowest:
            trial = max(lowest, good - step)
            if not enough(trial):
                return good, trial
            good, step = trial, step * 2
        return good, good - 1
    bad = start
    while bad < _FARTHEST:
        trial = bad + step
        if enough(trial):
            return trial, bad
        bad, step = trial, step * 2
    raise Undecided("how far out the tail becomes small")


def _exponent(value: arb) -> int:
    """An e with value < 2**e."""
    mantissa, exponent = value.upper().man_exp()
    return int(mantissa).bit_length() + int(exponent)
