"""Work on rows, a block at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from refold._typing import Floats

# Rows at once: enough for BLAS to be fast, few enough that a block against 5000 rows is 5 MB.
BLOCK = 128


def slices(n: int) -> Iterator[slice]:
    """Yield the blocks of `n` rows."""
    for begin in range(0, n, BLOCK):
        yield slice(begin, min(begin + BLOCK, n))


def by_rows(function: Callable[[Floats], Floats], X: Floats) -> Floats:
    """Apply `function`, which maps rows to rows (or to one number each), block by block.

    Every block has the same height, the last one being filled up with zeros: BLAS sums in an order
    that depends on the shape, and a row's result must not depend on the rows beside it. Otherwise a
    training row that sits exactly at the threshold could change sides when it is judged alone.
    """
    results = []
    for part in slices(X.shape[0]):
        block = np.zeros((BLOCK, X.shape[1]))
        height = part.stop - part.start
        block[:height] = X[part]
        results.append(function(block)[:height])
    return np.concatenate(results)
