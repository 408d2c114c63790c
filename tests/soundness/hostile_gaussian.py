"""Random false statements for the rules on bounded ranges and on Gaussian DP.

That a pair of a few atoms is mu-GDP is decided by its vertices: between them the least error of
the second kind is linear, and that of the Gaussian pair is convex. What a Gaussian pair has is a
numerical integral, to far fewer digits than the margin that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.proofs import step
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import RATIO, Assumed, Guarantee, Mechanism, Pair, Region, Statement
from dpsym.kernel.terms import num, var
from tests.soundness.hostile_leaf import Source
from tests.soundness.hostile_privacy import (
    NAMES,
    PARAMETERS,
    Attempt,
    World,
    atoms_at,
    broken,
    facts_at,
    false_sequent,
    fitting,
    function,
    has,
    random_point,
)
from tests.soundness.made import Atoms
from tests.soundness.values import Point, Undefined, Unsure, ball, holds, value

CLOSE = mpmath.mpf(10) ** -6
GRID = tuple(Fraction(2) ** n for n in range(-8, 9))
MOMENTS = ("ApproxDP", "RenyiDP", "KLDP", "ProbabilisticDP", "MomentBound")
E, F, D, X = (var(name) for name in ("e", "f", "d", "x"))


def is_gaussian(mean: mpmath.mpf, atoms: Atoms) -> bool:
    """Whether telling P from Q is as hard as telling N(mean, 1) from N(0, 1)."""
    if not all(p and q for p, q in atoms):
        return False  # a test without an error
    alpha = beta = Fraction(0)
    for p, q in sorted(atoms, key=lambda pair: pair[0] / pair[1], reverse=True)[:-1]:
        alpha, beta = alpha + q, beta + p  # reject where the ratio is large
        with mpmath.workdps(30):
            least = mpmath.ncdf(-mean + _quantile(1 - alpha))
            gap = 1 - _mp(beta) - least
        if abs(gap) < CLOSE:
            raise Unsure
        if gap < 0:
            return False
    return True


def _mp(number: Fraction) -> mpmath.mpf:
    return mpmath.mpf(number.numerator) / number.denominator


def _quantile(chance: Fraction) -> mpmath.mpf:
    return mpmath.sqrt(2) * mpmath.erfinv(2 * _mp(chance) - 1)


def of_ratio(claim: Guarantee, at: Point) -> tuple[Callable[[mpmath.mpf], mpmath.mpf], mpmath.mpf]:
    """The claim's function of the likelihood ratio, and its bound, as numbers."""
    args = [
        ball(value(arg, at)).middle
        for arg in claim.args
        if arg is not None and RATIO not in arg.vars
    ]
    loss, bound = args[0], args[-1]
    if claim.name == "ApproxDP":
        return lambda t: max(t - mpmath.exp(loss), mpmath.mpf(0)), bound
    if claim.name == "ProbabilisticDP":
        return lambda t: t if t > mpmath.exp(loss) else mpmath.mpf(0), bound
    if claim.name == "RenyiDP":
        return lambda t: t**loss, mpmath.exp((loss - 1) * bound)
    if claim.name == "KLDP":
        return lambda t: t * mpmath.log(t), bound
    f = claim.args[0]
    assert f is not None

    def moment(t: mpmath.mpf) -> mpmath.mpf:
        near = Fraction(int(t * 10**12), 10**12)
        return ball(value(f, {**at, RATIO: max(near, Fraction(1, 10**12))})).middle

    return moment, bound


def gaussian_breaks(mean: mpmath.mpf, claim: Guarantee, at: Point) -> bool:
    """Whether N(mean, 1) against N(0, 1) does not have the claim, in one direction."""
    with mpmath.workdps(15):
        function_of, bound = of_ratio(claim, at)

        def integrand(x: mpmath.mpf) -> mpmath.mpf:  # the pair is symmetric
            return function_of(mpmath.exp(mean * x - mean**2 / 2)) * mpmath.npdf(x)

        ends = [-9, -3, -1, 0, 1, 3, 6, 12]
        total = mpmath.quad(integrand, [mpmath.mpf(end) for end in ends], maxdegree=4)
        if abs(total - bound) < mpmath.mpf(1) / 200 * (1 + abs(total)):
            raise Unsure
        return bool(total > bound)


def number(item: tm.Term, at: Point) -> mpmath.mpf:
    return ball(value(item, at)).middle


# -- attacks


def ranged(source: Source) -> Attempt:
    """A pair with a bounded range and more."""
    at, atoms = random_point(source), atoms_at(source, 3)
    known = [fitting(source, atoms, at, ("BoundedRange",))]
    known[0] = replace(known[0], two_way=source.random() < 0.9, reverse=False)
    if source.random() < 0.4:
        known.append(fitting(source, atoms, at, ("ApproxDP", "RenyiDP")))
    source.shuffle(known)
    claim = broken(source, atoms, at, ("PureDP", "ApproxDP", "RenyiDP", "KLDP", "BoundedRange"))
    goal = Statement(PARAMETERS, facts_at(source, at), (Assumed(tuple(known)),), (claim,))
    parameters = {"guarantee": source.choice((0, 0, 1)), "name": source.choice("tttte")}
    return Attempt(goal, World(at, (atoms,)), parameters)


def dominated(source: Source) -> Attempt:
    """A pair with Gaussian DP that breaks a claim about a moment."""
    at, atoms = random_point(source), atoms_at(source, source.randint(2, 4))
    mean = source.choice((E, F, E + F, num(fmpq(source.randint(1, 24), 8))))
    if not number(mean, at) > 0 or not is_gaussian(number(mean, at), atoms):
        raise Unsure
    claim = broken(source, atoms, at, MOMENTS)
    if source.random() < 0.6:  # a function that need not be convex, with the least bound that fails
        f = function(source)
        claim = _least(f if source.random() < 0.5 else -f, atoms, at)
    claim = replace(claim, two_way=False, reverse=source.random() < 0.3)
    goal = Statement(
        PARAMETERS, facts_at(source, at), (Assumed((Guarantee("GDP", (mean,)),)),), (claim,)
    )
    return Attempt(goal, World(at, (atoms,)), {"stage": 0, "guarantee": 0, "name": "x"})


def _least(f: tm.Term, atoms: Atoms, at: Point) -> Guarantee:
    for n in range(40, -40, -1):
        found = Guarantee("MomentBound", (f, tm.ZERO, num(fmpq(n, 8))), False)
        if not has(found, atoms, at):
            return found
    raise Unsure


def rotated(source: Source) -> Attempt:
    """Two Gaussian pairs that together break a claim about a moment."""
    at = random_point(source)
    some = (E, F, E + F, -E, num(fmpq(1, 2)), tm.ZERO)
    first, second = source.choice(some), source.choice(some)
    root = tm.sqrt(tm.power(first, 2) + tm.power(second, 2))
    mean = source.choice((root, root, -root, first + second, tm.maximum(first, second), first))
    claim = Guarantee(*source.choice((
        ("ApproxDP", (E, D)), ("RenyiDP", (var("a"), F)), ("KLDP", (F,)), ("KLDP", (D,))
    )), False)  # fmt: skip
    stages = tuple(_normal(item) for item in (first, second))
    goal = Statement(PARAMETERS, facts_at(source, at), stages, (claim,))
    means = (first, second) if source.random() < 0.9 else (second, first)
    parameters = {"first": means[0], "second": means[1], "mean": mean}
    return Attempt(goal, World(at, ((), ())), parameters)


def _normal(mean: tm.Term) -> Mechanism:
    def density(item: tm.Term) -> tm.Term:
        return tm.exp(-tm.power(item, 2) / 2) / tm.sqrt(2 * tm.PI)

    return Mechanism((Pair((Region(density(X - mean), density(X), "x"),)),))


RULES: dict[str, Callable[[Source], Attempt]] = {
    "ranged": ranged,
    "dominated": dominated,
    "rotated": rotated,
}


def false(goal: Statement, world: World, means: tuple[tm.Term, ...]) -> bool:
    """Whether the world refutes the statement; ``means`` are those of Gaussian stages."""
    if not all(holds(fact, world.point) for fact in goal.facts):
        return False
    if means:
        squares = [number(mean, world.point) ** 2 for mean in means]
        with mpmath.workdps(30):
            total = mpmath.sqrt(mpmath.fsum(squares))
        return any(gaussian_breaks(total, claim, world.point) for claim in goal.claims)
    (atoms,), (stage,) = world.stages, goal.stages
    assert isinstance(stage, Assumed)
    known = all(
        is_gaussian(number(g.args[0], world.point), atoms)  # type: ignore[arg-type]
        if g.name == "GDP"
        else has(g, atoms, world.point)
        for g in stage.guarantees
    )
    return known and not all(has(claim, atoms, world.point) for claim in goal.claims)


def _premise(rule: str, premise: Any, made: Attempt) -> bool:
    if isinstance(premise, Sequent):
        (atoms, *_) = made.world.stages
        wide = (*atoms, *((ratio, Fraction(1)) for ratio in GRID))  # the laws have every ratio
        return false_sequent(premise, replace(made.world, stages=(wide,)))
    if rule == "ranged":
        return any(false(premise, world, ()) for world in _with_ends(premise, made.world))
    if rule == "dominated":
        (stage,) = made.goal.stages
        assert isinstance(stage, Assumed)
        mean = stage.guarantees[0].args[0]
        assert mean is not None
        return false(premise, made.world, (mean,))
    return false(premise, made.world, (made.parameters["mean"],))


def _with_ends(premise: Statement, world: World) -> list[World]:
    """The world with the least loss as the new variable, or a number just below."""
    (atoms,), (name,) = world.stages, {n for n, _ in premise.variables} - set(NAMES)
    least = mpmath.log(_mp(min(p / q for p, q in atoms if p and q)))
    size = 2**16
    ends = [Fraction(int(mpmath.floor(least * size)) - k, size) for k in range(3)]
    return [replace(world, point={**world.point, name: end}) for end in ends]


def attack(
    rule: str, source: Source, make: Callable[[Source], Attempt] | None = None
) -> tuple[str, Attempt | None]:
    """As in ``hostile_leaf``."""
    try:
        made = (make or RULES[rule])(source)
        means: tuple[tm.Term, ...] = ()
        if rule == "rotated":
            means = made.parameters["first"], made.parameters["second"]
        if not false(made.goal, made.world, means):
            return "skipped", None
    except (Undefined, Unsure, Refusal):
        return "skipped", None
    try:
        premises = step(made.goal, rule, made.parameters)
    except Refusal:
        return "refused", made
    unsure = False
    for premise in premises:
        try:
            if _premise(rule, premise, made):
                return "applied", made
        except (Unsure, Undefined):
            unsure = True
    return ("undecided" if unsure else "UNSOUND"), made
