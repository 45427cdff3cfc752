"""How sure a number of rejected rows is."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from refold.decisions.thresholds import Calibration
from refold.report._contents import Expected, Interval

CONFIDENCE = 0.95


def interval_of_rate(rejected: int, rows: int) -> Interval:
    """Return the Clopper-Pearson interval of the share behind a count."""
    tail = (1.0 - CONFIDENCE) / 2.0
    low = special.betaincinv(rejected, rows - rejected + 1, tail) if rejected else 0.0
    high = special.betaincinv(rejected + 1, rows - rejected, 1.0 - tail) if rejected < rows else 1.0
    return float(low), float(high)


def expected_of(model: Any, rows: int) -> Expected | None:
    """Return how many of so many normal rows a calibrated model would reject."""
    calibration: Calibration | None = getattr(model, "calibration_", None)
    if calibration is None:
        return None
    above = float(calibration.weights[calibration.scores > model.threshold_].sum())
    # The threshold is one of the calibration rows' distances, and counts as one more above: the
    # chance that a new row lies above it is then distributed as Beta(above + 1, total - above).
    a, b = above + 1.0, max(calibration.total - above, 0.0)
    rate = a / (a + b)
    if b == 0.0:
        return Expected(rate, rate * rows, (rows, rows))
    return Expected(rate, rate * rows, _beta_binomial_interval(rows, a, b))


def _beta_binomial_interval(rows: int, a: float, b: float) -> tuple[int, int]:
    """Return between which counts the middle 95 % of a beta-binomial distribution lie."""
    count = np.arange(rows + 1.0)
    logarithm = -special.betaln(count + 1.0, rows - count + 1.0) - np.log(rows + 1.0)
    logarithm += special.betaln(count + a, rows - count + b) - special.betaln(a, b)
    cumulated = np.cumsum(np.exp(logarithm))
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = np.searchsorted(cumulated, [tail, 1.0 - tail])
    return int(low), int(min(high, rows))
