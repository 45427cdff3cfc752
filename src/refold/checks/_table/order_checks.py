"""Whether later rows are like earlier ones."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from refold._typing import Floats, Integers
from refold.base.advice import Advice
from refold.base.findings import Finding
from refold.base.words import number, percent, printable, quoted
from refold.checks._table.checked_table import CheckedColumn, CheckedTable
from refold.columns.name_hints import name_words, says_birth
from refold.columns.roles import is_numeric_time
from refold.columns.row_numbers import is_chronological, record_times
from refold.columns.table import DateColumn, NumberColumn, TextColumn
from refold.monitoring.statistics import holm, same_distribution, same_share

_SPLITS = (0.25, 0.5, 0.75)  # after such a part of the rows something may have changed
_LEAST_ROWS = 40
_CHANCE = 1e-3  # of one false finding in the whole table
_LEAST = 0.25  # the distance of the distributions that is worth a word
_SORTED = 0.99  # the share of steps that go one way, where rows are ordered by the column
_FREQUENT = 20  # values of a column whose shares are compared
_NAMED = 5
_REPEATED = 2.0  # rows for each moment; where there are fewer, every column follows from the time
_FOLLOWS = 0.99  # the share of rows with the usual value of their moment, where it follows from it


class Change(NamedTuple):
    """Where a column changes most: by its values up to a number, or by a value of its own."""

    p_value: float
    distance: float
    first: int
    value: float | int


class TimeOrder(NamedTuple):
    """The rows of a table in the order of time."""

    column: str  # the column that says the time
    order: Integers  # the rows, the earliest first
    moments: Floats  # the time of each of them
    dated: bool  # whether the time is a date, in seconds

    def splits(self) -> list[int]:
        """Return how many rows are early where about a quarter, a half, … of them is."""
        ends = self.moments[[at - 1 for at in _splits(len(self.order))]]
        found = np.searchsorted(self.moments, ends, side="right").tolist()
        return sorted({at for at in found if at < len(self.order)})

    def shown(self, place: int) -> str:
        """Return the time of a row as people write it."""
        if self.dated:
            written = str(np.datetime64(int(np.floor(self.moments[place])), "s"))
            return written.removesuffix("T00:00:00").replace("T", " ")
        return f"{self.moments[place]:.10g}"


def notice_order(
    table: CheckedTable, known: Collection[str | None]
) -> tuple[Finding | None, Finding | None]:
    """Return that values change in time, and that rows without a time are in some order.

    The rows of a table that carries time are put in the order of time first. Whether another order
    of the rows matters only somebody who knows the table knows. Columns in `known` are left out.
    """
    time = _time_order(table)
    table = table.some_columns
    if time is None:
        return None, _finding(_changed(table, None, known), None)
    known = {*known, time.column}
    changed = _finding(_changed(table.take(time.order), time, known), time)
    if changed is not None or (np.diff(time.order) == 1).all():
        return changed, None  # said once
    return None, _finding(_changed(table, None, known), None)


def _splits(rows: int) -> list[int]:
    return [math.ceil(share * rows) for share in _SPLITS]


def _time_order(table: CheckedTable) -> TimeOrder | None:
    """Return the rows in the order of the first column that says when they are from."""
    dated = [
        c
        for c in table.columns
        if isinstance(c.cells, DateColumn) and c.cells.has_date and not says_birth(c.name)
    ]
    counted = [
        c
        for c in table.columns
        if c.numbers is not None and is_numeric_time(c.name, _seen(c.numbers))
    ]
    # A time that runs on in the order of the rows is when they were recorded.
    running = [c for c in dated if c.values is not None and is_chronological(_seen(c.values))]
    running += _numbered_years(table)
    named = {c.name: c for c in dated if c.values is not None}
    recorded = record_times({name: c.values for name, c in named.items() if c.values is not None})
    for column in (*running, *(named[name] for name in recorded), *counted):
        values = column.values if column.values is not None else _observed(column)
        if np.isnan(values).mean() <= 1.0 - _SORTED and len(np.unique(_seen(values))) > 1:
            order = np.argsort(values, kind="stable")
            order = order[: len(values) - int(np.isnan(values).sum())]
            return TimeOrder(column.name, order, values[order], column.role == "date")
    return None


def _numbered_years(table: CheckedTable) -> list[CheckedColumn]:
    """Return columns that number the rows and say the time, such as years."""
    numbered = (c for c in table.columns if any(f.kind == "running-number" for f in c.noticed))
    return [
        c
        for c in numbered
        if isinstance(c.observed, NumberColumn)
        and {"year", "yr", "t", "time"} & {*name_words(c.name)}
    ]


def _observed(column: CheckedColumn) -> Floats:
    assert isinstance(column.observed, NumberColumn)
    return column.observed.values


def _seen(values: Floats) -> Floats:
    return values[~np.isnan(values)]


def _changed(
    table: CheckedTable, time: TimeOrder | None, known: Collection[str | None]
) -> list[tuple[CheckedColumn, Change]]:
    """Return the columns that change with the rows, the one that changes most first."""
    some = table.sample
    splits = _splits(table.rows) if time is None else time.splits()
    if some.rows < _LEAST_ROWS or not splits:
        return []
    every = [c for c in table.used if c.name not in known and not _follows(c, time)]
    drawn = {column.name: column for column in some.columns}
    changes = [(c, _change(drawn[c.name], splits, some.rows / table.rows)) for c in every]
    found = [(column, change) for column, change in changes if change is not None]
    if not found:
        return []
    adjusted = holm(np.array([change.p_value for _, change in found]))
    kept = [
        (column, change)
        for (column, change), p in zip(found, adjusted.tolist(), strict=True)
        if p <= _CHANCE and change.distance >= _LEAST
    ]
    return sorted(kept, key=lambda each: -each[1].distance)


def _follows(column: CheckedColumn, time: TimeOrder | None) -> bool:
    """Whether a column says the time in another way, such as a mark of each year."""
    if time is None or column.values is None:
        return False
    starts = np.flatnonzero(np.append(True, np.diff(time.moments) != 0.0))
    if len(time.moments) < _REPEATED * len(starts):
        return False
    first = np.repeat(column.bits[starts], np.diff(np.append(starts, len(time.moments))))
    return bool(np.mean(column.bits == first) >= _FOLLOWS)


def _change(column: CheckedColumn, splits: Sequence[int], drawn: float) -> Change | None:
    """Compare such a part of the rows before and after each split of all of them."""
    if column.numbers is not None:
        return _of_numbers(column.numbers, splits, drawn)
    if column.texts is not None and column.role == "category":
        return _of_texts(column.texts, splits, drawn)
    return None


def _of_numbers(values: Floats, splits: Sequence[int], drawn: float) -> Change | None:
    """Compare the distributions of numbers before and after."""
    rows = np.flatnonzero(~np.isnan(values))
    seen = values[rows]
    if len(seen) < _LEAST_ROWS or _is_sorted(seen):
        return None
    order = np.argsort(seen, kind="stable")
    last = np.flatnonzero(np.append(np.diff(seen[order]) != 0.0, True))  # of equal values
    best = None
    for first in splits:
        early = rows < drawn * first
        n, m = int(early.sum()), int((~early).sum())
        if min(n, m) == 0:
            continue
        before, after = (np.cumsum(part[order])[last] for part in (early, ~early))
        k = int(np.abs(before / n - after / m).argmax())
        distance = abs(float(before[k] / n) - float(after[k] / m))
        p = float(len(_SPLITS) * same_distribution(distance, n, m))
        if best is None or p < best.p_value:
            best = Change(p, distance, first, float(seen[order[last[k]]]))
    return best


def _is_sorted(values: Floats) -> bool:
    steps = np.diff(values)
    return max(float(np.mean(steps >= 0.0)), float(np.mean(steps <= 0.0))) >= _SORTED and bool(
        len(np.unique(values)) > 2
    )


def _of_texts(texts: TextColumn, splits: Sequence[int], drawn: float) -> Change | None:
    """Compare the shares of frequent values before and after."""
    rows = np.flatnonzero(texts.codes >= 0)
    codes = texts.codes[rows]
    if len(codes) < _LEAST_ROWS or _runs(codes) <= 2 * np.count_nonzero(texts.counts):
        return None
    often = np.argsort(-texts.counts, kind="stable")[:_FREQUENT]
    best = None
    for first in splits:
        early = rows < drawn * first
        n, m = int(early.sum()), int((~early).sum())
        if min(n, m) == 0:
            continue
        before, after = (
            np.bincount(codes[part], minlength=len(texts.values))[often] for part in (early, ~early)
        )
        p = len(_SPLITS) * len(often) * same_share(before, n, after, m)
        k = int(np.argmax(np.abs(before / n - after / m)))
        distance = abs(float(before[k] / n) - float(after[k] / m))
        if best is None or p[k] < best.p_value:
            best = Change(float(p[k]), distance, first, int(often[k]))
    return best


def _runs(codes: Integers) -> int:
    """Return how many runs of equal values there are; where rows are ordered by them, one each."""
    return 1 + int(np.count_nonzero(np.diff(codes)))


def _finding(found: list[tuple[CheckedColumn, Change]], time: TimeOrder | None) -> Finding | None:
    """Say of the column that changes most what changes, counted in all rows that have a value."""
    if not found:
        return None
    column, change = found[0]
    if column.numbers is not None:
        there = ~np.isnan(column.numbers)
        limit = _short(column.numbers[there], float(change.value))
        odd, what = column.numbers <= limit, f"at most {_written(limit)}"
        if column.numbers[odd].min() == limit:
            what = _written(limit)
    else:
        assert column.texts is not None
        there = column.texts.codes >= 0
        odd = column.texts.codes == change.value
        what = quoted(column.texts.values[int(change.value)])
    early, late = int(there[: change.first].sum()), int(there[change.first :].sum())
    before = percent(float(odd[: change.first].sum() / max(early, 1)), 2)
    after = percent(float(odd[change.first :].sum() / max(late, 1)), 2)
    if time is None:
        by, first, rest = (
            "the order of the rows",
            f"of the first {early:,} rows",
            f"of the other {late:,}",
        )
        advice = Advice(
            "If the rows are in the order of time, learn from those of the time that counts."
        )
    else:
        by, rest = time.column, f"of the {late:,} later ones"
        first = f"of the {early:,} rows up to {time.shown(change.first - 1)}"
        advice = Advice(
            "What is normal has changed: learn from rows of the time that counts, or expect trend "
            "and calendar",
            "over",
            value=time.column,
        )
    return Finding(
        kind="drift",
        message=f"{column.name} changes with {by}: it is {what} in {before} {first} and in {after} "
        f"{rest}.{_others(found)}",
        column=column.name,
        values=tuple(each.name for each, _ in found),
        advice=advice,
    )


def _short(values: Floats, limit: float) -> float:
    """Return the number with fewest digits that as many values do not exceed."""
    beyond = values[values > limit].min(initial=np.inf)
    for digits in range(1, 17):
        short = float(f"{limit:.{digits}g}")
        if limit <= short < beyond:
            return short
    return limit


def _written(value: float) -> str:
    """Return a number with all of its digits."""
    return number(value) if abs(value) >= 1e4 and value == int(value) else f"{value:.16g}"


def _others(found: list[tuple[CheckedColumn, Change]]) -> str:
    names = [printable(column.name) for column, _ in found[1:]]
    if not names:
        return ""
    if len(names) == 1:
        return f" So does {names[0]}."
    more = ", …" if len(names) > _NAMED else ""
    return f" So do {len(names):,} other columns: {', '.join(names[:_NAMED])}{more}."
