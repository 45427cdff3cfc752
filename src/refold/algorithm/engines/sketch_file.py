"""A sketch in a model file: the bins of its histograms are many, and encoded."""

from __future__ import annotations

from typing import Any

import numpy as np

from refold.algorithm.engines.sketch import Histogram, Sketch
from refold.algorithm.kernels import LEAST_BINS, MOST_BINS
from refold.modelfile import arrays
from refold.modelfile.fields import Field

# Widths that a double can have; that the bins' places are doubles too is checked with them.
_EXPONENTS = (-1074, 1023)
# Adding and subtracting weights rounds: a row may lie this share of all weight beside its bin.
_SLACK = 1e-6


def written(sketch: Sketch) -> dict[str, Any]:
    """Return a sketch as the document has it."""
    return {
        "n_bins": sketch.n_bins,
        "rows": sketch.rows,
        "weight": sketch.weight,
        "histograms": [_written(histogram) for histogram in sketch.histograms],
    }


def _written(histogram: Histogram) -> dict[str, Any]:
    return {
        "exponent": histogram.exponent,
        "rows": histogram.rows,
        "missing": histogram.missing,
        "low": histogram.low,
        "high": histogram.high,
        "bins": arrays.encoded(histogram.bins),
        "counts": arrays.encoded(histogram.counts),
        "positions": arrays.encoded(histogram.positions),
    }


def read(field: Field, n_features: int, *, empty: bool = False) -> Sketch:
    """Return a checked sketch; with `empty` it, or some of its columns, may have no value."""
    n_bins, rows, weight, histograms = field.members("n_bins", "rows", "weight", "histograms")
    most, number = n_bins.integer(LEAST_BINS, MOST_BINS), rows.integer(0 if empty else 1)
    total = weight.positive() if number else weight.number()
    least = 0 if empty else 1
    return Sketch(
        most,
        [_read(histogram, most, total, least) for histogram in histograms.items(n_features)],
        number,
        total,
    )


def _read(field: Field, n_bins: int, total: float, least: int) -> Histogram:
    exponent, rows, missing, low, high, bins, counts, positions = field.members(
        "exponent", "rows", "missing", "low", "high", "bins", "counts", "positions"
    )
    length = arrays.length_of(bins, n_bins, least=least)
    histogram = Histogram(
        exponent.integer(*_EXPONENTS),
        arrays.integers(bins, length),
        arrays.floats(counts, length),
        arrays.floats(positions, length),
        float(low.number()),
        float(high.number()),
        float(missing.number()),
        rows.integer(0),
    )
    if histogram.missing < 0.0:
        missing.refuse(f"must not be negative, is {histogram.missing!r}")
    if histogram.high < histogram.low:
        high.refuse("must not be below the smallest value")
    if (histogram.rows == 0) != (length == 0) and least == 0:
        rows.refuse(f"must be 0 if, and only if, there is no bin, not {histogram.rows}")
    if length:
        _check_bins(bins, histogram)
    _check_rows(counts, positions, histogram, total)
    return histogram


def _check_bins(field: Field, histogram: Histogram) -> None:
    """Bins ascend within the range."""
    bins = histogram.bins
    rising = np.append(True, bins[1:] > bins[:-1])
    arrays.require(field, bins, rising, "must be above the one before it")
    with np.errstate(over="ignore"):
        first, last = np.ldexp([histogram.low, histogram.high], -histogram.exponent)
    if not (first <= float(bins[0]) + 1.0 and last >= float(bins[-1])):
        field.refuse("must lie between the smallest and the largest value")


def _check_rows(counts: Field, positions: Field, histogram: Histogram, total: float) -> None:
    """Every bin has rows, and they lie within it."""
    weight, place = histogram.counts, histogram.positions
    arrays.require(counts, weight, weight > 0.0, "must be above 0")
    slack = _SLACK * (1.0 + total)
    within = (place >= -slack) & (place <= weight + slack)
    arrays.require(positions, place, within, "must lie between 0 and the bin's count")
    with np.errstate(over="ignore"):
        centroids, _ = histogram.centroids()
        counted = float(weight.sum()) + histogram.missing
    arrays.require(positions, place, np.isfinite(centroids), "must lie in a finite bin")
    if not abs(counted - total) <= slack:
        counts.refuse(f"and what is missing add up to {counted!r}, the weight of all is {total!r}")
