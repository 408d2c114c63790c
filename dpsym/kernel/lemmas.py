"""Textbook inequalities that rules may use as facts. Data: name, arguments, conditions, fact.

Each holds at every point where its conditions hold. Sources: Taylor's theorem with the Lagrange
remainder (exp); log x <= x - 1 and its inverse; the first Pade bounds of log; for erfc the bounds
of Gordon (1941), Ann. Math. Stat. 12, by which exp(u^2) erfc(u) decreases, as its derivative is
negative, and erfc(u) <= exp(-u^2) for u >= 0 (Chernoff); Bernoulli's
inequality for real exponents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from flint import fmpq

from dpsym.kernel.kinds import TERM, Kind, whole
from dpsym.kernel.refusal import Refusal, require
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import ONE, PI, ZERO, Term, atan, erfc, exp, log, power, real_power, sqrt

ORDER = whole(0, 15)
Instance = tuple[tuple[Fact, ...], Fact]


class Lemma(NamedTuple):
    """``build(*args)`` gives the conditions and the fact."""

    kinds: tuple[Kind, ...]
    build: Callable[..., Instance]


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


def above(item: Term) -> Instance:
    """``item > 0``."""
    return (), Fact(item, ">")


def _exp_taylor(u: Term, order: int) -> Instance:
    return at_least(exp(u) - taylor(u, order), *(() if order % 2 else (u,)))


def _exp_taylor_above(u: Term, order: int) -> Instance:
    require(order % 2 == 0, "lemma", "exp_taylor_above takes an even order", order)
    return at_least(taylor(u, order) - exp(u), -u)


def _erfc_below(u: Term) -> Instance:
    bound = 2 * u * exp(-power(u, 2)) / (sqrt(PI) * (1 + 2 * power(u, 2)))
    return given(at_least(erfc(u) - bound), u)


def _bernoulli_above(w: Term, a: Term) -> Instance:
    return given(at_least(1 + a * (w - 1) - real_power(w, a), a, 1 - a), w)


def _erfc_ratio(u: Term, v: Term) -> Instance:
    return at_least(exp(power(u, 2) - power(v, 2)) * erfc(u) - erfc(v), v - u)


_BY_ARGUMENTS: dict[tuple[Kind, ...], dict[str, Callable[..., Instance]]] = {
    (): {
        # pi > 3.14159 and pi < 3.1416
        "pi_below": lambda: above(PI - fmpq(314159, 100000)),
        "pi_above": lambda: above(-PI + fmpq(314160, 100000)),
    },
    (TERM, ORDER): {
        # exp(u) >= its Taylor polynomial of order n: n odd, or u >= 0
        "exp_taylor": _exp_taylor,
        # exp(u) <= its Taylor polynomial of even order for u <= 0
        "exp_taylor_above": _exp_taylor_above,
    },
    (TERM,): {
        # u^2 >= 0
        "square": lambda u: at_least(power(u, 2)),
        # exp(u) <= 1/(1 - u) for u < 1
        "exp_inverse": lambda u: given(at_least(1 / (1 - u) - exp(u)), 1 - u),
        # log(a) <= a - 1 for a > 0
        "log_above": lambda a: given(at_least(a - 1 - log(a)), a),
        # log(a) >= 1 - 1/a for a > 0
        "log_below": lambda a: given(at_least(log(a) - 1 + 1 / a), a),
        # log(a) >= 2(a - 1)/(a + 1) for a >= 1
        "log_pade_below": lambda a: at_least(log(a) - 2 * (a - 1) / (a + 1), a - 1),
        # log(a) <= (a - 1/a)/2 for a >= 1
        "log_pade_above": lambda a: at_least((a - 1 / a) * fmpq(1, 2) - log(a), a - 1),
        # erfc(u) <= exp(-u^2)/(u sqrt(pi)) for u > 0
        "erfc_mills": lambda u: given(at_least(exp(-power(u, 2)) / (u * sqrt(PI)) - erfc(u)), u),
        # erfc(u) <= exp(-u^2) for u >= 0
        "erfc_chernoff": lambda u: at_least(exp(-power(u, 2)) - erfc(u), u),
        # erfc(u) >= 2u exp(-u^2)/(sqrt(pi)(1 + 2u^2)) for u > 0
        "erfc_below": _erfc_below,
        # atan(u) < pi/2, atan(u) >= pi/2 - 1/u for u > 0
        "atan_above": lambda u: above(PI * fmpq(1, 2) - atan(u)),
        "atan_below": lambda u: given(at_least(atan(u) - PI * fmpq(1, 2) + 1 / u), u),
        # erfc(u) > 0
        "erfc_positive": lambda u: above(erfc(u)),
    },
    (TERM, TERM): {
        # sqrt(a) sqrt(c) <= (a + c)/2 for a >= 0, c > 0
        "sqrt_mean": lambda a, c: given(at_least((a + c) * fmpq(1, 2) - sqrt(a) * sqrt(c), a), c),
        # exp(u^2) erfc(u) >= exp(v^2) erfc(v) for u <= v
        "erfc_ratio": _erfc_ratio,
        # w^a >= 1 + a(w - 1) for w > 0 and a >= 1
        "bernoulli": lambda w, a: given(at_least(real_power(w, a) - 1 - a * (w - 1), a - 1), w),
        # w^a <= 1 + a(w - 1) for w > 0 and 0 <= a <= 1
        "bernoulli_above": _bernoulli_above,
    },
}
LEMMAS = {
    name: Lemma(kinds, build)
    for kinds, group in _BY_ARGUMENTS.items()
    for name, build in group.items()
}
