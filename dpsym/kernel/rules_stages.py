"""Rules for stages that are made of others: repetitions, groups and blends.

Notation as in ``rules_privacy``.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from flint import fmpq

from dpsym.kernel import definitions as df
from dpsym.kernel import kinds as kd
from dpsym.kernel import rules_privacy as rp
from dpsym.kernel import statements as st
from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import P_RAY, Form, Moment, Support
from dpsym.kernel.kinds import INDEX, NAME, TERM, ListKind
from dpsym.kernel.refusal import Refusal, expect, require
from dpsym.kernel.rules import Goal, privacy_rule
from dpsym.kernel.sequents import Sequent, context, obligations, with_facts
from dpsym.kernel.statements import (
    Assumed,
    Blend,
    Fact,
    Filter,
    Group,
    Guarantee,
    Link,
    Mechanism,
    Pair,
    Region,
    Repeated,
    Stage,
    Statement,
)
from dpsym.kernel.terms import ONE, ZERO, Term

MOST_STAGES = 64


@privacy_rule(stage=INDEX, part=INDEX, guarantees=kd.GUARANTEES)
def inner(goal: Statement, stage: int, part: int, guarantees: tuple[Guarantee, ...]) -> list[Goal]:
    """D(G | F)   F, S_ij => G   F, S with G for part j of stage i => claim
    --------------------------------------------------------------------
    F, S => claim

    Fails when the stage is not made of others.
    """
    require(stage < len(goal.stages), "inner", "the index of a stage", stage)
    old, new = goal.stages[stage], Assumed(guarantees)
    require(part < len(st.parts(old)), "inner", "the index of a part", part)
    if isinstance(old, (Repeated, Group)):
        made: Stage = replace(old, stage=new)
    elif isinstance(old, st.Processed):
        made = st.Processed(guarantees)
    else:
        blend = expect(Blend, old, "inner", "a stage made of others")
        links = (replace(x, stage=new) if i == part else x for i, x in enumerate(blend.links))
        made = replace(blend, links=tuple(links))
    return [
        *rp.guarantee_obligations(goal, *guarantees),
        replace(goal, stages=st.opened(st.parts(old)[part]), claims=guarantees),
        replace(goal, stages=(*goal.stages[:stage], made, *goal.stages[stage + 1 :])),
    ]


@privacy_rule()
def each(goal: Statement) -> list[Goal]:
    """F, T_1, S => claim   ...   F, T_n, S => claim
    ----------------------------------------------
    F, one of T_1, ..., T_n, S => claim

    for the first stage: which of them a later one is may depend on the earlier outputs. Fails for
    other stages.
    """
    require(bool(goal.stages), "each", "a first stage", goal.stages)
    choice = expect(st.Choice, goal.stages[0], "each", "a choice of mechanisms")
    return [replace(goal, stages=(*st.opened(one), *goal.stages[1:])) for one in choice.stages]


@privacy_rule()
def unroll(goal: Statement) -> list[Goal]:
    """F, S; ...; S => claim
    ------------------------ n a number, of stages on the one side and of copies on the other
    F, n copies of S => claim

    for a group, which is a chain, only if n is 1. Fails for other numbers of copies, and several
    stages.
    """
    stage = _copies(goal, "unroll")
    count = stage.count.value if stage.count.op == "num" else None
    most = 1 if isinstance(stage, Group) else MOST_STAGES
    few = isinstance(count, fmpq) and count.q == 1 and 1 <= count <= most
    require(few, "unroll", f"at most {most} copies", stage.count)
    return [replace(goal, stages=st.opened(stage.stage) * int(stage.count.value))]


@privacy_rule()
def induct(goal: Statement) -> list[Goal]:
    """F(1), S => claim(1)
    F(k+1), k >= 1 |- F(k)
    F(k+1), k >= 1, the stages: claim(k); S => claim(k+1)
    ----------------------------------------------------- k an integer variable
    F(k), k copies of S => claim(k)

    by induction; for a group, (R_0, R_k) and (R_k, R_(k+1)) take the place of the stages.
    Fails when S is not a guarantee, or mentions k.
    """
    stage, claim = _copies(goal, "induct"), rp.only_claim(goal, "induct")
    copies = expect(Assumed, stage.stage, "induct", "copies of guarantees")
    require(stage.count.op == "var", "induct", "a number of copies that is a variable", stage.count)
    k, name = stage.count, stage.count.value
    alike = st.replaced(copies, {name: ONE}) == copies
    require(alike, "induct", "copies without the number of copies", copies)
    base, more = (st.replaced(goal, {name: value}) for value in (ONE, k + 1))
    base = replace(base, variables=tuple(v for v in goal.variables if v[0] != name))
    given = with_facts(more.facts, Fact(k - 1, ">="))
    before = Assumed((claim,))
    stages: tuple[Stage, ...] = (before, copies)
    if isinstance(stage, Group):
        ends = (ONE, ZERO, ZERO), (ZERO, ZERO, ONE)
        stages = (Blend(*ends, (Link(0, 1, before), Link(1, 2, copies))),)
    more = replace(more, facts=given, stages=stages)
    closed = [Sequent(given, fact) for fact in goal.facts if name in fact.term.vars]
    return [*closed, *rp.guarantee_obligations(more, claim), replace(base, stages=(copies,)), more]


@privacy_rule()
def spent(goal: Statement) -> list[Goal]:
    """F(b), b >= 0, identical distributions => claim(b)
    F(b), 0 <= x <= b |- F(b - x)
    F(b), 0 <= x <= b, the stages: G(x); claim(b - x) => claim(b)
    ------------------------------------------------------------- b a real variable, x new
    F(b), a filter of G with the budget b => claim(b)

    by induction on the number of mechanisms: what the first one leaves of the budget is that of a
    filter. Fails for another budget, and when G mentions b.
    """
    claim = rp.only_claim(goal, "spent")
    require(len(goal.stages) == 1, "spent", "one stage", len(goal.stages))
    stage = expect(Filter, goal.stages[0], "spent", "a filter")
    b, name = stage.budget, stage.budget.value
    real = b.op == "var" and (name, st.REAL) in goal.variables
    require(real, "spent", "a budget that is a real variable", b)
    alike = st.replaced(stage.stage, {name: ZERO}) == stage.stage
    require(alike, "spent", "guarantees without the budget", stage.stage)
    more, left = rp.spending(goal, stage), {name: b - tm.var(stage.name)}
    rest = claim.substitute(left)
    moved = (fact.substitute(left) for fact in goal.facts if name in fact.term.vars)
    none = replace(goal, facts=with_facts(goal.facts, Fact(b, ">=")))
    return [
        *(Sequent(more.facts, fact) for fact in moved),
        *rp.guarantee_obligations(more, rest),
        replace(none, stages=(Assumed((Guarantee("PureDP", (ZERO,)),)),)),
        replace(more, stages=(stage.stage, Assumed((rest,)))),
    ]


@privacy_rule(first=kd.whole(1, 10**6), before=kd.GUARANTEES, after=kd.GUARANTEES)
def parted(
    goal: Statement, first: int, before: tuple[Guarantee, ...], after: tuple[Guarantee, ...]
) -> list[Goal]:
    """D(A, B | F)   F, m copies of S => A   F, n - m copies of S => B   F, A; B => claim
    ------------------------------------------------------------------------------- n a number
    F, n copies of S => claim

    for a group, (R_0, R_m) and (R_m, R_n) take the place of the stages. Fails when m is not between
    0 and n.
    """
    stage = _copies(goal, "parted")
    count = stage.count.value if stage.count.op == "num" else None
    fits = isinstance(count, fmpq) and first < count
    require(fits and bool(before) and bool(after), "parted", "a part of a number", stage.count)
    many = [replace(stage, count=tm.num(m)) for m in (fmpq(first), stage.count.value - first)]
    parts = Assumed(before), Assumed(after)
    stages: tuple[Stage, ...] = parts
    if isinstance(stage, Group):
        ends = (ONE, ZERO, ZERO), (ZERO, ZERO, ONE)
        stages = (Blend(*ends, (Link(0, 1, parts[0]), Link(1, 2, parts[1]))),)
    return [
        *rp.guarantee_obligations(goal, *before, *after),
        replace(goal, stages=(many[0],), claims=before),
        replace(goal, stages=(many[1],), claims=after),
        replace(goal, stages=stages),
    ]


def _copies(goal: Statement, rule: str) -> Repeated | Group:
    require(len(goal.stages) == 1, rule, "one stage", len(goal.stages))
    found = goal.stages[0]
    if not isinstance(found, (Repeated, Group)):
        raise Refusal(rule, "a number of copies", found)
    return found


@privacy_rule(guarantee=INDEX, name=NAME)
def ranged(goal: Statement, guarantee: int, name: str) -> list[Goal]:
    """F, -t >= 0, t + epsilon >= 0, G with t <= L <= t + epsilon => claim
    ------------------------------------------------------------------ t a new variable
    F, G with BoundedRange(epsilon) => claim

    for one stage. As both distributions have mass 1, the loss is not always above or below 0.
    Fails for other guarantees, and one that is not two-way.
    """
    require(len(goal.stages) == 1, "ranged", "one stage", len(goal.stages))
    given = expect(Assumed, goal.stages[0], "ranged", "a guarantee").guarantees
    require(guarantee < len(given), "ranged", "the index of a guarantee", guarantee)
    one, t = given[guarantee], tm.var(name)
    fits = one.name == "BoundedRange" and one.two_way
    require(fits, "ranged", "a bounded range in both directions", one)
    high = t + expect(Term, one.args[0], "ranged", "a range")
    facts = Fact(-t, ">="), Fact(high, ">=")
    more = Guarantee("PureDP", (high,), False), Guarantee("PureDP", (-t,), False, True)
    new = rp.with_variable(goal, name, facts, rp.only_claim(goal, "ranged"))
    return [replace(new, stages=(Assumed((*given, *more)),))]


# -- Gaussian pairs


def _gaussian(mean: Term, output: str) -> Mechanism:
    x = tm.var(output)
    return Mechanism((Pair((Region(df.normal(x, mean), df.normal(x, ZERO), output),)),))


@privacy_rule(stage=INDEX, guarantee=INDEX, name=NAME)
def dominated(goal: Statement, stage: int, guarantee: int, name: str) -> list[Goal]:
    """F |- convexity of phi   F, S with N(mu, 1) against N(0, 1) as stage i => claim
    ------------------------------------------------------------------------------
    F, S with GDP(mu) at stage i => the integral of phi is at most c

    since that pair has at least the hockey-stick divergence of every order, so of every convex
    function, and so inside of a composition (Zhu, Dong and Wang 2022, Theorem 10). Fails for
    another guarantee, or a name that is not new.
    """
    phi = rp.claimed(goal, "dominated", Moment, "a claim about one moment").form
    require(stage < len(goal.stages), "dominated", "the index of a stage", stage)
    given = expect(Assumed, goal.stages[stage], "dominated", "a guarantee").guarantees
    require(guarantee < len(given), "dominated", "the index of a guarantee", guarantee)
    require(given[guarantee].name == "GDP", "dominated", "GDP", given[guarantee])
    (plain,) = df.constraints(replace(goal.claims[0], reverse=False))
    phi = expect(Moment, plain, "dominated", "a moment").form
    new = name not in rp.declared(goal.variables) and "$" not in name
    require(new, "dominated", "a new name for the output", name)
    mean = expect(tm.Term, given[guarantee].args[0], "dominated", "a mean")
    stages = (*goal.stages[:stage], _gaussian(mean, name), *goal.stages[stage + 1 :])
    return [*rp.convex(goal.facts, phi), replace(goal, stages=stages)]


@privacy_rule(first=TERM, second=TERM, mean=TERM)
def rotated(goal: Statement, first: Term, second: Term, mean: Term) -> list[Goal]:
    """F |- m > 0   F |- m^2 - a^2 - b^2 >= 0   F |- a^2 + b^2 - m^2 >= 0
    F, S, N(m, 1) against N(0, 1) => claim
    --------------------------------------------------------------------- m = mean
    F, S, N(a, 1) against N(0, 1), N(b, 1) against N(0, 1) => claim

    since (a x + b y)/m, which has these laws, tells all that the likelihood ratio tells. Fails for
    other stages.
    """
    require(len(goal.stages) > 1, "rotated", "at least two stages", goal.stages)
    rp.within(rp.declared(goal.variables), first, second, mean)
    for stage, own in zip(goal.stages[-2:], (first, second), strict=True):
        one = expect(Mechanism, stage, "rotated", "explicit mechanisms")
        region = one.pairs[0].regions[0] if len(one.pairs) == 1 and one.pairs[0].regions else None
        output = expect(Region, region, "rotated", "one pair with one region").output
        wanted = _gaussian(own, expect(str, output, "rotated", "densities"))
        same = context(goal.facts).same
        density = wanted.pairs[0].regions[0]
        found = expect(Region, region, "rotated", "one pair with one region")
        known = same(found.p, density.p) and same(found.q, density.q)
        plain = replace(one.pairs[0], regions=(replace(found, p=density.p, q=density.q),), label="")
        fits = known and plain == wanted.pairs[0] and len(one.pairs[0].regions) == 1
        require(fits, "rotated", "two normal densities of variance 1", stage)
    gap = tm.power(mean, 2) - tm.power(first, 2) - tm.power(second, 2)
    facts = Fact(mean, ">"), Fact(gap, ">="), Fact(-gap, ">=")
    stages = (*goal.stages[:-2], _gaussian(mean, expect(str, output, "rotated", "densities")))
    shown = [Sequent(goal.facts, fact) for fact in facts]
    return [*obligations(goal.facts, first, second, mean), *shown, replace(goal, stages=stages)]


# -- blends


@privacy_rule(linear=ListKind(TERM), moments=ListKind(ListKind(TERM)))
def blended(
    goal: Statement, linear: tuple[Term, ...], moments: tuple[tuple[Term, ...], ...]
) -> list[Goal]:
    """F, r >= 0, supports |- sum a_i r_i + sum l g(r_i, r_j) - phi(sum p_i r_i, sum q_i r_i) >= 0
    F |- l >= 0   F |- convexity of phi
    F |- c - sum a_i - sum l c_g >= 0
    ----------------------------------------------------------------------------------------
    F, blend => the integral of phi is at most c

    where a is ``linear`` and l a weight for each moment g of each link. What is hidden is averaged
    over by Jensen's inequality. The first premise is shown for each set of r_i that can be the
    positive ones, the first of which is 1. For a claim about the support, P <= k Q is shown there
    instead. Fails when phi or a moment is infinite there, or a link is no guarantee.
    """
    require(len(goal.stages) == 1, "blended", "one stage", len(goal.stages))
    stage, claim = (
        expect(Blend, goal.stages[0], "blended", "a blend"),
        rp.only_claim(goal, "blended"),
    )
    require(not claim.two_way, "blended", "a claim in one direction", claim)
    found = (*df.constraints(claim), None)[0]
    data = [
        rp.stage_data(expect(Assumed, link.stage, "blended", "links that are guarantees"))
        for link in stage.links
    ]
    counts = [len(linear), *(len(row) for row in moments)]
    sizes = [0] if isinstance(found, Support) else [len(stage.p), *(len(d.moments) for d in data)]
    require(counts == sizes, "blended", "a multiplier for each distribution and moment", counts)
    names = rp.declared(goal.variables)
    rp.within(names, *linear, *(weight for row in moments for weight in row))
    out: list[Sequent] = []
    if isinstance(found, Moment):
        (plain,) = df.constraints(replace(claim, reverse=False))  # as convex as the swapped form
        out += rp.convex(goal.facts, expect(Moment, plain, "blended", "a moment").form)
        out += [one for row in moments for item in row for one in rp.shown(goal.facts, item)]
        pairs = [
            (w, m)
            for row, d in zip(moments, data, strict=True)
            for w, m in zip(row, d.moments, strict=True)
        ]
        total = tm.add(*linear, *(weight * moment.bound for weight, moment in pairs))
        out += rp.shown(goal.facts, found.bound - total)
    lives = [(link, known.live) for link, known in zip(stage.links, data, strict=True)]
    for point in _points(len(stage.p), lives):
        given = with_facts(goal.facts, *(Fact(x, ">") for x in point if x.vars))
        for link, known in zip(stage.links, data, strict=True):
            x, y = point[link.first], point[link.second]
            if x is not ZERO and y is not ZERO:
                ends = (
                    (s.bound, y, x) if not s.reverse else (s.bound, x, y) for s in known.supports
                )
                given = with_facts(given, *(Fact(k * u - v, ">=") for k, u, v in ends))
        p, q = (_mixed(weights, point) for weights in (stage.p, stage.q))
        if isinstance(found, Support):
            gap = found.bound * p - q if found.reverse else found.bound * q - p
            out += rp.shown(given, gap)
            continue
        positive = [Fact(item, ">") for item in (p, q) if item is not ZERO]
        out += [Sequent(given, fact) for fact in positive]
        given = with_facts(given, *positive)
        parts = [rp.times(a, x) for a, x in zip(linear, point, strict=True)]
        for link, row, known in zip(stage.links, moments, data, strict=True):
            x, y = point[link.first], point[link.second]
            values = (_value(moment.form, x, y) for moment in known.moments)
            parts += [rp.times(weight, value) for weight, value in zip(row, values, strict=True)]
        phi = expect(Moment, found, "blended", "a claim about one moment or the support").form
        out += rp.shown(given, tm.add(*parts) - _value(phi, p, q))
    return list(dict.fromkeys(out))


@privacy_rule(stage=INDEX)
def certain(goal: Statement, stage: int) -> list[Goal]:
    """F |- convexity of the claim's function   F, S with T => claim
    -------------------------------------------------------------
    F, S with a blend of R_i alone against R_j alone, of which T is the link => claim

    as what is hidden has the same law for both; for i = j they are equal. Fails for other blends,
    and a bounded range: what is hidden may shift it.
    """
    claim = rp.only_claim(goal, "certain")
    require(stage < len(goal.stages), "certain", "the index of a stage", stage)
    blend = expect(Blend, goal.stages[stage], "certain", "a blend")
    same = context(goal.facts).same
    first, second = ([i for i, one in enumerate(w) if same(one, ONE)] for w in (blend.p, blend.q))
    found = [x.stage for x in blend.links if x.first in first and x.second in second]
    if set(first) & set(second):
        found = [Assumed((Guarantee("PureDP", (ZERO,)),))]
    require(bool(found), "certain", "one distribution each, with a link", blend)
    require(claim.name != "BoundedRange", "certain", "a convex claim", claim)
    stages = (*goal.stages[:stage], *st.opened(found[0]), *goal.stages[stage + 1 :])
    return [*dict.fromkeys(rp.convexity(goal, "certain", claim)), replace(goal, stages=stages)]


def _points(count: int, links: list[tuple[Link, frozenset[str]]]) -> list[tuple[Term, ...]]:
    """The densities up to a factor, for each set of them that can be the positive ones."""
    out: list[tuple[Term, ...]] = []
    for signs in product((False, True), repeat=count):
        point, first = [], True
        for i, sign in enumerate(signs):
            point.append((ONE if first else tm.var(f"$r{i}")) if sign else ZERO)
            first = first and not sign
        if any(signs) and all(_possible(link, live, signs) for link, live in links):
            out.append(tuple(point))
    return out


def _possible(link: Link, live: frozenset[str], signs: tuple[bool, ...]) -> bool:
    first, second = signs[link.first], signs[link.second]
    return first == second or (P_RAY if first else df.Q_RAY) in live


def _mixed(weights: tuple[Term, ...], point: tuple[Term, ...]) -> Term:
    parts = [rp.times(w, x) for w, x in zip(weights, point, strict=True)]
    known = [part for part in parts if part is not ZERO]
    return tm.add(*known) if known else ZERO


def _value(form: Form, p: Term, q: Term) -> Term:
    """The form's value, where p and q are positive or the term 0."""
    if p is ZERO and q is ZERO:
        return ZERO
    end = form.at_q if p is ZERO else form.at_p
    if p is not ZERO and q is not ZERO:
        return q * form.at(p / q)
    return expect(Term, end, "blended", "a finite value where a density is 0") * (
        p if q is ZERO else q
    )
