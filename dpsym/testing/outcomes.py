"""What an assertion that passes has found, and how far that goes."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpsym.verdicts import Proved

__all__ = ["Outcome"]


@dataclass(frozen=True)
class Outcome:
    """What is known of a claim that has not failed.

    Attributes:
        label: "proved for all parameters"; "certified at drawn parameters", by rigorous numbers;
            "not refuted at drawn parameters", which is what an accountant's test finds; or
            "undecided".
        claim: what it is about.
        examples: how many different parameters were drawn.
        undecided: at how many of these nothing was found out.
        reasons: why, each one once.
        empty: at how many others the bound that an accountant is compared with is 0, which all that
            it may return meets.
        proof: the verdict, with its certificate, if it is proved.
    """

    label: str
    claim: str
    examples: int = 0
    undecided: int = 0
    reasons: tuple[str, ...] = ()
    proof: Proved | None = field(default=None, repr=False)
    empty: int = 0

    def __str__(self) -> str:
        if self.proof is not None:
            return f"{self.label}: {self.claim}"
        done = self.examples - self.undecided
        count = f"{done} of {self.examples}" if self.undecided else str(done)
        text = f"{self.label.replace('drawn', f'{count} drawn')}: {self.claim}"
        return f"{text}; at {self.empty} of them the bound from below is 0" if self.empty else text

    def evidence(self) -> dict[str, str]:
        """Texts to keep, by the ending of a file's name."""
        if self.proof is not None:
            return {".json": self.proof.certificate}
        return {".txt": "\n".join((str(self), *self.reasons)) + "\n"}
