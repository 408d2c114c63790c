"""Nonnegative solutions of linear equations over the rationals."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from flint import fmpq, fmpq_mat

from dpsym.kernel.limits import tick

Column = Mapping[Hashable, fmpq]


def solve(columns: Sequence[Column], target: Column) -> list[fmpq] | None:
    """x >= 0 with sum of x_j columns_j = target, by the simplex method with Bland's rule.

    >>> one = fmpq(1)
    >>> solve([{"a": one, "b": one}, {"b": -one}], {"a": one})
    [1, 1]
    >>> solve([{"a": one}], {"a": -one}) is None
    True
    """
    rows = _rows(columns, target)
    size = len(columns)
    table = []
    for row in rows:
        line = [column.get(row, fmpq(0)) for column in columns]
        right = target.get(row, fmpq(0))
        table.append([-value for value in (*line, right)] if right < 0 else [*line, right])
    basis = [size + i for i in range(len(rows))]  # artificial variables, not stored
    cost = [sum((line[j] for line in table), fmpq(0)) for j in range(size + 1)]
    while cost[size] != 0:
        tick()
        entering = next((j for j in range(size) if cost[j] > 0), None)
        if entering is None:
            return None
        leaving, best = None, None
        for i, line in enumerate(table):
            if line[entering] > 0:
                ratio = (line[size] / line[entering], basis[i])
                if best is None or ratio < best:
                    leaving, best = i, ratio
        if leaving is None:
            return None
        _pivot(table, cost, leaving, entering)
        basis[leaving] = entering
    out = [fmpq(0)] * size
    for i, j in enumerate(basis):
        if j < size:
            out[j] = table[i][size]
    return out


def _pivot(table: list[list[fmpq]], cost: list[fmpq], at: int, entering: int) -> None:
    pivot = table[at][entering]
    row = table[at] = [value / pivot if value else value for value in table[at]]
    support = [j for j, value in enumerate(row) if value]
    for line in (*(other for i, other in enumerate(table) if i != at), cost):
        factor = line[entering]
        if factor:
            for j in support:
                line[j] -= factor * row[j]


def refine(columns: Sequence[Column], target: Column) -> list[fmpq] | None:
    """The exact solution on a support that floats suggest; None if it is not nonnegative."""
    rows = _rows(columns, target)
    size = len(columns)
    matrix = fmpq_mat(len(rows), size + 1)
    for i, row in enumerate(rows):
        for j, column in enumerate((*columns, target)):
            value = column.get(row)
            if value:
                matrix[i, j] = value
    reduced, rank = matrix.rref()
    out = [fmpq(0)] * size
    for i in range(rank):
        lead = next(j for j in range(size + 1) if reduced[i, j] != 0)
        if lead == size or reduced[i, size] < 0:
            return None
        out[lead] = reduced[i, size]
    return out


def _rows(columns: Sequence[Column], target: Column) -> list[Hashable]:
    return list(dict.fromkeys(row for column in (target, *columns) for row in column))
