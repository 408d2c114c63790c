"""Theorems of one's own that ``check`` uses by itself."""

from __future__ import annotations

from dpsym.errors import InputError
from dpsym.kernel.theorems import Theorem
from dpsym.results import Result
from dpsym.search.privacy.learned import THEOREMS

__all__ = ["add_theorem", "remove_theorem", "theorems"]

_WHAT = "a theorem about mechanisms, as dp.prove(subject, claim) returns it"


def add_theorem(theorem: object) -> Result:
    """Let ``check``, ``prove`` and ``bound`` use a proved theorem, in this process.

    A theorem says what mechanisms with some guarantees have, one guarantee for each stage. It is
    used where a goal's stages have these guarantees, at the terms that stand there for its
    variables, and is a step of the proofs that it is part of; the kernel checks it with them.

    Args:
        theorem: a result of ``prove``, or the ``theorem`` of a ``Proved``.

    Raises: InputError for what is no theorem about guarantees.

    >>> import dpsym as dp
    >>> from sympy import symbols, exp
    >>> e = symbols("e", nonnegative=True)
    >>> mine = dp.prove(dp.PureDP(e), dp.RenyiDP(2, exp(e) - 1))
    >>> dp.add_theorem(mine)
    any mechanism with PureDP(e)
    has RenyiDP(2, -1 + exp(e))
    for all real e with e >= 0
    >>> mine in dp.theorems()
    True
    >>> dp.remove_theorem(mine)
    """
    proved = _proved(theorem)
    THEOREMS[proved] = None
    return Result(proved)


def remove_theorem(theorem: object) -> None:
    """Stop using a theorem. Raises InputError for one that was not added."""
    proved = _proved(theorem)
    if proved not in THEOREMS:
        raise InputError("theorem", "one that was added", theorem)
    del THEOREMS[proved]


def theorems() -> tuple[Result, ...]:
    """The theorems that were added, in order."""
    return tuple(map(Result, THEOREMS))


def _proved(theorem: object) -> Theorem:
    found = theorem.proved if isinstance(theorem, Result) else theorem
    if not isinstance(found, Theorem):
        raise InputError("theorem", _WHAT, theorem)
    return found
