"""Whether a pair of finite distributions has a guarantee, by the textbook definitions.

Masses are exact where they can be. A family is checked at every order where it is assumed, by a
condition that is enough; where it is claimed, at some orders, which shows that it fails.

Sources: Dwork and Roth (2014), Definition 2.4; Mironov (2017), Definition 4; Bun and Steinke
(2016), Definition 1.1; Bun, Dwork, Rothblum and Steinke (2018), Definition 1; Durfee and Rogers
(2019), Definition 3.1; Dong, Roth and Su (2022), Definition 4, as a
bound of the power of each test.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import mpmath

from dpsym.audit.values import (
    Ball,
    Evaluator,
    Number,
    Point,
    Unsure,
    as_float,
    at_most,
    ball,
    exp,
    log,
    minus,
    over,
    plus,
    sign,
    times,
    total,
)
from dpsym.kernel.statements import RATIO, Guarantee

Atoms: TypeAlias = tuple[tuple[Number, Number], ...]  # masses under P and Q
ORDERS = tuple(Fraction(n, 8) for n in (9, 12, 16, 24, 40, 400))  # at which families are tried
FINE = 1.04  # the quotient of orders at which families are checked
_MARGIN = 1e-9
_SURE = mpmath.mpf(10) ** -20


def has(guarantee: Guarantee, atoms: Atoms, at: Point, assumed: bool = False) -> bool:
    """Whether the pair has the guarantee; raises ``Undefined`` or ``Unsure``."""
    turned = swapped(atoms)
    ways = (atoms, turned) if guarantee.two_way else (turned if guarantee.reverse else atoms,)
    return all(_one_way(guarantee, way, at, assumed) for way in ways)


def swapped(atoms: Atoms) -> Atoms:
    return tuple((q, p) for p, q in atoms)


def merged(atoms: list[tuple[Number, Number]]) -> Atoms:
    """Without empty outcomes."""
    return tuple((p, q) for p, q in atoms if _positive(p) or _positive(q))


def _positive(mass: Number) -> bool:
    return sign(mass) > 0


def _one_way(guarantee: Guarantee, atoms: Atoms, at: Point, assumed: bool) -> bool:
    values = Evaluator(at)
    if guarantee.name == "MomentBound":
        return _moment(guarantee, atoms, at)
    args = [values(arg) for arg in guarantee.args if arg is not None]
    both = [(p, q) for p, q in atoms if _positive(p) and _positive(q)]
    singular = total([p for p, q in atoms if not _positive(q)])
    test = _TESTS.get(guarantee.name)
    if test is None:
        raise Unsure
    return test(args, both, singular, assumed)


Both = list[tuple[Number, Number]]
Test = Callable[[list[Number], Both, Number, bool], bool]


def _pure(args: list[Number], both: Both, singular: Number, assumed: bool) -> bool:
    bound = exp(args[0])
    return singular == 0 and all(at_most(p, times(bound, q)) for p, q in both)


def _approximate(args: list[Number], both: Both, singular: Number, assumed: bool) -> bool:
    bound, mass = exp(args[0]), singular
    for p, q in both:
        gap = minus(p, times(bound, q))
        try:
            if sign(gap) > 0:
                mass = plus(mass, gap)
        except Unsure:  # so small that it counts for nothing, up to its radius
            mass = plus(mass, Ball(mpmath.mpf(0), 2 * ball(gap).radius))
    return at_most(mass, args[1])


def _probabilistic(args: list[Number], both: Both, singular: Number, assumed: bool) -> bool:
    bound = exp(args[0])
    above = [p for p, q in both if not at_most(p, times(bound, q))]
    return at_most(total([singular, *above]), args[1])


def _range(args: list[Number], both: Both, singular: Number, assumed: bool) -> bool:
    if singular != 0 or not both:
        return False
    losses = [log(over(p, q)) for p, q in both]
    return all(at_most(minus(one, two), args[0]) for one in losses for two in losses)


def _kullback_leibler(args: list[Number], both: Both, singular: Number, assumed: bool) -> bool:
    return singular == 0 and at_most(total([times(p, log(over(p, q))) for p, q in both]), args[0])


def _moment_of(order: Number, both: Both) -> Number:
    """The sum of p^order q^(1 - order)."""
    return total([times(q, exp(times(order, log(over(p, q))))) for p, q in both])


def _renyi(args: list[Number], both: Both, singular: Number, assumed: bool) -> bool:
    order, epsilon = args
    less = minus(order, Fraction(1))
    limit = exp(times(less, epsilon))
    if sign(less) > 0:
        return singular == 0 and at_most(_moment_of(order, both), limit)
    return at_most(limit, _moment_of(order, both))


def _concentrated(args: list[Number], both: Both, singular: Number, assumed: bool) -> bool:
    """zCDP, or the truncated one, if there is a second argument."""
    if singular != 0:
        return False
    if not assumed:
        orders = list(ORDERS)
        if len(args) > 1:
            room = minus(args[1], Fraction(1))
            shares = (Fraction(1, 100), Fraction(1, 3), Fraction(99, 100))
            below = [plus(Fraction(1), times(room, share)) for share in shares]
            return all(_renyi([a, times(args[0], a)], both, singular, False) for a in below)
        return all(_renyi([a, times(args[0], a)], both, singular, False) for a in orders)
    pairs = [(as_float(p), as_float(q)) for p, q in both]
    rho, end = as_float(args[0]), as_float(args[1]) if len(args) > 1 else math.inf
    worst = max(math.log(p / q) for p, q in pairs)
    if rho <= 0:
        return rho == 0 and all(p == q for p, q in both)
    if min(min(pair) for pair in pairs) < 1e-12:
        raise Unsure
    low, high = 1.0, 1.02
    while low < end and rho * low < worst:  # beyond, the largest loss is enough
        mean = sum(p * math.exp((high - 1) * math.log(p / q)) for p, q in pairs)
        if math.log(mean) / (high - 1) > rho * low * (1 - _MARGIN):
            return False
        low, high = high, high * FINE
    return True


def _gaussian(args: list[Number], both: Both, singular: Number, assumed: bool) -> bool:
    """Each test that the likelihood ratio gives has at most the power that GDP allows."""
    mu = ball(args[0]).middle
    order = sorted(both, key=lambda pair: ball(over(pair[0], pair[1])).middle, reverse=True)
    p_mass: Number = singular
    q_mass: Number = Fraction(0)
    if singular != 0:
        return False
    for p, q in order[:-1]:
        p_mass, q_mass = plus(p_mass, p), plus(q_mass, q)
        sides = [ball(mass).middle for mass in (p_mass, q_mass)]
        if not all(0 < side < 1 for side in sides):
            raise Unsure
        power, size = (mpmath.sqrt(2) * mpmath.erfinv(2 * side - 1) for side in sides)
        gap = mu - (power - size)
        if abs(gap) < _SURE:
            raise Unsure
        if gap < 0:
            return False
    return True


def _moment(guarantee: Guarantee, atoms: Atoms, at: Point) -> bool:
    f, ray, bound = guarantee.args
    if f is None or bound is None:
        raise Unsure
    parts: list[Number] = []
    for p, q in atoms:
        if _positive(p) and _positive(q):
            parts.append(times(Evaluator({**at, RATIO: over(p, q)})(f), q))
        elif _positive(p):
            if ray is None:
                return False
            parts.append(times(Evaluator(at)(ray), p))
    return at_most(total(parts), Evaluator(at)(bound))


_TESTS: dict[str, Test] = {
    "PureDP": _pure,
    "ApproxDP": _approximate,
    "ProbabilisticDP": _probabilistic,
    "BoundedRange": _range,
    "KLDP": _kullback_leibler,
    "RenyiDP": _renyi,
    "RenyiDPBelowOne": _renyi,
    "ZCDP": _concentrated,
    "TCDP": _concentrated,
    "GDP": _gaussian,
}
