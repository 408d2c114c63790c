"""Particular neighbours of a subject at given numbers: what is true of them bounds its loss below.

A subject stands for many pairs of output distributions, those of every mechanism that has a
guarantee, every shift within a sensitivity, every adaptive choice. A claim is about all of them,
so one of them that breaks it is enough. These are chosen to be bad ones, without adaptivity and
with independent stages; that they are among the subject's is all that matters here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, product
from typing import Any

import flint
import sympy as sp
from flint import arb

from dpsym.combinators import Composition, Postprocessed
from dpsym.enclosures.divergences import Pair, mass, pair_of
from dpsym.enclosures.failures import Infinite, NoEnclosureError, Undecided
from dpsym.enclosures.families import worst_pairs
from dpsym.enclosures.numbers import ball, sign
from dpsym.errors import InputError
from dpsym.guarantees import (
    GDP,
    TCDP,
    ZCDP,
    ApproxDP,
    Both,
    BoundedRange,
    Guarantee,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
)
from dpsym.mechanisms.additive import AdditiveNoise
from dpsym.mechanisms.base import Mechanism, Neighbours, Part
from dpsym.mechanisms.densities import DensityPair, PMFPair
from dpsym.mechanisms.noise import Density, Gaussian, Masses
from dpsym.mechanisms.vectors import VectorGaussian
from dpsym.stages import Filtered, Grouped, Parallel, Repeated, Subsampled, group
from dpsym.testing.substituting import at

__all__ = ["Stage", "World", "worlds"]

_MOST_WORLDS = 64
_MASS_BITS = 24
_CHAIN_BITS = 512
_FIRST, _SECOND = (sp.S.One, sp.S.Zero), (sp.S.Zero, sp.S.One)
_X = sp.Dummy("x", real=True)
Weights = tuple[sp.Expr, sp.Expr]


@dataclass(frozen=True)
class Stage:
    """Two output distributions ``a[0] P + a[1] Q`` and ``b[0] P + b[1] Q`` of a pair (P, Q).

    The pair is ``given``, or it is two Gaussians of variance 1 at a ``distance``, or the joint
    distributions of several stages, ``inside``. ``settled`` if there is no need to look at the two
    the other way round.
    """

    given: Pair | None = None
    distance: sp.Expr | None = None
    inside: World | None = None
    a: Weights = _FIRST
    b: Weights = _SECOND
    settled: bool = False

    @property
    def pair(self) -> Pair:
        return _gaussians(self.distance) if self.given is None else self.given

    @property
    def explicit(self) -> bool:
        """Whether the pair is known by densities, or by masses of infinitely many outputs."""
        return self.inside is None and bool(self.pair.line or self.pair.lattice)

    @property
    def plain(self) -> bool:
        """Whether the distributions are P and Q themselves."""
        return self.a == _FIRST and self.b == _SECOND

    def reversed(self) -> Stage:
        if self.plain:
            return self if self.given is None else replace(self, given=self.given.reversed())
        return replace(self, a=self.b, b=self.a)


@dataclass(frozen=True)
class World:
    """Stages that run independently of each other, each so many times."""

    stages: tuple[tuple[Stage, int], ...]

    @property
    def count(self) -> int:
        return sum(times for _, times in self.stages)

    @property
    def settled(self) -> bool:
        return all(stage.settled for stage, _ in self.stages)

    def reversed(self) -> World:
        return World(tuple((stage.reversed(), times) for stage, times in self.stages))


def worlds(subject: object, one_way: bool = False) -> Iterator[World]:
    """Some worlds of a subject whose parameters are numbers; unless ``one_way``, one that is not
    settled counts the other way round as well.

    Raises: NoEnclosureError for a subject of which none is known.

    >>> [world] = worlds(PureDP(1))
    >>> [len(stage.pair.atoms) for stage, _ in world.stages]
    [2]
    """
    parts = subject.parts if isinstance(subject, Composition) else (subject,)
    times = {part: parts.count(part) for part in parts}
    lists = [list(islice(_of_part(part, one_way), _MOST_WORLDS)) for part in times]
    for choice in islice(product(*lists), _MOST_WORLDS):
        yield World(
            tuple(
                (stage, copies * count)
                for world, count in zip(choice, times.values(), strict=True)
                for stage, copies in world.stages
            )
        )


def _of_part(part: object, one_way: bool) -> Iterator[World]:
    if isinstance(part, Repeated):
        for world in worlds(part.subject, one_way):
            yield World(tuple((stage, n * int(part.count)) for stage, n in world.stages))
    elif isinstance(part, Parallel):
        for one in part.parts:
            yield from worlds(one, one_way)
    elif isinstance(part, Filtered):
        yield from _filtered(part, one_way)
    elif isinstance(part, Grouped):
        yield from _chained(part.subject, int(part.count), one_way)
    elif isinstance(part, Subsampled):
        yield from _sampled(part)
    else:
        inner = part.subject if isinstance(part, Postprocessed) else part
        yield from (World(((stage, 1),)) for stage in _single(inner, one_way))


def _single(subject: object, one_way: bool) -> Iterator[Stage]:
    if isinstance(subject, Mechanism):
        yield from _of_mechanism(subject, one_way, 1)
    elif isinstance(subject, (Guarantee, Both)):
        yield _grouped_guarantee(subject, 1)
    else:
        raise NoEnclosureError(f"no neighbours of a {type(subject).__name__} are known")


def _of_mechanism(mechanism: Mechanism, one_way: bool, size: int) -> Iterator[Stage]:
    """The pairs that count, or those with ``size`` steps between neighbours."""
    distance = _gaussian_noise(mechanism)
    if distance is not None:
        yield Stage(distance=distance * size, settled=True)
        return
    families = mechanism.neighbours()
    for family in families if size == 1 else _chains(families, size):
        worst = worst_pairs((family,), one_way)
        pairs = [*worst.below]
        for shifts in worst.shifts:
            pairs += shifts.pairs(sp.S.One)
        for pair in pairs:
            _refuse_other_masses(mechanism, pair)
            yield Stage(pair, settled=True)


def _gaussian_noise(mechanism: Mechanism) -> sp.Expr | None:
    """The largest distance of the answers over sigma, for Gaussian noise."""
    if type(mechanism) is VectorGaussian:
        calibrated = Gaussian(mechanism.sigma, mechanism.noise_multiplier)
        sigma = calibrated.calibrated(mechanism.l2_sensitivity).sigma
        return None if sigma is None else mechanism.l2_sensitivity / sigma
    if type(mechanism) is AdditiveNoise and type(mechanism.noise) is Gaussian:
        return mechanism.sensitivity / mechanism.noise.sigma
    return None


@lru_cache(maxsize=256)
def _refuse_other_masses(mechanism: Mechanism, pair: Pair) -> None:
    """InputError for what somebody wrote down as distributions and certainly is none."""
    if not pair.normalised or (_known(mechanism) and (pair.line or pair.lattice)):
        return
    for name, side in (("p", pair), ("q", pair.reversed())):
        if any(sign(atom[0]) < 0 for atom in side.atoms):
            raise InputError(name, "probabilities", mechanism, got="a negative one")
        try:
            total = mass(side, _MASS_BITS)
        except Undecided:
            continue
        except Infinite:
            total = arb("inf")
        if not total.contains(1):
            raise InputError(
                name,
                "the density of a distribution",
                mechanism,
                got=f"one of total mass {total.str(8, radius=False)}",
            )


def _known(mechanism: Mechanism) -> bool:
    """Whether its densities are the library's own."""
    noise = getattr(mechanism, "noise", None)
    own = isinstance(mechanism, (DensityPair, PMFPair)) or isinstance(noise, (Density, Masses))
    return not own and all(
        type(item).__module__.startswith("dpsym.mechanisms.")
        for item in (mechanism, *(() if noise is None else (noise,)))
    )


# --- sampling, groups, filters --------------------------------------------------------------------


def _sampled(part: Subsampled) -> Iterator[World]:
    """With a record in the sample, or without it: q A + (1 - q) B against B.

    For samples of a fixed size the record that takes its place may be one like the other's. With
    replacement, what is published depends only on whether the record is drawn at all.
    """
    q = 1 - (1 - part.rate) ** (part.draws or 1)
    for world in worlds(_strictest(part.subjects), one_way=True):
        if q == 1:
            yield world
            continue
        stage = _as_one(world)
        yield World(((replace(stage, a=_between(q, stage.a, stage.b), settled=False), 1),))
        if part.relation == "replace-one":
            yield World(((replace(stage, b=_between(q, stage.b, stage.a), settled=False), 1),))


def _between(q: sp.Expr, first: Weights, second: Weights) -> Weights:
    return q * first[0] + (1 - q) * second[0], q * first[1] + (1 - q) * second[1]


def _as_one(world: World) -> Stage:
    """A stage whose outputs are those of all stages of a world."""
    if world.count == 1:
        return world.stages[0][0]
    if all(stage.plain and stage.distance is not None for stage, _ in world.stages):
        squares = (times * (stage.distance or 0) ** 2 for stage, times in world.stages)
        return Stage(distance=sp.sqrt(sp.Add(*squares)))
    return Stage(inside=world)


def _strictest(subjects: tuple[Any, ...]) -> Any:
    """What has the guarantees of all."""
    first, *others = subjects
    if not others:
        return first
    if type(first) not in (PureDP, ApproxDP, ZCDP, GDP) or {type(x) for x in others} != {
        type(first)
    }:
        raise NoEnclosureError("of a list of guarantees, those of one notion are known")
    columns = zip(*([getattr(one, name) for name in first.fields] for one in subjects), strict=True)
    return type(first)(*(sp.Min(*column) for column in columns))


def _filtered(part: Filtered, one_way: bool) -> Iterator[World]:
    for count in (1, 2, 4, 16):
        share = part.budget / count
        for stage in _single(at(part.subject, {part.parameter: share}), one_way):
            yield World(((stage, count),))


def _chained(subject: object, size: int, one_way: bool) -> Iterator[World]:
    """Ends of chains with ``size`` steps; what is made of several takes each step in all of them.

    A sample takes one step, where the others may be between equals: those of guarantees may.
    """
    if isinstance(subject, Grouped):
        yield from _chained(subject.subject, size * int(subject.count), one_way)
    elif isinstance(subject, (Composition, Parallel)):
        parts = tuple(group(part, size) for part in subject.parts)  # type: ignore[arg-type]
        yield from worlds(type(subject)(parts), one_way)
    elif isinstance(subject, Repeated):
        step = group(subject.subject, size)
        yield from worlds(replace(subject, subject=step), one_way)
    elif isinstance(subject, Subsampled) and isinstance(subject.subject, Guarantee):
        yield from worlds(subject, one_way)
    else:
        yield from (World(((stage, 1),)) for stage in _grouped(subject, size, one_way))


def _grouped(subject: object, size: int, one_way: bool) -> Iterator[Stage]:
    if isinstance(subject, (Guarantee, Both)):
        yield _grouped_guarantee(subject, size)
    elif isinstance(subject, Mechanism):
        yield from _of_mechanism(subject, one_way, size)
    else:
        raise NoEnclosureError(f"no neighbours of a group of {type(subject).__name__} are known")


def _chains(families: tuple[Neighbours, ...], size: int) -> Iterator[Neighbours]:
    """Pairs with ``size`` steps between neighbours from the one to the other."""
    fixed = [family for family in families if family.shift is None]
    for family in families:
        if family.shift is not None:
            yield _moved(family, size)
    if not fixed:
        return
    sides = [[_side(family, first) for first in (True, False)] for family in fixed]
    steps: dict[Side, set[Side]] = {}
    for first, second in sides:
        steps.setdefault(first, set()).add(second)
    for start in steps:
        reached = {start}
        for _ in range(size):
            reached = {end for item in reached for end in steps.get(item, ())}
        for end in reached:
            parts = _joined(start, end)
            if parts is not None:
                yield Neighbours(parts, normalised=all(family.normalised for family in fixed))


def _moved(family: Neighbours, size: int) -> Neighbours:
    """For q(x) = p(x - t) the shifts add up."""
    x, t = family.parts[0].variable, family.shift
    whole = len(family.parts) == 1 and family.parts[0].support is sp.S.Reals
    translated = whole and x is not None and t is not None
    if not translated or family.parts[0].q != family.parts[0].p.xreplace({x: x - t}):  # type: ignore[operator]
        if size == 1:
            return family
        raise NoEnclosureError("groups are known for noise that is moved, and for tables")
    low, high = family.low, family.high
    return replace(
        family, low=None if low is None else low * size, high=None if high is None else high * size
    )


Side = tuple[tuple[Any, ...], ...]


def _side(family: Neighbours, first: bool) -> Side:
    return tuple(
        (part.variable, part.support, part.integer, part.weight, part.p if first else part.q)
        for part in family.parts
    )


def _joined(start: Side, end: Side) -> tuple[Part, ...] | None:
    parts = []
    if len(start) != len(end):
        return None
    for one, other in zip(start, end, strict=True):
        if one[:4] != other[:4]:
            return None
        variable, support, integer, weight, p = one
        parts.append(Part(p, other[4], variable, support, integer, weight))
    return tuple(parts)


# --- bad mechanisms that have a guarantee ---------------------------------------------------------


def _grouped_guarantee(subject: Guarantee | Both, size: int) -> Stage:
    """A pair, with ``size`` - 1 distributions between its two, that has the guarantee at each step.

    Randomized response, with some outputs that tell all (Kairouz, Oh, Viswanath, ICML 2015); or
    Gaussians of variance 1.
    """
    if isinstance(subject, Both):
        raise NoEnclosureError("no bad mechanism that has several guarantees at once is known")
    mu = _gaussian(subject)
    if mu is not None:
        return Stage(distance=mu * size, settled=True)
    epsilon, delta = _pure(subject)
    if size > 1:
        if isinstance(subject, ProbabilisticDP):  # what grows by delta has a large loss
            delta = sp.S.Zero
        return Stage(_response_chain(epsilon, delta, size))
    odds = sp.exp(epsilon)
    keep, lie = (1 - delta) * odds / (1 + odds), (1 - delta) / (1 + odds)
    atoms = [(keep, lie, sp.S.One), (lie, keep, sp.S.One)]
    if delta != 0:
        atoms += [(delta, sp.S.Zero, sp.S.One), (sp.S.Zero, delta, sp.S.One)]
    return Stage(Pair(atoms=tuple(atoms)), settled=True)


def _gaussian(subject: Guarantee) -> sp.Expr | None:
    """The distance of two Gaussians of variance 1 that have the guarantee."""
    if isinstance(subject, GDP):
        return subject.mu
    if isinstance(subject, (ZCDP, TCDP)):
        return sp.sqrt(2 * subject.rho)
    if isinstance(subject, RenyiDP) and subject.alpha is not sp.oo:
        return sp.sqrt(2 * subject.epsilon / subject.alpha)
    return None


@lru_cache(maxsize=256)
def _gaussians(mu: sp.Expr) -> Pair:
    def density(x: sp.Expr) -> sp.Expr:
        return sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi)

    return pair_of((Part(density(_X - mu), density(_X), _X),))


def _pure(subject: Guarantee) -> tuple[sp.Expr, sp.Expr]:
    """An (epsilon, delta) so that randomized response with it has the guarantee."""
    if isinstance(subject, (ApproxDP, ProbabilisticDP)):
        return subject.epsilon, subject.delta
    if isinstance(subject, PureDP) or (isinstance(subject, RenyiDP) and subject.alpha is sp.oo):
        return subject.epsilon, sp.S.Zero
    if isinstance(subject, BoundedRange):
        return subject.epsilon / 2, sp.S.Zero
    raise NoEnclosureError(f"no bad mechanism that has a {type(subject).__name__} is known")


def _response_chain(epsilon: sp.Expr, delta: sp.Expr, size: int) -> Pair:
    """Two outputs, the first one of a probability that grows as fast as the guarantee lets it.

    From p to e^epsilon p + delta; the other output's then falls from 1 - p by no more than that as
    long as e^epsilon p + delta <= (e^epsilon + delta)/(1 + e^epsilon). So the last one is this, if
    the first one can be that small.
    """
    with flint.ctx.workprec(_CHAIN_BITS):
        odds, extra = ball(epsilon).exp(), ball(delta)
        start = (odds + extra) / (1 + odds)
        for _ in range(size):
            start = (start - extra) / odds
        first = last = max(_dyadic(start.upper(), up=True), sp.S.Zero)
        for _ in range(size):
            # each step may be shorter than it could be, so all of them may be rounded
            p = ball(last)
            furthest = (odds * p + extra).min(1 - (1 - p - extra) / odds).min(arb(1))
            last = max(_dyadic(furthest.lower(), up=False), last)
    return Pair(atoms=((last, first, sp.S.One), (1 - last, 1 - first, sp.S.One)))


def _dyadic(value: arb, up: bool) -> sp.Rational:
    """A number of at most ``_CHAIN_BITS`` binary places, no smaller or no larger."""
    scaled = value * arb(2) ** _CHAIN_BITS
    whole = scaled.upper().ceil() if up else scaled.lower().floor()
    return sp.Rational(int(whole.unique_fmpz() or 0), 1 << _CHAIN_BITS)
