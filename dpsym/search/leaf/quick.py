"""Proofs of easy goals in a few milliseconds, without numpy: signs, cases, small exact programs."""

from __future__ import annotations

from typing import Any

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Poly, constant, lone, to_term
from dpsym.kernel.proofs import Proof
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules_logic import branches
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term
from dpsym.search.leaf import hinges, linear, logs
from dpsym.search.leaf.budget import Budget
from dpsym.search.leaf.steps import (
    EVIDENT,
    completed_squares,
    evident,
    form_of,
    fresh,
    kinks,
    premises,
)

_DEPTH = 9
_HIGH = 3  # degree, below which products of two facts are enough


def prove(sequent: Sequent, budget: Budget) -> Proof | None:
    """A proof found without branching over choices, or None. May raise OutOfBudget."""
    try:
        return _Quick(budget).prove(sequent, _DEPTH)
    except (Refusal, RecursionError):
        return None


class _Quick:
    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.failed: set[Sequent] = set()

    def prove(self, sequent: Sequent, depth: int) -> Proof | None:
        self.budget.check()
        if evident(sequent.hypotheses, sequent.goal.term, sequent.goal.rel):
            return EVIDENT
        if depth <= 0 or sequent in self.failed:
            return None
        try:
            found = self.attempt(sequent, depth)
        except (Refusal, ArithmeticError):
            found = None
        if found is None:
            self.failed.add(sequent)
        return found

    def by(
        self, sequent: Sequent, rule: str, parameters: dict[str, Any], depth: int
    ) -> Proof | None:
        """A proof that starts with this step."""
        left = premises(sequent, rule, parameters)
        if left is None:
            return None
        proofs = []
        for premise in left:
            found = self.prove(premise, depth - 1)
            if found is None:
                return None
            proofs.append(found)
        return Proof(rule, parameters, tuple(proofs))

    def attempt(self, sequent: Sequent, depth: int) -> Proof | None:
        goal = sequent.goal
        if goal.rel == "!=":
            for sign in (1, -1):
                found = self.by(sequent, "nonzero", {"sign": sign}, depth)
                if found is not None:
                    return found
            return None
        found = self.in_odds(sequent)
        if found is not None:
            return found
        tidied = context(sequent.hypotheses).tidy(goal)
        if tidied != goal:
            known = context(sequent.hypotheses)
            whole = comparison(sequent, known.canon(goal.term))  # before a sum is multiplied out
            if whole is not None and len(known.canon(tidied.term)) > 2:
                found = self.by(sequent, "monotone", whole, depth)
                if found is not None:
                    return found
            return self.by(sequent, "tidy", {}, depth)
        form = form_of(sequent)
        for item in unsigned_denominators(sequent, form):
            for sign in (1, -1):
                fact = Fact(sign * item, ">")
                if self.prove(Sequent(sequent.hypotheses, fact), 3) is not None:
                    return self.by(sequent, "have", {"fact": fact}, depth)
            return None
        found = self.compare(sequent, form, depth)
        if found is not None or (len(form) == 2 and not _any_kinks(sequent)):
            return found
        for a, inside in completed_squares(form, sorted(goal.term.vars)):
            if evident(sequent.hypotheses, a, ">"):
                step = {"multiplier": a, "lemma": ("square", (inside,))}
                found = self.by(sequent, "subtract", step, min(depth, 3))
                if found is not None:
                    return found
        return self.kinked(sequent, depth) if _any_kinks(sequent) else self.linear(sequent)

    def in_odds(self, sequent: Sequent) -> Proof | None:
        """For a polynomial in x between 0 and 1."""
        form = form_of(sequent)
        for name in sorted(sequent.goal.term.vars):
            x = tm.var(name)
            inside = all(evident(sequent.hypotheses, side, ">=") for side in (x, 1 - x))
            found = in_odds(sequent, name) if inside and _degree(form, x) >= _HIGH else None
            if found is not None:
                return found
        return None

    def linear(self, sequent: Sequent) -> Proof | None:
        for attempt in (linear.simple, linear.contradiction):
            for degree in (1, 2):
                found = attempt(sequent, degree)
                if found is not None and premises(sequent, "positivstellensatz", found) == []:
                    return Proof("positivstellensatz", found)
        return logs.prove(sequent)

    def compare(self, sequent: Sequent, form: Poly, depth: int) -> Proof | None:
        parameters = comparison(sequent, form)
        if parameters is None:
            return self.linear(sequent) if len(form) == 2 else None
        return self.by(sequent, "monotone", parameters, depth) or (
            self.linear(sequent) if not _any_kinks(sequent) else None
        )

    def kinked(self, sequent: Sequent, depth: int) -> Proof | None:
        for kinked in kinks([sequent.goal.term]):
            condition, _, _ = branches(kinked)
            for sign in (1, -1):
                rel = ">" if kinked.op == "ite" and sign == -1 else ">="
                if evident(sequent.hypotheses, sign * condition, rel):
                    return self.by(sequent, "branch", {"kinked": kinked, "sign": sign}, depth)
        if depth > 2:
            for parameters in hinges.candidates(sequent, hinges.evident_sign):
                found = self.by(sequent, "vertex", parameters, depth - 1)
                if found is not None:
                    return found
                break
        inner = kinks([fact.term for fact in (*sequent.hypotheses, sequent.goal)])
        if not inner:
            return None
        first = kinks([sequent.goal.term]) or inner
        return self.by(sequent, "cases", {"kinked": first[0]}, depth)


def in_odds(sequent: Sequent, name: str, near: bool = False) -> Proof | None:
    """With x in (0, 1] as 1/(1 + u): a polynomial all of whose coefficients become positive. The
    same of 1 - x ``near`` 0, if x may be 0."""
    x, used = tm.var(name), sequent.vars
    if not evident(sequent.hypotheses, x, ">"):
        if not near:
            half = {"item": x - tm.num(fmpq(1, 2))}
            sides = [in_odds(one, name, True) for one in premises(sequent, "split", half) or ()]
            known = tuple(one for one in sides if one is not None)
            return Proof("split", half, known) if len(known) == 2 else None
        new = fresh("v", used)
        mirror = {"name": name, "kind": "negate", "new": new, "item": tm.ONE}
        other = _only(sequent, "change", mirror)
        if other is None or not evident(other.hypotheses, tm.var(new), ">"):
            return None
        found = in_odds(other, new)
        return found and Proof("change", mirror, (found,))
    v, u = fresh("v", used), fresh("u", used)
    first = {"name": name, "kind": "inverse", "new": v, "item": tm.ONE}
    second = {"name": v, "kind": "shift", "new": u, "item": tm.ONE}
    one = _only(sequent, "change", first)
    two = one and _only(one, "change", second)
    last = two and _only(two, "tidy", {})
    if not last or not evident(last.hypotheses, last.goal.term, last.goal.rel):
        return None
    inner = Proof("change", second, (Proof("tidy", {}, (EVIDENT,)),))
    return Proof("change", first, (inner,))


def unsigned_denominators(sequent: Sequent, form: Poly) -> list[Term]:
    """Sums below the line whose sign is not evident, in a fixed order."""
    canon = context(sequent.hypotheses).canon
    _, below = canon.together(form)
    return sorted((a for a in below if not canon.is_positive(a)), key=lambda item: item.key)


def _any_kinks(sequent: Sequent) -> bool:
    return sequent.goal.term.kinked or any(fact.term.kinked for fact in sequent.hypotheses)


def comparison(sequent: Sequent, form: Poly) -> dict[str, Any] | None:
    """The goal c1 e^A m1 - c2 e^B m2 as exp(A + log(c1 m1)) - exp(B + log(c2 m2)), and sqrt(A) > 0
    as sqrt(A) - sqrt(0)."""
    root = lone(next(iter(form)), "sqrt") if len(form) == 1 else None
    if root is not None and sequent.goal.rel == ">" and min(form.values()) > 0:
        return {"function": "sqrt", "larger": root.args[0], "smaller": tm.ZERO}
    if len(form) != 2:
        return None
    (first, above), (second, beneath) = sorted(form.items(), key=lambda pair: -pair[1])
    if not (above > 0 and beneath < 0) or not (first[0] or second[0]):
        return None
    canon = context(sequent.hypotheses).canon
    if not (canon.mono_sign(first, True) and canon.mono_sign(second, True)):
        return None
    sides: list[Term] = []
    for mono, value in ((first, above), (second, -beneath)):
        side = to_term(dict(mono[0]))
        rest: Poly = {(frozenset(), mono[1]): value}
        if rest != constant(1):
            side = side + tm.log(to_term(rest))
        sides.append(side)
    return {"function": "exp", "larger": sides[0], "smaller": sides[1]}


def _only(sequent: Sequent, rule: str, parameters: dict[str, Any]) -> Sequent | None:
    """The premise of a step that leaves one."""
    left = premises(sequent, rule, parameters) or []
    return left[0] if len(left) == 1 else None


def _degree(form: Poly, x: Term) -> int:
    return max((dict(mono[1]).get(x, 0) for mono in form), default=0)
