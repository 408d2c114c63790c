"""The canonical form of a term: a polynomial whose monomials are exp(E) * product of atoms^k.

E is itself canonical, coefficients are rational, atoms are variables, pi, logs, square roots, erfc,
kinked terms and (with negative powers only) sums. Two terms are the same function, where both are
defined, if the difference of their forms is empty; the converse need not hold.

A form is relative to a set of terms known to be positive, since log and sqrt split only there.
Every rewriting is an identity wherever the original term is defined, and the result is defined
there too: x/x becomes 1, but 1 never becomes x/x.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import gcd, isqrt
from typing import TypeAlias

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.limits import MAX_BITS, MAX_PRODUCT, MAX_TERMS, tick
from dpsym.kernel.refusal import Refusal, TooLarge
from dpsym.kernel.terms import Term

Exponent: TypeAlias = "frozenset[tuple[Monomial, fmpq]]"
Atoms: TypeAlias = "frozenset[tuple[Term, int]]"
Monomial: TypeAlias = "tuple[Exponent, Atoms]"
Poly: TypeAlias = "dict[Monomial, fmpq]"

NOTHING: frozenset = frozenset()  # type: ignore[type-arg]
UNIT: Monomial = (NOTHING, NOTHING)
_ONE = fmpq(1)


def constant(value: fmpq | int) -> Poly:
    return {UNIT: fmpq(value)} if value else {}


def atom(item: Term, exponent: int = 1) -> Poly:
    return {(NOTHING, frozenset([(item, exponent)])): _ONE}


def plus(first: Poly, second: Poly, factor: fmpq | int = 1) -> Poly:
    """``first + factor * second``."""
    out = dict(first)
    for mono, value in second.items():
        total = out.get(mono, 0) + factor * value
        if total:
            out[mono] = total
        else:
            out.pop(mono, None)
    return out


def scaled(poly: Poly, factor: fmpq | int) -> Poly:
    return {mono: value * factor for mono, value in poly.items()} if factor else {}


def times_mono(first: Monomial, second: Monomial) -> Monomial:
    if first == UNIT:
        return second
    if second == UNIT:
        return first
    if not first[0] or not second[0]:
        exponent = first[0] or second[0]
    else:
        exponent = frozenset(plus(dict(first[0]), dict(second[0])).items())
    if not first[1] or not second[1]:
        atoms = first[1] or second[1]
    else:
        powers = dict(first[1])
        for item, count in second[1]:
            powers[item] = powers.get(item, 0) + count
        atoms = frozenset((item, count) for item, count in powers.items() if count)
    return exponent, atoms


def mono_power(mono: Monomial, count: int) -> Monomial:
    if not count:
        return UNIT
    exponent = frozenset((inner, value * count) for inner, value in mono[0])
    return exponent, frozenset((item, power * count) for item, power in mono[1])


_mono_terms: dict[tuple[Monomial, str], Term] = {}
_poly_terms: dict[frozenset[tuple[Monomial, fmpq]], Term] = {}
_CACHE = 200_000


def mono_term(mono: Monomial, value: fmpq = _ONE) -> Term:
    """The term of one monomial, in an order that is the same in every process."""
    ident = (mono, str(value))
    done = _mono_terms.get(ident)
    if done is None:
        factors: list[Term] = [tm.num(value)] if value != 1 else []
        if mono[0]:
            factors.append(tm.exp(to_term(dict(mono[0]))))
        for item, count in sorted(mono[1], key=lambda pair: pair[0].key):
            factors.append(tm.power(item, count))
        done = tm.mul(*factors)
        if len(_mono_terms) > _CACHE:
            _mono_terms.clear()
        _mono_terms[ident] = done
    return done


def sorted_monos(poly: Iterable[Monomial]) -> list[Monomial]:
    return sorted(poly, key=lambda mono: mono_term(mono).key)


def to_term(poly: Poly) -> Term:
    """The term of a canonical form."""
    ident = frozenset(poly.items())
    done = _poly_terms.get(ident)
    if done is None:
        done = tm.add(*(mono_term(mono, poly[mono]) for mono in sorted_monos(poly)))
        if len(_poly_terms) > _CACHE:
            _poly_terms.clear()
        _poly_terms[ident] = done
    return done


def _leading(monos: list[Monomial]) -> Monomial:
    """The greatest by powers, lexicographically: the choice commutes with multiplication."""
    if len(monos) == 1:
        return monos[0]
    powers: dict[tuple[int, Term], dict[Monomial, fmpq | int]] = {}
    for mono in monos:
        for inner, value in mono[0]:
            powers.setdefault((0, mono_term(inner)), {})[mono] = value
        for item, count in mono[1]:
            powers.setdefault((1, item), {})[mono] = count
    for generator in sorted(powers, key=lambda pair: (pair[0], pair[1].key)):
        given = powers[generator]
        top = max(given.get(mono, 0) for mono in monos)
        monos = [mono for mono in monos if given.get(mono, 0) == top]
        if len(monos) == 1:
            break
    return monos[0]


def content(poly: Poly) -> tuple[fmpq, Monomial, Poly]:
    """``c, m, r`` with poly = c * m * r: m collects the least powers of the atoms (square roots
    excepted) and the exponential of the leading monomial, which has coefficient 1 in r. Products
    of poly with a monomial have the same r."""
    monos = list(poly)
    lead = _leading(monos)
    least = dict(lead[1])
    for mono in monos:
        powers = dict(mono[1])
        for item in set(least) | set(powers):
            least[item] = min(least.get(item, 0), powers.get(item, 0))
    common = frozenset((item, k) for item, k in least.items() if k and item.op != "sqrt")
    shared = (lead[0], common)
    inverse = mono_power(shared, -1)
    value = poly[lead]
    return value, shared, {times_mono(m, inverse): k / value for m, k in poly.items()}


@lru_cache(maxsize=10_000)
def small_factors(number: int) -> tuple[tuple[int, int], ...]:
    """Factors of a positive whole number: primes below 2000, and what is left, with powers."""
    out = []
    prime = 2
    while prime * prime <= number and prime < 2000:
        count = 0
        while number % prime == 0:
            number //= prime
            count += 1
        if count:
            out.append((prime, count))
        prime += 1
    if number > 1:
        out.append((number, 1))
    return tuple(out)


class Canon:
    """Canonical forms relative to terms known to be positive, and others known nonnegative."""

    def __init__(self, positive: Iterable[Term] = (), nonnegative: Iterable[Term] = ()) -> None:
        self.positive = frozenset(positive)
        self.nonnegative = frozenset(nonnegative)
        self._memo: dict[Term, Poly] = {}
        self._signs: dict[Term, bool] = {}

    # -- arithmetic of forms

    def times(self, first: Poly, second: Poly) -> Poly:
        tick()
        if len(first) * len(second) > MAX_PRODUCT:
            raise TooLarge("canonical form", f"at most {MAX_PRODUCT} products of monomials")
        out: Poly = {}
        reducible = False
        for mono, value in first.items():
            for other, factor in second.items():
                merged = times_mono(mono, other)
                reducible = reducible or any(_reduces(item, k) for item, k in merged[1])
                total = out.get(merged, 0) + value * factor
                if total:
                    out[merged] = total
                else:
                    out.pop(merged, None)
        if len(out) > MAX_TERMS:
            raise TooLarge("canonical form", f"at most {MAX_TERMS} monomials")
        return self._reduced(out) if reducible else out

    def _reduced(self, poly: Poly) -> Poly:
        """Squares of square roots become their arguments; positive powers of sums are expanded."""
        out: Poly = {}
        for mono, value in poly.items():
            hard = [(item, k) for item, k in mono[1] if _reduces(item, k)]
            part: Poly = {(mono[0], mono[1] - frozenset(hard)): value}
            for item, k in hard:
                if item.op == "sqrt":
                    if k % 2:
                        part = self.times(part, atom(item))
                    part = self.times(part, self.to_power(self(item.args[0]), k // 2))
                else:
                    part = self.times(part, self.to_power(self(item), k))
            out = plus(out, part)
        return out

    def to_power(self, poly: Poly, count: int) -> Poly:
        if count < 0:
            return self.to_power(self.inverse(poly), -count)
        if len(poly) == 1 and count > 1:
            ((mono, value),) = poly.items()
            if count * max(abs(value.p), value.q).bit_length() > MAX_BITS:
                raise TooLarge("canonical form", f"rationals of at most {MAX_BITS} bits")
            return self._reduced({mono_power(mono, count): value**count})
        out = constant(1)
        while count:
            if count & 1:
                out = self.times(out, poly)
            count >>= 1
            if count:
                poly = self.times(poly, poly)
        return out

    def inverse(self, poly: Poly) -> Poly:
        """One over a form that is nonzero wherever the term in hand is defined."""
        if not poly:
            raise Refusal("canonical form", "the divisor is not zero")
        value, mono, rest = self.content(poly)
        out = self._reduced({mono_power(mono, -1): 1 / value})
        if len(rest) == 1:
            ((left, factor),) = rest.items()  # one, or square roots alone
            return self.times(out, self._reduced({mono_power(left, -1): 1 / factor}))
        return self.times(out, atom(to_term(rest), -1))

    def together(self, poly: Poly) -> tuple[Poly, dict[Term, int]]:
        """``N, {A: k}`` with poly = N / product A^k, where the A are sums and N has none below."""
        below: dict[Term, int] = {}
        for _ in range(20):
            now: dict[Term, int] = {}
            for mono in poly:
                for item, k in mono[1]:
                    if item.op == "add" and k < 0:
                        now[item] = max(now.get(item, 0), -k)
            if not now:
                return poly, below
            poly = self.times(poly, {(NOTHING, frozenset(now.items())): _ONE})
            for item, k in now.items():
                below[item] = below.get(item, 0) + k
        raise TooLarge("canonical form", "at most 20 layers of denominators")

    def is_zero(self, poly: Poly) -> bool:
        return not self.together(poly)[0]

    def content(self, poly: Poly) -> tuple[fmpq, Monomial, Poly]:
        """``c, m, r`` as by the function, with -c and -r if -r is known to be positive."""
        value, mono, rest = content(poly)
        turned = scaled(rest, -1)
        if len(rest) > 1 and to_term(turned) in self.positive:
            return -value, mono, turned
        return value, mono, rest

    # -- signs that are evident from the form

    def is_positive(self, item: Term) -> bool:
        if item in self.positive or item.op in ("pi", "erfc", "exp"):
            return True
        known = self._signs.get(item)
        if known is None:
            known = self._signs[item] = self._positive_by_form(item)
        return known

    def _positive_by_form(self, item: Term) -> bool:
        if isinstance(item.value, fmpq):
            return bool(item.value > 0)
        if item.op == "sqrt":
            return self.is_positive(item.args[0])
        if item.op in ("add", "mul", "pow"):
            return self.all_signs(self(item), strict=True)
        if item.op == "log":
            return self.all_signs(plus(self(item.args[0]), constant(1), -1), strict=True)
        if item.op == "max":
            return any(self.is_positive(arg) for arg in item.args)
        if item.op == "min":
            return all(self.is_positive(arg) for arg in item.args)
        return False

    def is_nonnegative(self, item: Term) -> bool:
        if item in self.nonnegative or item.op in ("sqrt", "abs") or self.is_positive(item):
            return True
        if item.op == "max":
            return any(self.all_signs(self(arg), strict=False) for arg in item.args)
        if item.op == "min":
            return all(self.all_signs(self(arg), strict=False) for arg in item.args)
        return False

    def mono_sign(self, mono: Monomial, strict: bool) -> bool:
        """Whether the monomial is positive (``strict``) or nonnegative wherever it is defined."""
        for item, k in mono[1]:
            if strict:
                if not (self.is_positive(item) or (k < 0 and k % 2 == 0)):
                    return False
            elif k % 2 and not self.is_nonnegative(item):
                return False
        return True

    def all_signs(self, poly: Poly, strict: bool) -> bool:
        """Whether every monomial is evidently nonnegative (and, if strict, one positive)."""
        if not all(value > 0 and self.mono_sign(m, False) for m, value in poly.items()):
            return False
        return not strict or any(self.mono_sign(mono, True) for mono in poly)

    # -- the form of a term

    def __call__(self, item: Term) -> Poly:
        done = self._memo.get(item)
        if done is None:
            done = self._memo[item] = self._form(item)
        return done

    def normal(self, item: Term) -> Term:
        return to_term(self(item))

    def _form(self, item: Term) -> Poly:
        op, args = item.op, item.args
        if op == "num":
            return constant(fmpq(item.value))
        if op in ("var", "pi"):
            return atom(item)
        if op == "add":
            out: Poly = {}
            for arg in args:
                out = plus(out, self(arg))
            return out
        if op == "mul":
            out = constant(1)
            for arg in args:
                out = self.times(out, self(arg))
            return out
        if op == "pow":
            return self.to_power(self(args[0]), int(str(item.value)))
        if op == "exp":
            return self._exp(self(args[0]))
        if op == "log":
            return self._log(self(args[0]))
        if op == "sqrt":
            return self._sqrt(self(args[0]))
        if op == "erfc":
            return self._erfc(self(args[0]))
        if op == "ite":
            return atom(Term(op, tuple(self.normal(arg) for arg in args)))
        first = self(args[0])
        if op == "abs":  # |a| = 2 max(a, 0) - a
            return plus(scaled(self._hinge(first), 2), first, -1)
        second = self(args[1])
        hinge = self._hinge(plus(first, second, -1))
        if op == "max":  # b + max(a - b, 0)
            return plus(second, hinge)
        return plus(first, hinge, -1)

    def _exp(self, poly: Poly) -> Poly:
        """exp(k log A) = A^k for whole k, and sqrt(A)^(2k) for half-whole k."""
        rest: Poly = {}
        out = constant(1)
        for mono, value in poly.items():
            inside = _lone_log(mono)
            if inside is None or value.q > 2:
                rest[mono] = value
            else:
                base = self(inside) if value.q == 1 else self(tm.sqrt(inside))
                out = self.times(out, self.to_power(base, int(value * value.q)))
        return self.times(out, {(frozenset(rest.items()), NOTHING): _ONE})

    def _log(self, poly: Poly) -> Poly:
        """Logs of products with factors known to be positive are split."""
        whole, below = self.together(poly)
        if below and all(self.is_positive(item) for item in below):
            out = self._log(whole)
            for item, k in below.items():
                out = plus(out, self._log(self(item)), -k)
            return out
        if not poly:
            raise Refusal("canonical form", "the argument of log is not zero")
        value, mono, rest = self.content(poly)
        out, left = dict(mono[0]), {}
        for item, k in mono[1]:
            if not self.is_positive(item):
                left[item] = k
            elif item.op == "sqrt":
                out = plus(out, self._log(self(item.args[0])), fmpq(k, 2))
            else:
                out = plus(out, atom(tm.log(item)), k)
        size = abs(value)
        for number, sign in ((int(size.p), 1), (int(size.q), -1)):
            for prime, k in small_factors(number):
                out = plus(out, atom(tm.log(tm.num(prime))), sign * k)
        rest = self.times(scaled(rest, 1 if value > 0 else -1), _product(left))
        return out if rest == constant(1) else plus(out, atom(tm.log(to_term(rest))))

    def _sqrt(self, poly: Poly) -> Poly:
        """Square roots of products with factors known to be positive are split."""
        if not poly:
            return {}
        value, mono, rest = self.content(poly)
        alone = rest == constant(1) and len(mono[1]) == 1 and value > 0
        out: Poly = {(frozenset((inner, k / 2) for inner, k in mono[0]), NOTHING): _ONE}
        left = {}
        for item, k in mono[1]:
            if k % 2 == 0 and (self.is_positive(item) or (alone and self.is_nonnegative(item))):
                out = self.times(out, atom(item, k // 2))
            elif k % 2 and self.is_positive(item):
                out = self.times(out, atom(tm.sqrt(item)))
                out = self.times(out, _product({item: (k - 1) // 2}))
            else:
                left[item] = k
        if value > 0:
            out = self.times(out, _sqrt_number(value))
            value = _ONE
        rest = self.times(scaled(rest, value), _product(left))
        return out if rest == constant(1) else self.times(out, atom(tm.sqrt(to_term(rest))))

    def _hinge(self, poly: Poly) -> Poly:
        """max(u, 0): positive factors go outside, and max(-u, 0) = max(u, 0) - u."""
        if self.all_signs(poly, strict=False):
            return poly
        if self.all_signs(scaled(poly, -1), strict=False):
            return {}
        whole, below = self.together(poly)
        if not whole:
            return {}
        if not all(self.is_positive(item) for item in below):
            whole, below = poly, {}
        value, mono, rest = self.content(whole)
        good = frozenset((item, k) for item, k in mono[1] if self.is_positive(item))
        inner = self.times(rest, {(NOTHING, mono[1] - good): _ONE})
        outer = self.times(
            {(mono[0], good): abs(value)}, _product({a: -k for a, k in below.items()})
        )
        out = self.times(outer, atom(tm.maximum(to_term(inner), tm.ZERO)))
        return out if value > 0 else plus(out, self.times(outer, inner), -1)

    def _erfc(self, poly: Poly) -> Poly:
        if not poly:
            return constant(1)
        if poly[sorted_monos(poly)[0]] < 0:  # erfc(-u) = 2 - erfc(u)
            return plus(constant(2), atom(tm.erfc(to_term(scaled(poly, -1)))), -1)
        return atom(tm.erfc(to_term(poly)))


def _product(powers: dict[Term, int]) -> Poly:
    return {(NOTHING, frozenset((item, k) for item, k in powers.items() if k)): _ONE}


def _reduces(item: Term, count: int) -> bool:
    return (item.op == "sqrt" and count not in (0, 1)) or (item.op == "add" and count > 0)


def _lone_log(mono: Monomial) -> Term | None:
    """A if the monomial is log(A), else None."""
    if mono[0] or len(mono[1]) != 1:
        return None
    ((item, count),) = mono[1]
    return item.args[0] if item.op == "log" and count == 1 else None


def _sqrt_number(value: fmpq) -> Poly:
    """sqrt of a positive rational: a rational times square roots of distinct factors."""
    out, roots = fmpq(1), []
    for number, below in ((int(value.p), False), (int(value.q), True)):
        for prime, count in small_factors(number):
            whole = count // 2 + (count % 2 if below else 0)
            out *= fmpq(prime) ** (-whole if below else whole)
            if count % 2:
                root = isqrt(prime)
                if root * root == prime:
                    out *= root
                else:
                    roots.append((tm.sqrt(tm.num(prime)), 1))
    return {(NOTHING, frozenset(roots)): out}


def lcm_denominators(values: Iterable[fmpq]) -> int:
    out = 1
    for value in values:
        below = int(value.q)
        out = out * below // gcd(out, below)
    return out
