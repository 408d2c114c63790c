"""A folder of certificates, in which a later run finds what is finished.

A proof is finished when the folder has a certificate under its theorem's name that the kernel
accepts, of the very goal that the script's claim is read as now. So the script always runs and its
claims are read again; what is left out is the search. A certificate of another claim, of an older
script say, is a proof of something else and answers nothing, and one that is cut off or altered is
refused. Refuted and unknown claims have no certificate and are looked at again.

A certificate is written under another name and renamed when it is whole.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from tempfile import NamedTemporaryFile

from dpsym.kernel.certificate import MAX_CHARACTERS, Result, verify
from dpsym.scripts.declaring import ScriptTheorem
from dpsym.scripts.outcomes import Outcome
from dpsym.verdicts import Proved

__all__ = ["CertificateFolder", "read_results", "write_whole"]


class CertificateFolder:
    """Certificates by theorem: ``script.theorem.json``, ``script.theorem.2.json``, and so on.

    Raises OSError if the folder is not there and cannot be made.

    >>> from tempfile import TemporaryDirectory
    >>> from dpsym.scripts import collect, run_all
    >>> lines = (
    ...     "import dpsym as dp",
    ...     "@dp.proved",
    ...     "def weaker(): return dp.check(dp.PureDP(1), dp.PureDP(2))",
    ... )
    >>> with TemporaryDirectory() as place:
    ...     script = Path(place, "topic.py")
    ...     _ = script.write_text("\\n".join(lines))
    ...     certificates = CertificateFolder(Path(place, "certificates"))
    ...     for _ in range(2):
    ...         for outcome in run_all(collect(script), certificates=certificates):
    ...             (file,) = certificates.files(outcome.theorem)
    ...             print(outcome.verdict, outcome.recalled, file.name)
    Proved 0 topic.weaker.json
    Proved 1 topic.weaker.json
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._written: dict[tuple[Path, str], list[Path]] = {}
        self._stems: dict[tuple[Path, str], str] = {}

    def name(self, theorems: Sequence[ScriptTheorem]) -> None:
        """Give each theorem its name in the folder: the script's and its own, with as many folders
        of the script before them as tell it from the others."""
        left, depth = list(theorems), 1
        while left:
            stems = {_key(theorem): _stem(theorem, depth) for theorem in left}
            count = Counter(stems.values())
            deepest = {_key(item) for item in left if depth > len(item.script.resolve().parts)}
            taken = set(self._stems.values())
            for key, stem in stems.items():
                if (count[stem] == 1 and stem not in taken) or key in deepest:
                    self._stems[key] = stem
            left = [theorem for theorem in left if _key(theorem) not in self._stems]
            depth += 1

    def files(self, theorem: ScriptTheorem) -> list[Path]:
        """The files with certificates of a theorem, in order. They may be of anything."""
        stem = self._stem(theorem)
        pattern = re.compile(re.escape(stem) + r"(?:\.(\d+))?\.json")
        found = []
        for path in self.folder.iterdir():
            match = pattern.fullmatch(path.name)
            if match and path.is_file():
                found.append((int(match[1] or 1), path))
        return [path for _, path in sorted(found)]

    def results(self, theorem: ScriptTheorem) -> Iterator[Result]:
        """What these files prove, without those that prove nothing."""
        return read_results(self.files(theorem))

    def keep(self, outcome: Outcome) -> None:
        """Write the certificates of an outcome, each whole or not at all; one that is there as it
        should be stays untouched. Raises OSError if that is not possible."""
        written: list[Path] = []
        self._written[_key(outcome.theorem)] = written
        for verdict in outcome.verdicts:
            if isinstance(verdict, Proved):
                number = f".{len(written) + 1}" if written else ""
                path = self.folder / f"{self._stem(outcome.theorem)}{number}.json"
                if _text(path) != verdict.certificate:
                    write_whole(path, verdict.certificate)
                written.append(path)

    def kept(self, theorem: ScriptTheorem) -> list[str]:
        """The files that have the certificates of a theorem that was run, one for each proof."""
        return [str(path) for path in self._written.get(_key(theorem), ())]

    def _stem(self, theorem: ScriptTheorem) -> str:
        return self._stems.get(_key(theorem)) or _stem(theorem, 1)


def read_results(paths: Iterable[Path]) -> Iterator[Result]:
    """What certificates prove, checked by the kernel now; nothing for one that is refused."""
    for path in paths:
        text = _text(path)
        if text is not None:
            with suppress(Exception):  # a fault of the checker is no acceptance either
                yield verify(text)


def write_whole(path: Path, text: str) -> None:
    """Write a file that is never there in part: what was there before stays until all is written.

    Raises OSError if it cannot be written; then nothing has changed.
    """
    with NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=".", suffix=".part", delete=False
    ) as stream:
        try:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
            stream.close()
            os.chmod(stream.name, 0o666 & ~_umask())
            os.replace(stream.name, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(stream.name)
            raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _text(path: Path) -> str | None:
    """What the file says, if it is text of a bounded size."""
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read(MAX_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError):
        return None
    return text if len(text) <= MAX_CHARACTERS else None


def _key(theorem: ScriptTheorem) -> tuple[Path, str]:
    return theorem.script.resolve(), theorem.name


def _stem(theorem: ScriptTheorem, depth: int) -> str:
    script = theorem.script.resolve()
    folders = script.parts[:-1]
    return ".".join((*folders[max(0, len(folders) + 1 - depth) :], script.stem, theorem.name))
