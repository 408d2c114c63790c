"""Branch and bound with the kernel's enclosures; gives a tree for the kernel's rule ``boxes``."""

from __future__ import annotations

import math
from typing import Any

from flint import arb, fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.balls import (
    EVERYTHING,
    NEG,
    POS,
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
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.terms import Term, derivative, substitute

BITS = 96
_DEPTH = 18  # deeper boxes mean that the goal touches zero inside

Box = dict[str, Enclosure]
Tree = tuple[Any, ...]


class _GiveUp(Exception):
    """Too many boxes, or the goal fails on one."""


def prove(sequent: Sequent, most: int) -> dict[str, Any] | None:
    """Parameters of a proof by at most so many boxes, or None."""
    search = _Search(sequent, most)
    try:
        with precision(BITS):
            tree = search.tree(sequent.goal.term, dict(search.known.box), {}, 0)
    except (_GiveUp, Refusal, RecursionError):
        return None
    return {"tree": tree, "bits": BITS}


class _Search:
    def __init__(self, sequent: Sequent, most: int) -> None:
        self.known = context(sequent.hypotheses)
        self.strict = sequent.goal.rel == ">"
        self.left = most
        self.relational = [
            (index, fact)
            for index, fact in enumerate(sequent.hypotheses)
            if len(fact.term.vars) != 1 and fact.rel != "!="
        ]

    def decides(self, low: arb) -> bool:
        return bool(low > 0 or (not self.strict and low >= 0))

    def tree(self, item: Term, box: Box, slopes: dict[str, Term], depth: int) -> Tree:
        self.left -= 1
        if self.left < 0 or depth > _DEPTH:
            raise _GiveUp
        for index, fact in self.relational:
            if self.fails(fact.term, fact.rel, box):
                return ("empty", index)
        strict = Evaluator(box, True)
        defined = True
        try:
            lo, hi = strict(item)
        except Undefined:
            defined = False
            lo, hi = self.leniently(item, box)
        if self.decides(lo):
            return ("direct",)
        if hi < 0 and not self.relational:
            raise _GiveUp
        if not item.vars:
            canon = self.known.canon
            if not self.strict and canon.is_zero(canon(item)):
                return ("zero",)
            raise _GiveUp
        if defined and not item.kinked:
            found = self.smooth(item, box, slopes, depth, strict)
            if found is not None:
                return found
        name, point = self.where(item, box)
        lo, hi = box.get(name, EVERYTHING)
        at = rational(point)[0]
        left = self.tree(item, {**box, name: (lo, at)}, slopes, depth + 1)
        right = self.tree(item, {**box, name: (at, hi)}, slopes, depth + 1)
        return ("split", name, point, left, right)

    def leniently(self, item: Term, box: Box) -> Enclosure:
        try:
            return Evaluator(box, False)(item)
        except Undefined:
            return EVERYTHING

    def fails(self, item: Term, rel: str, box: Box) -> bool:
        try:
            _, hi = Evaluator(box, False)(item)
        except Undefined:
            return False
        return bool(hi < 0 or (rel == ">" and hi <= 0))

    def smooth(
        self, item: Term, box: Box, slopes: dict[str, Term], depth: int, strict: Evaluator
    ) -> Tree | None:
        """Monotone in a variable: a face of the box. Or the mean value form."""
        names = sorted(item.vars)
        try:
            changes: dict[str, Enclosure] = {}
            for name in names:
                if name not in box:
                    continue
                if name not in slopes:
                    slopes[name] = derivative(item, name)
                lo, hi = changes[name] = strict(slopes[name])
                end = -1 if lo >= 0 else 1 if hi <= 0 else 0
                value = exact(box[name][0 if end == -1 else 1]) if end else None
                if value is not None and value.q < fmpq(2) ** 60:
                    rest = {key: ends for key, ends in box.items() if key != name}
                    face = substitute(item, {name: tm.num(value)})
                    return ("face", name, end, self.tree(face, rest, {}, depth + 1))
            if len(changes) == len(names) and self.mean(item, box, changes):
                return ("mean",)
        except Undefined:
            return None
        return None

    def mean(self, item: Term, box: Box, changes: dict[str, Enclosure]) -> bool:
        middle: Box = {}
        for name in changes:
            lo, hi = box[name]
            if not (lo.is_finite() and hi.is_finite()):
                return False
            point = below((lo + hi) / 2)
            middle[name] = (point, point)
        low = Evaluator(middle, True)(item)[0]
        for name, change in changes.items():
            point = middle[name][0]
            low = below(low + times(change, plus(box[name], (-point, -point)))[0])
        return self.decides(low)

    def where(self, item: Term, box: Box) -> tuple[str, fmpq]:
        """The variable with the widest side, and where to cut it."""
        names = item.vars.union(*(fact.term.vars for _, fact in self.relational))
        best: tuple[str, fmpq] | None = None
        widest = 0.0
        for name in sorted(names):
            lo, hi = box.get(name, EVERYTHING)
            width, cut = _cut(lo, hi)
            if width > widest:
                point = fmpq(round(cut * 2**20), 2**20)
                at = arb(point)
                if lo < at and at < hi:
                    best, widest = (name, point), width
        if best is None:
            raise _GiveUp
        return best


def _cut(lo: arb, hi: arb) -> tuple[float, float]:
    """How wide a side is, compactified, and a good point to cut it at."""
    if lo == NEG and hi == POS:
        return 9.0, 0.0
    if hi == POS:
        low = float(lo)
        cut = max(2 * low, low + 1, 1.0)
        cut = 2.0 ** math.ceil(math.log2(cut)) if cut < 1e200 else cut
        return 8.0 / max(1.0, abs(cut)) ** 0.3, cut
    if lo == NEG:
        high = float(hi)
        cut = min(2 * high, high - 1, -1.0)
        return 8.0 / max(1.0, abs(cut)) ** 0.3, cut
    low, high = float(lo), float(hi)
    width = high - low
    if low <= 0 or high < 1 or high / low < 8:
        return width, (low + high) / 2
    return max(width, math.log(high / low) * 0.5), math.sqrt(low * high)
