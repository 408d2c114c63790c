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
from dpsym.kernel.refusal import Refusal, require
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import ONE, PI, ZERO, Term, erfc, exp, log, power, real_power, sqrt

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
        LEMMAS[build.__name__] = Lemma(build.__name__, kinds, says, build)

    return add


def instance(name: str, args: tuple[Any, ...]) -> Instance:
    """The conditions and the fact of a lemma for these arguments."""
    found = LEMMAS.get(name)
    if found is None:
        raise Refusal("lemma", "the name of a lemma", name)
    fits = len(args) == len(found.kinds)
    require(fits, "lemma", f"{name} takes {len(found.kinds)} arguments", len(args))
    for kind, arg in zip(found.kinds, args, strict=True):
        kind.check(arg)
    return found.build(*args)


def at_least(item: Term, *conditions: Term) -> Instance:
    """``item >= 0`` where the conditions are at least 0."""
    return tuple(Fact(condition, ">=") for condition in conditions), Fact(item, ">=")


def given(found: Instance, *positive: Term) -> Instance:
    """The lemma under more conditions, that these terms are above 0."""
    return (*(Fact(item, ">") for item in positive), *found[0]), found[1]


def taylor(arg: Term, order: int) -> Term:
    """1 + u + ... + u^n/n!"""
    total, part = ZERO, ONE
    for k in range(order + 1):
        total, part = total + part, part * arg * fmpq(1, k + 1)
    return total


@_lemma("exp(u) >= its Taylor polynomial of order n: n odd, or u >= 0", TERM, ORDER)
def exp_taylor(u: Term, order: int) -> Instance:
    return at_least(exp(u) - taylor(u, order), *(() if order % 2 else (u,)))


@_lemma("exp(u) <= its Taylor polynomial of even order for u <= 0", TERM, ORDER)
def exp_taylor_above(u: Term, order: int) -> Instance:
    require(order % 2 == 0, "lemma", "exp_taylor_above takes an even order", order)
    return at_least(taylor(u, order) - exp(u), -u)


@_lemma("exp(u) <= 1/(1 - u) for u < 1", TERM)
def exp_inverse(u: Term) -> Instance:
    return given(at_least(1 / (1 - u) - exp(u)), 1 - u)


@_lemma("log(a) <= a - 1 for a > 0", TERM)
def log_above(a: Term) -> Instance:
    return given(at_least(a - 1 - log(a)), a)


@_lemma("log(a) >= 1 - 1/a for a > 0", TERM)
def log_below(a: Term) -> Instance:
    return given(at_least(log(a) - 1 + 1 / a), a)


@_lemma("log(a) >= 2(a - 1)/(a + 1) for a >= 1", TERM)
def log_pade_below(a: Term) -> Instance:
    return at_least(log(a) - 2 * (a - 1) / (a + 1), a - 1)


@_lemma("log(a) <= (a - 1/a)/2 for a >= 1", TERM)
def log_pade_above(a: Term) -> Instance:
    return at_least((a - 1 / a) * fmpq(1, 2) - log(a), a - 1)


@_lemma("erfc(u) <= exp(-u^2)/(u sqrt(pi)) for u > 0", TERM)
def erfc_mills(u: Term) -> Instance:
    return given(at_least(exp(-power(u, 2)) / (u * sqrt(PI)) - erfc(u)), u)


@_lemma("erfc(u) <= exp(-u^2) for u >= 0", TERM)
def erfc_chernoff(u: Term) -> Instance:
    return at_least(exp(-power(u, 2)) - erfc(u), u)


@_lemma("erfc(u) >= 2u exp(-u^2)/(sqrt(pi)(1 + 2u^2)) for u > 0", TERM)
def erfc_below(u: Term) -> Instance:
    bound = 2 * u * exp(-power(u, 2)) / (sqrt(PI) * (1 + 2 * power(u, 2)))
    return given(at_least(erfc(u) - bound), u)


@_lemma("erfc(u) > 0", TERM)
def erfc_positive(u: Term) -> Instance:
    return (), Fact(erfc(u), ">")


@_lemma("erfc(u) < 2", TERM)
def erfc_below_two(u: Term) -> Instance:
    return (), Fact(2 - erfc(u), ">")


@_lemma("pi > 314159/100000")
def pi_below() -> Instance:
    return (), Fact(PI - fmpq(314159, 100000), ">")


@_lemma("pi < 314160/100000")
def pi_above() -> Instance:
    return (), Fact(-PI + fmpq(314160, 100000), ">")


@_lemma("sqrt(a) sqrt(c) <= (a + c)/2 for a >= 0, c > 0", TERM, TERM)
def sqrt_mean(a: Term, c: Term) -> Instance:
    return given(at_least((a + c) * fmpq(1, 2) - sqrt(a) * sqrt(c), a), c)


@_lemma("w^a >= 1 + a(w - 1) for w > 0 and a >= 1", TERM, TERM)
def bernoulli(w: Term, a: Term) -> Instance:
    return given(at_least(real_power(w, a) - 1 - a * (w - 1), a - 1), w)


@_lemma("w^a <= 1 + a(w - 1) for w > 0 and 0 <= a <= 1", TERM, TERM)
def bernoulli_above(w: Term, a: Term) -> Instance:
    return given(at_least(1 + a * (w - 1) - real_power(w, a), a, 1 - a), w)
