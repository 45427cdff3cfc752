"""What is remembered of the training rows: enough to describe each feature, no row itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold.engines.sketch import Histogram, Sketch

Floats = NDArray[np.float64]

N_QUANTILES = 257
# Rows whose values are sorted: more of them would cost more than learning does.
SAMPLED_ROWS = 8192
_BLOCK_ROWS = 2048  # a block stays in the cache while it is looked at three times


@dataclass(frozen=True, eq=False)
class Summary:
    """The training rows, described feature by feature.

    Parameters
    ----------
    rows : int
        How many rows were learned from.
    weight : float
        The sum of their weights.
    missing : ndarray of shape (d,)
        The weight of the rows without a value.
    low, high : ndarray of shape (d,)
        The smallest and the largest value.
    quantiles : ndarray of shape (257, d)
        ``quantiles[k]`` is the smallest value with at least k/256 of the weight at or below it (the
        inverted distribution function), so the share of training rows at or below any x lies
        between k/256 and (k+1)/256, k being the last quantile that is not above x.
    sampled : int
        How many rows the quantiles were taken from: at most 8192, drawn without looking.
    resolution : ndarray of shape (d,)
        How far a quantile may lie from its value: the width of a sketch's bins, else 0.
    """

    rows: int
    weight: float
    missing: Floats
    low: Floats
    high: Floats
    quantiles: Floats
    sampled: int
    resolution: Floats

    @classmethod
    def of(cls, X: NDArray[Any], weights: Floats | None) -> Summary:
        """Describe a table that an engine has found usable: every column has a value."""
        rows, columns = X.shape
        low, high, missing = _extremes(X, weights)
        sample, w = X, weights
        if rows > SAMPLED_ROWS:
            # Drawn, not every n-th row: tables have periods. The seed makes the model repeatable.
            drawn = np.random.default_rng(0).choice(rows, SAMPLED_ROWS, replace=False)
            sample, w = X[drawn], None if weights is None else weights[drawn]
        return cls(
            rows=rows,
            weight=float(rows if weights is None else weights.sum()),
            missing=missing,
            low=low,
            high=high,
            quantiles=_quantiles(sample, w, low, high),
            sampled=len(sample),
            resolution=np.zeros(columns),
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


def _extremes(X: NDArray[Any], weights: Floats | None) -> tuple[Floats, Floats, Floats]:
    """Return each column's smallest and largest value and the weight of what is missing."""
    columns = X.shape[1]
    low, high = np.full(columns, np.inf), np.full(columns, -np.inf)
    missing = np.zeros(columns)
    for begin in range(0, len(X), _BLOCK_ROWS):
        block = np.ascontiguousarray(X[begin : begin + _BLOCK_ROWS].T, dtype=np.float64)
        w = None if weights is None else weights[begin : begin + _BLOCK_ROWS]
        if w is not None:
            block[:, w == 0.0] = np.nan  # weight zero is the same as leaving the row out
        if np.isnan(block.min(axis=1)).any():
            absent = np.isnan(block)
            missing += absent.sum(axis=1) if w is None else absent @ w
        np.fmin(low, np.fmin.reduce(block, axis=1), out=low)
        np.fmax(high, np.fmax.reduce(block, axis=1), out=high)
    return low, high, missing


def _quantiles(X: NDArray[Any], weights: Floats | None, low: Floats, high: Floats) -> Floats:
    """Return the quantiles of each column of a sample; the outermost are those of all rows."""
    quantiles = np.empty((N_QUANTILES, X.shape[1]))
    for j, column in enumerate(X.T):
        used = ~np.isnan(column) if weights is None else ~np.isnan(column) & (weights > 0.0)
        values = column[used].astype(np.float64, copy=False)
        if weights is None or len(values) == 0:
            values.sort()
            quantiles[:, j] = _inverted(values, np.arange(1.0, len(values) + 1.0), high[j])
        else:
            order = np.argsort(values)
            quantiles[:, j] = _inverted(values[order], np.cumsum(weights[used][order]), high[j])
    quantiles[0], quantiles[-1] = low, high
    return quantiles


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
