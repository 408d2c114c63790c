"""Stages that are made of others: totals of many copies, and multipliers for blends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from typing import Any

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.sequents import Facts, context
from dpsym.kernel.statements import (
    Assumed,
    Blend,
    Choice,
    Filter,
    Group,
    Guarantee,
    Inner,
    Joint,
    Mechanism,
    Repeated,
    Stage,
    Statement,
)
from dpsym.kernel.terms import ONE, ZERO, Term, substitute
from dpsym.search.privacy.families import Sum, concentrated, mean_of_pure, sums
from dpsym.search.privacy.learned import consequences
from dpsym.search.privacy.sampling import divergence, whole_order

Known = Callable[[Mechanism], tuple[Guarantee, ...]]
_WRITTEN = 8  # summands
_RUNNING = 3  # totals that are kept on the way
_ADDED = ("PureDP", "RenyiDP", "RenyiDPBelowOne", "KLDP", "ZCDP")  # the last argument adds up


@dataclass(frozen=True)
class Total:
    """Many copies of ``one`` have ``many``; ``one`` follows from what is known of a copy."""

    one: Guarantee
    many: Guarantee


def totals(stage: Repeated | Group, claim: Guarantee) -> Iterator[Total]:
    """Proposals for the total of the copies, the family of the claim first."""
    if isinstance(stage.stage, Assumed):
        more = consequences(stage.stage, claim)
        yield from _totals(stage, (*more, *stage.stage.guarantees), claim)


def _totals(
    stage: Repeated | Group, each: Iterable[Guarantee], claim: Guarantee
) -> Iterator[Total]:
    made = _added if isinstance(stage, Repeated) else _chained
    known = [total for one in each for total in made(one, stage.count, claim)]
    yield from sorted(known, key=lambda total: total.many.name != claim.name)


def _with(one: Guarantee, *args: Term) -> Guarantee:
    return Guarantee(one.name, args, one.two_way, one.reverse)


def _added(one: Guarantee, count: Term, claim: Guarantee) -> Iterator[Total]:
    *first, last = (arg for arg in one.args if arg is not None)
    if one.name in _ADDED:
        yield Total(one, _with(one, *first, count * last))
    if one.name == "PureDP":
        for weaker in _from_pure(last, claim):
            yield from _added(weaker, count, claim)
    if one.name == "BoundedRange":
        yield from _added(concentrated(one), count, claim)
    if one.name == "GDP":
        yield Total(one, _with(one, tm.sqrt(count) * last))
    if one.name == "TCDP":
        yield Total(one, _with(one, count * first[0], last))
    if one.name == "ApproxDP":
        loss = count * first[0]
        yield Total(one, _with(one, loss, count * last))
        yield Total(one, _with(one, loss, 1 - tm.exp(count * tm.log(1 - last))))


def _from_pure(loss: Term, claim: Guarantee) -> Iterator[Guarantee]:
    """What pure DP gives, which adds up to less."""
    if claim.name in ("ApproxDP", "ZCDP", "RenyiDP"):
        yield Guarantee("ZCDP", (tm.power(loss, 2) / 2,))
        yield Guarantee("ZCDP", (mean_of_pure(loss),))


def _chained(one: Guarantee, count: Term, claim: Guarantee) -> Iterator[Total]:
    *first, last = (arg for arg in one.args if arg is not None)
    if one.name in ("PureDP", "GDP"):
        yield Total(one, _with(one, count * last))
    if one.name == "BoundedRange" and one.two_way:
        yield from _chained(Guarantee("PureDP", one.args), count, claim)
    if one.name == "ApproxDP":
        loss, steps = first[0], count.value
        growth = count
        if isinstance(steps, fmpq) and steps <= _WRITTEN:  # for a loss of 0 as well
            growth = tm.add(*(tm.exp(i * loss) for i in range(int(steps))))
        elif loss is not ZERO:
            growth = (tm.exp(count * loss) - 1) / (tm.exp(loss) - ONE)
        yield Total(one, _with(one, count * loss, last * growth))
    if one.name == "ZCDP":
        yield Total(one, _with(one, tm.power(count, 2) * last))


def wholes(stage: Stage | Inner, claim: Guarantee, known: Known) -> Iterator[Guarantee]:
    """What a stage that is made of others may have in all, in both directions."""
    both = replace(claim, two_way=True, reverse=False)
    if isinstance(stage, Assumed):
        yield from (*stage.guarantees, *consequences(stage, both))
    elif isinstance(stage, Mechanism):
        yield from (*known(stage), *consequences(stage, both))
    elif isinstance(stage, (Repeated, Group)):
        each = wholes(stage.stage, both, known)
        yield from (total.many for total in _totals(stage, each, both))
    elif isinstance(stage, Blend) and is_either(stage):
        yield from _mixed(stage, [list(wholes(part.stage, both, known)) for part in stage.links])
    elif isinstance(stage, Blend):
        sure = alone(stage)
        if sure is not None:
            yield from wholes(sure, both, known)
            return
        for one in wholes(stage.links[0].stage, both, known):
            yield from of_sample(stage, one, both)
    elif isinstance(stage, Filter):
        spent = {stage.name: stage.budget}
        yield from (one.substitute(spent) for one in stage.stage.guarantees)
    elif isinstance(stage, Choice):
        yield from _largest([list(wholes(part, both, known)) for part in stage.stages])
    elif isinstance(stage, Joint):
        yield from _joint([list(wholes(part, both, known)) for part in stage.stages], both)


def alone(stage: Blend) -> Inner | None:
    """What the pair is, if each side is one distribution for certain."""
    same = context(()).same
    sure = [[i for i, one in enumerate(side) if same(one, ONE)] for side in (stage.p, stage.q)]
    if [len(side) for side in sure] != [1, 1]:
        return None
    (first,), (second,) = sure
    if first == second:
        return Assumed((Guarantee("PureDP", (ZERO,)),))
    known = (x.stage for x in stage.links if (x.first, x.second) == (first, second))
    return next(known, None)


def _joint(each: list[list[Guarantee]], claim: Guarantee) -> Iterator[Guarantee]:
    """Sums of guarantees of the same kind, or of pure DP, in the claim's family first."""
    names = dict.fromkeys([claim.name, *(one.name for own in each for one in own)])
    for name in names:
        fitting = [
            [one for own in stage for one in (_as(own, name), own) if one and _may_be(one, name)]
            for stage in each
        ]
        running = sorted(fitting[0], key=lambda one: one.name != name)[:_RUNNING]
        for stage in fitting[1:]:
            found = [
                proposal.total
                for total in running
                for one in sorted(stage, key=lambda one: one.name != name)
                for proposal in [*sums(total, one, name), *concentrations(total, one)]
            ]
            running = list(dict.fromkeys(found))[:_RUNNING]
        yield from running


def _may_be(one: Guarantee, name: str) -> bool:
    return one.name in (name, "PureDP")


def _largest(each: list[list[Guarantee]]) -> Iterator[Guarantee]:
    """What all of the mechanisms have, by the first guarantees of one kind, or pure DP."""
    for name in dict.fromkeys(one.name for own in each for one in own):
        alike = [next(filter(None, (_as(one, name) for one in own)), None) for own in each]
        rows = [one.args for one in alike if one is not None and None not in one.args]
        if len(rows) == len(each):
            largest = (reduce(tm.maximum, column) for column in zip(*rows, strict=True))
            yield Guarantee(name, tuple(arg for arg in largest))  # type: ignore[arg-type]


def _as(one: Guarantee, name: str) -> Guarantee | None:
    """A guarantee of this kind, or what pure DP gives of it."""
    if one.name == "PureDP" and name == "ApproxDP":
        return Guarantee(name, (*one.args, ZERO))
    if one.name == "PureDP" and name == "ZCDP" and one.args[0] is not None:
        return Guarantee(name, (tm.power(one.args[0], 2) / 2,))
    return one if one.name == name else None


def concentrations(first: Guarantee, second: Guarantee) -> list[Sum]:
    """The sum of two zCDP guarantees: Bun and Steinke (2016), Lemma 2.3."""
    (one, *_), (two, *_) = first.args, second.args
    if {first.name, second.name} != {"ZCDP"} or one is None or two is None:
        return []
    return [Sum(first, second, Guarantee("ZCDP", (one + two,)))]


def sampled(stage: Blend, claim: Guarantee) -> Iterator[Guarantee]:
    """What a sample of a guaranteed mechanism has, by the theorems (Balle, Barthe and Gaboardi
    (2018), Theorems 8 and 9)."""
    if is_either(stage):
        yield from either(stage)
        return
    assumed = stage.links[0].stage
    for one in assumed.guarantees if isinstance(assumed, Assumed) else ():
        yield from of_sample(stage, one, claim)


def is_either(stage: Blend) -> bool:
    """Whether it is one of two pairs, each with some probability."""
    places = [(link.first, link.second) for link in stage.links]
    apart = stage.p[2:] == stage.q[:2] == (ZERO, ZERO) and stage.p[:2] == stage.q[2:]
    return places == [(0, 2), (1, 3)] and apart


def either(stage: Blend) -> Iterator[Guarantee]:
    """What one of two pairs has of which the same is known, but for delta."""
    known = (link.stage for link in stage.links)
    yield from _mixed(stage, [list(one.guarantees) for one in known if isinstance(one, Assumed)])


def of_each(single: Blend, claim: Guarantee, known: Known) -> Iterator[Guarantee]:
    """What one of two pairs needs: the epsilon that is claimed, at the delta that it has."""
    if claim.name == "PureDP":
        yield replace(claim, two_way=True, reverse=False)
    for one in wholes(single, claim, known) if claim.name == "ApproxDP" else ():
        if one.name in ("PureDP", "ApproxDP"):
            mass = one.args[1] if one.name == "ApproxDP" else ZERO
            yield Guarantee("ApproxDP", (claim.args[0], mass))


def _mixed(stage: Blend, each: list[list[Guarantee]]) -> Iterator[Guarantee]:
    for one, other in product(*each) if len(each) == 2 else ():
        (first, *masses), (second, *more) = one.args, other.args
        if one.name == other.name and one.name in ("PureDP", "ApproxDP") and first and second:
            pairs = zip(stage.p, (*masses, *more), strict=False)
            mean = [tm.add(*(w * mass for w, mass in pairs if mass))] if masses else []
            loss = first if first is second else tm.maximum(first, second)
            yield Guarantee(one.name, (loss, *mean))


def of_sample(stage: Blend, one: Guarantee, claim: Guarantee) -> Iterator[Guarantee]:
    """What a sample has by one guarantee of the mechanism."""
    rate, first, order = stage.p[0], one.args[0], whole_order(claim)
    found = None if order is None else divergence(stage, (one,), order)
    if found is not None:
        yield found
    if one.name in ("PureDP", "ApproxDP") and first is not None:
        loss = tm.log(1 + rate * (tm.exp(first) - 1))
        rest = [rate * arg for arg in one.args[1:] if arg is not None]
        yield Guarantee(one.name, (loss, *rest), claim.two_way, claim.reverse)


def before_sampling(stage: Blend, claim: Guarantee, facts: Facts) -> Guarantee | None:
    """What a mechanism must have for its sample to have what is claimed."""
    rate, first = stage.p[0], claim.args[0]
    if rate == ZERO:  # the record is never in the sample: what every mechanism has will do
        return Guarantee("ApproxDP", (ZERO, ONE))
    if claim.name not in ("PureDP", "ApproxDP") or first is None:
        return None
    normal = context(facts).canon.normal
    loss = normal(tm.log(1 + (tm.exp(first) - 1) / rate))
    rest = [normal(arg / rate) for arg in claim.args[1:] if arg is not None]
    return Guarantee(claim.name, (loss, *rest))


def by_inner_loss(goal: Statement) -> tuple[Statement, tuple[tuple[str, Term], ...]] | None:
    """A claim of a sample of an explicit mechanism, with the mechanism's epsilon for a parameter,
    and what that is in terms of the sample's epsilon."""
    (stage, *more), (claim, *others) = goal.stages, goal.claims
    explicit = isinstance(stage, Blend) and isinstance(stage.links[0].stage, Mechanism)
    first = claim.args[0] if claim.name == "ApproxDP" else None
    if more or others or not explicit or first is None or first.op != "var":
        return None
    assert isinstance(stage, Blend)
    if stage.p[0] == ZERO:  # nothing is sampled
        return None
    name, rate = str(first.value), stage.p[0]
    about = [fact for fact in goal.facts if name in fact.term.vars]
    if any(fact.term is not first for fact in about) or name in rate.vars:
        return None
    loss = tm.log(1 + rate * (tm.exp(first) - 1))
    args = tuple(substitute(arg, {name: loss}) for arg in claim.args if arg is not None)
    statement = replace(goal, claims=(replace(claim, args=args),))
    back = tm.log(1 + (tm.exp(first) - 1) / rate)
    mapping = tuple((own, back if own == name else tm.var(own)) for own, _ in goal.variables)
    return statement, mapping


def parts(goal: Statement, stage: Repeated | Group) -> Iterator[dict[str, Any]]:
    """A group as two halves: with what is given, or with twice the order and a third of the bound
    (Mironov (2017), Proposition 11)."""
    (claim,), count = goal.claims, stage.count.value
    if not isinstance(stage, Group) or not isinstance(count, fmpq) or count < 2:
        return
    half = int(count) // 2
    if count == 2 and isinstance(stage.stage, Assumed):
        given = stage.stage.guarantees
        yield {"first": half, "before": given, "after": given}
    order, bound = claim.args[0], claim.args[-1]
    if claim.name == "RenyiDP" and int(count) % 2 == 0 and order is not None and bound is not None:
        normal = context(goal.facts).canon.normal
        less = Guarantee("RenyiDP", (normal(2 * order), normal(bound / 3)))
        yield {"first": half, "before": (less,), "after": (less,)}
