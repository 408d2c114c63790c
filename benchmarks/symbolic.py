"""The leaf cases for SymPy: what its assumptions, simplifications and calculus decide.

Conditions ``x > c`` with a number c become a shifted positive symbol, other conditions go to
``ask`` and ``refine``. With one variable, the minimum of the difference over its interval is asked
for too. SymPy's word is taken as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sympy as sp
from sympy.calculus.util import minimum

from dpsym.reader import Symbols
from tests.data import Case

_SIMPLER: tuple[Callable[[sp.Expr], sp.Expr], ...] = (
    lambda expr: expr,
    lambda expr: expr.doit(),
    sp.expand,
    sp.together,
    sp.factor,
    lambda expr: sp.logcombine(sp.expand(expr), force=True),
    lambda expr: sp.piecewise_fold(expr.rewrite(sp.Piecewise)),
    sp.simplify,
    lambda expr: sp.factor(sp.simplify(expr)),
)


def solve(case: Case, seconds: float) -> str:
    """ "true", "false" or "unknown"; the caller ends it when the time is over."""
    symbols: Symbols = {}
    lhs, rhs, where = case.read(symbols)
    for attempt in _attempts(rhs - lhs, where, symbols, case.strict):
        try:
            found = attempt()
        except Exception:  # of SymPy's own, of any kind
            continue
        if found is not None:
            return "true" if found else "false"
    return "unknown"


def _attempts(
    difference: sp.Expr, where: list[sp.Basic], symbols: Symbols, strict: bool
) -> Iterator[Callable[[], bool | None]]:
    renaming, rest, domains = _shifted(where, symbols)
    shifted = difference.subs(renaming)
    conditions = sp.And(*(item.subs(renaming) for item in rest))
    seen: list[sp.Expr] = [shifted]
    for simpler in _SIMPLER:
        yield lambda simpler=simpler: _by_assumptions(simpler, seen, strict)
    goal = sp.Gt if strict else sp.Ge
    predicate = sp.Q.positive if strict else sp.Q.nonnegative
    for expr in list(seen):
        yield lambda expr=expr: sp.ask(predicate(expr), _assumed(conditions))
        yield lambda expr=expr: _truth(sp.refine(goal(expr, 0), _assumed(conditions)))
    if len(symbols) == 1:
        ((name, symbol),) = symbols.items()
        yield lambda: _by_minimum(difference.doit(), symbol, domains[name], strict)
        yield lambda: _by_solving(goal(difference.doit(), 0), symbol, domains[name])


def _shifted(
    where: list[sp.Basic], symbols: Symbols
) -> tuple[dict[sp.Symbol, sp.Expr], list[sp.Basic], dict[str, sp.Set]]:
    """Symbols with assumptions, the conditions that they do not say, and the interval of each."""
    lowest: dict[sp.Symbol, tuple[sp.Expr, bool]] = {}
    domains: dict[str, sp.Set] = dict.fromkeys(symbols, sp.S.Reals)
    rest = []
    for relation in where:
        free = relation.free_symbols
        if len(free) == 1:
            (symbol,) = free
            domains[symbol.name] = domains[symbol.name].intersect(relation.as_set())
        left, right = relation.lhs, relation.rhs
        if left.is_Symbol and not right.free_symbols and relation.rel_op in (">", ">="):
            lowest.setdefault(left, (right, relation.rel_op == ">"))
        else:
            rest.append(relation)
    renaming = {
        symbol: bound + sp.Symbol(symbol.name, **{"positive" if strict else "nonnegative": True})
        for symbol, (bound, strict) in lowest.items()
    }
    return renaming, rest, domains


def _by_assumptions(
    simpler: Callable[[sp.Expr], sp.Expr], seen: list[sp.Expr], strict: bool
) -> bool | None:
    expr = simpler(seen[0])
    if expr not in seen:
        seen.append(expr)
    return expr.is_positive if strict else expr.is_nonnegative


def _assumed(conditions: sp.Basic) -> sp.Basic:
    """The conditions in the predicates that ``ask`` knows."""
    kinds = {">": sp.Q.positive, ">=": sp.Q.nonnegative, "<": sp.Q.negative, "<=": sp.Q.nonpositive}
    items = [item for item in sp.And.make_args(conditions) if item.is_Relational]
    return sp.And(*(kinds[item.rel_op](item.lhs - item.rhs) for item in items))


def _truth(found: sp.Basic) -> bool | None:
    return bool(found) if found in (sp.true, sp.false) else None


def _by_minimum(
    difference: sp.Expr, symbol: sp.Symbol, domain: sp.Set, strict: bool
) -> bool | None:
    least = minimum(difference, symbol, domain)  # perhaps not attained
    if strict:
        return True if least.is_positive else None
    return least.is_nonnegative


def _by_solving(goal: sp.Basic, symbol: sp.Symbol, domain: sp.Set) -> bool | None:
    solution = sp.solve_univariate_inequality(goal, symbol, relational=False, domain=domain)
    return domain.is_subset(solution)
