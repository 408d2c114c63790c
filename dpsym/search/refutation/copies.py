"""Statements about a number of copies, for each of a few numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.statements import Group, Repeated, Statement, replaced
from dpsym.refutations import Refutation, copies, refute, written_out
from dpsym.search.refutation.exact import holds
from dpsym.search.refutation.points import menu

Numbers = dict[str, fmpq]
_COUNTS = "number of copies"


def counted(statement: Statement) -> Iterator[tuple[Numbers, Statement]]:
    """The statement with numbers for the variables that count copies of a stage, and those."""
    stages = [stage for stage in statement.stages if isinstance(stage, (Repeated, Group))]
    names = {str(stage.count.value) for stage in stages if stage.count.op == "var"}
    if not names:
        yield {}, statement
        return
    for value in menu(_COUNTS):
        numbers = dict.fromkeys(sorted(names), value)
        terms = {name: tm.num(number) for name, number in numbers.items()}
        some = replaced(statement, terms)
        free = tuple(pair for pair in statement.variables if pair[0] not in names)
        known = [fact for fact in some.facts if not fact.term.vars]
        if all(holds(fact, {}) for fact in known):
            facts = tuple(fact for fact in some.facts if fact.term.vars)
            yield numbers, replace(some, variables=free, facts=facts)


def plain(statement: Statement) -> Statement | None:
    """The same statement with copies of stages one by one, if their numbers are known."""
    try:
        return replace(statement, stages=written_out(statement, {}))
    except Refusal:
        return None


def returned(statement: Statement, numbers: Numbers, found: Refutation) -> Refutation | None:
    """The refutation of the statement about any number of copies."""
    families = any(claim.name == "ZCDP" for claim in statement.claims)
    order = found.orders[0] if families and found.orders else None
    grid = found.orders[1:] if families else found.orders
    try:
        return refute(statement, {**found.values, **numbers}, found.witness, order, grid)
    except Refusal:
        return None


__all__ = ["copies", "counted", "plain", "returned"]
