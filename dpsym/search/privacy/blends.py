"""Multipliers for blends, where everything is a positive part of something linear.

The claim is then about L(r)_+, each moment about M(r)_+ and each support says N(r) <= 0, with L, M
and N linear in the densities r. Multipliers a, w, v >= 0 with L <= a r + sum w M + sum v N for
each coefficient prove the bound sum a + sum w c. The best ones are a vertex of a linear program
whose coefficients are terms: at sample values of the parameters the vertex is found in numbers,
which says which of the inequalities are equations, and these are solved in terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import to_term
from dpsym.kernel.definitions import Moment, constraints
from dpsym.kernel.rules_privacy import StageData, stage_data
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import Assumed, Blend, Guarantee, Statement
from dpsym.kernel.terms import ONE, ZERO, Term
from dpsym.search.leaf.hinted import Hint, Split
from dpsym.search.samples import number, points

_CLOSE = 1e-9
_FEW = 4  # vertices at each sample
Vector = tuple[Term, ...]
Vertex = tuple[frozenset[int], frozenset[int]]


@dataclass(frozen=True)
class Column:
    """A multiple of ``vector`` may be added at ``cost``; ``place`` says which multiplier it is."""

    vector: Vector
    cost: Term
    place: tuple[int, int] | None


def multipliers(goal: Statement, stage: Blend) -> Iterator[dict[str, Any]]:
    """Parameters of the rule for a claim about one moment, the best ones at sample values."""
    (claim,) = goal.claims
    size = len(stage.p)
    ends = _ends(claim)
    data = [stage_data(link.stage) for link in stage.links if isinstance(link.stage, Assumed)]
    columns = _columns(stage, data)
    if ends is None or columns is None:
        return
    target = tuple(ends[0] * p + ends[1] * q for p, q in zip(stage.p, stage.q, strict=True))
    samples = points(goal.variables, goal.facts, count=40)
    bound = claim.args[-1] or ZERO
    tight_ones = sorted(samples, key=lambda values: number(bound, values))[:6]
    found = (best for values in tight_ones for best in _best(columns, target, values))
    for best in dict.fromkeys(found):
        chosen, tight = (sorted(part) for part in best)
        solved = _solved([columns[j] for j in chosen], target, tight, goal)
        if solved is None:
            continue
        linear = [ZERO] * size
        moments = [[ZERO] * len(one.moments) for one in data]
        for j, value in zip(chosen, solved, strict=True):
            place = columns[j].place
            if place is not None and place[0] < 0:
                linear[place[1]] = value
            elif place is not None:
                moments[place[0]][place[1]] = value
        cost = tm.add(*(x * columns[j].cost for j, x in zip(chosen, solved, strict=True)))
        if _cheap(cost, solved, claim, samples):
            yield {"linear": tuple(linear), "moments": tuple(map(tuple, moments))}


def _cheap(
    cost: Term, solved: list[Term], claim: Guarantee, samples: list[dict[str, float]]
) -> bool:
    """Whether the claim's bound is at least the cost wherever the multipliers make sense."""
    bound = claim.args[-1] or ZERO
    for values in samples:
        if all(number(item, values) >= -_CLOSE for item in solved):
            gap = number(bound, values) - number(cost, values)
            if not gap >= -_CLOSE * (1 + abs(number(bound, values))):
                return False
    return True


def _ends(guarantee: Guarantee) -> tuple[Term, Term] | None:
    """The coefficients of p and q in what the guarantee is the positive part of."""
    if guarantee.name != "ApproxDP" or guarantee.args[0] is None:
        return None
    slope = -tm.exp(guarantee.args[0])
    return (slope, ONE) if guarantee.reverse else (ONE, slope)


def _columns(stage: Blend, data: Sequence[StageData]) -> list[Column] | None:
    size = len(stage.p)
    out = [Column(_unit(size, {i: ONE}), ONE, (-1, i)) for i in range(size)]
    for k, (link, known) in enumerate(zip(stage.links, data, strict=True)):
        assert isinstance(link.stage, Assumed)
        hinges: dict[Moment, tuple[Term, Term]] = {}
        for one in link.stage.guarantees:
            for reverse in (False, True):
                way = Guarantee(one.name, one.args, False, reverse)
                ends = _ends(way)
                found = next(iter(constraints(way)), None)
                if ends is not None and isinstance(found, Moment):
                    hinges[found] = ends
        for i, moment in enumerate(known.moments):
            if moment not in hinges:
                return None
            first, second = hinges[moment]
            vector = _unit(size, {link.first: first, link.second: second})
            out.append(Column(vector, moment.bound, (k, i)))
        for item in known.supports:
            small, large = (ONE, -item.bound) if not item.reverse else (-item.bound, ONE)
            vector = _unit(size, {link.first: small, link.second: large})
            out.append(Column(vector, ZERO, None))
    return out


def _unit(size: int, known: dict[int, Term]) -> Vector:
    return tuple(known.get(i, ZERO) for i in range(size))


def _best(columns: list[Column], target: Vector, values: dict[str, float]) -> list[Vertex]:
    """The columns used, and the rows that are equations, at the cheapest vertices."""
    numbers = [[number(item, values) for item in column.vector] for column in columns]
    costs = [number(column.cost, values) for column in columns]
    wanted, rows = [number(item, values) for item in target], range(len(target))
    found: list[tuple[float, Vertex]] = []
    for size in range(len(target) + 1):
        for chosen in combinations(range(len(columns)), size):
            for tight in combinations(rows, size):
                matrix = [[numbers[j][i] for j in chosen] for i in tight]
                solved = _eliminated(matrix, [wanted[i] for i in tight])
                if solved is None or min(solved, default=1.0) < _CLOSE:
                    continue
                used = list(zip(chosen, solved, strict=True))
                sums = [sum(x * numbers[j][i] for j, x in used) for i in rows]
                if all(one > need - _CLOSE for one, need in zip(sums, wanted, strict=True)):
                    cost = sum(x * costs[j] for j, x in used)
                    found.append((cost, (frozenset(chosen), frozenset(tight))))
    return [vertex for _, vertex in sorted(found, key=lambda pair: pair[0])[:_FEW]]


def _eliminated(matrix: list[list[float]], right: list[float]) -> list[float] | None:
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda r: abs(rows[r][i]))
        if abs(rows[pivot][i]) < _CLOSE:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(len(rows)):
            if r != i:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[i], strict=True)]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def _solved(
    columns: list[Column], target: Vector, tight: list[int], goal: Statement
) -> list[Term] | None:
    """The same equations in terms."""
    canon = context(goal.facts).canon

    def short(item: Term) -> Term:
        return to_term(canon(item))

    rows = [[*(column.vector[i] for column in columns), target[i]] for i in tight]
    for i in range(len(rows)):
        found = [r for r in range(i, len(rows)) if not canon.is_zero(canon(rows[r][i]))]
        if not found:
            return None
        rows[i], rows[found[0]] = rows[found[0]], rows[i]
        pivot = rows[i][i]
        for r in range(len(rows)):
            if r != i and rows[r][i] is not ZERO:
                pairs = zip(rows[r], rows[i], strict=True)
                rows[r] = [short(x - rows[r][i] / pivot * y) for x, y in pairs]
                rows[r][i] = ZERO
    return [short(row[-1] / row[i]) for i, row in enumerate(rows)]


def at_kinks(premise: Sequent) -> Iterator[tuple[Hint, ...]]:
    """Beginnings of proofs of an inequality between positive parts: both signs of each."""
    known = context(premise.hypotheses)
    for item in tm.subterms(premise.goal.term):
        if item.op != "max" or item.args[1] is not ZERO:
            continue
        inside = known.canon.normal(item.args[0])
        for name in sorted(name for name in inside.vars if name.startswith("$r")):
            if known.affine(inside, name) is not None:
                yield (Split(inside),)
