"""What is normal of a feature by itself, in its own units.

It comes from the training rows: the levels of a fold chain are too jagged to be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from refold._typing import Booleans, Floats, Ranges
from refold.base.once import once
from refold.columns.summary import Summary, decimals_of
from refold.judgement.number_text import one_step, rounded

# A gap splits a range if it is this wide, compared with the whole range, …
_GAP_SHARE = 0.1
# … this many times as wide as steps between quantiles usually are, …
_GAP_STEPS = 8.0
# … and has this many quantiles, about 2 %, and rows on either side: a tail is no second range.
_GAP_MARGIN = 6
# As few distinct values as this are named one by one.
_FEW_VALUES = 5
# An end so many times the middle 80 % from the next quantile is cut off, as in a box.
_FAR = 10.0
_FEW_ROWS = 50


def normal_ranges(summary: Summary) -> list[Ranges]:
    """Return for each feature the ranges that were learned, without cells that are cut off.

    A real gap, with at most 1 in 256 training rows in it, divides a range. Where only a sketch was
    kept, at most 1 in 256 at either end is cut off.

    Examples
    --------
    >>> from refold import REF
    >>> from refold.judgement.normal import normal_ranges
    >>> model = REF().fit([[20.1, 5.0], [19.8, 5.0], [20.3, 6.0], [20.0, 6.0]])
    >>> normal_ranges(model.summary_)
    [((19.8, 20.3),), ((5.0, 6.0),)]
    """
    box, rows = summary.box, summary.sampled
    if box is None:
        return [_of_quantiles(quantiles, rows) for quantiles in summary.quantiles.T]
    return [
        _of_levels(levels) if levels is not None else _ranges(np.clip(q, low, high), rows)
        for low, high, levels, q in zip(
            box.low, box.high, box.levels, summary.quantiles.T, strict=True
        )
    ]


def _of_levels(levels: Floats) -> Ranges:
    if len(levels) <= _FEW_VALUES:
        return tuple((v, v) for v in levels.tolist())
    return ((float(levels[0]), float(levels[-1])),)


def _of_quantiles(quantiles: Floats, rows: int) -> Ranges:
    """Return the ranges of a column of which only quantiles are known: ends far out are cut off."""
    quarter = quantiles / 4.0  # the range of very large values would overflow
    tenth = len(quantiles) // 10
    far = _FAR * (quarter[-1 - tenth] - quarter[tenth])
    first = int(quarter[1] - quarter[0] > far > 0.0)
    last = int(quarter[-1] - quarter[-2] > far > 0.0)
    inner = quantiles[first : len(quantiles) - last]
    values = np.unique(inner)
    few = len(values) <= _FEW_VALUES and rows >= _FEW_ROWS
    return _of_levels(values) if few else _ranges(inner, rows)


def _ranges(inner: Floats, rows: int) -> Ranges:
    """Divide a range, given by its ends and quantiles between them, where there are gaps."""
    if inner[0] == inner[-1]:
        return ((float(inner[0]), float(inner[0])),)
    quarter = inner / 4.0  # the range of very large values would overflow
    steps, whole = np.diff(quarter), quarter[-1] - quarter[0]
    usual = np.median(steps[steps > 0.0])
    # Among few rows wide steps are chance: the widest of n is about ln(n)/n of the range.
    share = max(_GAP_SHARE, 4.0 * np.log(rows) / rows)
    gap = (steps >= share * whole) & (steps / _GAP_STEPS >= usual)
    margin = max(_GAP_MARGIN, _GAP_MARGIN * len(inner) // rows)
    gap[:margin] = gap[-margin:] = False
    ends = np.flatnonzero(gap)
    lows = inner[np.concatenate([[0], ends + 1])]
    highs = inner[np.concatenate([ends, [len(inner) - 1]])]
    return tuple(zip(lows.tolist(), highs.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Normal:
    """What was learned of each feature by itself, to compare values with."""

    summary: Summary

    @once
    def ranges(self) -> list[Ranges]:
        """What is shown as normal."""
        return normal_ranges(self.summary)

    @once
    def levels(self) -> list[Floats | None]:
        """The values of each discrete feature; None of one that takes any."""
        box = self.summary.box
        known = [None] * len(self.ranges) if box is None else box.levels
        return [
            np.array([low for low, _ in ranges])
            if levels is None and all(low == high for low, high in ranges)
            else levels
            for levels, ranges in zip(known, self.ranges, strict=True)
        ]

    def inside(self, X: Floats) -> Booleans:
        """Say which values were learned: within a range, and a level if the feature has levels."""
        return np.asarray(self.nearest(X) == X)

    def nearest(self, X: Floats) -> Floats:
        """Return the nearest values that were learned; NaN stays."""
        out = np.empty(X.shape)
        for j, (ranges, levels) in enumerate(zip(self.ranges, self.levels, strict=True)):
            x = X[:, j]
            if levels is None:
                near = np.stack([np.clip(x, low, high) for low, high in ranges])
            else:
                at = np.searchsorted(levels, x)
                near = levels[np.clip(np.stack([at - 1, at]), 0, len(levels) - 1)]
            with np.errstate(over="ignore"):
                nearer = np.abs(near - x).argmin(axis=0)
            out[:, j] = np.where(np.isnan(x), np.nan, np.take_along_axis(near, nearer[None], 0)[0])
        return out

    @once
    def decimals(self) -> list[int | None]:
        """How many digits the values of each column have behind the point."""
        return [decimals_of(quantiles) for quantiles in self.summary.quantiles.T]

    def short(self, X: Floats) -> Floats:
        """Return normal values with the digits that their columns have, if these are normal too."""
        few = np.column_stack(
            [
                rounded(x) if decimals is None else np.round(x, decimals)
                for x, decimals in zip(X.T, self.decimals, strict=True)
            ]
        )
        inside = self.inside(few)
        for j in np.flatnonzero(~inside.all(axis=0)):  # beyond an end: round the other way
            few[:, j] = np.where(inside[:, j], few[:, j], one_step(few[:, j], X[:, j] - few[:, j]))
        return np.where(self.inside(few), few, X)

    def as_far(self, X: Floats) -> Floats:
        """Return the share of training rows that are as far out, on that side, to about 1/256."""
        far = np.empty(X.shape)
        for j, q in enumerate(self.summary.quantiles.T):
            below = np.searchsorted(q, X[:, j], "right")
            far[:, j] = np.minimum(below, len(q) - np.searchsorted(q, X[:, j], "left"))
        return far / len(self.summary.quantiles)


@lru_cache(maxsize=16)
def normal_of(summary: Summary) -> Normal:
    """Return the same for everybody who asks about a model; ranges are found once."""
    return Normal(summary)
