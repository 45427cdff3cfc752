"""The distances that p-values and thresholds are read from."""

from __future__ import annotations

from typing import Any

import numpy as np

from refold.decisions.thresholds import Calibration
from refold.modelfile import arrays
from refold.modelfile.fields import LARGEST_INTEGER, Field

SOURCES = ("held-out", "leave-one-out", "cross-fitted")


def written(calibration: Calibration) -> dict[str, Any]:
    """Return a calibration as the document has it."""
    return {
        "source": calibration.source,
        "scores": arrays.written(calibration.scores),
        "weights": arrays.written(calibration.weights),
    }


def read(field: Field, *, ties: bool = False) -> Calibration:
    """Return a checked calibration; with `ties` a score may be there more than once."""
    source, scores, weights = field.members("source", "scores", "weights")
    length = arrays.length_of(scores, LARGEST_INTEGER)
    distances = arrays.floats(scores, length)
    arrays.require(scores, distances, distances >= 0.0, "must not be negative")
    step = np.diff(distances, prepend=-1.0)
    if ties:
        arrays.require(scores, distances, step >= 0.0, "must not be below the one before it")
    else:
        arrays.require(scores, distances, step > 0.0, "must be above the one before it")
    counts = arrays.floats(weights, length)
    arrays.require(weights, counts, counts >= 0.0, "must not be negative")
    with np.errstate(over="ignore"):
        total = float(counts.sum())
    if not 0.0 < total < np.inf:
        weights.refuse(f"must add up to a finite number above 0, not {total!r}")
    return Calibration(distances, counts, source.text(SOURCES))
