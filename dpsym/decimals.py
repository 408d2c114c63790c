"""Exact numbers in decimals, rounded outward."""

from __future__ import annotations

import sympy as sp

__all__ = ["between", "decimals"]

_SIGNIFICANT = 6  # digits that are shown at least
_PLAIN = range(-5, 13)  # powers of ten without an exponent
_LONGEST = 24


def between(low: sp.Rational, high: sp.Rational) -> tuple[str, str]:
    """Two numbers, the first rounded down and the second up, with as many digits as tell them
    apart.

    >>> between(sp.Rational(1, 3), sp.Rational(1, 3) + sp.Rational(1, 10**9))
    ('0.3333333333', '0.3333333344')
    >>> between(sp.Rational(1, 7 * 10**9), sp.Rational(1, 6 * 10**9))
    ('1.42857e-10', '1.66667e-10')
    """
    size = _power(max(abs(low), abs(high)))
    places = _SIGNIFICANT - 1 - size
    if low < high:
        places = max(places, 1 - _power(high - low))
    return _rounded(low, places, size, up=False), _rounded(high, places, size, up=True)


def decimals(value: sp.Rational, up: bool | None = None) -> str:
    """One number: as it is if that is short, else rounded up or down (``None``: a fraction).

    >>> decimals(sp.Rational(1, 3)), decimals(sp.Rational(1, 3), up=True)
    ('1/3', '0.333333333334')
    >>> decimals(sp.Rational(11, 40), up=True)
    '0.275'
    """
    size = _power(abs(value))
    for places in range(_LONGEST - min(size, 0)):
        if (value * 10**places).q == 1:
            return _rounded(value, places, size, up=False)
    return str(value) if up is None else _rounded(value, 11 - size, size, up)


def _power(value: sp.Rational) -> int:
    """The k with 10^k <= value < 10^(k + 1); 0 for 0."""
    if value == 0:
        return 0
    k = len(str(value.p)) - len(str(value.q))
    return k if sp.Integer(10) ** k <= value else k - 1


def _rounded(value: sp.Rational, places: int, size: int, up: bool) -> str:
    scaled = value * sp.Integer(10) ** places
    whole = int(sp.ceiling(scaled) if up else sp.floor(scaled))
    shift = 0 if size in _PLAIN else size
    sign, digits, point = "-" if whole < 0 else "", str(abs(whole)), places + shift
    if point <= 0:
        return sign + digits + "0" * -point
    digits = digits.rjust(point + 1, "0")
    text = f"{digits[:-point]}.{digits[-point:]}".rstrip("0").rstrip(".")
    return sign + text + (f"e{shift}" if shift and whole else "")
