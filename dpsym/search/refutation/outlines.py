"""Where the densities of a pair are, in floating point: nodes and weights for integrals.

Scales and places are not known beforehand. A coarse look takes points at geometric distances around
every zero of a part of the densities that is affine in the output; a fine one takes Gauss-Legendre
nodes between those that matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsym.kernel.sequents import context
from dpsym.kernel.statements import INTEGER, Pair, Region
from dpsym.kernel.terms import KINKED, Term, replace, subterms
from dpsym.search.leaf.numeric import Array, Values
from dpsym.search.refutation.aims import Floats, total_of
from dpsym.search.refutation.logarithms import logarithm

NEGLIGIBLE = 52.0  # by which a logarithm is smaller than the largest
_RATIOS = 10.0 ** np.arange(-9, 27, 0.125)
_MOST_INTEGERS = 6000
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_PANELS = 160  # of equal length
_HALVINGS = 60
_CENTRES = 8
_KINKS = 4
_ENOUGH = 60.0  # by which a logarithm may pass the bound's


@dataclass(frozen=True)
class Outline:
    """Logarithms of the densities (or masses) of one region at nodes x with weights; ``panel`` is
    the interval, one of ``edges``, that a node is in. For atoms and integers: no edges."""

    place: int
    x: Array
    weights: Array
    p: Array
    q: Array
    edges: Array
    panel: Array


def sides(item: Term) -> list[Term]:
    """What the term is on either side of each of its kinks.

    >>> from dpsym.kernel import terms as tm
    >>> sides(1 - tm.absolute(tm.var("x")))
    [add(1, mul(-1, x)), add(1, mul(-1, mul(-1, x)))]
    """
    found = [item]
    for _ in range(_KINKS):
        part = next((part for part in subterms(found[0]) if part.op in KINKED), None)
        if part is None:
            break
        first, second = (part.args[0], -part.args[0]) if part.op == "abs" else part.args[-2:]
        found = [replace(one, part, side) for side in (first, second) for one in found]
    return found


class Shape:
    """What is known of a region before its parameters have values."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.ends: list[tuple[bool, Term]] = []  # whether from below
        self.centres: list[Term] = []
        self.kinks: list[Term] = []
        name = region.output
        if name is None:
            return
        known = context(())
        for fact in region.facts:
            split = known.affine(fact.term, name) if name in fact.term.vars else None
            if split is not None:
                self.ends.append((bool(split[0] > 0), split[1]))
        seen: dict[Term, bool] = {}
        for density in (region.p, region.q):
            for part in subterms(density):
                if part.op in KINKED and name in part.vars:
                    two = part.op in ("max", "min")
                    switch = part.args[0] - part.args[1] if two else part.args[0]
                    seen.update(dict.fromkeys(sides(switch), True))
                elif part.op in ("add", "var") and name in part.vars:
                    seen.setdefault(part, False)
        for part, kink in seen.items():
            split = known.affine(part, name)
            if split is not None:
                self.centres.append(split[1])
                if kink:
                    self.kinks.append(split[1])

    def limits(self, floats: Floats) -> tuple[float, float]:
        points = Values({name: np.asarray(x) for name, x in floats.items()}, 1)
        low, high = -np.inf, np.inf
        for below, end in self.ends:
            value = float(points(end)[0])
            low, high = (max(low, value), high) if below else (low, min(high, value))
        return low, high

    def special(self, terms: list[Term], floats: Floats) -> list[float]:
        points = Values({name: np.asarray(x) for name, x in floats.items()}, 1)
        found = {float(points(item)[0]) for item in terms}
        return sorted(x for x in found if np.isfinite(x))


Psi = Callable[[Array, Array], Array]


class Outliner:
    """A pair's outlines, for any values of its parameters."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.shapes = [Shape(region) for region in pair.regions]

    def __call__(
        self, floats: Floats, psi: Psi, reverse: bool, split: float | None, bound: float
    ) -> list[Outline]:
        """One outline a region, fine where ``psi`` of the two densities matters; P and Q exchanged
        if ``reverse``. The loss ``split`` is made an edge. Far above ``bound``, the logarithm of
        what is claimed, nothing more is of interest."""
        found: list[Outline] = []
        for place, shape in enumerate(self.shapes):
            look = _Look(place, shape, floats, reverse)
            found.append(look.atoms() if shape.region.output is None else look(psi, split, bound))
        return found


class _Look:
    def __init__(self, place: int, shape: Shape, floats: Floats, reverse: bool) -> None:
        self.place, self.shape, self.reverse = place, shape, reverse
        self.points = {name: np.asarray(x) for name, x in floats.items()}
        self.floats = floats

    def densities(self, x: Array) -> tuple[Array, Array]:
        region = self.shape.region
        points = dict(self.points)
        if region.output is not None:
            points[region.output] = x
        values = Values(points, x.size)
        p, q = (logarithm(values, item) for item in (region.p, region.q))
        return (q, p) if self.reverse else (p, q)

    def atoms(self) -> Outline:
        one, nothing = np.ones(1), np.zeros(0)
        weight = one
        if self.shape.region.weight is not None:
            weight = Values(self.points, 1)(self.shape.region.weight)
        p, q = self.densities(one)
        return Outline(self.place, one, weight, p, q, nothing, nothing)

    def __call__(self, psi: Psi, split: float | None, bound: float) -> Outline:
        low, high = self.shape.limits(self.floats)
        centres = self.shape.special(self.shape.centres, self.floats) or [0.0]
        whole = self.shape.region.kind == INTEGER
        spots = [np.asarray(centres)]
        spots += [c + sign * _RATIOS for c in centres[:_CENTRES] for sign in (1, -1)]
        ends = [end for end in (low, high) if np.isfinite(end)]
        spots += [end + sign * _RATIOS for end in ends for sign in (1, -1)]
        x = np.concatenate([*spots, np.asarray(ends)])
        if whole:
            near = np.arange(-60.0, 61.0)
            x = np.round(np.concatenate([x[np.abs(x) < 1e9], *(round(c) + near for c in centres)]))
        x = np.unique(x[(x >= low) & (x <= high)])
        if x.size < 2 or not low < high:
            return self._empty(x[:0])
        first, last = self._matters(x, psi, whole, bound + _ENOUGH, centres[0])
        return self._integers(first, last) if whole else self._fine(x, first, last, psi, split)

    def _empty(self, nothing: Array) -> Outline:
        return Outline(self.place, nothing, nothing, nothing, nothing, nothing, nothing)

    def _matters(
        self, x: Array, psi: Psi, whole: bool, enough: float, centre: float
    ) -> tuple[float, float]:
        """The ends of the part that matters, as far as these points show."""
        p, q = self.densities(x)
        with np.errstate(all="ignore"):
            logs = psi(p, q)
            if not np.any(logs > -np.inf):  # it may matter between these points
                logs = np.fmax(p, q)
            width = np.gradient(x) if x.size > 1 else np.ones(x.size)
            sizes = logs + np.log(np.maximum(width, 1.0 if whole else 0.0))
        sizes = np.where(np.isnan(sizes), -np.inf, np.minimum(sizes, 1e300))
        beyond = np.flatnonzero((sizes > enough) & (sizes < 1e300))
        if beyond.size:  # probably an infinite integral: up to there it is large enough
            right, left = beyond[x[beyond] >= centre], beyond[x[beyond] < centre]
            first = left[-1] if left.size else 0
            last = right[0] if right.size else x.size - 1
            x, sizes = x[first : last + 1], sizes[first : last + 1]
        large = np.flatnonzero(sizes >= sizes.max() - NEGLIGIBLE)
        if not np.isfinite(sizes.max()) or not large.size:
            return float(x[0]), float(x[-1])
        before, after = max(large[0] - 1, 0), min(large[-1] + 1, x.size - 1)
        return float(x[before]), float(x[after])

    def _integers(self, first: float, last: float) -> Outline:
        if last - first > _MOST_INTEGERS:
            middle = (first + last) / 2
            first, last = middle - _MOST_INTEGERS // 2, middle + _MOST_INTEGERS // 2
        x = np.arange(np.ceil(first), np.floor(last) + 1)
        p, q = self.densities(x)
        return Outline(self.place, x, np.ones(x.size), p, q, np.zeros(0), np.zeros(0))

    def _fine(self, x: Array, first: float, last: float, psi: Psi, split: float | None) -> Outline:
        inner = x[(x > first) & (x < last)]
        if inner.size > 2 * _PANELS:
            inner = inner[:: inner.size // _PANELS]
        kinks = [k for k in self.shape.special(self.shape.kinks, self.floats) if first < k < last]
        edges = np.unique([first, last, *inner, *kinks, *np.linspace(first, last, _PANELS)])
        if split is not None:
            edges = np.union1d(edges, self._crossings(edges, split))
        half = np.diff(edges) / 2
        middle = edges[:-1] + half
        nodes = (middle[:, None] + half[:, None] * _NODES).ravel()
        weights = (half[:, None] * _WEIGHTS).ravel()
        p, q = self.densities(nodes)
        panel = np.repeat(np.arange(float(half.size)), _NODES.size)
        return Outline(self.place, nodes, weights, p, q, edges, panel)

    def _crossings(self, edges: Array, split: float) -> Array:
        """Where the loss passes the split between two edges, by bisection of all at once."""
        middle = (edges[:-1] + edges[1:]) / 2
        grid = np.sort(np.concatenate([edges, middle]))

        def over(x: Array) -> NDArray[np.bool_]:
            p, q = self.densities(x)
            with np.errstate(all="ignore"):
                return np.where(np.isneginf(p), -np.inf, p - q) > split

        above = over(grid)
        turns = np.flatnonzero(above[1:] != above[:-1])[:20]
        low, high, start = grid[turns], grid[turns + 1], above[turns]
        for _ in range(_HALVINGS if turns.size else 0):
            centre = (low + high) / 2
            same = over(centre) == start
            low, high = np.where(same, centre, low), np.where(same, high, centre)
        found = np.where(start, low, high)  # the side on which the loss is larger
        apart = np.abs(found[:, None] - edges).min(axis=1) if found.size else found
        return found[apart > 1e-13 * (edges[-1] - edges[0])]


def measure(outlines: list[Outline], psi: Psi) -> float:
    """The logarithm of the integral of psi."""
    logs = [psi(outline.p, outline.q) for outline in outlines]
    weights = [outline.weights for outline in outlines]
    return total_of(np.concatenate(logs), np.concatenate(weights))
