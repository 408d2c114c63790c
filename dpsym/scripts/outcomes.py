"""How a theorem of a script came out."""

from __future__ import annotations

from dataclasses import dataclass

from dpsym.scripts.declaring import ScriptTheorem
from dpsym.verdicts import Verdict

__all__ = ["Outcome"]


@dataclass(frozen=True)
class Outcome:
    """How a theorem came out. ``seconds`` is wall-clock time, ``certificate_bytes`` the sum,
    ``recalled`` the number of goals that earlier certificates have answered."""

    theorem: ScriptTheorem
    verdicts: tuple[Verdict, ...] = ()
    seconds: float = 0.0
    rules: int = 0
    certificate_bytes: int = 0
    postulates: tuple[str, ...] = ()
    error: str = ""
    recalled: int = 0

    @property
    def as_expected(self) -> bool:
        """Whether every verdict is what the script says, with no error and at least one verdict."""
        expected = self.theorem.expected
        return (
            not self.error
            and bool(self.verdicts)
            and all(isinstance(verdict, expected) for verdict in self.verdicts)
        )

    @property
    def verdict(self) -> str:
        """The verdict's name; several different ones joined by ``+``; ``Error``."""
        if self.error:
            return "Error"
        return " + ".join(dict.fromkeys(type(verdict).__name__ for verdict in self.verdicts))
