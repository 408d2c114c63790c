"""Reading proof scripts: each is run as a module of its own, which declares its theorems."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from hashlib import blake2b
from itertools import count
from os import PathLike
from pathlib import Path
from types import ModuleType

from dpsym.scripts.declaring import DECLARED, ScriptTheorem

__all__ = ["collect", "one_line"]

_fresh = count()


def collect(path: str | PathLike[str]) -> list[ScriptTheorem]:
    """The theorems of a script, or of every ``*.py`` below a folder, in the order of the text.

    Files and folders whose name starts with ``_`` or ``.`` are left out. A script that cannot be
    read, declares nothing, or declares a name twice gives an entry with ``error`` set.

    Raises FileNotFoundError if there is no such path.
    """
    top = Path(path)
    if not top.exists():
        raise FileNotFoundError(f"no file or folder {top}")
    scripts = _scripts(top) if top.is_dir() else [top]
    return [theorem for script in scripts for theorem in _read(script)]


def _scripts(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(("_", ".")):
            continue
        if entry.is_dir():
            yield from _scripts(entry)
        elif entry.suffix == ".py":
            yield entry


def _read(script: Path) -> list[ScriptTheorem]:
    try:
        module = _load(script)
    except (Exception, SystemExit) as error:
        return [_failed(script, one_line(error, script))]
    theorems: list[ScriptTheorem] = getattr(module, DECLARED, [])
    if not theorems:
        return [_failed(script, "the script declares no theorem with @proved or @refuted")]
    names = [theorem.name for theorem in theorems]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        return [_failed(script, f"declared more than once: {', '.join(twice)}")]
    return theorems


def _load(script: Path) -> ModuleType:
    """Run a script as a module of its own, under a name that nothing else has."""
    mark = blake2b(str(script.resolve()).encode(), digest_size=6).hexdigest()
    name = f"dpsym_script_{script.stem}_{mark}_{next(_fresh)}"
    spec = importlib.util.spec_from_file_location(name, script)
    if spec is None or spec.loader is None:
        raise ImportError("not a Python file (its name does not end in .py)")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and the like look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _failed(script: Path, error: str) -> ScriptTheorem:
    return ScriptTheorem(name=f"({script.name})", script=script, error=error)


def one_line(error: BaseException, script: Path) -> str:
    """The error on one line, with the script's own line where there is one."""
    said = " ".join(str(error).split())
    shown = f"{type(error).__name__}: {said}" if said else type(error).__name__
    if len(shown) > 400:
        shown = f"{shown[:397]}..."
    if isinstance(error, SyntaxError):  # it already says file and line
        return shown
    line = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(script):
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"{shown} ({script.name}, line {line})" if line else shown
