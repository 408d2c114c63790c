"""The rule that decides a goal by enclosures over a tree of boxes."""

from __future__ import annotations

from typing import Any

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.balls import (
    EVERYTHING,
    MAX_PRECISION,
    MIN_PRECISION,
    Box,
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
from dpsym.kernel.kinds import Kind, Reader, WholeKind, read_list, read_rational
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import Goal, leaf_rule, require
from dpsym.kernel.sequents import Context, Sequent, context
from dpsym.kernel.terms import Term, derivative, substitute

MAX_TREE_DEPTH = 60
MAX_TREE_NODES = 20_000
_SHAPES = {"direct": 1, "split": 5, "empty": 2, "face": 4, "mean": 1, "zero": 1}


class TreeKind(Kind):
    """A tree of boxes, written as nested tuples:

    ``("direct",)`` the enclosure decides; ``("split", x, q, left, right)`` bisect x at q;
    ``("empty", i)`` hypothesis i holds nowhere on the box; ``("face", x, end, tree)`` g is monotone
    in x, so look at its lower (-1) or upper (1) end; ``("mean",)`` mean value form; ``("zero",)``
    the canonical form is zero.
    """

    describe = "a tree of boxes"

    def check(self, value: object) -> None:
        todo: list[tuple[object, int]] = [(value, 0)]
        count = 0
        while todo:
            node, depth = todo.pop()
            count += 1
            if depth > MAX_TREE_DEPTH or count > MAX_TREE_NODES:
                raise Refusal("boxes", f"at most {MAX_TREE_NODES} boxes, {MAX_TREE_DEPTH} deep")
            if type(node) is not tuple or not node or type(node[0]) is not str:
                raise self.refuse(node)
            if _SHAPES.get(node[0]) != len(node):
                raise self.refuse(node)
            if node[0] == "split":
                self._fits(type(node[1]) is str and isinstance(node[2], fmpq), node)
                todo += [(node[3], depth + 1), (node[4], depth + 1)]
            elif node[0] == "face":
                self._fits(type(node[1]) is str and type(node[2]) is int, node)
                self._fits(node[2] in (-1, 1), node)
                todo.append((node[3], depth + 1))
            elif node[0] == "empty":
                self._fits(type(node[1]) is int and node[1] >= 0, node)

    def _fits(self, holds: bool, node: object) -> None:
        if not holds:
            raise self.refuse(node)

    def read(self, data: Any, source: Reader, depth: int = 0) -> Any:
        if depth > MAX_TREE_DEPTH:
            raise Refusal("boxes", f"a tree at most {MAX_TREE_DEPTH} deep")
        parts = list(read_list(data))
        if parts and parts[0] == "split" and len(parts) == 5:
            parts[2] = read_rational(parts[2])
        return tuple(
            self.read(part, source, depth + 1) if type(part) is list else part for part in parts
        )


@leaf_rule(tree=TreeKind(), bits=WholeKind(MIN_PRECISION, MAX_PRECISION))
def boxes(goal: Sequent, tree: tuple[Any, ...], bits: int) -> list[Goal]:
    """Enclosures over boxes that cover every point at which the hypotheses hold.

    --------
    H |- g rel 0

    Fails when an enclosure does not decide, or a monotone or mean value step is not sound there.
    """
    known = context(goal.hypotheses)
    with precision(bits):
        _Boxes(known, goal.goal.rel).check(goal.goal.term, dict(known.box), tree, {})
    return []


class _Boxes:
    def __init__(self, known: Context, rel: str) -> None:
        self.known, self.rel = known, rel

    def check(self, item: Term, box: Box, tree: tuple[Any, ...], slopes: dict[str, Term]) -> None:
        kind = tree[0]
        try:
            if kind == "direct":
                require(self.decides(Evaluator(box, False)(item)[0]), "boxes", "a sign", item)
            elif kind == "split":
                self.split(item, box, tree, slopes)
            elif kind == "empty":
                self.empty(box, tree[1])
            elif kind == "face":
                self.face(item, box, tree, slopes)
            elif kind == "mean":
                self.mean(item, box, slopes)
            else:
                canon = self.known.canon
                zero = self.rel == ">=" and canon.is_zero(canon(item))
                require(zero, "boxes", "the form is zero", item)
        except Undefined:
            raise Refusal("boxes", "a term defined on the box", item) from None

    def decides(self, low: Any) -> bool:
        return bool(low > 0 or (self.rel == ">=" and low >= 0))

    def split(self, item: Term, box: Box, tree: tuple[Any, ...], slopes: dict[str, Term]) -> None:
        _, name, point, left, right = tree
        lo, hi = box.get(name, EVERYTHING)
        low, high = rational(point)
        require(bool(low == high), "boxes", "a split point that is a binary fraction", point)
        require(bool(lo < low and low < hi), "boxes", "a split point inside the box", point)
        self.check(item, {**box, name: (lo, low)}, left, slopes)
        self.check(item, {**box, name: (low, hi)}, right, slopes)

    def empty(self, box: Box, index: int) -> None:
        require(index < len(self.known.hypotheses), "boxes", "a hypothesis's index", index)
        fact = self.known.hypotheses[index]
        _, hi = Evaluator(box, False)(fact.term)
        fails = hi < 0 or (fact.rel == ">" and hi <= 0)
        require(bool(fails and fact.rel != "!="), "boxes", "a hypothesis that fails", fact)

    def face(self, item: Term, box: Box, tree: tuple[Any, ...], slopes: dict[str, Term]) -> None:
        """g is defined on the whole box and monotone in x: it is least at one end."""
        _, name, end, inner = tree
        Evaluator(box, True)(item)
        lo, hi = Evaluator(box, True)(self.slope(item, name, slopes))
        require(bool(lo >= 0 if end == -1 else hi <= 0), "boxes", "a monotone term", name)
        require(name in box, "boxes", "a bounded variable", name)
        value = exact(box[name][0 if end == -1 else 1])
        if value is None:
            raise Refusal("boxes", "a finite end", name)
        rest = {key: ends for key, ends in box.items() if key != name}
        self.check(substitute(item, {name: tm.num(value)}), rest, inner, {})

    def mean(self, item: Term, box: Box, slopes: dict[str, Term]) -> None:
        """g(x) >= g(m) + sum of g_i'(box) (x_i - m_i)."""
        Evaluator(box, True)(item)
        names = sorted(item.vars)
        middle: dict[str, Enclosure] = {}
        for name in names:
            lo, hi = box.get(name, EVERYTHING)
            require(bool(lo.is_finite() and hi.is_finite()), "boxes", "a finite box", name)
            point = below((lo + hi) / 2)
            require(bool(lo <= point and point <= hi), "boxes", "a middle inside", name)
            middle[name] = (point, point)
        low = Evaluator(middle, True)(item)[0]
        strict = Evaluator(box, True)
        for name in names:
            lo, hi = box[name]
            point = middle[name][0]
            reach = plus((lo, hi), (-point, -point))
            change = times(strict(self.slope(item, name, slopes)), reach)
            low = below(low + change[0])
        require(self.decides(low), "boxes", "a sign by the mean value form", item)

    def slope(self, item: Term, name: str, slopes: dict[str, Term]) -> Term:
        if name not in slopes:
            slopes[name] = derivative(item, name)
        return slopes[name]
