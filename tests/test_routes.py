"""The guarantees that a proof goes through, as a verdict shows them."""

from __future__ import annotations

import pytest
from sympy import log, sqrt, symbols

import dpsym as dp
from dpsym.kernel.definitions import DEFINITIONS
from dpsym.routes import SOURCES

e, f, rho, delta = symbols("e f rho delta", positive=True)
k = symbols("k", integer=True, positive=True)


def test_a_claim_in_one_step_has_no_route():
    assert dp.prove(dp.PureDP(e), dp.ApproxDP(e, delta), [delta <= 1]).route() == ()
    assert dp.check_inequality(0, e).route == ()


def test_each_part_of_a_composition_is_told_with_its_source():
    two = dp.compose(dp.PureDP(e), dp.ZCDP(rho))
    total = e + rho + 2 * sqrt(rho * log(1 / delta))
    verdict = dp.check(two, dp.ApproxDP(total, delta), [delta < 1])
    first, last = verdict.route
    assert first.startswith("stage 2: ApproxDP(rho + 2*")
    assert first.endswith(", by Bun and Steinke (2016), Lemma 3.5")
    assert last == "the claim, by Dwork and Roth (2014), Theorem 3.16"
    assert "  by way of\n    stage 2: " in str(verdict)


def test_copies():
    verdict = dp.check(dp.repeat(dp.PureDP(e), k), dp.ZCDP(k * e**2 / 2))
    assert verdict.route[0] == (
        "k copies: each has ZCDP(e**2/2), by Bun and Steinke (2016), Proposition 1.4"
    )


@pytest.mark.parametrize("made", SOURCES)
def test_sources_are_about_notions(made):
    notions = {*DEFINITIONS}
    stages = {"composition", "Repeated", "Group", "Blend", "either", "Filter", "Choice"}
    assert made in notions | stages
    assert {*SOURCES[made]} <= notions
