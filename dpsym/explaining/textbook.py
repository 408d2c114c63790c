"""Textbook inequalities in letters, as a reader knows them."""

from __future__ import annotations

import inspect
from typing import Any

from dpsym.kernel.lemmas import LEMMAS, instance
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term, var

__all__ = ["in_letters"]


def in_letters(
    name: str, args: tuple[Any, ...]
) -> tuple[tuple[Fact, ...], Fact, dict[str, Term]] | None:
    """The conditions and the inequality, and what the letters stand for; None if these arguments
    have no instance in letters.

    >>> from dpsym.kernel.terms import num
    >>> from dpsym.printing import show_fact
    >>> conditions, fact, terms = in_letters("exp_taylor", (num(2), 1))
    >>> conditions, show_fact(fact), terms
    ((), 'exp(u) >= 1 + u', {'u': 2})
    """
    letters = list(inspect.signature(LEMMAS[name].build).parameters)
    given = dict(zip(letters, args, strict=True))
    terms = {letter: arg for letter, arg in given.items() if isinstance(arg, Term)}
    general = tuple(var(x) if x in terms else arg for x, arg in given.items())
    try:
        return *instance(name, general), terms
    except Refusal:
        return None
