"""The outermost values of each column and the values of discrete ones: they add up over chunks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats, Integers
from refold.algorithm import kernels

# Different values kept at either end: up to three may be cut off, the fourth may become the end of
# the box, and the fifth is its neighbour should that row be left out.
DEPTH = 5
# A column with more different values than this is not discrete.
MOST_LEVELS = 256
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class CountedValues:
    """Different values of a column, ascending, how often each came and in which row first."""

    # values, weights: (k,): the values and the weight of the rows that have them.
    values: Floats
    weights: Floats
    rows: Integers  # the first of these rows, from 0; -1 if unknown

    @classmethod
    def of(cls, values: Floats, weights: Floats, rows: Integers) -> Self:
        """Count values that may repeat."""
        distinct, first, group = np.unique(values, return_index=True, return_inverse=True)
        counts = np.bincount(group, weights=weights, minlength=len(distinct))
        return cls(distinct, counts.astype(np.float64), rows[first])

    def plus(self, other: CountedValues) -> CountedValues:
        """Return the counts of both; `other` came later."""
        pairs = ("values", "weights", "rows")
        both = (np.concatenate([getattr(c, name) for c in (self, other)]) for name in pairs)
        return CountedValues.of(*both)

    def ends(self, depth: int) -> tuple[CountedValues, CountedValues]:
        """Return the smallest and the largest of them."""
        return self._take(slice(None, depth)), self._take(slice(-depth, None))

    def without_rows(self) -> CountedValues:
        """Return the same without row numbers."""
        return replace(self, rows=np.full_like(self.rows, UNKNOWN))

    def _take(self, part: slice) -> CountedValues:
        return CountedValues(self.values[part], self.weights[part], self.rows[part])


@dataclass(frozen=True, eq=False)
class ColumnExtremes:
    """What is kept of one column."""

    # low, high: Its five smallest and its five largest values.
    low: CountedValues
    high: CountedValues
    levels: CountedValues | None  # all its values, as long as there are at most 256 different ones

    @classmethod
    def of(cls, values: Floats, weights: Floats, rows: Integers) -> Self:
        """Look at a column; NaN and values that count for nothing are left out."""
        found = kernels.edge(values, weights, rows, depth=DEPTH, most=MOST_LEVELS)
        if len(found) == 1:
            levels = CountedValues(*found[0])
            return cls(*levels.ends(DEPTH), levels)
        low, high = found
        return cls(CountedValues(*low), CountedValues(*high), None)

    @property
    def alone_beyond_zero(self) -> float:
        """The value of the one row that has another sign than all others; 0 if there is none."""
        low, high = self.low, self.high
        if len(low.values) > 1 and low.values[0] < 0.0 <= low.values[1] and low.weights[0] <= 1.0:
            return float(low.values[0])
        if len(high.values) > 1 and high.values[-2] <= 0.0 < high.values[-1]:
            return float(high.values[-1]) if high.weights[-1] <= 1.0 else 0.0
        return 0.0

    def plus(self, other: ColumnExtremes) -> ColumnExtremes:
        """Return what is kept of the rows of both."""
        low, high = self.low.plus(other.low).ends(DEPTH)[0], self.high.plus(other.high)
        levels = None
        if self.levels is not None and other.levels is not None:
            levels = self.levels.plus(other.levels)
            levels = levels if len(levels.values) <= MOST_LEVELS else None
        return ColumnExtremes(low, high.ends(DEPTH)[1], levels)

    def without_rows(self) -> ColumnExtremes:
        """Return the same without row numbers."""
        levels = None if self.levels is None else self.levels.without_rows()
        return ColumnExtremes(self.low.without_rows(), self.high.without_rows(), levels)


TableExtremes = tuple[ColumnExtremes, ...]


def extremes_of(
    X: NDArray[Any],
    weights: Floats | None,
    rows: Integers | None = None,
    *,
    magnitudes: int = 0,
) -> TableExtremes:
    """Look at each column of rows; `rows` are their numbers, from 0 if there are none.

    The last columns may be magnitudes, whose values mean nothing by themselves: they have no
    levels.
    """
    counts = np.ones(len(X)) if weights is None else weights
    numbers = np.arange(len(X)) if rows is None else rows
    edges = [
        ColumnExtremes.of(np.ascontiguousarray(column, dtype=np.float64), counts, numbers)
        for column in X.T
    ]
    values = len(edges) - magnitudes
    return (*edges[:values], *(replace(edge, levels=None) for edge in edges[values:]))


def join_extremes(one: TableExtremes, other: TableExtremes) -> TableExtremes:
    """Return what is kept of the rows of both."""
    return tuple(a.plus(b) for a, b in zip(one, other, strict=True))
