"""Kernel terms as text, in the notation of Python and SymPy.

What a reader of a verdict believes is this text, so it says exactly what the term says: sums,
products and powers are regrouped as signs, quotients and real powers, half of erfc(-x/sqrt(2)) is
written Phi(x), the distribution function of the standard normal law, and nothing else is changed.
"""

from __future__ import annotations

from collections import Counter

from flint import fmpq

from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import MINUS_ONE, ONE, ZERO, Term, add, exp, mul, num, power, sqrt

__all__ = [
    "ATOM",
    "POWER",
    "PRODUCT",
    "SUM",
    "TEXT",
    "Notation",
    "Written",
    "show",
    "show_fact",
    "sides",
]

SUM, PRODUCT, POWER, ATOM = range(4)
Written = tuple[str, int]  # a text, and how tightly its last operation binds

_NAMES = {"abs": "Abs", "max": "Max", "min": "Min", "ite": "Ite"}
_TURNED = {">=": "<=", ">": "<"}
_ROOT = sqrt(num(2))


class Notation:
    """How terms and facts are written. This one writes Python; ``dpsym.latex`` has another."""

    phi = "Phi("
    normal_law = "Phi(x) = erfc(-x/sqrt(2))/2"

    def show(self, node: Term) -> str:
        """The term within a sentence."""
        return self.written(node, SUM)

    def show_fact(self, fact: Fact) -> str:
        """The fact as a relation, with what is subtracted on the other side."""
        left, rel, right = sides(fact)
        return f"{self.show(left)} {rel} {self.show(right)}"

    def show_equal(self, left: Term, right: Term) -> str:
        """An equation within a sentence."""
        return f"{self.show(left)} = {self.show(right)}"

    def show_call(self, name: str, args: list[Term | None]) -> str:
        """A guarantee with its arguments, None for infinity, within a sentence."""
        return f"{name}({', '.join('+oo' if a is None else self.show(a) for a in args)})"

    def words(self, text: str) -> str:
        """Text that is not mathematics."""
        return text

    # -- terms

    def written(self, node: Term, least: int) -> str:
        """The term, in brackets unless it binds at least so tightly."""
        return self.bracketed(self.text(node), least)

    def bracketed(self, written: Written, least: int) -> str:
        text, level = written
        return text if level >= least else self.brackets(text)

    def text(self, node: Term) -> Written:
        op, args = node.op, node.args
        if op == "num":
            return self.number(fmpq(node.value))
        if op == "var":
            return self.name(str(node.value)), ATOM
        if op == "pi":
            return self.pi(), ATOM
        if op == "add":
            return self.sum([self.text(arg) for arg in args]), SUM
        if op == "mul" or (op == "pow" and _exponent(node) < 0):
            return self.product(args if op == "mul" else (node,))
        if op == "pow":
            return self.power(args[0], str(node.value)), POWER
        if op == "exp":
            parts = _factors(node)
            if len(parts) > 1:
                return self.product(parts)
            power_ = _real_power(args[0])
            if power_ is not None:
                return self.power(power_[0], self.exponent(power_[1])), POWER
        return self.call(op, args)

    def number(self, value: fmpq) -> Written:
        level = ATOM if value >= 0 and value.q == 1 else SUM if value < 0 else PRODUCT
        return str(value), level

    def sum(self, parts: list[Written]) -> str:
        out = ""
        for text, level in parts:
            if text.startswith("-") and level >= SUM:
                out += f" - {text[1:]}" if out else text
            else:
                out += f" + {text}" if out else text
        return out

    def product(self, args: tuple[Term, ...]) -> Written:
        """Signs, a fraction of whole numbers, and powers above and below the line."""
        value, rest = fmpq(1), args
        if args[0].op == "num":
            value, rest = fmpq(args[0].value), args[1:]
        above: list[Written] = []
        below: list[Written] = []
        factors = [part for item in rest for part in _factors(item)]
        for arg, count in Counter(factors).items():
            if count > 1:
                above.append((self.power(arg, str(count)), POWER))
                continue
            if arg.op == "pow" and arg.args[0] is ONE:
                continue
            if arg.op == "pow" and _exponent(arg) < 0:
                below.append(self.text(power(arg.args[0], -_exponent(arg))))
            elif arg.op == "erfc" and value.q % 2 == 0 and _normal(arg.args[0]) is not None:
                above.append(self.call("Phi", (_normal(arg.args[0]) or ZERO,)))
                value *= 2
            else:
                above.append(self.text(arg))
        sign, size = "-" if value < 0 else "", abs(value)
        above = [(str(size.p), ATOM)] * (size.p != 1) + above
        below = [(str(size.q), ATOM)] * (size.q != 1) + below
        if not sign and not below and len(above) == 1:
            return above[0]
        return sign + self.quotient(above, below), SUM if sign else PRODUCT

    # -- the pieces in which notations differ

    def name(self, name: str) -> str:
        return name

    def pi(self) -> str:
        return "pi"

    def brackets(self, text: str) -> str:
        return f"({text})"

    def exponent(self, node: Term) -> str:
        return self.written(node, ATOM)

    def power(self, base: Term, exponent: str) -> str:
        return f"{self.written(base, ATOM)}**{exponent}"

    def quotient(self, above: list[Written], below: list[Written]) -> str:
        text = "*".join(self.bracketed(part, POWER) for part in above) or "1"
        if not below:
            return text
        under = [self.bracketed(part, POWER) for part in below]
        return f"{text}/({'*'.join(under)})" if len(under) > 1 else f"{text}/{under[0]}"

    def call(self, op: str, args: tuple[Term, ...]) -> Written:
        return f"{_NAMES.get(op, op)}({', '.join(self.written(a, SUM) for a in args)})", ATOM


TEXT = Notation()


def show(node: Term) -> str:
    """The term as text.

    >>> from dpsym.kernel.terms import erfc, exp, log, num, var
    >>> a, b, x = var("a"), var("b"), var("x")
    >>> show(a / (2 * b) - 3), show((x - 1) ** 2 / x), show(exp(a * log(x) - b))
    ('a/(2*b) - 3', '(x - 1)**2/x', 'exp(-b)*x**a')
    >>> show(b * erfc(-x / sqrt(num(2))) * num(fmpq(1, 2)))
    'b*Phi(x)'
    """
    return TEXT.show(node)


def show_fact(fact: Fact) -> str:
    """The fact as a relation, with what is subtracted on the other side.

    >>> from dpsym.kernel.terms import var
    >>> show_fact(Fact(var("a") - 1, ">")), show_fact(Fact(1 - var("d"), ">="))
    ('a > 1', 'd <= 1')
    """
    return TEXT.show_fact(fact)


def sides(fact: Fact) -> tuple[Term, str, Term]:
    """Left side, relation and right side."""
    term = fact.term
    if term.op == "mul" and term.args[0] is MINUS_ONE and len(term.args) == 2:
        inner = term.args[1]
        parts = tuple(mul(-1, part) for part in inner.args) if inner.op == "add" else (term,)
    else:
        parts = term.args if term.op == "add" else (term,)
    left = [part for part in parts if not _negative(part)]
    right = [mul(-1, part) for part in parts if _negative(part)]
    rel, one, two = fact.rel, add(*left), add(*right)
    if (one.op == "num" and two.op != "num") or (one is ZERO and right):
        rel, one, two = _TURNED.get(rel, rel), two, one
    return one, rel, two


def _negative(part: Term) -> bool:
    first = part.args[0] if part.op == "mul" else part
    return first.op == "num" and fmpq(first.value) < 0


def _exponent(node: Term) -> int:
    return node.value if isinstance(node.value, int) else 0


def _real_power(exponent: Term) -> tuple[Term, Term] | None:
    """``x, a`` for the exponent a log(x) of a real power."""
    if exponent.op != "mul":
        return None
    logs = [arg for arg in exponent.args if arg.op == "log"]
    rest = [arg for arg in exponent.args if arg.op != "log"]
    power_ = mul(*rest)
    whole = power_.op == "num" and fmpq(power_.value).q == 1
    return None if len(logs) != 1 or whole else (logs[0].args[0], power_)


def _factors(node: Term) -> tuple[Term, ...]:
    """The exponential of a sum as real powers and one exponential; other terms as they are."""
    if node.op != "exp" or node.args[0].op != "add":
        return (node,)
    parts = node.args[0].args
    rest = [part for part in parts if _real_power(part) is None]
    powers = [part for part in parts if _real_power(part) is not None]
    return (*([exp(add(*rest))] if rest else []), *map(exp, powers)) if powers else (node,)


def _normal(argument: Term) -> Term | None:
    """x such that the argument is -x/sqrt(2), if it says so; then erfc of it is 2 Phi(x)."""
    parts = argument.args if argument.op == "add" else (argument,)
    found = []
    for part in parts:
        factors = list(part.args) if part.op == "mul" else [part]
        for root, factor in ((_ROOT, -2), (power(_ROOT, -1), -1)):
            if root in factors:
                factors.remove(root)
                found.append(mul(factor, *factors))
                break
        else:
            return None
    return add(*found)
