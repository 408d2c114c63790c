"""Every certificate of the proof scripts, audited."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from dpsym.audit import Coverage, audit
from dpsym.scripts import collect
from dpsym.verdicts import Proved
from tests.audit.stored import FOLDER, PROOFS, digest, file_of, read, scripts

COMMAND = "python -m tests.audit.stored"
LEAST = 0.8  # the share of steps for which points or distributions are found
each_script = pytest.mark.parametrize("script", scripts(), ids=lambda path: path.stem)


@cache
def _audited(script: Path) -> Coverage:
    """How much is tried of a script's certificates; in none of them there is a fault."""
    coverage = Coverage()
    for name, certificates in read(script).theorems.items():
        for text in certificates:
            found = audit(text, seed=2026, points=_points(script))
            assert not found.faults, (name, found.faults[0].text())
            coverage.add(found)
    return coverage


def _points(script: Path) -> int:
    """Twice where steps are hard to try: of mechanisms, and of the rules that are used once."""
    return 1 if script.parent == PROOFS else 2


@each_script
def test_nothing_is_false_in_any_certificate(script: Path) -> None:
    coverage = _audited(script)
    tried, untried = coverage.tried.total(), coverage.untried.total()
    proved = bool(read(script).theorems)
    assert tried >= LEAST * (tried + untried)
    assert proved == (tried > 0)


@each_script
def test_the_stored_certificates_are_those_of_the_script(script: Path) -> None:
    stored = read(script)
    assert stored.digest == digest(script), f"{script} has changed: {COMMAND}"
    expected = {theorem.name for theorem in collect(script) if theorem.expected is Proved}
    assert set(stored.theorems) == expected


def test_there_is_a_file_for_each_script() -> None:
    assert set(FOLDER.glob("*.json.gz")) == {file_of(script) for script in scripts()}, COMMAND


def test_every_rule_is_tried() -> None:
    """By the certificates of the proof scripts, and those that are there for the other rules."""
    coverage = Coverage()
    for script in scripts():
        coverage.add(_audited(script))
    assert not coverage.never()
