"""Functions of two densities, and densities, as the search sees them."""

from __future__ import annotations

from collections.abc import Mapping

from dpsym.kernel.definitions import Form
from dpsym.kernel.sequents import Facts, context
from dpsym.kernel.statements import RATIO
from dpsym.kernel.terms import ONE, ZERO, Term, add, derivative, mul, num, substitute, subterms

__all__ = ["folded", "low"]


def low(form: Form, facts: Facts) -> tuple[Term, Term]:
    """A linear function below phi: its tangent at 1 if it is smooth, else zero."""
    if form.f.kinked:
        return ZERO, ZERO
    at_one: Mapping[str, Term] = {RATIO: ONE}
    if form.at_p is None and form.at_q is ZERO and form.f.op == "exp":
        return ZERO, ZERO
    normal = context(facts).canon.normal
    slope = normal(substitute(derivative(form.f, RATIO), at_one))
    return slope, normal(substitute(form.f, at_one) - slope)


def folded(item: Term) -> Term:
    """The same term with its numbers added up and multiplied out."""
    done: dict[Term, Term] = {}
    for part in subterms(item):
        args = [done[arg] for arg in part.args]
        if part.op == "mul":
            done[part] = mul(*args)
            if done[part].args and done[part].args[0] is ZERO:
                done[part] = ZERO
        elif part.op == "add":
            numbers = [arg.value for arg in args if arg.op == "num"]
            rest = [arg for arg in args if arg.op != "num"]
            done[part] = add(*rest, num(sum(numbers))) if numbers else add(*rest)
        else:
            done[part] = Term(part.op, tuple(args), part.value) if args else part
    return done[item]
