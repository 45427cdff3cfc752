"""Arrays as the compiled loops read them, and what a loop found wrong as an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.algorithm.kernels import _kernels
from refold.base import errors

_READ_IN_PLACE = (np.dtype(np.float64), np.dtype(np.float32))

_PROBLEMS: dict[int, Callable[[int, int], Exception]] = {
    _kernels.INFINITE: errors.infinite,
    _kernels.NOTHING_OBSERVED: lambda row, column: (
        errors.empty_column(column) if row < 0 else errors.empty_row(row)
    ),
    _kernels.TOO_LITTLE_WEIGHT: lambda row, column: errors.light_column(column),
    _kernels.TOO_MUCH_WEIGHT: lambda row, column: errors.heavy_column(column),
}


def readable(X: NDArray[Any]) -> NDArray[Any]:
    """Return X itself unless its bytes are laid out as no loop can read them."""
    if X.dtype not in _READ_IN_PLACE:
        X = X.astype(np.float64)
    flags = X.flags
    if flags.aligned and flags.c_contiguous:
        return X  # nearly always, and for one row what follows takes as long as a column of it
    regular = flags.aligned and all(stride % X.itemsize == 0 for stride in X.strides)
    return X if regular else X.copy()


def contiguous(values: NDArray[Any], dtype: type = np.float64) -> NDArray[Any]:
    """Return an array whose values lie side by side, aligned and in the machine's own bytes."""
    if values.dtype == dtype and values.flags.c_contiguous and values.flags.aligned:
        return values  # what np.require finds out too, but in more time than a row takes
    return np.require(values, dtype, ("C", "A"))


def plain_weights(weights: NDArray[Any] | None) -> Floats | None:
    """Return weights in the same form; None is one for each row."""
    return None if weights is None else contiguous(weights)


def number_of(names: Sequence[str], name: str) -> int:
    """Return what the loops call a fold or a distance."""
    if name not in names:
        raise ValueError(f"{name!r} is none of {', '.join(names)}.")
    return names.index(name)


def raise_problem(problem: tuple[int, int, int]) -> None:
    """Turn what a loop found wrong with a table into an error."""
    kind, row, column = problem
    if kind:
        raise _PROBLEMS[kind](row, column)
