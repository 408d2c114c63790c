"""Exact real terms: fourteen operations over rationals and named variables.

A term is immutable and interned, so that equal terms are one object and terms form a shared DAG.
Infinity is never the value of a term. ``x ** a`` for a term ``a`` means ``exp(a * log(x))``, so it
needs ``x > 0``; only whole powers exist by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Union

from flint import fmpq

from dpsym.kernel.refusal import Refusal, TooLarge

ARITY = {
    "num": 0,
    "var": 0,
    "pi": 0,
    "add": -1,  # any number, at least one
    "mul": -1,
    "pow": 1,
    "exp": 1,
    "log": 1,
    "sqrt": 1,
    "erfc": 1,
    "abs": 1,
    "max": 2,
    "min": 2,
    "ite": 3,  # ite(c, a, b) is a where c >= 0, else b
}
KINKED = frozenset({"abs", "max", "min", "ite"})
MAX_DEPTH = 150
MAX_DIGITS = 4000
MAX_POWER = 4000
_SIZE_CAP = 10**9
_READABLE = 24

Number = Union[int, fmpq]
Operand = Union["Term", int, fmpq]


class Term:
    """One node. ``args`` are sub-terms; ``value`` is a rational, a name or a whole exponent."""

    __slots__ = ("args", "depth", "key", "kinked", "op", "size", "value", "vars")

    op: str
    args: tuple[Term, ...]
    value: fmpq | str | int | None
    vars: frozenset[str]
    kinked: bool  # contains abs, max, min or ite
    depth: int
    size: int
    key: tuple[int, str, str]  # a total order that is the same in every process

    _table: dict[tuple[object, ...], Term] = {}

    def __new__(cls, op: str, args: tuple[Term, ...] = (), value: object = None) -> Term:
        ident = (op, args, value) if op != "num" else (op, str(value))
        found = cls._table.get(ident)
        if found is None:
            found = object.__new__(cls)
            _fill(found, op, args, value)
            cls._table[ident] = found
        return found

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("terms are immutable")

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("terms are not pickled")

    def __add__(self, other: Operand) -> Term:
        return add(self, other)

    def __radd__(self, other: Operand) -> Term:
        return add(other, self)

    def __mul__(self, other: Operand) -> Term:
        return mul(self, other)

    def __rmul__(self, other: Operand) -> Term:
        return mul(other, self)

    def __neg__(self) -> Term:
        return mul(-1, self)

    def __sub__(self, other: Operand) -> Term:
        return add(self, mul(-1, other))

    def __rsub__(self, other: Operand) -> Term:
        return add(other, mul(-1, self))

    def __truediv__(self, other: Operand) -> Term:
        return mul(self, power(term(other), -1))

    def __rtruediv__(self, other: Operand) -> Term:
        return mul(other, power(self, -1))

    def __pow__(self, exponent: Operand) -> Term:
        return power(self, exponent) if isinstance(exponent, int) else real_power(self, exponent)

    def __repr__(self) -> str:
        return text(self)


def _fill(node: Term, op: str, args: tuple[Term, ...], value: object) -> None:
    arity = ARITY.get(op)
    if arity is None:
        raise Refusal("term", "the operation is one of the grammar's", op)
    if (len(args) != arity) if arity >= 0 else not args:
        raise Refusal("term", f"{op} has the right number of arguments", len(args))
    if not all(isinstance(arg, Term) for arg in args):
        raise Refusal("term", "arguments are terms", args)
    if not _value_ok(op, value):
        raise Refusal("term", f"the value fits {op}", str(value)[:60])
    depth = 1 + max((arg.depth for arg in args), default=0)
    if depth > MAX_DEPTH:
        raise TooLarge("term", f"terms nest at most {MAX_DEPTH} deep")
    size = min(_SIZE_CAP, 1 + sum(arg.size for arg in args))
    put = object.__setattr__
    put(node, "op", op)
    put(node, "args", args)
    put(node, "value", value)
    put(
        node,
        "vars",
        frozenset([value]) if op == "var" else frozenset().union(*(a.vars for a in args)),
    )
    put(node, "kinked", op in KINKED or any(arg.kinked for arg in args))
    put(node, "depth", depth)
    put(node, "size", size)
    parts = "\0".join((op, str(value), *(arg.key[2] for arg in args)))
    digest = blake2b(parts.encode(), digest_size=20).hexdigest()
    put(node, "key", (size, text(node) if size <= _READABLE else "", digest))


def _value_ok(op: str, value: object) -> bool:
    if op == "num":
        return isinstance(value, fmpq) and max(abs(value.p), value.q) < 10**MAX_DIGITS
    if op == "var":
        return isinstance(value, str) and 0 < len(value) <= 200 and value.isprintable()
    if op == "pow":
        return type(value) is int and abs(value) <= MAX_POWER
    return value is None


def num(value: Number) -> Term:
    """A rational constant."""
    return Term("num", (), fmpq(value))


def var(name: str) -> Term:
    """A real variable."""
    return Term("var", (), name)


def term(value: Operand) -> Term:
    """The term itself, or the constant that an int or rational stands for."""
    if isinstance(value, Term):
        return value
    if isinstance(value, (int, fmpq)) and not isinstance(value, bool):
        return num(value)
    raise Refusal("term", "a term, an int or a rational", value)


def _flat(op: str, operands: tuple[Operand, ...]) -> tuple[Term, ...]:
    out: list[Term] = []
    for operand in operands:
        item = term(operand)
        out.extend(item.args if item.op == op else (item,))
    return tuple(out)


def add(*operands: Operand) -> Term:
    """The sum; zero for no operands. Zeros are left out, nothing else is evaluated."""
    items = tuple(item for item in _flat("add", operands) if item is not ZERO)
    return ZERO if not items else items[0] if len(items) == 1 else Term("add", items)


def mul(*operands: Operand) -> Term:
    """The product; one for no operands. Rational factors are multiplied out, ones left out."""
    coefficient, rest = fmpq(1), []
    for item in _flat("mul", operands):
        if isinstance(item.value, fmpq):
            coefficient *= item.value
        else:
            rest.append(item)
    if coefficient != 1 or not rest:
        rest.insert(0, num(coefficient))
    return rest[0] if len(rest) == 1 else Term("mul", tuple(rest))


def power(base: Term, exponent: int) -> Term:
    """A whole power; the first power is the base itself."""
    return base if exponent == 1 else Term("pow", (base,), exponent)


def real_power(base: Term, exponent: Operand) -> Term:
    """``exp(exponent * log(base))``: defined where the base is positive."""
    return exp(mul(exponent, log(base)))


def exp(arg: Operand) -> Term:
    return Term("exp", (term(arg),))


def log(arg: Operand) -> Term:
    return Term("log", (term(arg),))


def sqrt(arg: Operand) -> Term:
    return Term("sqrt", (term(arg),))


def erfc(arg: Operand) -> Term:
    return Term("erfc", (term(arg),))


def absolute(arg: Operand) -> Term:
    return Term("abs", (term(arg),))


def maximum(first: Operand, second: Operand) -> Term:
    return Term("max", (term(first), term(second)))


def minimum(first: Operand, second: Operand) -> Term:
    return Term("min", (term(first), term(second)))


def ite(condition: Operand, then: Operand, otherwise: Operand) -> Term:
    """``then`` where ``condition >= 0``, ``otherwise`` elsewhere."""
    return Term("ite", (term(condition), term(then), term(otherwise)))


def positive_part(arg: Operand) -> Term:
    return maximum(arg, 0)


def normal_cdf(arg: Operand) -> Term:
    """The standard normal distribution function, ``erfc(-x / sqrt(2)) / 2``."""
    return mul(fmpq(1, 2), erfc(mul(-1, term(arg)) / sqrt(num(2))))


def substitute(node: Term, mapping: Mapping[str, Term]) -> Term:
    """Replace variables, all at once."""
    memo: dict[Term, Term] = {}
    names = frozenset(mapping)

    def walk(item: Term) -> Term:
        if not (item.vars & names):
            return item
        done = memo.get(item)
        if done is None:
            if item.op == "var":
                done = mapping[str(item.value)]
            else:
                done = Term(item.op, tuple(walk(arg) for arg in item.args), item.value)
            memo[item] = done
        return done

    return walk(node)


def replace(node: Term, old: Term, new: Term) -> Term:
    """Replace every occurrence of the sub-term ``old``."""
    memo: dict[Term, Term] = {old: new}

    def walk(item: Term) -> Term:
        done = memo.get(item)
        if done is None:
            done = item
            if item.args and item.size >= old.size:
                done = Term(item.op, tuple(walk(arg) for arg in item.args), item.value)
            memo[item] = done
        return done

    return walk(node)


def subterms(node: Term) -> Iterator[Term]:
    """Every distinct sub-term once, arguments before what contains them."""
    seen: set[Term] = set()

    def walk(item: Term) -> Iterator[Term]:
        if item not in seen:
            seen.add(item)
            for arg in item.args:
                yield from walk(arg)
            yield item

    return walk(node)


def derivative(node: Term, name: str) -> Term:
    """The derivative by the variable ``name``, where the term is defined and has no kinks."""
    if type(name) is not str:
        raise Refusal("derivative", "by the name of a variable", name)
    memo: dict[Term, Term] = {}

    def walk(item: Term) -> Term:
        if name not in item.vars:
            return ZERO
        done = memo.get(item)
        if done is None:
            done = memo[item] = by_parts(item)
        return done

    def by_parts(item: Term) -> Term:
        op, args = item.op, item.args
        if op == "var":
            return ONE
        if op == "add":
            return add(*(walk(arg) for arg in args))
        if op == "mul":
            return add(
                *(
                    mul(*args[:i], walk(arg), *args[i + 1 :])
                    for i, arg in enumerate(args)
                    if name in arg.vars
                )
            )
        inner = walk(args[0])
        if op == "pow" and isinstance(item.value, int):
            return mul(item.value, power(args[0], item.value - 1), inner)
        if op == "exp":
            return mul(item, inner)
        if op == "log":
            return mul(power(args[0], -1), inner)
        if op == "sqrt":
            return mul(fmpq(1, 2), power(item, -1), inner)
        if op == "erfc":
            return mul(-2, power(sqrt(PI), -1), exp(mul(-1, power(args[0], 2))), inner)
        raise Refusal("derivative", "the term has no abs, max, min or ite", op)

    return walk(node)


def text(node: Term) -> str:
    """A reading for people. Long terms are cut."""
    return _text(node, 0, 12)


def _text(node: Term, outer: int, room: int) -> str:
    op, args = node.op, node.args
    if op in ("num", "var"):
        shown = str(node.value)
        return f"({shown})" if op == "num" and outer and ("/" in shown or "-" in shown) else shown
    if op == "pi":
        return "pi"
    if not room:
        return "..."
    if op == "add":
        shown = " + ".join(_text(arg, 1, room - 1) for arg in args).replace(" + -", " - ")
        return f"({shown})" if outer else shown
    if op == "mul":
        if args[0] is MINUS_ONE:
            shown = "-" + "*".join(_text(arg, 2, room - 1) for arg in args[1:])
        else:
            shown = "*".join(_text(arg, 2, room - 1) for arg in args)
        return f"({shown})" if outer > 1 else shown
    if op == "pow":
        sign = f"{node.value}" if int(str(node.value)) > 0 else f"({node.value})"
        return f"{_text(args[0], 3, room - 1)}**{sign}"
    name = {"abs": "Abs", "max": "Max", "min": "Min", "ite": "Ite"}.get(op, op)
    return f"{name}({', '.join(_text(arg, 0, room - 1) for arg in args)})"


ZERO = num(0)
ONE = num(1)
MINUS_ONE = num(-1)
PI = Term("pi")
