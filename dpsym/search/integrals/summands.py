"""A canonical form as a sum of c * x^n * exp(polynomial in x), where it is one."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from dpsym.kernel import canon as cn
from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Canon, Poly
from dpsym.kernel.terms import ONE, ZERO, Term

__all__ = ["Summand", "coefficients", "summands"]


@dataclass(frozen=True, slots=True)
class Summand:
    """factor * x^power * exp(sum of exponent[i] x^(i+1)), the factor and exponents free of x."""

    factor: Term
    power: int
    exponent: tuple[Term, ...]

    def term(self, x: Term) -> Term:
        inside = tm.add(*(c * tm.power(x, i) for i, c in enumerate(self.exponent, 1)))
        grown = tm.exp(inside) if self.exponent else ONE
        return self.factor * (tm.power(x, self.power) if self.power else ONE) * grown


def coefficients(canon: Canon, poly: Poly, x: Term) -> list[Term] | None:
    """The coefficients of a polynomial in x, the constant first; None for other forms."""
    found: dict[int, Poly] = {}
    for mono, value in poly.items():
        parts = _power(mono, x)
        if parts is None or parts[0] < 0:
            return None
        found.setdefault(parts[0], {})[parts[1]] = value
    return [cn.to_term(found.get(i, {})) for i in range(max(found, default=0) + 1)]


def _power(mono: cn.Monomial, x: Term) -> tuple[int, cn.Monomial] | None:
    """The power of x in a monomial, and the rest, if that is free of x."""
    count = dict(mono[1]).get(x, 0)
    rest = (mono[0], mono[1] - {(x, count)})
    return None if x.value in cn.mono_term(rest).vars else (count, rest)


def summands(canon: Canon, form: Poly, x: Term) -> list[Summand] | None:
    """The summands, those with the same power and exponent taken together; None for other forms."""
    found: dict[tuple[int, tuple[Term, ...]], list[Term]] = {}
    for (exponent, atoms), value in form.items():
        coefs = coefficients(canon, dict(exponent), x)
        count = dict(atoms).get(x, 0)
        rest = cn.mono_term((frozenset(), atoms - {(x, count)}), fmpq(value))
        if coefs is None or x.value in rest.vars:
            return None
        fixed = rest if coefs[0] is ZERO else rest * tm.exp(coefs[0])
        found.setdefault((count, tuple(coefs[1:])), []).append(fixed)
    return [
        Summand(canon.normal(tm.add(*factors)), power, exponent)
        for (power, exponent), factors in found.items()
    ]
