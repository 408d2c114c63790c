"""Random false statements with hostile parameters, for every rule of the privacy calculus.

A ``World`` shows that a statement is false: values of the parameters, and for every stage a pair of
distributions on a few atoms that has all of its guarantees, such that the product of the pairs does
not have a claim. If a rule accepts the statement, one of its premises must be false in that world:
a statement with the same distributions, or a sequent at the likelihood ratios of the atoms. For a
stage that is made of others the world has these too (see ``made``).
Whether a pair has a guarantee is decided here, by the textbook definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from typing import Any

import mpmath
from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import Form
from dpsym.kernel.proofs import step
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules_privacy import Multipliers
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import (
    INTEGER,
    PREFIX,
    RATIO,
    REAL,
    Assumed,
    Choice,
    Guarantee,
    Mechanism,
    Pair,
    Processed,
    Region,
    Single,
    Statement,
    singles,
)
from dpsym.kernel.statements import Fact as KernelFact
from dpsym.kernel.terms import ONE, ZERO, Term, exp, log, num, var
from dpsym.kernel.theorems import Theorem
from tests.soundness.hostile_leaf import Source
from tests.soundness.made import Atoms, Copies, Made, Rows, Spent, joint
from tests.soundness.values import (
    DIGITS,
    Number,
    Point,
    Undefined,
    Unsure,
    ball,
    fails,
    holds,
    rounded,
    sign,
    value,
)

T = var(RATIO)
PARAMETERS = (("e", REAL), ("f", REAL), ("d", REAL), ("a", REAL), ("k", INTEGER))
NAMES = tuple(name for name, _ in PARAMETERS)
SINGLE = ("PureDP", "ApproxDP", "RenyiDP", "RenyiDPBelowOne", "KLDP", "ZCDP", "ProbabilisticDP")
EVERY = (*SINGLE, "BoundedRange", "MomentBound")
BUDGET = "e"  # the parameter that is the budget of a filter
GRID = tuple(Fraction(n, 8) for n in (9, 10, 12, 16, 20, 24, 40, 80, 400))  # orders above 1


@dataclass(frozen=True)
class World:
    """The values, and for each stage the atoms of its pair."""

    point: Point
    stages: tuple[Atoms, ...]
    before: tuple[Atoms, ...] = ()  # what a post-processed stage was made of
    made: Made | None = None  # what the only stage is made of


def _leq(left: Number, right: Number) -> bool:
    with mpmath.workdps(DIGITS):
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            return left <= right
        a, b = ball(left), ball(right)
        return sign(rounded(b.middle - a.middle, a.radius + b.radius)) >= 0


def has(guarantee: Guarantee, atoms: Atoms, at: Point) -> bool:
    """Whether the pair has the guarantee; raises ``Undefined`` or ``Unsure``."""
    turned = _swapped(atoms)
    ways = (atoms, turned) if guarantee.two_way else (turned if guarantee.reverse else atoms,)
    return all(_one_way(guarantee, way, at) for way in ways)


def _one_way(guarantee: Guarantee, atoms: Atoms, at: Point) -> bool:
    name = guarantee.name
    if name == "MomentBound":
        return _moment(guarantee, atoms, at)
    args = [value(arg, at) for arg in guarantee.args if arg is not None]
    both = [(p, q) for p, q in atoms if p and q]
    singular = sum((p for p, q in atoms if not q), Fraction(0))
    if name == "BoundedRange":
        if singular or not both:
            return False
        ratios = [p / q for p, q in both]
        least, most = _logarithm(min(ratios)), _logarithm(max(ratios))
        return _leq(_minus(most, least), args[0])
    if name == "ZCDP":
        return not singular and all(_renyi(both, a, _scaled(args[0], a)) for a in GRID)
    if name in ("PureDP", "ApproxDP", "ProbabilisticDP"):
        bound = _exp(args[0])
        over = [(p, q) for p, q in both if not _leq(p / q, bound)]
        if name == "PureDP":
            return not singular and not over
        mass = singular + sum((p for p, _ in over), Fraction(0))
        if name == "ProbabilisticDP":
            return _leq(mass, args[1])
        less = sum((q for _, q in over), Fraction(0))
        return _leq(_minus(mass, _scaled(bound, less)), args[1])
    if name == "KLDP":
        total: Number = Fraction(0)
        for p, q in both:
            total = _plus(total, _scaled(_logarithm(p / q), p))
        return not singular and _leq(total, args[0])
    order = args[0]
    if not isinstance(order, Fraction):
        raise Unsure
    return (order < 1 or not singular) and _renyi(both, order, args[1])


def _renyi(both: list[tuple[Fraction, Fraction]], order: Fraction, bound: Number) -> bool:
    with mpmath.workdps(DIGITS):
        a = mpmath.mpf(order.numerator) / order.denominator
        total = mpmath.fsum(_mp(p) * mpmath.exp((a - 1) * mpmath.log(_mp(p / q))) for p, q in both)
        limit = mpmath.exp((a - 1) * ball(bound).middle)
        gap = rounded(limit - total, mpmath.mpf(10) ** -45 * (abs(limit) + total))
        return sign(gap) * (1 if order > 1 else -1) >= 0


def _moment(guarantee: Guarantee, atoms: Atoms, at: Point) -> bool:
    f, ray, bound = guarantee.args
    assert f is not None and bound is not None
    total: Number = Fraction(0)
    for p, q in atoms:
        if p and q:
            total = _plus(total, _scaled(value(f, {**at, RATIO: p / q}), q))
        elif p and ray is None:
            return False
        elif p and ray is not None:
            total = _plus(total, _scaled(value(ray, at), p))
    return _leq(total, value(bound, at))


def _mp(number: Fraction) -> mpmath.mpf:
    return mpmath.mpf(number.numerator) / number.denominator


def _apply(item: Callable[..., Term], *numbers: Number) -> Number:
    names = [var(f"n{i}") for i in range(len(numbers))]
    at = {f"n{i}": number for i, number in enumerate(numbers)}
    return value(item(*names), at)


def _exp(number: Number) -> Number:
    return _apply(exp, number)


def _logarithm(number: Number) -> Number:
    return _apply(log, number)


def _plus(first: Number, second: Number) -> Number:
    return _apply(lambda a, b: a + b, first, second)


def _minus(first: Number, second: Number) -> Number:
    return _apply(lambda a, b: a - b, first, second)


def _scaled(first: Number, second: Number) -> Number:
    return _apply(lambda a, b: a * b, first, second)


# -- is it false in the world?


def false_statement(goal: Statement, world: World) -> bool:
    """Whether the world refutes the statement: facts and guarantees hold, and a claim does not."""
    if len(goal.stages) != len(world.stages):
        return False
    if not all(holds(fact, world.point) for fact in goal.facts):
        return False
    for stage, atoms, before in zip(goal.stages, world.stages, _before(world), strict=True):
        if isinstance(stage, (Assumed, Mechanism, Processed)):
            origin = before if isinstance(stage, Processed) else atoms
            parts = [(singles(stage)[0], origin)]
        elif isinstance(stage, Choice):
            fits = (one for one in singles(stage) if _is_pair_of(one, atoms, world.point))
            if next(fits, None) is None:
                return False
            continue
        else:
            found = None if world.made is None else world.made.parts(stage, world.point)
            if found is None:
                return False
            parts = found
        if not all(_is_pair_of(single, pair, world.point) for single, pair in parts):
            return False
    both = joint(world.stages)
    return not all(has(claim, both, world.point) for claim in goal.claims)


def _is_pair_of(single: Single, atoms: Atoms, at: Point) -> bool:
    if isinstance(single, Mechanism):
        return any(_pair_is(pair, atoms, at) for pair in single.pairs)
    return all(has(guarantee, atoms, at) for guarantee in single.guarantees)


def _before(world: World) -> tuple[Atoms, ...]:
    return world.before or world.stages


def _pair_is(pair: Pair, atoms: Atoms, at: Point) -> bool:
    made = tuple((value(region.p, at), value(region.q, at)) for region in pair.regions)
    return made == atoms


def false_sequent(goal: Sequent, world: World) -> bool:
    """Whether the sequent is false at the parameters, and the ratios of the atoms."""
    unsure = False
    for at in _points(goal, world):
        try:
            if fails(goal, at):
                return True
        except Unsure:
            unsure = True
    if unsure:
        raise Unsure
    return False


def _points(goal: Sequent, world: World) -> Iterator[Point]:
    ratios: dict[str, list[Fraction]] = {RATIO: [], PREFIX: []}
    pairs = [pair for atoms in (*world.stages, *_before(world)) for pair in atoms]
    ratios[RATIO] = [p / q for p, q in pairs if p and q]
    for count in range(1, len(world.stages)):
        prefix = joint(world.stages[:count])
        ratios[PREFIX] += [p / q for p, q in prefix if p and q]
    ratios[PREFIX] += ratios[RATIO]
    ratios["$w"] = [Fraction(k, 12) for k in range(13)]
    places: list[dict[str, Fraction]] = [{}]
    if isinstance(world.made, Rows):
        places = list(world.made.ratios())
        ratios["$w"] = [*world.made.mixed(), Fraction(1, 2)]
        given = [pair for _, rows in world.made.hidden for pair in world.made.given(rows)]
        seen = sorted(p / q for p, q in given if p and q)
        seen += [1 / ratio for ratio in seen]
        if PREFIX not in goal.vars:  # a second derivative, say, which is negative somewhere between
            seen += [x + (y - x) * Fraction(k, 8) for x, y in pairwise(seen) for k in range(1, 8)]
        ratios[RATIO] = ratios[PREFIX] = seen
    new = sorted(name for name in goal.vars - set(world.point) if not name.startswith("$r"))
    values = [list(dict.fromkeys(ratios.get(name, _near(world)))) for name in new]
    densities = {name for name in goal.vars if name.startswith("$r")}
    chosen_places = [at for at in places if densities <= set(at)] if densities else [{}]
    for chosen in product(*values):
        for place in chosen_places:
            yield {**world.point, **place, **dict(zip(new, chosen, strict=True))}


def premise_is_false(premise: Any, world: World) -> bool:
    if isinstance(premise, Sequent):
        return any(false_sequent(premise, other) for other in _counts(world))
    return any(false_statement(premise, other) for other in _worlds(premise, world))


def _worlds(premise: Statement, world: World) -> Iterator[World]:
    """The world, with values of new variables, stages joined, or a processed one as it was."""
    new = [name for name, _ in premise.variables if name not in world.point]
    for chosen in product(_near(world), repeat=len(new)):
        at = {**world.point, **dict(zip(new, chosen, strict=True))}
        yield World(at, world.stages, world.before, world.made)
        turned = (tuple(_swapped(atoms) for atoms in part) for part in (world.stages, world.before))
        yield World(at, *turned)
        if world.before:
            yield World(at, world.before)
        if world.made is not None:
            yield World(at, (_swapped(world.made.pair()),), (), world.made.turned())
            yield from _parts(world.made, at)
            continue
        count = len(world.stages)
        for first in range(count):
            for last in range(first, count):
                part = world.stages[first : last + 1]
                yield World(at, part, _before(world)[first : last + 1])
                joined = (*world.stages[:first], joint(part), *world.stages[last + 1 :])
                yield World(at, joined)


def _counts(world: World) -> Iterator[World]:
    """The world, and with fewer copies, or less of the budget."""
    yield world
    if isinstance(world.made, Spent):
        budget = world.point[BUDGET]
        assert isinstance(budget, Fraction)
        for left, x, _ in world.made.steps(budget):
            yield replace(world, point={**world.point, BUDGET: left, "x": x})
        return
    count = world.point["k"]
    if world.made is not None and isinstance(count, Fraction):
        for fewer in range(1, int(count)):
            yield replace(world, point={**world.point, "k": Fraction(fewer)})


def _parts(made: Made, at: Point) -> Iterator[World]:
    """Each pair alone; then two of the repetition, or three distributions of the chain."""
    for atoms in made.pairs():
        yield World(at, (atoms,))
    if isinstance(made, Spent):
        budget = at[BUDGET]
        assert isinstance(budget, Fraction)
        for left, x, stages in made.steps(budget):
            yield World({**at, BUDGET: left, "x": x}, stages)
        return
    yield from _split(made, at)
    if isinstance(made, Copies):
        yield World(at, made.each)
        for k in range(1, len(made.each)):
            some = joint(made.each[:k]), made.each[k]
            yield World({**at, "k": Fraction(k)}, some)
        return
    zero, one = Fraction(0), Fraction(1)
    for chance, rows in made.hidden:
        for k in range(1, len(rows) - 1):
            chain = Rows(((chance, (rows[0], rows[k], rows[k + 1])),), (one, zero, zero), (
                zero, zero, one))  # fmt: skip
            if chance == 1:
                yield World({**at, "k": Fraction(k)}, (chain.pair(),), (), chain)


def _split(made: Copies | Rows, at: Point) -> Iterator[World]:
    """The first ones, the others, and the two together."""
    if isinstance(made, Rows) and len(made.hidden) > 1:
        return
    count = len(made.each) if isinstance(made, Copies) else len(made.p) - 1
    for middle in range(1, count):
        for low, high in ((0, middle), (middle, count)):
            part = made.some(low, high)
            yield World(at, (part.pair(),), (), part)
        if isinstance(made, Copies):
            yield World(at, (made.span(0, middle), made.span(middle, count)))
        else:
            chain = made.through(middle)
            yield World(at, (chain.pair(),), (), chain)


def _swapped(atoms: Atoms) -> Atoms:
    return tuple((q, p) for p, q in atoms)


def _near(world: World) -> list[Fraction]:
    """Values of a new variable: orders, and what is close to where a limit may be taken."""
    known = [number for number in world.point.values() if isinstance(number, Fraction)]
    bases = dict.fromkeys([*known, *map(Fraction, (0, 1, -1))])
    return [*GRID, *bases, *(base + Fraction(1, 4**k) for k in range(12) for base in bases)]


# -- random worlds and statements


@dataclass
class Attempt:
    goal: Statement
    world: World
    parameters: dict[str, Any]


def atoms_at(source: Source, most: int = 4) -> Atoms:
    count = source.randint(2, most)
    weights = [[source.choice((0, 1, 1, 2, 3, 7, 12)) for _ in range(count)] for _ in range(2)]
    if source.random() < 0.6:  # no rays
        weights = [[max(w, 1) for w in row] for row in weights]
    sums = [sum(row) for row in weights]
    if not all(sums):
        raise Unsure
    pairs = zip(*weights, strict=True)
    return tuple((Fraction(p, sums[0]), Fraction(q, sums[1])) for p, q in pairs if p or q)


def parameter(source: Source) -> Term:
    e, f, d, k = (var(n) for n in ("e", "f", "d", "k"))
    return source.choice((e, f, d, e + f, e * f, e / 2, k, e * e, tm.maximum(e, f), num(1), ZERO))


def _guarantee(source: Source, names: tuple[str, ...] = EVERY) -> Guarantee:
    name = source.choice(names)
    one, two = parameter(source), parameter(source)
    args: tuple[Term | None, ...] = {
        "ApproxDP": (one, two),
        "ProbabilisticDP": (one, two),
        "RenyiDP": (source.choice((var("a"), num(2), num(fmpq(3, 2)))), two),
        "RenyiDPBelowOne": (num(fmpq(1, 2)), two),
        "MomentBound": (function(source), source.choice((None, ZERO, one)), two),
    }.get(name, (one,))
    two_way = source.random() < 0.6
    return Guarantee(name, args, two_way, not two_way and source.random() < 0.4)


def function(source: Source) -> Term:
    one = parameter(source)
    convex = (tm.power(T, 2), T * log(T), tm.maximum(T - exp(one), ZERO), -log(T))
    kinked = (T * tm.minimum(log(T), one), tm.absolute(T - 1), tm.ite(T - 2, T, ZERO))
    return source.choice((*convex, *kinked, T * tm.power(log(T), 2), tm.sqrt(T)))


def random_point(source: Source) -> Point:
    small = (Fraction(n, 8) for n in (source.randint(0, 24) for _ in range(3)))
    e, f, d = small
    return {"e": e, "f": f, "d": d / 3, "a": 1 + Fraction(source.randint(1, 16), 8), "k": Fraction(
        source.randint(0, 4))}  # fmt: skip


def fitting(source: Source, atoms: Atoms, at: Point, kinds: tuple[str, ...]) -> Guarantee:
    """A guarantee that the pair has."""
    for _ in range(40):
        found = _guarantee(source, kinds)
        try:
            if has(found, atoms, at):
                return found
        except (Undefined, Unsure):
            continue
    raise Unsure


def broken(source: Source, atoms: Atoms, at: Point, kinds: tuple[str, ...]) -> Guarantee:
    """A guarantee that the pair does not have."""
    for _ in range(40):
        found = _guarantee(source, kinds)
        try:
            if not has(found, atoms, at):
                return found
        except (Undefined, Unsure):
            continue
    raise Unsure


ABOVE_ONE = KernelFact(var("a") - 1, ">")
NONNEGATIVE = tuple(KernelFact(var(name), ">=") for name in ("e", "f", "d", "k"))


def facts_at(source: Source, at: Point) -> tuple[KernelFact, ...]:
    return (ABOVE_ONE, *(fact for fact in NONNEGATIVE if source.random() < 0.8))


def _false(
    source: Source,
    claims: tuple[str, ...] = EVERY,
    stages: int = 0,
    given: tuple[str, ...] = EVERY,
    one_way: bool | None = None,
) -> tuple[Statement, World]:
    """A statement of assumed stages and the world in which it is false."""
    at = random_point(source)
    pairs = tuple(atoms_at(source, 3) for _ in range(stages or source.randint(1, 2)))
    made = tuple(
        Assumed(tuple(fitting(source, atoms, at, given) for _ in range(source.randint(1, 2))))
        for atoms in pairs
    )
    claim = broken(source, joint(pairs), at, claims)
    if one_way is not None and claim.two_way == one_way:
        raise Unsure
    return Statement(PARAMETERS, facts_at(source, at), made, (claim,)), World(at, pairs)


Recipe = Callable[[Source], Attempt]
RECIPES: dict[str, Recipe] = {}


def recipe(make: Recipe) -> Recipe:
    RECIPES[make.__name__.strip("_")] = make
    return make


@recipe
def claims(source: Source) -> Attempt:
    goal, world = _false(source)
    other = fitting(source, joint(world.stages), world.point, SINGLE)
    both = [goal.claims[0], other]
    source.shuffle(both)
    return Attempt(replace(goal, claims=tuple(both)), world, {})


@recipe
def forward(source: Source) -> Attempt:
    return Attempt(*_false(source, one_way=False), {})


@recipe
def directions(source: Source) -> Attempt:
    return Attempt(*_false(source, one_way=False), {})


@recipe
def integers(source: Source) -> Attempt:
    goal, world = _false(source)
    name = source.choice(("k", "k", "e"))
    bound = int(world.point[name]) + source.randint(-2, 1)  # type: ignore[arg-type]
    fact = KernelFact(var(name) - bound, source.choice((">", ">=")))
    if holds(fact, world.point):
        goal = replace(goal, facts=(*goal.facts, fact))
    return Attempt(goal, world, {"name": name, "bound": bound})


@recipe
def every(source: Source) -> Attempt:
    goal, world = _false(source, ("ZCDP",))
    return Attempt(goal, world, {"name": source.choice(("x", "x", "a", "$t", "order"))})


@recipe
def specialise(source: Source) -> Attempt:
    goal, world = _false(source, given=("ZCDP", "ZCDP", "ApproxDP"))
    value_of = source.choice((var("a"), num(2), var("e"), ONE, num(fmpq(1, 2)), var("e") + 1))
    index = source.randrange(len(goal.stages) + 1)
    return Attempt(
        goal, world, {"stage": index, "guarantee": source.randrange(2), "value": value_of}
    )


@recipe
def cut(source: Source) -> Attempt:
    goal, world = _false(source, stages=source.randint(1, 3))
    first = source.randrange(len(goal.stages))
    last = source.randrange(first, len(goal.stages))
    part = joint(world.stages[first : last + 1])
    some = (fitting(source, part, world.point, EVERY), _guarantee(source))
    chosen = some if source.random() < 0.5 else some[:1]
    return Attempt(goal, world, {"first": first, "last": last, "guarantees": chosen})


@lru_cache(maxsize=1)
def _theorems() -> tuple[Theorem, ...]:
    from dpsym.search.privacy.prover import prove_statement

    x, y, m = var("x"), var("y"), var("m")
    pure, approx = Guarantee("PureDP", (x,)), Guarantee("ApproxDP", (x, y))
    names = (("x", REAL), ("y", REAL), ("m", INTEGER))
    facts = tuple(KernelFact(name, ">=") for name in (x, y, m))
    rows = (
        ((pure,), Guarantee("PureDP", (x + m,))),
        ((pure,), Guarantee("ApproxDP", (x, ZERO))),
        ((approx,), Guarantee("ApproxDP", (x + y, y))),
        ((Guarantee("PureDP", (x,), False),), Guarantee("ApproxDP", (x, y), False)),
    )
    return tuple(
        prove_statement(Statement(names, facts, (Assumed(given),), (claim,)), 10)
        for given, claim in rows
    )


@recipe
def use(source: Source) -> Attempt:
    kinds = ("PureDP", "ApproxDP")
    theorem = source.choice(_theorems())
    names = {n: source.choice((parameter(source), var("k"), num(2), num(-1))) for n in "xym"}
    goal, world = _false(source, kinds, 1, kinds)
    known = theorem.statement
    stage = known.stages[0]
    assert isinstance(stage, Assumed)
    wanted = known.claims[0].substitute(names)
    given = stage.guarantees[0].substitute(names)
    flips = [replace(g, two_way=source.random() < 0.5) for g in (given, wanted)]
    if source.random() < 0.7 and has(flips[0], world.stages[0], world.point):
        goal = replace(goal, stages=(Assumed((flips[0],)),))
    if not has(flips[1], world.stages[0], world.point):
        goal = replace(goal, claims=(flips[1],))
    return Attempt(goal, world, {"theorem": theorem, "mapping": tuple(names.items())})


@recipe
def support(source: Source) -> Attempt:
    goal, world = _false(source, ("PureDP",), one_way=True)
    bounds = tuple(
        source.choice((exp(parameter(source)), parameter(source), -exp(var("e"))))
        for _ in goal.stages
    )
    return Attempt(goal, world, {"bounds": bounds})


@recipe
def each(source: Source) -> Attempt:
    """The first stage, or another one in its place."""
    goal, world = _false(source)
    (other, *_), _ = (one.stages if isinstance(one, Statement) else one for one in _false(source))
    options = [goal.stages[0], *([other] if source.random() < 0.8 else [])]
    source.shuffle(options)
    stages = (Choice(tuple(options)), *goal.stages[1:])  # type: ignore[arg-type]
    return Attempt(replace(goal, stages=stages), world, {})


@recipe
def spanned(source: Source) -> Attempt:
    goal, world = _false(source, ("BoundedRange",))
    return Attempt(goal, world, {})


def _form(source: Source) -> Form:
    c = source.choice((ZERO, ZERO, ONE, num(-1), parameter(source), exp(var("e"))))
    shape = source.choice(("p", "q", "both", "odd", "zero"))
    if shape == "p":
        return Form(c * T, source.choice((c, c, None)), ZERO)
    if shape == "q":
        return Form(c, ZERO, c)
    if shape == "both":
        return Form(c * tm.minimum(T, exp(var("e"))), ZERO, ZERO)
    if shape == "odd":
        return Form(function(source), source.choice((None, c)), source.choice((None, c)))
    return Form(ZERO, ZERO, ZERO)


@recipe
def tower(source: Source) -> Attempt:
    kinds = ("ApproxDP", "RenyiDP", "RenyiDPBelowOne", "KLDP", "ProbabilisticDP", "MomentBound")
    given = (*kinds, "PureDP", "BoundedRange")
    goal, world = _false(source, kinds, given=given, one_way=True)
    from dpsym.kernel.rules_privacy import stage_data

    rows = []
    for stage in goal.stages:
        assert isinstance(stage, Assumed)
        count = len(stage_data(stage).moments) + (source.random() < 0.03)
        moments = tuple(_form(source) for _ in range(count))
        larger = _form(source) if source.random() < 0.2 else None
        rows.append(Multipliers(_form(source), _form(source), moments, larger))
    low = (
        source.choice((ZERO, num(-1), num(-9))),
        source.choice((ZERO, num(-1), parameter(source))),
    )
    return Attempt(goal, world, {"multipliers": tuple(rows), "low": low})


@recipe
def limit(source: Source) -> Attempt:
    goal, world = _false(source)
    x = var("x")
    last = goal.claims[0].args[-1]
    assert last is not None
    forms = (last + x, last + 1 / x, last + tm.sqrt(x), last * exp(x), last - x, last)
    forms += (
        tm.ite(x - 1, last, last + 9),
        last + 1 - exp(-x),
        last + x * log(x),
        parameter(source),
    )
    start = source.choice((ZERO, ZERO, ONE, var("e"), num(-1)))
    name = source.choice(("x", "x", "x", "e", "a"))
    return Attempt(goal, world, {"name": name, "start": start, "value": source.choice(forms)})


@recipe
def postprocess(source: Source) -> Attempt:
    """Outputs of a pair joined, so that a guarantee is lost."""
    at = random_point(source)
    before = atoms_at(source, 4)
    groups = [source.randrange(3) for _ in before]
    after = tuple(
        (
            sum((p for (p, _), g in zip(before, groups, strict=True) if g == group), Fraction(0)),
            sum((q for (_, q), g in zip(before, groups, strict=True) if g == group), Fraction(0)),
        )
        for group in sorted(set(groups))
    )
    kept = fitting(source, before, at, EVERY)
    more = (fitting(source, before, at, EVERY),) if source.random() < 0.3 else ()
    claim = kept if not has(kept, after, at) else broken(source, after, at, EVERY)
    goal = Statement(PARAMETERS, facts_at(source, at), (Processed((kept, *more)),), (claim,))
    return Attempt(goal, World(at, (after,), (before,)), {"stage": source.choice((0, 0, 0, 1))})


@recipe
def pointwise(source: Source) -> Attempt:
    at, atoms = random_point(source), atoms_at(source)
    regions = tuple(
        Region(*(num(fmpq(m.numerator, m.denominator)) for m in pair), weight=ONE) for pair in atoms
    )
    pairs = [Pair(regions), Pair((Region(ONE, ONE, weight=ONE),))]
    source.shuffle(pairs)
    claim = broken(source, atoms, at, ("PureDP", "PureDP", "ApproxDP"))
    claim = replace(claim, two_way=source.random() < 0.1)
    goal = Statement(PARAMETERS, facts_at(source, at), (Mechanism(tuple(pairs)),), (claim,))
    return Attempt(goal, World(at, (atoms,)), {})


@recipe
def spread(source: Source) -> Attempt:
    at, atoms = random_point(source), atoms_at(source, source.randint(2, 4))
    regions = tuple(
        Region(*(num(fmpq(m.numerator, m.denominator)) for m in pair), weight=ONE) for pair in atoms
    )
    pairs = [Pair(regions), Pair((Region(ONE, ONE, weight=ONE),))]
    source.shuffle(pairs)
    claim = replace(broken(source, atoms, at, ("BoundedRange",)), two_way=source.random() < 0.1)
    goal = Statement(PARAMETERS, facts_at(source, at), (Mechanism(tuple(pairs)),), (claim,))
    return Attempt(goal, World(at, (atoms,)), {})


# -- one attack


def attack(rule: str, source: Source, make: Recipe | None = None) -> tuple[str, Attempt | None]:
    """As in ``hostile_leaf``."""
    try:
        made = (make or RECIPES[rule])(source)
        if not false_statement(made.goal, made.world):
            return "skipped", None
    except (Undefined, Unsure, Refusal):
        return "skipped", None
    try:
        premises = step(made.goal, rule, made.parameters)
    except Refusal:
        return "refused", made
    unsure = False
    for premise in premises:
        try:
            if premise_is_false(premise, made.world):
                return "applied", made
        except (Unsure, Undefined):
            unsure = True
    return ("undecided" if unsure else "UNSOUND"), made
