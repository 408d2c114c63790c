"""A parameter of which only an interval is known, as a constant among others."""

from __future__ import annotations

import sympy as sp

__all__ = ["Within", "is_exact"]


class Within(sp.AtomicExpr):
    """A real constant between two rational numbers, the same one wherever the name occurs.

    What cancels does so exactly, as with a symbol; what is left is enclosed for all its values at
    once, and a sign is one that all of them agree on.

    >>> a, b = Within("a", 1, 2), Within("b", 1, 2)
    >>> a - a, a == b, a.is_positive
    (0, False, True)
    """

    is_real = True
    is_number = False
    # not known, and said at once: SymPy would ask at length
    is_integer = is_rational = is_irrational = is_algebraic = is_transcendental = None
    is_even = is_odd = is_prime = is_composite = is_noninteger = None
    name: str
    low: sp.Rational
    high: sp.Rational

    def __new__(cls, name: str, low: object, high: object) -> Within:
        out: Within = sp.AtomicExpr.__new__(cls)
        out.name, out.low, out.high = name, sp.Rational(low), sp.Rational(high)
        return out

    def _hashable_content(self) -> tuple[object, ...]:
        return self.name, self.low, self.high

    def __getnewargs__(self) -> tuple[object, ...]:
        return self.name, self.low, self.high

    def _sympystr(self, _: object) -> str:
        return f"{self.name} in [{self.low}, {self.high}]"

    def _eval_is_extended_positive(self) -> bool | None:
        return True if self.low > 0 else False if self.high <= 0 else None

    def _eval_is_extended_negative(self) -> bool | None:
        return True if self.high < 0 else False if self.low >= 0 else None

    def _eval_is_extended_nonnegative(self) -> bool | None:
        return True if self.low >= 0 else False if self.high < 0 else None

    def _eval_is_extended_nonpositive(self) -> bool | None:
        return True if self.high <= 0 else False if self.low > 0 else None

    def _eval_is_zero(self) -> bool | None:
        return False if self.low > 0 or self.high < 0 else None


def is_exact(value: sp.Basic) -> bool:
    """Whether no constant in it is one of which only an interval is known."""
    return not value.has(Within)
