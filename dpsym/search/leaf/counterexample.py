"""Counterexamples: sampling, then a local search, then rational points that the kernel confirms."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from flint import fmpq

from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Sequent
from dpsym.search.leaf import deep
from dpsym.search.leaf.budget import Budget, OutOfBudget
from dpsym.search.leaf.numeric import SEED, Array, Samples, Values, from_float, refutes, satisfied

_DIGITS = (1, 2, 3, 5, 8, 12, None)
_TRIES = 6
_FLOATS = 0.35  # share of the time


def find(
    sequent: Sequent, budget: Budget, integers: frozenset[str], thorough: bool, seed: int = 1
) -> dict[str, fmpq] | None:
    """A rational point at which all hypotheses hold and the goal fails, for certain."""
    names = sequent.vars
    try:
        with budget.part(budget.left() * (_FLOATS if thorough else 1)).enforced() as part:
            here = Samples(sequent.hypotheses, names, 4000 if thorough else 1200, integers)
            found = _Search(sequent, here, part, integers, thorough).run() if here.count else None
            if found is not None:
                return found
    except OutOfBudget:
        pass
    return exactly(sequent, budget, integers, seed) if thorough else None


def exactly(
    sequent: Sequent, budget: Budget, integers: frozenset[str], seed: int = 1
) -> dict[str, fmpq] | None:
    """The same without floats: what these see is left out."""
    try:
        with budget.enforced():
            return deep.find(sequent, budget, integers, seed)
    except (OutOfBudget, Refusal, RecursionError):
        return None


class _Search:
    def __init__(
        self,
        sequent: Sequent,
        here: Samples,
        budget: Budget,
        integers: frozenset[str],
        thorough: bool,
    ) -> None:
        self.sequent, self.here, self.budget = sequent, here, budget
        self.integers, self.thorough = integers, thorough
        self.tried: set[tuple[float, ...]] = set()

    def run(self) -> dict[str, fmpq] | None:
        relative, plain = self.badness(self.here)
        points = self.here.points
        found = self.confirm(points, relative) or self.confirm(points, plain)
        found = found or self.descend(0) or self.descend(1)
        return found or (self.doubtful(relative) if self.thorough else None)

    def badness(self, values: Values) -> tuple[Array, Array]:
        """The goal relative to its largest summand, and the goal; infinite outside the domain."""
        goal = self.sequent.goal.term
        value, scale = values(goal), values.scale(goal)
        with np.errstate(all="ignore"):
            ratio = np.where(scale > 0, value / scale, 0.0)
            if self.sequent.goal.rel == "!=":
                ratio = np.abs(ratio) - 1e-300
            inside = np.isfinite(ratio)
            for fact in self.sequent.hypotheses:
                inside &= satisfied(values, fact)
        return np.where(inside, ratio, np.inf), np.where(inside, value, np.inf)

    def confirm(self, points: Mapping[str, Array], badness: Array) -> dict[str, fmpq] | None:
        """Try the points that look worst, and some others, rounded to few digits first."""
        order = np.argsort(badness, kind="stable")
        strict = self.sequent.goal.rel != ">="
        order = order[(badness[order] < 0) | (strict & (badness[order] == 0))]
        chosen = [*order[:_TRIES], *order[:: max(1, order.size // _TRIES)]]
        for index in dict.fromkeys(int(entry) for entry in chosen):
            found = self.rounded({name: float(x[index]) for name, x in points.items()})
            if found is not None:
                return found
        return None

    def rounded(self, point: dict[str, float]) -> dict[str, fmpq] | None:
        key = tuple(point.values())
        if key in self.tried:
            return None
        self.tried.add(key)
        seen = []
        for digits in _DIGITS:
            exact = {
                name: fmpq(round(x)) if name in self.integers else from_float(x, digits)
                for name, x in point.items()
            }
            if exact not in seen and refutes(self.sequent, exact):
                return exact
            seen.append(exact)
        return None

    def descend(self, kind: int) -> dict[str, fmpq] | None:
        """Random steps of many sizes around the worst points, keeping what gets worse."""
        rng = np.random.default_rng(SEED + 1)
        names = list(self.here.points)
        if not names:
            return None
        badness = self.badness(self.here)[kind]
        count, children = (24, 60) if self.thorough else (8, 40)
        order = np.argsort(badness, kind="stable")
        order = order[np.isfinite(badness[order])]
        best = np.unique([*order[:count], *order[:: max(1, order.size // count)][:count]])
        best = best.astype(np.intp)
        where = np.array([self.here.points[name][best] for name in names])
        worst = badness[best]
        for round_ in range(40 if self.thorough else 12):
            size = 10.0 ** rng.uniform(-1 - round_ / 4, 0.3, (1, worst.size * children))
            parents = np.repeat(np.arange(worst.size), children)
            old = where[:, parents]
            move = rng.standard_normal(old.shape) * (rng.random(old.shape) < 0.6)
            new = old + move * size * np.maximum(np.abs(old), 1e-3)
            for row, name in enumerate(names):
                if name in self.integers:
                    new[row] = np.round(old[row] + np.sign(move[row]) * np.ceil(abs(move[row])))
            values = Values(dict(zip(names, new, strict=True)), new.shape[1])
            now = self.badness(values)[kind]
            for parent in range(worst.size):
                mine = slice(parent * children, (parent + 1) * children)
                child = int(np.argmin(now[mine])) + mine.start
                if now[child] < worst[parent]:
                    worst[parent], where[:, parent] = now[child], new[:, child]
            if worst.size and worst.min() < -1e-14:
                found = self.confirm(dict(zip(names, where, strict=True)), worst)
                if found is not None:
                    return found
            self.budget.check()
        return None

    def doubtful(self, badness: Array) -> dict[str, fmpq] | None:
        """Points where floats cannot tell the sign."""
        order = np.argsort(np.abs(badness), kind="stable")
        for index in order[np.abs(badness[order]) < 1e-9][:400].tolist():
            self.budget.check()
            point = {name: float(x[index]) for name, x in self.here.points.items()}
            exact = {name: from_float(x) for name, x in point.items()}
            if refutes(self.sequent, exact):
                return self.rounded(point) or exact
        return None
