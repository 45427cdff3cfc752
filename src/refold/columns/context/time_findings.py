"""What to know of a model over time: until when it has learned, and what it cannot tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from refold._typing import Booleans, Integers
from refold.base.findings import Finding
from refold.base.words import percent, printable
from refold.columns.context.context import ContextModel
from refold.columns.context.design import SEASON_DAYS, too_many_groups
from refold.columns.context.gaps import ContextGaps
from refold.columns.context.trend import TimeAxis, seconds
from refold.columns.context.window import SortedRows, WindowModel
from refold.columns.table import DateColumn, NumberColumn, Table

_DAY = 86_400.0
# Numbers that follow each other so closely have a level that wanders; those a window apart, too.
_WANDERS, _WANDERS_ON = 0.5, 0.4
_STRETCHES = 5
# So many rows for each time, and no more different times: rows of one time are one observation.
_REPEATED, _FEW_TIMES = 3.0, 100
_ALONE = 0.9  # of all rows: if so many are the only one of their group, it is none
_FEW_ROWS = 8  # of a group: less than that says little of it


def notice_time(context: ContextModel, learned: Table, outlier: Booleans) -> Iterator[Finding]:
    """Say what was learned over time, of rows that were foreseen, and which are outliers."""
    axis, inputs = context.axis, learned.inputs
    if axis is None or inputs is None:
        return
    dated = isinstance(inputs[axis.column], DateColumn)
    yield Finding("time-span", axis.column, message=_span(context, axis, dated))
    times = seconds(inputs[axis.column], axis.column)
    different = len(np.unique(times))
    if different <= _FEW_TIMES and learned.rows >= _REPEATED * different:
        yield Finding(
            "repeated-times",
            axis.column,
            message=f"{axis.column}: {learned.rows:,} rows are of {different} different times; "
            "what all rows of one time have in common was observed so many times only.",
        )
    if context.window is not None:  # what the rows before say is known there
        return
    codes = context.groups.codes(inputs) if context.given.by else np.zeros(learned.rows, int)
    order = np.lexsort((times, codes))
    follows = np.diff(codes[order]) == 0
    before, after = order[:-1][follows], order[1:][follows]
    rates = [float(part.mean()) for part in np.array_split(outlier[np.argsort(times)], _STRETCHES)]
    for name in context.columns:
        alike = _alike(learned, name, before, after)
        if alike >= _WANDERS:
            yield _wandering(name, alike, "the next", rates, "fifths of the time")


def notice_stretches(
    window: WindowModel, rows: SortedRows, learned: Table, kept: Integers, rates: Sequence[float]
) -> Iterator[Finding]:
    """Say that rows a window apart are alike; rates are of stretches that were left out.

    Rows to learn from were kept from those of the table.
    """
    place = np.full(rows.total, -1)
    place[kept] = np.arange(len(kept))
    place = np.append(place, -1)[rows.places]
    after = np.flatnonzero(rows.first)
    before = rows.first[after] - 1
    groups = rows.past.groups
    after, before = (each[groups[after] == groups[before]] for each in (after, before))
    after, before = place[after], place[before]
    both = (after >= 0) & (before >= 0)
    columns = dict.fromkeys(own.column for own in window.columns.values()) if rates else ()
    for name in columns:
        alike = _alike(learned, name, before[both], after[both])
        if alike >= _WANDERS_ON:
            last = f"the last one before its window of {window.window}"
            yield _wandering(name, alike, last, rates, "fifths, each judged by the others")


def notice_missing_times(column: str, missing: int, rows: int) -> Finding:
    """Say that rows have no time: nothing is learned from them."""
    return Finding(
        "missing-time",
        column,
        message=f"{column}: {missing:,} of {rows:,} rows have no time and were not learned. New "
        "rows without one are judged as at the end of training.",
    )


def notice_same_times(window: WindowModel, rows: SortedRows) -> Iterator[Finding]:
    """Say that a few rows of a group have the same time."""
    if window.over and (same := rows.same_time).any():
        group = f" and {', '.join(window.by)}" if window.by else ""
        yield Finding(
            "same-time",
            window.over[0],
            message=f"{window.over[0]}: {int(same.sum()):,} of {rows.total:,} rows have the same "
            f"time{group} as another. They follow each other as they do in the table.",
        )


def notice_groups(context: ContextModel, inputs: Table) -> Iterator[Finding]:
    """Say that rows have no group, or that groups have few rows; refuse groups of one row each."""
    if not context.given.by:
        return
    codes = context.groups.codes(inputs)
    sizes = np.bincount(codes[codes >= 0], minlength=len(context.groups.keys))
    if np.count_nonzero(sizes == 1) >= _ALONE * inputs.rows:
        raise too_many_groups(context.given.by[-1], len(sizes), inputs.rows)
    if few := int(np.count_nonzero(sizes < _FEW_ROWS)):
        column, least = context.given.by[-1], int(sizes.argmin())
        key = " ".join(list(context.groups.keys)[least])
        yield Finding(
            "small-groups",
            column,
            message=f"{column}: {few:,} of {len(sizes):,} groups have fewer than {_FEW_ROWS} rows, "
            f"such as {printable(key)} with {sizes[least]}. These are judged mostly by all groups: "
            "faults inside the range of all are seen less often there.",
        )
    if missing := ContextGaps.of(context, inputs).no_group:
        column = context.given.by[-1]
        yield Finding(
            "missing-group",
            column,
            message=f"{column}: {missing:,} of {inputs.rows:,} rows have no group and say nothing "
            "of any. Such rows are judged by the group above, or by all rows.",
        )


def _span(context: ContextModel, axis: TimeAxis, dated: bool) -> str:
    said = f"{printable(axis.column)}: {context.learned_until}."
    if dated and axis.end - axis.begin < SEASON_DAYS * _DAY:
        said += (
            f" It is less than {SEASON_DAYS:.0f} days: a yearly season cannot be told from a trend."
        )
    return said


def _alike(learned: Table, name: str, before: Integers, after: Integers) -> float:
    """Return how alike the numbers of a column are in rows and in those before them, by ranks."""
    cells = learned[name]
    assert isinstance(cells, NumberColumn)
    some = ~np.isnan(cells.values[before]) & ~np.isnan(cells.values[after])
    _, place, counts = np.unique(cells.values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[place]
    x, y = ranks[before[some]], ranks[after[some]]
    if len(x) < _STRETCHES or x.min() == x.max() or y.min() == y.max():
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])


def _wandering(name: str, alike: float, to: str, rates: Sequence[float], between: str) -> Finding:
    return Finding(
        "wandering",
        name,
        message=f"{name}: its level wanders: one row is like {to} (autocorrelation "
        f"{alike:.2f}), and the rate of outliers goes from {percent(min(rates), 2)} to "
        f"{percent(max(rates), 2)} between {between}. More false alarms than asked for are "
        "to be expected.",
    )
