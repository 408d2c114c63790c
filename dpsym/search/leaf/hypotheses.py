"""Hypotheses that a goal does without: then one lemma serves many sequents."""

from __future__ import annotations

from dpsym.kernel.sequents import Sequent

__all__ = ["linked", "own"]


def own(sequent: Sequent) -> Sequent:
    """The sequent with the hypotheses about the goal's own variables alone.

    >>> from dpsym.kernel.statements import Fact
    >>> from dpsym.kernel.terms import var
    >>> x, y, z = map(var, "xyz")
    >>> found = Sequent((Fact(x, ">"), Fact(y - x, ">"), Fact(z, ">")), Fact(x, ">="))
    >>> len(own(found).hypotheses), len(linked(found).hypotheses)
    (1, 2)
    """
    names = sequent.goal.term.vars
    kept = tuple(fact for fact in sequent.hypotheses if fact.term.vars <= names)
    return sequent if len(kept) == len(sequent.hypotheses) else Sequent(kept, sequent.goal)


def linked(sequent: Sequent) -> Sequent:
    """The sequent without the hypotheses that share no variables with the goal, not even through
    other hypotheses."""
    names = set(sequent.goal.term.vars)
    left = [fact for fact in sequent.hypotheses if fact.term.vars]
    while near := [fact for fact in left if fact.term.vars & names]:
        names.update(*(fact.term.vars for fact in near))
        left = [fact for fact in left if fact not in near]
    kept = tuple(fact for fact in sequent.hypotheses if fact not in left)
    return Sequent(kept, sequent.goal) if left else sequent
