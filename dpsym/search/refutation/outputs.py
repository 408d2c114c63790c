"""Outputs at which an explicit mechanism breaks pure differential privacy.

Simple values come first: parameters from short menus, a pair's variables and the output at the ends
of their intervals (the faces of the facts), at kinks of the densities and at simple shares between.
What these miss, a local search in floating point may find.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq

from dpsym.kernel.definitions import Support, constraints
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Facts, Sequent, context, with_facts
from dpsym.kernel.statements import INTEGER, Fact, Mechanism, Pair, Region, Statement
from dpsym.kernel.terms import Term, subterms
from dpsym.refutations import Output, Refutation, refute
from dpsym.search.leaf import counterexample
from dpsym.search.leaf.budget import Budget
from dpsym.search.leaf.numeric import Array, satisfied
from dpsym.search.leaf.numeric import Values as Sampled
from dpsym.search.refutation.points import Points, menu, roles

COUNT = 4000  # points of a sample
_CHECKED = 12  # points of a sample that the kernel looks at
_SHARES = (0.0, 1.0, 0.5, 0.25, 0.75, 0.125, 0.875)
_STEPS = (0.0, 0.5, 1.0, 0.25, 2.0, 1.5, 0.1, 3.0, 10.0)
_RADII = (3, 6, 10, 15, 25)  # decimal places of half the interval of outputs
_CLEAR = 1e-7  # an excess of the loss that is no rounding error
_LARGEST_DENOMINATOR = 10_000


@dataclass(frozen=True)
class Target:
    """One region of one pair and one direction of a claim: ``gap < 0`` breaks it."""

    pair: int
    region: int
    facts: Facts
    variables: tuple[tuple[str, str], ...]
    first: Term
    second: Term
    bound: Term

    @property
    def gap(self) -> Term:
        return self.bound * self.second - self.first


def targets(statement: Statement, mechanism: Mechanism) -> Iterator[Target]:
    """All that the claims say about single outputs."""
    supports = [
        item
        for claim in statement.claims
        for item in constraints(claim)
        if isinstance(item, Support)
    ]
    for i, pair in enumerate(mechanism.pairs):
        for j, region in enumerate(pair.regions):
            for item in supports:
                first, second = region.p, region.q
                if item.reverse:
                    first, second = second, first
                facts = with_facts(statement.facts, *pair.facts, *region.facts)
                if region.weight is not None:
                    facts = with_facts(facts, Fact(region.weight, ">"))
                variables = statement.variables + pair.variables
                if region.output is not None:
                    variables = (*variables, (region.output, region.kind))
                yield Target(i, j, facts, variables, first, second, item.bound)


def search(statement: Statement, budget: Budget) -> Refutation | None:
    """A checked witness, or ``None``; raises ``OutOfBudget`` when the time is over."""
    (mechanism,) = statement.stages
    if not isinstance(mechanism, Mechanism):
        return None
    found = list(dict.fromkeys(targets(statement, mechanism)))
    used_as = roles(statement)
    if not statement.variables:  # nothing but the output is free: the worst one
        found.sort(
            key=lambda target: -max((loss for loss, _ in simple(target, used_as)), default=0)
        )
    for target in found:
        budget.check()
        for _, point in simple(target, used_as):
            witness = confirm(statement, mechanism, target, point)
            if witness is not None:
                return witness
    for thorough in (False, True):
        for target in found:
            sequent = Sequent(target.facts, Fact(target.gap, ">="))
            whole = frozenset(name for name, kind in target.variables if kind == INTEGER)
            part = budget.part(budget.left() / 2)
            point_found = counterexample.find(sequent, part, whole, thorough)
            budget.check()
            if point_found is not None:
                witness = confirm(statement, mechanism, target, point_found)
                if witness is not None:
                    return witness
    return None


def simple(target: Target, used_as: dict[str, str]) -> Iterator[tuple[float, dict[str, fmpq]]]:
    """Simple points at which the claim seems to fail, the simplest first, and how much the loss is
    too large."""
    points = sample(target, used_as)
    values = Sampled(points, COUNT)
    good = np.ones(COUNT, dtype=bool)
    for fact in target.facts:
        good &= satisfied(values, fact)
    first, second, bound = (values(item) for item in (target.first, target.second, target.bound))
    with np.errstate(all="ignore"):
        excess = np.where(second > 0, np.log(first / (second * bound)), np.inf)
    good &= (first > 1e-250) & (second >= 0) & (excess > _CLEAR)
    chosen = np.flatnonzero(good)
    names = [name for name, _ in target.variables]
    exact: dict[tuple[str, ...], tuple[float, float, dict[str, fmpq]]] = {}
    for index in chosen[:400].tolist():
        point = {name: near(float(points[name][index])) for name in names}
        size = sum(math.log2(int(abs(x.p)) + 1) + 2 * math.log2(int(x.q)) for x in point.values())
        doubt = 8.0 if excess[index] < 0.02 else 0.0
        key = tuple(str(x) for x in point.values())
        exact.setdefault(key, (size + doubt, float(excess[index]), point))
    ranked = sorted(exact.values(), key=lambda entry: entry[0])
    yield from (entry[1:] for entry in ranked[:_CHECKED])


def near(value: float) -> fmpq:
    """A simple fraction equal to the float, or else the float itself."""
    short = Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)
    if abs(float(short) - value) > 1e-12 * max(1.0, abs(value)):
        short = Fraction(value)
    return fmpq(short.numerator, short.denominator)


def sample(target: Target, used_as: dict[str, str]) -> dict[str, Array]:
    """Values of all variables, by menus, ends of intervals and kinks; many break a fact."""
    rng = np.random.default_rng(1)
    order = Points(target.variables, target.facts, used_as).order
    known = context(target.facts)
    kinds = dict(target.variables)
    kinks = switches(target)
    out: dict[str, Array] = {}
    for name in order:
        low, high = np.full(COUNT, -np.inf), np.full(COUNT, np.inf)
        values = Sampled(out, COUNT)
        for fact in target.facts:
            split = known.affine(fact.term, name) if name in fact.term.vars else None
            if split is None or fact.rel == "!=" or not split[1].vars <= set(out):
                continue
            end = values(split[1])
            low, high = (np.fmax(low, end), high) if split[0] > 0 else (low, np.fmin(high, end))
        role = INTEGER if kinds[name] == INTEGER else used_as.get(name, "")
        listed = np.array([int(v.p) / int(v.q) for v in menu(role)])
        rank = np.minimum(rng.geometric(0.35, COUNT) - 1, listed.size - 1)
        step = rng.choice(_STEPS, COUNT)
        share = rng.choice(_SHARES, COUNT)
        with np.errstate(all="ignore"):
            choices = [listed[rank], low + step, high - step, low + share * (high - low)]
        for item in kinks:
            split = known.affine(item, name) if name in item.vars else None
            if split is not None and split[1].vars <= set(out):
                choices.append(values(split[1]))
        usable = [np.isfinite(c) & (c >= low) & (c <= high) for c in choices]
        x = choices[0]
        pick = rng.random((len(choices), COUNT)) * np.array(usable)
        if kinds[name] != INTEGER and name not in used_as:
            pick[0] *= 0.7
        x = np.choose(np.argmax(pick, axis=0), choices[:32])
        out[name] = np.where(np.isfinite(x), x, 0.0)
    return out


def switches(target: Target) -> list[Term]:
    """Terms whose zeros are kinks of the densities."""
    found: dict[Term, None] = {}
    for item in (target.first, target.second):
        for part in subterms(item):
            if part.op in ("abs", "ite"):
                found[part.args[0]] = None
            elif part.op in ("max", "min"):
                found[part.args[0] - part.args[1]] = None
    return list(found)[:24]


def confirm(
    statement: Statement, mechanism: Mechanism, target: Target, point: dict[str, fmpq]
) -> Refutation | None:
    """The witness at this point, on as wide an interval of outputs as the kernel accepts."""
    pair: Pair = mechanism.pairs[target.pair]
    region: Region = pair.regions[target.region]
    own = {name: point[name] for name, _ in pair.variables}
    outer = {name: point[name] for name, _ in statement.variables}
    output = None if region.output is None else point[region.output]
    for at in intervals(output, region.kind == INTEGER):
        try:
            return refute(statement, outer, Output(target.pair, target.region, own, at))
        except Refusal:
            continue
    return None


def intervals(output: fmpq | None, whole: bool = False) -> Iterator[tuple[fmpq, fmpq] | None]:
    """Ever smaller intervals of outputs around one, or on one side of it; for a whole number itself
    alone."""
    if output is None or whole:
        yield None if output is None else (output, output)
        return
    for places in _RADII:
        radius = fmpq(1, 10**places)
        yield output - radius, output + radius
        yield output, output + radius
        yield output - radius, output
