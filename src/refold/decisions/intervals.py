"""How sure a share is that was counted."""

from __future__ import annotations

from scipy import stats

CONFIDENCE = 0.95


def interval_of_rate(count: int, rows: int) -> tuple[float, float]:
    """Return the Clopper-Pearson interval, at 95 %, of the share behind a count.

    Examples
    --------
    >>> from refold.decisions.intervals import interval_of_rate
    >>> low, high = interval_of_rate(0, 100)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    interval = stats.binomtest(count, rows).proportion_ci(CONFIDENCE)
    return float(interval.low), float(interval.high)
