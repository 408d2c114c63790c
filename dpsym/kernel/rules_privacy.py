"""The rules of the privacy calculus: premises of a statement are statements and sequents.

In the texts, F are the statement's facts, S its stages, ``=>`` stands for "have", and D(e | F) for
the sequents that make e defined where F holds.

Invariant: the facts are defined in order, and where they hold, every argument of a guarantee is
defined and its definition's conditions hold. ``statement_obligations`` lists what that needs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from dpsym.kernel import definitions as df
from dpsym.kernel import kinds as kd
from dpsym.kernel import sequents as sq
from dpsym.kernel import statements as st
from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import P_RAY, Q_RAY, Form, Moment, Range, Support, T, constraints
from dpsym.kernel.kinds import INDEX, NAME, TERM, ListKind, MaybeKind, RowKind
from dpsym.kernel.refusal import expect, require
from dpsym.kernel.rules import Goal, privacy_rule
from dpsym.kernel.sequents import Facts, Sequent, context, obligations, with_facts
from dpsym.kernel.statements import (
    Assumed,
    Blend,
    Fact,
    Filter,
    Group,
    Guarantee,
    Mechanism,
    Pair,
    Processed,
    Repeated,
    Stage,
    Statement,
)
from dpsym.kernel.terms import ONE, ZERO, Term, substitute

S = tm.var(st.PREFIX)
MOST = 6  # distributions in a blend
THEOREM = kd.EarlierKind()
FORM = RowKind((TERM, MaybeKind(TERM), MaybeKind(TERM)), Form)
Wanted = TypeVar("Wanted")


# -- well-formed statements


def statement_obligations(statement: Statement) -> list[Sequent]:
    """Refuses a statement that is not well formed; returns what makes it defined."""
    kd.STATEMENT.check(statement)
    names = declared(statement.variables)
    within(names, *(fact.term for fact in statement.facts))
    require(bool(statement.stages), "statement", "at least one stage")
    require(bool(statement.claims), "statement", "at least one claim")
    out = sq.defined(statement.facts)
    for stage in statement.stages:
        for shape in st.shapes(stage):
            out += _shape_obligations(statement, names, shape)
        inside = spending(statement, stage) if isinstance(stage, Filter) else statement
        for single in st.singles(stage):
            if isinstance(single, Mechanism):
                for pair in single.pairs:
                    out += _pair_obligations(statement, names, pair)
            else:
                out += guarantee_obligations(inside, *single.guarantees)
    out += guarantee_obligations(statement, *statement.claims)
    return list(dict.fromkeys(out))


def _shape_obligations(
    statement: Statement, names: frozenset[str], stage: Stage | st.Joint
) -> list[Sequent]:
    """A whole number of copies, at least one; weights that are nonnegative, with sum 1."""
    given, out = statement.facts, list[Sequent]()
    if isinstance(stage, (Repeated, Group)):
        whole = is_integer(stage.count, dict(statement.variables))
        require(whole, "statement", "a whole number", stage.count)
        out = shown(given, stage.count - 1)
    elif isinstance(stage, (st.Joint, st.Choice)):
        require(bool(stage.stages), "statement", "at least one stage", stage)
    elif isinstance(stage, Filter):
        within(names, stage.budget)
        out = obligations(given, stage.budget)
    elif isinstance(stage, Blend):
        count, places = len(stage.p), [(link.first, link.second) for link in stage.links]
        require(0 < count == len(stage.q) <= MOST, "statement", f"1 to {MOST} weights each", count)
        for place in places:
            require(place[0] != place[1], "statement", "links of two distributions", place)
            require(max(place) < count, "statement", "links of distributions with weights", place)
        within(names, *stage.p, *stage.q)
        for weights in (stage.p, stage.q):
            rest = tm.add(*weights) - 1
            out += [one for item in (*weights, rest, -rest) for one in shown(given, item)]
    return out


def spending(statement: Statement, stage: Filter) -> Statement:
    """The statement with a value that a filter allows."""
    x = tm.var(stage.name)
    facts = Fact(x, ">="), Fact(stage.budget - x, ">=")
    return with_variable(replace(statement, stages=()), stage.name, facts, statement.claims[0])


def declared(variables: tuple[tuple[str, str], ...]) -> frozenset[str]:
    names = frozenset(name for name, _ in variables)
    require(len(names) == len(variables), "statement", "variables declared once", variables)
    for name in names:
        require("$" not in name, "statement", "names without $", name)
    return names


def within(names: frozenset[str], *items: Term) -> None:
    for item in items:
        unknown = sorted(item.vars - names)
        require(not unknown, "statement", "declared variables only", unknown)


def guarantee_obligations(statement: Statement, *guarantees: Guarantee) -> list[Sequent]:
    """What makes the arguments defined and the definitions' conditions hold."""
    names = declared(statement.variables)
    out: list[Sequent] = []
    for guarantee in guarantees:
        df.definition(guarantee)
        for i, arg in enumerate(guarantee.args):
            function = guarantee.name == "MomentBound" and i == 0  # a term in $t > 0 too
            if arg is not None:
                within(names | {st.RATIO} if function else names, arg)
                given = with_facts(statement.facts, *([Fact(T, ">")] if function else []))
                out += obligations(given, arg)
        out += sq.unless_evident(statement.facts, *df.conditions(guarantee))
    return out


def _pair_obligations(statement: Statement, names: frozenset[str], pair: Pair) -> list[Sequent]:
    inner = declared(pair.variables)
    require(not inner & names, "statement", "fresh names for a pair's variables", sorted(inner))
    names |= inner
    given = statement.facts + pair.facts
    within(names, *(fact.term for fact in pair.facts))
    out = sq.defined(given)
    for region in pair.regions:
        outputs = () if region.output is None else ((region.output, st.REAL),)
        weights = () if region.weight is None else (region.weight,)
        fresh = region.output not in names
        require(fresh, "statement", "a fresh name for the output", region.output)
        require(not (outputs and weights), "statement", "no weight for a density", weights)
        fits = bool(outputs) or not region.facts
        require(fits, "statement", "no facts about atoms", region.facts)
        known, inside = names | declared(outputs), given + region.facts
        within(names, *weights)
        within(known, region.p, region.q, *(fact.term for fact in region.facts))
        out += obligations(given, *weights) + sq.defined(inside)
        out += obligations(inside, region.p, region.q)
    return out


# -- the parts of a goal


def only_claim(goal: Statement, rule: str) -> Guarantee:
    require(len(goal.claims) == 1, rule, "a statement with one claim", len(goal.claims))
    df.definition(goal.claims[0])
    return goal.claims[0]


def claimed(goal: Statement, rule: str, kind: type[Wanted], what: str) -> Wanted:
    """The constraint that the only claim is, in one direction."""
    claim = only_claim(goal, rule)
    require(not claim.two_way, rule, "a claim in one direction", claim)
    found = constraints(claim)
    return expect(kind, found[0] if found else claim, rule, what)


def assumed(statement: Statement, rule: str) -> tuple[Assumed, ...]:
    """The stages, all of which are assumed guarantees."""
    what = "stages that are guarantees"
    return tuple(expect(Assumed, stage, rule, what) for stage in statement.stages)


def is_integer(item: Term, kinds: dict[str, str]) -> bool:
    """Whether the term is built from integers so that it is evidently one."""
    if item.op == "num":
        return bool(item.value.q == 1)
    if item.op == "var":
        return kinds.get(item.value) == st.INTEGER
    fits = item.op in ("add", "mul", "max", "min") or (item.op == "pow" and item.value > 0)
    return fits and all(is_integer(arg, kinds) for arg in item.args)


def with_variable(
    goal: Statement, name: str, facts: Facts, claim: Guarantee, kind: str = st.REAL
) -> Statement:
    """The goal with one more variable, which occurs nowhere in it, and another claim."""
    names = set(declared(goal.variables))
    for single in (single for stage in goal.stages for single in st.singles(stage)):
        for pair in single.pairs if isinstance(single, Mechanism) else ():
            names |= {*dict(pair.variables), *(r.output for r in pair.regions if r.output)}
    names |= {stage.name for stage in goal.stages if isinstance(stage, Filter)}
    require(name not in names and "$" not in name, "statement", "a new variable", name)
    variables = (*goal.variables, (name, kind))
    return Statement(variables, with_facts(goal.facts, *facts), goal.stages, (claim,))


# -- structure


@privacy_rule()
def claims(goal: Statement) -> list[Goal]:
    """F, S => A   F, S => B
    ---------------------
    F, S => A and B

    Fails for a single claim.
    """
    require(len(goal.claims) > 1, "claims", "several claims", len(goal.claims))
    return [replace(goal, claims=(claim,)) for claim in goal.claims]


@privacy_rule()
def forward(goal: Statement) -> list[Goal]:
    """F, S => claim for (P, Q)
    ------------------------- every guarantee in S is two-way
    F, S => claim for (P, Q) and (Q, P)

    since then exchanging P and Q leaves S as it is. Fails when a stage is not symmetric.
    """
    claim = only_claim(goal, "forward")
    require(claim.two_way, "forward", "a two-way claim", claim)
    for stage in goal.stages:
        require(not isinstance(stage, Blend), "forward", "stages that are symmetric", stage)
        for part in st.parts(stage):
            own = isinstance(part, Assumed) and all(g.two_way for g in part.guarantees)
            require(own, "forward", "stages with two-way guarantees", stage)
    return [replace(goal, claims=(replace(claim, two_way=False),))]


@privacy_rule()
def directions(goal: Statement) -> list[Goal]:
    """F, S => claim for (P, Q)   F, S => claim for (Q, P)
    ---------------------------------------------------
    F, S => claim for (P, Q) and (Q, P)

    Fails when the claim is one-way.
    """
    claim = only_claim(goal, "directions")
    require(claim.two_way, "directions", "a two-way claim", claim)
    both = (replace(claim, two_way=False, reverse=reverse) for reverse in (False, True))
    return [replace(goal, claims=(one,)) for one in both]


@privacy_rule(name=NAME, bound=kd.whole(-(10**9), 10**9))
def integers(goal: Statement, name: str, bound: int) -> list[Goal]:
    """F |- n - c > 0   F, n - (c + 1) >= 0, S => claim
    ------------------------------------------------ n an integer variable, c a whole number
    F, S => claim

    Fails when n is not declared an integer.
    """
    require((name, st.INTEGER) in goal.variables, "integers", "an integer variable", name)
    above, stronger = Fact(tm.var(name) - bound, ">"), Fact(tm.var(name) - (bound + 1), ">=")
    return [Sequent(goal.facts, above), replace(goal, facts=with_facts(goal.facts, stronger))]


@privacy_rule(name=NAME)
def every(goal: Statement, name: str) -> list[Goal]:
    """F, facts of x, S => member(x)
    ----------------------------- x new
    F, S => family

    Fails when the claim is not a family or x is not new.
    """
    claim = only_claim(goal, "every")
    found = expect(tuple, df.member(claim, tm.var(name)), "every", "a claim that is a family")
    return [with_variable(goal, name, *found)]


@privacy_rule(stage=INDEX, guarantee=INDEX, value=TERM)
def specialise(goal: Statement, stage: int, guarantee: int, value: Term) -> list[Goal]:
    """D(e | F)   F |- facts of e   F, S with member(e) => claim
    ---------------------------------------------------------
    F, S with family => claim

    Fails when that guarantee is not a family.
    """
    stages = assumed(goal, "specialise")
    require(stage < len(stages), "specialise", "the index of a stage", stage)
    given = stages[stage].guarantees
    require(guarantee < len(given), "specialise", "the index of a guarantee", guarantee)
    within(declared(goal.variables), value)
    found = df.member(given[guarantee], value)
    facts, one = expect(tuple, found, "specialise", "a guarantee that is a family")
    more = replace(goal, stages=(*stages[:stage], Assumed((*given, one)), *stages[stage + 1 :]))
    return [*obligations(goal.facts, value), *(Sequent(goal.facts, f) for f in facts), more]


@privacy_rule(first=INDEX, last=INDEX, guarantees=kd.GUARANTEES)
def cut(goal: Statement, first: int, last: int, guarantees: tuple[Guarantee, ...]) -> list[Goal]:
    """D(G | F)   F, S_i..S_j => G   F, S_1..S_(i-1), G, S_(j+1)..S_n => claim
    -----------------------------------------------------------------------
    F, S_1..S_n => claim

    since for fixed earlier outputs, stages i to j are one mechanism. Fails for an empty range.
    """
    require(first <= last < len(goal.stages), "cut", "a range of stages", first, last)
    require(bool(guarantees), "cut", "at least one guarantee", guarantees)
    stages = (*goal.stages[:first], Assumed(guarantees), *goal.stages[last + 1 :])
    return [
        *guarantee_obligations(goal, *guarantees),
        replace(goal, stages=goal.stages[first : last + 1], claims=guarantees),
        replace(goal, stages=stages),
    ]


@privacy_rule(theorem=THEOREM, mapping=ListKind(RowKind((NAME, TERM))))
def use(goal: Statement, theorem: object, mapping: tuple[tuple[str, Term], ...]) -> list[Goal]:
    """D(s | F)   F |- F'[s]
    --------------------- F', S' => claim' was proved; S has what S'[s] says, claim is claim'[s]
    F, S => claim

    Fails when a stage lacks a guarantee, the claims differ, or an integer variable gets a term that
    is not evidently an integer.
    """
    known: Statement = theorem.statement  # type: ignore[attr-defined]
    names, kinds = dict(mapping), dict(known.variables)
    require(set(names) == set(kinds), "use", "a term for each variable", sorted(names))
    within(declared(goal.variables), *names.values())
    for name, value in names.items():
        whole = kinds[name] == st.REAL or is_integer(value, dict(goal.variables))
        require(whole, "use", "an integer for an integer", value)
    require(len(known.stages) == len(goal.stages), "use", "as many stages", len(known.stages))
    for known_stage, stage in zip(known.stages, goal.stages, strict=True):
        _same_shape(goal.facts, known_stage, stage, names)
        for one, two in zip(st.parts(known_stage), st.parts(stage), strict=True):
            if not isinstance(one, Assumed):
                require(st.replaced(one, names) == two, "use", "the same mechanism", two)
                continue
            needed, given = one, expect(Assumed, two, "use", "a stage of guarantees")
            for wanted in (guarantee.substitute(names) for guarantee in needed.guarantees):
                have = any(_implies(goal.facts, other, wanted) for other in given.guarantees)
                require(have, "use", "a stage with the guarantee", wanted)
    proved = [claim.substitute(names) for claim in known.claims]
    for claim in goal.claims:
        have = any(_implies(goal.facts, other, claim) for other in proved)
        require(have, "use", "the claim of the theorem", claim)
    facts = (fact.substitute(names) for fact in known.facts)
    return [*obligations(goal.facts, *names.values()), *sq.unless_evident(goal.facts, *facts)]


def _same_shape(facts: Facts, known: Stage, stage: Stage, names: dict[str, Term]) -> None:
    """Refuses stages that differ in more than their guarantees."""
    require(type(known) is type(stage), "use", "a stage of the same kind", stage)
    places, terms = list[object](), []
    for one in (known, stage):
        links = one.links if isinstance(one, Blend) else ()
        places.append([(link.first, link.second) for link in links])
        terms.append((*one.p, *one.q) if isinstance(one, Blend) else ())
        if isinstance(one, (Repeated, Group)):
            terms[-1] = (one.count,)
        if isinstance(one, Filter):
            places[-1], terms[-1] = one.name, (one.budget,)
    same = places[0] == places[1] and len(terms[0]) == len(terms[1])
    same = same and all(_equal(facts, substitute(a, names), b) for a, b in zip(*terms, strict=True))
    require(same, "use", "a stage of the same shape", stage)


def _implies(facts: Facts, given: Guarantee, wanted: Guarantee) -> bool:
    """Whether the guarantees are the same, or the given one has one direction more."""
    if given.name != wanted.name or len(given.args) != len(wanted.args):
        return False
    if not given.two_way and (wanted.two_way or given.reverse != wanted.reverse):
        return False
    return all(_equal(facts, a, b) for a, b in zip(given.args, wanted.args, strict=True))


def _equal(facts: Facts, first: Term | None, second: Term | None) -> bool:
    if first is None or second is None or first is second:
        return first is second
    ratio = st.RATIO in first.vars | second.vars
    canon = context(with_facts(facts, Fact(T, ">")) if ratio else facts).canon
    return canon.is_zero(canon(first - second))


# -- the calculus


@dataclass(frozen=True)
class StageData:
    """A stage in the calculus: facts about its ratio, its moments, the rays that may carry mass."""

    facts: Facts
    supports: tuple[Support, ...]
    moments: tuple[Moment, ...]
    live: frozenset[str]


def stage_data(stage: Assumed) -> StageData:
    """Both directions of every guarantee, built in one place."""
    found = tuple(dict.fromkeys(item for g in stage.guarantees for item in constraints(g)))
    supports = tuple(item for item in found if isinstance(item, Support))
    moments = tuple(item for item in found if isinstance(item, Moment))
    return StageData(tuple(s.fact for s in supports), supports, moments, df.live_rays(found))


@privacy_rule(bounds=ListKind(TERM))
def support(goal: Statement, bounds: tuple[Term, ...]) -> list[Goal]:
    """F, t > 0, facts of stage i |- k_i - ratio >= 0   F |- e^epsilon - product k_i >= 0
    --------------------------------------------------------------------------------
    F, S => PureDP(epsilon) in one direction

    Fails when the ray on which the ratio is infinite may carry mass at some stage.
    """
    found = claimed(goal, "support", Support, "a claim about the support")
    stages = assumed(goal, "support")
    require(len(bounds) == len(stages), "support", "a bound for each stage", len(bounds))
    within(declared(goal.variables), *bounds)
    ratio = 1 / T if found.reverse else T
    out: list[Goal] = list(obligations(goal.facts, *bounds))
    for stage, bound in zip(stages, bounds, strict=True):
        data = stage_data(stage)
        infinite = df.null_rays(found) & data.live
        require(not infinite, "support", "no mass where the loss is infinite", stage)
        given = with_facts(goal.facts, Fact(T, ">"), *data.facts)
        out.append(Sequent(given, Fact(bound - ratio, ">=")))
    return [*out, Sequent(goal.facts, Fact(found.bound - tm.mul(*bounds), ">="))]


@privacy_rule()
def spanned(goal: Statement) -> list[Goal]:
    """F |- r - r_1 - sum (a_i + b_i) >= 0
    ---------------------------------- r_1 the first stage's range, -a_i <= L_i <= b_i of each other
    F, S => BoundedRange(r)

    as the later losses move with the earlier outputs; a_1 + b_1 stands for a range that is not
    known. Fails when a loss is not bounded on both sides.
    """
    (found,) = constraints(replace(only_claim(goal, "spanned"), two_way=False))
    claimed = expect(Range, found, "spanned", "a claim about the range")
    lengths = []
    for i, stage in enumerate(assumed(goal, "spanned")):
        known = [one for g in stage.guarantees if g.two_way for one in constraints(g)]
        ranges = [one.length for one in known if isinstance(one, Range) and i == 0]
        sides = [
            [one.bound.args[0] for one in known if isinstance(one, Support) and one.reverse == way]
            for way in (False, True)
        ]
        require(bool(ranges) or all(sides), "spanned", "a loss bounded on both sides", stage)
        lengths.append(ranges[0] if ranges else sides[0][0] + sides[1][0])
    return [Sequent(goal.facts, Fact(claimed.length - tm.add(*lengths), ">="))]


@dataclass(frozen=True, slots=True)
class Multipliers:
    """What one stage's inequality is multiplied with, as functions of the earlier stages' (p, q):
    ``p`` and ``q`` the densities, ``moments`` the stage's moments. ``larger`` bounds the value."""

    p: Form
    q: Form
    moments: tuple[Form, ...]
    larger: Form | None = None


MULTIPLIERS = RowKind((FORM, FORM, ListKind(FORM), MaybeKind(FORM)), Multipliers)


@privacy_rule(multipliers=ListKind(MULTIPLIERS), low=RowKind((TERM, TERM)))
def tower(
    goal: Statement, multipliers: tuple[Multipliers, ...], low: tuple[Term, Term]
) -> list[Goal]:
    """Weak duality, stage by stage from the last, with the earlier outputs held fixed.

    F, s > 0, t > 0, facts of stage |- a(s) t + b(s) + sum l_i(s) g_i(t) - phi(s t) >= 0
    F, s > 0 |- l_i(s) >= 0      ... the same on the rays that may carry mass
    F |- c - value >= 0
    --------------------------------------------------------------------------------
    F, S => the integral of phi is at most c

    where a stage's value a + b + sum l_i c_i (or something larger, if given) is phi for the stage
    before, and the first stage has s = 1. Multipliers are functions of s, the ratio of all earlier
    stages. With several stages, phi >= A p + B q (``low``) is shown, for Tonelli. Fails when phi or
    a multiplier is infinite on a ray that may carry mass.
    """
    found = claimed(goal, "tower", Moment, "a claim about one moment")
    stages = [stage_data(stage) for stage in assumed(goal, "tower")]
    require(len(multipliers) == len(stages), "tower", "multipliers for each stage", multipliers)
    for row, data in zip(multipliers, stages, strict=True):
        _check_multipliers(declared(goal.variables), row, data)
    lives = [stage.live for stage in stages]
    out: list[Sequent] = []
    if len(stages) > 1:
        within(declared(goal.variables), *low)
        out += bounded_below(goal.facts, found.form, low, frozenset().union(*lives))
    phi = found.form
    for k in range(len(stages) - 1, -1, -1):
        inside: Facts = (Fact(S, ">"),) if k else ()
        earlier = _points(S if k else ONE, inside, frozenset().union(*lives[:k]))
        more, phi = _peeled(goal.facts, phi, stages[k], multipliers[k], earlier)
        out += more
    out += shown(goal.facts, found.bound - phi.at(ONE))
    return list(dict.fromkeys(out))


def _check_multipliers(names: frozenset[str], row: Multipliers, data: StageData) -> None:
    count = len(row.moments)
    require(count == len(data.moments), "tower", "a multiplier for each moment", count)
    for form in (row.p, row.q, *row.moments, *([row.larger] if row.larger else [])):
        within(names | {st.RATIO}, form.f)
        within(names, *(item for item in (form.at_p, form.at_q) if item is not None))


Point = tuple[Term, Term]  # the densities p and q; q is 0 or 1, as all is homogeneous
_RAYS: dict[str, Point] = {P_RAY: (ONE, ZERO), Q_RAY: (ZERO, ONE)}


def _points(ratio: Term, inside: Facts, live: frozenset[str]) -> list[tuple[Point, Facts]]:
    """Where the densities of a pair can be: both positive, or on a ray that may carry mass."""
    return [((ratio, ONE), inside), *((_RAYS[ray], ()) for ray in sorted(live))]


def _value(form: Form, point: Point) -> Term | None:
    """The form's value, or None for plus infinity."""
    p, q = point
    if p is not ZERO and q is not ZERO:
        return form.at(p)
    if p is ZERO:
        return ZERO if q is ZERO else form.at_q
    return None if form.at_p is None else form.at_p * p


def _finite(form: Form, point: Point) -> Term:
    what = "a finite value on a ray that may carry mass"
    return expect(Term, _value(form, point), "tower", what)


def times(item: Term, density: Term) -> Term:
    return ZERO if item is ZERO or density is ZERO else item * density


def shown(given: Facts, item: Term) -> list[Sequent]:
    """``item >= 0``, and that it is defined."""
    return [*obligations(given, item), Sequent(given, Fact(item, ">="))]


def bounded_below(facts: Facts, phi: Form, low: Point, live: frozenset[str]) -> list[Sequent]:
    out: list[Sequent] = []
    for (p, q), more in _points(T, (Fact(T, ">"),), live):
        value = _value(phi, (p, q))
        if value is not None:
            gap = value - times(low[0], p) - times(low[1], q)
            out += shown(with_facts(facts, *more), gap)
    return out


def _peeled(
    facts: Facts, phi: Form, data: StageData, row: Multipliers, earlier: list[tuple[Point, Facts]]
) -> tuple[list[Sequent], Form]:
    """Premises of one stage, and its value as a function of the earlier stages' (p, q)."""
    forms = (row.p, row.q, *row.moments)
    out: list[Sequent] = []
    for before, more in earlier:
        given = with_facts(facts, *more)
        a, b, *weights = (_finite(form, before) for form in forms)
        for weight in weights:
            out += shown(given, weight)
        for (p, q), inside in _points(T, (Fact(T, ">"), *data.facts), data.live):
            pairs = zip(weights, data.moments, strict=True)
            known = [w * _finite(moment.form, (p, q)) for w, moment in pairs]
            bound = tm.add(times(a, p), times(b, q), *known)
            joint = times(before[0], p), times(before[1], q)
            out += shown(with_facts(given, *inside), bound - _finite(phi, joint))
    value = _combined(forms, (ONE, ONE, *(moment.bound for moment in data.moments)))
    if row.larger is None:
        return out, value
    for before, more in earlier:
        upper = _value(row.larger, before)
        if upper is not None:  # else infinite, which is larger
            out += shown(with_facts(facts, *more), upper - _finite(value, before))
    return out, row.larger


def _combined(forms: tuple[Form, ...], factors: tuple[Term, ...]) -> Form:
    """The sum of the forms, each times a constant; infinite where one of them is."""

    def total(parts: list[Term | None]) -> Term | None:
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return tm.add(*(part * factor for part, factor in zip(known, factors, strict=True)))

    inside = tm.add(*(form.f * factor for form, factor in zip(forms, factors, strict=True)))
    return Form(inside, total([form.at_p for form in forms]), total([form.at_q for form in forms]))


@privacy_rule(name=NAME, start=TERM, value=TERM)
def limit(goal: Statement, name: str, start: Term, value: Term) -> list[Goal]:
    """D(c | F, x >= a)   F |- bound - c(a) >= 0
    F, x > a |- conditions of the claim with bound c(x)   F, x > a, S => claim with bound c(x)
    ---------------------------------------------------------------------------------------
    F, S => claim

    as x decreases to a: c is continuous where it is defined, and a guarantee is closed under limits
    of its last argument, and weaker where that is larger. Fails for a claim that is not, a term
    with ite, or when x is not new.
    """
    claim = only_claim(goal, "limit")
    closed_up = claim.name not in ("BoundedRange", "TCDP")  # the last one is the highest order
    require(closed_up, "limit", "a claim closed under limits, and weaker upwards", claim)
    require(all(item.op != "ite" for item in tm.subterms(value)), "limit", "no ite", value)
    names = declared(goal.variables)
    within(names, start)
    within(names | {name}, value)
    beyond = tm.var(name) - start
    closed = with_facts(goal.facts, Fact(beyond, ">="))
    last = expect(Term, (None, *claim.args)[-1], "limit", "a claim with a bound")
    weaker = replace(claim, args=(*claim.args[:-1], value))
    more = with_variable(goal, name, (Fact(beyond, ">"),), weaker)
    return [
        *obligations(goal.facts, start),
        *obligations(closed, value),
        *guarantee_obligations(more, weaker),
        Sequent(goal.facts, Fact(last - substitute(value, {name: start}), ">=")),
        more,
    ]


@privacy_rule(stage=INDEX)
def postprocess(goal: Statement, stage: int) -> list[Goal]:
    """F |- convexity of each guarantee's function   F, S with G => claim
    ------------------------------------------------------------------
    F, S with a post-processing of G => claim

    by Jensen's inequality on the cone p, q >= 0: f is convex between any two points, and adding
    mass on a ray adds at most its value there. Supports are closed, and so are ranges in both
    directions, as then no ray has mass; and families, if each member is. Fails for guarantees that
    are not.
    """
    require(stage < len(goal.stages), "postprocess", "the index of a stage", stage)
    found = expect(Processed, goal.stages[stage], "postprocess", "a post-processed stage")
    out: list[Sequent] = []
    for guarantee in found.guarantees:
        closed = guarantee.two_way or guarantee.name != "BoundedRange"
        require(closed, "postprocess", "a bounded range in both directions", guarantee)
        out += convexity(goal, "postprocess", guarantee)
    stages = (*goal.stages[:stage], Assumed(found.guarantees), *goal.stages[stage + 1 :])
    return [*dict.fromkeys(out), replace(goal, stages=stages)]


def convexity(goal: Statement, rule: str, guarantee: Guarantee) -> list[Sequent]:
    """That the functions of a guarantee about the loss are convex."""
    declared(goal.variables)  # none of them is one of the calculus's own
    facts, one = df.member(guarantee, tm.var("$a")) or ((), guarantee)
    items = constraints(replace(one, two_way=False, reverse=False))
    require(bool(items), rule, "a guarantee about the loss", guarantee)
    given = with_facts(goal.facts, *facts)
    return [new for item in items if isinstance(item, Moment) for new in convex(given, item.form)]


def convex(facts: Facts, form: Form) -> list[Sequent]:
    t, u, w = T, S, tm.var("$w")
    one = with_facts(facts, Fact(t, ">"))
    two = with_facts(one, Fact(u, ">"))
    if form.f.kinked:
        mixed = form.at(w * t + (1 - w) * u)
        between = with_facts(two, Fact(w, ">="), Fact(1 - w, ">="))
        out = shown(between, w * form.f + (1 - w) * form.at(u) - mixed)
    else:
        out = shown(one, tm.derivative(tm.derivative(form.f, st.RATIO), st.RATIO))
    if form.at_p is not None:
        out += shown(two, form.f + u * form.at_p - form.at(t + u))
    if form.at_q is not None:
        out += shown(two, form.f + u * form.at_q - (1 + u) * form.at(t / (1 + u)))
    if form.at_p is not None and form.at_q is not None:
        out += shown(one, t * form.at_p + form.at_q - form.f)
    return out
