"""What all noise has: a density or masses, its parameters, and the pairs it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import sympy as sp

from dpsym.errors import InputError
from dpsym.mechanisms.base import Neighbours, Part
from dpsym.mechanisms.values import POSITIVE, Value

if TYPE_CHECKING:
    from dpsym.enclosures import Enclosure
    from dpsym.guarantees import Guarantee

__all__ = ["NOISES", "Noise"]

NOISES: dict[str, type[Noise]] = {}
"""Every kind of noise, by name."""

_REAL = sp.Dummy("x", dummy_index=-4, real=True)
_INTEGER = sp.Dummy("k", dummy_index=-6, integer=True)
_SHIFT = sp.Dummy("t", dummy_index=-5, real=True)
_STEP = sp.Dummy("t", dummy_index=-7, integer=True)


class Noise(Value):
    """A distribution on the line, or on the integers. Immutable.

    A kind of noise is a subclass: it sets ``fields``, ``title`` and ``source``, perhaps
    ``domains``, and has the method ``at``. Defining it registers it, unless it
    is ``abstract``.

    Attributes:
        integer: whether its values are integers.
        normalised: whether ``at`` has the density itself, not only up to a constant factor.
        variable: what ``density`` is written in.
    """

    title: ClassVar[str]
    source: ClassVar[str]
    integer: bool = False
    normalised: bool = True
    variable: sp.Symbol = _REAL

    def __init_subclass__(cls, abstract: bool = False) -> None:
        if abstract:
            return
        for needed in ("fields", "title", "source"):
            if not hasattr(cls, needed):
                raise TypeError(f"noise needs {needed}: {cls.__name__}")
        if cls.at is Noise.at:
            raise TypeError(f"noise needs at: {cls.__name__}")
        if cls.integer:
            cls.variable = _INTEGER
        NOISES[cls.__name__] = cls

    def at(self, x: sp.Expr) -> sp.Expr:
        """The density at x, or the mass of the integer x."""
        raise NotImplementedError

    @property
    def density(self) -> sp.Expr:
        """The density or mass as an expression in ``variable``."""
        return self.at(self.variable)

    @classmethod
    def symbolic(cls) -> Noise | None:
        """One with a symbol for each parameter, if it is made of parameters alone."""
        if set(cls.fields) != set(cls.domains):
            return None
        return cls(**{name: cls.domains[name].symbol(name) for name in cls.fields})

    def calibrated(self, sensitivity: sp.Expr) -> Noise:
        """Itself, with parameters that are given as multiples of the sensitivity put in."""
        return self

    def suggested(self, sensitivity: sp.Expr) -> tuple[Guarantee, ...]:
        """Guarantees that it probably gives at this sensitivity."""
        return ()

    def enclose_variance(self, where: object = None, width: object = 1e-12) -> Enclosure:
        """The variance between two exact numbers. See ``dpsym.enclosures.moments.variance``."""
        from dpsym.enclosures.moments import variance

        return variance(self, where, width)

    def enclose_mean(self, where: object = None, width: object = 1e-12) -> Enclosure:
        """The mean between two exact numbers. See ``dpsym.enclosures.moments.mean``."""
        from dpsym.enclosures.moments import mean

        return mean(self, where, width)

    def enclose_absolute_moment(
        self, order: object, where: object = None, width: object = 1e-12
    ) -> Enclosure:
        """E |X|**order between two exact numbers: the mean absolute error, if the order is 1.

        See ``dpsym.enclosures.moments.absolute_moment``.
        """
        from dpsym.enclosures.moments import absolute_moment

        return absolute_moment(self, order, where, width)

    def neighbours(self, sensitivity: sp.Expr) -> tuple[Neighbours, ...]:
        """One pair for each shift t: densities or masses f(x) and f(x - t)."""
        x, t = self.variable, _STEP if self.integer else _SHIFT
        part = Part(self.at(x), self.at(x - t), x, integer=self.integer)
        return (
            Neighbours(
                (part,),
                t,
                -sensitivity,
                sensitivity,
                self.integer,
                "answers within the sensitivity",
                self.normalised,
            ),
        )


class ScaledNoise(Noise, abstract=True):
    """Noise with one parameter, its scale."""

    fields = ("scale",)
    domains = {"scale": POSITIVE}
    scale: sp.Expr

    def __init__(self, scale: object) -> None:
        self._take(scale=scale)


def variable_of(argument: str, items: tuple[Noise, ...]) -> sp.Symbol:
    """The variable for the outputs of all of them, real or integer.

    Raises: InputError if some are on the integers and some are not.
    """
    kinds = {item.integer for item in items}
    if len(kinds) != 1:
        raise InputError(argument, "noise on the real line, or noise on the integers", items)
    return _INTEGER if kinds.pop() else _REAL
