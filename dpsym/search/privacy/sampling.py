"""Rényi divergences of a Poisson sample at whole orders.

With t = r_0/r_1 for the distributions with the record and without it, and g = 1 - q + q t,
h = 1 - q + q/t for the sampling rate q: one direction is g^n, multiplied out (Mironov, Talwar and
Zhang (2019), Section 3.3). For the other one,

    g^(1 - n) <= (1 - w) g^n + w t h^n + b (t - 1),   w = (2n - 1) q / (3 + 2 (n - 2) q),

where b makes the two sides touch at t = 1, to the third order; so it has the same bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import constraints
from dpsym.kernel.rules_privacy import stage_data
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Assumed, Blend, Guarantee, Stage, Statement
from dpsym.kernel.terms import ONE, ZERO, Term, num
from dpsym.search.leaf.hinted import Change, Hint
from dpsym.search.samples import number, points

_MOST, _TOLERANCE, _LARGE = 64, 1e-9, 700.0


@dataclass(frozen=True)
class Powers:
    """What is needed of the mechanism, and the parameters of the rule once it is known."""

    needed: tuple[Guarantee, ...]
    parameters: dict[str, Any]


def powers(goal: Statement, stage: Blend) -> Powers | None:
    """For a Rényi divergence at a whole order from 2, if the sum meets the claim at samples."""
    (claim,) = goal.claims
    n, bound, known = whole_order(claim), claim.args[-1], stage.links[0].stage
    if n is None or bound is None or not isinstance(known, Assumed) or not is_poisson(stage):
        return None
    needed = _needed(known.guarantees, n)
    if needed is None:
        return None
    q = stage.p[0]
    total = _total(needed, q, n)
    for values in points(goal.variables, goal.facts):
        ours, theirs = number(total, values), (n - 1) * number(bound, values)
        if math.isfinite(ours) and theirs < _LARGE and ours > math.exp(theirs) * (1 + _TOLERANCE):
            return None
    return Powers(needed, _parameters(claim, needed, _terms(q, n), q, n))


def divergence(stage: Blend, given: tuple[Guarantee, ...], n: int) -> Guarantee | None:
    """The sample's divergence at a whole order, from guarantees of the mechanism."""
    needed = _needed(given, n) if is_poisson(stage) else None
    if needed is None:
        return None
    return Guarantee("RenyiDP", (num(n), tm.log(_total(needed, stage.p[0], n)) / (n - 1)))


def whole_order(claim: Guarantee) -> int | None:
    """The order of a Rényi guarantee, if it is a whole number that is not too large."""
    order = claim.args[0] if claim.name == "RenyiDP" else None
    value = order.value if order is not None and order.op == "num" else None
    if not isinstance(value, fmpq) or value.q != 1 or not 2 <= value <= _MOST:
        return None
    return int(value)


def is_poisson(stage: Blend) -> bool:
    (link, *more) = stage.links
    return stage.q == (ZERO, ONE) and (link.first, link.second) == (0, 1) and not more


def _needed(given: tuple[Guarantee, ...], n: int) -> tuple[Guarantee, ...] | None:
    """The Rényi guarantees at the orders from 2 to n."""
    needed = []
    for k in range(2, n + 1):
        found = (of_one(one, k) for one in given if one.two_way)
        loss = next((loss for loss in found if loss is not None), None)
        if loss is None:
            return None
        needed.append(Guarantee("RenyiDP", (num(k), loss)))
    return tuple(needed)


def _terms(q: Term, n: int) -> list[Term]:
    return [num(math.comb(n, k)) * _power(1 - q, n - k) * _power(q, k) for k in range(n + 1)]


def _power(base: Term, k: int) -> Term:
    return tm.power(base, k) if k else ONE


def _total(needed: tuple[Guarantee, ...], q: Term, n: int) -> Term:
    losses = (one.args[1] or ZERO for one in needed)
    sizes = [ONE, ONE, *(tm.exp((k - 1) * loss) for k, loss in enumerate(losses, 2))]
    return tm.add(*(a * b for a, b in zip(_terms(q, n), sizes, strict=True)))


def in_odds(premise: Sequent, stage: Stage) -> Iterator[tuple[Hint, ...]]:
    """The rate as u/(1 + u): the difference of the two sides above is (t - 1)^4 times a polynomial
    with coefficients >= 0 in t and u."""
    rate = stage.p[0] if isinstance(stage, Blend) else ZERO
    if rate.op != "var" or not premise.goal.term.vars & {"$r0", "$r1"}:
        return
    if not premise.goal.term.kinked and rate.vars <= premise.goal.term.vars:
        inverse = Change(str(rate.value), "inverse", "v", ONE)
        yield inverse, Change("v", "shift", "u", ONE)


def of_one(one: Guarantee, k: int) -> Term | None:
    """What a guarantee gives of the divergence of order k."""
    first, last = one.args[0], one.args[-1]
    if first is None or last is None:
        return None
    if one.name == "RenyiDP" and first is num(k):
        return last
    if one.name == "ZCDP":
        return k * first
    if one.name == "GDP":
        return num(fmpq(k, 2)) * tm.power(first, 2)
    if one.name == "PureDP":  # of randomized response
        moment = (tm.exp(k * first) + tm.exp((1 - k) * first)) / (1 + tm.exp(first))
        return tm.log(moment) / (k - 1)
    return None


def _parameters(
    claim: Guarantee, needed: tuple[Guarantee, ...], terms: list[Term], q: Term, n: int
) -> dict[str, Any]:
    """The first direction's sum, or the mixture of both with the tangent."""
    places = {moment: i for i, moment in enumerate(stage_data(Assumed(needed)).moments)}
    weights = [ZERO] * len(places)

    def put(reverse: bool, share: Term) -> None:
        for one, term in zip(needed, terms[2:], strict=True):
            (moment,) = constraints(Guarantee(one.name, one.args, False, reverse))
            weights[places[moment]] = share * term  # type: ignore[index]

    if not claim.reverse:
        put(False, ONE)
        return {"linear": (terms[1], terms[0]), "moments": (tuple(weights),)}
    w = (2 * n - 1) * q / (3 + 2 * (n - 2) * q)
    slope = (1 - n) * q - (1 - w) * n * q - w * (1 - n * q)
    put(False, 1 - w)
    put(True, w)
    with_record = (1 - w) * terms[1] + w * terms[0] + slope
    without = (1 - w) * terms[0] + w * terms[1] - slope
    return {"linear": (with_record, without), "moments": (tuple(weights),)}
