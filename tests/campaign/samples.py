"""Claims about samples: the ends of symbolic rates, (epsilon, delta), drawing with replacement; and
claims where theorems have been added; see ``claims``."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement, product
from math import comb
from typing import Any

import mpmath
import sympy as sp
from mpmath import mpf

import dpsym as dp
from tests.campaign import curves, nested, notions
from tests.campaign import truth as tr
from tests.campaign.claims import BUDGET, Outcome, kind, near, rational, settled, small, sure
from tests.campaign.truth import Atoms, number

# -- the ends of symbolic rates

Q = sp.Symbol("q", nonnegative=True)
_METHODS = ("poisson", "poisson", "without_replacement")


def _amplified(loss: sp.Expr, rate: sp.Expr = Q) -> sp.Expr:
    return sp.log(1 + rate * (sp.exp(loss) - 1))


def _of_rate(source: random.Random) -> tuple[Any, sp.Expr, Any]:
    """A subject, the best bound, and what claims it."""
    a, b = (rational(small(source) / 2) for _ in range(2))
    if source.random() < 0.3:
        a = sp.Symbol("e", positive=True)
    method = source.choice(_METHODS)
    sample = dp.subsample(dp.PureDP(a), Q, method)
    pure, loss = dp.PureDP, _amplified(a)
    times, count = source.choice((2, 3, sp.Symbol("k", integer=True, positive=True))), 2
    twice = dp.subsample(dp.compose(pure(a), pure(b)), Q, method)
    mass = rational(Fraction(1, source.choice((3, 10, 100))))
    known = dp.subsample(dp.ApproxDP(a, mass), Q, method)
    order = dp.subsample(dp.RenyiDP(2, a), Q)
    squared = sp.log(1 + Q**2 * (sp.exp(a) - 1))
    kept = dp.subsample(dp.subsample(pure(a), Q), rational(Fraction(1, 2)))
    return source.choice(
        (
            (sample, loss, pure),
            (dp.compose(sample, pure(b)), loss + b, pure),
            (dp.compose(pure(b), sample), loss + b, pure),
            (dp.repeat(sample, times), times * loss, pure),
            (dp.repeat(dp.compose(sample, pure(b)), count), count * (loss + b), pure),
            (twice, _amplified(a + b), pure),
            (kept, _amplified(a, Q / 2), pure),
            (known, Q * mass, lambda x: dp.ApproxDP(loss, x)),
            (order, squared, lambda x: dp.RenyiDP(2, x)),
            (dp.compose(order, dp.RenyiDP(2, b)), squared + b, lambda x: dp.RenyiDP(2, x)),
            (dp.compose(known, dp.ApproxDP(b, mass)), None, None),
            (dp.parallel(dp.subsample(pure(a), Q), pure(b)), sp.Max(loss, b), pure),
        )
    )


@kind
def ends_of_rates(source: random.Random) -> Outcome:
    """A claim with another bound at a rate of 0, or of 1, or close to there, so that it is false
    there alone; and true where these rates are excluded."""
    what, best, make = _of_rate(source)
    if best is None:
        return _two_masses(source, what)
    end = source.choice((0, 1))
    at = best.subs(Q, end)
    if at == 0 and source.random() < 0.8:  # nothing is less
        end, at = 1, best.subs(Q, 1)
    inside = Q > 0 if end == 0 else Q < 1
    share = source.choice((1, 1, 2, sp.Rational(99, 100), sp.Rational(1, 2), 0))
    truth = at == 0 or share >= 1
    where = [inside] if source.random() < 0.15 else []
    way = source.choice(("pieces", "pieces", "pieces", "three pieces", "close"))
    if way == "pieces":
        bound = sp.Piecewise((best, inside), (share * at, True))
    elif way == "three pieces":
        other = 1 - end
        pieces = (best, sp.And(Q > 0, Q < 1)), (best.subs(Q, other), inside), (share * at, True)
        bound = sp.Piecewise(*pieces)
    else:
        few, share = sp.Rational(1, source.choice((10, 1000))), min(share, 1)
        away = Q if end == 0 else 1 - Q
        bound = best - (1 - share) * at * sp.Max(0, 1 - away / few)
        where = [away >= few] if where else []
    truth = truth or bool(where)
    claim = make(bound)
    verdict = dp.check(what, claim, where, budget=1)
    return settled(truth, verdict, f"{what!r} has {claim!r} where {where}")


def _two_masses(source: random.Random, what: Any) -> Outcome:
    """Two stages with delta, the first on a sample: at a rate of 0 the other is left."""
    sample, other = what.stages if hasattr(what, "stages") else what.subjects
    mass, loss = other.delta, other.epsilon + _amplified(sample.subject.epsilon)
    share = source.choice((1, 1, sp.Rational(1, 2)))
    bound = sp.Piecewise((mass + Q * mass, Q > 0), (share * mass, True))
    claim = dp.ApproxDP(loss, bound)
    return settled(share >= 1, dp.check(what, claim, budget=1), f"{what!r} has {claim!r}")


# -- (epsilon, delta) of Poisson samples


@kind
def deltas_of_samples(source: random.Random) -> Outcome:
    """Copies of a Poisson sample: a smaller delta than that of some mechanism is false, and the one
    that follows from whole orders is true (Canonne, Kamath and Steinke 2020, Proposition 12), where
    one pair bounds all."""
    what, moment, member, known = notions.sampled(source)
    if known != "exact" and source.random() < 0.5:
        what, moment, member, known = notions.sampled(source)
    rate = source.choice((Fraction(1, 2), Fraction(1, 10), Fraction(9, 10), Fraction(1, 50)))
    count = source.choice((1, 1, 2, 3, 5) if rate > Fraction(1, 10) else (1, 2, 5, 20))
    epsilon = source.choice((Fraction(0), Fraction(0), small(source) / 8, small(source) / 2))
    q, e = number(rate), number(epsilon)
    low = mpf(0)
    for _ in range(5):
        one: Atoms | None = curves.mixed(member(source), q)
        product_ = one if count == 1 else curves.together([one] * min(count, 5)) if one else None
        if product_ is not None:
            ways = (product_, [(y, x) for x, y in product_])
            low = max(low, *(tr.hockey(way, e) for way in ways))
    high = mpf(1)
    if known == "exact":
        high = min(_mass(moment, q, count, n, e) for n in range(2, 33))
    target = source.choice((low, high)) if high < 1 else low
    if not mpf(10) ** -9 < target < 1:
        return "skipped", "a delta of almost 0, or 1"
    delta, same = near(source, target)
    truth = True if same > high + tr.CLOSE else False if same < low - tr.CLOSE else None
    sample = dp.subsample(what, rational(rate))
    if count > 1:
        sample = dp.repeat(sample, count)
    claim = dp.ApproxDP(rational(epsilon), delta)
    return settled(truth, dp.check(sample, claim, budget=0.8), f"{sample!r} has {claim!r}")


def _mass(moment: Any, rate: mpf, count: int, n: int, epsilon: mpf) -> mpf:
    terms = (
        comb(n, k) * (1 - rate) ** (n - k) * rate**k * mpmath.exp((k - 1) * moment(k) if k else 0)
        for k in range(n + 1)
    )
    total = count * mpmath.log(mpmath.fsum(terms)) / (n - 1)
    return mpmath.exp((n - 1) * (total + mpmath.log(1 - mpf(1) / n) - epsilon)) / n


# -- samples with replacement

Records = tuple[int, ...]
Law = tuple[Fraction, ...]


def _samples(draws: int) -> list[Records]:
    return list(combinations_with_replacement(range(3), draws))


def _law(source: random.Random, size: int, zeros: bool) -> Law:
    weights = [source.choice((0, 1, 1, 2, 9) if zeros else (1, 2, 3, 4, 9)) for _ in range(size)]
    if not any(weights):
        weights[0] = 1
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def _mechanism(source: random.Random, draws: int, zeros: bool) -> dict[Records, Law]:
    """What is published for each sample: at random, or by whether, or how often, one record is in
    it."""
    size = source.choice((2, 3))
    way = source.choice(("any", "whether", "whether", "how often"))
    laws = [_law(source, size, zeros) for _ in range(draws + 2)]
    if way == "any":
        return {one: _law(source, size, zeros) for one in _samples(draws)}
    if way == "how often":
        return {one: laws[one.count(0)] for one in _samples(draws)}
    return {
        one: laws[0] if 0 in one else laws[1] if 1 in one else laws[-1] for one in _samples(draws)
    }


def _between(mechanism: dict[Records, Law], draws: int) -> Iterator[tuple[int, Atoms]]:
    """Pairs of samples, and in how many records they differ."""
    for one, other in product(mechanism, repeat=2):
        distance = (Counter(one) - Counter(other)).total()
        yield (
            distance,
            [(number(p), number(q)) for p, q in zip(mechanism[one], mechanism[other], strict=True)],
        )


def _drawn(mechanism: dict[Records, Law], data: Records, draws: int) -> Law:
    """The law of what is published, over all draws."""
    laws = [mechanism[tuple(sorted(drawn))] for drawn in product(data, repeat=draws)]
    return tuple(sum(column, Fraction(0)) / len(laws) for column in zip(*laws, strict=True))


@kind
def with_replacement(source: random.Random) -> Outcome:
    """False where a mechanism on samples from three records that has the guarantees breaks it, by
    all draws; true by Balle, Barthe and Gaboardi (2018), Theorem 10, and where the draws are taken
    one after the other, each of which is a sample of one record."""
    draws, size, odd = source.choice((1, 2, 2, 3)), 3, source.random() < 0.4
    mechanism = _mechanism(source, draws, zeros=odd and source.random() < 0.5)
    pairs = list(_between(mechanism, draws))
    ends = range(1, draws + 1)
    rate = Fraction(1, size)
    chances = [comb(draws, k) * rate**k * (1 - rate) ** (draws - k) for k in ends]
    laws = {
        data: _drawn(mechanism, data, draws)
        for data in product(range(3), repeat=size)
        if data[0] != 2
    }
    outputs: list[Atoms] = []
    for data in laws:
        other = (1 - data[0], *data[1:])
        outputs.append(
            [(number(p), number(q)) for p, q in zip(laws[data], laws[other], strict=True)]
        )

    def worst(measure: Any, k: int) -> mpf:
        return max(measure(atoms) for distance, atoms in pairs if 0 < distance <= k)

    listed = source.random() < 0.5
    count = source.choice((1, 1, 1, 2))
    if count > 1:
        outputs = [curves.together([atoms] * count) or atoms for atoms in outputs]
    epsilon = source.choice((Fraction(1, 4), Fraction(1, 2), Fraction(1))) if odd else None
    if epsilon is None:
        losses = [worst(tr.loss, k) for k in ends]
        if max(losses) < mpf(10) ** -6:
            return "skipped", "all alike"
        given = [_above(loss) for loss in losses]
        known: Any = [dp.PureDP(rational(one)) for one in given]
        whole = [number(one) for one in (given if listed else [given[0] * k for k in ends])]
        most = mpmath.log(1 + sum(map(number, chances)) * (mpmath.exp(whole[-1]) - 1))
        alone = draws * mpmath.log(1 + number(rate) * (mpmath.exp(number(given[0])) - 1))
        high, low = count * min(most, alone), max(map(tr.loss, outputs))
        bound, same = near(source, source.choice((count * most, high, low)))
        claim: Any = dp.PureDP(bound)
    else:
        masses = [worst(lambda atoms: tr.hockey(atoms, number(epsilon)), k) for k in ends]
        given = [min(_above(mass), Fraction(1)) for mass in masses]
        known = [dp.ApproxDP(rational(epsilon), rational(one)) for one in given]
        loss = count * mpmath.log(
            1
            + sum(map(number, chances)) * (mpmath.exp(number(epsilon) * (1, draws)[not listed]) - 1)
        )
        short = _above(loss)  # a loss of a little more
        deltas = map(number, given)
        if not listed:
            steps = [mpmath.exp(number(epsilon) * i) for i in range(draws)]
            deltas = (number(given[0]) * sum(steps[:k]) for k in ends)
        once = mpmath.fsum(number(c) * x for c, x in zip(chances, deltas, strict=True))
        low = max(tr.hockey(atoms, number(short)) for atoms in outputs)
        high = count * once
        target = source.choice((high, low))
        if not mpf(10) ** -6 < target < 1:
            return "skipped", "a delta of almost 0"
        bound, same = near(source, target)
        claim = dp.ApproxDP(rational(short), bound)
    truth = True if same > high + tr.CLOSE else False if same < low - tr.CLOSE else None
    sample = dp.subsample(
        known if listed else known[0], rational(rate), "with_replacement", draws=draws
    )
    what = dp.repeat(sample, count) if count > 1 else sample
    return settled(truth, dp.check(what, claim, budget=0.6), f"{what!r} has {claim!r}")


def _above(value: mpf) -> Fraction:
    """A short number that is not below."""
    found = sure(value + mpf(10) ** -9)
    return Fraction(int(found.p), int(found.q))


# -- where theorems have been added

X, Y = sp.symbols("x y", nonnegative=True)


def _of_pure(loss: sp.Expr) -> sp.Expr:
    """Mironov (2017), Proposition 5, at order 2."""
    return sp.log(sp.exp(loss) + sp.exp(-loss) - 1)


# some are true of a part of the parameters alone, or in one direction
THEOREMS: tuple[tuple[Any, Any, list[Any]], ...] = (
    (dp.PureDP(X), dp.RenyiDP(2, _of_pure(X)), []),
    (dp.PureDP(X), dp.PureDP(X**2), [X >= 1]),
    (dp.PureDP(X), dp.PureDP(sp.sqrt(X)), [X <= 1]),
    (dp.PureDP(X), dp.PureDP(3), [X <= 3]),
    (dp.PureDP(X), dp.ZCDP(X**2 / 2), []),
    (dp.PureDP(X, one_way=True), dp.PureDP(2 * X, one_way=True), []),
    (dp.ApproxDP(X, Y), dp.ApproxDP(X + 1, Y), []),
    (dp.ApproxDP(X, Y), dp.ApproxDP(X, 2 * Y), [sp.Rational(1, 2) >= Y]),
    (dp.ZCDP(X), dp.RenyiDP(3, 3 * X), []),
    (dp.RenyiDP(2, X), dp.RenyiDP(1, X), []),
    (dp.compose(dp.PureDP(X), dp.PureDP(X)), dp.PureDP(2 * X), []),
    (dp.compose(dp.PureDP(X), dp.ApproxDP(Y, X)), dp.ApproxDP(X + Y, X), [X <= 1]),
    (dp.both(dp.PureDP(X), dp.ApproxDP(0, Y)), dp.ApproxDP(0, Y), [Y <= 1]),
)


@lru_cache(maxsize=len(THEOREMS))
def _theorem(index: int) -> Any:
    return dp.prove(*THEOREMS[index], budget=10)


@kind
def added_theorems(source: random.Random) -> Outcome:
    """Theorems change no truth, whatever they are about."""
    chosen = source.sample(range(len(THEOREMS)), source.choice((1, 1, 2, 3)))
    theorems = [_theorem(index) for index in chosen]
    for theorem in theorems:
        dp.add_theorem(theorem)
    try:
        name = source.choice(("nested", "nested", "chosen", "orders", "orders", "powers"))
        if name == "nested":
            depth = source.choice((0, 1, 1, 2))
            return notions.asked(source, nested.tree(source, depth, source.random() < 0.6, True))
        if name == "chosen":
            return notions.asked(source, nested.choosing(source))
        return _of_orders(source) if name == "orders" else _of_powers(source)
    finally:
        for theorem in theorems:
            dp.remove_theorem(theorem)


def _of_orders(source: random.Random) -> Outcome:
    """The divergence of order 2 of copies, of a sample, and beside others, which randomized
    response attains."""
    a, rho = small(source) / 4, small(source) / 8
    loss = rational(a)
    one, many = _of_pure(loss), source.choice((2, 5))
    rate = rational(source.choice((Fraction(1, 2), Fraction(1, 10))))
    what, best = source.choice(
        (
            (dp.PureDP(loss), one),
            (dp.repeat(dp.PureDP(loss), many), many * one),
            (dp.group(dp.PureDP(loss), many), _of_pure(many * loss)),
            (dp.subsample(dp.PureDP(loss), rate), sp.log(1 + rate**2 * (sp.exp(one) - 1))),
            (dp.compose(dp.PureDP(loss), dp.RenyiDP(2, rational(rho))), one + rational(rho)),
            (dp.parallel(dp.PureDP(loss), dp.PureDP(2 * loss)), _of_pure(2 * loss)),
        )
    )
    share = source.choice((Fraction(1), Fraction(1), Fraction(11, 10), Fraction(99, 100)))
    claim = dp.RenyiDP(2, rational(share) * best)
    return settled(share >= 1, dp.check(what, claim, budget=1), f"{what!r} has {claim!r}")


def _of_powers(source: random.Random) -> Outcome:
    """Squares of losses below 1, and roots of those above, are less."""
    a = small(source)
    many, power = source.choice((1, 2, 3)), source.choice((2, sp.Rational(1, 2)))
    loss = rational(a)
    what = dp.PureDP(loss) if many == 1 else dp.repeat(dp.PureDP(loss), many)
    claim = dp.PureDP(many * loss**power)
    truth = a >= 1 if power == 2 else a <= 1
    if source.random() < 0.3:
        k = sp.Symbol("k", integer=True, positive=True)
        what, claim = dp.repeat(dp.PureDP(loss), k), dp.PureDP(k * loss**power)
    return settled(truth, dp.check(what, claim, budget=BUDGET), f"{what!r} has {claim!r}")
