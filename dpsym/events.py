"""What an explicit mechanism puts on chosen outputs: moments from below, and losses.

A moment is the integral of a 1-homogeneous phi over all outputs. With phi >= A p + B q, the
function phi - A p - B q is nonnegative, and its integral over any outputs at all, plus A + B, is at
most the moment, since P and Q have mass 1. So an integral over chosen outputs is a lower bound, and
outputs at which something is not certain may be left out.

Trusted for refutations, like ``refutations``: the standard library, python-flint, the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

from flint import arb, fmpq

from dpsym.analytic import Analytic, resolved, spread
from dpsym.kernel import terms as tm
from dpsym.kernel.balls import (
    POS,
    Enclosure,
    Evaluator,
    Undefined,
    above,
    below,
    plus,
    precision,
    rational,
    times,
)
from dpsym.kernel.canon import Canon, to_term
from dpsym.kernel.definitions import Form, T
from dpsym.kernel.refusal import Refusal, require
from dpsym.kernel.statements import INTEGER, RATIO, Guarantee, Pair, Region
from dpsym.kernel.terms import ONE, ZERO, Term, substitute
from dpsym.quadrature import integrate

Values = Mapping[str, fmpq]
Interval = tuple[fmpq, fmpq]
MAX_ATOMS = 20_000
MAX_CELLS = 4000  # parts into which one event's intervals may be cut
_DEEPEST = 100  # bisections of one interval
_BITS = 192  # for integrals
_GOAL = 90  # bits of their relative accuracy
_NOTHING: Enclosure = (arb(0), arb(0))


@dataclass(frozen=True)
class Part:
    """Intervals of outputs of one region, disjoint and in order; for integers both ends count."""

    region: int
    within: tuple[Interval, ...]


@dataclass(frozen=True)
class Chosen:
    """One stage's pair, values of the pair's variables, and outputs of it. Atoms need not be
    chosen: all of them count."""

    pair: int
    values: Values
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Event:
    """Outputs of explicit mechanisms, for each stage, whatever the earlier stages put out."""

    stages: tuple[Chosen, ...]


@dataclass(frozen=True)
class Exceeded:
    """A claim that fails, in one direction (a family's member, if it is one): what it bounds is at
    least ``low`` (``None``: infinite), and the bound at most ``bound``.

    It bounds a moment; for pure DP and bounded range, a loss and a difference of losses."""

    claim: Guarantee
    low: fmpq | None
    bound: fmpq


@dataclass(frozen=True)
class Mass:
    """``count`` outcomes of probabilities p and q each."""

    p: Term
    q: Term
    count: Term


@dataclass(frozen=True)
class Cell:
    """Densities p and q, without kinks and each positive or zero, on an interval of outputs."""

    name: str
    low: fmpq
    high: fmpq
    p: Term
    q: Term
    integrand: Term | None  # None: the form is infinite here


def minorant(name: str, form: Form, order: Term | None) -> tuple[Term, Term] | None:
    """(A, B) with phi >= A p + B q everywhere: t log t >= t - 1; -t^a >= -a t - (1 - a) for
    0 < a < 1; and nonnegative forms. ``None`` if none is known."""
    if name == "KLDP":
        return ONE, -ONE
    if name == "RenyiDPBelowOne" and order is not None:
        return -order, order - 1
    everything: dict[str, Enclosure] = {RATIO: (arb(0), POS)}
    try:
        signs = [Evaluator(everything, False)(form.f)]
        signs += [Evaluator({}, True)(ray) for ray in (form.at_p, form.at_q) if ray is not None]
    except Undefined:
        return None
    return (ZERO, ZERO) if all(lo >= 0 for lo, _ in signs) else None


def homogeneous(f: Term, p: Term, q: Term, better: Evaluator) -> Term:
    """At most q f(p/q), and equal to it but for maxima among the summands of f, of which one side
    is taken, the larger one by the evaluator."""
    if f is T:
        return p
    if f.op == "add":
        return tm.add(*(homogeneous(part, p, q, better) for part in f.args))
    if f.op == "mul" and T in f.args:
        rest = list(f.args)
        rest.remove(T)
        return p * substitute(tm.mul(*rest), {RATIO: p / q})
    if f.op == "max":
        sides = [homogeneous(side, p, q, better) for side in f.args]
        first, second = map(better, sides)
        return sides[0 if first[0] >= second[0] else 1]
    return q * substitute(f, {RATIO: p / q})


class Moments:
    """The integral of phi - A p - B q over chosen outputs of one pair, from below.

    The form, the pair's terms and A and B have numbers for all variables but the outputs."""

    def __init__(self, form: Form, linear: tuple[Term, Term]) -> None:
        self.form, self.linear = form, linear
        self.left = MAX_CELLS

    def over(self, region: Region, within: tuple[Interval, ...]) -> Enclosure:
        """Over a region's intervals; end points may be infinite."""
        total = _NOTHING
        for low, high in within:
            if region.kind == INTEGER:
                found = self._sum(region, low, high)
            else:
                found = self._integral(region, low, high)
            total = plus(total, found)
        return total

    # -- masses

    def at(self, p: Term, q: Term) -> Enclosure:
        """phi - A p - B q at two numbers, zero if which ray they are on is not certain."""
        signs = [sign(item) for item in (p, q)]
        if None in signs or signs == [0, 0]:
            return _NOTHING
        if 0 in signs:
            ray, mass, k = (self.form.at_p, p, 0) if signs[1] == 0 else (self.form.at_q, q, 1)
            return (POS, POS) if ray is None else Evaluator({}, True)(mass * (ray - self.linear[k]))
        value = Evaluator({}, True)
        lower = homogeneous(self.form.f, p, q, value)
        lo, hi = value(tm.add(lower, *self._linear(p, q)))
        return (lo if lo > 0 else arb(0)), (hi if hi > 0 else arb(0))

    def _linear(self, p: Term, q: Term) -> list[Term]:
        return [-(factor * item) for factor, item in zip(self.linear, (p, q), strict=True)]

    def _sum(self, region: Region, low: fmpq, high: fmpq) -> Enclosure:
        total = _NOTHING
        for n in range(int(low.p), int(high.p) + 1):
            here = {str(region.output): tm.num(n)}
            try:
                found = self.at(substitute(region.p, here), substitute(region.q, here))
            except Undefined:
                continue
            total = plus(total, found)
        return total

    # -- densities

    def _integral(self, region: Region, low: fmpq, high: fmpq) -> Enclosure:
        total = _NOTHING
        for cell in self._merged(self._cells(region, low, high, _DEEPEST)):
            if cell.integrand is None:
                return POS, POS
            total = plus(total, integrated(cell))
        return total

    def _cells(self, region: Region, low: fmpq, high: fmpq, depth: int) -> Iterator[Cell]:
        """Parts of the interval on which everything is certain, in order."""
        if self.left <= 0:
            return
        self.left -= 1
        try:
            cell = self._cell(region, low, high)
        except Undefined:
            cell = None
        if cell is not None:
            yield cell
        elif depth:
            middle = (low + high) / 2
            yield from self._cells(region, low, middle, depth - 1)
            yield from self._cells(region, middle, high, depth - 1)

    def _cell(self, region: Region, low: fmpq, high: fmpq) -> Cell | None:
        name = str(region.output)
        value = Evaluator({name: (rational(low)[0], rational(high)[1])}, True)
        p, q = resolved(region.p, value), resolved(region.q, value)
        if p is None or q is None:
            return None
        ends = value(p), value(q)
        zero = [lo == 0 and hi == 0 for lo, hi in ends]
        if not all(lo > 0 or null for (lo, _), null in zip(ends, zero, strict=True)):
            return None
        integrand: Term | None
        if all(zero):
            integrand = ZERO
        elif any(zero):
            ray, mass, k = (self.form.at_p, p, 0) if zero[1] else (self.form.at_q, q, 1)
            integrand = None if ray is None else mass * (ray - self.linear[k])
        else:
            middle = rational((low + high) / 2)
            lower = homogeneous(self.form.f, p, q, Evaluator({name: middle}, True))
            plain = resolved(tm.add(lower, *self._linear(p, q)), value)
            if plain is None:
                return None
            integrand = spread(plain, value)
            if _null(value(integrand)):  # this also says that it is defined on the whole cell
                integrand = ZERO
        return Cell(name, low, high, p, q, integrand)

    def _merged(self, cells: Iterable[Cell]) -> Iterator[Cell]:
        last: Cell | None = None
        for cell in cells:
            if last is not None and last.high == cell.low and _alike(last, cell):
                last = Cell(cell.name, last.low, cell.high, cell.p, cell.q, cell.integrand)
                continue
            if last is not None:
                yield last
            last = cell
        if last is not None:
            yield last


def _alike(first: Cell, second: Cell) -> bool:
    return all(
        one is other
        for one, other in zip(
            (first.p, first.q, first.integrand), (second.p, second.q, second.integrand), strict=True
        )
    )


def sign(item: Term) -> int | None:
    """1 for a positive and 0 for a zero number, ``None`` for what is not certain."""
    value = Evaluator({}, True)
    plain = resolved(item, value)
    lo, hi = value(item if plain is None else plain)
    return 1 if lo > 0 else 0 if lo == 0 and hi == 0 else None


def integrated(cell: Cell) -> Enclosure:
    """The integral of a nonnegative integrand over a cell, with plus infinity as upper end and zero
    as lower end where Arb finds none."""
    if cell.integrand is None or cell.integrand is ZERO:
        return (POS, POS) if cell.integrand is None else _NOTHING
    with precision(_BITS):
        # inside of the cell, with exact ends; the bits left out count as nothing
        ends = above(arb(cell.low)), below(arb(cell.high))
        if not ends[0] < ends[1]:
            return arb(0), POS
        function = Analytic(cell.integrand, cell.name)
        found = integrate(function, *ends, _GOAL, arb(0))
    lo, hi = below(found), above(found)
    return (lo if lo > 0 else arb(0)), (hi if hi >= 0 and hi.is_finite() else POS)


# -- densities up to a factor


def factor(pair: Pair, parts: tuple[Part, ...]) -> Enclosure:
    """The inverse of the mass of p, which is that of q: of masses on the integers, summed over an
    interval and bounded beyond it. Refused for other pairs."""
    regions = [region for region in pair.regions if region.kind == INTEGER]
    whole = len(regions) == len(pair.regions) == len(parts) == 1 and parts[0].within
    require(bool(whole), "witness", "normalised densities, or integers alone", pair.label)
    (region,), ends = regions, (parts[0].within[0][0], parts[0].within[-1][1])
    for more in _FARTHER:
        low, high = int(ends[0].p) - more, int(ends[1].p) + more
        require(high - low <= 2 * MAX_ATOMS, "witness", "few integers", low, high)
        tails = _tail(region, low, -1), _tail(region, high, 1)
        if all(tail.is_finite() for tail in tails):
            break
    else:
        raise Refusal("witness", "masses with a known bound beyond the interval", low, high)
    total: Enclosure = (arb(0), tails[0] + tails[1])
    for n in range(low, high + 1):
        if _within(region, (arb(n), arb(n))):
            total = plus(total, Evaluator({}, True)(_mass(region, tm.num(n))))
    require(bool(total[0] > 0), "witness", "a positive mass", total[0])
    return below(1 / total[1]), above(1 / total[0])


_FARTHER = (0, 16, 256, 4096)


def _mass(region: Region, n: Term) -> Term:
    return _certain(substitute(region.p, {str(region.output): n}))


def _within(region: Region, span: Enclosure) -> bool:
    """Whether the region may have an integer in the span."""
    value = Evaluator({str(region.output): span}, True)
    return not any(value(fact.term)[1] < 0 for fact in region.facts)


def _tail(region: Region, end: int, way: int) -> arb:
    """At least the sum of p over the integers beyond the end; infinite if no bound is found.

    If p(n + way) <= r p(n) from the end on, with r < 1, then p(end) r/(1 - r)."""
    edge = arb(end)
    span: Enclosure = (edge, POS) if way > 0 else (-POS, edge)
    if not _within(region, (edge + way, POS) if way > 0 else (-POS, edge + way)):
        return arb(0)
    name = str(region.output)
    value = Evaluator({name: span}, True)
    try:
        plain = resolved(region.p, value)
        if plain is None:
            return POS
        log = spread(tm.log(plain), value)
        if any(part.op == "log" and name in part.vars for part in tm.subterms(log)):
            return POS  # it might be zero somewhere
        canon = Canon()
        step = to_term(canon(substitute(log, {name: tm.var(name) + way}) - log))
        largest = value(step)[1]
        if not largest < 0:
            return POS
        ratio = largest.exp()
        return above(Evaluator({}, True)(_mass(region, tm.num(end)))[1] * ratio / (1 - ratio))
    except (Undefined, Refusal, ArithmeticError):
        return POS


# -- all outcomes of compositions of finite mechanisms


@dataclass(frozen=True, eq=False)
class Bin:
    """Enclosures of the masses of some outputs under P and under Q, and of how many such there are.
    One object is one kind."""

    p: Enclosure
    q: Enclosure
    count: Enclosure


def outcomes(stages: Iterable[tuple[Bin, ...]]) -> Iterator[Bin]:
    """The joint outcomes; those of the same factors are one kind."""
    places: dict[Bin, int] = {}
    kinds: dict[tuple[tuple[int, int], ...], int] = {(): 1}
    for stage in stages:
        following: dict[tuple[tuple[int, int], ...], int] = {}
        here = [places.setdefault(one, len(places)) for one in stage]
        for kind, count in kinds.items():
            for place in here:
                factors = dict(kind)
                factors[place] = factors.get(place, 0) + 1
                key = tuple(sorted(factors.items()))
                following[key] = following.get(key, 0) + count
        kinds = following
        require(len(kinds) <= MAX_ATOMS, "witness", f"at most {MAX_ATOMS} atoms", len(kinds))
    known, powers = list(places), dict[tuple[int, int], tuple[Enclosure, ...]]()
    for kind, count in kinds.items():
        whole = Evaluator({}, True)(tm.num(count))
        joint: list[Enclosure] = [(arb(1), arb(1)), (arb(1), arb(1)), whole]
        for place, exponent in kind:
            found = powers.get((place, exponent))
            if found is None:
                one = known[place]
                found = tuple(_raised(item, exponent) for item in (one.p, one.q, one.count))
                powers[place, exponent] = found
            joint = [times(one, other) for one, other in zip(joint, found, strict=True)]
        yield Bin(*joint)


def _raised(item: Enclosure, exponent: int) -> Enclosure:
    return Evaluator({"x": item}, True)(tm.power(tm.var("x"), exponent))


def _certain(item: Term) -> Term:
    plain = resolved(item, Evaluator({}, True))
    return item if plain is None else plain


def enumerated(form: Form, stages: Iterable[tuple[Mass, ...]]) -> Enclosure:
    """The moment over all joint outcomes."""
    total, value = _NOTHING, Evaluator({}, True)
    bins: dict[Mass, Bin] = {}
    for stage in stages:
        for mass in stage:
            ends = [value(_certain(item)) for item in (mass.p, mass.q, mass.count)]
            bins.setdefault(mass, Bin(*ends))
    for one in outcomes(tuple(bins[mass] for mass in stage) for stage in stages):
        p, q, count = one.p, one.q, one.count
        require(bool(count[0] >= 0), "witness", "numbers of outcomes", count)
        if _null(p) and _null(q):
            continue
        if _null(q) or _null(p):
            ray, size = (form.at_p, p) if _null(q) else (form.at_q, q)
            if ray is None:
                if size[0] > 0 and count[0] > 0:
                    return POS, POS
                require(_null(count), "witness", "probabilities that are zero or positive", size)
                continue
            found = times(size, value(ray))
        else:
            certain = bool(p[0] > 0 and q[0] > 0)
            require(certain, "witness", "probabilities that are zero or positive", p, q)
            ratio = below(p[0] / q[1]), above(p[1] / q[0])
            found = _scaled(form.f, p, q, ratio)
        total = plus(total, times(count, found))
    return total


P_MASS, Q_MASS = Form(T, ONE, ZERO), Form(ONE, ZERO, ONE)


def bins(pair: Pair, parts: tuple[Part, ...]) -> tuple[Bin, ...]:
    """The masses of every atom and of each of the intervals, as far as both densities are certain
    on it: P and Q are integrated over the same outputs."""
    found: list[Bin] = []
    for region, within in pieces(pair, parts):
        if region.output is None:
            value = Evaluator({}, True)
            weight = ONE if region.weight is None else region.weight
            ends = [value(_certain(item)) for item in (region.p, region.q, weight)]
            require(bool(ends[2][0] >= 0), "witness", "numbers of atoms", region.weight)
            found.append(Bin(*ends))
        for interval in within:
            p, q = (
                Moments(form, (ZERO, ZERO)).over(region, (interval,)) for form in (P_MASS, Q_MASS)
            )
            found.append(Bin(p, q, (arb(1), arb(1))))
    return tuple(found)


def binned(form: Form, stages: Iterable[tuple[Bin, ...]]) -> arb:
    """At most the integral of a hockey stick, from the joint masses of bins: it is convex, so by
    Jensen's inequality the integral over a product of bins is at least its value at the masses."""
    require(form.f.op == "max" and form.f.args[1] is ZERO, "witness", "a hockey stick", form.f)
    linear = homogeneous(form.f.args[0], tm.var("p"), tm.var("q"), Evaluator({}, True))
    total = arb(0)
    for one in outcomes(stages):
        lo = Evaluator({"p": one.p, "q": one.q}, True)(linear)[0]
        if lo > 0 and one.count[0] > 0:
            total = below(total + below(lo * one.count[0]))
    return total


def _scaled(f: Term, p: Enclosure, q: Enclosure, ratio: Enclosure) -> Enclosure:
    """q f(p/q); the linear part of a hockey stick without the quotient."""
    value = Evaluator({RATIO: ratio, "p": p, "q": q}, True)
    if f.op == "max" and f.args[1] is ZERO:
        return value(tm.maximum(homogeneous(f.args[0], tm.var("p"), tm.var("q"), value), ZERO))
    return times(q, value(f))


def _null(ends: Enclosure) -> bool:
    return bool(ends[0] == 0 and ends[1] == 0)


# -- losses


def losses(pair: Pair, parts: tuple[Part, ...]) -> Iterator[Enclosure]:
    """Enclosures of log(p/q) on sets of positive probability under P: every atom, and each of the
    intervals. Infinite where q is zero."""
    for region, within in pieces(pair, parts):
        if region.output is None:
            spots: list[dict[str, Enclosure]] = [{}]
        else:
            spots = [{region.output: (rational(low)[0], rational(high)[1])} for low, high in within]
        for box in spots:
            value = Evaluator(box, True)
            p, q = (resolved(item, value) or item for item in (region.p, region.q))
            weight = ONE if region.weight is None else region.weight
            if not (value(p)[0] > 0 and value(weight)[0] > 0):
                continue
            if _null(value(q)):
                yield POS, POS
            elif value(q)[0] > 0:
                yield value(spread(tm.log(p) - tm.log(q), value))


def pieces(pair: Pair, parts: tuple[Part, ...]) -> Iterator[tuple[Region, tuple[Interval, ...]]]:
    """The chosen regions with their intervals, checked; and all atoms."""
    seen: set[int] = set()
    for part in parts:
        known = type(part.region) is int and 0 <= part.region < len(pair.regions)
        require(known and part.region not in seen, "witness", "each region once", part.region)
        seen.add(part.region)
        region = pair.regions[part.region]
        if region.output is None:
            raise Refusal("witness", "intervals of a region with outputs", part.region)
        last: fmpq | None = None
        for low, high in part.within:
            exact = isinstance(low, fmpq) and isinstance(high, fmpq)
            require(exact, "witness", "rational ends", low, high)
            whole = region.kind == INTEGER
            if whole:
                require(low.q == 1 and high.q == 1, "witness", "integers", low, high)
                room = f"at most {MAX_ATOMS} integers"
                require(bool(high - low <= MAX_ATOMS), "witness", room, low, high)
            forward = bool(low <= high if whole else low < high)
            require(forward, "witness", "an interval of outputs", low, high)
            apart = last is None or bool(low > last if whole else low >= last)
            require(apart, "witness", "disjoint intervals in order", low, last)
            last = high
            box = {str(region.output): (rational(low)[0], rational(high)[1])}
            for fact in region.facts:
                lo, _ = Evaluator(box, True)(fact.term)
                inside = lo > 0 or (fact.rel == ">=" and lo >= 0)
                require(bool(inside), "witness", "outputs in the region", fact)
        yield region, part.within
    for place, region in enumerate(pair.regions):
        if region.output is None and place not in seen:
            yield region, ()


def masses(pair: Pair) -> tuple[Mass, ...] | None:
    """The outcomes of a pair that has finitely many, one region each; ``None`` for others."""
    if any(region.output is not None for region in pair.regions):
        return None
    return tuple(
        Mass(region.p, region.q, ONE if region.weight is None else region.weight)
        for region in pair.regions
    )


def at_values(pair: Pair, numbers: Mapping[str, Term]) -> Pair:
    """The pair with numbers for its parameters and variables."""

    def number(item: Term) -> Term:
        return substitute(item, numbers)

    regions = tuple(
        Region(
            number(region.p),
            number(region.q),
            region.output,
            tuple(fact.substitute(dict(numbers)) for fact in region.facts),
            None if region.weight is None else number(region.weight),
            region.kind,
        )
        for region in pair.regions
    )
    return Pair(regions, (), (), pair.label, pair.normalised)


def joint_losses(stages: Iterable[Iterable[Enclosure]]) -> tuple[arb, arb]:
    """The largest joint loss, from below, and by how much joint losses differ, from below, for
    sets of joint outputs of positive probability."""
    most, least = arb(0), arb(0)
    for stage in stages:
        found = list(stage)
        require(bool(found), "witness", "outputs of positive probability", found)
        top = reduce(lambda one, other: other if other[0] > one[0] else one, found)[0]
        low = reduce(lambda one, other: other if other[1] < one[1] else one, found)[1]
        if top == POS:
            return POS, POS
        most, least = below(most + top), above(least + low)
    return most, below(most - least)
