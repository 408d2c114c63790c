"""Values of parameters: numbers that satisfy all that is assumed of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from heapq import heappop, heappush

import sympy as sp
from flint import fmpq
from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from dpsym.arguments import sign_of_constant
from dpsym.combinators import hypotheses, parts_of
from dpsym.guarantees import Both, Guarantee
from dpsym.kernel import terms as tm
from dpsym.kernel.statements import Fact
from dpsym.scope import Scope
from dpsym.search.bounds import bounds
from dpsym.testing.numbers import Range, of_range
from dpsym.testing.searching import smallest

__all__ = ["Domain", "cost", "drawn", "parameters", "simplified", "smallest_failure"]

_LARGEST_COUNT = 16
_TRIES = 2000
_SIMPLE = tuple(
    sp.Rational(n, d) for n, d in [*((n, 1) for n in range(9)), *((1, 2**i) for i in range(1, 11))]
)
Values = Mapping[sp.Symbol, sp.Rational]


class Domain:
    """The symbols of a claim and what is assumed of them: their own assumptions, ``where``, and
    what a subject adds."""

    def __init__(
        self, where: object = (), subject: object = (), claims: Iterable[Guarantee | Both] = ()
    ):
        self.scope = Scope(where)
        parts = tuple(parts_of(subject, "subject")) if subject != () else ()
        for item in (*parts, *claims):
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

    def allows(self, values: Values, without: sp.Symbol | None = None) -> bool:
        """Whether these numbers for all symbols, but perhaps one, satisfy all that is assumed."""
        numbers = {
            symbol.name: tm.num(fmpq(int(value.p), int(value.q)))
            for symbol, value in values.items()
        }
        return all(_may_be(symbol, value) for symbol, value in values.items()) and all(
            _holds(Fact(tm.substitute(fact.term, numbers), fact.rel))
            for fact in self.facts(without)
        )

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

    >>> from dpsym.testing import simplest
    >>> epsilon, delta = sp.symbols("epsilon delta", positive=True)
    >>> simplest(parameters(epsilon, delta, where=[delta < epsilon, epsilon < 1]))
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
    linked = tuple(fact for fact in facts if len(fact.term.vars) > 1)
    ranges = _ranges(facts)
    plan = []
    for symbol in dict.fromkeys(symbols):
        own, whole = ranges.get(symbol.name, Range()), bool(symbol.is_integer)
        numbers = _numbers(own, whole, floats)  # an empty domain is an error at once
        free = not any(symbol.name in fact.term.vars for fact in linked)
        plan.append((symbol, own, numbers if free else None))
    return _values(tuple(plan), domain, linked, floats, left_out)


@lru_cache(maxsize=1024)
def _numbers(span: Range, whole: bool, floats: bool) -> SearchStrategy[Fraction]:
    if whole and span.high is None:
        span = Range(span.low, (span.low or Fraction(0)) + _LARGEST_COUNT - 1)
    return of_range(span, floats, whole)


Plan = tuple[tuple[sp.Symbol, Range, "SearchStrategy[Fraction] | None"], ...]


@st.composite
def _values(
    draw: DrawFn,
    plan: Plan,
    domain: Domain,
    linked: tuple[Fact, ...],
    floats: bool,
    left_out: sp.Symbol | None,
) -> dict[sp.Symbol, sp.Rational]:
    """One symbol after the other, each in the range that the earlier ones leave."""
    values: dict[sp.Symbol, sp.Rational] = {}
    numbers: dict[str, tm.Term] = {}
    for symbol, own, known in plan:
        if known is None:
            left = tuple(Fact(tm.substitute(fact.term, numbers), fact.rel) for fact in linked)
            span = _within(own, _ranges(left).get(symbol.name, Range()))
            if not _nonempty(span, bool(symbol.is_integer)):
                reject()
            known = _numbers(span, bool(symbol.is_integer), floats)
        number = draw(known)
        values[symbol] = sp.Rational(number.numerator, number.denominator)
        numbers[symbol.name] = tm.num(fmpq(number.numerator, number.denominator))
    if not domain.allows(values, left_out):
        reject()
    return values


def smallest_failure(
    domain: Domain,
    symbols: tuple[sp.Symbol, ...],
    fails: Callable[[dict[sp.Symbol, sp.Rational]], bool],
    examples: int,
    floats: bool = False,
    left_out: sp.Symbol | None = None,
) -> dict[sp.Symbol, sp.Rational] | None:
    """The smallest of so many drawn parameters that fail; None if none does."""
    if not symbols:
        return {} if fails({}) else None
    found = smallest(drawn(domain, symbols, floats, left_out), fails, examples)
    return None if found is None else simplified(found, domain, fails, left_out)


def simplified(
    values: dict[sp.Symbol, sp.Rational],
    domain: Domain,
    fails: Callable[[dict[sp.Symbol, sp.Rational]], bool],
    left_out: sp.Symbol | None,
) -> dict[sp.Symbol, sp.Rational]:
    """The first of all simple parameters that fail, in the order of how simple they are together;
    what is given, if these are no simpler. So it does not depend on what was drawn."""
    choices = [
        sorted((cost(x), -x, x) for x in _SIMPLE if x.is_Integer or not symbol.is_integer)
        for symbol in values
    ]
    most = sum(map(cost, values.values()))
    start = (0,) * len(choices)
    queue, seen = [(0, start)], {start}
    for _ in range(_TRIES):
        total, places = heappop(queue)
        if total > most:
            break
        chosen = [options[place][2] for options, place in zip(choices, places, strict=True)]
        other = dict(zip(values, chosen, strict=True))
        if domain.allows(other, left_out) and fails(other):
            return other
        for i, place in enumerate(places):
            after = (*places[:i], place + 1, *places[i + 1 :])
            if place + 1 < len(choices[i]) and after not in seen:
                seen.add(after)
                price = total + choices[i][place + 1][0] - choices[i][place][0]
                heappush(queue, (price, after))
        if not queue:
            break
    return values


def cost(value: sp.Rational) -> int:
    """How far a number is from 1, for a reader: whole steps up, halvings down.

    >>> [cost(sp.Rational(x)) for x in (1, 2, 4, "1/2", "1/64", "3/4", 0)]
    [0, 1, 3, 1, 6, 4, 2]
    """
    if value == 0:
        return 2
    return abs(int(value.p)) - 1 + int(value.q).bit_length() - 1


def _within(one: Range, other: Range) -> Range:
    """What is in both."""
    low, low_open = one.low, one.low_open
    if other.low is not None and (low is None or (other.low, other.low_open) > (low, low_open)):
        low, low_open = other.low, other.low_open
    high, high_open = one.high, one.high_open
    if other.high is not None and (
        high is None or (-other.high, other.high_open) > (-high, high_open)
    ):
        high, high_open = other.high, other.high_open
    return Range(low, high, low_open, high_open)


def _nonempty(span: Range, whole: bool) -> bool:
    if whole:
        low, high = span.multiples(1)
        return low is None or high is None or low <= high
    if span.low is None or span.high is None:
        return True
    return span.low < span.high or (span.low == span.high and not (span.low_open or span.high_open))


def _ranges(facts: tuple[Fact, ...]) -> dict[str, Range]:
    return {
        name: Range(_fraction(b.lower), _fraction(b.upper), b.lower_open, b.upper_open)
        for name, b in bounds(facts).items()
    }


def _fraction(value: fmpq | None) -> Fraction | None:
    return None if value is None else Fraction(int(value.p), int(value.q))


def _holds(fact: Fact) -> bool:
    """Whether a fact between numbers is certainly true; one about other symbols is left alone."""
    if fact.term.vars:
        return True
    sign = sign_of_constant(fact.term)
    return {">": sign == ">", ">=": sign in (">", "="), "!=": sign in (">", "<")}[fact.rel]


@lru_cache(maxsize=4096)
def _may_be(symbol: sp.Symbol, number: sp.Rational) -> bool:
    """What SymPy assumes of the symbol is true of the number, also what the kernel has no word for
    (even, prime)."""
    return all(
        getattr(number, f"is_{name}", None) in (value, None)
        for name, value in symbol.assumptions0.items()
    )
