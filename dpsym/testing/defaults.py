"""What a run of tests sets for all assertions, and where it keeps what they find. Loads nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

__all__ = ["Defaults", "Evidence", "current", "keep", "use"]

EXAMPLES, BUDGET = 100, 30.0


class Evidence(Protocol):
    """What is worth keeping of an outcome or a failure: texts by the ending of a file's name."""

    def evidence(self) -> dict[str, str]: ...


@dataclass(frozen=True)
class Defaults:
    """``examples`` to draw, processor seconds of ``budget`` for a proof, and who keeps evidence."""

    examples: int = EXAMPLES
    budget: float = BUDGET
    keeper: Callable[[Evidence], None] | None = None


_current = Defaults()


def current() -> Defaults:
    return _current


@contextmanager
def use(**changes: object) -> Iterator[None]:
    """Other defaults, for as long as the block runs.

    >>> with use(examples=7):
    ...     current().examples
    7
    """
    global _current
    before = _current
    _current = replace(before, **changes)  # type: ignore[arg-type]
    try:
        yield
    finally:
        _current = before


def keep(found: Evidence) -> None:
    """Hand on what an assertion found."""
    if _current.keeper is not None:
        _current.keeper(found)
