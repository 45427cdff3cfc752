"""What was learned of each column by itself: from where to where it goes, in which steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats
from refold.algorithm import kernels
from refold.base.once import fields_only, once
from refold.columns.extremes import ColumnExtremes, CountedValues, TableExtremes

# A gap so many times as wide as the middle 80 % of a column cuts off what lies beyond it, …
_GAP = 10.0
# … if that is not more than so many rows.
_MOST_APART = 3.0
# So does a gap of three times the middle 80 % that the column's own tail cannot explain: so many
# times the mean excess of at least ten values beyond the outermost 5 %, and of its logarithms.
_TAIL_GAP, _TAIL, _FEWEST_TAIL = 3.0, 0.95, 10.0
_EXCESSES, _LOG_EXCESSES = 20.0, 10.0
# A column is discrete if every value of it came so often.
OFTEN = 5.0
# The unit of a discrete column is this part of its smallest step: a value never seen is far off.
_STEPS = 12.0
# Values count for the spread up to so many times the middle 80 % from the median.
_REACH = 5.0
# How surprising a cell is changes by so much from one training table to another.
_LEAST_UNIT = 0.25
_LARGEST = float(np.finfo(np.float64).max)
# A column so many units outside its box is as far outside as it can be.
MOST_EXCESS = 3.0
# That zero is an end of a column, not chance, takes so many values, and so many of these farther
# from zero than twice the median: as many would lie beyond it in a symmetric column; or none
# farther than 1.75 times the median: what lies beyond zero is then farther off than all others.
_ENOUGH_VALUES, _ENOUGH_FAR = 20.0, 4.0


class Side(NamedTuple):
    """One column of a box: see Box."""

    low: float
    high: float
    apart: CountedValues
    levels: Floats | None
    unit: float
    middle: float
    floor: float = -np.inf
    ceiling: float = np.inf


@dataclass(frozen=True, eq=False)
class Box:
    """The box that the training rows lie in, column by column."""

    # low, high: (d,): its ends: the smallest and the largest value that is not cut off.
    low: Floats
    high: Floats
    # The cells of each column that are cut off: up to three at either end, beyond a gap ten times
    # as wide as the middle 80 % of the column, or too wide for its own tail.
    apart: tuple[CountedValues, ...]
    # The values inside the box of a column that is discrete: each came at least five times.
    levels: tuple[Floats | None, ...]
    # (d,): what distances to the box are measured in: the spread of the column; of a discrete one
    # at most a twelfth of the smallest step.
    unit: Floats
    # (d,): the width of the middle 80 % of each column; 0 where nearly all rows have one value.
    middle: Floats
    # floor, ceiling: (d,): zero where a column never crosses it and is not centred there: a value
    # beyond it is abnormal, however near. Infinite in other columns; None if in all.
    floor: Floats | None = None
    ceiling: Floats | None = None

    @classmethod
    def of(cls, edges: TableExtremes, rows: Floats, weights: Floats, *, magnitudes: int = 0) -> Box:
        """Make the box of the edges of all rows and of some rows, a uniform sample.

        The last columns may be magnitudes, which have a least unit.
        """
        sides = [side_of(edge, column, weights) for edge, column in zip(edges, rows.T, strict=True)]
        values = len(sides) - magnitudes
        wide = [
            side._replace(unit=max(side.unit, _LEAST_UNIT), floor=-np.inf, ceiling=np.inf)
            for side in sides[values:]
        ]
        return cls.of_sides([*sides[:values], *wide])

    @classmethod
    def of_sides(cls, sides: Sequence[Side]) -> Box:
        """Put columns side by side."""
        return cls(
            low=np.array([side.low for side in sides]),
            high=np.array([side.high for side in sides]),
            apart=tuple(side.apart for side in sides),
            levels=tuple(side.levels for side in sides),
            unit=np.array([side.unit for side in sides]),
            middle=np.array([side.middle for side in sides]),
            floor=np.array([side.floor for side in sides]),
            ceiling=np.array([side.ceiling for side in sides]),
        )

    def of_columns(self, columns: Sequence[int]) -> Box:
        """Return the box of some of the columns."""
        fields = (self.low, self.high, self.apart, self.levels, self.unit, self.middle)
        ends = () if self.floor is None or self.ceiling is None else (self.floor, self.ceiling)
        sides = [Side(*each) for each in zip(*fields, *ends, strict=True)]
        return Box.of_sides([sides[column] for column in columns])

    def excess(self, X: Floats) -> Floats:
        """Return how far each value is from all that was learned, in the column's unit.

        Inside the box that is 0, except between the levels of a discrete column. NaN is in no box:
        0.
        """
        return kernels.box_excess(self.sides, X)

    def beyond_zero(self, X: Floats) -> Booleans:
        """Say which values lie beyond zero in a column that never crosses it."""
        if self.floor is None or self.ceiling is None:
            return np.zeros(X.shape, dtype=np.bool_)
        return np.asarray((self.floor > X) | (self.ceiling < X))

    def beyond_cut(self, X: Floats) -> Floats:
        """Return how far outside the cells are that are cut off, in the column's unit; 0 of others.

        To `excess` they are known; to a model without the row that has them they would not be.
        """
        out = np.zeros(X.shape)
        for column, apart in enumerate(self.apart):
            x = X[:, column]
            cut = np.isin(x, apart.values)
            with np.errstate(over="ignore"):
                away = np.maximum(self.low[column] - x[cut], x[cut] - self.high[column])
                out[cut, column] = np.minimum(away / self.unit[column], _LARGEST)
        return out

    def nearest(self, X: Floats) -> Floats:
        """Return the nearest values that lie in the box, and are levels of a discrete column."""
        inside = np.clip(X, self.low, self.high)
        for column, levels in enumerate(self.levels):
            if levels is not None:
                at = np.searchsorted((levels[:-1] + levels[1:]) / 2.0, X[:, column])
                inside[:, column] = np.where(np.isnan(X[:, column]), np.nan, levels[at])
        return inside

    def left_out(self, X: Floats, weights: Floats, edges: TableExtremes) -> Floats:
        """Return the excess of rows that were learned, had each been left out once.

        A row on or beyond an end, whose value no other has, is as far outside as the next one is.
        """
        out = self.excess(X)
        once_only = weights <= 1.0
        for column, edge in enumerate(edges):
            values, gaps = _alone(edge, self.low[column], self.high[column])
            if len(values) == 0:
                continue
            at = np.minimum(np.searchsorted(values, X[:, column]), len(values) - 1)
            found = once_only & (values[at] == X[:, column])
            out[found, column] = gaps[at[found]] / self.unit[column]
            beyond = edge.alone_beyond_zero
            if beyond != 0.0:  # without this row zero may be an end
                out[once_only & (X[:, column] == beyond), column] += MOST_EXCESS
        return out

    @once
    def sides(self) -> kernels.BoxSides:
        """The same as the kernels look at it."""
        known: list[Floats] = [np.empty(0)] * len(self.low)
        for column, values in self.special():
            known[column] = values
        starts = np.cumsum([0, *map(len, known)])
        discrete = np.array([levels is not None for levels in self.levels], dtype=np.bool_)
        values = np.concatenate([np.empty(0), *known])
        return kernels.box_sides(self.low, self.high, self.unit, values, starts, discrete)

    __getstate__ = fields_only

    def special(self) -> Iterator[tuple[int, Floats]]:
        """Yield the columns where more than the ends matters, and the values learned there."""
        for column, (levels, apart) in enumerate(zip(self.levels, self.apart, strict=True)):
            if levels is not None or len(apart.values):
                inner = [self.low[column], self.high[column]] if levels is None else levels
                yield column, np.unique(np.concatenate([inner, apart.values]))

    def gaps(self, column: int, known: Floats) -> tuple[Floats, Floats]:
        """Return where the gaps between known values of a column begin and end.

        From end to end of the box there is one only in a discrete column.
        """
        begins, ends = known[:-1], known[1:]
        if self.levels[column] is None:
            open_ = (ends <= self.low[column]) | (begins >= self.high[column])
            return begins[open_], ends[open_]
        return begins, ends


def side_of(edge: ColumnExtremes, column: Floats, weights: Floats) -> Side:
    """Return what was learned of a column, by its edge and some of its values."""
    values, counts = _where(~np.isnan(column), column, weights)
    if len(values) == 0:  # of a column that is nearly empty the sample may have nothing
        values, counts = edge.low.values, edge.low.weights
    order = kernels.order(values)
    values, counts = values[order], counts[order]
    middle, median = _middle(values, counts)
    below = _cut(_mirrored(edge.low), middle, -values[::-1], counts[::-1])
    above = _cut(edge.high, middle, values, counts)
    low = float(edge.low.values[below])
    high = float(edge.high.values[len(edge.high.values) - 1 - above])
    if low > high:  # two heaps of a few rows each: neither is apart from the other
        below = above = 0
        low, high = float(edge.low.values[0]), float(edge.high.values[-1])
    apart = _outside(edge, below, above)
    levels = _levels(edge.levels, low, high)
    inside = (values >= low) & (values <= high)  # of few rows one absurd cell is a large part
    unit = _spread(*_where(inside, values, counts), median, middle)
    if levels is not None and len(levels) > 1:
        unit = min(unit, float(np.diff(levels).min()) / _STEPS)
    if len(edge.low.values) == 1 and edge.low.weights[0] <= 1.0:
        unit = _LARGEST  # what is far from the only value that ever came, nobody knows
    elif not unit > 0.0:
        unit = 1e-3 if median == 0.0 else max(1e-3 * abs(median), 1e-300)
    ends = float(edge.low.values[0]), float(edge.high.values[-1])
    zero = zero_as_end(*ends, values, counts, median)
    return Side(low, high, apart, levels, unit, middle, *zero)


def zero_as_end(
    least: float, most: float, values: Floats, counts: Floats, median: float
) -> tuple[float, float]:
    """Return zero as floor or ceiling of a column that never crosses it and is not centred there.

    `values` are some of all, from `least` to `most`. Zero itself is allowed.
    """
    if least < 0.0 < most or least == most or counts.sum() < _ENOUGH_VALUES:
        return -np.inf, np.inf
    size = np.abs(values)
    skewed = counts[size > 2.0 * abs(median)].sum() >= _ENOUGH_FAR
    if not skewed and (size > 1.75 * abs(median)).any():
        return -np.inf, np.inf
    return (0.0, np.inf) if least >= 0.0 else (-np.inf, 0.0)


def _where(chosen: NDArray[np.bool_], values: Floats, counts: Floats) -> tuple[Floats, Floats]:
    return (values, counts) if chosen.all() else (values[chosen], counts[chosen])


def _middle(values: Floats, counts: Floats) -> tuple[float, float]:
    """Return q90 − q10 and the median; where they agree, that of values unlike the median."""
    low, median, high = weighted_quantiles(values, counts, (0.1, 0.5, 0.9))
    if low == high:
        other = values != median
        if counts[other].sum() < 10.0:
            return 0.0, median
        low, _, high = weighted_quantiles(values[other], counts[other], (0.1, 0.5, 0.9))
    return min(2.0 * (high / 2.0 - low / 2.0), _LARGEST), median


def weighted_quantiles(
    values: Floats, counts: Floats, shares: tuple[float, ...]
) -> tuple[float, ...]:
    """Return the smallest values with so much of the weight at or below them."""
    up_to = np.cumsum(counts)
    at = np.searchsorted(up_to, np.array(shares) * up_to[-1] * (1.0 - 1e-12))
    return tuple(float(v) for v in values[at])


def _mirrored(end: CountedValues) -> CountedValues:
    return CountedValues(-end.values[::-1], end.weights[::-1], end.rows[::-1])


def _cut(end: CountedValues, middle: float, values: Floats, counts: Floats) -> int:
    """Return how many of the largest values are cut off; `values` are some of all, ascending."""
    cut, rows = 0, 0.0
    for k, (value, further_in) in enumerate(pairwise(end.values[::-1].tolist())):
        rows += end.weights[-1 - k]
        if rows > _MOST_APART:
            break
        gap = value / 2.0 - further_in / 2.0  # of very large numbers the difference is none
        if gap / _GAP > middle / 2.0 or (
            gap / _TAIL_GAP > middle / 2.0 > 0.0 and _beyond_tail(value, further_in, values, counts)
        ):
            cut = k + 1
    return cut


def _beyond_tail(value: float, further_in: float, values: Floats, counts: Floats) -> bool:
    """Whether a gap is too wide for an exponential and for a Pareto tail of the other values."""
    (begin,) = weighted_quantiles(values, counts, (_TAIL,))
    tail, weights = _where((values > begin) & (values <= further_in), values, counts)
    if weights.sum() < _FEWEST_TAIL:
        return False
    excess = np.average(tail / 2.0 - begin / 2.0, weights=weights)
    if value / 2.0 - further_in / 2.0 <= _EXCESSES * excess:
        return False
    if begin <= 0.0:
        return True
    in_logs = np.average(np.log(tail / begin), weights=weights)
    return math.log(value / further_in) > _LOG_EXCESSES * float(in_logs)


def _outside(edge: ColumnExtremes, below: int, above: int) -> CountedValues:
    low, high = edge.low, edge.high
    parts = [
        (low.values[:below], low.weights[:below], low.rows[:below]),
        *([(high.values[-above:], high.weights[-above:], high.rows[-above:])] if above else []),
    ]
    return CountedValues(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _levels(levels: CountedValues | None, low: float, high: float) -> Floats | None:
    """Return the values inside the box if each came often."""
    if levels is None:
        return None
    inside = (levels.values >= low) & (levels.values <= high)
    return levels.values[inside] if (levels.weights[inside] >= OFTEN).all() else None


def _spread(values: Floats, counts: Floats, median: float, middle: float) -> float:
    """Return the standard deviation of values that are clipped to the neighbourhood."""
    near = values / 8.0 - median / 8.0  # of very large numbers there may be no difference
    near = np.clip(near, -_REACH * (middle / 8.0), _REACH * (middle / 8.0))
    size = float(np.abs(near).max(initial=0.0))
    if size == 0.0:
        return 0.0
    near = near / size  # squares of very large or small numbers are none
    total = counts.sum()
    mean = (near * counts).sum() / total
    spread = math.sqrt((np.square(near - mean) * counts).sum() / total)
    return min(spread * size, _LARGEST / 8.0) * 8.0


def _alone(edge: ColumnExtremes, low: float, high: float) -> tuple[Floats, Floats]:
    """Return the values on or beyond an end that one row has, and the gaps to the next ones."""
    values, gaps = [], []
    for end, outer in ((edge.low, edge.low.values <= low), (edge.high, edge.high.values >= high)):
        with np.errstate(over="ignore"):
            steps = np.abs(np.diff(end.values, prepend=-np.inf, append=np.inf))
        nearest = np.minimum(steps[:-1], steps[1:])
        # The innermost value kept has a neighbour that is not kept, unless there is no further one.
        single = outer & (end.weights <= 1.0) & np.isfinite(nearest)
        values.append(end.values[single])
        gaps.append(nearest[single])
    found, first = np.unique(np.concatenate(values), return_index=True)
    return found, np.concatenate(gaps)[first]
