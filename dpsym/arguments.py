"""Constants out of their range, refused where a user writes them.

Only a convenience: what is proved depends on the hypotheses and obligations, not on these checks.
"""

from __future__ import annotations

import sympy as sp
from flint import arb, fmpq

from dpsym.errors import InputError, TooLargeError
from dpsym.kernel import terms as k
from dpsym.kernel.terms import Term
from dpsym.translate import exact, symbols_of, to_term

__all__ = ["nonnegative", "positive", "probability", "real", "sign_of_constant", "truth"]


def real(argument: str, value: object) -> sp.Expr:
    """The exact expression, checked to be in the language.

    >>> real("epsilon", 0.25)
    1/4
    """
    expr = exact(value, argument)
    _sign(expr, argument)
    return expr


def nonnegative(argument: str, value: object) -> sp.Expr:
    """The exact expression; a constant must not be negative.

    >>> nonnegative("epsilon", -1)
    Traceback (most recent call last):
    dpsym.errors.InputError: epsilon: expected a number >= 0, got -1
    """
    expr = exact(value, argument)
    if _sign(expr, argument) == "<":
        raise InputError(argument, "a number >= 0", value)
    return expr


def positive(argument: str, value: object) -> sp.Expr:
    """The exact expression; a constant must be positive."""
    expr = exact(value, argument)
    if _sign(expr, argument) in ("<", "="):
        raise InputError(argument, "a number > 0", value)
    return expr


def probability(argument: str, value: object) -> sp.Expr:
    """The exact expression; a constant must lie in [0, 1].

    >>> from fractions import Fraction
    >>> probability("delta", Fraction(3, 2))
    Traceback (most recent call last):
    dpsym.errors.InputError: delta: expected a number in [0, 1], got 3/2
    """
    expr = exact(value, argument)
    if _sign(expr, argument) == "<" or _sign(sp.Add(1, -expr, evaluate=False), argument) == "<":
        raise InputError(argument, "a number in [0, 1]", value)
    return expr


def truth(argument: str, value: object) -> bool:
    """True or False, and nothing that only counts as one of them."""
    if not isinstance(value, bool):
        raise InputError(argument, "True or False", value)
    return value


def _sign(expr: sp.Expr, argument: str) -> str | None:
    """The sign of a constant, None for what is not one. Too large is left for checking to say."""
    try:
        if symbols_of(expr, argument):
            return None
        return sign_of_constant(to_term(expr, argument, {}))
    except TooLargeError:
        return None


def sign_of_constant(term: Term) -> str | None:
    """``"<"``, ``"="`` or ``">"`` than zero, or None if 53 bits do not tell. Rigorous.

    >>> sign_of_constant(k.exp(1) - 3), sign_of_constant(k.num(0))
    ('<', '=')
    """
    if term.vars:
        return None
    if isinstance(term.value, fmpq):
        return "=" if term is k.ZERO else ">" if term.value > 0 else "<"
    ball = _enclosure(term)
    return ">" if ball > 0 else "<" if ball < 0 else "=" if ball.is_zero() else None


def _enclosure(term: Term) -> arb:
    done: dict[Term, arb] = {}
    for item in k.subterms(term):
        done[item] = _apply(item, [done[arg] for arg in item.args])
    return done[term]


def _apply(item: Term, args: list[arb]) -> arb:
    op = item.op
    if op == "num":
        return arb(item.value)
    if op == "pi":
        return arb.pi()
    if op == "add":
        return sum(args[1:], args[0])
    if op == "mul":
        product = args[0]
        for arg in args[1:]:
            product = product * arg
        return product
    if op == "pow":
        return args[0] ** int(str(item.value))
    if op == "max":
        return args[0].max(args[1])
    if op == "min":
        return args[0].min(args[1])
    if op == "ite":
        return args[1] if args[0] >= 0 else args[2] if args[0] < 0 else args[1].union(args[2])
    if op == "abs":
        return abs(args[0])
    return getattr(args[0], op)()  # Arb has methods of the same names
