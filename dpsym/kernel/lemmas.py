"""Textbook inequalities that rules may use as facts. Data: name, arguments, conditions, fact.

Each holds at every point where its conditions hold. Sources: Taylor's theorem with the Lagrange
remainder (exp); log x <= x - 1 and its inverse; the first Pade bounds of log; for erfc the bounds of
Gordon (1941), Ann. Math. Stat. 12, and erfc(u) <= exp(-u^2) for u >= 0 (Chernoff); Bernoulli's
inequality for real exponents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from dpsym.kernel.kinds import TERM, Kind, WholeKind
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import (
    ONE,
    PI,
    ZERO,
    Term,
    erfc,
    exp,
    log,
    num,
    power,
    real_power,
    sqrt,
    term,
)

ORDER = WholeKind(0, 15)
Instance = tuple[tuple[Fact, ...], Fact]


@dataclass(frozen=True)
class Lemma:
    """``build(*args)`` gives the conditions and the fact."""

    name: str
    kinds: tuple[Kind, ...]
    says: str
    build: Callable[..., Instance]


LEMMAS: dict[str, Lemma] = {}


def _lemma(says: str, *kinds: Kind) -> Callable[[Callable[..., Instance]], None]:
    def add(build: Callable[..., Instance]) -> None:
        name = build.__name__
        LEMMAS[name] = Lemma(name, kinds, says, build)

    return add


def instance(name: str, args: tuple[Any, ...]) -> Instance:
    """The conditions and the fact of a lemma for these arguments."""
    found = LEMMAS.get(name)
    if found is None:
        raise Refusal("lemma", "the name of a lemma", name)
    if len(args) != len(found.kinds):
        raise Refusal("lemma", f"{name} takes {len(found.kinds)} arguments", len(args))
    for kind, arg in zip(found.kinds, args, strict=True):
        kind.check(arg)
    return found.build(*args)


def _at_least(item: Term) -> Fact:
    return Fact(term(item), ">=")


def _above(item: Term) -> Fact:
    return Fact(term(item), ">")


def taylor(arg: Term, order: int) -> Term:
    """1 + u + ... + u^n/n!"""
    total, part = ZERO, ONE
    for k in range(order + 1):
        total = total + part
        part = part * arg * fmpq(1, k + 1)
    return total


@_lemma("exp(u) >= its Taylor polynomial of order n: n odd, or u >= 0", TERM, ORDER)
def exp_taylor(arg: Term, order: int) -> Instance:
    conditions = () if order % 2 else (_at_least(arg),)
    return conditions, _at_least(exp(arg) - taylor(arg, order))


@_lemma("exp(u) <= its Taylor polynomial of even order for u <= 0", TERM, ORDER)
def exp_taylor_above(arg: Term, order: int) -> Instance:
    if order % 2:
        raise Refusal("lemma", "exp_taylor_above takes an even order", order)
    return (_at_least(-arg),), _at_least(taylor(arg, order) - exp(arg))


@_lemma("exp(u) <= 1/(1 - u) for u < 1", TERM)
def exp_inverse(arg: Term) -> Instance:
    return (_above(1 - arg),), _at_least(1 / (1 - arg) - exp(arg))


@_lemma("log(a) <= a - 1 for a > 0", TERM)
def log_above(arg: Term) -> Instance:
    return (_above(arg),), _at_least(arg - 1 - log(arg))


@_lemma("log(a) >= 1 - 1/a for a > 0", TERM)
def log_below(arg: Term) -> Instance:
    return (_above(arg),), _at_least(log(arg) - 1 + 1 / arg)


@_lemma("log(a) >= 2(a - 1)/(a + 1) for a >= 1", TERM)
def log_pade_below(arg: Term) -> Instance:
    return (_at_least(arg - 1),), _at_least(log(arg) - 2 * (arg - 1) / (arg + 1))


@_lemma("log(a) <= (a - 1/a)/2 for a >= 1", TERM)
def log_pade_above(arg: Term) -> Instance:
    return (_at_least(arg - 1),), _at_least((arg - 1 / arg) * fmpq(1, 2) - log(arg))


@_lemma("erfc(u) <= exp(-u^2)/(u sqrt(pi)) for u > 0", TERM)
def erfc_mills(arg: Term) -> Instance:
    bound = exp(-power(arg, 2)) / (arg * sqrt(PI))
    return (_above(arg),), _at_least(bound - erfc(arg))


@_lemma("erfc(u) <= exp(-u^2) for u >= 0", TERM)
def erfc_chernoff(arg: Term) -> Instance:
    return (_at_least(arg),), _at_least(exp(-power(arg, 2)) - erfc(arg))


@_lemma("erfc(u) >= 2u exp(-u^2)/(sqrt(pi)(1 + 2u^2)) for u > 0", TERM)
def erfc_below(arg: Term) -> Instance:
    bound = 2 * arg * exp(-power(arg, 2)) / (sqrt(PI) * (1 + 2 * power(arg, 2)))
    return (_above(arg),), _at_least(erfc(arg) - bound)


@_lemma("erfc(u) > 0", TERM)
def erfc_positive(arg: Term) -> Instance:
    return (), _above(erfc(arg))


@_lemma("erfc(u) < 2", TERM)
def erfc_below_two(arg: Term) -> Instance:
    return (), _above(2 - erfc(arg))


@_lemma("pi > 314159/100000")
def pi_below() -> Instance:
    return (), _above(PI - num(fmpq(314159, 100000)))


@_lemma("pi < 314160/100000")
def pi_above() -> Instance:
    return (), _above(num(fmpq(314160, 100000)) - PI)


@_lemma("sqrt(a) sqrt(c) <= (a + c)/2 for a >= 0, c > 0", TERM, TERM)
def sqrt_mean(first: Term, second: Term) -> Instance:
    mean = (first + second) * fmpq(1, 2)
    conditions = (_at_least(first), _above(second))
    return conditions, _at_least(mean - sqrt(first) * sqrt(second))


@_lemma("w^a >= 1 + a(w - 1) for w > 0 and a >= 1", TERM, TERM)
def bernoulli(base: Term, exponent: Term) -> Instance:
    fact = real_power(base, exponent) - 1 - exponent * (base - 1)
    return (_above(base), _at_least(exponent - 1)), _at_least(fact)


@_lemma("w^a <= 1 + a(w - 1) for w > 0 and 0 <= a <= 1", TERM, TERM)
def bernoulli_above(base: Term, exponent: Term) -> Instance:
    conditions = (_above(base), _at_least(exponent), _at_least(1 - exponent))
    fact = 1 + exponent * (base - 1) - real_power(base, exponent)
    return conditions, _at_least(fact)
