"""Antiderivatives after a substitution z = exp(k x), and of rational functions."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp
from flint import fmpq

from dpsym.errors import DpsymError
from dpsym.kernel import canon as cn
from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Canon, Poly
from dpsym.kernel.terms import Term
from dpsym.search.integrals import fractions
from dpsym.search.integrals.summands import coefficients
from dpsym.translate import to_sympy, to_term

__all__ = ["Z", "by_exponential", "in_exponential", "rational"]

Z = "$z"  # no user's name has "$" in it
_MOST = 400  # size of what SymPy is asked to integrate


def in_exponential(canon: Canon, item: Term, x: Term) -> tuple[Term, Term] | None:
    """k and h with item = h(exp(k x)), h a term in ``$z`` that is free of x; None if it is not."""
    rates: dict[Term, None] = {}
    for part in tm.subterms(canon.normal(item)):
        if part.op == "exp" and x.value in part.vars:
            coefs = coefficients(canon, canon(part.args[0]), x)
            if coefs is not None and len(coefs) == 2:
                rates[coefs[1]] = None
    for rate in rates:
        found = _written(canon, canon(item), x, rate)
        if found is not None:
            return rate, found
    return None


def _written(canon: Canon, form: Poly, x: Term, rate: Term) -> Term | None:
    parts = []
    for (exponent, atoms), value in form.items():
        coefs = _exponent(canon, dict(exponent), x, rate)
        if coefs is None:
            return None
        factors = [tm.num(fmpq(value)), *coefs]
        for atom, count in atoms:
            inner = atom
            if x.value in atom.vars:
                if atom.op not in ("add", "exp", "log"):
                    return None
                args = [_written(canon, canon(arg), x, rate) for arg in atom.args]
                known = [arg for arg in args if arg is not None]
                if len(known) < len(args):
                    return None
                inner = tm.Term(atom.op, tuple(known), atom.value)
            factors.append(tm.power(inner, count))
        parts.append(tm.mul(*factors))
    out = tm.add(*parts)
    return None if x.value in out.vars else out


def _exponent(canon: Canon, exponent: Poly, x: Term, rate: Term) -> list[Term] | None:
    """Factors that make up exp(exponent), with powers of z for multiples of the rate."""
    moving = {m: v for m, v in exponent.items() if x.value in cn.mono_term(m).vars}
    fixed = {m: v for m, v in exponent.items() if m not in moving}
    linear: Poly = {}
    inner: Poly = {}
    for mono, value in moving.items():
        coefs = coefficients(canon, {mono: value}, x)
        (linear if coefs is not None and len(coefs) == 2 else inner)[mono] = value
    out = [tm.exp(cn.to_term(fixed))] if fixed else []
    if linear:
        coefs = coefficients(canon, linear, x)
        ratio = canon(coefs[1] / rate) if coefs is not None else {}
        count = ratio.get(cn.UNIT)
        if coefs is None or len(ratio) != 1 or count is None or fmpq(count).q != 1:
            return None
        out.append(tm.power(tm.var(Z), int(fmpq(count))))
    if inner:
        found = _written(canon, inner, x, rate)
        if found is None:
            return None
        out.append(tm.exp(found))
    return out


def by_exponential(
    canon: Canon, item: Term, x: Term, inner: Callable[[Canon, Term, Term], Term | None]
) -> Term | None:
    """An antiderivative by z = exp(k x), with ``inner`` for the integral over z."""
    found = in_exponential(canon, item, x)
    if found is None:
        return None
    rate, h = found
    z = tm.var(Z)
    known = canon.knowing(z, True)
    result = inner(known, known.normal(h / (rate * z)), z)
    return None if result is None else tm.substitute(result, {Z: tm.exp(rate * x)})


def rational(canon: Canon, item: Term, x: Term) -> Term | None:
    """An antiderivative of a rational function, by partial fractions or by SymPy."""
    from sympy.integrals.rationaltools import ratint

    found = fractions.integrated(canon, item, x)
    if found is not None:
        return found
    return _by_sympy(item, x, lambda expr, v: ratint(sp.together(expr), v, real=True))


def _by_sympy(
    item: Term, x: Term, function: Callable[[sp.Expr, sp.Symbol], sp.Expr]
) -> Term | None:
    """What the function makes of a rational function; constants of other kinds are symbols."""
    if item.size > _MOST:
        return None
    names = {name: sp.Dummy(f"v{i}", positive=True) for i, name in enumerate(sorted(item.vars))}
    variable = names[str(x.value)] = sp.Dummy("x", real=True)
    others: dict[Term, sp.Dummy] = {}

    def opaque(node: Term) -> Term:
        if x.value not in node.vars and node.op not in ("num", "var", "add", "mul", "pow"):
            others.setdefault(node, sp.Dummy(f"c{len(others)}", positive=True))
            return tm.var(f"$c{list(others).index(node)}")
        return tm.Term(node.op, tuple(map(opaque, node.args)), node.value)

    plain = opaque(item)
    names |= {f"$c{i}": symbol for i, symbol in enumerate(others.values())}
    expr = to_sympy(plain, names)
    if not expr.is_rational_function(variable):
        return None
    try:
        found = function(expr, variable)
        back = {symbol: tm.var(name) for name, symbol in names.items()}
        back |= {symbol: node for node, symbol in others.items()}
        return to_term(found, "antiderivative", back)
    except (DpsymError, NotImplementedError, ValueError, TypeError, AttributeError):
        return None
