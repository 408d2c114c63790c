"""Selection: output probabilities against formulas, integrals and exact numbers."""

import mpmath as mp
import pytest
import sympy as sp

import dpsym as dp
from dpsym.errors import InputError
from dpsym.mechanisms import ExponentialMechanism, PermuteAndFlip, ReportNoisyMax, noise
from tests.mechanisms.numbers import DIGITS, number, pairs

e, b = sp.symbols("epsilon b", positive=True)
TINY = mp.mpf(10) ** -20
SCORES = (sp.Integer(0), sp.Integer(2), sp.Rational(1, 2), sp.Integer(2))


def direct(row, density, distribution, low, high):
    """P(candidate wins) = integral of its density times the others' distribution functions."""
    scores = [mp.mpf(score.p) / score.q for score in row]
    cuts = sorted({*scores, *(score + shift for score in scores for shift in (low, high))})
    return [
        mp.quad(
            lambda z, i=i: (
                density(z - scores[i])
                * mp.fprod(distribution(z - s) for j, s in enumerate(scores) if j != i)
            ),
            cuts,
        )
        for i in range(len(scores))
    ]


def laplace_density(z):
    return mp.exp(-abs(z)) / 2


def laplace_distribution(z):
    return mp.exp(z) / 2 if z < 0 else 1 - mp.exp(-z) / 2


def exponential_density(z):
    return mp.exp(-z) if z >= 0 else mp.mpf(0)


def exponential_distribution(z):
    return 1 - mp.exp(-z) if z >= 0 else mp.mpf(0)


def assert_close(found, expected):
    for probability, value in zip(found, expected, strict=True):
        assert abs(number(probability) - value) < TINY


@pytest.mark.parametrize("row", [SCORES, SCORES[:3], SCORES[:2], SCORES[1:3]], ids=str)
def test_the_largest_of_laplace_and_of_exponential_noise(row):
    with mp.workdps(DIGITS):
        rows = [list(row), list(row)]
        found = ReportNoisyMax(rows, noise.Laplace(1)).probabilities(row)
        assert_close(found, direct(row, laplace_density, laplace_distribution, -80, 80))
        found = ReportNoisyMax(rows, noise.Exponential(1)).probabilities(row)
        assert_close(found, direct(row, exponential_density, exponential_distribution, 0, 80))


def test_the_largest_of_two_with_exponential_noise():
    """1 - e^(-d/b)/2, as for permute-and-flip (Ding et al., 2021)."""
    row = (sp.Integer(3), sp.Integer(1))
    larger, _ = ReportNoisyMax([list(row)] * 2, noise.Exponential(b)).probabilities(row)
    assert sp.simplify(larger - (1 - sp.exp(-2 / b) / 2)) == 0
    flipped, _ = PermuteAndFlip([list(row)] * 2, e).probabilities(row)
    assert sp.simplify(flipped - larger.subs(b, 2 / e)) == 0


def test_gumbel_noise_is_the_exponential_mechanism():
    rows = [list(SCORES)] * 2
    noisy = ReportNoisyMax(rows, noise.Gumbel(scale=2 / e)).probabilities(SCORES)
    drawn = ExponentialMechanism(rows, e).probabilities(SCORES)
    for one, other in zip(noisy, drawn, strict=True):
        assert sp.simplify(one - other) == 0


def test_permute_and_flip_by_all_orders():
    """The mean over all orders of the chance that all before are refused and it is accepted."""
    from itertools import permutations
    from math import factorial

    accepted = [mp.exp((mp.mpf(s.p) / s.q - 2) / 2) for s in SCORES]
    expected = [mp.mpf(0)] * len(SCORES)
    for order in permutations(range(len(SCORES))):
        rest = mp.mpf(1)
        for place in order:
            expected[place] += rest * accepted[place] / factorial(len(SCORES))
            rest *= 1 - accepted[place]
    found = PermuteAndFlip([list(SCORES)] * 2, 1).probabilities(SCORES)
    assert all(abs(number(p) - value) < 1e-14 for p, value in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    "mechanism",
    [
        ExponentialMechanism([[0, 1, 2], [1, 1, 1], [0, 0, 2]], 1),
        PermuteAndFlip([[0, 1, 2], [1, 1, 1]], 1),
        ReportNoisyMax([[0, 1, 2], [1, 1, 1]], noise.Laplace(2)),
    ],
    ids=lambda item: type(item).__name__,
)
def test_every_two_lists_are_neighbours_and_distributions(mechanism):
    families = mechanism.neighbours()
    rows = len(mechanism.scores)
    assert len(families) == rows * (rows - 1)
    with mp.workdps(DIGITS):
        for family in families:
            assert abs(mp.fsum(number(part.p) for part in family.parts) - 1) < TINY
            assert abs(mp.fsum(number(part.q) for part in family.parts) - 1) < TINY


@pytest.mark.parametrize(
    ("scores", "rate", "tight"),
    [
        # weights e^(u/2), ten candidates, zeros against (-1, 1, ..., 1)
        ([[0] * 10, [-1] + [1] * 9], sp.Integer(1), sp.log((1 + 9 * sp.E) / 10)),
        # weights e^(u/4), sensitivity 4
        ([[0, 0], [4, -4]], sp.Integer(2), sp.log((1 + sp.exp(2)) / 2)),
    ],
)
def test_reported_losses_of_the_exponential_mechanism(scores, rate, tight):
    size = max(abs(a - b) for a, b in zip(*scores, strict=True))
    families = ExponentialMechanism(scores, rate, sensitivity=size).neighbours()
    losses = [number(sp.log(part.p / part.q)) for family in families for part in family.parts]
    assert abs(max(losses) - number(tight)) < 1e-14


def test_all_scores_within_the_sensitivity():
    mechanism = ExponentialMechanism(2, e)
    assert isinstance(dp.check(mechanism, dp.PureDP(e)), dp.Proved)
    assert isinstance(dp.check(mechanism, dp.PureDP(e / 2)), dp.Refuted)
    facts = mechanism.hypotheses()
    u1, v1 = (sp.Symbol(name, real=True) for name in ("u1", "v1"))
    assert {sp.Le(v1 - u1, 1, evaluate=False), sp.Ge(v1 - u1, -1, evaluate=False)} <= set(facts)
    growing = ExponentialMechanism(2, e, monotone=True)
    assert sp.Ge(v1 - u1, 0, evaluate=False) in growing.hypotheses()
    assert isinstance(dp.check(growing, dp.PureDP(e)), dp.Proved)


def test_scores_that_are_not_monotone_need_the_factor_two():
    """P(i) ~ e^(epsilon u_i) with sensitivity 1 is 2 epsilon-DP and not epsilon-DP."""
    mechanism = ExponentialMechanism([[0, 0], [1, -1]], 2 * e)
    assert isinstance(dp.check(mechanism, dp.PureDP(e)), dp.Refuted)
    assert isinstance(dp.check(mechanism, dp.PureDP(2 * e)), dp.Proved)


def test_laplace_noise_of_scale_one_over_epsilon_is_too_little():
    """Report noisy max with Lap(sensitivity/epsilon), scores that are not monotone."""
    mechanism = ReportNoisyMax([[8, 0], [7, 1]], noise.Laplace(1))
    assert isinstance(dp.check(mechanism, dp.PureDP(1)), dp.Refuted)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ExponentialMechanism(1, 1), "^scores: expected from 2 to 100 candidates, got 1$"),
        (lambda: PermuteAndFlip(9, 1), "^scores: expected from 2 to 8 candidates, got 9$"),
        (lambda: ExponentialMechanism(True, 1), "^scores: expected two or more lists"),
        (lambda: ExponentialMechanism([[0, 1]], 1), "^scores: expected two or more lists"),
        (lambda: ExponentialMechanism(["ab", "cd"], 1), "^scores: expected two or more lists"),
        (lambda: ExponentialMechanism([[0, 1], [0]], 1), "^scores: expected lists of one length"),
        (lambda: ExponentialMechanism([[0], [0]], 1), "^scores: expected lists of one length"),
        (lambda: ExponentialMechanism([[0, "1"], [0, 1]], 1), "^scores 1, candidate 2: "),
        (
            lambda: ExponentialMechanism([[0, 0], [2, 0]], 1),
            "^scores 1 and 2: expected scores that differ by at most the sensitivity 1",
        ),
        (
            lambda: PermuteAndFlip([[0, 0], [1, -1]], 1, monotone=True),
            r"^scores 1 and 2: expected scores that all change in one direction \(monotone\)",
        ),
        (lambda: ExponentialMechanism(2, -1), "^epsilon: expected a number >= 0, got -1$"),
        (lambda: ExponentialMechanism(2, 1, 0), "^sensitivity: expected a number > 0, got 0$"),
        (lambda: ExponentialMechanism(2, 1, monotone=1), "^monotone: expected True or False"),
        (lambda: ReportNoisyMax(2, noise.Gaussian(1)), r"^noise: expected noise\.Gumbel, "),
        (lambda: ReportNoisyMax(3, noise.Laplace(1)), "^scores: expected rational numbers"),
        (lambda: ReportNoisyMax(2, noise.Laplace(1), relation="x"), "^relation: "),
    ],
)
def test_what_has_no_meaning_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_no_privacy_budget_is_a_uniform_choice():
    (pair, _) = pairs(ExponentialMechanism([[0, 1], [1, 0]], 0))
    assert all(region.p == region.q for region in pair.regions)
