"""Scripts that failures hand out, run."""

from __future__ import annotations

import subprocess
import sys

from tests.repo.source import ROOT


def run(script: str) -> str:
    """The AssertionError that ends the script, empty for none."""
    try:
        exec(compile(script, "script.py", "exec"), {"__name__": "script"})
    except AssertionError as error:
        return f"AssertionError: {error}"
    return ""


def alone(script: str) -> tuple[str, str]:
    """What a script prints in a process of its own, and the last line of its error."""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    return done.stdout, done.stderr.strip().rpartition("\n")[2]
