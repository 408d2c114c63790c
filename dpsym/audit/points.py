"""Random points at which facts hold, extreme ones among them.

A variable that facts bound, given the ones chosen before it, is chosen within these bounds: at an
end, close to one, or between; others are of all sizes. All values are exact, but where two facts
say that one is equal to an irrational number. A fact that says at a point that two equal numbers
are equal holds there, as far as very many digits tell.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import islice

import mpmath

from dpsym.audit.rough import Rough, clearly_fails, is_rational, relative
from dpsym.audit.values import (
    DIGITS,
    MORE_DIGITS,
    Ball,
    Evaluator,
    Number,
    Undefined,
    Unsure,
    as_float,
    minus,
    over,
)
from dpsym.kernel.statements import INTEGER, Fact
from dpsym.kernel.terms import Term

Place = dict[str, Number]
_PLAIN = [Fraction(k, 8) for k in (1, 2, 3, 4, 6, 8, 8, 12, 16, 24, 40)]
_EXTREME = [Fraction(1, 10**9), Fraction(1, 1000), Fraction(10), Fraction(100), Fraction(10**5)]
_REMEMBERED = 40
_CHOICE = 3
_CLOSE = [Fraction(1, 10**k) for k in (1, 3, 8)]
_SAME = Fraction(1, 10**12)
_SIMPLE = 2**20  # a larger denominator may come from rounding
TINY = 200  # digits to which equal numbers agree


class UndefinedFact(Exception):
    """A fact that is undefined at a point where the facts before it hold."""

    def __init__(self, fact: Fact, at: Place) -> None:
        self.fact, self.at = fact, at
        super().__init__(fact, at)


class Points:
    """A source of points that remembers where earlier facts held."""

    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.seen: deque[Place] = deque(maxlen=_REMEMBERED)

    def draw(
        self,
        facts: tuple[Fact, ...],
        kinds: Mapping[str, str],
        count: int,
        attempts: int,
        extreme: bool = True,
        base: Place | None = None,
        goal: Fact | None = None,
    ) -> Iterator[Place]:
        """Up to ``count`` different points; ``base`` has values that are kept, if that can be. Of
        more points, those are taken at which the goal is least, if there is one.
        Raises ``UndefinedFact``."""
        plausible = self._plausible(facts, kinds, attempts, extreme, base)
        if goal is not None:
            some = list(islice(plausible, _CHOICE * count))
            some.sort(key=lambda at: relative(goal, floats(at)))
            plausible = iter(some)
        found = 0
        for at in plausible:
            if self.satisfies(facts, at):
                found += 1
                self.seen.append(at)
                yield at
                if found >= count:
                    return

    def _plausible(
        self,
        facts: tuple[Fact, ...],
        kinds: Mapping[str, str],
        attempts: int,
        extreme: bool,
        base: Place | None,
    ) -> Iterator[Place]:
        """Different points at which no fact clearly fails."""
        found: list[Place] = []
        for number in range(attempts if kinds else 1):
            at = self._candidate(facts, kinds, extreme, base, number)
            if at is not None and at not in found and not clearly_fails(facts, floats(at)):
                found.append(at)
                yield at

    def satisfies(self, facts: tuple[Fact, ...], at: Place) -> bool:
        """Whether all facts hold, as far as the digits tell. Raises ``UndefinedFact``."""
        with mpmath.workdps(DIGITS):
            values = Evaluator(at)
            for fact in facts:
                try:
                    if not values.holds(fact):
                        return False
                except Unsure:
                    if not nearly_equal(fact, at):
                        return False
                except Undefined:
                    raise UndefinedFact(fact, at) from None
        return True

    def _candidate(
        self,
        facts: tuple[Fact, ...],
        kinds: Mapping[str, str],
        extreme: bool,
        base: Place | None,
        number: int,
    ) -> Place | None:
        at: Place = {}
        known = base
        if base is None and self.seen and number % 2:
            known = self.source.choice(self.seen)
        if known is not None:
            loss = 0.0 if number < 2 and base is not None else self.source.choice((0.0, 0.2, 0.5))
            at = {x: v for x, v in known.items() if x in kinds and self.source.random() >= loss}
            at = {x: v for x, v in at.items() if kinds[x] != INTEGER or _whole(v)}
        left = [name for name in kinds if name not in at]
        self.source.shuffle(left)
        for name in left:
            value = self._value(name, kinds[name], facts, at, extreme)
            if value is None:
                return None
            at[name] = value
        return at

    def _value(
        self, name: str, kind: str, facts: tuple[Fact, ...], at: Place, extreme: bool
    ) -> Number | None:
        low, high = bounds(name, facts, at)
        if low is not None and high is not None and abs(low - high) < _SAME * (1 + abs(low)):
            return _irrational(name, facts, at) or low
        if kind == INTEGER:
            low = None if low is None else Fraction(math.ceil(low))
            high = None if high is None else Fraction(math.floor(high))
        if low is not None and high is not None and low > high:
            return None
        step = self._step(extreme)
        if low is not None and high is not None:
            room = high - low
            inside = Fraction(self.source.randint(1, 15), 16)
            close = self.source.choice(_CLOSE)
            value = self.source.choice(
                (
                    low,
                    high,
                    low + room * inside,
                    low + room * inside,
                    low + room * inside,
                    low + room * close,
                    high - room * close,
                    low + min(room, step),
                    high - min(room, step),
                )
            )
        elif low is not None:
            value = low + self.source.choice((Fraction(0), step, step, step))
        elif high is not None:
            value = high - self.source.choice((Fraction(0), step, step, step))
        else:
            way, size = self.source.choice((1, 1, -1)), (step, step, Fraction(0))
            value = way * self.source.choice(size)
        if kind == INTEGER:
            value = Fraction(round(value))
        return value.limit_denominator(10**12)

    def _step(self, extreme: bool) -> Fraction:
        if extreme and self.source.random() < 0.25:
            return self.source.choice(_EXTREME)
        if self.source.random() < 0.3:
            return Fraction(self.source.randint(1, 64), 16)
        return self.source.choice(_PLAIN)


def _whole(number: Number) -> bool:
    return isinstance(number, Fraction) and number.denominator == 1


def floats(at: Place) -> dict[str, float]:
    """The values in floating point."""
    return {name: as_float(number) for name, number in at.items()}


def nearly_equal(fact: Fact, at: Place) -> bool:
    """Whether the fact says that something is at least 0 which is 0, to very many digits."""
    if fact.rel != ">=":
        return False
    with mpmath.workdps(MORE_DIGITS):
        try:
            number = Evaluator(at)(fact.term)
        except (Undefined, Unsure):
            return False
        small = mpmath.mpf(10) ** -TINY
        return number == 0 or (isinstance(number, Ball) and bool(abs(number.middle) < small))


def _irrational(name: str, facts: tuple[Fact, ...], at: Place) -> Number | None:
    """The end that an affine fact gives, to very many digits."""
    with mpmath.workdps(MORE_DIGITS):
        ends = (_zero(fact.term, name, at) for fact in _affine_facts(name, facts, at))
        return next((end for end in ends if isinstance(end, Ball)), None)


def bounds(
    name: str, facts: tuple[Fact, ...], at: Place
) -> tuple[Fraction | None, Fraction | None]:
    """The greatest lower and least upper bound that affine facts give, once the rest is known."""
    ends: dict[bool, tuple[float, Fact]] = {}
    place = floats(at)
    for fact in _affine_facts(name, facts, at):
        try:
            one, two = (Rough({**place, name: k})(fact.term) for k in (1.0, 2.0))
            end, rising = 1 - one / (two - one), two > one
        except (ValueError, OverflowError, ZeroDivisionError):
            continue
        known = ends.get(rising)
        if math.isfinite(end) and (known is None or (end > known[0]) == rising):
            ends[rising] = end, fact
    low, high = (_exact(*ends[way], name, at) if way in ends else None for way in (True, False))
    return low, high


def _affine_facts(name: str, facts: tuple[Fact, ...], at: Place) -> Iterator[Fact]:
    """The order facts that are affine in the variable and mention only known ones besides."""
    for fact in facts:
        names = fact.term.vars
        ready = name in names and all(x in at or x == name for x in names)
        if ready and fact.rel != "!=" and _affine(fact.term, name):
            yield fact


def _exact(end: float, fact: Fact, name: str, at: Place) -> Fraction:
    """The end that a fact gives, exactly, if it is rational and not simple."""
    close = Fraction(end)
    if close.denominator > _SIMPLE and is_rational(fact.term):
        exact = _zero(fact.term, name, at)
        return exact if isinstance(exact, Fraction) else close
    return close


def _zero(item: Term, name: str, at: Place) -> Number | None:
    """Where an affine term is zero."""
    try:
        first, second = (Evaluator({**at, name: Fraction(k)})(item) for k in (1, 2))
        return minus(Fraction(1), over(first, minus(second, first)))
    except (Undefined, Unsure):
        return None


@lru_cache(maxsize=20_000)
def _affine(item: Term, name: str) -> bool:
    """Whether the term is evidently affine in the variable."""
    if name not in item.vars or item.op == "var":
        return True
    if item.op == "add":
        return all(_affine(arg, name) for arg in item.args)
    moving = [arg for arg in item.args if name in arg.vars]
    return item.op == "mul" and len(moving) == 1 and _affine(moving[0], name)
