"""Which search fits a statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from flint import fmpq

from dpsym.instances import explicit
from dpsym.kernel.definitions import constraints
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.statements import (
    Assumed,
    Blend,
    Choice,
    Filter,
    Group,
    Mechanism,
    Processed,
    Repeated,
    Statement,
    shapes,
)
from dpsym.refutations import Refutation, refute

if TYPE_CHECKING:
    from dpsym.search.leaf.budget import Budget

    Search = Callable[[Statement, Budget], Refutation | None]


def refute_statement(statement: Statement, budget: Budget | float) -> Refutation | None:
    """A checked witness against the statement, or ``None`` if none is found in so many seconds of
    CPU time.

    Finds witnesses against any number of stages of assumed guarantees, repeated ones among them,
    against one post-processed stage, group or blend of them, one explicit mechanism, sample or
    group of one, and compositions of these that have finitely many outputs or for which the claim
    splits. The same statement gets the same witness in every run.

    >>> from dpsym.kernel.statements import Assumed, Fact, Guarantee
    >>> from dpsym.kernel.terms import var
    >>> e = var("e")
    >>> stage, claim = Assumed((Guarantee("PureDP", (e,)),)), Guarantee("PureDP", (e / 2,))
    >>> false = Statement((("e", "real"),), (Fact(e, ">="),), (stage,), (claim,))
    >>> found = refute_statement(false, 5.0)
    >>> found.values
    {'e': 1}
    """
    search = search_for(statement)
    if search is None:
        return None
    from dpsym.search.leaf import budget as budgets

    left = budgets.budget(budget)  # counted from here: loading libraries is not searching
    try:
        with left.enforced():
            return search(statement, left)
    except budgets.OutOfBudget:
        return None


def search_for(statement: Statement) -> Search | None:
    """The search that fits, which raises ``OutOfBudget`` when the time is over."""
    stages = statement.stages
    made = written_out(statement)
    if made is not None:
        return partial(_of_instances, statement, made)
    shapes_of = [one for stage in stages for one in shapes(stage)]
    if any(isinstance(one, (Repeated, Group)) and one.count.vars for one in shapes_of) or any(
        isinstance(stage, (Repeated, Filter, Choice)) for stage in stages
    ):
        from dpsym.search.refutation.repeated import search
    elif stages and all(isinstance(stage, Assumed) for stage in stages):
        from dpsym.search.refutation.abstract import search
    elif stages and all(isinstance(stage, Mechanism) for stage in stages):
        return _explicit
    elif len(stages) == 1 and isinstance(stages[0], Processed):
        from dpsym.search.refutation.merging import search
    elif len(stages) == 1 and isinstance(stages[0], (Group, Blend)):
        from dpsym.search.refutation.made import search
    else:
        return None
    return search


def written_out(statement: Statement) -> Statement | None:
    """The statement about explicit pairs of its stages, if some are made of explicit mechanisms."""
    found = [
        explicit(stage) if isinstance(stage, (Group, Blend)) else stage
        for stage in statement.stages
    ]
    stages = tuple(stage for stage in found if isinstance(stage, Mechanism))
    if stages == statement.stages or len(stages) < len(found):
        return None
    return replace(statement, stages=stages)


def _of_instances(
    statement: Statement, made: Statement, _: Statement, budget: Budget
) -> Refutation | None:
    """The same witness against the statement itself."""
    found = _explicit(made, budget)
    return None if found is None else transferred(found, statement)


def transferred(
    found: Refutation, statement: Statement, counts: Mapping[str, fmpq] = MappingProxyType({})
) -> Refutation | None:
    """The same witness against a statement that says more, with numbers of copies."""
    of_family = any(not constraints(claim) for claim in statement.claims)
    order, grid = (found.orders[0], found.orders[1:]) if of_family else (None, found.orders)
    try:
        return refute(statement, {**found.values, **counts}, found.witness, order, grid)
    except Refusal:
        return None


def _explicit(statement: Statement, budget: Budget) -> Refutation | None:
    """Single outputs for pure privacy of one mechanism; else events."""
    from dpsym.search.leaf import budget as budgets
    from dpsym.search.refutation import explicit, outputs

    found = None
    if len(statement.stages) == 1:
        part = budget.part(budget.left() / 2)
        try:
            with part.enforced():
                found = outputs.search(statement, part)
        except budgets.OutOfBudget:
            budget.check()
    return found or explicit.search(statement, budget)
