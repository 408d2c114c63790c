"""Factors of a canonical form, with its atoms and exponentials as variables."""

from __future__ import annotations

from math import lcm

from flint import Ordering, fmpq, fmpq_mpoly_ctx

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Poly, mono_term, to_term
from dpsym.kernel.terms import Term

_MOST_VARIABLES = 8
_MOST_TERMS = 80


def factors(form: Poly) -> tuple[fmpq, list[tuple[Term, int]]] | None:
    """``c, [(f, k)]`` with form = c * product f^k; None if it is irreducible or too large."""
    if not 1 < len(form) <= _MOST_TERMS:
        return None
    inner: dict[object, int] = {}
    outer: dict[Term, None] = {}
    for mono in form:
        for part, value in mono[0]:
            inner[part] = lcm(inner.get(part, 1), int(value.q))
        outer.update((item, None) for item, _ in mono[1])
    parts = sorted(inner, key=lambda part: mono_term(part).key)  # type: ignore[arg-type]
    items = sorted(outer, key=lambda item: item.key)
    if not 0 < len(parts) + len(items) <= _MOST_VARIABLES:
        return None
    rows = []
    for mono, value in form.items():
        exponent, powers = dict(mono[0]), dict(mono[1])
        row = [int(exponent.get(part, fmpq(0)) * inner[part]) for part in parts]
        rows.append((row + [powers.get(item, 0) for item in items], value))
    least = [min(row[i] for row, _ in rows) for i in range(len(rows[0][0]))]
    ring = fmpq_mpoly_ctx.get([f"z{i}" for i in range(len(least))], Ordering.lex)
    poly = ring.from_dict(
        {tuple(a - b for a, b in zip(row, least, strict=True)): value for row, value in rows}
    )
    scale, found = poly.factor()
    found = [(factor, count) for factor, count in found]
    if len(found) == 1 and found[0][1] == 1 and not any(least):
        return None
    bases = [
        tm.exp(to_term({part: fmpq(1, inner[part])}))  # type: ignore[dict-item]
        for part in parts
    ] + items
    out = [(_to_term(factor, bases), int(count)) for factor, count in found]
    out.sort(key=lambda pair: pair[0].key)
    out += [(base, low) for base, low in zip(bases, least, strict=True) if low]
    return fmpq(scale), out


def _to_term(poly: object, bases: list[Term]) -> Term:
    addends = []
    for powers, value in sorted(poly.to_dict().items()):  # type: ignore[attr-defined]
        chosen = [tm.power(base, int(k)) for base, k in zip(bases, powers, strict=True) if k]
        addends.append(tm.mul(value, *chosen))
    return tm.add(*addends)
