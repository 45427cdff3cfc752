"""Counts of a report: rejected rows, reasons, histograms, and classes of texts and dates."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from refold._typing import Floats, Integers, Ranges
from refold.columns.encoding.dates import HOURS, DateCounts
from refold.columns.encoding.descriptions import WEEKDAYS
from refold.columns.encoding.shapes import example_of, shape_of
from refold.columns.encoding.texts import TextCounts
from refold.columns.table import CellState, DateColumn, TextColumn
from refold.decisions.intervals import CONFIDENCE
from refold.explanation import Explanation, Reason, explain
from refold.explanation.gauges import around, capped_sum, position
from refold.judgement import Judge, Judgement
from refold.report._contents import (
    AlarmGroup,
    Distances,
    ExpectedRejections,
    FeatureBars,
    FeatureHistogram,
    MarkedShares,
)

_ADDED_UP = 100_000


def expected_of(judge: Judge, rows: int) -> ExpectedRejections | None:
    """Return how many of so many normal rows a calibrated model would reject."""
    calibration = judge.calibration
    if calibration is None:
        return None
    above = calibration.rejected(judge.threshold)
    # The threshold is one of the calibration rows' distances, and counts as one more above: the
    # chance that a new row lies above it is then distributed as Beta(above + 1, total - above).
    a, b = above + 1.0, max(calibration.total - above, 0.0)
    rate = a / (a + b)
    if b == 0.0:
        return ExpectedRejections(rate, rate * rows, (rows, rows))
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = _rejections(rows, a, b).ppf([tail, 1.0 - tail])
    return ExpectedRejections(rate, rate * rows, (int(low), int(high)))


def _rejections(rows: int, a: float, b: float) -> Any:
    """Return how many of so many rows are rejected, at a chance distributed as Beta(a, b).

    SciPy adds up the chance of every number; of very many rows the share is taken for a number of
    the beta distribution with the same mean and spread.
    """
    if rows <= _ADDED_UP:
        return stats.betabinom(rows, a, b)
    size = rows * (a + b + 1.0) / (a + b + rows) - 1.0
    rate = a / (a + b)
    return stats.beta(rate * size, (1.0 - rate) * size, scale=rows)


_EXAMPLES = 3


def reasons_of(model: Any, rows: Judgement, count: int) -> list[tuple[Reason, ...]]:
    """Return the reasons of each row, the most important first."""
    if rows.judge.scorer.unexplained or len(rows) == 0:
        return [()] * len(rows)
    return [that_matter(row) for row in explain(model, rows, reasons=count, nearest=False)]


def that_matter(row: Explanation) -> tuple[Reason, ...]:
    """Return the reasons of a row that are worth a line: of a combination, its columns."""
    return row.combination or tuple(
        reason for rank, reason in enumerate(row.reasons) if reason.matters(rank)
    )


def rows_by_first_reason(reasons: Sequence[tuple[Reason, ...]]) -> dict[tuple[str, str], list[int]]:
    """Put rows whose first reason is the same feature, on the same side, together, by number."""
    groups: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for row, because in enumerate(reasons):
        for first in because[:1]:
            groups[first.feature, position(first)].append(row)
    return dict(sorted(groups.items(), key=lambda group: -len(group[1])))


def groups_of(
    reasons: Sequence[tuple[Reason, ...]], names: Sequence[str]
) -> tuple[AlarmGroup, ...]:
    """Describe the rows that have the same reason, the largest group first."""
    return tuple(
        AlarmGroup(
            feature=feature,
            how=how,
            values=_values([reasons[row][0].value for row in rows]),
            rows=len(rows),
            examples=tuple(names[row] for row in rows[:_EXAMPLES]),
        )
        for (feature, how), rows in rows_by_first_reason(reasons).items()
    )


def _values(values: Sequence[float | str]) -> tuple[float, float] | tuple[str, ...]:
    """Return the smallest and the largest number, or the texts that come most often."""
    texts = Counter(value for value in values if isinstance(value, str))
    if texts:
        return tuple(text for text, _ in texts.most_common(_EXAMPLES))
    numbers = [value for value in values if isinstance(value, float)]
    return min(numbers), max(numbers)


BINS = 48
# Distances below this share of the threshold are in the first bin: all of them are very normal.
_NEAREST = 0.01
_LEAST, _MOST = sys.float_info.min, sys.float_info.max


def histogram_of(quantiles: Floats, normal: Ranges, column: NDArray[Any]) -> FeatureHistogram:
    """Put training quantiles and new values into the same bins.

    They reach from the normal range as far again to both sides, if there are values: a single
    value far out would squeeze everything else into one bin.
    """
    values: Floats = column[~np.isnan(column)].astype(np.float64, copy=False)
    low, high = _shown(quantiles, normal, values)
    # A quarter of everything: the width of a range can be more than the largest number.
    edges = np.linspace(low / 4.0, high / 4.0, BINS + 1)
    place = np.searchsorted(edges[1:-1], values / 4.0, side="right")
    below, above = values < low, values > high
    counts = np.bincount(place[~below & ~above], minlength=BINS)
    return FeatureHistogram(
        edges=np.concatenate([[low], edges[1:-1] * 4.0, [high]]),
        training=_shares_between(quantiles / 4.0, edges),
        new=counts / max(len(values), 1),
        below=int(np.count_nonzero(below)),
        above=int(np.count_nonzero(above)),
    )


def _shown(quantiles: Floats, normal: Ranges, values: Floats) -> tuple[float, float]:
    low, high = float(quantiles[0]), float(quantiles[-1])
    if len(values):
        low, high = min(low, float(values.min())), max(high, float(values.max()))
    first, last = around(normal)
    if first < last:
        low, high = max(low, first), min(high, last)
    if low == high:
        margin = abs(low) / 16.0 or 0.5
        low, high = -capped_sum(-low, margin), capped_sum(high, margin)
    return low, high


def _shares_between(quantiles: Floats, edges: Floats) -> Floats:
    """Return the share of training values in each bin; between two quantiles they are spread."""
    last = len(quantiles) - 1
    k = np.searchsorted(quantiles, edges, side="left")  # so many quantiles are smaller
    left, right = np.clip(k - 1, 0, last), np.clip(k, 0, last)
    step = quantiles[right] - quantiles[left]
    along = np.divide(edges - quantiles[left], step, out=np.zeros_like(edges), where=step > 0.0)
    below = (left + along) / last
    if edges[-1] >= quantiles[-1]:  # the last bin has its upper edge
        below[-1] = 1.0
    return np.diff(below)


def distances_of(distances: Floats, threshold: float) -> Distances:
    """Count distances; the threshold is an edge, so that no bin is half normal.

    Bins are equally wide on a logarithmic axis, on which no row is too far out to be seen.
    """
    positive = distances[distances > 0.0]
    unit = max(threshold or float(positive.min(initial=1.0)), _LEAST)
    low = min(max(float(positive.min(initial=unit)), _NEAREST * unit), unit / 2.0)
    high = max(float(distances.max(initial=0.0)), 2.0 * unit)
    below, above = np.log(unit) - np.log(max(low, _LEAST)), np.log(high) - np.log(unit)
    step = (below + above) / BINS
    first = -int(np.ceil(below / step))
    powers = np.arange(first, int(np.ceil(above / step)) + 1) * step
    edges = np.exp(np.minimum(np.log(unit) + powers, np.log(_MOST)))
    edges[-first], edges[-1] = unit, max(edges[-1], high)
    edges = np.concatenate([[0.0], edges if threshold > 0.0 else [0.0, *edges]])
    place = np.searchsorted(edges, distances, side="left") - 1
    return Distances(edges, np.bincount(np.maximum(place, 0), minlength=len(edges) - 1))


_NAMED = 6  # values that have a bar of their own, with their name
_DRAWN = 16  # values that have one in a small picture, without
_SHAPES = ("shape", "collapsed shape")


class ColumnShares:
    """Counts for the pictures of a table's columns."""

    def __init__(self, found: Judgement) -> None:
        assert found.judge.encoder is not None
        assert found.cells is not None
        self._counts = found.judge.encoder.counts
        self._cells = found.cells.columns

    def bars(self, column: int) -> tuple[FeatureBars, ...]:
        """Return the shares of a column's classes, in training and in the new rows."""
        counts, cells = self._counts.others.get(column), self._cells[column]
        if isinstance(counts, TextCounts) and isinstance(cells, TextColumn):
            found = _of_texts(counts, cells, self._counts.plan.used[column].role != "category")
            return (found,) if found.labels else ()
        if not isinstance(counts, DateCounts) or not isinstance(cells, DateColumn):
            return ()
        seen = cells.state == CellState.READABLE
        hours, days = cells.hour[seen], cells.weekday[seen]
        clock = FeatureBars(
            "hour",
            tuple(f"{hour} o'clock" for hour in range(HOURS)),
            _shares(counts.hours),
            _shares(np.bincount(hours, minlength=HOURS)),
        )
        week = FeatureBars(
            "weekday",
            WEEKDAYS,
            _shares(counts.weekdays),
            _shares(np.bincount(days, minlength=len(WEEKDAYS))),
        )
        return (*((clock,) if counts.has_clock else ()), *((week,) if counts.has_date else ()))

    def normal(self, column: int) -> str:
        """Say what is normal of a column of texts or dates, in a few words."""
        counts = self._counts.others.get(column)
        if isinstance(counts, TextCounts):
            distinct = counts.values.distinct
            return f"{distinct:,} value{'' if distinct == 1 else 's'}"
        if isinstance(counts, DateCounts) and counts.has_date and counts.low <= counts.high:
            return f"{_day(counts.low)} to {_day(counts.high)}"
        return ""

    def marked(self, row: int, column: int, view: str) -> MarkedShares | None:
        """Return the normal shares of a column's classes, with that of a row."""
        counts, cells = self._counts.others.get(column), self._cells[column]
        if isinstance(counts, TextCounts) and isinstance(cells, TextColumn):
            text = cells.text(row)
            if view not in _SHAPES:
                return _mark(counts.values.counts, text)
            tally = counts.shapes if view == "shape" else counts.collapsed
            shape = None if text is None else shape_of(text, collapsed=view != "shape")
            return _mark(tally.counts, shape)
        if (
            not isinstance(counts, DateCounts)
            or not isinstance(cells, DateColumn)
            or view == "range"
        ):
            return None
        clock = counts.has_clock and view != "weekday"
        have = counts.hours if clock else counts.weekdays
        at = int((cells.hour if clock else cells.weekday)[row])
        highest = max(int(have.max()), 1)
        return MarkedShares(tuple((have / highest).tolist()), at if at >= 0 else None)


def _of_texts(counts: TextCounts, cells: TextColumn, many: bool) -> FeatureBars:
    """Count texts; where there are many different ones, what they look like."""
    before = counts.collapsed.counts if many else counts.values.counts
    now: dict[str, int] = {}
    for value, count in zip(cells.values, cells.counts.tolist(), strict=True):
        name = shape_of(value, collapsed=True) if many else value
        now[name] = now.get(name, 0) + count
    first = _most_frequent(before, _NAMED)
    others = sum(before.values()) - sum(before[name] for name in first)
    new_others = sum(n for name, n in now.items() if name in before and name not in first)
    unseen = sum(n for name, n in now.items() if name not in before)
    known = counts.values.counts
    labels = [example_of(name, known) for name in first] if many else list(first)
    old, new = [before[n] for n in first], [now.get(n, 0) for n in first]
    for label, training, fresh in (("others", others, new_others), ("never seen", 0, unseen)):
        if training or fresh:
            labels.append(label)
            old.append(training)
            new.append(fresh)
    return FeatureBars(
        "shape" if many else "value",
        tuple(labels),
        _shares(np.array(old)),
        _shares(np.array(new)),
        named=len(first),
    )


def _mark(counts: Mapping[str, int], value: str | None) -> MarkedShares:
    names = _most_frequent(counts, _DRAWN)
    if value is not None and counts.get(value, 0) and value not in names:
        names[-1] = value  # there is room for it among those that are left out
    highest = max([counts[name] for name in names], default=1)
    at = names.index(value) if value in names else None
    return MarkedShares(tuple(counts[name] / highest for name in names), at)


def _most_frequent(counts: Mapping[str, int], most: int) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))[:most]


def _shares(counts: Integers) -> tuple[float, ...]:
    return tuple((counts / max(int(counts.sum()), 1)).tolist())


def _day(seconds: float) -> str:
    return str(np.datetime64(int(np.floor(seconds)), "s"))[:10]
