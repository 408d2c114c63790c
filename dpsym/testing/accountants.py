"""``assert_accountant``: a function that promises privacy, against what is certainly lost."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from dpsym.enclosures.failures import Undecided
from dpsym.errors import InputError, UnsupportedError
from dpsym.guarantees import Guarantee
from dpsym.testing.bounds import BOUNDED, from_above, least
from dpsym.testing.defaults import current, keep
from dpsym.testing.domains import Domain, cost, simplified, smallest_failure
from dpsym.testing.failures import NotDecided, PromisesTooMuch
from dpsym.testing.findings import (
    Violation,
    decimal,
    fields_of,
    is_supported,
    values_text,
    violation,
)
from dpsym.testing.outcomes import Outcome
from dpsym.testing.scripts import Code, source_of
from dpsym.testing.searching import count_of
from dpsym.testing.substituting import at, symbols_in
from dpsym.translate import exact

__all__ = ["assert_accountant"]

Values = dict[sp.Symbol, sp.Rational]
_ROUNDING = Fraction(1, 10**12)
_SHARE = Fraction(1, 100)
_ROUNDED, _SMALL, _CLEAR = 1, 2, 3
"""Degrees of failures: by as little as rounding errors, by more, by this share of what is true."""


def assert_accountant(
    function: Callable[..., Any],
    mechanism: object,
    claim: Guarantee,
    solve_for: sp.Symbol | None = None,
    where: object = (),
    examples: int | None = None,
    slack: object = 0,
    absolute: object = 0,
) -> Outcome:
    """Assert that an accountant never promises more privacy than is true, at drawn parameters.

    The function is called with numbers for parameters, by the names of their symbols: floats that
    are exactly the numbers drawn, ints for integer symbols. What it returns, as an exact number,
    is put into the claim. The assertion fails only where that is certainly false, by a rigorous
    lower bound of what the mechanism loses (``lower_bound``); so a correct accountant never fails,
    however loose it is, and the parameters at which a wrong one does are shrunk: to small ones at
    which what is lost is more by a hundredth or more, if there are any, rather than to still
    smaller ones at which it differs by so little as rounding does. That it passes is no proof.

    Args:
        function: the accountant. Its parameters are named after symbols of the mechanism and of
            the claim; those with defaults need not be.
        mechanism: a mechanism or guarantee, ``repeat``, ``compose``, ``subsample`` or ``group``
            of it, in symbols.
        claim: the guarantee that the function is about, in symbols.
        solve_for: the symbol of the claim that the function returns; by default the only one that
            is none of its parameters.
        where: conditions on the parameters, as for ``check``.
        examples: how many parameters to draw, by default 100.
        slack: a relative one, >= 0: what the function returns is taken to be so much larger. For
            the rounding errors of floats, 1e-9 or so.
        absolute: the same, as a difference: a delta of 1e-300 may well be returned as 0.

    Returns: an ``Outcome`` with the number of examples, for how many there was no bound, and for
    how many that was 0, as it may become for many copies of samples.

    Raises: PromisesTooMuch, an AssertionError; NotDecided if there was no bound for any example;
    InputError for parameters that are no symbols, and for what the function returns and is no
    number.

    >>> import dpsym as dp
    >>> b, Delta, epsilon = sp.symbols("b Delta epsilon", positive=True)
    >>> k = sp.Symbol("k", integer=True, positive=True)
    >>> many = dp.repeat(dp.AdditiveNoise(dp.noise.Laplace(scale=b), Delta), k)
    >>> def forgets(b, Delta, k):
    ...     return Delta / b
    >>> try:
    ...     assert_accountant(forgets, many, dp.PureDP(epsilon), examples=20)
    ... except PromisesTooMuch as found:
    ...     print(found.report)
    forgets promises more privacy than is true.
      at the smallest parameters found: b = 1, Delta = 1, k = 2
      forgets(b=1.0, Delta=1.0, k=2) returns 1.0, so that
      repeat(AdditiveNoise(noise=Laplace(scale=1), sensitivity=1), 2) has PureDP(1)
      certain: the largest loss is at least 2, and 1 is claimed: a gap of 1
    """
    __tracebackhide__ = True
    number = current().examples if examples is None else examples
    test = _test_of(function, mechanism, claim, solve_for, where, (slack, absolute))
    found = _smallest(test, count_of(number))
    if found is not None:
        failure = test.failure(found)
        keep(failure)
        raise failure
    text = f"{test.name} for {mechanism!r} promises no more than {claim!r}"
    reasons = tuple(dict.fromkeys(test.open.values()))
    if len(test.open) == len(test.seen):
        undecided = NotDecided(f"{text}: no bound was found, as {'; '.join(reasons)}")
        keep(undecided)
        raise undecided
    outcome = Outcome(
        "not refuted at drawn parameters",
        text,
        len(test.seen),
        len(test.open),
        reasons,
        empty=len(test.empty),
    )
    keep(outcome)
    return outcome


def _test_of(
    function: Callable[..., Any],
    mechanism: object,
    claim: Guarantee,
    solve_for: sp.Symbol | None,
    where: object,
    slacks: tuple[object, object],
) -> _Test:
    if not callable(function):
        raise InputError("function", "a function of the parameters", function)
    if not isinstance(claim, Guarantee) or not is_supported(claim):
        raise InputError("claim", f"one of {', '.join(sorted(BOUNDED))}", claim)
    allowed = tuple(map(_allowance, ("slack", "absolute"), slacks))
    domain = Domain(where, mechanism, (claim,))
    found = symbols_in(mechanism, claim)
    domain.add(found)
    found = tuple(dict.fromkeys((*found, *domain.symbols)))
    symbols = {symbol.name: symbol for symbol in found}
    taken = _parameters_of(function, symbols)
    own = set(symbols_in(mechanism))
    if solve_for is None:
        left = [
            symbol
            for symbol in symbols_in(mechanism, claim)
            if symbol not in own and (taken is None or symbol.name not in taken)
        ]
        if len(left) != 1:
            raise InputError(
                "solve_for", "the symbol of the claim that the function returns", solve_for
            )
        (solve_for,) = left
    if not isinstance(solve_for, sp.Symbol) or solve_for not in symbols_in(mechanism, claim):
        raise InputError("solve_for", "a symbol of the claim", solve_for)
    others = tuple(symbol for symbol in found if symbol != solve_for)
    names = tuple(symbol.name for symbol in others if taken is None or symbol.name in taken)
    return _Test(function, mechanism, claim, solve_for, domain, others, names, allowed)


def _parameters_of(
    function: Callable[..., Any], symbols: Mapping[str, sp.Symbol]
) -> set[str] | None:
    """The symbols that the function takes; None if it takes all.

    Raises: InputError for a parameter that is none of them.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    taken = set()
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            return None
        if name in symbols and parameter.kind is not parameter.VAR_POSITIONAL:
            taken.add(name)
        elif (
            parameter.default is parameter.empty and parameter.kind is not parameter.VAR_POSITIONAL
        ):
            raise InputError(
                "function", f"parameters named as symbols, of {', '.join(symbols)}", name
            )
    return taken


def _smallest(test: _Test, examples: int) -> Values | None:
    """The smallest parameters found that fail, among those with the clearest failures."""
    for degree in (_CLEAR, _SMALL, _ROUNDED):
        if degree != _CLEAR and not test.failures(degree):
            continue  # none was seen before

        def fails(values: Values, degree: int = degree) -> bool:
            return test.degree(values) >= degree

        found = smallest_failure(test.domain, test.symbols, fails, examples, True, test.unknown)
        if found is None and test.failures(degree):  # other numbers have been drawn this time
            seen = min(test.failures(degree), key=lambda values: sum(map(cost, values.values())))
            found = simplified(seen, test.domain, fails, test.unknown)
        if found is not None:
            return found
    return None


@dataclass
class _Test:
    """How clearly the function promises too much at given parameters, remembered."""

    function: Callable[..., Any]
    mechanism: object
    claim: Guarantee
    unknown: sp.Symbol
    domain: Domain
    symbols: tuple[sp.Symbol, ...]
    names: tuple[str, ...]
    slacks: tuple[sp.Rational, ...]
    seen: dict[tuple[sp.Rational, ...], int] = field(default_factory=dict)
    open: dict[tuple[sp.Rational, ...], str] = field(default_factory=dict)
    empty: set[tuple[sp.Rational, ...]] = field(default_factory=set)
    promised: float | int | Fraction = math.inf  # when the function was called last

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))

    def degree(self, values: Values) -> int:
        """One of the degrees of a failure; 0 for none."""
        key = tuple(values[symbol] for symbol in self.symbols)
        if key not in self.seen:
            try:
                found = self.look(values)
                self.seen[key] = 0 if found is None else _degree(found)
                if found is None and self.is_empty(values):
                    self.empty.add(key)
            except (UnsupportedError, Undecided) as error:
                self.seen[key] = 0
                self.open[key] = str(error)
        return self.seen[key]

    def failures(self, degree: int) -> list[Values]:
        """The parameters seen that fail to this degree."""
        found = [key for key, seen in self.seen.items() if seen >= degree]
        return [dict(zip(self.symbols, key, strict=True)) for key in found]

    def arguments(self, values: Values) -> dict[str, float | int]:
        return {
            symbol.name: int(value) if symbol.is_integer else float(value)
            for symbol, value in values.items()
            if symbol.name in self.names
        }

    def returned(self, values: Values) -> float | int | Fraction:
        given = self.arguments(values)
        try:
            result = self.function(**given)
        except Exception as error:
            error.add_note(f"{self.name} was called with {_call(given)}")
            raise
        return _number(result, self.name, given)

    def look(self, values: Values) -> Violation | None:
        promised = self.promised = self.returned(values)
        if promised == math.inf:
            return None
        subject, fields = at(self.mechanism, values), self.fields(values, promised)
        found = violation(subject, self.claim, fields)
        if found is None or _degree(found) == _CLEAR:
            return found
        others = {name: value for name, value in fields.items() if name != found.main}
        most = least(subject, found.kind, others, found.main, self.claim.one_way)
        return replace(found, at_least=max(most, found.at_least))

    def is_empty(self, values: Values) -> bool:
        """Whether nothing above 0 is known from below, so that nothing was compared."""
        kind = type(self.claim).__name__
        (main, *_), promised = BOUNDED[kind], self.promised
        if promised == math.inf:
            return False
        fields = self.fields(values, promised)
        others = {name: value for name, value in fields.items() if name != main}
        subject = at(self.mechanism, values)
        return fields[main] > 0 and least(subject, kind, others, main, self.claim.one_way) == 0

    def fields(self, values: Values, promised: float | int | Fraction) -> dict[str, sp.Expr]:
        value = Fraction(promised)
        exactly = sp.Rational(value.numerator, value.denominator)
        relative, absolute = self.slacks
        numbers = {**values, self.unknown: exactly + abs(exactly) * relative + absolute}
        return {name: at(expr, numbers) for name, expr in fields_of(self.claim).items()}

    def failure(self, values: Values) -> PromisesTooMuch:
        given, promised = self.arguments(values), self.returned(values)
        found = self.look(values)
        assert found is not None
        subject = at(self.mechanism, values)
        claimed = ", ".join(_shown(value) for value in found.fields.values())
        lines = [
            f"{self.name} promises more privacy than is true.",
            f"  at the smallest parameters found: {values_text(values)}",
            f"  {self.name}({_call(given)}) returns {promised!r}, so that",
            f"  {subject!r} has {found.kind}({claimed})",
            f"  certain: {found.text()}",
        ]
        wanted = self.wanted()
        if wanted is not None and wanted != found.main:
            others = {name: value for name, value in found.fields.items() if name != wanted}
            best = least(subject, found.kind, others, wanted, self.claim.one_way)
            lines.append(f"  certain: {wanted} would have to be at least {decimal(best)}")
        if found.at_least != math.inf:
            lines += _rounding(found)
        return PromisesTooMuch(
            "\n".join(lines), values, _script(self, values, given, promised, found)
        )

    def wanted(self) -> str | None:
        """The parameter of the claim that the function returns, if it is one by itself."""
        found = [name for name, expr in fields_of(self.claim).items() if expr == self.unknown]
        return (
            found[0] if len(found) == 1 and found[0] in BOUNDED[type(self.claim).__name__] else None
        )


def _allowance(argument: str, value: object) -> sp.Rational:
    allowed = exact(value, argument)
    if not isinstance(allowed, sp.Rational) or allowed < 0:
        raise InputError(argument, "a number >= 0", value)
    return allowed


def _degree(found: Violation) -> int:
    if found.at_least == math.inf:
        return _CLEAR
    gap = Fraction(found.at_least) - from_above(found.claimed)
    if _allowance_for(found):
        return _ROUNDED
    return _CLEAR if gap >= _SHARE * Fraction(found.at_least) else _SMALL


def _allowance_for(found: Violation) -> str:
    """What allows for the gap, if it is as small as rounding errors are."""
    claimed = from_above(found.claimed)
    gap = Fraction(found.at_least) - claimed
    if gap <= _ROUNDING * abs(claimed):
        return "slack=1e-9"
    return "absolute=1e-9" if gap <= _ROUNDING else ""


def _rounding(found: Violation) -> list[str]:
    """A hint, if the gap is as small as rounding errors are."""
    allowed = _allowance_for(found)
    if not allowed:
        return []
    return [f"  so little may be a rounding error of floats: {allowed} allows for it"]


def _number(result: Any, name: str, given: Mapping[str, object]) -> float | int | Fraction:
    """What the function returned, exactly."""
    if isinstance(result, sp.Basic) and isinstance(result, sp.Rational):
        return Fraction(int(result.p), int(result.q))
    value: Any = float(result) if isinstance(result, float) else result
    if isinstance(result, bool) or not isinstance(result, (int, float, Fraction)):
        try:
            value = float(result) if not isinstance(result, (bool, str)) else math.nan
        except (TypeError, ValueError):
            value = math.nan
    if value != value or value == -math.inf:
        raise InputError(
            "function", "a number", result, got=f"{result!r} from {name}({_call(given)})"
        )
    return value  # type: ignore[no-any-return]


def _call(given: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in given.items())


def _shown(value: sp.Expr) -> str:
    """Short; a float's exact value is long, and its digits say as much."""
    text = str(value)
    if len(text) <= 12 or not value.is_Rational:
        return text
    return repr(float(value))


def _script(
    test: _Test,
    values: Values,
    given: Mapping[str, object],
    promised: float | int | Fraction,
    found: Violation,
) -> str:
    code = Code()
    call, source, wanted = f"{test.name}({_call(given)})", source_of(test.function), test.wanted()
    allowed = "Rational(promised)"
    relative, absolute = test.slacks
    if relative:
        allowed += f" + abs(Rational(promised)) * {code.of(relative)}"
    if absolute:
        allowed += f" + {code.of(absolute)}"
    main = found.main if promised >= 0 or wanted is None else wanted
    subject = code.of(at(test.mechanism, values))
    arguments = [
        main if name == main else allowed if name == wanted else code.of(value)
        for name, value in found.fields.items()
    ]
    if test.claim.one_way:
        arguments.append("one_way=True")
    claimed = allowed if main == wanted else code.of(found.claimed)
    code.symbol(main)
    code.of(sp.S.Half)
    code.needs("from dpsym.testing import lower_bound")
    lines = [f'"""{test.name} promises more privacy than is true."""', ""]
    imports, copied = source or ([], "")
    for line in imports:
        code.needs(line)
    lines += [code.head(), ""]
    if copied:
        lines += ["", copied, "", ""]
    if source is not None:
        lines.append(f"promised = {call}")
    else:
        number = repr(promised)
        if isinstance(promised, Fraction):
            number = f"Rational({promised.numerator}, {promised.denominator})"
        lines.append(f"promised = {number}  # what {call} returned")
    lines += [
        f"mechanism = {subject}",
        f"claimed = {claimed}",
        f"claim = dp.{found.kind}({', '.join(arguments)})",
        f"least = lower_bound(mechanism, claim, solve_for={main})",
        f'print(f"{call} returned {{promised}}")',
        f'print(f"{main}: claimed {{float(claimed)}}, certainly at least {{float(least)}}")',
        f'assert least <= claimed, "{test.name} promises more privacy than is true"',
        "",
    ]
    return "\n".join(lines)
