"""From a subject, a claim and ``where`` to the statement that the kernel is to prove. Trusted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Union

from dpsym.arguments import real
from dpsym.combinators import Part, Subject, hypotheses, parts_of, stage
from dpsym.errors import InputError
from dpsym.guarantees import Both, Guarantee
from dpsym.kernel import statements
from dpsym.kernel.statements import Fact, Statement
from dpsym.kernel.terms import Term
from dpsym.mechanisms.base import Mechanism
from dpsym.scope import Scope
from dpsym.stages import Made

__all__ = ["Goal", "explicit_in", "read_claim", "read_inequality"]

Suggestions = tuple[tuple[statements.Mechanism, tuple[statements.Guarantee, ...]], ...]
DecideUnder = Callable[[Term, tuple[Fact, ...]], Union[str, None]]
"""The sign of a term where the facts hold: ">", "<", "=", or None for not known."""


@dataclass(frozen=True)
class Goal:
    """What is to be proved, and what a reader of the verdict should know.

    ``obligations`` must hold for the subject to be what it says (rows of a table sum to 1);
    ``assumptions`` are taken for granted; ``scope`` has the symbols and what was dropped of them.
    ``suggestions`` are guarantees that the stages probably have: for the search, not trusted.
    ``parts`` are the stages as they were given.
    """

    statement: Statement
    scope: Scope
    obligations: tuple[Fact, ...]
    assumptions: tuple[str, ...]
    suggestions: Suggestions = ()
    parts: tuple[Part, ...] = ()


def read_claim(subject: Subject, claim: Subject, where: object, decide: DecideUnder) -> Goal:
    """The goal of ``check(subject, claim, where)``.

    Raises: InputError, UnsupportedError, TooLargeError.

    >>> from sympy import symbols
    >>> from dpsym.guarantees import PureDP
    >>> e = symbols("e", nonnegative=True)
    >>> goal = read_claim(PureDP(e), PureDP(2 * e), [], lambda term, facts: None)
    >>> goal.statement.facts, goal.statement.claims[0].args
    ((e >= 0,), (mul(2, e),))
    """
    parts = tuple(parts_of(subject, "subject"))
    if not isinstance(claim, (Guarantee, Both)):
        raise InputError("claim", "a guarantee such as PureDP(epsilon)", claim)
    scope = Scope(where)
    for item in (*parts, claim):
        for name, expr in item.parameters():
            scope.declare(expr, name)
    scope.assume(hypotheses(parts), "subject")
    facts = tuple(scope.facts)

    def sign(term: Term) -> str | None:
        return decide(term, facts)

    stages = tuple(stage(part, scope, sign) for part in parts)
    claims = claim.to_kernel(scope, sign)
    statement = Statement(scope.variables, tuple(scope.facts), stages, claims)
    suggestions = tuple(
        (
            mechanism.to_kernel(scope),
            tuple(
                item
                for guarantee in mechanism.suggested()
                for item in guarantee.to_kernel(scope, sign)
            ),
        )
        for mechanism in explicit_in(*parts)
    )
    return Goal(
        statement, scope, _obligations(parts, scope), _assumptions(parts), suggestions, parts
    )


def read_inequality(lhs: object, rhs: object, where: object) -> tuple[Term, Scope]:
    """``rhs - lhs``, which is to be shown nonnegative, and the scope it lives in.

    >>> from sympy import symbols
    >>> term, scope = read_inequality(0, symbols("x", positive=True), [])
    >>> term, scope.facts
    (x, [x > 0])
    """
    scope = Scope(where)
    left = scope.term(real("lhs", lhs), "lhs")
    right = scope.term(real("rhs", rhs), "rhs")
    return right - left, scope


def explicit_in(*parts: object) -> list[Mechanism]:
    """The mechanisms among the parts, and those that parts are made of."""
    found: list[Mechanism] = []
    for part in parts:
        if isinstance(part, Made):
            found += explicit_in(*part.subjects)
        elif isinstance(part, Mechanism):
            found.append(part)
    return found


def _obligations(parts: tuple[Part, ...], scope: Scope) -> tuple[Fact, ...]:
    mechanisms = explicit_in(*parts)
    relations = [relation for part in mechanisms for relation in part.obligations()]
    return tuple(fact for item in relations for fact in scope.relation(item, "matrix"))


def _assumptions(parts: tuple[Part, ...]) -> tuple[str, ...]:
    mechanisms = explicit_in(*parts)
    return tuple(dict.fromkeys(text for part in mechanisms for text in part.assumptions()))
