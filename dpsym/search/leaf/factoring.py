"""Factors of a canonical form, with its atoms and exponentials as variables."""

from __future__ import annotations

from collections.abc import Iterable
from math import lcm

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from dpsym.kernel.canon import Monomial, Poly, mono_term, to_term
from dpsym.kernel.terms import Term

_MOST_VARIABLES = 8
_FEW = 3
_MOST_TERMS, _MOST_OF_FEW = 80, 500  # in any number of variables, and in a few
_MOST_DEGREE = 300  # flint is not interrupted, so what would take long is not begun


class _Ring:
    """A polynomial ring whose variables stand for the atoms and exponentials of some forms."""

    def __init__(self, *forms: Poly) -> None:
        inner: dict[Monomial, int] = {}
        outer: dict[Term, None] = {}
        for form in forms:
            for mono in form:
                for part, value in mono[0]:
                    inner[part] = lcm(inner.get(part, 1), int(value.q))
                outer.update((item, None) for item, _ in mono[1])
        self.parts = sorted(inner, key=lambda part: mono_term(part).key)
        self.items = sorted(outer, key=lambda item: item.key)
        self.roots = [inner[part] for part in self.parts]
        self.size = len(self.parts) + len(self.items)
        self.ring = fmpq_mpoly_ctx.get([f"z{i}" for i in range(self.size)], Ordering.lex)

    def row(self, mono: Monomial) -> list[int]:
        exponent, powers = dict(mono[0]), dict(mono[1])
        pairs = zip(self.parts, self.roots, strict=True)
        row = [int(exponent.get(part, fmpq(0)) * root) for part, root in pairs]
        return row + [powers.get(item, 0) for item in self.items]

    def polynomial(self, form: Poly) -> tuple[fmpq_mpoly, list[int]]:
        """The form divided by the monomial with the least powers, and these powers."""
        rows = [(self.row(mono), value) for mono, value in form.items()]
        least = [min(row[i] for row, _ in rows) for i in range(self.size)]
        shifted = {tuple(a - b for a, b in zip(row, least, strict=True)): v for row, v in rows}
        return self.ring.from_dict(shifted), least

    def mono(self, row: Iterable[int]) -> Monomial:
        powers = list(row)
        pairs = zip(self.parts, self.roots, powers, strict=False)
        exponent = frozenset((part, fmpq(k, root)) for part, root, k in pairs if k)
        rest = zip(self.items, powers[len(self.parts) :], strict=True)
        return exponent, frozenset((item, k) for item, k in rest if k)

    def form(self, poly: fmpq_mpoly, least: list[int]) -> Poly:
        return {
            self.mono(int(a) + b for a, b in zip(row, least, strict=True)): value
            for row, value in sorted(poly.to_dict().items())
        }


def factors(form: Poly) -> tuple[fmpq, list[tuple[Term, int]]] | None:
    """``c, [(f, k)]`` with form = c * product f^k; None if it is irreducible or too large."""
    if not 1 < len(form) <= _MOST_OF_FEW:
        return None
    ring = _Ring(form)
    most = _MOST_OF_FEW if ring.size <= _FEW else _MOST_TERMS
    if not 0 < ring.size <= _MOST_VARIABLES or len(form) > most:
        return None
    poly, least = ring.polynomial(form)
    if max(poly.degrees()) > _MOST_DEGREE:
        return None
    scale, found = poly.factor()
    if len(found) == 1 and found[0][1] == 1 and not any(least):
        return None
    nothing = [0] * ring.size
    out = [(to_term(ring.form(factor, nothing)), int(count)) for factor, count in found]
    out.sort(key=lambda pair: pair[0].key)
    for i, low in enumerate(least):
        if low:
            unit = [int(i == j) for j in range(ring.size)]
            out.append((to_term({ring.mono(unit): fmpq(1)}), low))
    return fmpq(scale), out


def quotient(form: Poly, divisor: Poly) -> Poly | None:
    """form / divisor if that is a polynomial in the atoms, else None."""
    if not form:
        return {}
    ring = _Ring(form, divisor)
    above, high = ring.polynomial(form)
    below, low = ring.polynomial(divisor)
    if max(*above.degrees(), *below.degrees(), 0) > _MOST_DEGREE:
        return None
    found, rest = divmod(above, below)
    return None if rest else ring.form(found, [a - b for a, b in zip(high, low, strict=True)])
