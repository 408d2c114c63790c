"""Exact numbers, the simple ones first: what Hypothesis shrinks to is easy to read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from dpsym.errors import InputError

__all__ = ["Range", "integers", "rationals"]

_DECIMAL = (1, 2, 3, 4, 5, 8, 10, 100, 1000, 10**6)
_DYADIC = (1, 2, 4, 8, 16, 64, 1024, 2**20)
_SPANS = (4, 32, 256)
_AT_AN_END = 200


@dataclass(frozen=True)
class Range:
    """The numbers between two ends, of which there may be none."""

    low: Fraction | None = None
    high: Fraction | None = None
    low_open: bool = False
    high_open: bool = False

    def multiples(self, denominator: int) -> tuple[int | None, int | None]:
        """The least and the largest n with n/denominator in the range."""
        low = high = None
        if self.low is not None:
            exact = self.low * denominator
            low = floor(exact) + 1 if self.low_open else ceil(exact)
        if self.high is not None:
            exact = self.high * denominator
            high = ceil(exact) - 1 if self.high_open else floor(exact)
        return low, high


def rationals(
    low: object = None,
    high: object = None,
    *,
    low_open: bool = False,
    high_open: bool = False,
    floats: bool = False,
) -> SearchStrategy[Fraction]:
    """Fractions between two ends, small denominators and small numbers first.

    Args:
        low, high: the ends, exact numbers; None for no end.
        low_open, high_open: whether an end does not belong to it.
        floats: only numbers that a float is exactly: the denominators are powers of 2.

    Raises: InputError for ends between which there is no number.

    >>> from dpsym.testing import simplest
    >>> simplest(rationals(0, 1, low_open=True), lambda x: 0 < x < 1)
    Fraction(1, 2)
    """
    return of_range(Range(_end(low), _end(high), low_open, high_open), floats)


def integers(low: int | None = None, high: int | None = None) -> SearchStrategy[int]:
    """Integers between two ends, small ones more often."""
    return of_range(Range(_end(low), _end(high)), whole=True).map(int)


def _end(value: Any) -> Fraction | None:
    return None if value is None else Fraction(value)


def of_range(span: Range, floats: bool = False, whole: bool = False) -> SearchStrategy[Fraction]:
    """Raises: InputError if no number is in the range."""
    denominators = (1,) if whole else _denominators(span, floats)
    usable = [d for d in denominators if _some(*span.multiples(d))]
    if not usable:
        raise InputError("where", "a range with a number in it", span)
    return _fractions(tuple(usable), span)


def _some(low: int | None, high: int | None) -> bool:
    return low is None or high is None or low <= high


def _denominators(span: Range, floats: bool) -> tuple[int, ...]:
    """The usual ones; for a narrow range, finer ones, and an end that is no multiple of these."""
    usual, base = (_DYADIC, 2) if floats else (_DECIMAL, 10)
    more = []
    if span.low is not None and span.high is not None:
        fine = usual[-1]
        while span.high > span.low and span.high - span.low < Fraction(16, fine):
            fine *= base
            more.append(fine)
    ends = {end.denominator for end in (span.low, span.high) if end is not None}
    exact = {d for d in ends if not floats or d & (d - 1) == 0}
    return (*usual, *more[-2:], *sorted(exact - set(usual)))


@st.composite
def _fractions(draw: DrawFn, denominators: tuple[int, ...], span: Range) -> Fraction:
    d = draw(st.sampled_from(denominators))
    low, high = span.multiples(d)
    if low is None or high is None:
        reach = draw(st.sampled_from(_SPANS)) * min(d, 64)
        start = low if low is not None else -reach if high is None else high - reach
        low, high = start, high if high is not None else reach if low is None else low + reach
    if high - low > 2 * _AT_AN_END:  # most of what goes wrong does so near an end
        place = draw(st.integers(0, 2))
        if place == 0:
            high = low + _AT_AN_END
        elif place == 1:
            low = high - _AT_AN_END
    return Fraction(draw(st.integers(low, high)), d)
