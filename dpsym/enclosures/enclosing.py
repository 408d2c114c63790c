"""``enclose``: the smallest number with which a claim about a mechanism holds, between bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import sympy as sp
from flint import arb

from dpsym.enclosures import divergences
from dpsym.enclosures.asked import Values, bits_of, unsupported, values_and_box, values_of
from dpsym.enclosures.best import at_end, excess, of_claim
from dpsym.enclosures.boxes import largest, range_of, smallest
from dpsym.enclosures.enclosure import Enclosure, enclosure_of
from dpsym.enclosures.failures import Infinite, NoEnclosureError, Undecided
from dpsym.enclosures.families import SHARE, Shifts, at, worst_pairs
from dpsym.enclosures.settling import Settled, settle
from dpsym.enclosures.solving import Test, crossing
from dpsym.errors import InputError
from dpsym.guarantees import ZCDP, ApproxDP, Guarantee, PureDP, RenyiDP
from dpsym.translate import exact

if TYPE_CHECKING:
    from dpsym.enclosures.divergences import Pair
    from dpsym.mechanisms.base import Mechanism, Neighbours

__all__ = ["enclose", "holds", "masses"]

_AT_A_POINT, _OVER_A_BOX = sp.Rational(1, 10**12), sp.Rational(1, 1000)
_SPARE = 6  # bits beyond the width over a box, so that its parts are what makes it wide
_ALL_SHIFTS = {SHARE: (sp.Rational(0), sp.Rational(1))}
_BITS_TO_SETTLE = 30
_BOUNDED = {ApproxDP: "delta", PureDP: "epsilon", RenyiDP: "epsilon", ZCDP: "rho"}
_NOTIONS = "ApproxDP, PureDP, RenyiDP and ZCDP"


def enclose(
    mechanism: Mechanism,
    claim: Guarantee,
    solve_for: sp.Symbol | None = None,
    width: object = None,
    where: object = None,
    cells: int = 300,
) -> Enclosure:
    """Two exact numbers with the best parameter of a claim, or of the mechanism, between them.

    Computed in ball arithmetic, over all neighbours, in both directions unless the claim is one
    way. What is asked for is a symbol of the claim:

    * delta of ``ApproxDP``: the hockey-stick divergence at eps, the smallest delta that is true;
    * eps of ``ApproxDP`` (the smallest one >= 0 at this delta), of ``RenyiDP`` and ``PureDP``;
    * rho of ``ZCDP``;

    or a symbol of the mechanism. Then the claim is certified to fail at the lower end and to hold
    at the upper one (or the other way round, if larger values make it fail), and nothing is said
    of a second crossing elsewhere.

    All shifts up to the sensitivity count. Where it is not seen from the density that the largest
    one is the worst, the range of the shifts is split into parts; over a box, the lower number is
    then one for the largest shift alone.

    ``where`` may have intervals for parameters, of the mechanism or the claim. Then the answer
    holds for all of them: every value lies between the two numbers, so that the claim is true with
    the upper one for every parameter in the box. This rests on ball arithmetic over a subdivision
    of the box; it is a bound, not a theorem of the kernel.

    Args:
        mechanism: numbers for all parameters but the one that is solved for.
        claim: the guarantee, numbers but for that symbol.
        solve_for: the symbol; by default the only one that is left.
        width: the relative width to aim for, by default 1e-12; the answer may be wider, never
            wrong. Over a box: how far each end may be from a value that is taken there, by default
            1e-3.
        where: ``{symbol: number}``, numbers for parameters; or ``{symbol: Interval(a, b)}``.
        cells: the most parts to split a box into.

    Raises: InputError for a parameter without a number; UnsupportedError for a function or a
    claim that it has no method for, and for a box that it finds no bounds for.

    >>> import dpsym as dp
    >>> delta = sp.Symbol("delta", nonnegative=True)
    >>> laplace = dp.AdditiveNoise(dp.noise.Laplace(scale=1), sensitivity=1)
    >>> found = laplace.enclose(dp.ApproxDP(0.5, delta), solve_for=delta)
    >>> found.lower <= 1 - sp.exp(-sp.Rational(1, 4)) <= found.upper, found.relative_width < 1e-12
    (True, True)
    >>> b = sp.Symbol("b", positive=True)
    >>> laplace = dp.AdditiveNoise(dp.noise.Laplace(scale=b), sensitivity=1)
    >>> found = laplace.enclose(dp.ApproxDP(0, delta), where={b: sp.Interval(1, 2)})
    >>> found.lower <= 1 - sp.exp(-sp.Rational(1, 4)), 1 - sp.exp(-sp.Rational(1, 2)) <= found.upper
    (True, True)
    """
    values, box = values_and_box(where, mechanism, claim)
    question = _question(mechanism, claim, solve_for, values, frozenset(box))
    wide = exact(_OVER_A_BOX if width is None else width, "width")
    if box:
        effort = _Effort(bits_of(wide) + _SPARE, wide, cells)

        def value(more: Values) -> Enclosure:
            return question.answer({**values, **more}, effort)

        if question.searches({**values, **{symbol: span[0] for symbol, span in box.items()}}):
            low = smallest(lambda more: value({**more, SHARE: sp.S.One}), box, wide, cells)
            high = largest(value, {**box, **_ALL_SHIFTS}, wide, cells)
            return Enclosure(low.lower, high.upper)
        return range_of(value, box, wide, cells)
    bits = bits_of(_AT_A_POINT if width is None else width)
    try:
        return question.answer(values, _Effort(bits, wide, cells))
    except Undecided as reason:
        raise unsupported(reason) from None
    except Infinite:
        return Enclosure(sp.oo, sp.oo)


def holds(
    mechanism: Mechanism, claim: Guarantee, where: object = None, cells: int = 300
) -> Settled:
    """Whether a claim holds for all parameters in a box, by subdivision and ball arithmetic.

    ``check`` proves a claim for all parameters there are, and gives a theorem; this answers where
    there is no closed form, for parameters between two ends. A claim that holds with equality
    somewhere is not settled by it.

    Args:
        mechanism, claim: with a number or an interval in ``where`` for each of their symbols.
        where: ``{symbol: number}`` or ``{symbol: Interval(a, b)}``.
        cells: the most parts to split the box into.

    Raises: InputError for a symbol without a number; UnsupportedError for a function or a claim
    that it has no method for.

    >>> import dpsym as dp
    >>> b = sp.Symbol("b", positive=True)
    >>> logistic = dp.AdditiveNoise(dp.noise.Logistic(scale=b), sensitivity=1)
    >>> box = {b: sp.Interval(2, 3)}
    >>> holds(logistic, dp.ApproxDP(sp.Rational(1, 10), sp.Rational(1, 5)), box)
    Settled(holds for all parameters in the box)
    >>> holds(logistic, dp.ApproxDP(1 / (4 * b), sp.Rational(1, 100)), box)
    Settled(fails at b = 2)
    """
    values, box = values_and_box(where, mechanism, claim)
    fields = _fields(claim, values)
    others = set().union(*_free(mechanism, fields, values)) - set(box)
    if others:
        raise InputError("where", "a number for every parameter", sorted(map(str, others)))
    families = mechanism.neighbours()

    def test(more: Values) -> arb:
        numbers = {**values, **more}
        own = {name: expr.xreplace(numbers) for name, expr in fields.items()}
        own = at_end(own, _BOUNDED[type(claim)], upper=True)
        worst = worst_pairs(at(families, numbers), claim.one_way)
        pairs = list(worst.above)
        for shifts in worst.shifts:
            if SHARE not in more:
                raise Undecided("which shift is the worst")
            pairs += shifts.pairs(more[SHARE])
        return excess(tuple(pairs), claim, own, _BITS_TO_SETTLE)

    corner = {symbol: span[0] for symbol, span in box.items()}
    if worst_pairs(at(families, {**values, **corner}), claim.one_way).shifts:
        found = settle(test, {**box, **_ALL_SHIFTS}, cells)
        places = {symbol: place for symbol, place in found.where.items() if symbol != SHARE}
        return replace(found, where=places)
    return settle(test, box, cells)


def masses(mechanism: Mechanism, where: object = None, width: object = 1e-12) -> list[Enclosure]:
    """The certified total masses of the densities, p and q of every pair at the largest shift.

    >>> import dpsym as dp
    >>> x = sp.Symbol("x", real=True)
    >>> pair = dp.DensityPair(sp.exp(-x), 2 * sp.exp(-x), x, sp.Interval(0, sp.oo))
    >>> [mass.lower <= true <= mass.upper for mass, true in zip(masses(pair), (1, 2))]
    [True, True]
    """
    bits = bits_of(width)
    out = []
    for _, pair in largest_pairs(mechanism, where):
        for side in (pair, pair.reversed()):
            try:
                out.append(enclosure_of(divergences.mass(side, bits)))
            except Infinite:
                out.append(Enclosure(sp.oo, sp.oo))
            except Undecided as reason:
                raise unsupported(reason) from None
    return out


def largest_pairs(
    mechanism: Mechanism, where: object
) -> Iterator[tuple[Neighbours, divergences.Pair]]:
    """The families at numbers, each with its pair at the largest shift."""
    for family in at(mechanism.neighbours(), values_of(where, mechanism)):
        parts = family.parts
        if family.shift is not None:
            parts = at([family], {family.shift: family.high or sp.S.Zero})[0].parts
        yield family, divergences.pair_of(parts)


# --- what is asked --------------------------------------------------------------------------------


Fields = dict[str, sp.Expr]


@dataclass(frozen=True)
class _Effort:
    """Bits of relative accuracy; and for shifts of which it is not known which is the worst, the
    width to aim for and the most parts."""

    bits: int
    width: sp.Rational
    cells: int


@dataclass(frozen=True)
class _Question:
    """Raises: Infinite; Undecided; UnsupportedError."""

    answer: Callable[[Values, _Effort], Enclosure]
    searches: Callable[[Values], bool] = lambda _: False  # whether the worst shift is not known


def _fields(claim: object, values: Values) -> Fields:
    if not isinstance(claim, (ApproxDP, PureDP, RenyiDP, ZCDP)):
        raise NoEnclosureError(f"{type(claim).__name__} is none of {_NOTIONS}")
    found = ((name, getattr(claim, name)) for name in claim.fields)
    return {
        name: expr.xreplace(values) if isinstance(expr, sp.Expr) else expr for name, expr in found
    }


def _free(mechanism: Mechanism, fields: Fields, values: Values) -> tuple[set[sp.Symbol], ...]:
    """The symbols of the mechanism, and of the claim, that are not settled yet."""
    parameters = (expr.xreplace(values) for _, expr in mechanism.parameters())
    of_mechanism: set[sp.Symbol] = set().union(*(expr.free_symbols for expr in parameters))
    return of_mechanism, set().union(*(expr.free_symbols for expr in fields.values()))


def _question(
    mechanism: Mechanism,
    claim: Guarantee,
    solve_for: object,
    values: Values,
    varied: frozenset[sp.Symbol],
) -> _Question:
    fields = _fields(claim, values)
    in_mechanism, in_claim = _free(mechanism, fields, values)
    symbol = _unknown(solve_for, (in_claim | in_mechanism) - varied)
    others = (in_claim | in_mechanism) - {symbol} - varied
    if others:
        raise InputError("where", "a number for every parameter but one", sorted(map(str, others)))
    families = mechanism.neighbours()
    if symbol in in_mechanism:
        if varied:
            raise NoEnclosureError("a parameter of the mechanism is solved for at numbers only")
        return _parameter(families, claim, fields, symbol)
    name = next((name for name, expr in fields.items() if expr == symbol), None)
    if name is None or sum(symbol in expr.free_symbols for expr in fields.values()) > 1:
        raise InputError("solve_for", "a symbol that is a parameter of the claim", symbol)

    def answer(numbers: Values, effort: _Effort) -> Enclosure:
        own = {name: expr.xreplace(numbers) for name, expr in fields.items()}
        above, below = (at_end(own, name, upper) for upper in (True, False))
        worst = worst_pairs(at(families, numbers), claim.one_way)

        def value(over: tuple[Pair, ...], under: tuple[Pair, ...]) -> Enclosure:
            high = of_claim(over, claim, above, name, effort.bits)
            if over == under and above == below:
                return high
            return Enclosure(of_claim(under, claim, below, name, effort.bits).lower, high.upper)

        found = [value(worst.above, worst.below)] if worst.above else []
        for shifts in worst.shifts:
            if SHARE in numbers:
                pairs = shifts.pairs(numbers[SHARE])
                found.append(value(pairs, pairs))
                continue

            def at_shift(share: Values, shifts: Shifts = shifts) -> Enclosure:
                pairs = shifts.pairs(share[SHARE])
                return value(pairs, pairs)

            found.append(largest(at_shift, _ALL_SHIFTS, effort.width, effort.cells))
        return Enclosure(max(item.lower for item in found), max(item.upper for item in found))

    def searches(numbers: Values) -> bool:
        return bool(worst_pairs(at(families, numbers), claim.one_way).shifts)

    return _Question(answer, searches)


def _unknown(solve_for: object, free: set[sp.Symbol]) -> sp.Symbol:
    if solve_for is None and len(free) == 1:
        return next(iter(free))
    if solve_for not in free or not isinstance(solve_for, sp.Symbol):
        raise InputError("solve_for", f"one of the symbols {sorted(map(str, free))}", solve_for)
    return solve_for


# --- a parameter of the mechanism -----------------------------------------------------------------


def _parameter(
    families: tuple[Neighbours, ...], claim: Guarantee, fields: Fields, symbol: sp.Symbol
) -> _Question:
    if symbol.is_integer:
        raise NoEnclosureError(f"{symbol} is an integer, and only real parameters are solved for")

    def measure(values: Values, value: sp.Rational, bits: int) -> arb:
        """How much the claim fails, below 0 if it holds."""
        numbers = {**values, symbol: value}
        worst = worst_pairs(at(families, numbers), claim.one_way)
        if worst.shifts:
            raise NoEnclosureError(
                "a parameter of the mechanism is solved for if it is known which shift is the worst"
            )
        own = {name: expr.xreplace({symbol: value}) for name, expr in fields.items()}
        try:
            return excess(worst.above, claim, own, bits)
        except Infinite:
            return arb(10) ** 9

    def answer(values: Values, effort: _Effort) -> Enclosure:
        bits = effort.bits
        test: Test = lambda value: measure(values, value, bits + 8)  # noqa: E731
        lowest = sp.S.Zero if symbol.is_nonnegative else None
        return crossing(test, bits, sp.S.One, lowest=lowest)

    return _Question(answer)
