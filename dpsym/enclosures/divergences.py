"""Divergences of one pair of distributions at given numbers, over all of its parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import flint
import sympy as sp
from flint import arb

from dpsym.enclosures import continuous, fog, integers
from dpsym.enclosures.continuous import Measured
from dpsym.enclosures.failures import Infinite, Undecided
from dpsym.enclosures.integers import Run
from dpsym.enclosures.numbers import ball, sign
from dpsym.enclosures.pieces import Fog, Piece, pieces_and_fog
from dpsym.enclosures.scale import smallness
from dpsym.enclosures.within import is_exact
from dpsym.errors import InputError, UnsupportedError
from dpsym.mechanisms.base import Part

__all__ = [
    "Pair",
    "greatest",
    "hockey_stick",
    "largest_loss",
    "mass",
    "moment",
    "pair_of",
    "refined",
    "singular_mass",
]

_ZERO = arb(0)
_MAX_BITS = 1 << 13
_MAX_ROUNDS = 24
_MASS_BITS = 40
_MOST_FOR_TAILS = 1024
_COARSEST = 1024  # for the largest loss of a pair that is known roughly
_FARTHEST = 1 << 15  # tails down to 2**-this


@dataclass(frozen=True)
class Pair:
    """Two distributions: pieces of the line and the fog between them, runs of integers, and atoms
    (p, q, how many)."""

    line: tuple[Piece, ...] = ()
    lattice: tuple[Run, ...] = ()
    atoms: tuple[tuple[sp.Expr, sp.Expr, sp.Expr], ...] = ()
    normalised: bool = True
    exact: bool = True  # no constant is known by an interval only
    fog: tuple[Fog, ...] = ()

    def reversed(self) -> Pair:
        return Pair(
            tuple(Piece(a.start, a.end, a.q, a.p) for a in self.line),
            tuple(Run(a.first, a.last, a.q, a.p) for a in self.lattice),
            tuple((q, p, count) for p, q, count in self.atoms),
            self.normalised,
            self.exact,
            tuple(item.reversed() for item in self.fog),
        )


@lru_cache(maxsize=256)
def pair_of(parts: tuple[Part, ...], normalised: bool = True) -> Pair:
    """The pair at given numbers: no symbols but the output variables.

    Raises: UnsupportedError, InputError.
    """
    line: list[Piece] = []
    lattice: list[Run] = []
    between: list[Fog] = []
    atoms = []
    for part in parts:
        if part.variable is None:
            atoms.append((part.p, part.q, part.weight))
            continue
        start, end = part.support.inf, part.support.sup
        _refuse_symbols(part)
        if part.integer:
            lattice += integers.runs(part.p, part.q, part.variable, start, end)
        else:
            found, unclear = pieces_and_fog(part.p, part.q, part.variable, start, end)
            line += found
            between += unclear
    exact = all(is_exact(item) for part in parts for item in (part.p, part.q, part.support))
    return Pair(tuple(line), tuple(lattice), tuple(atoms), normalised, exact, tuple(between))


def _refuse_symbols(part: Part) -> None:
    free = (part.p.free_symbols | part.q.free_symbols | part.support.free_symbols) - {part.variable}
    if free:
        raise InputError("where", "a number for every parameter", sorted(map(str, free)))


# --- to a given accuracy --------------------------------------------------------------------------


def refined(
    measure: Callable[[arb, int], Measured],
    bits: int,
    enough: arb | None = None,
    hint: int = 0,
    exact: bool = True,
) -> arb:
    """A measure >= 0 to so many bits of relative accuracy, if more precision and longer ranges
    can bring that; otherwise as well as it goes. A value below ``enough`` may be less accurate.
    ``hint`` is about -log2 of the value. Unless ``exact``, precision brings little.

    Raises: Infinite; Undecided.
    """
    far = bits + min(hint, _FARTHEST // 4)
    precision = min(far + 36, max(_MOST_FOR_TAILS, bits + 36))
    most = _MAX_BITS if exact else 2 * precision
    best: arb | None = None
    for _ in range(_MAX_ROUNDS):
        with flint.ctx.workprec(precision):
            try:
                found = measure(arb(2) ** -far, bits + 4)
            except Undecided:
                if precision >= most:
                    if best is None:
                        raise
                    return best
                precision *= 2
                continue
            value = found.value
            if value.is_finite() and (best is None or value.rad() < best.rad()):
                best = value
            if value == 0 or (enough is not None and value < enough):
                return value
            error = value.rad()
            if value > 0 and error < value.lower() * arb(2) ** -bits:
                return value
            if value.is_finite() and found.tails > error / 4:
                if value > 0:
                    wanted = bits + 4 - _exponent(value.lower())
                    far = max(wanted, far + 8)
                else:
                    far *= 3
                # what small tails are small against may come from small losses too
                precision = max(precision, min(far + 36, _MOST_FOR_TAILS))
            elif precision < most and not (best is not None and not exact):
                precision *= 2
            else:
                break
            if far > _FARTHEST:
                break
    if best is None:
        raise Undecided("the precision")
    return best


def _exponent(value: arb) -> int:
    """About log2 of a positive number, -4 * _FARTHEST if it is smaller."""
    if value < arb(2) ** (-4 * _FARTHEST):
        return -4 * _FARTHEST
    mantissa, shift = value.man_exp()
    return int(mantissa).bit_length() + int(shift) - 1


def _over(
    pair: Pair,
    measure: Callable[[arb, int], Measured],
    bits: int,
    enough: arb | None = None,
    hint: int = 0,
    exact: bool = True,
) -> arb:
    """The measure, divided by the total mass if the densities are not normalised."""
    exact = exact and pair.exact
    if pair.normalised:
        return refined(measure, bits, enough, hint, exact)
    total = mass(pair, bits + 2)
    value = refined(measure, bits + 2, None if enough is None else enough * total, hint, exact)
    with flint.ctx.workprec(bits + 36):
        return value / total


def _sum(*measured: Measured) -> Measured:
    return Measured(
        sum((item.value for item in measured), _ZERO), sum((item.tails for item in measured), _ZERO)
    )


def _exactly(value: arb) -> Measured:
    return Measured(value, _ZERO)


# --- the divergences -----------------------------------------------------------------------------


def refuse_two_factors(pair: Pair, at: str = "") -> None:
    """InputError for densities that no common factor makes distributions: that have no finite mass,
    or certainly not the same one. Says nothing where the masses are not found. ``at`` says at which
    parameters, in words."""
    found: list[str] = []
    totals: list[arb] = []
    for side in (pair, pair.reversed()):
        try:
            totals.append(mass(side, _MASS_BITS))
            found.append(totals[-1].str(12, radius=False))
        except Infinite:
            found.append("oo")
        except (Undecided, UnsupportedError):
            return
    if len(totals) < 2 or not totals[0].overlaps(totals[1]):
        raise InputError(
            "normalised",
            "densities p and q that one common factor makes distributions: of the same finite mass",
            tuple(found),
            got=f"masses {found[0]} of p and {found[1]} of q{at}",
        )


def mass(pair: Pair, bits: int) -> arb:
    """The total mass of p."""

    def measure(tolerance: arb, accuracy: int) -> Measured:
        line = [(piece, piece.p) for piece in pair.line if piece.p is not None]
        lattice = [(run, run.p) for run in pair.lattice if run.p is not None]
        atoms = [ball(p) * ball(count) for p, _, count in pair.atoms]
        return _sum(
            continuous.mass(line, tolerance, accuracy),
            integers.mass(lattice, tolerance),
            _exactly(sum(atoms, _ZERO) + fog.mass(pair.fog)),
        )

    return refined(measure, bits, exact=pair.exact)


def hockey_stick(pair: Pair, eps: sp.Expr, bits: int, enough: arb | None = None) -> arb:
    """The integral of ``max(0, p - exp(eps) * q)``; below ``enough`` it may be less accurate."""

    def measure(tolerance: arb, accuracy: int) -> Measured:
        return _sum(
            continuous.hockey_stick(pair.line, eps, tolerance, accuracy),
            integers.hockey_stick(pair.lattice, eps, tolerance),
            _exactly(_atoms_over(pair, eps) + fog.hockey_stick(pair.fog, eps)),
        )

    return _over(pair, measure, bits, enough, _hint(pair, eps), is_exact(eps))


def _hint(pair: Pair, eps: sp.Expr) -> int:
    if pair.atoms:
        return 0
    with flint.ctx.workprec(53):
        line = [smallness(piece.start, piece.end, piece.p, piece.q, eps) for piece in pair.line]
        lattice = [smallness(run.first, run.last, run.p, run.q, eps) for run in pair.lattice]
    return min((found for found in (*line, *lattice) if found is not None), default=0)


def _atoms_over(pair: Pair, eps: sp.Expr) -> arb:
    total = _ZERO
    for p, q, count in pair.atoms:
        gap = p - sp.exp(eps) * q
        try:
            if sign(gap) > 0:
                total += ball(count) * ball(gap)
        except Undecided:
            if is_exact(gap):
                raise
            total += ball(count) * ball(gap).max(_ZERO)
    return total


def singular_mass(pair: Pair, bits: int) -> arb:
    """The mass that P has where Q has none: the limit of the hockey-stick divergence."""
    line = tuple(piece for piece in pair.line if piece.q is None)
    lattice = tuple(run for run in pair.lattice if run.q is None)
    atoms = tuple(atom for atom in pair.atoms if sign(atom[1]) == 0)
    if not (line or lattice or atoms):
        return _ZERO
    if pair.fog:
        raise Undecided("where q is positive")
    return hockey_stick(Pair(line, lattice, atoms, pair.normalised, pair.exact), sp.S.Zero, bits)


def moment(pair: Pair, alpha: sp.Expr, bits: int) -> arb:
    """The integral of ``p**alpha * q**(1 - alpha)``, or of ``p * log(p / q)`` if alpha is 1.

    Raises: Infinite.
    """

    def measure(tolerance: arb, accuracy: int) -> Measured:
        if alpha == 1:
            line = continuous.kullback_leibler(pair.line, tolerance, accuracy)
        else:
            line = continuous.moment(pair.line, alpha, tolerance, accuracy)
        return _sum(
            line,
            integers.moment(pair.lattice, alpha, tolerance),
            _exactly(_atoms_moment(pair, alpha) + fog.moment(pair.fog, alpha)),
        )

    return _over(pair, measure, bits, exact=is_exact(alpha))


def _atoms_moment(pair: Pair, alpha: sp.Expr) -> arb:
    total = _ZERO
    for p, q, count in pair.atoms:
        at_p, at_q = sign(p), sign(q)
        if at_p == 0:
            continue
        if at_q == 0:
            if sign(alpha - 1) >= 0:
                raise Infinite
            continue
        loss = (ball(p) / ball(q)).log()
        term = loss if alpha == 1 else (loss * (ball(alpha) - 1)).exp()
        total += ball(count) * ball(p) * term
    return total


def largest_loss(pair: Pair, bits: int) -> arb:
    """The supremum of ``log(p / q)`` where p > 0. Raises: Infinite; Undecided."""
    tolerance = arb(2) ** -bits
    precision = bits + 36
    best: arb | None = None
    while precision <= 4 * (bits + 36):
        with flint.ctx.workprec(precision):
            try:
                found = _largest(pair, tolerance)
            except Undecided:
                if not pair.exact and tolerance < _COARSEST:
                    tolerance = tolerance * 256
                    continue
                precision *= 2
                continue
            if best is None or found.rad() < best.rad():
                best = found
            if found.rad() <= abs(found.mid()) * arb(2) ** -bits:
                return found
            if not pair.exact:
                break
            tolerance = tolerance * abs(found).lower() * arb(2) ** -4
            if not tolerance > 0:
                tolerance = arb(2) ** (-2 * bits)
        precision *= 2
    if best is None:
        raise Undecided("the largest loss")
    return best


def _largest(pair: Pair, tolerance: arb) -> arb:
    values = []
    if pair.line:
        values.append(continuous.largest_loss(pair.line, tolerance))
    if pair.lattice:
        values.append(integers.largest_loss(pair.lattice, tolerance))
    for p, q, _ in pair.atoms:
        if sign(p) == 0:
            continue
        if sign(q) == 0:
            raise Infinite
        values.append(ball(sp.log(p / q)))
    highest = fog.highest_loss(pair.fog)
    if not values:
        raise Undecided("where the densities are positive")
    found = greatest(values)
    return found.union(found.max(highest)) if highest > arb.neg_inf() else found


def greatest(values: Sequence[arb]) -> arb:
    """The largest of numbers in balls."""
    out = values[0]
    for value in values[1:]:
        out = out.max(value)
    return out
