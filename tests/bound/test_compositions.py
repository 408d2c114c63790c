"""Compositions of pure and approximate privacy: both ends, against the sums of Kairouz, Oh and
Viswanath (2015) computed here with mpmath."""

from __future__ import annotations

import random
from itertools import product

import mpmath as mp
import pytest
from sympy import Rational, Symbol, log, oo

import dpsym as dp
from dpsym.kernel.certificate import verify

DELTA = Symbol("delta", nonnegative=True)
EPSILON = Symbol("epsilon", nonnegative=True)
HALF, TENTH, MILLIONTH = Rational(1, 2), Rational(1, 10), Rational(1, 10**6)


def exactly(value):
    return mp.mpf(int(value.p)) / int(value.q)


def of_copies(epsilon, delta, count, loss):
    """Theorem 3.3, for any loss, in the form of a sum over how often the likelier answer comes."""
    k, kept = mp.exp(epsilon), (1 - delta) ** count
    total = mp.fsum(
        mp.binomial(count, i) * max(k**i - mp.exp(loss) * k ** (count - i), 0)
        for i in range(count + 1)
    )
    return 1 - kept + kept * total / (1 + k) ** count


def of_stages(stages, loss):
    """Theorem 3.5's sum over all outcomes."""
    kept, total = mp.mpf(1), mp.mpf(0)
    for _, delta in stages:
        kept *= 1 - delta
    for signs in product((1, -1), repeat=len(stages)):
        own = mp.fsum(sign * epsilon for sign, (epsilon, _) in zip(signs, stages, strict=True))
        mass = mp.fprod(
            1 / (1 + mp.exp(-sign * epsilon))
            for sign, (epsilon, _) in zip(signs, stages, strict=True)
        )
        total += mass * max(1 - mp.exp(loss - own), 0)
    return 1 - kept + kept * total


def both_ends(found, value):
    """The ends are next to the value, on both sides of it, and each has its verdict."""
    assert isinstance(found, dp.Bound), found
    assert isinstance(found.proved, dp.Proved)
    assert isinstance(found.refuted, dp.Refuted)
    assert exactly(found.lower) <= value <= exactly(found.upper)
    assert found.relative_width < Rational(1, 10**17)


@pytest.mark.parametrize(
    ("epsilon", "delta", "count", "loss"),
    [
        (HALF, 0, 2, 0),
        (HALF, Rational(1, 100), 2, Rational(3, 4)),
        (TENTH, 0, 20, 1),
        (Rational(1, 3), Rational(1, 10**5), 12, 2),
        (2, Rational(1, 10), 3, 6),  # the sum of all losses
    ],
)
def test_copies(epsilon, delta, count, loss):
    stage = dp.ApproxDP(epsilon, delta) if delta else dp.PureDP(epsilon)
    found = dp.bound(dp.repeat(stage, count), dp.ApproxDP(loss, DELTA), DELTA)
    with mp.workdps(50):
        own = [mp.mpf(str(Rational(x).p)) / Rational(x).q for x in (epsilon, delta, loss)]
        both_ends(found, of_copies(own[0], own[1], count, own[2]))
    verify(found.certificate)


@pytest.mark.parametrize("seed", range(6))
def test_different_stages(seed):
    rng = random.Random(seed)
    stages = [
        (Rational(rng.randint(5, 150), 100), Rational(rng.choice((0, 1, 30)), 1000))
        for _ in range(rng.randint(2, 5))
    ]
    loss = Rational(rng.randint(0, 60), 100) * sum(epsilon for epsilon, _ in stages)
    parts = [dp.ApproxDP(*one) if one[1] else dp.PureDP(one[0]) for one in stages]
    found = dp.bound(dp.compose(*parts), dp.ApproxDP(loss, DELTA), DELTA)
    with mp.workdps(50):
        both_ends(found, of_stages([tuple(map(exactly, one)) for one in stages], exactly(loss)))


def test_losses_that_are_logarithms():
    parts = dp.PureDP(log(3)), dp.ApproxDP(log(3), TENTH), dp.PureDP(log(2))
    found = dp.bound(dp.compose(*parts), dp.ApproxDP(log(2), DELTA), DELTA)
    # masses of P, times 4 * 4 * 3, by the ratio: 18 at 18, 6 + 6 at 2, 9 at 9/2
    value = (18 * (1 - Rational(1, 9)) + 9 * (1 - Rational(4, 9))) / 48
    with mp.workdps(50):
        both_ends(found, exactly(TENTH + Rational(9, 10) * value))


def test_hundred_answers():
    """The epsilon of a hundred answers at 1/10, which a library gave as 1414.7."""
    with mp.workdps(40):
        reported = mp.mpf("4.7745675881079861533")
        value = mp.findroot(
            lambda x: of_copies(mp.mpf(1) / 10, 0, 100, x) - mp.mpf(10) ** -6, reported
        )
        assert abs(value - reported) < mp.mpf(10) ** -19
        found = dp.bound(dp.repeat(dp.PureDP(TENTH), 100), dp.ApproxDP(EPSILON, MILLIONTH), EPSILON)
        both_ends(found, value)


def test_check_settles_what_is_next_to_the_best():
    two = dp.compose(dp.ApproxDP(HALF, TENTH), dp.PureDP(1))
    with mp.workdps(40):
        stages = [(mp.mpf(1) / 2, mp.mpf(1) / 10), (mp.mpf(1), mp.mpf(0))]
        value = Rational(str(of_stages(stages, mp.mpf(1) / 4)))
    near = Rational(1, 10**15)
    assert isinstance(dp.check(two, dp.ApproxDP(Rational(1, 4), value + near)), dp.Proved)
    assert isinstance(dp.check(two, dp.ApproxDP(Rational(1, 4), value - near)), dp.Refuted)


def test_no_epsilon_is_enough():
    found = dp.bound(dp.repeat(dp.ApproxDP(1, TENTH), 3), dp.ApproxDP(EPSILON, TENTH), EPSILON)
    assert isinstance(found, dp.Bound)
    assert found.upper is oo
    assert isinstance(found.refuted, dp.Refuted)


def test_every_epsilon_is_enough():
    found = dp.bound(dp.repeat(dp.PureDP(TENTH), 2), dp.ApproxDP(EPSILON, HALF), EPSILON)
    assert isinstance(found, dp.Bound)
    assert (found.lower, found.upper) == (0, 0)
    assert isinstance(found.proved, dp.Proved)


def test_two_adaptive_stages():
    """A Rényi guarantee, then an approximate one: the witness is computed again with mpmath."""
    given = dp.RenyiDP(2, Rational(1, 4)), dp.ApproxDP(HALF, Rational(1, 100))
    loss = Rational(3, 2)
    found = dp.bound(dp.compose(*given), dp.ApproxDP(loss, DELTA), DELTA)
    assert isinstance(found, dp.Bound)
    assert found.relative_width < Rational(1, 10**5)
    verify(found.certificate)
    assert found.witness is not None
    atoms = found.witness.refutation.witness
    first = [(atom.p, atom.q) for atom in atoms]
    with mp.workdps(50):
        pairs = [tuple(map(exactly, pair)) for pair in first]
        for way in (pairs, [(q, p) for p, q in pairs]):
            assert mp.log(mp.fsum(p**2 / q for p, q in way)) <= mp.mpf(1) / 4
        joint = []
        for atom, (p, q) in zip(atoms, pairs, strict=True):
            then = [(exactly(one.p), exactly(one.q)) for one in atom.then]
            for way in (then, [(b, a) for a, b in then]):
                excess = mp.fsum(max(a - mp.exp(0.5) * b, 0) for a, b in way)
                assert excess <= mp.mpf(1) / 100
            joint += [(p * a, q * b) for a, b in then]
        reached = mp.fsum(max(p - mp.exp(1.5) * q, 0) for p, q in joint)
        assert reached > exactly(found.lower)
    # no more than for one stage of each kind, added up
    alone = dp.bound(given[0], dp.ApproxDP(1, DELTA), DELTA)
    assert isinstance(alone, dp.Bound)
    assert found.upper < alone.upper + Rational(1, 100)
