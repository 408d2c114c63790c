"""``dpsym prove --certificates`` killed anywhere and run again."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpsym.kernel.certificate import verify
from tests.forking import Forks

pytestmark = pytest.mark.skipif(os.name != "posix", reason="forks and signals")

SCRIPTS = {
    "first.py": """
import dpsym as dp

@dp.proved
def weaker():
    return dp.check(dp.PureDP(1), dp.PureDP(2))

@dp.proved
def several():
    return [dp.check(dp.PureDP(1), dp.ApproxDP(1, d)) for d in (0, 1)]

@dp.refuted
def stronger():
    return dp.check(dp.PureDP(2), dp.PureDP(1))
""",
    "second.py": """
import dpsym as dp

@dp.proved
def twice():
    return dp.check(dp.compose(dp.PureDP(1), dp.PureDP(1)), dp.PureDP(2))

@dp.proved
def undecided():
    return dp.check(dp.PureDP(1), dp.PureDP(1), budget=1e-9)
""",
}
PROOFS = {"weaker": 1, "several": 2, "stronger": 0, "twice": 1}
Kept = dict[str, tuple[str, int, int]]


class Place:
    """A folder with scripts, to which runs are resumed."""

    def __init__(self, folder: Path, forks: Forks) -> None:
        self.folder, self.forks = folder, forks
        self.certificates = folder / "c"
        folder.mkdir()
        for name, text in SCRIPTS.items():
            (folder / name).write_text(text, encoding="utf-8")

    def command(self, jobs: int = 1) -> list[object]:
        scripts = [self.folder / name for name in SCRIPTS]
        options = ["--certificates", self.certificates, "--json", self.folder / "results"]
        return ["prove", *scripts, *options, "--jobs", jobs]

    def kept(self) -> Kept:
        """What a later run may take for a certificate: its text, and what tells its file."""
        found = {}
        for file in self.certificates.glob("[!.]*"):
            status = file.stat()
            found[file.name] = (file.read_text("utf-8"), status.st_ino, status.st_mtime_ns)
        return found

    def results(self) -> dict[str, dict[str, Any]]:
        data = json.loads((self.folder / "results").read_text(encoding="utf-8"))
        for one in data["theorems"]:
            del one["seconds"], one["script"]
            one["certificates"] = [Path(name).name for name in one["certificates"]]
        return {one["name"]: one for one in data["theorems"]}


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks() as running:
        yield running


@pytest.fixture(scope="module")
def whole(forks: Forks, tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, list[int]]:
    """An uninterrupted run, and how many events it has."""
    place = Place(tmp_path_factory.mktemp("runs") / "whole", forks)
    code, events = forks.run(place.command())
    assert code == 1  # one claim is undecided
    assert sum(PROOFS.values()) == len(place.kept())
    return place, events


def texts(kept: Kept) -> dict[str, str]:
    return {name: text for name, (text, *_) in kept.items()}


def after_a_kill(place: Place, whole: Place, before: Kept) -> Kept:
    """All that is there is whole, and what was finished before is untouched."""
    kept = place.kept()
    assert before.items() <= kept.items()
    assert texts(kept).items() <= texts(whole.kept()).items()
    return kept


def resumed(place: Place, whole: Place) -> None:
    """The last run searches for what is not finished only, and ends as if nothing had been."""
    before = place.kept()
    assert place.forks.run(place.command())[0] == 1
    assert before.items() <= place.kept().items()
    assert texts(place.kept()) == texts(whole.kept())
    results = place.results()
    for name, count in PROOFS.items():
        finished = [file for file in results[name]["certificates"] if file in before]
        assert results[name].pop("recalled") == len(finished)
        assert len(results[name]["certificates"]) == count
    results["undecided"].pop("recalled")
    first = whole.results()
    assert [one.pop("recalled") for one in first.values()] == [0] * len(SCRIPTS) * 2 + [0]
    assert results == first


def test_what_is_kept_are_proofs(whole: tuple[Place, list[int]]) -> None:
    for text in texts(whole[0].kept()).values():
        verify(text)


def test_killed_anywhere(whole: tuple[Place, list[int]], forks: Forks) -> None:
    finished, (events, _) = whole
    source = random.Random(8)
    place = Place(finished.folder.with_name("anywhere"), forks)
    kept: Kept = {}
    for _ in range(4):
        code, _ = forks.run(place.command(), at=source.randrange(events))
        assert code in (-signal.SIGKILL, 1)
        kept = after_a_kill(place, finished, kept)
    resumed(place, finished)


def test_killed_while_certificates_are_written(
    whole: tuple[Place, list[int]], forks: Forks
) -> None:
    finished, (_, events) = whole
    events //= sum(PROOFS.values())  # of one certificate
    source = random.Random(2)
    place = Place(finished.folder.with_name("writing"), forks)
    kept: Kept = {}
    sizes = set()
    for step in source.sample(range(8), 8):
        at = source.randrange(step * events // 8, (step + 1) * events // 8)
        code, _ = forks.run(place.command(), at, writing=True)
        assert code == -signal.SIGKILL
        kept = after_a_kill(place, finished, kept)
        sizes |= {file.stat().st_size for file in place.certificates.glob(".*")}
    assert {0} < sizes  # of files that are begun, and that are whole but for their name
    resumed(place, finished)


def test_all_processes_killed(whole: tuple[Place, list[int]], forks: Forks) -> None:
    place = Place(whole[0].folder.with_name("processes"), forks)
    pid = forks.start(place.command(jobs=2))
    deadline = time.monotonic() + 60
    while not place.kept() and time.monotonic() < deadline:
        time.sleep(0.002)
    time.sleep(random.Random(3).uniform(0, 0.02))
    os.killpg(pid, signal.SIGKILL)
    assert forks.end(pid)[0] in (-signal.SIGKILL, 1)
    after_a_kill(place, whole[0], {})
    resumed(place, whole[0])
