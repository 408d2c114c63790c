"""What a claim bounds, as a function of the logarithms of two densities, in floating point."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import Constraint, Moment, Range, Support, constraints, member
from dpsym.kernel.statements import RATIO, Guarantee, Statement
from dpsym.kernel.terms import Term
from dpsym.search.leaf.numeric import Array, Values
from dpsym.search.refutation.logarithms import logarithm
from dpsym.search.refutation.problem import orders

Floats = Mapping[str, float]
_ROUNDING = 1e-12  # of a loss
_FAR = 690.0  # exp of more is no float
_ROUNDED = -30.0  # the logarithm of what may be rounding, where nothing is allowed
_DOUBTFUL = 1e-6  # the excess that this counts as


def scalar(item: Term, floats: Floats) -> float:
    """The term's value; nan if it has none."""
    return float(Values({name: np.asarray(x) for name, x in floats.items()}, 1)(item)[0])


@dataclass(frozen=True)
class Aim:
    """A claim in one direction, as one for (P, Q) with P and Q exchanged if ``claim.reverse``; a
    member's order, if it is one of a family."""

    claim: Guarantee
    item: Constraint
    order: fmpq | None

    def contributions(self, p: Array, q: Array, floats: Floats) -> Array:
        """The logarithms of what is integrated, which is nonnegative (see ``events``), from those
        of the densities. For losses, of p where there is a loss."""
        name, args = self.claim.name, self.claim.args
        with np.errstate(all="ignore"):
            loss = np.where(np.isneginf(p), -np.inf, p - q)
            if not isinstance(self.item, Moment):
                return p
            if name in ("ApproxDP", "ProbabilisticDP") and args[0] is not None:
                over = scalar(args[0], floats) - loss
                inside = over < -_ROUNDING
                if name == "ProbabilisticDP":
                    return np.where(inside, p, -np.inf)
                return np.where(inside, p + np.log(-np.expm1(np.minimum(over, 0))), -np.inf)
            if name == "KLDP":
                small = loss * loss * (0.5 - loss * (1 / 6 - loss * (1 / 24 - loss / 120)))
                size = np.where(np.abs(loss) < 1e-3, small, np.expm1(-loss) + loss)
                size = np.where(loss < -40, q, np.log(size) + p)
                return np.where(np.isneginf(p), q, np.where(np.isneginf(q), np.inf, size))
            if name in ("RenyiDP", "RenyiDPBelowOne") and args[0] is not None:
                order = scalar(args[0], floats)
                power = q + order * loss
                if name == "RenyiDP":
                    power = np.where(np.isneginf(q), np.inf, power)
                    return np.where(np.isneginf(p), -np.inf, power)
                power = np.where(np.isneginf(p) | np.isneginf(q), -np.inf, power)
                mean = np.logaddexp(p + math.log(order), q + math.log1p(-order))
                return mean + np.log(-np.expm1(np.minimum(power - mean, 0)))
            return self._general(p, q, loss, floats)

    def _general(self, p: Array, q: Array, loss: Array, floats: Floats) -> Array:
        if not isinstance(self.item, Moment):
            raise TypeError("not a moment")
        form = self.item.form
        points = {name: np.asarray(x) for name, x in floats.items()}
        points[RATIO] = np.exp(np.clip(loss, -_FAR, _FAR))
        size = logarithm(Values(points, p.size), form.f) + q
        rays = [np.inf if ray is None else scalar(ray, floats) for ray in (form.at_p, form.at_q)]
        size = np.where(np.isneginf(q), p + np.log(rays[0]), size)
        return np.where(np.isneginf(p), q + np.log(rays[1]), size)

    def split(self, floats: Floats) -> float | None:
        """The loss at which what is integrated begins to count, if there is one."""
        name, first = self.claim.name, self.claim.args[0]
        if name in ("ApproxDP", "ProbabilisticDP") and first is not None:
            return scalar(first, floats)
        return None

    def limit(self, floats: Floats) -> float:
        """The logarithm of what a moment is claimed to be at most; infinite if there is none."""
        name, args = self.claim.name, self.claim.args
        if not isinstance(self.item, Moment) or name == "RenyiDPBelowOne":
            return math.inf
        if name == "RenyiDP":
            order, epsilon = (scalar(arg or tm.ZERO, floats) for arg in args)
            return (order - 1) * epsilon
        bound = scalar(self.item.bound, floats)
        return math.log(bound) if bound > 0 else -_FAR

    def excess(self, total: float, floats: Floats) -> float:
        """By how much, relatively, the bound is exceeded: for the logarithm of the integral of the
        contributions, or for losses for the loss itself or the difference of two."""
        name, args = self.claim.name, self.claim.args
        if not isinstance(self.item, Moment):
            epsilon = scalar(args[0] or tm.ZERO, floats)
            return _relative(total, epsilon)
        if name == "RenyiDP":
            order, epsilon = (scalar(arg or tm.ZERO, floats) for arg in args)
            return _relative(total, (order - 1) * epsilon)
        bound = scalar(self.item.bound, floats)
        if name == "RenyiDPBelowOne":
            return _relative(math.exp(min(total, 0.0)), 1 + bound)
        if not bound <= 0:
            return total - math.log(bound)
        if not total > -math.inf:
            return -math.inf
        return math.inf if bound < 0 or total > _ROUNDED else _DOUBTFUL


def _relative(value: float, bound: float) -> float:
    if math.isnan(bound) or math.isnan(value):
        return -math.inf
    return (value - bound) / max(abs(bound), 1e-12) if value < math.inf else math.inf


def aims(statement: Statement) -> Iterator[Aim]:
    """Everything the claims say, one direction and one order at a time."""
    for claim in statement.claims:
        for reverse in (False, True) if claim.two_way else (claim.reverse,):
            way = replace(claim, two_way=False, reverse=False)
            named: list[tuple[Guarantee, fmpq | None]] = [(way, None)]
            if not constraints(way):
                found = [(member(way, tm.num(order)), order) for order in orders(way.name)]
                named = [(one[1], order) for one, order in found if one is not None]
            for one, order in named:
                (item,) = constraints(one)
                yield Aim(replace(one, reverse=reverse), item, order)


def is_loss(aim: Aim) -> bool:
    return isinstance(aim.item, (Support, Range))


def total_of(logs: Array, widths: Array) -> float:
    """The logarithm of a sum of exponentials times widths."""
    with np.errstate(all="ignore"):
        sizes = logs + np.log(widths)
    sizes = sizes[~np.isnan(sizes)]
    top = float(sizes.max()) if sizes.size else -math.inf
    if math.isinf(top):
        return top
    return top + math.log(float(np.exp(sizes - top).sum()))
