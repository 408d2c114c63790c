"""Whether anything at all meets the conditions of a claim: values of its parameters, and
distributions with the guarantees that are given."""

from __future__ import annotations

from collections.abc import Iterator

from dpsym.goals import guarantee_text
from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import Moment, T, constraints
from dpsym.kernel.proofs import Lemma
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Facts, Sequent
from dpsym.kernel.statements import RATIO, Assumed, Fact, Guarantee, Statement, singles
from dpsym.kernel.terms import ONE, derivative, substitute
from dpsym.scope import Scope
from dpsym.search import leaf
from dpsym.search.samples import points, sign
from dpsym.verdicts import Vacuous

__all__ = ["no_pair", "no_values"]

_DOMAIN_SECONDS, _DOMAIN = 5.0, 0.3  # at most, and of the time
_PAIR_SECONDS, _PAIR = 2.0, 0.1
_SAMPLES = 3


def no_values(scope: Scope, facts: Facts, text: str, limit: float) -> Vacuous | None:
    """The verdict if no values of the parameters satisfy the conditions."""
    if scope.vacuous:
        return Vacuous(text, reason="a condition of where is false")
    if points(scope.variables, facts, count=1):
        return None
    seconds = min(_DOMAIN_SECONDS, _DOMAIN * limit)
    answer = leaf.prove(Sequent(facts, Fact(tm.MINUS_ONE, ">=")), seconds)
    if isinstance(answer, Lemma):
        return Vacuous(text, reason="the conditions contradict each other")
    return None


def no_pair(statement: Statement, text: str, limit: float) -> Vacuous | None:
    """The verdict if no pair of distributions has a guarantee that is given.

    Only a moment of the user's own can be of that kind: equal distributions have all others. For a
    convex function they have the smallest moment, by Jensen's inequality, so that none has a bound
    below it."""
    for guarantee in dict.fromkeys(_given(statement)):
        for item in constraints(guarantee):
            if isinstance(item, Moment) and _impossible(statement, item, limit):
                said = guarantee_text(guarantee)
                return Vacuous(text, reason=f"no pair of distributions has {said}")
    return None


def _given(statement: Statement) -> Iterator[Guarantee]:
    for stage in statement.stages:
        for single in singles(stage):
            if isinstance(single, Assumed):
                yield from (one for one in single.guarantees if one.name == "MomentBound")


def _impossible(statement: Statement, item: Moment, limit: float) -> bool:
    """Whether the function is convex, above a line with which it meets at p = q, and the bound is
    below its value there."""
    facts, form = statement.facts, item.form
    try:
        least = form.at(ONE)
        short = Fact(least - item.bound, ">")
        if any(
            sign(short.term, values) <= 0
            for values in points(statement.variables, facts, count=_SAMPLES)
        ):
            return False
        slope = substitute(derivative(form.f, RATIO), {RATIO: ONE})
        goals = [Sequent(facts, short)]
        line = least + slope * (T - 1)
        goals.append(Sequent((*facts, Fact(T, ">")), Fact(form.f - line, ">=")))
        for ray, value in ((form.at_p, slope), (form.at_q, least - slope)):
            goals += [] if ray is None else [Sequent(facts, Fact(ray - value, ">="))]
        seconds = min(_PAIR_SECONDS, _PAIR * limit)
        return all(isinstance(leaf.prove(goal, seconds), Lemma) for goal in goals)
    except (Refusal, ArithmeticError):
        return False
