"""What is worst among mechanisms that are made of others, by trade-off curves. No dpsym here.

The curve of a pair of distributions says how large P(S) can be where Q(S) is x. Of two finite pairs
it is a concave chain of straight pieces, and a pair whose curve is nowhere above another's has
smaller divergences of every convex kind, in both directions; so have compositions and mixtures of
such pairs (Dong, Roth and Su 2022; Zhu, Dong and Wang 2022). A pair is a list of masses (p, q).
"""

from __future__ import annotations

from itertools import islice, pairwise, product

import mpmath
from mpmath import mpf

from tests.campaign.truth import Atoms, below

__all__ = [
    "MOST",
    "bell",
    "best",
    "both",
    "chained",
    "joined",
    "lowest",
    "mixed",
    "some_products",
    "together",
]

MOST = 250
_SAME = mpf(10) ** -40
Curve = list[tuple[mpf, mpf]]


def _ratio(atom: tuple[mpf, mpf]) -> mpf:
    p, q = atom
    return p / q if q else mpmath.inf


def joined(atoms: Atoms) -> Atoms:
    """The outcomes with the same ratio as one, the largest ratio first."""
    out: Atoms = []
    for p, q in sorted((atom for atom in atoms if any(atom)), key=_ratio, reverse=True):
        if out and abs(out[-1][0] * q - p * out[-1][1]) <= _SAME * p * max(q, out[-1][1], _SAME):
            out[-1] = (out[-1][0] + p, out[-1][1] + q)
        else:
            out.append((p, q))
    return out


def together(pairs: list[Atoms]) -> Atoms | None:
    """The product; None if it has too many outcomes."""
    out: Atoms = [(mpf(1), mpf(1))]
    for atoms in pairs:
        out = joined([(p * a, q * b) for p, q in out for a, b in atoms])
        if len(out) > MOST:
            return None
    return out


def mixed(atoms: Atoms, rate: mpf) -> Atoms:
    """P where a record is in the sample, and Q where it is not; against Q."""
    return joined([(rate * p + (1 - rate) * q, q) for p, q in atoms])


def _curve(atoms: Atoms) -> Curve:
    points = [(mpf(0), mpf(0))]
    for p, q in joined(atoms):
        points.append((points[-1][0] + q, points[-1][1] + p))
    return points


def _atoms(points: Curve) -> Atoms:
    steps = [(b[1] - a[1], b[0] - a[0]) for a, b in pairwise(points)]
    return joined([(p if p > _SAME else mpf(0), q if q > _SAME else mpf(0)) for p, q in steps])


def best(pairs: list[Atoms]) -> Atoms:
    """One whose curve is the lowest that is nowhere below any of theirs."""
    out: Curve = []
    for x, y in sorted({point for atoms in pairs for point in _curve(atoms)}):
        while out and out[-1][0] == x:  # the higher one of two at the same place
            out.pop()
        while len(out) > 1 and _turns_up(out[-2], out[-1], (x, y)):
            out.pop()
        out.append((x, y))
    return _atoms([(mpf(0), mpf(0)), *out])


def _turns_up(a: tuple[mpf, mpf], b: tuple[mpf, mpf], c: tuple[mpf, mpf]) -> bool:
    return bool((b[1] - a[1]) * (c[0] - a[0]) <= (c[1] - a[1]) * (b[0] - a[0]))


def lowest(pairs: list[Atoms]) -> Atoms:
    """The one whose curve is everywhere the lowest of theirs: what has several guarantees."""
    curves = [_curve(atoms) for atoms in pairs]
    places = sorted({x for curve in curves for x, _ in curve})
    for a, b in pairwise(list(places)):  # where two cross; they jump at 0 alone
        for i, one in enumerate(curves):
            for two in curves[:i]:
                left = _at(one, a) - _at(two, a)
                right = _at(one, b) - _at(two, b)
                if left * right < 0:
                    places.append(a + (b - a) * left / (left - right))
    points = [(x, min(_at(curve, x) for curve in curves)) for x in sorted(places)]
    return _atoms([(mpf(0), mpf(0)), *points])


def both(atoms: Atoms) -> Atoms:
    """Of the pair and the reversed one."""
    return best([atoms, [(q, p) for p, q in atoms]])


def chained(atoms: Atoms, count: int) -> Atoms:
    """The worst ends of a chain in which each two that follow each other are no worse than the
    pair: its curve is that of the pair, applied so many times."""
    curve = whole = _curve(atoms)
    for _ in range(count - 1):
        places = {x for x, _ in whole} | {_least(whole, x) for x, _ in curve}
        points = [(x, _at(curve, _at(whole, x))) for x in sorted(places)]
        whole = [(mpf(0), mpf(0)), *points]
    return _atoms(whole)


def _at(curve: Curve, x: mpf) -> mpf:
    """The curve at x, at a jump its upper end."""
    found = mpf(0)
    for (a, low), (b, high) in pairwise(curve):
        if x >= b:
            found = high
        elif x >= a:
            return low + (high - low) * (x - a) / (b - a)
    return found


def _least(curve: Curve, y: mpf) -> mpf:
    """The least x at which the curve reaches y."""
    for (a, low), (b, high) in pairwise(curve):
        if y <= high:
            return a if y <= low or high == low else a + (b - a) * (y - low) / (high - low)
    return mpf(1)


def bell(atoms: Atoms) -> mpf:
    """The least distance of two normal distributions of variance 1 whose curve is nowhere below;
    theirs is concave, so it is enough to look at the corners."""
    found = mpf(0)
    for x, y in _curve(atoms)[1:-1]:
        if x <= _SAME or y >= 1 - _SAME:
            return mpmath.inf
        if y > x:
            found = max(found, _quantile(y) - _quantile(x))
    return found


def _quantile(p: mpf) -> mpf:
    start = mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1)
    return mpmath.findroot(lambda z: below(z) / p - 1, start, tol=mpf(10) ** -60, verify=False)


def some_products(choices: list[list[Atoms]], most: int = 4) -> list[Atoms]:
    """Products of one of each."""
    found = (together(list(chosen)) for chosen in islice(product(*choices), most))
    return [atoms for atoms in found if atoms is not None]
