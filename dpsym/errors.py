"""What dpsym raises. Every message names the argument, its value and what was expected."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "DpsymError",
    "InputError",
    "ProofError",
    "ScriptError",
    "TooLargeError",
    "UnsupportedError",
]

_SHOWN_NODES = 400
_SHOWN_CHARACTERS = 200
_TOWER = 3


class DpsymError(Exception):
    """The common base of everything that dpsym raises on purpose."""


class InputError(DpsymError, ValueError):
    """An argument that does not mean what the place asks for.

    ``got`` is how the value is shown, if not as ``str`` does.

    >>> from fractions import Fraction
    >>> print(InputError("delta", "a number in [0, 1]", Fraction(3, 2)))
    delta: expected a number in [0, 1], got 3/2
    """

    def __init__(self, argument: str, expected: str, value: object, got: str = "") -> None:
        self.argument, self.expected, self.value = argument, expected, value
        super().__init__(f"{argument}: expected {expected}, got {got or shown(value)}")


class UnsupportedError(DpsymError):
    """A function outside the language. ``.functions`` names what is meant.

    >>> print(UnsupportedError("epsilon", ["floor"], "exp, log"))
    epsilon: floor is not in the language, which has exp, log
    """

    def __init__(self, argument: str, functions: Iterable[str], supported: str) -> None:
        self.argument, self.functions = argument, tuple(functions)
        verb = "is" if len(self.functions) == 1 else "are"
        names = ", ".join(self.functions)
        super().__init__(f"{argument}: {names} {verb} not in the language, which has {supported}")


class TooLargeError(DpsymError):
    """An expression beyond the size limits: checking answers Unknown, never a guess."""


class ScriptError(DpsymError):
    """A proof script that can not be read or run, or that does not say what it expects."""


class ProofError(DpsymError):
    """``dp.prove`` did not find a proof. ``.verdict`` is what was found instead."""

    def __init__(self, verdict: object) -> None:
        self.verdict = verdict
        super().__init__(str(verdict))


def shown(value: object) -> str:
    """``str(value)`` for a message: short, and safe for expressions of any size and depth.

    >>> shown("epsilon"), shown(True), shown(10**5000)
    ("'epsilon'", 'True', 'an int too long to print')
    """
    kind = type(value).__name__
    if isinstance(value, (str, bytes)):
        return repr(value[:_SHOWN_CHARACTERS])
    size, tower = _survey(value)
    if size > _SHOWN_NODES:
        return f"an expression of type {kind} too long to print"
    try:
        text = _unsorted(value) if tower >= _TOWER else str(value)
    except (ValueError, RecursionError):
        return f"an {kind} too long to print"
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."


def _survey(value: object) -> tuple[int, int]:
    """How many nodes printing visits, counted no further than needed, and the tallest tower of
    powers among them."""
    stack, count, tallest = [(value, 0)], 0, 0
    while stack and count <= _SHOWN_NODES:
        item, tower = stack.pop()
        count += 1
        tower += type(item).__name__ in ("exp", "Pow")
        tallest = max(tallest, tower)
        args = item if isinstance(item, (tuple, list)) else getattr(item, "args", ())
        if isinstance(args, (tuple, list)):
            stack.extend((arg, tower) for arg in args[: _SHOWN_NODES + 1])
    return count, tallest


def _unsorted(value: object) -> str:
    """SymPy sorts the terms it prints by their numeric values, which e^e^e^100 does not have."""
    from sympy import sstr

    return str(sstr(value, order="none"))
