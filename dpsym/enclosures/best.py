"""The best parameter of a claim about given pairs, and how far a claim fails for them."""

from __future__ import annotations

from collections.abc import Mapping

import flint
import sympy as sp
from flint import arb, fmpq

from dpsym.enclosures import divergences
from dpsym.enclosures.closed import gaussian_renyi
from dpsym.enclosures.divergences import Pair
from dpsym.enclosures.enclosure import Enclosure, enclosure_of, ends
from dpsym.enclosures.failures import Infinite, NoEnclosureError, Undecided
from dpsym.enclosures.numbers import ball, sign
from dpsym.enclosures.orders import smallest_rho
from dpsym.enclosures.solving import crossing, descent
from dpsym.enclosures.within import is_exact
from dpsym.errors import InputError
from dpsym.guarantees import ZCDP, ApproxDP, Guarantee, PureDP, RenyiDP

__all__ = ["at_end", "excess", "of_claim"]

Fields = Mapping[str, sp.Expr]
_ABOVE_ONE = sp.Rational(9, 8)  # an order whose divergence bounds that of order 1


def at_end(fields: Fields, name: str, upper: bool) -> dict[str, sp.Expr]:
    """The other parameters of a claim at the numbers that make the one called ``name`` largest, or
    smallest: hockey-stick divergences fall with epsilon, those of Rényi do not fall with alpha
    (van Erven, Harremoës, 2014, theorem 3)."""
    out = dict(fields)
    for other, rises in (("epsilon", False), ("alpha", True), ("delta", False)):
        value = out.get(other)
        if other != name and value is not None and value is not sp.oo:
            out[other] = ends(value)[rises == upper]
    return out


def of_claim(
    pairs: tuple[Pair, ...], claim: Guarantee, fields: Fields, name: str, bits: int
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
        return smallest_rho(pairs, bits, renyi_of)
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
    return divergences.greatest([renyi_of(pair, alpha, bits) for pair in pairs])


def renyi_of(pair: Pair, alpha: sp.Expr, bits: int) -> arb:
    closed = gaussian_renyi(pair, alpha)
    if closed is not None:
        with flint.ctx.workprec(bits + 36):
            return ball(closed)
    if alpha == 1:
        try:
            return divergences.moment(pair, alpha, bits)
        except Undecided:
            if pair.exact:
                raise
            return arb(0).union(renyi_of(pair, _ABOVE_ONE, bits).upper())
    extra = 0
    while True:
        inside = divergences.moment(pair, alpha, bits + extra)
        with flint.ctx.workprec(bits + extra + 36):
            value = inside.log() / (ball(alpha) - 1)
        settled = value.rad() <= abs(value).lower() * arb(2) ** -bits or extra > 4 * bits
        if settled or not (pair.exact and is_exact(alpha)):
            return value
        missing = bits - value.rel_accuracy_bits()
        extra += min(max(int(missing) + 4, 8), 4 * bits)


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
    if not (is_exact(delta) and all(pair.exact for pair in pairs)):
        return descent(test, bits)
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


# --- how far a claim fails ------------------------------------------------------------------------


def excess(pairs: tuple[Pair, ...], claim: Guarantee, fields: Fields, bits: int) -> arb:
    if isinstance(claim, ApproxDP) and sign(fields["delta"]) > 0:
        return _over_delta(pairs, fields["epsilon"], fields["delta"], bits)
    if isinstance(claim, (ApproxDP, PureDP)) or fields.get("alpha") is sp.oo:
        return _margin(_largest_loss(pairs, bits), fields["epsilon"])
    if isinstance(claim, RenyiDP):
        return _margin(_renyi(pairs, fields["alpha"], bits), fields["epsilon"])
    found = smallest_rho(pairs, bits, renyi_of)
    ends = [arb(fmpq(int(end.p), int(end.q))) for end in found]
    return _margin(ends[0].union(ends[1]), fields["rho"])
