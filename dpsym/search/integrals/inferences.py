"""Claims about one explicit mechanism: pair by pair, by known masses, or by integrals and sums."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from dpsym.kernel.definitions import Form, Moment, constraints
from dpsym.kernel.proofs import Lemma
from dpsym.kernel.rules_mechanisms import Limit, Piece, homogeneous
from dpsym.kernel.sequents import Sequent, context, with_facts
from dpsym.kernel.statements import (
    INTEGER,
    RATIO,
    Fact,
    Guarantee,
    Mechanism,
    Pair,
    Region,
    Statement,
)
from dpsym.kernel.terms import ONE, ZERO, Term, add, num, substitute, var
from dpsym.search import leaf
from dpsym.search.forms import folded, low
from dpsym.search.integrals.cuts import Split, vanishing
from dpsym.search.integrals.losses import candidates
from dpsym.search.integrals.masses import mass_plan, series_plan
from dpsym.search.integrals.plans import Given, NeedsFloor, NoPlan, given, moved, pieces_of
from dpsym.search.integrals.sampling import is_largest, parameters
from dpsym.search.integrals.whole import as_whole, known_value, one_by_one
from dpsym.search.privacy.leaves import plausible

__all__ = ["Inference", "by_largest_loss", "fresh", "inferences", "nothing", "settled"]

_SIGN_SECONDS, _SAMPLES = 2.0, 40
Inference = tuple[str, dict[str, Any]]


def inferences(goal: Statement) -> Iterator[Inference]:
    """Rules to try, with their parameters, for a goal with one explicit mechanism."""
    (stage,) = goal.stages
    (claim,) = goal.claims
    if not isinstance(stage, Mechanism):
        return
    if len(stage.pairs) != 1 or stage.pairs[0].variables or stage.pairs[0].facts:
        yield "pairs", {}
        return
    (pair,) = stage.pairs
    turned = _turned(goal)
    if turned is not None:
        yield turned
        return
    if claim.name == "Distributions":
        laws = series_plan(goal, pair)
        if laws is not None:
            yield "series", laws
        yield from _settled(goal, lambda: _sides(goal, pair), "distributions")
        return
    forward = constraints(Guarantee(claim.name, claim.args, two_way=False))[0]
    if not isinstance(forward, Moment):
        return
    form = forward.form
    step = one_by_one(goal) if form.f.kinked else None
    if step is not None:
        yield step
        return
    for mirror in (False, True):
        below = _low(form, goal) if mirror else None
        found = mass_plan(goal, pair, form, claim.reverse, mirror, below)
        if found is not None:
            yield "masses", found
            break
    if pair.normalised:
        yield from _settled(goal, lambda: _integral(goal, pair, form, claim.reverse), "integral")


def by_largest_loss(goal: Statement) -> Iterator[Inference]:
    """For pure DP of one mechanism: the largest loss of each pair first, then the claim."""
    (stage,), (claim,) = goal.stages, goal.claims
    if not isinstance(stage, Mechanism):
        return
    if len(stage.pairs) != 1 or stage.pairs[0].variables or stage.pairs[0].facts:
        yield "pairs", {}
        return
    (pair,) = stage.pairs
    turned = _turned(goal)
    if turned is not None:
        yield turned
        return
    names = frozenset().union(*(item.vars for r in pair.regions for item in (r.p, r.q)))
    outputs = {region.output for region in pair.regions}
    item = _unsigned(goal, add(*(var(name) for name in sorted(names - outputs))))
    if item.op == "var":
        yield "either", {"item": item}
        return
    if claim.reverse:
        pair = replace(pair, regions=tuple(replace(r, p=r.q, q=r.p) for r in pair.regions))
    samples = parameters(goal.variables, goal.facts, _SAMPLES)
    found = [value for value, _, _ in candidates(goal, pair)]
    known = context(goal.facts)
    for value in found:
        if is_largest(value, found, samples) and not known.same(value, claim.args[0] or ZERO):
            yield "cut", {"first": 0, "last": 0, "guarantees": (replace(claim, args=(value,)),)}
            return


def _turned(goal: Statement) -> Inference | None:
    """A variable whose value is known replaced by it, bounds of integers made whole, a variable
    that is never positive replaced by a nonnegative one."""
    step = known_value(goal) or as_whole(goal, fresh(goal, "u"))
    if step is not None:
        return step
    known = context(goal.facts).bounds
    signs: dict[str, set[int]] = {}
    for x, slope, end, _ in known:
        if not end:
            signs.setdefault(str(x.value), set()).add(1 if slope > 0 else -1)
    for name, found in signs.items():
        if found == {-1}:
            kind = dict(goal.variables)[name]
            return "named", {"name": fresh(goal, name), "value": -var(name), "kind": kind}
    return None


def _settled(goal: Statement, plan: Any, rule: str) -> Iterator[Inference]:
    """The rule, or what has to be settled before it."""
    try:
        yield rule, plan()
    except Split as split:
        if not split.item.vars <= {name for name, _ in goal.variables}:
            raise NoPlan("the integral needs cases that depend on the output") from None
        item = split.item
        yield "either", {"item": item}
        yield "either", {"item": -item}
    except NeedsFloor as needs:
        yield "named", {"name": fresh(goal, "m"), "value": needs.item, "kind": INTEGER}


def _unsigned(goal: Statement, item: Term) -> Term:
    """A variable of the term whose sign is not known, or else the term itself: integrals over
    mirrored variables are as easy, and nonnegative variables easier."""
    known = context(goal.facts)
    signed = {str(x.value) for x, _, end, _ in known.bounds if not end}
    signed |= {name for name in item.vars if known.canon.is_positive(var(name))}
    unsigned = sorted(item.vars - signed)
    return var(unsigned[0]) if unsigned else item


def _integral(goal: Statement, pair: Pair, form: Form, swap: bool) -> dict[str, Any]:
    pieces = []
    for region in pair.regions:
        whole = (region.q, region.p) if swap else (region.p, region.q)
        p, q = map(folded, whole)
        alike = replace(region, p=p, q=q)
        found = _planned(given(goal, alike, form.f), alike, form)
        if isinstance(found, Exception):
            raise found
        if p is ZERO and whole[0] is not ZERO:  # which the rule is to be told
            found = tuple(replace(piece, p=ZERO) for piece in found)
        if q is ZERO and whole[1] is not ZERO:
            found = tuple(replace(piece, q=ZERO) for piece in found)
        pieces.append(found)
    return {"low": _low(form, goal), "pieces": tuple(pieces)}


@lru_cache(maxsize=500)
def _planned(
    known: Given, region: Region, form: Form
) -> tuple[Piece, ...] | Split | NoPlan | NeedsFloor:
    """The pieces, or what there is instead of them."""
    names = {name for name, _ in known.variables}

    def integrand(p: Term, q: Term) -> Term:
        for gone, other, value in ((p, q, form.at_q), (q, p, form.at_p)):
            if gone is ZERO:
                if value is None:
                    raise NoPlan("the divergence is infinite")
                return value * other
        for density in (p, q):
            zero = None if density is ZERO else vanishing(density, known.facts, names)
            if zero is not None:
                raise Split(zero)
        return homogeneous(form.f, p, q)

    try:
        return pieces_of(known, region, integrand)
    except (Split, NoPlan, NeedsFloor) as instead:
        return instead.with_traceback(None)


def _low(form: Form, goal: Statement) -> tuple[Term, Term] | None:
    """A linear function below the form, or None for a form that is never positive."""
    given = with_facts(goal.facts, Fact(var(RATIO), ">"))
    if context(given).evident(Fact(form.f, ">=")):
        return ZERO, ZERO
    never = Sequent(given, Fact(-form.f, ">="))
    if plausible(never) and isinstance(leaf.prove(never, _SIGN_SECONDS), Lemma):
        return None
    return low(form, goal.facts)


def _sides(goal: Statement, pair: Pair) -> dict[str, Any]:
    """Pieces for p, -p, q and -q."""
    found = []
    for region in pair.regions:
        sides: list[tuple[Piece, ...]] = []
        known = given(goal, region)
        for sign in (ONE, num(-1)):
            sides.append(pieces_of(known, _only(region, sign * region.p), _first))
        shift = _shift(goal, region)
        for sign, pieces in zip((ONE, num(-1)), tuple(sides), strict=True):
            if shift is not None:
                sides.append(moved(goal, region, pieces, shift))
            else:
                sides.append(pieces_of(known, _only(region, sign * region.q), _first))
        found.append(tuple(sides))
    return {"pieces": tuple(found)}


def nothing(goal: Statement) -> Inference:
    """For facts that contradict each other, from which anything follows."""
    (stage,), (claim,) = goal.stages, goal.claims
    if claim.two_way:
        return "directions", {}
    if isinstance(stage, Mechanism) and stage.pairs[0].variables:
        return "pairs", {}
    regions = stage.pairs[0].regions if isinstance(stage, Mechanism) else ()
    piece = Piece(ZERO, None, Limit(ZERO), Limit(ZERO))
    pieces = tuple((piece,) if r.output else (Piece(ZERO),) for r in regions)
    if claim.name == "Distributions":
        return "distributions", {"pieces": tuple((part,) * 4 for part in pieces)}
    constraint = next(iter(constraints(replace(claim, reverse=False))), None)
    below: tuple[Term, Term] | None = (ZERO, ZERO)
    if isinstance(constraint, Moment):  # what the form is without the facts
        below = _low(constraint.form, replace(goal, facts=()))
    return "integral", {"low": below, "pieces": pieces}


def settled(goal: Statement, item: Term) -> bool:
    """Whether the facts say the sign of the term already, so that asking again would not end."""
    return Fact(item, ">=") in goal.facts or Fact(-item, ">") in goal.facts


def _only(region: Region, item: Term) -> Region:
    return replace(region, p=item, q=item)


def _first(p: Term, _: Term) -> Term:
    return p


def _shift(goal: Statement, region: Region) -> Term | None:
    """A variable t, or its negative, with q(x) = p(x - t) on the whole line; zero if q = p."""
    if region.output is None or region.facts:
        return None
    x, known = var(region.output), context(goal.facts)
    for name in region.q.vars - {region.output} | {""}:
        for sign in (1, -1):
            shift = sign * var(name) if name else ZERO
            if known.same(substitute(region.p, {region.output: x - shift}), region.q):
                return shift
    return None


def fresh(goal: Statement, stem: str) -> str:
    """A name that occurs nowhere in the goal."""
    names = {name for name, _ in goal.variables}
    for stage in goal.stages:
        for pair in stage.pairs if isinstance(stage, Mechanism) else ():
            names |= {region.output for region in pair.regions if region.output}
            names |= {name for name, _ in pair.variables}
    while stem in names:
        stem += "'"
    return stem
