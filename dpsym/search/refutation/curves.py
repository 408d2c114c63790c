"""Homogeneous functions of two probabilities and finite distributions, in floating point."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsym.kernel.definitions import Form
from dpsym.kernel.statements import RATIO
from dpsym.kernel.terms import Term, subterms
from dpsym.search.leaf.numeric import Values as Sampled
from dpsym.search.refutation.exact import Values, at, number

Array = NDArray[np.float64]
Pmf = tuple[Array, Array]  # masses under P and under Q of the same outcomes
_MANY = 50  # outcomes, from which on those of the same ratio are merged


@dataclass(frozen=True)
class Curve:
    """A 1-homogeneous function of (p, q) with numbers for the parameters."""

    f: Term
    at_p: float
    at_q: float

    @staticmethod
    def of(form: Form, values: Values) -> Curve:
        ends = [math.inf if end is None else number(end, values) for end in (form.at_p, form.at_q)]
        return Curve(at(form.f, values), *ends)

    def inside(self, ratios: Array) -> Array:
        """f at these ratios."""
        return Sampled({RATIO: ratios}, ratios.size)(self.f)

    def __call__(self, p: Array, q: Array) -> Array:
        """The function at arrays of any one shape."""
        both = (p > 0) & (q > 0)
        out = np.zeros(p.shape)
        for alone, masses, end in ((p > 0, p, self.at_p), (q > 0, q, self.at_q)):
            ray = alone & ~both
            if end and ray.any():
                out[ray] = masses[ray] * end
        out[both] = q[both] * self.inside(p[both] / q[both])
        return out

    def kinks(self) -> list[float]:
        """Where an abs, max, min or ite in f changes branch, as log-ratios."""
        found: list[float] = []
        for part in subterms(self.f):
            if part.op in ("max", "min"):
                found += _roots(part.args[0] - part.args[1])
            elif part.op in ("abs", "ite"):
                found += _roots(part.args[0])
        return found


def _roots(item: Term) -> list[float]:
    """The logarithms of the positive ratios at which the term changes sign."""
    if RATIO not in item.vars:
        return []

    def value(logs: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.sign(Sampled({RATIO: np.exp(logs)}, logs.size)(item))

    grid = np.linspace(-30, 30, 601)
    signs = value(grid)
    change = np.flatnonzero((signs[:-1] * signs[1:] < 0) | (signs[:-1] == 0))
    low, high, first = grid[change], grid[change + 1], signs[change]
    for _ in range(52):
        middle = (low + high) / 2
        same = value(middle) == first
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return [float(x) for x in np.where(first == 0, grid[change], low)]


def sorted_once(numbers: Iterable[float]) -> Array:
    """The distinct numbers in order (``np.unique`` would import much to do that)."""
    return np.array(sorted(set(numbers)))


def joint(pmfs: Iterable[Pmf]) -> Pmf:
    """The product distribution, outcomes of the same ratio as one (nearly, if there are many)."""
    p: Array = np.ones(1)
    q: Array = np.ones(1)
    for first, second in pmfs:
        p, q = np.outer(p, first).ravel(), np.outer(q, second).ravel()
        for digits in (10, 5, 3, 2):
            if p.size > _MANY * (1 if digits == 10 else 4):
                with np.errstate(all="ignore"):
                    groups = np.round(np.log(p / q), digits)
                groups = np.where((p == 0) & (q == 0), 0.0, groups)
                levels = sorted_once(groups.tolist())
                places = np.searchsorted(levels, groups)
                p, q = (np.bincount(places, mass).astype(np.float64) for mass in (p, q))
    return p, q
