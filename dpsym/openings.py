"""What is left to prove when the answer is Unknown, so that a person sees what to hint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpsym.goals import goal_text
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact
from dpsym.printing import sides
from dpsym.scope import Scope

__all__ = ["OpenGoal", "open_goals"]


@dataclass(frozen=True, repr=False)
class OpenGoal:
    """A real inequality that would complete the proof. Prints as text.

    >>> from sympy import symbols
    >>> x = symbols("x", nonnegative=True)
    >>> scope = Scope([])
    >>> (goal,) = open_goals([Sequent((), Fact(scope.term(x, "x"), ">="))], scope)
    >>> goal, goal.relation
    (x >= 0 for all real x, x >= 0)
    """

    sequent: Sequent
    scope: Scope

    @property
    def relation(self) -> Any:
        """The goal as a SymPy relation, in the symbols of the claim where it has them."""
        return self._sympy(self.sequent.goal)

    @property
    def conditions(self) -> list[Any]:
        """The hypotheses as SymPy relations, for ``where=``."""
        return [self._sympy(fact) for fact in self.sequent.hypotheses]

    def _sympy(self, fact: Fact) -> Any:
        import sympy as sp

        from dpsym.translate import to_sympy

        names = sorted(self.sequent.vars)
        symbols = {n: self.scope.symbols.get(n) or sp.Symbol(n, real=True) for n in names}
        left, rel, right = sides(fact)
        relation = {">=": sp.Ge, ">": sp.Gt, "<=": sp.Le, "<": sp.Lt, "!=": sp.Ne}[rel]
        return relation(to_sympy(left, symbols), to_sympy(right, symbols), evaluate=False)

    def __repr__(self) -> str:
        return goal_text(self.sequent).replace("\n", " ")


def open_goals(sequents: Sequence[Sequent], scope: Scope) -> tuple[OpenGoal, ...]:
    """The open goals, each once."""
    return tuple(OpenGoal(sequent, scope) for sequent in dict.fromkeys(sequents))
