"""Hypotheses that a goal does without: then one lemma serves many sequents."""

from __future__ import annotations

from dpsym.kernel import terms as tm
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules_logic import branches
from dpsym.kernel.sequents import Facts, Sequent, context
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term

__all__ = ["lean", "linked", "own"]


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


def lean(sequent: Sequent) -> Sequent:
    """The sequent without hypotheses that are evident by the others, and with the branches that
    kinks in hypotheses evidently take.

    >>> from dpsym.kernel.terms import absolute, var
    >>> x, y = map(var, "xy")
    >>> given = Fact(x, ">="), Fact(x, ">"), Fact(y - absolute(x), ">="), Fact(x + y, ">=")
    >>> [fact.term for fact in lean(Sequent(given, Fact(y, ">="))).hypotheses] == [x, y - x]
    True
    """
    plain = [fact for fact in sequent.hypotheses if not fact.term.kinked]
    kept = [Fact(_unbent(fact.term, tuple(plain)), fact.rel) for fact in sequent.hypotheses]
    kept = list(dict.fromkeys(kept))
    for fact in sorted(kept, key=lambda one: (-one.term.size, one.rel == ">")):
        names = fact.term.vars  # by others about the same variables, as others may go too
        others = tuple(one for one in kept if one is not fact and one.term.vars <= names)
        if _evident(others, fact):
            kept.remove(fact)
    return sequent if tuple(kept) == sequent.hypotheses else Sequent(tuple(kept), sequent.goal)


def _evident(given: Facts, fact: Fact) -> bool:
    try:
        return context(given).evident(fact)
    except (Refusal, ArithmeticError, RecursionError):
        return False


def _unbent(item: Term, given: Facts) -> Term:
    """The term with evident branches of its kinks."""
    if not item.kinked:
        return item
    part = Term(item.op, tuple(_unbent(arg, given) for arg in item.args), item.value)
    if part.op in tm.KINKED:
        condition, above, below = branches(part)
        for sign, branch in ((1, above), (-1, below)):
            rel = ">" if part.op == "ite" and sign == -1 else ">="
            if _evident(given, Fact(sign * condition, rel)):
                return branch
    return part
