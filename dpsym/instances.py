"""Explicit pairs of what is made of explicit mechanisms: of samples, of groups, and of these again.

A statement about a stage that is made of others is about every pair that the stage means, so one
that is written out as densities can refute it. Not all pairs are found.

Trusted for refutations, like ``refutations``: the standard library, python-flint, the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from itertools import islice, product

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import context
from dpsym.kernel.statements import (
    Blend,
    Choice,
    Fact,
    Group,
    Inner,
    Joint,
    Mechanism,
    Pair,
    Region,
    Repeated,
    Stage,
)
from dpsym.kernel.terms import ONE, ZERO, Term, substitute

__all__ = ["explicit"]

_MOST_PAIRS, _MOST_REGIONS, _MOST_SIDES = 200, 64, 4
_MOST_STEPS, _MOST_WALKED = 10_000, 200
Sides = tuple[int, ...]  # for each distribution of a blend, 0 for p of one pair and 1 for its q


def explicit(stage: Stage | Inner | Joint) -> Mechanism | None:
    """Pairs that the stage means, as a mechanism; ``None`` if none are found.

    The numbers of copies in it must be numbers, and its weights may be any terms: their signs and
    their sum are facts of the pairs.

    >>> p, q, rate = (tm.var(name) for name in ("a", "b", "r"))
    >>> table = Mechanism((Pair((Region(p, q), Region(1 - p, 1 - q))),))
    >>> from dpsym.kernel.statements import Link
    >>> found = explicit(Blend((rate, 1 - rate), (ZERO, ONE), (Link(0, 1, table),)))
    >>> (region, _), (first, *_) = found.pairs[0].regions, found.pairs[0].facts
    >>> region.p, region.q, first
    (add(mul(r, a), mul(add(1, mul(-1, r)), b)), b, r >= 0)
    """
    if isinstance(stage, Mechanism):
        return stage
    if isinstance(stage, Choice):
        found = [pair for one in stage.stages for pair in _pairs(one)]
    elif isinstance(stage, Joint):
        found = list(_products([_pairs(one) for one in stage.stages]))
    elif isinstance(stage, Repeated):
        count = _number(stage.count)
        found = [
            pair
            for one in _pairs(stage.stage)
            for pair in _products([(one,)] * count if count <= _MOST_REGIONS else [()])
        ]
    elif isinstance(stage, Blend):
        found = list(_mixtures(stage))
    elif isinstance(stage, Group):
        found = list(_chains(_pairs(stage.stage), _number(stage.count)))
    else:
        return None
    return Mechanism(tuple(dict.fromkeys(found))[:_MOST_PAIRS]) if found else None


def _pairs(stage: Inner | Joint) -> tuple[Pair, ...]:
    found = explicit(stage)
    return () if found is None else found.pairs


def _number(count: Term) -> int:
    """A number of copies; 0 for what is none."""
    value = count.value if count.op == "num" else None
    known = isinstance(value, (int, fmpq)) and fmpq(value).q == 1 and 1 <= value <= _MOST_STEPS
    return int(fmpq(value).p) if known else 0  # type: ignore[arg-type]


# -- compositions of what has finitely many outcomes


def _products(each: list[tuple[Pair, ...]]) -> Iterator[Pair]:
    if each and all(each):
        for pairs in islice(product(*each), _MOST_PAIRS):
            found = reduce(_both, pairs[1:], pairs[0] if _finite(pairs[0]) else None)
            if found is not None:
                yield found


def _finite(pair: Pair) -> bool:
    return all(region.output is None for region in pair.regions)


def _both(first: Pair | None, second: Pair) -> Pair | None:
    """The joint outcomes of two pairs, at the same values of variables that have the same name."""
    if first is None or not _finite(second):
        return None
    variables = dict(first.variables)
    if any(variables.setdefault(name, kind) != kind for name, kind in second.variables):
        return None
    if len(first.regions) * len(second.regions) > _MOST_REGIONS:
        return None
    regions = tuple(
        Region(
            one.p * two.p,
            one.q * two.q,
            facts=(*one.facts, *two.facts),
            weight=_times(one.weight, two.weight),
        )
        for one in first.regions
        for two in second.regions
    )
    facts = tuple(dict.fromkeys((*first.facts, *second.facts)))
    normalised = first.normalised and second.normalised
    label = "in turn" if not first.label else first.label
    return Pair(regions, tuple(variables.items()), facts, label, normalised)


def _times(one: Term | None, two: Term | None) -> Term | None:
    return two if one is None else one if two is None else one * two


# -- mixtures


def _mixtures(stage: Blend) -> Iterator[Pair]:
    """With each of the distributions one of the two of a single pair."""
    if not stage.links or len(stage.p) > _MOST_SIDES:
        return
    first, *others = stage.links
    known = {link: _pairs(link.stage) for link in others}
    sums = [Fact(way * (tm.add(*ws) - 1), ">=") for ws in (stage.p, stage.q) for way in (1, -1)]
    signs = [Fact(w, ">=") for w in (*stage.p, *stage.q) if w not in (ZERO, ONE)]
    for pair in _pairs(first.stage):
        for sides in product((0, 1), repeat=len(stage.p)):
            if (sides[first.first], sides[first.second]) != (0, 1):
                continue
            if any(
                isinstance(k.stage, Blend) and sides[k.first] == sides[k.second] for k in others
            ):
                continue  # of parts that are mixtures themselves, one pair that is in all of them
            needed = [_linked(pair, sides[k.first], sides[k.second], known[k]) for k in others]
            facts = [fact for found in needed if found is not None for fact in found]
            if None in needed:
                continue
            regions = tuple(
                replace(one, p=_mixed(stage.p, sides, one), q=_mixed(stage.q, sides, one))
                for one in pair.regions
            )
            added = tuple(dict.fromkeys((*pair.facts, *facts, *signs, *sums)))
            yield replace(pair, regions=regions, facts=added)


def _mixed(weights: tuple[Term, ...], sides: Sides, region: Region) -> Term:
    parts = ((w, (region.p, region.q)[side]) for w, side in zip(weights, sides, strict=True))
    return tm.add(*(one if w is ONE else w * one for w, one in parts if w is not ZERO))


def _linked(pair: Pair, one: int, two: int, known: tuple[Pair, ...]) -> tuple[Fact, ...] | None:
    """What must hold for two sides of a pair to be one of the known pairs; None if they are not.

    Two equal distributions are one if that is said, or if they are a pair of the same family at 0
    of its variables (the answers of neighbours may be the same)."""
    sides = [
        tuple(region.p if side == 0 else region.q for region in pair.regions) for side in (one, two)
    ]
    wanted = tuple(
        replace(region, p=p, q=q) for region, p, q in zip(pair.regions, *sides, strict=True)
    )
    for other in known:
        same = other.variables == pair.variables and other.facts == pair.facts
        if other.regions == wanted and same and other.normalised == pair.normalised:
            return ()
    if one != two or not pair.variables:
        return None
    zero = {name: ZERO for name, _ in pair.variables}
    for other in known:
        if replace(other, label=pair.label) == pair and all(
            _identical(substitute(region.p, zero), substitute(region.q, zero))
            for region in pair.regions
        ):
            return tuple(fact.substitute(zero) for fact in pair.facts)
    return None


def _identical(one: Term, two: Term) -> bool:
    canon = context(()).canon
    try:
        return canon.is_zero(canon(one - two))
    except (Refusal, ArithmeticError):
        return False


# -- groups


def _chains(pairs: tuple[Pair, ...], count: int) -> Iterator[Pair]:
    """Ends of chains of so many pairs, each of which begins where the last one ended."""
    if not count:
        return
    if count == 1:
        yield from pairs
        return
    for pair in pairs:
        step = _step(pair)
        if step is not None:
            (region,) = pair.regions
            far = _moved(region, count * step)
            yield replace(pair, regions=(replace(region, q=far),))
    plain = [pair for pair in pairs if not pair.variables and not pair.facts]
    if count > _MOST_WALKED:
        return
    for frame in dict.fromkeys(map(_frame, plain)):
        yield from _walks([pair for pair in plain if _frame(pair) == frame], count)


def _step(pair: Pair) -> Term | None:
    """The s for which q(x) is p(x - s), for densities on the whole line or masses of all integers;
    up to a sign the pair's variable: the answers of neighbours differ by it, whatever they are.

    Then the pair of p(x - i s) and p(x - (i + 1) s) is this one with the outputs called otherwise.
    """
    if len(pair.regions) != 1 or len(pair.variables) != 1:
        return None
    (region,), ((name, kind),) = pair.regions, pair.variables
    if region.output is None or region.facts or region.weight is not None or region.kind != kind:
        return None
    for step in (tm.var(name), -tm.var(name)):
        if name not in region.p.vars and _identical(region.q, _moved(region, step)):
            return step
    return None


def _moved(region: Region, step: Term) -> Term:
    output = str(region.output)
    return substitute(region.p, {output: tm.var(output) - step})


def _frame(pair: Pair) -> tuple[object, ...]:
    """A pair without its distributions."""
    regions = tuple(replace(region, p=ZERO, q=ZERO) for region in pair.regions)
    return regions, pair.normalised


def _walks(pairs: list[Pair], count: int) -> Iterator[Pair]:
    """Both ends of walks of so many steps along the pairs."""
    steps: dict[tuple[Term, ...], list[tuple[Term, ...]]] = {}
    for pair in pairs:
        start, end = (tuple(getattr(one, side) for one in pair.regions) for side in ("p", "q"))
        steps.setdefault(start, []).append(end)
    for start in steps:
        reached = {start: None}
        for _ in range(count):
            reached = {end: None for one in reached for end in steps.get(one, ())}
        for end in reached:
            if end != start:
                regions = tuple(
                    replace(one, p=p, q=q)
                    for one, p, q in zip(pairs[0].regions, start, end, strict=True)
                )
                yield Pair(regions, label="ends of a chain", normalised=pairs[0].normalised)
