"""Write the list of noise and mechanisms into ``docs/mechanisms.md``: ``python -m docs.catalogue``.

Names, parameters, densities and sources are those of the classes themselves.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import sympy as sp

from docs.marks import write
from dpsym.mechanisms import MECHANISMS, RELATIONS
from dpsym.mechanisms.noise import NOISES, Noise

PAGE = Path(__file__).with_name("mechanisms.md")
COMMAND = "python -m docs.catalogue"


def signature(kind: type) -> str:
    """The call that makes one, with its defaults."""
    shown = []
    for name, parameter in inspect.signature(kind).parameters.items():
        default = parameter.default
        shown.append(name if default is parameter.empty else f"{name}={default}")
    return f"{kind.__name__}({', '.join(shown)})"


def density(kind: type[Noise]) -> str:
    """The density or masses of one with symbols as parameters."""
    one = kind.symbolic()
    if one is None:
        return "what its arguments say"
    x = sp.Symbol("k", integer=True) if one.integer else sp.Symbol("x", real=True)
    factor = "" if one.normalised else " up to a factor"
    return f"`{one.at(x)}`{factor}"


def noise(integer: bool) -> str:
    """The noise on the line, or on the integers."""
    rows = [
        f"| `noise.` | {'mass of k' if integer else 'density at x'} | source |",
        "|---|---|---|",
    ]
    for name in sorted(NOISES):
        kind = NOISES[name]
        if kind.integer is integer:
            rows.append(f"| `{signature(kind)}`: {kind.title} | {density(kind)} | {kind.source} |")
    return "\n".join(rows)


def mechanisms() -> str:
    rows = ["| `dp.` | what it is | source |", "|---|---|---|"]
    for name in sorted(MECHANISMS):
        kind = MECHANISMS[name]
        rows.append(f"| `{signature(kind)}` | {kind.title} | {kind.source} |")
    return "\n".join(rows)


def relations() -> str:
    return "\n".join(f"- `{name!r}`: {text}" for name, text in RELATIONS.items())


def section() -> str:
    """What stands between the marks."""
    return "\n\n".join(
        (
            "### Mechanisms",
            mechanisms(),
            "### Noise on the line",
            noise(integer=False),
            "### Noise on the integers",
            noise(integer=True),
            "### Neighbouring relations",
            relations(),
        )
    )


if __name__ == "__main__":
    sys.exit(write(PAGE, COMMAND, section()))
