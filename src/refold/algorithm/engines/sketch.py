"""One pass over the data: histograms that add, merge and subtract, and the chain they give.

Per feature a histogram over equal-width bins whose width is a power of two, 2^k, aligned at zero.
k is the smallest for which the range of the feature fits into `n_bins` bins, so any order, chunks
and merges of the same rows end in the same bins and counts. Each bin also knows where within it its
rows lie on average, to 2^-52 of the range of all bins, so that integers (below 2^52) that stand
alone in their bin are represented exactly, and other values as well as doubles of that range can.
The chain is learned from the bins' centroids, each counted as often as it has rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats, Operation
from refold.algorithm import kernels
from refold.algorithm.chain import FoldChain
from refold.algorithm.engines import exact
from refold.algorithm.engines.exact import contributions, distances, trace, transform
from refold.base import errors

__all__ = [
    "GrowingSketch",
    "Histogram",
    "Sketch",
    "contributions",
    "distances",
    "learn",
    "trace",
    "transform",
]

N_BINS = 8192
# Weights that are not whole numbers do not add up to the same bits in another order: a difference
# below this share is none.
_ROUNDING = 2.0**-40
# Histograms are added by writing down all bins, if these are not so many times those with rows.
_SPREAD = 8


@dataclass(frozen=True, eq=False)
class Histogram:
    """One feature of a sketch: the bins that have rows."""

    exponent: int  # Bins are 2^exponent wide
    # The numbers of the bins that have rows, ascending; bin i begins at i · 2^exponent
    bins: NDArray[np.int64]
    counts: Floats  # The weight of the rows in each of them
    # The weighted sum of the rows' places within their bin, 0 at its left edge, 1 at its right
    positions: Floats
    low: float  # The smallest and the largest value
    high: float
    missing: float  # The weight of the rows without a value
    rows: int  # How many rows have a value

    def centroids(self) -> tuple[Floats, Floats]:
        """Return the mean value of the rows of each bin, and their weight."""
        places = self.bins + self.positions / self.counts
        return places * math.ldexp(1.0, self.exponent), self.counts

    def coarsened(self, exponent: int) -> Histogram:
        """Return the same rows in wider bins; this loses where the narrower ones were."""
        by = exponent - self.exponent
        if by == 0 or self.rows == 0:
            return replace(self, exponent=exponent)
        wider = self.bins >> min(by, 62)
        left = np.ldexp(self.bins.astype(np.float64), -by) - wider  # the old edge in the new bin
        bins, group = np.unique(wider, return_inverse=True)
        positions = _sum_by(group, np.ldexp(self.positions, -by) + self.counts * left)
        counts = _sum_by(group, self.counts)
        return replace(self, exponent=exponent, bins=bins, counts=counts, positions=positions)

    def plus(self, other: Histogram, n_bins: int) -> Histogram:
        """Return the histogram of the rows of both."""
        missing = self.missing + other.missing
        if self.rows == 0 or other.rows == 0:
            return replace(other if self.rows == 0 else self, missing=missing)
        rows, low, high = (
            self.rows + other.rows,
            min(self.low, other.low),
            max(self.high, other.high),
        )
        most = n_bins if rows > n_bins else kernels.ANY_NUMBER_OF_BINS
        needed = kernels.least_exponent(low, high, most)
        exponent = max(needed, self.exponent, other.exponent)
        parts = self.coarsened(exponent), other.coarsened(exponent)
        return Histogram(exponent, *_added(*parts), low, high, missing, rows)

    def minus(self, other: Histogram, column: int) -> Histogram:
        """Return the histogram without the rows of `other`, which must have been counted in."""
        missing, rows = self.missing - other.missing, self.rows - other.rows
        if (
            missing < -_ROUNDING * self.missing
            or rows < 0
            or (other.rows and other.exponent > self.exponent)
        ):
            raise errors.not_counted(column)
        part = other.coarsened(self.exponent)
        at = np.searchsorted(self.bins, part.bins)
        if (at == len(self.bins)).any() or (self.bins[at] != part.bins).any():
            raise errors.not_counted(column)
        counts, positions = self.counts.copy(), self.positions.copy()
        counts[at] -= part.counts
        positions[at] -= part.positions
        least = _ROUNDING * self.counts
        if (counts < -least).any():
            raise errors.not_counted(column)
        left = counts > least
        return replace(
            self,
            bins=self.bins[left],
            counts=counts[left],
            positions=positions[left],
            missing=max(missing, 0.0),
            rows=rows,
        )


@dataclass(frozen=True, eq=False)
class Sketch:
    """Histograms of all features: what is kept of the rows seen."""

    n_bins: int  # the most bins that a histogram may have
    histograms: Sequence[Histogram]  # one per feature
    rows: int  # how many rows were counted
    weight: float  # the sum of their weights

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
        parts = kernels.sketch(X, weights, n_bins, exact.threads(X.size * 4, n_jobs))
        rows = X.shape[0]
        weight = rows if weights is None else float(weights.sum())
        return cls(n_bins, [Histogram(*part) for part in parts], rows, weight)

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
        columns = [histogram.centroids() for histogram in self.histograms]
        return exact.learn_each(columns, n_iter=n_iter, fold=fold, max_gain=max_gain, n_jobs=n_jobs)


class GrowingSketch:
    """A sketch of columns that come in parts; they are read where they lie.

    Parameters
    ----------
    columns : int
        How many there are.
    n_bins : int
        The most bins that a histogram may have.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.algorithm.engines.sketch import GrowingSketch
    >>> growing = GrowingSketch(2, 8192)
    >>> growing.add([np.array([1.0, 3.0]), np.array([2.0, np.nan])])
    >>> growing.add([np.array([4.0]), np.array([5.0])])
    >>> [histogram.rows for histogram in growing.sketch().histograms]
    [3, 2]
    """

    def __init__(self, columns: int, n_bins: int) -> None:
        self._n_bins, self._rows = n_bins, 0
        self._tallies = [kernels.SketchTally(n_bins) for _ in range(columns)]

    def add(self, columns: Iterable[Floats]) -> None:
        """Count more rows; errors number them from 0."""
        rows = 0
        for number, (tally, values) in enumerate(zip(self._tallies, columns, strict=True)):
            tally.add(values, first=0, column=number)
            rows = len(values)
        self._rows += rows

    def sketch(self) -> Sketch:
        """Return the sketch of all rows so far."""
        histograms = [Histogram(*tally.histogram()) for tally in self._tallies]
        return Sketch(self._n_bins, histograms, self._rows, self._rows)


def _added(a: Histogram, b: Histogram) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return the bins, counts and positions of two histograms with the same exponent."""
    first, last = min(a.bins[0], b.bins[0]), max(a.bins[-1], b.bins[-1])
    if last - first > _SPREAD * (len(a.bins) + len(b.bins)):
        bins, group = np.unique(np.concatenate([a.bins, b.bins]), return_inverse=True)
        counts = _sum_by(group, np.concatenate([a.counts, b.counts]))
        return bins, counts, _sum_by(group, np.concatenate([a.positions, b.positions]))
    # Most bins between the first and the last have rows: to write them all down takes no sorting.
    counts, positions = np.zeros((2, last - first + 1))
    for part in (a, b):
        at = part.bins - first
        counts[at] += part.counts
        positions[at] += part.positions
    there = np.flatnonzero(counts)
    return first + there, counts[there], positions[there]


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
