"""Rows as they come: which count, which come first, a block at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.algorithm.engines import exact
from refold.base import errors
from refold.models.creased._blas import one_thread
from refold.models.creased._heights import BLOCK

# A thread takes as long to start as a tenth of a block; with so many it pays.
_LEAST_BLOCKS = 8

# Rows of which a few copies may be made.
_AT_ONCE = 2**14

Result = TypeVar("Result")


def blocks(X: NDArray[Any], height: int = BLOCK) -> Iterator[tuple[slice, Floats]]:
    """Yield X in blocks of float64, all of one height: the last is filled up with its last row.

    BLAS sums in an order that depends on the shape and the layout in memory; a row's result must
    not depend on these.
    """
    for begin in range(0, len(X), height):
        part = slice(begin, min(begin + height, len(X)))
        rows = np.ascontiguousarray(X[part], dtype=np.float64)
        short = height - len(rows)
        yield part, np.concatenate([rows, np.repeat(rows[-1:], short, axis=0)]) if short else rows


def slices(X: NDArray[Any]) -> Iterator[tuple[slice, Floats]]:
    """Yield X in parts of float64, row after row in memory, that may be copied a few times."""
    for begin in range(0, len(X), _AT_ONCE):
        part = slice(begin, min(begin + _AT_ONCE, len(X)))
        yield part, np.ascontiguousarray(X[part], dtype=np.float64)


def on_threads(
    work: Callable[[NDArray[Any]], Result], X: NDArray[Any], n_jobs: int | None
) -> list[Result]:
    """Return what comes of parts of X, in their order; they are whole blocks, however many."""
    n_blocks = -(-len(X) // BLOCK)
    n_threads = min(exact.threads(X.size, n_jobs), n_blocks // _LEAST_BLOCKS)
    if n_threads < 2:
        return [work(X)]
    height = BLOCK * -(-n_blocks // n_threads)
    parts = [X[begin : begin + height] for begin in range(0, len(X), height)]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(one_thread(work), parts))


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
