"""Runs of the command line that can be killed anywhere, each in a fork of a process that is warm.

``python -m tests.forking`` answers each line of JSON on its input by one on its output. A run is
told where to end itself, by SIGKILL of its whole process group: at the ``at``-th event (a call or a
return, in Python or in C), counted everywhere or only while a file is written (``writing``).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction
from types import FrameType, TracebackType
from typing import Any

from tests.repo.source import ROOT

__all__ = ["Forks"]


class Forks:
    """The process that forks; used by tests as a context."""

    def __enter__(self) -> Forks:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.forking"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT)},
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def start(
        self, arguments: Sequence[object], at: int | None = None, writing: bool = False
    ) -> int:
        """Start ``dpsym`` with these arguments; its process, which leads a group of its own."""
        asked = {"arguments": list(map(str, arguments)), "at": at, "writing": writing}
        pid = self._ask(asked)["pid"]
        assert isinstance(pid, int)
        return pid

    def end(self, pid: int) -> tuple[int, list[int]]:
        """Wait for it: its exit code (negative: the signal), and the events of one that was not
        killed, everywhere and while files were written."""
        answer = self._ask({"wait": pid})
        return answer["code"], answer["events"]

    def run(
        self, arguments: Sequence[object], at: int | None = None, writing: bool = False
    ) -> tuple[int, list[int]]:
        return self.end(self.start(arguments, at, writing))

    def _ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


class _Counter:
    """Counts events of this process, and ends its group at one of them."""

    def __init__(self, at: int | None, writing: bool) -> None:
        from dpsym.scripts.folder import write_whole

        self.at, self.kind = at, int(writing)
        self.counts = [0, 0]  # everywhere, and while a file is written
        self.code, self.depth = write_whole.__code__, 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if frame.f_code is self.code and event in ("call", "return"):
            self.depth += 1 if event == "call" else -1
        if self.counts[self.kind] == self.at and self.depth >= self.kind:
            os.killpg(0, signal.SIGKILL)
        self.counts[0] += 1
        self.counts[1] += self.depth


def _child(asked: dict[str, Any], told: int) -> int:
    from dpsym.cli import main

    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    counter = _Counter(asked["at"], asked["writing"])
    sys.setprofile(counter)
    code = main(asked["arguments"])
    sys.setprofile(None)
    os.write(told, json.dumps(counter.counts).encode())
    return code


def _serve() -> None:
    import dpsym as dp
    from dpsym import scripts

    assert scripts
    for claim in (2, Fraction(1, 2)):  # loads what a proof and a refutation need
        dp.check(dp.PureDP(1), dp.PureDP(claim))
    running: dict[int, int] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        if "wait" in asked:
            pid = asked["wait"]
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            answer = {"code": code, "events": json.loads(os.read(running[pid], 100) or b"[0, 0]")}
            os.close(running.pop(pid))
        else:
            listens, told = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.setpgid(0, 0)
                os._exit(_child(asked, told))
            os.close(told)
            running[pid] = listens
            answer = {"pid": pid}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _serve()
