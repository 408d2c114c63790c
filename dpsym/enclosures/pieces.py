"""The line, cut where Abs, Max, Min and Piecewise switch; between the cuts densities are smooth.

On each piece the branches are chosen for good, by the signs of the switches at one inner point
and the proof that they have no other root.
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

__all__ = ["Piece", "pieces"]

_RELATIONS = (sp.Gt, sp.Ge, sp.Lt, sp.Le, sp.Eq, sp.Ne)
_LIMIT = 200


@dataclass(frozen=True)
class Piece:
    """Between two ends, constants or infinite: the densities, None where one is 0."""

    start: sp.Expr
    end: sp.Expr
    p: Product | None
    q: Product | None


@lru_cache(maxsize=512)
def pieces(p: sp.Expr, q: sp.Expr, x: sp.Symbol, start: sp.Expr, end: sp.Expr) -> tuple[Piece, ...]:
    """The pieces of [start, end], from the left.

    Raises: UnsupportedError, Undecided.

    >>> x = sp.Symbol("x", real=True)
    >>> found = pieces(sp.exp(-sp.Abs(x)), sp.exp(-sp.Abs(x - 1)), x, -sp.oo, sp.oo)
    >>> [(piece.start, piece.end) for piece in found]
    [(-oo, 0), (0, 1), (1, oo)]
    """
    out = []
    for low, high, first, second in _cut(p, q, x, start, end):
        out.append(Piece(low, high, _form(first, x), _form(second, x)))
        if len(out) > _LIMIT:
            raise NoEnclosureError(f"there are more than {_LIMIT} pieces")
    return tuple(out)


def _form(expr: sp.Expr, x: sp.Symbol) -> Product | None:
    form = read(expr, x)
    if form == ZERO:
        return None
    return to_product(form)


def _cut(
    p: sp.Expr, q: sp.Expr, x: sp.Symbol, start: sp.Expr, end: sp.Expr
) -> Iterator[tuple[sp.Expr, sp.Expr, sp.Expr, sp.Expr]]:
    switch = next(_switches(p, x), None) or next(_switches(q, x), None)
    if switch is None:
        yield start, end, p, q
        return
    node, difference = switch
    ends = [start, *_roots(difference, x, start, end), end]
    for low, high in pairwise(ends):
        at = sign(difference.subs(x, _inside(low, high)))
        if at == 0:
            raise Undecided(f"the sign of {difference}")
        chosen = _chosen(node, at)
        yield from _cut(p.xreplace({node: chosen}), q.xreplace({node: chosen}), x, low, high)


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


def _roots(difference: sp.Expr, x: sp.Symbol, start: sp.Expr, end: sp.Expr) -> list[sp.Expr]:
    """All sign changes strictly inside: of a polynomial of degree 1 or 2, exactly."""
    form = read(difference, x)
    if form.rest or form.degree > 2:
        raise NoEnclosureError(f"where {difference} changes its sign has no formula")
    if form.degree < 1 or sign(form.poly[-1]) == 0:
        return []
    if form.degree == 1:
        found = [-form.poly[0] / form.poly[1]]
    else:
        c, b, a = form.poly
        discriminant = b**2 - 4 * a * c
        if sign(discriminant) <= 0:
            return []
        root = sp.sqrt(discriminant)
        found = [(-b - root) / (2 * a), (-b + root) / (2 * a)]
        if sign(a) < 0:
            found.reverse()
    return [
        root
        for root in found
        if (start is -sp.oo or sign(root - start) > 0) and (end is sp.oo or sign(end - root) > 0)
    ]


def _inside(start: sp.Expr, end: sp.Expr) -> sp.Rational:
    """A rational number strictly between two ends."""
    if start is -sp.oo or end is sp.oo:
        if start is -sp.oo and end is sp.oo:
            return sp.S.Zero
        at = ball(end if start is -sp.oo else start)
        step = -1 if start is -sp.oo else 1
        return _rational((at + step * (1 + abs(at))).mid())
    bits = 64
    while bits <= 4096:
        with flint.ctx.workprec(bits):
            low, high = ball(start), ball(end)
            middle = ((low + high) / 2).mid()
            if low < middle < high:
                return _rational(middle)
        if not is_exact(end - start):
            raise Undecided("which end comes first")
        bits *= 2
    raise InputError("support", "ends in order", (start, end))


def _rational(value: arb) -> sp.Rational:
    mantissa, exponent = value.man_exp()
    exact = fmpq(mantissa) * fmpq(2) ** int(exponent)
    return sp.Rational(int(exact.p), int(exact.q))
