"""Calibrations and rates in a model file."""

from __future__ import annotations

from typing import Any

import numpy as np

from refold.decisions.thresholds import Calibration
from refold.modelfile import arrays
from refold.modelfile.fields import LARGEST_INTEGER, Field

SOURCES = ("held-out", "leave-one-out", "cross-fitted")


def calibration_written(calibration: Calibration) -> dict[str, Any]:
    """Return a calibration as the document has it."""
    return {
        "source": calibration.source,
        "scores": calibration.scores,
        "weights": calibration.weights,
    }


def read_calibration(field: Field, *, ties: bool = False) -> Calibration:
    """Return a checked calibration; with `ties` a score may be there more than once."""
    source, scores, weights = field.members("source", "scores", "weights")
    length = arrays.length_of(scores, LARGEST_INTEGER)
    distances = arrays.floats(scores, length, least=0.0, rising=not ties)
    if ties:
        falls = np.diff(distances, prepend=0.0) < 0.0
        arrays.require(scores, distances, ~falls, "must not be below the one before it")
    counts = arrays.floats(weights, length, least=0.0)
    with np.errstate(over="ignore"):
        total = float(counts.sum())
    if not 0.0 < total < np.inf:
        weights.refuse(f"must add up to a finite number above 0, not {total!r}")
    return Calibration(distances, counts, source.text(SOURCES))


def read_rate(field: Field) -> float | None:
    """Return a checked rate of false alarms, or None where the threshold promises none."""
    if field.is_null():
        return None
    rate = float(field.number())
    if not 0.0 < rate < 1.0:
        field.refuse(f"must lie between 0 and 1, is {rate!r}")
    return rate


def read_threshold(field: Field) -> float:
    """Return a checked threshold."""
    threshold = float(field.number())
    if threshold < 0.0:
        field.refuse(f"must not be negative, is {threshold!r}")
    return threshold
