"""What was learned of a column, as far as shifts of it go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from refold._typing import Floats
from refold.columns.summary import Summary

# Without a box: so few different values among 257 quantiles are the steps of a discrete column.
_FEW_VALUES = 64
# … if each came so often on average.
_OFTEN = 5
# So that a thousand times the range is still a number.
_LARGEST = np.finfo(np.float64).max / 1e4


class LearnedColumn(NamedTuple):
    """From where to where a column goes."""

    low: float  # the ends of what was taken as normal
    high: float
    scale: float  # what shifts are measured by: the range; of a constant column its value
    # Values within, ascending: all of a discrete column, else some that lie where others do.
    marks: Floats
    step: float  # the smallest step of a discrete column, else 0


def learned_columns(summary: Summary) -> list[LearnedColumn]:
    """Return what is remembered of each column."""
    return [_column(summary, j) for j in range(len(summary.low))]


def _column(summary: Summary, j: int) -> LearnedColumn:
    if summary.box is None:
        low, high = float(summary.low[j]), float(summary.high[j])
        values = np.unique(summary.quantiles[:, j])
        levels = values if len(values) <= min(_FEW_VALUES, summary.sampled / _OFTEN) else None
    else:
        low, high = float(summary.box.low[j]), float(summary.box.high[j])
        levels = summary.box.levels[j]
    if high > low:
        scale = min(high / 2.0 - low / 2.0, _LARGEST) * 2.0
    else:
        scale = min(abs(high), _LARGEST) or 1.0
    if levels is not None and len(levels) > 1:
        return LearnedColumn(low, high, scale, levels, float(np.diff(levels).min()))
    among = np.clip(summary.quantiles[::16, j], low, high)
    even = low + (high / 2.0 - low / 2.0) * np.arange(13) / 6.0
    return LearnedColumn(low, high, scale, np.unique(np.append(among, even)), 0.0)
