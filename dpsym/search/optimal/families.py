"""Guarantees that are families, such as zCDP: the few orders that a bound needs, and the grid of
orders by which distributions are checked to have all of them."""

from __future__ import annotations

import math

import numpy as np
from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import Constraint, Moment, constraints, member
from dpsym.kernel.statements import Guarantee
from dpsym.search.leaf.budget import Budget
from dpsym.search.optimal.lower import Masses
from dpsym.search.optimal.program import CLOSE, Problem, Solution, float_of
from dpsym.search.refutation.curves import Array
from dpsym.search.refutation.exact import number

Chosen = tuple[tuple[int, fmpq], ...]  # which guarantee, at which order
_FIRST = tuple(fmpq(64 + round(64 * 2 ** (k / 3)), 64) for k in range(-12, 19, 2))
_ROUNDS, _SHRINK = 8, 0.25
_ACTIVE = 1e-7  # the share of the value that an order must have
_MOST_ORDERS = 400  # of a grid
_MORE, _OVER = 8, 1e-6  # rounds of more orders, and how far an order may be broken


def is_family(guarantee: Guarantee) -> bool:
    """zCDP, the one family whose members are bounds of Renyi divergences at every order."""
    return guarantee.name == "ZCDP"


def members(given: tuple[Guarantee, ...], chosen: Chosen) -> tuple[Guarantee, ...]:
    """The families' members at the orders."""
    found = (member(given[index], tm.num(order)) for index, order in chosen)
    return tuple(one[1] for one in found if one is not None)


def items_of(given: tuple[Guarantee, ...], chosen: Chosen) -> tuple[Constraint, ...]:
    """The constraints of all guarantees that are no families, and of members at the orders."""
    every = (*given, *members(given, chosen))
    return tuple(dict.fromkeys(item for one in every for item in constraints(one)))


def orders(
    given: tuple[Guarantee, ...], goals: list[Moment], own: list[fmpq], budget: Budget
) -> tuple[Chosen, Chosen]:
    """The orders that matter for the goals, and a larger choice around them; ``own`` are orders of
    the claim itself."""
    families = [index for index, guarantee in enumerate(given) if is_family(guarantee)]
    wide: Chosen = tuple((index, order) for index in families for order in sorted({*_FIRST, *own}))
    used: dict[tuple[int, fmpq], None] = {}
    for goal in goals:
        chosen, step = wide, 0.25
        for _ in range(_ROUNDS):
            budget.check()
            problem = Problem(items_of(given, chosen), goal)
            found = problem.solve(max(CLOSE, step * step / 100))
            if found is None:
                break
            active = _active(given, chosen, problem, found)
            near = {(i, _near(a, 1 + d * step)) for i, a in active for d in (-1, -0.5, 0.5, 1)}
            chosen = tuple(sorted({*active, *near}))
            step *= _SHRINK
        else:
            used.update(dict.fromkeys(active))
    return tuple(used), tuple(dict.fromkeys((*wide, *used)))


def atoms(
    given: tuple[Guarantee, ...], chosen: Chosen, goal: Moment, budget: Budget
) -> Solution | None:
    """Atoms that nearly keep to all members: orders that they break join the linear program."""
    families = [index for index, guarantee in enumerate(given) if is_family(guarantee)]
    found: Solution | None = None
    for _ in range(_MORE):
        budget.check()
        problem = Problem(items_of(given, chosen), goal)
        reach = 2 * max([1.0, *map(abs, problem.kinks)]) + 2
        problem.low, problem.high = max(problem.low, -reach), min(problem.high, reach)
        problem.rays = frozenset()
        found = problem.solve(1e-6)
        if found is None:
            return None
        kept = (found.p > 1e-16) & (found.q > 1e-16)
        loss = _Loss(np.log(found.p[kept]), np.log(found.q[kept]))
        above = np.geomspace(1e-3, 1e3, 241)
        over = np.array([loss(1 + a) for a in above.tolist()]) / (1 + above) - _rho(given)
        worst = [
            i
            for i in range(1, len(above) - 1)
            if over[i] > _OVER * _rho(given) and over[i] >= max(over[i - 1], over[i + 1])
        ]
        if not worst:
            break
        more = {(i, _near(fmpq(2), float(above[k]))) for i in families for k in worst}
        chosen = tuple(dict.fromkeys((*chosen, *sorted(more))))
    return found


def _rho(given: tuple[Guarantee, ...]) -> float:
    return min(number(g.args[0], {}) for g in given if is_family(g) and g.args[0] is not None)


class _Loss:
    """The larger Renyi divergence of the two directions, from logarithms of masses."""

    def __init__(self, p: Array, q: Array) -> None:
        self.p, self.q = p, q

    def __call__(self, order: float) -> float:
        p, q = self.p, self.q
        sides = (order * p + (1 - order) * q, order * q + (1 - order) * p)
        tops = (float(side.max()) for side in sides)
        sums = (
            top + math.log(float(np.exp(side - top).sum()))
            for top, side in zip(tops, sides, strict=True)
        )
        return max(sums) / (order - 1)


def _near(order: fmpq, factor: float) -> fmpq:
    """An order about ``factor`` times as far above 1, with a short binary fraction."""
    above = (float_of(order) - 1) * factor
    size = 2 ** max(6, 26 - math.ceil(math.log2(above)))
    return 1 + fmpq(max(1, round(above * size)), size)


def _active(
    given: tuple[Guarantee, ...], chosen: Chosen, problem: Problem, found: Solution
) -> list[tuple[int, fmpq]]:
    shares = problem.shares(found)
    out = []
    for one in chosen:
        own = {item for member_ in members(given, (one,)) for item in constraints(member_)}
        mine = [i for i, item in enumerate(problem.moments) if item in own]
        if any(shares[i] > _ACTIVE * abs(found.value) for i in mine):
            out.append(one)
    return out


def grid(given: tuple[Guarantee, ...], masses: Masses) -> tuple[fmpq, ...] | None:
    """Orders a_1 < a_2 < ... with D at a_(k+1) at most rho a_k, up to one with D at infinity at
    most rho a_N; () if no guarantee is a family, None if there seem to be too many."""
    if not any(map(is_family, given)):
        return ()
    rho = _rho(given) * (1 - 1e-12)
    pairs = [(_log(p), _log(q)) for p, q in masses if p and q]
    if len(pairs) < len(masses):
        return None
    p, q = np.array(pairs).T
    loss = _Loss(p, q)
    last, out = fmpq(1), list[fmpq]()
    most = float(np.abs(p - q).max())
    while most > rho * float_of(last):
        low = high = float_of(last)
        limit = rho * low
        high = 2 * low
        if loss(high) > limit:
            for _ in range(40):
                middle = (low + high) / 2
                low, high = (middle, high) if loss(middle) <= limit else (low, middle)
        else:
            low = high
        order = fmpq(math.floor(low * 2**24), 2**24)
        if order <= last or len(out) == _MOST_ORDERS:
            return None
        out.append(order)
        last = order
    return tuple(out or [fmpq(2)])


def _log(value: fmpq) -> float:
    """Of any rational number above 0."""
    return math.log(int(value.p)) - math.log(int(value.q))
