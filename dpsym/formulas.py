"""Bounds that follow from guarantees by theorems of the literature, sharp ones first.

Only proposals: whoever uses one has it proved for the parameters at hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import sympy as sp

from dpsym.combinators import Composition, Postprocessed
from dpsym.guarantees import (
    ZCDP,
    ApproxDP,
    Both,
    BoundedRange,
    Guarantee,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
)
from dpsym.stages import Repeated

__all__ = ["proposals"]

_MOST_STAGES = 12  # of which all combinations of outcomes are added up


def proposals(subject: object, claim: Guarantee, symbol: sp.Symbol) -> Iterator[sp.Expr]:
    """Values of the symbol with which the subject may have the claim."""
    parts = subject.parts if isinstance(subject, Composition) else (subject,)
    stages: list[tuple[Guarantee, ...]] = []
    for part in parts:
        inner: object = part.subject if isinstance(part, (Postprocessed, Repeated)) else part
        every: tuple[object, ...] = inner.guarantees if isinstance(inner, Both) else (inner,)
        given = tuple(item for item in every if isinstance(item, Guarantee))
        if len(given) < len(every):
            return
        count = part.count if isinstance(part, Repeated) else sp.S.One
        if isinstance(part, Repeated) and count.is_Integer and count <= _MOST_STAGES:
            stages += [given] * int(count)
        else:
            stages.append(tuple(total for item in given for total in _repeated(item, count)))
    for totals in product(*stages):
        for value in (*_sharp(totals, claim), *_added(totals, claim)):
            yield from _solved(value, claim, symbol)


def _solved(value: Guarantee, claim: Guarantee, symbol: sp.Symbol) -> Iterator[sp.Expr]:
    """The symbol, if the claim is the guarantee with something that rises with the symbol, at a
    constant rate, for one of the parameters."""
    if type(value) is not type(claim):
        return
    own = [name for name in value.fields if symbol in getattr(claim, name).free_symbols]
    others = [name for name in value.fields if name not in own]
    if own == ["alpha"]:  # a larger order is a stronger claim
        return
    if len(own) != 1 or any(getattr(claim, name) is sp.oo for name in others):
        return
    if all(sp.simplify(getattr(value, name) - getattr(claim, name)) == 0 for name in others):
        wanted, expr = getattr(value, own[0]), getattr(claim, own[0])
        rate = expr.diff(symbol)
        if symbol not in rate.free_symbols and rate.is_positive and wanted is not sp.oo:
            yield (wanted - expr.xreplace({symbol: sp.S.Zero})) / rate


def _repeated(item: Guarantee, count: sp.Expr) -> Iterator[Guarantee]:
    if count == 1:
        yield item
    elif isinstance(item, PureDP):
        yield PureDP(count * item.epsilon)
        yield ZCDP(count * item.epsilon**2 / 2)
    elif isinstance(item, ZCDP):
        yield ZCDP(count * item.rho)
    elif isinstance(item, RenyiDP):
        yield RenyiDP(item.alpha, count * item.epsilon)
    elif isinstance(item, ApproxDP):
        yield ApproxDP(count * item.epsilon, 1 - (1 - item.delta) ** count)
        yield ApproxDP(count * item.epsilon, count * item.delta)


def _added(stages: tuple[Guarantee, ...], claim: Guarantee) -> Iterator[Guarantee]:
    """What the sum of the guarantees gives."""
    total: Guarantee | None = None
    pure = [stage for stage in stages if isinstance(stage, PureDP)]
    approximate = [stage for stage in stages if isinstance(stage, ApproxDP)]
    concentrated = [stage for stage in stages if isinstance(stage, ZCDP)]
    renyi = [stage for stage in stages if isinstance(stage, RenyiDP)]
    if len(stages) == 1:
        total = stages[0]
    elif len(pure) == len(stages):
        total = PureDP(sp.Add(*(stage.epsilon for stage in pure)))
    elif len(concentrated) == len(stages):
        total = ZCDP(sp.Add(*(stage.rho for stage in concentrated)))
    elif len(renyi) == len(stages) and len({stage.alpha for stage in renyi}) == 1:
        total = RenyiDP(renyi[0].alpha, sp.Add(*(stage.epsilon for stage in renyi)))
    elif len(pure) + len(approximate) == len(stages):
        terms = [stage.epsilon for stage in pure] + [stage.epsilon for stage in approximate]
        losses = sp.Add(*terms)
        deltas = [stage.delta for stage in approximate]
        yield ApproxDP(losses, 1 - sp.Mul(*(1 - delta for delta in deltas)))
        yield ApproxDP(losses, sp.Add(*deltas))
    if total is not None:
        yield total
        yield from _converted(total, claim)


def _converted(item: Guarantee, claim: Guarantee) -> Iterator[Guarantee]:
    """What one guarantee gives."""
    order = claim.alpha if isinstance(claim, RenyiDP) else None
    if isinstance(item, PureDP):
        yield from _from_pure(item.epsilon, claim, order)
    elif isinstance(item, ApproxDP) and isinstance(claim, ApproxDP):
        yield from _from_approximate(item, claim.epsilon)
    elif isinstance(item, RenyiDP):
        yield from _from_renyi(item, claim, order)
    elif isinstance(item, ZCDP):
        if order is not None:
            yield RenyiDP(order, order * item.rho)
        if isinstance(claim, ApproxDP):
            loss, delta = claim.epsilon, claim.delta
            yield ApproxDP(loss, sp.exp(-((loss - item.rho) ** 2) / (4 * item.rho)))
            yield ApproxDP(item.rho + 2 * sp.sqrt(item.rho * sp.log(1 / delta)), delta)
    elif isinstance(item, BoundedRange):
        yield PureDP(item.epsilon)
        yield ZCDP(item.epsilon**2 / 8)
    elif isinstance(item, ProbabilisticDP):
        yield ApproxDP(item.epsilon, item.delta)


def _from_pure(e: sp.Expr, claim: Guarantee, order: sp.Expr | None) -> Iterator[Guarantee]:
    """Randomized response is the extreme pair."""
    k = sp.exp(e)
    if order is not None:
        sum_of_powers = sp.exp(order * e) + sp.exp((1 - order) * e)
        if order == 1:
            yield RenyiDP(order, e * (k - 1) / (k + 1))
        else:
            yield RenyiDP(order, sp.log(sum_of_powers / (1 + k)) / (order - 1))
        yield RenyiDP(order, order * e**2 / 2)
        yield RenyiDP(order, e)
    if isinstance(claim, ApproxDP):
        yield ApproxDP(claim.epsilon, (k - sp.exp(claim.epsilon)) / (1 + k))
        yield ApproxDP(claim.epsilon, sp.Max(0, (k - sp.exp(claim.epsilon)) / (1 + k)))
        yield ApproxDP(e, claim.delta)
    yield ZCDP(e**2 / 2)
    yield BoundedRange(2 * e)


def _from_approximate(item: ApproxDP, loss: sp.Expr) -> Iterator[Guarantee]:
    """Kairouz, Oh and Viswanath (2015), for one mechanism."""
    k = sp.exp(item.epsilon)
    if loss == 0:
        yield ApproxDP(loss, (k - 1 + 2 * item.delta) / (k + 1))
    rest = (k - sp.exp(loss)) / (1 + k)
    yield ApproxDP(loss, item.delta + (1 - item.delta) * rest)
    yield ApproxDP(loss, item.delta)


def _from_renyi(item: RenyiDP, claim: Guarantee, order: sp.Expr | None) -> Iterator[Guarantee]:
    """Canonne, Kamath and Steinke (2020), Proposition 12; Mironov (2017), Proposition 3."""
    a, e = item.alpha, item.epsilon
    if order is not None:
        yield RenyiDP(order, e)
    if isinstance(claim, ApproxDP) and a not in (1, sp.oo):
        loss, delta = claim.epsilon, claim.delta
        mironov = sp.exp((a - 1) * (e - loss))
        yield ApproxDP(loss, mironov * (1 - 1 / a) ** (a - 1) / a)
        yield ApproxDP(loss, mironov)
        mironov = e + sp.log(1 / delta) / (a - 1)
        yield ApproxDP(mironov + sp.log(1 - 1 / a) - sp.log(a) / (a - 1), delta)
        yield ApproxDP(mironov, delta)


def _sharp(stages: tuple[Guarantee, ...], claim: Guarantee) -> Iterator[Guarantee]:
    """Numbers only: all stages' extreme pairs at once, which is optimal for pure and approximate
    guarantees (Kairouz, Oh and Viswanath 2015)."""
    known = [stage for stage in stages if isinstance(stage, (PureDP, ApproxDP))]
    many = 1 < len(known) == len(stages) <= _MOST_STAGES
    if not isinstance(claim, ApproxDP) or not many:
        return
    if not all(expr.is_number for stage in stages for _, expr in stage.parameters()):
        return
    if not claim.epsilon.is_number:
        return
    outcomes: dict[sp.Expr, sp.Expr] = {sp.S.Zero: sp.S.One}  # mass of P by the loss
    lost = sp.S.One
    for stage in known:
        e = stage.epsilon
        delta = stage.delta if isinstance(stage, ApproxDP) else sp.S.Zero
        lost = lost * (1 - delta)
        more: dict[sp.Expr, sp.Expr] = {}
        for loss, mass in outcomes.items():
            for sign in (1, -1):
                share = (1 - delta) / (1 + sp.exp(-sign * e))
                more[loss + sign * e] = more.get(loss + sign * e, sp.S.Zero) + mass * share
        outcomes = more
    excess = (
        mass * (1 - sp.exp(claim.epsilon - loss))
        for loss, mass in outcomes.items()
        if (loss - claim.epsilon).is_positive
    )
    yield ApproxDP(claim.epsilon, sp.Add(1 - lost, *excess))
