"""What is true of mechanisms in reported mistakes: the tight or corrected claim.

The mistakes themselves are refuted in ``tests/search/test_refutation_reports.py``, and the numbers
enclosed in ``tests/enclosures/test_reported.py``.
"""

from __future__ import annotations

from sympy import Abs, Interval, Piecewise, Rational, S, exp, log, sqrt, symbols, tanh

import dpsym as dp
from dpsym import noise
from tests.catalogue.entries import REFUTED, UNKNOWN, Answer, Section, check

R = Section("R")

x = symbols("x", real=True)
k = symbols("k", integer=True)
eps, alpha = symbols("epsilon alpha", positive=True)
HALF = Rational(1, 2)
MILLIONTH = Rational(1, 10**6)


def gaussian(sigma, sensitivity=1):
    return dp.AdditiveNoise(noise.Gaussian(sigma=sigma), sensitivity)


def laplace(scale, sensitivity):
    return dp.AdditiveNoise(noise.Laplace(scale), sensitivity)


def subsampled(rate, sigma):
    base = noise.Gaussian(sigma=sigma)
    return dp.DensityPair(noise.Mixture([1 - rate, rate], [base, noise.Shifted(base, 1)]), base)


def released(threshold):
    """A count of 1 with geometric noise of scale 1, released from a threshold on; or nothing."""
    tail = exp(1 - threshold) / (1 + exp(-1))
    law = Piecewise((noise.Geometric(1).at(k - 1), k >= threshold), (1 - tail, True))
    nothing = Piecewise((S.Zero, k >= threshold), (S.One, True))
    return dp.PMFPair(law, nothing, k, Interval(threshold - 1, S.Infinity)), tail


@R.entry()
def b008_sigma_just_enough() -> Answer:
    return check(gaussian(Rational("3.731")), dp.ApproxDP(1, Rational(1, 10**5)))


@R.entry()
def b013_noise_scaled_with_the_clip() -> Answer:
    return check(gaussian(Rational(44, 10), 4), dp.ApproxDP(2, Rational(12, 1000)))


@R.entry(REFUTED)
def b015_less_noise_charged_less() -> Answer:
    # At sigma = 1, and this delta, epsilon is below 4.3772.
    return check(gaussian(Rational(1, 100)), dp.ApproxDP(Rational("4.3772"), Rational(1, 10**5)))


@R.entry()
def b016_noise_of_a_hundred_clients() -> Answer:
    return check(gaussian(sqrt(100 * Rational(1, 10) ** 2)), dp.ApproxDP(1, Rational("0.127")))


@R.entry(REFUTED)
def b016_noise_of_one_client() -> Answer:
    return check(gaussian(Rational(1, 10)), dp.ApproxDP(1, Rational("0.127")))


@R.entry()
def b017_noise_on_the_sum() -> Answer:
    return check(gaussian(Rational(11, 10), Rational(1, 250)), dp.ZCDP(Rational(1, 151250)))


@R.entry()
def b018_scale_the_right_way_up() -> Answer:
    return check(laplace(HALF, 2), dp.PureDP(4))


@R.entry()
def b023_rejection_sampling() -> Answer:
    laws = [exp(-Abs(x - at)) / (2 * (1 - exp(-HALF))) for at in (0, HALF)]
    laws[0] = exp(-x) / (1 - exp(-1))
    pair = dp.DensityPair(*laws, x, Interval(0, 1))
    yield check(pair, dp.PureDP(HALF + log(2 / (1 + exp(-HALF)))))
    yield check(pair, dp.ApproxDP(HALF, Rational("0.0170282640564590448")))


@R.entry()
def b025_truncated_threshold() -> Answer:
    pair, tail = released(14)
    return check(pair, dp.ApproxDP(0, tail))


@R.entry()
def b026_strict_tail() -> Answer:
    pair, tail = released(5)
    return check(pair, dp.ApproxDP(1, tail))


@R.entry()
def b029_mean_with_a_private_count() -> Answer:
    return check(laplace(Rational(1, 100), HALF), dp.PureDP(50))


@R.entry()
def b031_squares() -> Answer:
    return check(laplace(1, 100), dp.PureDP(100))


@R.entry()
def b034_disjoint_outcomes() -> Answer:
    table = dp.Table([[Rational(1, 4)] * 4, [HALF, 0, HALF, 0]])
    return check(table, dp.ApproxDP(eps, HALF))


@R.entry()
def b036_no_epsilon_at_all() -> Answer:
    return check(gaussian(100), dp.ApproxDP(0, Rational(1, 100)))


@R.entry()
def b037_best_order_of_zcdp() -> Answer:
    return check(dp.ZCDP(HALF), dp.ApproxDP(1, Rational("0.24684633078294448708")))


@R.entry()
def b038_two_coins() -> Answer:
    table = dp.Table([[Rational(15, 16), Rational(1, 16)], [Rational(3, 16), Rational(13, 16)]])
    yield check(table, dp.PureDP(log(13)))
    yield check(table, dp.ApproxDP(log(3), Rational(5, 8)))


@R.entry(slow=True)
def b042_pure_and_concentrated() -> Answer:
    table = dp.Table([[HALF, HALF], [1 - exp(-2) / 2, exp(-2) / 2]])
    yield check(table, dp.PureDP(2))
    yield check(table, dp.ZCDP(2))


@R.entry()
def b044_ten_candidates() -> Answer:
    scores = [[0] * 10, [-1] + [1] * 9]
    mechanism = dp.ExponentialMechanism(scores, 1)
    yield check(mechanism, dp.PureDP(1))
    yield check(mechanism, dp.PureDP(log((1 + 9 * exp(1)) / 10)))


@R.entry()
def b045_difference_of_scores() -> Answer:
    mechanism = dp.ExponentialMechanism([[0, 0], [4, -4]], 2, sensitivity=4)
    return check(mechanism, dp.PureDP(log((1 + exp(2)) / 2)))


@R.entry()
def b046_threshold_noise_only() -> Answer:
    r = exp(-HALF)
    table = dp.Table([[(1 - r) / 2, r / 2, HALF], [0, r / 2, 1 - r / 2]])
    return check(table, dp.ApproxDP(eps, (1 - r) / 2))


@R.entry()
def b048_correct_bound() -> Answer:
    q = Rational(1, 100)
    table = dp.Table([[1 - q, q], [1 - q * exp(-2), q * exp(-2)]])
    return check(table, dp.RenyiDP(6, Rational(10799, 10**4)))


@R.entry(slow=True)
def b049_randomized_response() -> Answer:
    yield check(dp.RandomizedResponse(1), dp.ZCDP(HALF))
    yield check(dp.RandomizedResponse(1), dp.ZCDP(tanh(HALF)))


@R.entry()
def b050_hundred_of_a_tenth() -> Answer:
    claim = dp.ApproxDP(Rational("5.7561055194"), MILLIONTH)
    yield check(dp.repeat(dp.PureDP(Rational(1, 10)), 100), claim)
    yield check(dp.repeat(dp.RandomizedResponse(Rational(1, 10)), 100), claim)


@R.entry()
def b052_three_tenths() -> Answer:
    tenth = laplace(10, 1)
    yield check(dp.compose(tenth, tenth, tenth), dp.PureDP(Rational(3, 10)))
    steps = [dp.ZCDP(Rational(245, 10**5))] * 10
    yield check(dp.compose(*steps), dp.ZCDP(Rational(245, 10**4)))


@R.entry()
def b053_two_gaussians() -> Answer:
    return check(dp.compose(gaussian(5), gaussian(5)), dp.ZCDP(Rational(1, 25)))


@R.entry(REFUTED)
def b053_less_than_the_sum() -> Answer:
    return check(dp.compose(gaussian(5), gaussian(5)), dp.ZCDP(Rational(39, 1000)))


@R.entry(UNKNOWN, why="an accountant's number for many steps, above what follows from the orders")
def b055_many_large_samples() -> Answer:
    steps = dp.repeat(subsampled(Rational(1, 5), 3), 50)
    return check(steps, dp.ApproxDP(Rational("2.16"), Rational(1, 48000)), budget=5)


@R.entry()
def b057_nine_hundred_steps() -> Answer:
    steps = dp.repeat(subsampled(Rational(1, 60), Rational("1.3")), 900)
    return check(steps, dp.ApproxDP(Rational("2.4614490036"), MILLIONTH * 10))


@R.entry()
def b059_ten_thousand_steps_and_more() -> Answer:
    step = subsampled(Rational(1, 100), 4)
    for count, loss in ((10_000, "1.26"), (40_000, "2.55")):
        yield check(dp.repeat(step, count), dp.ApproxDP(Rational(loss), MILLIONTH * 10))


@R.entry()
def b063_two_conversions() -> Answer:
    steps = dp.repeat(subsampled(Rational(1024, 50000), Rational("1.54")), 1464)
    yield check(steps, dp.RenyiDP(11, Rational("2.0061097368285514313")))
    for loss in ("3.1574022833255742733", "2.8223025762414123589", "2.6082515806910380185"):
        yield check(steps, dp.ApproxDP(Rational(loss), MILLIONTH * 10))


@R.entry()
def b064_three_conversions() -> Answer:
    classic = HALF + sqrt(2 * log(10**5))
    for loss in (classic, Rational("4.7283869849433139001")):
        yield check(dp.ZCDP(HALF), dp.ApproxDP(loss, MILLIONTH * 10))
    yield check(gaussian(1), dp.ApproxDP(Rational("4.377178095681224628"), MILLIONTH * 10))


@R.entry()
def b065_every_record_sampled() -> Answer:
    yield check(subsampled(1, 2), dp.RenyiDP(8, 1))
    yield check(subsampled(1, 2), dp.ApproxDP(1, Rational("0.0068295949831145754")))


@R.entry()
def b067_subsampled_with_more_noise() -> Answer:
    pair = subsampled(Rational(1, 100), Rational("0.9366237019634324"))
    return check(pair, dp.ApproxDP(1, Rational(1, 10**6)))


@R.entry(REFUTED)
def b067_subsampled_just_too_little_noise() -> Answer:
    pair = subsampled(Rational(1, 100), Rational("0.7764364060796696"))
    return check(pair, dp.ApproxDP(1, Rational(1, 10**6)))


@R.entry(UNKNOWN, why="an accountant's number for many steps")
def b069_batches_of_a_random_size() -> Answer:
    steps = dp.repeat(subsampled(Rational(1, 100), 1), 100)
    return check(steps, dp.ApproxDP(Rational("0.72"), MILLIONTH * 10), budget=5)


@R.entry(REFUTED)
def b069_batches_of_a_partition() -> Answer:
    return check(gaussian(1), dp.ApproxDP(Rational("0.72"), MILLIONTH * 10))
