"""What the guarantees mean, as data.

P and Q are the output distributions, p and q their densities, t = p/q. A guarantee is a
constraint on the ordered pair (P, Q):

* ``Support``: a fact about t that holds almost surely, and which of the rays q = 0 and p = 0 carry
  no mass;
* ``Moment``: the integral of a 1-homogeneous function of (p, q) has an integrable positive part and
  is at most a bound;
* ``Range``: almost surely under P, log t lies in an interval of the given length, somewhere;

or a family of members, one for each value of a fresh variable. Two-way guarantees hold for (P, Q)
and (Q, P). ``Distributions`` is no constraint: it says of an explicit mechanism that its densities
are nonnegative and have mass 1, so that it is one.

Sources: pure and approximate DP: Dwork and Roth (2014), Definition 2.4, the latter as a
hockey-stick divergence by Barthe and Olmedo (2013); Renyi DP: Mironov (2017), Definition 4; zCDP:
Bun and Steinke (2016), Definition 1.1; bounded range: Durfee and Rogers (2019), Definition 3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Union

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Canon, scaled
from dpsym.kernel.refusal import Refusal, require
from dpsym.kernel.statements import RATIO, Fact, Guarantee
from dpsym.kernel.terms import ONE, ZERO, Term, substitute

T = tm.var(RATIO)
P_RAY, Q_RAY = "p", "q"  # the rays q = 0 (loss plus infinity) and p = 0


@dataclass(frozen=True, slots=True)
class Form:
    """A 1-homogeneous function of (p, q): q f(p/q) inside, p * ``at_p`` on the ray q = 0 and
    q * ``at_q`` on the ray p = 0. ``None`` is plus infinity. ``f`` is a term in ``$t``."""

    f: Term
    at_p: Term | None
    at_q: Term | None

    def swapped(self) -> Form:
        """The function of (q, p): p f(q/p) = q * t f(1/t)."""
        return Form(T * substitute(self.f, {RATIO: 1 / T}), self.at_q, self.at_p)

    def at(self, ratio: Term) -> Term:
        return substitute(self.f, {RATIO: ratio})

    def on(self, ray: str) -> Term | None:
        return self.at_p if ray == P_RAY else self.at_q


@dataclass(frozen=True, slots=True)
class Support:
    """``ratio <= bound`` almost surely, where the ratio is t, or 1/t if ``reverse``."""

    bound: Term
    fact: Fact
    reverse: bool = False


@dataclass(frozen=True, slots=True)
class Moment:
    form: Form
    bound: Term


@dataclass(frozen=True, slots=True)
class Range:
    """Between any two points of positive p (of positive q, if ``reverse``), log t differs by at
    most ``length``."""

    length: Term
    reverse: bool = False


Constraint = Union[Support, Moment, Range]
Member = tuple[tuple[Fact, ...], Guarantee]


@dataclass(frozen=True)
class Definition:
    """``conditions`` on the arguments without which the notion has no meaning; then either the
    constraint on (P, Q), or for a family the facts about the fresh variable and the member."""

    arity: int
    forward: Callable[..., Constraint] | None = None
    member: Callable[..., Member] | None = None
    conditions: Callable[..., tuple[Fact, ...]] = lambda *_: ()


def hockey_stick(epsilon: Term) -> Form:
    """(p - e^epsilon q)_+"""
    return Form(tm.positive_part(T - tm.exp(epsilon)), ONE, ZERO)


def _pure(epsilon: Term) -> Constraint:
    return Support(tm.exp(epsilon), Fact(tm.exp(epsilon) - T, ">="))


def _approx(epsilon: Term, delta: Term) -> Constraint:
    return Moment(hockey_stick(epsilon), delta)


def _less_one_times(order: Term, epsilon: Term) -> Term:
    """(order - 1) epsilon, where epsilon may be a sum of quotients by order - 1, which is not 0."""
    if epsilon.op == "add":
        return tm.add(*(_less_one_times(order, part) for part in epsilon.args))
    factors, canon = (epsilon.args if epsilon.op == "mul" else (epsilon,)), Canon()
    less = canon(order - 1)
    for i, item in enumerate(factors):
        form = canon(item.args[0]) if item.op == "pow" and item.value == -1 else {}
        for mono in list(form)[:1]:  # k (order - 1) for a rational k
            k = form[mono] / less.get(mono, form[mono])
            if form == scaled(less, k):
                return tm.mul(1 / k, *factors[:i], *factors[i + 1 :])
    return (order - 1) * epsilon


def _renyi(order: Term, epsilon: Term) -> Constraint:
    form = Form(tm.real_power(T, order), None, ZERO)
    return Moment(form, tm.exp(_less_one_times(order, epsilon)))


def _above_one(order: Term, _: Term) -> tuple[Fact, ...]:
    return (Fact(order - 1, ">"),)


def _renyi_below_one(order: Term, epsilon: Term) -> Constraint:
    form = Form(-tm.real_power(T, order), ZERO, ZERO)
    return Moment(form, -tm.exp(_less_one_times(order, epsilon)))


def _below_one(order: Term, _: Term) -> tuple[Fact, ...]:
    return Fact(order, ">"), Fact(1 - order, ">")


def _kullback_leibler(epsilon: Term) -> Constraint:
    return Moment(Form(T * tm.log(T), None, ZERO), epsilon)


def _probabilistic(epsilon: Term, delta: Term) -> Constraint:
    return Moment(Form(tm.ite(tm.exp(epsilon) - T, ZERO, T), ONE, ZERO), delta)


def _moment(f: Term, at_p: Term | None, bound: Term) -> Constraint:
    return Moment(Form(f, at_p, ZERO), bound)


def _zcdp_member(order: Term, rho: Term) -> Member:
    return (Fact(order - 1, ">"),), Guarantee("RenyiDP", (order, rho * order))


def _tcdp_member(order: Term, rho: Term, omega: Term) -> Member:
    facts = Fact(order - 1, ">"), Fact(omega - order, ">")
    return facts, Guarantee("RenyiDP", (order, rho * order))


def normal(x: Term, mean: Term) -> Term:
    """The density of the normal law of variance 1."""
    return tm.exp(-tm.power(x - mean, 2) / 2) / tm.sqrt(2 * tm.PI)


def _below(x: Term) -> Term:
    """The standard normal distribution function."""
    return tm.erfc(-x / tm.sqrt(tm.num(2))) / 2


def _gdp_member(epsilon: Term, mu: Term) -> Member:
    delta = _below(mu / 2 - epsilon / mu) - tm.exp(epsilon) * _below(-mu / 2 - epsilon / mu)
    return (), Guarantee("ApproxDP", (epsilon, delta))


DEFINITIONS: dict[str, Definition] = {
    "PureDP": Definition(1, _pure),
    "ApproxDP": Definition(2, _approx),
    "RenyiDP": Definition(2, _renyi, conditions=_above_one),
    "RenyiDPBelowOne": Definition(2, _renyi_below_one, conditions=_below_one),
    "KLDP": Definition(1, _kullback_leibler),
    "ZCDP": Definition(1, member=_zcdp_member),
    "TCDP": Definition(2, member=_tcdp_member, conditions=lambda _, omega: (Fact(omega - 1, ">"),)),
    "GDP": Definition(1, member=_gdp_member, conditions=lambda mu: (Fact(mu, ">"),)),
    "ProbabilisticDP": Definition(2, _probabilistic),
    "BoundedRange": Definition(1, Range),
    "MomentBound": Definition(3, _moment),
    "Distributions": Definition(0),
}


def definition(guarantee: Guarantee) -> Definition:
    found = DEFINITIONS.get(guarantee.name)
    if found is None:
        raise Refusal("guarantee", "the name of a guarantee", guarantee.name)
    args, name = guarantee.args, guarantee.name
    require(len(args) == found.arity, "guarantee", f"{name} has {found.arity} arguments", args)
    for i, arg in enumerate(args):
        infinite = arg is None and name == "MomentBound" and i == 1
        require(infinite or isinstance(arg, Term), "guarantee", "arguments that are terms", arg)
    return found


def conditions(guarantee: Guarantee) -> tuple[Fact, ...]:
    """Facts about the arguments without which the guarantee has no meaning."""
    return definition(guarantee).conditions(*guarantee.args)


def member(guarantee: Guarantee, value: Term) -> Member | None:
    """A family's member at a value of its variable, and the facts that the value must satisfy."""
    build = definition(guarantee).member
    if build is None:
        return None
    facts, found = build(value, *guarantee.args)
    return facts, replace(found, two_way=guarantee.two_way, reverse=guarantee.reverse)


def constraints(guarantee: Guarantee) -> tuple[Constraint, ...]:
    """The constraints on (P, Q), of both directions; none for a family."""
    build = definition(guarantee).forward
    if build is None:
        return ()
    forward = build(*guarantee.args)
    backward = _swapped(forward)
    if guarantee.two_way:
        return (forward,) if forward == backward else (forward, backward)
    return (backward,) if guarantee.reverse else (forward,)


def _swapped(item: Constraint) -> Constraint:
    if isinstance(item, Moment):
        return Moment(item.form.swapped(), item.bound)
    if isinstance(item, Support):
        inverse = tm.exp(-item.bound.args[0])  # 1/t <= e^epsilon, as a bound of t
        return Support(item.bound, Fact(T - inverse, ">="), reverse=True)
    return Range(item.length, reverse=not item.reverse)


def null_rays(item: Constraint) -> frozenset[str]:
    """The rays that carry no mass: those that a support excludes, or where a moment, being finite,
    would be infinite."""
    if isinstance(item, Moment):
        return frozenset(ray for ray in (P_RAY, Q_RAY) if item.form.on(ray) is None)
    return frozenset([Q_RAY if item.reverse else P_RAY])


def live_rays(items: tuple[Constraint, ...]) -> frozenset[str]:
    """The rays that can carry mass."""
    return frozenset([P_RAY, Q_RAY]).difference(*(null_rays(item) for item in items))
