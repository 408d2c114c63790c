"""Accountants with a mistake in each: all of these tests fail, and say where.

Run with ``pytest examples/test_planted_bugs.py``.
"""

from __future__ import annotations

from dpsym.testing import assert_accountant
from examples import accountants, claims
from examples.claims import delta, q

ROUNDING = 1e-9


def test_dropped_count():
    assert_accountant(
        accountants.gaussian_epsilon_without_count,
        claims.gaussians,
        claims.gaussians_private,
        where=[delta < 1],
    )


def test_noise_multiplier_as_sigma():
    assert_accountant(
        accountants.gaussian_epsilon_of_multiplier,
        claims.gaussians,
        claims.gaussians_private,
        where=[delta < 1],
    )


def test_bits_for_nats():
    assert_accountant(
        accountants.sampled_epsilon_in_bits,
        claims.sampled,
        claims.sampled_private,
        where=[q < 1],
        slack=ROUNDING,
    )


def test_swapped_direction():
    assert_accountant(
        accountants.divergence_swapped,
        claims.exponentials,
        claims.exponentials_close,
        slack=ROUNDING,
    )


def test_replacement_as_addition():
    assert_accountant(
        accountants.histogram_epsilon_of_one_count,
        claims.histograms,
        claims.histograms_private,
        slack=ROUNDING,
    )
