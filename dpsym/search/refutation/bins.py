"""Intervals of outputs on which the loss varies little, for compositions of densities."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from flint import fmpq

from dpsym.events import Part
from dpsym.kernel.statements import INTEGER, Pair
from dpsym.search.leaf.numeric import Array, from_float
from dpsym.search.refutation.outlines import Outline
from dpsym.search.refutation.outputs import near

_STEPS = 2.0 ** np.arange(-16, 6)  # how much the loss may vary in a bin
_LARGEST = 60.0  # of a loss; beyond it all are alike
_SMALL = 1e-12  # a mass under P that is left out
_DIGITS = 7  # of the ends


def _cells(outline: Outline) -> tuple[Array, Array]:
    """The masses under P and Q of each atom, integer or panel."""
    p, q = np.exp(outline.p) * outline.weights, np.exp(outline.q) * outline.weights
    if not outline.edges.size:
        return p, q
    places, count = outline.panel.astype(int), outline.edges.size - 1
    sums = (np.bincount(places, mass, count).astype(np.float64) for mass in (p, q))
    return next(sums), next(sums)


def _runs(p: Array, q: Array, step: float) -> list[tuple[int, int]]:
    """Runs of cells in which the loss varies by at most the step; first and last place."""
    with np.errstate(all="ignore"):
        losses = np.clip(np.log(p) - np.log(q), -_LARGEST, _LARGEST)
    found: list[tuple[int, int]] = []
    start, low, high = 0, math.inf, -math.inf
    for place, (mass, loss) in enumerate(zip(p.tolist(), losses.tolist(), strict=True)):
        if not mass > 0:
            continue
        if low < math.inf and max(high, loss) - min(low, loss) > step:
            found.append((start, place - 1))
            start, low, high = place, math.inf, -math.inf
        low, high = min(low, loss), max(high, loss)
    found.append((start, p.size - 1))
    return [(i, j) for i, j in found if p[i : j + 1].sum() > _SMALL]


def _chosen(outline: Outline, most: int) -> tuple[Array, Array, list[tuple[int, int]]]:
    p, q = _cells(outline)
    for step in _STEPS:
        runs = _runs(p, q, float(step))
        if len(runs) <= most:
            break
    return p, q, runs


def binned_outlines(outlines: list[Outline], most: int) -> list[Outline]:
    """The regions as atoms, one for each bin."""
    found: list[Outline] = []
    nothing = np.zeros(0)
    for outline in outlines:
        if not outline.edges.size and outline.x.size <= 1:
            found.append(outline)
            continue
        p, q, runs = _chosen(outline, most)
        sums = [np.array([mass[i : j + 1].sum() for i, j in runs]) for mass in (p, q)]
        with np.errstate(all="ignore"):
            first, second = (np.log(mass) for mass in sums)
        ones = np.ones(len(runs))
        found.append(Outline(outline.place, ones, ones, first, second, nothing, nothing))
    return found


def binned_parts(pair: Pair, outlines: list[Outline], most: int) -> Iterator[Part]:
    """The bins with rational ends."""
    for outline in outlines:
        region = pair.regions[outline.place]
        if region.output is None or not outline.x.size:
            continue
        _, _, runs = _chosen(outline, most)
        if region.kind == INTEGER:
            within = [(fmpq(int(outline.x[i])), fmpq(int(outline.x[j]))) for i, j in runs]
        else:
            ends = [_end(float(x)) for x in outline.edges]
            within = [(ends[i], ends[j + 1]) for i, j in runs if ends[i] < ends[j + 1]]
        if within:
            yield Part(outline.place, tuple(within))


def _end(x: float) -> fmpq:
    plain = near(x)
    return plain if plain.q < 1000 else from_float(x, _DIGITS)
