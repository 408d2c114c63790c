"""Partial fractions: antiderivatives of x^n / product (a x + b)^k, and limits of quotients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpsym.kernel import canon as cn
from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Canon, Poly
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.terms import ZERO, Term
from dpsym.search.integrals.summands import coefficients
from dpsym.search.leaf.factoring import factors

__all__ = ["integrated", "limit"]

_HIGHEST = 16  # powers of all factors


@dataclass(frozen=True, slots=True)
class _Linear:
    """a x + b."""

    a: Term
    b: Term

    def beside(self, other: _Linear) -> Term:
        return self.a * other.b - other.a * self.b


Powers = dict[_Linear, int]


def integrated(canon: Canon, item: Term, x: Term) -> Term | None:
    """An antiderivative of a sum of such quotients, or None."""
    parts: list[Term] = []
    try:
        for mono, value in canon(item).items():
            found = _linear(canon, mono, x)
            if found is None:
                return None
            rest, powers = found
            if sum(map(abs, powers.values())) > _HIGHEST:
                return None
            for size, alone in _split(canon, tm.num(value) * rest, powers):
                part = _single(canon, size, alone, x)
                if part is None:
                    return None
                parts.append(part)
    except (Refusal, ZeroDivisionError):
        return None
    return tm.add(*parts)


def _linear(canon: Canon, mono: cn.Monomial, x: Term) -> tuple[Term, Powers] | None:
    """A factor free of x, and powers of linear ones."""
    still = frozenset(pair for pair in mono[1] if x.value not in pair[0].vars)
    fixed, powers = cn.mono_term((mono[0], still)), dict[_Linear, int]()
    if x.value in fixed.vars:
        return None
    for atom, count in mono[1] - still:
        found = factors(canon(atom)) if atom.op == "add" else None
        scale, pieces = (None, [(atom, 1)]) if found is None else found
        fixed = fixed if scale is None else fixed * tm.power(tm.num(scale), count)
        for piece, k in pieces:
            coefs = coefficients(canon, canon(piece), x)
            if coefs is None or len(coefs) > 2:
                return None
            if len(coefs) == 1:
                fixed *= tm.power(piece, k * count)
                continue
            one = _Linear(coefs[1], coefs[0])
            for other in powers:  # the same up to a factor
                if canon.normal(one.beside(other)) is ZERO:
                    fixed, one = fixed * tm.power(one.a / other.a, k * count), other
                    break
            powers[one] = powers.get(one, 0) + k * count
    return fixed, powers


def _split(canon: Canon, size: Term, powers: Powers) -> Iterator[tuple[Term, Powers]]:
    """Summands with one linear factor each."""
    powers = {one: k for one, k in powers.items() if k}
    above = [one for one, k in powers.items() if k > 0]
    below = [one for one, k in powers.items() if k < 0]
    if above and below:  # a x + b = (a/c) (c x + d) + (b c - a d)/c
        one, other = above[0], below[0]
        lower = {**powers, one: powers[one] - 1}
        share = size / other.a
        yield from _split(canon, share * one.a, {**lower, other: lower[other] + 1})
        yield from _split(canon, share * other.beside(one), lower)
    elif len(powers) > 1 and below:  # (a (c x + d) - c (a x + b)) / (a d - b c) = 1
        one, other = below[:2]
        share = size / canon.normal(one.beside(other))
        yield from _split(canon, share * one.a, {**powers, other: powers[other] + 1})
        yield from _split(canon, -share * other.a, {**powers, one: powers[one] + 1})
    else:
        yield size, powers


def _single(canon: Canon, size: Term, powers: Powers, x: Term) -> Term | None:
    """An antiderivative of size * (a x + b)^k."""
    if not powers:
        return size * x
    if len(powers) > 1:
        return None
    ((one, k),) = powers.items()
    inside = canon.normal(one.a * x + one.b)
    if k != -1:
        return size / ((k + 1) * one.a) * tm.power(inside, k + 1)
    for sign in (1, -1):
        if canon.is_positive(canon.normal(sign * inside)):
            return size / one.a * tm.log(sign * inside)
    return None


def limit(canon: Canon, item: Term, x: Term) -> Term | None:
    """The limit of a quotient of polynomials as x grows, or None."""
    try:
        above, below = canon.together(canon(item))
    except Refusal:
        return None
    top = _leading(canon, above, x)
    if top is None:
        return None
    degree, value = top
    for piece, count in below.items():
        found = _leading(canon, canon(piece), x)
        if found is None:
            return None
        degree, value = degree - count * found[0], value / tm.power(found[1], count)
    if degree > 0 and value is not ZERO:
        return None
    return ZERO if degree < 0 else canon.normal(value)


def _leading(canon: Canon, form: Poly, x: Term) -> tuple[int, Term] | None:
    """The degree in x, which may be negative, and the leading coefficient."""
    if not form:
        return 0, ZERO
    lowest = min(dict(mono[1]).get(x, 0) for mono in form)
    coefs = coefficients(canon, canon.times(form, cn.atom(x, -lowest)) if lowest else form, x)
    return None if coefs is None else (lowest + len(coefs) - 1, coefs[-1])
