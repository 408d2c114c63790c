"""Statements for the tests, and witnesses recomputed with fractions and mpmath alone."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from fractions import Fraction

from flint import fmpq
from mpmath import mp, mpf

from dpsym.kernel.statements import Assumed, Fact, Guarantee, Statement
from dpsym.kernel.terms import Term, log, num, term, var
from dpsym.refutations import Atom, Refutation
from dpsym.search.refutation import describe, refute_statement, script

mp.dps = 40
Pairs = list[tuple[Fraction, Fraction]]
BUDGET = 10.0
e1, e2, e3, d1, d2, order, rho, delta, epsilon = map(
    var, ("e1", "e2", "e3", "d1", "d2", "alpha", "rho", "delta", "epsilon")
)


def g(name: str, *args: Term | int | fmpq | None, **ways: bool) -> Guarantee:
    return Guarantee(name, tuple(None if x is None else term(x) for x in args), **ways)


def claim(stages: list[list[Guarantee]], *claims: Guarantee) -> Statement:
    """The statement over all variables, with the usual domains: deltas in (0, 1], orders above 1,
    rho and epsilon positive, e1 and e2 nonnegative."""
    given = [x for stage in stages for x in stage]
    terms = [x for one in (*given, *claims) for x in one.args if x is not None]
    names = sorted(frozenset().union(*(x.vars for x in terms)) - {"$t"})
    facts: list[Fact] = []
    for name in names:
        x = var(name)
        facts.append(Fact(x - 1 if name == "alpha" else x, ">=" if name[0] == "e" else ">"))
        if name[0] == "d":
            facts.append(Fact(1 - x, ">="))
    return Statement(
        tuple((name, "real") for name in names),
        tuple(facts),
        tuple(Assumed(tuple(stage)) for stage in stages),
        claims,
    )


def refuted(statement: Statement) -> Refutation:
    found = refute_statement(statement, BUDGET)
    assert found is not None
    assert found.statement is statement
    assert describe(found)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(script(found), {})
    assert printed.getvalue().strip().endswith("True")
    return found


def fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def values(found: Refutation) -> dict[str, mpf]:
    return {name: mpf(int(v.p)) / int(v.q) for name, v in found.values.items()}


def tables(atoms: tuple[Atom, ...], depth: int) -> Iterator[Pairs]:
    """All tables of the stage at this depth."""
    if depth == 0:
        yield [(fraction(a.p), fraction(a.q)) for a in atoms]
    else:
        for atom in atoms:
            yield from tables(atom.then, depth - 1)


def joint(atoms: tuple[Atom, ...]) -> Pairs:
    out: Pairs = []
    for atom in atoms:
        p, q = fraction(atom.p), fraction(atom.q)
        out += [(p * a, q * b) for a, b in joint(atom.then)] if atom.then else [(p, q)]
    return out


def both(measure: Callable[[Pairs], mpf], pairs: Pairs) -> mpf:
    """The larger of the two directions."""
    return max(measure(pairs), measure([(q, p) for p, q in pairs]))


def real(value: Fraction) -> mpf:
    return mpf(value.numerator) / value.denominator


def hockey_stick(eps: mpf) -> Callable[[Pairs], mpf]:
    return lambda pairs: sum(max(real(p) - mp.exp(eps) * real(q), mpf(0)) for p, q in pairs)


def exceeding(eps: mpf) -> Callable[[Pairs], mpf]:
    return lambda pairs: sum(real(p) for p, q in pairs if real(p) > mp.exp(eps) * real(q))


def renyi(alpha: mpf) -> Callable[[Pairs], mpf]:
    def divergence(pairs: Pairs) -> mpf:
        if any(p and not q for p, q in pairs):
            return mp.inf
        total = sum(real(q) * (real(p) / real(q)) ** alpha for p, q in pairs if p)
        return mp.log(total) / (alpha - 1)

    return divergence


def worst(pairs: Pairs) -> mpf:
    """The largest loss."""
    return max(mp.log(real(p) / real(q)) if q else mp.inf for p, q in pairs if p)


def spread(pairs: Pairs) -> mpf:
    losses = [mp.log(real(p) / real(q)) if q else mp.inf for p, q in pairs if p]
    return max(losses) - min(losses)


def distributions(atoms: tuple[Atom, ...], stages: int) -> Iterator[tuple[int, Pairs]]:
    """Every stage's tables, each checked to sum to 1."""
    for depth in range(stages):
        for pairs in tables(atoms, depth):
            assert sum(p for p, _ in pairs) == sum(q for _, q in pairs) == 1
            assert all(p >= 0 and q >= 0 for p, q in pairs)
            yield depth, pairs


LOG_INVERSE = log(num(1) / delta)
SLACK = mpf(10) ** -35
