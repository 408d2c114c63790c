"""Lower bounds of the loss, against closed forms and direct sums in mpmath."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf

import mpmath as mp
import pytest
import sympy as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpsym as dp
from dpsym import testing
from dpsym.enclosures.failures import NoEnclosureError
from dpsym.enclosures.numbers import ball
from dpsym.testing import lower_bound
from dpsym.testing.bounds import BOUNDED
from dpsym.testing.events import events
from dpsym.testing.sums import losses_of
from dpsym.testing.worlds import worlds

R = sp.Rational
X = sp.Symbol("x", real=True)
UNKNOWN = sp.Symbol("unknown", nonnegative=True)
LAPLACE = dp.AdditiveNoise(dp.noise.Laplace(scale=2), 1)
GAUSSIAN = dp.AdditiveNoise(dp.noise.Gaussian(sigma=2), 1)


def least(subject, kind, *known):
    return lower_bound(subject, kind(*known, UNKNOWN), UNKNOWN)


def delta(subject, epsilon):
    return least(subject, dp.ApproxDP, epsilon)


def epsilon(subject, at):
    return lower_bound(subject, dp.ApproxDP(UNKNOWN, at), UNKNOWN)


def close_below(found, true, relative):
    """A lower bound that is not far off."""
    assert mp.mpf(found.numerator) / found.denominator <= true * (1 + mp.mpf(10) ** -14)
    assert float(found) >= float(true) * (1 - relative)


def normal(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def gaussian(mu, eps):
    return normal(mu / 2 - eps / mu) - mp.exp(eps) * normal(-mu / 2 - eps / mu)


def responses(eps, k, at):
    """The hockey-stick divergence of k-fold randomized response: a binomial sum."""
    p = mp.exp(eps) / (1 + mp.exp(eps))
    total = mp.mpf(0)
    for j in range(k + 1):
        one, other = p**j * (1 - p) ** (k - j), p ** (k - j) * (1 - p) ** j
        total += mp.binomial(k, j) * max(one - mp.exp(at) * other, 0)
    return total


# --- closed forms ---------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 7, 100])
def test_gaussians_add_up_as_their_squares(k):
    mu = mp.sqrt(k) / 2
    many = dp.repeat(GAUSSIAN, k)
    close_below(delta(many, R(1, 3)), gaussian(mu, mp.mpf(1) / 3), 1e-9)
    close_below(least(many, dp.ZCDP), mu**2 / 2, 1e-9)
    close_below(least(many, dp.GDP), mu, 1e-9)
    close_below(least(many, dp.RenyiDP, 3), 3 * mu**2 / 2, 1e-9)
    close_below(least(many, dp.ProbabilisticDP, R(1, 3)), normal(mu / 2 - 1 / (3 * mu)), 1e-9)
    assert least(many, dp.PureDP) == inf


def test_epsilon_is_where_delta_is():
    mu = mp.mpf(1) / 2
    found = epsilon(GAUSSIAN, R(1, 1000))
    assert gaussian(mu, mp.mpf(found.numerator) / found.denominator) >= mp.mpf(1) / 1000
    assert gaussian(mu, mp.mpf(float(found)) + mp.mpf(10) ** -6) < mp.mpf(1) / 1000
    assert epsilon(GAUSSIAN, 1) == 0
    assert epsilon(dp.ApproxDP(1, R(1, 10)), R(1, 20)) > 1000  # no epsilon at all is enough


@pytest.mark.parametrize(("k", "at"), [(1, R(1, 2)), (2, R(1, 2)), (5, 2), (40, 10)])
def test_responses_are_the_worst_of_pure_mechanisms(k, at):
    found = delta(dp.repeat(dp.PureDP(1), k), at)
    close_below(found, responses(1, k, mp.mpf(int(at.p)) / int(at.q) if k < 5 else at), 2e-2)


def test_losses_add_up():
    mixed = dp.compose(LAPLACE, dp.PureDP(R(1, 4)), dp.repeat(LAPLACE, 2))
    assert float(least(mixed, dp.PureDP)) == pytest.approx(1.75, abs=1e-7)
    assert float(least(mixed, dp.BoundedRange)) == pytest.approx(3.5, abs=1e-7)
    assert least(mixed, dp.PureDP) <= Fraction(7, 4)


def test_three_laplace_mechanisms():
    """Against losses that are rounded up, not down."""
    found = delta(dp.repeat(LAPLACE, 3), R(1, 2))
    close_below(found, _laplace_from_above(3, mp.mpf(1) / 2), 1e-1)
    assert found > Fraction(14, 100)


def _laplace_from_above(k, at, cells=60):
    """At least the k-fold divergence at scale 2: losses rounded up on a grid, in mpmath."""
    step = mp.mpf(1) / cells
    law = {}

    def cdf(x):  # of the noise of scale 2
        return mp.exp(x / 2) / 2 if x < 0 else 1 - mp.exp(-x / 2) / 2

    law[cells // 2] = cdf(mp.mpf(0))  # output below the first centre: the loss is 1/2
    law[-cells // 2] = 1 - cdf(mp.mpf(1))
    for i in range(cells):  # output between the centres: the loss is 1/2 - x
        low, high = i * step, (i + 1) * step
        law[cells // 2 - i] = law.get(cells // 2 - i, 0) + cdf(high) - cdf(low)
    total = {0: mp.mpf(1)}
    for _ in range(k):
        new = {}
        for (a, p), (b, q) in product(total.items(), law.items()):
            new[a + b] = new.get(a + b, 0) + p * q
        total = new
    return sum(p * max(1 - mp.exp(at - i * step), 0) for i, p in total.items())


def test_poisson_sampling_of_gaussians():
    q, mu, at = mp.mpf(1) / 4, mp.mpf(1) / 2, mp.mpf(1) / 10

    def density(x, shift):
        return mp.exp(-((x - shift) ** 2) / 2) / mp.sqrt(2 * mp.pi)

    def with_record(x):
        return q * density(x, mu) + (1 - q) * density(x, 0)

    def crossing(way):
        """Where the ratio of the two densities is e^at, or e^-at."""
        return (mp.log((mp.exp(way * at) - 1 + q) / q) + mu**2 / 2) / mu

    grid = [-12, -4, -2, -1, 0, 1, 2, 3, 4, 6, 12]
    high, low = crossing(1), crossing(-1)
    removed = q * mp.ncdf(mu - high) + (1 - q - mp.exp(at)) * mp.ncdf(-high)
    added = (1 - mp.exp(at) * (1 - q)) * mp.ncdf(low) - mp.exp(at) * q * mp.ncdf(low - mu)
    sampled = dp.subsample(GAUSSIAN, R(1, 4))
    close_below(delta(sampled, R(1, 10)), max(removed, added), 1e-4)
    moment = mp.quad(lambda x: with_record(x) ** 3 / density(x, 0) ** 2, grid)
    close_below(least(sampled, dp.RenyiDP, 3), mp.log(moment) / 2, 1e-6)
    other = mp.quad(lambda x: density(x, 0) ** mp.mpf(2.5) / with_record(x) ** mp.mpf(1.5), grid)
    at_least = least(sampled, dp.RenyiDP, R(5, 2))
    assert float(at_least) >= float(mp.log(other) / 1.5) * (1 - 1e-3)


def test_sampling_of_pure_mechanisms():
    q = R(1, 10)
    true = mp.log(1 + mp.mpf(1) / 10 * (mp.e - 1))
    for subject in (
        dp.PureDP(1),
        dp.RandomizedResponse(1),
        dp.AdditiveNoise(dp.noise.Laplace(1), 1),
    ):
        for method in ("poisson", "without_replacement"):
            close_below(least(dp.subsample(subject, q, method), dp.PureDP), true, 1e-6)


def joint(*pairs):
    """Independent pairs of masses as one."""
    out = [(mp.mpf(1), mp.mpf(1))]
    for pair in pairs:
        out = [(p * a, q * b) for p, q in out for a, b in pair]
    return out


def response(eps):
    keep = 1 / (1 + mp.exp(-eps))
    return [(keep, 1 - keep), (1 - keep, keep)]


def mixed(pair, rate):
    return [(rate * p + (1 - rate) * q, q) for p, q in pair]


def hockey(pair, eps):
    ways = (pair, [(q, p) for p, q in pair])
    return max(sum(max(p - mp.exp(eps) * q, 0) for p, q in way) for way in ways)


def divergence(pair, order):
    ways = (pair, [(q, p) for p, q in pair])
    logs = [mp.log(sum(p**order * q ** (1 - order) for p, q in way)) for way in ways]
    return max(log / (order - 1) for log in logs)


@pytest.mark.parametrize("method", ["poisson", "without_replacement"])
def test_samples_of_several_mechanisms(method):
    """Against all outcomes of responses, one by one: of what is composed and then sampled, and of
    that again, twice, and inside of another sample."""
    stages = dp.RandomizedResponse(1), dp.PureDP(R(1, 2)), dp.PureDP(R(1, 2))
    sampled = dp.subsample(dp.compose(*stages), R(1, 3), method)
    twice, again = dp.repeat(sampled, 2), dp.subsample(dp.repeat(sampled, 2), R(1, 2), method)
    with mp.workdps(40):
        third, half = mp.mpf(1) / 3, mp.mpf(1) / 2
        inner = mixed(joint(response(1), response(half), response(half)), third)
        for subject, pair in (
            (sampled, inner),
            (twice, joint(inner, inner)),
            (again, mixed(joint(inner, inner), half)),
        ):
            close_below(delta(subject, R(1, 10)), hockey(pair, mp.mpf(1) / 10), 1e-2)
            close_below(least(subject, dp.RenyiDP, 3), divergence(pair, 3), 1e-6)
            close_below(least(subject, dp.RenyiDP, R(1, 2)), divergence(pair, half), 1e-3)
            largest = max(max(p / q, q / p) for p, q in pair)
            close_below(least(subject, dp.PureDP), mp.log(largest), 1e-9)


@pytest.mark.parametrize(
    ("nested", "same"),
    [
        (dp.subsample(dp.subsample(GAUSSIAN, R(1, 2)), R(1, 3)), dp.subsample(GAUSSIAN, R(1, 6))),
        (
            dp.subsample(dp.repeat(GAUSSIAN, 4), R(1, 3)),
            dp.subsample(dp.AdditiveNoise(dp.noise.Gaussian(sigma=1), 1), R(1, 3)),
        ),
        (
            dp.subsample(dp.parallel(LAPLACE, dp.subsample(LAPLACE, R(1, 2))), R(1, 3)),
            dp.subsample(LAPLACE, R(1, 3)),
        ),
        (dp.subsample(dp.repeat(LAPLACE, 2), 1), dp.repeat(LAPLACE, 2)),
        (
            dp.subsample(dp.group(LAPLACE, 2), R(1, 3)),
            dp.subsample(dp.AdditiveNoise(dp.noise.Laplace(scale=2), 2), R(1, 3)),
        ),
        (dp.group(dp.repeat(GAUSSIAN, 4), 2), dp.GDP(2)),
        (dp.group(dp.group(LAPLACE, 2), 2), dp.group(LAPLACE, 4)),
        (dp.group(dp.parallel(LAPLACE, dp.PureDP(R(1, 10))), 2), dp.group(LAPLACE, 2)),
    ],
)
def test_nested_subjects_that_are_simpler_ones(nested, same):
    for at in (R(1, 20), R(1, 3)):
        assert float(delta(nested, at)) == pytest.approx(float(delta(same, at)), rel=1e-9)
    assert float(least(nested, dp.PureDP)) == pytest.approx(float(least(same, dp.PureDP)))
    assert float(least(nested, dp.RenyiDP, 2)) == pytest.approx(float(least(same, dp.RenyiDP, 2)))


def test_a_sample_of_many_noisy_answers():
    """Of eight Laplace mechanisms: at order 2, 1 + q^2 (M^8 - 1) with M the second moment of one,
    at order 2 itself; and at no epsilon more than q times what is not sampled has."""
    eight = dp.repeat(LAPLACE, 8)
    sampled = dp.subsample(eight, R(1, 4))
    moment = (2 * mp.exp(mp.mpf(1) / 2) + mp.exp(-1)) / 3
    close_below(least(sampled, dp.RenyiDP, 2), mp.log(1 + (moment**8 - 1) / 16), 1e-6)
    close_below(least(sampled, dp.PureDP), mp.log(1 + (mp.exp(4) - 1) / 4), 1e-6)
    at = mp.log(1 + (mp.e - 1) / 4)
    below, whole = delta(sampled, R(str(mp.nstr(at, 15)))), delta(eight, 1)
    close_below(below, mp.mpf(whole.numerator) / whole.denominator / 4, 1e-3)


def test_sampling_with_replacement():
    """What is published of whether the record is drawn at all."""
    some = 1 - mp.mpf(9) ** 3 / 10**3
    for subject in (dp.PureDP(1), dp.RandomizedResponse(1), [dp.PureDP(k) for k in (1, 2, 3)]):
        made = dp.subsample(subject, R(1, 10), "with_replacement", draws=3)
        close_below(least(made, dp.PureDP), mp.log(1 + some * (mp.e - 1)), 1e-6)
    known = [dp.ApproxDP(0, R(1, k)) for k in (10, 20)]
    made = dp.subsample(known, R(1, 10), "with_replacement", draws=2)
    close_below(delta(made, 0), mp.mpf(19) / 100 / 20, 1e-6)
    with pytest.raises(NoEnclosureError, match="of a list of guarantees"):
        least(dp.subsample([dp.PureDP(1), dp.ZCDP(1)], R(1, 2), "with_replacement", 2), dp.PureDP)


def test_groups():
    close_below(least(dp.group(LAPLACE, 3), dp.PureDP), mp.mpf(3) / 2, 1e-6)
    close_below(least(dp.group(dp.PureDP(R(1, 2)), 3), dp.PureDP), mp.mpf(3) / 2, 1e-9)
    close_below(least(dp.group(dp.ZCDP(R(1, 8)), 3), dp.ZCDP), mp.mpf(9) / 8, 1e-9)
    true = mp.mpf(1) / 100 * (mp.exp(1) - 1) / (mp.exp(mp.mpf(1) / 2) - 1)
    close_below(delta(dp.group(dp.ApproxDP(R(1, 2), R(1, 100)), 2), 1), true, 1e-9)


def test_a_group_of_a_table_takes_steps_between_different_rows():
    table = dp.Table([[R(3, 4), R(1, 4)], [R(1, 4), R(3, 4)]])
    assert delta(dp.group(table, 3), 0) == Fraction(1, 2)
    assert delta(dp.group(table, 2), 0) == 0


def test_both_directions_count_unless_the_claim_is_one_way():
    pair = dp.DensityPair(sp.exp(-X), 2 * sp.exp(-2 * X), X, sp.Interval(0, sp.oo))
    forward, back = mp.log(mp.mpf(1) / 2) + 1, mp.log(2) - mp.mpf(1) / 2
    for way, true in (({}, max(forward, back)), ({"one_way": True}, forward)):
        found = lower_bound(pair, dp.RenyiDP(1, UNKNOWN, **way), UNKNOWN)
        close_below(found, mp.mpf(true), 1e-6)
    reverse = dp.DensityPair(2 * sp.exp(-2 * X), sp.exp(-X), X, sp.Interval(0, sp.oo))
    found = lower_bound(reverse, dp.RenyiDP(1, UNKNOWN, one_way=True), UNKNOWN)
    close_below(found, back, 1e-6)


def test_orders_below_one():
    p, q = mp.mpf(3) / 4, mp.mpf(1) / 4
    table = dp.Table([[R(3, 4), R(1, 4)], [R(1, 4), R(3, 4)]])
    true = -2 * mp.log(2 * mp.sqrt(p * q))
    close_below(least(table, dp.RenyiDP, R(1, 2)), true, 1e-9)


def test_infinite_losses():
    table = dp.Table([[R(1, 2), R(1, 2), 0], [0, R(1, 2), R(1, 2)]])
    for kind, known in ((dp.PureDP, ()), (dp.RenyiDP, (2,)), (dp.ZCDP, ()), (dp.BoundedRange, ())):
        assert least(table, kind, *known) == inf
    assert delta(dp.repeat(table, 2), 5) == pytest.approx(Fraction(3, 4))


# --- never above what is true ---------------------------------------------------------------------


NOISES = [
    dp.noise.Laplace(R(3, 2)),
    dp.noise.Logistic(R(3, 2)),
    dp.noise.Gumbel(R(3, 2)),
    dp.noise.Exponential(R(3, 2)),
    dp.noise.StudentT(3, 1),
    dp.noise.Triangular(2),
    dp.noise.Logistic(300),
    dp.noise.Geometric(R(3, 2)),
    dp.noise.TruncatedGeometric(R(3, 2), 3),
    dp.noise.Skellam(4),
]


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("at", [R(0), R(1, 10)])
def test_events_never_say_more_than_the_densities(noise, at):
    """The same divergence from events and from integrals; the way of the sums against both."""
    mechanism = dp.AdditiveNoise(noise, 1)
    (world, *_) = worlds(mechanism)
    (stage, _) = world.stages[0]
    exact = mechanism.enclose(dp.ApproxDP(at, UNKNOWN), UNKNOWN, width=1e-6)
    of_events = losses_of([(events(stage), 1)]).hockey_stick(ball(at))
    assert float(of_events.lower()) <= float(exact.upper)
    assert float(of_events.mid()) >= 0.9 * float(exact.lower)


@given(
    st.lists(testing.guarantees("PureDP"), min_size=1, max_size=4),
    st.integers(1, 4),
    st.sampled_from((R(0), R(1, 2), R(3))),
)
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
def test_sums_of_losses_are_below_direct_sums(parts, times, at):
    """All outputs of all stages, one by one."""
    laws = [
        [(e, mp.exp(e) / (1 + mp.exp(e))), (-e, 1 / (1 + mp.exp(e)))]
        for part in parts
        if (e := mp.mpf(int(part.epsilon.p)) / int(part.epsilon.q)) is not None
    ][:3]
    parts = parts[:3]
    total = mp.mpf(0)
    for outputs in product(*laws, *([laws[0]] * (times - 1))):
        loss, mass = sum(x for x, _ in outputs), mp.fprod(p for _, p in outputs)
        total += mass * max(1 - mp.exp(mp.mpf(int(at.p)) / int(at.q) - loss), 0)
    found = delta(dp.compose(*parts, *([parts[0]] * (times - 1))), at)
    assert float(found) <= float(total) + 1e-12
    assert float(found) >= float(total) * 0.97 - 0.02


@given(testing.tables(3))
@settings(max_examples=20)
def test_tables_are_exact(table):
    true = max(
        sum(max(p - q, 0) for p, q in zip(one, other, strict=True))
        for one in table.matrix
        for other in table.matrix
    )
    found = delta(table, 0)
    assert found <= Fraction(int(true.p), int(true.q)) <= found + Fraction(1, 10**20)


# --- what the bad mechanisms have -----------------------------------------------------------------


@pytest.mark.parametrize("epsilon_", [R(0), R(1, 2), R(2)])
@pytest.mark.parametrize("delta_", [R(0), R(1, 100), R(1, 2), R(1)])
def test_what_stands_for_a_guarantee_has_it(epsilon_, delta_):
    """The atoms that stand for (epsilon, delta)-privacy, put into its definition."""
    (world,) = worlds(dp.ApproxDP(epsilon_, delta_))
    atoms = [(p, q) for p, q, _ in world.stages[0][0].pair.atoms]
    for pairs in (atoms, [(q, p) for p, q in atoms]):
        total = sum(sp.Max(p - sp.exp(epsilon_) * q, 0).evalf(40) for p, q in pairs)
        assert total <= delta_ + R(1, 10**30)
    assert sum(p for p, _ in atoms).simplify() == sum(q for _, q in atoms).simplify() == 1


@pytest.mark.parametrize(("epsilon_", "delta_"), [(1, R(1, 100)), (R(1, 2), R(1, 3)), (2, R(0))])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_what_stands_for_a_group_has_the_guarantee_at_each_step(epsilon_, delta_, size):
    """The first probabilities of 1, 2, ... steps from the last world's first output on."""
    (world,) = worlds(dp.group(dp.ApproxDP(epsilon_, delta_), size))
    ((last, first, _), _) = world.stages[0][0].pair.atoms
    odds, p = mp.exp(mp.mpf(sp.Rational(epsilon_).p) / sp.Rational(epsilon_).q), mp.mpf(0)
    step = mp.mpf(int(delta_.p)) / int(delta_.q)
    p, end = (mp.mpf(sp.N(x, 30)) for x in (first, last))
    for _ in range(size):  # as far as both conditions let it
        p = min(1, odds * p + step, 1 - (1 - p - step) / odds)
    assert end <= p + mp.mpf(10) ** -12
    assert end >= p - mp.mpf(10) ** -12


# --- what is asked for ----------------------------------------------------------------------------


def test_every_notion_has_the_parameters_it_is_said_to_have():
    for name, fields in BOUNDED.items():
        assert set(fields) <= set(getattr(dp, name).fields)


def test_what_there_is_no_bound_for():
    with pytest.raises(dp.InputError, match="solve_for: expected a symbol that is a parameter"):
        lower_bound(LAPLACE, dp.RenyiDP(UNKNOWN, 1), UNKNOWN)
    with pytest.raises(dp.InputError, match="claim: expected a guarantee"):
        lower_bound(LAPLACE, dp.both(dp.PureDP(1), dp.ZCDP(1)), UNKNOWN)
    with pytest.raises(dp.UnsupportedError, match="no bad mechanism that has a MomentBound"):
        lower_bound(dp.MomentBound(lambda L: L, 1), dp.PureDP(UNKNOWN), UNKNOWN)
    with pytest.raises(dp.UnsupportedError, match="several guarantees at once"):
        lower_bound(dp.both(dp.PureDP(1), dp.ZCDP(1)), dp.PureDP(UNKNOWN), UNKNOWN)
    with pytest.raises(dp.UnsupportedError, match="finitely many outputs"):
        lower_bound(LAPLACE, dp.ProbabilisticDP(0, UNKNOWN), UNKNOWN)


@pytest.mark.parametrize(
    "wrong",
    [
        dp.DensityPair(sp.exp(-X), 3 * sp.exp(-2 * X), X, sp.Interval(0, sp.oo)),
        dp.AdditiveNoise(dp.noise.Density(sp.exp(-sp.Abs(X)), X), 1),
    ],
)
def test_densities_that_are_none(wrong):
    with pytest.raises(dp.InputError, match="the density of a distribution, got one of total mass"):
        least(wrong, dp.PureDP)
