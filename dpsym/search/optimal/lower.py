"""From atoms in floating point to exact distributions that the trusted check accepts.

The masses are floats' own values with ratios that are floats too; a little of the mass goes to an
outcome that reveals next to nothing, which makes room in the constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.balls import Evaluator, Undefined, exact, precision
from dpsym.kernel.definitions import Constraint, Form, Moment, Support
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.statements import Statement
from dpsym.refutations import Atom, Refutation, refute
from dpsym.search.optimal.program import Array
from dpsym.search.refutation.exact import dyadic

BITS = 192
_SHARES = (
    *(fmpq(1, 10**k) for k in (11, 10, 9, 8, 7, 6, 5)),
    *(fmpq(1, 3 * 10**4), fmpq(1, 10**4), fmpq(1, 3000), fmpq(1, 1000), fmpq(1, 100)),
)
_LEAST = 1e-17
Masses = tuple[tuple[fmpq, fmpq], ...]


def distributions(p: Array, q: Array) -> Iterator[Masses]:
    """Exact distributions near these atoms, with ever more of an outcome without information."""
    kept: list[tuple[fmpq, fmpq]] = []
    for first, second in zip(p.tolist(), q.tolist(), strict=True):
        if first + second <= _LEAST:
            continue
        if first > 0 and second > 0:
            ratio = dyadic(first / second)
            whole = dyadic(second)
            kept.append((whole * ratio, whole))
        else:
            kept.append((dyadic(max(first, 0.0)), dyadic(max(second, 0.0))))
    for share in _SHARES:
        masses = [((1 - share) * first, (1 - share) * second) for first, second in kept]
        rest = [1 - sum((one[i] for one in masses), fmpq(0)) for i in (0, 1)]
        if min(rest) > 0:
            yield (*masses, (rest[0], rest[1]))


def moment(masses: Masses, form: Form) -> tuple[fmpq | None, fmpq | None]:
    """Numbers below and above the integral of a function, None for infinity."""
    parts = []
    for p, q in masses:
        if p and q:
            parts.append(tm.num(q) * form.at(tm.num(p / q)))
        elif p or q:
            end = form.at_p if p else form.at_q
            if end is None:
                return None, None
            parts.append(tm.num(p or q) * end)
    with precision(BITS):
        low, high = Evaluator({}, True)(tm.add(*parts))
        return exact(low), exact(high)


def meets(masses: Masses, item: Constraint) -> bool:
    """Whether a constraint seems to hold; the trusted check decides."""
    try:
        if isinstance(item, Support):
            with precision(BITS):
                low = exact(Evaluator({}, True)(item.bound)[0])
            sides = ((q, p) if item.reverse else (p, q) for p, q in masses)
            return low is not None and all(first <= low * second for first, second in sides)
        if isinstance(item, Moment):
            _, high = moment(masses, item.form)
            with precision(BITS):
                bound = exact(Evaluator({}, True)(item.bound)[0])
            return high is not None and bound is not None and high <= bound
    except Undefined:
        return False
    return True


@dataclass(frozen=True)
class Found:
    """Distributions that meet the constraints; ``value`` is below their moment of the goal, None
    if that is infinite; ``grid`` are the orders by which families are checked."""

    masses: Masses
    value: fmpq | None
    grid: tuple[fmpq, ...] = ()


def witness(
    items: tuple[Constraint, ...],
    p: Array,
    q: Array,
    goal: Form,
    orders: Callable[[Masses], tuple[fmpq, ...] | None] = lambda masses: (),
) -> Found | None:
    """Distributions near these atoms; ``orders`` gives the grid, or None if there is none."""
    for masses in distributions(p, q):
        grid = orders(masses)
        if grid is not None and all(meets(masses, item) for item in items):
            return Found(masses, moment(masses, goal)[0], grid)
    return None


def refutation(statement: Statement, found: Found) -> Refutation | None:
    """What the trusted check makes of the distributions."""
    atoms = tuple(Atom(p, q) for p, q in found.masses)
    try:
        return refute(statement, {}, atoms, None, found.grid)
    except Refusal:
        return None
