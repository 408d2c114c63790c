"""Lines of Python that recompute what an event breaks, by quadrature and sums with mpmath."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from flint import fmpq

from dpsym import events
from dpsym.events import Chosen, Event
from dpsym.kernel import terms as tm
from dpsym.kernel.balls import precision
from dpsym.kernel.definitions import Moment, Range, constraints
from dpsym.kernel.statements import INTEGER, Guarantee, Mechanism, Pair, Region
from dpsym.kernel.terms import ONE, Term
from dpsym.refutations import Refutation
from dpsym.search.leaf.numeric import to_float
from dpsym.search.refutation.measures import chosen_pairs
from dpsym.search.refutation.outlines import Shape
from dpsym.search.refutation.outputs import near
from dpsym.search.refutation.python import Names, plain

_IMPORT = (
    "from mpmath import asinh, atan, erfc, exp, inf, log, loggamma, mp, mpf, pi, quad, sinh, sqrt"
)
_OWN = frozenset(("a", "b", "bound", "cuts", "f", "h", "k", "p", "q", "t", "u", "v", "value", "w"))
_CUTS = (
    "cuts = lambda a, b: sorted([a + (b - a)*k/16 for k in range(17)]"
    " + [sinh(asinh(a) + (asinh(b) - asinh(a))*mpf(k)/40) for k in range(1, 40)])"
)
_MOST_OUTCOMES = 20_000
_BEYOND = 1000


def event_lines(refutation: Refutation, witness: Event) -> Iterator[str]:
    """The lines. Raises ValueError where there would be too many."""
    found = refutation.exceeded
    if found is None:
        raise ValueError("not a refutation by an event")
    outputs = {
        region.output: fmpq(0)
        for pair in chosen_pairs(refutation, witness)
        for region in pair.regions
        if region.output is not None
    }
    names = Names({**refutation.values, **outputs}, _OWN)
    own = Names(refutation.values, _OWN)
    own.names = {name: names.names[name] for name in refutation.values}
    yield _IMPORT
    yield "mp.dps = 30"
    yield from own.lines()
    (item,) = constraints(replace(found.claim, reverse=False))
    stages = list(_stages(refutation, witness, found.claim.reverse))
    if not isinstance(item, Moment):
        yield from _losses(names, stages, item)
        yield f"bound = {names.code(found.claim.args[0] or ONE)}"
    else:
        yield from _moment(refutation, names, found.claim, item, stages)
    yield "print(value, '>', bound, value > bound)"


Stage = tuple[Pair, Chosen]


def _stages(refutation: Refutation, witness: Event, reverse: bool) -> Iterator[Stage]:
    """The pairs with numbers for their own variables, in the claim's direction."""
    for stage, chosen in zip(refutation.stages, witness.stages, strict=True):
        if isinstance(stage, Mechanism):
            numbers = {name: tm.num(value) for name, value in chosen.values.items()}
            pair = events.at_values(stage.pairs[chosen.pair], numbers)
            if reverse:
                regions = tuple(replace(one, p=one.q, q=one.p) for one in pair.regions)
                pair = replace(pair, regions=regions)
            yield pair, chosen


def _weight(names: Names, region: Region) -> str:
    return names.code(ONE if region.weight is None else region.weight)


def _function(names: Names, item: Term, region: Region) -> str:
    return f"lambda {names.names[str(region.output)]}: mpf({names.code(item)})"


def _losses(names: Names, stages: list[Stage], item: object) -> Iterator[str]:
    shown = []
    for pair, chosen in stages:
        entries = [
            f"({names.code(region.p)}, {names.code(region.q)})"
            for region in pair.regions
            if region.output is None
        ]
        for part in chosen.parts:
            region = pair.regions[part.region]
            for low, high in part.within:
                x = {str(region.output): tm.num((low + high) / 2)}
                p, q = (names.code(tm.substitute(one, x)) for one in (region.p, region.q))
                entries.append(f"({p}, {q})")
        shown.append(f"[{', '.join(entries)}]")
    yield f"stages = [{', '.join(shown)}]"
    yield "losses = [[log(mpf(p)/q) if q else inf for p, q in stage if p] for stage in stages]"
    least = " - min(stage)" if isinstance(item, Range) else ""
    yield f"value = sum(max(stage){least} for stage in losses)"


def _moment(
    refutation: Refutation, names: Names, claim: Guarantee, item: Moment, stages: list[Stage]
) -> Iterator[str]:
    found = refutation.exceeded
    finite = all(region.output is None for pair, _ in stages for region in pair.regions)
    linear = None
    if not finite:
        first = claim.args[0]
        values = {name: tm.num(value) for name, value in refutation.values.items()}
        with precision(256):
            form = replace(item.form, f=tm.substitute(item.form.f, values))
            linear = events.minorant(claim.name, form, first)
    a, b = (names.code(part) for part in linear) if linear is not None else ("0", "0")
    plane = "" if (a, b) == ("0", "0") else f" - {a}*p - {b}*q"
    if found is not None and found.low is None:
        yield "f = lambda p, q: 0 if q else p  # where q is 0, what the claim bounds is infinite"
        bound, plane = "0", ""
    else:
        rays = [
            "inf" if ray is None else names.code(ray) for ray in (item.form.at_p, item.form.at_q)
        ]
        yield f"h = lambda t: {names.code(item.form.f)}"
        yield (
            f"f = lambda p, q: (q*h(p/q) if p and q else p*{rays[0]} if p else q*{rays[1]}"
            f" if q else mpf(0)){plane}"
        )
        bound = names.code(item.bound)
    rest = f" + {a} + {b}" if plane else ""
    if not finite and len(stages) > 1 and claim.name == "ApproxDP":
        yield from _binned(refutation, names, stages)
    elif finite:
        yield from _enumerated(names, stages)
    elif len(stages) == 1:
        yield from _integrated(refutation, names, stages[0], "value", rest)
    else:
        each = [f"value{i}" for i in range(1, len(stages) + 1)]
        for name, stage in zip(each, stages, strict=True):
            yield from _integrated(refutation, names, stage, name, rest)
        sign = "-" if claim.name == "RenyiDPBelowOne" else ""
        joint = " + ".join(each) if claim.name == "KLDP" else "*".join(f"({sign}{x})" for x in each)
        yield f"value = {sign}{joint}"
    yield f"bound = {bound}"


def _enumerated(names: Names, stages: list[Stage]) -> Iterator[str]:
    outcomes = 1
    tables = []
    for pair, _ in stages:
        outcomes *= len(pair.regions)
        entries = [
            f"(mpf({names.code(region.p)}), mpf({names.code(region.q)}), {_weight(names, region)})"
            for region in pair.regions
        ]
        tables.append(f"[{', '.join(entries)}]")
    if len(tables) == 1:
        yield f"value = sum(w*f(p, q) for p, q, w in {tables[0]})"
        return
    same = len(set(tables)) == 1
    if outcomes > _MOST_OUTCOMES and same:
        yield from _counted(tables)
        return
    if outcomes > _MOST_OUTCOMES:
        raise ValueError("too many outcomes to be written out")
    yield "joint = [(mpf(1), mpf(1), 1)]"
    listed = f"[{tables[0]}] * {len(tables)}" if same else f"[{', '.join(tables)}]"
    yield f"for stage in {listed}:"
    yield "    joint = [(p*u, q*v, w*k) for p, q, w in joint for u, v, k in stage]"
    yield "value = sum(w*f(p, q) for p, q, w in joint)"


def _counted(tables: list[str]) -> Iterator[str]:
    """By how often each outcome of a stage occurs."""
    yield "from math import factorial, prod"
    yield f"n, stage = {len(tables)}, {tables[0]}"
    yield "split = lambda n, m: [(n,)] if m == 1 else [(k, *r) for k in range(n + 1)"
    yield "    for r in split(n - k, m - 1)]"
    yield "value = sum(factorial(n)//prod(map(factorial, r))"
    yield "    *prod(s[2]**k for s, k in zip(stage, r))"
    yield "    *f(*(prod(s[i]**k for s, k in zip(stage, r)) for i in (0, 1)))"
    yield "    for r in split(n, len(stage)))"


def _binned(refutation: Refutation, names: Names, stages: list[Stage]) -> Iterator[str]:
    """The joint masses of the chosen intervals: a hockey stick is convex."""
    yield "mp.dps = 15"
    yield _CUTS
    yield "mass = lambda f, a, b: quad(f, cuts(a, b) if b - a > 1 else [a, b])"
    shown: list[str] = []
    for i, (pair, chosen) in enumerate(stages):
        if i and stages[i - 1] == stages[i]:
            shown.append(shown[-1])
            continue
        lines = [
            f"(mpf({names.code(region.p)}), mpf({names.code(region.q)}), {_weight(names, region)})"
            for region in pair.regions
            if region.output is None
        ]
        yield f"stage{i} = [{', '.join(lines)}]"
        for part in chosen.parts:
            region = pair.regions[part.region]
            p, q = (_function(names, item, region) for item in (region.p, region.q))
            yield f"p, q = {p}, {q}"
            ends = ", ".join(f"({plain(low)}, {plain(high)})" for low, high in part.within)
            if region.kind == INTEGER:
                each = "sum(p(k) for k in range(a, b + 1)), sum(q(k) for k in range(a, b + 1))"
            else:
                each = "mass(p, a, b), mass(q, a, b)"
            yield f"stage{i} += [({each}, 1) for a, b in [{ends}]]"
        shown.append(f"stage{i}")
    yield "joint = [(mpf(1), mpf(1), 1)]"
    yield f"for stage in [{', '.join(shown)}]:"
    yield "    joint = [(p*u, q*v, w*k) for p, q, w in joint for u, v, k in stage]"
    yield "value = sum(w*f(p, q) for p, q, w in joint)"


def _integrated(
    refutation: Refutation, names: Names, stage: Stage, target: str, rest: str
) -> Iterator[str]:
    pair, chosen = stage
    atoms = [region for region in pair.regions if region.output is None]
    summands = [
        f"{_weight(names, region)}*f(mpf({names.code(region.p)}), mpf({names.code(region.q)}))"
        for region in atoms
    ]
    if any(pair.regions[part.region].kind != INTEGER for part in chosen.parts):
        yield _CUTS
    for part in chosen.parts:
        region = pair.regions[part.region]
        p, q = (_function(names, item, region) for item in (region.p, region.q))
        yield f"p, q = {p}, {q}"
        if region.kind == INTEGER:
            ranges = ", ".join(f"range({low}, {high + 1})" for low, high in part.within)
            yield f"part{part.region} = sum(f(p(k), q(k)) for r in [{ranges}] for k in r)"
        else:
            shown = ", ".join(
                f"({plain(low)}, {plain(high)})"
                for low, high in _split(refutation, region, part.within)
            )
            yield (
                f"part{part.region} = sum(quad(lambda x: f(p(x), q(x)), cuts(a, b))"
                f" for a, b in [{shown}])"
            )
        summands.append(f"part{part.region}")
    total = " + ".join(summands)
    if not pair.normalised:
        yield from _factor(names, pair, chosen)
        total = f"({total})/mass"
    yield f"{target} = {total}{rest}"


def _factor(names: Names, pair: Pair, chosen: Chosen) -> Iterator[str]:
    """The mass of unnormalised p on the integers, far beyond what was chosen."""
    (region,), (part,) = pair.regions, chosen.parts
    name = str(region.output)
    inside = [f"{names.code(fact.term)} >= 0" for fact in region.facts]
    shown = f" if {' and '.join(inside)}" if inside else ""
    low, high = part.within[0][0] - _BEYOND, part.within[-1][1] + _BEYOND
    variable = names.names[name]
    p = names.code(region.p)
    yield f"mass = sum(mpf({p}) for {variable} in range({low}, {high + 1}){shown})"


def _split(
    refutation: Refutation, region: Region, within: tuple[tuple[fmpq, fmpq], ...]
) -> Iterator[tuple[fmpq, fmpq]]:
    """The intervals cut at kinks of the densities, about."""
    floats = {name: to_float(value) for name, value in refutation.values.items()}
    shape = Shape(region)
    kinks = [near(x) for x in shape.special(shape.kinks, floats)]
    for low, high in within:
        ends = [low, *(x for x in kinks if low < x < high), high]
        yield from pairwise(ends)
