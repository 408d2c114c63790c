"""The rules of the privacy calculus: premises of a statement are statements and sequents.

In the texts, F are the statement's facts, S its stages, ``=>`` stands for "have", and D(e | F) for
the sequents that make e defined where F holds.

Invariant: the facts are defined in order, and where they hold, every argument of a guarantee is
defined and its definition's conditions hold. ``statement_obligations`` lists what that needs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import (
    P_RAY,
    Q_RAY,
    Form,
    Moment,
    Range,
    Support,
    T,
    conditions,
    constraints,
    definition,
    live_rays,
    member,
)
from dpsym.kernel.kinds import (
    GUARANTEE,
    NAME,
    TERM,
    EarlierKind,
    ListKind,
    MaybeKind,
    RowKind,
    WholeKind,
)
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import Goal, privacy_rule, require
from dpsym.kernel.sequents import (
    Facts,
    Sequent,
    context,
    hypothesis_obligations,
    obligations,
    opposite,
    with_facts,
)
from dpsym.kernel.statements import (
    INTEGER,
    PREFIX,
    RATIO,
    REAL,
    Assumed,
    Fact,
    Guarantee,
    Mechanism,
    Pair,
    Processed,
    Stage,
    Statement,
)
from dpsym.kernel.terms import ONE, ZERO, Term, substitute, subterms

S = tm.var(PREFIX)
INDEX = WholeKind(0, 10_000)
THEOREM = EarlierKind()
FORM = RowKind((TERM, MaybeKind(TERM), MaybeKind(TERM)))
MULTIPLIERS = RowKind((FORM, FORM, ListKind(FORM), MaybeKind(FORM)))


# -- well-formed statements


def statement_obligations(statement: Statement) -> list[Sequent]:
    """Refuses a statement that is not well formed; returns what makes it defined."""
    names = _declared(statement.variables)
    _within(names, *(fact.term for fact in statement.facts))
    require(bool(statement.stages), "statement", "at least one stage")
    require(bool(statement.claims), "statement", "at least one claim")
    out = hypothesis_obligations(statement.facts)
    for stage in statement.stages:
        if isinstance(stage, Mechanism):
            for pair in stage.pairs:
                out += _pair_obligations(statement, names, pair)
        else:
            out += guarantee_obligations(statement, *stage.guarantees)
    out += guarantee_obligations(statement, *statement.claims)
    return list(dict.fromkeys(out))


def _declared(variables: tuple[tuple[str, str], ...]) -> frozenset[str]:
    names = frozenset(name for name, _ in variables)
    require(len(names) == len(variables), "statement", "variables declared once", variables)
    for name, kind in variables:
        require(kind in (REAL, INTEGER), "statement", "real or integer variables", kind)
        require("$" not in name, "statement", "names without $", name)
    return names


def _within(names: frozenset[str], *items: Term) -> None:
    for item in items:
        require(
            item.vars <= names, "statement", "declared variables only", sorted(item.vars - names)
        )


def guarantee_obligations(statement: Statement, *guarantees: Guarantee) -> list[Sequent]:
    """What makes the arguments defined and the definitions' conditions hold."""
    names = _declared(statement.variables)
    out: list[Sequent] = []
    for guarantee in guarantees:
        definition(guarantee)
        for i, arg in enumerate(guarantee.args):
            if arg is None:
                continue
            function = guarantee.name == "MomentBound" and i == 0
            _within(names | {RATIO} if function else names, arg)
            given = with_facts(statement.facts, Fact(T, ">")) if function else statement.facts
            out += obligations(given, arg)
        known = context(statement.facts)
        out += [Sequent(statement.facts, f) for f in conditions(guarantee) if not known.evident(f)]
    return out


def _pair_obligations(statement: Statement, names: frozenset[str], pair: Pair) -> list[Sequent]:
    inner = _declared(pair.variables)
    require(not inner & names, "statement", "fresh names for a pair's variables", sorted(inner))
    given = statement.facts + pair.facts
    _within(names | inner, *(fact.term for fact in pair.facts))
    out = hypothesis_obligations(given)
    for region in pair.regions:
        known = names | inner
        if region.output is not None:
            require(
                region.output not in known and "$" not in region.output,
                "statement",
                "a fresh name for the output",
                region.output,
            )
            require(region.weight is None, "statement", "no weight for a density", region.weight)
            known |= {region.output}
        _within(known, region.p, region.q, *(fact.term for fact in region.facts))
        if region.weight is not None:
            _within(names | inner, region.weight)
            out += obligations(given, region.weight)
        out += hypothesis_obligations(given + region.facts)
        out += obligations(given + region.facts, region.p, region.q)
    return out


def _only_claim(statement: Statement, rule: str) -> Guarantee:
    require(len(statement.claims) == 1, rule, "a statement with one claim", len(statement.claims))
    return statement.claims[0]


def _one_direction(statement: Statement, rule: str) -> Guarantee:
    claim = _only_claim(statement, rule)
    require(not claim.two_way, rule, "a claim in one direction", claim)
    return claim


def assumed(statement: Statement, rule: str) -> tuple[Assumed, ...]:
    """The stages, all of which are assumed guarantees."""
    for stage in statement.stages:
        require(isinstance(stage, Assumed), rule, "stages that are guarantees", stage)
    return tuple(stage for stage in statement.stages if isinstance(stage, Assumed))


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
    claim = _only_claim(goal, "forward")
    require(claim.two_way, "forward", "a two-way claim", claim)
    for stage in goal.stages:
        symmetric = not isinstance(stage, Mechanism) and all(g.two_way for g in stage.guarantees)
        require(symmetric, "forward", "stages with two-way guarantees", stage)
    return [replace(goal, claims=(replace(claim, two_way=False),))]


@privacy_rule()
def directions(goal: Statement) -> list[Goal]:
    """F, S => claim for (P, Q)   F, S => claim for (Q, P)
    ---------------------------------------------------
    F, S => claim for (P, Q) and (Q, P)

    Fails when the claim is one-way.
    """
    claim = _only_claim(goal, "directions")
    require(claim.two_way, "directions", "a two-way claim", claim)
    return [
        replace(goal, claims=(replace(claim, two_way=False, reverse=reverse),))
        for reverse in (False, True)
    ]


@privacy_rule(item=TERM)
def divide(goal: Statement, item: Term) -> list[Goal]:
    """D(e | F)   F, e >= 0, S => claim   F, -e > 0, S => claim
    --------------------------------------------------------
    F, S => claim

    Fails when e mentions an undeclared variable.
    """
    _within(_declared(goal.variables), item)
    fact = Fact(item, ">=")
    out: list[Goal] = list(obligations(goal.facts, item))
    out += [replace(goal, facts=with_facts(goal.facts, f)) for f in (fact, opposite(fact))]
    return out


@privacy_rule()
def absurd(goal: Statement) -> list[Goal]:
    """F |- -1 >= 0
    ------------
    F, S => claim

    Never fails.
    """
    return [Sequent(goal.facts, Fact(tm.MINUS_ONE, ">="))]


@privacy_rule(name=NAME, bound=WholeKind(-(10**9), 10**9))
def integers(goal: Statement, name: str, bound: int) -> list[Goal]:
    """F |- n - c > 0   F, n - (c + 1) >= 0, S => claim
    ------------------------------------------------ n an integer variable, c a whole number
    F, S => claim

    Fails when n is not declared an integer.
    """
    require((name, INTEGER) in goal.variables, "integers", "an integer variable", name)
    stronger = Fact(tm.var(name) - (bound + 1), ">=")
    return [
        Sequent(goal.facts, Fact(tm.var(name) - bound, ">")),
        replace(goal, facts=with_facts(goal.facts, stronger)),
    ]


@privacy_rule(name=NAME)
def every(goal: Statement, name: str) -> list[Goal]:
    """F, facts of x, S => member(x)
    ----------------------------- x new
    F, S => family

    Fails when the claim is not a family or x is not new.
    """
    claim = _only_claim(goal, "every")
    found = member(claim, tm.var(name))
    if found is None:
        raise Refusal("every", "a claim that is a family", claim)
    return [_with_variable(goal, "every", name, found[0], found[1])]


def _with_variable(
    goal: Statement, rule: str, name: str, facts: Facts, claim: Guarantee
) -> Statement:
    """The goal with one more real variable, which occurs nowhere in it, and another claim."""
    inner = {
        used
        for stage in goal.stages
        if isinstance(stage, Mechanism)
        for pair in stage.pairs
        for used in (*dict(pair.variables), *(region.output for region in pair.regions))
    }
    new = name not in _declared(goal.variables) | inner and "$" not in name
    require(new, rule, "a new variable", name)
    variables = (*goal.variables, (name, REAL))
    return Statement(variables, with_facts(goal.facts, *facts), goal.stages, (claim,))


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
    _within(_declared(goal.variables), value)
    found = member(given[guarantee], value)
    if found is None:
        raise Refusal("specialise", "a guarantee that is a family", given[guarantee])
    more = Assumed((*given, found[1]))
    out: list[Goal] = list(obligations(goal.facts, value))
    out += [Sequent(goal.facts, fact) for fact in found[0]]
    return [*out, replace(goal, stages=(*stages[:stage], more, *stages[stage + 1 :]))]


@privacy_rule(first=INDEX, last=INDEX, guarantees=ListKind(GUARANTEE))
def cut(goal: Statement, first: int, last: int, guarantees: tuple[Guarantee, ...]) -> list[Goal]:
    """D(G | F)   F, S_i..S_j => G   F, S_1..S_(i-1), G, S_(j+1)..S_n => claim
    -----------------------------------------------------------------------
    F, S_1..S_n => claim

    since for fixed earlier outputs, stages i to j are one mechanism. Fails for an empty range.
    """
    require(first <= last < len(goal.stages), "cut", "a range of stages", first, last)
    require(bool(guarantees), "cut", "at least one guarantee", guarantees)
    inner = goal.stages[first : last + 1]
    middle: Stage = Assumed(guarantees)
    return [
        *guarantee_obligations(goal, *guarantees),
        replace(goal, stages=inner, claims=guarantees),
        replace(goal, stages=(*goal.stages[:first], middle, *goal.stages[last + 1 :])),
    ]


@privacy_rule(theorem=THEOREM, mapping=ListKind(RowKind((NAME, TERM))))
def use(goal: Statement, theorem: object, mapping: tuple[tuple[str, Term], ...]) -> list[Goal]:
    """D(s | F)   F |- F'[s]
    --------------------- F', S' => claim' was proved; S has what S'[s] says, claim is claim'[s]
    F, S => claim

    Fails when a stage lacks a guarantee, the claims differ, or an integer variable gets a term that
    is not an integer variable or number.
    """
    known: Statement = theorem.statement  # type: ignore[attr-defined]
    names = dict(mapping)
    own = dict(goal.variables)
    kinds = dict(known.variables)
    require(set(names) == set(kinds), "use", "a term for each variable", sorted(names))
    _within(frozenset(own), *names.values())
    for name, value in names.items():
        whole = isinstance(value.value, fmpq) and value.value.q == 1
        whole = whole or (value.op == "var" and own.get(str(value.value)) == INTEGER)
        require(kinds[name] == REAL or whole, "use", "an integer for an integer", value)
    require(len(known.stages) == len(goal.stages), "use", "as many stages", len(known.stages))
    same = _Same(goal.facts)
    for needed, given in zip(known.stages, goal.stages, strict=True):
        if not (isinstance(needed, Assumed) and isinstance(given, Assumed)):
            raise Refusal("use", "stages that are guarantees", given)
        for guarantee in needed.guarantees:
            wanted = guarantee.substitute(names)
            have = any(same.implies(other, wanted) for other in given.guarantees)
            require(have, "use", "a stage with the guarantee", wanted)
    for claim in goal.claims:
        have = any(same.implies(other.substitute(names), claim) for other in known.claims)
        require(have, "use", "the claim of the theorem", claim)
    out: list[Goal] = list(obligations(goal.facts, *names.values()))
    for fact in known.facts:
        needed_fact = fact.substitute(names)
        if not context(goal.facts).evident(needed_fact):
            out.append(Sequent(goal.facts, needed_fact))
    return out


@dataclass(frozen=True)
class _Same:
    facts: Facts

    def implies(self, given: Guarantee, wanted: Guarantee) -> bool:
        """Whether the guarantees are the same, or the given one has one direction more."""
        if given.name != wanted.name or len(given.args) != len(wanted.args):
            return False
        if not given.two_way and (wanted.two_way or given.reverse != wanted.reverse):
            return False
        return all(self.equal(a, b) for a, b in zip(given.args, wanted.args, strict=True))

    def equal(self, first: Term | None, second: Term | None) -> bool:
        if first is None or second is None or first is second:
            return first is second
        given = self.facts
        if RATIO in first.vars | second.vars:
            given = with_facts(given, Fact(T, ">"))
        canon = context(given).canon
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
    found = tuple(
        dict.fromkeys(item for guarantee in stage.guarantees for item in constraints(guarantee))
    )
    supports = tuple(item for item in found if isinstance(item, Support))
    moments = tuple(item for item in found if isinstance(item, Moment))
    facts = tuple(item.fact for item in supports)
    return StageData(facts, supports, moments, live_rays(found))


@privacy_rule(bounds=ListKind(TERM))
def support(goal: Statement, bounds: tuple[Term, ...]) -> list[Goal]:
    """F, t > 0, facts of stage i |- k_i - ratio >= 0   F |- e^epsilon - product k_i >= 0
    --------------------------------------------------------------------------------
    F, S => PureDP(epsilon) in one direction

    Fails when the ray on which the ratio is infinite may carry mass at some stage.
    """
    claim = _one_direction(goal, "support")
    (found,) = constraints(claim) or (None,)
    if not isinstance(found, Support):
        raise Refusal("support", "a claim about the support", claim)
    stages = assumed(goal, "support")
    require(len(bounds) == len(stages), "support", "a bound for each stage", len(bounds))
    _within(_declared(goal.variables), *bounds)
    ratio = 1 / T if found.reverse else T
    out: list[Goal] = list(obligations(goal.facts, *bounds))
    for stage, bound in zip(stages, bounds, strict=True):
        data = stage_data(stage)
        require(found.null not in data.live, "support", "no mass where the loss is infinite", stage)
        given = with_facts(goal.facts, Fact(T, ">"), *data.facts)
        out.append(Sequent(given, Fact(bound - ratio, ">=")))
    out.append(Sequent(goal.facts, Fact(found.bound - tm.mul(*bounds), ">=")))
    return out


@privacy_rule(multipliers=ListKind(MULTIPLIERS), low=RowKind((TERM, TERM)))
def tower(
    goal: Statement,
    multipliers: tuple[tuple[tuple[Term | None, ...], ...], ...],
    low: tuple[Term, Term],
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
    claim = _one_direction(goal, "tower")
    (found,) = constraints(claim) or (None,)
    if not isinstance(found, Moment):
        raise Refusal("tower", "a claim about one moment", claim)
    stages = [stage_data(stage) for stage in assumed(goal, "tower")]
    require(len(multipliers) == len(stages), "tower", "multipliers for each stage", multipliers)
    names = _declared(goal.variables)
    work = _Tower(goal.facts, names)
    if len(stages) > 1:
        work.lower_bound(found.form, low, frozenset().union(*(s.live for s in stages)))
    phi = found.form
    for k in range(len(stages) - 1, -1, -1):
        before: frozenset[str] = frozenset().union(*(s.live for s in stages[:k]))
        phi = work.stage(phi, stages[k], multipliers[k], k > 0, before)
    work.show(goal.facts, found.bound - phi.at(ONE))
    return list(dict.fromkeys(work.premises))


class _Tower:
    def __init__(self, facts: Facts, names: frozenset[str]) -> None:
        self.facts, self.names = facts, names
        self.premises: list[Sequent] = []

    def show(self, given: Facts, item: Term) -> None:
        """``item >= 0``, and that it is defined."""
        self.premises += obligations(given, item)
        self.premises.append(Sequent(given, Fact(item, ">=")))

    def form(self, parts: tuple[Term | None, ...]) -> Form:
        if parts[0] is None:
            raise Refusal("tower", "a function inside", parts)
        made = Form(parts[0], parts[1], parts[2])
        _within(self.names | {RATIO}, made.f)
        _within(self.names, *made.terms()[1:])
        return made

    def lower_bound(self, phi: Form, low: tuple[Term, Term], live: frozenset[str]) -> None:
        _within(self.names, *low)
        self.show(with_facts(self.facts, Fact(T, ">")), phi.f - low[0] * T - low[1])
        for ray, slope in ((P_RAY, low[0]), (Q_RAY, low[1])):
            value = phi.on(ray)
            if ray in live and value is not None:
                self.show(self.facts, value - slope)

    def stage(
        self,
        phi: Form,
        data: StageData,
        row: tuple[object, ...],
        inner: bool,
        before: frozenset[str],
    ) -> Form:
        """Premises of one stage; returns its value as a function of the earlier stages' (p, q)."""
        first, second, third, larger = row
        a, b = self.form(first), self.form(second)  # type: ignore[arg-type]
        weights = [self.form(parts) for parts in third]  # type: ignore[attr-defined]
        require(len(weights) == len(data.moments), "tower", "a multiplier for each moment", weights)
        prefix = S if inner else ONE
        points: list[tuple[str | None, Facts]] = [
            (None, with_facts(self.facts, Fact(S, ">")) if inner else self.facts)
        ]
        points += [(ray, self.facts) for ray in sorted(before)]
        for ray, given in points:
            known = [_finite(_value(form, ray, prefix), ray) for form in (a, b, *weights)]
            for weight in known[2:]:
                self.show(given, weight)
            self.interior(phi, data, known, ray, given, prefix)
            for own in sorted(data.live):
                self.on_ray(phi, data, known, ray, own, given, prefix)
        value = Form(
            tm.add(a.f, b.f, *(w.f * m.bound for w, m in zip(weights, data.moments, strict=True))),
            *(self.total(a, b, weights, data, ray) for ray in (P_RAY, Q_RAY)),
        )
        if larger is None:
            return value
        bound = self.form(larger)  # type: ignore[arg-type]
        for ray, given in points:
            upper = _value(bound, ray, prefix)
            if upper is not None:  # else infinite, which is larger
                self.show(given, upper - _finite(_value(value, ray, prefix), ray))
        return bound

    def total(
        self, a: Form, b: Form, weights: list[Form], data: StageData, ray: str
    ) -> Term | None:
        parts = [a.on(ray), b.on(ray)]
        for weight, moment in zip(weights, data.moments, strict=True):
            value = weight.on(ray)
            parts.append(None if value is None else value * moment.bound)
        return None if any(part is None for part in parts) else tm.add(*(p for p in parts if p))

    def interior(
        self,
        phi: Form,
        data: StageData,
        known: list[Term],
        ray: str | None,
        given: Facts,
        prefix: Term,
    ) -> None:
        """Both densities of this stage positive."""
        if ray is None:
            value = phi.at(prefix * T)
        elif ray == P_RAY:
            value = _finite(phi.at_p, ray) * T
        else:
            value = _finite(phi.at_q, ray)
        bound = tm.add(
            known[0] * T,
            known[1],
            *(w * m.form.f for w, m in zip(known[2:], data.moments, strict=True)),
        )
        self.show(with_facts(given, Fact(T, ">"), *data.facts), bound - value)

    def on_ray(
        self,
        phi: Form,
        data: StageData,
        known: list[Term],
        ray: str | None,
        own: str,
        given: Facts,
        prefix: Term,
    ) -> None:
        """One density of this stage zero: ``own`` is the ray of this stage."""
        if ray is not None and ray != own:
            value = ZERO  # p1 p2 = q1 q2 = 0
        else:
            scale = prefix if ray is None and own == P_RAY else ONE
            value = scale * _finite(phi.on(own), own)
        parts = [known[0] if own == P_RAY else known[1]]
        for weight, moment in zip(known[2:], data.moments, strict=True):
            parts.append(weight * _finite(moment.form.on(own), own))
        self.show(given, tm.add(*parts) - value)


def _value(form: Form, ray: str | None, prefix: Term) -> Term | None:
    return form.at(prefix) if ray is None else form.on(ray)


def _finite(value: Term | None, ray: str | None) -> Term:
    if value is None:
        raise Refusal("tower", "a finite value on a ray that may carry mass", ray)
    return value


@privacy_rule(name=NAME, start=TERM, value=TERM)
def limit(goal: Statement, name: str, start: Term, value: Term) -> list[Goal]:
    """D(c | F, x >= a)   F |- bound - c(a) >= 0   F, x > a, S => claim with bound c(x)
    -----------------------------------------------------------------------------
    F, S => claim

    as x decreases to a: c is continuous where it is defined, and a guarantee is closed under limits
    of its last argument, and monotone in it. Fails for a term with ite, or when x is not new.
    """
    claim = _only_claim(goal, "limit")
    names = _declared(goal.variables)
    require(claim.name != "BoundedRange", "limit", "a claim closed under limits", claim)
    require(not any(item.op == "ite" for item in subterms(value)), "limit", "no ite", value)
    _within(names, start)
    _within(names | {name}, value)
    x, last = tm.var(name), claim.args[-1]
    if last is None:
        raise Refusal("limit", "a claim with a bound", claim)
    closed = with_facts(goal.facts, Fact(x - start, ">="))
    weaker = replace(claim, args=(*claim.args[:-1], value))
    return [
        *obligations(goal.facts, start),
        *obligations(closed, value),
        Sequent(goal.facts, Fact(last - substitute(value, {name: start}), ">=")),
        _with_variable(goal, "limit", name, (Fact(x - start, ">"),), weaker),
    ]


@privacy_rule(stage=INDEX)
def postprocess(goal: Statement, stage: int) -> list[Goal]:
    """F |- convexity of each guarantee's function   F, S with G => claim
    ------------------------------------------------------------------
    F, S with a post-processing of G => claim

    by Jensen's inequality on the cone p, q >= 0: f is convex between any two points, and adding mass
    on a ray adds at most its value there. Fails for guarantees that are not closed, and families.
    """
    require(stage < len(goal.stages), "postprocess", "the index of a stage", stage)
    found = goal.stages[stage]
    if not isinstance(found, Processed):
        raise Refusal("postprocess", "a post-processed stage", found)
    premises: list[Sequent] = []
    for guarantee in found.guarantees:
        for item in constraints(guarantee) or (None,):
            if isinstance(item, Moment):
                premises += _convex(goal.facts, item.form)
            elif not isinstance(item, (Support, Range)):
                raise Refusal("postprocess", "a guarantee that is not a family", guarantee)
    stages = (*goal.stages[:stage], Assumed(found.guarantees), *goal.stages[stage + 1 :])
    return [*dict.fromkeys(premises), replace(goal, stages=stages)]


def _convex(facts: Facts, form: Form) -> list[Sequent]:
    t, u, w = T, S, tm.var("$w")
    work = _Tower(facts, frozenset())
    inside = with_facts(facts, Fact(t, ">"), Fact(u, ">"))
    between = with_facts(inside, Fact(w, ">="), Fact(1 - w, ">="))
    if form.f.kinked:
        mixed = form.at(w * t + (1 - w) * u)
        work.show(between, w * form.f + (1 - w) * form.at(u) - mixed)
    else:
        slope = tm.derivative(form.f, RATIO)
        work.show(with_facts(facts, Fact(t, ">")), tm.derivative(slope, RATIO))
    if form.at_p is not None:
        work.show(inside, form.f + u * form.at_p - form.at(t + u))
    if form.at_q is not None:
        work.show(inside, form.f + u * form.at_q - (1 + u) * form.at(t / (1 + u)))
    if form.at_p is not None and form.at_q is not None:
        work.show(with_facts(facts, Fact(t, ">")), t * form.at_p + form.at_q - form.f)
    return work.premises


@privacy_rule()
def pointwise(goal: Statement) -> list[Goal]:
    """F, facts of the pair and the region |- e^epsilon q - p >= 0   for each region of each pair
    ---------------------------------------------------------------------------------------
    F, one explicit mechanism => PureDP(epsilon) in one direction

    Fails for other claims and stages.
    """
    claim = _one_direction(goal, "pointwise")
    (found,) = constraints(claim) or (None,)
    if not isinstance(found, Support):
        raise Refusal("pointwise", "a claim of pure DP", claim)
    (stage,) = goal.stages if len(goal.stages) == 1 else (None,)
    if not isinstance(stage, Mechanism):
        raise Refusal("pointwise", "one explicit mechanism", goal.stages)
    out: list[Sequent] = []
    for pair in stage.pairs:
        for region in pair.regions:
            p, q = (region.q, region.p) if found.reverse else (region.p, region.q)
            given = with_facts(goal.facts, *pair.facts, *region.facts)
            out.append(Sequent(given, Fact(found.bound * q - p, ">=")))
    return list(dict.fromkeys(out))
