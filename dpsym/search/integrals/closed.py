"""Closed forms of integrals over one pair, by the case distinctions that they need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dpsym.kernel import terms as tm
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import step
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact, Guarantee, Statement
from dpsym.kernel.terms import ZERO, Term, var
from dpsym.search.integrals.inferences import inferences
from dpsym.search.integrals.plans import NoPlan

__all__ = ["Case", "cases", "moment"]

_MOST_CASES = 16


@dataclass(frozen=True)
class Case:
    """Where the ``conditions`` hold, the integral is ``total``; ``floors`` are the names in it of
    the integer parts of terms."""

    conditions: tuple[Fact, ...]
    total: Term
    floors: tuple[tuple[str, Term], ...] = ()


def moment(f: Term, at_p: Term | None, bound: Term = ZERO) -> Guarantee:
    """The claim that the integral of q f(p/q) is at most the bound."""
    return Guarantee("MomentBound", (f, at_p, bound), two_way=False)


def cases(goal: Statement) -> tuple[Case, ...] | None:
    """The integral in the goal's only claim, whose bound is zero and whose mechanism is one pair;
    None if a part of it is not found."""
    found: list[Case] = []
    for case in _cases(goal):
        if case is None or len(found) == _MOST_CASES:
            return None
        found.append(case)
    return tuple(found)


def _cases(goal: Statement) -> Iterator[Case | None]:
    try:
        steps = list(inferences(goal))
    except NoPlan:
        steps = []
    for rule, parameters in steps:
        try:
            premises = step(goal, rule, parameters)
        except Refusal:
            continue
        statements = [item for item in premises if isinstance(item, Statement)]
        if rule in ("masses", "integral"):
            last = premises[-1]
            if isinstance(last, Sequent):
                yield Case((), -last.goal.term)
                return
            continue
        for index, inner in enumerate(statements):
            for case in _cases(inner):
                yield None if case is None else _back(case, rule, parameters, index)
        return
    yield None


def _back(case: Case, rule: str, parameters: dict[str, object], index: int) -> Case:
    """The case of a premise in the variables of the goal."""
    if rule == "either":
        item = parameters["item"]
        sign = item if isinstance(item, Term) else ZERO
        side = Fact(sign, ">=") if index == 0 else Fact(-sign, ">")
        return replace(case, conditions=(side, *case.conditions))
    name = str(parameters["name"])
    if rule == "mirror":
        names = {str(parameters["new"]): -var(name)}
        facts = tuple(fact.substitute(names) for fact in case.conditions)
        floors = tuple((n, tm.substitute(item, names)) for n, item in case.floors)
        return Case(facts, tm.substitute(case.total, names), floors)
    if rule == "floor" and isinstance(parameters["value"], Term):
        return replace(case, floors=((name, parameters["value"]), *case.floors))
    return case
