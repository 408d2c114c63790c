"""Explicit mechanisms in floating point: do a pair's densities have mass 1, and is a claim false?

Nothing here uses the kernel's arithmetic, its definitions or its idea of a region's ends. Integrals
are sums over a fixed grid, good to about a hundredth; what is nearer than that is left open.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from dpsym.audit.grids import array, true
from dpsym.kernel.statements import INTEGER, RATIO, Guarantee, Pair, Region
from dpsym.kernel.terms import Term
from tests.soundness.values import Unsure

Array = Any
ORDERS = (1.01, 1.125, 1.5, 2.0, 3.0, 5.0)
CLEAR = 0.03  # by how much, relatively, a claim must be false
EXACT = 0.01  # how far from 1 a mass may be seen


@lru_cache(maxsize=1)
def _line() -> tuple[Array, Array]:
    """Points, none of them simple, that are dense near 0 and reach to about 4000; their widths."""
    edges = np.sinh(np.linspace(-9.0137, 9.0, 6002))
    return (edges[1:] + edges[:-1]) / 2, np.diff(edges)


@lru_cache(maxsize=1)
def _whole() -> tuple[Array, Array]:
    return np.arange(-600.0, 601.0), np.ones(1201)


def outputs(pair: Pair, at: Mapping[str, float]) -> tuple[Array, Array, Array]:
    """Densities p and q and the weights of many outputs, zero outside of the regions."""
    parts = [_region(region, at) for region in pair.regions]
    if not parts:
        raise Unsure
    p, q, weights = (np.concatenate([part[i] for part in parts]) for i in range(3))
    return p, q, weights


def _region(region: Region, at: Mapping[str, float]) -> tuple[Array, Array, Array]:
    if region.output is None:
        weight = 1.0 if region.weight is None else float(array(region.weight, at))
        found = [float(array(item, at)) for item in (region.p, region.q)]
        if not all(map(math.isfinite, (*found, weight))) or weight < 0:
            raise Unsure
        return np.array(found[:1]), np.array(found[1:]), np.array([weight])
    places, widths = _whole() if region.kind == INTEGER else _line()
    env = {**at, region.output: places}
    inside = np.broadcast_to(true(region.facts, env), places.shape)
    both = []
    for item in (region.p, region.q):
        found = np.broadcast_to(array(item, env), places.shape)
        found = np.where(inside, np.where(np.abs(places) > 60, np.nan_to_num(found), found), 0.0)
        if not np.all(np.isfinite(found)):
            raise Unsure
        both.append(found)
    return both[0], both[1], widths


@np.errstate(all="ignore")
def is_mechanism(pair: Pair, at: Mapping[str, float]) -> bool:
    """Whether p and q are seen to be distributions, or multiples of such; raises ``Unsure``."""
    p, q, weights = outputs(pair, at)
    if min(p.min(), q.min()) < -1e-9:
        return False
    masses = [float((item * weights).sum()) for item in (p, q)]
    if not pair.normalised:
        return masses[0] > 0 and abs(masses[1] / masses[0] - 1) < EXACT
    return all(abs(mass - 1) < EXACT for mass in masses)


@np.errstate(all="ignore")
def is_false(claim: Guarantee, pair: Pair, at: Mapping[str, float]) -> bool:
    """Whether the pair clearly lacks the guarantee; raises ``Unsure``."""
    if claim.name == "Distributions":
        p, q, weights = outputs(pair, at)
        masses = [float((item * weights).sum()) for item in (p, q)]
        return min(p.min(), q.min()) < -1e-6 or any(abs(mass - 1) > CLEAR for mass in masses)
    if not is_mechanism(pair, at):
        raise Unsure
    p, q, weights = outputs(pair, at)
    if not pair.normalised:
        p, q = (item / (item * weights).sum() for item in (p, q))
    ways = [(p, q), (q, p)] if claim.two_way else [(q, p) if claim.reverse else (p, q)]
    return any(_one_way(claim, *way, weights, at) for way in ways)


def _over(value: Array, bound: Array) -> bool:
    value, bound = float(value), float(bound)
    if math.isnan(value) or math.isnan(bound):
        raise Unsure
    return value - bound > CLEAR * max(abs(value), abs(bound), 0.05) or (
        math.isinf(value) and value > 0 and math.isfinite(bound)
    )


def _one_way(claim: Guarantee, p: Array, q: Array, weights: Array, at: Mapping[str, float]) -> bool:
    name = claim.name
    if name == "MomentBound":
        f, ray, bound = claim.args
        assert f is not None and bound is not None
        total = _moment(f, ray, p, q, weights, at)
        return _over(total, array(bound, at))
    args = [float(array(arg, at)) for arg in claim.args if arg is not None]
    if not all(map(math.isfinite, args)):
        raise Unsure
    seen = (p > 1e-250) & (q > 1e-250)
    singular = float((p * weights)[(q <= 0) & (p > 1e-6)].sum())
    loss = np.where(seen, np.log(np.where(seen, p, 1.0)) - np.log(np.where(seen, q, 1.0)), 0.0)
    if name in ("PureDP", "BoundedRange"):
        real = loss[seen & (weights > 0) & (p > 1e-12)]
        if singular > 1e-3:
            return True
        spread = real.max() - (real.min() if name == "BoundedRange" else 0.0)
        return bool(spread > args[0] + CLEAR)
    if name == "ApproxDP":
        return _over((np.maximum(p - math.exp(args[0]) * q, 0) * weights).sum(), args[1])
    if name == "ProbabilisticDP":
        over = p > math.exp(args[0]) * q * (1 + 1e-9)
        surely = float((p * weights)[over & (p > math.exp(args[0]) * q * 1.001)].sum())
        return _over(surely, args[1])
    if name == "KLDP":
        return singular > 1e-3 or _over((p * loss * weights).sum(), args[0])
    orders = ORDERS if name == "ZCDP" else (args[0],)
    for order in orders:
        bound = args[0] * order if name == "ZCDP" else args[1]
        total = (np.where(seen, p * np.exp((order - 1) * loss), 0.0) * weights).sum()
        limit = math.exp(min((order - 1) * bound, 700.0))
        if order < 1 and _over(limit, total):
            return True
        if order > 1 and (singular > 1e-3 or _over(total, limit)):
            return True
    return False


def _moment(
    f: Term, ray: Term | None, p: Array, q: Array, weights: Array, at: Mapping[str, float]
) -> float:
    both, alone = (p > 1e-250) & (q > 1e-250), (q <= 0) & (p > 1e-6)
    ratio = np.where(both, p, 1.0) / np.where(both, q, 1.0)
    inside = np.where(both, q * array(f, {**at, RATIO: ratio}), 0.0)
    total = float((inside * weights).sum())
    mass = float((p * weights)[alone].sum())
    if mass > 1e-3 and ray is None:
        return math.inf
    return total + (mass * float(array(ray, at)) if ray is not None else 0.0)
