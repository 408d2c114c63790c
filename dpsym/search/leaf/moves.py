"""Candidate steps of the search for one sequent; the kernel says what each leaves to prove.

Numpy guides the choice: steps whose premises fail at a sampled point are left out, the others
are ranked by how complicated their premises look.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import lcm
from typing import Any

import numpy as np
from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import (
    Canon,
    Monomial,
    Poly,
    constant,
    mono_power,
    mono_term,
    plus,
    scaled,
    to_term,
)
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules_calculus import Bounded
from dpsym.kernel.sequents import Facts, Sequent, context
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term, var
from dpsym.search.bounds import Bounds, bounds
from dpsym.search.leaf.factoring import factors, quotient
from dpsym.search.leaf.hinges import evident_sign
from dpsym.search.leaf.numeric import domain, least_point, plausible
from dpsym.search.leaf.steps import (
    atoms,
    coefficient,
    evident,
    exponentials,
    fresh,
    is_constant,
    mono_of,
    premises,
)

Parameters = dict[str, Any]
_KEPT = 5


@dataclass(frozen=True)
class Move:
    """A step, after a multiplication if there is a factor."""

    rule: str
    parameters: Parameters
    factor: Term | None = None


def sampled_sign(hypotheses: Facts, item: Term) -> int:
    """1 or -1 if the term has this sign at all samples (and is not always 0), else 0."""
    if known := evident_sign(hypotheses, item):
        return known
    values = domain(Sequent(hypotheses, Fact(item, ">")))(item)
    values = values[np.isfinite(values)]
    if not values.size or values.min() < 0 < values.max():
        return 0
    return int(np.sign(values.max() + values.min()))


# -- preparation: changes of variables that make forms simpler


def preparation(sequent: Sequent, form: Poly) -> Iterator[tuple[Move, bool]]:
    """Changes of variables, each with whether to commit to it."""
    used = sequent.vars
    known = context(sequent.hypotheses)
    goal = to_term(form)
    for name in sorted(goal.vars):
        x = var(name)
        about = Bounded(sequent, name)
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
        if len(lower) == 1 and known.canon(lower[0]):
            a = lower[0]
            rough = name in known.box and name not in bounds(sequent.hypotheses) and not a.vars
            if not rough and (about.affine or not a.vars):
                yield change("shift", a), True
        elif not lower and len(upper) == 1:
            yield change("negate", upper[0]), True


def tangents(sequent: Sequent, form: Poly) -> Iterator[Move]:
    """x = c u, where c is the point at which two powers of x have opposite slopes."""
    canon = context(sequent.hypotheses).canon
    for name in sorted(to_term(form).vars):
        x = var(name)
        if not evident(sequent.hypotheses, x, ">"):
            continue
        powers: dict[frozenset[tuple[Monomial, fmpq]], Poly] = {}
        for mono, value in form.items():
            row = _power_of(mono, value, x)
            if row is not None and row[0]:
                key = frozenset(row[0].items())
                powers[key] = plus(powers.get(key, {}), row[1])
        found = [(dict(key), factor) for key, factor in powers.items()]
        if all(is_constant(power) for power, _ in found):
            continue
        new = fresh(name, sequent.vars)
        for (first, up), (second, down) in product(found, found):
            difference = plus(first, second, -1)
            top, bottom = _signed(canon, first, up), _signed(canon, second, scaled(down, -1))
            if not difference or top is None or bottom is None:
                continue
            ratio = canon(tm.log(bottom) - tm.log(top))
            exact = quotient(ratio, difference)
            item = to_term(exact) if exact is not None else to_term(ratio) / to_term(difference)
            point = canon.normal(tm.exp(item))
            if point is not tm.ONE:
                yield Move("change", {"name": name, "kind": "scale", "new": new, "item": point})


def _power_of(mono: Monomial, value: fmpq, x: Term) -> tuple[Poly, Poly] | None:
    """The monomial as c x^p: p and c; None for other shapes."""
    inside = dict(mono[0])
    exponent = coefficient(inside, tm.log(x))
    left = {part: k for part, k in inside.items() if (tm.log(x), 1) not in part[1]}
    count = dict(mono[1]).get(x, 0)
    rest: Poly = {(frozenset(left.items()), mono[1] - {(x, count)}): value}
    if x.vars & (to_term(rest).vars | to_term(exponent).vars):
        return None
    return plus(exponent, constant(count)), rest


def _signed(canon: Canon, power: Poly, factor: Poly) -> Term | None:
    """power * factor if that is evidently positive."""
    form = canon.times(power, factor)
    item = to_term(form)
    return item if canon.all_signs(form, True) or canon.is_positive(item) else None


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


# -- calculus


def calculus(sequent: Sequent, form: Poly) -> list[Move]:
    """Derivatives, concavity, and logs joined, the simplest premises first."""
    ranked: list[tuple[int, int, Move]] = []
    for move in _calculus(sequent, form):
        left = after(sequent, move)
        if left is None or not all(plausible(premise) for premise in left):
            continue
        ranked.append((sum(complexity(premise) for premise in left), len(ranked), move))
    ranked.sort(key=lambda entry: entry[:2])
    return [move for _, _, move in ranked[:_KEPT]]


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
        about = Bounded(sequent, name)
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
        if weak and not about.upper:
            for scale in scales:
                yield Move("from_infinity", {"name": name}, scale)
        if weak:
            plain = {"smooth": sequent.goal.term, "hinges": ()}  # concave between the ends
            for low, _ in dict.fromkeys(about.lower):
                for high, _ in dict.fromkeys(about.upper):
                    yield Move("vertex", plain | {"name": name, "lower": low, "upper": high})
    logs = [value for mono, value in form.items() for item, _ in mono[1] if item.op == "log"]
    if logs and any(item.op == "log" and item.vars for item in atoms(form)):
        whole = fmpq(lcm(*(int(value.q) for value in logs)))
        yield Move("exponentiate", {"scale": whole})
    monotone = compared(sequent, form)
    if monotone is not None:
        yield Move("monotone", monotone)


def _scales(sequent: Sequent, form: Poly, name: str) -> list[Term]:
    """Positive factors that may make the derivative simpler."""
    out: list[Term] = []
    inner = [part for part in exponentials(form) if name in mono_term((part, frozenset())).vars]
    for part in inner[:4]:
        out.append(to_term({mono_power((part, frozenset()), -1): fmpq(1)}))
    for item in atoms(form):
        if item.op in ("log", "erfc") and name in item.vars:
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
        total += sum(5 if item.op in ("log", "erfc", "sqrt", "add") else 1 for item, _ in mono[1])
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
        if k != 1 or item.op not in ("sqrt", "erfc", "log"):
            return None
        sides.append(item)
    if sides[0].op != sides[1].op:
        return None
    return {"function": sides[0].op, "larger": sides[0].args[0], "smaller": sides[1].args[0]}


# -- lemmas and cuts


def lemmas(sequent: Sequent, form: Poly) -> Iterator[Move]:
    """Bounds of an atom, with its coefficient as the multiplier."""
    for item in atoms(form):
        if item.op not in ("log", "erfc") or not item.vars:
            continue
        factor = to_term(coefficient(form, item))
        inside = item.args[0]
        if item.op == "log":
            choices = [
                (-factor, "log_above"),
                (factor, "log_below"),
                (factor, "log_pade_below"),
                (-factor, "log_pade_above"),
            ]
        else:
            choices = [
                (-factor, "erfc_mills"),
                (factor, "erfc_below"),
                (-factor, "erfc_chernoff"),
                (factor, "erfc_positive"),
            ]
        for multiplier, name in choices:
            yield from _subtraction(sequent, multiplier, name, inside)
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


def _subtraction(sequent: Sequent, multiplier: Term, name: str, *args: Any) -> Iterator[Move]:
    if plausible(Sequent(sequent.hypotheses, Fact(multiplier, ">="))):
        yield Move("subtract", {"multiplier": multiplier, "lemma": (name, args)})


def _bernoulli(sequent: Sequent, form: Poly, inner: Any) -> Iterator[Move]:
    inside = dict(inner)
    for item in atoms(inside):
        if item.op != "log":
            continue
        exponent = coefficient(inside, item)
        left = frozenset((mono, value) for mono, value in inner if (item, 1) not in mono[1])
        rest: Poly = {(left, mono[1]): value for mono, value in form.items() if mono[0] == inner}
        power, factor = to_term(exponent), to_term(rest)
        yield from _subtraction(sequent, factor, "bernoulli", item.args[0], power)
        yield from _subtraction(sequent, -factor, "bernoulli_above", item.args[0], power)


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
