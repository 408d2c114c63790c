"""Random finite distributions that are what a statement's stages say, as bad as they can be.

Masses are exact rationals (where a mechanism's own masses are not rational, balls). A pair that has
to have guarantees is a random one, moved towards equality just so far that it has them. The second
of two stages depends on the outcome of the first.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import mpmath
import numpy as np

from dpsym.audit.grids import binned, reason
from dpsym.audit.guarantees import Atoms, has, merged
from dpsym.audit.points import Place, Points, UndefinedFact, floats
from dpsym.audit.values import (
    DIGITS,
    Evaluator,
    Number,
    Undefined,
    Unsure,
    as_float,
    at_most,
    plus,
    times,
)
from dpsym.kernel.statements import (
    Assumed,
    Blend,
    Choice,
    Filter,
    Group,
    Guarantee,
    Inner,
    Joint,
    Mechanism,
    Pair,
    Processed,
    Repeated,
    Stage,
    Statement,
)

Row = list[Fraction]
Shape = Callable[[Fraction], Atoms]
SAME: Atoms = ((Fraction(1), Fraction(1)),)
MOST_BUSY, MOST_OUTCOMES = 4, 160
_BISECTIONS = 10
_BINNINGS = 5
_LESS = tuple(Fraction(k, 1000) for k in (1000, 998, 980, 900, 500, 0))
_POOL = 3
_WEIGHTS = (0, 1, 1, 2, 3, 7, 12, 100)


class World:
    """Values of the parameters, and what deals distributions for them."""

    def __init__(self, source: random.Random, at: Place) -> None:
        self.source, self.at = source, dict(at)
        self._pools: dict[object, list[Atoms]] = {}

    # -- statements

    def joint(self, goal: Statement) -> Atoms | None:
        """Joint masses of a composition of the stages; None where none was found."""
        with mpmath.workdps(DIGITS):
            return self._composed(list(goal.stages))

    def lacking(self, goal: Statement, atoms: Atoms) -> Guarantee | None:
        """A claim that the distributions do not have."""
        with mpmath.workdps(DIGITS):
            for claim in goal.claims:
                try:
                    if claim.name != "Distributions" and not has(claim, atoms, self.at):
                        return claim
                except (Undefined, Unsure):
                    continue
        return None

    def _composed(self, stages: Sequence[Stage | Inner]) -> Atoms | None:
        """Stage by stage; at most some of them are more than the same twice, if there are many."""
        busy = set(self.source.sample(range(len(stages)), min(len(stages), MOST_BUSY)))
        outcomes: list[tuple[Number, Number]] = [(Fraction(1), Fraction(1))]
        for number, stage in enumerate(stages):
            idle = number not in busy or len(outcomes) * 3 > MOST_OUTCOMES
            if idle:
                if not self._may_be(stage, SAME):
                    return None
                continue
            following = self._next(outcomes, stage)
            if following is None:
                return None
            outcomes = following
        return merged(outcomes)

    def _next(
        self, outcomes: list[tuple[Number, Number]], stage: Stage | Inner
    ) -> list[tuple[Number, Number]] | None:
        out: list[tuple[Number, Number]] = []
        for p, q in outcomes:
            atoms = self.pair(stage)
            if atoms is None:
                return None
            out += [(times(p, x), times(q, y)) for x, y in atoms]
        return out

    # -- stages

    def pair(self, stage: Stage | Inner) -> Atoms | None:
        """A pair that is what the stage says."""
        if isinstance(stage, Assumed):
            return self._assumed(stage.guarantees)
        if isinstance(stage, Processed):
            atoms = self._assumed(stage.guarantees)
            return None if atoms is None else self._processed(atoms)
        if isinstance(stage, Mechanism):
            return self._mechanism(stage)
        if isinstance(stage, Repeated):
            count = self._count(stage.count)
            return None if count is None else self._repeated(stage.stage, count)
        if isinstance(stage, Group):
            count = self._count(stage.count)
            return None if count is None else self._chain(stage.stage, count)
        if isinstance(stage, Blend):
            return self._blend(stage)
        if isinstance(stage, Choice):
            return self.pair(self.source.choice(stage.stages))
        if isinstance(stage, Joint):
            return self._composed(stage.stages)
        return self._filter(stage)

    def _may_be(self, stage: Stage | Inner, atoms: Atoms) -> bool:
        if not isinstance(stage, Assumed):
            return False
        return self._all(stage.guarantees, atoms)

    def _all(self, guarantees: tuple[Guarantee, ...], atoms: Atoms) -> bool:
        try:
            return all(has(one, atoms, self.at, assumed=True) for one in guarantees)
        except (Undefined, Unsure):
            return False

    def _count(self, item: object) -> int | None:
        value = Evaluator(self.at)(item)  # type: ignore[arg-type]
        whole = isinstance(value, Fraction) and value.denominator == 1 and value >= 1
        return int(value) if whole and isinstance(value, Fraction) else None

    def _assumed(self, guarantees: tuple[Guarantee, ...]) -> Atoms | None:
        """One of a few pairs with these guarantees."""
        key = guarantees, tuple(sorted(self.at.items()))
        pool = self._pools.get(key)
        if pool is None:
            found = (self._tightened(guarantees, shape) for shape in self._shapes(guarantees))
            pool = self._pools[key] = [atoms for atoms in found if atoms is not None]
        return self.source.choice(pool) if pool else None

    def _tightened(self, guarantees: tuple[Guarantee, ...], shape: Shape) -> Atoms | None:
        """The shape at about the largest parameter in [0, 1] at which it has the guarantees."""
        share = self._largest(lambda s: self._roughly(guarantees, shape(s)))
        for less in _LESS if share else (Fraction(1),):
            atoms = shape((share or Fraction(0)) * less)
            if self._all(guarantees, atoms):
                return atoms
        return None

    def _roughly(self, guarantees: tuple[Guarantee, ...], atoms: Atoms) -> bool:
        """Whether the pair has the guarantees, in floating point."""
        p, q = np.array([(as_float(x), as_float(y)) for x, y in atoms]).T
        env = floats(self.at)
        try:
            return all(reason(one, p, q, env, 0.0) is None for one in guarantees)
        except (Unsure, OverflowError):
            return False

    def _shapes(self, guarantees: tuple[Guarantee, ...]) -> Iterator[Shape]:
        """Randomised response with an outcome of infinite loss, and random pairs."""
        rays = [Fraction(0), *self._deltas(guarantees)]
        for delta in rays:
            yield lambda s, d=delta: _response(s, d)  # type: ignore[misc]
        for _ in range(_POOL):
            count = self.source.randint(2, 4)
            zeros = self.source.random() < 0.4
            p, q = (self._masses(count, zeros) for _ in range(2))
            mixed = self.source.random() < 0.5
            yield lambda s, p=p, q=q, m=mixed: _between(p, q, s, m)  # type: ignore[misc]

    def _deltas(self, guarantees: tuple[Guarantee, ...]) -> list[Fraction]:
        out = []
        for one in guarantees:
            if one.name in ("ApproxDP", "ProbabilisticDP") and one.args[1] is not None:
                try:
                    delta = Evaluator(self.at)(one.args[1])
                except (Undefined, Unsure):
                    continue
                exact = delta if isinstance(delta, Fraction) else _below(delta.middle)
                if 0 < exact < 1:
                    out += [exact, exact / 2]
        return out[:3]

    def _masses(self, count: int, zeros: bool) -> Row:
        while True:
            row = [self.source.choice(_WEIGHTS) for _ in range(count)]
            row = row if zeros else [max(1, weight) for weight in row]
            if any(row):
                return [Fraction(weight, sum(row)) for weight in row]

    def _processed(self, atoms: Atoms) -> Atoms:
        """Through a random map."""
        count = self.source.randint(1, 3)
        rows = [self._masses(count, zeros=True) for _ in atoms]
        out: list[tuple[Number, Number]] = []
        for j in range(count):
            p: Number = Fraction(0)
            q: Number = Fraction(0)
            for row, (x, y) in zip(rows, atoms, strict=True):
                p, q = plus(p, times(row[j], x)), plus(q, times(row[j], y))
            out.append((p, q))
        return merged(out)

    def _mechanism(self, mechanism: Mechanism) -> Atoms | None:
        """The masses of one of the pairs; densities in a few bins."""
        pair = self.source.choice(mechanism.pairs)
        at = self.parameters(pair)
        if at is None:
            return None
        if any(region.output is not None for region in pair.regions) or not pair.normalised:
            tries = (binned(pair, at, self.source) for _ in range(_BINNINGS))
            return next((atoms for atoms in tries if atoms is not None), None)
        values, out = Evaluator(at), list[tuple[Number, Number]]()
        for region in pair.regions:
            weight = Fraction(1) if region.weight is None else values(region.weight)
            out.append((times(weight, values(region.p)), times(weight, values(region.q))))
        if not all(at_most(Fraction(0), mass) for atom in out for mass in atom):
            return None
        return merged(out)

    def parameters(self, pair: Pair) -> Place | None:
        """The values, with some of the pair's own variables at which its facts hold."""
        if not pair.variables:
            return self.at
        kinds = {**dict.fromkeys(self.at, "real"), **dict(pair.variables)}
        try:
            drawn = Points(self.source).draw(pair.facts, kinds, 1, 8, extreme=False, base=self.at)
            found = next((at for at in drawn if {**at, **self.at} == at), None)
        except UndefinedFact:
            return None
        return found

    def _repeated(self, single: Inner, count: int) -> Atoms | None:
        return self._composed([single] * min(count, 64)) if count <= 64 else None

    def _chain(self, single: Inner, count: int) -> Atoms | None:
        """The ends of a chain of neighbours, in one direction, at most some steps of which move."""
        if not isinstance(single, Assumed):
            return None
        size = self.source.randint(2, 3)
        row = self._masses(size, zeros=False)
        first, far = row, self._masses(size, zeros=self.source.random() < 0.3)
        geometric = [self.source.choice((Fraction(1), Fraction(3, 2), Fraction(4))) for _ in row]
        for number in range(count):
            if number >= MOST_BUSY:
                if not self._may_be(single, _pairs(row, row)):
                    return None
                continue
            aim = far
            if self.source.random() < 0.7:
                grown = [x * factor for x, factor in zip(row, geometric, strict=True)]
                aim = [x / sum(grown) for x in grown]
            here = row
            found = self._largest(
                lambda s, here=here, aim=aim: self._may_be(  # type: ignore[misc]
                    single, _pairs(here, _mixed(here, aim, s))
                )
            )
            if found is None:
                return None
            row = _mixed(here, aim, found)
        return _pairs(first, row)

    def _blend(self, blend: Blend) -> Atoms | None:
        values = Evaluator(self.at)
        p_weights, q_weights = ([values(w) for w in side] for side in (blend.p, blend.q))
        hidden = self.source.choice((1, 1, 2))
        chances = self._masses(hidden, zeros=False)
        size = self.source.randint(2, 3)
        shown = self.source.random() < 0.4
        out: list[list[tuple[Number, Number]]] = []
        for chance in chances:
            rows = self._rows(blend, size)
            if rows is None:
                return None
            atoms: list[tuple[Number, Number]] = []
            for i in range(size):
                p: Number = Fraction(0)
                q: Number = Fraction(0)
                for weight, other, row in zip(p_weights, q_weights, rows, strict=True):
                    p, q = plus(p, times(weight, row[i])), plus(q, times(other, row[i]))
                atoms.append((times(chance, p), times(chance, q)))
            out.append(atoms)
        if shown:
            return merged([atom for atoms in out for atom in atoms])
        joined = out[0]
        for atoms in out[1:]:
            sums = zip(joined, atoms, strict=True)
            joined = [(plus(p, x), plus(q, y)) for (p, q), (x, y) in sums]
        return merged(joined)

    def _rows(self, blend: Blend, size: int) -> list[Row] | None:
        """Distributions of which the linked ones are pairs of what the links say: from random ones,
        first all that are moved towards one, then each alone."""
        zeros = self.source.random() < 0.3
        rows = [self._masses(size, zeros) for _ in blend.p]
        centre = self._masses(size, zeros=False)

        def fit(candidate: list[Row]) -> bool:
            return all(
                self._may_be(link.stage, _pairs(candidate[link.first], candidate[link.second]))
                for link in blend.links
            )

        share = self._largest(lambda s: fit([_mixed(centre, row, s) for row in rows]))
        if share is None:
            return None
        out = [_mixed(centre, row, share) for row in rows]
        for i in self.source.sample(range(len(out)), len(out)):
            here, aim = out[i], rows[i]
            more = self._largest(
                lambda s, i=i, here=here, aim=aim: fit(  # type: ignore[misc]
                    [*out[:i], _mixed(here, aim, s), *out[i + 1 :]]
                )
            )
            out[i] = here if more is None else _mixed(here, aim, more)
        return out

    def _largest(self, fits: Callable[[Fraction], bool]) -> Fraction | None:
        low, high = Fraction(0), Fraction(1)
        if fits(high):
            return high
        if not fits(low):
            return None
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low

    def _filter(self, stage: Filter) -> Atoms | None:
        """A few mechanisms, each of which may take any part of what is left of the budget."""
        budget = Evaluator(self.at)(stage.budget)
        if not isinstance(budget, Fraction) or budget < 0:
            return None
        return self._spent(stage, budget, self.source.randint(1, 3))

    def _spent(self, stage: Filter, budget: Fraction, rounds: int) -> Atoms | None:
        if not rounds:
            return SAME
        share = self.source.choice((Fraction(0), Fraction(1, 2), Fraction(1, 3), Fraction(1)))
        part = budget * share
        kept, self.at = self.at, {**self.at, stage.name: part}
        atoms = self._assumed(stage.stage.guarantees)
        self.at = kept
        if atoms is None:
            return None
        out: list[tuple[Number, Number]] = []
        for p, q in atoms:
            rest = self._spent(stage, budget - part, rounds - 1)
            if rest is None:
                return None
            out += [(times(p, x), times(q, y)) for x, y in rest]
        return merged(out)


def _below(middle: object) -> Fraction:
    return Fraction(int(mpmath.floor(middle * 2**40)), 2**40)  # type: ignore[operator]


def _response(strength: Fraction, delta: Fraction) -> Atoms:
    """Randomised response, with the mass delta on either ray."""
    keep = (1 + strength) / 2
    rest = 1 - delta
    zero = Fraction(0)
    atoms = [(delta, zero), (rest * keep, rest * (1 - keep)), (rest * (1 - keep), rest * keep)]
    return tuple((p, q) for p, q in [*atoms, (zero, delta)] if p or q)


def _mixed(here: Row, aim: Row, share: Fraction) -> Row:
    return [(1 - share) * x + share * y for x, y in zip(here, aim, strict=True)]


def _between(p: Row, q: Row, share: Fraction, both: bool) -> Atoms:
    """The pair, with q moved towards p, or both towards their mean."""
    if both:
        middle = _mixed(p, q, Fraction(1, 2))
        return _pairs(_mixed(middle, p, share), _mixed(middle, q, share))
    return _pairs(p, _mixed(p, q, share))


def _pairs(p: Row, q: Row) -> Atoms:
    return tuple((x, y) for x, y in zip(p, q, strict=True) if x or y)
