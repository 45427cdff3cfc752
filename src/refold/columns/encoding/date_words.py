"""What is odd about a date or a time, in words."""

from __future__ import annotations

import numpy as np

from refold._typing import Integers
from refold.columns.encoding.dates import HOURS, DateCounts
from refold.columns.encoding.text_words import looks_like
from refold.columns.table import CellState, DateColumn

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def date_words(counts: DateCounts, view: str, dates: DateColumn, row: int) -> str:
    """Say what is odd about a date in one of the views of its column."""
    if view == "hour":
        clock = f" at {_clock(dates.seconds[row])}" if counts.has_date else ""
        return _hour(counts.hours, int(dates.hour[row]), clock)
    if view == "weekday":
        day = int(dates.weekday[row])
        return f"is a {WEEKDAYS[day]} ({of_rows(int(counts.weekdays[day]), counts.weekdays)})"
    if view == "form":
        assert dates.shapes is not None
        shape = dates.shapes.values[int(dates.shapes.codes[row])]
        return looks_like(counts.shapes, shape, "is written as")
    side = "before" if dates.seconds[row] < counts.low else "after"
    low, high = (_day(seconds) for seconds in (counts.low, counts.high))
    return f"is {side} all ({low} to {high})"


def cannot_be_read(counts: DateCounts, dates: DateColumn, row: int) -> str:
    """Say that a text is no date, or not one as they were written."""
    kind = "date" if counts.has_date else "time"
    shape = "" if dates.shapes is None else dates.shapes.values[int(dates.shapes.codes[row])]
    if "9" in shape and counts.shapes.rows:
        return f"cannot be read as a {kind}: it {looks_like(counts.shapes, shape)}"
    times = int(counts.states[CellState.UNREADABLE])
    return f"is not a {kind}; {never_or(times, int(counts.states.sum()))}"


def never_or(times: int, rows: int) -> str:
    """Say how often something else stood in a column."""
    if times == 0:
        return "it always was one in training"
    return f"so it was in {times:,} of {rows:,} rows"


def of_rows(have: int, counts: Integers) -> str:
    """Return "2 of 2,000 rows", "none of 2,000 rows"."""
    return f"{f'{have:,}' if have else 'none'} of {int(counts.sum()):,} rows"


def oclock(hour: int, hours: int = 1) -> str:
    """Return "between 3 and 4 o'clock"."""
    return f"between {hour % HOURS} and {(hour + hours - 1) % HOURS + 1} o'clock"


def _hour(hours: Integers, hour: int, clock: str) -> str:
    if hours[hour]:
        return f"is{clock or ' rare'} ({of_rows(int(hours[hour]), hours)} {oclock(hour)})"
    first = hour
    while not hours[(first - 1) % HOURS] and hour - first < HOURS:
        first -= 1
    length = 1
    while not hours[(first + length) % HOURS] and length < HOURS:
        length += 1
    return f"is{clock or ' alone'}; no row {oclock(first, length)}"


def _clock(seconds: float) -> str:
    return str(np.datetime64(int(np.floor(seconds)), "s"))[11:16]


def _day(seconds: float) -> str:
    return str(np.datetime64(int(np.floor(seconds)), "s"))[:10]
