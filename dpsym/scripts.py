"""Proof scripts: ordinary Python modules with one decorated function a theorem.

::

    @proved(source="Dwork & Roth 2014, Theorem 3.14")
    def pure_dp_composes():
        '''The epsilons of pure differential privacy add up.'''
        return dp.check(dp.compose(dp.PureDP(e1), dp.PureDP(e2)), dp.PureDP(e1 + e2))

    @refuted
    def pure_dp_composes_to_the_larger():
        return dp.check(dp.compose(dp.PureDP(e1), dp.PureDP(e2)), dp.PureDP(Max(e1, e2)))

The decorator records what is expected and does no work. The function returns a verdict, or several
in a list or tuple, all of which have to come out as the decorator says. ``collect`` reads scripts,
``run`` runs one theorem; ``dpsym prove`` does both. A script is code and is run as such: read
a stranger's script before running it, or re-check its certificates instead, which runs nothing.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import count
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, overload

from dpsym.errors import ScriptError
from dpsym.verdicts import Proved, Refuted, Verdict

__all__ = ["Outcome", "ScriptTheorem", "collect", "proved", "refuted", "run"]

Body = Callable[[], Any]
F = TypeVar("F", bound=Body)

_DECLARED = "__dpsym_theorems__"  # a script's own list, in the order of its text
_fresh = count()


@dataclass(frozen=True)
class ScriptTheorem:
    """One theorem of a script, not yet run.

    ``expected`` is the class of verdict that the script says; ``error`` is set, and ``body`` None,
    where the script itself could not be read.
    """

    name: str
    script: Path
    line: int = 0
    expected: type[Verdict] = Proved
    source: str = ""
    summary: str = ""
    body: Body | None = field(default=None, repr=False)
    error: str = ""


@dataclass(frozen=True)
class Outcome:
    """How a theorem came out. ``seconds`` is wall-clock time, ``certificate_bytes`` the sum."""

    theorem: ScriptTheorem
    verdicts: tuple[Verdict, ...] = ()
    seconds: float = 0.0
    rules: int = 0
    certificate_bytes: int = 0
    postulates: tuple[str, ...] = ()
    error: str = ""

    @property
    def as_expected(self) -> bool:
        """Whether every verdict is what the script says, with no error and at least one verdict."""
        expected = self.theorem.expected
        return (
            not self.error
            and bool(self.verdicts)
            and all(isinstance(verdict, expected) for verdict in self.verdicts)
        )

    @property
    def verdict(self) -> str:
        """The verdict's name; several different ones joined by ``+``; ``Error``."""
        if self.error:
            return "Error"
        return " + ".join(dict.fromkeys(type(verdict).__name__ for verdict in self.verdicts))


@overload
def proved(body: F, /) -> F: ...
@overload
def proved(*, source: str = ...) -> Callable[[F], F]: ...
def proved(body: F | None = None, /, *, source: str = "") -> F | Callable[[F], F]:
    """Declare a theorem whose verdicts have to be ``Proved``; ``source`` is where it stands.

    Raises ScriptError if what is decorated is not a function without parameters.

    >>> @proved(source="Dwork & Roth 2014, Theorem 3.14")
    ... def pure_dp_composes():
    ...     '''The epsilons add up.'''
    """
    return _declare(Proved, body, source)


@overload
def refuted(body: F, /) -> F: ...
@overload
def refuted(*, source: str = ...) -> Callable[[F], F]: ...
def refuted(body: F | None = None, /, *, source: str = "") -> F | Callable[[F], F]:
    """Declare a claim whose verdicts have to be ``Refuted``, each by a witness.

    Raises ScriptError if what is decorated is not a function without parameters.
    """
    return _declare(Refuted, body, source)


def _declare(expected: type[Verdict], body: F | None, source: str) -> F | Callable[[F], F]:
    if not isinstance(source, str):
        raise ScriptError(f"source is a text, not {source!r}")

    def declare(function: F) -> F:
        if not inspect.isfunction(function) or inspect.signature(function).parameters:
            raise ScriptError(f"a theorem is a function without parameters, not {function!r}")
        theorem = ScriptTheorem(
            name=function.__name__,
            script=Path(function.__code__.co_filename),
            line=function.__code__.co_firstlineno,
            expected=expected,
            source=source,
            summary=(inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " "),
            body=function,
        )
        function.__globals__.setdefault(_DECLARED, []).append(theorem)
        return function

    return declare if body is None else declare(body)


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


def run(theorem: ScriptTheorem) -> Outcome:
    """Run one theorem. An error in it is part of the outcome, never raised."""
    if theorem.body is None:
        return Outcome(theorem, error=theorem.error or "the script could not be read")
    start = time.perf_counter()
    try:
        returned = theorem.body()
        seconds = time.perf_counter() - start
        verdicts = _verdicts(returned)
        proofs = [verdict for verdict in verdicts if isinstance(verdict, Proved)]
        return Outcome(
            theorem,
            verdicts,
            seconds,
            rules=sum(sum(proof.theorem.rules().values()) for proof in proofs),
            certificate_bytes=sum(len(proof.certificate.encode()) for proof in proofs),
            postulates=tuple(
                dict.fromkeys(item for proof in proofs for item in proof.theorem.postulates)
            ),
        )
    except (Exception, SystemExit) as error:
        return Outcome(
            theorem, seconds=time.perf_counter() - start, error=_one_line(error, theorem.script)
        )


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
        return [_failed(script, _one_line(error, script))]
    theorems: list[ScriptTheorem] = getattr(module, _DECLARED, [])
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


def _verdicts(returned: object) -> tuple[Verdict, ...]:
    verdicts: Iterable[object] = returned if isinstance(returned, (list, tuple)) else [returned]
    checked = tuple(item for item in verdicts if isinstance(item, Verdict))
    wrong = [item for item in verdicts if not isinstance(item, Verdict)]
    if wrong:
        kind = type(wrong[0]).__name__
        raise ScriptError(f"a theorem returns a verdict or a list of verdicts, not {kind}")
    if not checked:
        raise ScriptError("a theorem returns at least one verdict, not an empty list")
    return checked


def _one_line(error: BaseException, script: Path) -> str:
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
