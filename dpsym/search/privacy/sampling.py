"""Rényi divergences of a Poisson sample at whole orders.

With t = r_0/r_1 for the distributions with the record and without it, and g = 1 - q + q t,
h = 1 - q + q/t for the sampling rate q: one direction is g^n, multiplied out (Mironov, Talwar and
Zhang (2019), Section 3.3). For the other one,

    g^(1 - n) <= (1 - w) g^n + w t h^n + b (t - 1),   w = (2n - 1) q / (3 + 2 (n - 2) q),

where b makes the two sides touch at t = 1, to the third order; so it has the same bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import constraints
from dpsym.kernel.rules_privacy import stage_data
from dpsym.kernel.statements import Assumed, Blend, Guarantee, Statement
from dpsym.kernel.terms import ONE, ZERO, Term, num
from dpsym.search.samples import number, points

_MOST, _TOLERANCE = 12, 1e-9


@dataclass(frozen=True)
class Powers:
    """What is needed of the mechanism, and the parameters of the rule once it is known."""

    needed: tuple[Guarantee, ...]
    parameters: dict[str, Any]


def powers(goal: Statement, stage: Blend) -> Powers | None:
    """For a Rényi divergence at a whole order from 2, if the sum meets the claim at samples."""
    (claim,) = goal.claims
    order, bound = claim.args[0], claim.args[-1]
    whole = order.value if order is not None and order.op == "num" else None
    if claim.name != "RenyiDP" or not isinstance(whole, fmpq) or whole.q != 1 or bound is None:
        return None
    (link, *more), n = stage.links, int(whole)
    poisson = stage.q == (ZERO, ONE) and (link.first, link.second) == (0, 1) and not more
    if not poisson or not 2 <= n <= _MOST or not isinstance(link.stage, Assumed):
        return None
    losses = [_renyi(link.stage, k) for k in range(2, n + 1)]
    known = [loss for loss in losses if loss is not None]
    if len(known) < len(losses):
        return None
    q = stage.p[0]
    terms = [num(math.comb(n, k)) * tm.power(1 - q, n - k) * tm.power(q, k) for k in range(n + 1)]
    sizes = [ONE, ONE, *(tm.exp((k - 1) * loss) for k, loss in enumerate(known, 2))]
    whole_sum = tm.add(*(a * b for a, b in zip(terms, sizes, strict=True)))
    for values in points(goal.variables, goal.facts):
        most = math.exp(min(700.0, (n - 1) * number(bound, values)))
        if not number(whole_sum, values) <= most * (1 + _TOLERANCE):
            return None
    needed = tuple(Guarantee("RenyiDP", (num(k), loss)) for k, loss in enumerate(known, 2))
    return Powers(needed, _parameters(claim, needed, terms, q, n))


def _renyi(stage: Assumed, k: int) -> Term | None:
    """The divergence at order k, by one of the guarantees."""
    found = (_of_one(one, k) for one in stage.guarantees if one.two_way)
    return next((loss for loss in found if loss is not None), None)


def _of_one(one: Guarantee, k: int) -> Term | None:
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
