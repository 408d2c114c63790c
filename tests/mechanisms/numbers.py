"""Numbers from declarations, by mpmath alone: sums, integrals and divergences of the parts."""

from __future__ import annotations

import mpmath as mp
import sympy as sp

from dpsym.scope import Scope

DIGITS = 30


def pairs(mechanism, *also):
    """The kernel's pairs."""
    scope = Scope()
    for name, expr in (*mechanism.parameters(), *(("claim", item) for item in also)):
        scope.declare(expr, name)
    return mechanism.to_kernel(scope).pairs


def function(expr, variable):
    """A SymPy expression in one variable as a function of mpmath numbers."""
    return sp.lambdify(variable, expr, "mpmath")


def number(expr):
    return mp.mpf(str(sp.N(expr, DIGITS)))


def integral(density, variable, *kinks, low=-mp.inf, high=mp.inf):
    """Over the line, or from low to high, split at the kinks."""
    cuts = [low, *sorted({mp.mpf(0), *map(number, kinks)}), high]
    return mp.quad(function(density, variable), cuts)


def total(masses, variable, low=-400, high=400):
    f = function(masses, variable)
    return mp.fsum(f(k) for k in range(low, high + 1))


def hockey_stick(family, epsilon, shift=None, last=400):
    """The divergence of a family's pair at one shift, from atoms and integers only."""
    odds = mp.exp(epsilon)
    at = {} if shift is None else {family.shift: sp.nsimplify(shift)}
    found = mp.mpf(0)
    for part in family.parts:
        p, q = part.p.xreplace(at), part.q.xreplace(at)
        if part.variable is None:
            found += number(part.weight) * max(number(p) - odds * number(q), 0)
            continue
        first, second = function(p, part.variable), function(q, part.variable)
        low = int(part.support.start) if part.support is not sp.S.Reals else -last
        found += mp.fsum(max(first(k) - odds * second(k), 0) for k in range(low, last))
    return found
