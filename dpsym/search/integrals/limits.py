"""What an antiderivative tends to at infinity, and by which vanishing terms it passes that."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from math import comb

from flint import fmpq

from dpsym.kernel import canon as cn
from dpsym.kernel import terms as tm
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules_mechanisms import Limit, Slack
from dpsym.kernel.sequents import Facts, context, with_facts
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import ONE, ZERO, Term
from dpsym.search.integrals import fractions
from dpsym.search.integrals.cuts import Split, plain
from dpsym.search.integrals.sampling import numbers
from dpsym.search.integrals.substitutions import Z, in_exponential
from dpsym.search.integrals.summands import coefficients
from dpsym.search.samples import number, sign

__all__ = ["limit_at", "sign_at"]

Samples = Sequence[Mapping[str, float]]


def sign_at(item: Term, samples: Samples, facts: Facts = ()) -> int:
    """The sign of a term that is evident or the same at all samples, or 0; zeros may be tiny."""
    for way in (1, -1):
        if context(facts).evident(Fact(way * item, ">")):
            return way
    values = numbers(item, samples)
    signs = {(value > 0) - (value < 0) for value in values if not math.isnan(value)} - {0}
    if len(signs) == 2:  # perhaps by rounding
        signs = {sign(item, point) for point in samples} - {0}
    return signs.pop() if len(signs) == 1 else 0


def limit_at(facts: Facts, item: Term, x: Term, way: int, samples: Samples) -> Limit | None:
    """The limit of a term as way * x grows, or None for forms that are not known here.

    Raises: Split if a sign has to be settled for it."""
    slacks: list[Slack] = []
    value, canon = ZERO, context(facts).canon
    for mono, count in _by_small_tails(facts, canon(item), x, way, samples).items():
        found = _Part(facts, mono, fmpq(count), x, way, samples)
        if found.known:
            value, slacks = value + found.value, slacks + found.slacks
            continue
        whole = cn.mono_term(mono, fmpq(count))
        over = _over_exponential(facts, whole, x, way, samples)
        if over is None:
            limit = fractions.limit(canon, tm.substitute(whole, {str(x.value): way * x}), x)
            over = None if limit is None else Limit(limit)
        if over is None:
            return None
        value, slacks = value + over.value, [*slacks, *over.slacks]
    clear = canon.normal
    slacks = [
        Slack(size, s.kind, s.power, clear(s.rate), clear(s.shift))
        for s in slacks
        if (size := clear(s.coefficient)) is not ZERO
    ]
    return Limit(clear(value), tuple(slacks))


def _by_small_tails(facts: Facts, form: cn.Poly, x: Term, way: int, samples: Samples) -> cn.Poly:
    """The form with 2 - erfc(-u) for an erfc(u) that tends to 2 beside something that moves."""
    out: cn.Poly = {}
    for mono, count in form.items():
        parts: cn.Poly = {mono: count}
        for atom, k in mono[1]:
            if atom.op != "erfc" or k != 1 or x.value not in atom.vars:
                continue
            rest = (mono[0], mono[1] - {(atom, k)})
            slope = tm.derivative(atom.args[0], str(x.value))
            beside = x.value in cn.mono_term(rest).vars
            if beside and way * sign_at(slope, samples, facts) < 0:
                small = tm.Term("erfc", (-atom.args[0],))
                parts = {rest: 2 * count, (rest[0], rest[1] | {(small, 1)}): -count}
                break
        out = cn.plus(out, parts)
    return out


def _over_exponential(
    facts: Facts, item: Term, x: Term, way: int, samples: Samples
) -> Limit | None:
    """The limit of a function of z = exp(k x), as z vanishes or grows, with a slack that is a
    multiple of z or 1/z if it is passed on the side that matters."""
    found = in_exponential(context(facts).canon, item, x)
    if found is None:
        return None
    rate, inner = found
    side = way * sign_at(rate, samples, facts)
    if not side:
        return None
    limit = _of_small(facts, inner) if side < 0 else _of_large(facts, inner, samples)
    if limit is None:
        return None
    value, slope = limit
    far = [{**at, str(x.value): 4 * way / _size(rate, at)} for at in samples]
    passed = [way * (number(item, at) - number(value, at)) for at in far]
    if not any(gap > 0 for gap in passed):
        return Limit(value)
    sign = sign_at(slope, samples, facts)
    return Limit(value, (Slack(sign * slope, "exp", 0, side * way * rate, ZERO),))


def _size(rate: Term, at: Mapping[str, float]) -> float:
    size = abs(number(rate, at))
    return size if 1e-9 < size < math.inf else 1.0


def _of_small(facts: Facts, inner: Term) -> tuple[Term, Term] | None:
    """The value and the slope at z = 0."""
    z = tm.var(Z)
    normal = context(with_facts(facts, Fact(z, ">"))).canon.normal
    try:
        values = [
            context(facts).canon.normal(tm.substitute(item, {Z: ZERO}))
            for item in (normal(inner), normal(tm.derivative(normal(inner), Z)))
        ]
    except Refusal:  # a negative power
        return None
    return values[0], values[1]


def _of_large(facts: Facts, inner: Term, samples: Samples) -> tuple[Term, Term] | None:
    """The value as z grows, and the slope by 1/z."""
    z = tm.var(Z)
    known = with_facts(facts, Fact(z, ">"))
    canon = context(known).canon
    value = fractions.limit(canon, inner, z)
    if value is not None:
        slope = fractions.limit(canon, z * (inner - value), z)
        return None if slope is None else (value, slope)
    large = [{**at, Z: 1.0} for at in samples]
    both = [limit_at(known, sign * inner, z, 1, large) for sign in (1, -1)]  # slacks of one side
    slacks = [slack for limit in both if limit is not None for slack in limit.slacks]
    if both[0] is None:
        return None
    bounds = [
        slack.coefficient / slack.rate
        for slack in slacks
        if slack.kind == "exp" and not slack.power and sign_at(slack.coefficient, samples) > 0
    ]
    return both[0].value, tm.add(*bounds)


class _Part:
    """One monomial: what it tends to, and slacks if it may pass it on the side that matters."""

    def __init__(
        self, facts: Facts, mono: cn.Monomial, count: fmpq, x: Term, way: int, samples: Samples
    ) -> None:
        self.facts, canon = facts, context(facts).canon
        self.canon, self.x, self.way, self.samples = canon, x, way, samples
        self.value: Term = ZERO
        self.slacks: list[Slack] = []
        whole = cn.mono_term(mono, count)
        if x.value not in whole.vars:
            self.value, self.known = whole, True
            return
        moving = [(atom, k) for atom, k in mono[1] if x.value in atom.vars]
        fixed = cn.mono_term((frozenset(), mono[1].difference(moving)), count)
        powers = coefficients(canon, dict(mono[0]), x)
        self.known = powers is not None and self.fits(moving, fixed, powers)
        if self.slacks and canon.has_sign(canon(-way * (whole - self.value)), False):
            self.slacks = []

    def fits(self, moving: list[tuple[Term, int]], fixed: Term, powers: list[Term]) -> bool:
        size = fixed * tm.exp(powers[0]) if powers[0] is not ZERO else fixed
        power = dict(moving).get(self.x, 0)
        tails = [(atom, k) for atom, k in moving if atom.op == "erfc"]
        if tails and len(tails) + (power > 0) == len(moving) and (power or len(powers) > 1):
            ((tail, count), *more) = tails
            inside = coefficients(self.canon, self.canon(tail.args[0]), self.x)
            single = inside is not None and count == 1 and not more
            return single and self.tail(size, power, powers, inside or [])
        if len(powers) > 1:
            only = not moving or (len(moving) == 1 and power > 0)
            return only and self.exponential(size, power, powers)
        if len(moving) == 2 or (len(moving) == 1 and moving[0][0].op == "add"):
            return self.rational(size, dict(moving))
        if len(moving) != 1:
            return False
        ((atom, count),) = moving
        if atom is self.x:
            return count < 0 and self.inverse(size, -count)
        if count != 1 or atom.op not in ("erfc", "atan"):
            return False
        inside = coefficients(self.canon, self.canon(atom.args[0]), self.x)
        if inside is None or len(inside) != 2:
            return False
        return self.sigmoid(atom.op, size, inside[1], inside[0])

    def away(self, rate: Term) -> int:
        """1 if rate * x grows towards the end, -1 if it falls, 0 if that is not known."""
        return self.way * sign_at(rate, self.samples, self.facts)

    def sign(self, item: Term) -> int:
        """The sign of a term; ``Split`` if it depends on the parameters."""
        if self.canon.normal(item) is ZERO:
            return 0
        sign = sign_at(item, self.samples, self.facts)
        if not sign:
            raise Split(plain(item, self.facts))
        return sign

    def exponential(self, size: Term, power: int, powers: list[Term]) -> bool:
        """size * x^power * exp(...): x = way * a is written by the slack's own variable e."""
        if len(powers) == 2:
            if self.away(powers[1]) >= 0:
                return False
            rate = -self.way * powers[1]
            size = (
                self.way ** (power + 1) * size / tm.power(rate, power) if power else self.way * size
            )
            self.slacks = [Slack(size, "exp", power, rate, ZERO)]
            return True
        if len(powers) != 3 or sign_at(powers[2], self.samples, self.facts) != -1:
            return False
        self.bell(size, power, powers[1], tm.sqrt(-powers[2]))
        return True

    def bell(self, size: Term, power: int, rate: Term, root: Term) -> None:
        """size * x^power * exp(rate * x - root^2 * x^2) for root > 0."""
        shift = self.way * rate / (2 * root)  # e = root * a - shift, x = way * (e + shift) / root
        size = self.way ** (power + 1) * size * tm.exp(tm.power(shift, 2))
        for n in range(power + 1):
            rest = tm.power(shift, power - n) if power > n else ONE
            scale = tm.power(root, -power) if power else ONE
            self.slacks.append(Slack(comb(power, n) * size * rest * scale, "bell", n, root, shift))

    def tail(self, size: Term, power: int, powers: list[Term], inside: list[Term]) -> bool:
        """size * x^power * exp(...) * erfc(inside), by erfc(u) <= 2 and erfc(u) <= exp(-u^2)."""
        if len(powers) > 2 or len(inside) != 2:
            return False
        rate = powers[1] if len(powers) == 2 else ZERO
        falls, shrinks = self.way * self.sign(rate) < 0, self.away(inside[1]) > 0
        if not falls and not shrinks:
            return False
        if self.sign(self.way ** (power + 1) * size) < 0:
            return True  # it comes from the side that does not matter
        if falls:
            return self.exponential(2 * size, power, powers)
        k, m = inside
        size *= tm.exp(-tm.power(k, 2)) if k is not ZERO else ONE
        self.bell(size, power, rate - 2 * k * m, self.way * m)
        return True

    def inverse(self, size: Term, count: int) -> bool:
        self.slacks = [Slack(self.way ** (count + 1) * size, "inverse", -count, ONE, ZERO)]
        return True

    def rational(self, size: Term, moving: dict[Term, int]) -> bool:
        """size x^n/D^k for a quadratic D = A e^2 + c, c >= 0, e = way * (x - m): by powers of e."""
        power = moving.pop(self.x, 0)
        ((below, count),) = moving.items() if len(moving) == 1 else ((self.x, 0),)
        coefs = coefficients(self.canon, self.canon(below), self.x)
        if coefs is None or len(coefs) != 3 or not 0 <= power < -2 * count:
            return False
        leading, middle = coefs[2], -coefs[1] / (2 * coefs[2])
        size, shift = size * tm.power(leading, count), self.way * middle
        for n in range(power + 1):
            part = comb(power, n) * size * (tm.power(middle, power - n) if power > n else ONE)
            sign = self.sign(part)
            if sign:
                self.slacks.append(Slack(sign * part, "inverse", n + 2 * count, ONE, shift))
        return True

    def sigmoid(self, op: str, size: Term, rate: Term, shift: Term) -> bool:
        side = self.away(rate)
        if not side:
            return False
        rate, shift = side * self.way * rate, side * shift  # e = rate a + shift grows
        if op == "atan":
            self.value = size * side * tm.PI * fmpq(1, 2)
            sign = self.sign(size)  # pi/2 - atan(e) is positive and at most 1/e
            if self.way * side * sign < 0:
                self.slacks = [Slack(sign * size, "inverse", -1, rate, -shift)]
            return bool(sign)
        self.value = ZERO if side == 1 else 2 * size
        self.slacks = [Slack(self.way * side * size, "erfc", 0, rate, -shift)]
        return True
