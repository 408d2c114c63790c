"""Which search fits a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpsym.kernel.statements import Assumed, Mechanism, Processed, Statement
from dpsym.refutations import Refutation

if TYPE_CHECKING:
    from dpsym.search.leaf.budget import Budget


def refute_statement(statement: Statement, budget: Budget | float) -> Refutation | None:
    """A checked witness against the statement, or ``None`` if none is found in so many seconds of
    CPU time.

    Finds witnesses against any number of stages of assumed guarantees, one post-processed stage, and
    against pure differential privacy of one explicit mechanism. The same statement gets the same witness in
    every run.

    >>> from dpsym.kernel.statements import Assumed, Fact, Guarantee
    >>> from dpsym.kernel.terms import var
    >>> e = var("e")
    >>> stage, claim = Assumed((Guarantee("PureDP", (e,)),)), Guarantee("PureDP", (e / 2,))
    >>> false = Statement((("e", "real"),), (Fact(e, ">="),), (stage,), (claim,))
    >>> found = refute_statement(false, 5.0)
    >>> found.values
    {'e': 1}
    """
    stages = statement.stages
    assumed = bool(stages) and all(isinstance(stage, Assumed) for stage in stages)
    mechanism = stages[0] if len(stages) == 1 else None
    if assumed:
        from dpsym.search.refutation.abstract import search
    elif isinstance(mechanism, Mechanism):
        from dpsym.search.refutation.outputs import search
    elif isinstance(mechanism, Processed):
        from dpsym.search.refutation.merging import search
    else:
        return None
    from dpsym.search.leaf import budget as budgets

    left = budgets.budget(budget)  # counted from here: loading libraries is not searching
    try:
        with left.enforced():
            return search(statement, left)
    except budgets.OutOfBudget:
        return None
