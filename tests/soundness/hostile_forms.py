"""Random attacks on canonical forms, what is evident, and enclosures.

At a point where the hypotheses hold and a term is defined, its form must be defined there and have
the same value, every claim about signs and bounds must be true, and an enclosure over a box with
the point in it must hold the value.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
from flint import arb, fmpq

from dpsym.kernel.balls import EVERYTHING, NEG, POS, Evaluator, precision, rational
from dpsym.kernel.balls import Undefined as NotDefined
from dpsym.kernel.canon import to_term
from dpsym.kernel.proofs import step
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Context, Sequent, affine_form
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term, derivative, subterms, var
from tests.soundness.hostile_leaf import NAMES, Source, box_case
from tests.soundness.values import (
    DIGITS,
    Number,
    Point,
    Undefined,
    Unsure,
    ball,
    fails,
    holds,
    sign,
    value,
)


def equal(first: Number, second: Number) -> bool:
    """Whether the numbers may be equal, as far as their digits go."""
    if isinstance(first, Fraction) and isinstance(second, Fraction):
        return first == second
    with mpmath.workdps(DIGITS):
        a, b = ball(first), ball(second)
        return bool(abs(a.middle - b.middle) <= a.radius + b.radius)


def _term_and_point(source: Source) -> tuple[tuple[str, ...], Point, Context, Term, Number]:
    names = NAMES[: source.randint(1, 3)]
    at = source.point(names)
    known = Context(source.hypotheses(at, 5))
    item = source.term(names, 4)
    return names, at, known, item, value(item, at)


def form(source: Source) -> bool:
    """``Canon(...).normal(t)`` has the value of t."""
    _, at, known, item, here = _term_and_point(source)
    return _same(known.canon.normal(item), at, here)


def _same(item: Term, at: Point, here: Number) -> bool:
    try:
        return equal(value(item, at), here)
    except Undefined:
        return False


def together(source: Source) -> bool:
    """The numerator over the denominators has the value of t."""
    _, at, known, item, here = _term_and_point(source)
    numerator, below = known.canon.together(known.canon(item))
    out = to_term(numerator)
    for part, count in below.items():
        out = out / part**count
    return _same(out, at, here)


def signs(source: Source) -> bool:
    """``is_positive``, ``evident`` and the sign that ``tidy`` keeps, of every sub-term too."""
    _, at, known, item, _ = _term_and_point(source)
    for part in {*subterms(item), known.canon.normal(item)}:
        try:
            here = value(part, at)
            if known.canon.is_positive(part) and sign(here) <= 0:
                return False
        except (Undefined, Unsure):
            continue
        for rel in (">=", ">", "!="):
            fact = Fact(part, rel)
            try:
                true = holds(fact, at)
                if known.evident(fact) and not true:
                    return False
                if holds(known.tidy(fact), at) != true:
                    return False
            except Undefined:
                return False
            except (Unsure, Refusal):
                continue
    return True


def bounds(source: Source) -> bool:
    """``Context.bounds``, ``box`` and ``affine`` against the point."""
    names, at, known, item, here = _term_and_point(source)
    for name, slope, end, strict in known.bounds:
        stated = Fact(slope * (var(name) - to_term(end)), ">" if strict else ">=")
        if fails(Sequent((), stated), at):
            return False
    if not all(_inside(at[name], ends) for name, ends in known.box.items()):
        return False
    for name in names:
        split = affine_form(known.canon(item), var(name))
        if split is not None:
            slope, end = known.affine(item, name) or split
            if not _same(slope * (var(name) - end), at, here):
                return False
    return True


def _inside(here: Number, ends: tuple[arb, arb]) -> bool:
    """Whether the enclosure may hold the number: exact end points against exact bounds of it."""
    low, high = _range(here)
    return not (_less(high, ends[0]) or _less(ends[1], low, turned=True))


def _range(here: Number) -> tuple[Fraction, Fraction]:
    if isinstance(here, Fraction):
        return here, here
    with mpmath.workdps(DIGITS):
        return _fraction(here.middle - here.radius), _fraction(here.middle + here.radius)


def _fraction(number: mpmath.mpf) -> Fraction:
    negative, mantissa, shift, _ = number._mpf_
    return Fraction(int(mantissa)) * Fraction(2) ** int(shift) * (-1 if negative else 1)


def _end(end: arb) -> Fraction | None:
    if not end.is_finite():
        return None
    mantissa, shift = end.man_exp()
    if abs(int(shift)) > 100_000:
        raise Unsure
    return Fraction(int(mantissa)) * Fraction(2) ** int(shift)


def _less(number: Any, end: Any, turned: bool = False) -> bool:
    """``number < end`` for a number and an end point; ``turned``: the end point comes first."""
    edge = _end(number if turned else end)
    if edge is None:
        infinite = number if turned else end
        return bool(infinite < 0) if turned else bool(infinite > 0)
    # a hair for the rounding of the radius itself
    other = end if turned else number
    hair = abs(other) * Fraction(1, 10**50)
    return edge < other - hair if turned else other + hair < edge


def enclosure(source: Source) -> bool:
    """Enclosures over boxes, some infinite, at 32 to 300 bits, strict and lenient."""
    names = NAMES[: source.randint(1, 2)]
    at = source.point(names)
    item = source.term(names, 4)
    if source.random() < 0.2:
        try:
            item = derivative(item, names[0])
        except Refusal:
            raise Unsure from None
    box = {}
    bits, strict = source.choice((32, 53, 64, 96, 200, 300)), source.random() < 0.5
    with precision(bits):
        for name in names:
            x = at[name]
            assert isinstance(x, Fraction)
            ends = []
            for side in (-1, 1):
                width = source.choice((fmpq(0), fmpq(1, 8), fmpq(1), fmpq(5), None))
                end = fmpq(x.numerator, x.denominator) + side * (width or 0)
                low, high = rational(end)
                infinite = NEG if side < 0 else POS
                ends.append(infinite if width is None else low if side < 0 else high)
            if ends != [NEG, POS] or source.random() < 0.5:
                box[name] = (ends[0], ends[1])
        try:
            ends_found = Evaluator(box, strict)(item)
        except NotDefined:
            if not strict:
                try:
                    value(item, at)
                except Undefined:
                    return True
                return False  # lenient evaluation gave up on a box with a point in the domain
            return True
    for _ in range(6):
        try:
            if not _inside(value(item, at), ends_found):
                return False
        except Undefined:
            if strict:
                return False
        at = {name: _within(source, box.get(name, EVERYTHING)) for name in names}
    return True


def _within(source: Source, ends: tuple[arb, arb]) -> Fraction:
    low, high = _end(ends[0]), _end(ends[1])
    part = Fraction(source.randint(0, 16), 16)
    if low is None and high is None:
        return Fraction(source.randint(-50, 50), 4)
    if low is None or high is None:
        known = low if low is not None else high
        assert known is not None
        return known + (part * 100 if low is not None else -part * 100)
    return low + (high - low) * part


def rational_exp_log(source: Source) -> bool:
    """exp and log at rationals against Taylor polynomials with remainders, in fractions."""
    x = Fraction(source.randint(-3000, 3000), source.choice((7, 64, 1000, 999_983)))
    bits = source.choice((32, 64, 100, 128))
    item = var("x")
    with precision(bits):
        box = {"x": rational(fmpq(x.numerator, x.denominator))}
        low, high = Evaluator(box, True)(Term("exp", (item,)))
        bottom, top = exp_bounds(x)
        if _less(top, low) or _less(high, bottom, turned=True):
            return False
        if x <= 0:
            return True
        low, high = Evaluator(box, True)(Term("log", (item,)))
        bottom, top = log_bounds(x)
        return not (_less(top, low) or _less(high, bottom, turned=True))


def exp_bounds(x: Fraction, terms: int = 40) -> tuple[Fraction, Fraction]:
    """Bounds of exp(x): Taylor at x/2^k, |x/2^k| <= 1/2, squared k times, outwards rounded."""
    halvings = 0
    while abs(x) > Fraction(1, 2) * 2**halvings:
        halvings += 1
    y = x / 2**halvings
    total, part = Fraction(0), Fraction(1)
    for k in range(terms):
        total += part
        part *= y / (k + 1)
    low, high = total - 2 * abs(part), total + 2 * abs(part)
    for _ in range(halvings):
        low, high = _cut(low * low, -1), _cut(high * high, 1)
    return low, high


def log_bounds(x: Fraction, terms: int = 60) -> tuple[Fraction, Fraction]:
    """Bounds of log(x) = 2 artanh((x-1)/(x+1)), after taking powers of 2 out."""
    shift = 0
    while x > Fraction(4, 3):
        x, shift = x / 2, shift + 1
    while x < Fraction(2, 3):
        x, shift = x * 2, shift - 1
    first, second = _artanh((x - 1) / (x + 1), terms), _artanh(Fraction(1, 3), terms)
    ends = [one + shift * two for one in first for two in second]
    return min(ends), max(ends)


def _artanh(y: Fraction, terms: int) -> tuple[Fraction, Fraction]:
    """Bounds of 2 artanh(y), |y| <= 1/3."""
    total = 2 * sum((y ** (2 * k + 1) / (2 * k + 1) for k in range(terms)), Fraction(0))
    rest = 3 * abs(y) ** (2 * terms + 1)
    return total - rest, total + rest


def _cut(number: Fraction, side: int) -> Fraction:
    """The number rounded outwards to 60 significant digits."""
    size = 10**60 * number.denominator // max(number.numerator, 1) + 1
    scaled = number * size
    whole = -((-scaled.numerator) // scaled.denominator) if side > 0 else (
        scaled.numerator // scaled.denominator
    )  # fmt: skip
    return Fraction(whole, size)


def tree(source: Source) -> bool:
    """A tree of boxes that is accepted: the goal holds at points of the domain."""
    case = box_case(source, source.choice((Fraction(-1, 50), Fraction(-1), Fraction(-9))))
    step(case.sequent, "boxes", case.parameters)
    for _ in range(30):
        at: Point = {
            name: Fraction(source.randint(-48, 64), source.choice((16, 16, 15, 1)))
            for name in case.point
        }
        try:
            if fails(case.sequent, at):
                return False
        except Unsure:
            continue
    return True


CHECKS = {
    "canon.normal": form,
    "canon.together": together,
    "evident, tidy, is_positive": signs,
    "bounds, box, affine": bounds,
    "boxes that are accepted": tree,
    "balls": enclosure,
    "balls: exp, log": rational_exp_log,
}

__all__ = ["CHECKS", "exp_bounds", "log_bounds"]
