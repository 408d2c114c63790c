"""The square roots of quotients by square roots that are there already."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from itertools import product as every

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Canon
from dpsym.kernel.terms import Term
from dpsym.search.leaf.lowest import Powers, factored, product

__all__ = ["radicals", "root"]

_MOST = 6  # square roots that are tried together


def radicals(canon: Canon, items: Iterable[Term]) -> tuple[Term, ...]:
    """The square roots in the canonical forms of some terms."""
    parts = (part for item in items for part in tm.subterms(canon.normal(item)))
    return tuple(dict.fromkeys(part for part in parts if part.op == "sqrt"))


def root(canon: Canon, inside: Term, known: Iterable[Term] = ()) -> Term | None:
    """The square root of a quotient, or minus it, as a rational function times square roots that
    are known, or divided by them, as few as possible; None if there are none that fit."""
    scale, powers = factored(canon, inside)
    odd = {one for one, k in powers.items() if k % 2}
    rows = [(item, *factored(canon, item.args[0])) for item in known]
    rows = [row for row in rows if any(row[2][one] % 2 for one in odd)][:_MOST]
    for count in range(len(rows) + 1):
        for chosen in combinations(rows, count):
            found = [_over(scale, powers, chosen, ways) for ways in every((1, -1), repeat=count)]
            good = [one for one in found if one is not None]
            if good:  # the simplest
                return min(good, key=lambda one: one[0])[1]
    return None


Row = tuple[Term, fmpq, Powers]


def _over(
    scale: fmpq, powers: Powers, chosen: tuple[Row, ...], ways: tuple[int, ...]
) -> tuple[int, Term] | None:
    """The root of a quotient by those chosen, each to the power 1 or -1, and what is left."""
    left = Powers(powers)
    for (_, value, others), way in zip(chosen, ways, strict=True):
        scale /= value**way
        for one, k in others.items():
            left[one] -= way * k
    if scale <= 0 or any(k % 2 for k in left.values()):
        return None
    outer = product(fmpq(1), Powers({one: k // 2 for one, k in left.items() if k}))
    parts = (tm.power(row[0], way) for row, way in zip(chosen, ways, strict=True))
    return sum(map(abs, left.values())), tm.mul(outer, tm.sqrt(tm.num(scale)), *parts)
