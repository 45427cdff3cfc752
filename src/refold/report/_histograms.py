"""Counts for pictures: a fixed number of bins, whatever the number of rows."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats, Ranges
from refold.explanation.gauges import around, capped_sum
from refold.report._contents import Distances, FeatureHistogram

BINS = 48
# Distances below this share of the threshold are in the first bin: all of them are very normal.
_NEAREST = 0.01
_LEAST, _MOST = sys.float_info.min, sys.float_info.max


def histogram_of(quantiles: Floats, normal: Ranges, column: NDArray[Any]) -> FeatureHistogram:
    """Put training quantiles and new values into the same bins.

    They reach from the normal range as far again to both sides, if there are values: a single
    value far out would squeeze everything else into one bin.
    """
    values: Floats = column[~np.isnan(column)].astype(np.float64, copy=False)
    low, high = _shown(quantiles, normal, values)
    # A quarter of everything: the width of a range can be more than the largest number.
    edges = np.linspace(low / 4.0, high / 4.0, BINS + 1)
    place = np.searchsorted(edges[1:-1], values / 4.0, side="right")
    below, above = values < low, values > high
    counts = np.bincount(place[~below & ~above], minlength=BINS)
    return FeatureHistogram(
        edges=np.concatenate([[low], edges[1:-1] * 4.0, [high]]),
        training=_shares(quantiles / 4.0, edges),
        new=counts / max(len(values), 1),
        below=int(np.count_nonzero(below)),
        above=int(np.count_nonzero(above)),
    )


def _shown(quantiles: Floats, normal: Ranges, values: Floats) -> tuple[float, float]:
    low, high = float(quantiles[0]), float(quantiles[-1])
    if len(values):
        low, high = min(low, float(values.min())), max(high, float(values.max()))
    first, last = around(normal)
    if first < last:
        low, high = max(low, first), min(high, last)
    if low == high:
        margin = abs(low) / 16.0 or 0.5
        low, high = -capped_sum(-low, margin), capped_sum(high, margin)
    return low, high


def _shares(quantiles: Floats, edges: Floats) -> Floats:
    """Return the share of training values in each bin; between two quantiles they are spread."""
    last = len(quantiles) - 1
    k = np.searchsorted(quantiles, edges, side="left")  # so many quantiles are smaller
    left, right = np.clip(k - 1, 0, last), np.clip(k, 0, last)
    step = quantiles[right] - quantiles[left]
    along = np.divide(edges - quantiles[left], step, out=np.zeros_like(edges), where=step > 0.0)
    below = (left + along) / last
    if edges[-1] >= quantiles[-1]:  # the last bin has its upper edge
        below[-1] = 1.0
    return np.diff(below)


def distances_of(distances: Floats, threshold: float) -> Distances:
    """Count distances; the threshold is an edge, so that no bin is half normal.

    Bins are equally wide on a logarithmic axis, on which no row is too far out to be seen.
    """
    positive = distances[distances > 0.0]
    unit = max(threshold or float(positive.min(initial=1.0)), _LEAST)
    low = min(max(float(positive.min(initial=unit)), _NEAREST * unit), unit / 2.0)
    high = max(float(distances.max(initial=0.0)), 2.0 * unit)
    below, above = np.log(unit) - np.log(max(low, _LEAST)), np.log(high) - np.log(unit)
    step = (below + above) / BINS
    first = -int(np.ceil(below / step))
    powers = np.arange(first, int(np.ceil(above / step)) + 1) * step
    edges = np.exp(np.minimum(np.log(unit) + powers, np.log(_MOST)))
    edges[-first], edges[-1] = unit, max(edges[-1], high)
    edges = np.concatenate([[0.0], edges if threshold > 0.0 else [0.0, *edges]])
    place = np.searchsorted(edges, distances, side="left") - 1
    return Distances(edges, np.bincount(np.maximum(place, 0), minlength=len(edges) - 1))
