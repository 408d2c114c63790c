"""Mechanisms with finitely many outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

import sympy as sp

from dpsym.arguments import probability
from dpsym.errors import InputError
from dpsym.guarantees import Guarantee, PureDP
from dpsym.mechanisms.base import Mechanism, Neighbours, Part
from dpsym.mechanisms.values import COUNT, NONNEGATIVE, PROBABILITY
from dpsym.translate import exact

__all__ = ["RandomizedResponse", "Table", "UnaryEncoding"]

MAX_ENTRIES = 4096


class Table(Mechanism):
    """A table of probabilities: one row an input, one column an output.

    Any two rows count as neighbours, in both orders.

    Args:
        matrix: rows of probabilities, exact numbers or expressions in parameters.

    Raises: InputError for rows of different lengths, fewer than two rows, an entry that is a
    number outside [0, 1], or a row of numbers that does not sum to 1. Rows with symbols must be
    proved to be distributions: see ``obligations``.

    >>> a = sp.Symbol("a", positive=True)
    >>> Table([[a, 1 - a], [1 - a, a]])
    Table([[a, 1 - a], [1 - a, a]])
    """

    fields = ("matrix",)
    title = "A table of probabilities"
    source = "the user"
    matrix: tuple[tuple[sp.Expr, ...], ...]

    def __init__(self, matrix: object) -> None:
        rows = matrix.tolist() if isinstance(matrix, sp.MatrixBase) else matrix
        if not isinstance(rows, Sequence) or isinstance(rows, str) or len(rows) < 2:
            raise InputError("matrix", "two or more rows of probabilities", matrix)
        if not all(isinstance(row, Sequence) and not isinstance(row, str) for row in rows):
            raise InputError("matrix", "rows of probabilities", matrix)
        if len({len(row) for row in rows}) != 1 or not rows[0]:
            raise InputError("matrix", "rows of one length", matrix)
        if len(rows) * len(rows[0]) > MAX_ENTRIES:
            raise InputError("matrix", f"at most {MAX_ENTRIES} entries", len(rows) * len(rows[0]))
        self._set(
            matrix=tuple(
                tuple(probability(f"row {i}, column {j}", x) for j, x in enumerate(row, 1))
                for i, row in enumerate(rows, 1)
            )
        )
        for i, row in enumerate(self.matrix, 1):
            if all(entry.is_Rational for entry in row) and sum(row) != 1:
                raise InputError(f"row {i}", "probabilities that sum to 1", row)

    def __repr__(self) -> str:
        rows = ", ".join(f"[{', '.join(map(str, row))}]" for row in self.matrix)
        return f"Table([{rows}])"

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        for i, row in enumerate(self.matrix, 1):
            for j, entry in enumerate(row, 1):
                yield f"row {i}, column {j}", entry

    def obligations(self) -> tuple[sp.Basic, ...]:
        """Every row that is not of numbers: its entries are >= 0 and sum to 1."""
        found: list[sp.Basic] = []
        for row in self.matrix:
            open_entries = [entry for entry in row if not entry.is_Rational]
            if open_entries:
                total = sp.Add(*row, evaluate=False)
                found.extend(sp.Ge(entry, 0, evaluate=False) for entry in open_entries)
                found.append(sp.Eq(total, 1, evaluate=False))
        return tuple(dict.fromkeys(found))

    def neighbours(self) -> tuple[Neighbours, ...]:
        """One pair for every two rows in each order, with one atom for each output."""
        return tuple(
            Neighbours(
                parts=tuple(
                    Part(p, q) for p, q in zip(self.matrix[i], self.matrix[j], strict=True)
                ),
                label=f"rows {i + 1} and {j + 1}",
            )
            for i, j in permutations(range(len(self.matrix)), 2)
        )


class RandomizedResponse(Mechanism):
    """Randomized response: one of k values, kept with probability e^epsilon/(e^epsilon + k - 1).

    Otherwise one of the other k - 1 values is put out, each with the same probability. Warner,
    JASA 60(309), 1965; for k values Kairouz, Oh, Viswanath, NeurIPS 2014, section 2.2.

    Args:
        epsilon: in nats; a constant must be >= 0.
        categories: k, an integer >= 2 or an integer symbol.

    Raises: InputError for a constant out of range, and for categories that are no integer.

    >>> RandomizedResponse(sp.log(3), categories=4)
    RandomizedResponse(epsilon=log(3), categories=4)
    """

    fields = ("epsilon", "categories")
    domains = {"epsilon": NONNEGATIVE, "categories": COUNT}
    title = "Randomized response"
    source = "Warner, JASA 60(309), 1965; Kairouz, Oh, Viswanath, NeurIPS 2014"
    epsilon: sp.Expr
    categories: sp.Expr

    def __init__(self, epsilon: object, categories: object = 2) -> None:
        count = exact(categories, "categories")
        if not count.is_integer or (count.is_Integer and count < 2):
            raise InputError(
                "categories", "an integer >= 2, or a symbol declared with integer=True", categories
            )
        self._take(epsilon=epsilon)
        self._set(categories=count)

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return (sp.Ge(self.epsilon, 0, evaluate=False), sp.Ge(self.categories, 2, evaluate=False))

    def suggested(self) -> tuple[Guarantee, ...]:
        return (PureDP(self.epsilon),)

    def neighbours(self) -> tuple[Neighbours, ...]:
        """By symmetry one pair of values: two outputs tell them apart, k - 2 do not."""
        odds = sp.exp(self.epsilon)
        total = odds + (self.categories - 1)
        keep, other = odds / total, 1 / total
        parts = [Part(keep, other), Part(other, keep)]
        if self.categories != 2:
            parts.append(Part(other, other, weight=self.categories - 2))
        return (Neighbours(tuple(parts), label="two different true values"),)


class UnaryEncoding(Mechanism):
    """A one-hot vector, each bit of which is put out with noise: randomized response on bits.

    A 1 is kept with probability ``keep``, a 0 becomes 1 with probability ``flip``. Two values
    differ in two bits; the others have one law on both inputs and are independent of these, so
    their likelihood ratio is 1. Wang, Blocki, Li, Jha, "Locally Differentially Private Protocols
    for Frequency Estimation", USENIX Security 2017, section 4.3.

    Args:
        keep: p, a probability.
        flip: q, a probability; by default 1 - keep.

    Raises: InputError for a constant outside [0, 1].

    >>> UnaryEncoding(keep=0.75)
    UnaryEncoding(keep=3/4, flip=1/4)
    """

    fields = ("keep", "flip")
    domains = {"keep": PROBABILITY, "flip": PROBABILITY}
    title = "Randomized response on the bits of a one-hot vector"
    source = "Wang, Blocki, Li, Jha, USENIX Security 2017, section 4.3"
    keep: sp.Expr
    flip: sp.Expr

    def __init__(self, keep: object, flip: object = None) -> None:
        self._take(keep=keep)
        self._take(flip=1 - self.keep if flip is None else flip)

    def suggested(self) -> tuple[Guarantee, ...]:
        right, wrong = self._right(), self._wrong()
        return () if wrong == 0 or right == 0 else (PureDP(sp.log(right / wrong)),)

    def _right(self) -> sp.Expr:
        return self.keep * (1 - self.flip)

    def _wrong(self) -> sp.Expr:
        return (1 - self.keep) * self.flip

    def neighbours(self) -> tuple[Neighbours, ...]:
        p, q = self.keep, self.flip
        right, wrong = self._right(), self._wrong()
        both, none = p * q, (1 - p) * (1 - q)
        parts = (Part(right, wrong), Part(wrong, right), Part(both, both), Part(none, none))
        return (Neighbours(parts, label="the two bits in which two values differ"),)
