"""The summary of the training rows in a model file: a feature's quantiles are one row."""

from __future__ import annotations

from typing import Any

import numpy as np

from refold._typing import Floats
from refold.columns import box_file
from refold.columns.summary import N_QUANTILES, Summary
from refold.modelfile import arrays
from refold.modelfile.fields import Field

_ROUNDING = 2.0**-40


def written(summary: Summary) -> dict[str, Any]:
    """Return a summary as the document has it."""
    return {
        "rows": summary.rows,
        "weight": summary.weight,
        "sampled": summary.sampled,
        "missing": arrays.written(summary.missing),
        "low": arrays.written(summary.low),
        "high": arrays.written(summary.high),
        "resolution": arrays.written(summary.resolution),
        "quantiles": arrays.written(summary.quantiles.T),
        "box": None if summary.box is None else box_file.written(summary.box),
    }


def read(field: Field, n_features: int, *, sketched: bool) -> Summary:
    """Return a checked summary; a sketch's quantiles may be a rounding error out of place."""
    rows, weight, sampled, missing, low, high, resolution, quantiles, box = field.members(
        "rows", "weight", "sampled", "missing", "low", "high", "resolution", "quantiles", "box"
    )
    absent = arrays.floats(missing, n_features)
    arrays.require(missing, absent, absent >= 0.0, "must not be negative")
    least, most = arrays.floats(low, n_features), arrays.floats(high, n_features)
    arrays.require(high, most, most >= least, "must not be below the smallest value")
    width = arrays.floats(resolution, n_features)
    arrays.require(resolution, width, width >= 0.0, "must not be negative")
    n_rows = rows.integer(1)
    slack = np.maximum(np.abs(least), np.abs(most)) * (_ROUNDING if sketched else 0.0)
    return Summary(
        rows=n_rows,
        weight=weight.positive(),
        missing=absent,
        low=least,
        high=most,
        quantiles=_quantiles(quantiles, least, most, slack),
        sampled=sampled.integer(1, n_rows),
        resolution=width,
        box=None if box.is_null() else box_file.read(box, n_features),
    )


def _quantiles(field: Field, low: Floats, high: Floats, slack: Floats) -> Floats:
    quantiles = arrays.floats(field, len(low), N_QUANTILES)
    # Halves: the sum of two large numbers may overflow.
    for number, (row, least, most, out) in enumerate(
        zip(quantiles, low / 2 - slack, high / 2 + slack, slack, strict=True)
    ):
        place, half = field.at(number), row / 2
        within = (half >= least) & (half <= most)
        arrays.require(place, row, within, "must lie between the smallest and the largest value")
        rising = np.append(True, half[1:] >= half[:-1] - out)
        arrays.require(place, row, rising, "must not be below the one before it")
    return np.ascontiguousarray(quantiles.T)
