"""What has been proved, for people and files: the goal's text, the rules used, the certificate."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from dpsym.certificates import earlier_results, nodes, write
from dpsym.goals import goal_text
from dpsym.kernel.proofs import Lemma
from dpsym.kernel.theorems import Theorem

__all__ = ["Result"]


@dataclass(frozen=True, repr=False)
class Result:
    """A theorem about a mechanism, or an inequality between real terms.

    Attributes:
        proved: the kernel's sealed object, which only a checked proof makes.

    >>> import dpsym as dp
    >>> theorem = dp.prove(dp.PureDP(1), dp.PureDP(2))
    >>> print(theorem)
    any mechanism with PureDP(1)
    has PureDP(2)
    >>> theorem.postulates
    ()
    """

    proved: Theorem | Lemma

    @property
    def statement(self) -> str:
        """The goal as text, printed from the kernel's own terms."""
        goal = self.proved.sequent if isinstance(self.proved, Lemma) else self.proved.statement
        return goal_text(goal)

    @property
    def postulates(self) -> tuple[str, ...]:
        """Facts that the proof assumes: none, since no rule of the kernel assumes anything."""
        return ()

    def rules(self) -> dict[str, int]:
        """How often each rule is used, in the proof and in the earlier results it uses."""
        return dict(
            Counter(
                node.rule
                for item in earlier_results(self.proved)
                for proof in (item.proof, *item.definedness)
                for node in nodes(proof)
            )
        )

    def route(self) -> tuple[str, ...]:
        """The guarantees that the proof goes through, with sources; see ``dpsym.routes``."""
        from dpsym.routes import route

        return () if isinstance(self.proved, Lemma) else route(self.proved)

    def explain(self, latex: bool = False) -> str:
        """The proof as numbered steps: what is to be shown, and which rule shows it."""
        from dpsym.explaining import explain

        return explain(self.proved, latex)

    def certificate(self) -> str:
        """The whole proof as JSON text, for ``dpsym verify``."""
        return write(self.proved)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the certificate to a file. Raises OSError if it cannot be written."""
        Path(path).write_text(self.certificate(), encoding="utf-8")

    def __repr__(self) -> str:
        return self.statement
