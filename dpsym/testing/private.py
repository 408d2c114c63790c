"""``assert_private``: a claim, proved, or certified at drawn parameters, or refuted."""

from __future__ import annotations

from dataclasses import dataclass, field

import sympy as sp
from flint import fmpq

from dpsym.checking import check
from dpsym.combinators import Subject
from dpsym.enclosures.failures import Undecided
from dpsym.errors import InputError, UnsupportedError
from dpsym.guarantees import Both, Guarantee
from dpsym.mechanisms.base import Mechanism
from dpsym.testing.defaults import current, keep
from dpsym.testing.domains import Domain, smallest_failure
from dpsym.testing.failures import ClaimFails, NotDecided
from dpsym.testing.findings import Violation, fields_of, is_supported, values_text, violation
from dpsym.testing.outcomes import Outcome
from dpsym.testing.scripts import Code
from dpsym.testing.searching import count_of
from dpsym.testing.substituting import at, symbols_in
from dpsym.verdicts import Proved, Refuted, Unknown, Vacuous, Verdict

__all__ = ["assert_private"]

PROVED = "proved for all parameters"
CERTIFIED = "certified at drawn parameters"
UNDECIDED = "undecided"
_LEVELS = {"proved": (PROVED,), "certified": (PROVED, CERTIFIED), "unrefuted": None}
_AT_NUMBERS = 3.0  # processor seconds for one example
_DRAWN = 25
Values = dict[sp.Symbol, sp.Rational]


def assert_private(
    mechanism: Subject,
    claim: Guarantee | Both,
    where: object = (),
    examples: int | None = None,
    budget: float | None = None,
    require: str = "certified",
) -> Outcome:
    """Assert that a mechanism has a guarantee for all parameters.

    First ``check`` looks for a proof or a counterexample in symbols. If it finds none, parameters
    are drawn, and each claim at numbers is settled by rigorous numbers, or by ``check``. The
    outcome says which of these it is.

    Args:
        mechanism, claim, where: as for ``check``.
        examples: how many parameters to draw if there is no proof; by default 100, at most 25 of
            which are certified if that takes a proof at each.
        budget: processor seconds for the proof, by default 30.
        require: what is enough to pass: "proved" for all parameters, "certified" at all drawn
            ones, or "unrefuted".

    Returns: an ``Outcome``, labelled "proved for all parameters", "certified at drawn parameters"
    or "undecided".

    Raises: ClaimFails, an AssertionError, with the claim, the smallest parameters found, the gap
    and a script; NotDecided, one too, if less than what is required is found out; InputError and
    UnsupportedError for input that has no meaning, and for conditions that nothing satisfies.

    >>> import dpsym as dp
    >>> b = sp.Symbol("b", positive=True)
    >>> laplace = dp.AdditiveNoise(dp.noise.Laplace(b), 1)
    >>> try:
    ...     assert_private(laplace, dp.PureDP(1 / (2 * b)), where=[b > 3])
    ... except ClaimFails as found:
    ...     print(found.report)
    AdditiveNoise(noise=Laplace(scale=b), sensitivity=1) does not have PureDP(1/(2*b)).
      at the smallest parameters found: b = 4
      AdditiveNoise(noise=Laplace(scale=4), sensitivity=1) is said to have PureDP(1/8)
      certain: the largest loss is at least 0.25, and 0.125 is claimed: a gap of 0.125
    """
    __tracebackhide__ = True
    if require not in _LEVELS:
        raise InputError("require", f"one of {', '.join(_LEVELS)}", require)
    seconds = current().budget if budget is None else budget
    number = count_of(current().examples if examples is None else examples)
    verdict = check(mechanism, claim, where, budget=seconds)
    if isinstance(verdict, Vacuous):
        raise InputError(
            "where", "conditions that some values satisfy", where, got=verdict.reason or "none"
        )
    if isinstance(verdict, Proved):
        outcome = Outcome(PROVED, f"{mechanism!r} has {claim!r}", proof=verdict)
        keep(outcome)
        return outcome
    test = _Test(mechanism, claim, Domain(where, mechanism, (claim,)), min(seconds, _AT_NUMBERS))
    found = test.smallest(number)
    if found is not None:
        raise _kept(test.failure(found))
    if isinstance(verdict, Refuted):
        raise _kept(_by_witness(test, verdict, where))
    outcome = test.certified(min(number, _DRAWN), verdict)
    levels = _LEVELS[require]
    if levels is not None and outcome.label not in levels:
        raise _kept(NotDecided(_short_of(outcome, require, verdict)))
    keep(outcome)
    return outcome


def _kept(failure: ClaimFails | NotDecided) -> ClaimFails | NotDecided:
    keep(failure)
    return failure


def _short_of(outcome: Outcome, require: str, verdict: Verdict) -> str:
    lines = [f"{outcome}, but {require!r} is required", *outcome.reasons]
    return "\n  ".join((*lines, *str(verdict).splitlines()))


@dataclass
class _Test:
    """A claim at drawn parameters."""

    subject: Subject
    claim: Guarantee | Both
    domain: Domain
    seconds: float
    certain: dict[tuple[sp.Rational, ...], Violation | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.symbols = symbols_in(self.subject, self.claim)
        self.domain.add(self.symbols)

    @property
    def claims(self) -> tuple[Guarantee, ...]:
        return self.claim.guarantees if isinstance(self.claim, Both) else (self.claim,)

    def smallest(self, examples: int) -> Values | None:
        """The smallest parameters at which rigorous numbers refute the claim."""
        if not any(map(is_supported, self.claims)):
            return None
        return smallest_failure(self.domain, self.symbols, self.fails, examples)

    def fails(self, values: Values) -> bool:
        return self.violation(values) is not None

    def violation(self, values: Values) -> Violation | None:
        key = tuple(values[symbol] for symbol in self.symbols)
        if key not in self.certain:
            self.certain[key] = self._violation(values)
        return self.certain[key]

    def _violation(self, values: Values) -> Violation | None:
        subject = at(self.subject, values)
        for claim in filter(is_supported, self.claims):
            fields = {name: at(expr, values) for name, expr in fields_of(claim).items()}
            try:
                found = violation(subject, claim, fields)
            except (UnsupportedError, Undecided):
                continue
            if found is not None:
                return found
        return None

    def failure(self, values: Values) -> ClaimFails:
        found = self.violation(values)
        assert found is not None
        claimed = ", ".join(str(value) for value in found.fields.values())
        lines = [_does_not_have(self)]
        if values:
            subject = at(self.subject, values)
            lines += [
                f"  at the smallest parameters found: {values_text(values)}",
                f"  {subject!r} is said to have {found.kind}({claimed})",
            ]
        lines.append(f"  certain: {found.text()}")
        one_way = any(claim.one_way for claim in self.claims if type(claim).__name__ == found.kind)
        script = _script_of(at(self.subject, values), found, one_way)
        return ClaimFails("\n".join(lines), values, script)

    # --- where nothing refutes it ---

    def certified(self, examples: int, verdict: Verdict) -> Outcome:
        """Draw parameters, and certify the claim at each."""
        text = f"{self.subject!r} has {self.claim!r}"
        done: dict[tuple[sp.Rational, ...], str] = {}
        refuted: list[tuple[Values, Refuted]] = []

        def look(values: Values) -> bool:
            key = tuple(values[symbol] for symbol in self.symbols)
            if key not in done:
                found = self.settled(values)
                done[key] = "" if found is True else str(found)
                if isinstance(found, Refuted):
                    refuted.append((values, found))
            return any(values == item for item, _ in refuted)

        worst = smallest_failure(self.domain, self.symbols, look, examples)
        if worst is not None:
            (witness,) = (found for values, found in refuted if values == worst)
            raise _kept(_by_witness(self, witness, (), worst))
        reasons = [reason for reason in done.values() if reason]
        label = UNDECIDED if reasons else CERTIFIED
        if isinstance(verdict, Unknown) and reasons:
            reasons.append(verdict.reason)
        return Outcome(
            label,
            text,
            len(done),
            len([x for x in done.values() if x]),
            tuple(dict.fromkeys(reasons)),
        )

    def settled(self, values: Values) -> bool | Refuted | str:
        """True for certainly true, a refutation, or why it is not known."""
        subject, claim = at(self.subject, values), at(self.claim, values)
        if isinstance(subject, Mechanism):
            try:
                if all(subject.holds(one).holds for one in self.claims_at(values)):
                    return True
            except (UnsupportedError, InputError):
                pass
        verdict = check(subject, claim, budget=self.seconds)
        if isinstance(verdict, Proved):
            return True
        return verdict if isinstance(verdict, Refuted) else f"open at {values_text(values)}"

    def claims_at(self, values: Values) -> tuple[Guarantee, ...]:
        return tuple(at(claim, values) for claim in self.claims)


def _does_not_have(test: _Test) -> str:
    return f"{test.subject!r} does not have {test.claim!r}."


def _by_witness(
    test: _Test, verdict: Refuted, where: object, values: Values | None = None
) -> ClaimFails:
    """A failure that the witness of a verdict shows."""
    given = values if values is not None else _values_of(verdict, test.symbols)
    code = Code()
    if given is not None and (values is not None or _refuted_at(test, given)):
        subject, claim = code.of(at(test.subject, given)), code.of(at(test.claim, given))
        conditions = ""
    else:
        subject, claim = code.of(test.subject), code.of(test.claim)
        conditions = f", where={code.of(where)}" if where not in ((), None, []) else ""
    lines = [_does_not_have(test)]
    lines += [f"  {line}" for line in str(verdict).splitlines()]
    script = "\n".join(
        [
            '"""A mechanism that does not have the privacy that is claimed."""',
            "",
            code.head(),
            "",
            f"mechanism = {subject}",
            f"claim = {claim}",
            f"verdict = dp.check(mechanism, claim{conditions})",
            "print(verdict)",
            "assert isinstance(verdict, dp.Proved)",
            "",
        ]
    )
    return ClaimFails("\n".join(lines), given or {}, script)


def _refuted_at(test: _Test, values: Values) -> bool:
    found = check(at(test.subject, values), at(test.claim, values), budget=2 * test.seconds)
    return isinstance(found, Refuted)


def _values_of(verdict: Refuted, symbols: tuple[sp.Symbol, ...]) -> Values | None:
    """The parameters of a witness, if it has all of them as numbers."""
    found: Values = {}
    for symbol in symbols:
        value = verdict.witness.values.get(symbol.name)
        if isinstance(value, fmpq):
            found[symbol] = sp.Rational(int(value.p), int(value.q))
        elif isinstance(value, sp.Rational):
            found[symbol] = value
        else:
            return None
    return found


def _script_of(subject: object, found: Violation, one_way: bool) -> str:
    code = Code()
    mechanism = code.of(subject)
    code.symbol(found.main)
    code.needs("from dpsym.testing import lower_bound")
    arguments = [
        found.main if name == found.main else code.of(value) for name, value in found.fields.items()
    ]
    if one_way:
        arguments.append("one_way=True")
    claimed = code.of(found.claimed)
    return "\n".join(
        [
            '"""A mechanism that does not have the privacy that is claimed."""',
            "",
            code.head(),
            "",
            f"mechanism = {mechanism}",
            f"claimed = {claimed}",
            f"claim = dp.{found.kind}({', '.join(arguments)})",
            f"least = lower_bound(mechanism, claim, solve_for={found.main})",
            f'print(f"{found.main}: claimed {{float(claimed)}}, certainly at least '
            '{float(least)}")',
            'assert least <= claimed, "the mechanism does not have the privacy that is claimed"',
            "",
        ]
    )
