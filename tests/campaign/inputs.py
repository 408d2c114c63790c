"""Hostile SymPy input: what SymPy does not see, names that look like code, classes that lie.

Each attempt asks dpsym something whose answer is known. A wrong answer, an error that is not
dpsym's own, or anything that is run is a fault.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import sympy as sp

import dpsym as dp
from dpsym.errors import DpsymError
from tests.campaign.claims import BUDGET, Outcome, rational, settled, small

Attack = Callable[[random.Random], Outcome]
KINDS: dict[str, Attack] = {}
TRAP = Path("dpsym_campaign_was_run")  # what the names below would make, if they were run

X = sp.Symbol("x", real=True)
P = sp.Symbol("p", positive=True)


def kind(attack: Attack) -> Attack:
    KINDS[attack.__name__.strip("_")] = attack
    return attack


def zero(source: random.Random) -> sp.Expr:
    """A zero that SymPy keeps as it is."""
    k = source.randint(2, 9)
    r = sp.sqrt(k)
    return source.choice(
        (
            sp.sqrt(2) + sp.sqrt(3) - sp.sqrt(5 + 2 * sp.sqrt(6)),
            sp.sqrt(k + 1 + 2 * r) - 1 - r,
            sp.log(k * (k + 1)) - sp.log(k) - sp.log(k + 1),
            (r + 1) * (r - 1) - (k - 1),
            sp.exp(1) * sp.exp(k) - sp.exp(k + 1, evaluate=False),
            sp.Add(X, -X, evaluate=False),
            sp.Add(sp.exp(X), sp.Mul(-1, sp.exp(X), evaluate=False), evaluate=False),
            sp.Mul(0, sp.exp(X), evaluate=False),
            (X + 1) ** 2 - X**2 - 2 * X - 1,
            sp.exp(2 * X) - sp.exp(X) ** 2,
            sp.erfc(X) + sp.erfc(-X) - 2,
            sp.Abs(X) - sp.Max(X, -X),
            sp.log(P**2) - 2 * sp.log(P),
            sp.sqrt(P) * sp.sqrt(P) - P,
        )
    )


@kind
def zeros(source: random.Random) -> Outcome:
    """Added to a claim, they change nothing; tiny numbers added to them do."""
    nothing = zero(source)
    e = small(source)
    shift = source.choice((Fraction(0), Fraction(1, 10**12), -Fraction(1, 10**12), Fraction(-1)))
    if source.random() < 0.5:
        left, right = rational(e) + nothing, rational(e + shift)
        sides = (left, right) if source.random() < 0.5 else (rational(e), right + nothing)
        return settled(shift >= 0, dp.check_inequality(*sides, budget=BUDGET), f"{sides}")
    where = [sp.Eq(nothing, 0)] if source.random() < 0.2 else []
    claim = dp.PureDP(rational(e + shift) + nothing)
    verdict = dp.check(dp.PureDP(rational(e)), claim, where=where, budget=BUDGET)
    return settled(shift >= 0, verdict, f"PureDP({e}) has {claim!r}")


@kind
def division(source: random.Random) -> Outcome:
    """One over a zero has no value, so no claim with it is proved or refuted as if it had one."""
    gone = 1 / zero(source)
    ask: Any = source.choice(
        (
            lambda: dp.check_inequality(0, gone**2, budget=BUDGET),
            lambda: dp.check_inequality(gone - gone, 1, budget=BUDGET),
            lambda: dp.check_inequality(sp.Mul(0, gone, evaluate=False), 1, budget=BUDGET),
            lambda: dp.check(dp.PureDP(1), dp.PureDP(1 + gone**2), budget=BUDGET),
            lambda: dp.check_inequality(sp.log(gone**-2), 1, budget=BUDGET),
        )
    )
    verdict = ask()
    name = type(verdict).__name__
    # gone - gone is 0 before dpsym sees it
    ok = name in ("Unknown", "Vacuous") or not _mentions(verdict, gone)
    return ("answered", name) if ok else ("WRONG", f"{gone}: {verdict}")


def _mentions(verdict: Any, gone: sp.Expr) -> bool:
    """Whether the goal that is shown still divides."""
    first = str(verdict).splitlines()[0]
    return "/" in first or "**(-" in first or "log" in first


CODE = (
    f"__import__('pathlib').Path('{TRAP}').touch()",
    f"(lambda: open('{TRAP}', 'w'))()",
    f"exec(\"open('{TRAP}', 'w')\")",
    "0) or (1",
    "x; import os",
    "$t",
    "$s",
    "\x1b[2J",
    "a\nb",
    "__class__",
    "{0.__class__}",
    "%s%n",
    "\u202ee",
    "oo",
    "pi",
    "exp",
    "nan",
    "",
    "x'",
    "1",
    "\\input{x}",
)


@kind
def names(source: random.Random) -> Outcome:
    """Symbols whose names look like code: nothing is run, and answers are right."""
    s, t = (sp.Symbol(name, nonnegative=True) for name in source.sample(CODE, 2))
    shift = source.choice((sp.Integer(0), sp.Integer(1), s))
    truth = shift != 0 or None
    if source.random() < 0.5:
        subject, claim = dp.compose(dp.PureDP(s), dp.PureDP(t)), dp.PureDP(s + t + shift)
        verdict = dp.check(subject, claim, budget=BUDGET)
        truth = True
    else:
        verdict = dp.check_inequality(s + t, s + shift, budget=BUDGET)
        truth = False
    said = f"{s.name!r}, {t.name!r}"
    text = str(verdict)
    if isinstance(verdict, dp.Proved):
        text += verdict.explain() + verdict.explain(latex=True) + verdict._repr_latex_()
        from dpsym.kernel.certificate import verify

        verify(verdict.certificate)
    if TRAP.exists():
        return "WRONG", f"{said} was run"
    return settled(truth, verdict, said)


class Positive(sp.Symbol):
    """A symbol that says it is positive, whatever SymPy assumes of it."""

    is_positive = True
    is_nonnegative = True
    is_real = True


class Equal(sp.Symbol):
    """A symbol that is equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = sp.Symbol.__hash__


class Closed(sp.Symbol):
    """A symbol that says it has no free symbols."""

    @property
    def free_symbols(self) -> set[Any]:
        return set()


class Shifting(sp.Symbol):
    """A symbol whose name is another one each time."""

    count = 0

    def __getattribute__(self, name: str) -> Any:
        if name == "name":
            Shifting.count += 1
            return f"x{Shifting.count}"
        return super().__getattribute__(name)


class Loud(sp.Function):
    """A function with methods that would run, and lies."""

    nargs = 1
    is_nonnegative = True

    def _eval_subs(self, old: Any, new: Any) -> Any:
        TRAP.touch()
        return sp.Integer(0)

    def _eval_evalf(self, precision: int) -> Any:
        return sp.Float(-1)


class Number(sp.Integer):
    """A number that prints as another one."""

    def __new__(cls, value: int) -> Any:
        return sp.Integer.__new__(cls, value)

    def __str__(self) -> str:
        return "0"

    def _sympystr(self, printer: Any) -> str:
        return "0"


class Sum(sp.Add):
    """A sum with other arguments than it is made of."""

    @property
    def args(self) -> tuple[Any, ...]:
        return (sp.Integer(0),)


@kind
def classes(source: random.Random) -> Outcome:
    """Subclasses that override methods. x <= 0 is false for each real x that they can be."""
    make: Any = source.choice((Positive, Equal, Closed, Shifting))
    case = source.randrange(6)
    verdict: Any
    if case < 3:
        s = make("x", real=True) if case else make("x")
        side = source.choice((s, s + 1, s**2 - 1, sp.exp(s) - 2))
        verdict = dp.check_inequality(0, side, budget=BUDGET)
        truth: bool | None = False
        if make is Positive:  # with positive x, some of these are true
            truth = None if side in (s, s + 1) else False
    elif case == 3:
        verdict = dp.check_inequality(0, Loud(X) - 1, budget=BUDGET)
        truth = False
    elif case == 4:
        n = Number(source.randint(1, 5))
        verdict = dp.check_inequality(n + source.choice((0, X**2)), 0, budget=BUDGET)
        truth = False
    else:
        verdict = dp.check_inequality(Sum(X, sp.Integer(1), evaluate=False), 0, budget=BUDGET)
        truth = None
    return settled(truth, verdict, f"case {case} of {make.__name__}")


@kind
def symbols(source: random.Random) -> Outcome:
    """Two symbols of one name, with assumptions that differ; dummies; wild and complex ones."""
    a = sp.Symbol("x", positive=True)
    b: Any = source.choice(
        (
            sp.Symbol("x", negative=True),
            sp.Symbol("x", real=True),
            sp.Symbol("x"),
            sp.Symbol("x", integer=True),
            sp.Dummy("x", real=True),
            sp.Wild("x"),
            sp.Symbol("x", commutative=False),
            sp.Symbol("x", imaginary=True),
        )
    )
    verdict = dp.check_inequality(a, b, budget=BUDGET)
    return settled(False, verdict, f"x <= x with {b.assumptions0}")


@kind
def unevaluated(source: random.Random) -> Outcome:
    """The same claim in trees that SymPy has not simplified."""
    e = rational(small(source))
    wraps: list[Callable[[sp.Expr], sp.Expr]] = [
        lambda u: sp.Add(u, 0, evaluate=False),
        lambda u: sp.Mul(u, 1, evaluate=False),
        lambda u: sp.Pow(u, 1, evaluate=False),
        lambda u: sp.Mul(-1, sp.Mul(-1, u, evaluate=False), evaluate=False),
        lambda u: sp.exp(sp.log(1 + sp.Abs(u), evaluate=False), evaluate=False) - 1,
        lambda u: sp.Max(u, u, evaluate=False),
        lambda u: sp.Piecewise((u, X > 0), (u, True), evaluate=False),
        lambda u: sp.Add(u, X, sp.Mul(-1, X, evaluate=False), evaluate=False),
        lambda u: sp.Add(u, sp.Pow(X, 0, evaluate=False), -1, evaluate=False),
    ]
    side = e
    for _ in range(source.randint(1, 4)):
        side = source.choice(wraps)(side)
    shift = source.choice((Fraction(0), Fraction(1, 10**9), -Fraction(1, 10**9)))
    other = e + rational(shift)
    if source.random() < 0.5:
        verdict = dp.check_inequality(side, other, budget=BUDGET)
        return settled(shift >= 0, verdict, f"{side} <= {other}")
    verdict = dp.check(dp.PureDP(e), dp.PureDP(side + rational(shift)), budget=BUDGET)
    return settled(shift >= 0, verdict, f"PureDP({e}) has PureDP({side} + {shift})")


@kind
def no_expressions(source: random.Random) -> Outcome:
    """What is no expression, or has no value: an error of dpsym's own, never a proof."""
    odd: list[Any] = [None, "x", "1+1", object(), [], {}, (1, 2), True, float("nan"), 1j, b"1"]
    odd += [sp.nan, sp.oo, sp.zoo, sp.I, float("inf"), sp.Matrix([1]), sp.true, X > 0, sp.Symbol]
    odd += [sp.Interval(0, 1), sp.EmptySet, lambda: 1, sp.Float("1.5", 60), 10**9999, sp.O(X)]
    odd += [sp.Function("f")(X), sp.Integral(X, (X, 0, 1)), sp.Derivative(X**2, X), sp.gamma(X)]
    odd += [sp.Sum(X, (X, 0, 3)), sp.sin(X), sp.floor(X), sp.Limit(X, X, 0)]
    odd += [sp.Pow(0, exponent, evaluate=False) for exponent in (0, -1)]
    odd += [sp.Mul(0, sp.oo, evaluate=False), sp.log(0, evaluate=False)]
    odd += [sp.sqrt(-1, evaluate=False)]
    item = source.choice(odd)
    asks: list[Callable[[], Any]] = [
        lambda: dp.check_inequality(item, 1, budget=BUDGET),
        lambda: dp.check_inequality(0, item, budget=BUDGET),
        lambda: dp.check_inequality(X, X + 1, where=[item], budget=BUDGET),
        lambda: dp.check(dp.PureDP(item), dp.PureDP(2), budget=BUDGET),
        lambda: dp.check(dp.PureDP(1), dp.PureDP(item), budget=BUDGET),
        lambda: dp.check(item, dp.PureDP(1), budget=BUDGET),
        lambda: dp.check(dp.PureDP(1), item, budget=BUDGET),
        lambda: dp.Table([[item, 1], [0, 1]]),
        lambda: dp.compose(dp.PureDP(1), item),
    ]
    found = source.choice(asks)()
    return "answered", f"{type(item).__name__}: {type(found).__name__}"


@kind
def deep(source: random.Random) -> Outcome:
    """Deep and broad expressions: an answer in time, or an error of dpsym's own."""
    depth, side = source.choice((60, 200, 600)), X
    way: Any = source.choice(
        (
            lambda u: sp.exp(u, evaluate=False),
            lambda u: sp.Add(u, sp.Mul(u, X, evaluate=False), evaluate=False),
            lambda u: sp.Pow(u, 7, evaluate=False),
            lambda u: sp.Max(u, X + 1, evaluate=False),
            lambda u: sp.Abs(u, evaluate=False),
        )
    )
    for _ in range(depth):
        side = way(side)
    verdict = dp.check_inequality(side, X - 1, budget=BUDGET)
    return "answered", type(verdict).__name__


def attempt(name: str, source: random.Random) -> Outcome:
    try:
        outcome = KINDS[name](source)
    except DpsymError as error:
        outcome = "error", str(error)[:200]
    except (Exception, RecursionError) as error:
        outcome = "WRONG", f"{type(error).__name__}: {str(error)[:300]}"
    if TRAP.exists():
        TRAP.unlink()
        return "WRONG", f"something was run: {outcome}"
    return outcome
