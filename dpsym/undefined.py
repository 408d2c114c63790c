"""Sides that are undefined somewhere in the domain: refused, with the sub-term and a point."""

from __future__ import annotations

from collections.abc import Mapping

from flint import fmpq

from dpsym.errors import InputError
from dpsym.kernel.proofs import top_obligations
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term, subterms
from dpsym.printing import show, show_fact
from dpsym.search import leaf
from dpsym.search.leaf import Budget

__all__ = ["refuse_undefined", "shown_values"]

_SHARE = 0.1  # of what is left of the budget, for one condition


def refuse_undefined(
    sequent: Sequent, integers: frozenset[str], given: Budget, seconds: float = 1.0
) -> None:
    """Raises InputError if a side, or a condition of the domain, is undefined at a point at which
    the conditions (those before it) hold, after looking so long at each.

    Nothing is refused that is merely not shown to be defined.

    >>> from dpsym.kernel.terms import log, num, var
    >>> inside = Sequent((Fact(var("x") + 1, ">="),), Fact(log(var("x")), ">="))
    >>> refuse_undefined(inside, frozenset(), Budget(1))  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    dpsym.errors.InputError: lhs, rhs: expected sides that are defined on the whole domain,
    got log(x), which is undefined at x = -1 (it needs x > 0)
    """
    for premise in top_obligations(sequent.hypotheses, sequent.goal):
        if premise.vars and leaf.easy(premise):
            continue
        part = given.part(min(seconds, _SHARE * given.left()))
        found = leaf.refute(premise, part, integers) if premise.vars else _constant(premise)
        if found is None:
            continue
        node = _needing(sequent, premise.goal)
        at = f" at {shown_values(found)}" if found else ""
        got = f"{show(node)}, which is undefined{at} (it needs {show_fact(premise.goal)})"
        if len(premise.hypotheses) >= len(sequent.hypotheses):
            raise InputError("lhs, rhs", "sides that are defined on the whole domain", node, got)
        raise InputError(
            "where", "conditions that are defined where those before them hold", node, got
        )


def _constant(premise: Sequent) -> dict[str, fmpq] | None:
    """The empty point, if a goal without variables is false."""
    from dpsym.search.leaf.numeric import refutes  # loads numpy

    return {} if refutes(premise, {}) else None


def _needing(sequent: Sequent, fact: Fact) -> Term:
    """The sub-term that is defined only where the fact holds; a real power rather than its log."""
    found = fact.term
    for item in (sequent.goal.term, *(given.term for given in sequent.hypotheses)):
        for node in subterms(item):
            partial = node.op in ("log", "sqrt") or (node.op == "pow" and node.value < 0)
            if partial and node.args[0] is fact.term:
                found = node
            if node.op == "exp" and node.args[0].op == "mul" and found in node.args[0].args:
                return node
        if found is not fact.term:
            break
    return found


def shown_values(values: Mapping[str, fmpq]) -> str:
    """The values, as in ``x = 1, y = 1/2``."""
    return ", ".join(f"{name} = {value}" for name, value in values.items())
