"""An independent reading of goals with mpmath: is a goal true at many points, to 50 digits?

Nothing here uses the kernel's arithmetic or its definitions of the guarantees: inequalities are
evaluated, and claims are tried on the distributions that are known to be worst for a stage, or
nearly so (randomized response, with an outcome of infinite loss for approximate DP).
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import mpmath

from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Assumed, Fact, Guarantee, Statement
from dpsym.kernel.terms import Term

DIGITS = 50
TOLERANCE = mpmath.mpf(10) ** -35


def value(item: Term, at: dict[str, mpmath.mpf], memo=None) -> mpmath.mpf:
    """The term's value; raises ValueError or ZeroDivisionError where it is undefined."""
    memo = {} if memo is None else memo
    if item in memo:
        return memo[item]
    op, args = item.op, item.args
    if op == "num":
        out = mpmath.mpf(int(item.value.p)) / int(item.value.q)
    elif op == "var":
        out = at[item.value]
    elif op == "pi":
        out = +mpmath.pi
    elif op == "ite":
        out = value(args[1] if value(args[0], at, memo) >= 0 else args[2], at, memo)
    else:
        got = [value(arg, at, memo) for arg in args]
        if op == "add":
            out = mpmath.fsum(got)
        elif op == "mul":
            out = mpmath.fprod(got)
        elif op == "pow":
            out = got[0] ** item.value
        elif op in ("max", "min"):
            out = max(got) if op == "max" else min(got)
        elif op == "abs":
            out = abs(got[0])
        elif (op in ("log", "sqrt") and got[0] < 0) or (op == "log" and not got[0]):
            raise ValueError(op)
        else:
            out = getattr(mpmath, op)(got[0])
    memo[item] = out
    return out


def holds(fact: Fact, at: dict[str, mpmath.mpf], slack=0) -> bool:
    number = value(fact.term, at)
    if fact.rel == "!=":
        return number != 0
    return number > -slack if fact.rel == ">" and not slack else number >= -slack


def points(names, facts, count: int, seed: int = 5):
    """Random points at which the facts hold; small rationals, and some of other sizes."""
    source = random.Random(seed)
    sizes = [Fraction(k, 8) for k in range(33)] + [Fraction(1, 1000), Fraction(20)]
    found = []
    for _ in range(60 * count):
        at = {}
        for name in names:
            number = source.choice(sizes) * source.choice((1, 1, 1, -1))
            at[name] = mpmath.mpf(number.numerator) / number.denominator
        try:
            if all(holds(fact, at) for fact in facts):
                found.append(at)
        except (ValueError, ZeroDivisionError):
            continue
        if len(found) >= count:
            break
    return found


def true_at_points(goal: Sequent | Statement, count: int = 1000) -> bool:
    """Whether the goal is true at so many points (fewer, if they are rare), as far as one sees."""
    with mpmath.workdps(DIGITS):
        if isinstance(goal, Sequent):
            at = points(sorted(goal.vars), goal.hypotheses, count)
            return all(holds(goal.goal, p, TOLERANCE) for p in at)
        names = [name for name, _ in goal.variables]
        return all(_claims_hold(goal, p) for p in points(names, goal.facts, count))


def _claims_hold(goal: Statement, at) -> bool:
    stages = [_worst(stage, at) for stage in goal.stages]
    if any(stage is None for stage in stages):
        return True  # hypotheses that no pair of distributions meets, or none that we know
    joint = [
        (mpmath.fprod(p for p, _ in atoms), mpmath.fprod(q for _, q in atoms))
        for atoms in product(*stages)
    ]
    return all(_holds(claim, joint, at, TOLERANCE * 10**10) for claim in goal.claims)


def _worst(stage, at):
    """Two to four atoms that have the stage's guarantees, as bad as they allow."""
    if not isinstance(stage, Assumed):
        return None
    pairs = [pair for pair in (_pair(g, at) for g in stage.guarantees) if pair is not None]
    for pair in pairs:
        if all(_holds(guarantee, pair, at) for guarantee in stage.guarantees):
            return pair
    return None


def _response(epsilon, delta=0):
    keep = mpmath.exp(epsilon) / (1 + mpmath.exp(epsilon))
    pair = [(delta, 0), ((1 - delta) * keep, (1 - delta) * (1 - keep))]
    pair += [((1 - delta) * (1 - keep), (1 - delta) * keep), (0, delta)]
    return [(mpmath.mpf(p), mpmath.mpf(q)) for p, q in pair if p or q]


def _pair(guarantee: Guarantee, at):
    name = guarantee.name
    args = [
        None if arg is None else value(arg, at)
        for arg in guarantee.args
        if arg is None or "$t" not in arg.vars
    ]
    if name == "PureDP":
        return _response(args[0]) if args[0] >= 0 else None
    if name in ("ApproxDP", "ProbabilisticDP"):
        if args[0] < 0 or args[1] < 0:
            return None
        return _response(args[0], min(args[1], mpmath.mpf(1)))
    low, high = mpmath.mpf(0), mpmath.mpf(30)
    if not _holds(guarantee, _response(low), at):
        return None
    for _ in range(120):
        middle = (low + high) / 2
        if _holds(guarantee, _response(middle), at):
            low = middle
        else:
            high = middle
    return _response(low)


def _holds(guarantee: Guarantee, pair, at, slack=TOLERANCE) -> bool:
    ways = [False, True] if guarantee.two_way else [guarantee.reverse]
    turned = [[(q, p) if way else (p, q) for p, q in pair] for way in ways]
    return all(_one_way(guarantee, one, at, slack) for one in turned)


def _one_way(guarantee: Guarantee, pair, at, slack) -> bool:
    name = guarantee.name
    if name == "MomentBound":
        return True
    args = [value(arg, at) for arg in guarantee.args]
    if name == "PureDP":
        return all(p <= mpmath.exp(args[0]) * q + slack for p, q in pair)
    if name == "ApproxDP":
        mass = mpmath.fsum(max(p - mpmath.exp(args[0]) * q, 0) for p, q in pair)
        return mass <= args[1] + slack
    if name == "ProbabilisticDP":
        mass = mpmath.fsum(p for p, q in pair if p > mpmath.exp(args[0]) * q + slack)
        return mass <= args[1] + slack
    if name == "BoundedRange":
        ratios = [p / q if q else mpmath.inf for p, q in pair if p]
        return max(ratios) <= mpmath.exp(args[0]) * min(ratios) * (1 + slack)
    if name == "ZCDP":
        orders = [mpmath.mpf(k) / 8 for k in (9, 12, 16, 40, 400)]
        return all(_renyi(pair, a) <= args[0] * a + slack for a in orders)
    if name == "KLDP":
        return _renyi(pair, 1) <= args[0] + slack
    return _renyi(pair, args[0]) <= args[1] + slack


def _renyi(pair, order):
    if order >= 1 and any(p and not q for p, q in pair):
        return mpmath.inf
    both = [(p, q) for p, q in pair if p and q]
    if order == 1:
        return mpmath.fsum(p * mpmath.log(p / q) for p, q in both)
    total = mpmath.fsum(p**order * q ** (1 - order) for p, q in both)
    return mpmath.log(total) / (order - 1)
