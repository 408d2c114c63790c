"""Rational points where inequalities of privacy proofs like to fail: faces, corners, ties.

A face that belongs to the domain is taken exactly. One that does not is approached on a scale that
is uniform in the logarithm, down to 1e-320; so are infinite ends, up to 1e9. Variables are tied to
one another, and put where conditions, denominators and hypotheses are zero, if that is rational.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from flint import arb, fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.terms import Term
from dpsym.search.leaf.exact import Balls, rational_at
from dpsym.search.leaf.numeric import affine_order

_SIMPLE = [fmpq(p, q) for p, q in ((0, 1), (1, 2), (1, 1), (1, 1), (2, 1), (3, 1), (10, 1))]
_SIMPLE += [fmpq(p, q) for p, q in ((1, 3), (1, 4), (3, 2), (5, 1), (100, 1), (3, 4))]
_RATIOS = [fmpq(p, q) for p, q in ((1, 1), (1, 1), (1, 1), (2, 1), (1, 2), (-1, 1), (11, 10))]
_PLAIN, _FEW = 0.25, 5  # share of the points of faces and few values alone, and how few
_MOST_TIES, _MOST_EXPONENT = 24, 5000

_End = tuple[bool, Term]  # whether the end belongs to the domain, and what it is


class Corners:
    """An endless stream of points, the same in every run; most satisfy the hypotheses."""

    def __init__(self, sequent: Sequent, integers: frozenset[str], seed: int) -> None:
        self.random = random.Random(seed)
        self.integers = integers
        self.plain = False  # see _PLAIN
        self.names = affine_order(sequent.hypotheses, sorted(sequent.vars))
        self.ties = ties(sequent)
        known = context(sequent.hypotheses)
        self.ends: dict[str, tuple[list[_End], list[_End]]] = {}
        before: set[str] = set()
        for name in self.names:
            low: list[_End] = []
            high: list[_End] = []
            for fact in sequent.hypotheses:
                split = known.affine(fact.term, name) if fact.rel != "!=" else None
                if split is not None and split[1].vars <= before:
                    (low if split[0] > 0 else high).append((fact.rel == ">=", split[1]))
            self.ends[name] = low, high
            before.add(name)
        self._balls: dict[Term, Balls] = {}

    def __iter__(self) -> Iterator[dict[str, fmpq]]:
        while True:
            point: dict[str, fmpq] = {}
            self.plain = self.random.random() < _PLAIN
            for name in self.names:
                point[name] = self.value(name, point)
            if self.ties and self.random.random() < 0.6:
                for _ in range(self.random.choice((1, 1, 2, 3))):
                    self.tie(point)
            yield point

    def value(self, name: str, point: dict[str, fmpq]) -> fmpq:
        below, above = self.ends[name]
        low, high = self.end(below, point, 1), self.end(above, point, -1)
        found = self.between(low, high, list(point.values()))
        return fmpq(round(found)) if name in self.integers else found

    def end(self, ends: list[_End], point: dict[str, fmpq], sign: int) -> tuple[bool, fmpq] | None:
        """The innermost of some ends, rounded inwards where it is not rational."""
        best: tuple[bool, fmpq] | None = None
        for closed, item in ends:
            value = rational_at(item, point)
            if value is None:
                value, closed = self.rounded(item, point, sign), False
            if value is not None and (best is None or (value - best[1]) * sign > 0):
                best = closed, value
            elif best is not None and value == best[1]:
                best = closed and best[0], value
        return best

    def rounded(self, item: Term, point: dict[str, fmpq], sign: int) -> fmpq | None:
        if item not in self._balls:
            self._balls[item] = Balls((item,), tuple(sorted(item.vars)))
        (ball,) = self._balls[item](point)
        if not ball.is_finite():
            return None
        return rational(ball.upper() if sign > 0 else ball.lower())

    def between(
        self, low: tuple[bool, fmpq] | None, high: tuple[bool, fmpq] | None, others: list[fmpq]
    ) -> fmpq:
        rng = self.random
        simple = rng.choice(_SIMPLE[:_FEW] if self.plain else _SIMPLE)
        if low is None and high is None:
            size = (
                simple if rng.random() < 0.4 else self.far() if rng.random() < 0.5 else self.near()
            )
            if others and rng.random() < 0.25:
                return rng.choice(others) * rng.choice(_RATIOS)
            return size * rng.choice((1, -1))
        if others and rng.random() < 0.2:
            tied = rng.choice(others) * rng.choice(_RATIOS)
            if _inside(tied, low, high):
                return tied
        if low is not None and (high is None or rng.random() < 0.5):
            near, sign = low, 1
        else:
            assert high is not None
            near, sign = high, -1
        closed, end = near
        kind = rng.random()
        if closed and kind < (0.5 if self.plain else 0.3):
            return end
        if self.plain and _inside(simple, low, high):
            return simple
        width = None if low is None or high is None else high[1] - low[1]
        if kind < 0.45 and _inside(simple, low, high):
            return simple
        if kind < 0.7:
            size = self.near() * (rng.choice((fmpq(1), abs(end))) if end != 0 else 1)
            if width is None or size < width:
                return end + sign * size
        if width is not None:
            return end + sign * width * rng.choice(
                (fmpq(rng.randrange(1, 1000), 1000), self.near())
            )
        return end + sign * (simple if kind < 0.8 else self.far())

    def digits(self) -> fmpq:
        return fmpq(self.random.choice((10, 10, 20, 30, 50, self.random.randrange(10, 100))), 10)

    def near(self) -> fmpq:
        """Small and positive."""
        return self.digits() / fmpq(10) ** self.order((3, 16, 16, 40, 320))

    def far(self) -> fmpq:
        return self.digits() * fmpq(10) ** (self.order((2, 3, 5, 5, 10)) - 1)

    def order(self, scales: tuple[int, ...]) -> int:
        """An order of magnitude; the ends of scales are likely, since there corners are."""
        most = self.random.choice(scales)
        least = most - most // 10 if self.random.random() < 0.3 else 1
        return self.random.randint(least, most)

    def tie(self, point: dict[str, fmpq]) -> None:
        """Move one variable to where some term is zero."""
        item = self.random.choice(self.ties)
        name = self.random.choice(sorted(item.vars))
        root = linear_root(item, name, point)
        if root is not None and (name not in self.integers or root.q == 1):
            point[name] = root


def linear_root(item: Term, name: str, point: dict[str, fmpq]) -> fmpq | None:
    """Where the term is zero along one variable, if it is affine and rational there.

    >>> from dpsym.kernel.terms import var
    >>> linear_root(var("x") * var("y") - 3, "x", {"x": fmpq(1), "y": fmpq(2)})
    3/2
    """
    ends = [rational_at(item, {**point, name: fmpq(x)}) for x in (1, 2)]
    first, second = ends
    if first is None or second is None or first == second:
        return None
    root = 1 - first / (second - first)
    return root if rational_at(item, {**point, name: root}) == 0 else None


def ties(sequent: Sequent) -> list[Term]:
    """Terms whose zeros are of interest: conditions, what is divided by or has a root, bounds."""
    found: dict[Term, None] = {}
    facts = (sequent.goal, *sequent.hypotheses)
    if sequent.goal.rel == "!=":
        found[sequent.goal.term] = None
    for fact in facts:
        for part in tm.subterms(fact.term):
            op = part.op
            if op in ("ite", "abs", "sqrt") or (op == "pow" and part.value < 0):
                found[part.args[0]] = None
            elif op in ("max", "min"):
                found[part.args[0] - part.args[1]] = None
            elif op in ("exp", "log"):
                found[part.args[0] - (0 if op == "exp" else 1)] = None
    found.update((fact.term, None) for fact in sequent.hypotheses if fact.rel == ">=")
    names = sorted(sequent.vars)
    pairs = [(x, y) for i, x in enumerate(names) for y in names[i + 1 :]]
    found.update((tm.var(x) - tm.var(y), None) for x, y in pairs)
    return [item for item in found if item.vars][:_MOST_TIES]


def rational(value: arb) -> fmpq | None:
    """The middle of a finite ball, unless it is very large or very small."""
    mantissa, exponent = value.mid().man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent) if abs(exponent) < _MOST_EXPONENT else None


def _inside(value: fmpq, low: tuple[bool, fmpq] | None, high: tuple[bool, fmpq] | None) -> bool:
    above = low is None or value > low[1] or (low[0] and value == low[1])
    return above and (high is None or value < high[1] or (high[0] and value == high[1]))
