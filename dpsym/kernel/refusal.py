"""The one way in which the kernel says no."""

from __future__ import annotations


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


def _clip(text: str) -> str:
    return text if len(text) <= 200 else text[:197] + "..."
