"""Hints for the prover: what a person sees and the search does not.

A list of hints is the beginning of a proof: the first is applied to the goal, the next to what it
leaves, and so on; one that does not apply is passed over. A wrong hint costs time, never soundness,
since every step of a proof is checked by the kernel all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from dpsym.errors import InputError
from dpsym.kernel import terms as tm
from dpsym.kernel.proofs import Lemma
from dpsym.results import Result
from dpsym.scope import Scope
from dpsym.search.leaf import hinted
from dpsym.translate import exact, symbols_of, to_term

__all__ = ["Hint", "derive", "lemma", "read_hints", "split", "subst", "use"]


@dataclass(frozen=True)
class Hint:
    """One hint. Made by ``derive``, ``subst``, ``split``, ``lemma`` and ``use``."""

    kind: str
    values: tuple[Any, ...]

    def __repr__(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.values))})"


def derive(variable: object) -> Hint:
    """Show the claim at a bound of the variable, and that the gap grows from there.

    Args:
        variable: a symbol, or its name.

    >>> import dpsym as dp
    >>> x = sp.Symbol("x", nonnegative=True)
    >>> verdict = dp.check_inequality(sp.log(1 + x), x, hints=[derive("x")])
    >>> print(verdict.explain().splitlines()[2])  # doctest: +NORMALIZE_WHITESPACE
    1. To show: x >= log(1 + x). At x = 0 it holds, and the difference of the sides does not
    decrease as x grows from there, by its derivative. Evident: the derivative in x: x >= 0.
    """
    return Hint("derive", (_name(variable, "derive"),))


def subst(**images: object) -> Hint:
    """Write a variable as a function of a new one: ``subst(x=1/u)``.

    The image is one of u + a, a - u, a*u, a/u, a*log(u), a*exp(-u), a*u**2, where u is a new symbol
    and a any term in the other parameters (positive, but in the first two).

    >>> u = sp.Symbol("u", real=True)
    >>> subst(x=1 / u)
    subst(x, 1/u)
    """
    if len(images) != 1:
        raise InputError("subst", "one variable and its image, as in subst(x=1/u)", images)
    ((name, image),) = images.items()
    return Hint("subst", (name, exact(image, "subst")))


def split(condition: object = None, **points: object) -> Hint:
    """Take two cases: ``split(x=2)`` at a point, ``split(x - y)`` by the sign of a term.

    >>> split(x=2)
    split(x, 2)
    """
    if condition is not None and not points:
        return Hint("split", (exact(condition, "split"),))
    if condition is None and len(points) == 1:
        ((name, point),) = points.items()
        return Hint("split", (name, exact(point, "split")))
    raise InputError("split", "a term, or one variable and a point, as in split(x=2)", points)


def lemma(relation: object) -> Hint:
    """Prove an inequality first, and use it: ``lemma(exp(x) >= 1 + x)``.

    >>> x = sp.Symbol("x", real=True)
    >>> lemma(sp.exp(x) >= 1 + x)
    lemma(exp(x) >= x + 1)
    """
    if not isinstance(relation, (sp.Ge, sp.Gt, sp.Le, sp.Lt, sp.Ne)):
        raise InputError("lemma", "a relation such as exp(x) >= 1 + x", relation)
    return Hint("lemma", (relation,))


def use(theorem: object, **at: object) -> Hint:
    """Use an inequality proved earlier, at other terms for its parameters: ``use(found, x=y**2)``.

    Args:
        theorem: a ``Proved`` verdict of ``check_inequality``, or its ``.theorem``.
        at: the terms; parameters that are not given stay as they are.

    >>> import dpsym as dp
    >>> x = sp.Symbol("x", real=True)
    >>> use(dp.check_inequality(1 + x, sp.exp(x)), x=2).kind
    'use'
    """
    result = getattr(theorem, "theorem", theorem)
    if not isinstance(result, Result) or not isinstance(result.proved, Lemma):
        raise InputError("use", "a proved inequality", theorem)
    terms = tuple((name, exact(value, name)) for name, value in at.items())
    unknown = {name for name, _ in terms} - result.proved.sequent.vars
    if unknown:
        raise InputError("use", f"parameters of the inequality, not {sorted(unknown)}", theorem)
    return Hint("use", (result, terms))


def read_hints(hints: object, scope: Scope) -> tuple[hinted.Hint, ...]:
    """The hints as steps of the search, with the symbols of the claim.

    Raises: InputError for what is no hint, or names a symbol that the claim has not.
    """
    if hints is None:
        return ()
    if not isinstance(hints, Sequence) or isinstance(hints, str):
        raise InputError("hints", "a list of hints such as derive('x')", hints)
    return tuple(_read(hint, scope) for hint in hints)


def _read(hint: object, scope: Scope) -> hinted.Hint:
    if not isinstance(hint, Hint):
        raise InputError("hints", "hints such as derive('x')", hint)
    values = hint.values
    if hint.kind == "derive":
        return hinted.Derive(_known(values[0], scope))
    if hint.kind == "subst":
        return _change(_known(values[0], scope), values[1], scope)
    if hint.kind == "split":
        if len(values) == 1:
            return hinted.Split(_term(values[0], scope))
        return hinted.Split(tm.var(_known(values[0], scope)) - _term(values[1], scope))
    if hint.kind == "lemma":
        _declared(values[0], scope)
        return hinted.Have(scope.relation(values[0], "hints")[0])
    result, terms = values
    mapping = tuple((name, _term(value, scope)) for name, value in terms)
    return hinted.Use(result.proved, mapping)


def _change(name: str, image: sp.Expr, scope: Scope) -> hinted.Change:
    """Which of the kernel's maps the image is."""
    new = [s for s in symbols_of(image, "subst") if s.name not in scope.symbols]
    if len(new) != 1:
        raise InputError("subst", "an image with one new symbol", image)
    u = new[0]
    rest = {
        "shift": image - u,
        "negate": image + u,
        "scale": image / u,
        "inverse": image * u,
        "log": image / sp.log(u),
        "decay": image * sp.exp(u),
        "square": image / u**2,
    }
    for kind, item in rest.items():
        if u not in item.free_symbols:
            return hinted.Change(name, kind, u.name, _term(item, scope))
    raise InputError("subst", "u + a, a - u, a*u, a/u, a*log(u), a*exp(-u) or a*u**2", image)


def _term(expr: sp.Expr, scope: Scope) -> tm.Term:
    _declared(expr, scope)
    names = {symbol: tm.var(symbol.name) for symbol in scope.symbols.values()}
    return to_term(expr, "hints", names)


def _declared(expr: sp.Basic, scope: Scope) -> None:
    for symbol in symbols_of(expr, "hints"):
        _known(symbol.name, scope)


def _known(name: str, scope: Scope) -> str:
    if name not in scope.symbols:
        raise InputError("hints", f"symbols of the claim ({', '.join(scope.symbols)})", name)
    return name


def _name(variable: object, argument: str) -> str:
    if isinstance(variable, sp.Symbol):
        return str(variable.name)
    if not isinstance(variable, str):
        raise InputError(argument, "a symbol or its name", variable)
    return variable
