"""The files of the repository, as the tests on it read them."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "dpsym"
KERNEL = PACKAGE / "kernel"

_GENERATED = {"__pycache__", "build", "dist", "node_modules"}


def python_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def text_files() -> Iterator[Path]:
    """Everything that belongs to the repository, without what tools leave behind."""
    stack = [ROOT]
    while stack:
        for entry in sorted(stack.pop().iterdir()):
            hidden = entry.name.startswith(".") and entry.name not in {".ci", ".gitignore"}
            if hidden or entry.name in _GENERATED or entry.name.endswith(".egg-info"):
                continue
            if entry.is_dir():
                stack.append(entry)
            elif entry.suffix in {".py", ".md", ".toml", ".json", ""} or entry.name == "run":
                yield entry


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Every module that a file imports anywhere, with the line; ``from a import b`` gives a.b."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise AssertionError(f"{path}:{node.lineno}: relative import")
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def module_name(path: Path) -> str:
    """``dpsym.kernel.terms`` for ``dpsym/kernel/terms.py``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def fresh(code: str, *flags: str) -> str:
    """The output of Python code in a process of its own."""
    command = [sys.executable, *flags, "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
