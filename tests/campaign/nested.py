"""Random claims about mechanisms that are made of others, up to four deep, with their truth.

Of a subject, the worst pair that bounds all that it may be (``high``), some pairs that it may be
(``low``), and its largest loss as an expression are known from the tree that it is made of. A claim
is true if the worst pair has it, and false if one of the others does not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

import mpmath
import sympy as sp
from mpmath import mpf

import dpsym as dp
from tests.campaign import adaptive, curves
from tests.campaign import truth as tr
from tests.campaign.adaptive import pairs_of_rows
from tests.campaign.claims import rational, sure
from tests.campaign.tree import Tree
from tests.campaign.truth import Atoms, number

SAME: Atoms = [(mpf(1), mpf(1))]
LEAVES = ("pure", "pure", "pure", "approximate", "both", "table", "laplace")
ORDERS: tuple[Fraction | None, ...] = (Fraction(2), Fraction(3), Fraction(1), Fraction(1, 2), None)
_RHO_ORDERS = tuple(mpf(order) / 16 for order in (17, 18, 20, 24, 28, 32, 40, 48, 64, 96, 160, 320))
_LOW = 4


# -- random trees


def _epsilon(source: random.Random, ends: bool) -> Fraction:
    some = (Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(7, 5))
    return source.choice((Fraction(0), *some) if ends else some)


def _rate(source: random.Random, ends: bool) -> Fraction:
    some = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 10), Fraction(9, 10), Fraction(1, 1000))
    return source.choice((Fraction(0), Fraction(1), Fraction(1), *some) if ends else some)


def _leaf(source: random.Random, added: bool, ends: bool) -> Tree:
    made = source.choice(LEAVES)
    if made == "pure":
        return Tree(made, value=_epsilon(source, ends))
    if made == "approximate":
        deltas = (Fraction(1, 100), Fraction(1, 20), Fraction(1, 10**6))
        delta = source.choice((Fraction(0), Fraction(1), *deltas) if ends else deltas)
        return Tree(made, value=(_epsilon(source, ends), delta))
    if made == "both":
        loss, delta = _epsilon(source, False), Fraction(1, source.choice((4, 20, 100)))
        return Tree(made, value=((loss, Fraction(0)), (loss * Fraction(1, 2), delta)))
    if made == "laplace":
        relation = "add/remove" if added else "replace-one"
        return Tree(made, value=(_epsilon(source, False), source.choice((1, 1, 2)), relation))
    rows = []
    for _ in range(source.choice((2, 2, 3))):
        weights = [source.choice((1, 1, 2, 3, 5)) for _ in range(2)]
        if source.random() < 0.1:
            weights[source.randrange(2)] = 0
        rows.append(tuple(Fraction(weight, sum(weights)) for weight in weights))
    return Tree(made, value=tuple(rows))


def tree(source: random.Random, depth: int, added: bool, ends: bool = False) -> Tree:
    """A random one of this depth: of records that are added or removed, or replaced."""
    if depth == 0:
        return _leaf(source, added, ends)
    ways = ["compose", "repeat", "group", "poisson", "poisson", "parallel"]
    made = source.choice(ways if added else ["compose", "repeat", "group", "fixed", "fixed"])
    first = tree(source, depth - 1, added, ends)
    if made == "group" and "poisson" in first.names():
        made = "repeat"
    if made == "compose" and first.made == "compose":
        made = "repeat"
    if made in ("compose", "parallel"):
        others = [
            tree(source, source.randrange(depth), added, ends)
            for _ in range(source.choice((1, 1, 2)))
        ]
        if made == "compose":  # a composition in a composition is part of it
            others = [one if one.made != "compose" else one.of[0] for one in others]
        parts = [first, *others]
        source.shuffle(parts)
        return Tree(made, tuple(parts))
    if made in ("poisson", "fixed"):
        return Tree(made, (first,), _rate(source, ends))
    return Tree(made, (first,), source.choice((1, 2, 3)) if ends else source.choice((2, 2, 3)))


def choosing(source: random.Random) -> Tree:
    """Stages of which a later one may be any of several mechanisms, chosen by earlier outputs; none
    of them is always the worst."""

    def leaf() -> Tree:
        one = _leaf(source, True, False)
        return one if one.made != "laplace" else Tree("pure", value=_epsilon(source, False))

    def several() -> Tree:
        epsilon, delta = _epsilon(source, False), Fraction(1, source.choice((4, 10, 20)))
        less = epsilon * source.choice((Fraction(0), Fraction(0), Fraction(1, 2)))
        some = [Tree("pure", value=epsilon), Tree("approximate", value=(less, delta))]
        if source.random() < 0.3:
            some[source.randrange(2)] = leaf()
        elif source.random() < 0.2:
            some[0] = Tree("compose", (some[0], leaf()))
        source.shuffle(some)
        return Tree("parallel", tuple(some))

    part = several()
    if source.random() < 0.25:
        part = Tree("poisson", (part,), _rate(source, source.random() < 0.3))
    made = source.choice(("repeat", "first", "first", "first", "both", "inside", "last"))
    if made == "repeat":
        return Tree("repeat", (part,), source.choice((2, 2, 3)))
    if made == "inside":
        return Tree("poisson", (Tree("compose", (leaf(), part)),), _rate(source, False))
    stages = {"first": (leaf(), part), "both": (several(), part), "last": (part, leaf())}[made]
    return Tree("compose", (*stages, leaf()) if source.random() < 0.1 else stages)


# -- what they are


def subject(one: Tree) -> Any:
    parts = [subject(child) for child in one.of]
    if one.made == "pure":
        return dp.PureDP(rational(one.value))
    if one.made == "approximate":
        return dp.ApproxDP(*map(rational, one.value))
    if one.made == "both":
        (loss, _), (less, delta) = one.value
        return dp.both(dp.PureDP(rational(loss)), dp.ApproxDP(rational(less), rational(delta)))
    if one.made == "table":
        return dp.Table([[rational(x) for x in row] for row in one.value])
    if one.made == "laplace":
        epsilon, size, relation = one.value
        noise = dp.noise.Laplace(scale=rational(size / epsilon))
        return dp.AdditiveNoise(noise, sensitivity=size, relation=relation)
    if one.made == "compose":
        return dp.compose(*parts)
    if one.made == "parallel":
        return dp.parallel(*parts)
    if one.made == "poisson":
        return dp.subsample(parts[0], rational(one.value))
    if one.made == "fixed":
        return dp.subsample(parts[0], rational(one.value), method="without_replacement")
    return (dp.repeat if one.made == "repeat" else dp.group)(parts[0], one.value)


def high(one: Tree) -> Atoms | None:
    """A pair that is no better than any that the subject may be; None if it is too large, or not
    finite."""
    if one.made == "laplace":
        return None
    if one.made in ("pure", "approximate", "both"):
        return one.response()
    if one.made == "table":
        return curves.best(pairs_of_rows(one))
    if one.made == "group" and one.of[0].made == "table":
        return curves.best([SAME, *pairs_of_rows(one.of[0], one.value)])
    known = [high(child) for child in one.of]
    parts = [part for part in known if part is not None]
    if len(parts) < len(known):
        return None
    if one.made == "compose":
        return curves.together(parts)
    if one.made == "repeat":
        return curves.together(parts * one.value)
    if one.made == "parallel":
        return curves.best(parts)
    if one.made == "group":
        return curves.chained(parts[0], one.value) if len(parts[0]) < 40 else None
    sample = curves.mixed(parts[0], number(one.value))
    return sample if one.made == "poisson" else curves.both(sample)


def low(one: Tree) -> list[Atoms]:
    """Some pairs that the subject may be, of finitely many outcomes, whatever was seen before."""
    if one.made == "laplace":
        return []
    if one.made in ("pure", "approximate", "both"):
        return [one.response()]
    if one.made == "table":
        return pairs_of_rows(one)
    if one.made == "group":
        return _grouped(one.of[0], one.value)
    if one.made == "compose":
        return curves.some_products([low(child) for child in one.of], _LOW)
    if one.made == "repeat":
        return curves.some_products([low(one.of[0])] * one.value, _LOW)
    if one.made == "parallel":
        return [atoms for child in one.of for atoms in low(child)][: 2 * _LOW]
    return [curves.mixed(atoms, number(one.value)) for atoms in low(one.of[0])]


def _grouped(one: Tree, count: int) -> list[Atoms]:
    """Ends of chains with so many steps: what is in a composition has such chains at once."""
    if one.made in ("pure", "approximate"):
        return [curves.chained(one.response(), count)]
    if one.made == "table":
        return pairs_of_rows(one, count)
    if one.made == "laplace":
        return []
    if one.made == "compose":
        return curves.some_products([_grouped(child, count) for child in one.of], _LOW)
    if one.made == "repeat":
        return curves.some_products([_grouped(one.of[0], count)] * one.value, _LOW)
    if one.made == "parallel":
        return [atoms for child in one.of for atoms in _grouped(child, count)]
    if one.made == "group":
        return _grouped(one.of[0], count * one.value)
    return [SAME] if "table" in one.names() else low(one)  # one step, and others between equals


def chosen(one: Tree, function: adaptive.Function) -> list[Atoms]:
    """Pairs that the subject may be where earlier outputs choose: the worst in each direction."""
    back = adaptive.worst(one, adaptive.turned(function))
    found = (adaptive.worst(one, function), back and [(q, p) for p, q in back])
    return [atoms for atoms in found if atoms]


@dataclass(frozen=True)
class Loss:
    """The largest loss is at most ``value``, and this if it is ``attained``."""

    value: sp.Expr
    attained: bool = True


def loss(one: Tree) -> Loss:
    if one.made == "pure":
        return Loss(rational(one.value))
    if one.made == "laplace":
        return Loss(rational(one.value[0]))
    if one.made == "both":
        return Loss(min(rational(epsilon) for epsilon, delta in one.value if not delta))
    if one.made == "approximate":
        return Loss(sp.oo if one.value[1] else rational(one.value[0]))
    if one.made == "table":
        return _loss_of_rows(one.value, permutations(range(len(one.value)), 2))
    parts = [loss(child) for child in one.of]
    attained = all(part.attained for part in parts)
    if one.made == "compose":
        return Loss(sp.Add(*(part.value for part in parts)), attained)
    if one.made == "parallel":
        return Loss(sp.Max(*(part.value for part in parts)), attained)
    (part,) = parts
    if one.made in ("repeat", "group"):
        plain = one.made == "repeat" or not one.names() & {"table", "fixed", "both"}
        return Loss(one.value * part.value, attained and (plain or one.value == 1))
    if one.value == 0:
        return Loss(sp.Integer(0))
    if one.value == 1:
        return part
    return Loss(sp.log(1 + rational(one.value) * (sp.exp(part.value) - 1)), attained)


def _loss_of_rows(rows: Sequence[Sequence[Fraction]], pairs: Any) -> Loss:
    largest = Fraction(1)
    for i, j in pairs:
        for p, q in zip(rows[i], rows[j], strict=True):
            if p and not q:
                return Loss(sp.oo)
            largest = max(largest, p / q if q else largest)
    return Loss(sp.log(rational(largest)))


# -- claims


@dataclass(frozen=True)
class Claim:
    """``truth`` is None where it is not known."""

    claim: Any
    truth: bool | None


Near = Callable[[random.Random, mpf], tuple[sp.Rational, mpf]]


def less_than_chosen(source: random.Random, one: Tree, near: Near) -> Claim | None:
    """A delta around the worst where earlier outputs choose, for an epsilon that is one of the
    stages' or a sum of some."""
    worst = high(one)
    if worst is None:
        return None
    losses = [Fraction(0), *sorted(one.losses())]
    epsilon = sum(source.sample(losses, min(len(losses), source.choice((1, 1, 2)))), Fraction(0))
    e = number(epsilon)
    ways = chosen(one, adaptive.hockey(e))
    if not ways:
        return None
    ends = max(tr.hockey(way, e) for way in ways), tr.hockey(worst, e)
    make = lambda delta: dp.ApproxDP(rational(epsilon), delta)  # noqa: E731
    fixed = max((tr.hockey(way, e) for way in low(one)), default=mpf(0))
    if source.random() < 0.6 and ends[0] > fixed + mpf(10) ** -6:
        share = number(source.choice((Fraction(1, 2), Fraction(9, 10), Fraction(999, 1000))))
        return Claim(make(sure(fixed + share * (ends[0] - fixed))), False)
    return _between(source, ends, make, near, least=mpf(10) ** -9)


def about(source: random.Random, one: Tree, near: Near) -> Claim | None:
    """A claim about a subject; None where nothing is known."""
    largest = loss(one)
    worst, some = high(one), low(one)
    exactly = source.random() < 0.3 or worst is None or not some
    if exactly and largest.value != sp.oo:
        return _exactly(source, largest)
    if worst is None or not some:
        return None
    back = [(q, p) for p, q in worst]

    def known(measure: Callable[[Atoms], mpf], function: adaptive.Function) -> tuple[mpf, mpf]:
        ways = [way for atoms in some for way in (atoms, [(q, p) for p, q in atoms])]
        if one.chooses():
            ways += chosen(one, function)
        return max(map(measure, ways)), max(measure(worst), measure(back))

    names = ("approximate", "approximate", "approximate", "renyi", "renyi", "zcdp", "range", "gdp")
    name = source.choice(names)
    make: Callable[[sp.Rational], Any]
    if name == "approximate":
        epsilon = source.choice((Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(1)))
        e = number(epsilon)
        ends = known(lambda atoms: tr.hockey(atoms, e), adaptive.hockey(e))
        if source.random() < 0.1:
            given = source.choice((0, 1))
            truth = True if ends[1] <= given else False if ends[0] > given + tr.CLOSE else None
            return Claim(dp.ApproxDP(rational(epsilon), given), truth)
        make = lambda value: dp.ApproxDP(rational(epsilon), value)  # noqa: E731
    elif name == "renyi":
        order = source.choice(ORDERS)
        alpha = mpmath.inf if order is None else number(order)
        function = adaptive.far if order is None else adaptive.renyi(alpha)
        ends = known(tr.loss if order is None else lambda atoms: tr.renyi(atoms, alpha), function)
        at = sp.oo if order is None else rational(order)
        make = lambda value: dp.RenyiDP(at, value)  # noqa: E731
    elif name == "zcdp":
        most = mpf(sp.N(largest.value, 50)) ** 2 / 2 if largest.value != sp.oo else mpmath.inf
        function = adaptive.renyi(source.choice(_RHO_ORDERS))
        at_orders = known(lambda atoms: max(tr.renyi(atoms, a) / a for a in _RHO_ORDERS), function)
        ends = at_orders[0], most
        make = dp.ZCDP
    elif name == "range":
        ends = known(tr.spread, adaptive.far)[0], 2 * known(tr.loss, adaptive.far)[1]
        make = dp.BoundedRange
    else:
        ends = known(curves.bell, adaptive.hockey(mpf(source.choice((0, 1, 2))) / 2))
        make = dp.GDP
    return _between(source, ends, make, near, least=mpf(10) ** -9 if name != "gdp" else mpf(0))


def _exactly(source: random.Random, largest: Loss) -> Claim:
    shift = source.choice((0, 0, Fraction(1, 10**9), -Fraction(1, 10**9), -Fraction(1, 100)))
    claimed = largest.value + rational(shift)
    if claimed.is_negative:
        shift, claimed = 0, largest.value
    make = source.choice((dp.PureDP, dp.PureDP, lambda e: dp.RenyiDP(sp.oo, e)))
    if source.random() < 0.15:
        make = lambda e: dp.ApproxDP(e, 0)  # noqa: E731
    truth = True if shift >= 0 else False if largest.attained else None
    return Claim(make(claimed), truth)


def _between(
    source: random.Random,
    ends: tuple[mpf, mpf],
    make: Callable[[sp.Rational], Any],
    near: Near,
    least: mpf,
) -> Claim | None:
    """A claim with a number that is close to one of the ends."""
    target = source.choice(ends)
    if not mpmath.isfinite(target):
        target = ends[0] if mpmath.isfinite(ends[0]) else mpf(1)
    if target < least:
        return None
    value, same = near(source, target)
    if value < 0 or (make is dp.GDP and value == 0):
        return None
    above, short = tr.at_most(ends[1], same), tr.at_most(ends[0], same)
    return Claim(make(value), True if above else False if short is False else None)
