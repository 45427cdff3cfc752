"""Rows as they come: which count, which come first, how many threads they are worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.algorithm.engines import exact
from refold.base import errors

# Multiplications of a matrix product in the time that a value is folded once.
_PER_STEP = 16

# Rows of which a few copies may be made.
_AT_ONCE = 2**14


def slices(X: NDArray[Any]) -> Iterator[tuple[slice, Floats]]:
    """Yield X in parts of float64, row after row in memory, that may be copied a few times."""
    for begin in range(0, len(X), _AT_ONCE):
        part = slice(begin, min(begin + _AT_ONCE, len(X)))
        yield part, np.ascontiguousarray(X[part], dtype=np.float64)


def n_threads(products: int, n_jobs: int | None) -> int:
    """Return how many threads so many multiplications are worth."""
    return exact.threads(products // _PER_STEP, n_jobs)


def weighted_sum(weights: Floats, rows: NDArray[Any]) -> Floats:
    """Return the sum of weighted rows in one order; BLAS has one for each number of threads."""
    return np.asarray(np.einsum("i,ij->j", weights, rows))


def check(X: NDArray[Any]) -> None:
    """Refuse infinity and rows with nothing observed, by their place."""
    for part, rows in slices(X):
        if np.isfinite(rows).all():
            continue
        infinite = np.argwhere(np.isinf(rows))
        if len(infinite):
            row, column = infinite[0]
            raise errors.infinite(part.start + int(row), int(column))
        empty = np.flatnonzero(np.isnan(rows).all(axis=1))
        if len(empty):
            raise errors.empty_row(part.start + int(empty[0]))


def counted(X: NDArray[Any], weights: Floats | None) -> Floats:
    """Return how often each row counts; a row with nothing observed counts for nothing."""
    counts = np.ones(len(X)) if weights is None else weights.copy()
    for part, rows in slices(X):
        empty = np.isnan(rows).all(axis=1)
        if empty.any():
            counts[part][empty] = 0.0
    return counts


def first(parts: Sequence[tuple[NDArray[Any], Floats]], n: float) -> tuple[Floats, Floats]:
    """Return the rows that make up the first `n` by weight; the last may count in part."""
    rows: list[Floats] = []
    counts: list[Floats] = []
    for X, weights in parts:
        left = n - sum(c.sum() for c in counts)
        before = np.concatenate([[0.0], np.cumsum(weights)[:-1]])
        share = np.clip(left - before, 0.0, weights)
        used = share > 0.0
        rows.append(np.ascontiguousarray(X[used], dtype=np.float64))
        counts.append(share[used])
    return np.concatenate(rows), np.concatenate(counts)
