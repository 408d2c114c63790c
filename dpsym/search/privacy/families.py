"""How guarantees of the same or of related families add up: proposals for intermediate results.

Each proposal is a guarantee with variables of its own; the composition theorem that it needs is
found by the tower search and checked by the kernel, once per process.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import conditions
from dpsym.kernel.statements import Fact, Guarantee
from dpsym.kernel.terms import ONE, ZERO, Term, num, power, sqrt, term


@dataclass(frozen=True)
class Sum:
    """``first`` and ``second`` compose to ``total``, where the ``facts`` hold."""

    first: Guarantee
    second: Guarantee
    total: Guarantee
    facts: tuple[Fact, ...] = ()


def _delta(guarantee: Guarantee) -> Term:
    """The mass outside the bound: zero for pure DP."""
    return ZERO if guarantee.name == "PureDP" else guarantee.args[1] or ZERO


def _order(guarantee: Guarantee) -> Term | None:
    return guarantee.args[0] if guarantee.name.startswith("RenyiDP") else None


_HOCKEY = ("PureDP", "ApproxDP", "ProbabilisticDP")
_POWERS = ("RenyiDP", "RenyiDPBelowOne", "KLDP")


def epsilon(guarantee: Guarantee) -> Term:
    """The guarantee's bound on the loss."""
    index = 1 if guarantee.name.startswith("RenyiDP") else 0
    return guarantee.args[index] or ZERO


def sums(first: Guarantee, second: Guarantee, family: str) -> list[Sum]:
    """Proposals for the total of two guarantees, in the family of the claim; coarse first."""
    names = {first.name, second.name}
    loss = epsilon(first) + epsilon(second)
    if not (first.two_way and second.two_way):
        return []
    if names == {"PureDP"}:
        return [Sum(first, second, Guarantee("PureDP", (loss,)))]
    if names <= {"PureDP", family} and family == "ProbabilisticDP":
        total = Guarantee(family, (loss, _delta(first) + _delta(second)))
        return [Sum(first, second, total)]
    if names <= set(_HOCKEY) and family == "ApproxDP":
        return _hockey_sums(first, second, loss)
    if names == {"GDP"} and family == "GDP":
        means = epsilon(first), epsilon(second)
        mean = sqrt(power(means[0], 2) + power(means[1], 2))
        return [Sum(first, second, Guarantee("GDP", (mean,)))]
    orders = {order for order in (_order(first), _order(second)) if order is not None}
    if family in _POWERS and names <= {"PureDP", family} and len(orders) <= 1:
        facts = {
            "RenyiDP": lambda a: (Fact(a - 1, ">"),),
            "RenyiDPBelowOne": lambda a: (Fact(a, ">"), Fact(1 - a, ">")),
        }.get(family, lambda a: ())
        args = (*orders, loss)
        return [Sum(first, second, Guarantee(family, args), facts(args[0]))]
    return []


def _hockey_sums(first: Guarantee, second: Guarantee, loss: Term) -> list[Sum]:
    one, two = _delta(first), _delta(second)
    plain = Sum(first, second, Guarantee("ApproxDP", (loss, one + two)), (Fact(two, ">="),))
    if one is ZERO or two is ZERO:
        return [plain if two is not ZERO else Sum(first, second, plain.total)]
    sharp = Guarantee("ApproxDP", (loss, two + one * (1 - two)))
    return [plain, Sum(first, second, sharp, (Fact(1 - two, ">="),))]


def weakening(first: Guarantee, family: str, args: tuple[Term, ...]) -> list[Fact] | None:
    """Facts under which ``first`` gives the guarantee of this family with these arguments."""
    if not first.two_way:
        return None
    order = _order(first)
    rises = [Fact(args[-1] - first.args[-1], ">=")] if first.args[-1] is not None else []
    if first.name == family:
        if family in ("ApproxDP", "ProbabilisticDP"):
            return [Fact(args[0] - epsilon(first), ">="), *rises]
        if order is not None:
            return [*_domain(first), *rises] if args[0] is order else None
        if family == "GDP":
            return [Fact(epsilon(first), ">"), *rises]
        return rises if family in ("PureDP", "KLDP", "ZCDP") else None
    if family == "ApproxDP" and first.name in _HOCKEY:
        return [Fact(args[0] - epsilon(first), ">="), Fact(args[1] - _delta(first), ">=")]
    if family == "ProbabilisticDP" and first.name == "PureDP":
        return [Fact(args[0] - epsilon(first), ">="), Fact(args[1], ">=")]
    if family in _POWERS and first.name == "PureDP":
        domain = {"RenyiDP": [Fact(args[0] - 1, ">")]}.get(family, [])
        if family == "RenyiDPBelowOne":
            domain = [Fact(args[0], ">"), Fact(1 - args[0], ">")]
        return [*domain, *rises]
    return None


def conversions(first: Guarantee, family: str, args: tuple[Term, ...]) -> Iterator[Sum]:
    """The best that ``first`` gives of this family, with these arguments before the last, and the
    facts under which it does."""
    order = ONE if first.name == "KLDP" else _order(first)
    last = first.args[-1]
    if first.name == "BoundedRange" and last is not None and first.two_way:
        yield from _from_range(first, last, family)
    if first.name == "PureDP" and last is not None and first.two_way:
        yield from _from_pure(first, last, family)
    if first.name == "PureDP" and last is not None and family == "GDP" and first.two_way:
        yield _gaussian_of_pure(first, last, args[-1])
    if first.name == "ZCDP" and last is not None and family == "ApproxDP" and first.two_way:
        yield _tail_of_zcdp(first, last, args[-1])
    if order is None or last is None or not first.two_way:
        return
    known = (*_domain(first), Fact(last, ">="))
    if family in _POWERS:
        wanted = args[0] if len(args) > 1 else ONE
        total = Guarantee(family, (*args[:-1], last))
        yield Sum(first, first, total, (*known, *_domain(total), Fact(order - wanted, ">=")))
    if family == "ApproxDP" and args[0] is ZERO:
        for bound, facts in _variations(first, last):
            yield Sum(first, first, Guarantee(family, (ZERO, bound)), (*known, *facts))
    elif family == "ApproxDP" and first.name == "RenyiDP":
        for bound, facts in _tails(first, order, last, args[0]):
            yield Sum(first, first, Guarantee(family, (args[0], bound)), facts)


def _from_range(first: Guarantee, length: Term, family: str) -> Iterator[Sum]:
    """Cesar and Rogers (2021), Lemma 3.4; for the mean, the best bound."""
    facts = (Fact(length, ">"),)
    if family == "KLDP":
        share = length / (1 - tm.exp(-length))
        yield Sum(first, first, Guarantee(family, (share - 1 - tm.log(share),)), facts)
    if family == "ZCDP":
        yield Sum(first, first, concentrated(first), facts)


def concentrated(one: Guarantee) -> Guarantee:
    """The zCDP of a bounded range."""
    length = one.args[0]
    assert length is not None
    return Guarantee("ZCDP", (tm.power(length, 2) / 8,))


def _from_pure(first: Guarantee, loss: Term, family: str) -> Iterator[Sum]:
    """Bun and Steinke (2016), Proposition 1.4; for the mean, the best bound."""
    if family == "ZCDP":
        for rho in (tm.power(loss, 2) / 2, mean_of_pure(loss)):
            yield Sum(first, first, Guarantee(family, (rho,)), (Fact(loss, ">="),))
    if family == "KLDP":
        yield Sum(first, first, Guarantee(family, (mean_of_pure(loss),)), (Fact(loss, ">="),))


def mean_of_pure(loss: Term) -> Term:
    """e tanh(e/2): the largest mean of the loss under pure DP, and its zCDP (Bun and Steinke, the
    same place; Kairouz, Oh and Viswanath (2015), Theorem 3.5, in their total)."""
    return loss * (tm.exp(loss) - 1) / (tm.exp(loss) + 1)


def _gaussian_of_pure(first: Guarantee, loss: Term, mean: Term) -> Sum:
    """Where Phi(mean/2) is at least e^loss/(1 + e^loss), the profile of the two Gaussians is above
    its tangent at 0, and that is above the profile of randomized response: Dong, Roth and Su
    (2022), Section 2."""
    at_half = 1 - tm.erfc(mean / (2 * tm.sqrt(term(2)))) / 2
    enough = at_half - 1 / (1 + tm.exp(-loss))
    facts = Fact(loss, ">"), Fact(mean, ">"), Fact(enough, ">=")
    return Sum(first, first, Guarantee("GDP", (mean,)), facts)


def _tail_of_zcdp(first: Guarantee, rho: Term, delta: Term) -> Sum:
    """At the claimed delta: Bun and Steinke (2016), Lemma 3.5."""
    loss = rho + 2 * tm.sqrt(rho * -tm.log(delta))
    facts = Fact(rho, ">="), Fact(delta, ">"), Fact(1 - delta, ">")
    return Sum(first, first, Guarantee("ApproxDP", (loss, delta)), facts)


def _domain(one: Guarantee) -> tuple[Fact, ...]:
    return conditions(one)


def _tails(
    first: Guarantee, order: Term, last: Term, loss: Term
) -> Iterator[tuple[Term, tuple[Fact, ...]]]:
    """Bounds of the hockey-stick divergence: Canonne, Kamath and Steinke (2020), Proposition 12,
    for orders that are numbers; Asoodeh et al. (2021), Theorem 3."""
    less, value = order - 1, order.value
    if isinstance(value, fmpq):
        less, whole = tm.num(value - 1), value.q == 1
        share = term((1 - 1 / value) ** int(value) / (value - 1)) if whole else ONE / less
        if not whole:
            share = tm.exp(order * tm.log(num(1 - 1 / value))) * share
        yield share * tm.exp(less * (last - loss)), _domain(first)
    growth = order * (tm.exp(less * loss) - 1)
    yield (tm.exp(less * last) - 1) / growth, (*_domain(first), Fact(last, ">="), Fact(loss, ">"))


def _variations(first: Guarantee, last: Term) -> Iterator[tuple[Term, tuple[Fact, ...]]]:
    """Bounds of the total variation distance."""
    order = first.args[0]
    if first.name == "RenyiDP" and order is not None and order is term(2):
        yield tm.sqrt(tm.exp(last) - 1) / 2, ()
    if first.name == "RenyiDPBelowOne" and order is not None and order is term(fmpq(1, 2)):
        yield tm.sqrt(1 - tm.exp(-last)), ()
    if first.name == "KLDP":
        yield tm.sqrt(last / 2), ()
