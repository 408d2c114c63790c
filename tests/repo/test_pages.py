"""README and docs are run: their Python, a page a session, and their console examples; CI has the
commands of the README, and the lists of rules, noise and mechanisms are those of the code."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs import catalogue, rules
from docs.examples import blocks, outputs, refilled
from docs.marks import written
from dpsym.cli import cli, main
from dpsym.guarantees import NOTIONS
from dpsym.kernel.proofs import RULES
from dpsym.mechanisms import MECHANISMS
from dpsym.mechanisms.noise import NOISES
from dpsym.translate import SUPPORTED
from dpsym.version import VERSION
from tests.repo.source import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
UNFILLED = "(to be filled)"
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)


def console(page: Path) -> list[tuple[str, str]]:
    """Commands that start with ``$ dpsym``, each with the lines below it."""
    pairs = []
    for language, text in blocks(page.read_text(encoding="utf-8")):
        if language == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                pairs.append((command, output))
    return pairs


@pytest.fixture
def registries() -> Iterator[None]:
    """What a page defines is forgotten again."""
    known = [dict(names) for names in (NOTIONS, NOISES, MECHANISMS)]
    yield
    for names, before in zip((NOTIONS, NOISES, MECHANISMS), known, strict=True):
        for name in set(names) - set(before):
            del names[name]


@each_page
@pytest.mark.usefixtures("registries")
def test_python_blocks_print_what_stands_below_them(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    count = 0
    for code, expected, printed in outputs(page.read_text(encoding="utf-8"), page.name):
        assert printed == expected, code
        count += 1
    assert count >= 4


@pytest.mark.parametrize(
    ("command", "expected"),
    [pair for page in PAGES for pair in console(page)],
    ids=lambda text: text[:30],
)
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


def test_outputs_are_written_anew() -> None:
    fence = "`" * 3
    page = f"A\n\n{fence}python\nprint(1 + 1)\n{fence}\n\n{fence}text\n3\n{fence}\n\nB\n"
    assert refilled(page, "page") == page.replace("3\n", "2\n")


# --- docs/inequalities.md -----------------------------------------------------------------------


def test_the_rules_of_the_page_are_those_of_the_kernel() -> None:
    page = rules.PAGE.read_text(encoding="utf-8")
    assert written(page, rules.COMMAND, rules.section()) == page, f"{rules.COMMAND} writes it anew"


def test_every_rule_says_what_it_infers_and_when_it_fails() -> None:
    for name, rule in RULES.items():
        assert "---" in rule.text, name
        assert (
            "Fails when" in rule.text or "Never fails" in rule.text or "Fails for" in rule.text
        ), name


def test_hints_of_the_page_prove_what_is_undecided_without_them() -> None:
    page = rules.PAGE.read_text(encoding="utf-8")
    proved = re.findall(r"^[\w ]+: Unknown, with (\w+): Proved$", page, flags=re.MULTILINE)
    assert len(proved) >= 3
    assert len(set(proved)) >= 2


def test_the_page_names_every_supported_function() -> None:
    page = rules.PAGE.read_text(encoding="utf-8")
    for name in SUPPORTED.split(", "):
        if name.isidentifier() and name != "symbols":
            assert f"`{name}" in page, name


# --- docs/mechanisms.md --------------------------------------------------------------------------


def test_the_catalogue_of_the_page_is_that_of_the_registries() -> None:
    page = catalogue.PAGE.read_text(encoding="utf-8")
    command = catalogue.COMMAND
    assert written(page, command, catalogue.section()) == page, f"{command} writes it anew"


# --- README -------------------------------------------------------------------------------------


def test_nothing_is_left_to_fill_in() -> None:
    assert UNFILLED not in README


def test_ci_runs_the_commands_of_the_readme() -> None:
    """Two commands, one line each, the ones that CI runs, in environments of their own."""
    commands = [text.strip() for language, text in blocks(README) if language == "sh"]
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


def test_files_that_the_pages_name_exist() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"`((?:dpsym|proofs|tests|benchmarks|docs)/[\w./]*)`", text):
            assert (ROOT / name).exists(), name
