"""Answers in a range, noise added, and what leaves the range put at its end."""

from __future__ import annotations

import sympy as sp

from dpsym.errors import InputError
from dpsym.guarantees import Guarantee
from dpsym.mechanisms.base import Mechanism, Neighbours, Part
from dpsym.mechanisms.noise import Geometric
from dpsym.mechanisms.relations import relation_of
from dpsym.mechanisms.values import COUNT, INTEGER, POSITIVE

__all__ = ["ClampedGeometric"]

_OUTPUT = Geometric.variable
_SHIFT = sp.Dummy("t", dummy_index=-10, integer=True)


class ClampedGeometric(Mechanism):
    """An integer answer from low to high plus geometric noise; outputs beyond an end are put there.

    With r = e^(-1/scale), an end at distance m from the answer has the mass r^m/(1 + r). Ghosh,
    Roughgarden, Sundararajan, "Universally Utility-Maximizing Privacy Mechanisms", STOC 2009, call
    it the truncated geometric mechanism.

    Args:
        scale: positive; that of the geometric noise.
        low, high: the ends of the range, integers, low < high.
        answer: the answer on the first input, an integer in the range or an integer symbol, which
            then stands for all of them.
        sensitivity: how much a neighbour's answer may differ, an integer >= 1.
        relation: as for ``AdditiveNoise``.

    Raises: InputError for constants that are out of order.

    >>> ClampedGeometric(scale=2, low=0, high=10, answer=sp.Symbol("a", integer=True))
    ClampedGeometric(scale=2, low=0, high=10, answer=a, sensitivity=1)
    """

    fields = ("scale", "low", "high", "answer", "sensitivity", "relation")
    domains = {
        "scale": POSITIVE,
        "low": INTEGER,
        "high": INTEGER,
        "answer": INTEGER,
        "sensitivity": COUNT,
    }
    title = "An answer in a range plus geometric noise, clamped"
    source = "Ghosh, Roughgarden, Sundararajan, STOC 2009"
    scale: sp.Expr
    low: sp.Expr
    high: sp.Expr
    answer: sp.Expr
    sensitivity: sp.Expr
    relation: str | None

    def __init__(
        self,
        scale: object,
        low: object,
        high: object,
        answer: object,
        sensitivity: object = 1,
        relation: str | None = None,
    ) -> None:
        self._take(scale=scale, low=low, high=high, answer=answer, sensitivity=sensitivity)
        self._set(relation=relation_of(relation))
        if (self.high - self.low).is_nonpositive:
            raise InputError("high", f"an integer above low, which is {self.low}", high)
        if (self.answer - self.low).is_negative or (self.high - self.answer).is_negative:
            raise InputError("answer", f"an integer from {self.low} to {self.high}", answer)

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        low, high, answer = self.low, self.high, self.answer
        order = [(low + 1, high), (low, answer), (answer, high)]
        return (*super().hypotheses(), *(sp.Le(a, b, evaluate=False) for a, b in order))

    def suggested(self) -> tuple[Guarantee, ...]:
        return Geometric(self.scale).suggested(self.sensitivity)

    def neighbours(self) -> tuple[Neighbours, ...]:
        """The two ends are atoms, and the integers between them have the noise's masses."""
        k, t, size = _OUTPUT, _SHIFT, self.sensitivity
        noise, end = Geometric(self.scale), 1 / (1 + sp.exp(-1 / self.scale))

        def at_end(distance: sp.Expr) -> sp.Expr:
            return end * sp.exp(-distance / self.scale)

        first, second = self.answer, self.answer + t
        between = sp.Interval(self.low + 1, self.high - 1) if self._wide() else None
        parts = [
            Part(at_end(first - self.low), at_end(second - self.low)),
            Part(at_end(self.high - first), at_end(self.high - second)),
        ]
        if between is not None:
            parts.append(Part(noise.at(k - first), noise.at(k - second), k, between, True))
        return (
            Neighbours(
                tuple(parts),
                t,
                sp.Max(-size, self.low - first),
                sp.Min(size, self.high - first),
                integer=True,
                label="answers within the sensitivity and the range",
            ),
        )

    def _wide(self) -> bool:
        """Whether there may be an integer between the ends."""
        return (self.high - self.low) != 1
