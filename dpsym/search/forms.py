"""Functions of two densities, as the search sees them."""

from __future__ import annotations

from collections.abc import Mapping

from dpsym.kernel.definitions import Form
from dpsym.kernel.sequents import Facts, context
from dpsym.kernel.statements import RATIO
from dpsym.kernel.terms import ONE, ZERO, Term, derivative, substitute

__all__ = ["low"]


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
