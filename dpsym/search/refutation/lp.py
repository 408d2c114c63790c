"""One small dense linear program, by HiGHS in floating point."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def maximise(
    objective: Array, equal: Array, right: Array, rows: Array, most: Array
) -> Array | None:
    """x >= 0 of largest objective with ``equal @ x = right`` and ``rows @ x <= most``."""
    matrix = np.vstack([equal, rows]) if len(rows) else equal
    scale = np.maximum(1.0, np.abs(matrix).max(axis=0))  # a unit of each column
    matrix = matrix / scale
    height, width = matrix.shape
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = width, height
    cost = -objective / scale
    model.col_cost_ = cost / max(1e-300, float(np.abs(cost).max()))
    model.col_lower_, model.col_upper_ = np.zeros(width), np.full(width, highspy.kHighsInf)
    model.row_lower_ = np.concatenate([right, np.full(len(most), -highspy.kHighsInf)])
    model.row_upper_ = np.concatenate([right, most])
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.arange(0, height * width + 1, height)
    model.a_matrix_.index_ = np.tile(np.arange(height), width)
    model.a_matrix_.value_ = matrix.T.ravel()
    solver: Any = vars(highspy)[
        "_Highs"
    ]()  # the plain solver: `Highs` prints a banner when it is made
    for name, value in _OPTIONS.items():
        solver.setOptionValue(name, value)
    solver.passModel(model)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.maximum(np.array(solver.getSolution().col_value), 0.0) / scale


_OPTIONS: dict[str, object] = {
    "output_flag": False,
    "threads": 1,
    "solver": "simplex",
    "simplex_iteration_limit": 5000,
    "primal_feasibility_tolerance": 1e-10,
}
