"""The smallest of drawn examples that does something, by Hypothesis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, currently_in_test_context, find, settings
from hypothesis.errors import NoSuchExample, Unsatisfiable
from hypothesis.strategies import SearchStrategy

from dpsym.errors import InputError

__all__ = ["count_of", "simplest", "smallest"]

T = TypeVar("T")


def smallest(
    strategy: SearchStrategy[T], condition: Callable[[T], bool], examples: int
) -> T | None:
    """The simplest of so many examples with the condition, as Hypothesis shrinks it; or None.

    How examples are drawn, at random or not, is up to the Hypothesis profile in use.

    Raises: InputError if there are no examples at all.
    """
    nested = HealthCheck.nested_given
    if currently_in_test_context() and nested not in settings().suppress_health_check:
        raise InputError(
            "parameters",
            "numbers for all of them within a Hypothesis test, as draws do not nest (or "
            "suppress_health_check=[HealthCheck.nested_given] in its settings)",
            None,
            got="symbols",
        )
    own = settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
    )
    try:
        return find(strategy, condition, settings=own)
    except NoSuchExample:
        return None
    except Unsatisfiable:
        raise InputError(
            "where", "conditions that drawn numbers satisfy", None, got="none in many tries"
        ) from None


def simplest(
    strategy: SearchStrategy[T],
    condition: Callable[[T], bool] = lambda _: True,
    examples: int = 500,
) -> T:
    """The simplest example of a strategy with a condition.

    Raises: InputError if no example has it.

    >>> from dpsym.testing import guarantees
    >>> simplest(guarantees("ApproxDP"), lambda claim: claim.delta > 0)
    ApproxDP(0, 1)
    """
    found = smallest(strategy, condition, examples)
    if found is None:
        raise InputError("condition", f"one that some of {examples} examples satisfy", condition)
    return found


def count_of(examples: Any) -> int:
    """Raises: InputError for what is no number of examples."""
    if isinstance(examples, bool) or not isinstance(examples, int) or examples < 1:
        raise InputError("examples", "a whole number >= 1", examples)
    return examples
