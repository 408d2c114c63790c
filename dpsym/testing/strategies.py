"""Hypothesis strategies for what dpsym is about, all in one registry.

Everything is drawn at exact rational numbers, and shrinks to what is small to read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import sympy as sp
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from dpsym.combinators import Composition, compose, postprocess
from dpsym.guarantees import NOTIONS, Guarantee, MomentBound, both
from dpsym.mechanisms import (
    MECHANISMS,
    AdditiveNoise,
    ClampedGeometric,
    DensityPair,
    ExponentialMechanism,
    Mechanism,
    Mixture,
    PermuteAndFlip,
    PMFPair,
    RandomizedResponse,
    ReportNoisyMax,
    Table,
    VectorGaussian,
    noise,
)
from dpsym.mechanisms.noise import NOISES, Noise
from dpsym.stages import filtered, group, parallel, repeat, subsample
from dpsym.testing.numbers import integers, rationals
from dpsym.testing.registry import COMBINATORS, FIELDS, exact, made, register, strategy_for

__all__ = [
    "compositions",
    "density_pairs",
    "guarantees",
    "mechanisms",
    "noise_mechanisms",
    "noises",
    "subjects",
    "tables",
]

T = TypeVar("T")
_X = sp.Symbol("x", real=True)
_K = sp.Symbol("k", integer=True)


def _in_order(names: Iterable[str], first: str) -> list[str]:
    """The one that is easiest to read first."""
    return sorted(names, key=lambda name: (name != first, name))


def _positive(most: int = 8) -> SearchStrategy[sp.Rational]:
    return exact(rationals(0, most, low_open=True))


def _inner(most: int = 1) -> SearchStrategy[sp.Rational]:
    """Strictly between 0 and 1."""
    return exact(rationals(0, most, low_open=True, high_open=True))


def _whole(low: int, high: int) -> SearchStrategy[sp.Integer]:
    return integers(low, high).map(sp.Integer)


# --- privacy notions ------------------------------------------------------------------------------


def guarantees(*notions: type[Guarantee] | str) -> SearchStrategy[Guarantee]:
    """Guarantees of these notions; of all that are registered, if none is named.

    >>> from dpsym.testing import simplest
    >>> simplest(guarantees())
    PureDP(0)
    """
    return st.one_of([strategy_for(kind) for kind in notions or NOTIONS])


@register(MomentBound)
def _moment_bounds() -> SearchStrategy[MomentBound]:
    """Bounds of e^(s L), L and L^2."""

    def moment(s: sp.Rational) -> Any:
        return lambda L: sp.exp(s * L)  # noqa: N803

    powers = st.sampled_from((lambda L: L, lambda L: L**2))  # noqa: N803
    return st.builds(MomentBound, st.one_of(powers, _positive().map(moment)), FIELDS["epsilon"]())


# --- noise ----------------------------------------------------------------------------------------


def noises(*kinds: type[Noise] | str) -> SearchStrategy[Noise]:
    """Noise of these kinds; of all that are registered, if none is named.

    >>> from dpsym.testing import simplest
    >>> simplest(noises("Gaussian", "Laplace"))
    Gaussian(sigma=1)
    """
    return st.one_of([strategy_for(kind) for kind in kinds or _in_order(NOISES, "Laplace")])


@register(noise.Gaussian)
def _gaussians() -> SearchStrategy[noise.Gaussian]:
    return st.one_of(
        _positive().map(noise.Gaussian),
        _positive().map(lambda z: noise.Gaussian(noise_multiplier=z)),
    )


@register(noise.Staircase)
def _staircases() -> SearchStrategy[noise.Staircase]:
    return st.builds(noise.Staircase, _positive(), exact(rationals(0, 1)))


@register(noise.Density)
def _densities() -> SearchStrategy[noise.Density]:
    """Of Laplace's, of a logistic one, of heavy tails, and of two steps."""
    step = sp.Piecewise((sp.Rational(1, 2), sp.Abs(_X) <= sp.Rational(1, 2)), (0, True))
    wide = step + sp.Piecewise((sp.Rational(1, 4), sp.Abs(_X) <= 1), (0, True))
    heavy = 1 / (2 * (1 + sp.Abs(_X)) ** 2)
    scaled = _positive().map(lambda b: noise.Density(sp.exp(-sp.Abs(_X) / b) / (2 * b), _X))
    fixed = st.sampled_from((heavy, sp.exp(_X) / (1 + sp.exp(_X)) ** 2, wide))
    return st.one_of(scaled, fixed.map(lambda density: noise.Density(density, _X)))


@register(noise.Masses)
def _masses() -> SearchStrategy[noise.Masses]:
    """(1 - r)/(1 + r) r^|k|."""
    return _inner().map(lambda r: noise.Masses((1 - r) / (1 + r) * r ** sp.Abs(_K), _K))


def _plain(integer: bool) -> SearchStrategy[Noise]:
    """Noise that is made of nothing else and has a density, not only one up to a factor."""
    kinds = [
        name
        for name in _in_order(NOISES, "Laplace")
        if (kind := NOISES[name]).integer is integer
        and kind.normalised
        and name not in ("Mixture", "Shifted", "Staircase", "Gaussian", "Density", "Masses")
    ]
    return st.one_of([strategy_for(kind) for kind in kinds])


@register(noise.Shifted)
def _shifted() -> SearchStrategy[noise.Shifted]:
    return st.one_of(
        st.builds(noise.Shifted, _plain(integer=False), exact(rationals(-4, 4))),
        st.builds(noise.Shifted, _plain(integer=True), _whole(-4, 4)),
    )


@register(noise.Mixture)
def _mixtures() -> SearchStrategy[noise.Mixture]:
    def mixed(q: sp.Rational, first: Noise, second: Noise) -> Mixture:
        return Mixture([1 - q, q], [first, second])

    share = exact(rationals(0, 1))
    return st.one_of(
        [st.builds(mixed, share, _plain(kind), _plain(kind)) for kind in (False, True)]
    )


# --- mechanisms -----------------------------------------------------------------------------------


def mechanisms(*kinds: type[Mechanism] | str) -> SearchStrategy[Mechanism]:
    """Explicit mechanisms of these kinds; of all that are registered, if none is named."""
    return st.one_of([strategy_for(kind) for kind in kinds or _in_order(MECHANISMS, "Table")])


def noise_mechanisms(*kinds: type[Noise] | str) -> SearchStrategy[AdditiveNoise]:
    """An answer plus noise of these kinds, or of any that is registered.

    >>> from dpsym.testing import simplest
    >>> simplest(noise_mechanisms("Laplace"))
    AdditiveNoise(noise=Laplace(scale=1), sensitivity=1)
    """
    return _with_noise(noises(*kinds))


@st.composite
def _with_noise(draw: DrawFn, kinds: SearchStrategy[Noise]) -> AdditiveNoise:
    kind = draw(kinds)
    size = draw(_whole(1, 4) if kind.integer else _positive(4))
    return made(AdditiveNoise, kind, size)


register(AdditiveNoise, noise_mechanisms)


def tables(
    inputs: SearchStrategy[int] | int = 2, outputs: SearchStrategy[int] | int | None = None
) -> SearchStrategy[Table]:
    """Tables of exact rational probabilities.

    Args:
        inputs, outputs: how many rows and columns, or strategies for these numbers; by default two
            rows and up to four columns.

    >>> from dpsym.testing import simplest
    >>> simplest(tables())
    Table([[0, 1], [0, 1]])
    """
    wide = st.integers(2, 4) if outputs is None else outputs
    return _tables(*(st.just(x) if isinstance(x, int) else x for x in (inputs, wide)))


@st.composite
def _tables(draw: DrawFn, inputs: SearchStrategy[int], outputs: SearchStrategy[int]) -> Table:
    rows, columns = draw(inputs), draw(outputs)
    return Table([draw(_rows(columns)) for _ in range(rows)])


@st.composite
def _rows(draw: DrawFn, columns: int) -> list[sp.Rational]:
    """Multiples of one fraction, that sum to 1."""
    d = draw(st.sampled_from((1, 2, 3, 4, 5, 8, 10, 100, 10**6)))
    cuts = sorted(draw(st.lists(st.integers(0, d), min_size=columns - 1, max_size=columns - 1)))
    ends = zip((0, *cuts), (*cuts, d), strict=True)
    return [sp.Rational(high - low, d) for low, high in ends]


register(Table, lambda: tables(st.integers(2, 3)))


@register(RandomizedResponse)
def _responses() -> SearchStrategy[RandomizedResponse]:
    return st.builds(RandomizedResponse, FIELDS["epsilon"](), _whole(2, 10))


def density_pairs() -> SearchStrategy[DensityPair]:
    """Two distributions on the line: two of noise, or two exponential ones on a half-line.

    >>> from dpsym.testing import simplest
    >>> simplest(density_pairs())
    DensityPair(p=exp(-x), q=exp(-x), variable=x, support=Interval(0, oo))
    """

    def exponential(a: sp.Rational, b: sp.Rational) -> DensityPair:
        p, q = (rate * sp.exp(-rate * _X) for rate in (a, b))
        return DensityPair(p, q, _X, sp.Interval(0, sp.oo))

    def of_noise(first: Noise, second: Noise, by: sp.Rational) -> DensityPair:
        return DensityPair(first, noise.Shifted(second, by))

    plain = _plain(integer=False)
    return st.one_of(
        st.builds(exponential, _positive(), _positive()),
        st.builds(of_noise, plain, plain, exact(rationals(-4, 4))),
    )


register(DensityPair, density_pairs)


@register(PMFPair)
def _pmf_pairs() -> SearchStrategy[PMFPair]:
    """Two geometric distributions, or two of noise on the integers."""

    def geometric(r: sp.Rational, s: sp.Rational) -> PMFPair:
        p, q = ((1 - rate) * rate**_K for rate in (r, s))
        return PMFPair(p, q, _K, sp.S.Naturals0)

    def of_noise(first: Noise, second: Noise, by: sp.Integer) -> PMFPair:
        return PMFPair(first, noise.Shifted(second, by))

    plain = _plain(integer=True)
    return st.one_of(
        st.builds(geometric, _inner(), _inner()), st.builds(of_noise, plain, plain, _whole(-4, 4))
    )


@register(VectorGaussian)
def _vector_gaussians() -> SearchStrategy[VectorGaussian]:
    return st.builds(VectorGaussian, _positive(), _positive(4))


@register(ClampedGeometric)
@st.composite
def _clamped(draw: DrawFn) -> ClampedGeometric:
    low = draw(_whole(0, 4))
    high = low + draw(_whole(1, 8))
    answer = draw(_whole(int(low), int(high)))
    return ClampedGeometric(draw(_positive()), low, high, answer, draw(_whole(1, 4)))


@st.composite
def _scores(draw: DrawFn) -> list[list[sp.Rational]]:
    """Two lists that differ by at most 1."""
    size = draw(st.integers(2, 4))
    first = [draw(_whole(0, 4)) for _ in range(size)]
    moves = [draw(st.sampled_from((0, 1, -1))) for _ in range(size)]
    return [first, [a + b for a, b in zip(first, moves, strict=True)]]


@register(ExponentialMechanism)
def _exponential_mechanisms() -> SearchStrategy[ExponentialMechanism]:
    return st.builds(ExponentialMechanism, _scores(), FIELDS["epsilon"]())


@register(PermuteAndFlip)
def _permute_and_flip() -> SearchStrategy[PermuteAndFlip]:
    return st.builds(PermuteAndFlip, _scores(), FIELDS["epsilon"]())


@register(ReportNoisyMax)
def _noisy_max() -> SearchStrategy[ReportNoisyMax]:
    kinds = noises("Laplace", "Gumbel", "Exponential")
    return st.builds(ReportNoisyMax, _scores(), kinds)


# --- what is made of these ------------------------------------------------------------------------


def _ones() -> SearchStrategy[Any]:
    return st.one_of(guarantees(), mechanisms())


def compositions(
    parts: SearchStrategy[Any] | None = None, min_size: int = 2, max_size: int = 3
) -> SearchStrategy[Composition]:
    """Compositions of these parts, by default of any guarantees and mechanisms.

    >>> from dpsym.testing import simplest
    >>> simplest(compositions(guarantees("PureDP")))
    compose(PureDP(0), PureDP(0))
    """
    return st.lists(_ones() if parts is None else parts, min_size=min_size, max_size=max_size).map(
        lambda found: compose(*found)
    )


register("compose", compositions)


@register("both")
def _both() -> SearchStrategy[Any]:
    return st.lists(guarantees(), min_size=2, max_size=3).map(lambda found: both(*found))


@register("postprocess")
def _processed() -> SearchStrategy[Any]:
    return guarantees().map(postprocess)


@register("repeat")
def _repeated() -> SearchStrategy[Any]:
    return st.builds(repeat, _ones(), st.integers(1, 16))


@register("group")
def _grouped() -> SearchStrategy[Any]:
    return st.builds(group, _ones(), st.integers(1, 8))


@register("subsample")
def _sampled() -> SearchStrategy[Any]:
    rates = exact(rationals(0, 1))
    ways: list[tuple[str, int | None]] = [("poisson", None), ("without_replacement", None)]
    ways += [("with_replacement", draws) for draws in (1, 2, 3)]
    one = st.builds(
        lambda subject, rate, way: subsample(subject, rate, *way),
        _ones(),
        rates,
        st.sampled_from(ways),
    )
    lists = st.lists(guarantees(), min_size=1, max_size=3)
    each = st.builds(
        lambda known, rate: subsample(known, rate, "with_replacement", len(known)), lists, rates
    )
    return st.one_of(one, each)


@register("parallel")
def _parallel() -> SearchStrategy[Any]:
    added = _ones().filter(lambda part: getattr(part, "relation", None) != "replace-one")
    return st.lists(added, min_size=1, max_size=3).map(lambda parts: parallel(*parts))


@register("filtered")
def _filtered() -> SearchStrategy[Any]:
    """Of one parameter each: that of pure, zero-concentrated or Rényi privacy."""
    x = sp.Symbol("x", nonnegative=True)
    kinds: Sequence[Any] = [NOTIONS["PureDP"](x), NOTIONS["ZCDP"](x), NOTIONS["RenyiDP"](2, x)]  # type: ignore[call-arg]
    return st.builds(
        lambda kind, most: filtered(kind, x, most), st.sampled_from(kinds), _positive()
    )


def subjects() -> SearchStrategy[Any]:
    """All that ``check`` takes as a subject: guarantees, mechanisms, and what is made of them."""
    made = [strategy_for(name) for name in COMBINATORS if name != "both"]
    return st.one_of(_ones(), *made)
