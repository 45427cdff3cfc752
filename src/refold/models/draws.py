"""Random numbers of rows: that of a row depends on a seed and its place in the table alone."""

from __future__ import annotations

import numpy as np

from refold._typing import Floats

# The largest number that can be drawn.
BELOW_ONE = 1.0 - 2.0**-53


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


def draw_weights(counts: Floats, most: int, seed: int) -> Floats:
    """Return how often rows count if only so many of those that count are drawn, all alike.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.models.draws import draw_weights
    >>> draw_weights(np.array([2.0, 0.0, 1.0]), 2, seed=0).tolist()
    [2.0, 0.0, 1.0]
    >>> int(np.count_nonzero(draw_weights(np.ones(100), 10, seed=0)))
    10
    """
    if np.count_nonzero(counts) <= most:
        return counts
    keys = np.where(counts > 0.0, draws(seed, 0, len(counts)), np.inf)
    out = np.zeros(len(counts))
    chosen = np.argpartition(keys, most)[:most]
    out[chosen] = counts[chosen]
    return out
