"""Exact real terms: sixteen operations over rationals and named variables.

A term is immutable and interned, so that equal terms are one object and terms form a shared DAG.
Infinity is never the value of a term. ``x ** a`` for a term ``a`` means ``exp(a * log(x))``, so it
needs ``x > 0``; only whole powers exist by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, Union

from flint import fmpq

from dpsym.kernel.refusal import TooLarge, require

# The number of arguments; -1 is any number, at least one. ite(c, a, b) is a where c >= 0, else b.
ARITY = {"num": 0, "var": 0, "pi": 0, "add": -1, "mul": -1, "pow": 1, "exp": 1, "log": 1}
ARITY |= {"sqrt": 1, "erfc": 1, "atan": 1, "lgamma": 1, "abs": 1, "max": 2, "min": 2, "ite": 3}
KINKED = frozenset({"abs", "max", "min", "ite"})
MAX_DEPTH, MAX_DIGITS, MAX_POWER = 150, 4000, 4000
_SIZE_CAP = 10**9
_READABLE = 160

Number = Union[int, fmpq]
Operand = Union["Term", int, fmpq]


class Term:
    """One node. ``args`` are sub-terms; ``value`` is a rational, a name or a whole exponent."""

    __slots__ = ("args", "depth", "key", "op", "value", "vars")

    args: tuple[Term, ...]
    depth: int
    key: tuple[int, str]  # the size, and a text; an order that is the same in every process
    op: str
    value: Any  # see _FITS
    vars: frozenset[str]

    _table: dict[tuple[object, ...], Term] = {}

    def __new__(cls, op: str, args: tuple[Term, ...] = (), value: object = None) -> Term:
        ident = (op, args, (int(value.p), int(value.q)) if isinstance(value, fmpq) else value)
        found = cls._table.get(ident)
        if found is None:
            found = cls._table[ident] = _made(object.__new__(cls), op, args, value)
        return found

    @property
    def size(self) -> int:
        """How many nodes there are, as a tree."""
        return self.key[0]

    @property
    def kinked(self) -> bool:
        """Whether there is abs, max, min or ite in it."""
        return any(part.op in KINKED for part in subterms(self))

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
        return mul(MINUS_ONE, self)

    def __sub__(self, other: Operand) -> Term:
        return add(self, mul(MINUS_ONE, other))

    def __rsub__(self, other: Operand) -> Term:
        return add(other, mul(MINUS_ONE, self))

    def __truediv__(self, other: Operand) -> Term:
        return mul(self, power(term(other), -1))

    def __rtruediv__(self, other: Operand) -> Term:
        return mul(other, power(self, -1))

    def __pow__(self, exponent: Operand) -> Term:
        return power(self, exponent) if isinstance(exponent, int) else real_power(self, exponent)

    def __repr__(self) -> str:
        return self.key[1]


_MAX_BITS = (10**MAX_DIGITS).bit_length() - 1
_FITS: dict[str, Callable[[Any], bool]] = {
    "num": lambda value: isinstance(value, fmpq) and value.height_bits() <= _MAX_BITS,
    "var": lambda value: isinstance(value, str) and 0 < len(value) <= 200 and value.isprintable(),
    "pow": lambda value: type(value) is int and abs(value) <= MAX_POWER,
}


def _made(node: Term, op: str, args: tuple[Term, ...], value: Any) -> Term:
    count = ARITY.get(op, -2)
    fits = len(args) == count or (count == -1 and len(args) > 0)
    fits = fits and (_FITS[op](value) if op in _FITS else value is None)
    fits = fits and set(map(type, args)) <= {Term}
    require(fits, "term", "an operation with as many terms, and a value, as it takes", op, value)
    size, depth, names = 1, 1, frozenset([value] if op == "var" else [])
    for arg in args:
        size, depth, names = size + arg.key[0], max(depth, 1 + arg.depth), names | arg.vars
    if depth > MAX_DEPTH:
        raise TooLarge("term", f"terms nest at most {MAX_DEPTH} deep")
    key = size if size < _SIZE_CAP else _SIZE_CAP, _text(op, args, value)
    put = object.__setattr__
    for name, item in zip(Term.__slots__, (args, depth, key, op, value, names), strict=True):
        put(node, name, item)
    return node


def _text(op: str, args: tuple[Term, ...], value: Any) -> str:
    """A reading, different for different terms; cut, with a digest, where it is long."""
    if op in ("num", "var"):
        return str(value) if op == "num" or value.isidentifier() else repr(value)
    parts = [arg.key[1] for arg in args] + ([] if value is None else [str(value)])
    shown = f"{op}({', '.join(parts)})"
    if len(shown) <= _READABLE:
        return shown
    return f"{shown[:_READABLE]}...{blake2b(shown.encode(), digest_size=20).hexdigest()}"


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
    exact = isinstance(value, (int, fmpq)) and not isinstance(value, bool)
    require(exact, "term", "a term, an int or a rational", value)
    return num(value)


def _flat(op: str, operands: tuple[Operand, ...]) -> list[Term]:
    out: list[Term] = []
    for item in map(term, operands):
        out += item.args if item.op == op else (item,)
    return out


def add(*operands: Operand) -> Term:
    """The sum; zero for no operands. Zeros are left out, nothing else is evaluated."""
    items = tuple(item for item in _flat("add", operands) if item is not ZERO)
    return ZERO if not items else items[0] if len(items) == 1 else Term("add", items)


def mul(*operands: Operand) -> Term:
    """The product; one for no operands. Rational factors are multiplied out, ones left out."""
    coefficient, rest = ONE.value, []
    for item in _flat("mul", operands):
        if item.op == "num":
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


def _unary(op: str) -> Callable[[Operand], Term]:
    return lambda arg: Term(op, (term(arg),))


exp, log, sqrt, erfc, atan = map(_unary, ("exp", "log", "sqrt", "erfc", "atan"))
lgamma, absolute = _unary("lgamma"), _unary("abs")  # lgamma: log of Gamma, of arguments > 0


def maximum(first: Operand, second: Operand) -> Term:
    return Term("max", (term(first), term(second)))


def minimum(first: Operand, second: Operand) -> Term:
    return Term("min", (term(first), term(second)))


def ite(condition: Operand, then: Operand, otherwise: Operand) -> Term:
    """``then`` where ``condition >= 0``, ``otherwise`` elsewhere."""
    return Term("ite", (term(condition), term(then), term(otherwise)))


def positive_part(arg: Operand) -> Term:
    return maximum(arg, 0)


def substitute(node: Term, mapping: Mapping[str, Term]) -> Term:
    """Replace variables, all at once."""
    names = frozenset(mapping)
    known = {var(name): mapping[name] for name in node.vars & names}
    return _rebuilt(node, known, lambda item: not (item.vars & names))


def replace(node: Term, old: Term, new: Term) -> Term:
    """Replace every occurrence of the sub-term ``old``."""
    return _rebuilt(node, {old: new}, lambda item: item.size < old.size)


def _rebuilt(node: Term, known: dict[Term, Term], kept: Callable[[Term], bool]) -> Term:
    """The term with the known sub-terms replaced, from the outside in."""

    def walk(item: Term) -> Term:
        if kept(item):
            return item
        done = known.get(item)
        if done is None:
            done = known[item] = Term(item.op, tuple(walk(arg) for arg in item.args), item.value)
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


# f'(u) by the term f(u) and u
_SLOPES: dict[str, Callable[[Term, Term], Term]] = {
    "pow": lambda item, arg: mul(item.value, power(arg, item.value - 1)),
    "exp": lambda item, arg: item,
    "log": lambda item, arg: power(arg, -1),
    "sqrt": lambda item, arg: mul(fmpq(1, 2), power(item, -1)),
    "erfc": lambda item, arg: mul(-2, power(sqrt(PI), -1), exp(mul(-1, power(arg, 2)))),
    "atan": lambda item, arg: power(add(1, power(arg, 2)), -1),
}


def derivative(node: Term, name: str) -> Term:
    """The derivative by the variable ``name``, where the term is defined and has no kinks."""
    require(type(name) is str, "derivative", "by the name of a variable", name)
    memo: dict[Term, Term] = {var(name): ONE}

    def walk(item: Term) -> Term:
        if name not in item.vars:
            return ZERO
        if item not in memo:
            memo[item] = by_parts(item.op, item.args, item)
        return memo[item]

    def by_parts(op: str, args: tuple[Term, ...], item: Term) -> Term:
        if op == "add":
            return add(*map(walk, args))
        if op == "mul":
            moving = [i for i, arg in enumerate(args) if name in arg.vars]
            return add(*(mul(*args[:i], walk(args[i]), *args[i + 1 :]) for i in moving))
        require(op in _SLOPES, "derivative", "a term without kinks and lgamma", op)
        return mul(_SLOPES[op](item, args[0]), walk(args[0]))

    return walk(node)


ZERO, ONE, MINUS_ONE = num(0), num(1), num(-1)
PI: Term = Term("pi")
