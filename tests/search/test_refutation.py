"""False claims about assumed guarantees get witnesses, recomputed here without the kernel."""

from __future__ import annotations

import math

import pytest
from flint import fmpq
from mpmath import mp, mpf

from dpsym.kernel.refusal import Refusal
from dpsym.kernel.statements import Statement
from dpsym.kernel.terms import exp, log, maximum, minimum, num, sqrt, var
from dpsym.refutations import Atom, Refutation, refute
from dpsym.search.refutation import describe, refute_statement
from tests.search.witnesses import (
    LOG_INVERSE,
    SLACK,
    both,
    claim,
    d1,
    d2,
    delta,
    distributions,
    e1,
    e2,
    e3,
    epsilon,
    exceeding,
    g,
    hockey_stick,
    joint,
    order,
    refuted,
    renyi,
    rho,
    spread,
    values,
    worst,
)

APPROX = [[g("ApproxDP", e1, d1)], [g("ApproxDP", e2, d2)]]
RENYI = [[g("RenyiDP", order, e1)], [g("RenyiDP", order, e2)]]
RANGES = [[g("BoundedRange", e1)], [g("BoundedRange", e2)]]


def pairs(found: Refutation) -> list:
    assert isinstance(found.witness, tuple)
    return joint(found.witness)


def meets_approx(found: Refutation) -> None:
    v = values(found)
    for depth, table in distributions(found.witness, 2):
        eps, bound = (v["e1"], v["d1"]) if depth == 0 else (v["e2"], v["d2"])
        assert both(hockey_stick(eps), table) <= bound + SLACK


@pytest.mark.parametrize(
    ("eps", "bound"),
    [
        (maximum(e1, e2), maximum(d1, d2)),
        (e1 + e2, d1 * d2),
        (e1 + e2, maximum(d1, d2)),
        (e1 + e2, d1 + d2 - 2 * d1 * d2),
    ],
    ids=["maxima", "product", "larger delta", "twice the product"],
)
def test_approximate_composition(eps, bound) -> None:
    found = refuted(claim(APPROX, g("ApproxDP", eps, bound)))
    meets_approx(found)
    v = values(found)
    smaller = {
        maximum(d1, d2): max(v["d1"], v["d2"]),
        d1 * d2: v["d1"] * v["d2"],
        d1 + d2 - 2 * d1 * d2: v["d1"] + v["d2"] - 2 * v["d1"] * v["d2"],
    }[bound]
    beyond = max(v["e1"], v["e2"]) if eps is maximum(e1, e2) else v["e1"] + v["e2"]
    assert both(hockey_stick(beyond), pairs(found)) > smaller


def test_three_stages() -> None:
    stage = [g("ApproxDP", e1, delta)]
    found = refuted(claim([stage] * 3, g("ApproxDP", 3 * e1, 3 * delta - 4 * delta * delta)))
    v = values(found)
    for _, table in distributions(found.witness, 3):
        assert both(hockey_stick(v["e1"]), table) <= v["delta"] + SLACK
    bound = 3 * v["delta"] - 4 * v["delta"] ** 2
    assert both(hockey_stick(3 * v["e1"]), pairs(found)) > bound


def test_eight_stages_that_all_matter() -> None:
    stage = [g("ApproxDP", e1, d1)]
    found = refuted(claim([stage] * 8, g("ApproxDP", 8 * e1, 7 * d1)))
    v = values(found)
    assert both(hockey_stick(8 * v["e1"]), pairs(found)) > 7 * v["d1"]


def test_pure_square_root() -> None:
    stages = [[g("PureDP", e1)], [g("PureDP", e2)]]
    found = refuted(claim(stages, g("PureDP", sqrt(e1 * e1 + e2 * e2))))
    v = values(found)
    for depth, table in distributions(found.witness, 2):
        assert both(worst, table) <= v["e1" if depth == 0 else "e2"]
    assert both(worst, pairs(found)) > mp.sqrt(v["e1"] ** 2 + v["e2"] ** 2)


@pytest.mark.parametrize("share", ["99/100", "9999/10000"])
def test_pure_a_little_less(share: str) -> None:
    above, below = map(int, share.split("/"))
    less = epsilon * fmpq(above, below)
    found = refuted(claim([[g("PureDP", epsilon)]], g("PureDP", less)))
    v = values(found)
    assert v["epsilon"] * above / below < both(worst, pairs(found)) <= v["epsilon"]


@pytest.mark.parametrize("larger", [False, True], ids=["maximum", "next order"])
def test_renyi(larger: bool) -> None:
    wrong = g("RenyiDP", order + 1, e1 + e2) if larger else g("RenyiDP", order, maximum(e1, e2))
    found = refuted(claim(RENYI, wrong))
    v = values(found)
    for depth, table in distributions(found.witness, 2):
        assert both(renyi(v["alpha"]), table) <= v["e1" if depth == 0 else "e2"] + SLACK
    if larger:
        assert both(renyi(v["alpha"] + 1), pairs(found)) > v["e1"] + v["e2"]
    else:
        assert both(renyi(v["alpha"]), pairs(found)) > max(v["e1"], v["e2"])


@pytest.mark.parametrize("count", [2, 3])
def test_adaptive_bounded_range_does_not_add(count: int) -> None:
    lengths = [e1, e2, e3][:count]
    total = e1 + e2 if count == 2 else e1 + e2 + e3
    found = refuted(claim([[g("BoundedRange", e)] for e in lengths], g("BoundedRange", total)))
    v = values(found)
    for depth, table in distributions(found.witness, count):
        assert both(spread, table) <= v[f"e{depth + 1}"]
    assert both(spread, pairs(found)) > sum(v[f"e{i + 1}"] for i in range(count))


def test_bounded_range_nearly_twice() -> None:
    wrong = g("BoundedRange", e1 + e2 * fmpq(19, 10))
    found = refuted(claim(RANGES, wrong))
    v = values(found)
    assert both(spread, pairs(found)) > v["e1"] + v["e2"] * mpf("1.9")


@pytest.mark.parametrize(
    "given", [g("PureDP", e1), g("ApproxDP", e1, d1), g("RenyiDP", order, e1)], ids=lambda x: x.name
)
def test_no_bounded_range(given) -> None:
    found = refuted(claim([[given]], g("BoundedRange", e1)))
    assert both(spread, pairs(found)) > values(found)["e1"]


def test_delta_is_not_the_probability_of_failure() -> None:
    found = refuted(claim([[g("ApproxDP", e1, d1)]], g("ProbabilisticDP", e1, d1)))
    v = values(found)
    assert both(hockey_stick(v["e1"]), pairs(found)) <= v["d1"]
    assert both(exceeding(v["e1"]), pairs(found)) > v["d1"]


def test_renyi_to_unrelated_delta() -> None:
    given = [[g("RenyiDP", order, epsilon)]]
    found = refuted(claim(given, g("ApproxDP", epsilon, delta)))
    v = values(found)
    assert both(renyi(v["alpha"]), pairs(found)) <= v["epsilon"]
    assert both(hockey_stick(v["epsilon"]), pairs(found)) > v["delta"]


def test_renyi_conversion_with_too_small_a_logarithm() -> None:
    eps = epsilon + LOG_INVERSE / (2 * order - 1)
    found = refuted(claim([[g("RenyiDP", order, epsilon)]], g("ApproxDP", eps, delta)))
    v = values(found)
    assert both(renyi(v["alpha"]), pairs(found)) <= v["epsilon"]
    beyond = v["epsilon"] + mp.log(1 / v["delta"]) / (2 * v["alpha"] - 1)
    assert both(hockey_stick(beyond), pairs(found)) > v["delta"]


def test_zcdp_conversion_without_the_two() -> None:
    eps = rho + sqrt(rho * LOG_INVERSE)
    found = refuted(claim([[g("ZCDP", rho)]], g("ApproxDP", eps, delta)))
    v = values(found)
    for step in range(1, 400):  # every order, sampled
        alpha = 1 + mpf(step) ** 2 / 400
        assert both(renyi(alpha), pairs(found)) <= v["rho"] * alpha
    beyond = v["rho"] + mp.sqrt(v["rho"] * mp.log(1 / v["delta"]))
    assert both(hockey_stick(beyond), pairs(found)) > v["delta"]
    assert "closest" in describe(found)


def test_a_family_claimed() -> None:
    wrong = g("ZCDP", epsilon * epsilon * fmpq(2, 5))
    found = refuted(claim([[g("PureDP", epsilon)]], wrong))
    v = values(found)
    alpha = mpf(int(found.orders[0].p)) / int(found.orders[0].q)
    assert both(worst, pairs(found)) <= v["epsilon"]
    assert both(renyi(alpha), pairs(found)) > v["epsilon"] ** 2 * mpf("0.4") * alpha


T = var("$t")
SQUARE = exp(2 * log(T))


@pytest.mark.parametrize(
    ("stages", "wrong"),
    [
        ([[g("KLDP", e1)], [g("KLDP", e2)]], g("KLDP", maximum(e1, e2))),
        ([[g("KLDP", e1)]], g("PureDP", 5 * e1)),
        ([[g("BoundedRange", e1)]], g("PureDP", e1 * fmpq(9, 10))),
        (
            [[g("ProbabilisticDP", e1, d1)], [g("ProbabilisticDP", e2, d2)]],
            g("ProbabilisticDP", e1 + e2, d1 * d2),
        ),
        ([[g("RenyiDPBelowOne", num(fmpq(1, 2)), e1)]], g("RenyiDPBelowOne", num(fmpq(3, 4)), e1)),
        ([[g("MomentBound", SQUARE, None, e1 + 1)]] * 2, g("MomentBound", SQUARE, None, 2 * e1)),
        ([[g("PureDP", e1)], [g("ApproxDP", e2, d2)]], g("ApproxDP", e2, d2)),
        ([[g("ApproxDP", e1, d1, two_way=False)]], g("ApproxDP", e1, d1)),
        ([[g("ZCDP", rho)], [g("ZCDP", rho)]], g("ZCDP", rho * fmpq(3, 2))),
    ],
)
def test_other_kinds(stages, wrong) -> None:
    refuted(claim(stages, wrong))


def test_one_of_several_claims() -> None:
    given = [[g("ApproxDP", e1, d1)]]
    found = refuted(claim(given, g("ApproxDP", e1, d1), g("PureDP", e1)))
    assert "PureDP" in describe(found).splitlines()[-1]


@pytest.mark.parametrize(
    "true",
    [
        claim(APPROX, g("ApproxDP", e1 + e2, d1 + d2 - d1 * d2)),
        claim(RENYI, g("RenyiDP", order, e1 + e2)),
        claim([[g("PureDP", e1)], [g("PureDP", e2)]], g("PureDP", e1 + e2)),
        claim(RANGES, g("BoundedRange", e1 + 2 * e2)),
        claim(
            [[g("RenyiDP", order, epsilon)]],
            g("ApproxDP", epsilon + LOG_INVERSE / (order - 1), delta),
        ),
    ],
    ids=["approximate", "renyi", "pure", "range", "conversion"],
)
def test_true_claims_stand(true: Statement) -> None:
    assert refute_statement(true, 0.5) is None


def test_small_numbers_that_can_be_redone_by_hand() -> None:
    found = refuted(claim(APPROX, g("ApproxDP", e1 + e2, d1 + d2 - 2 * d1 * d2)))
    assert describe(found).splitlines() == [
        "d1 = 1/10, d2 = 1/10, e1 = 1, e2 = 1",
        "each of the stages 1 to 2: outcomes (p, q) 1: (9/10, 1), 2: (1/10, 0)",
        "  ApproxDP(1, 1/10) for (P, Q): the sum of max(p - e^epsilon q, 0) is 0.1 = 0.1",
        "  ApproxDP(1, 1/10) for (Q, P): the sum of max(q - e^epsilon p, 0) is 0 <= 0.1",
        "the joint distributions (4 outcomes) break ApproxDP(2, 9/50) for (P, Q): "
        "the sum of max(p - e^epsilon q, 0) is 0.19 > 0.18",
    ]


def test_the_same_witness_in_every_run() -> None:
    statement = claim(RENYI, g("RenyiDP", order, maximum(e1, e2)))
    first, second = refuted(statement), refuted(statement)
    assert (first.values, first.witness) == (second.values, second.witness)


@pytest.mark.parametrize("largest", [True, False], ids=["max", "min"])
def test_a_moment_that_exhausts_its_bound(largest: bool) -> None:
    """Exact equality with kinks in the integrand, and what is just above the bound is refused."""
    kink = maximum(T, 0) if largest else minimum(T, 3)
    for bound, fits in ((fmpq(1), True), (fmpq(9, 10), False)):
        given = [[g("MomentBound", kink, 1, num(bound))]]
        statement = claim(given, g("PureDP", num(fmpq(1, 2))))
        witness = (Atom(fmpq(2, 3), fmpq(1, 3)), Atom(fmpq(1, 3), fmpq(2, 3)))
        if fits:
            assert refute(statement, {}, witness).witness == witness
        else:
            with pytest.raises(Refusal, match="a stage's guarantee"):
                refute(statement, {}, witness)


def test_a_later_stage_that_must_depend_on_the_outcome() -> None:
    """No product of two such pairs goes beyond delta = 0.0327 here."""
    stages = [[g("RenyiDP", num(2), num(fmpq(1, 4)))], [g("RenyiDP", num(4), num(fmpq(1, 2)))]]
    found = refuted(claim(stages, g("ApproxDP", num(fmpq(3, 2)), num(fmpq(336, 10_000)))))
    for depth, table in distributions(found.witness, 2):
        alpha, bound = (2, mpf("0.25")) if depth == 0 else (4, mpf("0.5"))
        assert both(renyi(mpf(alpha)), table) <= bound
    assert both(hockey_stick(mpf("1.5")), pairs(found)) > mpf("0.0336")
    assert "stage 2 after outcome 2" in describe(found)


def test_probabilistic_dp_is_not_closed_under_post_processing():
    """Two outcomes, each with a loss at most e or rare, become one of a larger loss."""
    from fractions import Fraction

    from dpsym.kernel.statements import Fact, Guarantee, Processed, Statement
    from dpsym.kernel.terms import var
    from dpsym.search.refutation import describe, refute_statement

    e, d = var("e"), var("d")
    stated = Guarantee("ProbabilisticDP", (e, d))
    facts = (Fact(e, ">"), Fact(d, ">"), Fact(1 - d, ">"))
    names = (("e", "real"), ("d", "real"))
    found = refute_statement(Statement(names, facts, (Processed((stated,)),), (stated,)), 10)
    assert found is not None
    eps, delta = (float(Fraction(int(found.values[n].p), int(found.values[n].q))) for n in "ed")
    merged = [(float(a.p), float(a.q)) for a in found.witness]
    inner = [(float(p), float(q)) for a in found.witness for p, q in (a.parts or ((a.p, a.q),))]

    def mass(pairs):
        return sum(p for p, q in pairs if p > math.exp(eps) * q)

    def turned(pairs):
        return [(q, p) for p, q in pairs]

    assert all(abs(sum(x) - 1) < 1e-12 for x in zip(*inner, strict=True))
    assert max(mass(inner), mass(turned(inner))) <= delta
    assert max(mass(merged), mass(turned(merged))) > delta
    assert "become" in describe(found)


def test_a_bound_of_zero_that_is_met_does_not_hold_the_search_up():
    """At epsilon = D/b the truth is 0 as well as the claim; elsewhere the claim is too small."""
    import sympy as sp

    import dpsym as dp

    size, scale = sp.symbols("Delta b", positive=True)
    eps = sp.symbols("epsilon", real=True)
    noise = dp.AdditiveNoise(dp.noise.Laplace(scale=scale), size)
    formula = 1 - sp.exp((eps - size / scale) / 2)
    claim = dp.ApproxDP(eps, formula * sp.Rational(99, 100))
    verdict = dp.check(noise, claim, [eps <= size / scale, eps >= 0], budget=30)
    assert isinstance(verdict, dp.Refuted)
