"""Rational bounds of variables, as the hypotheses state them."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from dpsym.kernel.canon import to_term
from dpsym.kernel.sequents import Facts, context

__all__ = ["Bounds", "bounds"]


@dataclass(slots=True)
class Bounds:
    """The best bounds of one variable; ``None`` where there is none."""

    lower: fmpq | None = None
    lower_open: bool = False
    upper: fmpq | None = None
    upper_open: bool = False

    def add(self, end: fmpq, from_below: bool, is_open: bool) -> None:
        """One more bound, if it is better."""
        if from_below:
            if self.lower is None or (end, is_open) > (self.lower, self.lower_open):
                self.lower, self.lower_open = end, is_open
        elif self.upper is None or (-end, is_open) > (-self.upper, self.upper_open):
            self.upper, self.upper_open = end, is_open


def bounds(hypotheses: Facts) -> dict[str, Bounds]:
    """The bounds of each variable that has any.

    >>> from dpsym.kernel.statements import Fact
    >>> from dpsym.kernel.terms import var
    >>> x = var("x")
    >>> bounds((Fact(x, ">"), Fact(2 * x - 1, ">="), Fact(3 - x, ">")))
    {'x': Bounds(lower=1/2, lower_open=False, upper=3, upper_open=True)}
    """
    out: dict[str, Bounds] = {}
    for x, slope, end, strict in context(hypotheses).bounds:
        limit = to_term(end)
        if limit.op == "num":
            out.setdefault(str(x.value), Bounds()).add(fmpq(limit.value), bool(slope > 0), strict)
    return out
