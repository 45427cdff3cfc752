"""How sure a number of rejected rows is."""

from __future__ import annotations

from typing import Any

from scipy import stats

from refold.decisions.intervals import CONFIDENCE
from refold.judgement import Judge
from refold.report._contents import ExpectedRejections

_ADDED_UP = 100_000


def expected_of(judge: Judge, rows: int) -> ExpectedRejections | None:
    """Return how many of so many normal rows a calibrated model would reject."""
    calibration = judge.calibration
    if calibration is None:
        return None
    above = calibration.rejected(judge.threshold)
    # The threshold is one of the calibration rows' distances, and counts as one more above: the
    # chance that a new row lies above it is then distributed as Beta(above + 1, total - above).
    a, b = above + 1.0, max(calibration.total - above, 0.0)
    rate = a / (a + b)
    if b == 0.0:
        return ExpectedRejections(rate, rate * rows, (rows, rows))
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = _rejections(rows, a, b).ppf([tail, 1.0 - tail])
    return ExpectedRejections(rate, rate * rows, (int(low), int(high)))


def _rejections(rows: int, a: float, b: float) -> Any:
    """Return how many of so many rows are rejected, at a chance distributed as Beta(a, b).

    SciPy adds up the chance of every number; of very many rows the share is taken for a number of
    the beta distribution with the same mean and spread.
    """
    if rows <= _ADDED_UP:
        return stats.betabinom(rows, a, b)
    size = rows * (a + b + 1.0) / (a + b + rows) - 1.0
    rate = a / (a + b)
    return stats.beta(rate * size, (1.0 - rate) * size, scale=rows)
