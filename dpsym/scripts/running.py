"""Running the theorems of scripts: one, or many, here or by an executor."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait

from dpsym.errors import ScriptError
from dpsym.kernel.certificate import Result
from dpsym.recalled import recalling
from dpsym.scripts.declaring import ScriptTheorem
from dpsym.scripts.folder import CertificateFolder
from dpsym.scripts.outcomes import Outcome
from dpsym.scripts.reading import one_line
from dpsym.scripts.remote import Answer, answer, outcome_of
from dpsym.verdicts import Proved, Verdict

__all__ = ["run", "run_all"]

Working = Callable[[Sequence[ScriptTheorem]], None]


def run(theorem: ScriptTheorem, earlier: Iterable[Result] = ()) -> Outcome:
    """Run one theorem. An error in it is part of the outcome, never raised.

    Args:
        theorem: what to run.
        earlier: results that the kernel has proved. A claim that is read as the very goal of one of
            them is not searched for again.
    """
    if theorem.body is None:
        return Outcome(theorem, error=theorem.error or "the script could not be read")
    start = time.perf_counter()
    try:
        with recalling(earlier) as known:
            returned = theorem.body()
        seconds = time.perf_counter() - start
        return summed(theorem, _verdicts(returned), seconds, len(known.answered))
    except (Exception, SystemExit) as error:
        return Outcome(
            theorem, seconds=time.perf_counter() - start, error=one_line(error, theorem.script)
        )


def run_all(
    theorems: Iterable[ScriptTheorem],
    executor: Executor | None = None,
    certificates: CertificateFolder | None = None,
    working: Working | None = None,
) -> Iterator[Outcome]:
    """Run theorems, and yield the outcome of each as soon as it is there.

    Args:
        theorems: what to run, as ``collect`` gives it.
        executor: anything of ``concurrent.futures``; the order is then that in which they end. A
            pool of processes runs theorems at the same time (``processes``); in a pool of threads
            they take turns. Without one they run here, in order.
        certificates: where to keep certificates; proofs that are there are not searched for again.
        working: is called with the theorems at work, whenever that changes.

    What another process says is proved is taken from its certificate, which the kernel checks here.

    >>> from dpsym.scripts.declaring import ScriptTheorem
    >>> from pathlib import Path
    >>> [outcome.error for outcome in run_all([ScriptTheorem("t", Path("t.py"), error="unread")])]
    ['unread']
    """
    listed = list(theorems)
    if certificates is not None:
        certificates.name(listed)
    told = working or (lambda _: None)
    outcomes = _here(listed, certificates, told)
    if executor is not None:
        outcomes = _there(listed, executor, certificates, told)
    for outcome in outcomes:
        if certificates is not None:
            certificates.keep(outcome)
        yield outcome


def _here(
    theorems: list[ScriptTheorem], certificates: CertificateFolder | None, working: Working
) -> Iterator[Outcome]:
    for theorem in theorems:
        working([theorem])
        yield run(theorem, certificates.results(theorem) if certificates else ())


def _there(
    theorems: list[ScriptTheorem],
    executor: Executor,
    certificates: CertificateFolder | None,
    working: Working,
) -> Iterator[Outcome]:
    waiting: dict[Future[Answer], ScriptTheorem] = {}
    try:
        for theorem in theorems:
            if theorem.body is None:
                yield run(theorem)
                continue
            files = certificates.files(theorem) if certificates else ()
            task = executor.submit(
                answer, str(theorem.script), theorem.name, tuple(map(str, files))
            )
            waiting[task] = theorem
        while waiting:
            working([theorem for task, theorem in waiting.items() if task.running()])
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for task in [task for task in waiting if task in done]:
                theorem = waiting.pop(task)
                try:
                    yield outcome_of(theorem, task.result())
                except Exception as error:  # of the executor, or of what came back
                    yield Outcome(theorem, error=one_line(error, theorem.script))
    finally:
        for task in waiting:
            task.cancel()


def summed(
    theorem: ScriptTheorem, verdicts: tuple[Verdict, ...], seconds: float, recalled: int
) -> Outcome:
    """The outcome with these verdicts."""
    proofs = [verdict for verdict in verdicts if isinstance(verdict, Proved)]
    return Outcome(
        theorem,
        verdicts,
        seconds,
        rules=sum(sum(proof.theorem.rules().values()) for proof in proofs),
        certificate_bytes=sum(len(proof.certificate.encode()) for proof in proofs),
        postulates=tuple(
            dict.fromkeys(item for proof in proofs for item in proof.theorem.postulates)
        ),
        recalled=recalled,
    )


def _verdicts(returned: object) -> tuple[Verdict, ...]:
    verdicts: Iterable[object] = returned if isinstance(returned, (list, tuple)) else [returned]
    checked = tuple(item for item in verdicts if isinstance(item, Verdict))
    wrong = [item for item in verdicts if not isinstance(item, Verdict)]
    if wrong:
        kind = type(wrong[0]).__name__
        raise ScriptError(f"a theorem returns a verdict or a list of verdicts, not {kind}")
    if not checked:
        raise ScriptError("a theorem returns at least one verdict, not an empty list")
    return checked
