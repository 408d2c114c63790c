"""A real answer with noise added."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from dpsym.arguments import positive
from dpsym.errors import InputError
from dpsym.guarantees import Guarantee
from dpsym.mechanisms.base import Mechanism, Neighbours, Part
from dpsym.mechanisms.noise import Noise

__all__ = ["AdditiveNoise"]

_SHIFT = sp.Dummy("t", dummy_index=-5, real=True)


class AdditiveNoise(Mechanism):
    """A real-valued query plus noise, for every pair of neighbouring answers.

    Two neighbouring answers differ by some t with ``|t| <= sensitivity``, and all of these shifts
    count, not only the largest one.

    Args:
        noise: a ``noise.Laplace`` or ``noise.Density``.
        sensitivity: positive, in the unit of the answer.
        relation: the name of the neighbouring relation the sensitivity is for, such as
            "add/remove" or "replace-one"; None says nothing about it.

    Raises: InputError for a constant sensitivity <= 0, and for noise that is none.

    >>> from dpsym.mechanisms.noise import Laplace
    >>> b, Delta = sp.symbols("b Delta", positive=True)
    >>> mechanism = AdditiveNoise(Laplace(scale=b), sensitivity=Delta)
    >>> mechanism
    AdditiveNoise(noise=Laplace(scale=b), sensitivity=Delta)
    """

    fields = ("noise", "sensitivity", "relation")
    noise: Noise
    sensitivity: sp.Expr
    relation: str | None

    def __init__(self, noise: object, sensitivity: object, relation: str | None = None) -> None:
        if not isinstance(noise, Noise):
            raise InputError("noise", "noise such as noise.Laplace(scale=b)", noise)
        if relation is not None and not isinstance(relation, str):
            raise InputError("relation", "the name of a neighbouring relation", relation)
        self._set(noise=noise, sensitivity=positive("sensitivity", sensitivity), relation=relation)

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        yield from self.noise.parameters()
        yield "sensitivity", self.sensitivity

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return (*self.noise.hypotheses(), sp.Gt(self.sensitivity, 0, evaluate=False))

    def assumptions(self) -> tuple[str, ...]:
        return self.noise.assumptions()

    def suggested(self) -> tuple[Guarantee, ...]:
        return self.noise.suggested(self.sensitivity)

    def neighbours(self) -> tuple[Neighbours, ...]:
        """One pair for each shift t: densities f(x) and f(x - t) on the line."""
        x, t = self.noise.variable, _SHIFT
        p = self.noise.density
        return (
            Neighbours(
                parts=(Part(p, p.xreplace({x: x - t}), x),),
                shift=t,
                low=-self.sensitivity,
                high=self.sensitivity,
                label="answers within the sensitivity",
                normalised=self.noise.normalised,
            ),
        )
