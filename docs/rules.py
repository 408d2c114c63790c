"""Write the list of the kernel's rules into ``docs/inequalities.md``: ``python -m docs.rules``.

The text is that of the rules themselves: what they say, the inference, and when they fail.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from docs.marks import write
from dpsym.explaining.textbook import in_letters
from dpsym.kernel.kinds import TERM
from dpsym.kernel.lemmas import LEMMAS
from dpsym.kernel.proofs import RULES
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.terms import ZERO
from dpsym.printing import show_fact

PAGE = Path(__file__).with_name("inequalities.md")
COMMAND = "python -m docs.rules"
ORDERS = (3, 2)  # at which inequalities with an order are shown


def rules() -> str:
    """Each rule for inequalities: a heading, its text, and the inference as a block."""
    parts = []
    for name, rule in RULES.items():
        if rule.goal is Sequent:
            parameters = ", ".join(f"`{key}`" for key in rule.kinds) or "none"
            text = "\n\n".join(map(_paragraph, inspect.cleandoc(rule.text).split("\n\n")))
            parts.append(f"#### {name}\n\n{text}\n\nParameters: {parameters}.")
    return "\n\n".join(parts)


def _paragraph(text: str) -> str:
    return f"```text\n{text}\n```" if "\n---" in f"\n{text}" else text


def textbook() -> str:
    """Each textbook inequality in letters, with its conditions, as a table."""
    rows = ["| name | inequality | for |", "|---|---|---|"]
    for name, lemma in LEMMAS.items():
        for order in ORDERS:
            args = tuple(ZERO if kind is TERM else order for kind in lemma.kinds)
            found = in_letters(name, args)
            if found is not None:
                conditions = ", ".join(f"`{show_fact(fact)}`" for fact in found[0])
                row = f"| `{name}` | `{show_fact(found[1])}` | {conditions or 'all values'} |"
                rows += [] if row in rows else [row]
    return "\n".join(rows)


def section() -> str:
    """What stands between the marks."""
    return f"{rules()}\n\n#### Textbook inequalities\n\n{textbook()}"


if __name__ == "__main__":
    sys.exit(write(PAGE, COMMAND, section()))
