"""Random false sequents with hostile parameters, for every rule on sequents.

A goal is false at a known point where its hypotheses hold. So if a rule accepts it, a premise must
be false: at that point, or (for rules of calculus) at another value of the rule's variable.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from typing import Any

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Canon
from dpsym.kernel.kinds import Kind
from dpsym.kernel.lemmas import LEMMAS
from dpsym.kernel.proofs import Lemma, Proof, prove_lemma, step
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import KINKED, ONE, PI, ZERO, Term, exp, log, num, sqrt, var
from tests.soundness.values import Number, Point, Undefined, Unsure, ball, fails, holds, sign, value

NAMES = ("x", "y", "z")
RELATIONS = (">=", ">", "!=")
CONSTANTS = (log(num(2)), sqrt(num(2)), exp(num(-1)), PI / 3, log(num(3)) / 2)
SHARED = ("evident", "tidy", "nonzero", "split", "have", "multiply")


@dataclass
class Case:
    """A sequent that is false at ``point``, a rule's parameters, and where to look besides.

    ``elsewhere`` are values of the variable ``name`` at which a premise may be false instead, and
    of ``second`` besides, if there is one; ``images`` are further coordinates, as terms over the
    point."""

    sequent: Sequent
    point: Point
    parameters: dict[str, Any]
    name: str = ""
    elsewhere: list[Number] = field(default_factory=list)
    images: dict[str, Term] = field(default_factory=dict)
    second: str = ""


class Source(random.Random):
    """Random numbers, terms and facts."""

    def rational(self) -> fmpq:
        far = (fmpq(1, 1000), fmpq(-1, 1000), fmpq(20), fmpq(10**9))
        if self.random() < 0.05:
            return self.choice(far)
        below = self.choice((1, 1, 2, 3, 4, 8))
        return fmpq(self.randint(-4, 4) if below == 1 else self.randint(-9, 9), below)

    def constant(self) -> Term:
        return self.choice(CONSTANTS) if self.random() < 0.2 else num(self.rational())

    def point(self, names: tuple[str, ...]) -> Point:
        chosen = (self.rational() for _ in names)
        return {n: Fraction(int(q.p), int(q.q)) for n, q in zip(names, chosen, strict=True)}

    def term(self, names: tuple[str, ...], size: int = 3, smooth: bool = False) -> Term:
        if size <= 0 or self.random() < 0.15:
            return var(self.choice(names)) if self.random() < 0.65 else self.constant()

        def inner(less: int = 1) -> Term:
            return self.term(names, size - less, smooth)

        makers: list[Callable[[], Term]] = [
            lambda: inner() + inner(),
            lambda: inner() - inner(2),
            lambda: inner() * inner(),
            lambda: inner(2) / inner(),
            lambda: tm.power(inner(2), self.choice((-2, -1, 2, 3, 0))),
            lambda: exp(inner(2)),
            lambda: log(inner(2)),
            lambda: sqrt(inner(2)),
            lambda: tm.erfc(inner(2)),
            lambda: tm.atan(inner(2)),
            lambda: tm.real_power(inner(2), self.choice((fmpq(1, 2), fmpq(1, 3), 2, -1))),
        ]
        if not smooth:
            makers.append(lambda: tm.lgamma(inner(2)))
            makers += [lambda: self.kinked(names, size - 1)] * 3
        return self.choice(makers)()

    def kinked(self, names: tuple[str, ...], size: int = 2) -> Term:
        op = self.choice(sorted(KINKED))
        return Term(op, tuple(self.term(names, size - 1) for _ in range(tm.ARITY[op])))

    def odd_hypothesis(self, names: tuple[str, ...]) -> Fact:
        """Bounds, relations between variables, and what hides a sign or a domain."""
        x, y = var(self.choice(names)), var(self.choice(names))
        c = self.constant()
        bounds = (x, -x, x - c, c - x, x - y, x - c * y, x * y - c, tm.absolute(x) - c)
        hiding = (1 / (x - c), -1 / (x + c), sqrt(x), log(x), x / y, log(x) - log(y))
        others = (tm.power(x - c, 2), exp(x) - y - c, tm.maximum(x, y) - c, self.term(names, 2))
        item = self.choice((*bounds, *hiding, *others))
        return Fact(item, self.choice((">=", ">=", ">", ">", "!=")))

    def hypotheses(self, at: Point, most: int = 4) -> tuple[Fact, ...]:
        """Facts that hold at the point."""
        kept: dict[Fact, None] = {}
        for _ in range(self.randint(0, 2 * most)):
            fact = self.odd_hypothesis(tuple(at))
            if len(kept) < most and _true(fact, at):
                kept[fact] = None
        return tuple(kept)

    def bound(self, at: Point, name: str, side: int) -> tuple[Fact, Term]:
        """A bound of a variable that holds at the point, sometimes reached there."""
        here, others = at[name], [n for n in at if n != name]
        for _ in range(50):
            end = (
                self.constant() if self.random() < 0.8 or not others else self.term((others[0],), 1)
            )
            if self.random() < 0.15 and isinstance(here, Fraction):
                end = num(fmpq(here.numerator, here.denominator))
            fact = Fact(side * (var(name) - end), self.choice((">=", ">")))
            if _true(fact, at):
                return fact, end
        return Fact(side * (var(name) - num(-side * 10**6)), ">="), num(-side * 10**6)


def _true(fact: Fact, at: Point) -> bool:
    try:
        return holds(fact, at)
    except (Undefined, Unsure):
        return False


def falsified(source: Source, item: Term, at: Point, rels: tuple[str, ...] = RELATIONS) -> Fact:
    """A fact about the term, perhaps shifted or turned, that is false at the point.

    Raises: Undefined or Unsure if there is no telling."""
    rel = source.choice(rels)
    here = value(item, at)
    if isinstance(here, Fraction) and here and (rel == "!=" or source.random() < 0.4):
        shift = here if rel != ">=" and source.random() < 0.5 else here + Fraction(1, 500)
        shift = here if rel == "!=" else shift
        item, here = item - num(fmpq(shift.numerator, shift.denominator)), here - shift
    fact = Fact(item if sign(here) <= 0 else -item, rel)
    if holds(fact, at):
        raise Unsure
    return fact


Recipe = Callable[[Source], Case]
RECIPES: dict[str, Recipe] = {}


def _recipe(make: Recipe) -> Recipe:
    RECIPES[make.__name__.strip("_")] = make
    return make


def _start(source: Source, most: int = 4) -> tuple[tuple[str, ...], Point, tuple[Fact, ...]]:
    names = NAMES[: source.randint(1, 3)]
    at = source.point(names)
    return names, at, source.hypotheses(at, most)


def _plain(rule: str) -> None:
    rels = {"nonzero": ("!=",), "multiply": (">=", ">")}.get(rule, RELATIONS)

    def make(source: Source) -> Case:
        names, at, given = _start(source)
        fact = falsified(source, source.term(names), at, rels)
        parameters: dict[str, Any] = {}
        if rule == "nonzero":
            parameters = {"sign": source.choice((1, -1))}
        elif rule == "split":
            parameters = {"item": source.term(names)}
        elif rule == "have":
            parameters = {"fact": Fact(source.term(names), source.choice(RELATIONS))}
        elif rule == "multiply":
            factors = (source.term(names), exp(source.term(names, 2)), var(names[0]), num(-1), ZERO)
            parameters = {"factor": source.choice((*factors, 1 / source.term(names, 2)))}
        return Case(Sequent(given, fact), at, parameters)

    RECIPES[rule] = make


for _rule in SHARED:
    _plain(_rule)


def _hidden(source: Source, names: tuple[str, ...]) -> Term:
    """A kinked term, often in a branch of another one."""
    kink = source.kinked(names)
    if source.random() < 0.5:
        branches = [kink, source.constant()]
        source.shuffle(branches)
        return tm.ite(source.term(names, 1), *branches)
    return kink + source.term(names, 2) if source.random() < 0.5 else kink


def _kinks(source: Source, choose_sign: bool) -> Case:
    names, at, given = _start(source)
    fact = falsified(source, _hidden(source, names), at)
    extra = Fact(_hidden(source, names), source.choice(RELATIONS))
    if source.random() < 0.3 and _true(extra, at):
        given = (*given, extra)
    items = (fact.term, *(known.term for known in given))
    found = [t for item in items for t in tm.subterms(item) if t.op in KINKED]
    parameters: dict[str, Any] = {"kinked": source.choice(found) if found else fact.term}
    if choose_sign:
        parameters["sign"] = source.choice((1, -1))
    return Case(Sequent(given, fact), at, parameters)


@_recipe
def cases(source: Source) -> Case:
    return _kinks(source, False)


@_recipe
def branch(source: Source) -> Case:
    return _kinks(source, True)


@lru_cache(maxsize=1)
def _lemmas() -> tuple[Lemma, ...]:
    x, y, z = map(var, NAMES)
    evident = Proof("evident")
    given = Fact(x, ">"), Fact(y, ">=")
    goals = (
        (given, Fact(x + y, ">")),
        (given, Fact(log(1 + x) + y / x, ">")),
        ((Fact(x, ">="), Fact(y, "!=")), Fact(sqrt(x) * y * y + tm.power(x, 3), ">=")),
        ((Fact(y, "!="),), Fact(tm.power(y, -2), ">")),
        ((Fact(x - y, ">="), Fact(z, ">")), Fact(sqrt(x - y) - 1 / (-z), ">")),
        ((Fact(x, "!="), Fact(1 / x, ">")), Fact(x, ">")),
    )
    return tuple(prove_lemma(Sequent(facts, goal), evident) for facts, goal in goals)


@_recipe
def instance(source: Source) -> Case:
    at = source.point(NAMES)
    given = source.hypotheses(at)
    lemma = source.choice(_lemmas())
    for _ in range(20):
        mapping = tuple((n, source.term(NAMES, 2)) for n in NAMES if source.random() < 0.8)
        goal = lemma.sequent.goal.substitute(dict(mapping))
        if source.random() < 0.2:
            goal = Fact(goal.term - source.constant(), goal.rel)
        try:
            if not holds(goal, at):
                break
        except (Undefined, Unsure):
            continue
    else:
        raise Unsure
    return Case(Sequent(given, goal), at, {"lemma": lemma, "mapping": mapping})


@_recipe
def clear(source: Source) -> Case:
    names, at, given = _start(source)
    below = [source.term(names, 1) + source.term(names, 1) for _ in range(source.randint(1, 2))]
    item = source.term(names, 2)
    for part in below:
        item = item / tm.power(part, source.choice((1, 1, 2, 3)))
    fact = falsified(source, item, at, (">=", ">"))
    canon = Canon()
    atoms = list(canon.together(canon(fact.term))[1])
    signs = tuple((atom, source.choice((1, -1))) for atom in atoms if source.random() < 0.8)
    return Case(Sequent(given, fact), at, {"signs": signs})


@_recipe
def monotone(source: Source) -> Case:
    names, at, given = _start(source)
    function = source.choice(("exp", "log", "sqrt", "atan", "erfc"))
    ends = [source.term(names, 2), source.term(names, 2)]
    first, second = (Term(function, (end,)) for end in ends)
    fact = Fact(first - second, source.choice((">=", ">")))
    if holds(fact, at):
        ends.reverse()
        fact = Fact(second - first, ">")
    if source.random() < 0.1:
        ends.reverse()
    parameters = {"function": function, "larger": ends[0], "smaller": ends[1]}
    return Case(Sequent(given, fact), at, parameters)


@_recipe
def square(source: Source) -> Case:
    names, at, given = _start(source)
    sides = [source.term(names, 2), source.term(names, 2)]
    if source.random() < 0.5:
        sides[source.choice((0, 1))] = source.choice((sqrt, abs_of))(source.term(names, 2))
    fact = Fact(sides[0] - sides[1], source.choice((">=", ">")))
    if holds(fact, at):
        sides.reverse()
        fact = Fact(-fact.term, ">")
    if source.random() < 0.1:
        sides.reverse()
    return Case(Sequent(given, fact), at, {"larger": sides[0], "smaller": sides[1]})


def abs_of(item: Term) -> Term:
    return Term("abs", (item,))


@_recipe
def factor(source: Source) -> Case:
    names, at, given = _start(source)
    coefficient = source.choice((fmpq(1), fmpq(-1), fmpq(2, 3), fmpq(0)))
    product, factors = num(coefficient), []
    for _ in range(source.randint(1, 3)):
        item, count = source.term(names, 1), source.choice((-3, -2, -1, 1, 2, 3))
        product = product * tm.power(item, count)
        factors.append((item, count, source.choice((1, -1))))
    fact = falsified(source, Canon().normal(product), at, (">=", ">"))
    if source.random() < 0.5:
        coefficient = -coefficient
    return Case(Sequent(given, fact), at, {"coefficient": coefficient, "factors": tuple(factors)})


def _is_whole(kind: Kind) -> bool:
    try:
        kind.check(0)
    except Refusal:
        return False
    return True


def _lemma(source: Source, names: tuple[str, ...]) -> tuple[str, tuple[Any, ...]]:
    name = source.choice(sorted(LEMMAS))
    args: list[Any] = []
    for kind in LEMMAS[name].kinds:
        args.append(source.randint(-2, 16) if _is_whole(kind) else source.term(names, 2))
    return name, tuple(args)


@_recipe
def subtract(source: Source) -> Case:
    names, at, given = _start(source)
    name, args = _lemma(source, names)
    multiplier = source.choice((ONE, num(-1), source.term(names, 2), exp(source.term(names, 1))))
    try:
        fact = LEMMAS[name].build(*args)[1]
    except Refusal:
        raise Unsure from None
    item = fact.term * multiplier if source.random() < 0.8 else source.term(names)
    goal = falsified(source, item, at, (">=", ">"))
    return Case(Sequent(given, goal), at, {"multiplier": multiplier, "lemma": (name, args)})


@_recipe
def positivstellensatz(source: Source) -> Case:
    for _ in range(30):
        try:
            case = _products(source)
            if fails(case.sequent, case.point):
                return case
        except (Undefined, Unsure, Refusal):
            continue
    raise Unsure


def _products(source: Source) -> Case:
    """The goal is made from the sum of products, so that the identity often holds."""
    names, at, given = _start(source, 3)
    contradiction = source.random() < 0.4
    if contradiction:
        below = tm.power(source.term(names, 1), source.choice((-1, -1, -2, -3, 1)))
        fact = Fact(source.choice((1, -1, 2)) * below, source.choice((">=", ">")))
        given = (*given, fact) if _true(fact, at) else given
    facts: list[Any] = []
    known: list[Term] = []
    for _ in range(source.randint(1, 3)):
        kind = source.choice(("hypothesis", "positive", "nonnegative", "lemma", "lemma"))
        if contradiction:
            kind = "hypothesis"
        if kind == "hypothesis" and given:
            index = source.randrange(len(given))
            facts.append((kind, index, None, None))
            known.append(given[index].term)
        elif kind == "lemma":
            name, args = _lemma(source, names)
            try:
                known.append(LEMMAS[name].build(*args)[1].term)
            except Refusal:
                continue
            facts.append((kind, None, None, (name, args)))
        else:
            item = source.choice((tm.power(var(names[0]), 2), exp(source.term(names, 1)), PI, ONE))
            item = item if source.random() < 0.8 else source.term(names, 1)
            facts.append((source.choice(("positive", "nonnegative")), None, item, None))
            known.append(item)

    def products() -> tuple[tuple[Any, ...], Term]:
        rows, total = [], ZERO
        for _ in range(source.randint(1, 2)):
            most = source.randint(0, 2) if known else 0
            indices = tuple(source.randrange(len(known)) for _ in range(most))
            square = source.term(names, 1) if source.random() < 0.4 else None
            weight = source.choice((fmpq(1), fmpq(2, 3)))
            rows.append((weight, indices, square))
            part = tm.mul(num(weight), *(known[i] for i in rows[-1][1]))
            total = total + (part if square is None else part * tm.power(square, 2))
        return tuple(rows), total

    terms, total = products()
    multiplier, below = products() if source.random() < 0.5 else (((fmpq(1), (), None),), ONE)
    if contradiction:
        goal = falsified(source, source.term(names, 1), at, (">=", ">"))
    else:
        goal = Fact(Canon().normal(total / below), source.choice((">=", ">")))
        if holds(goal, at) and source.random() < 0.1:
            goal = falsified(source, goal.term, at, (">=", ">"))
    parameters = {"facts": tuple(facts), "multiplier": multiplier, "terms": terms}
    return Case(Sequent(given, goal), at, parameters | {"contradiction": contradiction})


def _between(first: Number, last: Number, count: int = 48) -> list[Number]:
    """Evenly spaced numbers, both ends, and the fractions with small denominators between."""
    a, b = (_fraction(end) for end in (first, last))
    inner = [a + (b - a) * Fraction(k, count) for k in range(1, count)]
    near = [Fraction(k, 24) for k in range(-240, 241) if min(a, b) <= Fraction(k, 24) <= max(a, b)]
    small = [a + (b - a) * Fraction(1, 10**k) for k in (3, 6, 9)]
    return [first, last, *small, *inner, *near]


def _fraction(number: Number) -> Fraction:
    if isinstance(number, Fraction):
        return number
    return Fraction(int(number.middle * 2**80), 2**80)


def _bounded(source: Source, sides: tuple[int, ...]) -> tuple[Any, ...]:
    names, at, given = _start(source, 2)
    made = [source.bound(at, names[0], side) for side in sides]
    given = (*given, *(fact for fact, _ in made))
    if source.random() < 0.15:  # other hypotheses on the variable
        given = tuple(source.sample(given, len(given)))
    ends = [end for _, end in made]
    return names, at, tuple(dict.fromkeys(given)), ends


@_recipe
def derive(source: Source) -> Case:
    direction = source.choice((1, -1))
    names, at, given, (end,) = _bounded(source, (direction,))
    if source.random() < 0.4:
        given = (*given, source.bound(at, names[0], -direction)[0])
    item = source.term(names, smooth=source.random() < 0.9)
    goal = falsified(source, item, at, (">=", ">"))
    start = end if source.random() < 0.9 else source.constant()
    parameters = {"name": names[0], "start": start, "direction": direction}
    parameters["from_open"] = source.random() < 0.3
    values = _between(value(start, at), at[names[0]])
    return Case(Sequent(given, goal), at, parameters, names[0], values)


@_recipe
def secant(source: Source) -> Case:
    direction = source.choice((1, -1))
    names, at, given, (end,) = _bounded(source, (direction,))
    if source.random() < 0.3:
        given = (*given, source.bound(at, names[0], -direction)[0])
    x, rest = var(names[0]), names[1:] or names
    item = source.term(names, smooth=True)
    before = end - direction * source.choice(
        (ONE, num(fmpq(1, 2)), num(-1), ZERO, source.constant())
    )
    if source.random() < 0.6:  # zero at both points, often convex between
        bend = source.choice((ONE, num(-1), exp(x), x, source.term(rest, 1), source.constant()))
        item = (x - end) * (x - before) * bend + source.choice((ZERO, ONE, -ONE)) * (x - end)
    goal = falsified(source, item, at, (">=", ">"))
    parameters = {"name": names[0], "start": end, "direction": direction, "before": before}
    values = [*_between(value(before, at), at[names[0]]), value(end, at)]
    return Case(Sequent(given, goal), at, parameters, names[0], values)


@_recipe
def hump(source: Source) -> Case:
    far = source.random() < 0.4
    names, at, given, ends = _bounded(source, (1,) if far else (1, -1))
    x, rest = var(names[0]), names[1:] or ("w",)
    at.setdefault("w", Fraction(1))
    lower, upper = ends[0], None if far else ends[1]
    item = source.term(names, smooth=True)
    if source.random() < 0.7:  # zero at the ends, often positive or negative between
        last = exp(-x) if upper is None else upper - x
        bend = source.choice((ONE, num(-1), exp(x), x - source.constant(), source.term(rest, 1)))
        item = (x - lower) * last * bend + source.choice((ZERO, ZERO, ONE, -ONE)) * (x - lower)
    goal = falsified(source, item, at, (">=",))
    weight = source.choice((ONE, ONE, exp(-x), exp(x), x, num(-1), ZERO, source.term(names, 1)))
    near = source.choice((ONE, ONE, num(2), ZERO, num(-1), source.term(rest, 1), x))
    rate = source.choice((ONE, num(5), num(-1), source.constant(), source.term(rest, 1)))
    new = "u" if source.random() < 0.9 else source.choice(NAMES)
    here, start = _fraction(at[names[0]]), _fraction(value(lower, at))
    stop = here + 8 if upper is None else _fraction(value(upper, at))
    values: list[Number] = [start + (here - start) * Fraction(k, 8) for k in range(9)]
    values += [here + (stop - here) * Fraction(k, 8) for k in range(1, 9)]
    for near_end in (Fraction(1, 10), Fraction(1, 100), Fraction(1, 10_000)):
        values += [start + (here - start) * near_end, stop - (stop - here) * near_end]
    values += [here + Fraction(4) ** k for k in range(3, 12, 3)] if upper is None else []
    parameters = {"name": names[0], "lower": lower, "upper": upper, "new": new}
    parameters |= {"weight": weight, "tail": (near, rate)}
    return Case(Sequent(given, goal), at, parameters, names[0], values, second=new)


@_recipe
def approach(source: Source) -> Case:
    direction, far = source.choice((1, -1)), source.random() < 0.4
    names, at, given = _start(source, 1)
    x, rest, start = var(names[0]), names[1:] or ("w",), None
    at.setdefault("w", Fraction(1))
    if not far:
        fact, start = source.bound(at, names[0], direction)
        given = (*given, Fact(fact.term, source.choice((">", ">", ">="))))
    if source.random() < 0.4:
        given = (*given, source.bound(at, names[0], -direction)[0])
    reach = -direction * x if start is None else direction * (x - start)
    tail = source.choice(
        (1 / reach, exp(-reach), log(reach), reach * log(reach), sqrt(reach), reach)
    )
    item = source.choice((ONE, num(-1), source.constant())) * tail + source.choice((ZERO, ONE, x))
    if source.random() < 0.3:
        item = source.term(names, smooth=source.random() < 0.9)
    goal = falsified(source, item, at, (">=", ">"))
    near = source.choice((ONE, num(2), source.constant(), source.term(rest, 1), ZERO))
    rate = source.choice((ONE, num(5), num(-1), source.constant(), source.term(rest, 1), x))
    parameters = {"name": names[0], "start": start, "direction": direction}
    here = _fraction(at[names[0]])
    if start is None:
        values: list[Number] = [here - direction * Fraction(k, 8) for k in range(80)]
        values += [here - direction * Fraction(2) ** k for k in range(3, 40)]
    else:
        values = _between(value(start, at), at[names[0]])
        end = _fraction(value(start, at))
        values += [end + (here - end) / Fraction(2) ** k for k in range(2, 60, 2)]
    return Case(
        Sequent(given, goal), at, parameters | {"near": near, "rate": rate}, names[0], values
    )


@_recipe
def change(source: Source) -> Case:
    sides = source.choice(((), (1,), (1, -1), (-1,)))
    names, at, given, _ = _bounded(source, sides)
    if source.random() < 0.6:
        sign_of_x = Fact(var(names[0]), source.choice((">", ">=")))
        given = (*given, sign_of_x) if _true(sign_of_x, at) else given
    goal = falsified(source, source.term(names), at)
    rest = names[1:] or ("w",)
    item = source.choice((ONE, source.constant(), source.term(rest, 1), exp(source.term(rest, 1))))
    kind = source.choice(("shift", "negate", "scale", "inverse", "log", "decay", "square"))
    new = "u" if source.random() < 0.9 else source.choice(NAMES)
    x = var(names[0])
    image = {"shift": x - item, "negate": item - x, "scale": x / item, "inverse": item / x}
    image |= {"log": exp(x / item), "decay": log(item / x), "square": sqrt(x / item)}
    parameters = {"name": names[0], "kind": kind, "new": new, "item": item}
    at.setdefault("w", Fraction(1))
    return Case(Sequent(given, goal), at, parameters, images={new: image[kind]})


@_recipe
def vertex(source: Source) -> Case:
    sides = (1, -1) if source.random() < 0.5 else (1,)
    names, at, given, ends = _bounded(source, sides)
    x, rest = var(names[0]), names[1:] or ("w",)
    at.setdefault("w", Fraction(1))
    hinges, total = [], ZERO
    for _ in range(source.randint(0, 3)):
        c, u, v = source.constant(), source.term(rest, 1), source.choice((ONE, num(-1), num(2)))
        if source.random() < 0.3:
            c, v = source.term(rest, 1), source.term(rest, 1)
        slope = v.value if isinstance(v.value, fmpq) and source.random() < 0.8 else fmpq(1)
        hinges.append((c, u, v, 1 if slope > 0 else -1))
        total = total + c * tm.positive_part(u + v * x)
    bend = source.choice((ZERO, -tm.power(x, 2), tm.power(x, 2), sqrt(x + 4), log(x + 5), exp(x)))
    smooth = source.constant() + source.constant() * x + (bend if len(ends) == 2 else ZERO)
    if not hinges:
        smooth = source.term(names, smooth=True)
    goal = Fact(total + smooth, ">=")
    if holds(goal, at):
        smooth = smooth - num(source.choice((1, 20)))
        goal = Fact(total + smooth, ">=")
    if holds(goal, at):
        raise Unsure
    upper = ends[1] if len(ends) == 2 else None
    parameters = {"name": names[0], "lower": ends[0], "upper": upper, "smooth": smooth}
    parameters["hinges"] = tuple(hinges)
    low = value(ends[0], at)
    high = value(upper, at) if upper else _fraction(at[names[0]]) + 1000
    values = _between(low, high)
    values += [value(-u / v, at) for _, u, v, _ in hinges if sign(value(v, at))]
    return Case(Sequent(given, goal), at, parameters, names[0], values)


@_recipe
def boxes(source: Source) -> Case:
    """The goal is false by little, at the worst of some points of a box."""
    return box_case(source, source.choice((Fraction(1, 2**30), Fraction(1, 100), Fraction(0))))


def box_case(source: Source, gap: Fraction) -> Case:
    """A goal on a box, and a tree; at the worst of some points its term is ``-gap``."""
    names = NAMES[: source.randint(1, 2)]
    low = {name: Fraction(source.randint(-3, 2)) for name in names}
    high = {name: low[name] + source.choice((1, 2, Fraction(1, 2))) for name in names}
    item = source.term(names, smooth=source.random() < 0.6)
    best: tuple[Number, Point] | None = None
    for _ in range(12):
        at: Point = {n: low[n] + (high[n] - low[n]) * source.randint(0, 8) / 8 for n in names}
        try:
            here = value(item, at)
            if best is None or ball(here).middle < ball(best[0]).middle:
                best = here, at
        except Undefined:
            continue
    if best is None:
        raise Unsure
    shift = _fraction(best[0]) + gap
    goal = Fact(item - num(fmpq(shift.numerator, shift.denominator)), ">=" if gap else ">")
    given: list[Fact] = []
    for name in names:
        for end, side in ((low[name], 1), (high[name], -1)):
            if source.random() < 0.9:
                bound = num(fmpq(end.numerator, end.denominator))
                given.append(Fact(side * (var(name) - bound), source.choice((">=", ">"))))
    given += source.hypotheses(best[1], 1)
    kept = tuple(fact for fact in given if _true(fact, best[1]))
    tree = _tree(source, names, low, high, 3)
    bits = source.choice((32, 64, 96, 300))
    return Case(Sequent(kept, goal), best[1], {"tree": tree, "bits": bits})


def _tree(
    source: Source, names: tuple[str, ...], low: Any, high: Any, depth: int
) -> tuple[Any, ...]:
    kind = source.choice(("direct", "mean", "split", "split", "face", "face", "empty", "zero"))
    name = source.choice(names)
    if kind == "split" and depth:
        middle = (low[name] + high[name]) / 2
        left = _tree(source, names, low, {**high, name: middle}, depth - 1)
        right = _tree(source, names, {**low, name: middle}, high, depth - 1)
        return kind, name, fmpq(middle.numerator, middle.denominator), left, right
    if kind == "face" and depth:
        return kind, name, source.choice((1, -1)), _tree(source, names, low, high, depth - 1)
    return ("empty", source.randrange(5)) if kind == "empty" else (
        (kind,) if kind in ("direct", "mean", "zero") else ("direct",)
    )  # fmt: skip


# -- one attack


def attack(rule: str, source: Source) -> tuple[str, Case | None]:
    """``refused``, ``applied`` (a premise is false), ``undecided`` or ``UNSOUND``; ``skipped`` if
    no false goal was found."""
    try:
        case = RECIPES[rule](source)
        if not fails(case.sequent, case.point):
            return "skipped", None
    except (Undefined, Unsure, Refusal):
        return "skipped", None
    try:
        premises = [p for p in step(case.sequent, rule, case.parameters) if isinstance(p, Sequent)]
    except Refusal:
        return "refused", case
    unsure = False
    for at in _candidates(case):
        for premise in premises:
            try:
                if fails(premise, at):
                    return "applied", case
            except Unsure:
                unsure = True
    if any(_vanishes(premise, case) for premise in premises):
        return "applied", case
    return ("undecided" if unsure else "UNSOUND"), case


def _candidates(case: Case) -> Iterator[Point]:
    """The false point with its images, and other values of the rule's variable."""
    at = dict(case.point)
    for name, image in case.images.items():
        at.pop(name, None)
        try:
            at[name] = value(image, case.point)
        except (Undefined, Unsure):
            continue  # without a value, what depends on it is unsure
    yield at
    for number in case.elsewhere:
        yield {**case.point, case.name: number}
    if case.second:
        for number, other in product(case.elsewhere, repeat=2):
            yield {**case.point, case.name: number, case.second: other}


def _vanishes(premise: Sequent, case: Case) -> bool:
    """Whether a term that is not to be zero, or below zero, is so between two looked-at points."""
    seen: list[tuple[Fraction, int, Point]] = []
    for number in case.elsewhere:
        at = {**case.point, case.name: number}
        try:
            if all(holds(fact, at) for fact in premise.hypotheses):
                seen.append((_fraction(number), sign(value(premise.goal.term, at)), at))
        except (Undefined, Unsure):
            continue
    seen.sort(key=lambda row: row[0])
    turns = any(one[1] * two[1] < 0 for one, two in pairwise(seen))
    return turns and premise.goal.rel == "!=" and not premise.goal.term.kinked


__all__ = ["RECIPES", "Case", "Source", "attack"]
