"""Pairs of distributions that are made of others: what a repetition, group or blend is in a world.

All masses are fractions; nothing here uses the kernel's rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import fmpq

from dpsym.kernel.statements import Blend, Filter, Group, Repeated, Single, Stage, replaced
from dpsym.kernel.terms import num
from tests.soundness.values import Point, value

Atoms = tuple[tuple[Fraction, Fraction], ...]  # masses under P and Q
Row = tuple[Fraction, ...]  # the masses of one distribution


def joint(stages: tuple[Atoms, ...]) -> Atoms:
    """The product of the pairs."""
    masses = [(Fraction(1), Fraction(1))]
    for atoms in stages:
        masses = [(p * x, q * y) for p, q in masses for x, y in atoms]
    return tuple(pair for pair in masses if any(pair))


@dataclass(frozen=True)
class Copies:
    """Pairs one after the other."""

    each: tuple[Atoms, ...]

    def pair(self) -> Atoms:
        return joint(self.each)

    def parts(self, stage: Stage, at: Point) -> list[tuple[Single, Atoms]] | None:
        """What the pairs have to be, or None if the stage is made in another way."""
        if not isinstance(stage, Repeated) or value(stage.count, at) != len(self.each):
            return None
        return [(stage.stage, atoms) for atoms in self.each]

    def pairs(self) -> Iterator[Atoms]:
        yield from self.each

    def span(self, low: int, high: int) -> Atoms:
        """Some of the pairs together."""
        return joint(self.each[low:high])

    def some(self, low: int, high: int) -> Copies:
        return Copies(self.each[low:high])

    def turned(self) -> Copies:
        """With P and Q exchanged."""
        return Copies(tuple(tuple((q, p) for p, q in atoms) for atoms in self.each))


@dataclass(frozen=True)
class Rows:
    """Distributions R_0, R_1, ... for every hidden value, each with its probability, and weights of
    P and Q."""

    hidden: tuple[tuple[Fraction, tuple[Row, ...]], ...]
    p: Row
    q: Row

    def given(self, rows: tuple[Row, ...]) -> Atoms:
        """P and Q, given the hidden value."""
        columns = tuple(zip(*rows, strict=True))
        return tuple((_dot(self.p, column), _dot(self.q, column)) for column in columns)

    def pair(self) -> Atoms:
        known = [(chance, self.given(rows)) for chance, rows in self.hidden]
        size = range(len(known[0][1]))
        sides = (
            tuple(sum((c * atoms[i][side] for c, atoms in known), Fraction(0)) for side in (0, 1))
            for i in size
        )
        return tuple((p, q) for p, q in sides if p or q)

    def parts(self, stage: Stage, at: Point) -> list[tuple[Single, Atoms]] | None:
        count = len(self.p)
        if isinstance(stage, Group):
            ends = (_unit(0, count), _unit(count - 1, count))
            whole = value(stage.count, at) == count - 1 and len(self.hidden) == 1
            places = [(i, i + 1, stage.stage) for i in range(count - 1)]
        elif isinstance(stage, Blend):
            ends = tuple(tuple(value(w, at) for w in row) for row in (stage.p, stage.q))
            whole, places = True, [(x.first, x.second, x.stage) for x in stage.links]
        else:
            return None
        if not whole or ends != (self.p, self.q):
            return None
        return [(s, between(rows[i], rows[j])) for i, j, s in places for _, rows in self.hidden]

    def pairs(self) -> Iterator[Atoms]:
        for _, rows in self.hidden:
            yield from (between(x, y) for i, x in enumerate(rows) for y in rows[i + 1 :])

    def span(self, low: int, high: int) -> Atoms:
        """The pair of two of the distributions."""
        ((_, rows),) = self.hidden
        return between(rows[low], rows[high])

    def some(self, low: int, high: int) -> Rows:
        """A part of a chain."""
        ((_, rows),) = self.hidden
        size = high - low + 1
        return Rows(((Fraction(1), rows[low : high + 1]),), _unit(0, size), _unit(size - 1, size))

    def through(self, middle: int) -> Rows:
        """The ends of a chain, and one between."""
        ((_, rows),) = self.hidden
        three = (rows[0], rows[middle], rows[-1])
        return Rows(((Fraction(1), three),), _unit(0, 3), _unit(2, 3))

    def turned(self) -> Rows:
        """With P and Q exchanged, for a chain."""
        hidden = tuple((chance, rows[::-1]) for chance, rows in self.hidden)
        return Rows(hidden, self.q[::-1], self.p[::-1])

    def ratios(self) -> Iterator[dict[str, Fraction]]:
        """The densities at each outcome, over the first that is positive."""
        for _, rows in self.hidden:
            for column in zip(*rows, strict=True):
                first = next((r for r in column if r), Fraction(1))
                yield {f"$r{i}": r / first for i, r in enumerate(column) if r}

    def mixed(self) -> Iterator[Fraction]:
        """How much one hidden value counts at an outcome, among two."""
        known = [(chance, self.given(rows)) for chance, rows in self.hidden]
        for (c, one), (d, two) in pairwise(known):
            for (p, q), (x, y) in zip(one, two, strict=True):
                for a, b in ((c * p, d * x), (c * q, d * y)):
                    if a + b:
                        yield from (a / (a + b), b / (a + b))


@dataclass(frozen=True)
class Spent:
    """Pairs one after the other, each with what it takes from a budget."""

    each: tuple[tuple[Fraction, Atoms], ...]

    def pair(self) -> Atoms:
        return joint(tuple(self.pairs()))

    def parts(self, stage: Stage, at: Point) -> list[tuple[Single, Atoms]] | None:
        if not isinstance(stage, Filter):
            return None
        total, budget = sum((x for x, _ in self.each), Fraction(0)), value(stage.budget, at)
        if not isinstance(budget, Fraction) or total > budget or any(x < 0 for x, _ in self.each):
            return None
        taken = (num(fmpq(x.numerator, x.denominator)) for x, _ in self.each)
        singles = (replaced(stage.stage, {stage.name: x}) for x in taken)
        return list(zip(singles, self.pairs(), strict=True))

    def pairs(self) -> Iterator[Atoms]:
        yield from (atoms for _, atoms in self.each)

    def turned(self) -> Spent:
        """With P and Q exchanged."""
        return Spent(tuple((x, tuple((q, p) for p, q in atoms)) for x, atoms in self.each))

    def steps(self, budget: Fraction) -> Iterator[tuple[Fraction, Fraction, tuple[Atoms, ...]]]:
        """What is left of the budget, what is taken of it, and the pair that takes it with all that
        follow; none for the identical pair at the end."""
        same = ((Fraction(1), Fraction(1)),)
        for i, (x, atoms) in enumerate(self.each):
            rest = tuple(pair for _, pair in self.each[i + 1 :])
            yield budget, x, (atoms, joint(rest) if rest else same)
            budget -= x
        yield budget, Fraction(0), (same,)


Made = Copies | Rows | Spent


def between(first: Row, second: Row) -> Atoms:
    return tuple(pair for pair in zip(first, second, strict=True) if any(pair))


def _unit(place: int, count: int) -> Row:
    return tuple(Fraction(i == place) for i in range(count))


def _dot(weights: Row, column: Row) -> Fraction:
    return sum((w * x for w, x in zip(weights, column, strict=True)), Fraction(0))
