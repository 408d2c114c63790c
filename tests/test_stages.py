"""Repetitions, groups and samples as data, and what they must refuse."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
import sympy as sp

import dpsym as dp
from dpsym.errors import InputError
from dpsym.guarantees import PureDP, both
from dpsym.kernel.certificate import verify
from dpsym.kernel.statements import Assumed, Blend, Group, Link, Mechanism, Repeated, singles
from dpsym.kernel.terms import ONE, ZERO, num, var
from dpsym.scope import Scope
from tests.soundness.values import value

k = sp.Symbol("k", integer=True)
q, e = sp.symbols("q epsilon", positive=True)
x = sp.Symbol("x", nonnegative=True)
LAPLACE = dp.AdditiveNoise(dp.noise.Laplace(scale=1), sensitivity=1)
PAIR = dp.DensityPair(
    sp.exp(-sp.Symbol("x", real=True)),
    2 * sp.exp(-2 * sp.Symbol("x", real=True)),
    sp.Symbol("x", real=True),
    sp.Interval(0, sp.oo),
)


def kernel(made):
    return made.to_inner(Scope(), lambda _: None)


def test_what_they_are_in_the_kernel():
    one = kernel(dp.repeat(PureDP(1), 3))
    assert one == Repeated(one.stage, num(3)) and isinstance(one.stage, Assumed)
    chain = kernel(dp.group(PureDP(1), k))
    assert chain == Group(one.stage, var("k"))
    for explicit in (dp.repeat(LAPLACE, 2), dp.group(LAPLACE, 2)):
        assert isinstance(kernel(explicit).stage, Mechanism)
    assert len(kernel(dp.repeat(both(PureDP(1), dp.ZCDP(1)), 2)).stage.guarantees) == 2


def test_poisson_sampling_is_with_the_record_and_without_it():
    """P = q M(x) + (1 - q) M(without x), Q = M(without x), given the rest of the sample."""
    made = kernel(dp.subsample(PureDP(1), q))
    (link,) = made.links
    assert (made.p, made.q) == ((var("q"), 1 - var("q")), (ZERO, ONE))
    assert (link.first, link.second) == (0, 1)


def test_sampling_without_replacement_is_one_record_for_another():
    """P and Q are the same where the record is not in the sample; all three are neighbours."""
    made = kernel(dp.subsample(PureDP(1), q, method="without_replacement"))
    rate = var("q")
    assert made == Blend(
        (rate, ZERO, 1 - rate),
        (ZERO, rate, 1 - rate),
        tuple(Link(i, j, made.links[0].stage) for i, j in ((0, 1), (0, 2), (1, 2))),
    )


def with_replacement(subject, rate, draws):
    return dp.subsample(subject, rate, method="with_replacement", draws=draws)


def occurrences(stage):
    """The leaves of the tree: with what probability, given that the record occurs, and the pairs
    of samples in which it does so a number of times."""
    first, *_ = stage.links
    if not isinstance(first.stage, Blend):
        return [(Fraction(1), stage)]
    assert stage.p[2:] == stage.q[:2] == (ZERO, ZERO) and stage.p[:2] == stage.q[2:]
    assert [(link.first, link.second) for link in stage.links] == [(0, 2), (1, 3)]
    shares = [value(weight, {}) for weight in stage.p[:2]]
    return [
        (share * chance, leaf)
        for share, link in zip(shares, stage.links, strict=True)
        for chance, leaf in occurrences(link.stage)
    ]


@pytest.mark.parametrize("rate", [sp.Rational(1, 3), sp.Rational(1, 7)])
def test_samples_with_replacement_are_what_all_draws_make_them(rate):
    """By counting the ways to draw from n records; R_0 and R_1 differ in k records."""
    n = int(1 / rate)
    for draws in (1, 2, 3, 4):
        ways = Counter(one.count(0) for one in product(range(n), repeat=draws))
        leaves = occurrences(kernel(with_replacement(PureDP(1), rate, draws)))
        assert len(leaves) == draws
        for k, (chance, leaf) in enumerate(leaves, 1):
            some, none, never = (value(weight, {}) for weight in leaf.p)
            assert (some, none, some) == tuple(value(leaf.q[i], {}) for i in (1, 0, 1))
            assert never == value(leaf.q[2], {}) == Fraction(ways[0], n**draws)
            assert some * chance == Fraction(ways[k], n**draws)
            for link in leaf.links:
                many = link.stage.count.value if isinstance(link.stage, Group) else 1
                assert many == k
            assert [(link.first, link.second) for link in leaf.links] == [(0, 1), (0, 2), (1, 2)]


def test_a_guarantee_for_each_number_of_records():
    known = [PureDP(k) for k in range(1, 9)]
    leaves = occurrences(kernel(with_replacement(known, sp.Rational(1, 9), 8)))
    told = [{link.stage.guarantees[0].args[0] for link in leaf.links} for _, leaf in leaves]
    assert told == [{num(k)} for k in range(1, 9)]
    assert sum(chance for chance, _ in leaves) == 1


def test_one_draw_with_replacement_is_a_sample_of_one_record():
    for subject in (PureDP(e), LAPLACE, dp.repeat(PureDP(e), 2), dp.Table([[1, 0], [0, 1]])):
        if getattr(subject, "relation", None) is None:
            fixed = dp.subsample(subject, q, method="without_replacement")
            assert kernel(with_replacement(subject, q, 1)) == kernel(fixed)
    assert with_replacement(PureDP(e), q, 1) != dp.subsample(PureDP(e), q, "without_replacement")


def test_all_or_none_of_one_record():
    """n = 1: every draw is the record. And a record that is never drawn."""
    for draws in (1, 2, 3):
        always = kernel(with_replacement(PureDP(e), 1, draws))
        ((_, leaf),) = occurrences(always)
        assert leaf.p == (ONE, ZERO, ZERO)
        assert draws == 1 or leaf.links[0].stage.count == num(draws)
        assert kernel(with_replacement(PureDP(e), 0, draws)).p == (ZERO, ZERO, ONE)
    for rate, loss in ((0, 0), (1, 2 * e)):
        made = with_replacement(PureDP(e), rate, 2)
        assert isinstance(dp.check(made, PureDP(loss)), dp.Proved)


@pytest.mark.parametrize("draws", [None, 0, -1, 9, 2.5, sp.Rational(3, 2), k, "2", True, sp.oo])
def test_draws_are_a_number(draws):
    with pytest.raises(InputError, match=r"^draws: expected ") as caught:
        with_replacement([PureDP(1)], q, draws)
    assert caught.value.argument == "draws"


def test_draws_are_with_replacement():
    for method in ("poisson", "without_replacement"):
        with pytest.raises(InputError, match=r"^draws: expected none"):
            dp.subsample(PureDP(1), q, method, draws=2)
        with pytest.raises(InputError, match=r"^subject: expected one"):
            dp.subsample([PureDP(1), PureDP(2)], q, method)


@pytest.mark.parametrize(
    "subjects",
    [[], [PureDP(1)], [PureDP(1)] * 3, [PureDP(1), LAPLACE], [PureDP(1), dp.group(PureDP(1), 2)]],
    ids=repr,
)
def test_a_list_is_of_a_guarantee_for_each_number(subjects):
    with pytest.raises(InputError, match=r"^subject: expected a guarantee for each number"):
        with_replacement(subjects, q, 2)


def test_samples_with_replacement_are_for_replaced_records():
    """A guarantee for one relation is not one for another."""
    added = dp.AdditiveNoise(dp.noise.Laplace(1), sensitivity=1, relation="add/remove")
    for subject in (added, dp.subsample(PureDP(1), q), dp.parallel(PureDP(1))):
        with pytest.raises(InputError, match=r"^method: expected one for add/remove"):
            with_replacement(subject, q, 2)
    made = with_replacement(PureDP(1), q, 2)
    assert made.relation == "replace-one"
    dp.group(made, 2)
    with pytest.raises(InputError, match=r"^method: expected one for replace-one"):
        dp.subsample(made, q)


def test_many_draws_are_of_guarantees_for_each_number():
    """Kernel statements are so deep at most."""
    with pytest.raises(InputError, match=r"^draws: expected fewer draws, or a list"):
        with_replacement(PureDP(1), q, 5)
    with pytest.raises(InputError, match=r"^draws: expected fewer draws, or a list"):
        with_replacement(dp.repeat(PureDP(1), 2), q, 3)
    for made in (
        with_replacement(PureDP(1), q, 4),
        with_replacement(dp.repeat(PureDP(1), 2), q, 2),
        with_replacement([PureDP(1)] * 8, q, 8),
        dp.repeat(with_replacement(PureDP(1), q, 2), 2),
    ):
        assert made.depth == 4
        assert isinstance(dp.check(made, PureDP(1), [q < 0]), dp.Vacuous)


def test_what_with_replacement_shows():
    made = with_replacement([PureDP(e), PureDP(2 * e)], q, 2)
    shown = "[PureDP(epsilon), PureDP(2*epsilon)], q, method='with_replacement', draws=2"
    assert repr(made) == f"subsample({shown})"
    assert [name for name, _ in made.parameters()] == ["epsilon", "epsilon", "rate"]
    assert made == with_replacement((PureDP(e), PureDP(2 * e)), q, sp.Integer(2))
    assert len({made, with_replacement([PureDP(e)] * 2, q, 2)}) == 2


def test_they_are_values():
    assert dp.repeat(PureDP(1), k) == dp.repeat(PureDP(1), k)
    assert dp.repeat(PureDP(1), 2) != dp.group(PureDP(1), 2)
    assert dp.subsample(PureDP(1), q) != dp.subsample(PureDP(1), q, "without_replacement")
    assert len({dp.repeat(PureDP(1), 2), dp.repeat(PureDP(1), 2), dp.group(PureDP(1), 2)}) == 2
    with pytest.raises(AttributeError):
        dp.repeat(PureDP(1), 2).count = sp.Integer(3)
    assert repr(dp.repeat(PureDP(e), k)) == "repeat(PureDP(epsilon), k)"
    assert repr(dp.group(PureDP(e), 2)) == "group(PureDP(epsilon), 2)"


COUNTS = [
    0,
    -1,
    sp.Rational(3, 2),
    2.5,
    True,
    "k",
    "3",
    None,
    sp.Symbol("x"),
    sp.Symbol("x", real=True),
    k + 1,
    2 * k,
    sp.oo,
    sp.nan,
    sp.I,
]


@pytest.mark.parametrize("count", COUNTS, ids=repr)
def test_a_count_is_a_whole_number_or_an_integer_symbol(count):
    with pytest.raises(InputError, match=r"^count: expected ") as caught:
        dp.repeat(PureDP(1), count)
    assert caught.value.argument == "count"
    with pytest.raises(InputError, match=r"^size: expected "):
        dp.group(PureDP(1), count)


def test_an_integer_symbol_stands_for_numbers_from_one():
    plain = sp.Symbol("k", integer=True)
    assert sp.Ge(plain, 1) in dp.repeat(PureDP(1), plain).hypotheses()
    assert dp.repeat(PureDP(1), 2).hypotheses() == PureDP(1).hypotheses()
    claim = dp.PureDP(k * e)
    assert isinstance(dp.check(dp.repeat(dp.PureDP(e), k), claim, [k >= 0]), dp.Proved)
    assert isinstance(dp.check(dp.repeat(dp.PureDP(e), k), claim, [k <= 0]), dp.Vacuous)


RATES = [-1, sp.Rational(-1, 10), 2, sp.Rational(3, 2), "1/2", None, True, sp.oo, sp.nan, sp.I]


@pytest.mark.parametrize("rate", RATES, ids=repr)
def test_a_rate_is_a_probability(rate):
    with pytest.raises(InputError, match=r"^rate: expected ") as caught:
        dp.subsample(PureDP(1), rate)
    assert caught.value.argument == "rate"


def test_a_rate_that_is_a_symbol_is_between_zero_and_one():
    assert {sp.Ge(q, 0), sp.Le(q, 1)} - {sp.true} <= set(dp.subsample(PureDP(1), q).hypotheses())
    outside = dp.check(dp.subsample(dp.PureDP(e), q), dp.PureDP(e), [q > 1])
    assert isinstance(outside, dp.Vacuous)
    for rate in (0, 1):  # never, and always
        found = dp.check(dp.subsample(dp.PureDP(e), rate), dp.PureDP(rate * e))
        assert isinstance(found, dp.Proved)


def test_a_rate_of_zero_inside_of_others():
    never = dp.subsample(dp.repeat(dp.PureDP(e), 2), 0)
    twice = dp.subsample(dp.subsample(dp.PureDP(e), sp.Rational(1, 2)), 0)
    for what in (
        never,
        twice,
        dp.repeat(dp.subsample(dp.PureDP(e), 0), 2),
        dp.subsample(LAPLACE, 0),
    ):
        for claim in (dp.PureDP(0), dp.ApproxDP(0, 0), dp.ApproxDP(x, sp.Rational(1, 2))):
            assert not isinstance(dp.check(what, claim, budget=2), dp.Refuted)
        assert isinstance(dp.check(what, dp.PureDP(0), budget=2), dp.Proved)


SUBJECTS = [
    None,
    3,
    "PureDP(1)",
    PureDP,
    sp.Symbol("x"),
    dp.postprocess(PureDP(1)),
    dp.compose(PureDP(1), dp.postprocess(PureDP(1))),
    dp.filtered(PureDP(x), x, 1),
    dp.compose(dp.filtered(PureDP(x), x, 1), PureDP(1)),
]


@pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
def test_a_subject_is_a_guarantee_or_a_mechanism(subject):
    message = "expected a guarantee such as PureDP"
    with pytest.raises(InputError, match=rf"^repeat: {message}"):
        dp.repeat(subject, 2)
    with pytest.raises(InputError, match=rf"^group: {message}"):
        dp.group(subject, 2)
    with pytest.raises(InputError, match=rf"^subsample: {message}"):
        dp.subsample(subject, q)


@pytest.mark.parametrize("method", [None, "", "shuffled", "Poisson", 1])
def test_a_method_is_one_of_two(method):
    with pytest.raises(InputError, match=r"^method: expected poisson or without_replacement"):
        dp.subsample(PureDP(1), q, method=method)


def test_what_is_made_of_others_goes_so_deep():
    deep = dp.PureDP(1)
    for _ in range(4):
        deep = dp.repeat(deep, 2)
    kernel(deep)
    with pytest.raises(InputError, match=r"^group: expected what is made of others at most 4"):
        dp.group(deep, 2)


def test_relations_do_not_mix():
    """A mechanism for one relation is not run on a sample for the other."""
    swap = dp.AdditiveNoise(dp.noise.Laplace(1), sensitivity=1, relation="replace-one")
    assert dp.subsample(swap, q, method="without_replacement").relation == "replace-one"
    with pytest.raises(InputError, match=r"^method: expected one for replace-one"):
        dp.subsample(swap, q)
    assert dp.repeat(swap, 2).relation == dp.group(swap, 2).relation == "replace-one"
    for other in (dp.subsample(PureDP(1), q), dp.subsample(LAPLACE, q)):
        with pytest.raises(InputError, match="one neighbouring relation for all mechanisms"):
            dp.compose(other, swap)


def test_claims_are_not_made_of_others():
    for made in (dp.repeat(PureDP(1), 2), dp.group(PureDP(1), 2), dp.subsample(PureDP(1), q)):
        with pytest.raises(InputError):
            dp.check(PureDP(1), made)


def test_a_pair_is_repeated():
    made = kernel(dp.repeat(PAIR, 2))
    assert isinstance(made.stage, Mechanism)


SPENT = sp.Symbol("spent", nonnegative=True)


@pytest.mark.parametrize(
    ("made", "claim"),
    [
        (dp.repeat(PureDP(e), k), PureDP(k * e)),
        (dp.group(PureDP(e), 2), PureDP(2 * e)),
        (dp.subsample(PureDP(e), q), PureDP(e)),
        (dp.filtered(PureDP(SPENT), SPENT, sp.Integer(1)), PureDP(1)),
        (dp.postprocess(PureDP(e)), PureDP(e)),
        (dp.repeat(LAPLACE, 2), PureDP(2)),
        (dp.compose(LAPLACE, PureDP(e)), PureDP(1 + e)),
    ],
    ids=str,
)
def test_what_a_certificate_says_is_what_was_proved(made, claim):
    verdict = dp.check(made, claim, where=[q <= 1, k >= 1])
    assert isinstance(verdict, dp.Proved)
    assert verify(verdict.certificate).statement == verdict.theorem.proved.statement


def test_a_group_is_not_of_what_tells_the_neighbours_apart():
    """Its steps may add a record or remove one; P of a Poisson sample is with the record."""
    for subject in (
        dp.subsample(PureDP(1), q),
        dp.repeat(dp.subsample(PureDP(1), q), 2),
        dp.compose(PureDP(1), dp.subsample(PureDP(1), q)),
    ):
        with pytest.raises(InputError, match=r"^group: expected a guarantee of the sample"):
            dp.group(subject, 2)
    dp.group(dp.subsample(PureDP(1), q, "without_replacement"), 2)
    dp.subsample(dp.group(PureDP(1), 2), q)


def test_the_record_in_the_other_ones_place_may_be_like_it():
    """However deep the mechanism is inside of the sample of a fixed size."""
    likely, unlikely = sp.Rational(3, 4), sp.Rational(1, 4)
    coin = dp.Table([[likely, unlikely], [unlikely, likely]])

    def alike(stage):
        pairs = [pair for one in singles(stage) for pair in one.pairs]
        return any(all(r.p == r.q for r in pair.regions) for pair in pairs)

    for subject in (coin, dp.repeat(coin, 2), dp.compose(coin, dp.repeat(dp.group(coin, 2), 2))):
        first, *others = kernel(dp.subsample(subject, q, "without_replacement")).links
        assert not alike(first.stage)
        assert all(alike(link.stage) for link in others)


def test_a_choice_reads_plainly():
    found = dp.check(dp.parallel(dp.PureDP(1), dp.PureDP(2)), dp.PureDP(2))
    assert str(found).startswith(
        "Proved: whichever of these mechanisms sees the record that differs\n"
        "    1. any mechanism with PureDP(1)\n"
        "    2. any mechanism with PureDP(2)\n"
        "  has PureDP(2)\n"
    )


def test_mechanisms_on_parts_of_the_data_by_what_each_is_known_to_have():
    """The Laplace mechanism has epsilon^2/2 by way of its epsilon (Bun and Steinke (2016),
    Proposition 1.4)."""
    b, sigma, reach = sp.symbols("b sigma Delta", positive=True)
    laplace = dp.AdditiveNoise(dp.noise.Laplace(scale=b), sensitivity=reach)
    gauss = dp.AdditiveNoise(dp.noise.Gaussian(sigma=sigma), sensitivity=reach)
    total = reach**2 / b**2 + reach**2 / (2 * sigma**2)
    assert isinstance(dp.check(dp.parallel(laplace, gauss), dp.ZCDP(total)), dp.Proved)


@pytest.mark.parametrize("method", ["poisson", "without_replacement"])
@pytest.mark.parametrize("claim", [dp.PureDP(0), dp.ApproxDP(0, 0)])
def test_a_record_that_is_never_in_the_sample(method, claim):
    table = dp.Table([[sp.Rational(1, 2), sp.Rational(1, 2)], [0, 1]])
    assert isinstance(dp.check(dp.subsample(table, 0, method=method), claim), dp.Proved)
