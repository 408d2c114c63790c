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

from dpsym.enclosures.numbers import FUNCTIONS, Undecided, sign
from dpsym.errors import UnsupportedError

__all__ = [
    "ONE",
    "ZERO",
    "Atom",
    "Product",
    "Sum",
    "X",
    "aligned",
    "aligned_product",
    "constant",
    "exponential",
    "log_of",
    "logarithm",
    "minus",
    "plus",
    "positive",
    "power",
    "product_towards",
    "read",
    "reflect",
    "reflect_product",
    "scaled",
    "times",
    "to_product",
    "towards",
]

_MAX_DEGREE = 40
_MAX_STEPS = 64  # of lgamma(x + 1) = lgamma(x) + log(x)
_HALF = sp.Rational(1, 2)


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
        inner = plus(*(_to_sum(times(item, inverse)) for item in term.rest))
        if inner.is_constant:
            return times(common, Product(inner.poly[0] if inner.poly else sp.S.Zero, ZERO))
        return times(common, Product(sp.S.One, ZERO, ((Atom("sum", (inner,)), sp.S.One),)))
    return Product(sp.S.One, ZERO, ((Atom("sum", (term,)), sp.S.One),))


def _to_sum(item: Product) -> Sum:
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
    return Product(sp.S.One, ZERO, ((Atom("sum", (_to_sum(item),)), sp.S.One),))


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
        inside = base.args[0] if base.name == "sum" else Sum((), (_of(base),))
        if _even(base, exponent):
            inside = _to_sum(Product(sp.S.One, ZERO, ((base, exponent),)))
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


def log_of(factor: sp.Expr) -> sp.Expr:
    """As a sum of logarithms of the factors, so that those of p and q cancel."""
    if isinstance(factor, sp.Mul) and all(sign(part) > 0 for part in factor.args):
        return sp.Add(*(log_of(part) for part in factor.args))
    if isinstance(factor, sp.exp):
        return factor.args[0]
    if isinstance(factor, sp.Pow) and sign(factor.base) > 0:
        return factor.exp * log_of(factor.base)
    return sp.log(factor)


def _of(base: Atom) -> Product:
    return Product(sp.S.One, ZERO, ((base, sp.S.One),))


# --- towards one end of the line ------------------------------------------------------------------


@lru_cache(maxsize=2048)
def towards(term: Sum, side: int) -> Sum:
    """The same function, the exponential that grows most taken out of each logarithm.

    ``log(1 + exp(-x))`` is small for large x, and ``-x + log(1 + exp(x))`` says the same without
    cancellation where x is far below 0. ``side`` is 1 for the right end, -1 for the left one.

    >>> log = logarithm(to_product(plus(constant(1), _to_sum(exponential(scaled(X, -sp.S.One))))))
    >>> towards(log, -1).poly
    (0, -1)
    """
    terms = [Sum(term.poly)]
    for item in term.rest:
        terms.append(_log_towards(item, side) or Sum((), (item,)))
    return plus(*terms)


def product_towards(item: Product, side: int) -> Product:
    """The same for a product: out of each of its bases."""
    out = Product(item.factor, towards(item.exponent, side))
    for base, exponent in item.powers:
        factor = Product(sp.S.One, ZERO, ((base, exponent),))
        if base.name == "sum":
            most = _most(base.args[0], side)
            if most is not None:
                factor = power(_taken(base.args[0], most), exponent)
            elif any(part.powers for part in base.args[0].rest):
                factor = power(to_product(towards(base.args[0], side)), exponent)
        out = times(out, factor)
    return out


def _log_towards(item: Product, side: int) -> Sum | None:
    if item.exponent != ZERO or len(item.powers) != 1:
        return None
    base, exponent = item.powers[0]
    most = _most(base.args[0], side) if base.name == "log" and exponent == 1 else None
    return None if most is None else scaled(logarithm(_taken(base.args[0], most)), item.factor)


def _most(term: Sum, side: int) -> Product | None:
    """The exponential in a sum that grows most, if there is one that does."""
    found = None
    for item in term.rest:
        if item.exponent.rest or not item.exponent.degree > 0:
            return None
        if found is None or _grows(minus(item.exponent, found.exponent), side):
            found = item
    return found if found is not None and _grows(found.exponent, side) else None


def _grows(exponent: Sum, side: int) -> bool:
    if not exponent.degree > 0:
        return False
    at = sign(exponent.poly[-1])
    return (at if exponent.degree % 2 == 0 else at * side) > 0


def _taken(term: Sum, most: Product) -> Product:
    """The sum as a product with this exponential as a factor."""
    common = Product(sp.S.One, most.exponent)
    inverse = power(common, sp.S.NegativeOne)
    polynomial = times(to_product(Sum(term.poly)), inverse)
    terms = [_to_sum(times(item, inverse)) for item in term.rest]
    inner = plus(*terms, _to_sum(polynomial) if term.poly else ZERO)
    return times(common, Product(sp.S.One, ZERO, ((Atom("sum", (inner,)), sp.S.One),)))


# --- from SymPy ---------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def read(expr: sp.Expr, x: sp.Symbol) -> Sum:
    """The normal form of an expression in x alone whose branches have been chosen.

    Raises: UnsupportedError.

    >>> t = sp.Symbol("t", real=True)
    >>> read((t - 1) ** 2, t).poly
    (1, -2, 1)
    """
    if expr == x:
        return X
    if not expr.has(x):
        return constant(expr)
    if isinstance(expr, sp.Add):
        return plus(*(read(arg, x) for arg in expr.args))
    if isinstance(expr, sp.Mul):
        out = ONE
        for arg in expr.args:
            out = times(out, to_product(read(arg, x)))
        return _to_sum(out)
    if isinstance(expr, (sp.exp, sp.Pow)):
        base, exponent = expr.as_base_exp() if isinstance(expr, sp.Pow) else (sp.E, expr.args[0])
        if base is sp.E:
            return _to_sum(exponential(read(exponent, x)))
        if exponent.has(x):
            log_base = logarithm(to_product(read(base, x)))
            both = times(to_product(read(exponent, x)), to_product(log_base))
            spread = _spread(read(exponent, x), log_base) or _to_sum(both)
            return _to_sum(exponential(spread))
        return _to_sum(power(to_product(read(base, x)), exponent))
    return _function(expr, x)


def _spread(first: Sum, second: Sum) -> Sum | None:
    """The product of a sum and a constant, term by term."""
    for one, other in ((first, second), (second, first)):
        if one.is_constant:
            return scaled(other, one.poly[0]) if one.poly else ZERO
    return None


def _function(expr: sp.Expr, x: sp.Symbol) -> Sum:
    args = [read(arg, x) for arg in expr.args]
    kind = type(expr)
    if kind is sp.log:
        return logarithm(to_product(args[0]))
    if kind is sp.erfc:
        return _single("erfc", args[0])
    if kind is sp.erf:
        return minus(constant(1), _single("erfc", args[0]))
    if kind is sp.atan:
        return _single("atan", args[0])
    if kind is sp.loggamma:
        return _lgamma(args[0])
    if kind is sp.gamma:
        return _to_sum(exponential(_lgamma(args[0])))
    if kind is sp.factorial:
        return _to_sum(exponential(_lgamma(plus(args[0], constant(1)))))
    if kind is sp.binomial:
        above, below = (plus(arg, constant(1)) for arg in args)
        gap = plus(minus(args[0], args[1]), constant(1))
        log = minus(minus(_lgamma(above), _lgamma(below)), _lgamma(gap))
        return _to_sum(exponential(log))
    if kind is sp.besseli and args[1].is_constant and sign(expr.args[1]) > 0:
        return _bessel(args[0], expr.args[1])
    if kind in (sp.sinh, sp.cosh, sp.tanh, sp.coth):
        return read(_in_exponentials(kind, expr.args[0]), x)
    raise UnsupportedError("enclose", [kind.__name__], FUNCTIONS)


def _single(name: str, *args: Sum) -> Sum:
    return Sum((), (_of(Atom(name, args)),))


def _in_exponentials(kind: type, u: sp.Expr) -> sp.Expr:
    if kind is sp.sinh:
        return sp.exp(u) * _HALF - sp.exp(-u) * _HALF
    if kind is sp.cosh:
        return sp.exp(u) * (1 + sp.exp(-2 * u)) * _HALF
    ratio = (1 - sp.exp(-2 * u)) / (1 + sp.exp(-2 * u))
    return ratio if kind is sp.tanh else 1 / ratio


def _bessel(order: Sum, argument: sp.Expr) -> Sum:
    """I_v(c) = (c/2)**v / Gamma(v + 1) times 0F1(v + 1; c**2/4), which is near 1 for large v."""
    above = plus(order, constant(1))
    log = minus(scaled(order, sp.log(argument / 2)), _lgamma(above))
    series = Atom("0F1", (above, constant(argument**2 / 4)))
    return _to_sum(times(exponential(log), _of(series)))


def _lgamma(arg: Sum) -> Sum:
    if arg.is_constant:
        return constant(sp.loggamma(arg.poly[0] if arg.poly else sp.S.Zero))
    return _single("lgamma", arg)


# --- log Gamma at shifted arguments --------------------------------------------------------------


def aligned(term: Sum) -> Sum:
    """The same function, its loggammas at arguments a whole number apart brought to the largest.

    ``lgamma(x) = lgamma(x + 1) - log(x)`` holds wherever the left side is defined.

    >>> first, second = (_single("lgamma", plus(X, constant(j))) for j in (1, 2))
    >>> len(aligned(minus(first, second)).rest)
    1
    """
    groups: dict[tuple[object, ...], list[Product]] = {}
    for item in term.rest:
        place = _place(item)
        if place is not None:
            groups.setdefault(place, []).append(item)
    out = term
    for items in groups.values():
        top = max(_start(item) for item in items)
        for item in items:
            steps = int(top - _start(item))
            if 0 < steps <= _MAX_STEPS:
                out = plus(out, scaled(Sum((), (item,)), sp.S.NegativeOne), _raised(item, steps))
    return out


def aligned_product(item: Product) -> Product:
    """The same for the exponent of a product, the logarithms in it becoming powers."""
    if not any(_place(part) for part in item.exponent.rest):
        return item
    return times(Product(item.factor, ZERO, item.powers), exponential(aligned(item.exponent)))


def _place(item: Product) -> tuple[object, ...] | None:
    """What two loggammas must share to be a whole number apart."""
    if not item.exponent.is_constant or len(item.powers) != 1:
        return None
    base, exponent = item.powers[0]
    if base.name != "lgamma" or exponent != 1:
        return None
    argument = base.args[0]
    start = argument.poly[0] if argument.poly else sp.S.Zero
    if argument.rest or argument.degree != 1 or not start.is_Rational:
        return None
    return argument.poly[1], start - sp.floor(start)


def _start(item: Product) -> sp.Expr:
    return item.powers[0][0].args[0].poly[0]


def _raised(item: Product, steps: int) -> Sum:
    argument = item.powers[0][0].args[0]
    terms = [_single("lgamma", plus(argument, constant(steps)))]
    for j in range(steps):
        log = logarithm(to_product(plus(argument, constant(j))))
        terms.append(scaled(log, sp.S.NegativeOne))
    return scaled(
        plus(*terms), item.factor * sp.exp(item.exponent.poly[0] if item.exponent.poly else 0)
    )


# --- x to -x ------------------------------------------------------------------------------------


def reflect(term: Sum) -> Sum:
    """The function of -x."""
    return Sum(
        tuple(c if k % 2 == 0 else -c for k, c in enumerate(term.poly)),
        tuple(reflect_product(item) for item in term.rest),
    )


def reflect_product(item: Product) -> Product:
    out = Product(item.factor, reflect(item.exponent))
    for base, exponent in item.powers:
        args = tuple(reflect(arg) for arg in base.args)
        if base.name == "sum" and len(args[0].poly) == 2 and args[0].poly[0] == 0:
            if exponent.is_Integer and not args[0].rest:  # (c x)**k, with the sign in the factor
                inner = power(to_product(args[0]), exponent)
                out = times(out, inner)
                continue
        out = times(out, Product(sp.S.One, ZERO, ((Atom(base.name, args), exponent),)))
    return out
