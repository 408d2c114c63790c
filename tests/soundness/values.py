"""Values of terms by the audit's own evaluator, which shares nothing with the kernel's."""

from dpsym.audit.values import (
    DIGITS,
    Ball,
    Number,
    Point,
    Undefined,
    Unsure,
    ball,
    fails,
    holds,
    rounded,
    sign,
    value,
)

__all__ = [
    "DIGITS",
    "Ball",
    "Number",
    "Point",
    "Undefined",
    "Unsure",
    "ball",
    "fails",
    "holds",
    "rounded",
    "sign",
    "value",
]
