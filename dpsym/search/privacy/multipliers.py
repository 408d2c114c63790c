"""Multipliers for the tower rule, found stage by stage from the last.

With the earlier outputs held fixed, the goal is a function phi(s t) of this stage's likelihood
ratio t, and of s, the ratio of all earlier stages. Three principles propose multipliers:

* ``exactly``: phi(s t) splits into functions of s times t, 1 and this stage's moments (Renyi, KL);
* ``at_nodes``: a stage whose constraints are piecewise linear is described by its nodes (its kinks
  and the rays that may carry mass), and a convex phi lies below its interpolant at the nodes.
  Fewer nodes give a coarser, simpler bound;
* ``by_one``: a single stage, and phi is at most one of its moments as it stands.

What they return is checked by the kernel, never trusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import UNIT, Canon, Monomial, Poly, plus, to_term
from dpsym.kernel.definitions import Form, Moment, T
from dpsym.kernel.rules_privacy import S, StageData
from dpsym.kernel.sequents import Facts, context, with_facts
from dpsym.kernel.statements import PREFIX, RATIO, Fact
from dpsym.kernel.terms import ONE, ZERO, Term, substitute

NULL = Form(ZERO, ZERO, ZERO)
Row = tuple[Form, Form, tuple[Form, ...]]  # a, b and one multiplier for each moment


@dataclass(frozen=True)
class Value:
    """phi as a function of the ratio: constant + slope t + sum w (t - K)_+ + sum w t [t > K]."""

    constant: Term
    slope: Term
    hinges: tuple[tuple[Term, Term], ...] = ()  # K, w
    jumps: tuple[tuple[Term, Term], ...] = ()

    def form(self) -> Form:
        parts = [self.constant, self.slope * T]
        parts += [w * tm.positive_part(T - k) for k, w in self.hinges]
        parts += [w * tm.ite(k - T, ZERO, T) for k, w in self.jumps]
        top = tm.add(self.slope, *(w for _, w in (*self.hinges, *self.jumps)))
        return Form(tm.add(*parts), top, self.constant)


def hinge_kink(form: Form) -> Term | None:
    """K, if the function is (t - K)_+."""
    if form.f.op != "max" or form.f.args[1] is not ZERO:
        return None
    split = context(()).affine(form.f.args[0], RATIO)
    return split[1] if split is not None and split[0] == 1 else None


def jump_kink(form: Form) -> Term | None:
    """K, if the function is t [t > K]."""
    if form.f.op != "ite" or form.f.args[1] is not ZERO or form.f.args[2] is not T:
        return None
    split = context(()).affine(form.f.args[0], RATIO)
    return split[1] if split is not None and split[0] == -1 else None


def value_of(form: Form) -> Value | None:
    """The goal's function as a ``Value``, if it is a hinge or a jump."""
    kink = hinge_kink(form)
    if kink is not None:
        return Value(ZERO, ZERO, hinges=((kink, ONE),))
    kink = jump_kink(form)
    return None if kink is None else Value(ZERO, ZERO, jumps=((kink, ONE),))


# -- exactly


def exactly(phi: Form, data: StageData, facts: Facts, inner: bool) -> Row | None:
    """Multipliers with which the stage's inequality is an identity."""
    given = with_facts(facts, Fact(S, ">"), Fact(T, ">"))
    canon = context(given).canon
    if phi.f.kinked:
        return None
    targets: dict[Monomial, tuple[int, Poly]] = {}
    for index, moment in enumerate(data.moments):
        form = canon(moment.form.f)
        if len(form) == 1:
            ((mono, factor),) = form.items()
            split = _split(mono)
            if split is not None and split[1] not in targets:
                targets[split[1]] = (index + 2, {split[0]: factor})
    targets[UNIT] = (1, {UNIT: fmpq(1)})
    targets[next(iter(canon(T)))] = (0, {UNIT: fmpq(1)})
    found: dict[int, Poly] = {}
    for mono, factor in canon(phi.at(S * T if inner else T)).items():
        split = _split(mono)
        if split is None or split[1] not in targets:
            return None
        index, own = targets[split[1]]
        part = canon.times({split[0]: factor}, canon.inverse(own))
        found[index] = plus(found.get(index, {}), part)
    terms = [_of_prefix(canon, found.get(i, {})) for i in range(len(data.moments) + 2)]
    a = Form(terms[0], phi.at_p or ZERO, ZERO)
    b = Form(terms[1], ZERO, phi.at_q or ZERO)
    return a, b, tuple(Form(item, ZERO, ZERO) for item in terms[2:])


def _split(mono: Monomial) -> tuple[Monomial, Monomial] | None:
    """The factors without and with the stage's ratio; None if one mixes it with the prefix."""
    own: Monomial = (
        frozenset(pair for pair in mono[0] if RATIO in to_term({pair[0]: pair[1]}).vars),
        frozenset(pair for pair in mono[1] if RATIO in pair[0].vars),
    )
    if PREFIX in to_term({own: fmpq(1)}).vars:
        return None
    return (mono[0] - own[0], mono[1] - own[1]), own


def _of_prefix(canon: Canon, form: Poly) -> Term:
    return substitute(to_term(form), {PREFIX: T})


# -- nodes


@dataclass(frozen=True)
class Node:
    """A kink of a stage, and the moment that measures the mass beyond it (None: there is none)."""

    kink: Term
    moment: int | None


def nodes(data: StageData) -> tuple[Node | None, Node | None]:
    """The kink beyond which p is large, and the one (of 1/t) beyond which q is large."""
    found: list[Node | None] = [None, None]
    for support in data.supports:
        found[support.reverse] = Node(support.bound, None)
    for index, moment in enumerate(data.moments):
        for reverse, form in enumerate((moment.form, moment.form.swapped())):
            kink = hinge_kink(form) if not reverse else _swapped_hinge(moment)
            if kink is None and not reverse:
                kink = jump_kink(form)
            if kink is not None and found[reverse] is None:
                found[reverse] = Node(kink, index)
    return found[0], found[1]


def _swapped_hinge(moment: Moment) -> Term | None:
    """K, if the function is t (1/t - K)_+, the hinge of the other direction."""
    form = moment.form.f
    if form.op != "mul" or len(form.args) != 2 or form.args[0] is not T:
        return None
    inside = form.args[1]
    if inside.op != "max" or inside.args[1] is not ZERO:
        return None
    kink = context((Fact(T, ">"),)).canon.normal(tm.power(T, -1) - inside.args[0])
    return None if RATIO in kink.vars else kink


def at_upper_node(
    value: Value, data: StageData, facts: Facts, keep_weights: bool
) -> tuple[Row, Value] | None:
    """Nodes 0, the upper kink and (if it carries mass) infinity.

    With ``keep_weights`` the next value keeps its weights: a simpler, larger bound.
    """
    node = nodes(data)[0]
    if node is None:
        return None
    canon = context(facts).canon
    moved = tuple((canon.normal(k / node.kink), w) for k, w in value.hinges)
    jumps = tuple((canon.normal(k / node.kink), w) for k, w in value.jumps)
    before = Value(ZERO, value.slope, moved, jumps)
    a = before.form()
    b = Form(value.constant, ZERO, value.constant)
    weights = [NULL] * len(data.moments)
    bound = ZERO
    if node.moment is not None:
        beyond = [w * tm.minimum(T, k) for k, w in moved] + [w * T for _, w in jumps]
        on_ray = tm.add(*(w for _, w in jumps))
        weights[node.moment] = Form(tm.add(*beyond), on_ray, ZERO)
        bound = data.moments[node.moment].bound
    total = tm.add(*(w for _, w in (*moved, *jumps)))
    slope = canon.normal(value.slope + bound * total)
    left = ONE if keep_weights or bound is ZERO else 1 - bound
    after = Value(
        value.constant, slope, tuple((k, canon.normal(w * left)) for k, w in moved), jumps
    )
    return (a, b, tuple(weights)), after


def at_both_nodes(phi: Form, data: StageData, facts: Facts) -> Row | None:
    """Nodes 0, the lower kink, the upper kink, and infinity: the chord between the kinks."""
    upper, lower = nodes(data)
    if upper is None or lower is None or phi.at_q is None:
        return None
    k, least = upper.kink, 1 / lower.kink
    normal = context(facts).canon.normal
    high, low = phi.at(T * k), phi.at(T * least)
    width = normal(k - least)
    a = normal((high - low) / width)
    b = normal(low - a * least)
    at_p = phi.at_p or ZERO
    weights = [NULL] * len(data.moments)
    if upper.moment is not None:
        weights[upper.moment] = Form(normal(at_p * T - a), ZERO, ZERO)
    if lower.moment is not None:
        weights[lower.moment] = Form(normal(phi.at_q - b), ZERO, ZERO)
    return Form(a, at_p, ZERO), Form(b, ZERO, phi.at_q), tuple(weights)


def at_start_and_kink(phi: Form, data: StageData, facts: Facts) -> Row | None:
    """Nodes 0, the upper kink and (if it carries mass) infinity: the chord of a phi that is not
    piecewise linear."""
    node = nodes(data)[0]
    if node is None or phi.at_q is None:
        return None
    normal = context(with_facts(facts, Fact(T, ">"))).canon.normal
    at_p = phi.at_p or ZERO
    slope = normal((phi.at(T * node.kink) - phi.at_q) / node.kink)
    weights = [NULL] * len(data.moments)
    if node.moment is not None:
        weights[node.moment] = Form(normal(at_p * T - slope), ZERO, ZERO)
    return Form(slope, at_p, ZERO), Form(phi.at_q, ZERO, phi.at_q), tuple(weights)


def at_kink_and_end(phi: Form, data: StageData, facts: Facts) -> Row | None:
    """Nodes infinity, the lower kink and (if it carries mass) 0."""
    node = nodes(data)[1]
    if node is None or phi.at_p is None or phi.at_q is None:
        return None
    normal = context(with_facts(facts, Fact(T, ">"))).canon.normal
    least = 1 / node.kink
    start = normal(phi.at(T * least) - phi.at_p * T * least)
    weights = [NULL] * len(data.moments)
    if node.moment is not None:
        weights[node.moment] = Form(normal(phi.at_q - start), ZERO, ZERO)
    slope = Form(phi.at_p * T, phi.at_p, ZERO)
    return slope, Form(start, ZERO, phi.at_q), tuple(weights)


def power_of(form: Form, facts: Facts) -> tuple[Term, Term] | None:
    """``c, a`` if the function is c t^a."""
    canon = context(with_facts(facts, Fact(T, ">"))).canon
    poly = canon(form.f)
    if len(poly) != 1:
        return None
    ((mono, factor),) = poly.items()
    log = tm.log(T)
    exponent, constant = ZERO, tm.num(factor)
    for inner, count in mono[0]:
        part = to_term({inner: count})
        rate = canon.normal(part / log)
        if RATIO in rate.vars:
            if RATIO in part.vars:
                return None
            constant = constant * tm.exp(part)
        else:
            exponent = exponent + rate
    for item, power in mono[1]:
        if item is T:
            exponent = exponent + power
        elif RATIO in item.vars:
            return None
        else:
            constant = constant * tm.power(item, power)
    return constant, canon.normal(exponent)


def below_power(
    value: Value, data: StageData, facts: Facts, tangent: bool
) -> Iterator[tuple[Row, Form]]:
    """Each hinge (t - K)_+ below a multiple of a moment t^a: by Markov's inequality, K^(1 - a) t^a,
    or the smallest multiple, which touches the hinge at K a/(a - 1)."""
    if value.jumps or not value.hinges:
        return
    for index, moment in enumerate(data.moments):
        found = power_of(moment.form, facts)
        if found is None or moment.form.at_p is not None:
            continue
        factor, order = found
        total = ZERO
        for kink, weight in value.hinges:
            least = tm.real_power(kink, 1 - order)
            if tangent:
                touch = kink * order / (order - 1)
                least = (touch - kink) * tm.real_power(touch, -order)
            total = total + weight * least / factor
        normal = context(with_facts(facts, Fact(T, ">"))).canon.normal
        weights = [NULL] * len(data.moments)
        weights[index] = Form(normal(total * tm.real_power(T, order)), ZERO, ZERO)
        a = Form(value.slope * T, value.slope, ZERO)
        b = Form(value.constant, ZERO, value.constant)
        row = (a, b, tuple(weights))
        yield row, value_after(row, data, facts, True)


def by_mass(value: Value, data: StageData) -> tuple[Row, Value] | None:
    """(t - K)_+ and t [t > K] are at most t: no divergence exceeds 1."""
    if value.constant is not ZERO:
        return None
    top = tm.add(value.slope, *(w for _, w in (*value.hinges, *value.jumps)))
    none = tuple(NULL for _ in data.moments)
    return (Form(top * T, top, ZERO), NULL, none), Value(ZERO, top)


def by_one(data: StageData) -> Iterator[Row]:
    """No multiplier at all, then each moment with multiplier 1."""
    none = tuple(NULL for _ in data.moments)
    yield NULL, NULL, none
    one = Form(ONE, ONE, ONE)
    for index in range(len(data.moments)):
        yield NULL, NULL, (*none[:index], one, *none[index + 1 :])


def value_after(row: Row, data: StageData, facts: Facts, inner: bool) -> Form:
    """What the tower rule makes of the multipliers, in normal form."""
    a, b, weights = row
    given = with_facts(facts, Fact(T, ">")) if inner else facts
    normal = context(given).canon.normal

    def total(parts: list[Term | None], factors: list[Term]) -> Term | None:
        if any(part is None for part in parts):
            return None
        products = zip(parts[2:], factors, strict=True)
        return normal(tm.add(*(p for p in parts[:2] if p), *(w * c for w, c in products if w)))

    bounds = [moment.bound for moment in data.moments]
    columns = [[form.f for form in (a, b, *weights)]]
    inside = total(columns[0], bounds)  # type: ignore[arg-type]
    at_p = total([form.at_p for form in (a, b, *weights)], bounds)
    at_q = total([form.at_q for form in (a, b, *weights)], bounds)
    return Form(inside or ZERO, at_p, at_q)
