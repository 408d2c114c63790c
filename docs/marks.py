"""The parts of a page that a command writes: they stand between two marks."""

from __future__ import annotations

import sys
from pathlib import Path

END = "<!-- end -->"


def begin(command: str) -> str:
    return f"<!-- begin of what {command} writes -->"


def written(page: str, command: str, text: str) -> str:
    """The page with the text of a command as it should be."""
    before, _, rest = page.partition(begin(command))
    return f"{before}{begin(command)}\n\n{text}\n\n{END}{rest.partition(END)[2]}"


def write(path: Path, command: str, text: str) -> int:
    """Write the text of a command into its page."""
    page = path.read_text(encoding="utf-8")
    if page.count(begin(command)) != 1 or page.count(END) != 1:
        sys.exit(f"{path} does not have the marks {begin(command)} and {END}, each once")
    path.write_text(written(page, command, text), encoding="utf-8")
    return 0
