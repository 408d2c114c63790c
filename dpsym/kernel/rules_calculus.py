"""Rules of calculus: derivatives, concavity, limits, substitutions, and vertices.

H, ``|-`` and D(e | H) are as in ``rules_logic``. Hypotheses that mention the variable are used as
bounds of it, where they are affine in it; others are dropped, so what needs to be defined is shown
again under those that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from dpsym.kernel import sequents as sq
from dpsym.kernel import terms as tm
from dpsym.kernel.kinds import FLAG, NAME, SIGN, TERM, ListKind, MaybeKind, RowKind, choice
from dpsym.kernel.refusal import require
from dpsym.kernel.rules import Goal, keep, leaf_rule
from dpsym.kernel.sequents import Facts, Sequent, context, defined, normal, obligations, with_facts
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term, derivative, substitute, var


class Bounded:
    """The hypotheses of a sequent, seen from one variable."""

    def __init__(self, goal: Sequent, name: str) -> None:
        self.x, self.known = var(name), context(goal.hypotheses)
        self.rest: Facts = tuple(f for f in goal.hypotheses if name not in f.term.vars)
        self.lower: list[tuple[Term, str]] = []
        self.upper: list[tuple[Term, str]] = []
        for fact in goal.hypotheses:
            split = self.known.affine(fact.term, name) if fact.rel != "!=" else None
            if split is not None:
                (self.lower if split[0] > 0 else self.upper).append((split[1], fact.rel))

    def relation(self, ends: Iterable[tuple[Term, str]], end: Term, rule: str) -> str:
        """The strictest relation with which the hypotheses state this bound."""
        found = {rel for item, rel in ends if self.known.same(item, end)}
        fits = bool(found) and not self.x.vars & end.vars
        require(fits, rule, "a hypothesis that states the bound", self.x, end)
        return ">" if ">" in found else ">="

    def between(self, rule: str, lower: Term, upper: Term | None) -> tuple[Facts, Facts, Facts]:
        """The hypotheses without the variable, on the closed interval, and on the open one."""
        self.relation(self.lower, lower, rule)
        if upper is not None:
            self.relation(self.upper, upper, rule)
        room = () if upper is None else (Fact(upper - lower, ">="),)
        reach = [self.x - lower] if upper is None else [self.x - lower, upper - self.x]
        closed, inside = ([Fact(item, rel) for item in reach] for rel in (">=", ">"))
        add = partial(with_facts, self.rest)
        return add(*room), add(*closed), add(*inside)


@leaf_rule(name=NAME, start=TERM, direction=SIGN, from_open=FLAG)
def derive(goal: Sequent, name: str, start: Term, direction: int, from_open: bool) -> list[Goal]:
    """The sign at a bound a of x, and the sign of the derivative beyond it.

    D(g | closed)   D(g' | open)   H0 |- g[a] rel 0   H0, x > a |- g' >= 0
    ----------------------------------------------------------------------
    H |- g rel 0

    for a bound x >= a (direction 1) or, turned around, x <= a (-1); H0 keeps what is free of x and
    the bounds on the other side. With from_open, a strict goal needs only g[a] >= 0 and g' > 0, if
    the bound is strict. Fails when H does not state the bound, or g has kinks in x.
    """
    x, item, rel = var(name), goal.goal.term, goal.goal.rel
    about = Bounded(goal, name)
    near, far = (about.lower, about.upper) if direction == 1 else (about.upper, about.lower)
    stated = about.relation(near, start, "derive")
    fits = not from_open or (rel == ">" and stated == ">")
    require(fits, "derive", "a strict goal and bound", goal.goal)
    beyond = [Fact(direction * (end - x), bound) for end, bound in far]
    base = with_facts(about.rest, *(Fact(direction * (end - start), bound) for end, bound in far))
    closed = with_facts(about.rest, *beyond, Fact(direction * (x - start), ">="))
    inside = with_facts(about.rest, *beyond, Fact(direction * (x - start), ">"))
    slope = derivative(item, name)
    return keep(
        [
            *obligations(about.rest, start),
            *defined(closed, item),
            *obligations(inside, slope),
            normal(base, substitute(item, {name: start}), ">=" if from_open else rel),
            normal(inside, direction * slope, ">" if from_open else ">="),
        ]
    )


@leaf_rule(name=NAME, start=MaybeKind(TERM), direction=SIGN, near=TERM, rate=TERM)
def approach(
    goal: Sequent, name: str, start: Term | None, direction: int, near: Term, rate: Term
) -> list[Goal]:
    """The limit at an open bound a of x, or at infinity, and the sign of the derivative beyond it.

    D(...)   H0 |- n > 0   H1, x near a |- g + C |x - a| >= 0   H1 |- g' rel 0
    --------------------------------------------------------------------------
    H |- g rel 0

    for x > a (direction 1) or, turned around, x < a (-1), as in ``derive``; H1 keeps what is free
    of x, the bounds on the other side, and x > a; near a means |x - a| <= n. Without a start, a is
    minus infinity (direction 1) or plus infinity (-1), near it |x| >= n, and |x - a| becomes 1/|x|.
    Fails when H does not state the bound, or C or n mention x.
    """
    x, item, about = var(name), goal.goal.term, Bounded(goal, name)
    ends, far = (about.lower, about.upper) if direction == 1 else (about.upper, about.lower)
    fixed = [near, rate] if start is None else [near, rate, start]
    require(all(name not in part.vars for part in fixed), "approach", "terms without", name)
    inside = with_facts(about.rest, *(Fact(direction * (end - x), rel) for end, rel in far))
    reach, close, slack = -direction * x, -direction * x - near, 1 / (-direction * x)
    if start is not None:
        strict = about.relation(ends, start, "approach") == ">"
        require(strict, "approach", "an open bound", start)
        slack = reach = direction * (x - start)
        close = near - reach
        inside = with_facts(inside, Fact(reach, ">"))
    slope, room = derivative(item, name), sq.unless_evident(about.rest, Fact(near, ">"))
    closer = with_facts(inside, *(p.goal for p in room), Fact(close, ">="), Fact(reach, ">"))
    return keep(
        [
            *obligations(about.rest, *fixed),
            *defined(inside, item, slope),
            *room,
            normal(closer, item + rate * slack, ">="),
            normal(inside, direction * slope, goal.goal.rel),
        ]
    )


@leaf_rule(name=NAME, start=TERM, direction=SIGN, before=TERM)
def secant(goal: Sequent, name: str, start: Term, direction: int, before: Term) -> list[Goal]:
    """Convex, not positive at a point before the bound a of x, and nonnegative at the bound.

    D(...)   H0 |- a - d > 0   H0 |- -g[d] >= 0   H0 |- g[a] rel 0   H0, x > d |- g'' >= 0
    --------------------------------------------------------------------------------------
    H |- g rel 0

    for a bound x >= a (direction 1) or, turned around, x <= a (-1); H0 keeps what is free of x, and
    beyond d the bounds on the other side. Fails when H does not state the bound, d mentions x, or g
    has kinks in x.
    """
    x, item, about = var(name), goal.goal.term, Bounded(goal, name)
    near, far = (about.lower, about.upper) if direction == 1 else (about.upper, about.lower)
    about.relation(near, start, "secant")
    require(name not in before.vars, "secant", "a point without", name)
    beyond = with_facts(about.rest, *(Fact(direction * (end - x), rel) for end, rel in far))
    closed, inside = (with_facts(beyond, Fact(direction * (x - before), r)) for r in (">=", ">"))
    bend = derivative(derivative(item, name), name)
    base = with_facts(about.rest, *(Fact(direction * (end - start), rel) for end, rel in far))
    return keep(
        [
            *obligations(about.rest, start, before),
            *defined(closed, item),
            *obligations(inside, derivative(item, name), bend),
            Sequent(base, Fact(direction * (start - before), ">")),
            normal(base, -substitute(item, {name: before}), ">="),
            normal(base, substitute(item, {name: start}), goal.goal.rel),
            normal(inside, bend, ">="),
        ]
    )


TAIL = RowKind((TERM, TERM))
Tail = tuple[Term, Term]


@leaf_rule(">=", name=NAME, lower=TERM, upper=MaybeKind(TERM), new=NAME, weight=TERM, tail=TAIL)
def hump(
    goal: Sequent, name: str, lower: Term, upper: Term | None, new: str, weight: Term, tail: Tail
) -> list[Goal]:
    """Nonnegative at both ends, and the derivative, once negative, stays negative.

    D(...)   H0 |- g[a], g[b] >= 0   open |- w > 0   open, g'/w >= 0, a < u <= x |- (g'/w)[u] >= 0
    ----------------------------------------------------------------------------------------------
    H |- g >= 0

    for a <= x <= b, as g is either increasing on all of [a, x] or decreasing on all of [x, b].
    Without b, H0, x >= a, x >= n > 0 |- g + C/x >= 0 takes the place of g[b] >= 0; the tail is n
    and C. Fails when H does not state the bounds, n or C mention x, u is not new, or g has kinks
    in x.
    """
    x, u, item, (near, rate) = var(name), var(new), goal.goal.term, tail
    base, closed, inside = Bounded(goal, name).between("hump", lower, upper)
    require(new not in goal.vars | weight.vars | lower.vars, "hump", "a new variable", new)
    require(name not in near.vars | rate.vars, "hump", "terms without", name)
    slope = derivative(item, name)
    scaled = context(inside).canon.normal(slope / weight)
    earlier = with_facts(inside, Fact(scaled, ">="), Fact(u - lower, ">"), Fact(x - u, ">="))
    out = [*obligations(base, lower), *defined(closed, item), *obligations(inside, slope, weight)]
    out += [Sequent(inside, Fact(weight, ">")), normal(base, substitute(item, {name: lower}), ">=")]
    if upper is None:
        far = with_facts(closed, Fact(near, ">"), Fact(x - near, ">="))
        out += [*obligations(base, near, rate), Sequent(base, Fact(near, ">"))]
        out.append(normal(far, item + rate / x, ">="))
    else:
        out += [*obligations(base, upper), normal(base, substitute(item, {name: upper}), ">=")]
    return keep([*out, normal(earlier, substitute(scaled, {name: u}), ">=")])


@dataclass(frozen=True)
class _Map:
    """x by u and a, the signs that x and u need, and, for maps that keep positive bounds: the bound
    of u by the bound e of x and a, and whether the map is increasing."""

    image: Callable[[Term, Term], Term]
    sign: str | None = None
    new_sign: str | None = None
    end: Callable[[Term, Term], Term] | None = None
    increasing: bool = True


_MAPS = {
    "shift": _Map(lambda u, a: u + a),
    "negate": _Map(lambda u, a: a - u),
    "scale": _Map(lambda u, a: a * u, None, None, lambda e, a: e / a),
    "inverse": _Map(lambda u, a: a / u, ">", ">", lambda e, a: a / e, increasing=False),
    "log": _Map(lambda u, a: a * tm.log(u), None, ">"),
    "decay": _Map(lambda u, a: a * tm.exp(-u), ">", None, lambda e, a: tm.log(a / e), False),
    "square": _Map(lambda u, a: a * tm.power(u, 2), ">=", ">=", lambda e, a: tm.sqrt(e / a)),
}


@leaf_rule(">=", ">", "!=", name=NAME, kind=choice(*_MAPS), new=NAME, item=TERM)
def change(goal: Sequent, name: str, kind: str, new: str, item: Term) -> list[Goal]:
    """A new variable u for x, whose image covers every x that the hypotheses allow.

    D(H[x(u)])   D(g[x(u)] | ...)   H[x(u)], u in its range |- g[x(u)]
    ------------------------------------------------------------------
    H |- g

    shift x = u + a; negate x = a - u; scale x = a u (a > 0); inverse x = a/u (x, a, u > 0);
    log x = a log u (a > 0, u > 0); decay x = a exp(-u) (x, a > 0); square x = a u^2 (x >= 0, a > 0,
    u >= 0). Bounds of x become bounds of u. Fails when u is not new, a mentions x or is not
    evidently positive where it must be, or x is not evidently in the range.
    """
    used, about = _MAPS[kind], Bounded(goal, name)
    require(new not in goal.vars | item.vars, "change", "a new variable", new)
    require(name not in item.vars, "change", "a term without the variable", item)
    require(not obligations(goal.hypotheses, item), "change", "a term evidently defined", item)
    positive = kind in ("shift", "negate") or context(about.rest).evident(Fact(item, ">"))
    require(positive, "change", "a term evidently positive", item)
    in_range = used.sign is None or about.known.evident(Fact(about.x, used.sign))
    require(in_range, "change", f"evidently {name} {used.sign} 0", name)
    u = var(new)
    mapping = {name: used.image(u, item)}
    strict = used.new_sign == ">=" and about.known.evident(Fact(about.x, ">"))
    sign = ">" if strict else used.new_sign
    given = with_facts(about.rest, *([] if sign is None else [Fact(u, sign)]))
    for fact in goal.hypotheses:
        if name in fact.term.vars:
            moved = _moved_bound(about.known, given, fact, name, used, u, item)
            if moved is None:
                moved = [context(given).tidy(fact.substitute(mapping))]
            given = with_facts(given, *moved)
    moved_goal = substitute(goal.goal.term, mapping)
    return keep([*defined(given, moved_goal), normal(given, moved_goal, goal.goal.rel)])


def _moved_bound(
    known: sq.Context, given: Facts, fact: Fact, name: str, used: _Map, u: Term, item: Term
) -> list[Fact] | None:
    """The hypothesis as a bound of u, or none if the range says it already; None for others."""
    split = known.affine(fact.term, name) if fact.rel != "!=" else None
    if split is None or used.end is None:
        return None
    slope, end = split
    if context(given).evident(Fact(end, ">")) and not obligations(given, end):
        bound = used.end(end, item)
        return [Fact(u - bound if (slope > 0) == used.increasing else bound - u, fact.rel)]
    said = used.sign is not None and slope > 0 and context(given).evident(Fact(-end, ">="))
    return [] if said else None


HINGE = RowKind((TERM, TERM, TERM, SIGN))
Hinges = tuple[tuple[Term, Term, Term, int], ...]


@leaf_rule(">=", name=NAME, lower=TERM, upper=MaybeKind(TERM), smooth=TERM, hinges=ListKind(HINGE))
def vertex(
    goal: Sequent, name: str, lower: Term, upper: Term | None, smooth: Term, hinges: Hinges
) -> list[Goal]:
    """Piecewise concave: look at the ends, the kinks, and (without an upper end) the last slope.

    D(...)   H0 |- g[a], g[b] >= 0   open |- -R'' >= 0   H0, a <= n_j <= b |- g[n_j] >= 0
    -------------------------------------------------------------------------------------
    H |- g >= 0                    g = R + sum c_j max(u_j + v_j x, 0),  n_j = -u_j/v_j

    s_j v_j > 0 is shown for each hinge. Without b, R is affine and R' + sum of c_j v_j over s_j = 1
    is shown nonnegative. Fails when H does not state the bounds, the sum is not g, or a coefficient
    mentions x.
    """
    about, item = Bounded(goal, name), goal.goal.term
    base, closed, inside = about.between("vertex", lower, upper)
    ends = [lower] if upper is None else [lower, upper]
    fixed = [part for hinge in hinges for part in hinge[:3]]
    require(all(name not in part.vars for part in fixed), "vertex", "hinges without", name)
    total = tm.add(smooth, *(c * tm.positive_part(u + v * about.x) for c, u, v, _ in hinges))
    require(context(closed).same(item, total), "vertex", "the sum is the goal", total, item)
    slope = derivative(smooth, name)
    bend = derivative(slope, name)
    out = [*obligations(base, *ends, *fixed), *defined(closed, item, smooth)]
    out += obligations(inside, slope, bend)
    if not context(inside).same(bend, tm.ZERO):
        require(upper is not None, "vertex", "an affine part, as there is no upper end", smooth)
        out.append(normal(inside, -bend, ">="))
    if upper is None:
        fixed_slope = context(inside).canon.normal(slope)
        require(name not in fixed_slope.vars, "vertex", "a constant slope", fixed_slope)
        last = tm.add(fixed_slope, *(c * v for c, _, v, sign in hinges if sign == 1))
        out += [*obligations(base, last), normal(base, last, ">=")]
    out += [normal(base, substitute(item, {name: end}), ">=") for end in ends]
    for _, u, v, sign in hinges:
        node = context(base).canon.normal(-u / v)
        reach = [node - lower] if upper is None else [node - lower, upper - node]
        given = with_facts(base, *(Fact(part, ">=") for part in reach))
        value = normal(given, substitute(item, {name: node}), ">=")
        out += [Sequent(base, Fact(sign * v, ">")), value]
    return keep(out)
