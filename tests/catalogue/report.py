"""The table of all entries and the totals."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.catalogue.entries import ENCLOSED, PROVED, REFUTED, UNKNOWN, WRONG, Entry, Outcome, run
from tests.catalogue.reports import R
from tests.catalogue.section_a import A
from tests.catalogue.section_b import B
from tests.catalogue.section_c import C
from tests.catalogue.section_d import D
from tests.catalogue.section_e import E
from tests.catalogue.section_f import F

SECTIONS = (A, B, C, D, E, F, R)
ENTRIES: dict[str, Entry] = {key: one for part in SECTIONS for key, one in part.entries.items()}
COLUMNS = (PROVED, REFUTED, ENCLOSED, UNKNOWN, WRONG)


@cache
def statements() -> dict[str, dict[str, str]]:
    """Every statement with its source and truth, by its id."""
    path = Path(__file__).parents[1] / "data" / "catalogue.json"
    return {entry["id"]: entry for entry in json.loads(path.read_text(encoding="utf-8"))["entries"]}


def judged(entry: Entry) -> Outcome:
    """The outcome; a verdict that is not the truth is WRONG."""
    outcome = run(entry)
    if outcome.verdict in {PROVED, REFUTED} - {best(entry)}:
        outcome.verdict = WRONG
    return outcome


def best(entry: Entry) -> str:
    """The verdict that tells the truth for all parameters."""
    return REFUTED if statements()[entry.name]["truth"] == "false" else PROVED


def chosen(words: tuple[str, ...]) -> list[Entry]:
    """The entries whose names begin with one of the words; all for none."""
    found = [entry for entry in ENTRIES.values() if entry.name.startswith(words or ("",))]
    if not found:
        raise SystemExit(f"no entry begins with {' or '.join(words)}")
    return found


def lines(entries: list[Entry], reasons: bool = False) -> Iterator[str]:
    """One line for each entry as it is settled, then the totals of each section."""
    totals: dict[str, Counter[str]] = {}
    apart: dict[str, list[str]] = {}
    indexed: dict[str, list[str]] = {}
    width = max(len(entry.name) for entry in entries)
    for entry in entries:
        try:
            outcome = judged(entry)
        except Exception as error:  # the other entries are still of interest
            outcome = Outcome(UNKNOWN, 0.0, reason=f"raised {type(error).__name__}: {error}")
        totals.setdefault(entry.name[0], Counter())[outcome.verdict] += 1
        if outcome.of_numbers():
            apart.setdefault(entry.name[0], []).append(entry.name)
        note = f"  for {entry.index}" if entry.index else ""
        if entry.index:
            indexed.setdefault(entry.name[0], []).append(entry.name)
        if outcome.verdict != entry.expected:
            note = f"  better than {entry.expected}"
            if outcome.verdict != best(entry):
                note = f"  expected {entry.expected}"
        yield f"{entry.name:{width}}  {outcome.verdict:9}  {outcome.seconds:6.2f} s{note}"
        if reasons and outcome.reason and outcome.verdict not in (PROVED, ENCLOSED):
            yield "    " + outcome.reason.replace("\n", "\n    ")
    for section, counts in totals.items():
        shown = ", ".join(f"{name} {counts[name]}" for name in COLUMNS)
        yield f"section {section}: {shown}, of {sum(counts.values())}"
        if section in indexed:
            yield f"    of these for some values of an index: {', '.join(indexed[section])}"
        if section in apart:
            yield f"    of these as inequalities between numbers: {', '.join(apart[section])}"
