"""Certificates of the proof scripts, stored so that tests need not search for the proofs again.

``python -m tests.audit.stored [SCRIPT...]`` writes those of the scripts that have changed (or that
are named) anew. A file is one script's: the digest of its text, and its theorems' certificates.
"""

from __future__ import annotations

import gzip
import json
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from dpsym.scripts import collect, run
from dpsym.verdicts import Proved
from tests.repo.source import ROOT

PROOFS = ROOT / "proofs"
MORE = Path(__file__).with_name("rules.py")
FOLDER = ROOT / "tests" / "data" / "certificates"


@dataclass(frozen=True)
class Stored:
    digest: str
    theorems: dict[str, list[str]]


def scripts() -> list[Path]:
    """The proof scripts, and one for the rules that they do not use."""
    return [*sorted(PROOFS.rglob("*.py")), MORE]


def digest(script: Path) -> str:
    return sha256(script.read_bytes()).hexdigest()


def file_of(script: Path) -> Path:
    if script == MORE:
        return FOLDER / "of_rules.json.gz"
    return FOLDER / f"{'.'.join(script.relative_to(PROOFS).with_suffix('').parts)}.json.gz"


def read(script: Path) -> Stored:
    return Stored(**json.loads(gzip.decompress(file_of(script).read_bytes())))


def write(script: Path) -> None:
    theorems = {}
    for theorem in collect(script):
        outcome = run(theorem)
        assert outcome.as_expected, (theorem.name, outcome.verdict, outcome.error)
        proofs = [v.certificate for v in outcome.verdicts if isinstance(v, Proved)]
        if proofs:
            theorems[theorem.name] = proofs
    text = json.dumps({"digest": digest(script), "theorems": theorems}, indent=1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    file_of(script).write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{file_of(script).relative_to(ROOT)}: {sum(map(len, theorems.values()))} certificates")


def main(arguments: list[str]) -> None:
    known = [Path(name).resolve() for name in arguments] or [
        script
        for script in scripts()
        if not file_of(script).is_file() or read(script).digest != digest(script)
    ]
    for script in known:
        write(script)
    current = {file_of(script) for script in scripts()}
    for file in set(FOLDER.glob("*.json.gz")) - current:
        file.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
