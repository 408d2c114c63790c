"""How the search gives up: the time over its budget, memory, and what it leaves to prove.

Each inequality of ``tests/data/hard.json`` runs in a process of its own with each budget. ``over``
is the CPU time beyond the budget, in percent of it; ``goals`` are those that are left, and ``cost``
how long they are to read, in percent of the claim (``dpsym.search.leaf.frontier.cost``).
"""

from __future__ import annotations

import argparse
import importlib
import resource
import sys
import time
from dataclasses import dataclass

import dpsym as dp
from benchmarks.leaf import apart
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact
from dpsym.openings import OpenGoal
from tests.data import Case, inequalities

ALLOWED = 20  # percent over the budget
_WARM = ("dpsym.search.leaf.prover", "dpsym.search.leaf.counterexample", "highspy")


@dataclass(frozen=True)
class Outcome:
    """What became of one inequality with one budget."""

    verdict: str
    seconds: float
    megabytes: float
    goals: int = 0
    cost: int = 0


def decide(case: Case, budget: float) -> Outcome:
    lhs, rhs, where = case.read()
    start = time.process_time()
    verdict = dp.check_inequality(lhs, rhs, where=where, strict=case.strict, budget=budget)
    seconds = time.process_time() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    name = type(verdict).__name__
    if not isinstance(verdict, dp.Unknown):
        return Outcome(name, seconds, megabytes)
    from dpsym.search.leaf.frontier import cost

    left = [item for item in verdict.remaining if isinstance(item, OpenGoal)]
    if not left:
        return Outcome(name, seconds, megabytes)
    scope = left[0].scope
    claim = Sequent(tuple(scope.facts), Fact(scope.term(rhs, "rhs") - scope.term(lhs, "lhs"), ">="))
    total = sum(cost(item.sequent, claim) for item in left)
    return Outcome(name, seconds, megabytes, len(left), 100 * total // cost(claim, claim))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.budget", description=__doc__)
    parser.add_argument("--budgets", default="1,3,10", help="CPU seconds, with commas")
    parser.add_argument("--only", nargs="+", metavar="ID", help="these cases only")
    options = parser.parse_args()
    budgets = [float(text) for text in options.budgets.split(",")]
    cases = inequalities("hard.json")
    for module in _WARM:
        importlib.import_module(module)
    worst: dict[float, float] = dict.fromkeys(budgets, -100.0)
    print("budget  verdict    over   memory  goals  cost  case")
    for key in options.only or cases:
        for budget in budgets:
            found, _ = apart(decide, cases[key], budget, seconds=2 * budget + 10)
            over = 100 * (found.seconds / budget - 1)
            worst[budget] = max(worst[budget], over)
            print(
                f"{budget:5g}   {found.verdict:8} {over:5.0f} % {found.megabytes:5.0f} MB"
                f"  {found.goals:5} {found.cost:5}  {key}",
                flush=True,
            )
            if found.verdict != "Unknown":
                break
    for budget, over in worst.items():
        print(f"worst with {budget:g} s: {max(over, 0):.0f} % over")
    return 1 if max(worst.values()) > ALLOWED else 0


if __name__ == "__main__":
    sys.exit(main())
