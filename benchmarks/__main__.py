"""Measure speed and size, each in fresh processes, and print the medians beside the targets.

Usage: ``python -m benchmarks [--runs N]``. Exit code 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.code_lines import kernel_lines

CLAIMS = {
    "pure": "dp.compose(dp.PureDP(a), dp.PureDP(b)), dp.PureDP(a + b)",
    "approximate": "dp.compose(dp.ApproxDP(a, c), dp.ApproxDP(b, d)), dp.ApproxDP(a + b, c + d)",
    "Rényi": "dp.compose(dp.RenyiDP(r, a), dp.RenyiDP(r, b)), dp.RenyiDP(r, a + b), where=[r > 1]",
}
STAGES = {
    "pure": "dp.compose(*map(dp.PureDP, es)), dp.PureDP(sum(es))",
    "approximate": "dp.compose(*map(dp.ApproxDP, es, ds)), dp.ApproxDP(sum(es), sum(ds))",
    "Rényi": "dp.compose(*(dp.RenyiDP(r, e) for e in es)), dp.RenyiDP(r, sum(es)), where=[r > 1]",
}
SETUP = """
import json, sys, time
import dpsym as dp
from sympy import symbols
a, b, c, d = symbols("epsilon1 epsilon2 delta1 delta2", nonnegative=True)
r = symbols("alpha", positive=True)
"""
SEARCH = """
start = time.perf_counter()
verdict = dp.check({claim})
seconds = time.perf_counter() - start
proved = isinstance(verdict, dp.Proved)
print(json.dumps([seconds, verdict.certificate if proved else None]))
"""
STAGED = """
es = symbols("epsilon1:{end}", nonnegative=True)
ds = symbols("delta1:{end}", nonnegative=True)
"""
RECHECK = """
import sys, time
from dpsym.kernel.certificate import verify
text = open(sys.argv[1], encoding="utf-8").read()
start = time.perf_counter()
verify(text)
print(time.perf_counter() - start)
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each measurement")
    bench = Bench(max(1, parser.parse_args().runs))
    bench.imports()
    with tempfile.TemporaryDirectory() as folder:
        bench.theorems(Path(folder))
        bench.stages(Path(folder))
    lines = sum(kernel_lines().values())
    bench.row("kernel, lines of code", str(lines), "2200", lines <= 2200)
    return 0 if bench.met else 1


class Bench:
    """Prints a row as soon as it is measured and remembers whether every target was met."""

    def __init__(self, runs: int) -> None:
        self.runs, self.met = runs, True
        print(f"Python {sys.version.split()[0]}, median of {runs} runs, fresh processes")
        print(f"| {'figure':<48} | {'measured':>10} | {'target':>8} |")
        print(f"|{'-' * 50}|{'-' * 11}:|{'-' * 9}:|")

    def row(self, name: str, measured: str, target: str = "", met: bool = True) -> None:
        self.met = self.met and met
        missed = "" if met else "  <- missed"
        print(f"| {name:<48} | {measured:>10} | {target:>8} |{missed}", flush=True)

    def seconds(self, name: str, value: float | None, target: float | None = None) -> None:
        shown = "not proved" if value is None else _time(value)
        met = value is not None and (target is None or value <= target)
        self.row(name, shown, "" if target is None else _time(target), met)

    def median(self, measure: Callable[[], float]) -> float:
        return statistics.median(measure() for _ in range(self.runs))

    def imports(self) -> None:
        """Import times, and the first check of a pure claim, as whole processes."""
        nothing = self.median(lambda: _process("pass")[0])
        sympy = self.median(lambda: _process("import sympy")[0])
        dpsym = self.median(lambda: _process("import dpsym")[0])
        first = self.median(lambda: _process(f"{SETUP}dp.check({CLAIMS['pure']})")[0])
        self.seconds("python -c pass", nothing)
        self.seconds("import sympy", sympy)
        self.seconds("import dpsym", dpsym, 1.3 * sympy)
        self.seconds("import dpsym and a first pure check, above sympy", first - sympy, 0.5)

    def theorems(self, folder: Path) -> None:
        """The three composition theorems: search, re-check, ``dpsym verify``."""
        for name, claim in CLAIMS.items():
            code = SETUP + SEARCH.format(claim=claim)
            found, certificate = self.search(code, folder)
            self.seconds(f"{name} composition: search", found, 5)
            if certificate is None:
                self.seconds(f"{name} composition: re-check", None, 0.05)
                continue
            self.seconds(f"{name} composition: re-check", self.recheck(certificate), 0.05)
            whole = self.median(lambda file=certificate: _verify_process(file))
            self.seconds(f"{name} composition: dpsym verify, whole process", whole, 0.3)

    def stages(self, folder: Path) -> None:
        """How certificate and check grow from 2 stages to 64."""
        for name, claim in STAGES.items():
            sizes: dict[int, int] = {}
            times: dict[int, float] = {}
            for n in (2, 64):
                code = SETUP + STAGED.format(end=n + 1) + SEARCH.format(claim=claim)
                found, certificate = self.search(code, folder)
                self.seconds(f"{name}, {n} stages: search", found)
                if certificate is None:
                    break
                sizes[n] = certificate.stat().st_size
                times[n] = self.recheck(certificate)
                self.row(f"{name}, {n} stages: certificate", f"{sizes[n] / 1000:.1f} kB")
                self.seconds(f"{name}, {n} stages: re-check", times[n], 1 if n == 64 else None)
            if len(sizes) == 2:
                size, check = sizes[64] / sizes[2], times[64] / times[2]
                self.row(
                    f"{name}: certificate, 64 stages to 2", f"{size:.1f} x", "40 x", size <= 40
                )
                self.row(f"{name}: re-check, 64 stages to 2", f"{check:.1f} x", "40 x", check <= 40)

    def search(self, code: str, folder: Path) -> tuple[float | None, Path | None]:
        """The median time, and the certificate in a file; None if it is not proved."""
        results = [json.loads(_process(code)[1]) for _ in range(self.runs)]
        if any(certificate is None for _, certificate in results):
            return None, None
        file = folder / "certificate.json"
        file.write_text(results[0][1], encoding="utf-8")
        return statistics.median(seconds for seconds, _ in results), file

    def recheck(self, certificate: Path) -> float:
        return self.median(lambda: float(_process(RECHECK, str(certificate))[1]))


def _process(code: str, *arguments: str) -> tuple[float, str]:
    """Wall-clock seconds and output of a fresh process."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"benchmark failed:\n{done.stderr}")
    return seconds, done.stdout


def _verify_process(certificate: Path) -> float:
    start = time.perf_counter()
    command = [sys.executable, "-m", "dpsym", "verify", str(certificate)]
    subprocess.run(command, capture_output=True, check=True)
    return time.perf_counter() - start


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if abs(seconds) < 1 else f"{seconds:.2f} s"


if __name__ == "__main__":
    sys.exit(main())
