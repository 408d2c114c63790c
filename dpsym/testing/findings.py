"""A claim at numbers that certainly fails, in numbers and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal

import sympy as sp

from dpsym.guarantees import Guarantee
from dpsym.testing.bounds import BOUNDED, Number, exceeds, from_above

__all__ = ["Violation", "decimal", "fields_of", "is_supported", "values_text", "violation"]

Fields = Mapping[str, sp.Expr]
_DIGITS, _MOST_DIGITS = 9, 1000
_NAMES = {
    "ApproxDP": "the smallest delta at this epsilon",
    "BoundedRange": "the range of the losses",
    "GDP": "the smallest mu",
    "ProbabilisticDP": "the probability of a larger loss",
    "PureDP": "the largest loss",
    "RenyiDP": "the divergence of this order",
    "TCDP": "the smallest rho",
    "ZCDP": "the smallest rho",
}


@dataclass(frozen=True)
class Violation:
    """What a claim says of its main parameter, and what that certainly is at least."""

    kind: str
    fields: Fields
    at_least: Number

    @property
    def main(self) -> str:
        return BOUNDED[self.kind][0]

    @property
    def claimed(self) -> sp.Expr:
        return self.fields[self.main]

    @property
    def gap(self) -> str:
        return decimal(self.at_least - from_above(self.claimed))

    def text(self) -> str:
        exactly = from_above(self.claimed)
        if self.at_least == float("inf"):
            return f"{_NAMES[self.kind]} is infinite, and {decimal(exactly)} is claimed"
        digits = _DIGITS
        while decimal(exactly, digits) == decimal(self.at_least, digits) and digits < _MOST_DIGITS:
            digits *= 2
        least, claimed = (decimal(x, digits) for x in (self.at_least, exactly))
        what = f"{_NAMES[self.kind]} is at least {least}, and {claimed} is claimed"
        return f"{what}: a gap of {self.gap}"


def is_supported(claim: Guarantee) -> bool:
    return type(claim).__name__ in BOUNDED


def fields_of(claim: Guarantee) -> dict[str, sp.Expr]:
    return {name: getattr(claim, name) for name in claim.fields}


def violation(subject: object, claim: Guarantee, fields: Fields) -> Violation | None:
    """Whether a claim of this kind, with numbers for its fields, certainly fails. None: that is
    not known.

    Raises: UnsupportedError, InputError.
    """
    kind = type(claim).__name__
    found = exceeds(subject, kind, fields, claim.one_way)
    return None if found is None else Violation(kind, fields, found)


def decimal(value: Number, digits: int = _DIGITS) -> str:
    """A few digits, rounded down.

    >>> from fractions import Fraction
    >>> decimal(Fraction(2, 3)), decimal(Fraction(1, 2)), decimal(float("inf"))
    ('0.666666666', '0.5', 'infinity')
    """
    if isinstance(value, float):
        return "infinity" if value == float("inf") else repr(value)
    context = Context(prec=digits, rounding=ROUND_FLOOR)
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{quotient.normalize(context):g}" if quotient else "0"


def values_text(values: Mapping[sp.Symbol, sp.Expr]) -> str:
    return ", ".join(f"{symbol} = {value}" for symbol, value in values.items())
