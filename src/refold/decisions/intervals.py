"""How sure a share is that was counted."""

from __future__ import annotations

from scipy.special import betaincinv

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
    beyond = (1.0 - CONFIDENCE) / 2.0
    low = float(betaincinv(count, rows - count + 1, beyond)) if count else 0.0
    high = float(betaincinv(count + 1, rows - count, 1.0 - beyond)) if count < rows else 1.0
    return low, high
