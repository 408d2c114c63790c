"""SymPy expressions to kernel terms, and back. Trusted: what is proved is what this says.

The translation is node by node and exact: nothing is simplified, nothing is evaluated, and what
has no exact counterpart in the kernel's grammar is refused. SymPy has, however, evaluated an
expression before it gets here (``x/x`` is 1), so every verdict prints the goal back from terms.

Meaning of powers: a whole exponent is a power; half of an odd number is powers of ``sqrt(x)``,
which needs ``x >= 0``; any other exponent ``a`` is ``exp(a*log(x))``, which needs ``x > 0``. That
is narrower than SymPy's complex powers, and equal to them wherever it is defined.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable, Mapping
from fractions import Fraction

import sympy as sp
from flint import fmpq, fmpz
from mpmath.libmp import from_float
from sympy.core.function import UndefinedFunction
from sympy.functions.elementary.piecewise import ExprCondPair
from sympy.logic.boolalg import BooleanFalse, BooleanTrue

from dpsym.errors import InputError, TooLargeError, UnsupportedError
from dpsym.kernel import terms as k
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.terms import Term

__all__ = ["SUPPORTED", "exact", "is_random", "nodes_of", "symbols_of", "to_sympy", "to_term"]

MAX_NODES = 20_000
MAX_DEPTH = 150
MAX_BITS = 13_000  # a little less than the kernel's limit on digits
SUPPORTED = (
    "exact numbers, symbols, +, -, *, /, **, exp, log, sqrt, erf, erfc, atan, gamma, loggamma, "
    "factorial, binomial, Abs, sign, Max, Min, Piecewise, sinh, cosh, tanh, coth, asinh, pi, E"
)
_REAL = "a real number or an expression in real symbols"
_PRECISION = 53
_INFINITE = (sp.nan, sp.oo, -sp.oo, sp.zoo, sp.I)


# --- reading what a user hands over -------------------------------------------------------------


def exact(value: object, argument: str) -> sp.Expr:
    """The exact SymPy expression that ``value`` stands for.

    A Python float, or a SymPy Float of the same precision, is read as the shortest decimal that
    prints it. Expressions too large to walk through are handed on as they are; ``to_term``
    refuses them.

    Raises: InputError for text, booleans, infinities, NaN, complex numbers, and floats of another
    precision.

    >>> exact(0.1, "delta")
    1/10
    >>> exact("x", "delta")
    Traceback (most recent call last):
    dpsym.errors.InputError: delta: expected a real number or an expression in real symbols, got 'x'
    """
    if isinstance(value, (bool, str, bytes)):
        raise InputError(argument, _REAL, value)
    if isinstance(value, (numbers.Integral, fmpz)):
        return sp.Integer(int(value))
    if isinstance(value, float):
        return _rational(_float_as_fraction(float(value), argument))
    if isinstance(value, Fraction):
        return _rational(value)
    if isinstance(value, fmpq):
        return sp.Rational(int(value.p), int(value.q))
    if not isinstance(value, sp.Expr):
        raise InputError(argument, _REAL, value)
    try:
        nodes = nodes_of(value, argument)
    except TooLargeError:
        return value
    floats = {node for node in nodes if isinstance(node, sp.Float)}
    if floats:
        value = value.xreplace({f: _rational(_number(f, argument)) for f in floats})
    return value


def _rational(value: Fraction) -> sp.Rational:
    return sp.Rational(value.numerator, value.denominator)


def _float_as_fraction(value: float, argument: str) -> Fraction:
    if not math.isfinite(value):
        raise InputError(argument, _REAL, value)
    return Fraction(repr(value))


def _number(node: sp.Number, argument: str) -> Fraction:
    """The exact value of a Rational, or of a Float that is a Python float."""
    if isinstance(node, sp.Rational):
        return Fraction(int(node.p), int(node.q))
    as_float = float(node) if node._prec == _PRECISION else math.nan
    if not math.isfinite(as_float) or from_float(as_float) != node._mpf_:
        raise InputError(
            argument, "an exact number (Rational, int) or a Python float", sp.srepr(node)
        )
    return _float_as_fraction(as_float, argument)


def is_random(node: object) -> bool:
    """Whether it is a random symbol. If ``sympy.stats`` is not loaded, there is none."""
    stats = sys.modules.get("sympy.stats.rv")
    return stats is not None and isinstance(node, stats.RandomSymbol)


def nodes_of(expr: sp.Basic, argument: str) -> list[sp.Basic]:
    """Every distinct node once, arguments first; found without recursion and within limits.

    Raises: TooLargeError; UnsupportedError and InputError for a node outside the language.
    """
    order: list[sp.Basic] = []
    outside: dict[str, None] = {}
    depth: dict[int, int] = {}
    stack: list[tuple[sp.Basic, bool]] = [(expr, False)]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            deepest = 1 + max((depth[id(arg)] for arg in node.args), default=0)
            if deepest > MAX_DEPTH:
                raise TooLargeError(f"{argument}: nested more than {MAX_DEPTH} deep")
            depth[id(node)] = deepest
            order.append(node)
        elif id(node) not in depth:
            depth[id(node)] = 0
            if len(depth) > MAX_NODES:
                raise TooLargeError(f"{argument}: more than {MAX_NODES} nodes")
            name = _admit(node, argument)
            if name is not None:
                outside[name] = None
                continue
            stack.append((node, True))
            stack.extend((arg, False) for arg in reversed(node.args))
    if outside:
        raise UnsupportedError(argument, outside, SUPPORTED)
    return order


def symbols_of(expr: sp.Basic, argument: str) -> list[sp.Symbol]:
    """The distinct symbols in the order in which they are met."""
    seen = {node: None for node in nodes_of(expr, argument) if isinstance(node, sp.Symbol)}
    return list(seen)


def _admit(node: object, argument: str) -> str | None:
    """The name of a function that the language does not have; other things are refused at once."""
    if is_random(node):
        raise InputError(argument, "a parameter, not a random symbol", node)
    if any(node is bad for bad in _INFINITE):
        raise InputError(argument, _REAL, node)
    if isinstance(node, sp.Symbol):
        if not node.is_commutative:
            raise InputError(argument, _REAL, node)
    elif isinstance(node, (sp.Rational, sp.Float)):
        if (
            isinstance(node, sp.Rational)
            and max(node.p.bit_length(), node.q.bit_length()) > MAX_BITS
        ):
            raise TooLargeError(f"{argument}: a number of more than {MAX_BITS} bits")
    elif type(node) not in _STRUCTURE and type(node) not in _OPERATIONS:
        kind = type(node)
        return str(kind) if isinstance(kind, UndefinedFunction) else kind.__name__
    return None


# --- to the kernel ------------------------------------------------------------------------------


def to_term(expr: sp.Expr, argument: str, names: Mapping[sp.Symbol, Term]) -> Term:
    """The kernel term of an expression, whose symbols stand for the terms in ``names``.

    Raises: InputError, UnsupportedError, TooLargeError.

    >>> x = sp.Symbol("x", positive=True)
    >>> to_term(x**sp.Rational(3, 2) - 0.1, "value", {x: k.var("x")})
    add(-1/10, mul(x, sqrt(x)))
    """
    done: dict[int, Term] = {}
    try:
        for node in nodes_of(expr, argument):
            if isinstance(node, sp.Expr):
                done[id(node)] = _node(node, done, names, argument)
        return done[id(expr)]
    except Refusal as refusal:  # the grammar's own limits on depth, digits and powers
        raise TooLargeError(f"{argument}: {refusal}") from refusal


def _node(
    node: sp.Expr, done: Mapping[int, Term], names: Mapping[sp.Symbol, Term], argument: str
) -> Term:
    if isinstance(node, sp.Symbol):
        if node not in names:
            raise InputError(argument, f"symbols among {sorted(map(str, names))}", node)
        return names[node]
    if isinstance(node, (sp.Rational, sp.Float)):
        value = _number(node, argument)
        return k.num(fmpq(value.numerator, value.denominator))
    if isinstance(node, sp.Pow):
        return _pow(node, done, argument)
    if isinstance(node, sp.Piecewise):
        return _piecewise(node, done, argument)
    args = [done[id(arg)] for arg in node.args]
    if not args and not isinstance(node, sp.NumberSymbol):
        raise InputError(argument, _REAL, node)  # Max() and the like, left unevaluated
    return _OPERATIONS[type(node)](*args)


def _pow(node: sp.Pow, done: Mapping[int, Term], argument: str) -> Term:
    base, exponent = node.args
    if base is sp.E:
        return k.exp(done[id(exponent)])
    if not isinstance(exponent, (sp.Rational, sp.Float)):
        return k.real_power(done[id(base)], done[id(exponent)])
    value = _number(exponent, argument)
    if value.denominator == 1:
        return k.power(done[id(base)], value.numerator)
    if value.denominator > 2:
        return k.real_power(done[id(base)], done[id(exponent)])
    # half of an odd number, rounded towards 0, and a root of the same sign: x**(3/2) is x*sqrt(x)
    whole = int(value)
    root = k.power(k.sqrt(done[id(base)]), 1 if value > 0 else -1)
    return k.mul(k.power(done[id(base)], whole), root) if whole else root


def _piecewise(node: sp.Piecewise, done: Mapping[int, Term], argument: str) -> Term:
    pairs = node.args
    if pairs[-1].args[1] is not sp.true:
        raise InputError(argument, "a Piecewise whose last condition is True", node)
    result = done[id(pairs[-1].args[0])]
    for value, condition in (pair.args for pair in reversed(pairs[:-1])):
        result = _choose(condition, done[id(value)], result, done, argument)
    return result


def _choose(
    condition: sp.Basic, then: Term, otherwise: Term, done: Mapping[int, Term], argument: str
) -> Term:
    """``then`` where the condition holds, ``otherwise`` elsewhere; ``ite`` tests ``>= 0``."""
    if condition is sp.true or condition is sp.false:
        return then if condition is sp.true else otherwise
    if isinstance(condition, sp.Not):
        return _choose(condition.args[0], otherwise, then, done, argument)
    if isinstance(condition, (sp.And, sp.Or)):
        conjunction = isinstance(condition, sp.And)
        result = then if conjunction else otherwise
        for part in reversed(condition.args):
            if conjunction:
                result = _choose(part, result, otherwise, done, argument)
            else:
                result = _choose(part, then, result, done, argument)
        return result
    if not all(id(side) in done for side in condition.args):
        raise InputError(argument, "conditions that compare real expressions", condition)
    left, right = (done[id(side)] for side in condition.args)
    if isinstance(condition, sp.Ge):
        return k.ite(left - right, then, otherwise)
    if isinstance(condition, sp.Le):
        return k.ite(right - left, then, otherwise)
    if isinstance(condition, sp.Gt):
        return k.ite(right - left, otherwise, then)
    if isinstance(condition, sp.Lt):
        return k.ite(left - right, otherwise, then)
    if isinstance(condition, sp.Ne):
        then, otherwise = otherwise, then
    return k.ite(left - right, k.ite(right - left, then, otherwise), otherwise)


def _fold(binary: Callable[[Term, Term], Term]) -> Callable[..., Term]:
    """A binary operation on any number of arguments, as a balanced tree."""

    def folded(*args: Term) -> Term:
        while len(args) > 1:
            pairs = zip(args[::2], args[1::2], strict=False)
            args = (*(binary(a, b) for a, b in pairs), *args[len(args) // 2 * 2 :])
        return args[0]

    return folded


def _log(arg: Term, base: Term | None = None) -> Term:
    return k.log(arg) if base is None else k.log(arg) / k.log(base)


def _sign(arg: Term) -> Term:
    return k.ite(arg, k.ite(-arg, k.ZERO, k.ONE), k.MINUS_ONE)


def _sinh(arg: Term) -> Term:
    return (k.exp(arg) - k.exp(-arg)) * fmpq(1, 2)


def _cosh(arg: Term) -> Term:
    return (k.exp(arg) + k.exp(-arg)) * fmpq(1, 2)


def _binomial(above: Term, below: Term) -> Term:
    """Where 0 <= below <= above, which its lgamma need."""
    return k.exp(k.lgamma(above + 1) - k.lgamma(below + 1) - k.lgamma(above - below + 1))


_OPERATIONS: dict[type, Callable[..., Term]] = {
    sp.Add: k.add,
    sp.Mul: k.mul,
    sp.exp: k.exp,
    sp.log: _log,
    sp.erf: lambda arg: 1 - k.erfc(arg),
    sp.erfc: k.erfc,
    sp.atan: k.atan,
    sp.loggamma: k.lgamma,
    sp.gamma: lambda arg: k.exp(k.lgamma(arg)),
    sp.factorial: lambda arg: k.exp(k.lgamma(arg + 1)),
    sp.binomial: _binomial,
    sp.Abs: k.absolute,
    sp.sign: _sign,
    sp.Max: _fold(k.maximum),
    sp.Min: _fold(k.minimum),
    sp.asinh: lambda arg: k.log(arg + k.sqrt(k.power(arg, 2) + 1)),
    sp.sinh: _sinh,
    sp.cosh: _cosh,
    sp.tanh: lambda arg: _sinh(arg) / _cosh(arg),
    sp.coth: lambda arg: _cosh(arg) / _sinh(arg),
    type(sp.pi): lambda: k.PI,
    type(sp.E): lambda: k.exp(1),
}
_STRUCTURE = frozenset(
    {sp.Pow, sp.Piecewise, ExprCondPair, sp.Ge, sp.Gt, sp.Le, sp.Lt, sp.Eq, sp.Ne}
    | {sp.And, sp.Or, sp.Not, BooleanTrue, BooleanFalse}
)


# --- from the kernel ----------------------------------------------------------------------------


def to_sympy(term: Term, symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
    """The expression that a term stands for. Only for showing: SymPy may evaluate it.

    Names that ``symbols`` does not have become real symbols.

    >>> to_sympy(k.maximum(k.var("x"), 0) / 2, {})
    Max(0, x)/2
    """
    done: dict[Term, sp.Expr] = {}
    for item in k.subterms(term):
        args = [done[arg] for arg in item.args]
        if isinstance(item.value, fmpq):
            done[item] = sp.Rational(int(item.value.p), int(item.value.q))
        elif isinstance(item.value, str):
            done[item] = symbols.get(item.value) or sp.Symbol(item.value, real=True)
        elif item.op == "pow":
            done[item] = sp.Pow(args[0], item.value)
        else:
            done[item] = _BACK[item.op](*args)
    return done[term]


def _ite(condition: sp.Expr, then: sp.Expr, otherwise: sp.Expr) -> sp.Expr:
    return sp.Piecewise((then, condition >= 0), (otherwise, True))


_BACK: dict[str, Callable[..., sp.Expr]] = {
    "pi": lambda: sp.pi,
    "add": sp.Add,
    "mul": sp.Mul,
    "exp": sp.exp,
    "log": sp.log,
    "sqrt": sp.sqrt,
    "erfc": sp.erfc,
    "atan": sp.atan,
    "lgamma": sp.loggamma,
    "abs": sp.Abs,
    "max": sp.Max,
    "min": sp.Min,
    "ite": _ite,
}
