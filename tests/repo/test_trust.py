"""TRUST.md says what the code says: sizes, rules, what is assumed, and files and commands."""

from __future__ import annotations

import importlib.util
import re

from docs import trust
from docs.marks import written
from dpsym.cli import cli
from dpsym.kernel.definitions import DEFINITIONS
from dpsym.kernel.proofs import RULES
from tests.repo.source import KERNEL, ROOT
from tests.repo.test_kernel import BESIDE, MOST_LINES

PAGE = trust.PAGE.read_text(encoding="utf-8")


def test_the_generated_part_is_that_of_the_code() -> None:
    assert written(PAGE, trust.COMMAND, trust.section()) == PAGE, f"{trust.COMMAND} writes it anew"


def test_every_rule_and_definition_is_listed() -> None:
    for name in (*RULES, *DEFINITIONS):
        assert f"`{name}`" in PAGE, name


def test_nothing_is_assumed() -> None:
    assert "without proof: none." in PAGE
    for path in KERNEL.rglob("*.py"):
        assert "postulate" not in path.read_text(encoding="utf-8"), path


def test_what_is_trusted_is_what_the_tests_hold_to_it() -> None:
    assert {f"{name}.py" for name in BESIDE} == set(trust.BESIDE["refutations"])


def test_files_and_commands_exist() -> None:
    for name in re.findall(r"`((?:dpsym|tests)/[\w./]*)`", PAGE):
        assert (ROOT / name).exists(), name
    for name in re.findall(r"`dpsym (\w+)", PAGE):
        assert name in cli.commands, name
    for name in re.findall(r"`python -m ([\w.]+)", PAGE):
        assert importlib.util.find_spec(name) is not None, name


def test_the_readme_has_the_kernels_limit_and_names_the_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"at most {MOST_LINES:,} lines of code" in readme
    assert "(TRUST.md)" in readme
