"""How many lines of code a Python file has: without blanks, comments and docstrings."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

KERNEL = Path(__file__).resolve().parent.parent / "dpsym" / "kernel"

_NOT_CODE = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
)


def code_lines(source: str) -> int:
    """The number of lines that hold code; each line of a string that is not a docstring counts.

    >>> code_lines('''
    ... "A module."
    ... # a comment
    ... def f(x):  # another
    ...     "What f does."
    ...
    ...     return (
    ...         x
    ...     )
    ... ''')
    4
    """
    docstrings = set(_docstring_lines(ast.parse(source)))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def kernel_lines() -> dict[str, int]:
    """The count of every module of the kernel."""
    return {
        path.relative_to(KERNEL).as_posix(): code_lines(path.read_text(encoding="utf-8"))
        for path in sorted(KERNEL.rglob("*.py"))
    }


def _docstring_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                yield from range(first.lineno, (first.end_lineno or first.lineno) + 1)
