"""Quotients in lowest terms, as products of powers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations

from flint import fmpq

from dpsym.kernel import canon as cn
from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Canon, Poly
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.terms import ONE, ZERO, Term
from dpsym.search.leaf.factoring import factors, quotient

__all__ = ["Powers", "factored", "product", "reduced"]

_SHORTER = 0.5

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
    scale *= _cancel(canon, powers)
    return scale, Powers({one: k for one, k in powers.items() if k and one is not ONE})


def _cancel(canon: Canon, powers: Powers) -> fmpq:
    """Divides factors by others of the other sign, which may be factors only beside them, as
    exp(x) + 1 is one of exp(2 x) - 1; returns what number is left."""
    scale = fmpq(1)
    while True:
        sums = [one for one, k in powers.items() if k and one.op == "add"]
        for one, other in permutations(sums, 2):
            rest = quotient(canon(one), canon(other)) if powers[one] * powers[other] < 0 else None
            if rest is not None:
                count = powers.pop(one)
                powers[other] += count
                for value, part, k in _factors(rest):
                    scale *= value ** (k * count)
                    powers[part] += k * count
                break
        else:
            return scale


def _factors(form: Poly) -> Iterator[tuple[fmpq, Term, int]]:
    """Factors as numbers times terms with leading coefficient 1, and their powers."""
    found = factors(form)
    if not form:
        yield fmpq(0), ONE, 1
        return
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


def product(scale: fmpq, powers: Powers) -> Term:
    """The term with these factors."""
    if not scale:
        return ZERO
    grown = [k * one.args[0] for one, k in powers.items() if one.op == "exp"]
    others = (tm.power(one, k) for one, k in powers.items() if one.op != "exp")
    exponent = cn.NO_SIGNS.normal(tm.add(*grown))
    return tm.mul(tm.num(scale), tm.exp(exponent) if exponent is not ZERO else ONE, *others)


def reduced(canon: Canon, item: Term) -> Term:
    """The term in normal form, or as a quotient in lowest terms if that is much shorter."""
    normal = canon.normal(item)
    try:
        lowest = product(*factored(canon, item))
    except Refusal:
        return normal
    return lowest if lowest.size < _SHORTER * normal.size else normal
