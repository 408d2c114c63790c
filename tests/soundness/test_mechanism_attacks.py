"""False statements about explicit mechanisms: each attack is refused, or leaves something false.

Every goal here is false for a reason that is given, at the values of the parameters that are given.
A rule that accepts the attack must leave a premise that fails there, at an output of the list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from dpsym.kernel.proofs import step
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules_mechanisms import Limit, Mass, Piece, Slack
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import (
    INTEGER,
    RATIO,
    Fact,
    Guarantee,
    Mechanism,
    Pair,
    Region,
    Statement,
)
from dpsym.kernel.terms import (
    MINUS_ONE,
    ONE,
    PI,
    ZERO,
    Term,
    atan,
    erfc,
    exp,
    lgamma,
    log,
    maximum,
    num,
    power,
    sqrt,
    var,
)
from tests.soundness.values import Undefined, Unsure, fails

x, t, b, d, n = map(var, ("x", "t", "b", "d", "n"))
RATIO_ = var(RATIO)
HALF = num(1) / 2
ONE_WAY = {"two_way": False}
POSITIVE_X, LINE = (Fact(x, ">="),), ()
OUTPUTS = [
    *(Fraction(k, 4) for k in range(-24, 25)),
    *(Fraction(sign, 10**k) for sign in (1, -1) for k in range(1, 9)),
    *(1 + Fraction(sign, 10**k) for sign in (1, -1) for k in range(1, 9)),
    *(Fraction(sign * 10**k) for sign in (1, -1) for k in range(1, 7)),
    Fraction(101),
]


@dataclass(frozen=True)
class Attack:
    why: str  # the goal is false at the point
    goal: Statement
    rule: str
    parameters: dict[str, Any]
    at: Mapping[str, int | Fraction] | None = None

    def left(self) -> Sequent | None:
        """A premise that is false at the point."""
        at = {name: Fraction(number) for name, number in (self.at or {}).items()}
        for premise in step(self.goal, self.rule, self.parameters):
            if not isinstance(premise, Sequent):
                continue
            new = sorted(premise.vars - set(at))
            for chosen in product(OUTPUTS, repeat=len(new)):
                try:
                    if fails(premise, {**at, **dict(zip(new, chosen, strict=True))}):
                        return premise
                except (Unsure, Undefined):
                    continue
        return None


def statement(
    claim: Guarantee,
    *regions: Region,
    variables: tuple[tuple[str, str], ...] = (),
    facts: tuple[Fact, ...] = (),
) -> Statement:
    return Statement(variables, facts, (Mechanism((Pair(regions),)),), (claim,))


def density(p: Term, q: Term, facts: tuple[Fact, ...] = POSITIVE_X, **more: Any) -> Region:
    return Region(p, q, "x", facts, **more)


def reals(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, "real") for name in names)


def pieces(*rows: tuple[Piece, ...], low: tuple[Term, Term] = (ZERO, ZERO)) -> dict[str, Any]:
    return {"low": low, "pieces": rows}


def limit(value: Term = ZERO, *slacks: Slack) -> Limit:
    return Limit(value, slacks)


def moment(f: Term, bound: Term, at_p: Term | None = None, reverse: bool = False) -> Guarantee:
    return Guarantee("MomentBound", (f, at_p, bound), False, reverse)


# P has density exp(-x), Q has 2 exp(-2x): D(P || Q) = 1 - log 2, D(Q || P) = log 2 - 1/2
FAST_SLOW = density(exp(-x), 2 * exp(-2 * x))
KL_SLOW = -(x + 1 - log(num(2))) * exp(-x)  # an antiderivative of p log(p/q)
FADES = Slack(num(9), "exp", 1, ONE, ZERO)
TO_ZERO = limit(ZERO, Slack(num(9), "exp", 1, ONE, ZERO), Slack(num(9), "exp", 0, ONE, ZERO))
BELOW = (ONE, MINUS_ONE)  # t log t >= t - 1


def kl(bound: Term, reverse: bool = False) -> Guarantee:
    return Guarantee("KLDP", (bound,), False, reverse)


def approx(delta: Term, epsilon: Term = ZERO, reverse: bool = False) -> Guarantee:
    return Guarantee("ApproxDP", (epsilon, delta), False, reverse)


WRONG_KL = statement(kl(num(1) / 4), FAST_SLOW)
MASS_TWO = statement(moment(RATIO_, HALF), FAST_SLOW)  # the integral of p is 1
EVEN = density(exp(-x), exp(-x))
HELLINGER = Guarantee("RenyiDPBelowOne", (HALF, MINUS_ONE), **ONE_WAY)  # at -1, of any pair, false
GEOMETRIC = density(HALF * exp(-x * log(num(2))), HALF * exp(-x * log(num(2))), kind=INTEGER)
HALVES = -exp(-x * log(num(2)))  # whose difference is the mass
CAUCHY = 1 / (PI * (1 + power(x, 2)))
BELL = exp(-power(x, 2)) / sqrt(PI)
RATE = {"variables": reals("b"), "facts": (Fact(b, ">"),)}
SCALED = density(b * exp(-b * x), b * exp(-b * x))
SHIFTED = density(BELL, exp(-power(x - 1, 2)) / sqrt(PI), LINE)
UNIT = (Fact(x, ">="), Fact(1 - x, ">="))

INTEGRALS = [
    Attack(
        "the antiderivative's derivative is too small",
        WRONG_KL,
        "integral",
        pieces((Piece(HALF * KL_SLOW, last=TO_ZERO),), low=BELOW),
    ),
    Attack(
        "the divergence is 0.307 and not 1/4, all else being right",
        WRONG_KL,
        "integral",
        pieces((Piece(KL_SLOW, last=TO_ZERO),), low=BELOW),
    ),
    Attack(
        "D(Q || P) is 0.193; the pieces are of D(P || Q)",
        statement(kl(num(19) / 100, reverse=True), FAST_SLOW),
        "integral",
        pieces((Piece(KL_SLOW, last=TO_ZERO),), low=BELOW),
    ),
    Attack(
        "the limit at infinity is 0 and not -1/2",
        MASS_TWO,
        "integral",
        pieces((Piece(-exp(-x), last=limit(-HALF, FADES)),)),
    ),
    Attack(
        "the limit of atan is pi/2, the integral 1",
        statement(moment(RATIO_, HALF), density(CAUCHY, CAUCHY, LINE)),
        "integral",
        pieces(
            (
                Piece(
                    atan(x) / PI,
                    first=limit(-HALF, Slack(ONE, "inverse", -1, ONE, ZERO)),
                    last=limit(ZERO, Slack(ONE, "inverse", -1, ONE, ZERO)),
                ),
            )
        ),
    ),
    Attack(
        "a slack that grows: its rate is negative",
        MASS_TWO,
        "integral",
        pieces((Piece(-exp(-x), last=limit(-HALF, Slack(ONE, "exp", 0, MINUS_ONE, ZERO))),)),
    ),
    Attack(
        "a slack that stays: its rate is zero",
        MASS_TWO,
        "integral",
        pieces((Piece(-exp(-x), last=limit(-HALF, Slack(num(9), "exp", 0, ZERO, MINUS_ONE))),)),
    ),
    Attack(
        "a rate that is positive for some parameters only",
        replace(MASS_TWO, variables=reals("b")),
        "integral",
        pieces((Piece(-exp(-x), last=limit(-HALF, Slack(num(9), "exp", 0, b, ZERO))),)),
        {"b": 0},
    ),
    Attack(
        "e^n for negative e and odd n would be a negative slack; e is positive only beyond 3",
        MASS_TWO,
        "integral",
        pieces((Piece(-exp(-x), last=limit(-HALF, Slack(num(-9), "exp", 1, ONE, num(3)))),)),
    ),
    Attack(
        "erfc of a negative argument is near 2, which is no slack",
        MASS_TWO,
        "integral",
        pieces((Piece(-exp(-x), last=limit(-HALF, Slack(HALF, "erfc", 0, ONE, num(100)))),)),
    ),
    Attack(
        "the limit at a finite end is 1 and not 0",
        statement(moment(RATIO_, ZERO), density(ONE, ONE, UNIT)),
        "integral",
        pieces((Piece(x, last=limit(ZERO, Slack(ONE, "inverse", -1, ONE, ZERO))),)),
    ),
    Attack(
        "the limit at a finite start is 0 and not 1",
        statement(moment(RATIO_, ZERO), density(ONE, ONE, UNIT)),
        "integral",
        pieces((Piece(x, first=limit(ONE, Slack(ONE, "inverse", -1, ONE, ZERO))),)),
    ),
    Attack(
        "1/(1 - x) has a pole in the piece, and falls across it",
        statement(moment(RATIO_, -ONE), density(HALF, HALF, (Fact(x, ">="), Fact(2 - x, ">=")))),
        "integral",
        pieces((Piece(1 / (1 - x)),)),
    ),
    Attack(
        "atan(1/x) jumps at 0",
        statement(moment(RATIO_, ZERO), density(CAUCHY, CAUCHY, LINE)),
        "integral",
        pieces(
            (
                Piece(
                    -atan(1 / x) / PI,
                    first=limit(ZERO, Slack(ONE, "inverse", -1, ONE, ZERO)),
                    last=limit(ZERO, Slack(ONE, "inverse", -1, ONE, ZERO)),
                ),
            )
        ),
    ),
    Attack(
        "a root whose slope is undefined where its argument is 0: sqrt(x^2) turns there",
        statement(
            moment(RATIO_, ZERO), density(HALF, HALF, (Fact(x + 1, ">="), Fact(1 - x, ">=")))
        ),
        "integral",
        pieces((Piece(HALF * sqrt(power(x, 2))),)),
    ),
    Attack(
        "the pieces run back: from 0 to -5 and from -5 on",
        statement(moment(-RATIO_, num(-2)), EVEN),
        "integral",
        pieces((Piece(exp(-x), until=num(-5)), Piece(exp(-x), last=TO_ZERO)), low=(-ONE, ZERO)),
    ),
    Attack(
        "the second piece ends before it starts",
        statement(moment(RATIO_, HALF), density(ONE, ONE, UNIT)),
        "integral",
        pieces((Piece(x, until=num(3)), Piece(x))),
    ),
    Attack(
        "an empty piece with limits at both ends, which are not the same",
        statement(moment(RATIO_, HALF), density(ONE, ONE, UNIT)),
        "integral",
        pieces((Piece(x, until=ZERO, first=limit(ONE), last=limit(ZERO)), Piece(x))),
    ),
    Attack(
        "a region that is empty for b < 0, where its ends are the wrong way round",
        statement(
            HELLINGER,
            density(ONE, ONE, (Fact(x, ">="), Fact(b - x, ">="))),
            Region(ONE, ONE, weight=ONE),
            variables=reals("b"),
        ),
        "integral",
        pieces((Piece(-x),), (Piece(ZERO),), low=(MINUS_ONE, MINUS_ONE)),
        {"b": -1},
    ),
    Attack(
        "a region that is empty, as b < 0, whose facts by themselves say that b >= 0",
        statement(
            HELLINGER,
            density(ONE, ONE, (Fact(x - 3 * sqrt(power(b, 2)), ">="), Fact(2 * b - x, ">="))),
            Region(ONE, ONE, weight=ONE),
            variables=reals("b"),
            facts=(Fact(-b - 1, ">"),),
        ),
        "integral",
        pieces((Piece(-x),), (Piece(ZERO),), low=(MINUS_ONE, MINUS_ONE)),
        {"b": -2},
    ),
    Attack(
        "p is not zero, so it counts",
        statement(approx(num(1) / 5), FAST_SLOW),
        "integral",
        pieces((Piece(ZERO, last=limit(), p=ZERO),)),
    ),
    Attack(
        "q is not zero: where it is, -sqrt(pq) is 0, elsewhere not",
        statement(Guarantee("RenyiDPBelowOne", (HALF, ONE), False), FAST_SLOW),
        "integral",
        pieces((Piece(ZERO, last=limit(), q=ZERO),), low=(MINUS_ONE, MINUS_ONE)),
    ),
    Attack(
        "q is zero beyond 1, where the claim's function is 5 p and not q: 1 + 5/e in all",
        statement(moment(ONE, ONE, at_p=num(5)), density(exp(-x), 2 * maximum(1 - x, 0))),
        "integral",
        pieces((Piece(2 * x - power(x, 2), until=ONE), Piece(ONE, last=limit(ONE)))),
    ),
    Attack(
        "a negative number of atoms takes mass away",
        statement(
            moment(RATIO_, ONE), Region(ONE, ONE, weight=num(2)), Region(ONE, ONE, weight=MINUS_ONE)
        ),
        "integral",
        pieces((Piece(ZERO),), (Piece(ZERO),)),
    ),
    Attack(
        "k - 2 atoms at k = 1",
        statement(
            moment(RATIO_, 1 / n),
            Region(1 / n, 1 / n, weight=n - 2),
            variables=(("n", INTEGER),),
            facts=(Fact(n - 1, ">="),),
        ),
        "integral",
        pieces((Piece(ZERO),)),
        {"n": 1},
    ),
    Attack(
        "below on the ray p = 0, which may carry mass",
        statement(moment(-RATIO_, num(-2)), FAST_SLOW),
        "integral",
        pieces((Piece(exp(-x), last=TO_ZERO),), low=(MINUS_ONE, ONE)),
    ),
    Attack(
        "one term of a sum is left out: it starts at 0",
        statement(moment(RATIO_, HALF), GEOMETRIC),
        "integral",
        pieces((Piece(HALVES / 2, last=limit(ZERO, Slack(ONE, "exp", 0, HALF, ZERO))),)),
    ),
    Attack(
        "the last term of a finite sum counts",
        statement(
            moment(RATIO_, num(2) / 3),
            density(num(1) / 3, num(1) / 3, (Fact(x, ">="), Fact(2 - x, ">=")), kind=INTEGER),
        ),
        "integral",
        pieces((Piece(x / 3),)),
    ),
    Attack(
        "(x + 1)^2 - x^2 is 2x + 1, not 4x",
        statement(
            moment(RATIO_, num(3) / 4),
            density(x / 3, x / 3, (Fact(x, ">="), Fact(2 - x, ">=")), kind=INTEGER),
        ),
        "integral",
        pieces((Piece(power(x, 2) / 12),)),
    ),
    Attack(
        "a Gaussian's total variation, by the antiderivative without its kink",
        statement(approx(ZERO), SHIFTED),
        "integral",
        pieces(
            (
                Piece(
                    HALF * (erfc(x - 1) - erfc(x)),
                    first=limit(ZERO, Slack(num(9), "erfc", 0, ONE, num(2))),
                    last=limit(ZERO, Slack(num(9), "erfc", 0, ONE, num(2))),
                ),
            )
        ),
    ),
]

MASSES = [
    Attack(
        "the mean of p at x and at -x is at most p there only if p is even",
        statement(moment(RATIO_, HALF), density(BELL, BELL, LINE)),
        "masses",
        {"masses": (Mass(HALF, "p", ZERO, ONE, ()),), "mirror": (ZERO, (ZERO, ZERO))},
    ),
    Attack(
        "an odd function that is not bounded below: its mean is 0, its integral infinite",
        statement(
            moment(RATIO_ * (power(RATIO_, 2) - power(RATIO_, -2)), ZERO),
            density(BELL, exp(-power(x, 2) / 2) / sqrt(2 * PI), LINE),
        ),
        "masses",
        {"masses": (), "mirror": (ZERO, (num(-9), num(-9)))},
    ),
    Attack(
        "a function that is not negative, without a bound below",
        statement(moment(RATIO_, HALF), density(BELL, BELL, LINE)),
        "masses",
        {"masses": (Mass(HALF, "p", ZERO, ONE, ()),), "mirror": (ZERO, None)},
    ),
    Attack(
        "the integral of p is 1, not 1/2",
        MASS_TWO,
        "masses",
        {"masses": (Mass(ONE, "p", ZERO, ONE, ()),), "mirror": None},
    ),
    Attack(
        "half of p is not p",
        MASS_TWO,
        "masses",
        {"masses": (Mass(HALF, "p", ZERO, ONE, ()),), "mirror": None},
    ),
    Attack(
        "scaled by -1, a density is negative where it counts as -1",
        statement(moment(RATIO_, HALF), density(BELL, BELL, LINE)),
        "masses",
        {"masses": (Mass(MINUS_ONE, "p", ZERO, MINUS_ONE, ()),), "mirror": None},
    ),
    Attack(
        "scaled by 0",
        statement(moment(RATIO_, HALF), density(BELL, BELL, LINE)),
        "masses",
        {"masses": (Mass(ONE, "p", ZERO, ZERO, ()),), "mirror": None},
    ),
    Attack(
        "at b = -1 the density b exp(-b x) is none",
        statement(moment(-RATIO_, num(-2)), SCALED, **RATE),
        "masses",
        {"masses": (Mass(num(-2), "p", ZERO, ONE, (("b", b - 3),)),), "mirror": None},
        {"b": 2},
    ),
    Attack(
        "q is zero beyond 1, where the claim's function is 5 p and not q: 1 + 5/e in all",
        statement(moment(ONE, ONE, at_p=num(5)), density(exp(-x), 2 * maximum(1 - x, 0))),
        "masses",
        {"masses": (Mass(ONE, "q", ZERO, ONE, ()),), "mirror": None},
    ),
    Attack(
        "Q against P, bounded as P against Q",
        statement(kl(num(19) / 100, reverse=True), FAST_SLOW),
        "masses",
        {"masses": (Mass(num(19) / 100, "p", ZERO, ONE, ()),), "mirror": None},
    ),
    Attack(
        "one shift for the other",
        statement(moment(power(RATIO_, 2), num(2)), SHIFTED),  # exp(2) in fact
        "masses",
        {"masses": (Mass(exp(num(2)), "p", ONE, ONE, ()),), "mirror": None},
    ),
    Attack(
        "exp(2) times a mass, all right but for the bound",
        statement(moment(power(RATIO_, 2), num(7)), SHIFTED),
        "masses",
        {"masses": (Mass(exp(num(2)), "p", MINUS_ONE, ONE, ()),), "mirror": None},
    ),
    Attack(
        "a coefficient that is right for b = 1 only",
        statement(moment(RATIO_, b), SCALED, **RATE),
        "masses",
        {"masses": (Mass(b, "p", ZERO, ONE, ()),), "mirror": None},
        {"b": Fraction(1, 2)},
    ),
]

IS_ONE = Guarantee("Distributions", ())


def poisson(mean: Term) -> Term:
    return exp(x * log(mean) - mean - lgamma(x + 1))


def counts(p: Term, q: Term, *facts: Fact) -> Region:
    return density(p, q, (*POSITIVE_X, *facts), kind=INTEGER)


HALVES = exp(-(x + 1) * log(num(2)))
LATE = [  # masses on the naturals, moved
    Attack(
        "twice the mass before x covers 1/2^(x + 1) from 1 on; at 0 there is nothing before",
        statement(moment(RATIO_, HALF), counts(HALVES, HALVES)),
        "masses",
        {"masses": (Mass(HALF, "p", ONE, ONE, ()),), "mirror": None},
    ),
    Attack(
        "the mean of a Poisson law of mean 2 is not 3/2",
        statement(
            moment(log(RATIO_) * RATIO_, 3 * log(num(2)) / 2 - 1),
            counts(poisson(num(2)), poisson(ONE)),
        ),
        "masses",
        {
            "masses": (
                Mass(3 * log(num(2)) / 2, "p", ONE, ONE, ()),
                Mass(MINUS_ONE, "p", ZERO, ONE, ()),
            ),
            "mirror": None,
        },
    ),
]

SERIES = [
    Attack(
        "1/(e x!) from 1 on, so without its mass at 0, has another shape from 0 on",
        statement(IS_ONE, counts(poisson(ONE), exp(-1 - lgamma(x + 2)))),
        "series",
        {"parameters": (ONE, ONE)},
    ),
    Attack(
        "a mean for the other",
        statement(IS_ONE, counts(poisson(ONE), 2 * poisson(num(2)))),
        "series",
        {"parameters": (ONE, num(2))},
    ),
    Attack(
        "at b = -1 there is no law",
        statement(IS_ONE, counts(ZERO * b, ZERO * b), variables=reals("b")),
        "series",
        {"parameters": (b, b)},
        {"b": -1},
    ),
    Attack(
        "no trials at all, not even none: for n = -1 there is no number from 0 to n",
        statement(IS_ONE, counts(ZERO, ZERO, Fact(n - x, ">=")), variables=(("n", INTEGER),)),
        "series",
        {"parameters": (HALF, HALF)},
        {"n": -1},
    ),
    Attack(
        "a Poisson law is none on 0 to 3",
        statement(IS_ONE, counts(poisson(ONE), poisson(ONE), Fact(3 - x, ">="))),
        "series",
        {"parameters": (HALF, HALF)},
    ),
]


def refused(goal: Statement, rule: str, parameters: dict[str, Any], match: str) -> None:
    with pytest.raises(Refusal, match=match):
        step(goal, rule, parameters)


def test_masses_move_on_the_naturals_by_small_naturals_alone() -> None:
    law = poisson(ONE)

    def moved(shift: Term, region: Region, scale: Term = ONE) -> None:
        given = {"masses": (Mass(ONE, "p", shift, scale, ()),), "mirror": None}
        refused(statement(moment(RATIO_, ONE), region), "masses", given, "natural|no scale|integer")

    for shift in (MINUS_ONE, HALF, num(50), num(10**30), x):
        moved(shift, counts(law, law))
    moved(ONE, counts(law, law), num(2))
    moved(ONE, counts(law, law, Fact(9 - x, ">=")))  # the mass at 9 would be lost: too much is kept
    moved(ONE, density(exp(-x), exp(-x)))


def test_series_are_those_of_whole_laws() -> None:
    law, given = poisson(ONE), {"parameters": (ONE, ONE)}
    for region in (
        density(law, law),
        density(law, law, (), kind=INTEGER),
        density(law, law, (Fact(x - 1, ">="),), kind=INTEGER),
        density(law, law, (Fact(x + 1, ">="),), kind=INTEGER),
    ):
        refused(statement(IS_ONE, region), "series", given, "integers from 0|interval")
    whole = counts(law, law)
    refused(statement(IS_ONE, whole, whole), "series", given, "one region")
    refused(statement(kl(ZERO), whole), "series", given, "that claim")
    free = Statement((), (), (Mechanism((Pair((whole,), normalised=False),)),), (IS_ONE,))
    refused(free, "series", given, "normalised")


DECAY = Piece(-exp(-x), last=TO_ZERO)
DECAYING = (DECAY,)
FALLING = (Piece(exp(-x), last=limit(ZERO, Slack(ONE, "exp", 0, ONE, ZERO))),)


def sides(*rows: tuple[tuple[Piece, ...], ...]) -> dict[str, Any]:
    return {"pieces": rows}


REWRITTEN = [
    Attack(
        f"another term for a density that is not it: {what}",
        statement(approx(num(1) / 5), FAST_SLOW),
        "integral",
        pieces((piece,)),
    )
    for what, piece in (
        ("p as q", Piece(ZERO, last=limit(), p=2 * exp(-2 * x))),
        ("q as p", Piece(ZERO, last=limit(), q=exp(-x))),
        ("q as something larger", Piece(ZERO, last=limit(), q=3 * exp(-x))),
        ("p as half of it", Piece(ZERO, last=limit(), p=HALF * exp(-x), q=exp(-x))),
        ("both as zero", Piece(ZERO, last=limit(), p=ZERO, q=ZERO)),
        ("p as what is it for x = 1 only", Piece(ZERO, last=limit(), p=exp(-x * x), q=exp(-x))),
        ("p as what has no value", Piece(ZERO, last=limit(), p=exp(-x) * log(x) / log(x), q=ONE)),
    )
] + [
    Attack(
        "Q against P, where p and q are exchanged",
        statement(kl(num(19) / 100, reverse=True), FAST_SLOW),
        "integral",
        pieces((Piece(KL_SLOW, last=TO_ZERO, p=exp(-x), q=2 * exp(-2 * x)),), low=BELOW),
    ),
    Attack(
        "at most 0, it is said, without a bound below",
        statement(moment(RATIO_, HALF), EVEN),
        "integral",
        {"low": None, "pieces": ((Piece(HALF * -exp(-x), last=TO_ZERO),),)},
    ),
    Attack(
        "p is 2 exp(-2 x), as one writes it, but not 0",
        statement(Guarantee("Distributions", ()), density(2 * exp(-2 * x), exp(-x))),
        "distributions",
        {
            "pieces": (
                (
                    (Piece(-exp(-x), last=TO_ZERO, p=exp(-x)),),
                    (Piece(exp(-x), last=TO_ZERO, p=-exp(-x)),),
                    (Piece(-exp(-x), last=TO_ZERO),),
                    (Piece(exp(-x), last=TO_ZERO),),
                ),
            )
        },
    ),
]

NORMALISED = [
    Attack(
        f"{what} of mass {mass}",
        statement(IS_ONE, density(p, q)),
        "distributions",
        sides((DECAYING, FALLING, DECAYING, FALLING)),
    )
    for what, mass, p, q in (
        ("p", 2, 2 * exp(-x), exp(-x)),
        ("p", "1/2", HALF * exp(-x), exp(-x)),
        ("q", 2, exp(-x), 2 * exp(-x)),
        ("q", "1/2", exp(-x), HALF * exp(-x)),
    )
] + [
    Attack(
        "p of mass 1/2, by the right antiderivatives",
        statement(IS_ONE, density(exp(-2 * x), exp(-x))),
        "distributions",
        sides(
            (
                (Piece(-HALF * exp(-2 * x), last=TO_ZERO),),
                (Piece(HALF * exp(-2 * x), last=TO_ZERO),),
                DECAYING,
                FALLING,
            )
        ),
    ),
    Attack(
        "p of mass 1 that is negative between 1/2 and 1",
        statement(IS_ONE, density(6 * power(1 - x, 2) * 3 - 5, ONE, UNIT)),
        "distributions",
        sides(
            (
                (Piece(6 * power(x - 1, 3) - 5 * x),),
                (Piece(-6 * power(x - 1, 3) + 5 * x),),
                (Piece(x),),
                (Piece(-x),),
            )
        ),
    ),
    Attack(
        "two regions of mass 1 each",
        statement(IS_ONE, EVEN, replace(EVEN, output="x")),
        "distributions",
        sides(*((DECAYING, FALLING, DECAYING, FALLING),) * 2),
    ),
    Attack(
        "atoms: three of mass 1/2",
        statement(IS_ONE, Region(HALF, HALF, weight=num(3))),
        "distributions",
        sides(((Piece(ZERO),),) * 4),
    ),
    Attack(
        "atoms of mass 3/2 and -1/2",
        statement(IS_ONE, Region(3 * HALF, ONE), Region(-HALF, ZERO)),
        "distributions",
        sides(*(((Piece(ZERO),),) * 4,) * 2),
    ),
    Attack(
        "a negative number of atoms",
        statement(IS_ONE, Region(ONE, ONE, weight=num(2)), Region(ONE, ONE, weight=MINUS_ONE)),
        "distributions",
        sides(*(((Piece(ZERO),),) * 4,) * 2),
    ),
    Attack(
        "an infinite mass: 1/(1 + x) has an antiderivative that grows",
        statement(IS_ONE, density(1 / (1 + x), exp(-x))),
        "distributions",
        sides(
            (
                (Piece(log(1 + x), last=limit(ONE, FADES)),),
                (Piece(-log(1 + x), last=limit(MINUS_ONE)),),
                DECAYING,
                FALLING,
            )
        ),
    ),
    Attack(
        "as masses of integers, exp(-x) sums to more than 1",
        statement(IS_ONE, density(exp(-x), exp(-x), kind=INTEGER)),
        "distributions",
        sides((DECAYING, FALLING, DECAYING, FALLING)),
    ),
    Attack(
        "b exp(-b x) for b < 0",
        statement(IS_ONE, SCALED, variables=reals("b"), facts=(Fact(b, "!="),)),
        "distributions",
        sides(
            (
                (Piece(-exp(-b * x), last=limit(ZERO, Slack(ONE, "exp", 0, b, ZERO))),),
                (Piece(exp(-b * x), last=limit(ZERO, Slack(ONE, "exp", 0, b, ZERO))),),
            )
            * 2
        ),
        {"b": -1},
    ),
]

OTHERS = [
    Attack(
        "the ratio is exp(2x - x)/2, which is unbounded in one direction",
        statement(Guarantee("PureDP", (log(num(2)),), False), FAST_SLOW),
        "pointwise",
        {},
    ),
    Attack(
        "the ratio q/p is 2 at x = 0",
        statement(Guarantee("PureDP", (HALF,), False, True), FAST_SLOW),
        "pointwise",
        {},
    ),
    Attack(
        "log b has no value for b < 0, which neither case would tell",
        statement(Guarantee("PureDP", (HALF,), False, True), FAST_SLOW, variables=reals("b")),
        "either",
        {"item": log(b)},
        {"b": -1},
    ),
    Attack(
        "there is no whole number below log b for b < 0",
        statement(Guarantee("PureDP", (HALF,), False, True), FAST_SLOW, variables=reals("b")),
        "named",
        {"name": "m", "value": log(b), "kind": "integer"},
        {"b": -1},
    ),
    Attack(
        "there is no number log b for b < 0",
        statement(Guarantee("PureDP", (HALF,), False, True), FAST_SLOW, variables=reals("b")),
        "named",
        {"name": "m", "value": log(b), "kind": "real"},
        {"b": -1},
    ),
    Attack(
        "b is not 1/2",
        statement(approx(num(1) / 9), FAST_SLOW, **RATE),
        "equal",
        {"name": "b", "value": HALF},
        {"b": 2},
    ),
    Attack(
        "b is at least d but not equal to it",
        statement(
            approx(num(1) / 9), FAST_SLOW, variables=reals("b", "d"), facts=(Fact(b - d, ">="),)
        ),
        "equal",
        {"name": "b", "value": d},
        {"b": 2, "d": 1},
    ),
    Attack(
        "1/b is not defined at b = 0",
        statement(approx(num(1) / 9), FAST_SLOW, variables=reals("b", "d")),
        "equal",
        {"name": "d", "value": 1 / b},
        {"b": 0, "d": 0},
    ),
]

ATTACKS = [*INTEGRALS, *MASSES, *LATE, *SERIES, *REWRITTEN, *NORMALISED, *OTHERS]


@pytest.mark.parametrize("attack", ATTACKS, ids=[attack.why for attack in ATTACKS])
def test_what_is_left_to_show_is_false(attack: Attack) -> None:
    assert attack.left() is not None


def test_a_function_that_is_not_bounded_below_is_refused() -> None:
    """-q^2/p: without a bound below, the limit over bounded pieces need not be the integral."""
    goal = statement(moment(-1 / RATIO_, ZERO), FAST_SLOW)
    given = pieces((Piece(ZERO, last=limit()),), low=(num(-100), num(-100)))
    at = {RATIO: Fraction(1, 1000)}
    assert any(fails(premise, at) for premise in step(goal, "integral", given) if _about(premise))


def test_losses_further_apart_than_the_range() -> None:
    """The loss log 2 - x is unbounded; between x = 0 and x = 2 it changes by 2."""
    goal = statement(Guarantee("BoundedRange", (HALF,), False), FAST_SLOW)
    at = {"x": Fraction(2), "$y": Fraction(0)}, {"x": Fraction(0), "$y": Fraction(2)}
    premises = [one for one in step(goal, "spread", {}) if isinstance(one, Sequent)]
    assert any(fails(premise, point) for premise in premises for point in at)


def test_a_range_where_one_density_vanishes() -> None:
    """All loss of P is infinite where Q has no mass, however small the differences."""
    goal = statement(Guarantee("BoundedRange", (HALF,), False), density(exp(-x), ZERO))
    premises = [one for one in step(goal, "spread", {}) if isinstance(one, Sequent)]
    assert any(fails(premise, {"x": Fraction(1)}) for premise in premises)


def _about(premise: object) -> bool:
    return isinstance(premise, Sequent) and premise.vars == {RATIO}


def test_the_same_attacks_prove_what_is_true() -> None:
    """With the bounds that are right, the parameters above are accepted and nothing is false."""
    true = [
        (kl(1 - log(num(2))), pieces((Piece(KL_SLOW, last=TO_ZERO),), low=BELOW)),
        (moment(RATIO_, ONE), pieces((DECAY,))),
    ]
    for claim, parameters in true:
        attack = Attack("not false", statement(claim, FAST_SLOW), "integral", parameters)
        assert attack.left() is None
    settled = statement(IS_ONE, EVEN)
    both = sides((DECAYING, FALLING, DECAYING, FALLING))
    assert Attack("not false", settled, "distributions", both).left() is None
    late = LATE[1].parameters["masses"]
    late = {"masses": (replace(late[0], coefficient=2 * log(num(2))), late[1]), "mirror": None}
    mean = statement(kl(2 * log(num(2)) - 1), counts(poisson(num(2)), poisson(ONE)))
    assert Attack("not false", mean, "masses", late).left() is None
    laws = statement(IS_ONE, counts(poisson(ONE), poisson(num(2))))
    assert Attack("not false", laws, "series", {"parameters": (ONE, num(2))}).left() is None
    moved = statement(moment(power(RATIO_, 2), exp(num(2))), SHIFTED)
    right = {"masses": (Mass(exp(num(2)), "p", MINUS_ONE, ONE, ()),), "mirror": None}
    assert Attack("not false", moved, "masses", right).left() is None
