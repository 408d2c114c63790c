"""The symbols of one claim: their names and kinds for the kernel, and what is assumed of them.

Trusted, like ``translate``: a fact that is not the user's would prove too much.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy
from math import gcd, lcm

import sympy as sp

from dpsym.errors import InputError, shown
from dpsym.kernel import terms as k
from dpsym.kernel.statements import INTEGER, REAL, Fact
from dpsym.kernel.terms import Term
from dpsym.translate import exact, is_random, symbols_of, to_term

__all__ = ["Scope", "check_symbol", "interval_facts"]

_ORDER = (sp.Ge, sp.Gt, sp.Le, sp.Lt)
_WHERE = "a relation such as alpha > 1, Ne(alpha, 1), or {symbol: Interval(a, b)}"
_SIGNS = {  # from the strongest: what SymPy knows, and the fact c*x rel 0 that says it
    "extended_positive": (1, ">"),
    "extended_negative": (-1, ">"),
    "extended_nonnegative": (1, ">="),
    "extended_nonpositive": (-1, ">="),
}
_MAX_NAME = 200


class Scope:
    """Collects the symbols of a claim, and turns expressions and relations into kernel data.

    ``where`` is a list of relations, conjunctions of relations, ``{symbol: Interval}``
    dictionaries and ``(symbol, Interval)`` pairs; a single one of them may stand alone. Bounds of
    integers are put down as whole numbers: ``n > 1`` as ``n >= 2``.

    Attributes:
        facts: what is assumed, in a fixed order: assumptions of symbols and ``where``.
        dropped: pairs (symbol, assumption) that the kernel can not express. A proof may ignore
            them, since it then proves more; a witness may not.
        vacuous: SymPy found a condition of ``where`` to be false for all values.

    >>> x = sp.Symbol("x", positive=True)
    >>> n = sp.Symbol("n", integer=True)
    >>> scope = Scope([x < 2, {n: sp.Interval(1, sp.oo)}])
    >>> scope.variables
    (('x', 'real'), ('n', 'integer'))
    >>> scope.facts
    [x > 0, add(2, mul(-1, x)) > 0, add(n, -1) >= 0]
    >>> scope.term(x / n, "epsilon")
    mul(x, pow(n, -1))
    """

    def __init__(self, where: object = ()) -> None:
        self.facts: list[Fact] = []
        self.dropped: list[tuple[sp.Symbol, str]] = []
        self.vacuous = False
        self.symbols: dict[str, sp.Symbol] = {}
        self._kinds: dict[str, str] = {}
        self._terms: dict[sp.Symbol, Term] = {}
        self._bound: dict[sp.Symbol, Term] = {}
        conditions = list(_conditions(where))
        self._ordered = {
            symbol
            for condition in conditions
            if isinstance(condition, _ORDER)
            for symbol in symbols_of(condition, "where")
        }
        for condition in conditions:
            if condition is sp.false:
                self.vacuous = True
                self.facts.append(Fact(k.MINUS_ONE, ">="))
            elif condition.args[0] is condition.args[1]:  # says only that it is real
                self.declare(condition, "where")
            else:
                self.facts.extend(self.relation(condition, "where"))

    @property
    def variables(self) -> tuple[tuple[str, str], ...]:
        """The (name, "real" or "integer") of every symbol met so far."""
        return tuple(self._kinds.items())

    def declare(self, expr: sp.Basic, argument: str) -> None:
        """Take in the symbols of an expression, with what is assumed of them.

        Raises: InputError for a symbol without a domain, one that is not real, a name with "$",
        and two different symbols of one name.
        """
        for symbol in symbols_of(expr, argument):
            if symbol not in self._terms:
                self._add(symbol)

    def term(
        self, expr: sp.Expr, argument: str, bound: Mapping[sp.Symbol, Term] | None = None
    ) -> Term:
        """The kernel term of an expression; ``bound`` says what its bound symbols stand for."""
        bound = {**self._bound, **(bound or {})}
        for symbol in symbols_of(expr, argument):
            if symbol not in self._terms and symbol not in bound:
                self._add(symbol)
        return to_term(expr, argument, {**self._terms, **bound})

    def binding(self, bound: Mapping[sp.Symbol, Term]) -> Scope:
        """The same scope, where bound symbols stand for these terms."""
        inside = copy(self)
        inside._bound = {**self._bound, **bound}
        return inside

    def relation(
        self, relation: sp.Basic, argument: str, bound: Mapping[sp.Symbol, Term] | None = None
    ) -> tuple[Fact, ...]:
        """A relation as facts; an equation is two of them."""
        if not isinstance(relation, (*_ORDER, sp.Ne, sp.Eq)):
            raise InputError(argument, _WHERE, relation)
        sides = [exact(side, argument) for side in relation.args]
        left, right = (self.term(side, argument, bound) for side in sides)
        if isinstance(relation, sp.Eq):
            return Fact(left - right, ">="), Fact(right - left, ">=")
        if isinstance(relation, (sp.Le, sp.Lt)):
            left, right = right, left
            sides.reverse()
        strict = isinstance(relation, (sp.Gt, sp.Lt))
        if not isinstance(relation, sp.Ne):
            whole = self._whole(sides[0] - sides[1], strict, bound or {})
            if whole is not None:
                return (Fact(self.term(whole[0], argument, bound) + whole[1], ">="),)
        rel = "!=" if isinstance(relation, sp.Ne) else ">" if strict else ">="
        return (Fact(left - right, rel),)

    def _whole(
        self, gap: sp.Expr, strict: bool, bound: Collection[sp.Symbol]
    ) -> tuple[sp.Expr, int] | None:
        """m and c with m + c >= 0 for the same integers for which the gap is, or is > 0 if strict.

        If m = a_1 n_1 + ... + a_k n_k with coprime whole a_i, then m + c > 0 says that
        m + ceil(c) - 1 >= 0. None if the gap is not linear in integers alone, or says it already.
        """
        factors = dict(sp.expand(gap).as_coefficients_dict())
        c = factors.pop(sp.S.One, sp.S.Zero)
        integers = all(n in self._terms and n.is_integer and n not in bound for n in factors)
        if not factors or not integers:
            return None
        above, below = zip(*((int(a.p), int(a.q)) for a in factors.values()), strict=True)
        common = sp.Rational(gcd(*above), lcm(*below))
        if c.is_integer and common == 1 and not strict:
            return None
        least = sp.ceiling(c / common) - 1 if strict else sp.floor(c / common)
        return sp.Add(*(n * a / common for n, a in factors.items())), int(least)

    def assume(self, relations: Iterable[sp.Basic], argument: str) -> None:
        """Add relations to the facts that do not say less than one of them, but for true ones
        between numbers."""
        for relation in relations:
            if all(side.is_Rational for side in relation.args) and relation.doit() is sp.true:
                continue
            for fact in self.relation(relation, argument):
                stricter = Fact(fact.term, ">") if fact.rel == ">=" else fact
                if fact not in self.facts and stricter not in self.facts:
                    self.facts.append(fact)

    def fresh(self, name: str, also: Collection[str] = ()) -> str:
        """A variable name like this one that no symbol met so far has, nor is one of ``also``."""
        taken = {*self._kinds, *also}
        if name not in taken:
            return name
        return next(f"{name}_{i}" for i in range(1, len(taken) + 2) if f"{name}_{i}" not in taken)

    def _add(self, symbol: sp.Symbol) -> None:
        check_symbol(symbol)
        name = symbol.name
        other = self.symbols.get(name)
        if other is not None:
            raise InputError(
                name,
                "one symbol for one name (create it once, with its assumptions)",
                symbol,
                got=f"two different ones, {_declared(other)} and {_declared(symbol)}",
            )
        if not symbol.is_real and symbol not in self._ordered:
            raise InputError(
                name,
                f"a symbol with a domain: declare it, as in symbols({name!r}, nonnegative=True), "
                f"or add an order relation such as {name} >= 0 to where",
                symbol,
                got=_declared(symbol),
            )
        kind = INTEGER if symbol.is_integer else REAL
        term = k.var(name)
        expressed: dict[str, bool] = {"real": True}
        if kind == INTEGER:
            expressed["integer"] = True
        for assumption, (factor, rel) in _SIGNS.items():
            if getattr(symbol, f"is_{assumption}"):
                expressed[assumption] = True
                strict = rel == ">"
                if strict and kind == INTEGER:
                    self.facts.append(Fact(k.mul(factor, term) - 1, ">="))
                else:
                    self.facts.append(Fact(k.mul(factor, term), rel))
                if strict:
                    break
        else:
            if symbol.is_nonzero or symbol.is_extended_nonzero:
                expressed["nonzero"] = True
                self.facts.append(Fact(term, "!="))
        known = sp.Symbol(name, **expressed).assumptions0.items()
        beyond = sorted(symbol.assumptions0.items() - known)
        dropped = [assumption for assumption, value in beyond if value]
        dropped = dropped or [f"not {assumption}" for assumption, _ in beyond]
        self.dropped.extend((symbol, assumption) for assumption in dropped)
        self.symbols[name], self._kinds[name], self._terms[symbol] = symbol, kind, term


def check_symbol(symbol: sp.Symbol) -> None:
    """Refuse a symbol that can not be a real variable of the kernel."""
    name = symbol.name
    if not name or "$" in name or len(name) > _MAX_NAME or not name.isprintable():
        raise InputError(
            "symbol", f'a name of 1 to {_MAX_NAME} printable characters without "$"', name
        )
    if symbol.is_real is False or symbol.is_finite is False:
        raise InputError(name, "a real symbol", symbol, got=_declared(symbol))


def interval_facts(
    interval: sp.Set,
    variable: Term,
    scope: Scope,
    argument: str,
    bound: Mapping[sp.Symbol, Term] | None = None,
) -> tuple[Fact, ...]:
    """The facts that say that a variable lies in an interval of the real line; ``bound`` says
    what bound symbols in its ends stand for."""
    if interval is sp.S.Reals:
        return ()
    if not isinstance(interval, sp.Interval):
        raise InputError(argument, "an Interval or Reals", interval)
    facts = []
    if interval.start is not -sp.oo:
        start = scope.term(exact(interval.start, argument), argument, bound)
        facts.append(Fact(variable - start, ">" if interval.left_open else ">="))
    if interval.end is not sp.oo:
        end = scope.term(exact(interval.end, argument), argument, bound)
        facts.append(Fact(end - variable, ">" if interval.right_open else ">="))
    return tuple(facts)


def _declared(symbol: sp.Symbol) -> str:
    """How a symbol was created, as code."""
    made = getattr(symbol, "_assumptions_orig", {})
    given = "".join(f", {key}={value}" for key, value in sorted(made.items()))
    return f"{type(symbol).__name__}({symbol.name!r}{given})"


def _conditions(where: object) -> Iterator[sp.Basic]:
    """The single relations that ``where`` is made of."""
    if where is None or where is sp.true:
        return
    if isinstance(where, bool):
        raise InputError(
            "where",
            "a relation; in Python, != and == compare at once: use Ne(a, b) or Eq(a, b) for them",
            where,
        )
    if isinstance(where, Mapping):
        for symbol, interval in where.items():
            yield from _membership(symbol, interval)
    elif isinstance(where, tuple) and len(where) == 2 and isinstance(where[1], sp.Set):
        yield from _membership(*where)
    elif isinstance(where, (list, tuple, set, frozenset)):
        ordered = where if isinstance(where, (list, tuple)) else sorted(where, key=str)
        for item in ordered:
            yield from _conditions(item)
    elif isinstance(where, sp.And):
        for item in where.args:
            yield from _conditions(item)
    elif isinstance(where, sp.Contains):
        yield from _membership(*where.args)
    elif where is sp.false or isinstance(where, (*_ORDER, sp.Ne, sp.Eq)):
        yield where
    else:
        raise InputError("where", _WHERE, where)


def _membership(symbol: object, interval: object) -> Iterator[sp.Basic]:
    """``symbol in interval`` as relations that SymPy does not evaluate."""
    if not isinstance(symbol, sp.Symbol) or is_random(symbol):
        raise InputError("where", "a symbol before its Interval", symbol)
    if interval is sp.S.EmptySet:
        yield sp.false
        return
    if interval is sp.S.Reals:
        interval = sp.Interval(-sp.oo, sp.oo)
    if not isinstance(interval, sp.Interval):
        raise InputError("where", f"an Interval for {shown(symbol)}", interval)
    start, end = interval.start, interval.end
    if start is not -sp.oo:
        lower = sp.Gt if interval.left_open else sp.Ge
        yield lower(symbol, start, evaluate=False)
    if end is not sp.oo:
        upper = sp.Lt if interval.right_open else sp.Le
        yield upper(symbol, end, evaluate=False)
    if start is -sp.oo and end is sp.oo:  # always true, but it makes the symbol real
        yield sp.Ge(symbol, symbol, evaluate=False)
