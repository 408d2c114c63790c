"""Events that break claims about explicit mechanisms.

Simple values of the parameters first, then steps from those where the claim holds with the least
room. At each point the claim's moment is integrated in floating point; where it seems too large,
the outputs that matter, with rational ends, go to the kernel.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from dpsym.events import Chosen, Event, Part
from dpsym.kernel.definitions import Moment, Range, Support
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import with_facts
from dpsym.kernel.statements import INTEGER, Mechanism, Pair, Statement
from dpsym.refutations import Refutation, refute
from dpsym.search.leaf.budget import Budget
from dpsym.search.leaf.numeric import Array, from_float, to_float
from dpsym.search.refutation.aims import Aim, Floats, aims, total_of
from dpsym.search.refutation.bins import binned_outlines, binned_parts
from dpsym.search.refutation.exact import Values, holds, simplest
from dpsym.search.refutation.outlines import NEGLIGIBLE, Outline, Outliner, measure
from dpsym.search.refutation.outputs import near
from dpsym.search.refutation.points import Points, menu, roles

_SIMPLE = 250  # points from the menus
_FIRST, _SHORT = 40, 1.3  # as many points only, if there are fewer seconds than these
_STEPS = 400  # steps from the best of them
_BEST = 6
_CLEAR = 1e-3  # an excess that is no rounding error
_LEAST = 1e-11
_ATTEMPTS = 4  # close calls that the kernel looks at
_SHIFTS = 8
_PATIENCE = 15  # points after which close calls are looked at
_PAIRS = 12  # choices of one pair for each stage
_MOST_ATOMS = 20_000
_FACTORS = (fmpq(2), fmpq(1, 2), fmpq(10), fmpq(1, 10), fmpq(5, 4), fmpq(4, 5), fmpq(3))
_MASS = 1e-6  # by which the logarithm of a mass may be off
_FAR = 600.0  # a logarithm of p below which an output is not used
_RADII = (3, 6, 10, 15)  # decimal places of half an interval for losses


@dataclass(frozen=True)
class Trial:
    """The aim, a pair for each stage with its variables' values, what was measured there."""

    aim: Aim
    values: dict[str, fmpq]
    pairs: tuple[int, ...]
    own: tuple[dict[str, fmpq], ...]
    outlines: tuple[list[Outline], ...]
    excess: float


def search(statement: Statement, budget: Budget) -> Refutation | None:
    """A checked witness, or ``None``; raises ``OutOfBudget`` when the time is over."""
    stages = [stage for stage in statement.stages if isinstance(stage, Mechanism)]
    if len(stages) < len(statement.stages) or not stages:
        return None
    return _Search(statement, stages, budget).run()


class _Search:
    def __init__(self, statement: Statement, stages: list[Mechanism], budget: Budget) -> None:
        self.statement, self.stages, self.budget = statement, stages, budget
        alone = len(stages) == 1  # then pure DP has a search of its own
        self.aims = [
            aim for aim in aims(statement) if not (alone and isinstance(aim.item, Support))
        ]
        self.outliners = {pair: Outliner(pair) for stage in stages for pair in stage.pairs}
        self.used_as = roles(statement)
        every = [range(len(stage.pairs)) for stage in stages]
        alike = [(i,) * len(stages) for i in every[0] if len(set(stages)) == 1 < len(stages)]
        others = islice(product(*every), _PAIRS if len(stages) > 1 else 10**4)
        self.choices = list(dict.fromkeys([*alike[:_PAIRS], *others]))
        self.close: list[Trial] = []

    def run(self) -> Refutation | None:
        if not self.aims:
            return None
        points = Points(self.statement.variables, self.statement.facts, self.used_as)
        ranked: list[tuple[float, dict[str, fmpq]]] = []
        short = self.budget.left() < _SHORT
        for count, values in enumerate(islice(points, _FIRST if short else _SIMPLE), 1):
            found, excess = self.look(values, wide=not ranked)
            if found is None and count % _PATIENCE == 0:
                found = self.closest()
            if found is not None:
                return found
            ranked.append((excess, values))
        found = self.closest()
        if found is not None or short or not self.statement.variables:
            return found
        return self.climb(points, ranked)

    def climb(
        self, points: Points, ranked: list[tuple[float, dict[str, fmpq]]]
    ) -> Refutation | None:
        rng = random.Random(1)
        best = sorted(ranked, key=lambda entry: -entry[0])[:_BEST]
        seen = {_key(values) for _, values in ranked}
        for _ in range(_STEPS):
            place = min(int(rng.expovariate(0.7)), len(best) - 1)
            if place < 0:
                break
            values = self.step(points, best[place][1], rng)
            if values is None or _key(values) in seen:
                continue
            seen.add(_key(values))
            found, excess = self.look(values)
            if found is not None:
                return found
            if excess > best[-1][0] or len(best) < _BEST:
                best = sorted([*best, (excess, values)], key=lambda entry: -entry[0])[:_BEST]
        return self.closest()

    def step(
        self, points: Points, values: dict[str, fmpq], rng: random.Random
    ) -> dict[str, fmpq] | None:
        """Other values for one or two of the parameters, if the facts hold there."""
        changed = dict(values)
        kinds = dict(self.statement.variables)
        for name in rng.sample(points.order, min(len(points.order), rng.choice((1, 1, 2)))):
            kind = INTEGER if kinds[name] == INTEGER else self.used_as.get(name, "")
            options = [*points.choices(name, changed), *menu(kind)]
            options += [changed[name] * factor for factor in _FACTORS]
            if kinds[name] == INTEGER:
                options = [value for value in options if value.q == 1]
            changed[name] = rng.choice(options) if options else changed[name]
        return changed if all(holds(fact, changed) for fact in self.statement.facts) else None

    def look(self, values: dict[str, fmpq], wide: bool = True) -> tuple[Refutation | None, float]:
        """A witness with these values of the parameters; else the largest excess."""
        largest = -math.inf
        for pairs in self.choices:
            for own in self.own(values, pairs, wide):
                for aim in self.aims:
                    self.budget.check()
                    trial = self.trial(aim, values, pairs, own)
                    if trial is None:
                        continue
                    if trial.excess > _CLEAR:
                        found = self.confirm(trial)
                        if found is not None:
                            return found, trial.excess
                    elif trial.excess > _LEAST:
                        self.close.append(trial)
                    if not math.isnan(trial.excess):
                        largest = max(largest, trial.excess)
        return None, largest

    def closest(self) -> Refutation | None:
        """A witness among the trials with little excess."""
        largest = sorted(self.close, key=lambda trial: -trial.excess)[:_ATTEMPTS]
        for trial in [*self.close[:_ATTEMPTS], *largest]:
            self.budget.check()
            found = self.confirm(trial)
            if found is not None:
                return found
        self.close.clear()
        return None

    def own(
        self, values: dict[str, fmpq], pairs: tuple[int, ...], wide: bool
    ) -> Iterator[tuple[dict[str, fmpq], ...]]:
        """Values of the pairs' variables, the ends of their limits first; for several stages the
        same place in each list."""
        lists = [
            list(islice(self.shifts(stage.pairs[i], values), _SHIFTS if wide else 2))
            for stage, i in zip(self.stages, pairs, strict=True)
        ]
        if all(lists):
            for k in range(max(map(len, lists))):
                yield tuple(options[k % len(options)] for options in lists)

    def shifts(self, pair: Pair, values: dict[str, fmpq]) -> Iterator[dict[str, fmpq]]:
        facts = with_facts(self.statement.facts, *pair.facts)
        points = Points(pair.variables, facts, {})
        options: list[list[fmpq]] = []
        names = [name for name, _ in pair.variables]
        for name in names:
            known = points.choices(name, values)
            far = sorted(known, key=lambda value: -abs(to_float(value)))
            ends = [max(known), min(known)] if known else []
            options.append(list(dict.fromkeys([*ends, *far[2:5], *known])))
        for chosen in product(*options):
            own = dict(zip(names, chosen, strict=True))
            if all(holds(fact, {**values, **own}) for fact in pair.facts):
                yield own

    # -- in floating point

    def binned(self, aim: Aim) -> bool:
        """Whether a moment of several stages comes from masses of intervals."""
        many = len(self.stages) > 1 and aim.claim.name == "ApproxDP"
        regions = [r for stage in self.stages for pair in stage.pairs for r in pair.regions]
        return many and any(region.output is not None for region in regions)

    def trial(
        self,
        aim: Aim,
        values: dict[str, fmpq],
        pairs: tuple[int, ...],
        own: tuple[dict[str, fmpq], ...],
    ) -> Trial | None:
        floats = _floats(values)

        def psi(p: Array, q: Array) -> Array:
            return aim.contributions(p, q, floats)

        outlines: list[list[Outline]] = []
        for stage, place, mine in zip(self.stages, pairs, own, strict=True):
            here = {**floats, **_floats(mine)}
            outliner = self.outliners[stage.pairs[place]]
            if self.binned(aim):
                outlines.append(outliner(here, _first, aim.claim.reverse, None, math.inf))
                continue
            split, limit = aim.split(floats), aim.limit(floats)
            outlines.append(outliner(here, psi, aim.claim.reverse, split, limit))
        total = _Measured(aim, outlines, floats).total
        pair = self.stages[0].pairs[pairs[0]]
        if total is not None and not pair.normalised and isinstance(aim.item, Moment):
            found = self.outliners[pair](
                {**floats, **_floats(own[0])}, _first, False, None, math.inf
            )
            total -= measure(found, _first)
        if total is None:
            return None
        excess = aim.excess(total, floats)
        return Trial(aim, values, pairs, own, tuple(outlines), excess)

    # -- for the kernel

    def confirm(self, trial: Trial) -> Refutation | None:
        if isinstance(trial.aim.item, Moment) and not self.plausible(trial):
            return None
        for event in self.events(trial):
            try:
                return refute(self.statement, trial.values, event, trial.aim.order)
            except Refusal:
                continue
        return None

    def plausible(self, trial: Trial) -> bool:
        """Whether P and Q seem to have mass 1, as the statement says; if not, nothing that follows
        from it should be shown."""
        floats = _floats(trial.values)
        for stage, place, own in zip(self.stages, trial.pairs, trial.own, strict=True):
            pair = stage.pairs[place]
            if not pair.normalised:
                continue  # the kernel looks for the factor
            here = {**floats, **_floats(own)}
            for reverse in (False, True):
                found = self.outliners[pair](here, _first, reverse, None, math.inf)
                if abs(measure(found, _first)) > _MASS:
                    return False
        return True

    def events(self, trial: Trial) -> Iterator[Event]:
        stages = [
            (stage.pairs[place], place, own, outlines)
            for stage, place, own, outlines in zip(
                self.stages, trial.pairs, trial.own, trial.outlines, strict=True
            )
        ]
        floats = _floats(trial.values)
        if self.binned(trial.aim):
            most = _bins_for(len(stages))
            yield Event(
                tuple(
                    Chosen(place, own, tuple(binned_parts(pair, outlines, most)))
                    for pair, place, own, outlines in stages
                )
            )
            return
        if isinstance(trial.aim.item, Moment):
            chosen = []
            for pair, place, own, outlines in stages:
                logs = [trial.aim.contributions(o.p, o.q, floats) for o in outlines]
                chosen.append(Chosen(place, own, tuple(_parts(pair, outlines, logs))))
            yield Event(tuple(chosen))
            return
        both = isinstance(trial.aim.item, Range)
        for places, simple in product(_RADII, (True, False)):
            radius = fmpq(1, 10**places)
            yield Event(
                tuple(
                    Chosen(place, own, tuple(_spots(pair, outlines, both, radius, simple)))
                    for pair, place, own, outlines in stages
                )
            )


class _Measured:
    """What the claim bounds, for the joint distributions of the stages."""

    def __init__(self, aim: Aim, outlines: list[list[Outline]], floats: Floats) -> None:
        self.aim, self.outlines, self.floats = aim, outlines, floats

    def psi(self, p: Array, q: Array) -> Array:
        return self.aim.contributions(p, q, self.floats)

    @cached_property
    def total(self) -> float | None:
        """As ``Aim.excess`` takes it; ``None`` if it is not known how."""
        if not isinstance(self.aim.item, Moment):
            return self._losses()
        if len(self.outlines) == 1:
            return measure(self.outlines[0], self.psi)
        if all(not outline.edges.size for stage in self.outlines for outline in stage):
            joint = _joint(self.outlines)
            return None if joint is None else total_of(self.psi(*joint[:2]), joint[2])
        if self.aim.claim.name == "ApproxDP":
            most = _bins_for(len(self.outlines))
            joint = _joint([binned_outlines(stage, most) for stage in self.outlines])
            return None if joint is None else total_of(self.psi(*joint[:2]), joint[2])
        each = [measure(stage, self.psi) for stage in self.outlines]
        if self.aim.claim.name == "RenyiDP":
            return sum(each)
        if self.aim.claim.name == "KLDP":
            return total_of(np.asarray(each), np.ones(len(each)))
        if self.aim.claim.name == "RenyiDPBelowOne":
            left = math.prod(1 - math.exp(min(part, 0.0)) for part in each)
            return math.log1p(-left) if left < 1 else -math.inf
        return None

    def _losses(self) -> float:
        total = 0.0
        for stage in self.outlines:
            losses = np.concatenate([_loss(outline) for outline in stage])
            losses = losses[~np.isnan(losses)]
            if not losses.size:
                return -math.inf
            total += float(losses.max())
            if isinstance(self.aim.item, Range):
                total -= float(losses.min())
        return total


def _loss(outline: Outline) -> Array:
    """The losses at the nodes that can be used; nan elsewhere."""
    with np.errstate(all="ignore"):
        usable = (outline.p > -_FAR) & (outline.weights > 0)
        return np.where(usable, outline.p - outline.q, np.nan)


def _joint(stages: list[list[Outline]]) -> tuple[Array, Array, Array] | None:
    """Logarithms of the joint probabilities, and how many outcomes have them."""
    joint: tuple[Array, Array, Array] = np.zeros(1), np.zeros(1), np.ones(1)
    for stage in stages:
        one = [np.concatenate([getattr(o, name) for o in stage]) for name in ("p", "q", "weights")]
        p = (joint[0][:, None] + one[0]).ravel()
        q = (joint[1][:, None] + one[1]).ravel()
        weights = (joint[2][:, None] * one[2]).ravel()
        if p.size > 50 * _MOST_ATOMS:
            return None
        rounded = np.round(np.stack([p, q]), 9)
        _, first, inverse = np.unique(rounded, axis=1, return_index=True, return_inverse=True)
        joint = p[first], q[first], _summed(inverse.ravel(), weights)
        if joint[0].size > _MOST_ATOMS:
            return None
    return joint


def _bins_for(stages: int) -> int:
    return {2: 160, 3: 40, 4: 22, 5: 15}.get(stages, 8)


def _summed(places: NDArray[np.intp], weights: Array) -> Array:
    return np.bincount(places, weights).astype(np.float64)


def _floats(values: Values) -> dict[str, float]:
    return {name: to_float(value) for name, value in values.items()}


def _first(p: Array, _: Array) -> Array:
    return p


def _key(values: Values) -> tuple[str, ...]:
    return tuple(map(str, values.values()))


# -- rational intervals


def _parts(pair: Pair, outlines: list[Outline], logs: list[Array]) -> Iterator[Part]:
    """The intervals of outputs that matter."""
    with np.errstate(all="ignore"):
        sizes = [log + np.log(outline.weights) for log, outline in zip(logs, outlines, strict=True)]
    sizes = [np.where(np.isnan(size), -np.inf, size) for size in sizes]
    top = max((float(size.max()) for size in sizes if size.size), default=-math.inf)
    for outline, size in zip(outlines, sizes, strict=True):
        region = pair.regions[outline.place]
        if region.output is None or not outline.x.size:
            continue
        used = size >= min(top, 1e300) - NEGLIGIBLE
        if region.kind == INTEGER:
            runs = [(outline.x[i], outline.x[j]) for i, j in _runs(used)]
            within = tuple((fmpq(int(low)), fmpq(int(high))) for low, high in runs)
        else:
            within = tuple(_intervals(outline, size > -np.inf, used))
        if within:
            yield Part(outline.place, _apart(within))


def _runs(used: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The first and last place of each run of true values."""
    steps = np.diff(np.concatenate([[0], used.astype(int), [0]]))
    starts, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) - 1
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


def _intervals(
    outline: Outline, some: NDArray[np.bool_], used: NDArray[np.bool_]
) -> Iterator[tuple[fmpq, fmpq]]:
    """Runs of panels with something, from the first to the last that matters; rational ends."""
    if not used.any():
        return
    edges, panels = outline.edges, np.zeros(outline.edges.size - 1, dtype=bool)
    panels[outline.panel[some].astype(int)] = True
    matter = outline.panel[used].astype(int)
    inner = panels.copy()
    inner[: matter.min()] = inner[matter.max() + 1 :] = False
    for first, last in _runs(inner):
        ends = []
        for place, inside, outside in ((first, first, first - 1), (last + 1, last, last + 1)):
            x, inward = float(edges[place]), float(edges[inside + (place == inside)])
            if 0 <= outside < panels.size and panels[outside]:  # little is there
                other = float(edges[outside if outside < place else outside + 1])
                ends.append(_end(x, (other - x) / 2))
            elif place in (0, edges.size - 1) and inside not in matter:
                ends.append(_end(x, (inward - x) / 10))
            else:  # something begins here
                sign = 1 if inward > x else -1
                ends.append(_end(x, sign * max(abs(inward - x) / 10**15, abs(x) / 2**51)))
        yield ends[0], ends[1]


def _end(x: float, room: float) -> fmpq:
    """The number itself if it is simple, else a simple one within so much on one side of it."""
    plain = near(x)
    if to_float(plain) == x and plain.q < 10**6:
        return plain
    one, other = from_float(x), from_float(x) + from_float(room)
    return simplest(min(one, other), max(one, other)) if one != other else one


def _apart(within: tuple[tuple[fmpq, fmpq], ...]) -> tuple[tuple[fmpq, fmpq], ...]:
    kept: list[tuple[fmpq, fmpq]] = []
    for low, high in within:
        if low <= high and (not kept or low >= kept[-1][1]):
            kept.append((low, high))
    return tuple(kept)


def _spots(
    pair: Pair, outlines: list[Outline], both: bool, radius: fmpq, simple: bool
) -> Iterator[Part]:
    """Small intervals around the output of the largest loss and, for ``both``, the least one."""
    ends: dict[int, list[fmpq]] = {}
    for sign in (1.0, -1.0) if both else (1.0,):
        best: tuple[float, float, Outline, float] | None = None
        for outline in outlines:
            losses = sign * _loss(outline)
            if not np.any(~np.isnan(losses)):
                continue
            top = float(np.nanmax(losses))
            level = losses >= (top - 1e-13 * max(1.0, abs(top)) if math.isfinite(top) else top)
            x = float(min(outline.x[level], key=abs))
            if best is None or top > best[0]:
                best = top, x, outline, sign
        if best is not None and pair.regions[best[2].place].output is not None:
            x = best[1]
            room = radius if abs(from_float(x)) < radius else abs(from_float(x)) / 20
            rough = simplest(from_float(x) - room, from_float(x) + room)
            spot = rough if simple and pair.regions[best[2].place].kind != INTEGER else near(x)
            ends.setdefault(best[2].place, []).append(spot)
    for place, spots in ends.items():
        whole = pair.regions[place].kind == INTEGER
        within = tuple((x, x) if whole else (x - radius, x + radius) for x in sorted(set(spots)))
        yield Part(place, within)
