"""Labels of rows of which it is known what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from refold._typing import Array, Integers


def read_labels(y: Array) -> NDArray[Any]:
    """Return labels as one flat array."""
    if y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None: labels say which "
            "rows are targets. To learn from target rows alone, fit the estimator inside itself."
        )
    return np.asarray(column_or_1d(y))


def target_rows(labels: NDArray[Any], target: Any) -> NDArray[np.intp]:
    """Return where the target rows are; there must be one."""
    rows = np.flatnonzero(labels == target)
    if rows.size == 0:
        some = np.unique(labels)[:5].tolist()
        raise ValueError(
            f"No row of y has the target label {target!r}; its labels are {some}. Set `target` to "
            "the label of normal rows; in cross-validation, use StratifiedKFold."
        )
    return rows


def signs_of(labels: NDArray[Any], target: Any, rows: int) -> Integers:
    """Return 1 for target rows and -1 for others; there is a label for each of so many rows."""
    if len(labels) != rows:
        raise ValueError(f"X_val has {rows} rows and y_val {len(labels)} labels.")
    signs = np.full(rows, -1)
    signs[target_rows(labels, target)] = 1
    return signs
