"""Antiderivatives and antidifferences of sums of c * x^n * exp(polynomial in x), antiderivatives
also of x^n * exp(linear) * erfc(linear)."""

from __future__ import annotations

from collections.abc import Callable
from math import comb

from flint import fmpq

from dpsym.kernel import canon as cn
from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Canon, Poly
from dpsym.kernel.terms import ONE, ZERO, Term
from dpsym.search.integrals.substitutions import by_exponential, rational
from dpsym.search.integrals.summands import Summand, coefficients, summands

__all__ = ["antiderivative", "antidifference"]

_HIGHEST = 12  # power of x


def antiderivative(canon: Canon, item: Term, x: Term, way: int) -> Term | None:
    """G with G' = item, or None. ``way`` is 1 if G should vanish at plus infinity, -1 at minus
    infinity, where it can."""
    found = _sum(canon, item, x, lambda part: _integrated(canon, part, x, way))
    if found is None:
        found = _by_parts(canon, item, x, way)
    if found is None:
        found = by_exponential(canon, item, x, _over_z)
    return rational(canon, item, x) if found is None else found


def _by_parts(canon: Canon, item: Term, x: Term, way: int) -> Term | None:
    """Of a sum of f(x) erfc(u(x)) with linear u: F erfc(u) and an antiderivative of what is left,
    for F' = f."""
    factors: dict[Term, Poly] = {}  # of each erfc; of 1, what is free of them
    for (exponent, atoms), value in canon(item).items():
        moving = [(one, k) for one, k in atoms if x.value in one.vars and one is not x]
        tail, count = moving[0] if moving else (ONE, 1)
        if len(moving) > 1 or count != 1 or (moving and tail.op != "erfc"):
            return None
        rest = atoms.difference(moving)
        factors.setdefault(tail, {})[exponent, rest] = value
    left, total = cn.to_term(factors.pop(ONE, {})), ZERO
    if not factors:
        return None
    for tail, form in factors.items():
        linear = coefficients(canon, canon(tail.args[0]), x)
        over = _sum(canon, cn.to_term(form), x, lambda part: _integrated(canon, part, x, way))
        if over is None or linear is None or len(linear) != 2:
            return None
        total += over * tail
        left -= over * tm.derivative(tail, str(x.value))
    found = _sum(canon, left, x, lambda part: _integrated(canon, part, x, way))
    return None if found is None else total + found


def _over_z(canon: Canon, item: Term, z: Term) -> Term | None:
    found = _sum(canon, item, z, lambda part: _integrated(canon, part, z, 1))
    return rational(canon, item, z) if found is None else found


def antidifference(canon: Canon, item: Term, x: Term) -> Term | None:
    """G with G(x + 1) - G(x) = item, or None."""
    return _sum(canon, item, x, lambda part: _telescoped(part, x))


def _sum(canon: Canon, item: Term, x: Term, each: Callable[[Summand], Term | None]) -> Term | None:
    parts = summands(canon, canon(item), x)
    if parts is None or any(not 0 <= part.power <= _HIGHEST for part in parts if part.exponent):
        return None
    found = [each(part) for part in parts]
    known = [part for part in found if part is not None]
    return None if len(known) < len(found) else tm.add(*known)


def _integrated(canon: Canon, part: Summand, x: Term, way: int) -> Term | None:
    count = part.power
    if not part.exponent:
        if count == -1:
            return part.factor * tm.log(x) if canon.is_positive(x) else None
        return part.factor * tm.power(x, count + 1) * fmpq(1, count + 1)
    grown = Summand(part.factor, 0, part.exponent).term(x)
    if len(part.exponent) == 1:
        (rate,) = part.exponent
        total, step = ZERO, 1 / rate
        for j in range(count + 1):
            total += step * (tm.power(x, count - j) if count > j else ONE)
            step = step * (j - count) / rate
        return grown * total
    if len(part.exponent) == 2:
        linear, square = part.exponent
        bell = part.factor * _bell(-square, linear, x, way)
        found = [bell]  # by the power of x
        for n in range(1, count + 1):
            less = tm.power(x, n - 1) if n > 1 else ONE
            value = linear * found[n - 1] - less * grown
            value = value + (n - 1) * found[n - 2] if n > 1 else value
            found.append(value / (-2 * square))
        return found[count]
    return None


def _bell(a: Term, b: Term, x: Term, way: int) -> Term:
    """An antiderivative of exp(-a x^2 + b x), a > 0."""
    root = tm.sqrt(a)
    inside = root * x - b / (2 * root)
    size = (
        tm.sqrt(tm.PI) / (2 * root) * (tm.exp(tm.power(b, 2) / (4 * a)) if b is not ZERO else ONE)
    )
    return -size * tm.erfc(inside) if way == 1 else size * tm.erfc(-inside)


def _telescoped(part: Summand, x: Term) -> Term | None:
    """Sums of x^n r^x: the difference of x^n r^x is (r - 1) x^n r^x and lower powers."""
    count = part.power
    if len(part.exponent) > 1 or count < 0:
        return None
    grown = Summand(part.factor, 0, part.exponent).term(x)
    ratio = tm.exp(part.exponent[0]) if part.exponent else ONE
    found: list[Term] = []  # of x^0, x^1, ...
    for n in range(count + 1):
        if part.exponent:
            lower = [comb(n, j) * ratio * done for j, done in enumerate(found)]
            power = tm.power(x, n) if n else ONE
            found.append((power * grown - tm.add(*lower)) / (ratio - 1))
        else:
            lower = [comb(n + 1, j) * done for j, done in enumerate(found)]
            found.append((tm.power(x, n + 1) * part.factor - tm.add(*lower)) * fmpq(1, n + 1))
    return found[count]
