"""Parameters inside of square roots of logarithms, such as delta in sqrt(2 log(5/(4 delta)))."""

from __future__ import annotations

from typing import Any

from dpsym.kernel import canon as cn
from dpsym.kernel.sequents import context
from dpsym.kernel.statements import INTEGER, REAL, Fact, Mechanism, Statement
from dpsym.kernel.terms import Term, exp, num, power, subterms, var

__all__ = ["by_roots"]


def by_roots(goal: Statement, new: str) -> tuple[str, dict[str, Any]] | None:
    """For a parameter d in a root of c log d + e: a name for the root, that it is
    positive, then d as a function of it.

    None if there is none."""
    kinds, used = dict(goal.variables), _outside(goal)
    for root in _roots(goal):
        solved = _parameter(goal, root, used)
        if solved is None:
            continue
        name, rest, count = solved
        for known, kind in kinds.items():
            gaps = Fact(root - var(known), ">="), Fact(var(known) - root, ">=")
            if kind != INTEGER and all(gap in goal.facts for gap in gaps):
                if Fact(var(known), ">") not in goal.facts:
                    return "either", {"item": -var(known)}
                value = exp((power(var(known), 2) - rest) / num(count))
                return "equal", {"name": name, "value": value}
        return "named", {"name": new, "value": root, "kind": REAL}
    return None


def _roots(goal: Statement) -> list[Term]:
    """Square roots in the densities, the claim and the facts, without outputs and shifts."""
    items = [fact.term for fact in goal.facts]
    items += [arg for claim in goal.claims for arg in claim.args if arg is not None]
    bound: set[str | None] = set()
    for stage in goal.stages:
        for pair in stage.pairs if isinstance(stage, Mechanism) else ():
            bound |= {name for name, _ in pair.variables}
            bound |= {region.output for region in pair.regions}
            items += [density for region in pair.regions for density in (region.p, region.q)]
    found = dict.fromkeys(part for item in items for part in subterms(item) if part.op == "sqrt")
    return [root for root in found if not root.vars & bound]


def _outside(goal: Statement) -> frozenset[str]:
    """The variables of the densities, those in square roots and logarithms alone left out."""
    found: set[str] = set()

    def walk(item: Term) -> None:
        if item.op == "var":
            found.add(str(item.value))
        for arg in () if item.op in ("sqrt", "log") else item.args:
            walk(arg)

    for stage in goal.stages:
        for pair in stage.pairs if isinstance(stage, Mechanism) else ():
            for region in pair.regions:
                walk(region.p)
                walk(region.q)
    return frozenset(found)


def _parameter(goal: Statement, root: Term, used: frozenset[str]) -> tuple[str, Term, Any] | None:
    """d, e and c, if the root is that of c log d + e, e free of the real parameter d, which is not
    used elsewhere."""
    form, kinds = context(goal.facts).canon(root.args[0]), dict(goal.variables)
    for mono, count in form.items():
        log = cn.lone(mono, "log")
        name = str(log.args[0].value) if log is not None and log.args[0].op == "var" else ""
        if kinds.get(name) != REAL or name in used:
            continue
        rest = cn.to_term(cn.plus(form, {mono: count}, -1))
        if name not in rest.vars:
            return name, rest, count
    return None
