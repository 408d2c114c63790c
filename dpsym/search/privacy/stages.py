"""Stages that are made of others: totals of many copies, and multipliers for blends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpsym.kernel import terms as tm
from dpsym.kernel.statements import Assumed, Group, Guarantee, Repeated
from dpsym.kernel.terms import ONE, Term

_ADDED = ("PureDP", "RenyiDP", "RenyiDPBelowOne", "KLDP", "ZCDP")  # the last argument adds up


@dataclass(frozen=True)
class Total:
    """Many copies of ``one`` have ``many``; ``one`` follows from what is known of a copy."""

    one: Guarantee
    many: Guarantee


def totals(stage: Repeated | Group, claim: Guarantee) -> Iterator[Total]:
    """Proposals for the total of the copies, the family of the claim first."""
    if not isinstance(stage.stage, Assumed):
        return
    made = _added if isinstance(stage, Repeated) else _chained
    known = [total for one in stage.stage.guarantees for total in made(one, stage.count, claim)]
    yield from sorted(known, key=lambda total: total.many.name != claim.name)


def _with(one: Guarantee, *args: Term) -> Guarantee:
    return Guarantee(one.name, args, one.two_way, one.reverse)


def _added(one: Guarantee, count: Term, claim: Guarantee) -> Iterator[Total]:
    *first, last = (arg for arg in one.args if arg is not None)
    if one.name in _ADDED:
        yield Total(one, _with(one, *first, count * last))
    if one.name == "PureDP":
        for weaker in _from_pure(last, claim):
            yield from _added(weaker, count, claim)
    if one.name == "GDP":
        yield Total(one, _with(one, tm.sqrt(count) * last))
    if one.name == "TCDP":
        yield Total(one, _with(one, count * first[0], last))
    if one.name == "ApproxDP":
        loss = count * first[0]
        yield Total(one, _with(one, loss, count * last))
        yield Total(one, _with(one, loss, 1 - tm.exp(count * tm.log(1 - last))))


def _from_pure(loss: Term, claim: Guarantee) -> Iterator[Guarantee]:
    """What pure DP gives, which adds up to less."""
    if claim.name in ("ApproxDP", "ZCDP", "RenyiDP"):
        yield Guarantee("ZCDP", (tm.power(loss, 2) / 2,))


def _chained(one: Guarantee, count: Term, claim: Guarantee) -> Iterator[Total]:
    *first, last = (arg for arg in one.args if arg is not None)
    if one.name in ("PureDP", "GDP"):
        yield Total(one, _with(one, count * last))
    if one.name == "ApproxDP":
        loss = first[0]
        growth = (tm.exp(count * loss) - 1) / (tm.exp(loss) - ONE)
        yield Total(one, _with(one, count * loss, last * growth))
    if one.name == "ZCDP":
        yield Total(one, _with(one, tm.power(count, 2) * last))
