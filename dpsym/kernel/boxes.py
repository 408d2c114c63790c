"""The rule that decides a goal by enclosures over a tree of boxes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from flint import fmpq

from dpsym.kernel import balls, kinds
from dpsym.kernel import terms as tm
from dpsym.kernel.balls import EVERYTHING, Box, Evaluator
from dpsym.kernel.refusal import Refusal, TooLarge, require
from dpsym.kernel.rules import Goal, leaf_rule
from dpsym.kernel.sequents import Context, Sequent, context
from dpsym.kernel.terms import Term

MAX_TREE_DEPTH, MAX_TREE_NODES = 60, 20_000
_SHAPES = {"direct": 1, "split": 5, "empty": 2, "face": 4, "mean": 1, "zero": 1}


class TreeKind(kinds.Kind):
    """A tree of boxes, written as nested tuples:

    ``("direct",)`` the enclosure decides; ``("split", x, q, left, right)`` bisect x at q;
    ``("empty", i)`` hypothesis i holds nowhere on the box; ``("face", x, end, tree)`` g is monotone
    in x, so look at its lower (-1) or upper (1) end; ``("mean",)`` mean value form; ``("zero",)``
    the canonical form is zero.
    """

    describe = "a tree of boxes"

    def check(self, value: object) -> None:
        todo: list[tuple[Any, int]] = [(value, 0)]
        count = 0
        while todo:
            node, depth = todo.pop()
            count += 1
            if depth > MAX_TREE_DEPTH or count > MAX_TREE_NODES:
                raise TooLarge("boxes", f"at most {MAX_TREE_NODES} boxes, {MAX_TREE_DEPTH} deep")
            named = type(node) is tuple and node and type(node[0]) is str
            if not named or _SHAPES.get(node[0]) != len(node) or not self.fits(node):
                raise self.refuse(node)
            todo += [(part, depth + 1) for part in node[3:]]

    def fits(self, value: Any) -> bool:
        """Whether the parts of one node that are not trees are of their types."""
        if value[0] == "split":
            return type(value[1]) is str and isinstance(value[2], fmpq)
        if value[0] == "face":
            return type(value[1]) is str and type(value[2]) is int and value[2] in (-1, 1)
        return value[0] != "empty" or (type(value[1]) is int and value[1] >= 0)

    def read(self, data: Any, source: kinds.Reader, depth: int = 0) -> Any:
        if depth > MAX_TREE_DEPTH:
            raise TooLarge("boxes", f"a tree at most {MAX_TREE_DEPTH} deep")
        parts = list(kinds.read_list(data))
        if parts and parts[0] == "split" and len(parts) == 5:
            parts[2] = kinds.read_rational(parts[2])
        trees = (self.read(part, source, depth + 1) for part in parts[3:])
        return (*parts[:3], *trees)


BITS = kinds.whole(balls.MIN_PRECISION, balls.MAX_PRECISION)


@leaf_rule(tree=TreeKind(), bits=BITS)
def boxes(goal: Sequent, tree: tuple[Any, ...], bits: int) -> list[Goal]:
    """Enclosures over boxes that cover every point at which the hypotheses hold.

    --------
    H |- g rel 0

    Fails when an enclosure does not decide, or a monotone or mean value step is not sound there.
    """
    known = context(goal.hypotheses)
    with balls.precision(bits):
        _Boxes(known, goal.goal.rel).check(goal.goal.term, dict(known.box), tree)
    return []


def _need(holds: object, condition: str, value: object) -> None:
    require(bool(holds), "boxes", condition, value)


@lru_cache(maxsize=1000)
def _slope(item: Term, name: str) -> Term:
    return tm.derivative(item, name)


class _Boxes:
    def __init__(self, known: Context, rel: str) -> None:
        self.known, self.rel = known, rel

    def check(self, item: Term, box: Box, tree: tuple[Any, ...]) -> None:
        try:
            getattr(self, tree[0])(item, box, *tree[1:])
        except balls.Undefined:
            raise Refusal("boxes", "a term defined on the box", item) from None

    def decides(self, low: Any, item: Term) -> None:
        _need(low > 0 or (self.rel == ">=" and low >= 0), "a sign", item)

    def direct(self, item: Term, box: Box) -> None:
        self.decides(Evaluator(box, False)(item)[0], item)

    def zero(self, item: Term, box: Box) -> None:
        canon = self.known.canon
        _need(self.rel == ">=" and canon.is_zero(canon(item)), "the form is zero", item)

    def split(self, item: Term, box: Box, name: str, point: fmpq, left: Any, right: Any) -> None:
        lo, hi = box.get(name, EVERYTHING)
        low, high = balls.rational(point)
        _need(low == high, "a split point that is a binary fraction", point)
        _need(lo < low and low < hi, "a split point inside the box", point)
        self.check(item, {**box, name: (lo, low)}, left)
        self.check(item, {**box, name: (low, hi)}, right)

    def empty(self, item: Term, box: Box, index: int) -> None:
        _need(index < len(self.known.hypotheses), "a hypothesis's index", index)
        fact = self.known.hypotheses[index]
        _, hi = Evaluator(box, False)(fact.term)
        fails = hi < 0 or (fact.rel == ">" and hi <= 0)
        _need(fails and fact.rel != "!=", "a hypothesis that fails", fact)

    def face(self, item: Term, box: Box, name: str, end: int, inner: Any) -> None:
        """g is defined on the whole box and monotone in x: it is least at one end."""
        strict = Evaluator(box, True)
        strict(item)
        lo, hi = strict(_slope(item, name))
        _need(lo >= 0 if end == -1 else hi <= 0, "a monotone term", name)
        value = balls.exact(box.get(name, EVERYTHING)[0 if end == -1 else 1])
        if value is None:
            raise Refusal("boxes", "a finite end", name)
        rest = {key: ends for key, ends in box.items() if key != name}
        self.check(tm.substitute(item, {name: tm.num(value)}), rest, inner)

    def mean(self, item: Term, box: Box) -> None:
        """g(x) >= g(m) + sum of g_i'(box) (x_i - m_i)."""
        strict = Evaluator(box, True)
        strict(item)
        middle: dict[str, balls.Enclosure] = {}
        for name in sorted(item.vars):
            lo, hi = box.get(name, EVERYTHING)
            _need(lo.is_finite() and hi.is_finite(), "a finite box", name)
            point = balls.below((lo + hi) / 2)
            _need(lo <= point and point <= hi, "a middle inside", name)
            middle[name] = (point, point)
        low = Evaluator(middle, True)(item)[0]
        for name, (point, _) in middle.items():
            reach = balls.plus(box[name], (-point, -point))
            low = balls.below(low + balls.times(strict(_slope(item, name)), reach)[0])
        self.decides(low, item)
