"""``python -m tests.campaign``: try to get a wrong verdict, for a chosen time.

Rounds of random claims, hostile certificates and hostile input run in processes of their own, with
limits of memory and time; a report says what became of them. Everything follows from the seed: what
is found is repeated with ``--repeat PART KIND SEED NUMBER``. Exit code 1 if there is a fault.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from dpsym.version import VERSION
from tests.campaign.parts import PARTS, Found, attempts, repeat

MEMORY = 4 * 2**30
SECONDS = 900  # for one process; a round takes about two minutes


@dataclass
class Report:
    """Counts by part, kind and outcome; faults with what repeats them."""

    seed: int
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, part: str, found: dict[str, dict[str, int]], faults: list[str]) -> None:
        for kind, outcomes in found.items():
            self.counts.setdefault(f"{part}: {kind}", Counter()).update(outcomes)
        self.faults += faults

    def total(self, part: str) -> int:
        return sum(c.total() for name, c in self.counts.items() if name.startswith(f"{part}:"))

    def text(self) -> str:
        python = platform.python_version()
        lines = [f"dpsym {VERSION}, Python {python}, seed {self.seed}, {self.seconds:.0f} s of CPU"]
        for part in PARTS:
            lines += ["", f"{part}: {self.total(part)}"]
            for name, outcomes in sorted(self.counts.items()):
                if name.startswith(f"{part}:"):
                    said = ", ".join(f"{n} {what}" for what, n in sorted(outcomes.items()))
                    lines.append(f"  {name.removeprefix(part)[2:]} ({outcomes.total()}): {said}")
        lines += ["", f"faults: {len(self.faults)}", *(f"  {fault}" for fault in self.faults)]
        return "\n".join(lines) + "\n"


def used() -> float:
    own, children = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def round_of(part: str, seed: int, start: int) -> tuple[Found, list[str]]:
    """One round in its own process."""
    command = [sys.executable, "-m", "tests.campaign", "--round", part, str(seed), str(start)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        )
    except subprocess.TimeoutExpired:
        return {}, [f"{part}, round {start}: more than {SECONDS} s ({' '.join(command)})"]
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().splitlines()[-1:]
        return {}, [f"{part}, round {start}: stopped, {last} ({' '.join(command)})"]
    data = json.loads(done.stdout)
    return data["found"], data["faults"]


def run(minutes: float, seed: int, parts: list[str], file: Path | None) -> Report:
    report, start = Report(seed), 0
    began, shown = used(), time.monotonic()
    while used() - began < minutes * 60:
        for part in parts:
            report.add(part, *round_of(part, seed, start))
            report.seconds = used() - began
            if file is not None:
                file.write_text(report.text(), encoding="utf-8")
        start += 1
        if time.monotonic() - shown > 60:
            shown = time.monotonic()
            totals = ", ".join(f"{report.total(part)} {part}" for part in parts)
            print(f"{report.seconds:.0f} s: {totals}; {len(report.faults)} faults", flush=True)
    return report


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30, help="of CPU time (default: 30)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=PARTS, action="append", help="this part (repeatable)")
    parser.add_argument("--report", type=Path, help="write the report to this file, too")
    parser.add_argument("--repeat", nargs=4, metavar=("PART", "KIND", "SEED", "NUMBER"))
    parser.add_argument("--round", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.round:
        part, seed, start = given.round
        found, faults = attempts(part, int(seed), int(start))
        print(json.dumps({"found": found, "faults": faults}))
        return 0
    if given.repeat:
        part, kind, seed, number = given.repeat
        print(*repeat(part, kind, int(seed), int(number)), sep="\n")
        return 0
    report = run(given.minutes, given.seed, given.only or list(PARTS), given.report)
    print(report.text())
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
