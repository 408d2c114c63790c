"""Quotients in lowest terms, and their square roots by square roots that are there already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations, permutations, product

from flint import fmpq

from dpsym.kernel import canon as cn
from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Canon, Poly
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.terms import ONE, ZERO, Term
from dpsym.search.leaf.factoring import factors
from dpsym.search.leaf.factoring import quotient as divided

__all__ = ["factored", "quotient", "radicals", "reduced", "root"]

_SHORTER = 0.5
_MOST = 6  # square roots that are tried together

Powers = Counter[Term]


def factored(canon: Canon, item: Term) -> tuple[fmpq, Powers]:
    """``c, {f: k}`` with item = c * product f^k: a factor of several items is the same term in
    each, as far as they are not too large to be factored."""
    whole, below = canon.together(canon(item))
    scale, powers = fmpq(1), Powers()
    for form, count in ((whole, 1), *((canon(one), -k) for one, k in below.items())):
        for value, one, k in _factors(form):
            scale *= value ** (k * count)
            powers[one] += k * count
    _cancel(canon, powers)
    return scale, Powers({one: k for one, k in powers.items() if k and one is not ONE})


def _cancel(canon: Canon, powers: Powers) -> None:
    """Divides factors by others of the other sign, which may be factors only beside them, as
    exp(x) + 1 is one of exp(2 x) - 1."""
    while True:
        sums = [one for one, k in powers.items() if k and one.op == "add"]
        for one, other in permutations(sums, 2):
            rest = divided(canon(one), canon(other)) if powers[one] * powers[other] < 0 else None
            if rest is not None:
                count = powers.pop(one)
                powers[other] += count
                for _, part, k in _factors(rest):  # with leading coefficients 1
                    powers[part] += k * count
                break
        else:
            return


def _factors(form: Poly) -> Iterator[tuple[fmpq, Term, int]]:
    """Factors as numbers times terms with leading coefficient 1, and their powers."""
    found = factors(form)
    if found is not None:
        yield found[0], ONE, 1
    elif len(form) == 1:
        ((mono, value),) = form.items()
        yield value, tm.exp(cn.to_term(dict(mono[0]))) if mono[0] else ONE, 1
        yield from ((fmpq(1), item, k) for item, k in mono[1])
        return
    for one, k in [(cn.to_term(form), 1)] if found is None else found[1]:
        own = cn.NO_SIGNS(one)
        value = cn.content(own)[0]
        yield value, cn.to_term(cn.scaled(own, 1 / value)), k


def quotient(scale: fmpq, powers: Powers) -> Term:
    grown = [k * one.args[0] for one, k in powers.items() if one.op == "exp"]
    others = (tm.power(one, k) for one, k in powers.items() if one.op != "exp")
    exponent = cn.NO_SIGNS.normal(tm.add(*grown))
    return tm.mul(tm.num(scale), tm.exp(exponent) if exponent is not ZERO else ONE, *others)


def reduced(canon: Canon, item: Term) -> Term:
    """The term in normal form, or as a quotient in lowest terms if that is much shorter."""
    normal = canon.normal(item)
    try:
        lowest = quotient(*factored(canon, item))
    except Refusal:
        return normal
    return lowest if lowest.size < _SHORTER * normal.size else normal


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
            found = [_over(scale, powers, chosen, ways) for ways in product((1, -1), repeat=count)]
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
    outer = quotient(fmpq(1), Powers({one: k // 2 for one, k in left.items() if k}))
    parts = (tm.power(row[0], way) for row, way in zip(chosen, ways, strict=True))
    return sum(map(abs, left.values())), tm.mul(outer, tm.sqrt(tm.num(scale)), *parts)
