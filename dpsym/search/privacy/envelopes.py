"""Multipliers for one stage, read off the bound that is claimed.

The best bound is a function of the moments' bounds, and its multipliers are its derivatives by them
(the envelope theorem). So if a parameter occurs in the claimed bound B and in a moment's bound c,
the multiplier is B' / c', by this parameter; where phi depends on it too, another parameter moves
along so that phi stays the same. A bound proportional to c has the multiplier B / c.

What is left is a line a t + b that is B - sum w c at t = 1 and lies above phi - sum w g: through
its value on a ray or at a kink, or touching it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Canon
from dpsym.kernel.definitions import P_RAY, Q_RAY, Form, Moment, T
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules_privacy import StageData
from dpsym.kernel.sequents import Facts, context, with_facts
from dpsym.kernel.statements import RATIO, Fact
from dpsym.kernel.terms import ONE, ZERO, Term, derivative, substitute
from dpsym.search.privacy.multipliers import Row

_MOST_PIECES = 4
Weights = tuple[Term, ...]


def rows(found: Moment, data: StageData, facts: Facts) -> Iterator[Row]:
    """Constant multipliers whose bound is the claimed one."""
    canon = context(facts).canon
    for weights in dict.fromkeys(_weights(found, data, canon)):
        spent = tm.add(*(w * moment.bound for w, moment in _pairs(weights, data)))
        start = canon.normal(found.bound - spent)
        left = _Left(found.form, weights, data, facts)
        for slope in dict.fromkeys(left.slopes(start)):
            constants = (slope, canon.normal(start - slope), *weights)
            first, second, *others = (Form(item, ZERO, ZERO) for item in constants)
            yield first, second, tuple(others)


def _pairs(weights: Weights, data: StageData) -> list[tuple[Term, Moment]]:
    return [(w, m) for w, m in zip(weights, data.moments, strict=True) if w is not ZERO]


# -- multipliers of the moments


def _weights(found: Moment, data: StageData, canon: Canon) -> Iterator[Weights]:
    count = len(data.moments)

    def at(places: dict[int, Term]) -> Weights:
        return tuple(places.get(i, ZERO) for i in range(count))

    yield at({})
    shares = [(i, _proportional(found, moment, canon)) for i, moment in enumerate(data.moments)]
    yield from (at({i: share}) for i, share in shares if share is not None)
    rates = [
        (i, name, _rate(found, moment, name, canon))
        for i, moment in enumerate(data.moments)
        for name in sorted(moment.bound.vars & (found.bound.vars | found.form.f.vars))
    ]
    known = [(i, name, rate) for i, name, rate in rates if rate not in (None, ZERO)]
    for size in (1, 2, 3):
        for chosen in combinations(known, size):
            if len({i for i, _, _ in chosen}) < size:
                continue
            names = [name for _, name, _ in chosen]
            places = {i: rate / names.count(name) for i, name, rate in chosen if rate is not None}
            yield at({i: canon.normal(item) for i, item in places.items()})


def _proportional(found: Moment, moment: Moment, canon: Canon) -> Term | None:
    try:
        return canon.normal(found.bound / moment.bound)
    except (Refusal, ZeroDivisionError):
        return None


def _rate(found: Moment, moment: Moment, name: str, canon: Canon) -> Term | None:
    """How fast the claimed bound grows with the moment's, as the parameter moves."""
    if name in moment.form.f.vars:
        return None
    corner = kink(found.form)
    try:
        own = derivative(moment.bound, name)
        whole = derivative(found.bound, name)
        if name in found.form.f.vars:
            if corner is None:
                return None
            others = sorted(corner.vars - moment.bound.vars - moment.form.f.vars)
            if not others:
                return None
            along = derivative(corner, name) / derivative(corner, others[0])
            whole = whole - derivative(found.bound, others[0]) * along
        return canon.normal(whole / own)
    except (Refusal, ZeroDivisionError):
        return None


def kink(form: Form) -> Term | None:
    """Where the function of the ratio has a kink, if it has one."""
    for item in tm.subterms(form.f):
        if item.op in ("max", "ite") and RATIO in item.args[0].vars:
            return _zero(item.args[0])
    return None


def _zero(item: Term) -> Term | None:
    """Where a function that is linear in the ratio, its inverse or its logarithm is zero."""
    normal = context((Fact(T, ">"),)).canon.normal
    for of in (lambda t: t, lambda t: tm.power(t, -1), tm.exp):
        line = normal(substitute(item, {RATIO: of(T)}))
        slope = normal(derivative(line, RATIO))
        if slope is not ZERO and RATIO not in slope.vars:
            return normal(of(normal(T - line / slope)))
    return None


# -- the line


@dataclass(frozen=True)
class _Left:
    """phi - sum w g: what a line has to lie above."""

    phi: Form
    weights: Weights
    data: StageData
    facts: Facts

    def slopes(self, start: Term) -> Iterator[Term]:
        """Of lines that are ``start`` at 1."""
        canon = context(self.facts).canon
        inside = context(with_facts(self.facts, Fact(T, ">"))).canon
        at_q, at_p = (self.on(ray) for ray in (Q_RAY, P_RAY))
        if kink(self.phi) is ONE:
            yield from self.between(start, canon)
        yield ZERO
        yield canon.normal(start - (at_q or ZERO))
        if at_p is not None:
            yield canon.normal(at_p)
        whole = self.at_ratio()
        for corner in self.kinks():
            try:
                height = canon.normal(substitute(whole, {RATIO: corner}))
                yield canon.normal((height - start) / (corner - 1))
            except (Refusal, ZeroDivisionError):
                continue
        for piece in _pieces(whole):
            try:
                yield canon.normal(substitute(derivative(piece, RATIO), {RATIO: ONE}))
                yield from _tangents(piece, start, inside)
            except (Refusal, ZeroDivisionError):
                continue

    def between(self, start: Term, canon: Canon) -> Iterator[Term]:
        """Of a line that touches both sides of a kink at 1, to the third order."""
        pieces = _pieces(self.phi.f)
        smooth = tm.add(*(w * moment.form.f for w, moment in _pairs(self.weights, self.data)))
        at_one = [smooth]
        try:
            for _ in range(3):
                at_one.append(derivative(at_one[-1], RATIO))
            sides = tm.add(*(derivative(piece, RATIO) for piece in pieces)) / max(len(pieces), 1)
            value, rate, bend, twist = (
                canon.normal(substitute(item, {RATIO: ONE})) for item in at_one
            )
            skew = canon.normal(-twist / (3 * bend))
        except (Refusal, ZeroDivisionError):
            return
        height = start - self.phi.at(ONE) + value
        yield canon.normal(substitute(sides, {RATIO: ONE}) - rate + skew * height)

    def on(self, ray: str) -> Term | None:
        parts = [self.phi.on(ray)]
        for weight, moment in _pairs(self.weights, self.data):
            value = moment.form.on(ray)
            parts.append(None if value is None else -weight * value)
        return None if None in parts else tm.add(*(part for part in parts if part is not None))

    def at_ratio(self) -> Term:
        parts = (-w * moment.form.f for w, moment in _pairs(self.weights, self.data))
        return tm.add(self.phi.f, *parts)

    def kinks(self) -> Iterator[Term]:
        for item in self.data.supports:
            yield 1 / item.bound if item.reverse else item.bound
        for form in (self.phi, *(moment.form for _, moment in _pairs(self.weights, self.data))):
            corner = kink(form)
            if corner is not None:
                yield corner


def _pieces(item: Term) -> list[Term]:
    """The smooth functions that a function with kinks is made of."""
    pieces = [item]
    while len(pieces) <= _MOST_PIECES:
        kinked = [x for x in tm.subterms(pieces[0]) if x.op in ("max", "min", "ite")]
        if not kinked:
            return pieces
        first = kinked[0]
        branches = first.args[-2:]
        pieces = [tm.replace(piece, first, branch) for branch in branches for piece in pieces]
    return []


def _tangents(piece: Term, start: Term, canon: Canon) -> Iterator[Term]:
    """Slopes of tangents through (1, start), where A t^2 + B t + C or A sqrt(t) + B t + C."""
    normal = canon.normal
    for root in (False, True):
        shape = substitute(piece, {RATIO: tm.power(T, 2)}) if root else piece
        rate = normal(derivative(normal(shape), RATIO))
        second = normal(derivative(rate, RATIO))
        if RATIO in second.vars or second is ZERO:
            continue
        top, middle = second / 2, normal(rate - second * T)
        end = normal(shape - top * tm.power(T, 2) - middle * T)
        if {RATIO} & (middle.vars | end.vars):
            continue
        if not root:
            space = tm.sqrt(normal(1 - (start - middle - end) / top))
            for touch in (1 - space, 1 + space):
                yield normal(2 * top * touch + middle)
        elif middle is not ZERO:
            gap = normal(start - top - end)
            space = tm.sqrt(normal(tm.power(gap, 2) - tm.power(middle, 2)))
            for touch in (gap - space, gap + space):  # times 1 / middle
                yield normal(tm.power(middle, 2) / (2 * touch) + top)
