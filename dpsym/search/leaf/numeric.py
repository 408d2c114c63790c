"""Floating-point values of terms at sampled points of a domain, and certain signs at a point.

Floats only guide the search. What is certain comes from the kernel's enclosures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from dpsym.kernel import terms as tm
from dpsym.kernel.balls import Enclosure, Evaluator, Undefined, precision, rational
from dpsym.kernel.canon import Canon
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Facts, Sequent, context
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term, substitute
from dpsym.search.leaf.budget import Budget, OutOfBudget
from dpsym.search.leaf.steps import number_of

Array = NDArray[np.float64]
Point = Mapping[str, fmpq]
COUNT = 1200
SEED = 20_240_101
ROUNDING = 1e-12
_ZERO_SECONDS = 0.1  # for seeing that a term is zero at a point
_BITS = 256
_BY_ONE = {
    "erfc": np.frompyfunc(math.erfc, 1, 1),
    "lgamma": np.frompyfunc(lambda x: math.lgamma(x) if x > 0 else math.nan, 1, 1),
}
_PLAIN = {"exp": np.exp, "log": np.log, "sqrt": np.sqrt, "atan": np.arctan, "abs": np.abs}


class Values:
    """Values of terms at many points at once; remembers those of sub-terms."""

    def __init__(self, points: Mapping[str, Array], count: int) -> None:
        self.points, self.count = points, count
        self._memo: dict[Term, Array | float] = {}

    def __call__(self, item: Term) -> Array:
        with np.errstate(all="ignore"):
            return np.broadcast_to(np.asarray(self._value(item), dtype=np.float64), (self.count,))

    def scale(self, item: Term) -> Array:
        """The sum of the absolute values of what is added up: how large rounding errors may be."""
        with np.errstate(all="ignore"):
            parts = item.args if item.op == "add" else (item,)
            total = sum(np.abs(self._value(part)) for part in parts)
            return np.broadcast_to(np.asarray(total, dtype=np.float64), (self.count,))

    def _value(self, item: Term) -> Array | float:
        done = self._memo.get(item)
        if done is None:
            done = self._memo[item] = self._compute(item)
        return done

    def _compute(self, item: Term) -> Array | float:
        op = item.op
        if op == "num":
            return to_float(fmpq(item.value))
        if op == "var":
            return self.points[str(item.value)]
        if op == "pi":
            return math.pi
        args = [self._value(arg) for arg in item.args]
        first = args[0]
        if op == "add":
            return sum(args[1:], first)
        if op == "mul":
            for arg in args[1:]:
                first = first * arg
            return first
        if op == "pow":
            return np.power(first, float(str(item.value)))
        if op in _BY_ONE:
            return np.asarray(_BY_ONE[op](first), dtype=np.float64)
        if op == "ite":
            return np.where(np.asarray(first) >= 0, args[1], args[2])
        if op == "max":
            return np.maximum(first, args[1])
        if op == "min":
            return np.minimum(first, args[1])
        return _PLAIN[op](first)


def to_float(value: fmpq) -> float:
    try:
        return int(value.p) / int(value.q)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def from_float(value: float, digits: int | None = None) -> fmpq:
    """The exact rational value of a float, or a decimal with so many significant digits."""
    if digits is not None:
        exact = Fraction(f"{value:.{digits}g}")
        return fmpq(exact.numerator, exact.denominator)
    above, below = float(value).as_integer_ratio()
    return fmpq(above, below)


class Samples(Values):
    """Points, the same in every run, that satisfy the hypotheses on these variables."""

    def __init__(
        self,
        hypotheses: Facts,
        names: frozenset[str],
        count: int = COUNT,
        integers: frozenset[str] = frozenset(),
    ) -> None:
        rng = np.random.default_rng(SEED)
        with np.errstate(all="ignore"):
            points = _sample(hypotheses, sorted(names), count, rng, integers)
        everywhere = Values(points, count)
        keep = np.ones(count, dtype=bool)
        for fact in hypotheses:
            if fact.term.vars <= names:
                keep &= satisfied(everywhere, fact)
        super().__init__({name: x[keep] for name, x in points.items()}, int(keep.sum()))


def satisfied(values: Values, fact: Fact) -> NDArray[np.bool_]:
    found = values(fact.term)
    if fact.rel == "!=":
        return np.abs(found) > 0
    if fact.rel == ">":
        return found > 0
    return found >= -1e-15 * values.scale(fact.term)


def affine_order(hypotheses: Facts, names: list[str]) -> list[str]:
    """An order in which most bounds of a variable depend on earlier ones alone."""
    known = context(hypotheses)
    before: dict[str, set[str]] = {name: set() for name in names}
    for fact in hypotheses:
        affine = {name for name in fact.term.vars if known.affine(fact.term, name)}
        for name in affine:
            if name in before:
                before[name] |= fact.term.vars - affine
    out: list[str] = []
    left = list(names)
    while left:
        chosen = min(left, key=lambda name: (len(before[name] & set(left)), names.index(name)))
        left.remove(chosen)
        out.append(chosen)
    return out


def _sample(
    hypotheses: Facts,
    names: list[str],
    count: int,
    rng: np.random.Generator,
    integers: frozenset[str],
) -> dict[str, Array]:
    known = context(hypotheses)
    points: dict[str, Array] = {}
    for name in affine_order(hypotheses, names):
        low, high = np.full(count, -np.inf), np.full(count, np.inf)
        values = Values(points, count)
        for fact in hypotheses:
            if name not in fact.term.vars or fact.rel == "!=":
                continue
            split = known.affine(fact.term, name)
            if split is None or not split[1].vars <= set(points):
                continue
            end = values(split[1])
            if split[0] > 0:
                low = np.fmax(low, end)
            else:
                high = np.fmin(high, end)
        x = _between(low, high, count, rng)
        others = list(points.values())
        if others:  # ties and simple ratios with another variable
            some = rng.random(count) < 0.2
            other = np.choose(rng.integers(len(others), size=count), others[:31], mode="clip")
            tied = other * rng.choice([1.0, 1.0, 1.0, 0.5, 2.0, 0.9, 1.1, 0.1], count)
            x = np.where(some & (tied >= low) & (tied <= high), tied, x)
        if name in integers:
            x = np.round(x)
            x = np.where(x < low, np.ceil(low), np.where(x > high, np.floor(high), x))
        points[name] = x
    return points


def _between(low: Array, high: Array, count: int, rng: np.random.Generator) -> Array:
    size = np.exp(rng.uniform(math.log(1e-4), math.log(60), count))
    wide = rng.random(count)
    size = np.where(wide < 0.08, 10.0 ** rng.uniform(-12, -3, count), size)
    size = np.where(wide > 0.93, np.exp(rng.uniform(math.log(20), math.log(700), count)), size)
    size = np.where(wide > 0.98, 10.0 ** rng.uniform(2.5, 9, count), size)
    simple = rng.choice([0.0, 0.5, 1.0, 1.0, 2.0, 3.0, 4.0, 8.0, 10.0, 100.0], count)
    size = np.where((wide > 0.1) & (wide < 0.22), simple, size)
    kind = rng.random(count)
    above, beneath = low + size, high - size
    free = np.where(kind < 0.5, size, -size)
    width = high - low
    depth = np.where(rng.random(count) < 0.2, rng.uniform(-60, -14, count), 0.0)
    near_low = low + width * 10.0 ** (depth + (depth == 0) * rng.uniform(-14, 0, count))
    near_high = high - width * 10.0 ** rng.uniform(-8, 0, count)
    inside = low + width * rng.random(count)
    both = np.select(
        [kind < 0.05, kind < 0.1, kind < 0.35, kind < 0.6], [low, high, near_low, near_high], inside
    )
    has_low, has_high = np.isfinite(low), np.isfinite(high)
    return np.select([has_low & has_high, has_low, has_high], [both, above, beneath], default=free)


# -- samples of a sequent's domain, remembered


@lru_cache(maxsize=200)
def samples(hypotheses: Facts, names: frozenset[str]) -> Samples:
    return Samples(hypotheses, names)


def relevant(hypotheses: Facts, names: frozenset[str]) -> frozenset[str]:
    """The variables that the hypotheses tie to these, directly or through others."""
    todo = True
    while todo:
        todo = False
        for fact in hypotheses:
            if fact.term.vars & names and not fact.term.vars <= names:
                names = names | fact.term.vars
                todo = True
    return names


def domain(sequent: Sequent) -> Samples:
    """Samples of the variables on which the goal depends."""
    return samples(sequent.hypotheses, relevant(sequent.hypotheses, sequent.goal.term.vars))


def plausible(sequent: Sequent) -> bool:
    """Whether no sampled point refutes the sequent for certain."""
    return refuting_point(sequent) is None


@lru_cache(maxsize=20_000)
def refuting_point(sequent: Sequent) -> dict[str, fmpq] | None:
    """A point at which the relevant hypotheses hold and the goal fails, for certain."""
    if sequent.goal.rel == "!=":
        return None
    here = domain(sequent)
    if not here.count:
        return None
    goal = sequent.goal.term
    value, scale = here(goal), here.scale(goal)
    finite = np.isfinite(value) & np.isfinite(scale)
    clear = finite & (value < -ROUNDING * scale)
    bad = clear if clear.any() else finite & (value < 0)
    if not bad.any():
        return None
    with np.errstate(all="ignore"):
        ratio = np.where(bad, value / np.where(scale > 0, scale, 1), np.inf)
    first = np.argsort(ratio, kind="stable")[: 3 if clear.any() else 1]
    second = np.argsort(np.where(bad, value, np.inf), kind="stable")[:2]
    for index in dict.fromkeys([*first.tolist(), *second.tolist()]):
        if bad[index]:
            point = {name: from_float(x[index]) for name, x in here.points.items()}
            if refutes(sequent, point, partial=True):
                return point
    return None


def least_ratio(sequent: Sequent) -> float:
    """The least value of the goal at the samples, relative to its largest summands."""
    here = domain(sequent)
    value, scale = here(sequent.goal.term), here.scale(sequent.goal.term)
    with np.errstate(all="ignore"):
        ratio = value / scale
    ratio = ratio[np.isfinite(ratio)]
    return float(ratio.min()) if ratio.size else 1.0


def least_point(sequent: Sequent) -> dict[str, float] | None:
    """The sampled point where the goal is least in that sense."""
    here = domain(sequent)
    value, scale = here(sequent.goal.term), here.scale(sequent.goal.term)
    with np.errstate(all="ignore"):
        ratio = np.where(np.isfinite(value / scale), value / scale, np.inf)
    if not ratio.size:
        return None
    index = int(np.argmin(ratio))
    return {name: float(x[index]) for name, x in here.points.items()}


# -- certain signs at a rational point


def sign_at(item: Term, point: Point, bits: int = _BITS) -> int | None:
    """-1, 0 or 1 if the term is defined at the point and its sign is certain, else None.

    >>> gap = tm.exp(tm.var("x")) - 1 - tm.var("x")
    >>> tiny = {"x": fmpq(1, 10**200)}
    >>> print(sign_at(gap, tiny), sign_at(gap, tiny, 2048))
    None 1
    """
    found = _enclosed_sign(item, point, 96)
    if found is None:
        found = _enclosed_sign(item, point, _BITS)
    if found is None:
        found = _exact_sign(item, point)
    if found is None and bits > _BITS:
        found = _enclosed_sign(item, point, bits)
    return found


def _enclosed_sign(item: Term, point: Point, bits: int) -> int | None:
    try:
        with precision(bits):  # an exact value is enclosed by itself only with enough bits
            box: dict[str, Enclosure] = {name: rational(value) for name, value in point.items()}
            lo, hi = Evaluator(box, True)(item)
    except Undefined:
        return None
    if lo > 0:
        return 1
    if hi < 0:
        return -1
    return 0 if lo == 0 and hi == 0 else None


def _exact_sign(item: Term, point: Point) -> int | None:
    """The sign of a value that the canonical form shows to be rational."""
    numbers = {name: tm.num(value) for name, value in point.items()}
    try:
        with Budget(_ZERO_SECONDS).enforced():  # a power of a sum may have many terms
            canon = Canon()
            form = canon(substitute(item, numbers))
            value = fmpq(0) if canon.is_zero(form) else number_of(form)
    except (Refusal, ArithmeticError, OutOfBudget):
        return None
    if value is None or not _defined(item, point):
        return None
    return int(value > 0) - int(value < 0)


def _defined(item: Term, point: Point) -> bool:
    try:
        with precision(_BITS):
            Evaluator({name: rational(value) for name, value in point.items()}, True)(item)
    except Undefined:
        return False
    return True


def holds_at(fact: Fact, point: Point, bits: int = _BITS) -> bool | None:
    """Whether the fact holds at the point; None if that is not certain."""
    sign = sign_at(fact.term, point, bits)
    if sign is None:
        return None
    if fact.rel == "!=":
        return sign != 0
    return sign > 0 or (sign == 0 and fact.rel == ">=")


def refutes(sequent: Sequent, point: Point, partial: bool = False, bits: int = _BITS) -> bool:
    """Whether, for certain, the hypotheses hold at the point and the goal fails.

    With ``partial``, hypotheses on other variables are left out; ``bits`` is the precision to which
    the values are enclosed."""
    fails = holds_at(sequent.goal, point, bits) is False
    return fails and all_hold(sequent.hypotheses, point, partial, bits)


def all_hold(facts: Iterable[Fact], point: Point, partial: bool = False, bits: int = _BITS) -> bool:
    return all(
        holds_at(fact, point, bits) for fact in facts if not partial or fact.term.vars <= set(point)
    )
