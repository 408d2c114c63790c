"""Every goal of a certificate is tried; of the steps to a false one, the faulty rule is named."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import blake2b

import mpmath

from dpsym.audit import grids
from dpsym.audit.guarantees import Atoms
from dpsym.audit.points import Place, Points, UndefinedFact, nearly_equal
from dpsym.audit.replay import Step, replay
from dpsym.audit.values import (
    DIGITS,
    MORE_DIGITS,
    Ball,
    Evaluator,
    Number,
    Undefined,
    Unsure,
    over,
    sign,
    value,
)
from dpsym.audit.worlds import World
from dpsym.goals import goal_text, guarantee_text
from dpsym.kernel.certificate import verify
from dpsym.kernel.rules import ORDER, RULES, Goal
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import PREFIX, RATIO, REAL, Fact, Mechanism, Statement
from dpsym.printing import show_fact, sides

POINTS = 6
_ATTEMPTS = 10  # for each point
_HARDER = 8  # how much more is done to find the rule to blame
_WORLDS = 2  # at each point
_TINY = mpmath.mpf(10) ** -30  # what a fact that is false by less may owe to how points are chosen


@dataclass(frozen=True)
class Finding:
    """A goal is false: where, and what one sees there."""

    at: Place
    seen: tuple[str, ...]
    atoms: Atoms = ()


@dataclass(frozen=True)
class Fault:
    """A step whose conclusion is false, and whose premises seem to be true."""

    rule: str
    result: int
    step: int
    goal: str
    finding: Finding

    def text(self) -> str:
        """What is wrong, in a few lines."""
        place = ", ".join(f"{name} = {number}" for name, number in self.finding.at.items())
        return "\n".join(
            [
                f"the rule {self.rule} (result {self.result}, step {self.step}) concludes what is "
                "false:",
                *(f"  {line}" for line in self.goal.splitlines()),
                f"at {place or 'every point'}:",
                *(f"  {line}" for line in self.finding.seen),
            ]
        )


@dataclass
class Audit:
    """What was tried of a certificate, and what was found.

    ``tried`` and ``untried`` count, for each rule, conclusions that were evaluated somewhere and
    conclusions for which no point or no distributions were found.
    """

    faults: list[Fault] = field(default_factory=list)
    steps: int = 0
    points: int = 0
    worlds: int = 0
    tried: Counter[str] = field(default_factory=Counter)
    untried: Counter[str] = field(default_factory=Counter)

    def text(self) -> str:
        """How much was tried, in one line."""
        left = self.untried.total()
        return (
            f"{self.tried.total()} of {self.steps} steps tried, at {self.points} points and on "
            f"{self.worlds} distributions" + (f"; for {left} none was found" if left else "")
        )


@dataclass
class Coverage:
    """How often conclusions of each rule were tried, in several audits."""

    tried: Counter[str] = field(default_factory=Counter)
    untried: Counter[str] = field(default_factory=Counter)

    def add(self, found: Audit) -> None:
        self.tried += found.tried
        self.untried += found.untried

    def never(self) -> list[str]:
        """The rules of which no conclusion was tried."""
        return sorted(set(RULES) - set(self.tried))

    def text(self) -> str:
        """A table, and the rules that nothing was tried of."""
        rows = [
            f"{name:20}{self.tried[name]:>9}{self.untried[name]:>12}" for name in sorted(self.tried)
        ]
        never = ", ".join(self.never()) or "none"
        return "\n".join(
            [f"{'rule':20}{'tried':>9}{'not tried':>12}", *rows, f"never tried: {never}"]
        )


def audit(text: str, seed: int = 0, points: int = POINTS) -> Audit:
    """Try every goal of a certificate at so many points.

    Raises dpsym.kernel.refusal.Refusal for a certificate that the kernel does not accept.

    >>> import dpsym as dp
    >>> from sympy import symbols
    >>> e = symbols("e", nonnegative=True)
    >>> two = dp.compose(dp.PureDP(e), dp.PureDP(e))
    >>> found = audit(dp.prove(two, dp.PureDP(2 * e)).certificate())
    >>> found.faults, sum(found.untried.values())
    ([], 0)
    """
    result = verify(text)
    return _Auditor(seed, points).run(replay(result))


def find(goal: Goal, seed: int = 0, points: int = POINTS) -> Finding | None:
    """Where a goal is seen to be false, if it is.

    >>> from dpsym.kernel.terms import exp, var
    >>> print(find(Sequent((), Fact(exp(var("x")) - 1, ">="))).seen[0][:24])
    exp(x) >= 1 is false: 0.
    """
    return _Auditor(seed, points).search(goal, points)


class _Auditor:
    def __init__(self, seed: int, points: int) -> None:
        self.seed, self.count = seed, points
        self.points = Points(random.Random(seed))
        self.plain = Points(random.Random(seed))  # without extreme values, for distributions
        self.found: dict[Goal, Finding | None] = {}
        self.reached: dict[Goal, int] = {}
        self.barren: set[tuple[Fact, ...]] = set()  # facts for which no point was found
        self.out = Audit()

    def run(self, steps: list[Step]) -> Audit:
        out = self.out
        out.steps = len(steps)
        for one in steps:
            if one.goal not in self.found:
                self.found[one.goal] = self.search(one.goal, self.count)
            (out.tried if self.reached[one.goal] else out.untried)[one.rule] += 1
        for one in steps:
            finding = self.found[one.goal]
            if finding is not None and not any(self.is_false(p, finding) for p in one.premises):
                out.faults.append(
                    Fault(one.rule, one.result, one.number, _shown(one.goal), finding)
                )
        return out

    def is_false(self, premise: Step, finding: Finding) -> bool:
        """Whether a premise of a false conclusion is seen to be false, after a closer look."""
        if self.found[premise.goal] is None:
            self.found[premise.goal] = self.search(premise.goal, self.count * _HARDER, finding)
        return self.found[premise.goal] is not None

    def search(self, goal: Goal, count: int, near: Finding | None = None) -> Finding | None:
        """A point at which the goal is false."""
        key = f"{self.seed} {count} {goal!r}".encode()
        source = random.Random(blake2b(key, digest_size=8).hexdigest())
        self.points.source = self.plain.source = source
        self.reached.setdefault(goal, 0)
        bases = [None] if near is None else [None, *_bases(near)]
        for base in bases:
            share = count if base is None else max(2, count // 4)
            found = self._search(goal, share, base)
            if found is not None:
                return found
        return None

    def _search(self, goal: Goal, count: int, base: Place | None) -> Finding | None:
        sequent = isinstance(goal, Sequent)
        if isinstance(goal, Sequent):
            kinds, facts = dict.fromkeys(sorted(goal.vars), REAL), goal.hypotheses
        else:
            kinds, facts = dict(goal.variables), goal.facts
        most = count * (_ATTEMPTS if sequent else 4) // (4 if facts in self.barren else 1)
        try:
            points = self.points if sequent else self.plain
            aim = goal.goal if isinstance(goal, Sequent) else None
            number = -1
            drawn = points.draw(facts, kinds, count, most, sequent, base, aim)
            for number, at in enumerate(drawn):
                if isinstance(goal, Sequent):
                    found = self.sequent(goal, at)
                elif number * 2 < count:
                    found = self.statement(goal, at)
                else:
                    break
                if found is not None:
                    return found
            if number < 0 and base is None:
                self.barren.add(facts)
        except UndefinedFact as undefined:
            self.reached[goal] += 1
            said = f"the hypothesis {show_fact(undefined.fact)} is undefined"
            return Finding(_kept(undefined.at, kinds), (said,))
        return None

    def sequent(self, goal: Sequent, at: Place) -> Finding | None:
        """Whether the goal is false, or undefined, at a point where the hypotheses hold."""
        for digits in (DIGITS, MORE_DIGITS):
            try:
                with mpmath.workdps(digits):
                    number = Evaluator(at)(goal.goal.term)
                    right = goal.goal.rel in {1: ORDER, 0: (">=",), -1: ()}[sign(number)]
                    right = right or (goal.goal.rel == "!=" and number != 0)
                self._counted(goal)
                near = isinstance(number, Ball) and abs(number.middle) < _TINY
                return None if right or near else Finding(at, (_two_sides(goal.goal, at),))
            except Undefined:
                self._counted(goal)
                return Finding(at, (f"{show_fact(goal.goal)} is undefined",))
            except Unsure:
                continue
        if nearly_equal(goal.goal, at):
            self._counted(goal)
        return None

    def _counted(self, goal: Goal) -> None:
        self.reached[goal] += 1
        self.out.points += 1

    def statement(self, goal: Statement, at: Place) -> Finding | None:
        world = World(self.plain.source, at)
        only = goal.stages[0] if len(goal.stages) == 1 else None
        if isinstance(only, Mechanism):
            return self._mechanism(goal, only, world)
        for _ in range(_WORLDS):
            try:
                atoms = world.joint(goal)
            except (Undefined, Unsure):
                continue
            if atoms is None:
                continue
            self.reached[goal] += 1
            self.out.worlds += 1
            claim = world.lacking(goal, atoms)
            if claim is not None:
                said = f"these distributions do not have {guarantee_text(claim)}:"
                masses = [f"  ({_number(p)}, {_number(q)})" for p, q in atoms]
                return Finding(at, (said, "  masses (p, q) of the outcomes", *masses), atoms)
        return None

    def _mechanism(self, goal: Statement, only: Mechanism, world: World) -> Finding | None:
        """One explicit mechanism: exactly, if its outcomes are few, or on a grid of outputs."""
        for pair in only.pairs:
            place = world.parameters(pair)
            if place is None:
                continue
            for claim in goal.claims:
                try:
                    said = grids.lacking(pair, claim, place)
                except Unsure:
                    continue
                self.reached[goal] += 1
                self.out.worlds += 1
                if said is not None:
                    shown = f"the pair {pair.label!r} does not have {guarantee_text(claim)}"
                    return Finding(place, (shown, said))
        return None


def _kept(at: Place, kinds: dict[str, str]) -> Place:
    return {name: at[name] for name in kinds if name in at}


def _bases(near: Finding) -> Iterator[Place]:
    """The point, with likelihood ratios of the distributions that were found there."""
    yield near.at
    ratios: list[Fraction] = []
    for p, q in near.atoms:
        if p != 0 and q != 0:
            ratio = over(p, q)
            ratios.append(ratio if isinstance(ratio, Fraction) else Fraction(float(ratio.middle)))
    for ratio in list(dict.fromkeys(ratios))[:6]:
        yield {**near.at, RATIO: ratio, PREFIX: ratio}


def _two_sides(fact: Fact, at: Place) -> str:
    """The relation, with the values of its sides."""
    left, rel, right = sides(fact)
    try:
        numbers = [_number(value(item, at, MORE_DIGITS)) for item in (left, right)]
    except (Undefined, Unsure):
        return f"{show_fact(fact)} is false"
    return f"{show_fact(fact)} is false: {numbers[0]} {rel} {numbers[1]}"


def _number(number: Number) -> str:
    if isinstance(number, Fraction):
        return str(number) if len(str(number)) < 40 else f"{float(number):.17g}"
    return str(mpmath.nstr(number.middle, 30))


def _shown(goal: Goal) -> str:
    return goal_text(goal)


__all__ = ["POINTS", "Audit", "Coverage", "Fault", "Finding", "audit", "find"]
