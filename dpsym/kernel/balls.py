"""Rigorous enclosures: pairs of exact end points over the extended reals.

An enclosure ``(lo, hi)`` of a term over a box holds every value that the term takes there at points
where it is defined. End points are exact Arb numbers, so comparing them is exact too; infinity is
an end point, never a value, hence ``0 * oo = 0`` for end points.

``strict`` evaluation raises ``Undefined`` unless the term is defined on the whole box; lenient
evaluation cuts arguments to the domains of 1/x, log and sqrt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import reduce

import flint
from flint import arb, fmpq

from dpsym.kernel.limits import tick
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.terms import Term

Enclosure = tuple[arb, arb]
Box = Mapping[str, Enclosure]

NEG, POS = arb.neg_inf(), arb.pos_inf()
EVERYTHING: Enclosure = (NEG, POS)
MIN_PRECISION, MAX_PRECISION = 32, 4096
_ZERO, _ONE, _TWO = arb(0), arb(1), arb(2)
_HUGE = arb(10) ** 9  # beyond it exp is rounded to its limit


class Undefined(Exception):
    """The term is undefined at some point of the box (strict), or at every point (lenient)."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Set Arb's precision for the body; the one place that touches it."""
    if type(bits) is not int or not MIN_PRECISION <= bits <= MAX_PRECISION:
        raise Refusal("precision", f"{MIN_PRECISION} to {MAX_PRECISION} bits", bits)
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
    finally:
        flint.ctx.prec = before


def below(value: arb) -> arb:
    """The exact lower end of a ball; nan gives minus infinity."""
    end = value if value.is_exact() else value.lower()
    return end if end.is_exact() and not end.is_nan() else NEG


def above(value: arb) -> arb:
    """The exact upper end of a ball; nan gives plus infinity."""
    end = value if value.is_exact() else value.upper()
    return end if end.is_exact() and not end.is_nan() else POS


def rational(value: fmpq) -> Enclosure:
    return below(arb(value)), above(arb(value))


def exact(value: arb) -> fmpq | None:
    """The rational value of a finite exact end point."""
    if not (value.is_exact() and value.is_finite()):
        return None
    mantissa, shift = value.man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(shift)


# End points are not nan, so that comparing them picks the least and the greatest.


def _least(ends: list[arb]) -> arb:
    return reduce(lambda first, second: second if second < first else first, ends)


def _greatest(ends: list[arb]) -> arb:
    return reduce(lambda first, second: second if second > first else first, ends)


def _times_end(first: arb, second: arb) -> arb:
    return _ZERO if first == 0 or second == 0 else first * second


def times(first: Enclosure, second: Enclosure) -> Enclosure:
    if first[0] >= 0 and second[0] >= 0:
        return below(_times_end(first[0], second[0])), above(_times_end(first[1], second[1]))
    ends = [_times_end(left, right) for left in first for right in second]
    return _least([below(end) for end in ends]), _greatest([above(end) for end in ends])


def plus(first: Enclosure, second: Enclosure) -> Enclosure:
    return below(first[0] + second[0]), above(first[1] + second[1])


def hull(first: Enclosure, second: Enclosure) -> Enclosure:
    return _least([first[0], second[0]]), _greatest([first[1], second[1]])


def _power(base: Enclosure, count: int) -> Enclosure:
    if count == 0:
        return _ONE, _ONE
    lo, hi = base if count % 2 else _absolute(base)
    return below(lo**count), above(hi**count)


def _absolute(arg: Enclosure) -> Enclosure:
    lo, hi = arg
    if lo >= 0:
        return arg
    return (-hi, -lo) if hi <= 0 else (_ZERO, _greatest([-lo, hi]))


def _inverse(arg: Enclosure, strict: bool) -> Enclosure:
    lo, hi = arg
    outside = lo > 0 or hi < 0
    if not outside and (strict or (lo == 0 and hi == 0)):
        raise Undefined
    low = _over(hi, below) if outside or lo == 0 else NEG
    return low, (_over(lo, above) if outside or hi == 0 else POS)


def _over(end: arb, rounding: Callable[[arb], arb]) -> arb:
    return rounding(1 / end) if end.is_finite() else _ZERO


def _exp(arg: Enclosure) -> Enclosure:
    lo, hi = arg
    low = _ZERO if lo < -_HUGE else below(_least([lo, _HUGE]).exp())
    high = POS if hi > _HUGE else above(_greatest([hi, -_HUGE]).exp())
    return _greatest([low, _ZERO]), high


def _log(arg: Enclosure, strict: bool) -> Enclosure:
    lo, hi = arg
    if hi <= 0 or (strict and not lo > 0):
        raise Undefined
    return (below(lo.log()) if lo > 0 else NEG), (above(hi.log()) if hi.is_finite() else POS)


def _sqrt(arg: Enclosure, strict: bool) -> Enclosure:
    lo, hi = arg
    if hi < 0 or (strict and not lo >= 0):
        raise Undefined
    return (below(lo.sqrt()) if lo > 0 else _ZERO), (above(hi.sqrt()) if hi.is_finite() else POS)


def _erfc(arg: Enclosure) -> Enclosure:
    lo, hi = arg
    low = below(hi.erfc()) if hi.is_finite() else (_ZERO if hi > 0 else _TWO)
    high = above(lo.erfc()) if lo.is_finite() else (_TWO if lo < 0 else _ZERO)
    return _greatest([low, _ZERO]), _least([high, _TWO])


def _atan(arg: Enclosure) -> Enclosure:
    return below(arg[0].atan()), above(arg[1].atan())


def _lgamma(arg: Enclosure, strict: bool) -> Enclosure:
    """Convex, with its least value, above -1/8, between 23/16 and 3/2."""
    lo, hi = arg
    if hi <= 0 or (strict and not lo > 0):
        raise Undefined
    ends = [end.lgamma() if end > 0 and end.is_finite() else POS for end in arg]
    turn = lo < _TURN[1] and hi > _TURN[0]
    return (_LEAST if turn else _least([below(end) for end in ends])), _greatest(
        [above(end) for end in ends]
    )


_TURN, _LEAST = (arb(fmpq(23, 16)), arb(fmpq(3, 2))), arb(fmpq(-1, 8))
_UNARY = {"exp": _exp, "erfc": _erfc, "atan": _atan, "abs": _absolute}
_PARTIAL = {"log": _log, "sqrt": _sqrt, "lgamma": _lgamma}


def enclose(item: Term, box: Box, bits: int, strict: bool) -> Enclosure:
    """An enclosure of the term over the box; a variable without an entry may be any real."""
    with precision(bits):
        return Evaluator(box, strict)(item)


class Evaluator:
    """Evaluates terms over one box, each sub-term once. Precision is the caller's."""

    def __init__(self, box: Box, strict: bool) -> None:
        self.box, self.strict = box, strict
        self._memo: dict[Term, Enclosure] = {}

    def __call__(self, item: Term) -> Enclosure:
        done = self._memo.get(item)
        if done is None:
            lo, hi = self._value(item)
            if lo.is_nan() or hi.is_nan():
                lo, hi = EVERYTHING
            if not lo <= hi:
                raise Undefined
            done = self._memo[item] = (lo, hi)
        return done

    def _value(self, item: Term) -> Enclosure:
        op = item.op
        if op == "num":
            return rational(item.value)
        if op == "var":
            return self.box.get(item.value, EVERYTHING)
        if op == "pi":
            return arb.pi().lower(), arb.pi().upper()
        if op == "ite":
            return self._ite(*item.args)
        tick()
        args = [self(arg) for arg in item.args]
        out = args[0]
        if op in ("add", "mul"):
            return reduce(plus if op == "add" else times, args)
        if op == "pow":
            raised = _power(out, abs(item.value))
            return raised if item.value >= 0 else _inverse(raised, self.strict)
        if op in _PARTIAL:
            return _PARTIAL[op](out, self.strict)
        if op in ("max", "min"):
            pick = _greatest if op == "max" else _least
            return pick([out[0], args[1][0]]), pick([out[1], args[1][1]])
        return _UNARY[op](out)

    def _ite(self, condition: Term, then: Term, otherwise: Term) -> Enclosure:
        lo, hi = self(condition)
        if lo >= 0 or hi < 0:
            return self(then if lo >= 0 else otherwise)
        if self.strict:
            return hull(self(then), self(otherwise))
        found = []
        for branch in (then, otherwise):
            try:
                found.append(self(branch))
            except Undefined:  # then no point of the box takes this branch
                continue
        if not found:
            raise Undefined
        return hull(found[0], found[-1])
