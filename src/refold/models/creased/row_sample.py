"""Rows on their way in: weights, slices, and a uniform sample to calibrate on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.algorithm.engines import exact
from refold.base import errors
from refold.models.draws import draws

# Multiplications of a matrix product in the time that a value is folded once.
_PER_STEP = 16

# Rows of which a few copies may be made.
_AT_ONCE = 2**14


def float_slices(X: NDArray[Any]) -> Iterator[tuple[slice, Floats]]:
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


def check_rows(X: NDArray[Any]) -> None:
    """Refuse infinity and rows with nothing observed, by their place."""
    for part, rows in float_slices(X):
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
    for part, rows in float_slices(X):
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


SIZE = 10_000


@dataclass(frozen=True, eq=False)
class Sample:
    """At most 10,000 rows, each of all rows seen with the same chance.

    Every row is given a random number; those with the smallest are kept. So samples of parts make
    the sample of the whole.
    """

    # Where the random numbers come from: that of a row depends on this and its place alone
    seed: int
    seen: int  # How many rows have had theirs
    keys: Floats  # (r,): the random numbers of the rows kept
    rows: Floats  # (r, d): these rows
    weights: Floats  # (r,): how often each counts

    @classmethod
    def empty(cls, seed: int, columns: int) -> Self:
        """Return the sample of no rows."""
        return cls(seed, 0, np.empty(0), np.empty((0, columns)), np.empty(0))

    def plus_rows(self, X: NDArray[Any], weights: Floats) -> Sample:
        """Return the sample with more rows to choose from; those that count for nothing are out."""
        keys = draws(self.seed, self.seen, len(X))
        chosen = kept(keys, weights)
        rows = np.asarray(X[chosen], dtype=np.float64)
        more = Sample(self.seed, self.seen + len(X), keys[chosen], rows, weights[chosen])
        return self.plus(more)

    def plus(self, other: Sample) -> Sample:
        """Return the sample of the rows of both."""
        keys = np.concatenate([self.keys, other.keys])
        weights = np.concatenate([self.weights, other.weights])
        chosen = kept(keys, weights)
        return Sample(
            self.seed,
            max(self.seen, other.seen),
            keys[chosen],
            np.concatenate([self.rows, other.rows])[chosen],
            weights[chosen],
        )


def kept(keys: Floats, weights: Floats) -> NDArray[np.intp]:
    """Return which rows a sample keeps, in their order: of those that count the smallest keys."""
    chosen = np.flatnonzero(weights)
    if len(chosen) > SIZE:
        chosen = np.sort(chosen[np.argpartition(keys[chosen], SIZE)[:SIZE]])
    return chosen
