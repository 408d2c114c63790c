"""Samples with replacement, by all draws from small data sets: what the theorem says is true of
random mechanisms on samples, and attained by one; what refutes a claim is a mechanism on them."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement, product
from math import comb

import mpmath
import pytest
import sympy as sp
from sympy import Rational, exp, log

import dpsym as dp
from dpsym.kernel.certificate import verify

ODDS = 2  # e^epsilon
OTHERS = (0, 1, 2)  # the other records may be like one of the two that are exchanged
N = 3
RATE = Rational(1, N)
e, d = sp.symbols("epsilon delta", nonnegative=True)
n = sp.Symbol("n", integer=True, positive=True)

Sample = tuple[int, ...]
Law = tuple[Fraction, ...]
Mechanism = dict[Sample, Law]


def samples(draws: int) -> list[Sample]:
    return list(combinations_with_replacement(range(3), draws))


def distance(one: Sample, other: Sample) -> int:
    """How many records are to be replaced."""
    return (Counter(one) - Counter(other)).total()


def output(mechanism: Mechanism, data: Sample, draws: int) -> Law:
    """The law of the output, over all sequences of draws."""
    laws = [mechanism[tuple(sorted(drawn))] for drawn in product(data, repeat=draws)]
    return tuple(sum(column, Fraction(0)) / len(laws) for column in zip(*laws, strict=True))


def hockey_stick(p: Law, q: Law, odds: Fraction) -> Fraction:
    return sum((max(a - odds * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))


def neighbours() -> list[tuple[Sample, Sample]]:
    return [((x, a, b), (y, a, b)) for x, y in ((0, 1), (1, 0)) for a, b in product(OTHERS, OTHERS)]


def deltas(mechanism: Mechanism, draws: int) -> list[Fraction]:
    """Of samples that differ in at most 1, 2, ... records."""
    pairs = list(product(mechanism, mechanism))
    return [
        max(
            hockey_stick(mechanism[a], mechanism[b], Fraction(ODDS))
            for a, b in pairs
            if distance(a, b) <= k
        )
        for k in range(1, draws + 1)
    ]


def chances(draws: int) -> list[Fraction]:
    return [
        Fraction(comb(draws, k) * (N - 1) ** (draws - k), N**draws) for k in range(1, draws + 1)
    ]


def largest(mechanism: Mechanism, draws: int) -> Fraction:
    """The largest delta of the sample, at the epsilon of the theorem."""
    odds = 1 + sum(chances(draws)) * (ODDS - 1)
    laws = {data: output(mechanism, data, draws) for pair in neighbours() for data in pair}
    return max(hockey_stick(laws[a], laws[b], odds) for a, b in neighbours())


def law(source: random.Random, zeros: bool) -> Law:
    weights = [source.choice((0, 1, 2, 9) if zeros else (2, 3, 4)) for _ in range(3)]
    total = sum(weights) or 3
    return tuple(Fraction(w, total) for w in (weights if any(weights) else [1] * 3))


@pytest.mark.parametrize("draws", [1, 2, 3])
def test_the_theorem_is_true_of_random_mechanisms(draws):
    source = random.Random(draws)
    for i in range(40):
        mechanism = {one: law(source, zeros=i % 2 == 0) for one in samples(draws)}
        known = deltas(mechanism, draws)
        bound = sum(c * x for c, x in zip(chances(draws), known, strict=True))
        assert largest(mechanism, draws) <= bound


def test_and_attained():
    """One whose first output gives away the record the more often the more there are of it; so
    that no smaller delta is true, nor one weight less."""
    reveals = [Fraction(0), Fraction(1, 10), Fraction(3, 10)]  # 1/10 is enough for 2 times 1/10
    mechanism = {one: (p := reveals[one.count(0)], 1 - p) for one in samples(2)}
    known = deltas(mechanism, 2)
    assert known == reveals[1:]
    assert largest(mechanism, 2) == sum(c * x for c, x in zip(chances(2), known, strict=True))


@pytest.mark.parametrize("draws", [1, 2, 3])
def test_pure_privacy_is_true_of_random_mechanisms(draws):
    source = random.Random(draws)
    some = sum(chances(draws))
    for _ in range(20):
        mechanism = {one: law(source, zeros=False) for one in samples(draws)}

        def odds(p: Law, q: Law) -> Fraction:
            return max(a / b for a, b in zip(p, q, strict=True))

        most = max(odds(*pair) for pair in product(mechanism.values(), repeat=2))
        laws = {data: output(mechanism, data, draws) for pair in neighbours() for data in pair}
        assert max(odds(laws[a], laws[b]) for a, b in neighbours()) <= 1 + some * (most - 1)


def amplified(loss: object, rate: object, draws: int) -> sp.Expr:
    return log(1 + (1 - (1 - rate) ** draws) * (exp(loss) - 1))


def sampled(subject: object, rate: object, draws: int):
    return dp.subsample(subject, rate, method="with_replacement", draws=draws)


PROVED = {
    "three draws": (sampled([dp.PureDP(e)] * 3, 1 / n, 3), dp.PureDP(amplified(e, 1 / n, 3))),
    "groups": (sampled(dp.PureDP(e), 1 / n, 2), dp.PureDP(amplified(2 * e, 1 / n, 2))),
    "eight draws": (sampled([dp.PureDP(1)] * 8, RATE, 8), dp.PureDP(amplified(1, RATE, 8))),
    "copies": (dp.repeat(sampled(dp.PureDP(1), RATE, 2), 3), dp.PureDP(3 * amplified(2, RATE, 2))),
    "Laplace": (
        sampled(dp.AdditiveNoise(dp.noise.Laplace(1), 1), RATE, 2),
        dp.PureDP(amplified(2, RATE, 2)),
    ),
}


@pytest.mark.parametrize("name", PROVED)
def test_proved(name):
    subject, claim = PROVED[name]
    verdict = dp.check(subject, claim, budget=30)
    assert isinstance(verdict, dp.Proved), verdict
    assert verify(verdict.certificate).statement == verdict.theorem.proved.statement
    assert verdict.explain()


def test_the_way_of_a_proof():
    subject, claim = PROVED["groups"]
    *shown, last = dp.check(subject, claim).route
    assert any(line.startswith("the mixture: part 2 has PureDP(") for line in shown)
    assert last == "the claim, by Balle, Barthe and Gaboardi (2018), Theorem 10"


LOSS = Rational(1, 2)
FALSE = {
    "the rate of one draw": (sampled([dp.PureDP(e)] * 2, RATE, 2), amplified(e, RATE, 1), 0),
    "a little less": (
        sampled([dp.PureDP(1)] * 3, RATE, 3),
        amplified(1, RATE, 3) * LOSS * 19 / 10,
        0,
    ),
    "less, of groups": (sampled(dp.PureDP(1), RATE, 2), amplified(1, RATE, 2) * 19 / 20, 0),
    "a delta without one of the weights": (
        sampled([dp.ApproxDP(LOSS, Rational(1, 10))] * 2, RATE, 2),
        amplified(LOSS, RATE, 2),
        Rational(4, 9) / 10,
    ),
    "the delta of one draw": (
        sampled(dp.ApproxDP(LOSS, Rational(1, 10)), RATE, 2),
        amplified(2 * LOSS, RATE, 2),
        Rational(1, 100),
    ),
}


@lru_cache(maxsize=8)
def refuted(name: str):
    subject, loss, delta = FALSE[name]
    claim = dp.ApproxDP(loss, delta) if delta else dp.PureDP(loss)
    return subject, dp.check(subject, claim, budget=30)


@pytest.mark.parametrize("name", FALSE)
def test_a_witness_is_a_mechanism_on_samples(name):
    """What is published depends on whether one record occurs, or else whether the other does: one
    law for each. It has the guarantee, and all draws together break the claim."""
    subject, verdict = refuted(name)
    assert isinstance(verdict, dp.Refuted), verdict
    found = verdict.witness.refutation
    laws = [
        tuple(Fraction(int(x.p), int(x.q)) for x in row)
        for row in zip(*(atom.under for atom in found.witness), strict=True)
    ]
    mechanism = {
        one: laws[0] if 0 in one else laws[1] if 1 in one else laws[2]
        for one in samples(subject.draws)
    }
    p, q = (output(mechanism, (x, 2, 2), subject.draws) for x in (0, 1))
    assert (p, q) == tuple(
        tuple(Fraction(int(x.p), int(x.q)) for x in side)
        for side in zip(*((atom.p, atom.q) for atom in found.witness), strict=True)
    )
    numbers = {e: sp.Rational(str(found.values.get("epsilon", 1)))}
    guarantee = subject.subjects[0]
    own = exp(guarantee.epsilon.subs(numbers))
    allowed = getattr(guarantee, "delta", sp.S.Zero)
    for one, other in product(mechanism, repeat=2):
        if distance(one, other) == 1:
            assert stick(mechanism[one], mechanism[other], own) <= allowed
    _, loss, delta = FALSE[name]
    claimed = exp(loss.subs(numbers))
    assert max(stick(p, q, claimed), stick(q, p, claimed)) > delta
    assert str(verdict)


def stick(p: Law, q: Law, odds: sp.Expr) -> mpmath.mpf:
    with mpmath.workdps(40):
        at = mpmath.mpf(str(sp.N(odds, 40)))
        gaps = (mpmath.mpf(a.numerator) / a.denominator - at * b.numerator / b.denominator
                for a, b in zip(p, q, strict=True))  # fmt: skip
        return mpmath.fsum(gap for gap in gaps if gap > mpmath.mpf(10) ** -30)


TRUE = {
    # each draw alone is a sample of one record, and the others are fixed
    "the sum of all draws": (sampled(dp.PureDP(1), RATE, 2), dp.PureDP(2 * amplified(1, RATE, 1))),
    "without replacement": (sampled(dp.PureDP(1), RATE, 1), dp.PureDP(amplified(1, RATE, 1))),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_is_not_refuted(name):
    """Though the kernel's statement does not say that samples of different numbers of the record
    have to do with each other."""
    from dpsym.checking import read_claim, sign_of
    from dpsym.search.refutation import refute_statement

    subject, claim = TRUE[name]
    assert refute_statement(read_claim(subject, claim, [], sign_of).statement, 3.0) is None
