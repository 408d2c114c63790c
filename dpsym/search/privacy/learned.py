"""Theorems that somebody has added: which of them a goal calls for, and at which terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from dpsym.kernel.sequents import context
from dpsym.kernel.statements import Assumed, Guarantee, Mechanism, Single, Statement
from dpsym.kernel.terms import Term, substitute, var
from dpsym.kernel.theorems import Theorem

__all__ = ["THEOREMS", "Fit", "consequences", "fits"]

THEOREMS: dict[Theorem, None] = {}
"""In the order in which they were added."""

_MOST_FITS = 20


@dataclass(frozen=True)
class Fit:
    """A theorem, the terms for its variables, and what it then says of the goal's stages."""

    theorem: Theorem
    mapping: tuple[tuple[str, Term], ...]
    total: Guarantee


def fits(goal: Statement) -> Iterator[Fit]:
    """Theorems about stages like those of the goal."""
    (claim,) = goal.claims
    for theorem in THEOREMS:
        known = theorem.statement
        if len(known.stages) == len(goal.stages):
            yield from _fits(goal, claim, theorem)


def consequences(stage: Single, claim: Guarantee) -> Iterator[Guarantee]:
    """What theorems about one mechanism say of this one, that may help towards the claim."""
    own = stage.guarantees if isinstance(stage, Assumed) else ()
    found = (fit.total for fit in fits(Statement((), (), (stage,), (claim,))) if THEOREMS)
    yield from (one for one in dict.fromkeys(found) if one not in own)


def _fits(goal: Statement, claim: Guarantee, theorem: Theorem) -> Iterator[Fit]:
    known, pairs, found = theorem.statement, [], dict[str, Term]()
    for pattern, stage in zip(known.stages, goal.stages, strict=True):
        if isinstance(pattern, Mechanism) and _matched(pattern, stage, found):
            continue
        if not isinstance(pattern, Assumed) or not isinstance(stage, Assumed):
            return
        for needed in pattern.guarantees:
            given = [one for one in stage.guarantees if _alike(needed, one)]
            pairs.append([(needed, one) for one in given])
    own = {name for name, _ in known.variables}
    if any(name not in own and item is not var(name) for name, item in found.items()):
        return  # a shift or an output of another name
    given_names = {name: item for name, item in found.items() if name in own}
    for said in known.claims:
        if said.name != claim.name and "Distributions" in (said.name, claim.name):
            continue  # that says nothing of the loss
        for chosen in list(product(*pairs))[:_MOST_FITS]:
            names = _unified(goal, known, chosen, (said, claim), given_names)
            if names is not None:
                total = said.substitute(names)
                way = {"two_way": claim.two_way, "reverse": claim.reverse}
                if said.two_way:
                    total = Guarantee(total.name, total.args, **way)
                yield Fit(theorem, tuple(names.items()), total)


def _alike(needed: Guarantee, given: Guarantee) -> bool:
    same = needed.name == given.name and len(needed.args) == len(given.args)
    return same and (given.two_way or (not needed.two_way and needed.reverse == given.reverse))


def _unified(
    goal: Statement,
    known: Statement,
    chosen: tuple[tuple[Guarantee, Guarantee], ...],
    last: tuple[Guarantee, Guarantee],
    given: dict[str, Term],
) -> dict[str, Term] | None:
    """Terms for the theorem's variables: arguments that are variables say what these are, first in
    the stages, then in the claim; all other arguments have to agree."""
    own, names = {name for name, _ in known.variables}, dict(given)
    rows = [pair for one, two in chosen for pair in zip(one.args, two.args, strict=True)]
    for pattern, item in rows:
        if pattern is not None and item is not None and pattern.op == "var":
            names.setdefault(str(pattern.value), item)
    said, claim = last
    if said.name == claim.name and len(said.args) == len(claim.args):
        for pattern, item in zip(said.args, claim.args, strict=True):
            if pattern is not None and item is not None and pattern.op == "var":
                names.setdefault(str(pattern.value), item)
    if set(names) != own:
        return None
    same = context(goal.facts).same
    for pattern, item in rows:
        if pattern is None or item is None:
            if pattern is not item:
                return None
        elif not same(substitute(pattern, names), item):
            return None
    return names


def _matched(pattern: Any, item: Any, names: dict[str, Term]) -> bool:
    """Whether the item is the pattern with terms for variables, those in ``names`` as they are."""
    if isinstance(pattern, Term) and pattern.op == "var":
        return isinstance(item, Term) and names.setdefault(str(pattern.value), item) is item
    if isinstance(pattern, Term):
        alike = isinstance(item, Term) and (pattern.op, pattern.value) == (item.op, item.value)
        return alike and _matched(pattern.args, item.args, names)
    if isinstance(pattern, tuple):
        alike = isinstance(item, tuple) and len(pattern) == len(item)
        return alike and all(_matched(a, b, names) for a, b in zip(pattern, item, strict=True))
    fields: tuple[str, ...] = getattr(pattern, "__match_args__", ())
    if not fields:
        return bool(pattern == item)
    sides = ((getattr(pattern, name), getattr(item, name, None)) for name in fields)
    return type(pattern) is type(item) and all(_matched(a, b, names) for a, b in sides)
