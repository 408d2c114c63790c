"""Write the sizes, rules and assumptions into ``TRUST.md``: ``python -m docs.trust``."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks.code_lines import KERNEL, code_lines, kernel_lines
from docs.marks import write
from dpsym.kernel.definitions import DEFINITIONS
from dpsym.kernel.lemmas import LEMMAS
from dpsym.kernel.proofs import RULES
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.theorems import Theorem  # noqa: F401 - registers the rules of the calculus
from dpsym.results import Result

PACKAGE = KERNEL.parent
PAGE = PACKAGE.parent / "TRUST.md"
COMMAND = "python -m docs.trust"
BESIDE = {
    "the translation": ("translate.py",),
    "the goal's text": ("goals.py", "printing.py"),
    "refutations": ("refutations.py", "instances.py", "events.py", "analytic.py", "quadrature.py"),
    "enclosures": ("enclosures",),
}


def _summary(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).rstrip(".")


def _lines(names: Iterable[str]) -> int:
    files = [
        file
        for name in names
        for file in ([PACKAGE / name] if name.endswith(".py") else (PACKAGE / name).rglob("*.py"))
    ]
    return sum(code_lines(file.read_text(encoding="utf-8")) for file in files)


def sizes() -> str:
    """Lines of code of each module of the kernel, and of what else is trusted."""
    counts = kernel_lines()
    rows = ["| module of the kernel | lines | what it has |", "|---|---|---|"]
    for name, count in counts.items():
        if count:
            rows.append(f"| `{name}` | {count} | {_summary(KERNEL / name)} |")
    rows.append(f"| all of it | {sum(counts.values())} | |")
    rows += ["", "| trusted for | lines | files |", "|---|---|---|"]
    for what, names in BESIDE.items():
        shown = ", ".join(f"`{name}`" if name.endswith(".py") else f"`{name}/`" for name in names)
        rows.append(f"| {what} | {_lines(names)} | {shown} |")
    return "\n".join(rows)


def rules() -> str:
    """The names of all rules, of inequalities and guarantees by module."""
    parts = []
    for inequality, title in ((True, "inequalities"), (False, "mechanisms")):
        found = [rule for rule in RULES.values() if (rule.goal is Sequent) == inequality]
        rows = [f"{len(found)} rules for {title}, each with its text in the module:", ""]
        modules = dict.fromkeys(rule.apply.__module__ for rule in found)
        for module in modules:
            names = [f"`{rule.name}`" for rule in found if rule.apply.__module__ == module]
            rows.append(f"- `{module.replace('.', '/')}.py`: {', '.join(sorted(names))}")
        parts.append("\n".join(rows))
    lemmas = ", ".join(f"`{name}`" for name in LEMMAS)
    parts.append(f"{len(LEMMAS)} textbook inequalities that rules take as facts: {lemmas}.")
    notions = ", ".join(f"`{name}`" for name in DEFINITIONS)
    parts.append(f"{len(DEFINITIONS)} definitions: {notions}.")
    return "\n\n".join(parts)


def postulates() -> str:
    """What proofs assume without proof."""
    assumed = Result.postulates.fget(None)  # type: ignore[attr-defined]
    named = ", ".join(assumed) if assumed else "none"
    return f"Postulates, that is facts that a proof may assume without proof: {named}."


def section() -> str:
    """What stands between the marks."""
    return f"{sizes()}\n\n{rules()}\n\n{postulates()}"


if __name__ == "__main__":
    sys.exit(write(PAGE, COMMAND, section()))
