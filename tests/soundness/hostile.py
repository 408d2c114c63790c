"""Attacks on the kernel at random: false goals, hostile parameters, and what becomes of them.

``python -m tests.soundness.hostile COUNT [SEED [NAME ...]]`` makes COUNT attacks on every rule and
on every part of the kernel's arithmetic (or on those that are named), and prints a row for each:
how many were refused, how many applied (so that a premise is false), undecided (the digits do not
tell), skipped (no false goal was found), and unsound, which must be 0; each of the latter is
printed with what repeats it.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator

from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import RULES
from dpsym.kernel.sequents import Sequent
from tests.soundness import (
    hostile_forms,
    hostile_gaussian,
    hostile_leaf,
    hostile_mechanisms,
    hostile_privacy,
    hostile_stages,
)
from tests.soundness.hostile_leaf import Source
from tests.soundness.values import Undefined, Unsure

COLUMNS = ("refused", "applied", "undecided", "skipped", "UNSOUND")
assert hostile_stages.RECIPES is hostile_privacy.RECIPES  # it adds its own
Attack = Callable[[Source], tuple[str, object]]


def attacks() -> Iterator[tuple[str, Attack]]:
    """Every rule and every part, with its attack."""
    for name, rule in RULES.items():
        if name in hostile_mechanisms.RULES:
            attack = hostile_mechanisms.attack
        elif name in hostile_gaussian.RULES:
            attack = hostile_gaussian.attack
        else:
            attack = hostile_leaf.attack if rule.goal is Sequent else hostile_privacy.attack
        yield name, lambda source, name=name, attack=attack: attack(name, source)
    for name, check in hostile_forms.CHECKS.items():
        yield name, lambda source, check=check: _checked(check, source)


def _checked(check: Callable[[Source], bool], source: Source) -> tuple[str, object]:
    try:
        return ("applied" if check(source) else "UNSOUND"), None
    except Undefined:
        return "skipped", None
    except Unsure:
        return "undecided", None
    except Refusal:
        return "refused", None


def run(
    count: int, seed: int, names: list[str] | None = None
) -> Iterator[tuple[str, Counter[str], list[str]]]:
    """Name, outcomes, and the unsound ones' seeds with what was attacked."""
    for name, attack in attacks():
        if names and name not in names:
            continue
        seen: Counter[str] = Counter()
        found = []
        for number in range(count):
            outcome, case = attack(Source(f"{seed} {name} {number}"))
            seen[outcome] += 1
            if outcome == "UNSOUND":
                found.append(f"Source({f'{seed} {name} {number}'!r}): {case!r}")
        yield name, seen, found


def main(arguments: list[str]) -> int:
    count, seed = int(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 0
    started, unsound = time.process_time(), 0
    print(f"{'':28}" + "".join(f"{column:>11}" for column in COLUMNS))
    for name, seen, found in run(count, seed, arguments[2:]):
        row = "".join(f"{seen[column]:>11}" for column in COLUMNS)
        print(f"{name:28}{row}", *found, sep="\n  ", flush=True)
        unsound += len(found)
    print(f"{unsound} unsound, {time.process_time() - started:.0f} s")
    return 1 if unsound else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
