"""``enclose``: the smallest number with which a claim about a mechanism holds, between bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import flint
import sympy as sp
from flint import arb, fmpq

from dpsym.enclosures import divergences
from dpsym.enclosures.asked import Values, bits_of, unsupported, values_and_box, values_of
from dpsym.enclosures.boxes import range_of
from dpsym.enclosures.closed import gaussian_renyi
from dpsym.enclosures.enclosure import Enclosure, enclosure_of
from dpsym.enclosures.failures import Infinite, NoEnclosureError, Undecided
from dpsym.enclosures.families import at, worst_pairs
from dpsym.enclosures.numbers import ball, sign
from dpsym.enclosures.orders import smallest_rho
from dpsym.enclosures.solving import Test, crossing
from dpsym.enclosures.within import is_exact
from dpsym.errors import InputError
from dpsym.guarantees import ZCDP, ApproxDP, Guarantee, PureDP, RenyiDP
from dpsym.translate import exact

if TYPE_CHECKING:
    from dpsym.enclosures.divergences import Pair
    from dpsym.mechanisms.base import Mechanism

__all__ = ["enclose", "masses"]

_AT_A_POINT, _OVER_A_BOX = sp.Rational(1, 10**12), sp.Rational(1, 1000)
_SPARE = 6  # bits beyond the width over a box, so that its parts are what makes it wide
_NOTIONS = "ApproxDP, PureDP, RenyiDP and ZCDP"


def enclose(
    mechanism: Mechanism,
    claim: Guarantee,
    solve_for: sp.Symbol | None = None,
    width: object = None,
    where: object = None,
    cells: int = 1000,
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
    >>> found.lower <= 1 - sp.exp(-sp.Rational(1, 4)) < 1 - sp.exp(-sp.Rational(1, 2)) <= found.upper
    True
    """
    values, box = values_and_box(where, mechanism, claim)
    question = _question(mechanism, claim, solve_for, values, frozenset(box))
    if box:
        accuracy = exact(_OVER_A_BOX if width is None else width, "width")
        bits = bits_of(accuracy) + _SPARE

        def value(more: Values) -> Enclosure:
            return question.answer({**values, **more}, bits)

        return range_of(value, box, accuracy, cells)
    try:
        return question.answer(values, bits_of(_AT_A_POINT if width is None else width))
    except Undecided as reason:
        raise unsupported(reason) from None
    except Infinite:
        return Enclosure(sp.oo, sp.oo)


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
    for family in at(mechanism.neighbours(), values_of(where, mechanism)):
        parts = family.parts
        if family.shift is not None:
            parts = at([family], {family.shift: family.high or sp.S.Zero})[0].parts
        pair = divergences.pair_of(parts)
        for side in (pair, pair.reversed()):
            try:
                out.append(enclosure_of(divergences.mass(side, bits)))
            except Infinite:
                out.append(Enclosure(sp.oo, sp.oo))
            except Undecided as reason:
                raise unsupported(reason) from None
    return out


# --- what is asked --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Question:
    """Raises: Infinite; Undecided; NoEnclosureError."""

    answer: Callable[[Values, int], Enclosure]


def _question(
    mechanism: Mechanism,
    claim: Guarantee,
    solve_for: object,
    values: Values,
    varied: frozenset[sp.Symbol],
) -> _Question:
    if not isinstance(claim, (ApproxDP, PureDP, RenyiDP, ZCDP)):
        raise NoEnclosureError(f"{type(claim).__name__} is none of {_NOTIONS}")
    fields = {
        name: expr.xreplace(values) if isinstance(expr, sp.Expr) else expr
        for name, expr in ((name, getattr(claim, name)) for name in claim.fields)
    }
    of_claim = set().union(*(expr.free_symbols for expr in fields.values()))
    parameters = (expr.xreplace(values) for _, expr in mechanism.parameters())
    of_mechanism = set().union(*(expr.free_symbols for expr in parameters))
    symbol = _unknown(solve_for, (of_claim | of_mechanism) - varied)
    others = (of_claim | of_mechanism) - {symbol} - varied
    if others:
        raise InputError("where", "a number for every parameter but one", sorted(map(str, others)))
    families = mechanism.neighbours()
    if symbol in of_mechanism:
        if varied:
            raise NoEnclosureError("a parameter of the mechanism is solved for at numbers only")
        return _parameter(families, claim, fields, symbol)
    name = next((name for name, expr in fields.items() if expr == symbol), None)
    if name is None or sum(symbol in expr.free_symbols for expr in fields.values()) > 1:
        raise InputError("solve_for", "a symbol that is a parameter of the claim", symbol)
    if varied and isinstance(claim, ApproxDP) and name == "epsilon":
        raise NoEnclosureError("epsilon at a given delta is solved for at numbers only")

    def answer(numbers: Values, bits: int) -> Enclosure:
        own = {name: expr.xreplace(numbers) for name, expr in fields.items()}
        pairs = worst_pairs(at(families, numbers), claim.one_way)
        return _of_claim(pairs, claim, own, name, bits)

    return _Question(answer)


def _unknown(solve_for: object, free: set[sp.Symbol]) -> sp.Symbol:
    if solve_for is None and len(free) == 1:
        return next(iter(free))
    if solve_for not in free or not isinstance(solve_for, sp.Symbol):
        raise InputError("solve_for", f"one of the symbols {sorted(map(str, free))}", solve_for)
    return solve_for


def _of_claim(
    pairs: tuple[Pair, ...], claim: Guarantee, fields: dict[str, sp.Expr], name: str, bits: int
) -> Enclosure:
    """Raises: Infinite; Undecided."""
    if isinstance(claim, ApproxDP) and name == "delta":
        found = _hockey_stick(pairs, fields["epsilon"], bits)
        return enclosure_of(found, sp.S.Zero, sp.S.One)
    if isinstance(claim, ApproxDP):
        return _epsilon_at(pairs, fields["delta"], bits)
    if isinstance(claim, PureDP) or fields.get("alpha") is sp.oo:
        return _pure(pairs, bits)
    if isinstance(claim, RenyiDP) and name == "epsilon":
        return _zero_or_more(_renyi(pairs, fields["alpha"], bits))
    if isinstance(claim, ZCDP):
        return smallest_rho(pairs, bits, _renyi_of)
    raise NoEnclosureError(f"{name} of {type(claim).__name__} is not solved for")


def _zero_or_more(value: arb) -> Enclosure:
    return enclosure_of(value, sp.S.Zero)


# --- divergences of the worst pair ----------------------------------------------------------------


def _hockey_stick(
    pairs: tuple[Pair, ...], eps: sp.Expr, bits: int, enough: arb | None = None
) -> arb:
    values = [divergences.hockey_stick(pair, eps, bits, enough) for pair in pairs]
    with flint.ctx.workprec(bits + 36):
        return divergences.greatest(values)


def _renyi(pairs: tuple[Pair, ...], alpha: sp.Expr, bits: int) -> arb:
    """The Rényi divergence, its own relative accuracy being what counts. Raises: Infinite."""
    if sign(alpha) <= 0:
        raise InputError("alpha", "an order > 0", alpha)
    return divergences.greatest([_renyi_of(pair, alpha, bits) for pair in pairs])


def _renyi_of(pair: Pair, alpha: sp.Expr, bits: int) -> arb:
    closed = gaussian_renyi(pair, alpha)
    if closed is not None:
        with flint.ctx.workprec(bits + 36):
            return ball(closed)
    if alpha == 1:
        return divergences.moment(pair, alpha, bits)
    extra = 0
    while True:
        inside = divergences.moment(pair, alpha, bits + extra)
        with flint.ctx.workprec(bits + extra + 36):
            value = inside.log() / (ball(alpha) - 1)
        settled = value.rad() <= abs(value).lower() * arb(2) ** -bits or extra > 4 * bits
        if settled or not (pair.exact and is_exact(alpha)):
            return value
        missing = bits - value.rel_accuracy_bits()
        extra += max(int(missing) + 4, 8)


def _largest_loss(pairs: tuple[Pair, ...], bits: int) -> arb:
    return divergences.greatest([divergences.largest_loss(pair, bits) for pair in pairs])


def _pure(pairs: tuple[Pair, ...], bits: int) -> Enclosure:
    return _zero_or_more(_largest_loss(pairs, bits))


def _epsilon_at(pairs: tuple[Pair, ...], delta: sp.Expr, bits: int) -> Enclosure:
    """The smallest eps >= 0 with a hockey-stick divergence of at most delta."""
    if sign(delta) <= 0:
        return _pure(pairs, bits)

    def test(eps: sp.Rational) -> arb:
        return _over_delta(pairs, eps, delta, bits + 8)

    if test(sp.S.Zero) <= 0:
        return Enclosure(sp.S.Zero, sp.S.Zero)
    singular = [divergences.singular_mass(pair, bits) for pair in pairs]
    if any(value > ball(delta) for value in singular):
        raise Infinite
    return crossing(test, bits, sp.S.One, lowest=sp.S.Zero)


def _over_delta(pairs: tuple[Pair, ...], eps: sp.Expr, delta: sp.Expr, bits: int) -> arb:
    """The margin of an ApproxDP claim; how far it holds matters little once it does by far."""
    found = _hockey_stick(pairs, eps, bits, ball(delta) / 1024)
    if found < ball(delta) / 1024:
        return arb(1) / 1024 - 7
    return _margin(found, delta)


def _margin(found: arb, claimed: sp.Expr) -> arb:
    """The logarithm of what is over what is claimed, > 0 if the claim fails."""
    with flint.ctx.workprec(max(flint.ctx.prec, 128)):
        bound = ball(claimed)
        if found > 0 and bound > 0:
            return (found / bound).log()
        return found - bound


# --- a parameter of the mechanism -----------------------------------------------------------------


def _parameter(
    families: tuple[object, ...],
    claim: Guarantee,
    fields: dict[str, sp.Expr],
    symbol: sp.Symbol,
) -> _Question:
    if symbol.is_integer:
        raise NoEnclosureError(f"{symbol} is an integer, and only real parameters are solved for")

    def measure(values: Values, value: sp.Rational, bits: int) -> arb:
        """How much the claim fails, below 0 if it holds."""
        numbers = {**values, symbol: value}
        pairs = worst_pairs(at(families, numbers), claim.one_way)  # type: ignore[arg-type]
        own = {name: expr.xreplace({symbol: value}) for name, expr in fields.items()}
        try:
            return _excess(pairs, claim, own, bits)
        except Infinite:
            return arb(10) ** 9

    def answer(values: Values, bits: int) -> Enclosure:
        test: Test = lambda value: measure(values, value, bits + 8)  # noqa: E731
        lowest = sp.S.Zero if symbol.is_nonnegative else None
        return crossing(test, bits, sp.S.One, lowest=lowest)

    return _Question(answer)


def _excess(
    pairs: tuple[Pair, ...], claim: Guarantee, fields: dict[str, sp.Expr], bits: int
) -> arb:
    if isinstance(claim, ApproxDP) and sign(fields["delta"]) > 0:
        return _over_delta(pairs, fields["epsilon"], fields["delta"], bits)
    if isinstance(claim, (ApproxDP, PureDP)) or fields.get("alpha") is sp.oo:
        return _margin(_largest_loss(pairs, bits), fields["epsilon"])
    if isinstance(claim, RenyiDP):
        return _margin(_renyi(pairs, fields["alpha"], bits), fields["epsilon"])
    found = smallest_rho(pairs, bits, _renyi_of)
    ends = [arb(fmpq(int(end.p), int(end.q))) for end in found]
    return _margin(ends[0].union(ends[1]), fields["rho"])
