"""One pass over the data: histograms that add, merge and subtract, and the chain they give.

Per feature a histogram over equal-width bins whose width is a power of two, 2^k, aligned at zero.
k is the smallest for which the range of the feature fits into `n_bins` bins, so any order, chunks
and merges of the same rows end in the same bins and counts. Each bin also knows where within it its
rows lie on average, so that a value that stands alone in its bin is represented exactly. The chain
is learned from the bins' centroids, each counted as often as it has rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold import _errors
from refold._chain import FoldChain
from refold.engines import exact
from refold.engines.exact import contributions, distances, trace, transform
from refold.kernels import _kernels

__all__ = ["Histogram", "Sketch", "contributions", "distances", "learn", "trace", "transform"]

Floats = NDArray[np.float64]
Operation = str | Callable[[Any], Any]

N_BINS = 8192


@dataclass(frozen=True, eq=False)
class Histogram:
    """One feature of a sketch.

    Parameters
    ----------
    exponent : int
        Bins are 2^exponent wide.
    first : int
        The number of the first bin: it begins at first · 2^exponent.
    counts : ndarray
        The weight of the rows in each bin.
    positions : ndarray
        The weighted sum of the rows' places within their bin, 0 at its left edge, 1 at its right.
    low, high : float
        The smallest and the largest value.
    missing : float
        The weight of the rows without a value.
    """

    exponent: int
    first: int
    counts: Floats
    positions: Floats
    low: float
    high: float
    missing: float

    @property
    def is_empty(self) -> bool:
        """Whether no row has a value."""
        return len(self.counts) == 0

    def centroids(self) -> tuple[Floats, Floats]:
        """Return the mean value of the rows of each bin that has rows, and their weight."""
        used = self.counts > 0.0
        counts = self.counts[used]
        bins = self.first + np.flatnonzero(used)
        return np.ldexp(bins + self.positions[used] / counts, self.exponent), counts

    def coarsened(self, exponent: int) -> Histogram:
        """Return the same rows in wider bins; this loses where the narrower ones were."""
        by = exponent - self.exponent
        if by == 0 or self.is_empty:
            return replace(self, exponent=exponent)
        bins = self.first + np.arange(len(self.counts), dtype=np.int64)
        wider = bins >> min(by, 62)
        left = bins - np.ldexp(wider.astype(np.float64), by)
        group = wider - wider[0]
        return replace(
            self,
            exponent=exponent,
            first=int(wider[0]),
            counts=_sum_by(group, self.counts),
            positions=np.ldexp(_sum_by(group, self.positions + self.counts * left), -by),
        )

    def plus(self, other: Histogram, n_bins: int) -> Histogram:
        """Return the histogram of the rows of both."""
        missing = self.missing + other.missing
        if self.is_empty or other.is_empty:
            return replace(other if self.is_empty else self, missing=missing)
        low, high = min(self.low, other.low), max(self.high, other.high)
        exponent = max(_kernels.least_exponent(low, high, n_bins), self.exponent, other.exponent)
        a, b = self.coarsened(exponent), other.coarsened(exponent)
        first = min(a.first, b.first)
        size = max(a.first + len(a.counts), b.first + len(b.counts)) - first
        counts, positions = np.zeros(size), np.zeros(size)
        for part in (a, b):
            at = slice(part.first - first, part.first - first + len(part.counts))
            counts[at] += part.counts
            positions[at] += part.positions
        return Histogram(exponent, first, counts, positions, low, high, missing)

    def minus(self, other: Histogram, column: int) -> Histogram:
        """Return the histogram without the rows of `other`, which must have been counted in."""
        missing = self.missing - other.missing
        if missing < 0.0:
            raise _errors.not_counted(column)
        if other.is_empty:
            return replace(self, missing=missing)
        if self.is_empty or other.exponent > self.exponent:
            raise _errors.not_counted(column)
        part = other.coarsened(self.exponent)
        begin = part.first - self.first
        end = begin + len(part.counts)
        if begin < 0 or end > len(self.counts):
            raise _errors.not_counted(column)
        counts, positions = self.counts.copy(), self.positions.copy()
        counts[begin:end] -= part.counts
        positions[begin:end] -= part.positions
        if (counts < 0.0).any():
            raise _errors.not_counted(column)
        positions[counts == 0.0] = 0.0
        return replace(self, counts=counts, positions=positions, missing=missing)


@dataclass(frozen=True, eq=False)
class Sketch:
    """Histograms of all features: what is kept of the rows seen.

    Parameters
    ----------
    n_bins : int
        The most bins that a histogram may have.
    histograms : sequence of Histogram
        One per feature.
    rows : int
        How many rows were counted.
    weight : float
        The sum of their weights.
    """

    n_bins: int
    histograms: Sequence[Histogram]
    rows: int
    weight: float

    @classmethod
    def of(
        cls,
        X: NDArray[Any],
        weights: Floats | None = None,
        *,
        n_bins: int = N_BINS,
        n_jobs: int | None = None,
    ) -> Sketch:
        """Sketch the rows of a table in one pass."""
        rows, columns = X.shape
        places = np.zeros((columns, 3), dtype=np.int64)
        extremes = np.zeros((columns, 3))
        cells = np.zeros((columns, n_bins, 2))
        threads = exact.threads(X.size * 4, n_jobs)
        exact.raise_problem(
            _kernels.sketch(exact.readable(X), weights, threads, places, extremes, cells)
        )
        histograms = [
            Histogram(
                int(exponent),
                int(first),
                cells[c, :size, 0],
                cells[c, :size, 1],
                *map(float, extremes[c]),
            )
            for c, (exponent, first, size) in enumerate(places)
        ]
        return cls(n_bins, histograms, rows, rows if weights is None else float(weights.sum()))

    def plus(self, other: Sketch) -> Sketch:
        """Return the sketch of the rows of both."""
        pairs = zip(self.histograms, other.histograms, strict=True)
        return Sketch(
            self.n_bins,
            [a.plus(b, self.n_bins) for a, b in pairs],
            self.rows + other.rows,
            self.weight + other.weight,
        )

    def minus(self, other: Sketch) -> Sketch:
        """Return the sketch without the rows of `other`."""
        pairs = zip(self.histograms, other.histograms, strict=True)
        return Sketch(
            self.n_bins,
            [a.minus(b, column) for column, (a, b) in enumerate(pairs)],
            self.rows - other.rows,
            self.weight - other.weight,
        )

    def chain(
        self, *, n_iter: int, fold: Operation, max_gain: float | None, n_jobs: int | None = None
    ) -> FoldChain:
        """Learn the chain of the rows counted: bins × n_iter work per feature, however many."""

        def learn_feature(column: int) -> FoldChain:
            values, counts = self.histograms[column].centroids()
            if len(values) == 0:
                raise _errors.empty_column(column)
            try:
                return exact.learn(
                    values[:, None], counts, n_iter=n_iter, fold=fold, max_gain=max_gain, n_jobs=1
                )
            except _errors.TableError as error:
                raise error.at_column(column) from None

        work = sum(len(h.counts) for h in self.histograms) * n_iter
        with ThreadPoolExecutor(exact.threads(work, n_jobs)) as pool:
            parts = list(pool.map(learn_feature, range(len(self.histograms))))
        return FoldChain(
            fold,
            np.hstack([part.shifts for part in parts]),
            np.hstack([part.scales for part in parts]),
            np.concatenate([part.levels for part in parts]),
            np.concatenate([part.gain for part in parts]),
        )


def _sum_by(group: NDArray[np.int64], values: Floats) -> Floats:
    return np.bincount(group, weights=values).astype(np.float64, copy=False)


def learn(
    X: NDArray[Any],
    weights: Floats | None,
    *,
    n_iter: int,
    fold: Operation,
    max_gain: float | None,
    n_jobs: int | None = None,
    n_bins: int = N_BINS,
) -> FoldChain:
    """Learn a chain in one pass over X."""
    sketch = Sketch.of(X, weights, n_bins=n_bins, n_jobs=n_jobs)
    return sketch.chain(n_iter=n_iter, fold=fold, max_gain=max_gain, n_jobs=n_jobs)
