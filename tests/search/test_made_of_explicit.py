"""False claims about samples, groups and repetitions of explicit mechanisms are refuted, by pairs
that are among those of the stage; true ones next to them, by exact reasoning, are not."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from fractions import Fraction

import mpmath as mp
import pytest
import sympy as sp
from flint import fmpq
from sympy import Rational, exp, log

import dpsym as dp
from dpsym.checking import sign_of
from dpsym.claims import read_claim
from dpsym.events import Chosen, Event
from dpsym.instances import explicit
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.statements import Blend, Group, Link, Mechanism, Pair, Region, Statement
from dpsym.kernel.statements import Guarantee as Claim
from dpsym.kernel.terms import ONE, ZERO, num, var
from dpsym.refutations import Output, refute
from dpsym.search.refutation import refute_statement

q, b, sigma, reach = sp.symbols("q b sigma Delta", positive=True)
k = sp.Symbol("k", integer=True, positive=True)
HALF = Rational(1, 2)
LAPLACE = dp.AdditiveNoise(dp.noise.Laplace(scale=b), sensitivity=reach)
GAUSS = dp.AdditiveNoise(dp.noise.Gaussian(sigma=sigma), sensitivity=1)
GEOMETRIC = dp.AdditiveNoise(dp.noise.Geometric(HALF), sensitivity=1)
ROWS = [[HALF, HALF], [Rational(1, 4), Rational(3, 4)], [Rational(1, 8), Rational(7, 8)]]
SAMPLED = log(1 + q * (exp(reach / b) - 1))

FALSE = {
    "sampled laplace": (dp.subsample(LAPLACE, q), dp.PureDP(q * reach / b)),
    "a sample of fixed size": (
        dp.subsample(LAPLACE, q, method="without_replacement"),
        dp.PureDP(q * reach / b),
    ),
    "sampled copies": (
        dp.subsample(dp.repeat(dp.RandomizedResponse(b), 2), q),
        dp.PureDP(log(1 + q * (exp(b) - 1))),
    ),
    "sampled group": (dp.subsample(dp.group(LAPLACE, k), q), dp.PureDP(SAMPLED)),
    "a group": (dp.group(LAPLACE, 2), dp.PureDP(reach / b)),
    "groups": (dp.group(GAUSS, k), dp.ZCDP(k / (2 * sigma**2))),
    "groups, integers": (dp.group(GEOMETRIC, 3), dp.PureDP(5)),
    "a group of a table": (dp.group(dp.Table(ROWS), 2), dp.PureDP(log(2))),
    "copies of a sample": (
        dp.repeat(dp.subsample(LAPLACE, HALF), k),
        dp.PureDP(log(1 + (exp(reach / b) - 1) / 2)),
    ),
    "many copies": (dp.repeat(dp.RandomizedResponse(1), 20), dp.ApproxDP(5, Rational(79, 100))),
}

DIRECT = ("poisson", "without_replacement")


@pytest.mark.parametrize("name", FALSE)
def test_refuted(name):
    found = dp.check(*FALSE[name])
    assert isinstance(found, dp.Refuted), found
    assert found.witness.text()
    assert found.witness.script()


def test_the_divergence_of_a_sampled_gaussian_is_that_of_the_mixture():
    """E[(p/q)^2] = 1 + q^2 (e^(1/sigma^2) - 1) under Q = N(0, sigma^2), for the mixture P."""
    less = log(1 + q**2 * (exp(1 / (2 * sigma**2)) - 1))
    found = dp.check(dp.subsample(GAUSS, q), dp.RenyiDP(2, less))
    assert isinstance(found, dp.Refuted)
    low, bound = found.witness.exceeded
    rate, scale = (Fraction(str(found.witness.values[name])) for name in ("q", "sigma"))
    exactly = [
        mp.log(1 + mp.mpf(rate.numerator) ** 2 / rate.denominator**2 * mp.expm1(m / scale**2))
        for m in (mp.mpf(1), mp.mpf(1) / 2)
    ]
    assert abs(float(Fraction(str(low))) - exactly[0]) < 1e-12
    assert abs(float(Fraction(str(bound))) - exactly[1]) < 1e-12


TRUE = {
    "sampled laplace": (dp.subsample(LAPLACE, q), dp.PureDP(SAMPLED)),
    "a group": (dp.group(LAPLACE, 2), dp.PureDP(2 * reach / b)),
    "there and back": (dp.group(dp.Table(ROWS[:2]), 2), dp.PureDP(0)),
    "one pair, which no other one follows": (
        dp.group(dp.GaussianPair(0, 1, 1, 1), 2),
        dp.ApproxDP(1, Rational(1, 10)),
    ),
}


@pytest.mark.parametrize("name", TRUE)
def test_not_refuted(name):
    assert not isinstance(dp.check(*TRUE[name], budget=4), dp.Refuted)


Row = list[Fraction]


def row(rng: random.Random, size: int) -> Row:
    weights = [rng.randint(0 if rng.random() < 0.2 else 1, 6) for _ in range(size)]
    weights[0] += not any(weights)
    return [Fraction(weight, sum(weights)) for weight in weights]


def mixed(one: Row, other: Row, rate: Fraction) -> Row:
    return [rate * x + (1 - rate) * y for x, y in zip(one, other, strict=True)]


def data_sets(kind: str, rows: list[Row], rate: Fraction, size: int) -> Iterator[tuple[Row, Row]]:
    """All pairs of neighbours, by the definition, of a mechanism whose rows are all neighbours."""
    places = range(len(rows))
    if kind == "group":
        for start in places:
            reached = {start}
            for _ in range(size):
                reached = {j for i in reached for j in places if j != i}
            yield from ((rows[start], rows[end]) for end in reached)
        return
    for i, j in itertools.permutations(places, 2):
        if kind == "poisson":
            yield mixed(rows[i], rows[j], rate), rows[j]
        else:
            for other in rows:
                yield mixed(rows[i], other, rate), mixed(rows[j], other, rate)


def most(pairs: list[tuple[Row, Row]], factor: Fraction) -> Fraction:
    """The largest delta at epsilon = log(factor), of both directions."""
    both = [*pairs, *((q, p) for p, q in pairs)]
    return max(
        sum(max(x - factor * y, Fraction(0)) for x, y in zip(p, q, strict=True)) for p, q in both
    )


def test_tables_against_all_their_data_sets():
    """Next below the exact delta a witness is found, next above it none."""
    rng, tried = random.Random(2), 0
    while tried < 60:
        size = rng.choice((2, 3))
        rows = [row(rng, size) for _ in range(rng.choice((2, 3)))]
        if len(set(map(tuple, rows))) < len(rows):
            continue  # equal rows are a pair of their own
        kind, rate = rng.choice(("group", *DIRECT)), Fraction(rng.randint(1, 5), 6)
        steps, factor = rng.choice((2, 3, 4)), Fraction(rng.randint(2, 6), 2)
        table = dp.Table([[Rational(str(x)) for x in one] for one in rows])
        made = dp.group(table, steps) if kind == "group" else None
        made = made or dp.subsample(table, Rational(str(rate)), method=kind)
        exactly = most(list(data_sets(kind, rows, rate, steps)), factor)
        for step in (Fraction(1, 10**6), -Fraction(1, 10**6)):
            if 0 < exactly + step < 1:
                claim = dp.ApproxDP(log(Rational(str(factor))), Rational(str(exactly + step)))
                goal = read_claim(made, claim, [], sign_of)
                found = refute_statement(goal.statement, 5.0)
                assert (found is not None) == (step < 0), (kind, rows, rate, steps, factor)
                tried += 1


# -- what is among the pairs, and what is not

A, B, X, T = (var(name) for name in "abxt")
PAIR = Pair((Region(A, B), Region(1 - A, 1 - B)))


def test_a_mixture():
    rate = var("r")
    (pair,) = explicit(
        Blend((rate, 1 - rate), (ZERO, ONE), (Link(0, 1, Mechanism((PAIR,))),))
    ).pairs
    assert (pair.regions[0].p, pair.regions[0].q) == (rate * A + (1 - rate) * B, B)
    assert [fact.term for fact in pair.facts][:2] == [rate, 1 - rate]


def test_three_distributions_need_all_their_pairs():
    links = (Link(0, 1, Mechanism((PAIR,))), *(Link(i, 2, Mechanism((PAIR,))) for i in (0, 1)))
    weights = (num(fmpq(1, 2)), ZERO, num(fmpq(1, 2))), (ZERO, num(fmpq(1, 2)), num(fmpq(1, 2)))
    assert explicit(Blend(*weights, links)) is None  # two that are equal are no pair here


@pytest.mark.parametrize(
    "pair",
    [
        PAIR,
        Pair((Region(A, X, "x"),)),  # a density that no other one follows
        Pair((Region(X, X - T, "x"), Region(A, A)), (("t", "real"),)),  # an atom besides
        Pair((Region(X, X - T * T, "x"),), (("t", "real"),)),  # by another number
        Pair((Region(X, X - T, "x", kind="integer"),), (("t", "real"),)),  # not of integers
    ],
)
def test_no_chain(pair):
    assert explicit(Group(Mechanism((pair,)), num(2))) is None


def test_a_chain():
    pair = Pair((Region(X, X - T, "x"),), (("t", "real"),))
    (found,) = explicit(Group(Mechanism((pair,)), num(3))).pairs
    assert found.regions[0].q == X - 3 * T
    assert explicit(Group(Mechanism((pair,)), num(fmpq(3, 2)))) is None


def statement(stage, epsilon):
    return Statement((), (), (stage,), (Claim("PureDP", (epsilon,)),))


def sample(rate, rest):
    half, quarter = num(fmpq(1, 2)), num(fmpq(1, 4))
    table = Mechanism((Pair((Region(half, quarter), Region(half, 1 - quarter))),))
    return Blend((rate, rest), (ZERO, ONE), (Link(0, 1, table),))


def test_weights_must_be_weights():
    """(3/8, 1/4) has a loss of log(3/2)."""
    half, witness = num(fmpq(1, 2)), Output(0, 0, {})
    assert refute(statement(sample(half, half), num(fmpq(1, 3))), {}, witness).stages
    for rate, rest in ((half, ONE), (num(2), num(-1)), (num(-1), num(2))):
        with pytest.raises(Refusal):
            refute(statement(sample(rate, rest), num(fmpq(1, 10))), {}, witness)


def test_a_witness_must_break_the_claim_and_be_one_of_the_pairs():
    half = num(fmpq(1, 2))
    made = sample(half, half)
    for epsilon, pair in ((num(fmpq(1, 2)), 0), (num(fmpq(1, 3)), 1)):  # log(3/2) < 1/2
        with pytest.raises(Refusal):
            refute(statement(made, epsilon), {}, Output(pair, 0, {}))
    event = Event((Chosen(0, {}),))
    with pytest.raises(Refusal):
        refute(statement(made, num(fmpq(1, 2))), {}, event)
