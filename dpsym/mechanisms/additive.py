"""An answer with noise added."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from dpsym.arguments import positive
from dpsym.errors import InputError
from dpsym.guarantees import Guarantee
from dpsym.mechanisms.base import Mechanism, Neighbours
from dpsym.mechanisms.noise import Noise, noise_of
from dpsym.mechanisms.relations import relation_of

__all__ = ["AdditiveNoise"]


class AdditiveNoise(Mechanism):
    """An answer plus noise, for every pair of neighbouring answers.

    Two neighbouring answers differ by some t with ``|t| <= sensitivity``, and all of these shifts
    count, not only the largest one; if the noise is on the integers, t is an integer.

    Args:
        noise: noise such as ``noise.Laplace(scale=b)`` or ``noise.Density(expression, variable)``,
            or a random symbol of ``sympy.stats``.
        sensitivity: positive, in the unit of the answer; an integer for noise on the integers.
        relation: the neighbouring relation the sensitivity is for: "add/remove", "replace-one" or
            "zero-out"; None says nothing about it.

    Raises: InputError for a constant sensitivity <= 0, one that is no integer with noise on the
    integers, and for noise that is none.

    >>> from dpsym.mechanisms.noise import Laplace
    >>> b, Delta = sp.symbols("b Delta", positive=True)
    >>> AdditiveNoise(Laplace(scale=b), sensitivity=Delta)
    AdditiveNoise(noise=Laplace(scale=b), sensitivity=Delta)
    """

    fields = ("noise", "sensitivity", "relation")
    title = "An answer plus noise"
    source = "Dwork, McSherry, Nissim, Smith, TCC 2006"
    noise: Noise
    sensitivity: sp.Expr
    relation: str | None

    def __init__(self, noise: object, sensitivity: object, relation: str | None = None) -> None:
        kind, size = noise_of(noise, "noise"), positive("sensitivity", sensitivity)
        if kind.integer and not size.is_integer:
            raise InputError(
                "sensitivity",
                "an integer, or a symbol declared with integer=True, since the noise is on the "
                "integers",
                sensitivity,
            )
        kind = kind.calibrated(size)
        self._set(noise=kind, sensitivity=size, relation=relation_of(relation))

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        yield from self.noise.parameters()
        yield "sensitivity", self.sensitivity

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return (*self.noise.hypotheses(), sp.Gt(self.sensitivity, 0, evaluate=False))

    def obligations(self) -> tuple[sp.Basic, ...]:
        return self.noise.obligations()

    def assumptions(self) -> tuple[str, ...]:
        return self.noise.assumptions()

    def suggested(self) -> tuple[Guarantee, ...]:
        return self.noise.suggested(self.sensitivity)

    def neighbours(self) -> tuple[Neighbours, ...]:
        """One pair for each shift t: densities or masses f(x) and f(x - t)."""
        return self.noise.neighbours(self.sensitivity)
