"""Which shapes are seen; a shape that is not there must never be."""

from __future__ import annotations

import pytest
import sympy as sp

from dpsym.enclosures.shapes import is_even, is_log_concave, is_translation, largest_shift_is_worst

x, t = sp.symbols("x t", real=True)
k = sp.Symbol("k", integer=True)
R = sp.Rational
LOG_CONCAVE = [
    sp.exp(-(x**2)),
    sp.exp(-sp.Abs(x - 1)),
    sp.exp(-(sp.Abs(x) ** R(3, 2))),
    sp.exp(-x - sp.exp(-x)),
    sp.exp(-x) / (1 + sp.exp(-x)) ** 2,
    sp.Piecewise((1 - sp.Abs(x), sp.Abs(x) <= 1), (0, True)),
    sp.Piecewise((x * sp.exp(-x), x >= 0), (0, True)),
]
NOT_LOG_CONCAVE = [
    x**2 * sp.exp(-(x**2)),
    (x**2 - 1) * sp.exp(-(x**2)),
    x * (x - 1) * sp.exp(-(x**2)),
    (1 + x**2) ** -1,
    sp.exp(-((x - 3) ** 2)) + sp.exp(-((x + 3) ** 2)),
    sp.exp(-sp.sqrt(sp.Abs(x))),
    sp.exp(x**2) * sp.Piecewise((1, sp.Abs(x) <= 1), (0, True)),
    sp.Piecewise((1, sp.Abs(x) >= 1), (0, True)),
]


@pytest.mark.parametrize("density", LOG_CONCAVE, ids=str)
def test_log_concave(density: sp.Expr) -> None:
    assert is_log_concave(density, x)
    assert largest_shift_is_worst(density, x)


@pytest.mark.parametrize("density", NOT_LOG_CONCAVE, ids=str)
def test_not_log_concave(density: sp.Expr) -> None:
    assert not is_log_concave(density, x)


@pytest.mark.parametrize(
    "mass",
    [
        sp.exp(-(k**2)),
        sp.exp(-3) * 3**k / sp.factorial(k),
        sp.binomial(9, k),
        sp.besseli(sp.Abs(k), 4),
    ],
    ids=str,
)
def test_masses(mass: sp.Expr) -> None:
    assert is_log_concave(mass, k)


def test_even_and_falling() -> None:
    for density in ((1 + x**2) ** -2, sp.exp(-(x**2)) + sp.exp(-(x**2) / 9) / 3):
        assert is_even(density, x)
        assert largest_shift_is_worst(density, x)
    two_peaks = x**2 * sp.exp(-(x**2))
    assert is_even(two_peaks, x)
    assert not largest_shift_is_worst(two_peaks, x)
    hollow = sp.Piecewise((1, sp.Abs(x) >= 1), (0, True))
    assert not largest_shift_is_worst(hollow, x)
    assert not largest_shift_is_worst((1 + (x - 1) ** 2) ** -2, x)  # not around 0


def test_translation() -> None:
    assert is_translation(sp.exp(-sp.Abs(x)), sp.exp(-sp.Abs(x - t)), x, t)
    assert not is_translation(sp.exp(-sp.Abs(x)), sp.exp(-sp.Abs(x + t)), x, t)
    assert not is_translation(sp.exp(-(x**2)), sp.exp(-((x - t) ** 2) / 2), x, t)
