"""Random numbers of rows: that of a row depends on a seed and its place in the table alone."""

from __future__ import annotations

import numpy as np

from refold._typing import Floats


def draws(seed: int, first: int, rows: int) -> Floats:
    """Return a number from 0 to below 1 for each of so many rows, from the place `first` on.

    Whoever holds a part of a table thus draws what one who holds all of it would.

    Examples
    --------
    >>> from refold.models.draws import draws
    >>> bool((draws(1, 0, 10)[4:] == draws(1, 4, 6)).all())
    True
    """
    bits = np.random.PCG64(seed)
    return np.random.Generator(bits.advance(first)).random(rows)
