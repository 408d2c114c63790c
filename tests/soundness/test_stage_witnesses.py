"""What is no witness against a claim about a repetition, a group or a blend, each with its reason;
and random witnesses, whose worlds are judged by the textbook definitions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from flint import fmpq

from dpsym.kernel.refusal import Refusal
from dpsym.kernel.statements import (
    Assumed,
    Blend,
    Fact,
    Filter,
    Group,
    Guarantee,
    Link,
    Mechanism,
    Pair,
    Processed,
    Region,
    Repeated,
    Statement,
)
from dpsym.kernel.terms import ONE, ZERO, exp, log, minimum, num, var
from dpsym.refutations import MAX_COPIES, Atom, refute
from tests.soundness.hostile_leaf import Source
from tests.soundness.hostile_privacy import World, false_statement, has, random_point
from tests.soundness.hostile_stages import many, mixture
from tests.soundness.made import Copies, Rows
from tests.soundness.values import Undefined, Unsure

k, w = var("k"), var("w")
LOG2 = log(num(2))
THIRD = fmpq(1, 3)
VARIABLES = (("k", "integer"), ("w", "real"))


def pure(loss):
    return Guarantee("PureDP", (loss,))


PURE = Assumed((pure(LOG2),))
RANDOM = Mechanism((Pair((Region(num(1) / 3, num(2) / 3), Region(num(2) / 3, num(1) / 3))),))


def goal(stage, loss, facts=()):
    return Statement(VARIABLES, facts, (stage,), (pure(loss),))


def answers(then=(), p=2 * THIRD, q=THIRD):
    """Randomized response; twice as likely at most."""
    return Atom(p, q, then), Atom(1 - p, 1 - q, then)


def rounds(count, **masses):
    found = ()
    for _ in range(count):
        found = answers(found, **masses)
    return found


def at(copies=1, weight=None):
    return {"k": fmpq(copies), "w": weight or fmpq(1, 2)}


def chain(*rows):
    """The outcomes of distributions R_0, ..., R_k."""
    return tuple(
        Atom(column[0], column[-1], under=tuple(column)) for column in zip(*rows, strict=True)
    )


def mixed(p, q, *rows):
    def side(weights, column):
        return sum((a * r for a, r in zip(weights, column, strict=True)), fmpq(0))

    columns = zip(*rows, strict=True)
    return tuple(Atom(side(p, c), side(q, c), under=tuple(c)) for c in columns)


# two answers; the odds of R_0 and R_3 differ by more than twice the loss that is allowed
R3 = (fmpq(4, 5), fmpq(1, 5))
R0, R1, R2 = (THIRD, 2 * THIRD), (fmpq(1, 2), fmpq(1, 2)), (2 * THIRD, THIRD)
COPIES, CHAIN = Repeated(PURE, k), Group(PURE, k)
SAMPLED = Blend((w, 1 - w), (ZERO, ONE), (Link(0, 1, PURE),))
HALF = (fmpq(1, 2), fmpq(1, 2)), (fmpq(0), fmpq(1))
STEP = 3 * LOG2 / 4  # more than the loss of a fair sample of R_1 and R_2

SPENDING = Filter("x", Assumed((pure(var("x")),)), w)

ACCEPTED = [
    (goal(SPENDING, w / 2), at(), answers(p=fmpq(3, 5), q=fmpq(2, 5))),
    (goal(COPIES, 2 * LOG2), at(3), rounds(3)),
    (goal(Repeated(PURE, num(2)), LOG2), at(), rounds(2)),
    (goal(CHAIN, LOG2 / 2), at(2), chain(R0, R1, R2)),
    (goal(Group(PURE, ONE), LOG2 / 4), at(), chain(R0, R1)),
    (goal(SAMPLED, LOG2 / 8), at(), mixed(*HALF, R1, R0)),
    # weights that are no rationals, of equal distributions
    (
        goal(Blend((exp(-w), 1 - exp(-w), ZERO), (ZERO, ZERO, ONE), (Link(0, 2, PURE),)), LOG2 / 8),
        at(),
        tuple(Atom(a, b, under=(a, a, b)) for a, b in zip(R0, R1, strict=True)),
    ),
]


@pytest.mark.parametrize(("statement", "values", "witness"), ACCEPTED)
def test_a_witness(statement, values, witness):
    found = refute(statement, values, witness)
    assert found.statement == statement
    (stage,) = statement.stages
    copies = int(values["k"]) if isinstance(stage, Repeated) and stage.count is k else None
    assert len(found.stages) == (copies or (2 if isinstance(stage, Repeated) else 1))


BIG = 2**300 + 1  # not exact in the digits that are used
LESS = Repeated(PURE, minimum(BIG * k - (BIG + 2), 0) + 5)  # three copies for k = 1
REFUSED = [
    # repetitions
    (goal(COPIES, 2 * LOG2), at(3), rounds(2), "probabilities that sum to 1"),
    (goal(COPIES, LOG2), at(2), rounds(3), "one level of outcomes per stage"),
    (goal(COPIES, 3 * LOG2), at(3), rounds(3), "a claim that fails"),
    (
        goal(COPIES, LOG2),
        at(2),
        answers(answers(p=fmpq(3, 4))),  # the second copy is no pair of the stage
        "a stage's guarantee",
    ),
    (
        goal(COPIES, LOG2),
        at(2),
        (Atom(2 * THIRD, THIRD, answers()), Atom(THIRD, 2 * THIRD, answers(p=fmpq(3, 4)))),
        "a stage's guarantee",
    ),
    (
        goal(COPIES, LOG2),
        at(2),
        (Atom(2 * THIRD, THIRD, answers()), Atom(THIRD, 2 * THIRD)),  # nothing after one answer
        "probabilities that sum to 1",
    ),
    (goal(COPIES, LOG2 / 2), at(0), (), "copies"),
    (goal(COPIES, LOG2 / 2), at(0), answers(), "copies"),
    (goal(COPIES, LOG2 / 2), at(-1), answers(), "copies"),
    (goal(COPIES, LOG2 / 2), at(MAX_COPIES + 1), answers(), "copies"),
    (goal(COPIES, LOG2 / 2), at(10**40), answers(), "copies"),
    (goal(COPIES, LOG2 / 2), at(fmpq(3, 2)), answers(), "a rational (integer) value"),
    (goal(LESS, 3 * LOG2), at(), rounds(5), "copies"),
    (goal(COPIES, LOG2), at(2), (), "probabilities that sum to 1"),
    (goal(COPIES, LOG2 / 2, (Fact(k - 2, ">="),)), at(), rounds(1), "at which the facts hold"),
    (goal(Repeated(RANDOM, k), LOG2), at(2), rounds(2), "stages that are guarantees"),
    # filters, of which a witness spends the whole budget at once
    (goal(SPENDING, LOG2), at(weight=fmpq(-1)), rounds(1, p=fmpq(1, 2), q=fmpq(1, 2)), "a budget"),
    (goal(SPENDING, w / 2), at(weight=THIRD), rounds(1), "a stage's guarantee"),
    (goal(SPENDING, w), at(), answers(p=fmpq(3, 5), q=fmpq(2, 5)), "a claim that fails"),
    # what is not a pair of one distribution each
    (goal(PURE, LOG2 / 2), at(), chain(R0, R1), "one pair"),
    (goal(COPIES, LOG2 / 2), at(), chain(R0, R1), "one pair"),
    (goal(Processed((pure(LOG2),)), LOG2 / 2), at(), chain(R0, R1), "one pair"),
    # groups
    (goal(CHAIN, LOG2 / 2), at(2), rounds(1), "a probability each"),
    (goal(CHAIN, LOG2 / 2), at(2), chain(R0, R1), "a probability each"),
    (goal(CHAIN, LOG2 / 2), at(1), chain(R0, R1, R2), "a probability each"),
    (goal(CHAIN, LOG2 / 2), at(0), chain(R0), "copies"),
    (goal(CHAIN, LOG2 / 2), at(1), chain(R0, R3), "a stage's guarantee"),
    (goal(CHAIN, LOG2 / 2), at(2), chain(R0, R0, R3), "a stage's guarantee"),
    (
        goal(CHAIN, LOG2 / 2),
        at(2),
        tuple(Atom(a.q, a.p, under=a.under) for a in chain(R0, R1, R2)),
        "a mixture",
    ),
    (
        goal(CHAIN, LOG2 / 2),
        at(2),
        tuple(
            replace(a, p=x) for a, x in zip(chain(R0, R1, R2), (0 * THIRD, 3 * THIRD), strict=True)
        ),
        "a mixture",
    ),
    (
        goal(CHAIN, LOG2 / 2),
        at(2),
        chain(R0, (fmpq(1, 2), fmpq(5, 12)), R2),
        "probabilities that sum to 1",
    ),
    (
        goal(CHAIN, LOG2 / 2),
        at(2),
        chain((*R0, fmpq(0)), (fmpq(3, 5), fmpq(3, 5), -fmpq(1, 5)), (*R2, fmpq(0))),
        "probabilities",
    ),
    (goal(CHAIN, 2 * LOG2), at(2), chain(R0, R1, R2), "a claim that fails"),
    (
        goal(CHAIN, LOG2 / 2),
        at(2),
        tuple(replace(a, parts=((a.p, a.q),)) for a in chain(R0, R1, R2)),
        "outcomes as they are",
    ),
    (goal(Group(RANDOM, k), LOG2 / 2), at(1), chain(R0, R2), "stages that are guarantees"),
    # blends
    (goal(SAMPLED, LOG2 / 8), at(), rounds(1), "a probability each"),
    (goal(SAMPLED, LOG2 / 8), at(), chain(R1, R0), "a mixture"),
    (goal(SAMPLED, LOG2 / 8), at(weight=THIRD), mixed(*HALF, R1, R0), "a mixture"),
    (goal(SAMPLED, LOG2 / 8), at(), mixed(*HALF, R3, R0), "a stage's guarantee"),
    (goal(SAMPLED, STEP), at(), mixed(*HALF, R1, R0), "a claim that fails"),
    (
        goal(Blend((ZERO, ONE), (num(2), num(-1)), (Link(0, 1, PURE),)), LOG2 / 8),
        at(),
        mixed((fmpq(0), fmpq(1)), (fmpq(2), fmpq(-1)), R1, R0),
        "weights that are nonnegative",
    ),
    (
        goal(Blend((w, w), (ZERO, ONE), (Link(0, 1, PURE),)), LOG2 / 8),
        at(weight=THIRD),
        mixed((THIRD, THIRD), (fmpq(0), fmpq(1)), R1, R0),
        "probabilities that sum to 1",
    ),
    (
        goal(Blend((exp(-w), 1 - exp(-w)), (ZERO, ONE), (Link(0, 1, PURE),)), LOG2 / 8),
        at(),
        mixed((fmpq(607, 1000), fmpq(393, 1000)), (fmpq(0), fmpq(1)), R1, R0),
        "a mixture",
    ),
    (
        goal(Blend((log(-w), 1 - log(-w)), (ZERO, ONE), (Link(0, 1, PURE),)), LOG2 / 8),
        at(),
        mixed(*HALF, R1, R0),
        "defined at the values",
    ),
    (
        goal(Blend((w, 1 - w), (ZERO, ONE), (Link(0, 1, RANDOM),)), LOG2 / 8),
        at(),
        mixed(*HALF, R1, R0),
        "stages that are guarantees",
    ),
]


def fixed(stage, weight=w):
    """A sample of a fixed size: with one record, with another, with neither."""
    links = tuple(Link(i, j, stage) for i, j in ((0, 1), (0, 2), (1, 2)))
    return Blend((weight, ZERO, 1 - weight), (ZERO, weight, 1 - weight), links)


def one_of(first, other, places=((0, 2), (1, 3)), p=(w, 1 - w, ZERO, ZERO)):
    links = tuple(Link(*place, stage) for place, stage in zip(places, (first, other), strict=True))
    return Blend(p, (ZERO, ZERO, w, 1 - w), links)


PAIR = fixed(PURE)
EQUAL = mixed((fmpq(1, 2), fmpq(0), fmpq(1, 2)), (fmpq(0), fmpq(1, 2), fmpq(1, 2)), R2, R0, R1)
CLOSER = Assumed((pure(LOG2 / 2),))
NESTED = [
    (one_of(PAIR, PAIR), None),
    (one_of(PAIR, one_of(PAIR, PAIR)), None),
    (one_of(PAIR, fixed(Group(PURE, num(2)))), None),
    (one_of(fixed(Group(PURE, k)), fixed(Group(Group(PURE, num(2)), k))), None),
    # one of the two says more than the other, and the pair is to be in both
    (one_of(PAIR, fixed(CLOSER)), "a stage's guarantee"),
    (one_of(fixed(Group(CLOSER, num(2))), PAIR), "a stage's guarantee"),
    (one_of(PAIR, one_of(fixed(CLOSER), PAIR)), "a stage's guarantee"),
    (one_of(PAIR, fixed(PURE, w / 2)), "a mixture of the distributions"),
    (one_of(PAIR, fixed(Repeated(PURE, num(2)))), "stages that are guarantees"),
    (one_of(PAIR, fixed(PAIR)), "stages that are guarantees"),
    (one_of(PAIR, PURE), "a probability each"),
    # a link of two distributions that are both for P, from Q to P, and one for both
    (one_of(PAIR, PAIR, places=((0, 1), (1, 3))), "a probability each"),
    (one_of(PAIR, PAIR, places=((0, 2), (3, 1))), "a probability each"),
    (one_of(PAIR, PAIR, p=(w, ZERO, 1 - w, ZERO)), "a probability each"),
    (one_of(PAIR, PAIR, p=(2 * w, 2 * w - 1, ZERO, ZERO)), None),
    (one_of(PAIR, PAIR, p=(w, w / 2, ZERO, ZERO)), "weights with the sum 1"),
    (one_of(PAIR, PAIR, p=(3 * w, 1 - 3 * w, ZERO, ZERO)), "weights that are nonnegative"),
]


@pytest.mark.parametrize(("stage", "reason"), NESTED)
def test_a_witness_is_the_same_pair_for_all_parts(stage, reason):
    statement = goal(stage, LOG2 / 4)
    if reason is None:
        assert refute(statement, at(), EQUAL).statement == statement
        return
    with pytest.raises(Refusal) as caught:
        refute(statement, at(), EQUAL)
    assert reason in str(caught.value)


@pytest.mark.parametrize(("statement", "values", "witness", "reason"), REFUSED)
def test_no_witness(statement, values, witness, reason):
    with pytest.raises(Refusal) as caught:
        refute(statement, values, witness)
    assert reason in str(caught.value)


@pytest.mark.parametrize("mass", [0.5, 1, "1/2", None])
def test_probabilities_are_rationals(mass):
    one = Atom(fmpq(1, 2), fmpq(1, 2), under=(fmpq(1, 2), mass, fmpq(1, 2)))
    with pytest.raises((Refusal, TypeError)):
        refute(goal(CHAIN, LOG2 / 2), at(2), (one, one))


# -- random witnesses


def rational(mass: Fraction) -> fmpq:
    return fmpq(mass.numerator, mass.denominator)


def as_witness(made: Copies | Rows) -> tuple[Atom, ...]:
    if isinstance(made, Rows):
        ((_, rows),) = made.hidden
        columns = zip(made.given(rows), zip(*rows, strict=True), strict=True)
        return tuple(
            Atom(rational(p), rational(q), under=tuple(map(rational, under)))
            for (p, q), under in columns
        )
    found: tuple[Atom, ...] = ()
    for atoms in reversed(made.each):
        found = tuple(Atom(rational(p), rational(q), found) for p, q in atoms)
    return found


def damaged(source: Source, statement: Statement) -> Statement:
    """The statement with another number of copies, other weights, links or guarantees."""
    (stage,) = statement.stages
    if isinstance(stage, (Repeated, Group)):
        assert isinstance(stage.stage, Assumed)
        stronger = Assumed((*stage.stage.guarantees, *statement.claims))
        options = [
            replace(stage, count=stage.count + source.choice((1, -1))),
            (Group if isinstance(stage, Repeated) else Repeated)(stage.stage, stage.count),
            replace(stage, stage=stronger),
        ]
        return replace(statement, stages=(source.choice(options),))
    assert isinstance(stage, Blend)
    links = tuple(replace(x, first=x.second, second=x.first) for x in stage.links)
    options = [replace(stage, p=stage.q, q=stage.p), replace(stage, links=links)]
    return replace(statement, stages=(source.choice(options),))


def test_what_a_random_witness_refutes_is_false():
    accepted = refused = 0
    for number in range(400):
        source = Source(f"witness {number}")
        try:
            make = source.choice((many, mixture))
            statement, world = make(source, random_point(source))
            made = world.made
            if isinstance(made, Rows) and len(made.hidden) > 1:
                continue
            if source.random() < 0.5:
                statement = damaged(source, statement)
            false = false_statement(statement, world)
        except (Unsure, Undefined):
            continue
        assert made is not None
        values = {name: rational(world.point[name]) for name, _ in statement.variables}
        order = fmpq(2) if statement.claims[0].name == "ZCDP" else None
        try:
            found = refute(statement, values, as_witness(made), order)
        except Refusal:
            refused += 1
            continue
        accepted += 1
        assert false, (statement, world)
        assert found.values == values
    assert accepted > 60
    assert refused > 60


def test_the_worlds_of_these_witnesses_are_judged_by_definitions():
    """The independent check of a true statement and a false one."""
    fifth = Fraction(1, 5)
    pair = ((3 * fifth, 2 * fifth), (2 * fifth, 3 * fifth))
    made = Copies((pair, pair))
    point = {"k": Fraction(2), "w": Fraction(1, 2)}
    world = World(point, (made.pair(),), (), made)
    assert has(pure(LOG2), pair, point)
    assert false_statement(goal(COPIES, LOG2), world)
    assert not false_statement(goal(COPIES, 2 * LOG2), world)
    assert not false_statement(goal(CHAIN, LOG2), world)  # no chain of two pairs
