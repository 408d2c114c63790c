"""Subjects and claims as Python, and scripts that reproduce what a test found."""

from __future__ import annotations

import builtins
import inspect
import keyword
import re
import textwrap
from collections.abc import Callable, Mapping
from symtable import SymbolTable, symtable
from types import FunctionType, ModuleType
from typing import Any
from unicodedata import normalize

import sympy as sp
from sympy.printing.str import StrPrinter

from dpsym.combinators import Composition, Postprocessed
from dpsym.guarantees import Both, Guarantee, MomentBound
from dpsym.mechanisms.noise import Noise
from dpsym.mechanisms.values import Value
from dpsym.stages import Filtered, Grouped, Parallel, Repeated, Subsampled

__all__ = ["Code", "source_of"]

_CONSTANTS = (int, float, str, bytes, bool, type(None), complex)
_TAKEN = {"dp", "Symbol", "Rational", "sqrt", "lower_bound", "mechanism", "claim", "claimed"}
_TAKEN |= {"least", "promised"}
_WORD = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*")


class _Printer(StrPrinter):
    """With rational numbers that stay exact in Python."""

    def _print_Rational(self, expr: sp.Rational) -> str:  # noqa: N802
        return f"Rational({expr.p}, {expr.q})"

    _print_Half = _print_Rational  # noqa: N815


class Code:
    """Python code for things, and the lines before it that it needs.

    >>> code = Code()
    >>> from dpsym.guarantees import ApproxDP
    >>> code.of(ApproxDP(sp.Symbol("epsilon", positive=True), sp.Rational(1, 3)))
    'dp.ApproxDP(epsilon, Rational(1, 3))'
    >>> print(code.head())
    import dpsym as dp
    from sympy import Rational, Symbol
    <BLANKLINE>
    epsilon = Symbol("epsilon", positive=True)
    """

    def __init__(self) -> None:
        self._sympy: set[str] = set()
        self._imports: set[str] = set()
        self._symbols: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def head(self) -> str:
        own = sorted(self._imports, key=lambda line: (not line.startswith("from __future__"), line))
        others = [line for line in own if not line.startswith("from dpsym.")]
        lines = [*others, "import dpsym as dp", *(line for line in own if line not in others)]
        if self._sympy:
            lines.append(f"from sympy import {', '.join(sorted(self._sympy))}")
        if self._symbols:
            lines += ["", *self._symbols.values()]
        return "\n".join(lines)

    def needs(self, line: str) -> None:
        """An import of its own."""
        self._imports.add(line)

    def symbol(self, name: str) -> str:
        """A real symbol."""
        return self._declare(sp.Symbol(name, real=True))

    def of(self, item: Any) -> str:
        """The thing as code."""
        if isinstance(item, sp.Basic):
            return self.expression(item)
        if isinstance(item, MomentBound):
            given = [f"lambda L: {self.expression(item.h(sp.Symbol('L')), bound='L')}"]
            given.append(self.of(item.c))
            if item.at_infinity is not None:
                given.append(f"at_infinity={self.of(item.at_infinity)}")
            return self._call("dp.MomentBound", given, item)
        if isinstance(item, Guarantee):
            given = [self.of(getattr(item, name)) for name in item.fields]
            return self._call(f"dp.{type(item).__name__}", given, item)
        if isinstance(item, Both):
            return self._call("dp.both", map(self.of, item.guarantees))
        if isinstance(item, Composition):
            return self._call("dp.compose", map(self.of, item.parts))
        if isinstance(item, Postprocessed):
            return self._call("dp.postprocess", [self.of(item.subject)])
        if isinstance(item, (Repeated, Grouped)):
            name = "dp.repeat" if isinstance(item, Repeated) else "dp.group"
            return self._call(name, [self.of(item.subject), self.of(item.count)])
        if isinstance(item, Parallel):
            return self._call("dp.parallel", map(self.of, item.parts))
        if isinstance(item, Subsampled):
            given = [self.of(item.subject), self.of(item.rate), f"method={item.method!r}"]
            given += [] if item.draws is None else [f"draws={item.draws}"]
            return self._call("dp.subsample", given)
        if isinstance(item, Filtered):
            given = [self.of(x) for x in (item.subject, item.parameter, item.budget)]
            return self._call("dp.filtered", given)
        if isinstance(item, Value):
            return self._value(item)
        if isinstance(item, Mapping):
            return f"{{{', '.join(f'{self.of(k)}: {self.of(v)}' for k, v in item.items())}}}"
        if isinstance(item, (tuple, list)):
            return f"[{', '.join(map(self.of, item))}]"
        return repr(item)

    def _call(self, name: str, given: Any, item: object = None) -> str:
        arguments = [*given, *(["one_way=True"] if getattr(item, "one_way", False) else [])]
        return f"{name}({', '.join(arguments)})"

    def _value(self, item: Value) -> str:
        kind = type(item)
        if kind.__module__.startswith("dpsym."):
            name = f"dp.{'noise.' if isinstance(item, Noise) else ''}{kind.__name__}"
        else:
            name = kind.__name__
            self._imports.add(f"from {kind.__module__} import {name}")
        known = inspect.signature(kind).parameters
        given = [
            f"{field}={self.of(value)}"
            for field in item.fields
            if (value := getattr(item, field)) is not None
            and not (field in known and known[field].default is value)
        ]
        return f"{name}({', '.join(given)})"

    def expression(self, expr: sp.Basic, bound: str | None = None) -> str:
        """An expression, set or relation of SymPy; its symbols are declared in the head."""
        plain = {
            dummy: sp.Symbol(dummy.name.strip("_") or "x", **_declared(dummy))
            for dummy in expr.atoms(sp.Dummy)
        }
        expr = expr.xreplace(plain)
        own = {x: self._declare(x) for x in sorted(expr.free_symbols, key=str) if x.name != bound}
        text = str(_Printer().doprint(expr.xreplace({x: sp.Symbol(own[x]) for x in own})))
        for word in _WORD.findall(text):
            if word not in own.values() and word != bound and hasattr(sp, word):
                self._sympy.add(word)
        return text

    def _declare(self, symbol: sp.Symbol) -> str:
        """The variable that stands for a symbol: its name, or what is like it where that is no name
        for a variable. Nothing of a name is ever code."""
        name = self._names.get(symbol.name, "")
        if not name:
            name = normalize("NFKC", symbol.name)  # as Python reads it
            if not name.isidentifier():
                name = re.sub(r"\W+", "_", name).strip("_")[:20]
            name = name if name.isidentifier() else "symbol"
            while _is_taken(name) or name in self._names.values():
                name += "_"
        made = "".join(f", {key}={value}" for key, value in sorted(_declared(symbol).items()))
        self._names[symbol.name] = name
        self._symbols[name] = f"{name} = Symbol({_quoted(symbol.name)}{made})"
        self._sympy.add("Symbol")
        return name


def _is_taken(name: str) -> bool:
    """Whether a script may need the name for something else."""
    function = isinstance(getattr(sp, name, None), sp.FunctionClass)
    return function or name in _TAKEN or keyword.iskeyword(name) or hasattr(builtins, name)


def _quoted(text: str) -> str:
    plain = text.isprintable() and not set(text) & set('"\\')
    return f'"{text}"' if plain else ascii(text)


def _declared(symbol: sp.Symbol) -> dict[str, bool]:
    return dict(getattr(symbol, "_assumptions_orig", {}))


# --- functions of the user ------------------------------------------------------------------------


def source_of(function: Callable[..., object]) -> tuple[list[str], str] | None:
    """Imports and definitions that define a function in a script of its own; None if that can not
    be told.

    What is in a module that a script can import is imported. What is in a test is copied, with
    the constants and the functions of that test that it uses.
    """
    lines: dict[str, str] = {}
    try:
        found = _collect(function, lines, frozenset())
    except (OSError, TypeError, SyntaxError):
        return None
    if not found:
        return None
    imports = [line for line in lines.values() if line.startswith(("import ", "from "))]
    others = [line for line in lines.values() if line not in imports]
    future = ["from __future__ import annotations"] if _annotated(lines) else []
    return [*future, *sorted(imports)], "\n\n\n".join(others)


def _annotated(lines: Mapping[str, str]) -> bool:
    return any("->" in text or re.search(r"def \w+\([^)]*:", text) for text in lines.values())


def _collect(item: object, lines: dict[str, str], inside: frozenset[str]) -> bool:
    if not isinstance(item, FunctionType) or not item.__name__.isidentifier():
        return False
    name = item.__name__
    if name in lines or name in inside:
        return True
    if _importable(item.__module__) and item.__qualname__ == name:
        lines[name] = f"from {item.__module__} import {name}"
        return True
    if item.__closure__:
        return False
    text = textwrap.dedent(inspect.getsource(item)).strip()
    if not text.startswith("def "):
        return False
    for other in sorted(_names_used(symtable(text, name, "exec")) & item.__globals__.keys()):
        value = item.__globals__[other]
        if not hasattr(builtins, other) and not _add(other, value, lines, inside | {name}):
            return False
    lines[name] = text
    return True


def _names_used(table: SymbolTable) -> set[str]:
    """Names that are read and that nothing inside defines."""
    top = table.get_type() == "module"
    found = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (top or symbol.is_global())
    }
    return found.union(*map(_names_used, table.get_children()))


def _add(name: str, value: object, lines: dict[str, str], inside: frozenset[str]) -> bool:
    if name in lines or name in inside:
        return True
    if isinstance(value, ModuleType):
        same = value.__name__ == name
        lines[name] = f"import {value.__name__}" + ("" if same else f" as {name}")
        return True
    if isinstance(value, _CONSTANTS) or (
        isinstance(value, tuple) and all(isinstance(part, _CONSTANTS) for part in value)
    ):
        lines[name] = f"{name} = {value!r}"
        return True
    if isinstance(value, FunctionType) and not _importable(value.__module__):
        return value.__name__ == name and _collect(value, lines, inside)
    home = getattr(value, "__module__", None)
    own = getattr(value, "__name__", None)
    if isinstance(home, str) and isinstance(own, str) and _importable(home):
        lines[name] = f"from {home} import {own}" + ("" if own == name else f" as {name}")
        return True
    return False


def _importable(module: str | None) -> bool:
    """Whether a script can import the module: it is none of tests, and no session."""
    from importlib.util import find_spec

    last = (module or "").rpartition(".")[2]
    if not module or last == "conftest" or last.startswith("test_") or last.endswith("_test"):
        return False
    try:
        return module != "__main__" and find_spec(module) is not None
    except (ImportError, ValueError):
        return False
