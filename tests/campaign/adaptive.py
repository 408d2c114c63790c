"""The worst that a mechanism made of others may be, where each earlier output chooses what comes
next: a part of the data, a pair of rows, another of several mechanisms. No dpsym here.

A divergence is a sum of a function F(p, q) over the outcomes, with F(c p, c q) = c F(p, q). So what
is worst after an output depends on the ratio of its masses alone, and is found from the last stage
to the first. What is found is a pair that the subject may be, for any F.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mpmath
from mpmath import mpf

from tests.campaign import curves
from tests.campaign.tree import Tree
from tests.campaign.truth import Atoms, number

__all__ = ["far", "hockey", "pairs_of_rows", "renyi", "turned", "worst"]

MOST = 4000  # outputs that are looked at
Function = Callable[[mpf, mpf], mpf]
Found = tuple[mpf, Atoms]
Then = Callable[[mpf, mpf], Found]


class TooMany(Exception):
    """More outputs than are looked at."""


def worst(one: Tree, function: Function) -> Atoms | None:
    """A pair that the subject may be, with the largest sum of the function among those that are
    looked at; None where there are none, or too many."""
    left = [MOST]

    def end(p: mpf, q: mpf) -> Found:
        left[0] -= 1
        if left[0] < 0:
            raise TooMany
        return function(p, q), [(p, q)]

    try:
        return curves.joined(_play(one, _kept(end))[1])
    except TooMany:
        return None


def _kept(then: Then) -> Then:
    """The same for outputs of the same ratio, which it is computed for once."""
    known: dict[str, Found] = {}

    def at(p: mpf, q: mpf) -> Found:
        if not p and not q:
            return mpf(0), []
        size = q if q else p
        ratio = p / q if q else mpmath.inf
        name = mpmath.nstr(ratio, 35)
        if name not in known:
            value, atoms = then(p / size, q / size)
            known[name] = value, curves.joined(atoms)
        value, atoms = known[name]
        return value * size, [(a * size, b * size) for a, b in atoms]

    return at


def _sum(atoms: Atoms, then: Then) -> Found:
    found = [then(p, q) for p, q in atoms if p or q]
    return mpmath.fsum(value for value, _ in found), [one for _, part in found for one in part]


def _largest(found: Sequence[Found]) -> Found:
    return max(found, key=lambda one: one[0])


def _play(one: Tree, then: Then) -> Found:
    if one.made == "laplace":  # not finite
        raise TooMany
    if one.made == "table":
        return _largest([_sum(atoms, then) for atoms in pairs_of_rows(one)])
    if one.made in ("pure", "approximate", "both"):
        return _sum(one.response(), then)
    if one.made == "compose":
        return _in_turn(one.of, _play, then)
    if one.made == "repeat":
        return _in_turn(one.of * one.value, _play, then)
    if one.made == "parallel":
        return _largest([_play(child, then) for child in one.of])
    (child,) = one.of
    if one.made == "group":
        return _chain(child, one.value, then)
    rate = number(one.value)

    def sampled(p: mpf, q: mpf) -> Found:
        return then(rate * p + (1 - rate) * q, q)

    def other(p: mpf, q: mpf) -> Found:  # what takes the record's place is like the first
        return then(p, rate * q + (1 - rate) * p)

    ways = (sampled,) if one.made == "poisson" else (sampled, other)
    return _largest([_play(child, _kept(way)) for way in ways])


def _in_turn(parts: Sequence[Tree], play: Callable[[Tree, Then], Found], then: Then) -> Found:
    """The first part, and after each of its outputs the worst of the others."""
    if not parts:
        return then(mpf(1), mpf(1))

    def rest(p: mpf, q: mpf) -> Found:
        return _in_turn(parts[1:], play, _kept(lambda x, y: then(p * x, q * y)))

    return play(parts[0], then if len(parts) == 1 else _kept(rest))


def _chain(one: Tree, count: int, then: Then) -> Found:
    """The ends of so many steps: in a composition, each stage has its own after each output."""

    def play(child: Tree, rest: Then) -> Found:
        return _chain(child, count, rest)

    if one.made in ("pure", "approximate"):
        return _sum(curves.chained(one.response(), count), then)
    if one.made == "table":
        return _largest([_sum(atoms, then) for atoms in pairs_of_rows(one, count)])
    if one.made == "compose":
        return _in_turn(one.of, play, then)
    if one.made == "repeat":
        return _in_turn(one.of * one.value, play, then)
    if one.made == "parallel":
        return _largest([play(child, then) for child in one.of])
    if one.made == "group":
        return _chain(one.of[0], count * one.value, then)
    if "table" in one.names():  # whose rows may all differ
        raise TooMany
    return _play(one, then)  # one step, and others between equals


def pairs_of_rows(one: Tree, steps: int = 1) -> list[Atoms]:
    """Pairs of a table's rows with so many steps between them."""
    rows = one.value
    ends = {(i, i) for i in range(len(rows))}
    for _ in range(steps):
        ends = {(i, j) for i, k in ends for j in range(len(rows)) if j != k}
    return [
        [(number(p), number(q)) for p, q in zip(rows[i], rows[j], strict=True)]
        for i, j in sorted(ends)
    ]


# -- functions whose sums the divergences are


def hockey(epsilon: mpf) -> Function:
    bound = mpmath.exp(epsilon)
    return lambda p, q: max(p - bound * q, mpf(0))


def renyi(order: mpf) -> Function:
    """The larger its sum, the larger is the divergence."""
    sign = 1 if order >= 1 else -1

    def at(p: mpf, q: mpf) -> mpf:
        if not p:
            return mpf(0)
        if not q:
            return mpmath.inf if order >= 1 else mpf(0)
        ratio = p / q
        return p * mpmath.log(ratio) if order == 1 else sign * q * ratio**order

    return at


def far(p: mpf, q: mpf) -> mpf:
    """Large where any ratio is far from 1."""
    return renyi(mpf(30))(p, q) + renyi(mpf(30))(q, p)


def turned(function: Function) -> Function:
    """Of the reversed pair."""
    return lambda p, q: function(q, p)
