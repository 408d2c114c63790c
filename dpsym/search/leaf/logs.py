"""Hypotheses between two positive products, as inequalities between their logs.

From exp(A) >= c exp(B) follows A >= log(c) + B, which a linear program over A and B can use.
"""

from __future__ import annotations

from typing import Any

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import mono_term
from dpsym.kernel.proofs import Proof
from dpsym.kernel.sequents import Sequent, context, with_facts
from dpsym.kernel.statements import Fact
from dpsym.search.leaf import linear
from dpsym.search.leaf.steps import EVIDENT, evident, premises


def logarithms(sequent: Sequent) -> dict[Fact, dict[str, Any]]:
    """Facts about logs that the hypotheses imply, with the parameters of ``monotone``."""
    known = context(sequent.hypotheses)
    stated = [form for form, _ in known.forms]
    out: dict[Fact, dict[str, Any]] = {}
    for form, rel in known.forms:
        if len(form) != 2 or rel == "!=" or not any(mono[0] for mono in form):
            continue
        (first, above), (second, beneath) = sorted(form.items(), key=lambda pair: -pair[1])
        if not (above > 0 > beneath and known.canon.mono_sign(first, True)):
            continue
        if known.canon.mono_sign(second, True):
            larger, smaller = mono_term(first, above), mono_term(second, -beneath)
            difference = known.canon(tm.log(larger) - tm.log(smaller))
            if difference not in stated:
                fact = Fact(tm.log(larger) - tm.log(smaller), rel)
                out[fact] = {"function": "log", "larger": larger, "smaller": smaller}
    return out


def prove(sequent: Sequent) -> Proof | None:
    """A proof by a small linear program that also uses such facts, or None."""
    found = logarithms(sequent)
    if not found or len(found) > 6:
        return None
    every = Sequent(with_facts(sequent.hypotheses, *found), sequent.goal)
    used = _used(every, len(sequent.hypotheses))
    return None if used is None else _with(sequent, used, found)


def _solution(sequent: Sequent) -> dict[str, Any] | None:
    for attempt in (linear.simple, linear.contradiction):
        parameters = attempt(sequent, 1)
        if parameters is not None and premises(sequent, "positivstellensatz", parameters) == []:
            return parameters
    return None


def _used(sequent: Sequent, count: int) -> list[Fact] | None:
    """Those beyond the first ``count`` hypotheses that a linear program needs."""
    parameters = _solution(sequent)
    if parameters is None:
        return None
    indices = [row[1] for row in parameters["facts"] if row[0] == "hypothesis"]
    return [sequent.hypotheses[i] for i in sorted(indices) if i >= count]


def _with(sequent: Sequent, facts: list[Fact], found: dict[Fact, dict[str, Any]]) -> Proof | None:
    """State the facts one after another, then the linear program."""
    if not facts:
        parameters = _solution(sequent)
        return None if parameters is None else Proof("positivstellensatz", parameters)
    fact, *rest = facts
    left = premises(sequent, "have", {"fact": fact})
    if left is None or left[0] != Sequent(sequent.hypotheses, fact) or len(left) != 2:
        return None
    inner = premises(left[0], "monotone", found[fact])
    if inner is None or not all(evident(p.hypotheses, p.goal.term, p.goal.rel) for p in inner):
        return None
    shown = Proof("monotone", found[fact], (EVIDENT,) * len(inner))
    last = _with(left[1], rest, found)
    return last and Proof("have", {"fact": fact}, (shown, last))
