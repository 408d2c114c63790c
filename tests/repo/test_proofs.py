"""The proof scripts as a textbook: what stands there can be read without running anything."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter

import pytest

from docs import theorems
from docs.marks import written
from dpsym.scripts import ScriptTheorem, collect
from dpsym.verdicts import Proved, Refuted
from tests.repo.source import ROOT

THEOREMS = collect(ROOT / "proofs")
SCRIPTS = sorted({theorem.script for theorem in THEOREMS})
each_theorem = pytest.mark.parametrize("theorem", THEOREMS, ids=lambda theorem: theorem.name)


@each_theorem
def test_statement_source_and_idea_are_told(theorem: ScriptTheorem) -> None:
    assert not theorem.error
    assert theorem.source
    assert theorem.body is not None
    text = inspect.getdoc(theorem.body) or ""
    statement, _, rest = text.partition("\n\n")
    assert statement.endswith(".")
    assert rest.startswith("Idea: ")
    assert rest.endswith(".")
    assert statement.startswith("False: ") is (theorem.expected is Refuted)
    if theorem.expected is Proved:
        assert theorems.tightness(theorem)


def test_names_are_claims_of_their_own() -> None:
    count = Counter(theorem.name for theorem in THEOREMS)
    assert {name for name, times in count.items() if times > 1} == set()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_introduces_what_it_uses(script) -> None:
    """Each notion that a script names is in words in its first text, or that points to where."""
    tree = ast.parse(script.read_text(encoding="utf-8"))
    opening = ast.get_docstring(tree) or ""
    assert opening.count("\n") >= 6
    used = set(re.findall(r"dp\.((?:[A-Z][a-z]+|Z|TC|G)DP|BoundedRange)\(", ast.unparse(tree)))
    told = {name for name in used if name in opening}
    assert told == used or (told and "composition.py" in opening), used - told


def test_the_notions_are_all_in_words_at_the_beginning() -> None:
    opening = ast.get_docstring(ast.parse((ROOT / "proofs/composition.py").read_text())) or ""
    for name in ("Pure", "Approx", "Renyi", "Z", "TC", "G"):
        assert re.search(rf"\b{name}(?:DP|CDP)\(", opening) or f"{name}DP(" in opening
    assert "BoundedRange(" in opening


def test_the_topics_that_the_readme_names_are_there() -> None:
    for name in (*theorems.SCRIPTS, "refuted_claims"):
        assert (ROOT / "proofs" / f"{name}.py").is_file()
    in_table = {(ROOT / "proofs" / f"{name}.py") for name in theorems.SCRIPTS}
    proving = {theorem.script for theorem in THEOREMS if theorem.expected is Proved}
    assert proving == in_table


def test_the_table_of_the_page_is_that_of_the_scripts() -> None:
    page = theorems.PAGE.read_text(encoding="utf-8")
    assert written(page, theorems.COMMAND, theorems.section()) == page, (
        f"{theorems.COMMAND} writes it anew"
    )
