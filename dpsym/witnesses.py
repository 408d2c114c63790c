"""Witnesses of refuted claims, for people."""

from __future__ import annotations

from collections.abc import Mapping

from dpsym.refutations import Refutation
from dpsym.search.refutation import describe, script
from dpsym.search.refutation.measures import exceeded

__all__ = ["Witness"]


class Witness:
    """Exact values that satisfy the hypotheses and break the claim.

    Attributes:
        refutation: the kernel's sealed object, which only a checked witness makes.
    """

    def __init__(self, refutation: Refutation) -> None:
        self.refutation = refutation

    @property
    def values(self) -> Mapping[str, object]:
        """The exact value of every parameter."""
        return self.refutation.values

    @property
    def exceeded(self) -> tuple[object, object]:
        """What the claim bounds is at least the first number, ``None`` being infinite, and the
        bound at most the second: exact rationals."""
        value, bound = exceeded(self.refutation)
        return value.low, bound.high

    def text(self) -> str:
        """Lines that a reader can redo by hand."""
        return describe(self.refutation)

    def script(self) -> str:
        """A few plain lines of Python that recompute the violation."""
        return script(self.refutation)
