"""Values of parameters: numbers that satisfy all that is assumed of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

import sympy as sp
from flint import fmpq
from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from dpsym.arguments import sign_of_constant
from dpsym.combinators import hypotheses, parts_of
from dpsym.guarantees import Both, Guarantee
from dpsym.kernel import terms as tm
from dpsym.kernel.statements import INTEGER, Fact
from dpsym.scope import Scope
from dpsym.search.bounds import bounds
from dpsym.testing.numbers import Range, of_range

__all__ = ["Domain", "parameters"]

_LARGEST_COUNT = 16
Values = Mapping[sp.Symbol, sp.Rational]


class Domain:
    """The symbols of a claim and what is assumed of them: their own assumptions, ``where``, and
    what a subject adds."""

    def __init__(self, where: object = (), subject: object = (), claims: Iterable[object] = ()):
        self.scope = Scope(where)
        parts = tuple(parts_of(subject, "subject")) if subject != () else ()
        for item in (*parts, *claims):
            if isinstance(item, (Guarantee, Both)) or item in parts:
                for name, expr in item.parameters():
                    self.scope.declare(expr, name)
        self.scope.assume(hypotheses(parts), "subject")

    def add(self, symbols: Iterable[sp.Symbol]) -> None:
        for symbol in symbols:
            self.scope.declare(symbol, symbol.name)

    @property
    def symbols(self) -> tuple[sp.Symbol, ...]:
        return tuple(self.scope.symbols.values())

    def without(self, symbol: sp.Symbol | None) -> tuple[sp.Symbol, ...]:
        return tuple(item for item in self.symbols if item != symbol)

    def facts(self, without: sp.Symbol | None = None) -> tuple[Fact, ...]:
        """Those that do not speak of the symbol."""
        name = None if without is None else without.name
        return tuple(fact for fact in self.scope.facts if name not in fact.term.vars)


def parameters(
    *symbols: sp.Symbol, where: object = (), floats: bool = False
) -> SearchStrategy[dict[sp.Symbol, sp.Rational]]:
    """Exact numbers for symbols: what their assumptions and ``where`` allow.

    Args:
        symbols: each with a domain, as ``check`` asks for it.
        where: conditions, as for ``check``: relations, and ``{symbol: Interval}``.
        floats: only numbers that a float is exactly.

    Raises: InputError for a symbol without a domain, and for a domain without numbers.

    >>> from hypothesis import find
    >>> epsilon, delta = sp.symbols("epsilon delta", positive=True)
    >>> find(parameters(epsilon, delta, where=[delta < epsilon, epsilon < 1]), lambda _: True)
    {epsilon: 1/2, delta: 1/3}
    """
    domain = Domain(where)
    domain.add(symbols)
    return drawn(domain, tuple(dict.fromkeys((*symbols, *domain.symbols))), floats)


def drawn(
    domain: Domain,
    symbols: tuple[sp.Symbol, ...],
    floats: bool = False,
    left_out: sp.Symbol | None = None,
) -> SearchStrategy[dict[sp.Symbol, sp.Rational]]:
    facts = domain.facts(left_out)
    for name, span in _ranges(facts).items():  # an empty domain is an error at once
        symbol = domain.scope.symbols.get(name)
        if symbol in symbols:
            of_range(span, floats, bool(symbol.is_integer))
    return _values(tuple(symbols), facts, dict(domain.scope.variables), floats)


@st.composite
def _values(
    draw: DrawFn,
    symbols: tuple[sp.Symbol, ...],
    facts: tuple[Fact, ...],
    kinds: Mapping[str, str],
    floats: bool,
) -> dict[sp.Symbol, sp.Rational]:
    """One symbol after the other, each in the range that the earlier ones leave."""
    values: dict[sp.Symbol, sp.Rational] = {}
    left = facts
    for symbol in symbols:
        span = _ranges(left).get(symbol.name, Range())
        whole = kinds[symbol.name] == INTEGER
        if whole and span.high is None:
            span = Range(span.low, (span.low or Fraction(0)) + _LARGEST_COUNT - 1)
        if not _nonempty(span, whole):
            reject()
        number = draw(of_range(span, floats, whole))
        exact = sp.Rational(number.numerator, number.denominator)
        if not _may_be(symbol, exact):
            reject()
        values[symbol] = exact
        put = {symbol.name: tm.num(fmpq(number.numerator, number.denominator))}
        left = tuple(
            Fact(tm.substitute(fact.term, put), fact.rel) if fact.term.vars else fact
            for fact in left
        )
        if not all(_may_hold(fact) for fact in left):
            reject()
        left = tuple(fact for fact in left if fact.term.vars)
    return values


def _nonempty(span: Range, whole: bool) -> bool:
    if whole:
        low, high = span.multiples(1)
        return low is None or high is None or low <= high
    if span.low is None or span.high is None:
        return True
    return span.low < span.high or (
        span.low == span.high and not (span.low_open or span.high_open)
    )


def _ranges(facts: tuple[Fact, ...]) -> dict[str, Range]:
    return {
        name: Range(_fraction(b.lower), _fraction(b.upper), b.lower_open, b.upper_open)
        for name, b in bounds(facts).items()
    }


def _fraction(value: fmpq | None) -> Fraction | None:
    return None if value is None else Fraction(int(value.p), int(value.q))


def _may_hold(fact: Fact) -> bool:
    """False for a fact between numbers that is not certainly true."""
    if fact.term.vars:
        return True
    sign = sign_of_constant(fact.term)
    return {">": sign == ">", ">=": sign in (">", "="), "!=": sign in (">", "<")}[fact.rel]


def _may_be(symbol: sp.Symbol, number: sp.Rational) -> bool:
    """What SymPy assumes of the symbol is true of the number, also what the kernel has no word for
    (even, prime)."""
    return all(
        getattr(number, f"is_{name}", None) in (value, None)
        for name, value in symbol.assumptions0.items()
    )
