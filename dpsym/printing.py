"""Kernel terms as text, in the notation of Python and SymPy.

What a reader of a verdict believes is this text, so it says exactly what the term says: sums,
products and powers are regrouped as signs, quotients and real powers, and nothing else is changed.
"""

from __future__ import annotations

from flint import fmpq

from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import ZERO, Term, add, mul

__all__ = ["show", "show_fact"]

_NAMES = {"abs": "Abs", "max": "Max", "min": "Min", "ite": "Ite"}
_SUM, _PRODUCT, _POWER, _ATOM = range(4)


def show(node: Term) -> str:
    """The term as text.

    >>> from dpsym.kernel.terms import exp, log, num, var
    >>> a, b, x = var("a"), var("b"), var("x")
    >>> show(a / (2 * b) - 3), show((x - 1) ** 2 / x), show(exp(a * log(x)))
    ('a/(2*b) - 3', '(x - 1)**2/x', 'x**a')
    """
    return _show(node, _SUM)


def show_fact(fact: Fact) -> str:
    """The fact as a relation, with what is subtracted on the other side.

    >>> from dpsym.kernel.terms import var
    >>> show_fact(Fact(var("a") - 1, ">")), show_fact(Fact(1 - var("d"), ">="))
    ('a > 1', 'd <= 1')
    """
    parts = fact.term.args if fact.term.op == "add" else (fact.term,)
    left = [part for part in parts if not _negative(part)]
    right = [mul(-1, part) for part in parts if _negative(part)]
    rel, one, two = fact.rel, add(*left), add(*right)
    if (one.op == "num" and two.op != "num") or (one is ZERO and right):
        rel, one, two = {">=": "<=", ">": "<"}.get(rel, rel), two, one
    return f"{show(one)} {rel} {show(two)}"


def _negative(part: Term) -> bool:
    first = part.args[0] if part.op == "mul" else part
    return first.op == "num" and fmpq(first.value) < 0


def _show(node: Term, least: int) -> str:
    text, level = _text(node)
    return text if level >= least else f"({text})"


def _text(node: Term) -> tuple[str, int]:
    """The text, and how tightly its last operation binds."""
    op, args = node.op, node.args
    if op == "num":
        return _number(node)
    if op == "var":
        return str(node.value), _ATOM
    if op == "pi":
        return "pi", _ATOM
    if op == "add":
        return _sum(args), _SUM
    if op == "mul" or (op == "pow" and _exponent(node) < 0):
        return _product(args if op == "mul" else (node,))
    if op == "pow":
        return f"{_show(args[0], _ATOM)}**{node.value}", _POWER
    power = _real_power(args[0]) if op == "exp" else None
    if power is not None:
        return f"{_show(power[0], _ATOM)}**{_show(power[1], _ATOM)}", _POWER
    inner = ", ".join(show(arg) for arg in args)
    return f"{_NAMES.get(op, op)}({inner})", _ATOM


def _number(node: Term) -> tuple[str, int]:
    value = fmpq(node.value)
    level = _ATOM if value >= 0 and value.q == 1 else _SUM if value < 0 else _PRODUCT
    return str(value), level


def _exponent(node: Term) -> int:
    return node.value if isinstance(node.value, int) else 0


def _sum(args: tuple[Term, ...]) -> str:
    out = ""
    for arg in args:
        text, level = _text(arg)
        if text.startswith("-") and level >= _SUM:
            out += f" - {text[1:]}" if out else text
        else:
            out += f" + {text}" if out else text
    return out


def _product(args: tuple[Term, ...]) -> tuple[str, int]:
    sign, above, below = "", [], []
    for i, arg in enumerate(args):
        if arg.op == "num" and i == 0:
            value = fmpq(arg.value)
            sign = "-" if value < 0 else ""
            size = abs(value)
            if size.p != 1:
                above.append(str(size.p))
            if size.q != 1:
                below.append(str(size.q))
        elif arg.op == "pow" and _exponent(arg) < 0:
            base, count = arg.args[0], -_exponent(arg)
            below.append(_show(base, _POWER) if count == 1 else f"{_show(base, _ATOM)}**{count}")
        else:
            above.append(_show(arg, _POWER))
    text = "*".join(above) or "1"
    if below:
        text += f"/({'*'.join(below)})" if len(below) > 1 else f"/{below[0]}"
    return sign + text, _SUM if sign else _PRODUCT


def _real_power(exponent: Term) -> tuple[Term, Term] | None:
    """``x, a`` for the exponent a log(x) of a real power."""
    if exponent.op != "mul" or len(exponent.args) != 2 or exponent.args[1].op != "log":
        return None
    return exponent.args[1].args[0], exponent.args[0]
