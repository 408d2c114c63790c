"""Rules of calculus: derivatives, concavity, limits, substitutions, and vertices.

H, ``|-`` and D(e | H) are as in ``rules_logic``. Hypotheses that mention the variable are used as
bounds of it, where they are affine in it; others are dropped, so what needs to be defined is shown
again under those that are left.
"""

from __future__ import annotations

from collections.abc import Iterable

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Monomial, Poly, mono_term, to_term
from dpsym.kernel.kinds import FLAG, NAME, SIGN, TERM, ChoiceKind, ListKind, MaybeKind, RowKind
from dpsym.kernel.rules import Goal, keep, leaf_rule, require
from dpsym.kernel.sequents import Context, Facts, Sequent, context, defined, obligations, with_facts
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term, derivative, substitute, var


class Bounded:
    """The hypotheses of a sequent, seen from one variable."""

    def __init__(self, goal: Sequent, name: str) -> None:
        self.rest: Facts = tuple(f for f in goal.hypotheses if name not in f.term.vars)
        self.lower: list[tuple[Term, str]] = []
        self.upper: list[tuple[Term, str]] = []
        self.affine = True  # whether every hypothesis on the variable is one of these
        known = context(goal.hypotheses)
        for fact in goal.hypotheses:
            if name not in fact.term.vars:
                continue
            split = known.affine(fact.term, name) if fact.rel != "!=" else None
            if split is None:
                self.affine = False
                continue
            slope, end = split
            (self.lower if slope > 0 else self.upper).append((end, fact.rel))
        self.canon = known.canon

    def relation(self, ends: Iterable[tuple[Term, str]], end: Term) -> str | None:
        """The strictest relation with which the hypotheses state this bound."""
        found = [rel for item, rel in ends if self.canon.is_zero(self.canon(item - end))]
        return None if not found else ">" if ">" in found else ">="


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
    require(name not in start.vars, "derive", "a start without the variable", start)
    about = Bounded(goal, name)
    near, far = (about.lower, about.upper) if direction == 1 else (about.upper, about.lower)
    rel = about.relation(near, start)
    require(rel is not None, "derive", "a hypothesis that states the bound", name, start)
    strict_goal = goal.goal.rel == ">"
    require(not from_open or (strict_goal and rel == ">"), "derive", "a strict goal and bound")
    x = var(name)
    at_start = tuple(Fact(direction * (end - start), r) for end, r in far)
    beyond = tuple(Fact(direction * (end - x), r) for end, r in far)
    base = with_facts(about.rest, *at_start)
    closed = with_facts(about.rest, *beyond, Fact(direction * (x - start), ">="))
    inside = with_facts(about.rest, *beyond, Fact(direction * (x - start), ">"))
    slope = derivative(goal.goal.term, name)
    slope_goal = context(inside).canon.normal(direction * slope)
    base_goal = context(base).canon.normal(substitute(goal.goal.term, {name: start}))
    return keep(
        [
            *obligations(about.rest, start),
            *defined(closed, goal.goal.term),
            *obligations(inside, slope),
            Sequent(base, Fact(base_goal, ">=" if from_open else goal.goal.rel)),
            Sequent(inside, Fact(slope_goal, ">" if from_open else ">=")),
        ]
    )


@leaf_rule(">=", name=NAME, lower=TERM, upper=TERM)
def concave(goal: Sequent, name: str, lower: Term, upper: Term) -> list[Goal]:
    """Both ends, and a second derivative that is not positive.

    D(g | closed)   D(g', g'' | open)   H0 |- g[a] >= 0   H0 |- g[b] >= 0   open |- -g'' >= 0
    ----------------------------------------------------------------------------------------
    H |- g >= 0                                                                 a <= x <= b

    Fails when H does not state both bounds, or g has kinks in x.
    """
    require(name not in lower.vars | upper.vars, "concave", "bounds without the variable", name)
    about = Bounded(goal, name)
    stated = about.relation(about.lower, lower) and about.relation(about.upper, upper)
    require(bool(stated), "concave", "hypotheses that state both bounds", lower, upper)
    x, item = var(name), goal.goal.term
    base = with_facts(about.rest, Fact(upper - lower, ">="))
    closed = with_facts(about.rest, Fact(x - lower, ">="), Fact(upper - x, ">="))
    inside = with_facts(about.rest, Fact(x - lower, ">"), Fact(upper - x, ">"))
    slope = derivative(item, name)
    bend = derivative(slope, name)
    at_ends = [
        Sequent(base, Fact(context(base).canon.normal(substitute(item, {name: end})), ">="))
        for end in (lower, upper)
    ]
    return keep(
        [
            *obligations(about.rest, lower, upper),
            *defined(closed, item),
            *obligations(inside, slope, bend),
            *at_ends,
            Sequent(inside, Fact(context(inside).canon.normal(-bend), ">=")),
        ]
    )


@leaf_rule(">=", name=NAME)
def from_infinity(goal: Sequent, name: str) -> list[Goal]:
    """A limit at plus infinity that is not negative, and a derivative that is not positive.

    D(g, g' | H1)   H1 |- -g' >= 0
    ------------------------------ each monomial of g tends to 0, or is free of x and nonnegative
    H |- g >= 0

    H1 keeps what is free of x and its lower bounds. Fails when x has another hypothesis, or the
    limit is not seen from the form.
    """
    about = Bounded(goal, name)
    require(about.affine and not about.upper, "from_infinity", "only lower bounds", name)
    given = with_facts(about.rest, *(Fact(var(name) - end, rel) for end, rel in about.lower))
    known = context(given)
    form = known.canon(goal.goal.term)
    seen = all(_vanishes(known, mono, value, name) for mono, value in form.items())
    require(seen, "from_infinity", "a limit that is seen from the form", goal.goal)
    slope = derivative(goal.goal.term, name)
    return keep(
        [
            *defined(given, goal.goal.term, slope),
            Sequent(given, Fact(known.canon.normal(-slope), ">=")),
        ]
    )


def _vanishes(known: Context, mono: Monomial, value: fmpq, name: str) -> bool:
    """Whether the monomial tends to 0 as the variable grows, or is nonnegative without it."""
    item = mono_term(mono, value)
    if name not in item.vars:
        return known.evident(Fact(item, ">="))
    fast, degree = False, 0
    if mono[0]:
        growth = _degree(dict(mono[0]), name)
        if growth is None:
            return False
        if growth[0] > 0:
            if not known.evident(Fact(-to_term(growth[1]), ">")):
                return False
            fast = True
    for factor, count in mono[1]:
        if name not in factor.vars:
            continue
        if factor.op == "var":
            degree += count
            continue
        inner = factor.args[0] if factor.op == "erfc" else factor
        growth = _degree(known.canon(inner), name)
        if growth is None or growth[0] < 1 or not known.evident(Fact(to_term(growth[1]), ">")):
            return False
        if factor.op == "erfc" and count > 0:  # erfc(u) <= exp(-u^2) beats every power
            fast = True
        elif factor.op == "add" and count < 0:
            degree += count * growth[0]
        else:
            return False
    return fast or degree < 0


def _degree(form: Poly, name: str) -> tuple[int, Poly] | None:
    """Degree and leading coefficient as a polynomial in the variable; None if it is none."""
    by_degree: dict[int, Poly] = {}
    for mono, value in form.items():
        degree = dict(mono[1]).get(var(name), 0)
        rest = (mono[0], mono[1] - frozenset([(var(name), degree)]))
        if name in mono_term(rest).vars or degree < 0:
            return None
        by_degree.setdefault(degree, {})[rest] = value
    top = max(by_degree)
    return top, by_degree[top]


_MAPS = ("shift", "negate", "scale", "inverse", "log", "decay", "square")


@leaf_rule(">=", ">", "!=", name=NAME, kind=ChoiceKind(_MAPS), new=NAME, item=TERM)
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
    hypotheses = goal.hypotheses
    require(new not in goal.vars | item.vars, "change", "a new variable", new)
    require(name not in item.vars, "change", "a term without the variable", item)
    require(not obligations(hypotheses, item), "change", "a term evidently defined", item)
    known = context(hypotheses)
    about = Bounded(goal, name)
    if kind not in ("shift", "negate"):
        positive = context(about.rest).evident(Fact(item, ">"))
        require(positive, "change", "a term evidently positive", item)
    if kind in ("inverse", "decay", "square"):
        needed = Fact(var(name), ">=" if kind == "square" else ">")
        require(known.evident(needed), "change", f"evidently {name} {needed.rel} 0", name)
    u = var(new)
    image = {
        "shift": u + item,
        "negate": item - u,
        "scale": item * u,
        "inverse": item / u,
        "log": item * tm.log(u),
        "decay": item * tm.exp(-u),
        "square": item * tm.power(u, 2),
    }[kind]
    given: Facts = about.rest
    if kind in ("inverse", "log"):
        given = with_facts(given, Fact(u, ">"))
    elif kind == "square":
        given = with_facts(given, Fact(u, ">="))
    for fact in hypotheses:
        if name in fact.term.vars:
            given = with_facts(given, *_moved(known, given, fact, name, kind, u, item, image))
    fact = goal.goal.substitute({name: image})
    normal = Fact(context(given).canon.normal(fact.term), fact.rel)
    return keep([*defined(given, fact.term), Sequent(given, normal)])


def _moved(
    known: Context, given: Facts, fact: Fact, name: str, kind: str, u: Term, item: Term, image: Term
) -> list[Fact]:
    """The hypothesis in the new variable, as a bound of it where it was a bound."""
    split = known.affine(fact.term, name) if fact.rel != "!=" else None
    if split is not None and kind in ("scale", "inverse", "decay", "square"):
        slope, end = split
        if context(given).evident(Fact(end, ">")) and not obligations(given, end):
            if kind == "scale":
                bound, lower = end / item, slope > 0
            elif kind == "inverse":
                bound, lower = item / end, slope < 0
            elif kind == "decay":
                bound, lower = tm.log(item / end), slope < 0
            else:
                bound, lower = tm.sqrt(end / item), slope > 0
            return [Fact((u - bound) if lower else (bound - u), fact.rel)]
        if kind != "scale" and slope > 0 and context(given).evident(Fact(-end, ">=")):
            return []  # weaker than x >= 0, which the range of the map already says
    return [context(given).tidy(fact.substitute({name: image}))]


HINGE = RowKind((TERM, TERM, TERM, SIGN))


@leaf_rule(">=", name=NAME, lower=TERM, upper=MaybeKind(TERM), smooth=TERM, hinges=ListKind(HINGE))
def vertex(
    goal: Sequent,
    name: str,
    lower: Term,
    upper: Term | None,
    smooth: Term,
    hinges: tuple[tuple[Term, Term, Term, int], ...],
) -> list[Goal]:
    """Piecewise concave: look at the ends, the kinks, and (without an upper end) the last slope.

    D(...)   H0 |- g[a], g[b] >= 0   open |- -R'' >= 0   H0, a <= n_j <= b |- g[n_j] >= 0
    -------------------------------------------------------------------------------------
    H |- g >= 0                    g = R + sum c_j max(u_j + v_j x, 0),  n_j = -u_j/v_j

    s_j v_j > 0 is shown for each hinge. Without b, R is affine and R' + sum of c_j v_j over s_j = 1
    is shown nonnegative. Fails when H does not state the bounds, the sum is not g, or a coefficient
    mentions x.
    """
    x, item = var(name), goal.goal.term
    ends = [lower] if upper is None else [lower, upper]
    fixed = [*ends, *(part for c, u, v, _ in hinges for part in (c, u, v))]
    require(all(name not in part.vars for part in fixed), "vertex", "ends and hinges without", name)
    about = Bounded(goal, name)
    require(about.relation(about.lower, lower) is not None, "vertex", "the lower bound", lower)
    if upper is not None:
        require(about.relation(about.upper, upper) is not None, "vertex", "the upper bound", upper)
    base = about.rest if upper is None else with_facts(about.rest, Fact(upper - lower, ">="))
    reach = (Fact(x - lower, ">="), *(() if upper is None else (Fact(upper - x, ">="),)))
    closed = with_facts(about.rest, *reach)
    inside = with_facts(about.rest, *(Fact(fact.term, ">") for fact in reach))
    total = tm.add(smooth, *(c * tm.positive_part(u + v * x) for c, u, v, _ in hinges))
    canon = context(closed).canon
    require(canon.is_zero(canon(item - total)), "vertex", "the sum is the goal", total, item)
    out = [*obligations(base, *fixed), *defined(closed, item, smooth)]
    slope = derivative(smooth, name)
    bend = derivative(slope, name)
    out += obligations(inside, slope, bend)
    inner = context(inside).canon
    if not inner.is_zero(inner(bend)):
        require(upper is not None, "vertex", "an affine part, as there is no upper end", smooth)
        out.append(Sequent(inside, Fact(inner.normal(-bend), ">=")))
    plain = context(base).canon
    if upper is None:
        constant_slope = inner.normal(slope)
        require(name not in constant_slope.vars, "vertex", "a constant slope", constant_slope)
        last = tm.add(constant_slope, *(c * v for c, _, v, sign in hinges if sign == 1))
        out += obligations(base, last)
        out.append(Sequent(base, Fact(plain.normal(last), ">=")))
    for end in ends:
        out.append(Sequent(base, Fact(plain.normal(substitute(item, {name: end})), ">=")))
    for _, u, v, sign in hinges:
        out.append(Sequent(base, Fact(sign * v, ">")))
        node = plain.normal(-u / v)
        near = [Fact(node - lower, ">="), *([] if upper is None else [Fact(upper - node, ">=")])]
        given = with_facts(base, *near)
        value = substitute(item, {name: node})
        out.append(Sequent(given, Fact(context(given).canon.normal(value), ">=")))
    return keep(out)
