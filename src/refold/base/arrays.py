"""Arrays of NumPy and of other libraries."""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from refold._typing import Array

_DLPACK_CPU = 1


def is_foreign_array(X: Any) -> bool:
    """Whether X is an array-API array of another library than NumPy."""
    return bool(
        array_api_compat.is_array_api_obj(X)
        and not array_api_compat.is_numpy_array(X)
        and not array_api_compat.is_dask_array(X)
    )


def to_numpy(array: Array) -> NDArray[Any]:
    """Copy an array, from whatever device, to NumPy."""
    if array.__dlpack_device__()[0] != _DLPACK_CPU:
        array = array_api_compat.to_device(array, "cpu")
    return np.array(np.from_dlpack(array))


def take_array_rows(X: Array, rows: NDArray[np.integer[Any]]) -> Array:
    """Return some of the rows, in the array library of X."""
    xp = array_api_compat.array_namespace(X)
    return xp.take(X, xp.asarray(rows, device=array_api_compat.device(X)), axis=0)


def have_values(X: Array) -> NDArray[np.bool_]:
    """Say of each row whether it has a value."""
    xp = array_api_compat.array_namespace(X)
    missing = xp.isnan(xp.astype(X, xp.float64, copy=False))
    return to_numpy(~xp.all(missing, axis=1))
