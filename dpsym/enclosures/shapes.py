"""Shapes of densities that make the largest shift the worst one, read off their expressions.

For a translation family f(x), f(x - t), the hockey-stick divergence at every real eps, hence every
f-divergence (Sason, Verdu, "f-Divergence Inequalities", 2016, proposition 3), grows with |t| if

* log f is concave: then p/q is monotone, {p > e^eps q} is a half-line, and the gap of its
  probabilities grows as q moves away; or
* f is even and falls on both sides of 0: for eps >= 0 every x with f(x) > e^eps f(x - t) lies
  nearer to 0 than to t, and f(x - s) is smaller there for all s > t. For eps < 0 the two densities
  change places.

The same holds on the integers. "No" means that it was not seen.
"""

from __future__ import annotations

import sympy as sp

from dpsym.enclosures.failures import Undecided
from dpsym.enclosures.numbers import sign

__all__ = ["is_even", "is_log_concave", "is_translation", "largest_shift_is_worst"]

# What an expression in x is: affine, convex, concave, or None for none of them as far as seen.
_AFFINE, _CONVEX, _CONCAVE = "affine", "convex", "concave"
_FLIPPED = {_AFFINE: _AFFINE, _CONVEX: _CONCAVE, _CONCAVE: _CONVEX, None: None}


def largest_shift_is_worst(density: sp.Expr, x: sp.Symbol) -> bool:
    """Whether divergences between the density and its translates grow with the distance.

    >>> x = sp.Symbol("x", real=True)
    >>> largest_shift_is_worst((1 + x**2) ** -2, x), largest_shift_is_worst(x**2 * sp.exp(-x**2), x)
    (True, False)
    """
    try:
        return is_log_concave(density, x) or (is_even(density, x) and _falls(density, x) == -1)
    except Undecided:
        return False


def is_translation(p: sp.Expr, q: sp.Expr, x: sp.Symbol, shift: sp.Expr) -> bool:
    """Whether q(x) is p(x - shift)."""
    return p.xreplace({x: x - shift}) == q or q.xreplace({x: x + shift}) == p


def is_even(density: sp.Expr, x: sp.Symbol) -> bool:
    """Whether f(-x) = f(x), as far as SymPy's automatic rules show."""
    return density.xreplace({x: -x}) == density


def is_log_concave(density: sp.Expr, x: sp.Symbol) -> bool:
    """Whether log f is concave where f > 0, and f > 0 on an interval.

    >>> x = sp.Symbol("x", real=True)
    >>> is_log_concave(sp.exp(-x) / (1 + sp.exp(-x)) ** 2, x)
    True
    """
    try:
        return _log_shape(density, x) in (_AFFINE, _CONCAVE)
    except Undecided:
        return False


def _all(shapes: list[str | None]) -> str | None:
    """The shape of a sum."""
    kinds = set(shapes) - {_AFFINE}
    if not kinds:
        return _AFFINE
    return kinds.pop() if len(kinds) == 1 else None


def _log_shape(f: sp.Expr, x: sp.Symbol) -> str | None:
    """The shape of log f for f >= 0."""
    if not f.has(x):
        return _AFFINE if sign(f) > 0 else None
    if isinstance(f, sp.Mul):
        # two factors that are negative at once would make f positive on a second interval
        signed = [arg for arg in f.args if not _sure(arg, x)]
        return _all([_log_shape(arg, x) for arg in f.args]) if len(signed) <= 1 else None
    if isinstance(f, sp.exp):
        return _shape(f.args[0], x)
    if isinstance(f, sp.Pow):
        if f.base.has(x) and not f.exp.has(x):
            if f.exp.is_Integer and f.exp % 2 == 0 and not _sure(f.base, x):
                return None
            inner = _log_shape(f.base, x)
            return inner if sign(f.exp) > 0 else _FLIPPED[inner]
        if not f.base.has(x) and sign(f.base) > 0:  # c**u
            return _scaled(sp.log(f.base), _shape(f.exp, x))
        return None
    if isinstance(f, sp.Piecewise):
        return _piece_shape(f, x)
    if isinstance(f, sp.Add) and all(_log_shape(arg, x) in (_AFFINE, _CONVEX) for arg in f.args):
        return _CONVEX  # a sum of log-convex functions
    if isinstance(f, (sp.gamma, sp.factorial)):
        return _CONVEX if _shape(f.args[0], x) == _AFFINE else None
    if isinstance(f, sp.binomial) and not f.args[0].has(x):
        return _CONCAVE if _shape(f.args[1], x) == _AFFINE else None
    if isinstance(f, sp.besseli) and f.args == (sp.Abs(x), f.args[1]) and not f.args[1].has(x):
        # I_k(c) is log-concave in k: Thiruvenkatachar, Nanjundiah, 1951
        return _CONCAVE if sign(f.args[1]) > 0 else None
    if _shape(f, x) in (_AFFINE, _CONCAVE):
        return _CONCAVE
    return None


def _sure(f: sp.Expr, x: sp.Symbol) -> bool:
    """Whether f >= 0 at all real x."""
    if not f.has(x):
        return sign(f) >= 0
    if isinstance(f, (sp.exp, sp.Abs)):
        return True
    if isinstance(f, (sp.gamma, sp.factorial, sp.binomial, sp.besseli)):
        return True  # on the integers where the masses are given
    if isinstance(f, sp.Pow):
        if f.exp.is_Integer and f.exp % 2 == 0:
            return True
        return _sure(f.base, x)
    if isinstance(f, (sp.Add, sp.Mul)):
        return all(_sure(arg, x) for arg in f.args)
    if isinstance(f, sp.Piecewise):
        return all(_sure(branch, x) for branch, _ in f.args)
    return False


def _piece_shape(f: sp.Piecewise, x: sp.Symbol) -> str | None:
    """A log-concave density on an interval, 0 elsewhere."""
    if len(f.args) != 2 or f.args[1].args[0] != 0:
        return None
    inside, condition = f.args[0].args
    conditions = condition.args if isinstance(condition, sp.And) else (condition,)
    for part in conditions:
        if not isinstance(part, (sp.Le, sp.Lt, sp.Ge, sp.Gt)):
            return None
        gap = part.lhs - part.rhs
        if _shape(gap if isinstance(part, (sp.Le, sp.Lt)) else -gap, x) not in (_AFFINE, _CONVEX):
            return None
    return _CONCAVE if _log_shape(inside, x) in (_AFFINE, _CONCAVE) else None


def _scaled(factor: sp.Expr, shape: str | None) -> str | None:
    return shape if sign(factor) >= 0 else _FLIPPED[shape]


def _shape(u: sp.Expr, x: sp.Symbol) -> str | None:
    if not u.has(x) or u == x:
        return _AFFINE
    if isinstance(u, sp.Add):
        return _all([_shape(arg, x) for arg in u.args])
    if isinstance(u, sp.Mul):
        factor, rest = u.as_independent(x, as_Add=False)
        return None if factor == 1 else _scaled(factor, _shape(rest, x))
    if isinstance(u, sp.Pow) and not u.exp.has(x):
        inner = _shape(u.base, x)
        if u.exp.is_Integer and u.exp % 2 == 0 and u.exp > 0 and inner == _AFFINE:
            return _CONVEX
        if isinstance(u.base, sp.Abs) and inner == _CONVEX and sign(u.exp - 1) >= 0:
            return _CONVEX
        return None
    if isinstance(u, sp.Abs):
        return _CONVEX if _shape(u.args[0], x) == _AFFINE else None
    if isinstance(u, sp.exp):
        return _CONVEX if _shape(u.args[0], x) in (_AFFINE, _CONVEX) else None
    if isinstance(u, sp.log):
        return _log_shape(u.args[0], x)
    if isinstance(u, (sp.Max, sp.Min)):
        wanted = _CONVEX if isinstance(u, sp.Max) else _CONCAVE
        kinds = {_shape(arg, x) for arg in u.args}
        return wanted if kinds <= {_AFFINE, wanted} else None
    if isinstance(u, sp.loggamma):
        return _CONVEX if _shape(u.args[0], x) == _AFFINE else None
    return None


# --- falling on [0, oo) ---------------------------------------------------------------------------


def _falls(u: sp.Expr, x: sp.Symbol) -> int | None:
    """1 if u does not fall on [0, oo), -1 if it does not rise, 0 if constant, None if not seen."""
    if not u.has(x):
        return 0
    if u in (x, sp.Abs(x)):
        return 1
    if isinstance(u, sp.Add):
        return _same([_falls(arg, x) for arg in u.args])
    if isinstance(u, sp.Mul):
        factor, rest = u.as_independent(x, as_Add=False)
        if factor == 1:
            if all(_nonnegative(arg, x) for arg in u.args):
                return _same([_falls(arg, x) for arg in u.args])
            return None
        return _times(sign(factor), _falls(rest, x))
    if isinstance(u, sp.Pow) and not u.exp.has(x):
        return _times(sign(u.exp), _falls(u.base, x)) if _nonnegative(u.base, x) else None
    if isinstance(u, sp.exp):
        return _falls(u.args[0], x)
    if isinstance(u, sp.log):
        return _falls(u.args[0], x)
    if isinstance(u, sp.Piecewise) and len(u.args) == 2 and u.args[1].args[0] == 0:
        inside, condition = u.args[0].args
        near = isinstance(condition, (sp.Le, sp.Lt)) and not condition.rhs.has(x)
        if near and _falls(condition.lhs, x) == 1 and _falls(inside, x) in (0, -1):
            return -1 if _nonnegative(inside, x) else None
    return None


def _same(trends: list[int | None]) -> int | None:
    kinds = set(trends) - {0}
    return 0 if not kinds else kinds.pop() if len(kinds) == 1 else None


def _times(factor: int, trend: int | None) -> int | None:
    return None if trend is None else factor * trend


def _nonnegative(u: sp.Expr, x: sp.Symbol) -> bool:
    """Whether u >= 0 for x >= 0."""
    if not u.has(x):
        return sign(u) >= 0
    if u == x or isinstance(u, (sp.Abs, sp.exp)):
        return True
    if isinstance(u, (sp.Add, sp.Mul)):
        return all(_nonnegative(arg, x) for arg in u.args)
    if isinstance(u, sp.Pow):
        even = u.exp.is_Integer and u.exp % 2 == 0
        return even or _nonnegative(u.base, x)
    return False
