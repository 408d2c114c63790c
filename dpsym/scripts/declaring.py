"""The decorators that declare a theorem of a proof script, and what they record."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, overload

from dpsym.errors import ScriptError
from dpsym.verdicts import Proved, Refuted, Verdict

__all__ = ["DECLARED", "ScriptTheorem", "proved", "refuted"]

Body = Callable[[], Any]
F = TypeVar("F", bound=Body)

DECLARED = "__dpsym_theorems__"
"""The name of a script's own list, in the order of its text."""


@dataclass(frozen=True)
class ScriptTheorem:
    """One theorem of a script, not yet run.

    ``expected`` is the class of verdict that the script says; ``error`` is set, and ``body`` None,
    where the script itself could not be read.
    """

    name: str
    script: Path
    line: int = 0
    expected: type[Verdict] = Proved
    source: str = ""
    summary: str = ""
    body: Body | None = field(default=None, repr=False)
    error: str = ""


@overload
def proved(body: F, /) -> F: ...
@overload
def proved(*, source: str = ...) -> Callable[[F], F]: ...
def proved(body: F | None = None, /, *, source: str = "") -> F | Callable[[F], F]:
    """Declare a theorem whose verdicts have to be ``Proved``; ``source`` is where it stands.

    Raises ScriptError if what is decorated is not a function without parameters.

    >>> @proved(source="Dwork & Roth 2014, Theorem 3.14")
    ... def pure_dp_composes():
    ...     '''The epsilons add up.'''
    """
    return _declare(Proved, body, source)


@overload
def refuted(body: F, /) -> F: ...
@overload
def refuted(*, source: str = ...) -> Callable[[F], F]: ...
def refuted(body: F | None = None, /, *, source: str = "") -> F | Callable[[F], F]:
    """Declare a claim whose verdicts have to be ``Refuted``, each by a witness.

    Raises ScriptError if what is decorated is not a function without parameters.
    """
    return _declare(Refuted, body, source)


def _declare(expected: type[Verdict], body: F | None, source: str) -> F | Callable[[F], F]:
    if not isinstance(source, str):
        raise ScriptError(f"source is a text, not {source!r}")

    def declare(function: F) -> F:
        if not inspect.isfunction(function) or inspect.signature(function).parameters:
            raise ScriptError(f"a theorem is a function without parameters, not {function!r}")
        theorem = ScriptTheorem(
            name=function.__name__,
            script=Path(function.__code__.co_filename),
            line=function.__code__.co_firstlineno,
            expected=expected,
            source=source,
            summary=(inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " "),
            body=function,
        )
        function.__globals__.setdefault(DECLARED, []).append(theorem)
        return function

    return declare if body is None else declare(body)
