"""Integer variables: their bounds as whole numbers, and their few values one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import to_term
from dpsym.kernel.rules_privacy import is_integer
from dpsym.kernel.sequents import Sequent, context, with_facts
from dpsym.kernel.statements import INTEGER, Fact, Mechanism, Statement
from dpsym.kernel.terms import Term, var
from dpsym.search import leaf
from dpsym.search.bounds import Bounds, bounds
from dpsym.search.integrals.cuts import plain
from dpsym.search.integrals.sampling import numbers, parameters

__all__ = ["as_whole", "known_value", "one_by_one"]

_SAMPLES, _TOLERANCE = 60, 1e-9
_SHORT = 8  # the largest difference between values that are looked at one by one
Step = tuple[str, dict[str, Any]]


def known_value(goal: Statement) -> Step | None:
    """``equal`` for a variable whose two bounds are the same."""
    kinds = dict(goal.variables)
    ends: dict[str, dict[bool, set[Term]]] = {name: {True: set(), False: set()} for name in kinds}
    facts = [Fact(plain(fact.term, goal.facts), fact.rel) for fact in goal.facts]
    for x, slope, end, strict in context(with_facts(goal.facts, *facts)).bounds:
        if x.value in kinds and not strict:
            ends[str(x.value)][slope > 0].add(to_term(end))
    for name, kind in goal.variables:
        for value in sorted(ends[name][True] & ends[name][False], key=lambda item: item.key):
            if kind != INTEGER or is_integer(value, kinds):
                return "equal", {"name": name, "value": value}
    return _by_kinks(goal)


def _by_kinks(goal: Statement) -> Step | None:
    """The other bound, stated, where a fact with a kink says it, such as |x| <= c for x >= c."""
    if not any(fact.term.kinked for fact in goal.facts):
        return None
    samples = parameters(goal.variables, goal.facts, _SAMPLES)
    for fact in goal.facts:
        if fact.rel == ">=" and fact.term.vars and not fact.term.kinked and samples:
            sizes = numbers(fact.term, samples)
            other = Fact(-fact.term, ">=")
            if max(map(abs, sizes)) < _TOLERANCE and leaf.easy(Sequent(goal.facts, other)):
                return "either", {"item": other.term}
    return None


def as_whole(goal: Statement, new: str) -> Step | None:
    """The step that makes a bound of an integer variable a whole number; an upper bound is one of
    the ``new`` variable for minus the variable."""
    for name, limits in _integers(goal):
        lower, upper = limits.lower, limits.upper
        if lower is not None and (limits.lower_open or lower.q != 1):
            return "integers", {"name": name, "bound": int(lower.floor())}
        if upper is not None and (limits.upper_open or upper.q != 1):
            return "named", {"name": new, "value": -var(name), "kind": INTEGER}
    return None


def one_by_one(goal: Statement) -> Step | None:
    """A case distinction for an integer variable of the densities that has few values."""
    (stage,) = goal.stages
    pairs = stage.pairs if isinstance(stage, Mechanism) else ()
    regions = [region for pair in pairs for region in pair.regions]
    names = frozenset().union(*(item.vars for region in regions for item in (region.p, region.q)))
    for name, limits in _integers(goal):
        low, high = limits.lower, limits.upper
        if name in names and low is not None and high is not None and 0 < high - low <= _SHORT:
            middle = int(((low + high) / 2).floor()) + 1
            return "either", {"item": var(name) - tm.num(middle)}
    return None


def _integers(goal: Statement) -> Iterator[tuple[str, Bounds]]:
    known = bounds(goal.facts)
    for name, kind in goal.variables:
        if kind == INTEGER and name in known:
            yield name, known[name]
