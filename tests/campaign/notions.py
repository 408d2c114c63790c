"""Claims about nested subjects, samples of Renyi guarantees, ranges and filters; see ``claims``."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any

import mpmath
import sympy as sp
from mpmath import mpf

import dpsym as dp
from tests.campaign import adaptive, curves, nested
from tests.campaign import truth as tr
from tests.campaign.claims import BUDGET, Outcome, kind, near, rational, settled, small
from tests.campaign.truth import Atoms, number

_SHIFTS = (Fraction(0), Fraction(0), Fraction(1, 10**9), -Fraction(1, 10**9), -Fraction(1, 50))


def asked(
    source: random.Random,
    one: nested.Tree,
    about: Callable[[random.Random, nested.Tree, nested.Near], nested.Claim | None] = nested.about,
    budget: float = BUDGET,
) -> Outcome:
    found = about(source, one, near)
    if found is None:
        return "skipped", f"{one}"
    what = nested.subject(one)
    verdict = dp.check(what, found.claim, budget=budget)
    return settled(found.truth, verdict, f"{what!r} has {found.claim!r}")


@kind
def nested_subjects(source: random.Random) -> Outcome:
    """Made of others up to four deep."""
    depth = source.choice((1, 1, 2, 2, 3, 4))
    return asked(source, nested.tree(source, depth, added=source.random() < 0.6))


@kind
def ends_of_domains(source: random.Random) -> Outcome:
    """Rates of 0 and 1, epsilon 0, delta 0 and 1, one copy."""
    depth = source.choice((0, 1, 1, 2, 3))
    return asked(source, nested.tree(source, depth, source.random() < 0.6, ends=True))


@kind
def chosen_on_the_way(source: random.Random) -> Outcome:
    """Earlier outputs choose which of several mechanisms a later stage is."""
    about = source.choice((nested.less_than_chosen, nested.less_than_chosen, nested.about))
    return asked(source, nested.choosing(source), about, budget=1.5)


@kind
def nested_bounds(source: random.Random) -> Outcome:
    """dp.bound has the best delta of what is nested between its ends."""
    one = nested.tree(source, source.choice((1, 2)), added=source.random() < 0.6)
    if source.random() < 0.3:
        one = nested.choosing(source)
    worst, some = nested.high(one), nested.low(one)
    epsilon = source.choice((Fraction(0), Fraction(1, 10), Fraction(1, 2)))
    if worst is None or not some:
        return "skipped", f"{one}"
    delta = sp.Symbol("delta", positive=True)
    what = nested.subject(one)
    claim = dp.ApproxDP(rational(epsilon), delta)
    found = dp.bound(what, claim, delta, budget=0.5)
    said = f"bound({what!r}, {claim!r})"
    if isinstance(found, dp.Unknown):
        return "no bound", said
    e = number(epsilon)
    some += nested.chosen(one, adaptive.hockey(e))
    least = max(tr.hockey(way, e) for atoms in some for way in (atoms, _reversed(atoms)))
    most = max(tr.hockey(worst, e), tr.hockey(_reversed(worst), e))
    low, high = (None if end is None else mpf(sp.N(end, 50)) for end in (found.lower, found.upper))
    if (low is not None and low > most + tr.CLOSE) or (
        high is not None and high < least - tr.CLOSE
    ):
        return "WRONG", f"{said}: {low} .. {high}, not {least} .. {most}"
    return ("no bound" if low is None or high is None else "encloses"), said


def _reversed(atoms: Atoms) -> Atoms:
    return [(q, p) for p, q in atoms]


# -- samples


def _cells(source: random.Random, mu: mpf) -> Atoms:
    """In which of some intervals a normal variable is, of mean mu or 0."""
    places = sorted(mpf(source.uniform(-3, 3)) + mu / 2 for _ in range(source.choice((1, 3, 7))))
    ends = [mpf("-inf"), *places, mpf("inf")]
    return [
        (tr.below(b - mu) - tr.below(a - mu), tr.below(b) - tr.below(a)) for a, b in pairwise(ends)
    ]


def _scaled(source: random.Random, losses: dict[int, mpf]) -> Atoms:
    """A random pair that is as far apart as Renyi guarantees at these orders let it be."""
    p, q = ([mpf(source.choice((1, 2, 5, 20, 100))) for _ in range(3)] for _ in range(2))
    p, q = ([x / sum(row) for x in row] for row in (p, q))
    low, high = mpf(0), mpf(1)
    for _ in range(40):
        middle = (low + high) / 2
        pair = [(a, a + middle * (b - a)) for a, b in zip(p, q, strict=True)]
        ways = (pair, _reversed(pair))
        fits = all(tr.renyi(way, mpf(k)) <= c for k, c in losses.items() for way in ways)
        low, high = (middle, high) if fits else (low, middle)
    return [(a, a + low * (b - a)) for a, b in zip(p, q, strict=True)]


Leaf = tuple[Any, Callable[[int], mpf], Callable[[random.Random], Atoms], str]


def sampled(source: random.Random) -> Leaf:
    """What runs on the sample, its Renyi divergences at whole orders, a pair that it may be, and
    whether these divergences are of one pair that bounds all ("exact"), of some pair, or none."""
    name = source.choice(("zcdp", "zcdp", "gdp", "noise", "pure", "renyi", "renyi"))
    if name == "pure":
        epsilon = small(source)
        atoms = tr.response(number(epsilon))
        what = dp.PureDP(rational(epsilon))
        return what, lambda k: tr.renyi(atoms, mpf(k)), lambda _: atoms, "exact"
    if name == "renyi":
        losses = {k: number(small(source) / 4) for k in (2, 3)}
        parts = [dp.RenyiDP(k, rational(Fraction(str(c)))) for k, c in losses.items()]
        return dp.both(*parts), lambda k: losses[k], lambda s: _scaled(s, losses), "none"
    if name == "zcdp":
        rho = small(source) / 4
        mu = mpmath.sqrt(2 * number(rho))

        def member(s: random.Random) -> Atoms:
            return tr.response(mu) if s.random() < 0.4 else _cells(s, mu)

        return dp.ZCDP(rational(rho)), lambda k: k * mu**2 / 2, member, "some"
    size = small(source) / 2
    mu = number(size)
    gaussian = dp.AdditiveNoise(dp.noise.Gaussian(sigma=rational(1 / size)), sensitivity=1)
    what = dp.GDP(rational(size)) if name == "gdp" else gaussian
    return what, lambda k: k * mu**2 / 2, lambda s: _cells(s, mu), "exact"


@kind
def samples_at_whole_orders(source: random.Random) -> Outcome:
    """The divergence of a Poisson sample at a whole order n is a sum over the orders up to n for
    (P, Q) (Wang, Balle and Kasiviswanathan 2019, section 3.3), and no larger for (Q, P) where one
    pair bounds all (Mironov, Talwar and Zhang 2019, Theorem 5, for normal ones); what else is
    proved is tried on mechanisms that have the guarantees."""
    what, moment, member, known = sampled(source)
    n = source.choice((2, 2, 3) if known == "none" else (2, 2, 3, 4))
    q = source.choice((Fraction(1, 2), Fraction(1, 10), Fraction(9, 10), None))
    q = source.choice((Fraction(0), Fraction(1))) if q is None else q
    count, one_way = source.choice((1, 1, 2, 3)), source.random() < 0.2
    rate = number(q)

    def term(k: int) -> mpf:
        size = mpmath.exp((k - 1) * moment(k)) if k > 1 else mpf(1)
        return comb(n, k) * (1 - rate) ** (n - k) * rate**k * size

    best = count * mpmath.log(mpmath.fsum(term(k) for k in range(n + 1))) / (n - 1)
    if best < mpf(10) ** -9 and q:
        return "skipped", "a divergence of almost 0"
    bound, same = near(source, best) if q else (rational(source.choice((0, 1))), mpf(0))
    truth = tr.at_most(best, same) if q else True
    if (known == "none" and not truth) or (known == "some" and truth and not one_way):
        truth = None  # less may be enough, or more be needed
    sample = dp.subsample(what, rational(q))
    if count > 1:
        sample = dp.repeat(sample, count)
    claim = dp.RenyiDP(n, bound, one_way=one_way)
    verdict = dp.check(sample, claim, budget=1)
    said = f"{sample!r} has {claim!r}"
    if isinstance(verdict, dp.Proved):
        for _ in range(12):
            atoms = curves.mixed(member(source), rate)
            ways = (atoms,) if one_way else (atoms, _reversed(atoms))
            worst = count * max(tr.renyi(way, mpf(n)) for way in ways)
            if worst > mpf(sp.N(bound, 50)) + tr.CLOSE:
                return "WRONG", f"{said}: proved, but {atoms} have {mpmath.nstr(worst, 30)}"
        if truth is None:
            return "open, proved", said
    return settled(truth, verdict, said)


# -- ranges


def _two(top: mpf, length: mpf) -> Atoms:
    """Losses top and top - length."""
    q = (1 - mpmath.exp(top - length)) / (mpmath.exp(top) - mpmath.exp(top - length))
    return [(q * mpmath.exp(top), q), (1 - q * mpmath.exp(top), 1 - q)]


@kind
def ranges(source: random.Random) -> Outcome:
    """Bounded ranges in adaptive compositions (Dong, Durfee and Rogers 2020): losses of the first
    stage are in an interval of its length, those of each other one in one that it may put
    anywhere, so that it counts twice; the ends are approached and not attained."""
    count = source.choice((1, 2, 2, 3))
    lengths = [small(source) / 2 for _ in range(count)]
    pures = [small(source) / 2 for _ in range(source.choice((0, 0, 1)))]
    stages: list[Any] = [dp.BoundedRange(rational(length)) for length in lengths]
    stages += [dp.PureDP(rational(epsilon)) for epsilon in pures]
    if count == 1 and source.random() < 0.4:  # the same many times, or for a group
        times = source.choice((2, 3))
        together = source.choice((dp.repeat, dp.group))
        stages[0] = together(stages[0], times)
        lengths = lengths * times if together is dp.repeat else [lengths[0] * times]
    what = dp.compose(*stages) if len(stages) > 1 else stages[0]
    twice = sum(lengths[1:]) + 2 * sum(pures)
    most = sum(lengths) + sum(pures)
    if source.random() < 0.15 and len(stages) > 1:  # then the first range is no longer the first
        what = dp.compose(*reversed(stages))
        twice = sum(lengths) - (0 if pures else lengths[-1]) + 2 * sum(pures)
    shift = source.choice(_SHIFTS)
    name = source.choice(("pure", "range", "renyi", "zcdp", "delta"))
    truth: bool | None
    claim: Any
    square = number(sum(length**2 for length in lengths) / 8)
    square += sum(number(e) ** 2 / 2 for e in pures)
    if name == "pure":
        claim, truth = dp.PureDP(rational(most + shift)), shift >= 0
    elif name == "range":
        claim, truth = dp.BoundedRange(rational(sum(lengths) + twice + shift)), shift >= 0
    elif name in ("renyi", "zcdp"):
        order = source.choice((mpf(2), mpf(3), mpf(3) / 2)) if name == "renyi" else mpf(1)
        orders = (order,) if name == "renyi" else tuple(map(mpf, (1.0625, 1.5, 2, 4)))
        least = max(_renyi_of_ranges(lengths, pures, a) / a for a in orders) * order
        bound, same = near(source, source.choice((least, order * square)))
        truth = True if same >= order * square else False if same < least else None
        claim = dp.RenyiDP(sp.Rational(str(order)), bound) if name == "renyi" else dp.ZCDP(bound)
    else:
        if len(lengths) + len(pures) > 1:
            return "skipped", "several ranges"
        length, epsilon = number(lengths[0]), source.choice((Fraction(0), lengths[0] / 3))
        half = mpmath.exp((number(epsilon) - length) / 2)
        best = (1 - half) ** 2 / (1 - mpmath.exp(-length))
        bound, same = near(source, best)
        claim, truth = dp.ApproxDP(rational(epsilon), bound), tr.at_most(best, same)
    return settled(truth, dp.check(what, claim, budget=BUDGET), f"{what!r} has {claim!r}")


def _renyi_of_ranges(lengths: list[Fraction], pures: list[Fraction], order: mpf) -> mpf:
    """Of independent stages, each with its worst interval among some."""
    total = mpmath.fsum(tr.renyi(tr.response(number(e)), order) for e in pures)
    for length in map(number, lengths):
        places = [length * k / 24 for k in range(1, 24)]
        total += max(tr.renyi(_two(top, length), order) for top in places)
    return total


# -- filters


@kind
def filters(source: random.Random) -> Outcome:
    """The whole budget may be spent on one mechanism, so no less is enough; for a fixed delta, as
    many mechanisms as one likes may run at epsilon = 0."""
    x = sp.Symbol("x", nonnegative=True)
    budget = source.choice((small(source), small(source), Fraction(0)))
    more = small(source)
    shift = source.choice(_SHIFTS)
    if budget + more + shift < 0:
        shift = Fraction(0)
    given, claimed = budget, rational(budget + shift)
    alone = source.random() < 0.6
    order = source.choice((2, 3, sp.oo))
    guarantee, make, added = source.choice(
        (
            (dp.PureDP(x), dp.PureDP, dp.PureDP(rational(more))),
            (dp.PureDP(2 * x), lambda c: dp.PureDP(2 * c), dp.PureDP(2 * rational(more))),
            (
                dp.RenyiDP(order, x),
                lambda c: dp.RenyiDP(order, c),
                dp.RenyiDP(order, rational(more)),
            ),
            (dp.ZCDP(x), dp.ZCDP, dp.ZCDP(rational(more))),
            (dp.ZCDP(x), lambda c: dp.RenyiDP(3, 3 * c), dp.ZCDP(rational(more))),
            (dp.GDP(sp.sqrt(x)), lambda c: dp.RenyiDP(2, c), dp.GDP(sp.sqrt(rational(more)))),
            (dp.ApproxDP(x, sp.Rational(1, 100)), None, None),
        )
    )
    what: Any = dp.filtered(guarantee, x, rational(given))
    if make is None:
        claim, truth = (
            dp.ApproxDP(rational(budget), sp.Rational(source.choice((1, 50)), 100)),
            False,
        )
    else:
        if not alone:
            parts = [what, added]
            source.shuffle(parts)
            what, claimed = dp.compose(*parts), claimed + rational(more)
        if claimed < 0:
            return "skipped", "less than nothing"
        claim, truth = make(claimed), shift >= 0
    return settled(truth, dp.check(what, claim, budget=BUDGET), f"{what!r} has {claim!r}")
