"""How numbers went on lately: step, rolling mean and spread, for how many rows they stand still.

A window is a number of rows, or a duration, up to a row, within its group and in the order of time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats, Integers
from refold.base.errors import UserError
from refold.base.once import once
from refold.columns.context.design import group_keys
from refold.columns.context.history import History, Past
from refold.columns.context.trend import Form, seconds
from refold.columns.context.window_checks import check_dates, check_order, check_times
from refold.columns.table import Column, NumberColumn, Table

if TYPE_CHECKING:
    from refold.columns.context.column_context import ColumnContext
    from refold.columns.context.context import ContextColumns

Measure = Literal["step", "mean", "sd", "unchanged"]
MEASURES: tuple[Measure, ...] = get_args(Measure)

FEWEST_ROWS = 3
# No window has more rows than this: what is computed grows with rows times window.
MOST_ROWS = 10_000
# A column that so many rows find unchanged over the whole window is one that is set, not measured.
_SET = 0.01
# So many rows may share their time with another of their group; they are taken as they come.
_UNITS = {"d": 86_400.0, "h": 3600.0, "min": 60.0, "s": 1.0}
_NAMES = {"d": "days", "h": "hours", "min": "minutes", "s": "seconds"}
_SPELLED = (
    _UNITS
    | {"day": _UNITS["d"], "hour": _UNITS["h"], "m": _UNITS["min"], "minute": _UNITS["min"]}
    | {"sec": 1.0, "second": 1.0, "w": 7.0 * _UNITS["d"], "week": 7.0 * _UNITS["d"]}
)
_DURATION = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Window:
    """So many rows up to a row, or those of the last so many seconds."""

    rows: int | None = None
    seconds: float | None = None

    @classmethod
    def of(cls, window: Any) -> Window:
        """Read what a user has written: 30, "30", "7d", "12 hours", a timedelta."""
        if isinstance(window, np.timedelta64):
            return cls._checked(window, length=float(window / np.timedelta64(1, "s")))
        if isinstance(window, int | np.integer) and not isinstance(window, bool):
            return cls._checked(window, rows=int(window))
        if isinstance(window, timedelta):
            return cls._checked(window, length=window.total_seconds())
        found = _DURATION.fullmatch(window) if isinstance(window, str) else None
        if found is not None:
            number, unit = found[1], found[2].lower()
            if not unit and number.isdecimal():
                return cls._checked(window, rows=int(number))
            length = _SPELLED.get(unit) or _SPELLED.get(unit.removesuffix("s"))
            if length is not None:
                return cls._checked(window, length=float(number) * length)
        raise UserError(
            f"window={window!r} is neither a number of rows nor a duration: write 30, or '7d', "
            "'12h', '30min', '90s'."
        )

    @classmethod
    def _checked(
        cls, window: object, *, rows: int | None = None, length: float | None = None
    ) -> Window:
        if rows is not None and not FEWEST_ROWS <= rows <= MOST_ROWS:
            raise UserError(
                f"window={window!r}: a window has from {FEWEST_ROWS} to {MOST_ROWS:,} rows, or is "
                "a duration such as '7d'."
            )
        if length is not None and not 0.0 < length < math.inf:
            raise UserError(f"window={window!r}: a duration must be longer than 0, such as '7d'.")
        return cls(rows, length)

    def __str__(self) -> str:
        if self.rows is not None:
            return f"{self.rows} rows"
        assert self.seconds is not None
        length = self.seconds
        unit = next((unit for unit in _UNITS if length % _UNITS[unit] == 0.0), "s")
        return f"{length / _UNITS[unit]:.15g} {_NAMES[unit]}"

    @property
    def fewest(self) -> int:
        """How many rows a mean and a spread need."""
        return FEWEST_ROWS if self.rows is None else max(FEWEST_ROWS, math.ceil(self.rows / 2))


@dataclass(frozen=True)
class WindowColumn:
    """One measure of a column of numbers."""

    column: str  # the column that it is of
    measure: Measure
    middle: float  # what is subtracted from numbers before they are added up
    smallest: float  # the smallest standard deviation: what rounding leaves
    # What a row without a history has: the median of training. In a context, what is expected.
    neutral: float = 0.0


@dataclass(frozen=True, eq=False)
class WindowModel:
    """Which columns are looked at over a window."""

    window: Window
    # by, over: the columns of the group and the time of a row.
    by: tuple[str, ...]
    over: tuple[str, ...]
    columns: Mapping[str, WindowColumn]  # by what they are called beside those of the table

    @classmethod
    def learn(
        cls, window: Window, given: ContextColumns, table: Table
    ) -> tuple[WindowModel, Table, SortedRows]:
        """Look at columns of a table; return it with their measures, and its rows by time."""
        first = cls(window, given.by, given.over, {})
        names = [
            name
            for name, cells in table.items()
            if isinstance(cells, NumberColumn) and name not in given.names
        ]
        check_order(first, table)
        rows = first.sorted_rows(table, names)
        check_times(first, rows)
        if not rows.enough.any():
            raise UserError(
                f"window={str(window)!r}: no group has {window.fewest} rows in a window. Set a "
                "smaller window, or leave it out."
            )
        columns: dict[str, WindowColumn] = {}
        if window.seconds is None:
            whole = rows.counts == window.rows
        else:
            whole = rows.past.times - rows.past.since >= window.seconds
        for k, name in enumerate(names):
            x = rows.values[:, k]
            if np.isnan(x).all():
                continue
            still = (rows.unchanged[:, k] >= rows.counts)[whole]
            for measure in MEASURES:
                if measure == "unchanged" and len(still) and still.mean() >= _SET:
                    continue
                own = WindowColumn(name, measure, float(np.nanmedian(x)), _rounding(x))
                found = rows.measured(k, own)
                found = found[~np.isnan(found)]
                if len(found) and (measure == "unchanged" or found.min() < found.max()):
                    called = first._name_of(name, measure, [*table.names, *columns])
                    columns[called] = replace(own, neutral=float(np.median(found)))
        model = replace(first, columns=columns)
        return model, model._with_measures(table, rows, names), rows

    def apply(self, table: Table, history: History | None = None) -> Table:
        """Return rows with their measures; a history, if there is one, comes before them."""
        names = list(dict.fromkeys(each.column for each in self.columns.values()))
        return self._with_measures(table, self.sorted_rows(table, names, history), names)

    def neutral(self, table: Table, scores: Mapping[str, Floats]) -> dict[int, Column]:
        """Return measures, scores where there are any; a row without a history is as expected."""
        columns: dict[int, Column] = {}
        for name, own in self.columns.items():
            cells = table[name]
            assert isinstance(cells, NumberColumn)
            usual = 0.0 if name in scores else own.neutral
            found = np.where(cells.is_null, usual, scores.get(name, cells.values))
            columns[table.names.index(name)] = NumberColumn(found)
        return columns

    def counts_rows(self, name: str) -> bool:
        """Whether a column counts rows without a change: these are the same in every context."""
        return name in self.columns and self.columns[name].measure == "unchanged"

    def chosen(self, name: str, columns: Mapping[str, ColumnContext]) -> tuple[bool, Form] | None:
        """Return whether a column is taken as logarithms, and the form of its trend, if known.

        A mean goes as its column does; steps and spreads have no trend.
        """
        own = self.columns.get(name)
        if own is None:
            return None
        of = columns.get(own.column)
        return (of.log, of.form) if own.measure == "mean" and of is not None else (False, "none")

    def _name_of(self, column: str, measure: Measure, taken: Sequence[str]) -> str:
        of = {"step": "step", "unchanged": "rows unchanged"}.get(measure)
        name = f"{column}: {of or f'{measure} of {self.window}'}"
        while name in taken:
            name += "'"
        return name

    def _with_measures(self, table: Table, rows: SortedRows, names: list[str]) -> Table:
        place = {name: k for k, name in enumerate(names)}
        found: list[Column] = [
            NumberColumn(rows.of_table(rows.measured(place[own.column], own), np.nan))
            for own in self.columns.values()
        ]
        return replace(table, names=[*table.names, *self.columns], columns=[*table.columns, *found])

    def sorted_rows(
        self, table: Table, names: list[str], history: History | None = None
    ) -> SortedRows:
        """Return the rows that have a group and a time, after those of a history."""
        values = np.empty((table.rows, len(names)))
        for k, name in enumerate(names):
            cells = table[name]
            assert isinstance(cells, NumberColumn)
            values[:, k] = cells.values
        keys: list[tuple[str, ...]] = [()]
        codes, times = np.zeros(table.rows, dtype=np.int64), np.zeros(table.rows)
        if self.by:
            keys, codes = group_keys(table, self.by)
        for name in self.over:
            times = seconds(table[name], name)
        if self.window.seconds is not None:
            check_dates(self, table)
        here = np.flatnonzero((codes >= 0) & ~np.isnan(times))
        new = Past.of(codes[here], times[here], values[here])
        before = new.take(slice(0, 0))
        if history is not None:
            before = history.before(keys, new, self.over)
        joined = Past.concat([before, new])
        # Rows of one time stay in the order in which they came.
        order = np.lexsort((joined.times, joined.groups))
        places = np.append(np.full(len(before.groups), -1), here)[order]
        rows = SortedRows.of(joined.take(order), self.window, places, table.rows)
        if history is not None:
            history.keep(keys, rows.past, rows.needed_later(self.window))
        return rows


@dataclass(frozen=True, eq=False)
class SortedRows:
    """Rows, by group and in the order of time, and the window up to each."""

    past: Past
    first: Integers  # where the window of each row begins
    enough: Booleans  # whether it has enough rows for a mean and a spread
    places: Integers  # which row of the table each one is; -1 of rows that came before it
    total: int  # how many rows the table has

    @classmethod
    def of(cls, past: Past, window: Window, places: Integers, total: int) -> SortedRows:
        """Find the window of each row."""
        n = len(past.groups)
        index = np.arange(n)
        starts = np.append(True, past.groups[1:] != past.groups[:-1])[:n]
        begin = np.maximum.accumulate(np.where(starts, index, 0)) if n else index
        known = past.since[begin]
        past = replace(past, since=np.where(np.isnan(known), past.times[begin], known))
        past = replace(past, unchanged=_unchanged(past, starts))
        if window.rows is not None:
            first = np.maximum(begin, index - window.rows + 1)
            enough = index - first + 1 >= window.fewest
        else:
            assert window.seconds is not None
            first = np.maximum(_since(past, window.seconds), index - MOST_ROWS + 1)
            enough = (index - first + 1 >= window.fewest) & (
                past.times - past.since >= window.seconds / 2.0
            )
        return cls(past, first, enough, places, total)

    @property
    def values(self) -> Floats:
        """(n, d): the numbers."""
        return self.past.values

    @property
    def unchanged(self) -> Floats:
        """(n, d): how many rows up to each one have its value."""
        return self.past.unchanged

    @once
    def same_time(self) -> Booleans:
        """(n - 1,): which rows have the group and time of the one before."""
        same = (np.diff(self.past.times) == 0.0) & (np.diff(self.past.groups) == 0)
        return np.asarray(same)

    @property
    def counts(self) -> Integers:
        """How many rows the window of each row has."""
        return np.arange(len(self.first)) - self.first + 1

    def measured(self, k: int, own: WindowColumn) -> Floats:
        """Return a measure of a column; NaN where too few rows came before."""
        x = self.values[:, k]
        if own.measure == "unchanged":
            return np.where(np.isnan(x), np.nan, np.log(self.unchanged[:, k]))
        if own.measure == "step":
            same = self.past.groups[1:] == self.past.groups[:-1]
            return np.append(np.nan, np.where(same, np.diff(x), np.nan))[: len(x)]
        seen = ~np.isnan(x)
        centred = np.where(seen, x - own.middle, 0.0)
        n = self._sums(seen.astype(np.float64))
        n = np.where(self.enough & (2.0 * n >= self.counts) & (n >= FEWEST_ROWS), n, np.nan)
        mean = self._sums(centred) / n
        if own.measure == "mean":
            return np.asarray(mean + own.middle)
        squares = np.maximum(self._sums(centred**2) - n * mean**2, 0.0)
        # Of equal values nothing but a rounding error would be left.
        squares = np.where(self.unchanged[:, k] >= self.counts, 0.0, squares)
        spread = np.sqrt(squares / (n - 1.0))
        return np.asarray(np.log(np.maximum(spread, own.smallest)))

    def _sums(self, values: Floats) -> Floats:
        """Add up the values of the window of each row."""
        if len(values) == 0:
            return values
        ends = np.column_stack([self.first, np.arange(1, len(values) + 1)]).ravel()
        return np.asarray(np.add.reduceat(np.append(values, 0.0), ends)[::2])

    def of_table(self, values: NDArray[Any], otherwise: Any) -> NDArray[Any]:
        """Return what was found for the rows of the table, in their order."""
        out = np.full(self.total, otherwise, dtype=values.dtype)
        mine = self.places >= 0
        out[self.places[mine]] = values[mine]
        return out

    def stretches(self, number: int) -> Integers:
        """Divide rows that follow each other, by time or else by their place in the group."""
        groups, times, n = self.past.groups, self.past.times, len(self.first)
        if n and times.max() > times.min():
            edges = np.quantile(times, np.arange(1, number) / number)
            return np.searchsorted(edges, times)
        sizes = np.bincount(groups, minlength=1)
        place = np.arange(n) - np.searchsorted(groups, groups)
        return np.asarray(place * number // sizes[groups])

    def needed_later(self, window: Window) -> Booleans:
        """Return which rows the windows of later rows may have."""
        groups, n = self.past.groups, len(self.first)
        last = np.searchsorted(groups, groups, side="right") - 1
        if window.rows is not None:
            return np.asarray(last - np.arange(n) < window.rows)
        assert window.seconds is not None
        recent = self.past.times > self.past.times[last] - window.seconds
        return np.asarray(recent & (last - np.arange(n) < MOST_ROWS))


def _since(past: Past, length: float) -> Integers:
    """Return the first row of each group that is less than so long before each row."""
    if len(past.times) == 0:
        return np.empty(0, dtype=np.int64)
    # Groups one after another on one axis, farther apart than the window is long.
    times = past.times - past.times.min()
    axis = times + past.groups * (times.max() + 2.0 * length)
    return np.asarray(np.searchsorted(axis, axis - length, side="right"), dtype=np.int64)


def _unchanged(past: Past, starts: Booleans) -> Floats:
    """Return how many rows up to each one have its value, those before the first row included."""
    x = past.values
    index = np.arange(len(x))[:, None]
    changed = np.ones(x.shape, dtype=np.bool_)
    changed[1:] = (x[1:] != x[:-1]) | starts[1:, None]
    if len(x) == 0:
        return x
    begin = np.maximum.accumulate(np.where(changed, index, 0), axis=0)
    before = np.nan_to_num(np.take_along_axis(past.unchanged, begin, axis=0), nan=1.0)
    return np.asarray(index - begin + before, dtype=np.float64)


def _rounding(x: Floats) -> float:
    """Return the standard deviation that rounding to the smallest step between values leaves."""
    steps = np.diff(np.unique(x[~np.isnan(x)]))
    return float(steps.min()) / math.sqrt(12.0) if len(steps) else 1e-12
