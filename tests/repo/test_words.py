"""The tree speaks of the mathematics and its use, not of how it came to be."""

from __future__ import annotations

import re

import pytest

from tests.repo.source import ROOT, text_files

# written in two parts, so that this file does not contain them
FORBIDDEN = {
    "path": re.compile(r"(?<![\w.])/" + r"work\b"),
    "folder": re.compile("shared" + "/"),
    "number": re.compile(r"\b(?:issue|task|ticket)s?\s*" + r"#?\d", re.IGNORECASE),
    "notes": re.compile(r"\b(?:DESIGN|LEAF|MOMENT|PROOFS|STYLE|SPEC|DEVELOPERS)" + r"\.md\b"),
    "unfinished": re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|X" + r"XX)\b"),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_words(name: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in text_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if FORBIDDEN[name].search(line)
    ]
    assert not found


def test_finds_what_it_looks_for() -> None:
    assert FORBIDDEN["path"].search("see /" + "work/notes")
    assert FORBIDDEN["number"].search("as in issue" + " #2")
    assert not FORBIDDEN["number"].search("the issue is settled in 2 steps")
    assert ROOT / "README.md" in set(text_files())
