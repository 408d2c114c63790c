"""The rules for explicit mechanisms: one pair at a time, then integrals and sums of its densities.

The texts are as in ``rules_privacy``. An upper bound of an integral comes from an antiderivative,
of a sum from telescoping, and of either from densities that are known to have mass 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

from dpsym.kernel import definitions as df
from dpsym.kernel import rules_privacy as rp
from dpsym.kernel import sequents as sq
from dpsym.kernel import statements as st
from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import P_RAY, Q_RAY, Form, Moment, Range, Support, constraints
from dpsym.kernel.kinds import NAME, NUMBERS, TERM, ListKind, MaybeKind, RowKind, choice, whole
from dpsym.kernel.refusal import expect, require
from dpsym.kernel.rules import Goal, privacy_rule
from dpsym.kernel.sequents import Facts, Sequent, context, obligations, unless_evident, with_facts
from dpsym.kernel.statements import Fact, Guarantee, Mechanism, Pair, Region, Statement
from dpsym.kernel.terms import ONE, ZERO, Term, substitute, var


def _mechanism(goal: Statement, rule: str) -> Mechanism:
    only = goal.stages[0] if len(goal.stages) == 1 else goal.stages
    return expect(Mechanism, only, rule, "one explicit mechanism")


def _only_pair(goal: Statement, rule: str) -> Pair:
    """The one pair of the goal, which has no variables of its own."""
    found = _mechanism(goal, rule).pairs
    fits = len(found) == 1 and not found[0].variables and not found[0].facts
    require(fits, rule, "one pair without variables of its own", len(found))
    return found[0]


def _only_region(regions: tuple[Region, ...], rule: str) -> Region:
    require(len(regions) == 1, rule, "one region", len(regions))
    return regions[0]


@privacy_rule()
def pairs(goal: Statement) -> list[Goal]:
    """F, facts of the pair, that pair alone => claim     for each pair
    -----------------------------------------------
    F, one explicit mechanism => claim

    The pair's variables become the statement's. Fails for other stages.
    """
    out: list[Goal] = []
    for pair in _mechanism(goal, "pairs").pairs:
        alone = Mechanism((replace(pair, variables=(), facts=()),))
        variables, given = goal.variables + pair.variables, with_facts(goal.facts, *pair.facts)
        rp.declared(variables)
        out.append(Statement(variables, given, (alone,), goal.claims))
    return out


@privacy_rule(item=TERM)
def either(goal: Statement, item: Term) -> list[Goal]:
    """D(e | F)   F, e >= 0, S => claims   F, -e > 0, S => claims
    ----------------------------------------------------------
    F, S => claims

    Fails for unknown variables.
    """
    rp.within(rp.declared(goal.variables), item)
    sides = (Fact(item, ">="), Fact(-item, ">"))
    cases = [replace(goal, facts=with_facts(goal.facts, side)) for side in sides]
    return [*obligations(goal.facts, item), *cases]


@privacy_rule(name=NAME, value=TERM, kind=NUMBERS)
def named(goal: Statement, name: str, value: Term, kind: str) -> list[Goal]:
    """D(e | F)   F, e - n >= 0, n - e >= 0, S => claim    (or F, e - n >= 0, n + 1 - e > 0, ...)
    ---------------------------------------------------- n a new variable
    F, S => claim

    as there is such an n for every e: for an integer n, where e is not evidently one, the integer
    below it. Fails when n is not new.
    """
    rp.within(rp.declared(goal.variables), value)
    n, claim = var(name), rp.only_claim(goal, "named")
    same = kind == st.REAL or rp.is_integer(value, dict(goal.variables))
    above = Fact(n - value, ">=") if same else Fact(n + 1 - value, ">")
    facts = (Fact(value - n, ">="), above)
    return [*obligations(goal.facts, value), rp.with_variable(goal, name, facts, claim, kind)]


@privacy_rule(name=NAME, value=TERM)
def equal(goal: Statement, name: str, value: Term) -> list[Goal]:
    """D(e | F)   F |- x - e >= 0   F |- e - x >= 0   F[e], S[e] => claims[e]
    ---------------------------------------------------------------------- e free of x
    F, S => claims

    Fails when x is not a variable of the goal, or an integer and e is not.
    """
    kinds = dict(goal.variables)
    fits = name in kinds and (kinds[name] == st.REAL or rp.is_integer(value, kinds))
    require(fits, "equal", "a variable, and an integer for an integer", name)
    rp.within(rp.declared(goal.variables) - {name}, value)
    gap = var(name) - value
    sides = [Sequent(goal.facts, Fact(side, ">=")) for side in (gap, -gap)]
    left = tuple(pair for pair in goal.variables if pair[0] != name)
    moved = st.replaced(goal, {name: value}, context(()).evident)
    return [*obligations(goal.facts, value), *sides, replace(moved, variables=left)]


@privacy_rule()
def pointwise(goal: Statement) -> list[Goal]:
    """F, facts of the pair and the region |- e^epsilon q - p >= 0   for each region of each pair
    ---------------------------------------------------------------------------------------
    F, one explicit mechanism => PureDP(epsilon) in one direction

    Fails for other claims and stages.
    """
    found = rp.claimed(goal, "pointwise", Support, "a claim of pure DP")
    out: list[Goal] = []
    for pair in _mechanism(goal, "pointwise").pairs:
        for region in pair.regions:
            p, q = (region.q, region.p) if found.reverse else (region.p, region.q)
            given = with_facts(goal.facts, *pair.facts, *region.facts)
            out.append(Sequent(given, Fact(found.bound * q - p, ">=")))
    return list(dict.fromkeys(out))


@privacy_rule()
def spread(goal: Statement) -> list[Goal]:
    """F, facts of x |- q(x) > 0   F, facts of x and of y |- e^epsilon q(x) p(y) - p(x) q(y) >= 0
    ------------------------------------------------------------------------------------------
    F, one explicit mechanism => BoundedRange(epsilon) in one direction

    for outputs x and y in any two regions of a pair, with p(x) > 0 and p(y) > 0 among the facts.
    Fails for other claims and stages.
    """
    found = rp.claimed(goal, "spread", Range, "a claim of a bounded range")
    out: list[Goal] = []
    for pair in _mechanism(goal, "spread").pairs:
        known = with_facts(goal.facts, *pair.facts)
        for first, second in product(pair.regions, repeat=2):
            other = {second.output: var("$y")} if second.output else {}
            sides = [(r.q, r.p) if found.reverse else (r.p, r.q) for r in (first, second)]
            (p, q), (p_y, q_y) = sides[0], (substitute(item, other) for item in sides[1])
            here = _where(known, first.facts, p)
            there = _where(here, tuple(fact.substitute(other) for fact in second.facts), p_y)
            gap = tm.exp(found.length) * q * p_y - p * q_y
            out += [Sequent(here, Fact(q, ">")), Sequent(there, Fact(gap, ">="))]
    return list(dict.fromkeys(out))


def _where(known: Facts, more: Facts, mass: Term) -> Facts:
    """What holds where there is mass, too."""
    given = with_facts(known, *more)
    return with_facts(given, context(given).tidy(Fact(mass, ">")))


# -- integrals and sums


@dataclass(frozen=True, slots=True)
class Slack:
    """``coefficient`` times a function of e = ``rate`` * a - ``shift`` that vanishes as e grows, as
    ``_VANISHING`` says with n = ``power``; rate > 0, and a grows towards an end: it is |x|, or
    1/|x - end|."""

    coefficient: Term
    kind: str
    power: int
    rate: Term
    shift: Term

    def growing(self, a: Term) -> Term:
        return self.rate * a - self.shift

    def value(self, a: Term) -> Term:
        e = self.growing(a)
        return self.coefficient * _VANISHING[self.kind](e) * tm.power(e, self.power)


_VANISHING: dict[str, Callable[[Term], Term]] = {  # these times e^n, n of either sign
    "exp": lambda e: tm.exp(-e),
    "bell": lambda e: tm.exp(-tm.power(e, 2)),
    "erfc": tm.erfc,
    "inverse": lambda e: tm.ONE,  # n < 0
}


@dataclass(frozen=True, slots=True)
class Limit:
    """That an antiderivative passes ``value`` towards an end by no more than vanishing terms, on
    the side that matters: it is at most that towards an end, at least that towards a start."""

    value: Term
    slacks: tuple[Slack, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a region, from where the last one ends (at first: from the region's end) to
    ``until`` (None: to the region's end), with an antiderivative. A limit stands for its value at
    an end where it has none. ``p`` and ``q`` are other terms for the densities on the piece, in the
    direction of the claim; ``p`` for what is integrated, if that is one density."""

    primitive: Term
    until: Term | None = None
    first: Limit | None = None
    last: Limit | None = None
    p: Term | None = None
    q: Term | None = None


SLACK = RowKind((TERM, choice(*_VANISHING), whole(-60, 60), TERM, TERM), Slack)
LIMIT = MaybeKind(RowKind((TERM, ListKind(SLACK)), Limit))
PIECE = RowKind((TERM, MaybeKind(TERM), LIMIT, LIMIT, MaybeKind(TERM), MaybeKind(TERM)), Piece)
PIECES = ListKind(ListKind(PIECE))
Pieces = tuple[Piece, ...]
LOW = MaybeKind(RowKind((TERM, TERM)))
Low = tuple[Term, Term] | None
Value = tuple[list[Sequent], Term]
Integrand = Callable[[Piece, Facts], Value]
End = Term | None


@privacy_rule(low=LOW, pieces=PIECES)
def integral(goal: Statement, low: Low, pieces: tuple[Pieces, ...]) -> list[Goal]:
    """F, x inside |- G' - phi(p, q) >= 0   (of integers: G[x+1] - G - phi(p, q) >= 0)
    F |- c - sum of (G at the end - G at the start) >= 0      D(G | F, x in the closed piece) ...
    ---------------------------------------------------------------------------------------------
    F, one pair => the integral of phi is at most c

    for pieces that cover each region in order, which is shown. As phi(p, q) >= A p + B q (``low``)
    or phi <= 0, shown, the integral is the limit of those over bounded pieces. Atoms add phi(p, q)
    times their weight. Fails for another goal, an unnormalised pair, or a region that is no
    interval.
    """
    claim, form, bound = _moment(goal, "integral")
    out = _has_integral(goal, form, low)
    regions = _normalised(goal, "integral").regions
    require(len(regions) == len(pieces), "integral", "pieces for each region", len(pieces))
    total = ZERO
    for region, parts in zip(regions, pieces, strict=True):
        p, q = (region.q, region.p) if claim.reverse else (region.p, region.q)

        def integrand(piece: Piece, given: Facts, p: Term = p, q: Term = q) -> Value:
            return _value(form, (p, piece.p), (q, piece.q), given)

        more, value = _summed(goal, region, parts, integrand)
        out, total = out + more, total + value
    return list(dict.fromkeys([*out, *rp.shown(goal.facts, bound - total)]))


def _has_integral(goal: Statement, form: Form, low: Low) -> list[Sequent]:
    """That the form is at least A p + B q, so that an integral of it exists, or never positive."""
    below = form if low else Form(-form.f, *(v and -v for v in (form.at_p, form.at_q)))
    rp.within(rp.declared(goal.variables), *(low or ()))
    return rp.bounded_below(goal.facts, below, low or (ZERO, ZERO), frozenset([P_RAY, Q_RAY]))


def _moment(goal: Statement, rule: str) -> tuple[Guarantee, Form, Term]:
    """The only claim, in one direction, and its form and bound from P to Q."""
    moment = rp.claimed(goal, rule, Moment, "a claim about one moment")
    claim = goal.claims[0]
    forward = constraints(replace(claim, reverse=False))[0]
    return claim, expect(Moment, forward, rule, "a moment").form, moment.bound


def _normalised(goal: Statement, rule: str) -> Pair:
    pair = _only_pair(goal, rule)
    require(pair.normalised, rule, "a pair of normalised densities", pair.label)
    return pair


Density = tuple[Term, Term | None]  # and another term for it, if that is to be used


def _value(form: Form, p: Density, q: Density, given: Facts) -> Value:
    """phi(p, q) for positive p and q, or where one of them is zero."""
    (same_p, p_term), (same_q, q_term) = _written(p, given), _written(q, given)
    same = same_p + same_q
    for gone, other, ray in ((p_term, q_term, Q_RAY), (q_term, p_term, P_RAY)):
        if gone is ZERO:
            value = expect(Term, form.on(ray), "integral", "a finite value where a density is zero")
            return same, value * other
    positive = unless_evident(given, Fact(p_term, ">"), Fact(q_term, ">"))
    return [*same, *positive], homogeneous(form.f, p_term, q_term)


def _written(density: Density, given: Facts) -> Value:
    """The other term for a density, if there is one, and that it is the same."""
    item, other = density
    if other is None:
        return [], item
    gaps = Fact(item - other, ">="), Fact(other - item, ">=")
    return [*obligations(given, other), *unless_evident(given, *gaps)], other


def homogeneous(f: Term, p: Term, q: Term) -> Term:
    """q f(p/q) for p, q > 0, with q multiplied into sums and the like."""
    if f is df.T or st.RATIO not in f.vars:
        return p if f is df.T else f * q
    if f.op in ("add", "max", "min"):
        return Term(f.op, tuple(homogeneous(arg, p, q) for arg in f.args))
    moving = [arg for arg in f.args if st.RATIO in arg.vars]
    if f.op == "mul" and len(moving) == 1:
        fixed = [arg for arg in f.args if arg is not moving[0]]
        return tm.mul(*fixed, homogeneous(moving[0], p, q))
    above, below = ([*item.args] if item.op == "mul" else [item] for item in (p, q))
    for factor in [item for item in above if item in below]:  # not zero, as q is not
        if factor in below:
            above.remove(factor)
            below.remove(factor)
    return q * substitute(f, {st.RATIO: tm.mul(*above) / tm.mul(*below)})


def _summed(goal: Statement, region: Region, pieces: Pieces, integrand: Integrand) -> Value:
    """Premises, and an upper bound of the integral over the region that they show."""
    require(bool(pieces), "integral", "at least one piece", region)
    for piece in pieces:
        known = rp.declared(goal.variables) | ({region.output} if region.output else set())
        rp.within(known, piece.primitive, *(one for one in (piece.p, piece.q) if one is not None))
        ends = [piece.until, *_terms(piece.first), *_terms(piece.last)]
        rp.within(rp.declared(goal.variables), *(item for item in ends if item is not None))
    if region.output is None:
        weight = ONE if region.weight is None else region.weight
        out, value = integrand(pieces[0], goal.facts)
        out = out + unless_evident(goal.facts, Fact(weight, ">="))
        return [*out, *obligations(goal.facts, value)], weight * value
    start, stop = _ends(goal, region)
    out, total = [], ZERO
    for number, piece in enumerate(pieces, 1):
        inner = number < len(pieces)
        require((piece.until is not None) == inner, "integral", "ends of all but the last", piece)
        end = piece.until if inner else stop
        more, value = _over(goal, region, piece, (start, end), integrand)
        out, total, start = out + more, total + value, end
    return out, total


def _terms(limit: Limit | None) -> tuple[Term, ...]:
    if limit is None:
        return ()
    parts = [(slack.coefficient, slack.rate, slack.shift) for slack in limit.slacks]
    return (limit.value, *(item for part in parts for item in part))


def _ends(goal: Statement, region: Region) -> tuple[End, End]:
    """Where the region starts, and where it ends: for integers, the first beyond it."""
    known = context(goal.facts)  # the region's own facts say nothing where it is empty
    ends: dict[bool, Term] = {}
    for fact in region.facts:
        split = None if fact.rel == "!=" else known.affine(fact.term, region.output or "")
        slope, end = expect(tuple, split, "integral", "a region that is an interval")
        require((slope > 0) not in ends, "integral", "a region that is an interval", region)
        closed = region.kind == st.REAL or fact.rel == ">="
        require(closed, "integral", "closed bounds of integers", fact)
        ends[slope > 0] = end
    first, last = ends.get(True), ends.get(False)
    if region.kind == st.REAL:
        return first, last
    return _integer(goal, first), _integer(goal, None if last is None else last + 1)


def _integer(goal: Statement, end: End) -> End:
    fits = end is None or rp.is_integer(end, dict(goal.variables))
    require(fits, "integral", "integer ends of a sum", end)
    return end


def _over(
    goal: Statement, region: Region, piece: Piece, ends: tuple[End, End], integrand: Integrand
) -> Value:
    """Premises of one piece, and G at its end less G at its start."""
    name, facts, whole = region.output or "", goal.facts, region.kind == st.INTEGER
    x, (start, end), item = var(name), ends, piece.primitive
    sides = ((start, piece.first, -1), (end, piece.last, 1))
    for side, limit, _ in sides:
        fits = limit is not None if side is None else not (whole and limit)
        require(fits, "integral", "limits where there is no end, none at integers", limit)
    if whole:
        _integer(goal, piece.until)
    finite = [(side, limit, way) for side, limit, way in sides if side is not None]
    out = obligations(facts, *(side for side, _, _ in finite))
    if start is not None and end is not None:
        room = ">" if piece.first or piece.last else ">="
        out += unless_evident(facts, Fact(end - start, room))
    rel, less = (">=", 1) if whole else (">", 0)
    inside = with_facts(
        facts, *(Fact(way * (side - x) - (less if way == 1 else 0), rel) for side, _, way in finite)
    )
    closed = [Fact(way * (side - x), ">" if limit else ">=") for side, limit, way in finite]
    more, value = integrand(piece, inside)
    growth = substitute(item, {name: x + 1}) - item if whole else tm.derivative(item, name)
    out += [*sq.defined(with_facts(facts, *closed), item), *more]
    out += [*obligations(inside, value, growth), sq.normal(inside, growth - value, ">=")]
    total = ZERO
    for side, limit, way in sides:
        if limit is not None:
            out += _approached(facts, inside, limit, x, side, item, way)
            total += way * limit.value
        elif side is not None:
            total += way * substitute(item, {name: side})
    return out, total


def _approached(
    facts: Facts, inside: Facts, limit: Limit, x: Term, end: End, item: Term, way: int
) -> list[Sequent]:
    """Towards its end (way 1), G <= value + slacks; towards its start (-1), G >= value - slacks."""
    a = way * x if end is None else 1 / (way * (end - x))
    rates = [Fact(slack.rate, ">") for slack in limit.slacks]
    vanishing = all(slack.kind != "inverse" or slack.power < 0 for slack in limit.slacks)
    require(vanishing, "integral", "slacks that vanish", limit)
    close = with_facts(inside, *(Fact(slack.growing(a), ">") for slack in limit.slacks))
    gap = tm.add(way * (limit.value - item), *(slack.value(a) for slack in limit.slacks))
    out = [*obligations(facts, *_terms(limit)), *unless_evident(facts, *rates)]
    return [*out, *sq.defined(close, gap), sq.normal(close, gap, ">=")]


@dataclass(frozen=True, slots=True)
class Mass:
    """``coefficient`` times r(scale * (x - shift)) * scale, where r is the density that is named,
    at other values of the parameters in ``mapping``."""

    coefficient: Term
    density: str
    shift: Term
    scale: Term
    mapping: tuple[tuple[str, Term], ...]


MASS = RowKind((TERM, choice("p", "q"), TERM, TERM, ListKind(RowKind((NAME, TERM)))), Mass)


@privacy_rule(masses=ListKind(MASS), mirror=MaybeKind(RowKind((TERM, LOW))))
def masses(
    goal: Statement, masses: tuple[Mass, ...], mirror: tuple[Term, Low] | None
) -> list[Goal]:
    """F, x |- sum c_j r_j(x) - phi(p, q) >= 0   F |- c - sum c_j >= 0   F |- F[other parameters]
    ------------------------------------------------------------------------------------------
    F, one pair => the integral of phi is at most c

    where each r_j has mass 1: it is p or q, with the output shifted and scaled (scale > 0; for
    integers 1, and the shift an integer), and parameters replaced by others that satisfy F. With a
    mirror m, the mean of phi at x and at m - x is meant; phi has an integral as in ``integral``.
    On the integers from an end on, a mass shifted by a natural number is zero before its own first
    integer; there the first premise is one for each integer, without that mass. Fails for several
    regions, another shift, scale or mirror on a part of the line, and parameters replaced in an
    unnormalised pair.
    """
    claim, form, bound = _moment(goal, "masses")
    pair = _only_pair(goal, "masses")
    region = _only_region(pair.regions, "masses")
    name, kinds = expect(str, region.output, "masses", "densities"), dict(goal.variables)
    given = with_facts(goal.facts, *region.facts)
    p, q = (region.q, region.p) if claim.reverse else (region.p, region.q)
    out, value = _value(form, (p, None), (q, None), given)
    if mirror is not None:
        centre, low = mirror
        whole = region.kind == st.REAL or rp.is_integer(centre, kinds)
        require(whole and not region.facts, "masses", "a mirror of the whole line", centre)
        rp.within(rp.declared(goal.variables), centre)
        out += [*obligations(goal.facts, centre), *_has_integral(goal, form, low)]
        value = (value + substitute(value, {name: centre - var(name)})) / 2
    mass, early = ZERO, list[tuple[int, Term]]()
    for one in masses:
        names = dict(one.mapping)
        moved = one.shift is not ZERO or one.scale is not ONE
        delay = _delay(goal, region, one.shift) if moved and region.facts else 0
        require(pair.normalised or not names, "masses", "the same parameters", one)
        require(set(names) <= set(kinds), "masses", "parameters of the goal", sorted(names))
        for item, kind in [(one.shift, region.kind), *((names[n], kinds[n]) for n in names)]:
            whole = kind == st.REAL or rp.is_integer(item, kinds)
            require(whole, "masses", "integers for integers", item)
        require(region.kind == st.REAL or one.scale is ONE, "masses", "no scale for integers", one)
        fixed = (one.coefficient, one.shift, one.scale, *names.values())
        rp.within(rp.declared(goal.variables), *fixed)
        kept = not any(set(names) & fact.term.vars for fact in region.facts)
        require(kept, "masses", "a region free of the parameters that are replaced", one)
        needed = [Fact(one.scale, ">"), *(fact.substitute(names) for fact in goal.facts)]
        out += [*obligations(goal.facts, *fixed), *unless_evident(goal.facts, *needed)]
        at = {**names, name: one.scale * (var(name) - one.shift)}
        density = substitute(region.p if one.density == "p" else region.q, at)
        early.append((delay, one.coefficient * one.scale * density))
        mass += one.coefficient
    last = max([0, *(delay for delay, _ in early)])
    start = expect(Term, _ends(goal, region)[0], "masses", "a start") if last else ZERO
    beyond = with_facts(given, Fact(var(name) - start - last, ">=")) if last else given
    for i in range(last + 1):  # at the integers where not all of the masses have begun, and then
        known, here = (goal.facts, {name: start + i}) if i < last else (beyond, {})
        gap = substitute(tm.add(*(item for delay, item in early if delay <= i)) - value, here)
        out += [*obligations(known, gap), sq.normal(known, gap, ">=")]
    return list(dict.fromkeys([*out, *rp.shown(goal.facts, bound - mass)]))


def _delay(goal: Statement, region: Region, shift: Term) -> int:
    """By how many integers a mass begins later than the region, which must have no end."""
    small = [i for i in range(20) if shift is tm.num(i)]
    half = region.kind == st.INTEGER and _ends(goal, region)[1] is None
    require(half and bool(small), "masses", "natural shifts from an integer on, or a line", region)
    return small[0]


SIDES = ListKind(RowKind((ListKind(PIECE), ListKind(PIECE), ListKind(PIECE), ListKind(PIECE))))


@privacy_rule(pieces=SIDES)
def distributions(goal: Statement, pieces: tuple[tuple[Pieces, ...], ...]) -> list[Goal]:
    """F, facts of the region |- p >= 0, q >= 0   the integrals of p, -p, q and -q are at most 1, -1
    ---------------------------------------------------------------------------------------------
    F, one pair => Distributions

    each integral by pieces as in ``integral``. Fails for an unnormalised pair.
    """
    claim = rp.only_claim(goal, "distributions")
    require(claim.name == "Distributions", "distributions", "that claim", claim)
    regions = _normalised(goal, "distributions").regions
    require(len(regions) == len(pieces), "distributions", "pieces for each region", len(pieces))
    out: list[Sequent] = []
    totals = [ONE, -ONE, ONE, -ONE]
    for region, sides in zip(regions, pieces, strict=True):
        given = with_facts(goal.facts, *region.facts)
        out += unless_evident(given, Fact(region.p, ">="), Fact(region.q, ">="))
        parts = (region.p, -region.p, region.q, -region.q)
        for i, (item, parts_of_one) in enumerate(zip(parts, sides, strict=True)):

            def integrand(piece: Piece, given: Facts, item: Term = item) -> Value:
                return _written((item, piece.p), given)

            more, value = _summed(goal, region, parts_of_one, integrand)
            out, totals[i] = out + more, totals[i] - value
    for total in totals:
        out += rp.shown(goal.facts, total)
    return list(dict.fromkeys(out))


@privacy_rule(parameters=RowKind((TERM, TERM)))
def series(goal: Statement, parameters: tuple[Term, Term]) -> list[Goal]:
    """F |- u > 0   F, x >= 0 |- p - e^-u u^x/x! >= 0, e^-u u^x/x! - p >= 0     and so for q and v
    --------------------------------------------------------------------------------------------
    F, one pair on the integers from 0 on => Distributions

    by the exponential series. On the integers from 0 to n, by the binomial theorem, the masses are
    n!/(x! (n - x)!) u^x (1 - u)^(n - x), and 1 - u > 0 too. Fails for other regions, and an
    unnormalised pair.
    """
    require(rp.only_claim(goal, "series").name == "Distributions", "series", "that claim", goal)
    region = _only_region(_normalised(goal, "series").regions, "series")
    (start, stop), x = _ends(goal, region), var(region.output or "$")
    require(region.kind == st.INTEGER and start is ZERO, "series", "integers from 0 on", region)
    out = [] if stop is None else unless_evident(goal.facts, Fact(stop, ">"))
    for item, u in zip((region.p, region.q), parameters, strict=True):
        rp.within(rp.declared(goal.variables), u)
        law = x * tm.log(u) - tm.lgamma(x + 1) - (u if stop is None else tm.lgamma(stop - x))
        if stop is not None:
            law = law + tm.lgamma(stop) + (stop - 1 - x) * tm.log(1 - u)
        out += _written((item, tm.exp(law)), with_facts(goal.facts, *region.facts))[0]
    return list(dict.fromkeys(out))
