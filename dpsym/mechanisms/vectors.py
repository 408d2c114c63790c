"""Vectors with noise on each coordinate. Each reduces to one coordinate."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from dpsym.arguments import positive
from dpsym.guarantees import Guarantee
from dpsym.mechanisms.base import Mechanism, Neighbours
from dpsym.mechanisms.noise import Gaussian, Laplace
from dpsym.mechanisms.relations import relation_of
from dpsym.mechanisms.values import POSITIVE

__all__ = ["VectorGaussian", "VectorLaplace"]


class VectorGaussian(Mechanism):
    """A vector plus independent Gaussian noise on each coordinate.

    Neighbouring answers differ by a vector of Euclidean length at most ``l2_sensitivity``. The
    noise is invariant under rotations, so the difference may be turned into the first coordinate;
    the others have one law on both inputs. What is left is the Gaussian on the line. Dwork, Roth,
    "The Algorithmic Foundations of Differential Privacy", 2014, appendix A.

    Args:
        sigma: the standard deviation on each coordinate, positive.
        l2_sensitivity: positive, in the unit of the answer.
        noise_multiplier: instead of sigma, the standard deviation over the sensitivity.
        relation: as for ``AdditiveNoise``.

    >>> VectorGaussian(sigma=2, l2_sensitivity=1)
    VectorGaussian(sigma=2, l2_sensitivity=1)
    """

    fields = ("sigma", "l2_sensitivity", "noise_multiplier", "relation")
    title = "A vector plus Gaussian noise"
    source = "Dwork, Roth, 2014, appendix A"
    sigma: sp.Expr | None
    l2_sensitivity: sp.Expr
    noise_multiplier: sp.Expr | None
    relation: str | None

    def __init__(
        self,
        sigma: object = None,
        l2_sensitivity: object = 1,
        noise_multiplier: object = None,
        relation: str | None = None,
    ) -> None:
        noise = Gaussian(sigma, noise_multiplier)
        self._set(sigma=noise.sigma, noise_multiplier=noise.noise_multiplier)
        self._set(l2_sensitivity=positive("l2_sensitivity", l2_sensitivity))
        self._set(relation=relation_of(relation))

    def _noise(self) -> Gaussian:
        return Gaussian(self.sigma, self.noise_multiplier).calibrated(self.l2_sensitivity)

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        yield from Gaussian(self.sigma, self.noise_multiplier).parameters()
        yield "l2_sensitivity", self.l2_sensitivity

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        own = Gaussian(self.sigma, self.noise_multiplier).hypotheses()
        return (*own, sp.Gt(self.l2_sensitivity, 0, evaluate=False))

    def assumptions(self) -> tuple[str, ...]:
        return (
            "a Gaussian vector is invariant under rotations, so one coordinate has all of the "
            "difference",
        )

    def suggested(self) -> tuple[Guarantee, ...]:
        return self._noise().suggested(self.l2_sensitivity)

    def neighbours(self) -> tuple[Neighbours, ...]:
        return self._noise().neighbours(self.l2_sensitivity)


class VectorLaplace(Mechanism):
    """A vector plus independent Laplace noise on each coordinate.

    Neighbouring answers differ by a vector whose coordinates' absolute values sum to at most
    ``l1_sensitivity``. The worst difference is in one coordinate. Let the scale be 1. With the
    differences a >= b > 0 in two coordinates the hockey-stick divergence at e^epsilon is

        1 - e^((epsilon - a - b)/2) (1 + b/2)                      for 0 <= epsilon <= a - b,
        1 - e^((epsilon - a - b)/2) (1 + (a + b - epsilon)/4)      for a - b <= epsilon <= a + b,

    and 0 beyond; with a + b in one coordinate it is 1 - e^((epsilon - a - b)/2) up to epsilon =
    a + b, which is not less. The pairs are symmetric, so this holds for epsilon < 0 too. Hence one
    pair can be simulated from the other (Blackwell), with any further independent coordinates as
    well, and all claims may be checked for the one coordinate. Dwork, McSherry, Nissim, Smith,
    "Calibrating Noise to Sensitivity", TCC 2006, has the pure bound.

    Args:
        scale: positive; that of each coordinate.
        l1_sensitivity: positive, in the unit of the answer.
        relation: as for ``AdditiveNoise``.

    >>> VectorLaplace(scale=2, l1_sensitivity=1)
    VectorLaplace(scale=2, l1_sensitivity=1)
    """

    fields = ("scale", "l1_sensitivity", "relation")
    domains = {"scale": POSITIVE, "l1_sensitivity": POSITIVE}
    title = "A vector plus Laplace noise"
    source = "Dwork, McSherry, Nissim, Smith, TCC 2006"
    scale: sp.Expr
    l1_sensitivity: sp.Expr
    relation: str | None

    def __init__(
        self, scale: object, l1_sensitivity: object = 1, relation: str | None = None
    ) -> None:
        self._take(scale=scale, l1_sensitivity=l1_sensitivity)
        self._set(relation=relation_of(relation))

    def assumptions(self) -> tuple[str, ...]:
        return (
            "independent Laplace coordinates are no worse than one coordinate that has all of the "
            "difference",
        )

    def suggested(self) -> tuple[Guarantee, ...]:
        return Laplace(self.scale).suggested(self.l1_sensitivity)

    def neighbours(self) -> tuple[Neighbours, ...]:
        return Laplace(self.scale).neighbours(self.l1_sensitivity)
