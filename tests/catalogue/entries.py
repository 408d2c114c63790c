"""What an entry of the catalogue is, and the ways to state one.

An entry is a function that returns verdicts, for one statement of ``tests/data/catalogue.json``.
All of its verdicts count: it is Proved if each is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Union

import mpmath
import sympy as sp

import dpsym as dp
from dpsym.checking import PointWitness
from dpsym.closed_forms import ClosedForm
from dpsym.enclosures.enclosure import Enclosure
from dpsym.kernel.proofs import Lemma

PROVED, REFUTED, ENCLOSED, UNKNOWN, WRONG = "Proved", "Refuted", "enclosure", "Unknown", "WRONG"
DIGITS = 40

BUDGET = 20.0
"""Processor seconds for each verdict."""


@dataclass(frozen=True)
class Enclosed:
    """An enclosure, and a value that is in it, above it (``sign`` -1) or below it (1), or not."""

    enclosure: Enclosure
    value: mpmath.mpf
    sign: int = 0

    def holds(self) -> bool:
        with mpmath.workdps(DIGITS):
            low, high = (mpmath.mpf(int(end.p)) / int(end.q) for end in self.enclosure)
            room = mpmath.mpf(10) ** (5 - DIGITS) * abs(self.value)
            if self.sign:
                return bool(high <= self.value if self.sign < 0 else low > self.value)
            return bool(low - room <= self.value <= high + room)


Finding = Union[dp.Verdict, Enclosed, ClosedForm]
Answer = Union[Finding, Iterable[Finding]]


@dataclass(frozen=True)
class Entry:
    """One statement. ``expected`` is what dpsym says of it; ``why`` explains an Unknown.

    ``index`` says which values of a whole number in the statement the entry is about, where each
    value is a claim of its own: a number of summands, or the order of a sum.
    """

    name: str
    run: Callable[[], Answer]
    expected: str = PROVED
    slow: bool = False
    why: str = ""
    index: str = ""
    at_points: Callable[[], Answer] | None = None


@dataclass
class Outcome:
    """What came of an entry."""

    verdict: str
    seconds: float
    findings: list[Finding] = field(default_factory=list)
    reason: str = ""

    def of_numbers(self) -> bool:
        """Whether only inequalities between numbers were settled, none of a mechanism."""
        if self.verdict == REFUTED:
            return isinstance(self.findings[-1].witness, PointWitness)  # type: ignore[union-attr]
        proved = [getattr(getattr(one, "theorem", None), "proved", None) for one in self.findings]
        return self.verdict == PROVED and all(isinstance(one, Lemma) for one in proved)


class Section:
    """The entries of one section, by the names of their functions."""

    def __init__(self, letter: str) -> None:
        self.letter = letter
        self.entries: dict[str, Entry] = {}

    def entry(
        self, expected: str = PROVED, *, slow: bool = False, why: str = "", index: str = ""
    ) -> Callable[[Callable[[], Answer]], Callable[[], Answer]]:
        def add(run: Callable[[], Answer]) -> Callable[[], Answer]:
            name = f"{self.letter}-{run.__name__.replace('_', '-')}"
            self.entries[name] = Entry(name, run, expected, slow, why, index)
            return run

        return add

    def at_points(self, name: str) -> Callable[[Callable[[], Answer]], Callable[[], Answer]]:
        """Certified numbers at some points, for an entry that is not proved for all of them."""

        def add(run: Callable[[], Answer]) -> Callable[[], Answer]:
            key = f"{self.letter}-{name.replace('_', '-')}"
            self.entries[key] = replace(self.entries[key], at_points=run)
            return run

        return add


def run(entry: Entry) -> Outcome:
    """The verdict on an entry, with what was found."""
    started = time.process_time()
    verdict, reason, findings = _verdict(entry.run)
    if verdict == UNKNOWN and entry.at_points is not None:
        verdict, other, findings = _verdict(entry.at_points)
        reason = other or reason
    return Outcome(verdict, time.process_time() - started, findings, reason)


def _verdict(run: Callable[[], Answer]) -> tuple[str, str, list[Finding]]:
    findings: list[Finding] = []
    reason = ""
    try:
        answer: Any = run()
        single = isinstance(answer, (Enclosed, ClosedForm, *_VERDICTS))
        for finding in [answer] if single else answer:
            findings.append(finding)
    except (dp.ProofError, dp.UnsupportedError) as error:
        reason = str(error)
    verdict, why = _summed(findings)
    if reason and verdict in (PROVED, ENCLOSED):
        verdict = UNKNOWN
    return verdict, reason or why, findings


_VERDICTS = (dp.Proved, dp.Refuted, dp.Unknown, dp.Vacuous)


def _summed(findings: list[Finding]) -> tuple[str, str]:
    for finding in findings:
        if isinstance(finding, dp.Refuted):
            return REFUTED, str(finding)
        if isinstance(finding, Enclosed) and not finding.holds():
            return WRONG, f"{finding.enclosure} does not contain {finding.value}"
        if isinstance(finding, dp.Vacuous):
            return WRONG, str(finding)
    for finding in findings:
        if isinstance(finding, dp.Unknown):
            return UNKNOWN, f"{finding.reason}; left: {'; '.join(map(str, finding.remaining))}"
        if isinstance(finding, ClosedForm) and finding.lower is None:
            return UNKNOWN, f"{finding} is not shown to be attained"
        if isinstance(finding, dp.Proved) and finding.assumptions:
            return UNKNOWN, f"proved, taking for granted: {finding.assumptions}"
    if any(isinstance(finding, Enclosed) for finding in findings):
        return ENCLOSED, ""
    return PROVED, ""


# Ways to state something


def check(subject: Any, claim: Any, where: Any = (), budget: float = BUDGET) -> dp.Verdict:
    return dp.check(subject, claim, where, budget=budget)


def below(lhs: Any, rhs: Any, where: Any = (), budget: float = BUDGET) -> dp.Verdict:
    """lhs <= rhs."""
    return dp.check_inequality(lhs, rhs, where, budget=budget)


def equal(lhs: Any, rhs: Any, where: Any = (), budget: float = BUDGET) -> tuple[dp.Verdict, ...]:
    """lhs = rhs, as two inequalities."""
    return below(lhs, rhs, where, budget), below(rhs, lhs, where, budget)


def is_formula(found: ClosedForm, formula: Any, where: Any = ()) -> tuple[Finding, ...]:
    """The closed form, which is proved and attained, is this formula."""
    if sp.sympify(formula) == found.value:
        return (found,)
    return found, *equal(found.value, formula, where)


def renyi_is(pair: Any, alpha: Any, formula: Any, where: Any = ()) -> tuple[dp.Verdict, ...]:
    """D_alpha(P || Q) = formula for a pair in one direction, for orders above and below 1."""
    verdicts = []
    for side, sign in ((alpha > 1, -1), (alpha < 1, 1)):
        region = [*where, side]
        upper = dp.RenyiDP(alpha, formula, one_way=True)
        total = sp.exp((alpha - 1) * formula)
        lower = dp.MomentBound(
            lambda loss, sign=sign: sign * sp.exp((alpha - 1) * loss),
            sign * total,
            at_infinity=0,
            one_way=True,
        )
        verdicts += [check(pair, upper, region), check(pair, lower, region)]
    return tuple(verdicts)


def kl_is(pair: Any, formula: Any, where: Any = ()) -> tuple[dp.Verdict, ...]:
    """E[L] = formula for a pair in one direction, where Q has mass wherever P has."""
    lower = dp.MomentBound(lambda loss: -loss, -formula, at_infinity=0, one_way=True)
    return check(pair, dp.RenyiDP(1, formula, one_way=True), where), check(pair, lower, where)


def hockey_stick_is(pair: Any, eps: Any, formula: Any, where: Any = ()) -> tuple[dp.Verdict, ...]:
    """H_{e^eps}(P || Q) = formula for a pair in one direction."""
    lower = dp.MomentBound(
        lambda loss: -sp.Max(0, 1 - sp.exp(eps - loss)), -formula, at_infinity=-1, one_way=True
    )
    return (check(pair, dp.ApproxDP(eps, formula, one_way=True), where), check(pair, lower, where))


def integral_is(
    integrand: Any, x: sp.Symbol, support: Any, formula: Any, where: Any = ()
) -> dp.Verdict:
    """The integral of a nonnegative function is a positive formula: the quotient is a density."""
    law = integrand / formula
    return check(dp.DensityPair(law, law, x, support), dp.PureDP(0), where)


def mass_is(masses: Any, k: sp.Symbol, support: Any, formula: Any, where: Any = ()) -> dp.Verdict:
    """The sum of a nonnegative function over integers is a positive formula."""
    law = masses / formula
    return check(dp.PMFPair(law, law, k, support), dp.PureDP(0), where)


def encloses(
    mechanism: Any,
    claim: Any,
    symbol: sp.Symbol,
    formula: Any,
    points: Iterable[dict[Any, Any]],
    sign: int = 0,
) -> Iterable[Enclosed]:
    """The smallest ``symbol`` of the claim at these parameters is what the formula says; if there
    is a sign, below (-1) or above it (1).

    The formula is an expression, or a function of the point that computes with mpmath.
    """
    for values in points:
        found = mechanism.enclose(claim, solve_for=symbol, where=values)
        with mpmath.workdps(DIGITS):
            if callable(formula):
                value = formula(values)
            else:
                value = mpmath.mpf(str(sp.N(formula.subs(values), DIGITS)))
            yield Enclosed(found, value, sign)
