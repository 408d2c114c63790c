"""Terms and numbers as plain Python over mpmath."""

from __future__ import annotations

from keyword import iskeyword

from flint import fmpq

from dpsym.kernel.terms import Term
from dpsym.search.refutation.exact import Values

_FUNCTIONS = frozenset(
    {"abs", "asinh", "atan", "erfc", "exp", "inf", "log", "loggamma", "max", "min", "mp", "mpf"}
    | {"pi", "print", "quad", "range", "sinh", "sorted", "sqrt", "sum"}
)
_LARGEST = 5000  # size of a term that is written out


class Names:
    """Python names for the variables."""

    def __init__(self, values: Values, taken: frozenset[str]) -> None:
        self.values = values
        self.names = {
            name: name if fits(name, taken) else f"x{i}" for i, name in enumerate(values, 1)
        }

    def lines(self) -> list[str]:
        """The assignments."""
        if not self.names:
            return []
        numbers = ", ".join(
            f"mpf({v.p})" + (f"/{v.q}" if v.q != 1 else "") for v in self.values.values()
        )
        return [f"{', '.join(self.names.values())} = {numbers}"]

    def code(self, item: Term) -> str:
        """The term as Python over mpmath."""
        if item.size > _LARGEST:
            raise ValueError("the term is too large to be written out")
        op, args = item.op, [self.code(arg) for arg in item.args]
        if isinstance(item.value, fmpq):
            return fraction(item.value)
        if op == "var":
            return self.names.get(str(item.value), "t")
        if op == "add":
            return f"({' + '.join(args)})".replace("+ -", "- ")
        if op == "mul":
            return "*".join(args) if args[0] != "(-1)" else f"-{'*'.join(args[1:])}"
        if op == "pow":
            count = int(str(item.value))
            if count >= 0:
                return f"({args[0]})**{count}"
            return f"(1/mpf({args[0]}){'' if count == -1 else f'**{-count}'})"
        if op == "ite":
            return f"({args[1]} if {args[0]} >= 0 else {args[2]})"
        op = "loggamma" if op == "lgamma" else op
        return "pi" if op == "pi" else f"{op}({', '.join(args)})"


def fits(name: str, taken: frozenset[str]) -> bool:
    """Whether a variable can keep its name in a script."""
    usual = name.isidentifier() and name.isascii() and not iskeyword(name)
    numbered = name[0] == "x" and name[1:].isdigit()
    return usual and not numbered and name not in taken | _FUNCTIONS


def fraction(value: fmpq) -> str:
    """An exact quotient in mpmath."""
    if value.q == 1:
        return str(value.p) if value.p >= 0 else f"({value.p})"
    return f"(mpf({value.p})/{value.q})"


def plain(value: fmpq) -> str:
    """The same where no brackets are needed."""
    return str(value.p) if value.q == 1 else f"mpf({value.p})/{value.q}"
