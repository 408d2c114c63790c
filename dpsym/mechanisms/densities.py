"""A pair of output distributions given by their densities or masses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Union

import sympy as sp

from dpsym.arguments import truth
from dpsym.errors import InputError
from dpsym.mechanisms.base import (
    Mechanism,
    Neighbours,
    Part,
    density,
    free_parameters,
    output_variable,
)
from dpsym.mechanisms.noise import Gaussian, Noise, noise_of
from dpsym.mechanisms.noise.base import variable_of
from dpsym.mechanisms.values import POSITIVE, REAL
from dpsym.translate import is_random

__all__ = ["DensityPair", "GaussianPair", "PMFPair"]

Law = Union[sp.Expr, Noise]
"""A distribution: an expression in the output's variable, or noise."""

_SIDES = {  # an assumption on the output symbol, and the support that makes it true
    "extended_nonnegative": ("start", 1),
    "extended_nonpositive": ("end", -1),
}
_INTEGERS = (
    "an Interval with closed integer ends, a Range with step 1, Naturals0, Naturals or Integers"
)


class _Pair(Mechanism, abstract=True):
    """Two distributions, by expressions in one variable or as noise. ``support`` is an interval of
    the outputs' line or of their integers."""

    fields = ("p", "q", "variable", "support", "normalised")
    integer: ClassVar[bool]
    p: Law
    q: Law
    variable: sp.Symbol | None
    support: sp.Set
    normalised: bool

    def _declare(
        self, p: object, q: object, variable: object, support: sp.Set, normalised: bool
    ) -> None:
        laws: tuple[Law, ...]
        if variable is None:
            laws = _laws(p, q, support, self.integer)
        else:
            variable = output_variable(variable, self.integer)
            _covered(variable, support, "integer" if self.integer else "real")
            laws = (density(p, "p"), density(q, "q"))
        self._set(p=laws[0], q=laws[1], variable=variable, support=support)
        self._set(normalised=truth("normalised", normalised))

    def _noises(self) -> tuple[Noise, ...]:
        return tuple(law for law in (self.p, self.q) if isinstance(law, Noise))

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        for name, law in (("p", self.p), ("q", self.q)):
            if isinstance(law, Noise):
                yield from law.parameters()
            elif self.variable is not None:
                for symbol in free_parameters(law, name, self.variable):
                    yield name, symbol
        if isinstance(self.support, sp.Interval):
            for end in (self.support.start, self.support.end):
                if end not in (sp.oo, -sp.oo):
                    yield "support", end

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return tuple(fact for law in self._noises() for fact in law.hypotheses())

    def obligations(self) -> tuple[sp.Basic, ...]:
        return tuple(fact for law in self._noises() for fact in law.obligations())

    def assumptions(self) -> tuple[str, ...]:
        if self.variable is None:
            texts = (text for law in self._noises() for text in law.assumptions())
            return tuple(dict.fromkeys(texts))
        if self.normalised:
            return ()
        what = "masses" if self.integer else "densities"
        return (f"p and q are {what} of distributions, up to one constant factor for both",)

    def neighbours(self) -> tuple[Neighbours, ...]:
        """One pair with one part, the support."""
        x = self.variable
        if x is None:
            x = variable_of("p, q", self._noises())
        p, q = (law.at(x) if isinstance(law, Noise) else law for law in (self.p, self.q))
        support = self.support
        common = _common_support(p, q, x) if self.integer and support is sp.S.Reals else None
        if common is not None:
            p, q, support = p.args[0].expr, q.args[0].expr, common
        part = Part(p, q, x, support, self.integer)
        return (Neighbours((part,), normalised=self.normalised),)


class DensityPair(_Pair):
    """Two output distributions, of densities p and q in one variable on an interval.

    Args:
        p: the distribution on the first input: its density, an expression in ``variable``; or,
            without ``variable``, noise such as ``noise.Mixture`` or a random symbol.
        q: the one on the second input.
        variable: the symbol of the output.
        support: an ``Interval`` that may depend on parameters, or ``Reals``.
        normalised: False if the same positive constant factor is left out of both; then claims of
            pure DP can be settled, others not. Questions about densities that no common factor
            makes distributions, as their masses differ or are infinite, are refused.

    Raises: InputError for a support that is no interval, or that the variable's own assumptions
    do not cover (a positive symbol on the whole line).

    >>> x, b = sp.Symbol("x", real=True), sp.Symbol("b", positive=True)
    >>> DensityPair(sp.exp(-x / b), 2 * sp.exp(-2 * x / b), x, sp.Interval(0, sp.oo))
    DensityPair(p=exp(-x/b), q=2*exp(-2*x/b), variable=x, support=Interval(0, oo))
    """

    title = "Two densities"
    source = "the user"
    integer = False

    def __init__(
        self,
        p: object,
        q: object,
        variable: object = None,
        support: object = sp.S.Reals,
        normalised: bool = True,
    ) -> None:
        if not isinstance(support, sp.Interval) and support is not sp.S.Reals:
            raise InputError("support", "an Interval or Reals", support)
        self._declare(p, q, variable, support, normalised)


class PMFPair(_Pair):
    """Two output distributions on the integers, of masses p and q.

    Args:
        p: the distribution on the first input: its masses, an expression in ``variable``; or,
            without ``variable``, noise on the integers or a random symbol.
        q: the one on the second input.
        variable: the symbol of the output, declared with ``integer=True``.
        support: the integers where p or q is positive: an ``Interval`` with closed ends, integers
            or integer symbols, a ``Range``, ``Naturals0``, ``Naturals`` or ``Integers``.
        normalised: as for ``DensityPair``.

    >>> k, r = sp.Symbol("k", integer=True), sp.Symbol("r", positive=True)
    >>> PMFPair((1 - r) * r**k, (1 - r**2) * r ** (2 * k), k, sp.S.Naturals0)
    PMFPair(p=r**k*(1 - r), q=r**(2*k)*(1 - r**2), variable=k, support=Interval(0, oo))
    """

    title = "Two distributions on the integers"
    source = "the user"
    integer = True

    def __init__(
        self,
        p: object,
        q: object,
        variable: object = None,
        support: object = sp.S.Integers,
        normalised: bool = True,
    ) -> None:
        self._declare(p, q, variable, _integers(support), normalised)


class GaussianPair(Mechanism):
    """Two Gaussian output distributions, which may differ in variance too.

    Args:
        mean1, sigma1: mean and standard deviation on the first input.
        mean2, sigma2: those on the second one.

    Raises: InputError for a constant standard deviation <= 0.

    >>> GaussianPair(0, 2, 1, 3)
    GaussianPair(mean1=0, sigma1=2, mean2=1, sigma2=3)
    """

    fields = ("mean1", "sigma1", "mean2", "sigma2")
    domains = {"mean1": REAL, "sigma1": POSITIVE, "mean2": REAL, "sigma2": POSITIVE}
    title = "Two Gaussians"
    source = "Gil, Alajaji, Linder, Information Sciences 249, 2013, table 2"
    mean1: sp.Expr
    sigma1: sp.Expr
    mean2: sp.Expr
    sigma2: sp.Expr

    def __init__(self, mean1: object, sigma1: object, mean2: object, sigma2: object) -> None:
        self._take(mean1=mean1, sigma1=sigma1, mean2=mean2, sigma2=sigma2)

    def neighbours(self) -> tuple[Neighbours, ...]:
        x = Noise.variable
        first = Gaussian(self.sigma1).at(x - self.mean1)
        return (Neighbours((Part(first, Gaussian(self.sigma2).at(x - self.mean2), x),)),)


def _laws(p: object, q: object, support: sp.Set, integer: bool) -> tuple[Noise, ...]:
    for name, value in (("p", p), ("q", q)):
        if not isinstance(value, Noise) and not is_random(value):
            raise InputError("variable", f"the symbol of the output in {name}", None)
    if support is not sp.S.Reals:
        raise InputError("support", "none with distributions, which have their own", support)
    laws = (noise_of(p, "p"), noise_of(q, "q"))
    variable_of("p, q", laws)
    if laws[0].integer is not integer:
        expected = "noise on the integers" if integer else "noise on the real line"
        raise InputError("p", expected, p)
    for name, law in zip("pq", laws, strict=True):
        if not law.normalised:
            raise InputError(name, "a distribution with a normalised density", law)
    return laws


def _common_support(p: sp.Expr, q: sp.Expr, x: sp.Symbol) -> sp.Interval | None:
    """The integers between two ends, if p and q are zero at all others and are written so."""
    conditions = []
    for law in (p, q):
        pieces: tuple[Any, ...] = law.args if isinstance(law, sp.Piecewise) else ()
        if len(pieces) != 2 or tuple(pieces[1]) != (sp.S.Zero, sp.true):
            return None
        conditions.append(pieces[0].cond)
    first, second = conditions
    if first != second:
        return None
    ends = {sp.Ge: -sp.oo, sp.Le: sp.oo}
    for bound in sp.And.make_args(first):
        if isinstance(bound, (sp.Ge, sp.Le)) and bound.rhs == x:
            bound = bound.reversed
        known = isinstance(bound, (sp.Ge, sp.Le)) and bound.lhs == x and bound.rhs.is_integer
        if not known or x in bound.rhs.free_symbols or not ends[type(bound)].is_infinite:
            return None
        ends[type(bound)] = bound.rhs
    found = sp.Interval(*ends.values())
    return found if isinstance(found, sp.Interval) else None


def _integers(support: object) -> sp.Set:
    """A set of consecutive integers as an interval with closed ends."""
    if support is sp.S.Integers or support is sp.S.Reals:
        return sp.S.Reals
    if support is sp.S.Naturals0 or support is sp.S.Naturals:
        return sp.Interval(support.inf, sp.oo)
    if isinstance(support, sp.Range) and support.step == 1 and support.size != 0:
        return sp.Interval(support.inf, support.sup)
    if not isinstance(support, sp.Interval):
        raise InputError("support", _INTEGERS, support)
    ends = [(support.start, support.left_open), (support.end, support.right_open)]
    if any(open_ or not end.is_integer for end, open_ in ends if end not in (-sp.oo, sp.oo)):
        raise InputError("support", _INTEGERS, support)
    return support


def _covered(symbol: sp.Symbol, support: sp.Set, kind: str = "real") -> None:
    """SymPy may have used what it knows of the symbol, so this must hold on all of the support,
    up to single points of the line."""
    expressed = {kind: True}
    for assumption, (end, side) in _SIDES.items():
        if getattr(symbol, f"is_{assumption}"):
            bound = getattr(support, end, sp.nan)
            if not (bound * side).is_nonnegative:
                raise InputError(
                    "support", f"an Interval on which {symbol} is {assumption[9:]}", support
                )
            expressed[assumption] = True
            nonzero = symbol.is_extended_nonzero
            if nonzero and (kind == "real" or (bound * side).is_positive):
                expressed["extended_nonzero"] = True
    if symbol.assumptions0.items() - sp.Symbol(symbol.name, **expressed).assumptions0.items():
        raise InputError(
            "variable", f"a symbol that takes all {kind} values in the support", symbol
        )
