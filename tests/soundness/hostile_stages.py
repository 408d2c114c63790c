"""Random false statements about repetitions, groups and blends, for the rules on these."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.rules_privacy import stage_data
from dpsym.kernel.statements import (
    INTEGER,
    RATIO,
    REAL,
    Assumed,
    Blend,
    Fact,
    Filter,
    Group,
    Guarantee,
    Link,
    Repeated,
    Single,
    Stage,
    Statement,
)
from dpsym.kernel.terms import ONE, ZERO, Term, exp, log, num, var
from dpsym.kernel.theorems import Theorem
from tests.soundness.hostile_leaf import Source
from tests.soundness.hostile_privacy import (
    EVERY,
    PARAMETERS,
    RECIPES,
    SINGLE,
    Attempt,
    Recipe,
    World,
    broken,
    facts_at,
    fitting,
    function,
    has,
    parameter,
    random_point,
    recipe,
)
from tests.soundness.made import Atoms, Copies, Made, Row, Rows, Spent
from tests.soundness.values import Point, Undefined, Unsure, value

T, K, E, F, D = (var(name) for name in (RATIO, "k", "e", "f", "d"))
WEIGHT = var("f") / 4  # between 0 and 1 at random points


def row(source: Source, size: int, positive: bool) -> Row:
    weights = [max(source.choice((0, 1, 1, 2, 3, 7)), int(positive)) for _ in range(size)]
    total = sum(weights)
    if not total:
        raise Unsure
    return tuple(Fraction(w, total) for w in weights)


def rows(source: Source, count: int, size: int = 0) -> tuple[Row, ...]:
    size, positive = size or source.randint(2, 3), source.random() < 0.6
    return tuple(row(source, size, positive) for _ in range(count))


def near(source: Source, first: Row) -> Row:
    """A distribution that does not differ much."""
    moved = [mass * Fraction(source.randint(4, 8), 6) for mass in first]
    total = sum(moved)
    return tuple(mass / total for mass in moved) if total else first


def chain(source: Source, count: int) -> tuple[Row, ...]:
    """Distributions each of which is near the last, or not."""
    if source.random() < 0.5:
        return rows(source, count)
    found = [*rows(source, 1)]
    while len(found) < count:
        found.append(near(source, found[-1]))
    return tuple(found)


def copies(source: Source, count: int) -> Made:
    """Pairs one after the other, or a chain of them."""
    if source.random() < 0.5:
        pairs = [chain(source, 2) for _ in range(count)]
        return Copies(tuple(tuple(zip(*pair, strict=True)) for pair in pairs))
    zero, one = Fraction(0), Fraction(1)
    ends = (one, *(zero,) * count), (*(zero,) * count, one)
    return Rows(((one, chain(source, count + 1)),), *ends)


def stage_of(made: Made, single: Assumed, count: Term) -> Stage:
    return Repeated(single, count) if isinstance(made, Copies) else Group(single, count)


def common(
    source: Source, pairs: list[Atoms], at: Point, kinds: tuple[str, ...] = EVERY
) -> Guarantee:
    """A guarantee that all pairs have, mostly."""
    for _ in range(30):
        found = fitting(source, source.choice(pairs), at, kinds)
        if all(_has(found, pair, at) for pair in pairs):
            return found
    raise Unsure


def _has(guarantee: Guarantee, atoms: Atoms, at: Point) -> bool:
    try:
        return has(guarantee, atoms, at)
    except (Undefined, Unsure):
        return False


def _members(made: Made) -> list[Atoms]:
    """The pairs of which a stage is made."""
    if isinstance(made, Copies):
        return list(made.each)
    (rows_,) = (known for _, known in made.hidden)
    return [tuple(zip(x, y, strict=True)) for x, y in pairwise(rows_)]


def many(source: Source, at: Point, kinds: tuple[str, ...] = EVERY) -> tuple[Statement, World]:
    """A false statement of ``k`` copies."""
    count = source.randint(1, 4)
    at = {**at, "k": Fraction(count)}
    made = copies(source, count)
    pairs = [tuple(pair for pair in atoms if any(pair)) for atoms in _members(made)]
    known = tuple(common(source, pairs, at, kinds) for _ in range(source.choice((1, 1, 2))))
    claim = _counted(source, known[0]) if source.random() < 0.6 else None
    if claim is None or _has(claim, made.pair(), at):
        claim = broken(source, made.pair(), at, EVERY)
    stage = stage_of(made, Assumed(known), source.choice((K, K, K, K + 0, num(count))))
    facts = (*facts_at(source, at), Fact(K - 1, ">="))
    return Statement(PARAMETERS, facts, (stage,), (claim,)), World(at, (made.pair(),), (), made)


def _counted(source: Source, one: Guarantee) -> Guarantee:
    """The guarantee with arguments that grow with the number of copies."""
    grown = [arg if arg is None else source.choice((arg, K * arg, arg * K * K, arg + K - 1,
        arg * tm.sqrt(K))) for arg in one.args]  # fmt: skip
    two_way = one.two_way and source.random() < 0.8
    kept = one.name in ("RenyiDP", "RenyiDPBelowOne", "MomentBound")
    args = (*one.args[:-1], grown[-1]) if kept else tuple(grown)
    return Guarantee(one.name, args, two_way, one.reverse and not two_way)


@recipe
def unroll(source: Source) -> Attempt:
    goal, world = many(source, random_point(source))
    if source.random() < 0.7:
        (stage,) = goal.stages
        assert isinstance(stage, (Repeated, Group))
        count = world.point["k"]
        assert isinstance(count, Fraction)
        goal = replace(goal, stages=(replace(stage, count=num(int(count))),))
    return Attempt(goal, world, {})


@recipe
def induct(source: Source) -> Attempt:
    goal, world = many(source, random_point(source))
    count = int(world.point["k"])  # type: ignore[call-overload]
    bounds = [K - source.randint(0, count), source.randint(count, count + 1) - K, D * K, E - D * K]
    more = [Fact(source.choice(bounds), ">=")] if source.random() < 0.5 else []
    more += [Fact(K - source.randint(0, 5), "!=")] if source.random() < 0.2 else []
    kept = goal.facts[:-1] if source.random() < 0.3 else goal.facts
    return Attempt(replace(goal, facts=(*kept, *more)), world, {})


@recipe
def inner(source: Source) -> Attempt:
    at = random_point(source)
    goal, world = many(source, at) if source.random() < 0.6 else mixture(source, at)
    made = world.made
    assert made is not None
    parts = [atoms for _, atoms in made.parts(goal.stages[0], world.point) or ()]
    if not parts:
        raise Unsure
    part = source.randrange(len(parts)) if isinstance(goal.stages[0], Blend) else 0
    wanted = parts if not isinstance(goal.stages[0], Blend) else [parts[part]]
    new = [
        common(source, wanted, world.point, SINGLE),
        fitting(source, parts[0], world.point, EVERY),
    ]
    chosen = tuple(source.choice((new, new[:1], new[1:])))
    place = {"stage": source.choice((0, 0, 0, 1)), "part": part if source.random() < 0.9 else 1}
    return Attempt(goal, world, {**place, "guarantees": chosen})


# -- blends

Shape = tuple[tuple[Term, ...], tuple[Term, ...], tuple[tuple[int, int], ...]]
_SHAPES: tuple[Shape, ...] = (
    ((ONE, ZERO), (ZERO, ONE), ((0, 1),)),
    ((WEIGHT, 1 - WEIGHT), (ZERO, ONE), ((0, 1),)),
    ((WEIGHT, 1 - WEIGHT), (1 - WEIGHT, WEIGHT), ((0, 1),)),
    ((WEIGHT, ZERO, 1 - WEIGHT), (ZERO, WEIGHT, 1 - WEIGHT), ((0, 1), (0, 2), (1, 2))),
    ((ONE, ZERO, ZERO), (ZERO, ZERO, ONE), ((0, 1), (1, 2))),
    ((ONE, ZERO, ZERO), (ZERO, ZERO, ONE), ((1, 0), (1, 2))),
)


def _hidden(source: Source, count: int) -> tuple[tuple[Fraction, tuple[Row, ...]], ...]:
    """Distributions for one hidden value or two."""
    size = source.randint(2, 3)
    if source.random() < 0.5:
        return ((Fraction(1), rows(source, count, size)),)
    chance = Fraction(source.randint(1, 5), 6)
    some = [rows(source, count, size) for _ in range(2)]
    return (chance, some[0]), (1 - chance, some[1])


def mixture(
    source: Source,
    at: Point,
    kinds: tuple[str, ...] = EVERY,
    shape: int | None = None,
    shapes: tuple[Shape, ...] = _SHAPES,
) -> tuple[Statement, World]:
    """A false statement about a blend."""
    p, q, places = source.choice(shapes) if shape is None else shapes[shape]
    weights = [tuple(value(w, at) for w in side) for side in (p, q)]
    made = Rows(_hidden(source, len(p)), *weights)  # type: ignore[arg-type]
    stage = Blend(p, q, tuple(Link(i, j, Assumed(())) for i, j in places))
    links = []
    for link in stage.links:
        alone = replace(stage, links=(link,))
        pairs = [atoms for _, atoms in made.parts(alone, at) or ()]
        known = tuple(common(source, pairs, at) for _ in range(source.choice((1, 1, 2))))
        links.append(replace(link, stage=Assumed(known)))
    stage = replace(stage, links=tuple(links))
    claim = broken(source, made.pair(), at, kinds)
    goal = Statement(PARAMETERS, facts_at(source, at), (stage,), (claim,))
    return goal, World(at, (made.pair(),), (), made)


def same_function(source: Source, at: Point) -> tuple[Statement, World, dict[str, Any]]:
    """The claim is what the only link has, given the hidden value; or a bound of its negative."""
    goal, world = mixture(source, at, shape=0)
    made = world.made
    assert isinstance(made, Rows)
    pairs = [made.given(known) for _, known in made.hidden]
    sign = source.choice((1, 1, -1))
    f, ray = function(source), source.choice((ZERO, ONE, num(-1), None))
    if source.random() < 0.2:
        f, ray = ZERO, ONE
    f, ray = (-f, ZERO if ray is None else -ray) if source.random() < 0.5 else (f, ray)
    if sign == 1 and source.random() < 0.2:
        kept = common(source, pairs, at, SINGLE)
        kept = replace(kept, two_way=False)
        claim = kept
    else:
        kept = _least(pairs, at, sign * f, ray if ray is None else sign * ray)
        bound = kept.args[-1]
        assert bound is not None
        claim = replace(kept, args=(f, ray, sign * bound + source.choice((0, 0, 1, -1)) * E))
    stage = Blend((ONE, ZERO), (ZERO, ONE), (Link(0, 1, Assumed((kept,))),))
    weights = ((num(sign),) * len(stage_data(Assumed((kept,))).moments),)
    linear = source.choice(((ZERO, ZERO), (ZERO, ZERO), (E, ZERO), (ZERO, -E)))
    return (
        replace(goal, stages=(stage,), claims=(claim,)),
        world,
        {"linear": linear, "moments": weights},
    )


def _least(pairs: list[Atoms], at: Point, f: Term, ray: Term | None) -> Guarantee:
    """The least bound, of a grid, of the moment of all pairs."""
    for n in range(-24, 40):
        found = Guarantee("MomentBound", (f, ray, num(fmpq(n, 8))), False)
        if all(has(found, pair, at) for pair in pairs):
            return found
    raise Unsure


def bounded(source: Source, at: Point) -> tuple[Statement, World, dict[str, Any]]:
    """Ratios that are bounded both ways, by different bounds."""
    goal, world = mixture(source, at, shape=source.choice((0, 1)))
    losses = source.choice(((E, F), (E, E + F), (E + F, F)))
    known = [
        Guarantee("PureDP", (x,), False, way) for way, x in zip((False, True), losses, strict=True)
    ]
    claims = (*losses, log(1 + WEIGHT * (exp(losses[0]) - 1)), WEIGHT * E)
    claim = Guarantee("PureDP", (source.choice(claims),), False, source.random() < 0.5)
    stage = goal.stages[0]
    assert isinstance(stage, Blend)
    stage = replace(stage, links=(replace(stage.links[0], stage=Assumed(tuple(known))),))
    goal = replace(goal, stages=(stage,), claims=(claim,))
    return goal, world, {"linear": (), "moments": ()}


def _amplified(source: Source, at: Point) -> tuple[Statement, World, dict[str, Any]]:
    """Sampling with the multiplier that proves the bound delta times the rate."""
    goal, world = mixture(source, at, shape=1)
    kept = Guarantee("ApproxDP", (E, D), False)
    loss = log(1 + WEIGHT * (exp(E) - 1))
    claim = Guarantee("ApproxDP", (loss, source.choice((WEIGHT * D, WEIGHT * D / 2, D))), False)
    stage = goal.stages[0]
    assert isinstance(stage, Blend)
    stage = replace(stage, links=(replace(stage.links[0], stage=Assumed((kept,))),))
    goal = replace(goal, stages=(stage,), claims=(claim,))
    return goal, world, {"linear": (ZERO, ZERO), "moments": ((source.choice((WEIGHT, ONE)),),)}


def _any_blend(source: Source, at: Point) -> tuple[Statement, World, dict[str, Any]]:
    support = source.random() < 0.3
    goal, world = mixture(source, at, ("PureDP",) if support else EVERY)
    claim = goal.claims[0]
    if claim.two_way:
        reverse = source.random() < 0.5
        goal = replace(goal, claims=(replace(claim, two_way=False, reverse=reverse),))
    (stage,) = goal.stages
    assert isinstance(stage, Blend)
    if support:
        return goal, world, {"linear": (), "moments": ()}
    some = (ZERO, ZERO, ONE, WEIGHT, 1 - WEIGHT, exp(E), num(-1), parameter(source))
    linear = tuple(source.choice(some) for _ in stage.p)
    moments = []
    for link in stage.links:
        assert isinstance(link.stage, Assumed)
        moments.append(tuple(source.choice(some) for _ in stage_data(link.stage).moments))
    return goal, world, {"linear": linear, "moments": tuple(moments)}


@recipe
def blended(source: Source) -> Attempt:
    at = random_point(source)
    make = source.choice((same_function, same_function, _amplified, bounded, _any_blend))
    return Attempt(*make(source, at))


_ALONE: tuple[Shape, ...] = (
    ((ONE, ZERO), (ZERO, ONE), ((0, 1),)),
    ((ONE, ZERO), (ZERO, ONE), ((1, 0),)),
    ((ONE, ZERO), (ONE, ZERO), ((0, 1),)),
    ((ONE, ZERO, ZERO), (ZERO, ZERO, ONE), ((0, 1), (0, 2), (1, 2))),
    ((ONE - WEIGHT, WEIGHT), (ZERO, ONE), ((0, 1),)),
)


@recipe
def certain(source: Source) -> Attempt:
    """One distribution on each side; a claim that all pairs have, if what is hidden breaks it."""
    at = random_point(source)
    if source.random() < 0.1:
        return broken_by_hidden(source, at)
    goal, world = mixture(source, at, shapes=_ALONE[: source.choice((1, 5))])
    return Attempt(goal, world, {"stage": source.choice((0, 0, 0, 0, 0, 1))})


def broken_by_hidden(source: Source, at: Point) -> Attempt:
    """Two pairs with tails of masses 1/4 and 0, their mean with one of 3/8; or two whose ratios are
    from 3/4 to 3/2 and from 2/3 to 4/3, their mean with both ends."""
    tail = Guarantee("ProbabilisticDP", (log(num(fmpq(3, 2))), num(fmpq(1, 4))), False)
    wide = Guarantee("BoundedRange", (log(num(fmpq(17, 8))),))
    known, parts, some = source.choice(
        (
            (tail, 8, (((2, 6), (0, 8)), ((4, 4), (3, 5)))),
            (wide, 6, (((3, 3, 0), (2, 4, 0)), ((0, 4, 2), (0, 3, 3)))),
        )
    )
    hidden = tuple(
        (Fraction(1, 2), tuple(tuple(Fraction(n, parts) for n in row) for row in pair))
        for pair in some
    )
    made = Rows(hidden, (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
    stage = Blend((ONE, ZERO), (ZERO, ONE), (Link(0, 1, Assumed((known,))),))
    goal = Statement(PARAMETERS, facts_at(source, at), (stage,), (known,))
    return Attempt(goal, World(at, (made.pair(),), (), made), {"stage": 0})


def as_if_two(source: Source) -> Attempt:
    """Copies of one pair, with what two of them have, as if each part were one copy."""
    at, count = random_point(source), source.randint(2, 4)
    pair = tuple(zip(*chain(source, 2), strict=True))
    made = Copies((pair,) * count)
    name, *args = source.choice((("PureDP",), ("KLDP",), ("RenyiDP", num(2))))
    for n in range(25):  # the least loss of a grid
        at = {**at, "e": Fraction(n, 8), "k": Fraction(count)}
        known = Guarantee(name, (*args, E))
        if _has(known, pair, at):
            break
    claim = Guarantee(name, (*args, 2 * E))
    stage = Repeated(Assumed((known,)), num(count))
    goal = Statement(PARAMETERS, facts_at(source, at), (stage,), (claim,))
    first = source.randint(1, count - 1)
    parameters = {"first": first, "before": (known,), "after": (known,)}
    return Attempt(goal, World(at, (made.pair(),), (), made), parameters)


@recipe
def parted(source: Source) -> Attempt:
    """A number of copies in two parts."""
    if source.random() < 0.3:
        return as_if_two(source)
    goal, world = many(source, random_point(source))
    made, (stage,) = world.made, goal.stages
    assert isinstance(stage, (Repeated, Group))
    count = int(world.point["k"])  # type: ignore[call-overload]
    first = source.randint(1, max(count, 1))
    assert isinstance(made, (Copies, Rows))
    goal = replace(goal, stages=(replace(stage, count=num(count)),))
    sides = []
    for low, high in ((0, first), (first, count)):
        pair = made.span(low, high) if low < high else made.pair()
        some = (fitting(source, pair, world.point, EVERY), *stage.stage.guarantees[:1])  # type: ignore[union-attr]
        sides.append((source.choice(some),))
    return Attempt(goal, world, {"first": first, "before": sides[0], "after": sides[1]})


# -- filters


@recipe
def spent(source: Source) -> Attempt:
    """Mechanisms with guarantees that grow with what they take of the budget."""
    at = random_point(source)
    x, budget = var("x"), at["e"]
    assert isinstance(budget, Fraction)
    losses = (x, x, x + F, F, x * x, x + x)
    notion = source.choice((("PureDP",), ("ApproxDP", F), ("RenyiDP", var("a")), ("ZCDP",)))
    kept = Guarantee(notion[0], (*notion[1:], source.choice(losses)))
    if notion[0] == "ApproxDP":
        kept = Guarantee("ApproxDP", (source.choice(losses), source.choice((x, D, x * D))))
    taken = []
    for _ in range(source.randint(0, 3)):
        step = budget * Fraction(source.randint(0, 4), 8)
        pair = tuple(zip(*chain(source, 2), strict=True))
        alike = ((Fraction(1, 2), Fraction(1, 2)),) * 2
        mine = {**at, "x": step}
        taken.append((step, pair if _has(kept, pair, mine) else alike))  # type: ignore[arg-type]
    made = Spent(tuple(taken))
    claim = kept.substitute({"x": source.choice((E, E, E / 2, F, 2 * E))})
    pair = made.pair() or ((Fraction(1), Fraction(1)),)
    if source.random() < 0.4 or _has(claim, pair, at):
        claim = broken(source, pair, at, EVERY)
    stage = Filter("x", Assumed((kept,)), source.choice((E, E, E, E + F)))
    more = source.choice(((), (), (Fact(E - num(fmpq(1, 2)), ">="),), (Fact(F - E, ">="),)))
    goal = Statement(PARAMETERS, (*facts_at(source, at), *more), (stage,), (claim,))
    return Attempt(goal, World(at, (pair,), (), made), {})


# -- rules that take any stages


def also(name: str, make: Recipe) -> None:
    """Attack a rule in one more way."""
    before = RECIPES[name]
    RECIPES[name] = lambda source: make(source) if source.random() < 0.4 else before(source)


def _any(source: Source) -> tuple[Statement, World]:
    at = random_point(source)
    return many(source, at) if source.random() < 0.6 else mixture(source, at)


def both_ways(source: Source) -> Attempt:
    """What (P, Q) has and (Q, P) has not, while the guarantees are two-way."""
    goal, world = _any(source)
    (stage,) = goal.stages
    claim = fitting(source, world.stages[0], world.point, SINGLE)
    if isinstance(stage, Blend):
        links = tuple(replace(link, stage=_two_way(link.stage)) for link in stage.links)
        stage = replace(stage, links=links)
    elif isinstance(stage, (Repeated, Group)):
        stage = replace(stage, stage=_two_way(stage.stage))
    both = replace(claim, two_way=True, reverse=False)
    return Attempt(replace(goal, stages=(stage,), claims=(both,)), world, {})


def _two_way(single: Single) -> Assumed:
    assert isinstance(single, Assumed)
    both = (replace(g, two_way=True, reverse=False) for g in single.guarantees)
    return Assumed(tuple(both))


def _cut(source: Source) -> Attempt:
    goal, world = _any(source)
    some = fitting(source, world.stages[0], world.point, EVERY), broken(
        source, world.stages[0], world.point, EVERY)  # fmt: skip
    chosen = source.choice((some, some[:1], some[1:]))
    return Attempt(goal, world, {"first": 0, "last": 0, "guarantees": chosen})


@lru_cache(maxsize=1)
def _theorems() -> tuple[Theorem, ...]:
    from dpsym.search.privacy.prover import prove_statement

    x, y, m = (var(name) for name in ("x", "y", "m"))
    names = (("x", REAL), ("y", REAL), ("m", INTEGER))
    facts = (Fact(x, ">="), Fact(y, ">="), Fact(1 - y, ">="), Fact(m - 1, ">="))
    pure, both = Guarantee("PureDP", (x,)), Guarantee("ApproxDP", (x, y))
    sampled = Blend((y, 1 - y), (ZERO, ONE), (Link(0, 1, Assumed((pure,))),))
    rows = (
        (Repeated(Assumed((pure,)), m), Guarantee("PureDP", (m * x,))),
        (Repeated(Assumed((both,)), m), Guarantee("ApproxDP", (m * x, m * y))),
        (Group(Assumed((pure,)), m), Guarantee("PureDP", (m * x,))),
        (sampled, Guarantee("PureDP", (log(1 + y * (exp(x) - 1)),))),
    )
    return tuple(prove_statement(Statement(names, facts, (s,), (c,)), 20) for s, c in rows)


def use(source: Source) -> Attempt:
    """Another number of copies, other weights or links, or less known of a part."""
    goal, world = _any(source)
    theorem = source.choice(_theorems())
    count = world.point["k"]
    assert isinstance(count, Fraction)
    names = {
        "x": parameter(source),
        "y": source.choice((WEIGHT, D, num(fmpq(1, 2)))),
        "m": source.choice((K, K, K + 1, num(int(count)), num(1), num(-1))),
    }
    (stage,), (known,) = goal.stages, theorem.statement.stages
    claim = theorem.statement.claims[0].substitute(names)
    claim = claim if source.random() < 0.8 else replace(claim, two_way=False, reverse=True)
    if isinstance(stage, (Repeated, Group)) and isinstance(known, (Repeated, Group)):
        assert isinstance(known.stage, Assumed)
        needed = tuple(g.substitute(names) for g in known.stage.guarantees)
        goal = replace(goal, stages=(replace(stage, stage=Assumed(needed)),))
    elif isinstance(stage, Blend) and isinstance(known, Blend):
        (first, *_) = known.links
        assert isinstance(first.stage, Assumed)
        needed = tuple(g.substitute(names) for g in first.stage.guarantees)
        links = tuple(replace(link, stage=Assumed(needed)) for link in stage.links)
        goal = replace(goal, stages=(replace(stage, links=links),))
    goal = replace(goal, claims=(claim,))
    return Attempt(goal, world, {"theorem": theorem, "mapping": tuple(names.items())})


also("forward", both_ways)
also("directions", both_ways)
also("cut", _cut)
also("use", use)
