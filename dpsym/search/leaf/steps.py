"""Kernel steps as the search uses them, and what it reads off a sequent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import UNIT, Monomial, Poly, mono_term
from dpsym.kernel.proofs import Proof, step
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Facts, Sequent, context
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term

EVIDENT = Proof("evident")
HARD = ("log", "erfc", "atan")  # functions whose derivatives are simpler than they are


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
