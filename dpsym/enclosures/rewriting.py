"""Other ways to write the same function: towards one end of the line, of -x, loggammas aligned."""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from dpsym.enclosures.forms import (
    ZERO,
    Atom,
    Product,
    Sum,
    constant,
    exponential,
    logarithm,
    minus,
    plus,
    power,
    scaled,
    single,
    times,
    to_product,
    to_sum,
)
from dpsym.enclosures.numbers import sign

__all__ = ["aligned", "aligned_product", "product_towards", "reflect", "reflect_product", "towards"]

_MAX_STEPS = 64  # of lgamma(x + 1) = lgamma(x) + log(x)


@lru_cache(maxsize=2048)
def towards(term: Sum, side: int) -> Sum:
    """The same function, the exponential that grows most taken out of each logarithm.

    ``log(1 + exp(-x))`` is small for large x, and ``-x + log(1 + exp(x))`` says the same without
    cancellation where x is far below 0. ``side`` is 1 for the right end, -1 for the left one.

    >>> from dpsym.enclosures.forms import X
    >>> log = logarithm(to_product(plus(constant(1), to_sum(exponential(scaled(X, -sp.S.One))))))
    >>> towards(log, -1).poly
    (0, -1)
    """
    terms = [Sum(term.poly)]
    for item in term.rest:
        terms.append(_log_towards(item, side) or Sum((), (item,)))
    return plus(*terms)


@lru_cache(maxsize=2048)
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
    terms = [to_sum(times(item, inverse)) for item in term.rest]
    inner = plus(*terms, to_sum(polynomial) if term.poly else ZERO)
    return times(common, Product(sp.S.One, ZERO, ((Atom("sum", (inner,)), sp.S.One),)))


# --- log Gamma at shifted arguments --------------------------------------------------------------


def aligned(term: Sum) -> Sum:
    """The same function, its loggammas at arguments a whole number apart brought to the largest.

    ``lgamma(x) = lgamma(x + 1) - log(x)`` holds wherever the left side is defined.

    >>> from dpsym.enclosures.forms import X
    >>> first, second = (single("lgamma", plus(X, constant(j))) for j in (1, 2))
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
    terms = [single("lgamma", plus(argument, constant(steps)))]
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
        line = base.name == "sum" and args[0].degree == 1 and not args[0].rest
        if line and args[0].poly[0] == 0 and exponent.is_Integer:
            # (c x)**k, with the sign in the factor
            out = times(out, power(to_product(args[0]), exponent))
            continue
        out = times(out, Product(sp.S.One, ZERO, ((Atom(base.name, args), exponent),)))
    return out
