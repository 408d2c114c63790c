"""The Python examples of a page: ``python -m docs.examples PAGE...`` writes their outputs anew.

The Python blocks of a page are one session, in their order. A ``text`` block that follows one at
once is what it prints.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: str) -> list[tuple[str, str]]:
    """Language and text of every fenced block, in order."""
    return BLOCK.findall(page)


def examples(page: str) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """Each Python block, and where in the page its output stands, if it has one."""
    found = list(BLOCK.finditer(page))
    for index, block in enumerate(found):
        if block[1] == "python":
            after = found[index + 1] if index + 1 < len(found) else None
            follows = after and after[1] == "text" and not page[block.end() : after.start()].strip()
            yield block[2], after.span(2) if after and follows else None


def outputs(page: str, name: str) -> Iterator[tuple[str, str, str]]:
    """The code of each Python block, what stands below it, and what it prints."""
    session: dict[str, Any] = {"__name__": "page"}
    for number, (code, place) in enumerate(examples(page), 1):
        printed = io.StringIO()
        file = f"{name} {number}"
        linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
        with contextlib.redirect_stdout(printed):
            exec(compile(code, file, "exec"), session)
        yield code, page[slice(*place)] if place else "", printed.getvalue()


def refilled(page: str, name: str) -> str:
    """The page with the outputs as they are."""
    new = [printed for _, _, printed in outputs(page, name)]
    places = [place for _, place in examples(page)]
    for place, text in reversed(list(zip(places, new, strict=True))):
        if place is not None:
            page = page[: place[0]] + text + page[place[1] :]
    return page


def main(paths: list[str]) -> int:
    from hypothesis import settings

    settings.register_profile("page", derandomize=True, deadline=None, database=None)
    settings.load_profile("page")  # examples that are drawn are always the same
    for path in [Path(item).resolve() for item in paths]:
        page = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            page = refilled(page, path.name)  # examples may write files
        path.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
