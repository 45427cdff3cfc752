"""What is remembered of the training rows: enough to describe each feature, no row itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.algorithm import kernels
from refold.algorithm.engines import exact
from refold.algorithm.engines.sketch import Histogram, Sketch
from refold.columns.box import Box, side_of
from refold.columns.extremes import UNKNOWN, ColumnExtremes

N_QUANTILES = 257
# Digits behind the point that a column may have, and the share of its values that must have them.
_MOST_DECIMALS, _NEARLY_ALL = 3, 0.98
_NEAR, _MOST_NEAR = 0.1, 6
_SORTING = 100  # sorting a value takes as long as so many levels of folding
# Rows whose values are sorted: more of them would cost more than learning does.
SAMPLED_ROWS = 8192


@dataclass(frozen=True, eq=False)
class Summary:
    """The training rows, described feature by feature."""

    rows: int  # how many rows were learned from
    weight: float  # the sum of their weights
    missing: Floats  # (d,): the weight of the rows without a value
    # low, high: (d,): the smallest and the largest value.
    low: Floats
    high: Floats
    # (257, d): ``quantiles[k]`` is the smallest value with at least k/256 of the weight at or below
    # it (the inverted distribution function), so the share of training rows at or below any x lies
    # between k/256 and (k+1)/256, k being the last quantile that is not above x.
    quantiles: Floats
    sampled: int  # how many rows the quantiles were taken from: at most 8192, drawn without looking
    # (d,): how far a quantile may lie from its value: the width of a sketch's bins, else 0.
    resolution: Floats
    # From where to where each feature was taken as normal, without cells far from all others; None
    # where only a sketch was kept.
    box: Box | None = None

    @classmethod
    def of(cls, X: NDArray[Any], weights: Floats | None, *, n_jobs: int | None = None) -> Summary:
        """Describe a table that an engine has found usable: every column has a value."""
        rows, columns = X.shape
        low, high, missing = kernels.extremes(X, weights, exact.threads(X.size, n_jobs))
        if rows > SAMPLED_ROWS:
            # Drawn, not every n-th row: tables have periods. The seed makes the model repeatable.
            drawn = np.sort(np.random.default_rng(0).choice(rows, SAMPLED_ROWS, replace=False))
        else:
            drawn = np.arange(rows)
        return cls(
            rows=rows,
            weight=float(rows if weights is None else weights.sum()),
            missing=missing,
            low=low,
            high=high,
            quantiles=_quantiles(X, weights, drawn, (low, high), n_jobs),
            sampled=len(drawn),
            resolution=np.zeros(columns),
            box=_box(X, weights, drawn, (low, high)),
        )

    @classmethod
    def of_sketch(cls, sketch: Sketch) -> Summary:
        """Describe the rows that a sketch has counted."""
        histograms = sketch.histograms
        return cls(
            rows=sketch.rows,
            weight=sketch.weight,
            missing=np.array([h.missing for h in histograms]),
            low=np.array([h.low for h in histograms]),
            high=np.array([h.high for h in histograms]),
            quantiles=np.stack([_quantiles_of_bins(h) for h in histograms], axis=1),
            sampled=sketch.rows,
            resolution=np.ldexp(1.0, [h.exponent for h in histograms]),
        )


def _box(
    X: NDArray[Any],
    weights: Floats | None,
    drawn: NDArray[np.int64],
    extremes: tuple[Floats, Floats],
) -> Box:
    """Return the box of a sample; it has the outermost values of all rows."""
    if len(drawn) < len(X):
        drawn = drawn[::4]  # a quarter of it will do, and takes less memory
    counts = np.ones(len(drawn)) if weights is None else weights[drawn]
    # Which rows have the outermost values is not known.
    weighed, numbers = np.append(counts, (1.0, 1.0)), np.append(drawn, (UNKNOWN, UNKNOWN))
    sides = []
    for j, ends in enumerate(zip(*extremes, strict=True)):
        values = np.asarray(X[drawn, j], dtype=np.float64)  # one at a time: nothing is copied whole
        if len(drawn) < len(X):
            edge = ColumnExtremes.of(np.append(values, ends), weighed, numbers)
        else:
            edge = ColumnExtremes.of(values, counts, drawn)
        sides.append(side_of(edge, values, counts))
    # Only a model that judges by a box has zero as an end.
    return replace(Box.of_sides(sides), floor=None, ceiling=None)


def _quantiles(
    X: NDArray[Any],
    weights: Floats | None,
    drawn: NDArray[np.int64],
    extremes: tuple[Floats, Floats],
    n_jobs: int | None,
) -> Floats:
    """Return the quantiles of each column of a sample; the outermost are those of all rows."""
    low, high = extremes
    n_threads = exact.threads(_SORTING * len(drawn) * X.shape[1], n_jobs)
    if weights is None:
        quantiles = kernels.quantiles(X, drawn, N_QUANTILES, n_threads)
        quantiles = np.where(np.isnan(quantiles), high, quantiles)
    else:
        columns = range(X.shape[1])
        of_columns = [_weighted(X[drawn, j], weights[drawn], high[j]) for j in columns]
        quantiles = np.column_stack(of_columns)
    quantiles[0], quantiles[-1] = low, high
    return quantiles


def _weighted(values: NDArray[Any], weights: Floats, otherwise: float) -> Floats:
    used = ~np.isnan(values) & (weights > 0.0)
    values, weights = values[used].astype(np.float64, copy=False), weights[used]
    order = kernels.order(values)
    return _inverted(values[order], np.cumsum(weights[order]), otherwise)


def _inverted(values: Floats, up_to: Floats, otherwise: float) -> Floats:
    """Return the smallest value that has each share of the weight at or below it."""
    if len(values) == 0:  # a sample may miss all rows of a column that is nearly empty
        return np.full(N_QUANTILES, otherwise)
    wanted = np.linspace(0.0, 1.0, N_QUANTILES) * up_to[-1]
    at = np.searchsorted(up_to, wanted, side="left")
    return np.asarray(values[np.minimum(at, len(values) - 1)], dtype=np.float64)


def _quantiles_of_bins(histogram: Histogram) -> Floats:
    centroids, counts = histogram.centroids()
    quantiles = _inverted(centroids, np.cumsum(counts), histogram.high)
    quantiles[0], quantiles[-1] = histogram.low, histogram.high
    return quantiles


def decimals_of(values: Floats) -> int | None:
    """Return how many digits values have behind the point; None if no few are enough.

    More are allowed to values that differ by little beside their size, such as degrees of latitude.
    """
    known = values[np.isfinite(values)]
    near = len(known) > 0 and 0.0 < np.ptp(known) < _NEAR * np.abs(known).max()
    for decimals in range(_MOST_NEAR + 1 if near else _MOST_DECIMALS + 1):
        if np.isclose(np.round(known, decimals), known, rtol=1e-12, atol=0.0).mean() > _NEARLY_ALL:
            return decimals
    return None
