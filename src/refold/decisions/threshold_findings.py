"""What a threshold cannot do, said when it is set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.base.advice import Advice
from refold.base.findings import Finding
from refold.base.words import percent
from refold.decisions.thresholds import Calibration

# How far beyond its column's maximum a value is that should be found, in ranges of the column.
_BEYOND = 0.25
_COLUMNS_TRIED = 200  # enough to see whether faults show
_FAR_FROM = 0.4  # the part of a rate that may be missing before it is another rate
_MOST_FALSE_ALARMS = 0.1  # above this nobody reads alarms any more


def with_faults(usual: NDArray[Any], low: Floats, high: Floats) -> NDArray[Any]:
    """Return a row again and again, each time with a fault in another column.

    Parameters
    ----------
    usual : ndarray of shape (d,)
        A typical row.
    low, high : ndarray of shape (d,)
        From where to where each column goes.

    Returns
    -------
    ndarray of shape (k, d)
        One row for each column that varies, of very many for some of them: its value there lies a
        quarter of the range beyond the largest.

    Examples
    --------
    >>> with_faults(np.array([1.0, 5.0]), np.array([0.0, 5.0]), np.array([4.0, 5.0]))
    array([[5., 5.]])
    """
    columns = np.flatnonzero(high > low)[:: max(len(low) // _COLUMNS_TRIED, 1)]
    rows = np.repeat(usual[None], len(columns), axis=0)
    with np.errstate(over="ignore"):
        beyond = np.minimum(high + _BEYOND * (high - low), np.finfo(rows.dtype).max)
    rows[np.arange(len(columns)), columns] = beyond[columns]
    return rows


def too_few_rows(
    gained: Floats, typical: float, threshold: float, calibration: Calibration
) -> Finding | None:
    """Find that a threshold is too high for faults in single columns.

    Parameters
    ----------
    gained : ndarray of shape (d,)
        What a typical row's distance gains from each of the faults that `with_faults` makes.
    typical : float
        The distance of a typical row, such as the median of left-out rows.
    threshold : float
        The threshold, in the same unit.
    calibration : Calibration
        What it was read from, in the same unit.

    Returns
    -------
    Finding or None
        ``"too-few-rows"`` if that would be caught in fewer than half of the columns.
    """
    caught = int(np.sum(typical + gained > threshold))
    if 2 * caught >= len(gained):
        return None
    rows = round(calibration.above(threshold) + max(calibration.at(threshold), 1.0))
    largest = "largest" if rows == 1 else f"{rows:,} largest"
    return Finding(
        kind="too-few-rows",
        message=f"The threshold rests on the {largest} of "
        f"{round(calibration.total):,} left-out rows, and a fault in one column would hardly be "
        "caught: a value a quarter of the range beyond the largest makes a typical row an outlier "
        f"in {caught} of {len(gained)} columns tried.",
        advice=Advice(
            "Add normal rows, leave out columns that do not matter, or allow more false "
            "alarms (a larger alpha)."
        ),
    )


def ties(calibration: Calibration, threshold: float, alpha: float) -> Finding | None:
    """Find that far fewer left-out rows lie beyond a threshold than it was set for.

    Parameters
    ----------
    calibration : Calibration
        The distances of left-out rows.
    threshold : float
        What was read from them.
    alpha : float
        The rate that it was set for.

    Returns
    -------
    Finding or None
        ``"ties"`` if many have the very same distance.
    """
    total, above, tied = calibration.total, calibration.above(threshold), calibration.at(threshold)
    if alpha * total - above < max(_FAR_FROM * alpha * total, 2.0):
        return None
    return Finding(
        kind="ties",
        message=f"{round(tied):,} of {round(total):,} left-out rows have the same distance, the "
        f"threshold: {percent(above / total, 2)} lie beyond it, not {percent(alpha)}.",
        values=(above / total,),
        advice=Advice(
            "They are rejected together only with a larger rate",
            "alpha",
            value=float(f"{(above + tied) / total:.2g}"),
        ),
    )


def false_alarms(calibration: Calibration, threshold: float) -> Finding | None:
    """Find that a threshold that no rate has set rejects many rows when they are left out.

    Parameters
    ----------
    calibration : Calibration
        The distances of left-out rows.
    threshold : float
        The threshold in use.

    Returns
    -------
    Finding or None
        ``"false-alarms"`` if more than a tenth of new normal rows are expected to be rejected.
    """
    above, total = calibration.above(threshold), calibration.total
    if above <= _MOST_FALSE_ALARMS * total:
        return None
    return Finding(
        kind="false-alarms",
        message=f"threshold={threshold:g} will reject about {100.0 * above / total:.0f} % of new "
        f"normal rows: of {round(total):,} training rows {round(above):,} lie beyond it when they "
        "are left out.",
        values=(above / total,),
        advice=Advice("Add normal rows, or ask for a rate", "alpha", value=0.05),
    )
