"""How functions grow: on all of [T, oo), f(x) lies in ``span * x**order * exp(P(x))``.

``span`` is a ball, the order and the polynomial P are exact, so that what cancels is gone. From
such a germ follow the integral over [T, oo), the sum over integers from T on, or the proof that
they are infinite.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest

import sympy as sp
from flint import arb

from dpsym.enclosures.failures import Infinite, NoEnclosureError, Undecided
from dpsym.enclosures.forms import ZERO, Atom, Product, Sum, exponential, log_of
from dpsym.enclosures.numbers import ball, sign, whole_power
from dpsym.quadrature import exponential_tail, geometric_tail, power_tail

__all__ = ["Germ", "bound_of_log", "germ", "hull", "integral", "of_sum", "series", "trend"]

_ZERO, _ONE = arb(0), arb(1)
Poly = tuple[sp.Expr, ...]


@dataclass(frozen=True)
class Germ:
    """f(x) in ``span * x**order * exp(poly(x))`` for x >= T; poly has no constant term.

    If ``below``, that is only a lower bound, with the lower end of ``span`` > 0.
    """

    span: arb
    order: sp.Expr = sp.S.Zero
    poly: Poly = ()  # of x, x**2, ...
    below: bool = False

    @property
    def bounded(self) -> bool:
        return self.order == 0 and not self.poly


@lru_cache(maxsize=8192)
def _add(first: Poly, second: Poly) -> Poly:
    out = [a + b for a, b in zip_longest(first, second, fillvalue=sp.S.Zero)]
    while out and sign(out[-1]) == 0:
        out.pop()
    return tuple(out)


def _times(first: Germ, second: Germ) -> Germ:
    below = first.below or second.below
    if below and not (first.span > 0 and second.span > 0):
        raise Undecided("what grows, times what may be 0")
    span, order = first.span * second.span, first.order + second.order
    return Germ(span, order, _add(first.poly, second.poly), below)


def _power(item: Germ, exponent: sp.Expr) -> Germ:
    if item.below and exponent != 1:
        raise Undecided("a power of what grows")
    whole = exponent.is_Integer
    if whole:
        span = whole_power(item.span, int(exponent))
    else:
        if not item.span > 0:
            raise Undecided("a power of what may be 0")
        span = (item.span.log() * ball(exponent)).exp()
    return Germ(span, item.order * exponent, tuple(c * exponent for c in item.poly))


def _log_slope(order: sp.Expr, poly: Poly, start: arb) -> arb:
    """An upper bound of the derivative of ``order * log(x) + poly(x)`` on [start, oo)."""
    near = (1 / start).union(_ZERO)  # 1/x
    bound = _ZERO
    if order != 0 and sign(order) > 0:
        bound = ball(order) / start
    if not poly:
        return bound
    d = len(poly)
    bracket = ball(poly[-1]) * d
    inverse = near
    for k in range(d - 1, 0, -1):
        bracket += ball(poly[k - 1]) * k * inverse
        inverse *= near
    if not bracket < 0:
        raise Undecided("whether it falls")
    return bound + bracket * start ** (d - 1)


def _decays(order: sp.Expr, poly: Poly) -> int:
    """-1 if ``x**order * exp(poly)`` goes to 0, 1 if to infinity, 0 if it is 1 throughout."""
    if poly:
        return sign(poly[-1])
    return sign(order)


def _at(order: sp.Expr, poly: Poly, x: arb) -> arb:
    """``x**order * exp(poly(x))``."""
    value = _ZERO
    for c in reversed(poly):
        value = (value + ball(c)) * x
    if order.is_Integer:
        return value.exp() * whole_power(x, int(order))
    return (value + ball(order) * x.log()).exp()


# --- germs of normal forms ----------------------------------------------------------------------


def germ(item: Product, start: arb) -> Germ:
    """The germ of a product on [start, oo), start > 0.

    Raises: Undecided if the range begins too early to tell; NoEnclosureError.

    >>> from dpsym.enclosures.forms import X, constant, plus, power, to_product
    >>> found = germ(power(to_product(plus(constant(1), X)), sp.Integer(-2)), arb(100))
    >>> found.order, found.span.contains(1)
    (-2, True)
    """
    out = Germ(ball(item.factor))
    for base, exponent in item.powers:
        out = _times(out, _power(_base(base, start), exponent))
    if item.exponent.poly or item.exponent.rest:
        out = _times(out, _exponential(item.exponent, start))
    return out


def _exponential(term: Sum, start: arb) -> Germ:
    out = Germ(ball(term.poly[0]).exp() if term.poly else _ONE, sp.S.Zero, term.poly[1:])
    growing = []
    for item in term.rest:
        if _is_lgamma(item):
            out = _times(out, _lgamma_falls(item.factor, item.powers[0][0], start))
            continue
        inner = germ(item, start)
        if trend(inner) > 0:
            growing.append(item)
        else:
            out = _times(out, Germ(hull(inner, start).exp()))
    if growing:  # together, since they may cancel in part
        out = _times(out, _exponential_of_growing(of_sum(Sum((), tuple(growing)), start), start))
    return out


def _is_lgamma(item: Product) -> bool:
    if not item.exponent.is_constant or len(item.powers) != 1 or sign(item.factor) >= 0:
        return False
    base, exponent = item.powers[0]
    return base.name == "lgamma" and exponent == 1


def _exponential_of_growing(inner: Germ, start: arb) -> Germ:
    """An upper bound of exp of what falls to minus infinity, a lower one of what grows."""
    # g = x**order * exp(poly), of coefficients >= 0
    if any(sign(c) < 0 for c in inner.poly) or (inner.order != 0 and sign(inner.order) < 0):
        raise NoEnclosureError("how fast a tail falls is not known")
    grows = inner.span > 0
    if not (grows or inner.span < 0):
        raise Undecided("whether an exponent grows")
    least = inner.span.lower() if grows else inner.span.upper()
    height = least * _at(inner.order, inner.poly, start)
    slope = ball(inner.order)  # x g' / g at T
    for k, c in enumerate(inner.poly, 1):
        slope += ball(c) * k * start**k
    if inner.order == 0 or sign(inner.order - 1) >= 0:  # g is convex, so above its tangent
        if grows:
            rate = _rational_below(height * slope / start)
            return Germ((height - ball(rate) * start).exp(), sp.S.Zero, (rate,), below=True)
        rate = _rational_above(height * slope / start)
        return Germ((height - ball(rate) * start).exp().union(_ZERO), sp.S.Zero, (rate,))
    if grows:
        raise Undecided("an exponent that grows")
    # x g' = g (order + x poly') grows, so g is at least g(T) + T g'(T) log(x / T)
    order = _rational_above(height * slope)
    return Germ((height - ball(order) * start.log()).exp().union(_ZERO), order)


def _rational_above(value: arb) -> sp.Rational:
    """A rational number that is no smaller, of few digits."""
    upper = value.upper()
    if not upper < 0:
        raise Undecided("a slope")
    if not abs(upper) < arb(2) ** 4000:
        return sp.Integer(-(2**4000))
    scaled = (upper * 1024).ceil().unique_fmpz()
    if scaled is None:
        raise Undecided("a slope")
    return sp.Rational(int(scaled), 1024)


def _lgamma_falls(factor: sp.Expr, base: Atom, start: arb) -> Germ:
    """exp(factor * lgamma(a x + b)), factor < 0: lgamma is convex, so above its tangent at T."""
    argument = base.args[0]
    if argument.rest or argument.degree != 1 or sign(argument.poly[1]) <= 0:
        raise NoEnclosureError("how fast a tail with loggamma falls is not known")
    at = ball(argument.poly[0]) + ball(argument.poly[1]) * start
    if not at > 0:
        raise Undecided("loggamma of what may be 0")
    slope = _rational_below(at.digamma() * ball(argument.poly[1]))
    top = (ball(factor) * (at.lgamma() - ball(slope) * start)).exp()
    return Germ(top.union(_ZERO), sp.S.Zero, (factor * slope,))


def _rational_below(value: arb) -> sp.Rational:
    if not value.is_finite():
        raise Undecided("a slope")
    scaled = (value.lower() * 1024).floor().unique_fmpz()
    if scaled is None:
        raise Undecided("a slope")
    return sp.Rational(int(scaled), 1024)


def _base(base: Atom, start: arb) -> Germ:
    if base.name == "sum":
        return of_sum(base.args[0], start)
    if base.name == "0F1":
        return _series(base, start)
    if base.name == "log":
        return of_sum(Sum((), (Product(sp.S.One, ZERO, ((base, sp.S.One),)),)), start)
    inner = of_sum(base.args[0], start)
    if base.name in ("atan", "erfc"):
        return Germ(_monotone(base.name, inner, start))
    raise NoEnclosureError(f"how fast a tail with {base.name} falls is not known")


def _monotone(name: str, inner: Germ, start: arb) -> arb:
    """The values of atan or erfc, which are bounded, at those of the germ."""
    if trend(inner) <= 0:
        values = hull(inner, start)
        ends = [values.lower(), values.upper()]
    else:
        rising = not inner.below and all(sign(c) >= 0 for c in (inner.order, *inner.poly))
        if not rising or inner.span.contains(0):
            raise Undecided("an argument that grows")
        near = inner.span * _at(inner.order, inner.poly, start)
        ends = [near.lower(), arb.pos_inf()] if near > 0 else [arb.neg_inf(), near.upper()]
    images = [_at_end(name, end) for end in ends]
    return images[0].union(images[1])


def _at_end(name: str, end: arb) -> arb:
    if name == "atan":
        return end.atan()
    if end.is_finite():
        return end.erfc()
    return _ZERO if end > 0 else arb(2)


def _series(base: Atom, start: arb) -> Germ:
    """0F1(v; z) for z > 0 lies between 1 and exp(z / v), by comparing the two series."""
    above, argument = base.args
    inner = of_sum(above, start)
    if inner.poly or inner.order < 0 or not inner.span > 0:
        raise Undecided("a negative order")
    least = inner.span.lower() * _at(inner.order, (), start)
    return Germ(_ONE.union((ball(argument.poly[0]) / least).exp()))


def trend(item: Germ) -> int:
    """1 if the bounds go to infinity, -1 if to 0, 0 if they stay."""
    return _decays(item.order, item.poly)


def hull(item: Germ, start: arb) -> arb:
    """All values on [start, oo). Raises: Undecided if it grows."""
    if item.below:
        raise Undecided("what grows")
    if item.bounded:
        return item.span
    top = _at(item.order, item.poly, start)
    if _decays(item.order, item.poly) < 0:
        if not _log_slope(item.order, item.poly, start) <= 0:
            raise Undecided("whether it falls from there on")
        return (item.span * top).union(_ZERO)
    raise Undecided("an argument that grows")


def of_sum(term: Sum, start: arb) -> Germ:
    """The germ of a sum: that of the term that grows most, times what the others add to it."""
    logs = [item for item in term.rest if _is_log(item)]
    parts = [germ(item, start) for item in term.rest if item not in logs]
    poly = term.poly
    power_of_x = sp.S.Zero
    for item in logs:
        factor = item.factor * sp.exp(item.exponent.poly[0] if item.exponent.poly else 0)
        leading, small = _parts_of_log(item.powers[0][0].args[0], start)
        poly = _add(poly, (factor * leading.constant, *(factor * c for c in leading.poly)))
        power_of_x += factor * leading.order
        parts += [_times(Germ(ball(factor)), part) for part in small]
    if sign(power_of_x) != 0:
        parts.append(_times(Germ(ball(power_of_x)), _log_x(start)))
    if any(part.below for part in parts):
        raise Undecided("what grows, in a sum")
    polynomial = _polynomial(poly, start)
    if polynomial is not None:
        parts.append(polynomial)
    if not parts:
        return Germ(_ZERO)
    most = parts[0]
    for part in parts[1:]:
        if _compare(part, most) > 0:
            most = part
    span = _ZERO
    for part in parts:
        order = part.order - most.order
        gap = _add(part.poly, tuple(-c for c in most.poly))
        if order == 0 and not gap:
            span += part.span
            continue
        if not _log_slope(order, gap, start) <= 0:
            raise Undecided("which term grows most")
        span += part.span * _at(order, gap, start).union(_ZERO)
    return Germ(span, most.order, most.poly)


def _is_log(item: Product) -> bool:
    if item.exponent.rest or len(item.exponent.poly) > 1 or len(item.powers) != 1:
        return False
    base, exponent = item.powers[0]
    return base.name == "log" and exponent == 1


@dataclass(frozen=True)
class _Leading:
    """log of ``exp(constant) * x**order * exp(poly)``."""

    constant: sp.Expr
    order: sp.Expr
    poly: Poly


def _parts_of_log(term: Sum, start: arb) -> tuple[_Leading, list[Germ]]:
    """log of a sum: that of the term that grows most, plus log(1 + u) of what the rest is to it.

    log(1 + u) lies between u/(1 + u) and u, so it is u times a ball.
    """
    parts: list[tuple[Germ, sp.Expr | None]] = [
        (Germ(ball(c), sp.Integer(k)), c) for k, c in enumerate(term.poly) if c != 0
    ]
    parts += [(germ(item, start), _plain(item)) for item in term.rest]
    if any(part.below for part, _ in parts):
        raise Undecided("what grows, in a sum")
    most, exact = parts[0]
    for other, factor in parts[1:]:
        if _compare(other, most) > 0:
            most, exact = other, factor
    if not most.span > 0:
        raise Undecided("a logarithm of what may be 0")
    ratios, total = [], _ZERO
    for part, _ in parts:
        if part is most:
            continue
        order = part.order - most.order
        poly = _add(part.poly, tuple(-c for c in most.poly))
        ratio = Germ(part.span / most.span, order, poly)
        total += hull(ratio, start)
        ratios.append(ratio)
    if not total > -1:
        raise Undecided("a logarithm of what may be 0")
    constant_part = log_of(exact) if exact is not None else sp.S.Zero
    share = _ONE.union(1 / (1 + total))
    small = [Germ(ratio.span * share, ratio.order, ratio.poly) for ratio in ratios]
    if exact is None:
        small.append(Germ(most.span.log()))
    return _Leading(constant_part, most.order, most.poly), small


def _plain(item: Product) -> sp.Expr | None:
    """The coefficient of a product that is a coefficient times an exponential of a polynomial."""
    if item.powers or item.exponent.rest:
        return None
    return item.factor * sp.exp(item.exponent.poly[0] if item.exponent.poly else 0)


def _log_x(start: arb) -> Germ:
    """``log(x) / sqrt(x)`` falls from exp(2) on."""
    if not start >= 8:
        raise Undecided("a logarithm")
    return Germ((start.log() / start.sqrt()).union(_ZERO), sp.Rational(1, 2))


def _compare(first: Germ, second: Germ) -> int:
    return _decays(first.order - second.order, _add(first.poly, tuple(-c for c in second.poly)))


def _polynomial(poly: Poly, start: arb) -> Germ | None:
    if not poly:
        return None
    near = (1 / start).union(_ZERO)
    span = _ZERO
    for c in poly:
        span = span * near + ball(c)
    return Germ(span, sp.Integer(len(poly) - 1))


# --- what follows -------------------------------------------------------------------------------


def integral(found: Germ, start: arb) -> arb:
    """The integral over [start, oo).

    Raises: Infinite if it diverges; Undecided.

    >>> integral(Germ(arb(1), sp.S.Zero, (sp.S.NegativeOne,)), arb(3)).contains(arb(-3).exp())
    True
    """
    if found.span == 0:
        return _ZERO
    _refuse_growing(found)
    if found.below:
        raise Undecided("what grows")
    top = _at(found.order, found.poly, start)
    if not found.poly:
        return power_tail(found.span * top, start, ball(found.order))
    slope = _log_slope(found.order, found.poly, start)
    if not slope < 0:
        raise Undecided("whether it falls from there on")
    return found.span * exponential_tail(top, -slope)


def series(found: Germ, start: int) -> arb:
    """The sum of f(k) over the integers k >= start, start > 0."""
    if found.span == 0:
        return _ZERO
    _refuse_growing(found)
    if found.below:
        raise Undecided("what grows")
    first = arb(start)
    top = _at(found.order, found.poly, first)
    if not found.poly:  # between the integral, and the integral plus the first term
        rest = power_tail(top, first, ball(found.order))
        return found.span * rest.union(rest + top)
    slope = _log_slope(found.order, found.poly, first)
    if not slope < 0:
        raise Undecided("whether it falls from there on")
    return found.span * geometric_tail(top, slope.exp())


def _refuse_growing(found: Germ) -> None:
    if found.poly:
        if trend(found) < 0:
            return
    elif sign(found.order + 1) < 0:
        return
    if found.span > 0 or found.span < 0:
        raise Infinite
    raise Undecided("whether it is 0")


def bound_of_log(term: Sum, start: arb) -> arb:
    """A ball whose upper end bounds a sum on [start, oo), its lower end some values there.

    Raises: Infinite if the sum goes to infinity; Undecided.
    """
    found = germ(exponential(term), start)
    rises = trend(found)
    if rises > 0 and found.span > 0:
        raise Infinite
    if found.below or rises > 0 or not found.span > 0:
        raise Undecided("the values far out")
    if rises < 0 and not _log_slope(found.order, found.poly, start) <= 0:
        raise Undecided("the values far out")
    value = found.span.log() + ball(found.order) * start.log()
    for k, c in enumerate(found.poly, 1):
        value += ball(c) * start**k
    return value
