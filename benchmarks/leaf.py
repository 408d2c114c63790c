"""Decide the inequalities of ``tests/data`` with dpsym, z3, cvc5 and SymPy, side by side.

Each case runs with each solver in a process of its own, with its CPU time limited. "wrong" counts
answers against the truth; times are CPU seconds of the cases that were solved, without imports.
dpsym runs as a user calls it, without hints; its certificates are checked in another process,
which has loaded the checker and never seen the case. How the others are helped is written in
``benchmarks.smt`` and ``benchmarks.symbolic``.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import math
import multiprocessing
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import dpsym as dp
from dpsym.kernel.certificate import verify
from tests.data import Case, inequalities

_FORK = multiprocessing.get_context("fork")  # children start with everything imported
_MEMORY = 4 * 2**30
_CHECKS = 3
_WARM = ("dpsym.search.leaf.prover", "dpsym.search.leaf.counterexample", "highspy")


@dataclass(frozen=True)
class Run:
    """What one solver made of one case: "true", "false", "unknown", "time" or an error's text."""

    case: str
    truth: bool
    solver: str
    answer: str
    seconds: float
    size: int | None = None
    check_seconds: float | None = None

    @property
    def solved(self) -> bool:
        return self.answer == ("true" if self.truth else "false")

    @property
    def wrong(self) -> bool:
        return self.answer == ("false" if self.truth else "true")


# --- solvers: a case and CPU seconds to an answer and a certificate -----------------------------


def _dpsym(case: Case, seconds: float) -> tuple[str, str | None]:
    left, right, where = case.read()
    verdict = dp.check_inequality(left, right, where=where, strict=case.strict, budget=seconds)
    if isinstance(verdict, dp.Proved):
        return "true", verdict.certificate
    return ("false" if isinstance(verdict, dp.Refuted) else "unknown"), None


def _z3(case: Case, seconds: float) -> tuple[str, None]:
    from benchmarks.smt import z3_solve

    return z3_solve(case, seconds), None


def _cvc5(case: Case, seconds: float) -> tuple[str, None]:
    from benchmarks.smt import cvc5_solve

    return cvc5_solve(case, seconds), None


def _sympy(case: Case, seconds: float) -> tuple[str, None]:
    from benchmarks.symbolic import solve

    return solve(case, seconds), None


Solver = Callable[[Case, float], tuple[str, "str | None"]]
SOLVERS: dict[str, tuple[Solver, tuple[str, ...]]] = {
    "dpsym": (_dpsym, _WARM),
    "z3": (_z3, ("z3", "benchmarks.smt")),
    "cvc5": (_cvc5, ("cvc5", "benchmarks.smt")),
    "sympy": (_sympy, ("sympy", "benchmarks.symbolic")),
}


# --- processes ----------------------------------------------------------------------------------


def apart(work: Callable[..., Any], *args: object, seconds: float) -> tuple[Any, float]:
    """The result of ``work`` in a process of its own, and its CPU seconds.

    Raises: TimeoutError, and RuntimeError with the text of whatever it raised.
    """
    receiver, sender = _FORK.Pipe(duplex=False)
    child = _FORK.Process(target=_inside, args=(sender, seconds, work, args))
    child.start()
    sender.close()
    try:
        result = receiver.recv() if receiver.poll(3 * seconds + 10) else None
    except EOFError:  # ended by its limit
        result = None
    finally:
        child.kill()
        child.join()
        receiver.close()
    if result is None:
        raise TimeoutError
    failed, value, spent = result
    if failed:
        raise RuntimeError(value)
    return value, spent


def _inside(sender: Connection, seconds: float, work: Callable[..., Any], args: Any) -> None:
    begun = time.process_time()
    limit = math.ceil(begun + 1.2 * seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    try:
        found = (False, work(*args))
    except Exception as error:
        found = (True, f"{type(error).__name__}: {error}"[:200])
    sender.send((*found, time.process_time() - begun))


def _check_time(certificate: str, other: str) -> float:
    verify(other)  # so that the time is not that of copying the parent's memory
    start = time.process_time()
    verify(certificate)
    return time.process_time() - start


def run(case: Case, name: str, seconds: float, other: str) -> Run:
    """One case with one solver; ``other`` is the certificate of no case."""
    try:
        (answer, certificate), spent = apart(SOLVERS[name][0], case, seconds, seconds=seconds)
    except TimeoutError:
        return Run(case.id, case.truth, name, "time", seconds)
    except RuntimeError as error:
        return Run(case.id, case.truth, name, str(error), seconds)
    if certificate is None:
        return Run(case.id, case.truth, name, answer, spent)
    checks = [apart(_check_time, certificate, other, seconds=seconds)[0] for _ in range(_CHECKS)]
    size = len(certificate.encode())
    return Run(case.id, case.truth, name, answer, spent, size, statistics.median(checks))


def warm(solvers: Sequence[str]) -> str:
    """Import what the processes need, and load the checker with a certificate of no case."""
    for name in solvers:
        for module in SOLVERS[name][1]:
            importlib.import_module(module)
    case = Case("", ("x >= 0", "x <= 1"), "x", "<=", "exp(x) + log(1 + x)", True, "")
    (_, certificate), _ = apart(_dpsym, case, 20.0, seconds=20.0)
    verify(certificate)
    gc.freeze()
    return str(certificate)


# --- the table ----------------------------------------------------------------------------------

_HEADINGS = (
    "solver", "true", "false", "wrong", "median s", "90 % s", "worst s",
    "size median", "largest", "check median", "largest",
)  # fmt: skip


def row(name: str, runs: Sequence[Run]) -> tuple[str, ...]:
    """The figures of one solver."""
    solved = [item for item in runs if item.solved]
    counts = [
        f"{sum(item.truth is truth for item in solved)}/{sum(item.truth is truth for item in runs)}"
        for truth in (True, False)
    ]
    times = sorted(item.seconds for item in solved)
    spread = ["-"] * 3
    if times:
        tenth = times[math.ceil(0.9 * len(times)) - 1]
        spread = [f"{value:.2f}" for value in (statistics.median(times), tenth, times[-1])]
    sizes = [item.size for item in solved if item.size is not None]
    checks = [1e3 * item.check_seconds for item in solved if item.check_seconds is not None]
    last = ["-"] * 4
    if sizes and checks:
        last = [f"{size / 1e3:.1f} kB" for size in (statistics.median(sizes), max(sizes))]
        last += [f"{check:.1f} ms" for check in (statistics.median(checks), max(checks))]
    return (name, *counts, str(sum(item.wrong for item in runs)), *spread, *last)


def table(runs: Sequence[Run]) -> str:
    """All figures, as a table in Markdown."""
    names = list(dict.fromkeys(item.solver for item in runs))
    rows = [_HEADINGS, *(row(name, [r for r in runs if r.solver == name]) for name in names)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "| "
        + " | ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        + " |"
        for cells in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.leaf", description=__doc__)
    parser.add_argument("--solvers", default=",".join(SOLVERS), help="names, with commas")
    parser.add_argument("--seconds", type=float, default=20.0, help="CPU seconds for each case")
    parser.add_argument("--only", nargs="+", metavar="ID", help="these cases only")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every run")
    options = parser.parse_args()
    cases, solvers = inequalities(), []
    for name in options.solvers.split(","):
        if name not in SOLVERS:
            parser.error(f"no solver {name}; there are {', '.join(SOLVERS)}")
        if find_spec(name) is None:
            print(f"{name} is not installed and left out")
        else:
            solvers.append(name)
    unknown = [name for name in options.only or () if name not in cases]
    if unknown:
        parser.error(f"no case {', '.join(unknown)}")
    other = warm(solvers)
    runs = []
    for name in solvers:
        for case in (cases[key] for key in options.only or cases):
            runs.append(run(case, name, options.seconds, other))
            if not runs[-1].solved and (name == "dpsym" or runs[-1].wrong):
                mark = "wrong" if runs[-1].wrong else "not solved"
                print(f"{name}: {case.id} {mark} ({runs[-1].answer})", flush=True)
    print(f"{options.seconds:g} CPU seconds a case, Python {sys.version.split()[0]}\n")
    print(table(runs))
    if options.json:
        text = json.dumps([asdict(item) for item in runs], indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")
    return 1 if any(item.wrong for item in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
