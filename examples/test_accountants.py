"""Property tests of accountants that are right: ``pytest examples/test_accountants.py``."""

from __future__ import annotations

from dpsym.testing import assert_accountant
from examples import accountants, claims
from examples.claims import delta, q

ROUNDING = 1e-9


def test_gaussians():
    assert_accountant(
        accountants.gaussian_epsilon, claims.gaussians, claims.gaussians_private, where=[delta < 1]
    )


def test_sampling():
    assert_accountant(
        accountants.sampled_epsilon,
        claims.sampled,
        claims.sampled_private,
        where=[q < 1],
        slack=ROUNDING,
    )


def test_exponentials():
    assert_accountant(
        accountants.divergence, claims.exponentials, claims.exponentials_close, slack=ROUNDING
    )


def test_histograms():
    assert_accountant(
        accountants.histogram_epsilon, claims.histograms, claims.histograms_private, slack=ROUNDING
    )
