"""Kernel steps as the search uses them, and what it reads off a sequent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import UNIT, Monomial, Poly, mono_term, to_term
from dpsym.kernel.proofs import Proof, step
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Facts, Sequent, context
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term

EVIDENT = Proof("evident")
HARD = ("log", "erfc", "atan")  # functions whose derivatives are simpler than they are


def completed_squares(form: Poly, names: Iterable[str]) -> list[tuple[Term, Term]]:
    """``a, u`` with form = a u^2 + a rest without the variable, for forms a x^2 + b x + c."""
    out = []
    for name in names:
        x = tm.var(name)
        parts: dict[int, Poly] = {0: {}, 1: {}, 2: {}}
        for mono, value in form.items():
            count = dict(mono[1]).get(x, 0)
            rest = (mono[0], mono[1] - {(x, count)})
            if count not in parts or name in mono_term(rest).vars:
                break
            parts[count][rest] = value
        else:
            if parts[1] and parts[2]:
                a, b = to_term(parts[2]), to_term(parts[1])
                out.append((a, x + b / (2 * a)))
    return out


def premises(sequent: Sequent, rule: str, parameters: dict[str, Any]) -> list[Sequent] | None:
    """The premises of a step, or None where the kernel refuses it."""
    try:
        return step(sequent, rule, parameters)  # type: ignore[return-value]
    except (Refusal, ArithmeticError, RecursionError):
        return None


def evident(hypotheses: Facts, item: Term, rel: str = ">=") -> bool:
    """Whether the kernel sees the sign of the term."""
    try:
        return context(hypotheses).evident(Fact(item, rel))
    except (Refusal, ArithmeticError, RecursionError):
        return False


def form_of(sequent: Sequent) -> Poly:
    """The canonical form of the goal under the hypotheses; may raise Refusal."""
    return context(sequent.hypotheses).canon(sequent.goal.term)


def kinks(items: Iterable[Term]) -> list[Term]:
    """Kinked terms without kinked terms inside, each once, in a fixed order."""
    found = {
        part
        for item in items
        if item.kinked
        for part in tm.subterms(item)
        if part.op in tm.KINKED and not any(arg.kinked for arg in part.args)
    }
    return sorted(found, key=lambda part: part.key)


def exponentials(form: Poly) -> list[Any]:
    """The exponents of the form's monomials, each once, in a fixed order."""
    found = {mono[0] for mono in form if mono[0]}
    return sorted(found, key=lambda inner: mono_term((inner, frozenset())).key)


def atoms(form: Poly) -> list[Term]:
    """The atoms of the form, in a fixed order."""
    return sorted({item for mono in form for item, _ in mono[1]}, key=lambda item: item.key)


def coefficient(form: Poly, item: Term) -> Poly:
    """What multiplies the first power of an atom."""
    out: Poly = {}
    for mono, value in form.items():
        if (item, 1) in mono[1]:
            out[mono[0], mono[1] - {(item, 1)}] = value
    return out


def by_powers(form: Poly, item: Term) -> dict[int, Poly]:
    """What multiplies each power of an atom."""
    out: dict[int, Poly] = {}
    for mono, value in form.items():
        for part, count in mono[1]:
            if part is item and count > 0:
                out.setdefault(count, {})[mono[0], mono[1] - {(item, count)}] = value
    return out


def is_constant(form: Poly) -> bool:
    return not form or set(form) == {UNIT}


def mono_of(item: Term, power: int = 1) -> Monomial:
    return frozenset(), frozenset([(item, power)])


def fresh(name: str, used: frozenset[str]) -> str:
    """A name like this one that is not used."""
    name = name.rstrip("'")
    while name in used:
        name += "'"
    return name


def number_of(form: Poly) -> fmpq | None:
    """The value of a constant form."""
    if not form:
        return fmpq(0)
    return form[UNIT] if set(form) == {UNIT} else None
