"""A feature's normal range, or ranges, in its own units.

They come from the training distribution: the levels of a fold chain are too jagged to be read.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from refold._typing import Ranges
from refold.columns.summary import Summary

# A gap splits a range if it is this wide, compared with the whole range, …
_GAP_SHARE = 0.1
# … this many times as wide as steps between quantiles usually are, …
_GAP_STEPS = 8.0
# … and has this many quantiles, about 2 %, and rows on either side: a tail is no second range.
_GAP_MARGIN = 5
# As few distinct values as this are named one by one.
_FEW_VALUES = 5
_FEW_ROWS = 50


def normal_ranges(summary: Summary) -> list[Ranges]:
    """Return for each feature the ranges in which all but about 1 in 128 training rows lie."""
    return [_ranges(quantiles, summary.sampled) for quantiles in summary.quantiles.T]


def _ranges(quantiles: NDArray[np.float64], rows: int) -> Ranges:
    inner = quantiles[1:-1] if rows >= len(quantiles) else quantiles
    values = np.unique(inner)
    if len(values) == 1 or (len(values) <= _FEW_VALUES and rows >= _FEW_ROWS):
        return tuple((float(v), float(v)) for v in values)
    quarter = inner / 4.0  # the range of very large values would overflow
    steps, whole = np.diff(quarter), quarter[-1] - quarter[0]
    usual = np.median(steps[steps > 0.0])
    # Among few rows wide steps are chance: the widest of n is about ln(n)/n of the range.
    share = max(_GAP_SHARE, 4.0 * np.log(rows) / rows)
    gap = (steps >= share * whole) & (steps / _GAP_STEPS >= usual)
    margin = max(_GAP_MARGIN, _GAP_MARGIN * len(quantiles) // rows)
    gap[:margin] = gap[-margin:] = False
    ends = np.flatnonzero(gap)
    lows = inner[np.concatenate([[0], ends + 1])]
    highs = inner[np.concatenate([ends, [len(inner) - 1]])]
    return tuple(zip(lows.tolist(), highs.tolist(), strict=True))
