"""Functions of one real variable x in a normal form that shows how they grow.

A ``Sum`` is a polynomial plus products; a ``Product`` is ``factor * exp(Sum) * bases ** powers``.
Coefficients are exact constants. Logarithms of products and products of powers then need no
rewriting: terms that cancel in log p - log q, or in p**alpha q**(1 - alpha), are gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest

import sympy as sp

from dpsym.enclosures.failures import Undecided
from dpsym.enclosures.numbers import sign

__all__ = [
    "ONE",
    "ZERO",
    "Atom",
    "Product",
    "Sum",
    "X",
    "constant",
    "exponential",
    "log_of",
    "logarithm",
    "minus",
    "of",
    "plus",
    "positive",
    "power",
    "scaled",
    "single",
    "times",
    "to_product",
    "to_sum",
]

_MAX_DEGREE = 40


@dataclass(frozen=True, eq=False)
class _Form:
    """Compared by value, hashed once."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.key == other.key  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return self._hash  # type: ignore[attr-defined, no-any-return]

    def _seal(self, *key: object) -> None:
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "_hash", hash((type(self).__name__, key)))


@dataclass(frozen=True, eq=False)
class Sum(_Form):
    """``poly[0] + poly[1]*x + ... + sum of rest``; the products of ``rest`` are no polynomials."""

    poly: tuple[sp.Expr, ...] = ()
    rest: tuple[Product, ...] = ()

    def __post_init__(self) -> None:
        self._seal(self.poly, frozenset(self.rest))

    @property
    def degree(self) -> int:
        return len(self.poly) - 1

    @property
    def is_constant(self) -> bool:
        return len(self.poly) <= 1 and not self.rest


@dataclass(frozen=True, eq=False)
class Atom(_Form):
    """A base: "sum" for a Sum itself, or a function of Sums ("log", "erfc", "lgamma", ...)."""

    name: str
    args: tuple[Sum, ...]

    def __post_init__(self) -> None:
        self._seal(self.name, self.args)


@dataclass(frozen=True, eq=False)
class Product(_Form):
    """``factor * exp(exponent) * product of base ** power``."""

    factor: sp.Expr
    exponent: Sum
    powers: tuple[tuple[Atom, sp.Expr], ...] = ()

    def __post_init__(self) -> None:
        self._seal(self.factor, self.exponent, frozenset(self.powers))

    @property
    def shape(self) -> tuple[object, ...]:
        """All but the factor."""
        return (self.exponent, frozenset(self.powers))


ZERO = Sum()
ONE = Product(sp.S.One, ZERO)
X = Sum((sp.S.Zero, sp.S.One))


def constant(value: object) -> Sum:
    number = sp.Integer(value) if isinstance(value, int) else value
    return ZERO if number == 0 else Sum((number,))


def _sum(poly: list[sp.Expr], rest: list[Product]) -> Sum:
    while poly and poly[-1] == 0:
        poly.pop()
    merged: dict[tuple[object, ...], Product] = {}
    for item in map(_rooted, rest) if len(rest) > 1 else rest:
        before = merged.get(item.shape)
        factor = item.factor if before is None else before.factor + item.factor
        merged[item.shape] = Product(factor, item.exponent, item.powers)
    return Sum(tuple(poly), tuple(item for item in merged.values() if item.factor != 0))


def _rooted(item: Product) -> Product:
    """With the constant of its exponent in the factor, so that equal functions have one shape."""
    if not item.exponent.poly or item.exponent.poly[0] == 0:
        return item
    start, *others = item.exponent.poly
    exponent = Sum((sp.S.Zero, *others) if others else (), item.exponent.rest)
    return Product(item.factor * sp.exp(start), exponent, item.powers)


def plus(*terms: Sum) -> Sum:
    poly: list[sp.Expr] = []
    for term in terms:
        poly = [a + b for a, b in zip_longest(poly, term.poly, fillvalue=sp.S.Zero)]
    return _sum(poly, [item for term in terms for item in term.rest])


def scaled(term: Sum, factor: sp.Expr) -> Sum:
    if factor == 0:
        return ZERO
    return Sum(
        tuple(c * factor for c in term.poly),
        tuple(Product(i.factor * factor, i.exponent, i.powers) for i in term.rest),
    )


def minus(first: Sum, second: Sum) -> Sum:
    return plus(first, scaled(second, sp.S.NegativeOne))


def to_product(term: Sum) -> Product:
    """The same function as a product; exponentials and powers common to all terms are taken out."""
    if not term.rest:
        if term.is_constant:
            return Product(term.poly[0] if term.poly else sp.S.Zero, ZERO)
        nonzero = [k for k, c in enumerate(term.poly) if c != 0]
        if len(nonzero) == 1:
            k = nonzero[0]
            return Product(term.poly[k], ZERO, ((Atom("sum", (X,)), sp.Integer(k)),))
        return Product(sp.S.One, ZERO, ((Atom("sum", (term,)), sp.S.One),))
    if not term.poly:
        first = term.rest[0]
        if len(term.rest) == 1:
            return first
        same = all(set(item.powers) == set(first.powers) for item in term.rest)
        common = Product(sp.S.One, first.exponent, first.powers if same else ())
        inverse = power(common, sp.S.NegativeOne)
        inner = plus(*(to_sum(times(item, inverse)) for item in term.rest))
        if inner.is_constant:
            return times(common, Product(inner.poly[0] if inner.poly else sp.S.Zero, ZERO))
        return times(common, Product(sp.S.One, ZERO, ((Atom("sum", (inner,)), sp.S.One),)))
    return Product(sp.S.One, ZERO, ((Atom("sum", (term,)), sp.S.One),))


def to_sum(item: Product) -> Sum:
    """The same function as a sum; a product of polynomials is one."""
    if item.factor == 0:
        return ZERO
    if not item.exponent.poly[1:] and not item.exponent.rest:
        factor = item.factor * (sp.exp(item.exponent.poly[0]) if item.exponent.poly else 1)
        poly: list[sp.Expr] | None = [factor]
        for base, exponent in item.powers:
            inside = base.args[0]
            if (
                base.name != "sum"
                or not (exponent.is_Integer and exponent > 0)
                or inside.degree * exponent > _MAX_DEGREE
            ):
                poly = None
                break
            if inside.rest:
                if exponent != 1 or len(item.powers) != 1:
                    poly = None
                    break
                return scaled(inside, factor)
            for _ in range(int(exponent)):
                poly = _multiply(poly or [], list(inside.poly))
        if poly is not None:
            return _sum(poly, [])
    return Sum((), (item,))


def _multiply(first: list[sp.Expr], second: list[sp.Expr]) -> list[sp.Expr]:
    out = [sp.S.Zero] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            out[i + j] += a * b
    return out


def times(first: Product, second: Product) -> Product:
    powers = dict(first.powers)
    for base, exponent in second.powers:
        powers[base] = powers.get(base, sp.S.Zero) + exponent
    return Product(
        first.factor * second.factor,
        plus(first.exponent, second.exponent),
        tuple((base, exponent) for base, exponent in powers.items() if exponent != 0),
    )


def power(item: Product, exponent: sp.Expr) -> Product:
    """``item ** exponent``; for an exponent that is not whole the bases must be positive."""
    if exponent.is_Integer:
        if item.factor == 0 and exponent < 0:
            raise ZeroDivisionError
        return Product(
            item.factor**exponent,
            scaled(item.exponent, exponent),
            tuple((base, power_ * exponent) for base, power_ in item.powers),
        )
    if item.factor == 0:
        return item
    if sign(item.factor) < 0:
        item, leading = _wrapped(item), sp.S.One
    else:
        leading = item.factor**exponent
        item = Product(sp.S.One, item.exponent, item.powers)
    powers: list[tuple[Atom, sp.Expr]] = []
    for base, inner in item.powers:
        if _even(base, inner):  # the power loses the sign of its base
            squared = Sum((), (Product(sp.S.One, ZERO, ((base, inner),)),))
            powers.append((Atom("sum", (squared,)), exponent))
        else:
            powers.append((base, inner * exponent))
    return Product(leading, scaled(item.exponent, exponent), tuple(powers))


def _wrapped(item: Product) -> Product:
    return Product(sp.S.One, ZERO, ((Atom("sum", (to_sum(item),)), sp.S.One),))


def exponential(term: Sum) -> Product:
    """exp of a sum; ``exp(c*log(u))`` is ``u**c``."""
    out = ONE
    kept: list[Product] = []
    for item in term.rest:
        if item.exponent == ZERO and len(item.powers) == 1:
            base, exponent = item.powers[0]
            if base.name == "log" and exponent == 1:
                out = times(out, power(to_product(base.args[0]), item.factor))
                continue
        kept.append(item)
    return times(out, Product(sp.S.One, Sum(term.poly, tuple(kept))))


def logarithm(item: Product) -> Sum:
    """The logarithm of a product whose bases are positive where it is used."""
    if item.factor != 1 and sign(item.factor) <= 0:
        raise Undecided("the logarithm of what is not positive")
    terms = [constant(log_of(item.factor)), item.exponent]
    for base, exponent in item.powers:
        inside = base.args[0] if base.name == "sum" else Sum((), (of(base),))
        if _even(base, exponent):
            inside = to_sum(Product(sp.S.One, ZERO, ((base, exponent),)))
            exponent = sp.S.One
        terms.append(Sum((), (Product(exponent, ZERO, ((Atom("log", (inside,)), sp.S.One),)),)))
    return plus(*terms)


def _even(base: Atom, exponent: sp.Expr) -> bool:
    """Whether the power may be that of a negative base."""
    if not exponent.is_Integer or exponent % 2 or base.name != "sum":
        return False
    return not positive(base.args[0])


def positive(term: Sum) -> bool:
    """Whether a sum is positive everywhere, as far as its coefficients show."""
    for item in term.rest:
        if sign(item.factor) < 0 or any(
            not (base.name == "erfc" or (base.name == "sum" and positive(base.args[0])))
            and not (exponent.is_Integer and exponent % 2 == 0)
            for base, exponent in item.powers
        ):
            return False
    if not term.poly:
        return bool(term.rest)
    signs = [sign(c) for c in term.poly]
    if all(s >= 0 if k % 2 == 0 else s == 0 for k, s in enumerate(signs)):
        return signs[0] > 0 or bool(term.rest)
    if term.degree == 2 and signs[2] > 0:
        c, b, a = term.poly
        return sign(b**2 - 4 * a * c) < 0
    return False


@lru_cache(maxsize=4096)
def log_of(factor: sp.Expr) -> sp.Expr:
    """As a sum of logarithms of the factors, so that those of p and q cancel."""
    if isinstance(factor, sp.Mul) and all(sign(part) > 0 for part in factor.args):
        return sp.Add(*(log_of(part) for part in factor.args))
    if isinstance(factor, sp.exp):
        return factor.args[0]
    if isinstance(factor, sp.Pow) and sign(factor.base) > 0:
        return factor.exp * log_of(factor.base)
    return sp.log(factor)


def of(base: Atom) -> Product:
    return Product(sp.S.One, ZERO, ((base, sp.S.One),))


def single(name: str, *args: Sum) -> Sum:
    """A function of sums, by itself."""
    return Sum((), (of(Atom(name, args)),))
