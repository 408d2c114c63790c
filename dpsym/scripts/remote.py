"""Verdicts on their way from one process to another, as plain data.

What the kernel has proved is sealed and does not travel. A proof travels as its certificate, and is
a theorem again once the kernel of the receiving process has checked it; a witness, and what is left
of an unknown claim, travel as they print.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock

from flint import fmpq

from dpsym.errors import ScriptError
from dpsym.kernel.certificate import verify
from dpsym.results import Result
from dpsym.scripts.declaring import ScriptTheorem
from dpsym.scripts.folder import read_results
from dpsym.scripts.outcomes import Outcome
from dpsym.scripts.reading import collect
from dpsym.verdicts import Proved, Refuted, Unknown, Vacuous, Verdict

__all__ = ["Answer", "ToldWitness", "answer", "outcome_of"]

_TURN = Lock()  # budgets are of processor time, which the threads of a process share


@dataclass(frozen=True)
class Told:
    """One verdict. ``certificate`` is a proof's; ``lines`` are of a witness or of what is left."""

    kind: str
    statement: str
    assumptions: tuple[str, ...]
    seconds: float
    latex: str
    certificate: str = ""
    values: tuple[tuple[str, str], ...] = ()
    lines: tuple[str, ...] = ()
    reason: str = ""
    advice: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """The outcome of a theorem, without the theorem."""

    verdicts: tuple[Told, ...]
    seconds: float
    recalled: int
    error: str


@dataclass(frozen=True)
class ToldWitness:
    """A witness that another process has checked: the parameters' values, and its text."""

    values: Mapping[str, object]
    lines: str = field(repr=False)

    def text(self) -> str:
        """Lines that a reader can redo by hand."""
        return self.lines


def answer(script: str, name: str, certificates: tuple[str, ...]) -> Answer:
    """Run the theorem of this name. This is what an executor is given to do."""
    from dpsym.scripts.running import run

    with _TURN:
        for theorem in _theorems(script):
            if theorem.name == name or theorem.error:
                outcome = run(theorem, read_results(map(Path, certificates)))
                verdicts = () if outcome.error else tuple(map(_told, outcome.verdicts))
                return Answer(verdicts, outcome.seconds, outcome.recalled, outcome.error)
    raise ScriptError(f"{script} declares no theorem {name}")


@cache
def _theorems(script: str) -> list[ScriptTheorem]:
    return collect(script)


def _told(verdict: Verdict) -> Told:
    kind = type(verdict).__name__
    base = (kind, verdict.statement, verdict.assumptions, verdict.seconds, verdict.latex)
    if isinstance(verdict, Proved):
        return Told(*base, certificate=verdict.certificate)
    if isinstance(verdict, Refuted):
        values = tuple((name, str(value)) for name, value in verdict.witness.values.items())
        return Told(*base, values=values, lines=(verdict.witness.text(),))
    if isinstance(verdict, Unknown):
        lines = tuple(map(str, verdict.remaining))
        return Told(*base, lines=lines, reason=verdict.reason, advice=verdict.advice)
    if isinstance(verdict, Vacuous):
        return Told(*base, reason=verdict.reason)
    raise ScriptError(f"a verdict of a new kind: {kind}")


def outcome_of(theorem: ScriptTheorem, found: object) -> Outcome:
    """What an answer says of its theorem. Raises Refusal for a certificate that the kernel refuses,
    and ScriptError for what is no answer."""
    from dpsym.scripts.running import summed

    if not isinstance(found, Answer):
        raise ScriptError(f"the executor returned {type(found).__name__} and not an answer")
    if found.error:
        return Outcome(theorem, seconds=found.seconds, error=found.error)
    verdicts = tuple(map(_verdict, found.verdicts))
    return summed(theorem, verdicts, found.seconds, found.recalled)


def _verdict(told: Told) -> Verdict:
    common = {"assumptions": told.assumptions, "seconds": told.seconds, "latex": told.latex}
    if told.kind == "Proved":
        result = Result(verify(told.certificate))
        return Proved(result.statement, result, **common)  # type: ignore[arg-type]
    if told.kind == "Refuted":
        witness = ToldWitness({name: _number(text) for name, text in told.values}, *told.lines)
        return Refuted(told.statement, witness, **common)  # type: ignore[arg-type]
    if told.kind == "Unknown":
        common["advice"] = told.advice
        return Unknown(told.statement, told.lines, told.reason, **common)  # type: ignore[arg-type]
    if told.kind == "Vacuous":
        return Vacuous(told.statement, told.reason, **common)  # type: ignore[arg-type]
    raise ScriptError(f"a verdict of a new kind: {told.kind}")


def _number(text: str) -> object:
    try:
        return fmpq(*map(int, text.split("/")))
    except (TypeError, ValueError):
        return text
