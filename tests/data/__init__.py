"""Data for tests and benchmarks: inequalities from proofs of differential privacy."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import sympy as sp

from dpsym.reader import Symbols, read_expression, read_relation

__all__ = ["Case", "inequalities"]


@dataclass(frozen=True)
class Case:
    """One inequality, as in ``inequalities.json``, which says what the fields mean.

    ``truth`` is whether it holds wherever all of ``where`` do; ``witness`` is a point at which a
    false one fails; ``difficulty`` is 0 where nobody gave one.
    """

    id: str
    where: tuple[str, ...]
    lhs: str
    relation: str
    rhs: str
    truth: bool
    note: str
    difficulty: int = 0
    witness: dict[str, str] = field(default_factory=dict)

    @property
    def strict(self) -> bool:
        return self.relation == "<"

    def read(self, symbols: Symbols | None = None) -> tuple[sp.Expr, sp.Expr, list[sp.Basic]]:
        """Left side, right side and conditions, with real symbols where none are given."""
        symbols = {} if symbols is None else symbols
        where = [read_relation(text, symbols) for text in self.where]
        return read_expression(self.lhs, symbols), read_expression(self.rhs, symbols), where


def inequalities(file: str = "inequalities.json") -> dict[str, Case]:
    """All cases by their names, in the order of the file."""
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    cases = [
        Case(**{**entry, "where": tuple(entry["where"])}) for entry in json.loads(text)["cases"]
    ]
    return {case.id: case for case in cases}
