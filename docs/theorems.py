"""Write the table of theorems into ``docs/theorems.md``: ``python -m docs.theorems``.

Statements, sources and tightness are those of the docstrings in ``proofs/``, which are not run.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from docs.marks import write
from dpsym.scripts import ScriptTheorem, collect
from dpsym.verdicts import Proved

PAGE = Path(__file__).with_name("theorems.md")
PROOFS = PAGE.parent.parent / "proofs"
COMMAND = "python -m docs.theorems"
SCRIPTS = (
    "composition",
    "advanced_composition",
    "conversions",
    "amplification",
    "group_privacy",
    "postprocessing",
    "mechanisms/gaussian",
    "mechanisms/laplace",
    "mechanisms/integers",
    "mechanisms/selection",
    "mechanisms/local",
)
TIGHT = re.compile(r"\b(Exact|Loose)\b.*")


def idea(theorem: ScriptTheorem) -> str:
    """What a docstring says after "Idea:", on one line."""
    body: Callable[[], object] | None = theorem.body
    text = inspect.getdoc(body) or ""
    return " ".join(text.partition("Idea:")[2].split())


def tightness(theorem: ScriptTheorem) -> str:
    """Its last sentences, from "Exact" or "Loose" on."""
    found = TIGHT.search(idea(theorem))
    return found[0] if found else ""


def cell(text: str) -> str:
    """Text as it stands, in a cell of a table."""
    return re.sub(r"([|*_\\])", r"\\\1", text)


def rows(script: str) -> Iterator[str]:
    for theorem in collect(PROOFS / f"{script}.py"):
        if theorem.expected is Proved:
            parts = (theorem.summary, theorem.source, tightness(theorem))
            yield f"| `{theorem.name}`: {' | '.join(map(cell, parts))} |"


def section() -> str:
    """What stands between the marks."""
    parts = []
    for script in SCRIPTS:
        head = f"### `proofs/{script}.py`\n\n| theorem | source | tightness |\n|---|---|---|\n"
        parts.append(head + "\n".join(rows(script)))
    return "\n\n".join(parts)


if __name__ == "__main__":
    sys.exit(write(PAGE, COMMAND, section()))
