"""HiGHS as a float linear programming solver that suggests a support."""

from __future__ import annotations

import highspy
import numpy as np

from dpsym.search.leaf.numeric import to_float
from dpsym.search.leaf.simplex import Column

_TOLERANCE = 1e-10


def support(columns: list[Column], target: Column, cost: list[float]) -> list[int] | None:
    """Indices j with x_j > 0 for some x >= 0 of least cost with sum x_j columns_j = target."""
    rows: dict[object, int] = {}
    for column in (*columns, target):
        for row in column:
            rows.setdefault(row, len(rows))
    starts, index, value = [0], [], []
    for column in columns:
        for row, entry in column.items():
            index.append(rows[row])
            value.append(to_float(entry))
        starts.append(len(index))
    right = np.zeros(len(rows))
    for row, entry in target.items():
        right[rows[row]] = to_float(entry)
    if not np.all(np.isfinite(value)):
        return None
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(columns), len(rows)
    model.col_cost_ = np.array(cost)
    model.col_lower_ = np.zeros(len(columns))
    model.col_upper_ = np.full(len(columns), highspy.kHighsInf)
    model.row_lower_ = model.row_upper_ = right
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.array(starts)
    model.a_matrix_.index_ = np.array(index)
    model.a_matrix_.value_ = np.array(value)
    solver = getattr(highspy, "_Highs", highspy.Highs)()  # `Highs` itself prints a banner
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("solver", "simplex")
    solver.setOptionValue("simplex_iteration_limit", 20_000)
    solver.passModel(model)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    found = solver.getSolution().col_value
    return [j for j, entry in enumerate(found) if entry > _TOLERANCE]
