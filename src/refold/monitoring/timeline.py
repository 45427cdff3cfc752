"""When rows were, to which group they belong, and how far apart they may be."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refold._typing import Floats
from refold.base.errors import UserError
from refold.columns.conversion import of_objects, to_table
from refold.columns.missing import IN_MEMORY
from refold.columns.roles import Guess, guess
from refold.columns.table import Column, DateColumn, NumberColumn, Table, as_texts
from refold.judgement import Judgement

# Chance alone has an outlier in so many rows with this probability; for alpha 1 % it is 25 rows.
_CHANCE = 0.25
_GAP = 10  # rows, where no alpha is known
_EPOCH = dt.datetime(1970, 1, 1)


@dataclass(frozen=True, eq=False)
class RowTimes:
    """When rows were: seconds since 1970, or any numbers."""

    seconds: Floats
    dated: bool

    @classmethod
    def of(cls, name: str, column: Column, form: Guess | None = None) -> RowTimes:
        """Read the times of a column, texts in a form that is known or guessed.

        A row without a time counts as being when the row before it was.
        """
        if not isinstance(column, DateColumn | NumberColumn):
            column = (form or guess(name, column)).parse(column, IN_MEMORY)
        if isinstance(column, DateColumn) and column.has_date:
            seconds = column.seconds
        elif isinstance(column, NumberColumn):
            seconds = column.values
        else:
            raise UserError(f"Column {name!r} holds no dates or numbers: name another as time.")
        known = np.flatnonzero(~np.isnan(seconds))
        if len(known) < len(seconds):
            if len(known) == 0:
                raise UserError(f"Column {name!r} has no time in any row: name another as time.")
            before = np.searchsorted(known, np.arange(len(seconds)), side="right") - 1
            seconds = seconds[known[np.maximum(before, 0)]]
        return cls(seconds, isinstance(column, DateColumn))

    def value(self, row: int) -> Any:
        """Return one as people have it."""
        seconds = float(self.seconds[row])
        return _EPOCH + dt.timedelta(seconds=seconds) if self.dated else seconds


def seconds_of(moment: Any) -> float:
    """Return a moment as people have it as the number that it is in :class:`RowTimes`."""
    return (moment - _EPOCH).total_seconds() if isinstance(moment, dt.datetime) else float(moment)


def gap_of(gap: Any, alpha: float | None, *, timed: bool) -> tuple[int, float | None]:
    """Return the gap as rows, and as seconds or units of time if it is a duration."""
    if isinstance(gap, str) and gap.strip().isdecimal():
        gap = int(gap)
    if gap is None:
        return (_GAP if not alpha else max(1, round(_CHANCE / alpha))), None
    if isinstance(gap, bool) or not isinstance(gap, int | float | str | dt.timedelta | np.integer):
        raise UserError(f"gap={gap!r} is neither a number of rows nor a duration such as '90min'.")
    if isinstance(gap, int | np.integer):
        if gap < 1:
            raise UserError(f"gap={gap}: at least 1 row.")
        return int(gap), None
    if not timed:
        raise UserError(f"gap={gap!r} is a duration, but rows have no time: name the time column.")
    seconds = gap.total_seconds() if isinstance(gap, dt.timedelta) else gap
    if isinstance(seconds, str):
        seconds = _duration(seconds)
    if not 0.0 < seconds < np.inf:
        raise UserError(f"gap={gap!r}: a duration must be above 0.")
    return 1, float(seconds)


_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def _duration(text: str) -> float:
    """Return the seconds of a text such as ``90min``."""
    word = text.strip().lower()
    number = word.rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = word[len(number) :].strip()
    try:
        return float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        raise UserError(
            f"gap={text!r} is no duration: write a number and s, min, h, d or w, such as 90min."
        ) from None


class Timeline:
    """Says when rows were and of which group they are, block after block in one form.

    Where no time or group is named, the model's ``over`` and ``by`` are used.
    """

    def __init__(self, model: Any, time: Any = None, by: Any = None) -> None:
        self._time = getattr(model, "over", None) if time is None else time
        by = getattr(model, "by", None) if by is None else by
        self._by = [by] if isinstance(by, str) else by
        self._form: Guess | None = None

    @property
    def timed(self) -> bool:
        """Whether rows have times."""
        return self._time is not None

    @property
    def columns(self) -> list[str]:
        """The columns that a block must have."""
        by = self._by if _are_names(self._by) else []
        return [name for name in (self._time, *by) if isinstance(name, str)]

    def times(self, X: Any, found: Judgement) -> RowTimes | None:
        """Return when rows were, from a column or from the values that were given."""
        if self._time is None:
            return None
        if not isinstance(self._time, str):
            return RowTimes.of("time", _given(self._time, len(found), "time"))
        column = _column(X, found, self._time, "time")
        if not isinstance(column, DateColumn | NumberColumn):
            self._form = self._form or guess(self._time, column)
        return RowTimes.of(self._time, column, self._form)

    def groups(self, X: Any, found: Judgement) -> list[str] | None:
        """Return the group of each row in words: "machine M17"."""
        return _groups_of(X, found, self._by)


def _are_names(by: Any) -> bool:
    return isinstance(by, Sequence) and all(isinstance(name, str) for name in by)


def _groups_of(X: Any, found: Judgement, by: Any) -> list[str] | None:
    if by is None:
        return None
    if _are_names(by):
        if len(by) == 0:
            return None
        cells = [as_texts(_column(X, found, name, "by")) for name in by]
    else:
        by, cells = [""], [as_texts(_given(by, len(found), "by"))]
    called = [
        [f"{name} {text}".strip() for text in [*column.values, "(none)"]]
        for name, column in zip(by, cells, strict=True)
    ]
    codes = zip(*(column.codes.tolist() for column in cells), strict=True)
    return [
        ", ".join(texts[code] for texts, code in zip(called, row, strict=True)) for row in codes
    ]


def _given(values: Any, rows: int, keyword: str) -> Column:
    """Return values that were passed beside the table as a column."""
    cells = np.asarray(values)
    if cells.ndim != 1 or len(cells) != rows:
        raise UserError(f"{keyword}= has the shape {cells.shape}; {rows:,} rows need ({rows},).")
    if cells.dtype.kind == "M":
        cells = cells.astype("M8[us]")  # as datetimes, which nanoseconds would not become
    return of_objects(keyword, cells.tolist())


def _column(X: Any, found: Judgement, name: str, keyword: str) -> Column:
    table: Table | None
    if isinstance(X, Judgement):
        table = None if found.cells is None else found.cells.inputs or found.cells
    else:
        table = to_table(X)
    if table is None or name not in table.names:
        have = "no named columns" if table is None else f"the columns {', '.join(table.names[:20])}"
        raise UserError(f"{keyword}={name!r} is not in the table, which has {have}.")
    return table[name]
