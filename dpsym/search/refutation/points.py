"""Rational values of a statement's parameters that satisfy its facts, simple ones first."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

from flint import fmpq

from dpsym.kernel.balls import exact
from dpsym.kernel.sequents import Facts, context
from dpsym.kernel.statements import INTEGER, Assumed, Guarantee, Statement, singles
from dpsym.kernel.terms import Term
from dpsym.search.refutation.exact import Values, enclosure, holds, rational, simplest

ROLES: dict[str, tuple[str, ...]] = {
    "PureDP": ("epsilon",),
    "ApproxDP": ("epsilon", "delta"),
    "RenyiDP": ("order", "epsilon"),
    "RenyiDPBelowOne": ("below one", "epsilon"),
    "KLDP": ("epsilon",),
    "ZCDP": ("rho",),
    "TCDP": ("rho", "order"),
    "GDP": ("rho",),
    "ProbabilisticDP": ("epsilon", "delta"),
    "BoundedRange": ("epsilon",),
    "MomentBound": ("", "", "moment"),
}
_TEXTS = {
    "epsilon": "1 1/2 2 1/4 3 1/10 3/2 0 4 1/100 3/4 8 12 20",
    "delta": "1/10 1/5 1/20 1/100 1/4 1/2 1/1000 0 1/100000 9/10 1 99/100",
    "order": "2 3 3/2 4 5/4 8 11/10 16 101/100 32",
    "below one": "1/2 1/4 3/4 1/10 9/10",
    "rho": "1/2 1 1/5 1/10 2 1/20 1/100 4 0",
    "moment": "2 3/2 1 4 11/10 1/2 1/10 0 10 100",
    "": "1 2 1/2 3 1/4 4 0 10 1/10 -1 -1/2 -2 1/100 100",
    INTEGER: "2 3 1 4 5 0 8 10 16 -1 100",
}
_SHARES = (fmpq(1, 2), fmpq(1, 4), fmpq(3, 4), fmpq(1, 10), fmpq(9, 10), fmpq(99, 100))
_FAILURES = 60  # points in a row that break a fact, after which the search for them ends


def menu(role: str) -> list[fmpq]:
    """Values to try for a parameter of this role, the plainest first."""
    pairs = (entry.partition("/") for entry in _TEXTS[role].split())
    return [fmpq(int(above), int(below or 1)) for above, _, below in pairs]


def roles(statement: Statement) -> dict[str, str]:
    """What each parameter is used for: as an argument itself, or else inside of one."""
    found: dict[str, str] = {}
    given: list[Guarantee] = []
    for stage in statement.stages:
        for single in singles(stage):
            given.extend(single.guarantees if isinstance(single, Assumed) else ())
    given.extend(statement.claims)
    for alone in (True, False):
        for guarantee in given:
            places = ROLES.get(guarantee.name, ("epsilon",) * len(guarantee.args))
            for role, arg in zip(places, guarantee.args, strict=True):
                if arg is not None and role and (arg.op == "var") == alone:
                    for name in sorted(arg.vars):
                        found.setdefault(name, role)
    return found


class Points:
    """Values of variables that satisfy facts, with the variables' limits taken from the facts that
    are affine in them."""

    def __init__(
        self, variables: tuple[tuple[str, str], ...], facts: Facts, used_as: dict[str, str]
    ) -> None:
        self.variables, self.facts = dict(variables), facts
        known = context(facts)
        self.limits: dict[str, list[tuple[bool, bool, Term]]] = {}
        for name in self.variables:
            for fact in facts:
                split = known.affine(fact.term, name) if name in fact.term.vars else None
                if split is not None and fact.rel != "!=":
                    entry = (bool(split[0] > 0), fact.rel == ">", split[1])
                    self.limits.setdefault(name, []).append(entry)
        self.menus = {
            name: menu(INTEGER if kind == INTEGER else used_as.get(name, ""))
            for name, kind in variables
        }
        self.order = self._order()

    def _order(self) -> list[str]:
        """An order in which few limits of a variable depend on later ones."""
        out: list[str] = []
        left = list(self.variables)
        while left:
            waits = {
                name: len(
                    {other for _, _, end in self.limits.get(name, ()) for other in end.vars}
                    & set(left)
                )
                for name in left
            }
            chosen = min(left, key=lambda name: (waits[name], left.index(name)))
            left.remove(chosen)
            out.append(chosen)
        return out

    def choices(self, name: str, values: Values) -> list[fmpq]:
        """Values of one variable within its limits, given those of others."""
        low: fmpq | None = None
        high: fmpq | None = None
        low_open = high_open = False
        for from_below, is_open, end in self.limits.get(name, ()):
            if not end.vars <= set(values):
                continue
            value = rational(end, values)
            if value is None:
                ends = enclosure(end, values)
                value = None if ends is None else exact(ends[1] if from_below else ends[0])
            if value is None:
                continue
            if from_below and (low is None or value >= low):
                low, low_open = value, is_open or (value == low and low_open)
            if not from_below and (high is None or value <= high):
                high, high_open = value, is_open or (value == high and high_open)

        def inside(value: fmpq) -> bool:
            above = low is None or value > low or (value == low and not low_open)
            below = high is None or value < high or (value == high and not high_open)
            return above and below

        options = list(self.menus[name])
        if low is not None and high is not None:
            options += [low, high]
            if low < high:
                options.append(simplest(low, high))
                options += [low + (high - low) * share for share in _SHARES]
        elif low is not None:
            options += [low + value for value in self.menus[name] if value >= 0]
        elif high is not None:
            options += [high - value for value in self.menus[name] if value >= 0]
        if self.variables[name] == INTEGER:
            options = [value for value in options if value.q == 1]
            if not any(inside(value) for value in options) and low is not None:
                options += [fmpq(math.ceil(low)), fmpq(math.floor(low) + 1)]
        return list(dict.fromkeys(value for value in options if inside(value)))

    def one(self, rng: random.Random, spread: float) -> dict[str, fmpq] | None:
        """A point; the larger ``spread``, the farther down the menus."""
        values: dict[str, fmpq] = {}
        for name in self.order:
            options = self.choices(name, values)
            if not options:
                return None
            values[name] = options[min(int(rng.expovariate(1) * spread), len(options) - 1)]
        return values if all(holds(fact, values) for fact in self.facts) else None

    def __iter__(self) -> Iterator[dict[str, fmpq]]:
        rng = random.Random(1)
        seen: set[tuple[str, ...]] = set()
        failures = count = 0
        while failures < _FAILURES:
            values = self.one(rng, min(count / 3, 6.0))
            count += 1
            key = () if values is None else tuple(str(values[name]) for name in self.variables)
            if values is None or key in seen:
                failures += 1
                continue
            seen.add(key)
            failures = 0
            yield values


def points(statement: Statement) -> Iterator[dict[str, fmpq]]:
    """Values at which the statement's facts hold, the same in every run, without repetition."""
    yield from Points(statement.variables, statement.facts, roles(statement))
