"""Columns that count the rows, so that new rows are always beyond them."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats

_REGULAR = 0.9  # the share of steps that are alike: rows may have been left out
_LEAST_ROWS = 20  # fewer than these count by chance
_LEAST_IN_ORDER = 8  # unless they go on like 1, 2, 3
_DENSE = 1.1  # numbers from 1 to n of which a tenth was left out
_LATE = 0.01  # the share of rows of a log that may come late, and how late: of its whole span

# When rows were recorded: so many follow each other, or the last tenth of them is no longer than
# this share of the time.
_ORDERED, _THINNED = 0.95, 0.2


def is_row_number(values: Floats, *, named: bool) -> bool:
    """Whether numbers, in the order of the rows, count the rows, or number them in another order.

    They go up or down by even steps; or they are whole, all different, and either without gaps or
    in the order of the rows and spread evenly, like numbers of rows that were drawn from a table.
    If they are `named` so, it is enough that whole numbers go only up, or down.

    >>> [is_row_number(np.arange(30.0) ** power, named=False) for power in (1, 3)]
    [True, False]
    """
    if len(values) < _LEAST_ROWS:
        return len(values) >= _LEAST_IN_ORDER and bool((np.diff(values) == 1.0).all())
    if evenly_spaced(values):
        return True
    if not is_whole(values):
        return False
    low, high = float(values.min()), float(values.max())
    if high - low < len(values) - 1:  # not all different
        return False
    with np.errstate(over="ignore"):  # from one end of the numbers to the other
        steps = np.diff(values)
    if (steps > 0.0).all() or (steps < 0.0).all():
        return named or _is_drawn(values)
    dense = high - low + 1.0 <= _DENSE * len(values)
    return dense and len(np.unique(values)) == len(values)


def is_chronological(seconds: Floats) -> bool:
    """Whether moments go forward from row to row, or backward, as in a log.

    >>> import numpy as np
    >>> is_chronological(np.sort(np.random.default_rng(0).integers(0, 99, 50)).astype(float))
    True
    """
    if len(seconds) < _LEAST_ROWS or seconds.min() == seconds.max():
        return False
    steps = np.diff(seconds)
    steps = steps if seconds[-1] > seconds[0] else -steps
    latest = -float(steps.min()) / float(np.ptp(seconds))
    return latest <= _LATE and bool(np.mean(steps < 0.0) <= _LATE)


def _is_drawn(values: Floats) -> bool:
    """Whether ordered whole numbers are as even as numbers drawn from all are, or more so."""
    gaps = np.abs(np.diff(values))
    mean = float(gaps.mean())
    scatter = float(gaps.var()) / (mean * mean)  # 1 − 1/mean for a geometric distribution
    # Kolmogorov and Smirnov: 1 sample in 100 is farther off.
    line = np.linspace(values[0], values[-1], len(values))
    off = float(np.abs(values - line).max()) / float(np.ptp(values))
    return scatter <= 2.0 * (1.0 - 1.0 / mean) and off <= 1.63 / sqrt(len(values))


def monotonic(X: NDArray[Any]) -> Booleans:
    """Say of each column whether it goes only up, or only down."""
    with np.errstate(over="ignore"):  # from one end of the numbers to the other
        steps = np.diff(X.astype(np.float64), axis=0)
    return np.asarray((steps > 0.0).all(axis=0) | (steps < 0.0).all(axis=0))


def evenly_spaced(values: NDArray[Any]) -> bool:
    """Whether values go up, or down, by the same step nearly everywhere; sorted ones do not."""
    if not monotonic(values[:, None])[0]:
        return False
    steps = np.diff(values.astype(np.float64))
    step = float(np.median(steps))
    slack = 1e-3 * abs(step) + 4.0 * np.spacing(float(np.abs(values).max()))
    return bool(np.mean(np.abs(steps - step) <= slack) >= _REGULAR)


def record_times(dates: Mapping[str, Floats]) -> list[str]:
    """Return the dates that may say when rows were recorded, the likeliest first.

    Records come one after another: rows are in the order of the date, or they do not become rarer
    towards its end, as dates of birth do. Of several, the later date is the likelier.
    """
    found: list[tuple[bool, float, str]] = []
    for name, seconds in dates.items():
        times = seconds[~np.isnan(seconds)]
        if len(times) < 2:
            continue
        steps = np.diff(times)
        ordered = bool(max(np.mean(steps >= 0.0), np.mean(steps <= 0.0)) >= _ORDERED)
        begin, nine_tenths, end = np.quantile(times, [0.0, 0.9, 1.0])
        if ordered or end - nine_tenths <= _THINNED * (end - begin):
            found.append((ordered, float(np.median(times)), name))
    return [name for _, _, name in sorted(found, key=lambda each: each[:2], reverse=True)]


def is_whole(values: Floats) -> bool:
    """Whether all are whole numbers."""
    return bool((values == np.floor(values)).all())
