"""Kernels with one fault each, and certificates of false goals that they accept.

``python -m tests.audit.broken NAME FILE``, run with a package that has the fault, writes such a
certificate and prints what ``dpsym audit`` says of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from dpsym.certificates import write
from dpsym.cli import main
from dpsym.kernel.certificate import Result
from dpsym.kernel.definitions import Form
from dpsym.kernel.proofs import Proof, prove_lemma
from dpsym.kernel.rules_privacy import Multipliers
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Assumed, Fact, Guarantee, Statement
from dpsym.kernel.terms import ONE, ZERO, exp, log, num, positive_part, power, var
from dpsym.kernel.theorems import prove

x, e = var("x"), var("e")
EVIDENT = Proof("evident")


class Broken(NamedTuple):
    """A fault: in which module which text is changed, the rule to blame, and a false result."""

    module: str
    right: str
    wrong: str
    rule: str
    result: Callable[[], Result]


def side_condition() -> Result:
    """x >= 0, since x times it is a square."""
    return prove_lemma(Sequent((), Fact(x, ">=")), Proof("multiply", {"factor": x}, (EVIDENT,)))


def sign() -> Result:
    """1 - x^2 >= 0, since it is so with x^2 added."""
    goal = Sequent((), Fact(1 - power(x, 2), ">="))
    given = {"multiplier": ONE, "lemma": ("square", (x,))}
    return prove_lemma(goal, Proof("subtract", given, (EVIDENT,)))


def slope() -> Result:
    """-log(x) >= 0 for x >= 1, since it grows."""
    goal = Sequent((Fact(x - 1, ">="),), Fact(-log(x), ">="))
    given = {"name": "x", "start": ONE, "direction": 1, "from_open": False}
    return prove_lemma(goal, Proof("derive", given, (EVIDENT, EVIDENT)))


def limit() -> Result:
    """Pure DP with e is pure DP with e - 1 + x for all x > 1, so with e - 1."""
    goal = Statement(
        (("e", "real"),),
        (Fact(e - 1, ">="),),
        (Assumed((Guarantee("PureDP", (e,)),)),),
        (Guarantee("PureDP", (e - 1,), False),),
    )
    larger = {"function": "exp", "larger": e - 1 + x, "smaller": e}
    grows = Proof("monotone", larger, (EVIDENT,))
    bounded = Proof("support", {"bounds": (exp(e),)}, (EVIDENT, grows))
    given = {"name": "x", "start": ZERO, "value": e - 1 + x}
    return prove(goal, Proof("limit", given, (EVIDENT, bounded)))


def multiplier() -> Result:
    """delta <= 2 - 3 from delta <= 3, with the multiplier -1."""
    goal = Statement(
        (),
        (),
        (Assumed((Guarantee("ApproxDP", (ZERO, num(3)), False),)),),
        (Guarantee("ApproxDP", (ZERO, num(-1)), False),),
    )
    null, two, less = (Form(num(k), num(k), num(k)) for k in (0, 2, -1))
    row = Multipliers(two, null, (less,))
    kinked = Proof("cases", {"kinked": positive_part(var("$t") - 1)}, (EVIDENT, EVIDENT))
    premises = (Proof("tidy", {}, (kinked,)), EVIDENT, EVIDENT, EVIDENT)
    given = {"multipliers": (row,), "low": (ZERO, ZERO)}
    return prove(goal, Proof("tower", given, premises))


BROKEN = {
    "side_condition": Broken(
        "rules_algebra",
        "shown = [*obligations(goal.hypotheses, factor), *positive]",
        "shown = obligations(goal.hypotheses, factor)",
        "multiply",
        side_condition,
    ),
    "sign": Broken(
        "rules_algebra",
        "goal.goal.term - multiplier * fact.term",
        "goal.goal.term + multiplier * fact.term",
        "subtract",
        sign,
    ),
    "slope": Broken(
        "terms",
        '"log": lambda item, arg: power(arg, -1)',
        '"log": lambda item, arg: mul(-1, power(arg, -1))',
        "derive",
        slope,
    ),
    "limit": Broken(
        "rules_privacy",
        'with_variable(goal, name, (Fact(beyond, ">"),), weaker)',
        'with_variable(goal, name, (Fact(beyond - 1, ">"),), weaker)',
        "limit",
        limit,
    ),
    "multiplier": Broken(
        "rules_privacy",
        "        for weight in weights:\n            out += shown(given, weight)\n",
        "",
        "tower",
        multiplier,
    ),
}


def run(name: str, file: Path) -> int:
    file.write_text(write(BROKEN[name].result()), encoding="utf-8")
    return main(["audit", str(file)])


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], Path(sys.argv[2])))
