"""Explicit densities and masses on grids of outputs, in floating point, coarse and fine.

The two say how good they are. What is nearer than ``CLEAR`` is left open, so that what is equal is
never taken for a violation; a claim that is a little false can pass.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import mpmath
import numpy as np

from dpsym.audit.guarantees import ORDERS, Atoms
from dpsym.audit.points import Place, bounds, floats
from dpsym.audit.values import Ball, Unsure
from dpsym.kernel.statements import INTEGER, RATIO, Fact, Guarantee, Pair, Region
from dpsym.kernel.terms import Term

Array: TypeAlias = Any
CLEAR = 2e-3  # by how much, relatively, a claim must be false
EXACT = 2e-4  # how far from 1 a mass may be seen
_FAR = 9.0  # asinh of the largest output
_SIZES = (6000, 9001)


@lru_cache(maxsize=20)
def _line(size: int, low: float, high: float) -> tuple[Array, Array]:
    """Gauss points of panels that are narrow near 0 and reach to about 4000, or to the ends, and
    their weights."""
    edges = np.sinh(np.linspace(-_FAR - 0.0137, _FAR, size))
    inner = edges[(edges > low) & (edges < high)]
    finite = [np.array([end]) for end in (low, high) if math.isfinite(end)]
    edges = np.sort(np.concatenate([inner, *finite]))
    nodes, weights = np.polynomial.legendre.leggauss(3)
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    return (middle[:, None] + half[:, None] * nodes).ravel(), (half[:, None] * weights).ravel()


@lru_cache(maxsize=2)
def _whole(size: int) -> tuple[Array, Array]:
    places = np.arange(-float(size // 10), float(size // 10 + 1))
    return places, np.ones(len(places))


def array(item: Term, env: Mapping[str, Array]) -> Array:
    """The term at every point at once; nan where it is undefined."""
    memo: dict[Term, Array] = {}

    def walk(node: Term) -> Array:
        if node not in memo:
            memo[node] = made(node)
        return memo[node]

    def made(node: Term) -> Array:
        op = node.op
        if op == "num":
            return int(node.value.p) / int(node.value.q)
        if op == "var":
            if node.value not in env:
                raise Unsure
            return env[node.value]
        if op == "pi":
            return math.pi
        args = [walk(arg) for arg in node.args]
        if op in ("add", "mul"):
            out = args[0]
            for arg in args[1:]:
                out = out + arg if op == "add" else out * arg
            return out
        if op == "pow":
            count = int(node.value)
            base = np.where(np.equal(args[0], 0), np.nan, args[0]) if count < 0 else args[0]
            return np.asarray(base, dtype=float) ** float(count)
        if op == "ite":
            chosen = np.where(np.greater_equal(args[0], 0), args[1], args[2])
            return np.where(np.isnan(args[0]), np.nan, chosen)
        if op in ("max", "min"):
            return (np.maximum if op == "max" else np.minimum)(*args)
        return _FUNCTIONS[op](np.asarray(args[0], dtype=float))

    with np.errstate(all="ignore"):
        return walk(item)


def _log(arg: Array) -> Array:
    return np.log(np.where(arg > 0, arg, np.nan))


_erfc = np.vectorize(math.erfc, otypes=[float])
_lgamma = np.vectorize(lambda x: math.lgamma(x) if x > 0 else math.nan, otypes=[float])
_FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "log": _log,
    "sqrt": np.sqrt,
    "erfc": _erfc,
    "atan": np.arctan,
    "lgamma": _lgamma,
    "abs": np.abs,
}


def true(facts: tuple[Fact, ...], env: Mapping[str, Array]) -> Array:
    """Where all facts are defined and hold."""
    held: Array = True
    for fact in facts:
        number = array(fact.term, env)
        with np.errstate(all="ignore"):
            side = {">=": np.greater_equal, ">": np.greater, "!=": np.not_equal}[fact.rel]
            held = held & side(number, 0) & ~np.isnan(number)
    return held


Grid = tuple[Array, Array]  # masses of p and q


@np.errstate(all="ignore")
def grid(pair: Pair, at: Place, size: int) -> Grid:
    """The masses of P and Q near each point of the grid. Raises ``Unsure``."""
    if not pair.regions:
        raise Unsure
    env = floats(at)
    parts = [_region(region, env, size) for region in pair.regions]
    p, q = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    return p, q


def _region(region: Region, at: Mapping[str, float], size: int) -> Grid:
    if region.output is None:
        weight = 1.0 if region.weight is None else float(array(region.weight, at))
        p, q = (float(array(item, at)) for item in (region.p, region.q))
        if not all(map(math.isfinite, (p, q, weight))):
            raise Unsure
        return np.array([p * weight]), np.array([q * weight])
    places, widths = _whole(size) if region.kind == INTEGER else _line(size, *_ends(region, at))
    env = {**at, region.output: places}
    inside = np.broadcast_to(true(region.facts, env), places.shape)
    both = []
    for item in (region.p, region.q):
        found = np.broadcast_to(array(item, env), places.shape)
        found = np.where(inside, np.where(np.abs(places) > 60, np.nan_to_num(found), found), 0.0)
        if not np.all(np.isfinite(found)):
            raise Unsure
        both.append(found * widths)
    return both[0], both[1]


def _ends(region: Region, at: Mapping[str, float]) -> tuple[float, float]:
    """The ends of an interval that facts of a region give."""
    place: Place = {name: Fraction(number) for name, number in at.items()}
    low, high = bounds(region.output or "", region.facts, place)
    return (-math.inf if low is None else float(low)), math.inf if high is None else float(high)


def _normal(pair: Pair, at: Place, size: int) -> Grid:
    """As ``grid``, of mass 1. Raises ``Unsure`` where the grid does not see that."""
    p, q = grid(pair, at, size)
    masses = float(p.sum()), float(q.sum())
    if min(p.min(), q.min()) < 0 or not all(map(math.isfinite, masses)) or min(masses) <= 0:
        raise Unsure
    if pair.normalised and any(abs(mass - 1) > EXACT for mass in masses):
        raise Unsure
    if abs(masses[0] / masses[1] - 1) > EXACT:
        raise Unsure
    return (p, q) if pair.normalised else (p / masses[0], q / masses[1])


def lacking(pair: Pair, claim: Guarantee, at: Place) -> str | None:
    """Why the pair clearly lacks the guarantee, as both grids say; raises ``Unsure``."""
    try:
        if claim.name == "Distributions":
            return _no_distributions(pair, at)
        found = [_reason(pair, claim, at, size) for size in _SIZES]
    except (OverflowError, FloatingPointError):
        raise Unsure from None
    return None if None in found else found[-1]


def _no_distributions(pair: Pair, at: Place) -> str | None:
    """Why p or q are no densities of mass 1. Where the grid may miss mass, nothing is said."""
    coarse, fine = (grid(pair, at, size) for size in _SIZES)
    for name, one, two in zip("pq", coarse, fine, strict=True):
        if min(one.min(), two.min()) < -1e-9:
            return f"{name} is negative somewhere"
        masses = float(one.sum()), float(two.sum())
        edge = float(np.abs(two[:30]).sum() + np.abs(two[-30:]).sum())
        if abs(masses[0] - masses[1]) > EXACT or masses[1] < 0.05 or edge > 1e-7:
            raise Unsure
        if abs(masses[1] - 1) > 100 * EXACT:
            return f"the mass of {name} is about {masses[1]:.6g}"
    return None


@np.errstate(all="ignore")
def _reason(pair: Pair, claim: Guarantee, at: Place, size: int) -> str | None:
    p, q = _normal(pair, at, size)
    env = floats(at)
    return reason(claim, p, q, env)


@np.errstate(all="ignore")
def reason(
    claim: Guarantee, p: Array, q: Array, at: Mapping[str, float], clear: float = CLEAR
) -> str | None:
    """By what distributions with these masses lack the guarantee, by more than ``clear``."""
    ways = [(p, q), (q, p)] if claim.two_way else [(q, p) if claim.reverse else (p, q)]
    notion = _Notion(claim, at, clear)
    return next((said for one, two in ways if (said := notion.lacking(one, two))), None)


class _Notion:
    """A guarantee at one point, and by how much, relatively, it must be lacking."""

    def __init__(self, claim: Guarantee, at: Mapping[str, float], clear: float) -> None:
        self.claim, self.at, self.clear = claim, at, clear
        self.args: list[float] = []
        if claim.name != "MomentBound":
            self.args = [float(array(arg, at)) for arg in claim.args if arg is not None]
            if not all(map(math.isfinite, self.args)):
                raise Unsure

    def above(self, value: float, bound: float, what: str) -> str | None:
        if math.isnan(value) or math.isnan(bound):
            raise Unsure
        clear = value - bound > self.clear * max(abs(value), abs(bound), 0.05)
        return f"{what} is about {value:.9g} > {bound:.9g}" if clear else None

    def lacking(self, p: Array, q: Array) -> str | None:
        name, args = self.claim.name, self.args
        both, alone = (p > 1e-250) & (q > 1e-250), (q <= 0) & (p > 0)
        singular = float(p[alone].sum())
        if name == "MomentBound":
            return self.moment(p, q, both, singular)
        loss = np.where(both, np.log(np.where(both, p, 1.0)) - np.log(np.where(both, q, 1.0)), 0.0)
        infinite = "there is mass where the loss is infinite" if singular > self.clear else None
        if name in ("PureDP", "BoundedRange"):
            real = loss[both & (p > 1e-14)]
            if not len(real):
                return infinite
            least = real.min() if name == "BoundedRange" else 0.0
            return infinite or self.above(float(real.max() - least), args[0], "the loss")
        if name == "ApproxDP":
            mass = float(np.maximum(p - math.exp(args[0]) * q, 0).sum())
            return self.above(mass, args[1], "the sum of max(p - e^epsilon q, 0)")
        if name == "ProbabilisticDP":
            surely = p > math.exp(args[0]) * q * (1 + self.clear)
            return self.above(float(p[surely].sum()), args[1], "the mass of losses above epsilon")
        if name == "KLDP":
            return infinite or self.above(float((p * loss).sum()), args[0], "the divergence")
        if name == "GDP":
            return infinite or self.gaussian(p, q, args[0])
        orders = [args[0]]
        if name in ("ZCDP", "TCDP"):
            end = args[1] if name == "TCDP" else math.inf
            orders = [1.001, *(float(order) for order in ORDERS if order < end)]
        for order in orders:
            bound = args[0] * order if name in ("ZCDP", "TCDP") else args[1]
            moment = float(np.where(both, p * np.exp((order - 1) * loss), 0.0).sum())
            limit = math.exp(min((order - 1) * bound, 700.0))
            said = f"the moment of order {order:.6g}"
            if order < 1 and self.above(limit, moment, said):
                return f"{said} is about {moment:.9g} < {limit:.9g}"
            if order > 1 and (infinite or self.above(moment, limit, said)):
                return infinite or self.above(moment, limit, said)
        return None

    def gaussian(self, p: Array, q: Array, mu: float) -> str | None:
        for epsilon in np.linspace(-4, 4, 17) * max(mu, 0.1):
            mass = float(np.maximum(p - math.exp(epsilon) * q, 0).sum())
            sides = [math.erfc(-(s * mu / 2 - epsilon / mu) / math.sqrt(2)) / 2 for s in (1, -1)]
            delta = sides[0] - math.exp(epsilon) * sides[1]
            said = self.above(mass, delta, f"delta at epsilon = {epsilon:.6g}")
            if said:
                return said
        return None

    def moment(self, p: Array, q: Array, both: Array, singular: float) -> str | None:
        f, ray, bound = self.claim.args
        if f is None or bound is None:
            raise Unsure
        ratio = np.where(both, p, 1.0) / np.where(both, q, 1.0)
        inside = float(np.where(both, q * array(f, {**self.at, RATIO: ratio}), 0.0).sum())
        if singular > self.clear and ray is None:
            return "there is mass where the moment is infinite"
        more = singular * float(array(ray, self.at)) if ray is not None else 0.0
        return self.above(inside + more, float(array(bound, self.at)), "the moment")


def binned(pair: Pair, at: Place, source: random.Random) -> Atoms | None:
    """The pair, seen through a few bins of the loss; masses with what the grid may be wrong by."""
    try:
        p, q = _normal(pair, at, _SIZES[0])
    except (Unsure, OverflowError):
        return None
    with np.errstate(all="ignore"):
        loss = np.log(np.maximum(p, 1e-300)) - np.log(np.maximum(q, 1e-300))
        seen = (p + q) > 1e-12
    cuts = np.quantile(loss[seen], sorted(source.random() for _ in range(3))) if seen.any() else []
    place = np.searchsorted(cuts, loss)
    atoms = []
    for i in range(4):
        sums = float(p[place == i].sum()), float(q[place == i].sum())
        if max(sums) > 1e-9:
            atoms.append(tuple(Ball(mpmath.mpf(s), mpmath.mpf(s) * CLEAR) for s in sums))
    if any(mass.middle < 1e-9 for atom in atoms for mass in atom):
        return None
    return tuple((a, b) for a, b in atoms)
