"""Text to expressions, relations and subjects: the one reader, a whitelist over Python's ``ast``.

Nothing is evaluated and nothing is simplified: ``x/x`` stays ``x/x``, so that where it is not
defined stays part of the claim. Only arithmetic of numbers is carried out, exactly; ``0.1`` is
1/10. Names are real symbols. The language:

* numbers, names, ``+ - * / **``, ``pi``;
* ``exp log sqrt Abs Max Min erf erfc Phi atan sign sinh cosh tanh coth``, and ``Ite(c >= 0, a,
  b)``,
  which is a where the relation holds, else b;
* in relations ``< <= > >= == !=``, chains of them, and ``and``;
* in subjects the privacy notions, ``both``, ``compose``, ``postprocess``, and every mechanism and
  noise of ``dpsym.mechanisms``, with the name of a neighbouring relation in quotes; ``oo`` as an
  order; ``L`` as the loss in the first argument of ``MomentBound``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, MutableMapping
from fractions import Fraction

import sympy as sp

from dpsym import combinators, guarantees, mechanisms
from dpsym.combinators import Subject
from dpsym.errors import InputError, TooLargeError
from dpsym.losses import PrivacyLoss
from dpsym.translate import exact, nodes_of

__all__ = ["read_expression", "read_relation", "read_subject"]

MAX_LENGTH = 20_000
MAX_NESTING = 60
MAX_NODES = 10_000
MAX_BITS = 10_000

Symbols = MutableMapping[str, sp.Symbol]


def read_expression(text: str, symbols: Symbols | None = None) -> sp.Expr:
    """The expression that a text stands for. Names not in ``symbols`` are added as real symbols.

    Raises: InputError for what is not in the language, TooLargeError.

    >>> read_expression("0.1*x + Max(x, 1)")
    x/10 + Max(1, x)
    """
    reader = _Reader(text, symbols)
    expr = exact(reader.expression(reader.body, 0), "text")
    nodes_of(expr, "text")
    return expr


def read_relation(text: str, symbols: Symbols | None = None) -> sp.Basic:
    """The relation, or conjunction of relations, that a text stands for.

    Raises: InputError for what is no relation in the language, TooLargeError.

    >>> read_relation("0 < x <= 1")
    (x <= 1) & (0 < x)
    """
    reader = _Reader(text, symbols)
    relation = reader.relation(reader.body, 0)
    nodes_of(relation, "text")
    return relation


def read_subject(text: str, symbols: Symbols | None = None) -> Subject:
    """The guarantee, mechanism or composition that a text stands for.

    Raises: InputError for what is not in the language or out of range, TooLargeError.

    >>> read_subject("compose(PureDP(a), ApproxDP(2*a, 1e-6))")
    compose(PureDP(a), ApproxDP(2*a, 1/1000000))
    """
    reader = _Reader(text, symbols)
    subject = reader.argument(reader.body, 0)
    if not isinstance(subject, combinators.SUBJECTS):
        raise InputError("text", f"one of {', '.join(sorted(_CONSTRUCTORS))}", text)
    return subject


def _sqrt(x: sp.Expr) -> sp.Expr:
    return sp.Pow(x, sp.S.Half, evaluate=False)


def _phi(x: sp.Expr) -> sp.Expr:
    """The standard normal distribution function."""
    return _mul(
        sp.S.Half,
        _plain(sp.erfc)(_mul(sp.S.NegativeOne, x, _power(_sqrt(sp.Integer(2)), sp.S.NegativeOne))),
    )


def _plain(function: Callable[..., sp.Expr]) -> Callable[..., sp.Expr]:
    """The function applied, with nothing evaluated."""

    def apply(*args: sp.Expr) -> sp.Expr:
        return function(*args, evaluate=False)

    return apply


_UNARY = (
    sp.exp,
    sp.Abs,
    sp.erf,
    sp.erfc,
    sp.sign,
    sp.sinh,
    sp.cosh,
    sp.tanh,
    sp.coth,
    sp.asinh,
    sp.atan,
)
_FUNCTIONS: dict[str, tuple[Callable[..., sp.Expr], int, int]] = {
    **{function.__name__: (_plain(function), 1, 1) for function in _UNARY},
    "log": (_plain(sp.log), 1, 2),
    "sqrt": (_sqrt, 1, 1),
    "Phi": (_phi, 1, 1),
    "Max": (_plain(sp.Max), 1, 1000),
    "Min": (_plain(sp.Min), 1, 1000),
}
_CONSTRUCTORS: dict[str, Callable[..., object]] = {
    **guarantees.NOTIONS,
    "both": guarantees.both,
    "compose": combinators.compose,
    "postprocess": combinators.postprocess,
    **mechanisms.MECHANISMS,
    **mechanisms.noise.NOISES,
}
_CONSTANTS = {"pi": sp.pi, "oo": sp.oo}
_NO_NAMES = frozenset({*_FUNCTIONS, *_CONSTRUCTORS, "Ite", "E", "I", "nan", "zoo"})
_RELATIONS: dict[type[ast.cmpop], Callable[..., sp.Basic]] = {
    ast.Lt: sp.Lt,
    ast.LtE: sp.Le,
    ast.Gt: sp.Gt,
    ast.GtE: sp.Ge,
    ast.Eq: sp.Eq,
    ast.NotEq: sp.Ne,
}


class _Reader:
    """One text and the symbols of its names."""

    def __init__(self, text: object, symbols: Symbols | None) -> None:
        if not isinstance(text, str):
            raise InputError("text", "a string", text)
        if len(text) > MAX_LENGTH:
            raise TooLargeError(f"text: more than {MAX_LENGTH} characters")
        self.text = text.strip()
        self.symbols: Symbols = {} if symbols is None else symbols
        self.loss: sp.Expr | None = None
        try:
            self.body = ast.parse(self.text, mode="eval").body
        except (SyntaxError, ValueError) as error:
            raise InputError("text", f"an expression ({error})", self.text) from None
        except (RecursionError, MemoryError):
            raise TooLargeError("text: nested too deep") from None
        if sum(1 for _ in ast.walk(self.body)) > MAX_NODES:
            raise TooLargeError(f"text: more than {MAX_NODES} parts")

    def refuse(self, node: ast.AST, expected: str) -> InputError:
        part = ast.get_source_segment(self.text, node)
        return InputError("text", expected, self.text, got=repr((part or self.text)[:200]))

    def descend(self, depth: int) -> int:
        if depth >= MAX_NESTING:
            raise TooLargeError(f"text: nested more than {MAX_NESTING} deep")
        return depth + 1

    # --- expressions ---

    def expression(self, node: ast.expr, depth: int) -> sp.Expr:
        depth = self.descend(depth)
        if isinstance(node, ast.Constant):
            return self.number(node)
        if isinstance(node, ast.Name):
            return self.name(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            operand = self.expression(node.operand, depth)
            return _mul(sp.S.NegativeOne, operand) if isinstance(node.op, ast.USub) else operand
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, (ast.Add, ast.Sub)):
                return _add(*self.chain(node, (ast.Add, ast.Sub), depth))
            if isinstance(node.op, (ast.Mult, ast.Div)):
                return _mul(*self.chain(node, (ast.Mult, ast.Div), depth))
            if isinstance(node.op, ast.Pow):
                base = self.expression(node.left, depth)
                return self.power(node, base, self.expression(node.right, depth))
        if isinstance(node, ast.Call):
            return self.call(node, depth)
        raise self.refuse(node, "an expression of the language")

    def chain(
        self, node: ast.BinOp, kinds: tuple[type[ast.operator], ...], depth: int
    ) -> list[sp.Expr]:
        """The summands or factors of a chain, which the syntax nests to the left."""
        inverse, found = kinds[1], []
        item: ast.expr = node
        while isinstance(item, ast.BinOp) and isinstance(item.op, kinds):
            operand = self.expression(item.right, depth)
            if isinstance(item.op, inverse):
                minus = sp.S.NegativeOne
                operand = (
                    _mul(minus, operand) if inverse is ast.Sub else self.power(item, operand, minus)
                )
            found.append(operand)
            item = item.left
        found.append(self.expression(item, depth))
        return found[::-1]

    def number(self, node: ast.Constant) -> sp.Expr:
        if type(node.value) not in (int, float):
            raise self.refuse(node, "a number")
        written = (ast.get_source_segment(self.text, node) or "").replace("_", "").lower()
        mantissa, _, exponent = written.partition("e")
        if len(mantissa) > 3000 or (exponent and abs(int(exponent)) > 3000):
            raise TooLargeError("text: a number too long")
        if type(node.value) is int:
            return sp.Integer(node.value)
        value = Fraction(written)
        return sp.Rational(value.numerator, value.denominator)

    def name(self, node: ast.Name) -> sp.Expr:
        name = node.id
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name == "L" and self.loss is not None:
            return self.loss
        if name in _NO_NAMES:
            hint = "exp(1) for Euler's number" if name == "E" else "a name that is not taken"
            raise self.refuse(node, hint)
        if name not in self.symbols:
            self.symbols[name] = sp.Symbol(name, real=True)
        return self.symbols[name]

    def power(self, node: ast.expr, base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        try:
            return _power(base, exponent)
        except ZeroDivisionError:
            raise self.refuse(node, "no division by zero") from None

    def call(self, node: ast.Call, depth: int) -> sp.Expr:
        name = self.called(node)
        if node.keywords or any(isinstance(arg, ast.Starred) for arg in node.args):
            raise self.refuse(node, "arguments without names")
        if name == "Ite" and len(node.args) == 3:
            condition = self.relation(node.args[0], depth)
            then, otherwise = (self.expression(arg, depth) for arg in node.args[1:])
            return sp.Piecewise((then, condition), (otherwise, True), evaluate=False)
        if name not in _FUNCTIONS:
            raise self.refuse(node, f"one of the functions Ite, {', '.join(sorted(_FUNCTIONS))}")
        function, least, most = _FUNCTIONS[name]
        if not least <= len(node.args) <= most:
            raise self.refuse(node, f"{name} with the right number of arguments")
        return function(*(self.expression(arg, depth) for arg in node.args))

    def called(self, node: ast.Call) -> str:
        if not isinstance(node.func, ast.Name):
            raise self.refuse(node, "a function by its name")
        return node.func.id

    # --- relations ---

    def relation(self, node: ast.expr, depth: int) -> sp.Basic:
        depth = self.descend(depth)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            return _and([self.relation(part, depth) for part in node.values])
        if not isinstance(node, ast.Compare):
            raise self.refuse(node, "a relation such as x >= 0")
        sides = [self.expression(side, depth) for side in (node.left, *node.comparators)]
        found = []
        for operator, left, right in zip(node.ops, sides, sides[1:], strict=False):
            if type(operator) not in _RELATIONS:
                raise self.refuse(node, "a relation with <, <=, >, >=, == or !=")
            found.append(_RELATIONS[type(operator)](left, right, evaluate=False))
        return _and(found)

    # --- subjects ---

    def argument(self, node: ast.expr, depth: int) -> object:
        """An argument of a constructor: a subject, a list, True or False, or an expression."""
        if isinstance(node, ast.Call) and self.called(node) in _CONSTRUCTORS:
            return self.construct(node, self.descend(depth))
        if isinstance(node, ast.List):
            depth = self.descend(depth)
            return [self.argument(item, depth) for item in node.elts]
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            return node.value
        if isinstance(node, ast.Constant) and node.value in mechanisms.RELATIONS:
            return node.value
        return self.expression(node, depth)

    def construct(self, node: ast.Call, depth: int) -> object:
        name = self.called(node)
        names = [keyword.arg for keyword in node.keywords]
        if None in names or any(isinstance(arg, ast.Starred) for arg in node.args):
            raise self.refuse(node, "plain arguments")
        args = []
        for position, item in enumerate(node.args):
            if name == "MomentBound" and position == 0:
                self.loss = PrivacyLoss("L")
            args.append(self.argument(item, depth))
            self.loss = None
        named = {str(word.arg): self.argument(word.value, depth) for word in node.keywords}
        try:
            return _CONSTRUCTORS[name](*args, **named)
        except TypeError as error:  # a missing, unknown or repeated argument
            raise self.refuse(node, f"the arguments of {name} ({error})") from None


# --- arithmetic that keeps what it is given, but for numbers -------------------------------------


def _add(*terms: sp.Expr) -> sp.Expr:
    if not all(term.is_Rational for term in terms):
        return sp.Add(*_flat(sp.Add, terms), evaluate=False)
    total = terms[0]
    for term in terms[1:]:
        total = _bounded(total + term)
    return total


def _mul(*factors: sp.Expr) -> sp.Expr:
    """The product, with its rational factors as one number in front."""
    coefficient, rest = sp.S.One, []
    for factor in _flat(sp.Mul, factors):
        if factor.is_Rational:
            coefficient = _bounded(coefficient * factor)
        else:
            rest.append(factor)
    if coefficient != 1 or not rest:
        rest.insert(0, coefficient)
    return rest[0] if len(rest) == 1 else sp.Mul(*rest, evaluate=False)


def _power(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    if not (base.is_Rational and exponent.is_Integer):
        return sp.Pow(base, exponent, evaluate=False)
    if base == 0 and exponent < 0:
        raise ZeroDivisionError
    if _bits(base) * abs(int(exponent)) > MAX_BITS:
        raise TooLargeError("text: a number too large")
    return base**exponent


def _flat(kind: type[sp.Expr], items: tuple[sp.Expr, ...]) -> list[sp.Expr]:
    return [arg for item in items for arg in (item.args if type(item) is kind else (item,))]


def _bits(number: sp.Rational) -> int:
    return max(int(number.p).bit_length(), int(number.q).bit_length())


def _bounded(number: sp.Rational) -> sp.Rational:
    if _bits(number) > MAX_BITS:
        raise TooLargeError("text: a number too large")
    return number


def _and(parts: list[sp.Basic]) -> sp.Basic:
    return parts[0] if len(parts) == 1 else sp.And(*parts)
