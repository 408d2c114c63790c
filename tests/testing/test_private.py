"""``assert_private``: a proof, or certified numbers, or the smallest counterexample."""

from __future__ import annotations

import pytest
import sympy as sp

import dpsym as dp
from dpsym.kernel.certificate import verify
from dpsym.testing import ClaimFails, NotDecided, assert_private
from dpsym.testing.defaults import use
from tests.testing.running import run

R = sp.Rational
b, Delta, delta = sp.symbols("b Delta delta", positive=True)
e1, e2 = sp.symbols("epsilon1 epsilon2", nonnegative=True)
k = sp.Symbol("k", integer=True, positive=True)
LAPLACE = dp.AdditiveNoise(dp.noise.Laplace(scale=b), Delta)
LOGISTIC = dp.AdditiveNoise(dp.noise.Logistic(scale=b), 1)
STUDENT = dp.AdditiveNoise(dp.noise.StudentT(3, b), 1)
WITHIN = dp.ApproxDP(R(1, 2), R(1, 5))


def fails(subject, claim, **more):
    with pytest.raises(ClaimFails) as caught:
        assert_private(subject, claim, **more)
    return caught.value


def test_a_proof_for_all_parameters():
    outcome = assert_private(LAPLACE, dp.PureDP(Delta / b), require="proved")
    assert outcome.label == "proved for all parameters"
    assert isinstance(outcome.proof, dp.Proved)
    assert list(outcome.evidence()) == [".json"]
    assert verify(outcome.evidence()[".json"])


def test_certified_at_drawn_parameters():
    """Of Student's noise no divergence has a closed form that check knows."""
    outcome = assert_private(STUDENT, WITHIN, where={b: sp.Interval(1, 4)}, examples=4, budget=0.3)
    assert outcome.label == "certified at drawn parameters"
    assert outcome.examples >= 2 and outcome.undecided == 0 and outcome.proof is None
    assert str(outcome).startswith(f"certified at {outcome.examples} drawn parameters: Additive")
    assert "certified" in outcome.evidence()[".txt"]


def test_not_proved_is_not_enough_if_a_proof_is_required():
    where = {b: sp.Interval(1, 2)}
    with pytest.raises(NotDecided, match=r"certified at . drawn parameters.*'proved' is required"):
        assert_private(STUDENT, WITHIN, where=where, examples=2, budget=0.3, require="proved")


def test_false_where_check_finds_nothing():
    """A claim about a divergence without a closed form is refuted by rigorous numbers."""
    where = {b: sp.Interval(1, 4)}
    found = fails(LOGISTIC, dp.RenyiDP(2, 1 / (4 * b**2)), where=where, budget=0.3)
    assert found.values == {b: 1}
    assert "the divergence of this order is at least 0.30899" in found.report
    assert run(found.script).endswith("does not have the privacy that is claimed")


def test_the_report_of_a_refuted_claim():
    found = fails(LAPLACE, dp.PureDP(Delta / (2 * b)), where=[b >= 2])
    assert found.values == {b: 2, Delta: 1}
    assert found.report.splitlines() == [
        f"{LAPLACE!r} does not have PureDP(Delta/(2*b)).",
        "  at the smallest parameters found: b = 2, Delta = 1",
        "  AdditiveNoise(noise=Laplace(scale=2), sensitivity=1) is said to have PureDP(1/4)",
        "  certain: the largest loss is at least 0.5, and 0.25 is claimed: a gap of 0.25",
    ]
    assert run(found.script)
    assert not run(found.script.replace("claimed = Rational(1, 4)", "claimed = Rational(1, 2)"))


@pytest.mark.parametrize(
    ("subject", "claim", "expected"),
    [
        (dp.compose(dp.PureDP(e1), dp.PureDP(e2)), dp.PureDP(sp.Max(e1, e2)), {e1: 1, e2: 1}),
        (dp.repeat(dp.ZCDP(e1), k), dp.ZCDP(e1), {e1: 1, k: 2}),
        (dp.group(dp.PureDP(e1), 3), dp.PureDP(2 * e1), {e1: 1}),
        (dp.PureDP(e1), dp.both(dp.PureDP(e1), dp.ZCDP(e1**2 / 4)), {e1: 1}),
        (dp.AdditiveNoise(dp.noise.Uniform(b), 1), dp.PureDP(3), {b: 1}),
    ],
)
def test_counterexamples_are_small(subject, claim, expected):
    found = fails(subject, claim, budget=2)
    assert found.values == expected
    assert run(found.script)


def test_claims_at_irrational_numbers():
    rr = dp.RandomizedResponse(sp.log(k), 2)
    found = fails(rr, dp.PureDP(sp.log(k) / 2), where=[k >= 2], budget=2)
    assert found.values == {k: 2}
    assert "at least 0.69314718, and 0.34657359 is claimed" in found.report
    assert run(found.script)


def test_a_claim_without_parameters():
    found = fails(dp.PureDP(1), dp.PureDP(R(1, 2)))
    assert found.values == {} and "at the smallest" not in found.report
    assert run(found.script)


def test_a_witness_of_check_is_shown_where_no_bound_breaks_the_claim():
    """Post-processing of probabilistic privacy: no mechanism by itself shows it."""
    claim = dp.ProbabilisticDP(e1, delta)
    found = fails(dp.postprocess(claim), claim)
    assert "by the witness: epsilon1 = 1, delta = 1/10" in found.report
    assert found.values == {e1: 1, delta: R(1, 10)}
    assert "dp.check(mechanism, claim)" in found.script
    assert run(found.script) == "AssertionError: "


def test_undecided_fails_unless_that_is_allowed():
    """Probabilistic privacy of a heavy tail: true, and neither check nor enclosures tell."""
    heavy = dp.AdditiveNoise(dp.noise.StudentT(3, b), 1)
    claim = dp.ProbabilisticDP(R(1, 2), R(9, 10))
    more = {"where": {b: sp.Interval(9, 10)}, "budget": 0.2, "examples": 1}
    outcome = assert_private(heavy, claim, require="unrefuted", **more)
    assert outcome.label == "undecided" and outcome.undecided == outcome.examples
    with pytest.raises(NotDecided, match=r"undecided.* but 'certified' is required"):
        assert_private(heavy, claim, **more)


def test_conditions_that_nothing_satisfies():
    with pytest.raises(dp.InputError, match="where: expected conditions that some values satisfy"):
        assert_private(LAPLACE, dp.PureDP(1), where=[b > 2, b < 1])


def test_input_that_has_no_meaning():
    with pytest.raises(dp.InputError, match="require: expected one of proved, certified"):
        assert_private(LAPLACE, dp.PureDP(1), require="hope")
    with pytest.raises(dp.InputError, match="examples: expected a whole number >= 1"):
        assert_private(LAPLACE, dp.PureDP(1), examples=True)


def test_evidence_is_kept():
    kept = []
    with use(keeper=kept.append, budget=5):
        assert_private(LAPLACE, dp.PureDP(Delta / b))
        fails(LAPLACE, dp.PureDP(Delta / (2 * b)))
    assert [sorted(item.evidence()) for item in kept] == [[".json"], [".py", ".txt"]]
