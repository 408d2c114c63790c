"""Which search fits a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpsym.kernel.statements import Assumed, Blend, Group, Mechanism, Processed, Repeated, Statement
from dpsym.refutations import Refutation

if TYPE_CHECKING:
    from dpsym.search.leaf.budget import Budget


def refute_statement(statement: Statement, budget: Budget | float) -> Refutation | None:
    """A checked witness against the statement, or ``None`` if none is found in so many seconds of
    CPU time.

    Finds witnesses against any number of stages of assumed guarantees, copies of them, one
    post-processed stage, group or sample, one explicit mechanism, and compositions of explicit
    mechanisms that have finitely many outputs or for which the claim splits. The same statement
    gets the same witness in every run.

    >>> from dpsym.kernel.statements import Assumed, Fact, Guarantee
    >>> from dpsym.kernel.terms import var
    >>> e = var("e")
    >>> stage, claim = Assumed((Guarantee("PureDP", (e,)),)), Guarantee("PureDP", (e / 2,))
    >>> false = Statement((("e", "real"),), (Fact(e, ">="),), (stage,), (claim,))
    >>> found = refute_statement(false, 5.0)
    >>> found.values
    {'e': 1}
    """
    from dpsym.search.leaf import budget as budgets

    left = budgets.budget(budget)  # counted from here: loading libraries is not searching
    if not any(isinstance(stage, (Repeated, Group)) for stage in statement.stages):
        return _within(statement, left)
    from dpsym.search.refutation import copies

    for numbers, some in copies.counted(statement):
        one = copies.plain(some)
        found = None if one is None else _within(one, left.part(left.left() / 3))
        if found is not None:
            return copies.returned(statement, numbers, found)
        if left.left() <= 0:
            break
    return None


def _within(statement: Statement, left: Budget) -> Refutation | None:
    from dpsym.search.leaf import budget as budgets

    stages = statement.stages
    if bool(stages) and all(isinstance(stage, Assumed) for stage in stages):
        from dpsym.search.refutation.abstract import search
    elif stages and all(isinstance(stage, Mechanism) for stage in stages):
        search = _explicit
    elif len(stages) == 1 and isinstance(stages[0], Processed):
        from dpsym.search.refutation.merging import search
    elif len(stages) == 1 and isinstance(stages[0], (Group, Blend)):
        from dpsym.search.refutation.laws import search
    else:
        return None
    try:
        with left.enforced():
            return search(statement, left)
    except budgets.OutOfBudget:
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
