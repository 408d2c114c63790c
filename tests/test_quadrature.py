"""Certified integrals of callables."""

from __future__ import annotations

import flint
import pytest
from flint import acb, arb

from dpsym.quadrature import exponential_tail, geometric_tail, integrate, power_tail


def test_encloses_and_is_sharp() -> None:
    with flint.ctx.workprec(96):
        found = integrate(lambda z, _: z.exp(), arb(0), arb(1))
        assert found.overlaps(arb(1).exp() - 1)
        assert found.rad() < arb(2) ** -58


def test_finds_a_narrow_peak() -> None:
    """That of N(0.6, 0.001^2) in [-10, 10], which rules at fixed points miss."""
    with flint.ctx.workprec(96):
        width = arb(1) / 1000

        def density(z: acb, _: bool) -> acb:
            y = (z - arb("0.6")) / width
            return (-(y * y) / 2).exp() / (width * (2 * arb.pi()).sqrt())

        found = integrate(density, arb(-10), arb(10))
        assert found.overlaps(arb(1))
        assert found.rad() < arb(2) ** -50


def test_keeps_relative_accuracy_of_tiny_values() -> None:
    with flint.ctx.workprec(96):
        found = integrate(lambda z, _: (-z * z).exp(), arb(40), arb(60))
        true = (arb(40).erfc() - arb(60).erfc()) * arb.pi().sqrt() / 2
        assert found.overlaps(true)
        assert found.rad() < found.lower() * arb(2) ** -55


def test_is_not_fooled_by_a_branch_cut() -> None:
    """sqrt(z^2) is |x| on the line, and not analytic at 0; nan there makes it split."""
    with flint.ctx.workprec(96):
        found = integrate(lambda z, analytic: (z * z).sqrt(analytic=analytic), arb(-1), arb(2))
        assert not found.is_finite() or found.overlaps(arb(5) / 2)


def test_passes_on_what_the_function_raises() -> None:
    def broken(z: acb, _: bool) -> acb:
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        integrate(broken, arb(0), arb(1), scale=arb(1))


def test_tails() -> None:
    assert exponential_tail(arb(-3).exp(), arb(1)).contains(arb(-3).exp().mid())
    assert power_tail(arb(1) / 16, arb(2), arb(-4)).overlaps(arb(1) / 24)
    assert geometric_tail(arb(1), arb("0.5")).contains(arb(2))
    for bad in (
        lambda: exponential_tail(arb(1), arb(0)),
        lambda: power_tail(arb(1), arb(1), arb(-1)),
    ):
        with pytest.raises(ValueError, match="needs"):
            bad()
