"""Distributions made of distributions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy as sp

from dpsym.arguments import probability, real
from dpsym.errors import InputError
from dpsym.mechanisms.noise.base import Noise, variable_of
from dpsym.mechanisms.noise.own import noise_of

__all__ = ["Mixture", "Shifted"]


class Shifted(Noise):
    """Noise moved to the right by so much.

    Args:
        noise: noise, or a random symbol of ``sympy.stats``.
        by: the distance; an integer for noise on the integers.

    >>> from dpsym.mechanisms.noise.laplace import Laplace
    >>> Shifted(Laplace(1), 2).at(sp.Integer(5))
    exp(-3)/2
    """

    fields = ("noise", "by")
    title = "Noise around another point"
    source = "its definition"
    noise: Noise
    by: sp.Expr

    def __init__(self, noise: object, by: object) -> None:
        inner, distance = noise_of(noise, "noise"), real("by", by)
        if inner.integer and not distance.is_integer:
            raise InputError("by", "an integer, since the noise is on the integers", by)
        self._set(noise=inner, by=distance, variable=inner.variable)
        self._set(integer=inner.integer, normalised=inner.normalised)

    def at(self, x: sp.Expr) -> sp.Expr:
        return self.noise.at(x - self.by)

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        yield from self.noise.parameters()
        yield "by", self.by

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return self.noise.hypotheses()

    def obligations(self) -> tuple[sp.Basic, ...]:
        return self.noise.obligations()

    def assumptions(self) -> tuple[str, ...]:
        return self.noise.assumptions()


class Mixture(Noise):
    """A distribution drawn from the first component with the first weight, and so on.

    Args:
        weights: probabilities that sum to 1, numbers or expressions in parameters.
        components: as many distributions, all real or all on the integers.

    Raises: InputError for weights of numbers that do not sum to 1, and for components whose
    density is known only up to a factor.

    >>> from dpsym.mechanisms.noise.normal import Gaussian
    >>> q, sigma = sp.symbols("q sigma", positive=True)
    >>> base = Gaussian(sigma)
    >>> Mixture([1 - q, q], [base, Shifted(base, 1)])
    Mixture(weights=(1 - q, q), components=(Gaussian(sigma=sigma), Shifted(noise=Gaussian(sigma=sigma), by=1)))
    """  # noqa: E501

    fields = ("weights", "components")
    title = "A mixture of distributions"
    source = "its definition"
    weights: tuple[sp.Expr, ...]
    components: tuple[Noise, ...]

    def __init__(self, weights: object, components: object) -> None:
        given, laws = _listed("weights", weights), _listed("components", components)
        if len(given) != len(laws):
            raise InputError("weights", f"{len(laws)} weights, as many as components", weights)
        parts = tuple(noise_of(item, "components") for item in laws)
        shares = tuple(probability("weights", weight) for weight in given)
        if all(share.is_Rational for share in shares) and sum(shares) != 1:
            raise InputError("weights", "probabilities that sum to 1", shares)
        rough = [part for part in parts if not part.normalised]
        if rough:
            raise InputError("components", "distributions with normalised densities", rough[0])
        variable = variable_of("components", parts)
        self._set(weights=shares, components=parts, variable=variable)
        self._set(integer=parts[0].integer)

    def at(self, x: sp.Expr) -> sp.Expr:
        pairs = zip(self.weights, self.components, strict=True)
        return sp.Add(*(weight * part.at(x) for weight, part in pairs))

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        for weight in self.weights:
            yield "weights", weight
        for part in self.components:
            yield from part.parameters()

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return tuple(fact for part in self.components for fact in part.hypotheses())

    def obligations(self) -> tuple[sp.Basic, ...]:
        """Weights that are no numbers are >= 0, and the weights sum to 1."""
        found = [fact for part in self.components for fact in part.obligations()]
        open_weights = [weight for weight in self.weights if not weight.is_Rational]
        if open_weights:
            found.extend(sp.Ge(weight, 0, evaluate=False) for weight in open_weights)
            found.append(sp.Eq(sp.Add(*self.weights, evaluate=False), 1, evaluate=False))
        return tuple(dict.fromkeys(found))

    def assumptions(self) -> tuple[str, ...]:
        texts = (text for part in self.components for text in part.assumptions())
        return tuple(dict.fromkeys(texts))


def _listed(argument: str, value: object) -> Sequence[object]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise InputError(argument, "a list, one for each component", value)
    return value
