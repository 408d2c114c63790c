"""Logarithms of terms in floating point, also where the terms themselves are no floats."""

from __future__ import annotations

import numpy as np

from dpsym.kernel.terms import Term, subterms
from dpsym.search.leaf.numeric import Array, Values


def logarithm(values: Values, item: Term) -> Array:
    """The logarithm of a nonnegative term, also where the term itself is no float.

    >>> from dpsym.kernel import terms as tm
    >>> round(float(logarithm(Values({}, 1), tm.exp(tm.num(-5000)) / 2)[0]), 6)
    -5000.693147
    """
    with np.errstate(all="ignore"):
        return np.broadcast_to(np.asarray(_log(values, item), dtype=np.float64), (values.count,))


def _log(values: Values, item: Term) -> Array:
    op, args = item.op, item.args
    if op == "exp":
        return values(args[0])
    if op == "mul":
        factors = [_log(values, arg) for arg in args]
        return sum(factors[1:], factors[0])
    if op == "pow" and int(str(item.value)) % 2 == 0:
        size = np.asarray(_log(values, args[0]))
        size = np.where(np.isnan(size), np.log(np.abs(values(args[0]))), size)
        return float(str(item.value)) * size
    if op == "pow":
        return float(str(item.value)) * _log(values, args[0])
    if op == "sqrt":
        return _log(values, args[0]) / 2
    if op == "ite":
        chosen = values(args[0]) >= 0
        return np.where(chosen, _log(values, args[1]), _log(values, args[2]))
    if op == "max":
        return np.fmax(_log(values, args[0]), _log(values, args[1]))
    plain = np.log(values(item))
    if op == "add" and any("exp" in {part.op for part in subterms(arg)} for arg in args):
        parts = [_log(values, arg) for arg in args]
        if not any(np.isnan(part).any() for part in parts):
            return np.logaddexp.reduce([np.broadcast_to(part, (values.count,)) for part in parts])
    return plain
