"""Columns that repeat what the time of a row says already: its year, month, day, hour, weekday.

Their next value is a new one by itself (November after a training until October), and an hour of
local time moves against UTC twice a year: judged over time they would make every later row an
outlier.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from refold._typing import Floats, Integers
from refold.base.advice import set_role
from refold.base.findings import Finding
from refold.columns.table import Column, DateColumn, NumberColumn, Table, TextColumn

# So many rows, and so many different values, show that a column repeats the calendar.
_ROWS, _VALUES = 20, 3
_NAMES = 366  # of all days of a year
# Of the rows: other cells are wrong, or names of days in another zone.
_MOST, _MOST_NAMED = 0.95, 0.75


def calendar_columns(table: Table, time: str, others: Collection[str]) -> Iterator[Finding]:
    """Find columns among `others` of rows, parsed, that repeat the calendar of their time."""
    times = table[time]
    if not isinstance(times, DateColumn):
        return
    parts = _calendar(times)
    for name in others:
        cells = table[name]
        known = np.flatnonzero(~(times.is_null | cells.is_null))
        if len(known) < _ROWS:
            continue
        part = next((part for part in parts if _repeats(cells, parts[part], part, known)), None)
        if part is not None:
            yield Finding(
                "calendar",
                name,
                message=f"{name} repeats the {part} of {time}, by which rows are judged, and is "
                "left out.",
                advice=set_role("To judge it too", name, _role(cells)),
            )


def _calendar(times: DateColumn) -> dict[str, Integers]:
    """Return what the calendar says of each time, from 0 on; of a missing one it means nothing."""
    moments = np.nan_to_num(times.seconds).astype("datetime64[s]")
    days, months = moments.astype("datetime64[D]"), moments.astype("datetime64[M]")
    years = moments.astype("datetime64[Y]")
    month = (months - years).astype(np.int64)
    since_monday = times.weekday
    # A week belongs to the year of its Thursday.
    thursday = days - since_monday + 3
    first = thursday.astype("datetime64[Y]").astype("datetime64[D]")
    found = {
        "year": years.astype(np.int64) + 1970,
        "quarter": month // 3,
        "month": month,
        "week": (thursday - first).astype(np.int64) // 7,
        "day of the month": (days - months).astype(np.int64),
        "day of the year": (days - years).astype(np.int64),
        "weekday": since_monday,
    }
    if times.has_clock:
        found |= {"hour": times.hour, "minute": np.nan_to_num(times.seconds).astype(int) // 60 % 60}
    return found


# Where counting begins anew.
_PERIODS = {"quarter": 4, "month": 12, "weekday": 7, "hour": 24, "minute": 60}


def _repeats(cells: Column, part: Integers, name: str, rows: Integers) -> bool:
    """Whether a column is the part of the calendar with this name."""
    part = part[rows]
    if isinstance(cells, NumberColumn):
        return _counts_alike(cells.values[rows], part, name)
    return isinstance(cells, TextColumn) and _names_alike(cells.codes[rows], part)


def _counts_alike(values: Floats, part: Integers, name: str) -> bool:
    """Whether numbers are the part, counted from another start or in another zone."""
    if name == "year":
        return bool((values == part).mean() >= _MOST)
    if len(np.unique(values)) < _VALUES or not np.all(values == np.floor(values)):
        return False
    ahead = values - part
    ahead = np.mod(ahead, _PERIODS[name]) if name in _PERIODS else ahead
    steps, rows = np.unique(ahead, return_counts=True)
    beside = np.where(np.diff(steps, append=np.nan) == 1.0, np.append(rows[1:], 0), 0)
    return bool((rows + beside).max() >= _MOST * len(values))


def _names_alike(codes: Integers, part: Integers) -> bool:
    """Whether texts name the values of the part, one each."""
    names, named = np.unique(codes, return_inverse=True)
    values, counted = np.unique(part, return_inverse=True)
    if not _VALUES <= min(len(names), len(values)) <= max(len(names), len(values)) <= _NAMES:
        return False
    both = np.zeros((len(names), len(values)), dtype=np.int64)
    np.add.at(both, (named, counted), 1)
    return bool(min(both.max(axis=0).sum(), both.max(axis=1).sum()) >= _MOST_NAMED * len(codes))


def _role(cells: Column) -> str:
    return "number" if isinstance(cells, NumberColumn) else "category"
