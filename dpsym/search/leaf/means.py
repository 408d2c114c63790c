"""Weighted means of powers: K z^a + B z^b >= C z^c, where c lies between a and b.

Divided by B z^b / (n - 1), with n = (a - b)/(c - b), that is Bernoulli's inequality for the n-th
power of w = (n - 1) C z^(c - b) / (n B), which is 1 where both sides touch, if they do. What it
leaves is free of z. The powers may be those of a variable, or exponentials of multiples of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Monomial, Poly, constant, plus, to_term
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.terms import Term, var
from dpsym.search.leaf.factoring import factors, quotient
from dpsym.search.leaf.hinges import evident_sign
from dpsym.search.leaf.steps import coefficient, evident, is_constant

Powers = list[tuple[Poly, Poly]]
_MOST_POWERS = 5


def powers(form: Poly, x: Term, base: Term, strict: bool = True) -> Powers:
    """The form as a sum of c exp(p base): pairs p, c, free of x. The base is x or log(x), and the
    powers of x count as exponentials of log(x).

    What has another shape is left out; if ``strict``, nothing is left then."""
    found: dict[frozenset[tuple[Monomial, fmpq]], Poly] = {}
    for mono, value in form.items():
        row = _power_of(mono, value, x, base)
        if row is not None:
            key = frozenset(row[0].items())
            found[key] = plus(found.get(key, {}), row[1])
        elif strict:
            return []
    return [(dict(key), factor) for key, factor in found.items() if factor]


def _power_of(mono: Monomial, value: fmpq, x: Term, base: Term) -> tuple[Poly, Poly] | None:
    inside = dict(mono[0])
    exponent = coefficient(inside, base)
    left = {part: k for part, k in inside.items() if (base, 1) not in part[1]}
    count = dict(mono[1]).get(x, 0) if base.op == "log" else 0
    rest: Poly = {(frozenset(left.items()), mono[1] - {(x, count)}): value}
    if x.vars & (to_term(rest).vars | to_term(exponent).vars):
        return None
    return plus(exponent, constant(count)), rest


def instances(sequent: Sequent, form: Poly) -> Iterator[tuple[Term, Term, Term]]:
    """Multipliers, w and n of instances of Bernoulli's inequality that fit the goal."""
    for name in sorted(to_term(form).vars):
        x = var(name)
        bases = [x, tm.log(x)] if evident(sequent.hypotheses, x, ">") else [x]
        for base in bases:
            found = powers(form, x, base)
            if not 3 <= len(found) <= _MOST_POWERS:
                continue
            if all(is_constant(power) for power, _ in found):
                continue  # a polynomial
            yield from _fitting(sequent, found, base)


def _fitting(sequent: Sequent, found: Powers, base: Term) -> Iterator[tuple[Term, Term, Term]]:
    signed = [(power, *_factors(sequent, factor)) for power, factor in found]
    for (low, one, _), (high, two, above), (middle, three, below) in permutations(signed, 3):
        if (one, two, three) != (1, 1, -1):
            continue
        step = plus(middle, high, -1)
        exact = quotient(plus(low, high, -1), step)
        if exact is None or not evident(sequent.hypotheses, to_term(exact) - 1, ">"):
            continue
        n = to_term(exact)
        share = {n: -1, **_factors(sequent, plus(exact, constant(1), -1))[1]}  # (n - 1)/n
        w = tm.exp(to_term(step) * base) * _product(plus(plus(share, below), above, -1))
        weight = _product(plus(plus(above, share, -1), {n: -1}))
        yield tm.exp(to_term(high) * base) * weight, w, n


def _factors(sequent: Sequent, form: Poly) -> tuple[int, dict[Term, int]]:
    """The sign of a form, and positive factors of its size; 0 if the sign is not evident."""
    canon = context(sequent.hypotheses).canon
    try:
        scale, parts = factors(form) or (fmpq(1), [(to_term(form), 1)])
    except (Refusal, ArithmeticError):
        return 0, {}
    sign = 1 if scale > 0 else -1
    out = {tm.num(abs(scale)): 1}
    for item, count in parts:
        known = evident_sign(sequent.hypotheses, item)
        sign *= known if count % 2 or not known else 1
        part = canon.normal(known * item)
        out[part] = out.get(part, 0) + count
    return sign, out


def _product(powers: dict[Term, int]) -> Term:
    pairs = sorted(powers.items(), key=lambda pair: pair[0].key)
    return tm.mul(*(tm.power(item, count) for item, count in pairs))
