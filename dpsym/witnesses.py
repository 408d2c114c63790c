"""Witnesses of refuted claims, for people."""

from __future__ import annotations

from collections.abc import Mapping

from dpsym.refutations import Refutation
from dpsym.search.refutation import describe, script

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

    def text(self) -> str:
        """Lines that a reader can redo by hand."""
        return describe(self.refutation)

    def script(self) -> str:
        """A few plain lines of Python that recompute the violation."""
        return script(self.refutation)
