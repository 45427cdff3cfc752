"""How sure a number of rejected rows is."""

from __future__ import annotations

from scipy import stats

from refold.judgement import Judge
from refold.report._contents import ExpectedRejections, Interval

CONFIDENCE = 0.95


def interval_of_rate(rejected: int, rows: int) -> Interval:
    """Return the Clopper-Pearson interval of the share behind a count."""
    interval = stats.binomtest(rejected, rows).proportion_ci(CONFIDENCE)
    return float(interval.low), float(interval.high)


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
    low, high = stats.betabinom(rows, a, b).ppf([tail, 1.0 - tail])
    return ExpectedRejections(rate, rate * rows, (int(low), int(high)))
