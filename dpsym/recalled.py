"""Results from earlier runs, for ``check`` to answer with where one of them is its goal.

A result is the kernel's own sealed object, made by reading a certificate. It answers a goal only if
it is equal to it as data of the kernel, with all parameters, conditions, stages and claims, so an
earlier result about anything else changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Union

from dpsym.kernel.proofs import Lemma
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Statement
from dpsym.kernel.theorems import Theorem

__all__ = ["Recalled", "lemma", "recalling", "theorem"]

Proven = Union[Lemma, Theorem]


class Recalled:
    """Earlier results by their goals, and the goals that they have answered."""

    def __init__(self, results: Iterable[Proven]) -> None:
        self.theorems: dict[Statement, Theorem] = {}
        self.lemmas: dict[Sequent, Lemma] = {}
        self.answered: set[Statement | Sequent] = set()
        for result in results:
            if isinstance(result, Theorem):
                self.theorems[result.statement] = result
            else:
                self.lemmas[result.sequent] = result


_KNOWN: ContextVar[Recalled | None] = ContextVar("earlier results", default=None)


@contextmanager
def recalling(results: Iterable[Proven]) -> Iterator[Recalled]:
    """While this lasts, ``check`` and ``check_inequality`` answer with these results.

    >>> import dpsym as dp
    >>> from sympy import Symbol
    >>> x = Symbol("x", real=True)
    >>> proof = dp.check_inequality(0, x**2)
    >>> with recalling([proof.theorem.proved]) as known:
    ...     again = dp.check_inequality(0, x**2)
    ...     other = dp.check_inequality(0, x**4)
    >>> again.theorem.proved is proof.theorem.proved, len(known.answered)
    (True, 1)
    """
    known = Recalled(results)
    token = _KNOWN.set(known)
    try:
        yield known
    finally:
        _KNOWN.reset(token)


def theorem(statement: Statement) -> Theorem | None:
    """An earlier theorem of exactly this statement."""
    known = _KNOWN.get()
    found = known.theorems.get(statement) if known else None
    if known and found is not None:
        known.answered.add(statement)
    return found


def lemma(sequent: Sequent) -> Lemma | None:
    """An earlier lemma of exactly this sequent."""
    known = _KNOWN.get()
    found = known.lemmas.get(sequent) if known else None
    if known and found is not None:
        known.answered.add(sequent)
    return found
