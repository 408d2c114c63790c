"""Parameters of the tower rule: multipliers for all stages, from coarse to sharp."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from dpsym.kernel.definitions import Form, Moment, constraints
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules_privacy import Multipliers, StageData, assumed, stage_data
from dpsym.kernel.sequents import Facts
from dpsym.kernel.statements import Statement
from dpsym.kernel.terms import ONE, ZERO, Term
from dpsym.search.forms import low
from dpsym.search.privacy import envelopes
from dpsym.search.privacy.multipliers import (
    Row,
    Value,
    at_both_nodes,
    at_kink_and_end,
    at_start_and_kink,
    at_upper_node,
    below_power,
    by_mass,
    by_one,
    exactly,
    value_after,
    value_of,
)
from dpsym.search.samples import number, points

Phi = Value | Form
Peel = Callable[[Phi, StageData, Facts, bool], tuple[Row, Phi] | None]
_TOLERANCE = 1e-9


def plans(goal: Statement) -> Iterator[dict[str, Any]]:
    """Parameters whose bound meets the claim at sample points, the simplest first."""
    (claim,) = goal.claims
    (moment,) = constraints(claim)
    if not isinstance(moment, Moment):
        return
    stages = [stage_data(stage) for stage in assumed(goal, "tower")]
    if any(_infinite(moment.form, stages)):
        return
    samples = points(goal.variables, goal.facts)
    below = low(moment.form, goal.facts)
    seen: list[object] = []
    proposed = _rows(moment.form, stages, goal.facts)
    if len(stages) == 1:
        proposed = chain(proposed, _envelopes(moment, stages[0], goal.facts))
    for rows, bound in proposed:
        if rows in seen:
            continue
        seen.append(rows)
        if not _meets(bound, moment.bound, samples):
            continue
        multipliers = tuple(Multipliers(*row, larger) for row, larger in rows)
        yield {"multipliers": multipliers, "low": below}


def _infinite(form: Form, stages: list[StageData]) -> Iterator[bool]:
    live = frozenset().union(*(stage.live for stage in stages))
    for ray in live:
        yield form.on(ray) is None


def _meets(bound: Term, claimed: Term, samples: list[dict[str, float]]) -> bool:
    for values in samples:
        gap = number(claimed - bound, values)
        scale = 1 + abs(number(claimed, values))
        if not math.isnan(gap) and gap < -_TOLERANCE * scale:
            return False
    return True


Rows = tuple[tuple[Row, Form | None], ...]


def _envelopes(found: Moment, stage: StageData, facts: Facts) -> Iterator[tuple[Rows, Term]]:
    for row in envelopes.rows(found, stage, facts):
        yield ((row, None),), found.bound


def _rows(phi: Form, stages: list[StageData], facts: Facts) -> Iterator[tuple[Rows, Term]]:
    """Rows of multipliers for all stages, and the bound that they give."""
    if len(stages) == 1:
        for row in by_one(stages[0]):
            yield ((row, None),), value_after(row, stages[0], facts, False).at(ONE)
    for peel in (_simple, _sharp, _chord, _mass, _one_kink, _other_kink):
        found = _peeled(phi, stages, facts, peel)
        if found is not None:
            yield found


def _peeled(
    phi: Form, stages: list[StageData], facts: Facts, peel: Peel
) -> tuple[Rows, Term] | None:
    current: Phi = value_of(phi) or phi
    rows: list[tuple[Row, Form | None]] = []
    for k in range(len(stages) - 1, -1, -1):
        try:
            found = peel(current, stages[k], facts, k > 0)
        except Refusal:
            return None
        if found is None:
            return None
        row, current = found
        after = _form(current)
        if k == 0:
            row = _first(row)
        rows.insert(0, (row, after if k > 0 else None))
    after = _form(current)
    return tuple(rows), after.at(ONE)


def _first(row: Row) -> Row:
    """The first stage has no earlier ones: its multipliers are constants, at ratio 1."""

    def constant(form: Form) -> Form:
        return Form(form.at(ONE), ZERO, ZERO)

    return constant(row[0]), constant(row[1]), tuple(map(constant, row[2]))


def _smooth(phi: Form, data: StageData, facts: Facts, inner: bool) -> tuple[Row, Phi] | None:
    row = exactly(phi, data, facts, inner) or at_start_and_kink(phi, data, facts)
    return None if row is None else (row, value_after(row, data, facts, True))


def _simple(phi: Phi, data: StageData, facts: Facts, inner: bool) -> tuple[Row, Phi] | None:
    if isinstance(phi, Value):
        found = at_upper_node(phi, data, facts, keep_weights=True)
        return found or next(below_power(phi, data, facts, tangent=False), None)
    return _smooth(phi, data, facts, inner)


def _sharp(phi: Phi, data: StageData, facts: Facts, inner: bool) -> tuple[Row, Phi] | None:
    if isinstance(phi, Value):
        found = at_upper_node(phi, data, facts, keep_weights=False)
        return found or next(below_power(phi, data, facts, tangent=True), None)
    return _smooth(phi, data, facts, inner)


def _mass(phi: Phi, data: StageData, facts: Facts, inner: bool) -> tuple[Row, Phi] | None:
    return by_mass(phi, data) if isinstance(phi, Value) else None


def _one_kink(phi: Phi, data: StageData, facts: Facts, inner: bool) -> tuple[Row, Phi] | None:
    row = at_start_and_kink(_form(phi), data, facts)
    return None if row is None else (row, value_after(row, data, facts, True))


def _other_kink(phi: Phi, data: StageData, facts: Facts, inner: bool) -> tuple[Row, Phi] | None:
    row = at_kink_and_end(_form(phi), data, facts)
    return None if row is None else (row, value_after(row, data, facts, True))


def _form(phi: Phi) -> Form:
    return phi.form() if isinstance(phi, Value) else phi


def _chord(phi: Phi, data: StageData, facts: Facts, inner: bool) -> tuple[Row, Phi] | None:
    form = _form(phi)
    row = at_both_nodes(form, data, facts) or exactly(form, data, facts, inner)
    return None if row is None else (row, value_after(row, data, facts, True))
