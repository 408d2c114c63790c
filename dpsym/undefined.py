"""What is undefined somewhere in the domain: refused, with the sub-term and a point."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from flint import fmpq

from dpsym.errors import InputError
from dpsym.kernel.proofs import top_obligations
from dpsym.kernel.rules_privacy import statement_obligations
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import INTEGER, Fact, Statement
from dpsym.kernel.terms import Term, subterms
from dpsym.printing import show, show_fact
from dpsym.search import leaf
from dpsym.search.leaf import Budget

__all__ = ["refuse_undefined", "refuse_undefined_statement", "shown_values"]

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
        terms = (sequent.goal.term, *(given.term for given in sequent.hypotheses))
        node = _needing(terms, premise.goal)
        got = _undefined(node, premise.goal, found)
        if len(premise.hypotheses) >= len(sequent.hypotheses):
            raise InputError("lhs, rhs", "sides that are defined on the whole domain", node, got)
        raise InputError(
            "where", "conditions that are defined where those before them hold", node, got
        )


def refuse_undefined_statement(statement: Statement, given: Budget, seconds: float = 0.5) -> None:
    """The same for what the subject and the claim are made of.

    >>> from dpsym.kernel.statements import REAL, Assumed, Guarantee
    >>> from dpsym.kernel.terms import log, var
    >>> facts, pure = (Fact(var("x"), ">="),), Guarantee("PureDP", (log(var("x")),))
    >>> claim = Statement((("x", REAL),), facts, (Assumed((pure,)),), (pure,))
    >>> refuse_undefined_statement(claim, Budget(1))  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    dpsym.errors.InputError: subject, claim: expected what is defined for all values that where
    allows, got log(x), which is undefined at x = 0 (it needs x > 0)
    """
    integers = frozenset(name for name, kind in statement.variables if kind == INTEGER)
    terms = tuple(dict.fromkeys(_terms((statement.stages, statement.claims))))
    for premise in statement_obligations(statement):
        node = _needing(terms, premise.goal)
        if node is premise.goal.term or leaf.easy(premise):
            continue
        found = leaf.refute(premise, given.part(min(seconds, _SHARE * given.left())), integers)
        if found is not None:
            got = _undefined(node, premise.goal, found)
            expected = "what is defined for all values that where allows"
            raise InputError("subject, claim", expected, node, got)


def _terms(item: Any) -> Iterator[Term]:
    if isinstance(item, Term):
        yield item
        return
    fields = (getattr(item, name) for name in getattr(item, "__match_args__", ()))
    for part in item if isinstance(item, tuple) else fields:
        yield from _terms(part)


def _undefined(node: Term, needed: Fact, found: Mapping[str, fmpq]) -> str:
    at = f" at {shown_values(found)}" if found else ""
    return f"{show(node)}, which is undefined{at} (it needs {show_fact(needed)})"


def _constant(premise: Sequent) -> dict[str, fmpq] | None:
    """The empty point, if a goal without variables is false."""
    from dpsym.search.leaf.numeric import refutes  # loads numpy

    return {} if refutes(premise, {}) else None


def _needing(terms: Iterable[Term], fact: Fact) -> Term:
    """The sub-term that is defined only where the fact holds; a real power rather than its log. The
    fact's own term if there is none."""
    found = fact.term
    for item in terms:
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
