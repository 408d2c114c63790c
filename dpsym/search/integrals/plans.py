"""How to apply the rules about one pair: by which pieces, or after which case distinction."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpsym.kernel import terms as tm
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules_calculus import Bounded
from dpsym.kernel.rules_mechanisms import Limit, Piece
from dpsym.kernel.rules_privacy import is_integer
from dpsym.kernel.sequents import Facts, Sequent, context, with_facts
from dpsym.kernel.statements import INTEGER, Fact, Region, Statement
from dpsym.kernel.terms import ZERO, Term, substitute, var
from dpsym.printing import show
from dpsym.search.integrals.antiderivatives import antiderivative, antidifference
from dpsym.search.integrals.cuts import (
    Split,
    choices,
    chosen,
    compared,
    never_zero,
    ordered,
    plain,
    resolved,
    roots,
    shorter,
    switches,
    vanishing,
)
from dpsym.search.integrals.limits import limit_at, sign_at
from dpsym.search.integrals.radicals import radicals
from dpsym.search.integrals.sampling import numbers, parameters
from dpsym.search.leaf.factoring import factors
from dpsym.search.leaf.numeric import Values
from dpsym.search.samples import number

__all__ = [
    "Given",
    "Integrand",
    "NoPlan",
    "NoSamples",
    "Samples",
    "Stretch",
    "given",
    "moved",
    "pieces_of",
    "stretches",
]

Integrand = Callable[[Term, Term], Term]
"""What is integrated, by the densities p and q; zero where they are."""
Samples = Sequence[Mapping[str, float]]
_SAMPLES = 60
_SHORT = 8  # integers on a stretch that are looked at one by one


class NoPlan(Exception):
    """No antiderivative or limit was found."""


class NoSamples(NoPlan):
    """No values of the parameters were found."""


@dataclass(frozen=True)
class Stretch:
    """An interval of outputs on which the integrand has one form."""

    start: Term | None
    end: Term | None
    facts: Facts = ()


@dataclass(frozen=True)
class Given:
    """What is known of the parameters, and the square roots that the total is stated with."""

    variables: tuple[tuple[str, str], ...]
    facts: Facts
    radicals: tuple[Term, ...]


def given(goal: Statement, region: Region, *others: Term) -> Given:
    """What matters of the goal for an integral over the region, with these terms in it; the same
    for goals that ask for the same integral."""
    items = [fact.term for fact in (*goal.facts, *region.facts)]
    used = frozenset().union(*(item.vars for item in (*items, region.p, region.q, *others)))
    claimed = [arg for claim in goal.claims for arg in claim.args if arg is not None]
    return Given(
        tuple(one for one in goal.variables if one[0] in used),
        goal.facts,
        radicals(context(goal.facts).canon, claimed),
    )


def pieces_of(known: Given, region: Region, integrand: Integrand) -> tuple[Piece, ...]:
    """Pieces for one region. Raises ``Split`` or ``NoPlan``."""
    return _Planner(known, region, integrand).pieces()


def stretches(goal: Statement, region: Region) -> Iterator[tuple[Stretch, Term, Term, Samples]]:
    """Intervals of outputs with the forms of p and q there, and sample values of the parameters."""
    planner = _Planner(given(goal, region), region, lambda p, q: p)
    for one in planner.stretches():
        known = replace(one, facts=planner.inside(one))
        p, q = planner.single(planner.p, known), planner.single(planner.q, known)
        yield known, p, q, planner.samples


def moved(
    goal: Statement, region: Region, pieces: tuple[Piece, ...], shift: Term
) -> tuple[Piece, ...]:
    """The pieces for the region's density with its output shifted, on the whole line."""
    normal, x = context(goal.facts).canon.normal, var(region.output or "")

    def limit(one: Limit | None, way: int) -> Limit | None:
        if one is None:
            return None
        slacks = (replace(s, shift=normal(s.shift + way * s.rate * shift)) for s in one.slacks)
        return Limit(one.value, tuple(slacks))

    return tuple(
        Piece(
            substitute(piece.primitive, {str(x.value): x - shift}),
            None if piece.until is None else normal(piece.until + shift),
            limit(piece.first, -1),
            limit(piece.last, 1),
            *(
                None if form is None else substitute(form, {str(x.value): x - shift})
                for form in (piece.p, piece.q)
            ),
        )
        for piece in pieces
    )


class _Planner:
    def __init__(self, known: Given, region: Region, integrand: Integrand) -> None:
        self.variables, self.facts, self.radicals = known.variables, known.facts, known.radicals
        self.region, self.integrand = region, integrand
        self.p, self.q = region.p, region.q
        self.samples = parameters(self.variables, self.facts, _SAMPLES)
        if not self.samples:
            raise NoSamples("no values of the parameters were found for the integral")
        self.x, self.whole = var(region.output or "$x"), region.kind == INTEGER
        self.known: dict[tuple[Term | None, Term | None], Values] = {}
        self.rows: dict[tuple[Term, Term, int], list[tuple[bool, ...]]] = {}

    def pieces(self) -> tuple[Piece, ...]:
        if self.region.output is None:
            return (self.atom(),)
        out: list[Piece] = []
        for stretch in self.stretches():
            out += self.stretch(stretch)
        return (*out[:-1], replace(out[-1], until=None))

    def stretches(self) -> list[Stretch]:
        """The region, cut where the densities change their form."""
        start, end = self.ends()
        found = [*switches(self.p, self.x), *switches(self.q, self.x)]
        return self.cut(Stretch(start, end), found, [self.p, self.q])

    def ends(self) -> tuple[Term | None, Term | None]:
        given = with_facts(self.facts, *self.region.facts)
        about = Bounded(Sequent(given, Fact(ZERO, ">=")), self.x.value)
        lower, upper = (side[0][0] if side else None for side in (about.lower, about.upper))
        return lower, (upper + 1 if upper is not None and self.whole else upper)

    # -- cutting

    def cut(self, stretch: Stretch, found: Sequence[Term], whole: Sequence[Term]) -> list[Stretch]:
        """The stretch, cut where one of the terms changes its sign."""
        known = self.inside(stretch)
        cuts: list[Term] = []
        for item in found:
            for form in self.branches(item, stretch):
                cuts += roots(form, self.x, known, self.samples, self.radicals)
        cuts = [item for item in dict.fromkeys(cuts) if self.matters(item, whole)]
        if self.whole:
            cuts = [one for item in cuts for one in self.starts(item, stretch, whole)]
        inner = ordered(cuts, stretch.start, stretch.end, self.facts, self.samples)
        ends = [stretch.start, *inner, stretch.end]
        return [Stretch(a, b) for a, b in pairwise(ends)]

    def matters(self, item: Term, whole: Sequence[Term]) -> bool:
        """Whether one of the terms has different forms at both sides of the point or, where that
        counts, at the point."""
        ways = (-1, 0, 1) if self.whole and is_integer(item, dict(self.variables)) else (-1, 1)
        return any(len(set(forms)) > 1 for forms in self.around(item, whole, ways))

    def around(
        self, item: Term, whole: Sequence[Term], ways: tuple[int, ...]
    ) -> Iterator[tuple[Term, ...]]:
        """The forms that the terms have just before the point (-1), at it (0) and after it (1)."""
        normal = context(self.facts).canon.normal
        for term in whole:
            if term.kinked:
                rows = [self.row(item, term, way) for way in ways]
                for found in dict.fromkeys(zip(*rows, strict=True)):
                    yield tuple(normal(chosen(term, row)) for row in found)

    def row(self, item: Term, term: Term, way: int) -> list[tuple[bool, ...]]:
        """The choices of a term just before, at or after the point, for each sample."""
        key = item, term, way
        if key not in self.rows:
            places = np.array(numbers(item, self.samples))
            known = np.isfinite(places)
            near = np.where(known, places, 0.0)
            at = near + way * 1e-7 * (1 + np.abs(near))
            side = Values({**self.points(1), str(self.x.value): at}, len(self.samples))
            self.rows[key] = list(map(tuple, choices(term, side)[0][known].tolist()))
        return self.rows[key]

    def starts(self, item: Term, stretch: Stretch, whole: Sequence[Term]) -> list[Term]:
        """The integers at which pieces start because of a cut: behind an integer, too, if a term
        has another value at it than the form after it has."""
        if not is_integer(item, dict(self.variables)):
            return [self.first_beyond(item, stretch)]
        found, at_it = [], {str(self.x.value): item}

        def same(one: Term, two: Term) -> bool:
            try:
                return context(self.facts).same(substitute(one, at_it), substitute(two, at_it))
            except Refusal:  # not defined there
                return False

        for before, at, after in self.around(item, whole, (-1, 0, 1)):
            continued = same(at, after)
            if not continued:
                found.append(item + 1)
            if before is not after if continued else not same(before, at):
                found.append(item)
        return list(dict.fromkeys(found))

    def points(self, count: int) -> dict[str, NDArray[np.float64]]:
        """The samples by the name of the variable, each as many times."""
        names = self.samples[0]
        return {n: np.repeat([at[n] for at in self.samples], count) for n in names}

    def first_beyond(self, item: Term, stretch: Stretch) -> Term:
        """The first integer beyond a cut that is not known to be one. On a short stretch, it is a
        question about the parameters which integer that is."""
        for name, kind in self.variables:  # the floor that a rule has named
            gap, known = item - var(name), context(self.facts)
            inside = Fact(gap, ">="), Fact(1 - gap, ">")
            if kind == INTEGER and all(map(known.evident, inside)):
                return var(name) + 1
        low, high = (
            end.value if end is not None and end.op == "num" else None
            for end in (stretch.start, stretch.end)
        )
        found = set()
        for value in numbers(item, self.samples):
            if math.isfinite(value):
                before = value if low is None else max(value, float(low) - 1)
                found.add(math.floor(before if high is None else min(before, float(high) - 1)))
        if len(found) == 1:
            return tm.num(found.pop() + 1)
        if low is not None and high is not None and high - low <= _SHORT:
            raise Split(plain(item - sorted(found)[len(found) // 2], self.facts))
        raise NeedsFloor(item)

    def branches(self, item: Term, stretch: Stretch) -> list[Term]:
        """The forms without kinks that a term takes on the stretch."""
        if not item.kinked:
            return [item]
        values = self.inner(stretch)
        if not values.count:  # no output is inside for any sample
            return []
        rows, clear = choices(item, values)
        found: dict[tuple[bool, ...], bool] = {}
        for row, sure in zip(map(tuple, rows.tolist()), clear.tolist(), strict=True):
            found[row] = sure or found.get(row, False)
        kept = [row for row, sure in found.items() if sure or not any(found.values())]
        return list(dict.fromkeys(chosen(item, row) for row in kept))

    def inner(self, stretch: Stretch) -> Values:
        """Values at some outputs inside the stretch, for all samples."""
        key = stretch.start, stretch.end
        if key not in self.known:
            ends = [
                [None] * len(self.samples) if end is None else numbers(end, self.samples)
                for end in key
            ]
            points = [
                {**at, str(self.x.value): place}
                for at, low, high in zip(self.samples, *ends, strict=True)
                for place in self.places(low, high)
            ]
            names = points[0] if points else ()
            columns = {name: np.array([point[name] for point in points]) for name in names}
            self.known[key] = Values(columns, len(points))
        return self.known[key]

    def places(self, low: float | None, high: float | None) -> list[float]:
        """Some outputs between these ends."""
        if self.whole:
            return _whole_places(low, high)
        if low is not None and high is not None:
            return (
                [low + (high - low) * share for share in (0.137, 0.5, 0.861)] if high > low else []
            )
        if low is not None:
            return [low + step for step in (0.0173, 0.61, 3.7, 41.0)]
        if high is not None:
            return [high - step for step in (0.0173, 0.61, 3.7, 41.0)]
        return [-40.3, -2.7, -0.31, 0.0173, 0.43, 3.1, 41.0]

    def inside(self, stretch: Stretch) -> Facts:
        reach = []
        if stretch.start is not None:
            reach.append(Fact(self.x - stretch.start, ">=" if self.whole else ">"))
        if stretch.end is not None:
            reach.append(
                Fact(stretch.end - self.x - (1 if self.whole else 0), ">=" if self.whole else ">")
            )
        return with_facts(self.facts, *reach)

    # -- one stretch

    def stretch(self, stretch: Stretch) -> list[Piece]:
        p, q = (self.single(item, stretch) for item in (self.p, self.q))
        known = self.inside(stretch)
        p, q = (ZERO if _is_zero(item, known) else item for item in (p, q))
        value = self.integrand(p, q)
        parts = self.cut(stretch, list(switches(value, self.x)), [value])
        out = []
        for part in parts:
            primitive, first, last = self.primitive(self.single(value, part), part)
            out.append(Piece(primitive, part.end, first, last, *self.other_forms(p, q)))
        return out

    def single(self, item: Term, stretch: Stretch) -> Term:
        """The one form that the term takes on the stretch."""
        found = self.branches(item, stretch)
        forms = {context(self.inside(stretch)).canon.normal(form): form for form in found}
        if not forms:
            at = self.samples[0]
            return resolved(item, {**at, str(self.x.value): number(stretch.start or ZERO, at)})
        if len(forms) > 1:
            deciding = self.constant_switch(item)
            if deciding is None:
                raise NoPlan("the integrand has kinks whose order is not known")
            raise Split(deciding)
        return next(iter(forms.values()))

    def constant_switch(self, item: Term) -> Term | None:
        """A switch that is constant on the pieces, and so a question about the parameters."""
        canon = context(self.facts).canon
        for part in switches(item, self.x):
            for form in {resolved(part, {**at, str(self.x.value): 0.0}) for at in self.samples}:
                gap = compared(canon, canon(form))
                if self.x.value in gap.vars:
                    gap = self.without_factors(form)
                if self.x.value not in gap.vars and not sign_at(gap, self.samples):
                    return plain(gap, self.facts)
        for part in tm.subterms(item):
            if part.op in tm.KINKED and self.x.value not in part.vars:
                gap = part.args[0] if part.op in ("abs", "ite") else part.args[0] - part.args[1]
                if not sign_at(gap, self.samples):
                    return plain(gap, self.facts)
        return None

    def without_factors(self, item: Term) -> Term:
        """A term of the same sign at the samples, without factors and denominators that have one
        sign there."""
        canon = context(self.facts).canon
        whole, below = canon.together(canon(item))
        found = factors(whole)
        if found is None:
            return item

        def sign_of(part: Term) -> int:
            if self.x.value in part.vars:
                return int(canon.is_positive(part))
            return sign_at(part, self.samples, self.facts)

        signs = [(part, k, sign_of(part)) for part, k in (*found[1], *below.items())]
        sign = math.prod(sign for _, k, sign in signs if sign and k % 2)
        kept = [part for part, k, sign in signs if not sign and k % 2]
        return compared(canon, canon(sign * found[0] * tm.mul(*kept)))

    def other_forms(self, p: Term, q: Term) -> tuple[Term | None, Term | None]:
        """The densities as they are on a piece, where that is not how they are given."""
        pairs = ((p, self.p), (q, self.q))
        kinked = (given.kinked or one is ZERO for one, given in pairs)
        return tuple(  # type: ignore[return-value]
            one if bent and one is not given else None
            for bent, (one, given) in zip(kinked, pairs, strict=True)
        )

    def atom(self) -> Piece:
        forms = [self.settled(item) for item in (self.p, self.q)]
        p, q = (ZERO if _is_zero(one, self.facts) else one for one in forms)
        return Piece(ZERO, None, None, None, *self.other_forms(p, q))

    def settled(self, item: Term) -> Term:
        """The mass of an atom without kinks, of which it is known whether it is zero."""
        forms = {resolved(item, at) for at in self.samples}
        if len(forms) > 1:
            for part in tm.subterms(item):
                if part.op in tm.KINKED:
                    gap = part.args[0] - part.args[1] if part.op in ("max", "min") else part.args[0]
                    if not sign_at(gap, self.samples, self.facts):
                        raise Split(plain(gap, self.facts))
        (form, *_) = forms
        if not _is_zero(form, self.facts) and not never_zero(form, self.facts):
            names = {name for name, _ in self.variables}
            raise Split(vanishing(form, self.facts, names) or plain(-form, self.facts))
        return form

    def primitive(self, value: Term, part: Stretch) -> tuple[Term, Limit | None, Limit | None]:
        canon = context(self.inside(part)).canon
        way = 1 if part.end is None or part.start is not None else -1
        if self.whole:
            found = antidifference(canon, value, self.x)
        else:
            found = antiderivative(canon, value, self.x, way)
        if found is None:
            raise NoPlan(f"no antiderivative was found of {show(value)}")
        limits = []
        for side, direction in ((part.start, -1), (part.end, 1)):
            limit = None
            if side is None:
                limit = limit_at(self.inside(part), found, self.x, direction, self.samples)
                if limit is None:
                    raise NoPlan(f"no limit was found of {show(found)}")
            limits.append(limit)
        return shorter(found, self.inside(part)), limits[0], limits[1]


def _is_zero(item: Term, facts: Facts) -> bool:
    known = context(facts)
    return all(known.evident(Fact(sign * item, ">=")) for sign in (1, -1))


def _whole_places(low: float | None, high: float | None) -> list[float]:
    """Some integers from low on and before high."""
    known = [end for end in (low, high) if end is not None]
    if not all(map(math.isfinite, known)):
        return []
    first = low if low is not None else high - 31 if high is not None else -31
    after = high if high is not None else first + 63
    first, after = round(first), round(after)
    steps = [0, 1, 2, 5, 11, 31, 62]
    forward = [first + step for step in steps if first + step < after]
    backward = [after - 1 - step for step in steps if after - 1 - step >= first]
    return [float(place) for place in dict.fromkeys([*forward, *backward])]


class NeedsFloor(Exception):
    """A cut point between integers: its floor has to be named first."""

    def __init__(self, item: Term) -> None:
        super().__init__(repr(item))
        self.item = item
