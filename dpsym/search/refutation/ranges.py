"""Adaptive witnesses against a bounded range.

The joint spread is the largest joint likelihood ratio over the least. The first stage's outcomes
split into a high and a low one; after the high one, every later stage has its ratios as high as
its own constraints allow, after the low one as low. Hence stages with ranges e1 and e2 reach
e1 + 2 e2, although each has a range of its own (Dong, Durfee and Rogers 2020, on the adaptive
composition of bounded range).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from flint import fmpq

from dpsym.kernel.definitions import P_RAY, Range
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.statements import Statement
from dpsym.refutations import Atom, Refutation, refute
from dpsym.search.refutation.exact import dyadic, number, simplest
from dpsym.search.refutation.problem import Problem, StageAt, claimed, problem

Masses = tuple[tuple[fmpq, fmpq], ...]
_EDGES = (0.25, 0.1, 0.03, 0.01, 1e-3, 1e-5)  # how much of a range lies on the side of less mass
_SIZES = (4.0, 2.0, 1.0, 0.5, 0.25, 0.1, 0.01)  # log-ratios to try where moments are bounded
_GIVE = (0.2, 0.1, 0.05, 0.02, 1e-3, 1e-6)  # how far a simple fraction may be from a limit
_NOTHING: Masses = ((fmpq(1), fmpq(1)),)


def search(statement: Statement, values: dict[str, fmpq]) -> Refutation | None:
    """A checked witness against a range among the claims, at these values."""
    items = [item for item, _ in claimed(statement, values) if isinstance(item, Range)]
    if not items:
        return None
    here = problem(statement, values)
    length = min(number(item.length, values) for item in items)
    for stages in drafts(here, length):
        witness = tree(stages)
        try:
            return refute(statement, values, witness, None, here.grid)
        except Refusal:
            continue
    return None


def drafts(here: Problem, length: float) -> Iterator[list[tuple[Masses, Masses]]]:
    """For each stage its distributions after a high and after a low outcome, such that the joint
    spread seems to exceed the length. The high outcome comes first, the low one last."""
    for k, stage in enumerate(here.stages):
        certain = revealing(stage) if P_RAY in stage.rays else None
        if certain is not None:  # a loss that is infinite
            stages = [(_NOTHING, _NOTHING)] * len(here.stages)
            stages[k] = (certain, certain)
            yield stages
    for edge in _EDGES:
        first = here.stages[0]
        middle = outcomes(first, 0.5, False)
        if first.moments:
            middle = mixture(outcomes(first, edge, False), outcomes(first, edge, True))
        stages = [(middle, middle)]
        stages += [(outcomes(s, edge, False), outcomes(s, edge, True)) for s in here.stages[1:]]
        spread = middle[0][0] / middle[0][1] / (middle[-1][0] / middle[-1][1])
        for high, low in stages[1:]:
            spread *= (high[0][0] / high[0][1]) / (low[-1][0] / low[-1][1])
        if math.log(spread) > length + 1e-12:
            yield stages


def tree(stages: list[tuple[Masses, Masses]]) -> tuple[Atom, ...]:
    """The witness in which the first stage's first outcome decides what follows."""
    high: tuple[Atom, ...] = ()
    low: tuple[Atom, ...] = ()
    for first, second in reversed(stages[1:]):
        high = tuple(Atom(p, q, high) for p, q in first)
        low = tuple(Atom(p, q, low) for p, q in second)
    (p, q), *others = stages[0][0]
    return (Atom(p, q, high), *(Atom(p, q, low) for p, q in others))


def revealing(stage: StageAt) -> Masses | None:
    """Outcomes one of which is impossible under Q."""
    for share in (fmpq(1, 10), fmpq(1, 100), fmpq(1, 10**4), fmpq(1, 10**8)):
        masses = ((share, fmpq(0)), (1 - share, fmpq(1)))
        if allowed(stage, masses):
            return masses
    return None


def outcomes(stage: StageAt, edge: float, low: bool) -> Masses:
    """Two outcomes, the first of high ratio (or the second of low ratio, if ``low``)."""
    far = math.log(stage.high) if 1 < stage.high < math.inf else 0.0
    deep = -math.log(stage.low) if 0 < stage.low < 1 else 0.0
    far = 50.0 if math.isinf(stage.high) else far
    deep = 50.0 if stage.low == 0 else deep
    if not stage.moments and stage.length < far + deep:  # a window around 0
        under = stage.length * (1 - edge if low else edge)
        under = min(max(under, stage.length - far), deep)
        return two(stage, under, stage.length - under, edge)
    if not stage.moments:
        return two(stage, deep, far, edge)
    for size in _SIZES:
        size = min(size, stage.length / 2)
        small = size * edge
        under, over = (size, small) if low else (small, size)
        found = two(stage, min(under, deep), min(over, far), edge)
        if len(found) > 1:
            return found
    return _NOTHING


def two(stage: StageAt, under: float, over: float, edge: float) -> Masses:
    """Two outcomes with log-ratios just below ``over`` and just above ``-under``."""
    if min(under, over) <= 1e-12:
        return _NOTHING
    for give in _GIVE:
        if give < max(edge, 0.02) * 1.01:
            bottom = between(-under, -under * (1 - give))
            top = between(over * (1 - give), over)
            q = (1 - bottom) / (top - bottom)
            masses = ((top * q, q), (1 - top * q, 1 - q))
            if allowed(stage, masses):
                return masses
    return _NOTHING


def mixture(first: Masses, second: Masses) -> Masses:
    """Either distribution with probability 1/2."""
    return tuple((p / 2, q / 2) for p, q in (*first, *second))


def allowed(stage: StageAt, masses: Masses) -> bool:
    """Whether the stage's constraints seem to be met."""
    p, q = (np.array([[int(m[i].p) / int(m[i].q) for m in masses]]) for i in (0, 1))
    return bool(stage.allows(p, q, strictly=True)[0])


def between(low: float, high: float) -> fmpq:
    """A simple fraction whose logarithm is strictly between these."""
    return simplest(dyadic(math.exp(low)), dyadic(math.exp(high)))
