"""What assertions raise: a claim with its smallest counterexample, and a script that shows it."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

__all__ = ["ClaimFails", "Failure", "NotDecided", "PromisesTooMuch"]


class Failure(AssertionError):
    """The base of all that assertions of ``dpsym.testing`` raise.

    Attributes:
        report: the claim, the counterexample and the gap, in words.
        values: the parameters at which it fails, by symbol.
        script: Python that reproduces it by itself; empty if there is nothing to reproduce.
    """

    def __init__(
        self, report: str, values: Mapping[sp.Symbol, sp.Expr] | None = None, script: str = ""
    ) -> None:
        self.report, self.values, self.script = report, dict(values or {}), script
        tail = f"\n\nThis script reproduces it:\n\n{script.rstrip()}" if script else ""
        super().__init__(f"{report}{tail}")

    def evidence(self) -> dict[str, str]:
        """Texts to keep, by the ending of a file's name."""
        kept = {".txt": self.report + "\n"}
        return {**kept, ".py": self.script} if self.script else kept


class ClaimFails(Failure):
    """A mechanism does not have the privacy that is claimed; certain."""


class PromisesTooMuch(Failure):
    """An accountant promises more privacy than is true; certain."""


class NotDecided(Failure):
    """Neither is it certain that the claim holds, nor that it fails."""
