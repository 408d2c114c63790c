"""Who may import whom: kernel <- search <- checking <- what people use.

The language (guarantees, mechanisms and the like) sits beside the search: it reads the kernel's
data and knows no search, and the search knows no language.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests.repo.source import KERNEL, PACKAGE, ROOT, fresh, imports, module_name, python_files, tree

FILES = python_files(PACKAGE)
each_file = pytest.mark.parametrize("path", FILES, ids=module_name)

ABOVE = {"cli", "scripts", "testing", "__main__", "__init__"}  # what people use
COMMON = {"errors", "quadrature", "version"}  # imports nothing of the package
TRANSLATION = {"translate"}  # between SymPy and the kernel's terms
CHECKING = {
    "advice",
    "bounding",
    "checking",
    "closed_forms",
    "decimals",
    "emptiness",
    "hints",
    "library",
    "measured",
    "openings",
    "recalled",
    "undefined",
    "wellformed",
}
EVIDENCE = {  # what people read of goals, proofs and witnesses; loads no SymPy but where it must
    "analytic",
    "audit",
    "certificates",
    "events",
    "explaining",
    "goals",
    "instances",
    "latex",
    "printing",
    "refutations",
    "results",
    "routes",
    "witnesses",
}
LAYERS = {
    "above",
    "checking",
    "common",
    "enclosures",
    "evidence",
    "kernel",
    "language",
    "search",
    "translation",
}
MAY_IMPORT = {
    "common": {"common"},
    "kernel": {"kernel"},
    "translation": {"kernel", "common", "translation"},
    "search": {"kernel", "search", "common", "evidence", "translation"},
    "language": {"kernel", "language", "common", "translation"},
    "enclosures": {"language", "common", "translation", "enclosures"},  # numbers of the language
    "evidence": {"kernel", "search", "evidence", "common", "translation"},
    "checking": LAYERS - {"above"},
    "above": LAYERS,
}
ASKED_LATE = {
    ("dpsym.mechanisms.base", "closed_forms"),
    ("dpsym.mechanisms.base", "enclosures"),
    ("dpsym.mechanisms.noise.base", "enclosures"),
}
DATA = {"terms", "statements", "refusal", "definitions"}  # of the kernel, for the language
DEPENDENCIES = {"click", "flint", "highspy", "mpmath", "numpy", "sympy"}
RUNS_TEXT = {"eval", "exec", "sympify", "parse_expr", "lambdify", "S", "parse_latex"}
RUNS_TEXT_MODULES = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle"}


def layer(name: str) -> str:
    """The layer of a dotted name within dpsym; the package itself stands above everything."""
    parts = name.split(".")
    part = parts[1] if len(parts) > 1 else "__init__"
    if part in ("kernel", "search", "enclosures"):
        return part
    if part in CHECKING:
        return "checking"
    if part in COMMON:
        return "common"
    if part in TRANSLATION:
        return "translation"
    if part in EVIDENCE:
        return "evidence"
    known = (PACKAGE / part).is_dir() or (PACKAGE / f"{part}.py").is_file()
    return "above" if part in ABOVE or not known else "language"


@each_file
def test_imports_go_one_way(path: Path) -> None:
    own = layer(module_name(path))
    for name, line in imports(path):
        if name.split(".")[0] == "dpsym":
            if (module_name(path), ".".join(name.split(".")[1:2])) in ASKED_LATE:
                continue
            assert layer(name) in MAY_IMPORT[own], f"{path}:{line}: {own} imports {name}"
            if own in ("language", "translation") and layer(name) == "kernel":
                assert name.split(".")[2] in DATA, f"{path}:{line}: {name}"


@each_file
def test_only_declared_dependencies(path: Path) -> None:
    for name, line in imports(path):
        top = name.split(".")[0]
        if layer(module_name(path)) == "above" and top in {"hypothesis", "pytest"}:
            continue  # the testing plug-in
        allowed = DEPENDENCIES | {"dpsym"} | sys.stdlib_module_names
        assert top in allowed, f"{path}:{line}: {name}"


@each_file
def test_no_text_is_run_as_code(path: Path) -> None:
    """No function that runs, parses or unpickles a string; ``S(...)`` is SymPy's sympify."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else None
            name = function.id if isinstance(function, ast.Name) else name
            assert name not in RUNS_TEXT, f"{path}:{node.lineno}: {name}"
        elif isinstance(node, ast.ImportFrom):
            assert not {alias.name for alias in node.names} & {"sympify", "parse_expr", "lambdify"}
    assert not {name.split(".")[0] for name, _ in imports(path)} & RUNS_TEXT_MODULES


def test_only_the_kernel_makes_theorems() -> None:
    """No module outside the kernel names what seals a theorem; refutations seal their own."""
    for path in FILES:
        if not path.is_relative_to(KERNEL):
            seals = [line for name, line in imports(path) if name == "dpsym.kernel.proofs.seal"]
            assert not seals or path == PACKAGE / "refutations.py", f"{path}: {seals}"
            private = [
                f"{path}:{line}: {name}"
                for name, line in imports(path)
                if name.startswith("dpsym.kernel.") and name.rsplit(".", 1)[1].startswith("_")
            ]
            assert not private


def test_importing_the_package_loads_no_command_line() -> None:
    loaded = fresh("import dpsym, sys; print(*sys.modules, sep='\\n')").split()
    assert "click" not in loaded
    assert "highspy" not in loaded


def test_every_folder_is_a_package() -> None:
    folders = {path.parent for path in FILES}
    assert all((folder / "__init__.py").is_file() for folder in folders)
    assert (PACKAGE / "py.typed").is_file()


def test_layers_are_told_apart() -> None:
    assert layer("dpsym") == layer("dpsym.cli.main") == layer("dpsym.check") == "above"
    assert layer("dpsym.kernel.terms.Term") == "kernel"
    assert layer("dpsym.verdicts.Proved") == "language"
    assert layer("dpsym.errors") == "common"
    assert ROOT.joinpath("pyproject.toml").is_file()
