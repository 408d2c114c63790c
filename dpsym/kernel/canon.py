"""The canonical form of a term: a polynomial whose monomials are exp(E) * product of atoms^k.

E is itself canonical, coefficients are rational, atoms are variables, pi, logs, square roots, erfc,
atan, lgamma, kinked terms and (with negative powers only) sums. Two terms are the same function,
where both are defined, if the difference of their forms is empty; the converse need not hold.

A form is relative to a set of terms known to be positive, since log and sqrt split only there.
Every rewriting is an identity wherever the original term is defined, and the result is defined
there too: x/x becomes 1, but 1 never becomes x/x.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, reduce
from math import isqrt
from typing import Any, TypeAlias, TypeVar

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.limits import MAX_BITS, MAX_PRODUCT, MAX_TERMS, MAX_WORK, tick
from dpsym.kernel.refusal import TooLarge, require
from dpsym.kernel.terms import Term

Exponent: TypeAlias = "frozenset[tuple[Monomial, fmpq]]"
Atoms: TypeAlias = "frozenset[tuple[Term, int]]"
Monomial: TypeAlias = "tuple[Exponent, Atoms]"
Poly: TypeAlias = "dict[Monomial, fmpq]"
Key = TypeVar("Key")

NOTHING: frozenset[Any] = frozenset()
UNIT: Monomial = (NOTHING, NOTHING)
_ONE = fmpq(1)
_CACHE, _CANONS, _MOST_SHIFTS = 200_000, 3000, 50


def constant(value: fmpq | int) -> Poly:
    return {UNIT: fmpq(value)} if value else {}


def product(powers: dict[Term, int]) -> Poly:
    """The product of the atoms to these powers."""
    return {(NOTHING, frozenset([pair for pair in powers.items() if pair[1]])): _ONE}


def mono_of(item: Term, exponent: int = 1) -> Monomial:
    """The monomial that is a power, not 0, of one atom."""
    return NOTHING, frozenset([(item, exponent)])


def atom(item: Term, exponent: int = 1) -> Poly:
    return {mono_of(item, exponent): _ONE}


def plus(first: dict[Key, Any], second: dict[Key, Any], factor: fmpq | int = 1) -> dict[Key, Any]:
    """``first + factor * second``, without zeros."""
    return _collected(dict(first), ((key, factor * value) for key, value in second.items()))


def _collected(out: dict[Key, Any], pairs: Iterable[tuple[Key, Any]]) -> dict[Key, Any]:
    """``out`` with the values added by key, without zeros."""
    for key, value in pairs:
        total = out[key] + value if key in out else value
        if total:
            out[key] = total
        else:
            out.pop(key, None)
    return out


def scaled(poly: Poly, factor: fmpq | int) -> Poly:
    return {mono: value * factor for mono, value in poly.items()} if factor else {}


def times_mono(first: Monomial, second: Monomial) -> Monomial:
    (exponent, atoms), (other, more) = first, second
    return (
        _merged(exponent, other) if exponent and other else exponent or other,
        _merged(atoms, more) if atoms and more else atoms or more,
    )


def _merged(first: frozenset[Any], second: frozenset[Any]) -> frozenset[Any]:
    """Coefficients, or powers, added."""
    return frozenset(_collected(dict(first), second).items())


def mono_power(mono: Monomial, count: int) -> Monomial:
    if not count:
        return UNIT
    exponent = frozenset([(inner, value * count) for inner, value in mono[0]])
    return exponent, frozenset([(item, power * count) for item, power in mono[1]])


def mono_term(mono: Monomial, value: fmpq = _ONE) -> Term:
    """The term of one monomial, in an order that is the same in every process."""
    return _mono_term(mono, 1, 1) if value is _ONE else _mono_term(mono, int(value.p), int(value.q))


@lru_cache(maxsize=_CACHE)
def _mono_term(mono: Monomial, p: int, q: int) -> Term:
    factors = [] if p == q == 1 else [tm.num(fmpq(p, q))]
    if mono[0]:
        factors.append(tm.exp(to_term(dict(mono[0]))))
    atoms = sorted(mono[1], key=lambda pair: pair[0].key)
    return tm.mul(*factors, *[tm.power(item, count) for item, count in atoms])


def sorted_monos(poly: Iterable[Monomial]) -> list[Monomial]:
    return sorted(poly, key=lambda mono: mono_term(mono).key)


def to_term(poly: Poly) -> Term:
    """The term of a canonical form."""
    return _sum(frozenset([(mono, int(value.p), int(value.q)) for mono, value in poly.items()]))


@lru_cache(maxsize=_CACHE)
def _sum(items: frozenset[tuple[Monomial, int, int]]) -> Term:  # rationals are slow to hash
    return tm.add(*sorted([_mono_term(*item) for item in items], key=lambda part: part.key))


def lone(mono: Monomial, op: str) -> Term | None:
    """The atom, if the monomial is one atom of this operation to the first power."""
    if mono[0] or len(mono[1]) != 1:
        return None
    ((item, count),) = mono[1]
    return item if item.op == op and count == 1 else None


def _leading(poly: Poly) -> Monomial:
    """The greatest by powers, lexicographically: the choice commutes with multiplication."""
    if len(poly) == 1:
        return next(iter(poly))
    powers = {mono: _powers(mono) for mono in poly}
    order = sorted(set().union(*powers.values()))
    return max(poly, key=lambda mono: [powers[mono].get(generator, 0) for generator in order])


@lru_cache(maxsize=_CACHE)
def _powers(mono: Monomial) -> dict[Any, Any]:
    """The powers of exponentials, then of atoms, by keys that give their order."""
    out = {(0, mono_term(inner).key): value for inner, value in mono[0]}
    return {**out, **{(1, item.key): count for item, count in mono[1]}}


def common_atoms(poly: Poly) -> Atoms:
    """The least powers of the atoms in the monomials, square roots excepted."""
    powers: dict[Term, list[int]] = {}
    for mono in poly:
        for item, k in mono[1]:
            powers.setdefault(item, []).append(k)
    least = [(item, min(ks if len(ks) == len(poly) else [0, *ks])) for item, ks in powers.items()]
    return frozenset([(item, k) for item, k in least if k and item.op != "sqrt"])


def content(poly: Poly) -> tuple[fmpq, Monomial, Poly]:
    """``c, m, r`` with poly = c * m * r: m collects the common atoms and the exponential of the
    leading monomial, which has coefficient 1 in r. Products of poly with a monomial have the same
    r."""
    lead = _leading(poly)
    value, shared = poly[lead], (lead[0], common_atoms(poly))
    if shared == UNIT:
        return value, UNIT, {mono: k / value for mono, k in poly.items()}
    inverse = mono_power(shared, -1)
    return value, shared, {times_mono(mono, inverse): k / value for mono, k in poly.items()}


@lru_cache(maxsize=10_000)
def factors(value: fmpq) -> tuple[tuple[int, int], ...]:
    """``(p, k), ...`` with a positive rational = product p^k: p are primes below 2000, and what
    is left of the numerator and of the denominator."""
    out = []
    for left, sign in ((int(value.p), 1), (int(value.q), -1)):
        prime = 2
        while left > 1:
            if prime * prime > left or prime >= 2000:
                prime = left
            count = 0
            while left % prime == 0:
                left, count = left // prime, count + 1
            if count:
                out.append((prime, sign * count))
            prime += 1
    return tuple(out)


class Canon:
    """Canonical forms relative to terms known to be positive, or nonnegative."""

    def __init__(self, known: frozenset[tuple[Term, bool]] = NOTHING) -> None:
        self.known = known  # terms that are positive (True) or nonnegative (False)
        self._sums = {item for item, strict in known if strict and item.op == "add"}
        self._memo: dict[Term, Poly] = {}
        self._signs = dict.fromkeys([*known, *((item, False) for item, _ in known)], True)

    def knowing(self, item: Term, strict: bool) -> Canon:
        """Forms that also know the term to be positive (``strict``) or nonnegative."""
        stated = (item, True) in self.known
        return self if stated else _canon(self.known | {(item, strict)})

    # -- arithmetic of forms

    def times(self, first: Poly, second: Poly) -> Poly:
        tick()
        if len(first) * len(second) > MAX_PRODUCT:
            raise TooLarge("canonical form", f"at most {MAX_PRODUCT} products of monomials")
        sizes = ((v.height_bits() for v in form.values()) for form in (first, second))
        bits = sum(max(size, default=0) for size in sizes)
        if len(first) * len(second) * bits > MAX_WORK:
            raise TooLarge("canonical form", f"at most {MAX_WORK} bits of products")
        products = [
            (times_mono(mono, other), value * factor)
            for mono, value in first.items()
            for other, factor in second.items()
        ]
        out = dict(products) if 1 in (len(first), len(second)) else _collected({}, products)
        if len(out) > MAX_TERMS:
            raise TooLarge("canonical form", f"at most {MAX_TERMS} monomials")
        return self._reduced(out)

    def _product(self, forms: Iterable[Poly]) -> Poly:
        """The product of forms, of which most are one monomial."""
        mono, value, others = UNIT, _ONE, []
        for form in forms:
            if len(form) == 1:
                ((part, factor),) = form.items()
                mono, value = times_mono(mono, part), value * factor
            else:
                others.append(form)
        return reduce(self.times, others, self._reduced({mono: value}))

    def _reduced(self, poly: Poly) -> Poly:
        """Squares of square roots become their arguments; positive powers of sums are expanded."""
        out = poly
        for mono, value in poly.items():
            hard = [
                (item, k)
                for item, k in mono[1]
                if (k != 1 if item.op == "sqrt" else k > 0 and item.op == "add")
            ]
            if not hard:
                continue
            roots = {(item, 1) for item, k in hard if item.op == "sqrt" and k % 2}
            part: Poly = {(mono[0], mono[1].difference(hard) | roots): value}
            for item, k in hard:
                base, count = (item.args[0], k // 2) if item.op == "sqrt" else (item, k)
                kept = base.op == "add" and any(a is base and j < 0 for a, j in mono[1])  # A/A is 1
                more = atom(base, count) if kept else self.to_power(self(base), count)
                part = self.times(part, more)
            out = plus(plus(out, {mono: -value}), part)
        return out

    def to_power(self, poly: Poly, count: int) -> Poly:
        if count < 0:
            return self.to_power(self.inverse(poly), -count)
        if len(poly) == 1 and count > 1:
            ((mono, value),) = poly.items()
            if count * max(abs(value.p), value.q).bit_length() > MAX_BITS:
                raise TooLarge("canonical form", f"rationals of at most {MAX_BITS} bits")
            return self._reduced({mono_power(mono, count): value**count})
        if count < 2:
            return poly if count else constant(1)
        half = self.to_power(poly, count // 2)
        out = self.times(half, half)
        return self.times(out, poly) if count % 2 else out

    def inverse(self, poly: Poly) -> Poly:
        """One over a form that is nonzero wherever the term in hand is defined."""
        require(bool(poly), "canonical form", "the divisor is not zero")
        if len(poly) == 1:
            ((mono, value),) = poly.items()
            return self._reduced({mono_power(mono, -1): 1 / value})
        value, mono, rest = self.content(poly)
        return self.times({mono_power(mono, -1): 1 / value}, atom(to_term(rest), -1))

    def together(self, poly: Poly) -> tuple[Poly, dict[Term, int]]:
        """``N, {A: k}`` with poly = N / product A^k, where the A are sums and N has none below."""
        below: dict[Term, int] = {}
        for _ in range(20):
            now: dict[Term, int] = {}
            for item, k in (pair for mono in poly for pair in mono[1]):
                if item.op == "add" and k < 0:
                    now[item] = max(now.get(item, 0), -k)
            if not now:
                return poly, below
            poly = self.times(poly, product(now))
            below = plus(below, now)
        raise TooLarge("canonical form", "at most 20 layers of denominators")

    def is_zero(self, poly: Poly) -> bool:
        return not self.together(poly)[0]

    def content(self, poly: Poly) -> tuple[fmpq, Monomial, Poly]:
        """``c, m, r`` as by the function, with -c and -r if -r is known to be positive."""
        value, mono, rest = content(poly)
        if len(rest) > 1 and self._sums and to_term(scaled(rest, -1)) in self._sums:
            return -value, mono, scaled(rest, -1)
        return value, mono, rest

    # -- signs that are evident from the form: positive if ``strict``, else nonnegative

    def is_positive(self, item: Term) -> bool:
        return self.item_sign(item, True)

    def item_sign(self, item: Term, strict: bool) -> bool:
        """Whether a canonical term evidently has the sign, wherever it is defined."""
        if (item, strict) not in self._signs:
            self._signs[item, strict] = self._sign(item.op, item.args, item, strict)
        return self._signs[item, strict]

    def _sign(self, op: str, args: tuple[Term, ...], item: Term, strict: bool) -> bool:
        if op == "num":
            return bool(item.value > 0 or (item.value == 0 and not strict))
        if op == "max":
            return any(self.item_sign(arg, strict) for arg in args)
        if not strict and op == "atan":
            return self.item_sign(args[0], False)
        if not strict:
            return op == "sqrt" or self.is_positive(item)
        if op in ("sqrt", "atan"):
            return self.is_positive(args[0])
        if op == "log":
            return self.all_signs(plus(self(args[0]), constant(1), -1), strict)
        if op in ("add", "mul", "pow"):
            return self.all_signs(self(item), strict)
        return op in ("pi", "erfc", "exp")

    def mono_sign(self, mono: Monomial, strict: bool) -> bool:
        """Whether the monomial evidently has the sign, wherever it is defined."""
        for item, k in mono[1]:
            if not self.item_sign(item, strict) and (k % 2 or (k > 0 and strict)):
                return False
        return True

    def all_signs(self, poly: Poly, strict: bool) -> bool:
        """Whether every monomial is evidently nonnegative (and, if strict, one positive)."""
        for mono, value in poly.items():
            if value < 0 or not self.mono_sign(mono, False):
                return False
        return not strict or any(self.mono_sign(mono, True) for mono in poly)

    def has_sign(self, poly: Poly, strict: bool) -> bool:
        """Whether the form evidently has the sign: all monomials, or a product of what has it."""
        if not poly:
            return not strict
        value, mono, rest = self.content(poly)
        if value < 0 and len(rest) > 1:
            value, rest = -value, scaled(rest, -1)
        known = value > 0 and self.mono_sign(mono, strict) and self.item_sign(to_term(rest), strict)
        return known or self.all_signs(poly, strict)

    # -- the form of a term

    def __call__(self, item: Term) -> Poly:
        form = self._memo.get(item)
        if form is None:
            form = self._memo[item] = self._form(item.op, item)
        return form

    def normal(self, item: Term) -> Term:
        return to_term(self(item))

    def _form(self, op: str, item: Term) -> Poly:
        if op == "num":
            return constant(item.value)
        if op in ("var", "pi"):
            return atom(item)
        if op == "ite":
            return atom(tm.ite(*map(self.normal, item.args)))
        parts = item.args[0].args if item.args[0].op == "mul" and op in ("log", "sqrt") else ()
        if parts and all(self.has_sign(self(part), op == "log") for part in parts):
            forms = [self(Term(op, (part,))) for part in parts]  # before the product is expanded
            return reduce(plus, forms) if op == "log" else self._product(forms)
        if op == "add":
            return _collected({}, (pair for arg in item.args for pair in self(arg).items()))
        if op == "mul":
            return self._product(map(self, item.args))
        first, *others = map(self, item.args)
        if op == "pow":
            return self.to_power(first, item.value)
        if op == "abs":  # |a| = 2 max(a, 0) - a
            return plus(scaled(self._hinge(first), 2), first, -1)
        if op == "max":  # b + max(a - b, 0)
            return plus(others[0], self._hinge(plus(first, others[0], -1)))
        if op == "min":  # a - max(a - b, 0)
            return plus(first, self._hinge(plus(first, others[0], -1)), -1)
        by_op = {"exp": self._exp, "log": self._log, "sqrt": self._sqrt, "lgamma": self._lgamma}
        return by_op[op](first) if op in by_op else self._reflected(op, first)

    def _exp(self, poly: Poly) -> Poly:
        """exp(k log A) = A^k for whole k, and sqrt(A)^(2k) for half-whole k."""
        rest: Poly = {}
        powers: list[Poly] = []
        for mono, value in poly.items():
            log = lone(mono, "log")
            if log is None or value.q > 2:
                rest[mono] = value
            else:
                base = log.args[0] if value.q == 1 else tm.sqrt(log.args[0])
                powers.append(self.to_power(self(base), int(value * value.q)))
        return reduce(self.times, powers, {(frozenset(rest.items()), NOTHING): _ONE})

    def _log(self, poly: Poly) -> Poly:
        """Logs of products with factors known to be positive are split."""
        whole, below = self.together(poly)
        if below and all(self.is_positive(item) for item in below):
            out = self._log(whole)
            for item, k in below.items():
                out = plus(out, self._log(self(item)), -k)
            return out
        require(bool(poly), "canonical form", "the argument of log is not zero")
        value, mono, rest = self.content(poly)
        left = {item: k for item, k in mono[1] if not self.is_positive(item)}
        out = dict(mono[0])
        for item, k in (*mono[1], *((tm.num(prime), k) for prime, k in factors(abs(value)))):
            if item not in left:
                out = plus(out, atom(tm.log(item)), k)
        rest = self.times(scaled(rest, 1 if value > 0 else -1), product(left))
        roots = next(iter(rest))[1] if len(rest) == 1 and not left else NOTHING
        if rest == {(NOTHING, roots): _ONE} and all(self.is_positive(item) for item, _ in roots):
            for item, k in roots:  # square roots alone
                out = plus(out, self(tm.log(item.args[0])), fmpq(k, 2))
            return out
        return plus(out, atom(tm.log(to_term(rest))))

    def _sqrt(self, poly: Poly) -> Poly:
        """Square roots of products with factors known to be positive are split."""
        if not poly:
            return {}
        value, mono, rest = self.content(poly)
        alone = rest == constant(1) and len(mono[1]) == 1 and value > 0
        out: Poly = {(frozenset((inner, k / 2) for inner, k in mono[0]), NOTHING): _ONE}
        left = {}
        for item, k in mono[1]:
            if self.item_sign(item, strict=k % 2 == 1 or not alone):
                out = self.times(out, product({item: k // 2, tm.sqrt(item): k % 2}))
            else:
                left[item] = k
        if value > 0:
            out, value = self.times(out, _sqrt_number(value)), _ONE
        rest = self.times(scaled(rest, value), product(left))
        return out if rest == constant(1) else self.times(out, atom(tm.sqrt(to_term(rest))))

    def _lgamma(self, poly: Poly) -> Poly:
        """lgamma(u + 1) = lgamma(u) + log u where u is positive; lgamma(1) = 0."""
        size = poly.get(UNIT, fmpq())
        step = (size >= 1) - (size < 0)
        other = plus(poly, constant(step), -1)  # not known to be positive, if it is smaller
        if step and abs(size) < _MOST_SHIFTS and (step < 0 or self.has_sign(other, True)):
            return plus(self._lgamma(other), self._log(other if step > 0 else poly), step)
        return {} if poly == constant(1) else atom(tm.lgamma(to_term(poly)))

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
        outer = self.times({(mono[0], good): abs(value)}, product(plus({}, below, -1)))
        out = self.times(outer, atom(tm.maximum(to_term(inner), tm.ZERO)))
        return out if value > 0 else plus(out, self.times(outer, inner), -1)

    def _reflected(self, op: str, poly: Poly) -> Poly:
        """erfc(-u) = 2 - erfc(u), and atan(-u) = -atan(u)."""
        centre = 1 if op == "erfc" else 0
        if not poly:
            return constant(centre)
        if poly[sorted_monos(poly)[0]] < 0:
            return plus(constant(2 * centre), atom(Term(op, (to_term(scaled(poly, -1)),))), -1)
        return atom(Term(op, (to_term(poly),)))


def _sqrt_number(value: fmpq) -> Poly:
    """sqrt of a positive rational: a rational times square roots of distinct factors."""
    out, roots = _ONE, {}
    for prime, k in factors(value):
        root = isqrt(prime)
        square = root * root == prime
        out *= fmpq(prime) ** (k // 2) * (root if square and k % 2 else 1)
        roots[tm.sqrt(tm.num(prime))] = 0 if square else k % 2
    return scaled(product(roots), out)


NO_SIGNS = Canon()
_canon = lru_cache(maxsize=_CANONS)(Canon)  # forms with the same signs are remembered together
