"""Columns of texts and dates: how many rows have which value, hour or weekday."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from refold._typing import Integers
from refold.columns.encoding.dates import HOURS, DateCounts
from refold.columns.encoding.shapes import example_of, shape_of
from refold.columns.encoding.texts import TextCounts
from refold.columns.encoding.words import WEEKDAYS
from refold.columns.table import CellState, DateColumn, TextColumn
from refold.judgement import Judgement
from refold.report._contents import FeatureBars, Marked

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
            return (_of_texts(counts, cells, self._counts.plan.used[column].role != "category"),)
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

    def marked(self, row: int, column: int, view: str) -> Marked | None:
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
        return Marked(tuple((have / highest).tolist()), at if at >= 0 else None)


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


def _mark(counts: Mapping[str, int], value: str | None) -> Marked:
    names = _most_frequent(counts, _DRAWN)
    if value is not None and counts.get(value, 0) and value not in names:
        names[-1] = value  # there is room for it among those that are left out
    highest = max([counts[name] for name in names], default=1)
    at = names.index(value) if value in names else None
    return Marked(tuple(counts[name] / highest for name in names), at)


def _most_frequent(counts: Mapping[str, int], most: int) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))[:most]


def _shares(counts: Integers) -> tuple[float, ...]:
    return tuple((counts / max(int(counts.sum()), 1)).tolist())


def _day(seconds: float) -> str:
    return str(np.datetime64(int(np.floor(seconds)), "s"))[:10]
