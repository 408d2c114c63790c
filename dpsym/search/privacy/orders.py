"""Orders at which a family of Rényi guarantees may help a claim."""

from __future__ import annotations

from collections.abc import Iterator

from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import Moment, constraints
from dpsym.kernel.sequents import context
from dpsym.kernel.statements import Fact, Guarantee, Statement
from dpsym.kernel.terms import ONE, ZERO, Term, term, var
from dpsym.search.privacy.envelopes import kink
from dpsym.search.samples import number, points

TAILS = ("ApproxDP", "ProbabilisticDP")
_SMALL, _TOLERANCE = 1e-12, 1e-9


def orders_for(goal: Statement, claim: Guarantee, family: Guarantee) -> Iterator[Term]:
    """The claim's own order; for a tail, the parameters above 1 that the claim names and the order
    at which Markov's inequality is best."""
    order, rho = claim.args[0], family.args[0]
    if claim.name == "RenyiDP" and order is not None:
        yield order
        return
    if claim.name == "ApproxDP" and order is ZERO:
        yield term(2)
    known = context(goal.facts)
    names = frozenset().union(*(arg.vars for arg in claim.args if arg is not None))
    for name, _ in goal.variables:
        if name in names and known.evident(Fact(var(name) - 1, ">")):
            yield var(name)
    end = _tail(claim)
    if end is not None and rho is not None and len(goal.stages) == 1:
        yield known.canon.normal((end + rho) / (2 * rho))  # Bun and Steinke (2016), Lemma 3.5


def _tail(claim: Guarantee) -> Term | None:
    """The loss above which the claim's function counts."""
    if claim.name in TAILS:
        return claim.args[0]
    for found in constraints(claim):
        at = kink(found.form) if isinstance(found, Moment) else None
        if at is not None:
            return context(()).canon.normal(tm.log(at))
    return None


def markov(family: Guarantee, order: Term, loss: Term) -> Term:
    """The bound of the mass where the loss is larger, at one order of zCDP or tCDP."""
    rho = family.args[0]
    assert rho is not None
    return tm.exp((order - 1) * (order * rho - loss))


def top_suffices(goal: Statement, family: Guarantee) -> bool:
    """Whether Markov's inequality at the highest order meets the claim at sample points."""
    (claim,), top = goal.claims, family.args[-1]
    loss, mass = (*claim.args, None)[:2]
    if family.name != "TCDP" or claim.name not in TAILS or None in (top, loss, mass):
        return False
    assert top is not None
    assert loss is not None
    assert mass is not None
    bound, samples = markov(family, top, loss), points(goal.variables, goal.facts)
    return bool(samples) and all(
        number(bound, at) <= number(mass, at) * (1 + _TOLERANCE) for at in samples
    )


def splits(goal: Statement, order: Term) -> Iterator[Term]:
    """What tells apart where the order is defined and above 1."""
    known = context(goal.facts)
    for name in sorted(order.vars):
        x = var(name)
        if known.evident(Fact(x, ">")) or not known.evident(Fact(x, ">=")):
            continue
        values = points(goal.variables, goal.facts, count=1)
        if values and not abs(number(order, {**values[0], name: 0.0})) < 1 / _SMALL:
            yield -x
            return
    less = known.canon.normal(ONE - order)
    if not known.evident(Fact(-less, ">")) and _reached(goal, order):
        yield less


def _reached(goal: Statement, order: Term) -> bool:
    """Whether the order is 1 at the end of some parameter's range."""
    for values in points(goal.variables, goal.facts, count=3):
        for name, _ in goal.variables:
            for value in (0.0, *values.values()):
                at = {**values, name: value}
                if abs(number(order, at) - 1) < _SMALL:
                    return True
    return False
