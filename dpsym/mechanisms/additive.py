"""A real answer with noise added."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from dpsym.arguments import positive
from dpsym.errors import InputError
from dpsym.guarantees import Guarantee
from dpsym.kernel import statements
from dpsym.kernel import terms as k
from dpsym.kernel.statements import REAL, Fact, Pair, Region
from dpsym.mechanisms.base import Mechanism, refuse_parameter
from dpsym.mechanisms.noise import Noise
from dpsym.scope import Scope

__all__ = ["AdditiveNoise"]


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

    def to_kernel(self, scope: Scope) -> statements.Mechanism:
        """One pair for each shift t: densities f(x) and f(x - t) on the line."""
        variable, f = self.noise.variable, self.noise.density
        if isinstance(variable, sp.Dummy):
            name = scope.fresh(variable.name)
        else:
            name = refuse_parameter(variable, scope)
        shift_name = scope.fresh("t" if name != "t" else "shift")
        x, shift = k.var(name), k.var(shift_name)
        sensitivity = scope.term(self.sensitivity, "sensitivity")
        region = Region(
            p=scope.term(f, "density", {variable: x}),
            q=scope.term(f, "density", {variable: x - shift}),
            output=name,
        )
        pair = Pair(
            regions=(region,),
            variables=((shift_name, REAL),),
            facts=(Fact(sensitivity - shift, ">="), Fact(sensitivity + shift, ">=")),
            label=f"answers that differ by {shift_name}",
        )
        return statements.Mechanism((pair,))
