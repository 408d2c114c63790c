"""The quantities that guarantees bound, at finite distributions, enclosed by exact numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from flint import fmpq

from dpsym import events
from dpsym.analytic import resolved
from dpsym.events import Event, Exceeded, Mass
from dpsym.kernel import terms as tm
from dpsym.kernel.balls import Evaluator, Undefined, exact, precision
from dpsym.kernel.definitions import Constraint, Form, Moment, Support, constraints, member
from dpsym.kernel.statements import Guarantee, Mechanism, Pair, Region, Statement
from dpsym.kernel.terms import ONE, Term
from dpsym.refutations import Atom, Output, Refutation
from dpsym.search.refutation.exact import Values, enclosure, rational

BITS = 256
Outcomes = list[tuple[fmpq, fmpq]]


@dataclass(frozen=True)
class Between:
    """A number that is at least ``low`` and at most ``high``; ``None`` for plus infinity."""

    low: fmpq | None
    high: fmpq | None

    @staticmethod
    def of(parts: Iterable[Term | None], values: Values) -> Between:
        """The sum of the terms at the values, ``None`` being infinite."""
        low = high = fmpq(0)
        for part in parts:
            if part is None:
                return Between(None, None)
            value = rational(part, values)
            if value is not None:
                low, high = low + value, high + value
                continue
            ends = enclosure(part, values, BITS)
            below, above = (None, None) if ends is None else (exact(ends[0]), exact(ends[1]))
            if below is None or above is None:
                return Between(None, None)
            low, high = low + below, high + above
        return Between(low, high)

    def negative(self) -> Between:
        return Between(
            None if self.high is None else -self.high, None if self.low is None else -self.low
        )

    def above(self, other: Between) -> bool:
        """Whether this number is larger for certain."""
        return other.high is not None and (self.low is None or bool(self.low > other.high))


def decimal(value: fmpq | None, digits: int, up: bool) -> str:
    """A decimal of so many significant digits, rounded up or down.

    >>> decimal(fmpq(1, 3), 6, True), decimal(fmpq(1, 10), 6, True)
    ('0.333334', '0.1')
    """
    if value is None:
        return "oo"
    rounding = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    shown = rounding.divide(Decimal(int(value.p)), Decimal(int(value.q)))
    if not shown:
        return "0"
    plain = -7 <= shown.adjusted() < digits + 3
    return f"{shown.normalize(rounding):f}" if plain else f"{shown:e}"


def compared(first: Between, relation: str, second: Between) -> str:
    """``first relation second`` in decimals, rounded such that what is shown is true.

    >>> compared(Between(fmpq(1, 3), fmpq(1, 3)), "<=", Between(fmpq(1, 2), fmpq(1, 2)))
    '0.333334 <= 0.5'
    """
    if first.low is not None and first == second and first.low == first.high:
        return f"{decimal(first.low, 12, True)} = {decimal(first.low, 12, True)}"
    less = relation[0] == "<"
    for digits in range(6, 61, 3):
        left = decimal(first.high if less else first.low, digits, less)
        right = decimal(second.low if less else second.high, digits, not less)
        if "oo" in (left, right) or (Decimal(left) - Decimal(right)) * (-1 if less else 1) > 0:
            break
    return f"{left} {relation} {right}"


# -- what a constraint bounds


def parts(pairs: Outcomes, form: Form) -> Iterator[Term | None]:
    """The summands of a form's integral."""
    for p, q in pairs:
        if p and q:
            yield tm.num(q) * form.at(tm.num(p / q))
        elif p or q:
            end = form.at_p if p else form.at_q
            yield None if end is None else tm.num(p or q) * end


def measured(pairs: Outcomes, item: Constraint, values: Values) -> tuple[Between, Between]:
    """The quantity that the constraint bounds, and the bound."""
    if isinstance(item, Moment):
        return Between.of(parts(pairs, item.form), values), Between.of([item.bound], values)
    ratios = [None if not q else p / q for p, q in oriented(pairs, item.reverse) if p]
    finite = [ratio for ratio in ratios if ratio is not None]
    top = max(finite) if None not in ratios else None
    if isinstance(item, Support):
        return Between(top, top), Between.of([item.bound], values)
    spread = None if top is None else top / min(finite)
    return Between(spread, spread), Between.of([tm.exp(item.length)], values)


def oriented(pairs: Outcomes, reverse: bool) -> Outcomes:
    return [(q, p) for p, q in pairs] if reverse else pairs


def directions(guarantee: Guarantee) -> list[Guarantee]:
    """The guarantee for (P, Q) alone, and for (Q, P) alone, as far as it says so."""
    if not guarantee.two_way:
        return [guarantee]
    return [replace(guarantee, two_way=False, reverse=reverse) for reverse in (False, True)]


@dataclass(frozen=True)
class Broken:
    """What fails: a claim in one direction (a family's member, if it is one), its constraint."""

    claim: Guarantee
    constraint: Constraint
    order: fmpq | None
    value: Between
    bound: Between


def broken(
    statement: Statement, values: Values, pairs: Outcomes, orders: tuple[fmpq, ...]
) -> Broken | None:
    """The first claim that these joint outcomes break for certain."""
    for claim in statement.claims:
        for way in directions(claim):
            order = None
            found = None if not orders else member(way, tm.num(orders[0]))
            if found is not None:
                order, way = orders[0], found[1]
            for item in constraints(way):
                value, bound = measured(pairs, item, values)
                if value.above(bound):
                    return Broken(way, item, order, value, bound)
    return None


@dataclass(frozen=True)
class Exposed:
    """An output at which a claim of pure DP fails: the claim in one direction, the two densities in
    that direction, the epsilon, and the loss with its limit."""

    claim: Guarantee
    first: Term
    second: Term
    epsilon: Term
    loss: Between
    limit: Between


def point(refutation: Refutation, witness: Output) -> dict[str, fmpq]:
    """Values of all variables at the witness, the middle of the interval for the output."""
    region = region_of(refutation, witness)
    values = {**refutation.values, **witness.values}
    if region.output is not None and witness.at is not None:
        values[region.output] = (witness.at[0] + witness.at[1]) / 2
    return values


def region_of(refutation: Refutation, witness: Output) -> Region:
    stage = refutation.stages[0]
    if not isinstance(stage, Mechanism):
        raise ValueError("not a refutation of an explicit mechanism")
    return stage.pairs[witness.pair].regions[witness.region]


def exposed(refutation: Refutation, witness: Output) -> Exposed:
    """What fails at the witness. Raises ValueError if that is not certain."""
    region, values = region_of(refutation, witness), point(refutation, witness)
    for claim in refutation.statement.claims:
        for way in directions(claim):
            for item in constraints(way):
                if isinstance(item, Support):
                    first, second = (region.q, region.p) if item.reverse else (region.p, region.q)
                    loss = Between(None, None)
                    if Between.of([second], values) != Between(fmpq(0), fmpq(0)):
                        loss = Between.of([tm.log(first) - tm.log(second)], values)
                    epsilon = item.bound.args[0]
                    limit = Between.of([epsilon], values)
                    positive = Between.of([first], values).above(Between(fmpq(0), fmpq(0)))
                    if positive and loss.above(limit):
                        return Exposed(way, first, second, epsilon, loss, limit)
    raise ValueError("no claim of pure differential privacy fails for certain")


def joint(
    atoms: tuple[Atom, ...], p: fmpq, q: fmpq, path: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], fmpq, fmpq]]:
    """The joint outcomes: which outcome of each stage (from 1 on), and the probabilities."""
    for place, atom in enumerate(atoms, 1):
        first, second = p * atom.p, q * atom.q
        if first or second:
            if atom.then:
                yield from joint(atom.then, first, second, (*path, place))
            else:
                yield (*path, place), first, second


def joint_masses(atoms: tuple[Atom, ...]) -> Outcomes:
    """The joint probabilities, outcomes of the same ratio as one."""
    level: dict[int, tuple[tuple[Atom, ...], Outcomes]] = {id(atoms): (atoms, [(fmpq(1), fmpq(1))])}
    done: Outcomes = []
    while level:
        following: dict[int, tuple[tuple[Atom, ...], Outcomes]] = {}
        for outcomes, before in level.values():
            for atom in outcomes:
                pairs = [(p * atom.p, q * atom.q) for p, q in before]
                if atom.then:
                    following.setdefault(id(atom.then), (atom.then, []))[1].extend(pairs)
                else:
                    done += pairs
        level = {key: (then, _merged(pairs)) for key, (then, pairs) in following.items()}
    return _merged(done)


def _merged(pairs: Outcomes) -> Outcomes:
    found: dict[fmpq | None, tuple[fmpq, fmpq]] = {}
    for p, q in pairs:
        if p or q:
            key = p / q if q else None
            before = found.get(key, (fmpq(0), fmpq(0)))
            found[key] = before[0] + p, before[1] + q
    return list(found.values())


def path_count(atoms: tuple[Atom, ...]) -> int:
    """How many joint outcomes there are."""
    memo: dict[int, int] = {}

    def count(level: tuple[Atom, ...]) -> int:
        if id(level) not in memo:
            memo[id(level)] = sum(count(atom.then) if atom.then else 1 for atom in level)
        return memo[id(level)]

    return count(atoms)


# -- events


def chosen_pairs(refutation: Refutation, witness: Event) -> list[Pair]:
    """Each stage's pair with numbers for everything but the outputs."""
    found: list[Pair] = []
    for stage, chosen in zip(refutation.stages, witness.stages, strict=True):
        if not isinstance(stage, Mechanism):
            raise ValueError("not a refutation of explicit mechanisms")
        values = {**refutation.values, **chosen.values}
        numbers = {name: tm.num(value) for name, value in values.items()}
        found.append(events.at_values(stage.pairs[chosen.pair], numbers))
    return found


@dataclass(frozen=True)
class Divergence:
    """What a claim bounds in its own terms (a divergence, not e to its multiple), from below, and
    the bound. ``value`` is exact if that is plain."""

    claim: Guarantee
    value: Between
    bound: Between
    exact: bool


def divergence(refutation: Refutation) -> Divergence:
    """By how much an event breaks a claim. Raises ValueError for other witnesses."""
    found, witness = refutation.exceeded, refutation.witness
    if found is None or not isinstance(witness, Event):
        raise ValueError("not a refutation by an event")
    claim, values = found.claim, refutation.values
    args = [arg if arg is not None else ONE for arg in claim.args]
    bound = Between(found.bound, found.bound)
    whole = _all_outcomes(refutation, witness, found)
    if whole is not None and claim.name not in ("RenyiDP", "RenyiDPBelowOne"):
        return Divergence(claim, Between(whole, whole), Between.of([args[-1]], values), True)
    value = Between(found.low, found.low)
    if claim.name in ("RenyiDP", "RenyiDPBelowOne"):
        bound = Between.of([args[1]], values)
        if found.low is not None:
            size = found.low if claim.name == "RenyiDP" else -found.low
            value = Between.of([tm.log(tm.num(size)) / (args[0] - 1)], values)
    elif claim.name != "MomentBound":
        bound = Between.of([args[-1]], values)
    return Divergence(claim, value, bound, False)


def _all_outcomes(refutation: Refutation, witness: Event, found: Exceeded) -> fmpq | None:
    """The rational value of a moment, if all outcomes are atoms and it is plain."""
    pairs = chosen_pairs(refutation, witness)
    stages = [masses for masses in map(events.masses, pairs) if masses is not None]
    items = constraints(replace(found.claim, reverse=False))
    if len(stages) < len(pairs) or not items or not isinstance(items[0], Moment):
        return None
    joint = [Mass(ONE, ONE, ONE)]
    for stage in stages:
        joint = [
            Mass(one.p * other.p, one.q * other.q, one.count * other.count)
            for one in joint
            for other in stage
        ]
        if len(joint) > _MOST_EXACT:
            return None
    form = items[0].form
    numbers = {name: tm.num(value) for name, value in refutation.values.items()}
    total = fmpq(0)
    for mass in joint:
        p, q = (mass.q, mass.p) if found.claim.reverse else (mass.p, mass.q)
        try:
            part = _contribution(form, p, q, numbers)
        except Undefined:
            return None
        value = None if part is None else rational(mass.count * part, {})
        if value is None:
            return None
        total += value
    return total if found.low is None or abs(total - found.low) < _CLOSE else None


_MOST_EXACT = 64
_CLOSE = fmpq(1, 10**30)


def _contribution(form: Form, p: Term, q: Term, numbers: dict[str, Term]) -> Term | None:
    """q f(p/q) without kinks, or its value on a ray."""
    with precision(BITS):
        signs = events.sign(p), events.sign(q)
        if None in signs:
            return None
        if 0 in signs:
            ray, mass = (form.at_p, p) if signs[1] == 0 else (form.at_q, q)
            if signs == (0, 0):
                return tm.ZERO
            return None if ray is None else mass * tm.substitute(ray, numbers)
        at = Evaluator({}, True)
        part = events.homogeneous(tm.substitute(form.f, numbers), p, q, at)
        return resolved(part, at)


def exceeded(refutation: Refutation) -> tuple[Between, Between]:
    """What the claim bounds, as far as it is known from below, and its bound: a divergence, a loss
    or a probability; for distributions of assumed guarantees the moment itself."""
    witness = refutation.witness
    if isinstance(witness, Event):
        found = divergence(refutation)
        return found.value, found.bound
    if isinstance(witness, Output):
        single = exposed(refutation, witness)
        return single.loss, single.limit
    pairs = [(p, q) for _, p, q in joint(witness, fmpq(1), fmpq(1), ())]
    failed = broken(refutation.statement, refutation.values, pairs, refutation.orders)
    if failed is None:
        raise ValueError("no claim fails for certain")
    return failed.value, failed.bound
