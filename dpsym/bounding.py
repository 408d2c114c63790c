"""``bound``: the best value of a claim's parameter that follows from what is known."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Union

import sympy as sp
from flint import fmpq

from dpsym.advice import VALUE, advice, larger
from dpsym.checking import (
    DEFAULT_BUDGET,
    TOO_MUCH,
    budget_seconds,
    confirm,
    sign_of,
    too_much,
    vacuous,
)
from dpsym.claims import Goal, read_claim
from dpsym.combinators import Subject
from dpsym.decimals import between, decimals
from dpsym.enclosures import Enclosure
from dpsym.errors import DpsymError, InputError
from dpsym.formulas import proposals
from dpsym.goals import goal_text
from dpsym.guarantees import GDP, NOTIONS, Guarantee, MomentBound, both
from dpsym.kernel import statements
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.terms import Term, var
from dpsym.kernel.theorems import Theorem
from dpsym.mechanisms.additive import AdditiveNoise
from dpsym.mechanisms.base import Mechanism
from dpsym.mechanisms.noise.normal import Gaussian
from dpsym.refutations import Refutation
from dpsym.results import Result
from dpsym.search.leaf.budget import Budget, OutOfBudget
from dpsym.search.optimal import extremes, nested
from dpsym.search.optimal.best import Answer, Infeasible, Question, Unsuited, best
from dpsym.search.optimal.pieces import Failed
from dpsym.search.optimal.totals import Total, by_totals, totals
from dpsym.search.privacy.steps import OUT_OF_TIME, Stuck
from dpsym.search.privacy.whole_orders import above
from dpsym.search.refutation import refute_statement
from dpsym.search.refutation.exact import rational
from dpsym.translate import symbols_of, to_sympy
from dpsym.verdicts import Proved, Refuted, Unknown, Vacuous
from dpsym.wellformed import look_at_masses
from dpsym.witnesses import Witness

__all__ = ["Bound", "bound"]

_FORMULA = 15.0  # seconds for the proof of one formula
_MASSES, _COMPOSED = 0.1, 0.7  # of the time that is left
_FAMILIES = ("PureDP", "RenyiDP", "ZCDP", "GDP")
_NARROW = (1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.3)
Subjects = Union[Subject, Sequence[Guarantee]]


@dataclass(frozen=True, repr=False)
class Bound:
    """The best value of a symbol with which a claim follows lies between two numbers.

    Attributes:
        symbol: what was asked for.
        lower, upper: exact rationals, the true value between them; equal if it is known. ``upper``
            is ``oo`` if no value makes the claim true, and a formula if there are parameters.
            ``lower`` is None if no witness was looked for, or none found.
        proved: the theorem with one of the two for the symbol: the upper one, unless larger values
            make the claim stronger (an order of RenyiDP).
        refuted: the claim with the other one, and distributions that break it; None if it needs
            none (no epsilon or delta is below 0), or there is none.
    """

    symbol: sp.Symbol
    lower: sp.Expr | None
    upper: sp.Expr
    proved: Proved | None
    refuted: Refuted | None

    @property
    def verdict(self) -> Proved | None:
        """The theorem."""
        return self.proved

    @property
    def certificate(self) -> str:
        """The theorem's proof as JSON text, which ``dpsym verify`` re-checks."""
        if self.proved is None:
            raise InputError("bound", "a finite upper end", self.upper)
        return self.proved.certificate

    @property
    def witness(self) -> Witness | None:
        """The distributions behind the other end."""
        found = None if self.refuted is None else self.refuted.witness
        return found if isinstance(found, Witness) else None

    @property
    def relative_width(self) -> sp.Expr:
        """The distance of the ends over the smaller of them; oo if one is missing or 0."""
        if self.lower is None or not self.upper.is_number:
            return sp.oo
        return Enclosure(self.lower, self.upper).relative_width

    def __str__(self) -> str:
        lines = [f"{self.symbol} {self._range()}"]
        for verdict in (self.proved, self.refuted):
            lines += [] if verdict is None else str(verdict).splitlines()
        return "\n  ".join(lines)

    __repr__ = __str__

    def _range(self) -> str:
        """In decimals, the ends rounded outward, so that what is printed is certain as well."""
        if self.upper is sp.oo:
            least = "-oo" if self.lower is None else decimals(self.lower, up=False)
            return f"in {least} .. oo"
        if not self.upper.is_Rational:
            return f"<= {self.upper}"
        if self.lower is None:
            return f"<= {decimals(self.upper, up=True)}"
        if self.lower == self.upper:
            return f"= {decimals(self.upper)}"
        return "in {} .. {}".format(*between(self.lower, self.upper))


def bound(
    subject: Subjects,
    claim: Guarantee,
    solve_for: sp.Symbol,
    where: object = (),
    budget: float = DEFAULT_BUDGET,
) -> Bound | Unknown | Vacuous:
    """The best value of a symbol in a claim, for everything that has the subject's guarantees.

    With numbers for all else, the best delta, epsilon or moment is enclosed between two exact
    numbers: the upper one is a theorem of the kernel; for the lower one there are exact
    distributions that satisfy all guarantees and break the claim. One stage's guarantees (pure,
    approximate, Rényi, Kullback-Leibler, probabilistic, moments; any number of them, in either
    direction) give a linear program over the likelihood ratio, and the two meet to about 8 digits.
    Compositions and copies of pure and approximate privacy have the sums of Kairouz, Oh and
    Viswanath (2015), for delta and for epsilon; for two stages of other guarantees, delta is found
    to about 5 digits. Other compositions and explicit mechanisms are bounded by what is known of
    them, as far as it is proved; the interval may then be wide.

    With parameters, the answer is a formula of the literature that is proved for all of them.

    Args:
        subject: what ``check`` takes, or a list of guarantees that hold together.
        claim: a guarantee in which one symbol is unknown.
        solve_for: that symbol.
        where: as in ``check``.
        budget: processor seconds to spend, about.

    Returns: a ``Bound``; ``Unknown`` if nothing was proved and no witness found; or ``Vacuous`` if
    no values satisfy the conditions, or no pair of distributions has the guarantees.

    Raises: InputError for a symbol that is not in the claim, or is in the subject.

    >>> import dpsym as dp
    >>> from sympy import Rational, exp, symbols
    >>> delta = symbols("delta", nonnegative=True)
    >>> best = dp.bound(dp.RenyiDP(2, 1), dp.ApproxDP(Rational(3, 2), delta), solve_for=delta)
    >>> round(float(best.lower), 7), round(float(best.upper), 7)
    (0.1192926, 0.1192926)
    >>> best.relative_width < Rational(1, 10**6)
    True
    >>> epsilon, alpha = symbols("epsilon alpha", positive=True)
    >>> print(dp.bound(dp.ZCDP(epsilon), dp.RenyiDP(alpha, delta), delta, where=[alpha > 1]).upper)
    alpha*epsilon
    """
    seconds = budget_seconds(budget)
    whole = _together(subject)
    if not isinstance(claim, Guarantee):
        raise InputError("claim", "a guarantee such as ApproxDP(1, delta)", claim)
    if not isinstance(solve_for, sp.Symbol):
        raise InputError("solve_for", "a symbol of the claim", solve_for)
    places = [name for name, expr in claim.parameters() if solve_for in expr.free_symbols]
    if not places:
        raise InputError("solve_for", f"a symbol of {claim!r}", solve_for)
    goal = _read(whole, claim, where)
    own = {symbol for part in goal.parts for _, expr in part.parameters() for symbol in _in(expr)}
    if solve_for in own:
        raise InputError("solve_for", "a symbol that is not in the subject", solve_for)
    bounding = _Bounding(whole, claim, solve_for, where, goal, seconds)
    try:
        empty = vacuous(goal, seconds)
        if empty is not None:
            return empty
        return bounding.answer()
    except TOO_MUCH as error:
        reason = too_much(error)
    return bounding.unknown(reason)


def _in(expr: sp.Expr) -> set[sp.Symbol]:
    return set(symbols_of(expr, "subject"))


def _together(subject: Subjects) -> Subject:
    """A list of guarantees as one subject."""
    if not isinstance(subject, (list, tuple)):
        return subject  # type: ignore[return-value]
    if not subject:
        raise InputError("subject", "one or more guarantees", subject)
    return subject[0] if len(subject) == 1 else both(*subject)


def _read(subject: Subject, claim: Guarantee, where: object) -> Goal:
    try:
        return read_claim(subject, claim, where, sign_of)
    except Refusal as refusal:
        raise InputError("claim", refusal.condition, refusal) from None


class _Bounding:
    def __init__(
        self,
        subject: Subject,
        claim: Guarantee,
        symbol: sp.Symbol,
        where: object,
        goal: Goal,
        seconds: float,
    ) -> None:
        self.subject, self.claim, self.symbol = subject, claim, symbol
        self.where, self.goal, self.seconds = where, goal, seconds
        self.started = time.process_time()
        masses = look_at_masses(goal, seconds * _MASSES)
        self.assumptions = (*goal.assumptions, *masses.open)
        self.question = Question(goal.statement, symbol.name)
        self.from_below: Answer | None = None
        self.known_total: Total | None = None

    def left(self) -> float:
        return self.seconds - (time.process_time() - self.started)

    @property
    def numbers(self) -> bool:
        """Whether all but the symbol are numbers."""
        return [name for name, _ in self.goal.statement.variables] == [self.symbol.name]

    def answer(self) -> Bound | Unknown:
        reason = "no formula of the literature for this claim was proved of the subject"
        if self.numbers:
            try:
                found = best(self.question, Budget(self.left()))
                if found.infinite or found.proved is not None:
                    return self.bound_of(found)
                self.from_below = found if found.weaker else None
                reason = "the linear program has a solution, but no bound near it was proved"
            except Infeasible:
                return self.unknown("no pair of distributions seems to have these guarantees")
            except OutOfBudget:
                return self.unknown(OUT_OF_TIME)
            except Unsuited as unsuited:
                reason = f"the best value is computed only for {unsuited}"
                reason += ", and no known formula was proved"
                composed = self.composed()
                if composed is not None:
                    return composed
        total = self.known_total = self.total() if self.numbers else None
        for value in self.values():
            if total is not None and value.evalf(20) >= _rational(total.value):
                return self.of_total(total)
            found_bound = self.with_upper(value)
            if found_bound is not None:
                return found_bound
            if self.left() <= 0:
                return self.unknown(OUT_OF_TIME)
        if total is not None:
            return self.of_total(total)
        known = self.from_below
        if known is not None and known.broken is not None and known.refutation is not None:
            lower = _rational(known.broken)  # nothing is known from above
            return Bound(self.symbol, lower, sp.oo, None, self.refuted(known.refutation))
        return self.unknown(reason)

    def composed(self) -> Bound | None:
        """By the extreme pairs of pure and approximate stages, or node by node for two stages."""
        for attempt in (extremes.optimum, nested.optimum):
            try:
                found = attempt(self.question, Budget(_COMPOSED * self.left()))
            except (Unsuited, OutOfBudget, Infeasible, Failed, Stuck, Refusal):
                continue
            if found.proved is not None or found.infinite:
                return self.bound_of(found)
        return None

    def total(self) -> Total | None:
        """What follows from the sums of what all stages have."""
        try:
            return by_totals(self.question, Budget(self.left() / 2), self.goal.suggestions)
        except (Unsuited, Infeasible, OutOfBudget, Failed, Stuck, Refusal):
            return None

    def of_total(self, total: Total) -> Bound:
        lower, refuted = self.below(_rational(total.value))
        proved = self.proved(total.theorem)
        return Bound(self.symbol, lower, _rational(total.value), proved, refuted)

    def unknown(self, reason: str) -> Unknown:
        text = goal_text(self.goal.statement)
        late = [larger(self.seconds)] if self.left() <= 0 else []
        helps = (*advice(self.goal.statement, late, self.numbers), VALUE)
        seconds = time.process_time() - self.started
        return Unknown(text, (text,), reason, advice=helps, seconds=seconds)

    # -- by the linear program

    def bound_of(self, found: Answer) -> Bound:
        proved = refuted = None
        if found.theorem is not None:
            proved = self.proved(found.theorem)
        if found.refutation is not None:
            refuted = self.refuted(found.refutation)
        ends = found.broken, found.proved
        low, high = ends if found.weaker else (ends[1], ends[0])
        upper = sp.oo if high is None else _rational(high)
        lower = self.least(upper) if low is None else _rational(low)
        return Bound(self.symbol, lower, upper, proved, refuted)

    def least(self, upper: sp.Expr) -> sp.Expr | None:
        """What the symbol is at least, as no epsilon or delta is below 0."""
        plain = any(expr == self.symbol for _, expr in self.claim.parameters())
        return sp.S.Zero if plain and upper == 0 and not self.is_moment else None

    @property
    def is_moment(self) -> bool:
        return isinstance(self.claim, MomentBound)

    def proved(self, theorem: Theorem) -> Proved:
        return Proved(
            goal_text(theorem.statement),
            Result(theorem),
            assumptions=self.assumptions,
            seconds=time.process_time() - self.started,
        )

    def refuted(self, refutation: Refutation) -> Refuted:
        return Refuted(
            goal_text(refutation.statement),
            Witness(refutation),
            assumptions=self.assumptions,
            seconds=time.process_time() - self.started,
        )

    # -- by what is known

    def values(self) -> Iterator[sp.Expr]:
        """Proposals for the upper end, the best first if they are numbers."""
        found = list(self.proposed())
        if self.numbers:
            values = [(value, value.evalf(20)) for value in found]
            values = [pair for pair in values if pair[1].is_number and pair[1].is_real]
            found = [value for value, _ in sorted(values, key=lambda pair: pair[1])]
        yield from dict.fromkeys(found)

    def proposed(self) -> Iterator[sp.Expr]:
        explicit = self.subject
        if isinstance(explicit, GDP) and self.numbers and not explicit.one_way:
            explicit = AdditiveNoise(Gaussian(sigma=1 / explicit.mu), 1)  # what it compares with
        if isinstance(explicit, Mechanism) and self.numbers:
            with suppress(DpsymError):
                yield explicit.enclose(self.claim, self.symbol, where=None).upper
        with suppress(DpsymError):
            yield from proposals(self.subject, self.claim, self.symbol)
        if not self.numbers:
            yield from self.formulas()
        elif self.known_total is None:
            for one in totals(self.goal.statement, self.goal.suggestions):
                yield from self.of_whole(one)

    def formulas(self) -> Iterator[sp.Expr]:
        """With symbols, what the subject may have in all of the claim's own family."""
        (wanted,) = self.goal.statement.claims
        *first, last = wanted.args
        if wanted.name not in _FAMILIES or last is not var(self.symbol.name):
            return
        for one in totals(self.goal.statement, self.goal.suggestions):
            *same, value = one.args
            if one.name == wanted.name and same == first and value is not None:
                yield to_sympy(value, self.goal.scope.symbols)

    def of_whole(self, one: statements.Guarantee) -> Iterator[sp.Expr]:
        """What follows from what the subject may have in all."""
        kind = NOTIONS.get(one.name)
        values = [_value(arg) for arg in one.args if arg is not None]
        if kind is None or self.goal.statement.stages == (statements.Assumed((one,)),):
            return
        with suppress(DpsymError):
            given = kind(*map(_rational, values))
            found = bound(given, self.claim, self.symbol, budget=max(1e-3, self.left() / 4))
            if isinstance(found, Bound) and found.upper.is_finite:
                yield found.upper

    def with_upper(self, value: sp.Expr) -> Bound | None:
        """The proposal as an upper end, if it is proved, with a witness just below it."""
        for candidate in self.near(value):
            try:
                claim = _with(self.claim, {self.symbol: candidate})
                verdict = confirm(
                    self.subject, claim, self.where, max(1e-3, min(_FORMULA, self.left()))
                )
            except DpsymError:
                continue
            if not isinstance(verdict, Proved):
                continue
            if not self.numbers or not candidate.is_Rational:
                return Bound(self.symbol, None, candidate, verdict, None)
            lower, refuted = self.below(candidate)
            return Bound(self.symbol, lower, candidate, verdict, refuted)
        return None

    def near(self, value: sp.Expr) -> Iterator[sp.Expr]:
        """The value, or a short rational number that is a little larger."""
        if not self.numbers or (value.is_Rational and len(str(value)) < 24):
            yield value
            return
        digits = 11 - int(sp.floor(sp.log(sp.Abs(value), 10)).evalf()) if value != 0 else 0
        unit = sp.Integer(10) ** digits
        yield (sp.floor((value * unit).evalf(60)) + 1) / unit

    def below(self, upper: sp.Expr) -> tuple[sp.Expr | None, Refuted | None]:
        """A value below the upper one with a witness, as near as one is found."""
        known = self.from_below
        if known is not None and known.broken is not None and known.refutation is not None:
            lower = _rational(known.broken)
            return (lower, self.refuted(known.refutation)) if lower < upper else (None, None)
        if upper == 0:
            return self.least(upper), None
        for share in _NARROW:
            value = upper * (1 - sp.Rational(str(share)))
            number = fmpq(int(value.p), int(value.q))
            if self.left() <= 0 or not self.question.allows(number):
                break
            found = refute_statement(self.question.at(number), min(3.0, self.left()))
            if found is not None:
                return value, self.refuted(found)
        return None, None


def _value(item: Term) -> fmpq:
    """The number, or one just above."""
    known = rational(item, {})
    value = above(item).value if known is None else known
    return value if isinstance(value, fmpq) else fmpq(0)


def _rational(value: fmpq) -> sp.Rational:
    return sp.Rational(int(value.p), int(value.q))


def _with(claim: Guarantee, values: dict[sp.Symbol, sp.Expr]) -> Guarantee:
    """The claim with other expressions for symbols."""
    fields = {name: getattr(claim, name) for name in claim.fields}
    changed = {
        name: expr.xreplace(values) if isinstance(expr, sp.Basic) else expr
        for name, expr in fields.items()
    }
    made: Callable[..., Guarantee] = type(claim)
    return made(**changed, one_way=claim.one_way)
