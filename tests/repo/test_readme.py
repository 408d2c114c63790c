"""The README is run: its Python in one session, its console examples; CI has its commands."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpsym.cli import cli, main
from dpsym.version import VERSION
from tests.repo.source import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
UNFILLED = "(to be filled)"


def blocks() -> list[tuple[str, str]]:
    """Language and text of every fenced block, in order."""
    return BLOCK.findall(README)


def python_with_output() -> Iterator[tuple[str, str]]:
    """Each Python block with the text block that follows it at once, or an empty output."""
    found = list(BLOCK.finditer(README))
    for index, block in enumerate(found):
        if block[1] == "python":
            after = found[index + 1] if index + 1 < len(found) else None
            follows = (
                after and after[1] == "text" and not README[block.end() : after.start()].strip()
            )
            yield block[2], after[2] if after and follows else ""


def console() -> list[tuple[str, str]]:
    """Commands that start with ``$ dpsym``, each with the lines below it."""
    pairs = []
    for language, text in blocks():
        if language == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                pairs.append((command, output))
    return pairs


def test_python_blocks_print_what_stands_below_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    session: dict[str, Any] = {"__name__": "readme"}
    examples = list(python_with_output())
    assert len(examples) >= 4
    for code, expected in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), session)
        assert printed.getvalue() == expected, code


@pytest.mark.parametrize(("command", "expected"), console(), ids=lambda text: text[:30])
def test_console_examples(
    command: str,
    expected: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    program, *arguments = shlex.split(command)
    assert program == "dpsym"
    assert main(arguments) in (0, 1)
    assert capsys.readouterr().out == expected


def test_nothing_is_left_to_fill_in() -> None:
    assert UNFILLED not in README


def test_ci_runs_the_commands_of_the_readme() -> None:
    """Two commands, one line each, the ones that CI runs, in environments of their own."""
    commands = [text.strip() for language, text in blocks() if language == "sh"]
    assert len(commands) == 2
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for command in commands:
        assert "\n" not in command
        assert f'"{command}"' in ci
        assert command.startswith("python3 -m venv ")
    main_job, tests = commands
    assert main_job.endswith("/dpsym prove proofs")
    assert tests.endswith("/python -m pytest -q")
    assert main_job.split()[3] != tests.split()[3]
    for tool in ("ruff check .", "ruff format --check .", "/mypy"):
        assert tool in ci


def test_every_command_and_option_is_described() -> None:
    for name, command in cli.commands.items():
        assert f"`dpsym {name}" in README
        for parameter in command.params:
            long = [option for option in parameter.opts if option.startswith("--")]
            if long and long[0] not in ("--help", "--quiet"):
                assert long[0] in README, long[0]


def test_the_readme_says_what_the_project_file_says() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == ">=3.11"
    assert "Python 3.11 or newer" in README
    assert project["scripts"] == {"dpsym": "dpsym.cli:main"}
    assert f"## {VERSION}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_files_that_the_readme_names_exist() -> None:
    for name in re.findall(r"`((?:dpsym|proofs|tests|benchmarks)/[\w./]*)`", README):
        assert (ROOT / name).exists(), name
