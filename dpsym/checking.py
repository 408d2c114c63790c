"""``check``, ``prove`` and ``check_inequality``: from a claim to a verdict."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from flint import fmpq

from dpsym import recalled
from dpsym.advice import DOMAIN, HINTS, ROOM, SHORTER, advice, larger
from dpsym.claims import Goal, read_claim, read_inequality
from dpsym.emptiness import no_pair, no_values
from dpsym.errors import InputError, ProofError, TooLargeError
from dpsym.goals import goal_text
from dpsym.hints import read_hints
from dpsym.kernel import terms as tm
from dpsym.kernel.proofs import Lemma
from dpsym.kernel.refusal import Refusal, TooLarge
from dpsym.kernel.rules_privacy import statement_obligations
from dpsym.kernel.sequents import Facts, Sequent, context
from dpsym.kernel.statements import INTEGER, Fact, Group, Mechanism, Repeated, Statement, shapes
from dpsym.kernel.terms import Term
from dpsym.kernel.theorems import Theorem
from dpsym.openings import open_goals
from dpsym.printing import show_fact
from dpsym.results import Result
from dpsym.scope import Scope
from dpsym.search import leaf
from dpsym.search.leaf.budget import looking
from dpsym.search.leaf.hinted import Hint
from dpsym.search.privacy.leaves import plausible
from dpsym.search.privacy.prover import prove_statement
from dpsym.search.privacy.steps import OUT_OF_TIME, Exhausted, Stuck, Undefined, refused, too_large
from dpsym.undefined import refuse_undefined, refuse_undefined_statement, shown_values
from dpsym.verdicts import Proved, Refuted, Unknown, Vacuous, Verdict
from dpsym.wellformed import DISTRIBUTIONS, look_at_masses

if TYPE_CHECKING:
    from dpsym.combinators import Subject
    from dpsym.refutations import Refutation

__all__ = ["DEFAULT_BUDGET", "check", "check_inequality", "prove"]

DEFAULT_BUDGET = 60.0
_MOST = 86_400.0
TOO_MUCH = (TooLarge, RecursionError, MemoryError)  # what ends a search, but its time
_UNDEFINED_FIRST, _UNDEFINED_LAST = 0.15, 1.0  # seconds, for each sub-term and for all of them
_SIGN_SECONDS, _ROW_SECONDS = 1.0, 5.0
# shares of the budget
_FIRST_PROOF, _REFUTATION, _MASSES = 0.35, 0.35, 0.15
_MULTIPLIERS = 0.3
_PROVE, _NUMBERS, _REFUTE = "prove", "numbers", "refute"
_BETWEEN = (0.4, 1.0), (3.0, 4.0)  # after so many seconds, for so many
_LOOKS = (0.01, _PROVE), (0.02, _REFUTE), (0.12, _PROVE)


def check(
    subject: Subject,
    claim: Subject,
    where: object = (),
    hints: Sequence[object] | None = None,
    budget: float = DEFAULT_BUDGET,
) -> Verdict:
    """Decide whether the subject has the claimed guarantee, for all parameters.

    Args:
        subject: a guarantee ("any mechanism that has it"), an explicit mechanism, or
            ``compose(...)`` of these. Losses are in nats.
        claim: a guarantee, or ``both(A, B)``. Its arguments need only be real.
        where: conditions on the parameters: relations, and ``{symbol: Interval}``. Assumptions of
            the symbols count too, and the ranges of the subject's own arguments.
        hints: ``derive``, ``subst``, ``split``, ``lemma`` and ``use`` of ``dpsym.hints``, for the
            real inequalities that are left; a wrong hint costs time, never soundness.
        budget: processor seconds to spend, about; running out is ``Unknown``.

    Returns: ``Proved`` with a certificate, ``Refuted`` with an exact witness, ``Unknown`` with what
    is left, or ``Vacuous`` if no values satisfy the conditions.

    Raises: InputError and UnsupportedError (both ``DpsymError``) for input that has no meaning.

    >>> from sympy import symbols
    >>> import dpsym as dp
    >>> e1, e2 = symbols("epsilon1 epsilon2", nonnegative=True)
    >>> print(dp.check(dp.compose(dp.PureDP(e1), dp.PureDP(e2)), dp.PureDP(e1 + e2)))
    Proved: the adaptive composition of
        1. any mechanism with PureDP(epsilon1)
        2. any mechanism with PureDP(epsilon2)
      has PureDP(epsilon1 + epsilon2)
      for all real epsilon1, epsilon2 with epsilon1 >= 0, epsilon2 >= 0
      by 6 steps of 4 rules that the kernel checked, on no postulate
    """
    return _verdict(subject, claim, where, hints, budget, computed=False)


def confirm(subject: Subject, claim: Subject, where: object, budget: float) -> Verdict:
    """``check`` for a claim that was computed: no time is spent on looking for a witness."""
    return _verdict(subject, claim, where, None, budget, computed=True)


def _verdict(
    subject: Subject,
    claim: Subject,
    where: object,
    hints: Sequence[object] | None,
    budget: float,
    computed: bool,
) -> Verdict:
    started = time.process_time()
    limit = budget_seconds(budget)
    try:
        goal = read_claim(subject, claim, where, sign_of)
        steps = read_hints(hints, goal.scope)
    except (TooLargeError, TooLarge, MemoryError) as error:
        said = too_much(error)
        return Unknown(f"{type(subject).__name__}: a claim that is too large", reason=said)
    except Refusal as refusal:
        raise InputError("claim", refusal.condition, refusal) from None
    return _Check(goal, steps, started, limit, computed).verdict()


def prove(
    subject: Subject,
    claim: Subject,
    where: object = (),
    hints: Sequence[object] | None = None,
    budget: float = DEFAULT_BUDGET,
) -> Result:
    """``check`` for tests and scripts: the theorem, or ``ProofError`` with the verdict's text.

    >>> import dpsym as dp
    >>> dp.prove(dp.PureDP(1), dp.ApproxDP(1, 0))
    any mechanism with PureDP(1)
    has ApproxDP(1, 0)
    """
    verdict = check(subject, claim, where, hints, budget)
    if isinstance(verdict, Proved) and isinstance(verdict.theorem, Result):
        return verdict.theorem
    raise ProofError(verdict)


def check_inequality(
    lhs: object,
    rhs: object,
    where: object = (),
    strict: bool = False,
    hints: Sequence[object] | None = None,
    budget: float = DEFAULT_BUDGET,
) -> Verdict:
    """Decide ``lhs <= rhs`` (``lhs < rhs`` if ``strict``) for all values of the parameters.

    Args:
        lhs, rhs: real expressions of exp, log, powers, sqrt, erf, erfc, Abs, Max, Min, Piecewise.
        where: as in ``check``.
        strict: whether equality is to be excluded.
        hints, budget: as in ``check``.

    Raises: InputError if a side is undefined at a point of the domain, or has no meaning.

    >>> from sympy import exp, symbols
    >>> x = symbols("x", real=True)
    >>> print(check_inequality(1 + x, exp(x)))
    Proved: exp(x) >= 1 + x
      for all real x
      by 2 steps of 2 rules that the kernel checked, on no postulate
    """
    started = time.process_time()
    limit = budget_seconds(budget)
    if type(strict) is not bool:
        raise InputError("strict", "True or False", strict)
    try:
        term, scope = read_inequality(lhs, rhs, where)
        steps = read_hints(hints, scope)
    except (TooLargeError, TooLarge, MemoryError) as error:
        return Unknown("an inequality that is too large", reason=too_much(error))
    sequent = Sequent(tuple(scope.facts), Fact(term, ">" if strict else ">="))
    text = goal_text(sequent)
    integers = frozenset(name for name, kind in scope.variables if kind == INTEGER)
    try:
        return _inequality(sequent, scope, text, integers, steps, started, limit)
    except TOO_MUCH as error:
        reason = too_much(error)
    except Refusal as refusal:
        raise InputError("lhs, rhs", "sides that are defined", text, got=str(refusal)) from None
    return Unknown(text, (text,), reason, seconds=_since(started))


def too_much(error: Exception) -> str:
    """Why a search has stopped: by a limit of size, of Python's stack, or of memory."""
    if isinstance(error, MemoryError):
        return "the memory is used up"
    if isinstance(error, Refusal):
        return too_large(error)
    deep = isinstance(error, RecursionError)
    return "a formula is too deep for Python's stack" if deep else str(error)


def _inequality(
    sequent: Sequent,
    scope: Scope,
    text: str,
    integers: frozenset[str],
    hints: tuple[Hint, ...],
    started: float,
    limit: float,
) -> Verdict:
    empty = no_values(scope, sequent.hypotheses, text, limit)
    if empty is not None:
        return empty
    if not scope.dropped:
        refuse_undefined(sequent, integers, leaf.Budget(limit - _since(started)), _UNDEFINED_FIRST)
    earlier = recalled.lemma(sequent)
    if earlier is not None:
        return Proved(text, Result(earlier), seconds=_since(started))
    answer = leaf.decide(sequent, max(limit - _since(started), limit / 2), integers, hints)
    seconds = _since(started)
    if isinstance(answer, Lemma):
        return Proved(text, Result(answer), seconds=seconds)
    if isinstance(answer, leaf.Point):
        if scope.dropped:
            return Unknown(text, (), _dropped(scope), seconds=seconds)
        return Refuted(text, PointWitness(sequent, answer.values), seconds=seconds)
    if not scope.dropped:
        last = leaf.Budget(min(_UNDEFINED_LAST, limit / 10))
        refuse_undefined(sequent, integers, last, _UNDEFINED_LAST)
    seconds = _since(started)
    helps = (HINTS, *((larger(limit),) if seconds > limit / 2 else ()))
    left = open_goals(answer.left, scope)
    return Unknown(text, left, answer.reason, advice=helps, seconds=seconds)


class PointWitness:
    """Exact values at which an inequality fails."""

    def __init__(self, sequent: Sequent, values: Mapping[str, fmpq]) -> None:
        self.values = {name: values[name] for name in sorted(values)}
        self._sequent = sequent

    def text(self) -> str:
        """The values, and the enclosed value of rhs - lhs."""
        from dpsym.kernel.balls import enclose

        names = {name: tm.num(value) for name, value in self.values.items()}
        gap = tm.substitute(self._sequent.goal.term, names)
        low, high = enclose(gap, {}, 128, True)
        for bits in (512, 4096):  # a gap that is small beside its parts
            if low < 0 < high or (low == 0) != (high == 0):
                low, high = enclose(gap, {}, bits, True)
        at = f"at {shown_values(self.values)}: " if self.values else ""
        return f"{at}rhs - lhs lies in [{low.str(8, radius=False)}, {high.str(8, radius=False)}]"


class _Check:
    def __init__(
        self,
        goal: Goal,
        hints: tuple[Hint, ...],
        started: float,
        limit: float,
        computed: bool = False,
    ) -> None:
        self.goal, self.hints, self.started, self.limit = goal, hints, started, limit
        self.computed = computed
        self.text = goal_text(goal.statement)
        self.assumptions = goal.assumptions

    def verdict(self) -> Verdict:
        try:
            return self._verdict()
        except TOO_MUCH as error:
            reason = too_much(error)
        except Refusal as refusal:
            raise InputError("claim", refusal.condition, self.text, got=str(refusal)) from None
        return self.unknown(reason, first=[SHORTER])  # now that what the error held is free

    def _verdict(self) -> Verdict:
        statement = self.goal.statement
        statement_obligations(statement)  # refuses what has no meaning
        empty = vacuous(self.goal, self.limit)
        if empty is not None:
            return empty
        open_rows = self.rows()
        if open_rows:
            return self.unknown("the rows of a table are not shown to be probabilities", open_rows)
        whole = replace(statement, claims=(*statement.claims, DISTRIBUTIONS))
        earlier = recalled.theorem(whole)
        if earlier is not None:
            return self.proved(earlier)
        masses = look_at_masses(self.goal, self.limit * _MASSES)
        self.assumptions = (*self.goal.assumptions, *masses.open)
        earlier = recalled.theorem(statement)
        if earlier is not None:
            return self.proved(masses.joined(earlier))
        stuck: Stuck | None = None
        for share, turn in self.turns():
            left = self.limit - _since(self.started)
            if left <= 0:
                break
            theorem: Theorem | None = None
            if turn == _REFUTE:
                refuted = self.refuted(left * share)
                if refuted is not None:
                    return refuted
            elif turn == _NUMBERS:
                theorem = self.by_numbers(left * share)
                refuted = self.by_extremes() if theorem is None else None
                if refuted is not None:
                    return refuted
            elif stuck is None or stuck.out_of_time:  # else more time would not help
                try:
                    theorem = self.proof(left * share)
                except _Witnessed as found:
                    return found.verdict
                except Stuck as failed:
                    stuck = failed
                except TOO_MUCH as error:
                    stuck = Exhausted(too_much(error))
                except Refusal as refusal:  # of the search's own making: the claim was read
                    stuck = refused(refusal)
            if theorem is None:
                continue
            return self.proved(masses.joined(theorem))
        if stuck is not None:
            refuse_undefined_statement(statement, leaf.Budget(_UNDEFINED_LAST))
        return self.stopped(stuck or Stuck(OUT_OF_TIME, out_of_time=True))

    def stopped(self, stuck: Stuck) -> Unknown:
        """What is left of the proof that came farthest, without what is false."""
        undefined = isinstance(stuck, Undefined)
        left = tuple(one for one in stuck.remaining if undefined or plausible(one))
        reason = stuck.reason
        if stuck.remaining and not left:
            reason = "what the theorems that were tried give is not enough for the claim"
        first = [SHORTER] if isinstance(stuck, Exhausted) else []
        first += [larger(self.limit)] if stuck.out_of_time else []
        first += [DOMAIN] if undefined else [HINTS] if left else []
        return self.unknown(reason, open_goals(left, self.goal.scope), first)

    def proof(self, seconds: float) -> Theorem:
        """Copies of some unknown number are what proofs take long for, while few of them may be
        enough for a witness: short looks for one on the way."""

        def look_for(most: float) -> None:
            with suppress(*TOO_MUCH, Refusal):
                verdict = self.refuted(most)
                if verdict is not None:
                    raise _Witnessed(verdict)

        statement = self.goal.statement
        looks = [] if self.computed or not has_counts(statement) else _BETWEEN
        calls = [(after, partial(look_for, min(most, seconds / 4))) for after, most in looks]
        with looking(*calls):
            return prove_statement(statement, seconds, self.goal.suggestions, self.hints)

    def turns(self) -> tuple[tuple[float, str], ...]:
        """Shares of the time that is left, and what it is for. A claim about densities, or one
        without parameters, has short looks first, as integrals and routes take their time."""
        statement = self.goal.statement
        numbers = () if statement.variables else ((_MULTIPLIERS, _NUMBERS),)
        if self.computed:
            return (*(_LOOKS[:1] if numbers else ()), *numbers, (1.0, _PROVE))
        rest = (_FIRST_PROOF, _PROVE), (_REFUTATION, _REFUTE), (1.0, _PROVE)
        if any(isinstance(stage, Mechanism) for stage in statement.stages):
            return (*_LOOKS, *numbers, *rest)
        return (_LOOKS[0], *numbers, _LOOKS[1], *rest) if numbers else rest

    def by_numbers(self, seconds: float) -> Theorem | None:
        from dpsym.measured import Measured
        from dpsym.search.optimal.explicit import at_numbers

        return at_numbers(self.goal.statement, Measured(self.goal.parts), seconds)

    def proved(self, theorem: Theorem) -> Proved:
        return Proved(
            goal_text(theorem.statement),
            Result(theorem),
            assumptions=self.assumptions,
            seconds=_since(self.started),
        )

    def unknown(
        self, reason: str, left: tuple[object, ...] = (), first: Sequence[str] = ()
    ) -> Unknown:
        statement = self.goal.statement
        helps = (*advice(statement, first, numbers=not statement.variables), ROOM)
        seconds = _since(self.started)
        return Unknown(self.text, left or (self.text,), reason, advice=helps, seconds=seconds)

    def rows(self) -> tuple[str, ...]:
        """What is not proved of the mechanism being one; raises if it is false."""
        statement = self.goal.statement
        integers = frozenset(name for name, kind in statement.variables if kind == INTEGER)
        left = []
        for fact in self.goal.obligations:
            answer = leaf.decide(Sequent(statement.facts, fact), _ROW_SECONDS, integers)
            if isinstance(answer, leaf.Point):
                raise InputError(
                    "matrix",
                    "rows of probabilities that sum to 1",
                    show_fact(fact),
                    got=f"one for which {show_fact(fact)} fails at {shown_values(answer.values)}",
                )
            if not isinstance(answer, Lemma):
                left.append(show_fact(fact))
        return tuple(left)

    def refuted(self, seconds: float) -> Verdict | None:
        from dpsym.search.refutation import refute_statement

        return self.witnessed(refute_statement(self.goal.statement, seconds))

    def by_extremes(self) -> Verdict | None:
        from dpsym.search.optimal.extremes import against

        return self.witnessed(against(self.goal.statement))

    def witnessed(self, found: Refutation | None) -> Verdict | None:
        from dpsym.witnesses import Witness

        if found is None:
            return None
        if self.goal.scope.dropped:
            return self.unknown(_dropped(self.goal.scope))
        return Refuted(
            self.text, Witness(found), assumptions=self.assumptions, seconds=_since(self.started)
        )


class _Witnessed(Exception):
    """A witness turned up during the search for a proof."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__()
        self.verdict = verdict


def has_counts(statement: Statement) -> bool:
    """Whether some number of copies is not known."""
    made = (shape for stage in statement.stages for shape in shapes(stage))
    return any(isinstance(one, (Repeated, Group)) and bool(one.count.vars) for one in made)


def _dropped(scope: Scope) -> str:
    names = ", ".join(f"{symbol.name} is {what}" for symbol, what in scope.dropped)
    return f"a witness was found, but it may not respect what the kernel cannot express: {names}"


def vacuous(goal: Goal, limit: float) -> Vacuous | None:
    """The verdict if nothing meets the conditions: no values, or no pair of distributions."""
    text, facts = goal_text(goal.statement), goal.statement.facts
    empty = no_values(goal.scope, facts, text, limit)
    return no_pair(goal.statement, text, limit) if empty is None else empty


def sign_of(term: Term, facts: Facts) -> str | None:
    """The sign of a term where the facts hold, if it is proved."""
    canon = context(facts).canon
    if canon.is_zero(canon(term)):
        return "="
    for sign, side in ((">", term), ("<", -term)):
        fact = Fact(side, ">")
        if context(facts).evident(fact):
            return sign
        if isinstance(leaf.prove(Sequent(facts, fact), _SIGN_SECONDS), Lemma):
            return sign
    return None


def budget_seconds(budget: object) -> float:
    number = isinstance(budget, (int, float)) and not isinstance(budget, bool)
    if not number or not 0 < budget <= _MOST:  # type: ignore[operator]
        raise InputError("budget", f"seconds, above 0 and at most {_MOST:.0f}", budget)
    return float(budget)  # type: ignore[arg-type]


def _since(started: float) -> float:
    return time.process_time() - started
