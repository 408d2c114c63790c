"""The one way in which the kernel says no."""

from __future__ import annotations

from typing import TypeVar

Wanted = TypeVar("Wanted")


class Refusal(Exception):
    """A step, a term or a certificate that the kernel does not accept.

    ``rule`` names what refused, ``condition`` what did not hold, ``values`` the offending values.
    """

    def __init__(self, rule: str, condition: str, *values: object) -> None:
        self.rule, self.condition, self.values = rule, condition, values
        super().__init__(rule, condition, *values)

    def __str__(self) -> str:
        shown = ", ".join(_clip(str(value)) for value in self.values)
        return f"{self.rule}: {self.condition}" + (f" (got {shown})" if shown else "")


class TooLarge(Refusal):
    """A size limit was reached: nothing is known about the claim."""


def require(holds: bool, rule: str, condition: str, *values: object) -> None:
    """Refuse unless the condition holds."""
    if not holds:
        raise Refusal(rule, condition, *values)


def expect(kind: type[Wanted], value: object, rule: str, condition: str) -> Wanted:
    """The value; refuse unless it is an instance of the class."""
    if not isinstance(value, kind):
        raise Refusal(rule, condition, value)
    return value


def _clip(text: str) -> str:
    return text if len(text) <= 200 else text[:197] + "..."
