"""A table of typed columns: numbers, dates or texts, and which cells are missing or unreadable.

A column comes as its dtype says; `parse` makes of it what its role says. What it was parsed from
stays with it, as its `source`: that has the cells that cannot be read, as they were written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats, Integers
from refold.base import errors
from refold.columns.date_form import DateForm
from refold.columns.encoding.shapes import shapes_of
from refold.columns.missing import IN_MEMORY, SourceFormat
from refold.columns.number_form import NumberForm
from refold.columns.zones import LOCAL, moved, zone_of_name

_DAY = 86_400.0
_THURSDAY = 3  # 1 January 1970, counted from Monday
_NULL = -1
_FEW = 8  # times as many values as rows are not gone through for these
EXACT = 2.0**53  # whole numbers up to here are what they say, also as floats


class CellState(IntEnum):
    """Whether a cell holds what its column's role says."""

    READABLE = 0
    MISSING = 1
    UNREADABLE = 2


class _TypedColumn:
    """What columns of all types have in common."""

    source: Column | None

    if TYPE_CHECKING:  # what each type brings

        @property
        def is_null(self) -> Booleans:
            """Where there is nothing that can be read."""

    @property
    def raw(self) -> Column:
        """The column before it was parsed."""
        return self if self.source is None else self.source  # type: ignore[return-value]

    @cached_property
    def complete(self) -> bool:
        """Whether every cell is readable."""
        return not self.is_null.any()

    @cached_property
    def unreadable(self) -> Booleans:
        """Where something else stands than the role of the column says."""
        if self.source is None:
            return np.zeros(len(self.is_null), dtype=np.bool_)
        return np.asarray(self.is_null & ~self.source.is_null)

    @cached_property
    def state(self) -> Integers:
        """The `CellState` of each cell."""
        return self.is_null.astype(np.int64) + self.unreadable


@dataclass(frozen=True, eq=False)
class NumberColumn(_TypedColumn):
    """Numbers."""

    values: Floats  # (n,): NaN where a cell is missing or unreadable
    source: Column | None = None  # what was parsed; None if numbers came
    # How it was parsed; without a source: plain texts that Arrow has read, or durations.
    form: NumberForm | None = None

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def is_null(self) -> Booleans:
        """Where there is no number."""
        return np.isnan(self.values)

    def take(self, rows: Integers | Booleans) -> NumberColumn:
        """Return some of the rows."""
        return NumberColumn(self.values[rows], self.source and self.source.take(rows), self.form)


@dataclass(frozen=True, eq=False)
class DateColumn(_TypedColumn):
    """Dates, times of day, or both."""

    # (n,): local time, since 1970, or since midnight where there is no date; NaN where a cell is
    # missing or unreadable.
    seconds: Floats
    # has_date, has_clock: Whether they say which day it is, and what time of the day.
    has_date: bool
    has_clock: bool
    source: Column | None = None  # what was parsed; None if dates came and say what they should
    form: DateForm | None = None  # how it was parsed
    # (n,): by how many seconds the clock is ahead of UTC, NaN where that is not known; None if no
    # dates came that say so.
    offsets: Floats | None = None
    zone: str = ""  # of what such dates came with, as its type names it

    def __len__(self) -> int:
        return len(self.seconds)

    @property
    def clock(self) -> str:
        """The zone to read these and further dates in: UTC if they are of several."""
        if self.offsets is None or np.isnan(self.offsets).all():
            return ""
        return zone_of_name(self.zone)

    def in_zone(self, zone: str) -> DateColumn:
        """Return the same instants by the clock in a zone; a column that says no zone as it is."""
        if self.offsets is None or zone in ("", LOCAL, self.zone):
            return self
        seconds = moved(self.seconds, self.offsets, zone)
        offsets = self.offsets + (seconds - self.seconds)
        return replace(self, seconds=seconds, offsets=offsets, zone=zone)

    @cached_property
    def is_null(self) -> Booleans:
        """Where there is no date."""
        return np.isnan(self.seconds)

    @cached_property
    def hour(self) -> Integers:
        """The hour of the day, -1 where there is none."""
        return self._whole(np.mod(self.seconds, _DAY) // 3600.0)

    @cached_property
    def weekday(self) -> Integers:
        """The day of the week, Monday is 0, -1 where there is none."""
        return self._whole(np.mod(self.seconds // _DAY + _THURSDAY, 7.0))

    @cached_property
    def shapes(self) -> TextColumn | None:
        """The shape of the text of each cell; None if dates came."""
        if isinstance(self.raw, DateColumn):
            return None
        texts = as_texts(self.raw)
        codes, shapes = shapes_of(texts.values)
        return TextColumn(shapes, np.append(codes, _NULL)[texts.codes])

    def take(self, rows: Integers | Booleans) -> DateColumn:
        """Return some of the rows."""
        source = self.source and self.source.take(rows)
        offsets = None if self.offsets is None else self.offsets[rows]
        return replace(self, seconds=self.seconds[rows], source=source, offsets=offsets)

    def _whole(self, values: Floats) -> Integers:
        return np.where(self.is_null, -1.0, values).astype(np.int64)


@dataclass(frozen=True, eq=False)
class TextColumn(_TypedColumn):
    """Texts, categories or truth values: dictionary-encoded."""

    values: Sequence[str]  # each different text once, as it was written, none of them empty
    codes: Integers  # (n,): which one a row has; -1 where it is missing
    source: Column | None = None  # what was written as text; None if texts came
    cleared: tuple[str, ...] = ()  # the words that were taken as missing values
    # (n, 3): what the group of each row adds to how surprising its value, shape and collapsed shape
    # are: infinity if they contradict it, -infinity in an unknown one; None where groups do not
    # differ, and without any.
    in_group: Floats | None = None

    form: ClassVar[None] = None

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def is_null(self) -> Booleans:
        """Where there is no text."""
        return np.asarray(self.codes < 0)

    @cached_property
    def counts(self) -> Integers:
        """How many rows have each value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    def text(self, row: int) -> str | None:
        """Return the text of a row; None if it is missing."""
        code = int(self.codes[row])
        return None if code < 0 else self.values[code]

    def take(self, rows: Integers | Booleans) -> TextColumn:
        """Return some of the rows, and the values that they have."""
        codes = self.codes[rows]
        source = self.source and self.source.take(rows)
        in_group = None if self.in_group is None else self.in_group[rows]
        kept, place = _places(codes, len(self.values))
        values = self.values
        if len(kept) < len(values):
            values = [values[k] for k in kept.tolist()]
        return TextColumn(values, place, source, self.cleared, in_group)

    def renamed(self, names: Sequence[str | None]) -> TextColumn:
        """Return the column with other texts for its values, None for a missing one."""
        place: dict[str, int] = {}
        to = [_NULL if name is None else place.setdefault(name, len(place)) for name in names]
        codes = np.array([*to, _NULL], dtype=np.int64)[self.codes]
        return replace(self, values=list(place), codes=codes)


def _places(codes: Integers, n: int) -> tuple[Integers, Integers]:
    """Return which of `n` codes there are, and the place of each among these; -1 stays."""
    if len(codes) * _FEW < n:  # a few rows of a column of names
        kept, place = np.unique(codes, return_inverse=True)
        none = int(len(kept) > 0 and kept[0] == _NULL)  # it comes first
        return kept[none:], place.ravel() - none
    have = np.zeros(n + 1, dtype=np.bool_)
    have[codes] = True  # -1 is the last
    place = np.cumsum(have) - 1
    place[n] = _NULL
    return np.flatnonzero(have[:n]), place[codes]


Column = NumberColumn | DateColumn | TextColumn


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of the same length."""

    names: list[str]  # what they are called
    columns: list[Column]  # what they hold
    rows: int  # how many rows there are
    guessed: bool = True  # whether roles are to be guessed; an array of numbers holds nothing else
    written: SourceFormat = IN_MEMORY  # how its texts are written, as far as its source says so
    # The rows as they came, where numbers are how far they are from what their context lets expect;
    # None where they are numbers as they came.
    inputs: Table | None = None

    @classmethod
    def of_numbers(cls, names: Sequence[str], columns: Iterable[NDArray[Any]]) -> Table:
        """Return a table that holds nothing but numbers, NaN where one is missing."""
        numbers = [NumberColumn(np.asarray(column, dtype=np.float64)) for column in columns]
        return cls(list(names), [*numbers], len(numbers[0]) if numbers else 0, guessed=False)

    @property
    def as_read(self) -> Table:
        """The rows as they came."""
        return self if self.inputs is None else self.inputs

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, name: str) -> Column:
        return self.columns[self.names.index(name)]

    def items(self) -> Iterator[tuple[str, Column]]:
        """Give names and columns."""
        return zip(self.names, self.columns, strict=True)

    def take(self, rows: Integers | Booleans) -> Table:
        """Return some of the rows."""
        columns = [column.take(rows) for column in self.columns]
        n = len(columns[0]) if columns else len(np.arange(self.rows)[rows])
        inputs = None if self.inputs is None else self.inputs.take(rows)
        return replace(self, columns=columns, rows=n, inputs=inputs)

    def head(self, rows: int) -> Table:
        """Return the first rows."""
        return self if self.rows <= rows else self.take(np.arange(rows))

    def select(self, names: Sequence[str]) -> Table:
        """Return some of the columns, in that order."""
        if list(names) == self.names:
            return self
        place = {name: k for k, name in enumerate(self.names)}
        columns = [self.columns[place[name]] for name in names]
        return replace(self, names=list(names), columns=columns)

    def with_columns(self, columns: Mapping[int, Column]) -> Table:
        """Return the same with other columns in some places."""
        own = [columns.get(k, column) for k, column in enumerate(self.columns)]
        return replace(self, columns=own)

    @staticmethod
    def hstack(parts: Sequence[Table]) -> Table:
        """Return the columns of several tables with the same rows."""
        names = [name for part in parts for name in part.names]
        columns = [column for part in parts for column in part.columns]
        return replace(parts[0], names=names, columns=columns)

    @staticmethod
    def concat(parts: Sequence[Table]) -> Table:
        """Return the rows of several tables with the same columns."""
        if len(parts) == 1:
            return parts[0]
        columns = [concat(each) for each in zip(*(part.columns for part in parts), strict=True)]
        inputs = [part.inputs for part in parts if part.inputs is not None]
        return replace(
            parts[0],
            columns=columns,
            rows=sum(part.rows for part in parts),
            inputs=Table.concat(inputs) if inputs else None,
        )


def as_texts(column: Column) -> TextColumn:
    """Return a column as it is written: numbers as Python does, dates in the order of ISO 8601."""
    if isinstance(column, TextColumn):
        return column
    if column.source is not None:
        return as_texts(column.source)
    values = column.values if isinstance(column, NumberColumn) else column.seconds
    seen = ~column.is_null
    different, group = np.unique(values[seen], return_inverse=True)
    codes = np.full(len(values), _NULL, dtype=np.int64)
    codes[seen] = group
    write = _number if isinstance(column, NumberColumn) else _moment_writer(column)
    return TextColumn([write(value) for value in different.tolist()], codes)


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) <= EXACT else repr(value)


def _moment_writer(column: DateColumn) -> Callable[[float], str]:
    unit = "s" if column.has_clock else "D"
    cut = slice(None) if column.has_date else slice(11, None)
    return lambda seconds: str(np.datetime64(int(seconds), "s").astype(f"M8[{unit}]"))[cut].replace(
        "T", " "
    )


def concat(columns: Sequence[Column]) -> Column:
    """Return the rows of several columns; of different types they become texts."""
    kind, forms = type(columns[0]), {column.form for column in columns if column.form is not None}
    if len(forms) > 1 or any(type(column) is not kind for column in columns):
        columns, forms = [column.raw for column in columns], set()
    parsed = any(column.source is not None for column in columns)
    source = concat([column.raw for column in columns]) if parsed else None
    form: Any = next(iter(forms), None)
    numbers = [column for column in columns if isinstance(column, NumberColumn)]
    dates = [column for column in columns if isinstance(column, DateColumn)]
    if len(numbers) == len(columns):
        return NumberColumn(np.concatenate([c.values for c in numbers]), source, form)
    if len(dates) == len(columns):
        seconds = np.concatenate([column.seconds for column in dates])
        clock = any(column.has_clock for column in dates)
        return DateColumn(seconds, dates[0].has_date, clock, source, form, *_zones(dates))
    parts = [as_texts(column) for column in columns]
    values = list(dict.fromkeys(chain.from_iterable(part.values for part in parts)))
    place = dict(zip(values, range(len(values)), strict=True))
    codes = [
        np.array([*map(place.__getitem__, part.values), _NULL], dtype=np.int64)[part.codes]
        for part in parts
    ]
    texts = [column for column in columns if isinstance(column, TextColumn)]
    cleared = texts[0].cleared if len({column.cleared for column in texts}) == 1 else ()
    added = [column.in_group for column in texts if column.in_group is not None]
    in_group = np.concatenate(added) if added and len(added) == len(columns) else None
    return TextColumn(values, np.concatenate(codes), source, cleared, in_group)


def _zones(dates: Sequence[DateColumn]) -> tuple[Floats | None, str]:
    """Return the offsets of all rows, and their zone if they have the same."""
    zones = {column.zone for column in dates}
    if all(column.offsets is None for column in dates):
        return None, ""
    offsets = [np.full(len(c), np.nan) if c.offsets is None else c.offsets for c in dates]
    return np.concatenate(offsets), zones.pop() if len(zones) == 1 else ""


def check_finite(values: Floats, column: int, names: Sequence[str]) -> None:
    """Refuse infinity in one of the columns, in words."""
    infinite = np.isinf(values)
    if infinite.any():
        raise errors.infinite(int(infinite.argmax()), column).named(names)
