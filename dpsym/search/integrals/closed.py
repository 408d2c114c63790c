"""Closed forms of integrals over one pair, by the case distinctions that they need."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import Moment, constraints
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import step
from dpsym.kernel.rules_privacy import is_integer
from dpsym.kernel.sequents import Facts, Sequent, context
from dpsym.kernel.statements import (
    INTEGER,
    REAL,
    Fact,
    Guarantee,
    Mechanism,
    Pair,
    Statement,
    replaced,
)
from dpsym.kernel.terms import ZERO, Term, var
from dpsym.search import leaf
from dpsym.search.integrals.inferences import Inference, fresh, inferences, settled
from dpsym.search.integrals.plans import NoPlan, NoSamples
from dpsym.search.integrals.sampling import is_largest, parameters
from dpsym.search.leaf.lowest import reduced

__all__ = ["Case", "cases", "extremes", "joined", "largest", "moment", "reversed_pair"]

_BOUND = "bound"
_MOST_CASES, _SAMPLES = 16, 40


@dataclass(frozen=True)
class Case:
    """Where the ``conditions`` hold and those of no case before it, the integral is ``total``;
    ``floors`` are the names in it of the integer parts of terms."""

    conditions: tuple[Fact, ...]
    total: Term
    floors: tuple[tuple[str, Term], ...] = ()


def moment(f: Term, at_p: Term | None, bound: Term = ZERO) -> Guarantee:
    """The claim that the integral of q f(p/q) is at most the bound."""
    return Guarantee("MomentBound", (f, at_p, bound), two_way=False)


@lru_cache(maxsize=200)
def cases(goal: Statement) -> tuple[Case, ...] | None:
    """The integral in the goal's only claim, whose bound is zero and whose mechanism is one pair;
    None if a part of it is not found. Cases without sample values of the parameters are taken to
    be impossible."""
    found: list[Case] = []
    (claim,), name = goal.claims, fresh(goal, _BOUND)
    claim = replace(claim, args=(*claim.args[:-1], var(name)))  # by which the premise is told
    goal = replace(goal, variables=(*goal.variables, (name, REAL)), claims=(claim,))
    for case in _cases(goal, name):
        if case is None or len(found) == _MOST_CASES:
            return None
        found.append(case)
    if not found:
        return None
    return tuple(replace(case, conditions=_needed(case, goal.facts)) for case in found)


def _needed(case: Case, facts: Facts) -> tuple[Fact, ...]:
    """The conditions of a case without the strict ones, which only exclude the cases before it,
    and without those that follow from others."""
    kept = tuple(fact for fact in case.conditions if fact.rel == ">=")
    for fact in kept:
        others = tuple(one for one in kept if one is not fact)
        if leaf.easy(Sequent((*facts, *others), fact)):
            kept = others
    return kept


def _cases(goal: Statement, name: str) -> Iterator[Case | None]:
    try:
        yield from _cases_by_rules(goal, name)
    except NoSamples:
        return


def _cases_by_rules(goal: Statement, name: str) -> Iterator[Case | None]:
    for rule, given in _possible(goal):
        if rule == "either" and settled(goal, given["item"]):
            continue
        try:
            premises = step(goal, rule, given)
        except Refusal:
            continue
        statements = [item for item in premises if isinstance(item, Statement)]
        if rule in ("masses", "integral"):
            for one in premises:
                if isinstance(one, Sequent) and name in one.goal.term.vars:
                    total = tm.substitute(-one.goal.term, {name: ZERO})
                    yield Case((), reduced(context(goal.facts).canon, total))
                    return
            continue
        groups = [[*islice(_cases(inner, name), _MOST_CASES + 1)] for inner in statements]
        if rule == "either" and not all(groups):  # one of the sides is impossible
            yield from (case for group in groups for case in group)
            return
        single = _one_form(goal, statements, groups) if rule == "either" else None
        if single is not None:
            yield single
            return
        for index, group in enumerate(groups):
            for case in group:
                yield (
                    None if case is None else _back(case, rule, given, index, dict(goal.variables))
                )
        return
    yield None


def _one_form(
    goal: Statement, sides: list[Statement], groups: list[list[Case | None]]
) -> Case | None:
    """The second of two cases, if its total is right in the first as well: as it is, or where the
    first leaves only one value to a variable."""
    if [len(group) for group in groups] != [1, 1]:
        return None
    ((one,), (two,)) = groups
    if one is None or two is None or (*one.conditions, *one.floors, *two.conditions, *two.floors):
        return None
    names = _fixed(sides[0])
    for facts, at in ((goal.facts, {}), (sides[0].facts, names)):
        try:
            if context(facts).same(tm.substitute(one.total, at), tm.substitute(two.total, at)):
                return two
        except Refusal:  # not defined there
            continue
    return None


def _fixed(goal: Statement) -> dict[str, Term]:
    """The one value that the facts leave to a variable, if there is one."""
    for rule, given in _possible(goal):
        if rule == "equal":
            return {str(given["name"]): given["value"]}
        if rule == "either" and not settled(goal, given["item"]):
            sides = [side for side in step(goal, rule, given) if isinstance(side, Statement)]
            left = [one for one in sides if parameters(one.variables, one.facts, _SAMPLES)]
            return _fixed(left[0]) if len(left) == 1 else {}
    return {}


def _possible(goal: Statement) -> Iterator[Inference]:
    try:
        yield from inferences(goal)
    except NoSamples:
        raise
    except NoPlan:
        return


def _back(
    case: Case, rule: str, parameters: dict[str, object], index: int, kinds: dict[str, str]
) -> Case:
    """The case of a premise in the variables of the goal, of these kinds."""
    if rule == "either":
        item = parameters["item"]
        sign = item if isinstance(item, Term) else ZERO
        side = Fact(sign, ">=") if index == 0 else Fact(-sign, ">")
        return replace(case, conditions=(side, *case.conditions))
    value = parameters.get("value")
    if rule == "named" and isinstance(value, Term):
        name = str(parameters["name"])
        if parameters["kind"] == INTEGER and not is_integer(value, kinds):
            return replace(case, floors=((name, value), *case.floors))
        facts = tuple(fact.substitute({name: value}) for fact in case.conditions)
        floors = tuple((n, tm.substitute(item, {name: value})) for n, item in case.floors)
        return Case(facts, tm.substitute(case.total, {name: value}), floors)
    return case


# -- the largest divergence of a family of pairs


def largest(goal: Statement) -> Guarantee | None:
    """The goal's claim, a bound of one moment, with the moment of the worst pair at an end of its
    shift as the bound; None if that is not found."""
    (stage,), (claim,) = goal.stages, goal.claims
    build = _BOUNDS.get(claim.name)
    if build is None or not isinstance(stage, Mechanism):
        return None
    forward = constraints(replace(claim, two_way=False, reverse=False))[0]
    if not isinstance(forward, Moment):
        return None
    wanted = moment(forward.form.f, forward.form.at_p)
    totals = []
    for pair in stage.pairs:
        for end in extremes(pair, goal.facts):
            ways = (end, reversed_pair(end))
            for way in ways if claim.two_way else ways[claim.reverse : claim.reverse + 1]:
                alone = replace(goal, stages=(Mechanism((way,)),), claims=(wanted,))
                found = cases(alone)
                if not found or any(case.floors for case in found):
                    return None
                totals.append(joined(found))
    totals = list(dict.fromkeys(context(goal.facts).canon.normal(total) for total in totals))
    samples = parameters(goal.variables, goal.facts, _SAMPLES)
    for total in totals:
        if is_largest(total, totals, samples):
            return replace(claim, args=build(claim.args, total))
    return None


Args = tuple[Term | None, ...]
_BOUNDS: dict[str, Callable[[Args, Term], Args]] = {
    "ApproxDP": lambda args, total: (args[0], total),
    "RenyiDP": lambda args, total: (args[0], _renyi(args[0], total)),
    "RenyiDPBelowOne": lambda args, total: (args[0], _renyi(args[0], -total)),
    "KLDP": lambda args, total: (total,),
}


def _renyi(order: Term | None, total: Term) -> Term:
    return ZERO if order is None else tm.log(total) / (order - 1)


def extremes(pair: Pair, facts: Facts) -> list[Pair]:
    """The pair at both ends of its only variable, or the pair itself if it has none; nothing if it
    has several or no ends."""
    if not pair.variables:
        return [pair]
    if len(pair.variables) > 1:
        return []
    ((name, _),) = pair.variables
    known, out = context((*facts, *pair.facts)), []
    for fact in pair.facts:
        split = known.affine(fact.term, name)
        if split is None:
            return []
        at = {name: split[1]}
        out.append(replaced(replace(pair, variables=(), facts=()), at))
    return out


def reversed_pair(pair: Pair) -> Pair:
    """P and Q exchanged."""
    return replace(pair, regions=tuple(replace(r, p=r.q, q=r.p) for r in pair.regions))


def joined(found: tuple[Case, ...]) -> Term:
    """The total by cases, as one term."""
    out = found[-1].total
    for case in reversed(found[:-1]):
        if case.total is not out:
            value = case.total
            for fact in reversed(case.conditions):
                value = tm.ite(fact.term, value, out)
            out = value
    return out
