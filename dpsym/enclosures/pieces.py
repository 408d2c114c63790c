"""The line, cut where Abs, Max, Min and Piecewise switch; between the cuts densities are smooth.

On each piece the branches are chosen for good, by the signs of the switches at one inner point
and the proof that they have no other root. Where cuts depend on constants that are known by
intervals only, their order may be open: there is fog between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import flint
import sympy as sp
from flint import arb, fmpq

from dpsym.enclosures.failures import NoEnclosureError, Undecided
from dpsym.enclosures.forms import ZERO, Product, to_product
from dpsym.enclosures.numbers import ball, sign
from dpsym.enclosures.reading import read
from dpsym.enclosures.within import is_exact
from dpsym.errors import InputError

__all__ = ["Fog", "Piece", "pieces", "pieces_and_fog"]

_RELATIONS = (sp.Gt, sp.Ge, sp.Lt, sp.Le, sp.Eq, sp.Ne)
_LIMIT = 200


@dataclass(frozen=True)
class Piece:
    """Between two ends, constants or infinite: the densities, None where one is 0."""

    start: sp.Expr
    end: sp.Expr
    p: Product | None
    q: Product | None


@dataclass(frozen=True)
class Fog:
    """A short range, perhaps an empty one, on which the branches have not been chosen."""

    start: sp.Expr
    end: sp.Expr
    p: sp.Expr
    q: sp.Expr
    x: sp.Symbol

    def reversed(self) -> Fog:
        return Fog(self.start, self.end, self.q, self.p, self.x)


@lru_cache(maxsize=512)
def pieces(p: sp.Expr, q: sp.Expr, x: sp.Symbol, start: sp.Expr, end: sp.Expr) -> tuple[Piece, ...]:
    """The pieces of [start, end], from the left.

    Raises: UnsupportedError, Undecided.

    >>> x = sp.Symbol("x", real=True)
    >>> found = pieces(sp.exp(-sp.Abs(x)), sp.exp(-sp.Abs(x - 1)), x, -sp.oo, sp.oo)
    >>> [(piece.start, piece.end) for piece in found]
    [(-oo, 0), (0, 1), (1, oo)]
    """
    found, fog = pieces_and_fog(p, q, x, start, end)
    if fog:
        raise Undecided("which end comes first")
    return found


@lru_cache(maxsize=512)
def pieces_and_fog(
    p: sp.Expr, q: sp.Expr, x: sp.Symbol, start: sp.Expr, end: sp.Expr
) -> tuple[tuple[Piece, ...], tuple[Fog, ...]]:
    """The pieces of [start, end], and what is between them.

    >>> from dpsym.enclosures.within import Within
    >>> x, t = sp.Symbol("x", real=True), Within("t", 0, sp.Rational(1, 8))
    >>> found, fog = pieces_and_fog(sp.exp(-sp.Abs(x)), sp.exp(-sp.Abs(x - t)), x, -sp.oo, sp.oo)
    >>> len(found), len(fog), all(-0.1 < item.start and item.end < 0.2 for item in fog)
    (2, 2, True)
    """
    out: list[Piece] = []
    fog: list[Fog] = []
    for low, high, first, second, clear in _cut(p, q, x, start, end):
        if clear:
            out.append(Piece(low, high, _form(first, x), _form(second, x)))
        else:
            fog.append(Fog(low, high, first, second, x))
        if len(out) + len(fog) > _LIMIT:
            raise NoEnclosureError(f"there are more than {_LIMIT} pieces")
    return tuple(out), tuple(fog)


def _form(expr: sp.Expr, x: sp.Symbol) -> Product | None:
    form = read(expr, x)
    if form == ZERO:
        return None
    return to_product(form)


def _cut(
    p: sp.Expr, q: sp.Expr, x: sp.Symbol, start: sp.Expr, end: sp.Expr
) -> Iterator[tuple[sp.Expr, sp.Expr, sp.Expr, sp.Expr, bool]]:
    """Ranges with the densities on them; and whether the branches are chosen there."""
    switch = next(_switches(p, x), None) or next(_switches(q, x), None)
    if switch is None:
        yield start, end, p, q, True
        return
    node, difference = switch
    for low, high, clear in _between(start, _roots(difference, x), end):
        at = _sign_between(difference, x, low, high) if clear else None
        if at is None:
            yield low, high, p, q, False
            continue
        chosen = _chosen(node, at)
        yield from _cut(p.xreplace({node: chosen}), q.xreplace({node: chosen}), x, low, high)


def _sign_between(difference: sp.Expr, x: sp.Symbol, low: sp.Expr, high: sp.Expr) -> int | None:
    """The sign of what has no root between two ends; None if intervals keep it open."""
    try:
        at = sign(difference.subs(x, _inside(low, high)))
        if at == 0:
            raise Undecided(f"the sign of {difference}")
    except Undecided:
        bounded = low is not -sp.oo and high is not sp.oo
        if bounded and not all(map(is_exact, (difference, low, high))):
            return None
        raise
    return at


def _switches(expr: sp.Basic, x: sp.Symbol) -> Iterator[tuple[sp.Basic, sp.Expr]]:
    """The innermost nodes that switch, with the difference whose sign decides."""
    for node in sp.postorder_traversal(expr):
        if not node.args or not node.has(x):
            continue
        if isinstance(node, (sp.Abs, sp.sign)):
            yield node, node.args[0]
        elif isinstance(node, (sp.Max, sp.Min)):
            yield node, node.args[0] - node.func(*node.args[1:])
        elif isinstance(node, _RELATIONS):
            yield node, node.args[0] - node.args[1]


def _chosen(node: sp.Basic, at: int) -> sp.Basic:
    """What the node is where its difference has this sign."""
    if isinstance(node, sp.Abs):
        return node.args[0] if at > 0 else -node.args[0]
    if isinstance(node, sp.sign):
        return sp.Integer(at)
    if isinstance(node, (sp.Max, sp.Min)):
        first, others = node.args[0], node.func(*node.args[1:])
        return first if (at > 0) == isinstance(node, sp.Max) else others
    if isinstance(node, (sp.Eq, sp.Ne)):
        return sp.true if isinstance(node, sp.Ne) else sp.false
    return sp.true if (at > 0) == isinstance(node, (sp.Gt, sp.Ge)) else sp.false


def _roots(difference: sp.Expr, x: sp.Symbol) -> list[sp.Expr]:
    """All sign changes from the left: of a polynomial of degree 1 or 2, exactly."""
    form = read(difference, x)
    if form.rest or form.degree > 2:
        raise NoEnclosureError(f"where {difference} changes its sign has no formula")
    poly = list(form.poly)
    while poly and sign(poly[-1]) == 0:
        poly.pop()
    if len(poly) < 2:
        return []
    if len(poly) == 2:
        return [-poly[0] / poly[1]]
    c, b, a = poly
    discriminant = b**2 - 4 * a * c
    if sign(discriminant) <= 0:
        return []
    root = sp.sqrt(discriminant)
    found = [(-b - root) / (2 * a), (-b + root) / (2 * a)]
    return found[::-1] if sign(a) < 0 else found


def _between(
    start: sp.Expr, roots: list[sp.Expr], end: sp.Expr
) -> Iterator[tuple[sp.Expr, sp.Expr, bool]]:
    """The ranges between two ends and the roots that are inside; False for one in fog, where a
    root may or may not be, or where it is open which end comes first."""
    first, last, left, right = start, end, [], []
    inside = []
    for root in roots:
        after = _order(start, root)
        before = _order(root, end)
        if after == 0 and before == 0:
            yield from _all_fog(start, end)
            return
        if after == 0:
            first = _end((start, root), 1)
            left = [(start, first, False)]
        elif before == 0:
            last = _end((root, end), -1)
            right = [(last, end, False)]
        elif after == before == 1:
            inside.append(root)
    cuts = [first, *inside, last]
    if any(_order(low, high) != 1 for low, high in pairwise(cuts)):
        if all(map(is_exact, cuts)):
            raise InputError("support", "ends in order", (start, end))
        yield from _all_fog(start, end)
        return
    yield from left
    for low, high in pairwise(cuts):
        yield low, high, True
    yield from right


def _order(low: sp.Expr, high: sp.Expr) -> int:
    """1 if low < high, -1 if low >= high, 0 if that is open, because of intervals.

    Raises: Undecided if it is open for another reason.
    """
    if low is -sp.oo or high is sp.oo:
        return 1
    gap = high - low
    try:
        return 1 if sign(gap) > 0 else -1
    except Undecided:
        if is_exact(gap):
            raise
    with flint.ctx.workprec(64):
        return -1 if ball(gap) <= 0 else 0


def _all_fog(start: sp.Expr, end: sp.Expr) -> Iterator[tuple[sp.Expr, sp.Expr, bool]]:
    if start is -sp.oo or end is sp.oo:
        raise Undecided("where the densities switch")
    yield start, end, False


def _end(values: tuple[sp.Expr, sp.Expr], side: int) -> sp.Rational:
    """A number that is at least, or at most, all of the values."""
    with flint.ctx.workprec(64):
        both = ball(values[0]).union(ball(values[1]))
        return _rational(both.upper() if side > 0 else both.lower())


def _inside(start: sp.Expr, end: sp.Expr) -> sp.Rational:
    """A rational number strictly between two ends."""
    if start is -sp.oo or end is sp.oo:
        if start is -sp.oo and end is sp.oo:
            return sp.S.Zero
        at = ball(end if start is -sp.oo else start)
        step = -1 if start is -sp.oo else 1
        return _rational((at + step * (1 + at.rad() + abs(at.mid()))).mid())
    bits = 64
    while bits <= 4096:
        with flint.ctx.workprec(bits):
            low, high = ball(start), ball(end)
            middle = ((low + high) / 2).mid()
            if low < middle < high:
                return _rational(middle)
        if not (is_exact(start) and is_exact(end)):
            raise Undecided("which end comes first")
        bits *= 2
    raise InputError("support", "ends in order", (start, end))


def _rational(value: arb) -> sp.Rational:
    mantissa, exponent = value.man_exp()
    exact = fmpq(mantissa) * fmpq(2) ** int(exponent)
    return sp.Rational(int(exact.p), int(exact.q))
