"""Sample values of parameters that satisfy facts in which they bound each other."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from dpsym.kernel.sequents import Facts, context
from dpsym.kernel.statements import INTEGER, Fact
from dpsym.kernel.terms import Term, var
from dpsym.search.integrals.summands import coefficients
from dpsym.search.leaf.numeric import Values
from dpsym.search.samples import number

__all__ = ["is_largest", "numbers", "parameters"]

Limit = tuple[Term, Term]
_values: dict[int, tuple[Sequence[Mapping[str, float]], Values]] = {}
_MOST_KNOWN = 100
_TRIES, _TOLERANCE, _ROUNDING = 3000, 1e-9, 1e-14
_SHARES = (0.02, 0.11, 0.29, 0.53, 0.77, 0.94)
_STEPS = (0.013, 0.11, 0.27, 0.53, 0.71, 0.93, 1.13, 1.37, 1.71, 2.03, 2.61, 4.07, 9.3)


@lru_cache(maxsize=2000)
def parameters(
    variables: tuple[tuple[str, str], ...], facts: Facts, count: int, seed: int = 11
) -> Sequence[Mapping[str, float]]:
    """Up to ``count`` points, the same in every run, at which all the facts hold."""
    source = random.Random(seed)
    limits = _limits(variables, facts)
    found: list[dict[str, float]] = []
    for _ in range(_TRIES):
        values: dict[str, float] = {}
        for name, kind in _order(variables, limits):
            value = _value(limits[name], values, source)
            values[name] = float(math.floor(value + 0.5)) if kind == INTEGER else value
        if all(_holds(fact, values) for fact in facts):
            found.append(values)
            if len(found) >= count or not variables:
                break
    return found


def numbers(item: Term, samples: Sequence[Mapping[str, float]]) -> list[float]:
    """The term in floating point at each of the samples; not finite where it is undefined."""
    known = _values.get(id(samples))
    if known is None or known[0] is not samples:
        names = samples[0] if samples else ()
        columns = {name: np.array([at[name] for at in samples]) for name in names}
        if len(_values) >= _MOST_KNOWN:
            _values.clear()
        known = _values[id(samples)] = (samples, Values(columns, len(samples)))
    found: list[float] = known[1](item).tolist()
    return found


def is_largest(item: Term, others: Iterable[Term], samples: Iterable[Mapping[str, float]]) -> bool:
    """Whether the term is at least each of the others at the samples, as far as floats tell."""
    rows = [(at, number(item, at)) for at in samples]
    for other in others:
        for at, value in rows:
            gap = value - number(other, at)
            if gap < -_TOLERANCE * (1 + abs(value)):
                return False
    return True


def _limits(variables: tuple[tuple[str, str], ...], facts: Facts) -> dict[str, list[Limit]]:
    """For each variable, the facts c + d x >= 0 about it, as c and d."""
    canon = context(facts).canon
    found: dict[str, list[Limit]] = {name: [] for name, _ in variables}
    for fact in facts:
        form, _ = canon.together(canon(fact.term))
        for name in fact.term.vars if fact.rel != "!=" else ():
            coefs = coefficients(canon, form, var(name))
            if coefs is not None and len(coefs) == 2:
                found[name].append((coefs[0], coefs[1]))
    return found


def _order(
    variables: tuple[tuple[str, str], ...], limits: dict[str, list[Limit]]
) -> list[tuple[str, str]]:
    """Variables that bound others first, as far as that goes."""
    left, out = dict(variables), []
    while left:
        waits = {
            name: len({other for c, d in limits[name] for other in c.vars | d.vars} & set(left))
            for name in left
        }
        chosen = min(left, key=lambda name: waits[name])
        out.append((chosen, left.pop(chosen)))
    return out


def _value(limits: list[Limit], values: dict[str, float], source: random.Random) -> float:
    low, high = -math.inf, math.inf
    for c, d in limits:
        if c.vars | d.vars <= set(values):
            slope = number(d, values)
            end = -number(c, values) / slope if slope else math.nan
            low, high = (max(low, end), high) if slope > 0 else (low, min(high, end))
    if math.isfinite(low) and math.isfinite(high):
        return low + (high - low) * source.choice(_SHARES)
    step = source.choice(_STEPS) * source.choice((1.0, 1.0, 1.0, 0.1, 3.0))
    if math.isfinite(low):
        return low + step
    return high - step if math.isfinite(high) else step * source.choice((1, -1))


def _holds(fact: Fact, values: Mapping[str, float]) -> bool:
    """Whether the fact holds at a point, as far as floats tell; a strict one beyond rounding, so
    that it does not seem to hold together with what contradicts it."""
    value = number(fact.term, values)
    if math.isnan(value):
        return False
    if fact.rel != ">":
        return value >= -1e-12 if fact.rel == ">=" else value != 0
    term = fact.term
    return value > (_ROUNDING * _scale(term, values) if term.op in ("add", "mul") else 0.0)


def _scale(item: Term, values: Mapping[str, float]) -> float:
    """The sum of the absolute values of what is added up."""
    if item.op == "add":
        return sum(abs(number(part, values)) for part in item.args)
    if item.op == "mul":
        return math.prod(_scale(part, values) for part in item.args)
    return abs(number(item, values))
