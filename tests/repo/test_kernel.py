"""What has to hold of the trusted part as text: its imports, its size, what it does not use."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from benchmarks.code_lines import code_lines, kernel_lines
from tests.repo.source import KERNEL, PACKAGE, fresh, imports, module_name, python_files, tree

FILES = python_files(KERNEL)
# trusted for refutations alone
BESIDE = ("analytic", "events", "instances", "quadrature", "refutations")
TRUSTED = [*FILES, *(PACKAGE / f"{name}.py" for name in BESIDE)]
MOST_LINES = 3250

pytestmark = pytest.mark.skipif(not FILES, reason="no kernel")
each_file = pytest.mark.parametrize("path", TRUSTED, ids=module_name)


@each_file
def test_imports_are_standard_library_flint_and_itself(path: Path) -> None:
    kept = ("kernel",) if path in FILES else ("kernel", *BESIDE)
    for name, line in imports(path):
        top = name.split(".")[0]
        own = any(f"{name}.".startswith(f"dpsym.{part}.") for part in kept)
        assert own or top == "flint" or top in sys.stdlib_module_names, f"{path}:{line}: {name}"


@each_file
def test_no_side_condition_vanishes_when_optimised(path: Path) -> None:
    for node in ast.walk(tree(path)):
        assert not isinstance(node, ast.Assert), f"{path}:{node.lineno}: assert"
        debug = isinstance(node, ast.Name) and node.id == "__debug__"
        assert not debug, f"{path}: __debug__"


@each_file
def test_no_float(path: Path) -> None:
    for node in ast.walk(tree(path)):
        inexact = isinstance(node, ast.Constant) and isinstance(node.value, (float, complex))
        assert not inexact, f"{path}:{node.lineno}: {ast.unparse(node)}"
        called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        assert not (called and node.func.id == "float"), f"{path}:{node.lineno}: float()"


@each_file
def test_no_code_from_data(path: Path) -> None:
    """Nothing that runs, imports or unpickles what it is given, and no patching of others."""
    forbidden = {"eval", "exec", "compile", "__import__", "globals", "open", "print", "input"}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in forbidden, f"{path}:{node.lineno}: {node.func.id}"
    tops = {name.split(".")[0] for name, _ in imports(path)}
    assert not tops & {"pickle", "marshal", "shelve", "importlib", "subprocess", "os", "ctypes"}


@each_file
def test_no_line_is_longer_than_it_counts_for(path: Path) -> None:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        assert len(line) <= 100, f"{path}:{number}"


def test_size() -> None:
    counts = kernel_lines()
    assert sum(counts.values()) <= MOST_LINES, counts


def test_every_module_is_counted() -> None:
    assert set(kernel_lines()) == {path.relative_to(KERNEL).as_posix() for path in FILES}


def test_count_leaves_out_blanks_comments_and_docstrings() -> None:
    source = (
        '"""Text.\n\nMore."""\n\n# comment\nx = 1  # one\n\n\n'
        'def f():\n    "Doc."\n    return """a\nb"""\n'
    )
    assert code_lines(source) == 4  # x, def, and the two lines of the string


def test_loads_neither_sympy_nor_mpmath_nor_numpy() -> None:
    loaded = fresh("import dpsym.kernel.certificate, sys; print(*sys.modules, sep='\\n')")
    tops = {name.split(".")[0] for name in loaded.split()}
    assert not tops & {"sympy", "mpmath", "numpy", "scipy", "highspy", "click"}
    beside = {name for name in loaded.split() if name.startswith("dpsym.")}
    assert all(name.split(".")[1] in ("kernel", "version") for name in beside), beside


def test_command_line_verifies_without_sympy(tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    file.write_text("{}", encoding="utf-8")
    code = (
        "import sys; from dpsym.cli import main; "
        f"code = main(['verify', {str(file)!r}]); print(code); print(*sys.modules, sep='\\n')"
    )
    lines = fresh(code).splitlines()
    assert "1" in lines[:3], lines[:3]  # refused, so the checker did run
    assert "dpsym.kernel.certificate" in lines
    tops = {line.split(".")[0] for line in lines}
    assert not tops & {"sympy", "mpmath", "numpy", "scipy", "highspy"}


def test_loads_without_asserts_and_docstrings() -> None:
    assert fresh("import dpsym.kernel.certificate; print('ok')", "-OO").strip() == "ok"
