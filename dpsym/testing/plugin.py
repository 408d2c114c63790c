"""pytest: the marker ``dpsym``, readable failures, and ``--dpsym-certificates DIR``.

Loaded by pytest as soon as dpsym is installed, so it imports nothing else, SymPy least of all.
It has no assertions that pytest should rewrite: PYTEST_DONT_REWRITE.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpsym.testing import defaults

__all__: list[str] = []

_OPTION = "--dpsym-certificates"
_MARKER = (
    "dpsym(examples, budget): how many parameters the assertions of dpsym.testing draw in this "
    "test, and how many processor seconds they spend on a proof"
)
_ALLOWED = {"examples", "budget"}
_LONGEST = 120


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("dpsym").addoption(
        _OPTION,
        metavar="DIR",
        help="keep what the assertions of dpsym.testing found: certificates (dpsym verify checks "
        "them), counterexamples, and scripts that reproduce these",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    folder = config.getoption(_OPTION)
    if folder:
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise pytest.UsageError(f"{_OPTION}: {error}") from None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    changes: dict[str, Any] = {}
    for marker in reversed(list(item.iter_markers("dpsym"))):  # the closest one last
        unknown = set(marker.kwargs) - _ALLOWED
        if marker.args or unknown:
            raise pytest.UsageError(f"the marker dpsym takes {', '.join(sorted(_ALLOWED))}")
        changes.update(marker.kwargs)
    folder = item.config.getoption(_OPTION)
    if folder:
        changes["keeper"] = _Keeper(Path(folder), item.nodeid)
    if not changes:
        yield
        return
    with defaults.use(**changes):
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """The report instead of a traceback through the library, and the script by itself."""
    outcome: Any = yield
    failures = sys.modules.get("dpsym.testing.failures")
    if failures is None or call.excinfo is None:
        return
    error = call.excinfo.value
    if not isinstance(error, failures.Failure):
        return
    report = outcome.get_result()
    what = f"{type(error).__name__}: {error.report}"
    report.longrepr = f"{what}\n  {_place(item, call.excinfo)}"
    if error.script:
        report.sections.append(("dpsym: a script that reproduces it", error.script))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    folder = config.getoption(_OPTION)
    if folder:
        terminalreporter.write_line(f"dpsym: what was proved and refuted is in {folder}")


def _place(item: pytest.Item, found: pytest.ExceptionInfo[BaseException]) -> str:
    """The line of the test that was running."""
    own = [entry for entry in found.traceback if Path(entry.path) == item.path]
    line = f", line {own[-1].lineno + 1}" if own else ""
    return f"in {item.nodeid}{line}"


class _Keeper:
    """Writes evidence of one test, each into a file of its own."""

    def __init__(self, folder: Path, nodeid: str) -> None:
        name = re.sub(r"[^\w.-]+", "-", nodeid).strip("-")
        self._folder, self._name, self._count = folder, name[-_LONGEST:], 0

    def __call__(self, found: defaults.Evidence) -> None:
        self._count += 1
        for ending, text in found.evidence().items():
            path = self._folder / f"{self._name}-{self._count}{ending}"
            part = path.with_name(f"{path.name}.{os.getpid()}.part")
            part.write_text(text, encoding="utf-8")
            part.replace(path)  # never half a file under its name
