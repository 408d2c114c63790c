"""Certified lower bounds of what a subject at given numbers loses, in each notion of privacy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from math import comb

import flint
import sympy as sp
from flint import arb, fmpq

from dpsym.enclosures import divergences
from dpsym.enclosures.best import renyi_of
from dpsym.enclosures.failures import Infinite, NoEnclosureError, Undecided
from dpsym.enclosures.numbers import ball, sign
from dpsym.errors import InputError
from dpsym.guarantees import Guarantee
from dpsym.testing.events import BITS, Event, distance_of, events
from dpsym.testing.sums import losses_of
from dpsym.testing.worlds import Stage, World, worlds

__all__ = ["BOUNDED", "Number", "exceeds", "from_above", "least", "lower_bound"]

BOUNDED = {
    "ApproxDP": ("delta", "epsilon"),
    "BoundedRange": ("epsilon",),
    "GDP": ("mu",),
    "ProbabilisticDP": ("delta", "epsilon"),
    "PureDP": ("epsilon",),
    "RenyiDP": ("epsilon",),
    "TCDP": ("rho",),
    "ZCDP": ("rho",),
}
"""The parameters of each notion that have lower bounds, the main one first."""

_ACCURACY = 28  # bits of a single divergence
_ORDERS = (1, 1.0625, 1.25, 1.5, 2, 3, 4, 6, 10, 20, 50, 200)
_MOST = 1 << 14  # an epsilon that is searched for
_TOP = float("inf")
_FARTHEST = 20_000  # bounds are between 2 to minus this and 2 to this, or 0
Number = Fraction | float
Fields = Mapping[str, sp.Expr]
_MIXED_ORDERS = 64


def lower_bound(subject: object, claim: Guarantee, solve_for: sp.Symbol) -> Number:
    """A number that the best value of a parameter is certainly not below.

    Every claim with a smaller number there is false. How close it is to the best value depends on
    the subject: for one mechanism and for Gaussians it is close, for others it comes from some
    neighbours, without adaptivity.

    Args:
        subject: a mechanism, guarantee or what is made of them, with numbers for all parameters.
        claim: a guarantee with numbers, but for one parameter.
        solve_for: the symbol that is this parameter.

    Returns: an exact ``Fraction``, which Python compares exactly with floats; or infinity.

    Raises: InputError for a parameter without a number, UnsupportedError for a subject or a claim
    that it has no method for.

    >>> import dpsym as dp
    >>> epsilon = sp.Symbol("epsilon", nonnegative=True)
    >>> laplace = dp.AdditiveNoise(dp.noise.Laplace(scale=2), sensitivity=1)
    >>> round(float(lower_bound(dp.repeat(laplace, 3), dp.PureDP(epsilon), epsilon)), 9)
    1.5
    """
    if not isinstance(claim, Guarantee):
        raise InputError("claim", "a guarantee such as PureDP(epsilon)", claim)
    names = [name for name in claim.fields if getattr(claim, name) == solve_for]
    if len(names) != 1 or names[0] not in BOUNDED.get(type(claim).__name__, ()):
        raise InputError("solve_for", "a symbol that is a parameter of the claim", solve_for)
    fields = {
        name: getattr(claim, name) for name in claim.fields if getattr(claim, name) != solve_for
    }
    return least(subject, type(claim).__name__, fields, names[0], claim.one_way)


def least(subject: object, kind: str, fields: Fields, wanted: str, one_way: bool = False) -> Number:
    """``lower_bound`` by the names of the notion and of the parameter.

    Raises: UnsupportedError; InputError.
    """

    def measure(world: World) -> Number:
        return _number(_of_world(world, kind, fields, wanted))

    return max(_measured(subject, one_way, measure))


def exceeds(subject: object, kind: str, fields: Fields, one_way: bool = False) -> Number | None:
    """A lower bound of the main parameter that is above what the fields say; None for none.

    It is what ``lower_bound`` finds for that parameter, or less.

    Raises: UnsupportedError; InputError.
    """
    main = BOUNDED[kind][0]
    others = {name: value for name, value in fields.items() if name != main}

    def measure(world: World) -> Number:
        return _number(_of_world(world, kind, others, main))

    promised = from_above(fields[main])
    return next((x for x in _measured(subject, one_way, measure) if x > promised), None)


def from_above(value: sp.Expr) -> Fraction:
    """A rational constant, or a fraction a little above another one."""
    if isinstance(value, sp.Rational):
        return Fraction(int(value.p), int(value.q))
    with flint.ctx.workprec(BITS):
        return _fraction(ball(value).upper())


def _fraction(end: arb) -> Fraction:
    """The number that an exact ball is, if it is finite."""
    if not end.is_finite():
        raise Undecided("a number")
    mantissa, exponent = end.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _measured(
    subject: object, one_way: bool, measure: Callable[[World], Number]
) -> Iterator[Number]:
    """What is measured in each world in which that is possible. At least one.

    Raises: NoEnclosureError.
    """
    some, reason = False, "no neighbours are known"
    for world in _both_ways(subject, one_way):
        try:
            with flint.ctx.workprec(BITS):
                found = measure(world)
        except Infinite:
            found = _TOP
        except (Undecided, NoEnclosureError) as error:
            reason = str(error).removeprefix("enclose: ")
            continue
        some = True
        yield found
    if not some:
        raise NoEnclosureError(reason)


def _both_ways(subject: object, one_way: bool) -> Iterator[World]:
    for world in worlds(subject, one_way):
        yield world
        if not (one_way or world.settled):
            yield world.reversed()


def _number(value: arb) -> Number:
    """The lower end, exactly."""
    low = value.lower()
    if low.is_nan() or not low.is_finite():
        if value.is_nan() or not value > 0:
            raise Undecided("a divergence")
        return _TOP
    if low < arb(2) ** -_FARTHEST:
        return Fraction(0)
    low = low.min(arb(2) ** _FARTHEST)
    return max(_fraction(low), Fraction(0))


def _of_world(world: World, kind: str, fields: Fields, wanted: str) -> arb:
    if kind == "PureDP" or (kind == "RenyiDP" and fields["alpha"] is sp.oo):
        return _largest_loss(world)
    if kind == "RenyiDP":
        return _renyi(world, fields["alpha"])
    if kind == "ZCDP":
        return _rho(world, None)
    if kind == "TCDP":
        return _rho(world, fields["omega"])
    if kind == "BoundedRange":
        return _largest_loss(world) + _largest_loss(world.reversed())
    if kind == "GDP":
        return _mu(world)
    if kind in ("ApproxDP", "ProbabilisticDP"):
        curve = _profile(world) if kind == "ApproxDP" else _tail(world)
        if wanted == "delta":
            return curve(ball(fields["epsilon"]))
        return _crossing(curve, ball(fields["delta"]))
    raise NoEnclosureError(f"{kind} has no lower bounds")


# --- the largest loss -----------------------------------------------------------------------------


def _largest_loss(world: World) -> arb:
    return _sum(world, _largest)


def _sum(world: World, measure: Callable[[Stage], arb]) -> arb:
    return sum((measure(stage) * times for stage, times in world.stages), arb(0))


@lru_cache(maxsize=256)
def _largest(stage: Stage) -> arb:
    if stage.plain and stage.distance is not None:
        if sign(stage.distance) == 0:
            return arb(0)
        raise Infinite
    if stage.inside is None and not stage.explicit:
        return _largest_of(events(stage))
    if stage.plain:
        return divergences.largest_loss(stage.pair, _ACCURACY)
    ratios = [_ratio(stage, _end(stage)), _ratio(stage, _inverse(_end(stage, other=True)))]
    return ratios[0].max(ratios[1]).log()


def _largest_of(found: tuple[Event, ...]) -> arb:
    best = arb("-inf")
    for event in found:
        if event.p is None or not event.p > 0:
            continue
        if event.q is None:
            raise Infinite
        best = best.max((event.p / event.q).log())
    return best


def _end(stage: Stage, other: bool = False) -> arb | None:
    """The largest p/q of the stage's pair, or q/p for the ``other``; None if it is infinite."""
    try:
        if stage.inside is not None:
            return _largest_loss(stage.inside.reversed() if other else stage.inside).exp()
        pair = stage.pair.reversed() if other else stage.pair
        return divergences.largest_loss(pair, _ACCURACY).exp()
    except Infinite:
        return None


def _inverse(value: arb | None) -> arb:
    return arb(0) if value is None else 1 / value


def _ratio(stage: Stage, t: arb | None) -> arb:
    """The ratio of the mixtures where p/q is t."""
    a, b = ([ball(weight) for weight in side] for side in (stage.a, stage.b))
    if t is not None:
        below = b[0] * t + b[1]
        if sign(stage.b[1]) == 0 and t.is_zero():
            raise Infinite
        return (a[0] * t + a[1]) / below
    if sign(stage.b[0]) == 0:
        if sign(stage.a[0]) == 0:
            return a[1] / b[1]
        raise Infinite
    return a[0] / b[0]


# --- Rényi divergences ----------------------------------------------------------------------------


def _renyi(world: World, alpha: sp.Expr) -> arb:
    return _sum(world, lambda stage: _renyi_of(stage, alpha))


@lru_cache(maxsize=512)
def _renyi_of(stage: Stage, alpha: sp.Expr) -> arb:
    if stage.plain and stage.distance is not None:
        return ball(alpha * stage.distance**2) / 2
    if stage.explicit and stage.plain:
        return renyi_of(stage.pair, alpha, _ACCURACY)
    order = int(alpha) if alpha.is_Integer else 0
    many = stage.explicit or stage.inside is not None  # outputs
    if many and 1 < order <= _MIXED_ORDERS and stage.b == (0, 1):
        return _expanded(stage, order).log() / (order - 1)
    return _renyi_of_events(events(stage), ball(alpha), sign(alpha - 1))


def _expanded(stage: Stage, order: int) -> arb:
    """The integral of (a P + c Q)^n Q^(1 - n), by the binomial theorem."""
    a, c = (ball(weight) for weight in stage.a)
    total = c**order + order * a * c ** (order - 1)
    for k in range(2, order + 1):
        order_k = sp.Integer(k)
        if stage.inside is not None:
            loss = _renyi(stage.inside, order_k)
        else:
            loss = renyi_of(stage.pair, order_k, _ACCURACY)
        moment = (loss * (k - 1)).exp()
        total += arb(comb(order, k)) * a**k * c ** (order - k) * moment
    return total


def _renyi_of_events(found: tuple[Event, ...], alpha: arb, side: int) -> arb:
    total = arb(0)
    for event in found:
        p, q = event.p, event.q
        if p is None or (q is None and side < 0):
            continue
        if q is None:
            if p > 0:
                raise Infinite
            continue
        p, q = p.max(arb(0)), q.max(arb(0))
        if side < 0:  # a sum that is too large makes a divergence that is too small
            term = p.upper() ** alpha * q.upper() ** (1 - alpha)
        elif not (p > 0 and q > 0):
            continue  # what is left out is not negative
        elif side == 0:
            term = p * (p / q).log() - p + q
        else:
            term = p**alpha * q ** (1 - alpha)
        total += term * event.count
    return total if side == 0 else total.log() / (alpha - 1)


def _rho(world: World, omega: sp.Expr | None) -> arb:
    """D_alpha/alpha at some orders; as alpha goes to 1 it goes to the divergence of order 1."""
    distance = _distance(world)
    if distance is not None:
        return distance / 2
    best = arb(0)
    for order in map(sp.Rational, _ORDERS):
        if omega is not None and sign(order - omega) >= 0:
            continue
        try:
            best = best.max(_renyi(world, order) / ball(order))
        except (Undecided, NoEnclosureError):
            continue
    return best


# --- hockey-stick divergences ---------------------------------------------------------------------


def _distance(world: World) -> arb | None:
    """The squared distance of the two Gaussians that the whole world is."""
    total = arb(0)
    for stage, times in world.stages:
        found = distance_of(stage) if stage.plain else None
        if found is None:
            return None
        total += ball(found**2) * times
    return total


Curve = Callable[[arb], arb]


def _profile(world: World) -> Curve:
    """Lower bounds of the hockey-stick divergence, as a function of epsilon."""
    squared = _distance(world)
    if squared is not None:
        mu = squared.sqrt()
        return lambda epsilon: _gaussian_profile(mu, epsilon)
    if world.count == 1:
        (stage, _) = world.stages[0]
        if stage.explicit or stage.inside is not None:
            return lambda epsilon: _of_mixture(stage, epsilon)
        return lambda epsilon: _of_events(events(stage), epsilon)
    return losses_of([(events(stage), times) for stage, times in world.stages]).hockey_stick


def _gaussian_profile(mu: arb, epsilon: arb) -> arb:
    """Balle, Wang, ICML 2018, theorem 8."""
    if not mu > 0:
        return (1 - epsilon.exp()).max(arb(0))
    for bits in (BITS, 4 * BITS):
        with flint.ctx.workprec(bits):
            found = _normal(mu / 2 - epsilon / mu) - epsilon.exp() * _normal(-mu / 2 - epsilon / mu)
            if found > 0:
                break
    return found.max(arb(0))


def _normal(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


def _of_events(found: tuple[Event, ...], epsilon: arb) -> arb:
    factor, total = epsilon.exp(), arb(0)
    for event in found:
        if event.p is not None:
            gap = event.p if event.q is None else event.p - factor * event.q
            total += gap.lower().max(arb(0)) * event.count
    return total


def _of_mixture(stage: Stage, epsilon: arb) -> arb:
    """The integral of (A - e^epsilon B)_+ for mixtures A and B of P and Q, through that of the pair
    (Balle, Barthe, Gaboardi, NeurIPS 2018, theorem 2)."""
    at = _rational(epsilon)
    if stage.plain:
        return divergences.hockey_stick(stage.pair, at, _ACCURACY)
    with flint.ctx.workprec(BITS):
        factor = arb(fmpq(int(at.p), int(at.q))).exp()
        p, q = (ball(a) - factor * ball(b) for a, b in zip(stage.a, stage.b, strict=True))
    if p > 0 and q < 0:
        other, size, ratio = False, p, -q / p
    elif p < 0 and q > 0:
        other, size, ratio = True, q, -p / q
    elif p >= 0 and q >= 0:
        return p + q
    elif p <= 0 and q <= 0:
        return arb(0)
    else:
        raise Undecided("the sign of a weight")
    above = _rational(ratio.log())  # at a larger epsilon the divergence is no larger
    if stage.inside is not None:
        found = _profile(stage.inside.reversed() if other else stage.inside)(ball(above))
    else:
        pair = stage.pair.reversed() if other else stage.pair
        found = divergences.hockey_stick(pair, above, _ACCURACY)
    return size * found


def _rational(value: arb) -> sp.Rational:
    """A short rational number no smaller than the value."""
    scaled = (value * (1 << 48)).upper().ceil().unique_fmpz()
    if scaled is None:
        raise Undecided("a number")
    return sp.Rational(int(scaled), 1 << 48)


def _tail(world: World) -> Curve:
    """Lower bounds of the probability of a loss > epsilon: of Gaussians, and for finitely many
    outputs. Events of more outputs would not do, as it may grow in post-processing."""
    squared = _distance(world)
    if squared is not None:
        mu = squared.sqrt()
        if not mu > 0:
            return lambda epsilon: arb(0)
        return lambda epsilon: _normal(mu / 2 - epsilon / mu)
    if any(stage.explicit or stage.inside is not None for stage, _ in world.stages):
        raise NoEnclosureError("the probability of a large loss is known for finitely many outputs")
    return losses_of([(events(stage), times) for stage, times in world.stages]).above


def _crossing(curve: Curve, delta: arb) -> arb:
    """An epsilon >= 0 at which the curve is certainly above delta; 0 if there is none."""
    if not curve(arb(0)) > delta:
        return arb(0)
    low, high = arb(0), arb(1)
    while curve(high) > delta:
        low, high = high, 2 * high
        if high > _MOST:
            return low
    for _ in range(48):
        middle = (low + high) / 2
        if curve(middle) > delta:
            low = middle
        else:
            high = middle
    return low


def _mu(world: World) -> arb:
    """The mu that Gaussians need for these divergences, at some epsilons."""
    squared = _distance(world)
    if squared is not None:
        return squared.sqrt()
    curve = _profile(world)
    best = arb(0)
    for epsilon in (0, 0.25, 0.5, 1, 2, 4, 8):
        at = arb(epsilon)
        value = curve(at)
        if value >= 1:
            raise Infinite
        best = best.max(_least_mu(value, at))
    return best


def _least_mu(value: arb, epsilon: arb) -> arb:
    """A mu at which the Gaussian divergence is certainly below the value."""
    low, high = arb(0), arb(1)
    while _gaussian_profile(high, epsilon) < value and high < 64:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        if _gaussian_profile(middle, epsilon) < value:
            low = middle
        else:
            high = middle
    return low
