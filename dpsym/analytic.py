"""Terms of one variable on intervals: kinks resolved, and as functions of complex balls.

Trusted for refutations and for enclosures, like ``refutations``: the standard library, python-flint
and the kernel alone.
"""

from __future__ import annotations

from collections.abc import Callable

from flint import acb, arb

from dpsym.kernel import terms as tm
from dpsym.kernel.balls import Enclosure, Evaluator, Undefined
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.terms import Term

_NAN = acb(arb.nan())


def resolved(item: Term, value: Evaluator) -> Term | None:
    """A term without kinks of the same value on the evaluator's box; ``None`` if it is not certain
    which branch a kink takes there.

    >>> box, x = {"x": (arb(-2), arb(0))}, tm.var("x")
    >>> resolved(tm.exp(-tm.absolute(x)), Evaluator(box, True))
    exp(mul(-1, mul(-1, x)))
    """
    done: dict[Term, Term | None] = {}

    def walk(node: Term) -> Term | None:
        if node not in done:
            done[node] = step(node)
        return done[node]

    def step(node: Term) -> Term | None:
        if not node.args:
            return node
        if node.op == "ite":
            condition = walk(node.args[0])
            if condition is None:
                return None
            lo, hi = value(condition)
            if lo >= 0 or hi < 0:
                return walk(node.args[1] if lo >= 0 else node.args[2])
            return None
        args = [walk(arg) for arg in node.args]
        sure = [arg for arg in args if arg is not None]
        if len(sure) < len(args):
            return None
        if node.op not in tm.KINKED:
            return node if sure == list(node.args) else Term(node.op, tuple(sure), node.value)
        first, second = (sure[0], -sure[0]) if node.op == "abs" else sure
        lo, hi = value(first if node.op == "abs" else first - second)
        if node.op == "min":
            first, second = second, first
        return first if lo >= 0 else second if hi <= 0 else None

    return walk(item)


def spread(item: Term, value: Evaluator) -> Term:
    """A term of the same value wherever it is defined on the evaluator's box: the logarithm of a
    product of positive factors as a sum, so that no large power is formed and undone."""
    done: dict[Term, Term] = {}

    def positive(node: Term) -> bool:
        try:
            return node.op == "exp" or bool(value(node)[0] > 0)
        except Undefined:
            return False

    def logarithm(node: Term) -> Term:
        if node.op == "exp":
            return node.args[0]
        if node.op == "pow" and positive(node.args[0]):
            return tm.mul(node.value, logarithm(node.args[0]))
        if node.op == "mul":
            known = [arg for arg in node.args if positive(arg)]
            other = [arg for arg in node.args if not positive(arg)]
            rest = [tm.log(tm.mul(*other))] if other else []
            return tm.add(*map(logarithm, known), *rest)
        return tm.log(node)

    def walk(node: Term) -> Term:
        if node not in done:
            args = tuple(map(walk, node.args))
            plain = Term(node.op, args, node.value) if args else node
            done[node] = logarithm(args[0]) if node.op == "log" else plain
        return done[node]

    return walk(item)


class Analytic:
    """A term without kinks as a function of its one variable, for ``acb.integral``.

    Called with ``analytic``, the value is finite only if the function is analytic on the ball.
    Precision is the caller's.

    >>> density = Analytic(tm.exp(-tm.power(tm.var("x"), 2)), "x")
    >>> bool(abs(acb.integral(density, -9, 9).real - arb.pi().sqrt()) < arb(10)**-12)
    True
    """

    def __init__(self, item: Term, name: str) -> None:
        self.steps: list[tuple[Callable[..., acb], tuple[int, ...]] | acb | None] = []
        constant = Evaluator({}, True)
        places: dict[Term, int] = {}

        def visit(node: Term) -> int:
            if node in places:
                return places[node]
            if name not in node.vars:
                step: tuple[Callable[..., acb], tuple[int, ...]] | acb | None
                step = acb(_ball(constant(node)))
            elif node.op == "var":
                step = None
            else:
                step = _operation(node), tuple(visit(arg) for arg in node.args)
            self.steps.append(step)
            places[node] = len(self.steps) - 1
            return places[node]

        visit(item)

    def __call__(self, x: acb, analytic: bool) -> acb:
        found: list[acb] = []
        for step in self.steps:
            if step is None:
                found.append(x)
            elif isinstance(step, tuple):
                found.append(step[0](analytic, *(found[place] for place in step[1])))
            else:
                found.append(step)
        return found[-1]


def _ball(ends: Enclosure) -> arb:
    lo, hi = ends
    return lo if lo == hi else lo.union(hi)


def _operation(node: Term) -> Callable[..., acb]:
    if node.op == "pow":
        count = int(node.value)
        return lambda _, x: x**count if count >= 0 else 1 / x**-count
    found = _OPERATIONS.get(node.op)
    if found is None:
        raise Refusal("analytic", "a term without kinks", node.op)
    return found


def _sum(_: bool, *args: acb) -> acb:
    total = args[0]
    for arg in args[1:]:
        total = total + arg
    return total


def _product(_: bool, *args: acb) -> acb:
    total = args[0]
    for arg in args[1:]:
        total = total * arg
    return total


def _atan(analytic: bool, x: acb) -> acb:
    """Cut on the imaginary axis, from i and -i on."""
    clear = bool(abs(x.imag) < 1) or bool(x.real > 0) or bool(x.real < 0)
    return _NAN if analytic and not clear else x.atan()


def _lgamma(analytic: bool, x: acb) -> acb:
    """Cut on the negative half line."""
    return _NAN if analytic and not bool(x.real > 0) else x.lgamma()


_OPERATIONS: dict[str, Callable[..., acb]] = {
    "add": _sum,
    "mul": _product,
    "exp": lambda _, x: x.exp(),
    "log": lambda analytic, x: x.log(analytic=analytic),
    "sqrt": lambda analytic, x: x.sqrt(analytic=analytic),
    "erfc": lambda _, x: x.erfc(),
    "atan": _atan,
    "lgamma": _lgamma,
}
