"""Candidate steps of the search for one sequent; the kernel says what each leaves to prove.

Numpy guides the choice: steps whose premises fail at a sampled point are left out, the others
are ranked by how complicated their premises look.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, permutations, product
from math import gcd, lcm
from typing import Any

import numpy as np
from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import (
    NOTHING,
    Monomial,
    Poly,
    lone,
    mono_power,
    mono_term,
    plus,
    scaled,
    times_mono,
    to_term,
)
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules_calculus import Bounded
from dpsym.kernel.sequents import Facts, Sequent, context, definedness
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term, substitute, var
from dpsym.search.bounds import Bounds, bounds
from dpsym.search.leaf import homogeneous, lowest, means
from dpsym.search.leaf.factoring import factors, quotient
from dpsym.search.leaf.hinges import evident_sign
from dpsym.search.leaf.numeric import ROUNDING, domain, least_point, plausible
from dpsym.search.leaf.steps import (
    HARD,
    atoms,
    by_powers,
    coefficient,
    completed_squares,
    evident,
    exponentials,
    fresh,
    is_constant,
    mono_of,
    premises,
)

Parameters = dict[str, Any]
_KEPT = 5
_MOST_SUMMANDS = 60  # of what is put in lowest terms
_SHORT = 0.7  # share of its size
_HUMPS = 2  # weights to try
_DERIVING = ("derive", "secant", "approach")


@dataclass(frozen=True)
class Move:
    """A step, after a multiplication if there is a factor."""

    rule: str
    parameters: Parameters
    factor: Term | None = None


class Ends(Bounded):
    """The bounds of a variable, without numbers that other numbers make superfluous."""

    def __init__(self, sequent: Sequent, name: str) -> None:
        super().__init__(sequent, name)
        self.lower, self.upper = _closest(self.lower, 1), _closest(self.upper, -1)


def _closest(ends: list[tuple[Term, str]], direction: int) -> list[tuple[Term, str]]:
    numbers = [(direction * fmpq(end.value), rel == ">") for end, rel in ends if end.op == "num"]
    if len(numbers) < 2:
        return ends
    value, strict = max(numbers)
    best = (tm.num(direction * value), ">" if strict else ">=")
    return [best, *(pair for pair in ends if pair[0].op != "num")]


def sampled_sign(hypotheses: Facts, item: Term) -> int:
    """1 or -1 if the term has this sign at all samples (and is not always 0), as far as rounding
    tells, else 0."""
    if known := evident_sign(hypotheses, item):
        return known
    here = domain(Sequent(hypotheses, Fact(item, ">")))
    values, scale = here(item), here.scale(item)
    values = values[np.isfinite(values) & (np.abs(values) > ROUNDING * scale)]
    if not values.size or values.min() < 0 < values.max():
        return 0
    return int(np.sign(values.max() + values.min()))


def unit(sequent: Sequent) -> Move | None:
    """One variable as a multiple of another, where the goal is homogeneous in both."""
    found = homogeneous.unit(sequent)
    if found is None:
        return None
    name, item = found[0], var(found[1])
    new = fresh(name, sequent.vars)
    return Move("change", {"name": name, "kind": "scale", "new": new, "item": item})


# -- preparation: changes of variables that make forms simpler


def preparation(sequent: Sequent, form: Poly) -> Iterator[tuple[Move, bool]]:
    """Changes of variables, each with whether to commit to it."""
    used = sequent.vars
    known = context(sequent.hypotheses)
    goal = to_term(form)
    for name in sorted(goal.vars):
        x = var(name)
        about = Ends(sequent, name)
        lower = list(dict.fromkeys(end for end, _ in about.lower))
        upper = list(dict.fromkeys(end for end, _ in about.upper))
        new = fresh(name, used)

        def change(kind: str, item: Term, name: str = name, new: str = new) -> Move:
            return Move("change", {"name": name, "kind": kind, "new": new, "item": item})

        positive = evident(sequent.hypotheses, x, ">")
        if positive and _deep(form, tm.log(x)):
            yield change("decay", _scale_of_log(sequent, goal, x)), False
        if evident(sequent.hypotheses, x) and any(
            tm.sqrt(x) in tm.subterms(mono_term(mono)) for mono in form
        ):
            half = any(tm.sqrt(tm.num(2)) in tm.subterms(mono_term(mono)) for mono in form)
            deep = _deep(form, tm.sqrt(x))
            yield change("square", tm.num(fmpq(1, 2 if half and deep else 1))), False
        if positive and _only_inverse(form, x):
            yield change("inverse", tm.ONE), True
        alone = all(item is x or name not in item.vars for mono in form for item, _ in mono[1])
        if not alone:
            continue
        below = any(k < 0 for mono in _monos(form) for item, k in mono[1] if item is x)
        if len(lower) == 1 and known.canon(lower[0]):
            a = lower[0]
            rough = name in known.box and name not in bounds(sequent.hypotheses) and not a.vars
            affine = all(
                name not in fact.term.vars or known.affine(fact.term, name)
                for fact in sequent.hypotheses
            )
            if not rough and not below and (affine or not a.vars):
                yield change("shift", a), True
        elif not lower and len(upper) == 1:
            yield change("negate", upper[0]), True


def _monos(form: Poly) -> Iterator[Monomial]:
    """The monomials of the form and of its exponents."""
    for mono in form:
        yield mono
        yield from (part for part, _ in mono[0])


def weighted_means(sequent: Sequent, form: Poly) -> Iterator[Move]:
    """Instances of Bernoulli's inequality that fit three powers."""
    for multiplier, *args in means.instances(sequent, form):
        yield Move("subtract", {"multiplier": multiplier, "lemma": ("bernoulli", tuple(args))})


def tangents(sequent: Sequent, form: Poly) -> Iterator[Move]:
    """x = c u, where c is the point at which two powers of x have opposite slopes."""
    canon = context(sequent.hypotheses).canon
    for name in sorted(to_term(form).vars):
        x = var(name)
        if not evident(sequent.hypotheses, x, ">"):
            continue
        found = [row for row in means.powers(form, x, tm.log(x), strict=False) if row[0]]
        if all(is_constant(power) for power, _ in found):
            continue
        new = fresh(name, sequent.vars)
        slopes = [(power, *_slope(sequent, power, factor)) for power, factor in found]
        for (first, sign, top), (second, other, bottom) in product(slopes, slopes):
            difference = plus(first, second, -1)
            if not difference or (sign, other) != (1, -1):
                continue
            ratio = canon(bottom - top)
            exact = quotient(ratio, difference)
            item = to_term(exact) if exact is not None else to_term(ratio) / to_term(difference)
            point = canon.normal(tm.exp(item))
            if point is not tm.ONE:
                yield Move("change", {"name": name, "kind": "scale", "new": new, "item": point})


def _slope(sequent: Sequent, power: Poly, factor: Poly) -> tuple[int, Term]:
    """The sign of power * factor, and the logarithm of its size; 0 if the sign is not evident."""
    sign, size = 1, tm.ZERO
    for part in (power, factor):
        known = evident_sign(sequent.hypotheses, to_term(part))
        sign *= known
        size = size + tm.log(known * to_term(part))
    return sign, size


def _deep(form: Poly, inside: Term) -> bool:
    """Whether the term occurs within another atom or an exponent."""
    for mono in form:
        for item, _ in mono[1]:
            if item is not inside and inside in set(tm.subterms(item)):
                return True
        if mono[0] and inside in set(tm.subterms(to_term(dict(mono[0])))):
            return inside.op != "log" or any(
                inside in set(tm.subterms(part)) and part is not inside
                for single, _ in mono[0]
                for part, _ in single[1]
            )
    return False


def _scale_of_log(sequent: Sequent, goal: Term, x: Term) -> Term:
    """c such that x = c exp(-u) turns log(c) - log(x), where it occurs, into u."""
    canon = context(sequent.hypotheses).canon
    inside = tm.log(x)
    for part in tm.subterms(goal):
        if part.op != "add":
            continue
        form = canon(part)
        (mono,) = (mono_of(inside),)
        slope = form.get(mono)
        fixed = {m: -v / slope for m, v in form.items() if not mono_term(m).vars} if slope else {}
        if fixed and len(fixed) < len(form):
            return canon.normal(tm.exp(to_term(fixed)))
    return tm.ONE


def _only_inverse(form: Poly, x: Term) -> bool:
    """Whether only negative powers of x occur, some of them in an exponent."""
    inner = [dict(part[1]).get(x, 0) for mono in form for part, _ in mono[0]]
    outer = [dict(mono[1]).get(x, 0) for mono in form]
    hidden = any(
        item is not x and x in set(tm.subterms(item)) for mono in form for item, _ in mono[1]
    )
    return not hidden and all(k <= 0 for k in (*inner, *outer)) and any(k < 0 for k in inner)


# -- factors, denominators


def cleared(sequent: Sequent, form: Poly) -> Move | None:
    """``clear`` with the signs that the samples suggest, if there are denominators."""
    canon = context(sequent.hypotheses).canon
    _, below = canon.together(form)
    if not below:
        return None
    signs = [
        (item, sampled_sign(sequent.hypotheses, item) or 1)
        for item, k in sorted(below.items(), key=lambda pair: pair[0].key)
        if k % 2 and not canon.is_positive(item)
    ]
    return Move("clear", {"signs": tuple(signs)})


def factored(sequent: Sequent, form: Poly) -> Move | None:
    """The goal as a product, with the signs that the samples allow."""
    found = factors(form)
    if found is None:
        return None
    scale, parts = found
    if sum(len(item.args) > 1 for item, _ in parts) == 1 and all(
        count == 1 or evident(sequent.hypotheses, item, ">") for item, count in parts
    ):
        return None
    return _by_factors(sequent, scale, parts)


def in_lowest_terms(sequent: Sequent, form: Poly) -> Move | None:
    """The goal as a quotient, if that is much shorter than the sum."""
    canon = context(sequent.hypotheses).canon
    whole, below = canon.together(form)
    if not below or not 0 < len(whole) <= _MOST_SUMMANDS:
        return None
    scale, powers = lowest.factored(canon, sequent.goal.term)
    short = lowest.product(scale, powers).size < _SHORT * to_term(whole).size
    return _by_factors(sequent, scale, list(powers.items())) if short else None


def _by_factors(sequent: Sequent, scale: fmpq, parts: list[tuple[Term, int]]) -> Move | None:
    sign = 1 if scale > 0 else -1
    rows = []
    for item, count in parts:
        own = 1
        if count % 2:
            fact = Sequent(sequent.hypotheses, Fact(item, ">="))
            if not plausible(fact):
                own = -1
                if not plausible(Sequent(sequent.hypotheses, Fact(-item, ">="))):
                    return None
            sign *= own
        rows.append((item, count, own))
    return Move("factor", {"coefficient": scale, "factors": tuple(rows)}) if sign > 0 else None


# -- square roots


def squares(sequent: Sequent, form: Poly) -> list[Move]:
    """The goal as a - b with square roots on one side, where squaring makes it simpler."""
    rooted = {mono: value for mono, value in form.items() if _has_root(mono)}
    if not rooted or len(rooted) > 3:
        return []
    up = {mono: value for mono, value in rooted.items() if value > 0}
    down = {mono: value for mono, value in rooted.items() if value < 0}
    out = []
    for left in dict.fromkeys(map(_frozen, (up, rooted, plus(form, down, -1)))):
        larger, smaller = dict(left), plus(dict(left), form, -1)
        if not larger or (not smaller and sequent.goal.rel != ">"):
            continue
        sides = to_term(larger), to_term(smaller)
        if plausible(Sequent(sequent.hypotheses, Fact(sides[0], ">="))):
            out.append(Move("square", {"larger": sides[0], "smaller": sides[1]}))
    return [move for _, move in _ranked(sequent, out)]


def two_roots(sequent: Sequent, form: Poly) -> list[Move]:
    """Squares of both sides, where these are single terms with roots."""
    if len(form) != 2 or not all(_has_root(mono) and not mono[0] for mono in form):
        return []
    return squares(sequent, form)[:1]


def without_tails(sequent: Sequent, form: Poly) -> Iterator[Move]:
    """The goal without a summand c erfc(u), c >= 0, of which squares would make many."""
    for item in atoms(form):
        factor = to_term(coefficient(form, item))
        if item.op == "erfc" and factor is not tm.ZERO and evident(sequent.hypotheses, factor):
            yield from _subtraction(sequent, factor, "erfc_positive", item.args[0])


def _frozen(form: Poly) -> frozenset[tuple[Monomial, fmpq]]:
    return frozenset(form.items())


def _has_root(mono: Monomial) -> bool:
    return any(item.op == "sqrt" and item.vars and k % 2 for item, k in mono[1])


# -- calculus


def options(sequent: Sequent, form: Poly, limited: bool, width: int) -> list[Move]:
    """Derivatives, limits (unless ``limited``), concavity, logs joined, and bounds of one atom.

    The simplest premises come first: of all of them if only a few are wanted, otherwise of each
    kind."""
    found = (m for m in _calculus(sequent, form) if m.rule != "approach" or not limited)
    calculus, bounds = _ranked(sequent, found), _ranked(sequent, lemmas(sequent, form))
    if width > _KEPT:
        return [move for _, move in (*calculus[:_KEPT], *bounds)]
    ranked = sorted((*calculus, *bounds), key=lambda entry: entry[0])
    return [move for _, move in ranked[: width + 1]]


def before_clearing(sequent: Sequent, form: Poly, limited: bool) -> list[Move]:
    """Derivatives of a sum with denominators, before clearing them makes its parts products."""
    if not fractional(form):
        return []
    hard = any(item.op in HARD for mono in form for item, _ in mono[1])
    rules = _DERIVING if hard and not limited else _DERIVING[:2]
    found = (move for move in _calculus(sequent, form) if move.rule in rules)
    found = (move for move in found if move.factor is None)
    return [move for _, move in _ranked(sequent, found)[:2]]


def fractional(form: Poly) -> bool:
    """Whether there is a sum below the line."""
    return any(item.op == "add" and k < 0 for mono in form for item, k in mono[1])


def _ranked(sequent: Sequent, found: Iterable[Move]) -> list[tuple[int, Move]]:
    """The moves that no sample speaks against, the simplest premises first."""
    ranked: list[tuple[int, int, Move]] = []
    for move in found:
        left = after(sequent, move)
        if left is None or not all(plausible(premise) for premise in left):
            continue
        ranked.append((sum(complexity(premise) for premise in left), len(ranked), move))
    ranked.sort(key=lambda entry: entry[:2])
    return [(total, move) for total, _, move in ranked]


def after(sequent: Sequent, move: Move) -> list[Sequent] | None:
    """What a move leaves, if its multiplication has one premise."""
    if move.factor is not None:
        between = premises(sequent, "multiply", {"factor": move.factor})
        if between is None or len(between) != 1:
            return None
        sequent = between[0]
    return premises(sequent, move.rule, move.parameters)


def _calculus(sequent: Sequent, form: Poly) -> Iterator[Move]:
    names = sorted(to_term(form).vars)
    weak = sequent.goal.rel == ">="
    for name in names:
        about = Ends(sequent, name)
        scales: list[Term | None] = [None, *_scales(sequent, form, name)]
        for ends, direction in ((about.lower, 1), (about.upper, -1)):
            for end, rel in dict.fromkeys(ends):
                for is_open in (True, False) if not weak and rel == ">" else (False,):
                    parameters = {
                        "name": name,
                        "start": end,
                        "direction": direction,
                        "from_open": is_open,
                    }
                    for scale in scales:
                        yield Move("derive", parameters, scale)
        yield from _limits(sequent, name, about, scales)
        yield from _secants(sequent, name, about)
        if weak:
            yield from _humps(sequent, name, about)
            plain = {"smooth": sequent.goal.term, "hinges": ()}  # concave between the ends
            for low, _ in dict.fromkeys(about.lower):
                for high, _ in dict.fromkeys(about.upper):
                    yield Move("vertex", plain | {"name": name, "lower": low, "upper": high})
    exponentials = _exponentials(sequent, form)
    if exponentials is not None:
        yield exponentials
    monotone = compared(sequent, form)
    if monotone is not None:
        yield Move("monotone", monotone)


def _exponentials(sequent: Sequent, form: Poly) -> Move | None:
    """A sum of logarithms: compare the exponentials of both sides.

    Logs of what is not evidently positive stay alone, as they are not split off a product."""
    logs = {mono: log.args[0] for mono in form if (log := lone(mono, "log")) is not None}
    if not any(inside.vars for inside in logs.values()):
        return None
    sure = {mono for mono, inside in logs.items() if evident(sequent.hypotheses, inside, ">")}
    used = logs.keys() - sure or sure
    whole = fmpq(lcm(*(int(form[m].q) for m in used)), gcd(*(int(form[m].p) for m in used)))
    above, below, rest = tm.ONE, tm.ONE, {}
    for mono, value in scaled(form, whole).items():
        if mono not in used:
            rest[mono] = value
        else:
            factor = tm.power(logs[mono], abs(int(value)))
            above, below = (above * factor, below) if value > 0 else (above, below * factor)
    larger = tm.exp(to_term(rest)) * above
    scale = None if whole == 1 else tm.num(whole)
    return Move("monotone", {"function": "log", "larger": larger, "smaller": below}, scale)


def logarithms(sequent: Sequent, form: Poly) -> Parameters | None:
    """One exponential with an exponent that is not linear, against the rest: compare logs."""
    bent = {mono: frozenset(pair for pair in mono[0] if _bent(pair[0])) for mono in form}
    found = set(bent.values()) - {NOTHING}
    if len(found) != 1 or len(form) < 3:
        return None
    inner = found.pop()
    inverse = mono_power((inner, NOTHING), -1)
    factor = {times_mono(mono, inverse): form[mono] for mono in form if bent[mono]}
    rest = {mono: value for mono, value in form.items() if not bent[mono]}
    for sign in (1, -1):
        sides = [to_term(scaled(factor, sign)), to_term(scaled(rest, -sign))]
        if rest and all(plausible(Sequent(sequent.hypotheses, Fact(s, ">"))) for s in sides):
            one, other = to_term(dict(inner)) + tm.log(sides[0]), tm.log(sides[1])
            larger, smaller = (one, other) if sign == 1 else (other, one)
            return {"function": "exp", "larger": larger, "smaller": smaller}
    return None


def _bent(mono: Monomial) -> bool:
    return sum(k for item, k in mono[1] if item.op == "var") > 2


def _limits(sequent: Sequent, name: str, about: Ends, scales: list[Term | None]) -> Iterator[Move]:
    """Limits at open bounds at which the goal is not defined, and at infinity.

    The goal near the limit is proved with a slack, so a slope of 1 serves as well as any."""
    starts: list[tuple[Term | None, int]] = []
    for ends, direction in ((about.lower, 1), (about.upper, -1)):
        starts += [(end, direction) for end, rel in dict.fromkeys(ends) if rel == ">"]
        if not ends:
            starts.append((None, direction))
    for start, direction in starts:
        for scale in scales:
            base = {"name": name, "start": start, "direction": direction}
            if start is not None and _defined_at(sequent, name, start, scale):
                continue
            yield Move("approach", base | {"near": tm.ONE, "rate": tm.ONE}, scale)


def _secants(sequent: Sequent, name: str, about: Ends) -> Iterator[Move]:
    """Bounds at which the goal is zero, and it is zero at another point before."""
    for ends, direction in ((about.lower, 1), (about.upper, -1)):
        for end, _ in dict.fromkeys(ends):
            if not _zero_at(sequent, name, end):
                continue
            for before in (end - direction, tm.ZERO, -end):
                before = context(sequent.hypotheses).canon.normal(before)
                if _zero_at(sequent, name, before):
                    base = {"name": name, "start": end, "direction": direction}
                    yield Move("secant", base | {"before": before})
                    break


def _humps(sequent: Sequent, name: str, about: Ends) -> Iterator[Move]:
    """Zero at one end, where the derivative changes its sign."""
    hypotheses, item = sequent.hypotheses, sequent.goal.term
    if item.kinked:
        return
    slope = context(hypotheses).canon(tm.derivative(item, name))
    if sampled_sign(hypotheses, to_term(slope)):
        return
    inner = [part for part in exponentials(slope) if name in mono_term((part, NOTHING)).vars]
    weights = [tm.ONE, *(to_term({(part, NOTHING): fmpq(1)}) for part in inner[:4])]
    new = fresh(name, sequent.vars)
    for lower, _ in dict.fromkeys(about.lower):
        start = _zero_at(sequent, name, lower)
        uppers: list[Term | None] = [end for end, _ in dict.fromkeys(about.upper)]
        for upper in uppers or [None]:
            stop = upper is not None and evident(hypotheses, substitute(item, {name: upper}), ">=")
            if not (start or stop) or (upper is not None and name in upper.vars):
                continue
            base = {"name": name, "lower": lower, "upper": upper, "new": new}
            found = (
                Move("hump", base | {"weight": weight, "tail": (tm.ONE, tm.ONE)})
                for weight in weights
            )
            yield from [move for _, move in _ranked(sequent, found)[:_HUMPS]]


def _zero_at(sequent: Sequent, name: str, point: Term) -> bool:
    canon = context(sequent.hypotheses).canon
    try:
        return canon.is_zero(canon(substitute(sequent.goal.term, {name: point})))
    except Refusal:
        return False


def _defined_at(sequent: Sequent, name: str, start: Term, scale: Term | None) -> bool:
    """Whether the goal, times the scale, seems defined at a bound."""
    canon = context(sequent.hypotheses).canon
    item = sequent.goal.term if scale is None else sequent.goal.term * scale
    try:
        needed = definedness(substitute(canon.normal(item), {name: start}))
        return all(
            plausible(Sequent(sequent.hypotheses, fact)) and not canon.is_zero(canon(fact.term))
            for _, fact in needed
            if fact.rel != ">="
        )
    except Refusal:
        return False


def _scales(sequent: Sequent, form: Poly, name: str) -> list[Term]:
    """Positive factors that may make the derivative simpler."""
    out: list[Term] = []
    inner = [part for part in exponentials(form) if name in mono_term((part, frozenset())).vars]
    for part in inner[:4]:
        out.append(to_term({mono_power((part, frozenset()), -1): fmpq(1)}))
    for item in atoms(form):
        if item.op in HARD and name in item.vars:
            factor = coefficient(form, item)
            if factor and not is_constant(factor):
                for sign in (1, -1):
                    signed = to_term(scaled(factor, sign))
                    if evident(sequent.hypotheses, signed, ">"):
                        out.append(1 / signed)
    x = var(name)
    powers = sorted({dict(mono[1]).get(x, 0) for mono in form})
    if powers[-1] and evident(sequent.hypotheses, x, ">"):
        out.append(tm.power(x, -powers[-1]))
    return out


def complexity(sequent: Sequent) -> int:
    """How hard the goal looks: monomials, exponentials, transcendental atoms, variables."""
    hypotheses, goal = sequent.hypotheses, sequent.goal
    if evident(hypotheses, goal.term, goal.rel):
        return 0
    try:
        canon = context(hypotheses).canon
        form, _ = canon.together(canon(goal.term))
    except (Refusal, ArithmeticError):
        return 1_000_000
    total = 3 * len(goal.term.vars)
    for mono in form:
        total += 1 + 2 * len(mono[0])
        total += 4 * sum(sum(k for _, k in part[1]) > 2 for part, _ in mono[0])
        total += sum(5 if item.op in (*HARD, "sqrt", "add") else 1 for item, _ in mono[1])
    return total


def compared(sequent: Sequent, form: Poly) -> Parameters | None:
    """Two single terms under a monotone function."""
    if len(form) != 2:
        return None
    (first, above), (second, below) = sorted(form.items(), key=lambda pair: -pair[1])
    if above != -below or above != 1 or first[0] or second[0]:
        return None
    sides = []
    for mono in (first, second):
        if len(mono[1]) != 1:
            return None
        ((item, k),) = mono[1]
        if k != 1 or item.op not in ("sqrt", *HARD):
            return None
        sides.append(item)
    if sides[0].op != sides[1].op:
        return None
    return {"function": sides[0].op, "larger": sides[0].args[0], "smaller": sides[1].args[0]}


# -- lemmas and cuts


def lemmas(sequent: Sequent, form: Poly) -> Iterator[Move]:
    """Bounds of an atom, with its coefficient as the multiplier."""
    yield from _differences_of_logs(sequent, form)
    yield from _ratios_of_erfc(sequent, form)
    for a, inside in completed_squares(form, sorted(sequent.goal.term.vars)):
        yield from _subtraction(sequent, a, "square", inside)
    for item in atoms(form):
        if item.op in HARD and item.vars:
            for count, part in sorted(by_powers(form, item).items()):
                factor = to_term(part)
                if count > 1:
                    factor = factor * tm.power(item, count - 1)
                for multiplier, name, at in _bounds_of(item, factor):
                    yield from _subtraction(sequent, multiplier, name, at)
    for inner in exponentials(form):
        rest: Poly = {
            (frozenset(), mono[1]): value for mono, value in form.items() if mono[0] == inner
        }
        item, factor = to_term(dict(inner)), to_term(rest)
        for order in (1, 2, 3):
            yield from _subtraction(sequent, factor, "exp_taylor", item, order)
        yield from _subtraction(sequent, -factor, "exp_taylor_above", item, 2)
        yield from _subtraction(sequent, -factor, "exp_inverse", item)
        yield from _bernoulli(sequent, form, inner)


def _bounds_of(item: Term, factor: Term) -> list[tuple[Term, str, Term]]:
    """Lemmas that bound the factor times the atom from below: multiplier, name, argument."""
    inside = item.args[0]
    if item.op == "log":
        return [
            (-factor, "log_above", inside),
            (factor, "log_below", inside),
            (factor, "log_pade_below", inside),
            (-factor, "log_pade_above", inside),
        ]
    both = ((factor, inside), (-factor, -inside))  # atan(-u) = -atan(u), erfc(-u) = 2 - erfc(u)
    if item.op == "atan":
        return [
            choice
            for times, at in both
            for choice in ((-times, "atan_above", at), (times, "atan_below", at))
        ]
    return [
        choice
        for times, at in both
        for choice in (
            (-times, "erfc_mills", at),
            (times, "erfc_below", at),
            (-times, "erfc_chernoff", at),
            (times, "erfc_positive", at),
        )
    ]


def _differences_of_logs(sequent: Sequent, form: Poly) -> Iterator[Move]:
    """Bounds of log(a) - log(b), where both have the same coefficient."""
    logs = [(item, coefficient(form, item)) for item in atoms(form) if item.op == "log"]
    for (first, up), (second, down) in permutations(logs, 2):
        if up == scaled(down, -1) and first.vars | second.vars:
            ratio = first.args[0] / second.args[0]
            yield from _subtraction(sequent, to_term(up), "log_below", ratio)


def _ratios_of_erfc(sequent: Sequent, form: Poly) -> Iterator[Move]:
    """Comparison of two tails of the normal law, each at its argument or reflected."""
    tails = [
        (sign * item.args[0], to_term(scaled(coefficient(form, item), sign)))
        for item in atoms(form)
        if item.op == "erfc" and item.vars
        for sign in (1, -1)
    ]
    for (u, _), (v, factor) in permutations(tails, 2):
        if plausible(Sequent(sequent.hypotheses, Fact(v - u, ">="))):
            yield from _subtraction(sequent, -factor, "erfc_ratio", u, v)


def _subtraction(sequent: Sequent, multiplier: Term, name: str, *args: Any) -> Iterator[Move]:
    if multiplier is tm.ZERO:
        return
    if plausible(Sequent(sequent.hypotheses, Fact(multiplier, ">="))):
        yield Move("subtract", {"multiplier": multiplier, "lemma": (name, args)})


def _bernoulli(sequent: Sequent, form: Poly, inner: Any) -> Iterator[Move]:
    """Tangents of a power w^a: of each log in the exponent, and of logs with opposite factors."""
    inside = dict(inner)
    logs = [(item, coefficient(inside, item)) for item in atoms(inside) if item.op == "log"]
    groups: list[tuple[tuple[Term, ...], Poly]] = [((item,), power) for item, power in logs]
    for (first, up), (second, down) in permutations(logs, 2):
        if up == scaled(down, -1):
            groups.insert(0, ((first, second), up))
    for items, exponent in groups:
        used = {(item, 1) for item in items}
        left = frozenset((mono, value) for mono, value in inner if not used & mono[1])
        rest: Poly = {(left, mono[1]): value for mono, value in form.items() if mono[0] == inner}
        power, factor = to_term(exponent), to_term(rest)
        base = items[0].args[0]
        if len(items) == 2:
            base = base / items[1].args[0]
        yield from _subtraction(sequent, factor, "bernoulli", base, power)
        yield from _subtraction(sequent, -factor, "bernoulli_above", base, power)


def touching(sequent: Sequent) -> list[Term]:
    """Cuts on which the goal is zero, as far as samples tell: it is least there."""
    here, goal = domain(sequent), sequent.goal.term
    with np.errstate(all="ignore"):
        ratio = np.abs(here(goal)) / here.scale(goal)
    out = []
    for item in cuts(sequent):
        value = here(item)
        on = (value == 0) & np.isfinite(ratio)
        if on.sum() >= 3 and ratio[on].max() < 1e-9 and value.min() < 0 < value.max():
            out.append(item)
    return out[:2]


def cuts(sequent: Sequent) -> list[Term]:
    """Terms whose sign to split on: free variables, order of variables, simple numbers."""
    known = context(sequent.hypotheses)
    names, limits = sorted(sequent.goal.term.vars), bounds(sequent.hypotheses)
    worst = least_point(sequent)
    out: list[Term] = []
    for name in names:
        if name not in limits:
            out.append(var(name))
    out += [var(first) - var(second) for first, second in combinations(names, 2)]
    for name in names:
        found = limits.get(name, Bounds())
        low, high = found.lower, found.upper
        values = [fmpq(1), fmpq(0), fmpq(1, 2), fmpq(2)]
        if worst is not None and np.isfinite(worst[name]) and abs(worst[name]) < 1e6:
            values.insert(0, fmpq(round(4 * worst[name]), 4))
        for value in dict.fromkeys(values):
            if (low is None or value > low) and (high is None or value < high):
                out.append(var(name) - tm.num(value))
    stated = {known.canon.normal(fact.term) for fact in sequent.hypotheses}
    new = [item for item in dict.fromkeys(out) if known.canon.normal(item) not in stated]
    return new[:7]
