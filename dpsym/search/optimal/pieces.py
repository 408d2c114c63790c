"""Proofs that a function of the ratio t alone is nonnegative: cut where it has kinks, then boxes.

A cut is a pair of binary fractions around a kink, so close that plain enclosures decide between
them. On a piece without kinks a linear function has its least value at an end; another one is
enclosed over boxes, after division by a power of t where the piece is unbounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flint import arb, fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.balls import (
    EVERYTHING,
    Enclosure,
    Evaluator,
    Undefined,
    below,
    exact,
    plus,
    precision,
    rational,
    times,
)
from dpsym.kernel.canon import UNIT, Canon
from dpsym.kernel.proofs import Proof
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import step
from dpsym.kernel.rules_logic import branches
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import RATIO
from dpsym.kernel.terms import KINKED, ZERO, Term, derivative, substitute, subterms
from dpsym.search.leaf.budget import Budget

BITS = 192
_FINE = fmpq(1, 2**90)  # the relative width of a cut
_DEPTH, _BOXES = 50, 4000
LOSS = "$u"
T, U = tm.var(RATIO), tm.var(LOSS)
Tree = tuple[Any, ...]


class Failed(Exception):
    """No proof by these means: the function is negative, or too close to 0."""


def positive(goal: Sequent, budget: Budget) -> Proof:
    """A proof of ``t > 0, ... |- F(t) >= 0``; raises Failed."""
    with precision(BITS):
        return _Prover(budget).cut(goal, _cuts(goal))


def constant(goal: Sequent) -> Proof:
    """A proof of a goal between numbers."""
    with precision(BITS):
        if context(goal.hypotheses).evident(goal.goal):
            return Proof("evident")
        box = dict(context(goal.hypotheses).box)
        low = Evaluator(box, False)(goal.goal.term)[0]
        if low > 0 or (goal.goal.rel == ">=" and low >= 0):
            return _boxes(("direct",))
    raise Failed(f"not seen to hold: {goal.goal}")


def _boxes(tree: Tree) -> Proof:
    return Proof("boxes", {"tree": tree, "bits": BITS})


# -- cuts


def _cuts(goal: Sequent) -> list[fmpq]:
    """Two binary fractions around each place at which a kinked term changes branch."""
    lo, hi = context(goal.hypotheses).box.get(RATIO, EVERYTHING)
    found: set[fmpq] = set()
    for item in subterms(goal.goal.term):
        if item.kinked and item.op in ("max", "min", "abs", "ite"):
            for low, high in _changes(branches(item)[0]):
                for end in (low, high):
                    at = rational(end)
                    if lo < at[0] and at[1] < hi:
                        found.add(end)
    if not found and not (lo > 0 and hi.is_finite()):
        return [fmpq(1)]  # what is large far out is not the same on both sides
    return sorted(found)


def _changes(condition: Term) -> list[tuple[fmpq, fmpq]]:
    """Narrow intervals in which the condition changes sign, on a grid of ratios."""
    exactly = _zero(condition)
    if exactly is not None:
        return [(exactly * (1 - _FINE), exactly * (1 + _FINE))] if exactly > 0 else []
    grid = [fmpq(2) ** k * (1 + fmpq(j, 4)) for k in range(-64, 64) for j in range(4)]
    signs = [_sign(condition, point) for point in grid]
    out = []
    for i in range(len(grid) - 1):
        if signs[i] != signs[i + 1]:
            low, high = grid[i], grid[i + 1]
            if signs[i + 1] == 0:  # a change at a point of the grid
                out.append((high * (1 - _FINE), high * (1 + _FINE)))
                continue
            if signs[i] == 0:
                continue
            while high - low > _FINE * low:
                middle = (low + high) / 2
                if _sign(condition, middle) == signs[i]:
                    low = middle
                else:
                    high = middle
            gap = high - low
            out.append((low - gap, high + gap))
    return out


def _zero(condition: Term) -> fmpq | None:
    """Where a linear condition with rational coefficients is 0; 0 if nowhere."""
    slope, base = derivative(condition, RATIO), substitute(condition, {RATIO: ZERO})
    if slope.op != "num" or base.op != "num":
        return None
    return -base.value / slope.value if slope.value else fmpq(0)


def _sign(item: Term, point: fmpq) -> int:
    ends = rational(point)
    lo, hi = Evaluator({RATIO: ends}, False)(item)
    return 1 if lo > 0 else -1 if hi < 0 else 0


def taken(goal: Sequent, name: str) -> tuple[Callable[[Proof], Proof], Sequent]:
    """The goal with one branch of each kinked term of the variable where it is certain, and what
    makes a proof of the goal from one of that."""
    at = Evaluator(dict(context(goal.hypotheses).box), False)
    steps: list[tuple[dict[str, Any], Proof]] = []
    for item in reversed(list(subterms(goal.goal.term))):  # the outer ones first
        if item.op not in KINKED or branches(item)[0].vars - {name}:
            continue
        lo, hi = at(branches(item)[0])
        sign = 1 if lo >= 0 else -1 if hi < 0 or (hi <= 0 and item.op != "ite") else 0
        if sign and item in set(subterms(goal.goal.term)):
            parameters = {"kinked": item, "sign": sign}
            shown, goal = _premises(goal, "branch", parameters)
            steps.append((parameters, constant(shown)))

    def proof(found: Proof) -> Proof:
        for parameters, shown in reversed(steps):
            found = Proof("branch", parameters, (shown, found))
        return found

    return proof, goal


# -- pieces


class _Prover:
    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.left = _BOXES

    def cut(self, goal: Sequent, cuts: list[fmpq]) -> Proof:
        """Both sides of the middle cut, until there is none; without the kinked terms of which one
        branch is certain."""
        self.budget.check()
        steps, goal = taken(goal, RATIO)
        if not cuts:
            return steps(self.piece(goal))
        middle = len(cuts) // 2
        item = T - tm.num(cuts[middle])
        *shown, above, under = _premises(goal, "split", {"item": item})
        proofs = [constant(one) for one in shown]
        proofs += [self.cut(above, cuts[middle + 1 :]), self.cut(under, cuts[:middle])]
        return steps(Proof("split", {"item": item}, tuple(proofs)))

    def piece(self, goal: Sequent) -> Proof:
        """No kinks are left, or the piece is tiny."""
        if goal.goal.term.kinked:
            return constant(goal)
        (plain,) = _premises(goal, "tidy", {})
        return Proof("tidy", {}, (self.smooth(plain),))

    def smooth(self, goal: Sequent) -> Proof:
        known = context(goal.hypotheses)
        slope = known.canon.normal(derivative(goal.goal.term, RATIO))
        if RATIO not in slope.vars:
            return self.linear(goal, slope)
        if Evaluator(known.box, False)(goal.goal.term)[0] >= 0:
            return _boxes(("direct",))
        lo, hi = known.box.get(RATIO, EVERYTHING)
        factors = {one for part in goal.goal.term.args for one in (part, *part.args)}
        if tm.log(T) in factors and not (lo > 0 and hi.is_finite()):
            return self.with_logarithm(goal, lo, hi)
        parameters = {"name": RATIO, "kind": "decay", "new": LOSS, "item": tm.ONE}
        *shown, moved = _premises(goal, "change", parameters)
        proofs = [constant(one) for one in shown]
        return Proof("change", parameters, (*proofs, self.waves(moved)))

    def with_logarithm(self, goal: Sequent, lo: arb, hi: arb) -> Proof:
        """Cut far out, where derivatives have the sign of one summand."""
        failed = Failed("no place to cut")
        for k in (2, 6, 12, 24, 48):
            far = fmpq(2) ** (-k if hi.is_finite() else k)
            if not (lo < arb(far) and arb(far) < hi):
                continue
            item = T - tm.num(far)
            *shown, above, under = _premises(goal, "split", {"item": item})
            direction = -1 if hi.is_finite() else 1
            outer, inner = (under, above) if direction == -1 else (above, under)
            try:
                proofs = {id(outer): self.rising(outer, far, direction, 3)}
                proofs[id(inner)] = self.smooth(inner)
            except Failed as reason:
                failed = reason
                continue
            first = [constant(one) for one in shown]
            return Proof("split", {"item": item}, (*first, proofs[id(above)], proofs[id(under)]))
        raise failed

    def rising(self, goal: Sequent, start: fmpq, direction: int, depth: int) -> Proof:
        """By the value at an end and the sign of the derivative."""
        try:
            return constant(goal)
        except Failed:
            if not depth:
                raise
        parameters = {
            "name": RATIO,
            "start": tm.num(start),
            "direction": direction,
            "from_open": False,
        }
        *shown, slope = _premises(goal, "derive", parameters)
        proofs = [constant(one) for one in shown]
        return Proof(
            "derive", parameters, (*proofs, self.rising(slope, start, direction, depth - 1))
        )

    def waves(self, goal: Sequent) -> Proof:
        """A sum of exponentials of u = -log t, divided by one that occurs twice, as coefficients
        may nearly cancel, or by one that is large far out."""
        lo, hi = context(goal.hypotheses).box.get(LOSS, EVERYTHING)
        found = _rates(goal.goal.term)
        rates = sorted(set(found))
        orders = [rate for rate in rates if found.count(rate) > 1] or [fmpq(0)]
        if not lo.is_finite():
            orders = [*reversed(rates[-3:]), *orders]
        elif not hi.is_finite():
            orders = [*rates[:3], *orders]
        ways = [self.divided(goal, order) for order in dict.fromkeys(orders)]
        ways.sort(key=lambda way: not way.at.value(lo, hi)[0] >= 0)  # those that are plain first
        failed = Failed("no exponential to divide by")
        for way in ways:
            try:
                tree = self.tree(way.at, lo, hi, 0)
            except Failed as reason:
                failed = reason
                continue
            proofs = [constant(one) for one in way.shown]
            return Proof("multiply", {"factor": way.factor}, (*proofs, _boxes(tree)))
        raise failed

    def divided(self, goal: Sequent, order: fmpq) -> _Way:
        factor = tm.exp(order * U)
        *shown, last = _premises(goal, "multiply", {"factor": factor})
        return _Way(factor, shown, _Function(last.goal.term, derivative(last.goal.term, LOSS)))

    def linear(self, goal: Sequent, slope: Term) -> Proof:
        """Least at an end."""
        rising = Evaluator({}, False)(slope)[0] >= 0
        for start, direction in _ends(goal):
            if rising == (direction == 1):
                parameters = {
                    "name": RATIO,
                    "start": start,
                    "direction": direction,
                    "from_open": False,
                }
                premises = _premises(goal, "derive", parameters)
                return Proof("derive", parameters, tuple(map(constant, premises)))
        return constant(goal)

    def tree(self, at: _Function, lo: arb, hi: arb, depth: int) -> Tree:
        self.left -= 1
        if self.left < 0 or depth > _DEPTH:
            raise Failed("too many boxes")
        if self.left % 64 == 0:
            self.budget.check()
        low, high = at.value(lo, hi)
        if low >= 0:
            return ("direct",)
        if high < 0:
            raise Failed("negative on a box")
        if hi.is_finite() and lo.is_finite():
            slope = at.slope(lo, hi)
            if slope is not None:
                end = -1 if slope[0] >= 0 else 1 if slope[1] <= 0 else 0
                if end:
                    point = lo if end == -1 else hi
                    if at.value(point, point)[0] >= 0:
                        return ("face", LOSS, end, ("direct",))
                    raise Failed("negative at an end")
                middle = below((lo + hi) / 2)
                reach = plus((lo, hi), (-middle, -middle))
                if below(at.value(middle, middle)[0] + times(slope, reach)[0]) >= 0:
                    return ("mean",)
        cut = _middle(lo, hi)
        place = rational(cut)[0]
        left = self.tree(at, lo, place, depth + 1)
        right = self.tree(at, place, hi, depth + 1)
        return ("split", LOSS, cut, left, right)


def _middle(lo: arb, hi: arb) -> fmpq:
    """A short binary fraction about the middle; beyond a finite end where the other is infinite."""
    if lo.is_finite() and hi.is_finite():
        low, high = exact(below(lo)), exact(below(hi))
        if low is None or high is None or not low < high:
            raise Failed("no middle")
        width = high - low
        bits = int(width.q).bit_length() - int(width.p).bit_length()
        size = int(2 ** max(bits + 8, 0))
        return fmpq(round((low + high) / 2 * size), size)
    end = exact(below(lo if lo.is_finite() else hi))
    if end is None:
        return fmpq(0)
    far = math.ceil(abs(end)) or 1
    return fmpq(math.ceil(end) + far) if lo.is_finite() else fmpq(math.floor(end) - far)


@dataclass(frozen=True)
class _Way:
    """A goal multiplied with a factor, and what that needs."""

    factor: Term
    shown: list[Sequent]
    at: _Function


class _Function:
    """Enclosures of a term in t, and of its derivative."""

    def __init__(self, item: Term, slope: Term) -> None:
        self.item, self.slope_item = item, slope

    def value(self, lo: arb, hi: arb) -> Enclosure:
        try:
            return Evaluator({LOSS: (lo, hi)}, False)(self.item)
        except Undefined:
            return EVERYTHING

    def slope(self, lo: arb, hi: arb) -> Enclosure | None:
        strict = Evaluator({LOSS: (lo, hi)}, True)
        try:
            return strict(self.slope_item)
        except Undefined:
            return None


def _ends(goal: Sequent) -> list[tuple[Term, int]]:
    """The bounds of t that the hypotheses state: (end, 1) from below and (end, -1) from above."""
    known, found = context(goal.hypotheses), []
    best: dict[int, arb] = {}
    for fact in goal.hypotheses:
        split = known.affine(fact.term, RATIO) if fact.rel != "!=" else None
        if split is None:
            continue
        direction = 1 if split[0] > 0 else -1
        value = Evaluator({}, False)(split[1])[0]
        if direction not in best or (value - best[direction]) * direction > 0:
            best[direction] = value
            found.append((split[1], direction))
    return list(reversed(found))


def _rates(item: Term) -> list[fmpq]:
    """The k of the summands, which are multiples of exp(-k u)."""
    found: list[fmpq] = []
    for part in item.args if item.op == "add" else (item,):
        total = fmpq(0)
        for one in part.args if part.op == "mul" else (part,):
            inner, count = (one.args[0], int(one.value)) if one.op == "pow" else (one, 1)
            if inner.op == "exp":
                rate = Canon()(derivative(inner.args[0], LOSS)).get(UNIT)
                total += count * (rate or fmpq(0))
        found.append(-total)
    return found


def _premises(goal: Sequent, rule: str, parameters: dict[str, Any]) -> list[Sequent]:
    try:
        return [one for one in step(goal, rule, parameters) if isinstance(one, Sequent)]
    except Refusal as refusal:
        raise Failed(str(refusal)) from None
