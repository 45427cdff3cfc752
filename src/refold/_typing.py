"""Types that many rooms speak of."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

# An array or dataframe of any library.
Array = Any
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

# A fold or a distance: by name, or one of the user's own.
Operation = str | Callable[[Any], Any]

# Intervals (low, high), ascending, in a feature's own units.
Ranges = tuple[tuple[float, float], ...]

PathLike = str | os.PathLike[str]
