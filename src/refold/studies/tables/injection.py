"""Errors put into a clean table: each is one wrong cell of an otherwise normal row.

They are written into the cells as texts, as in a CSV, so that any reader may follow.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from refold.studies.tables.columns import CleanColumn, shape

# What a smaller share of the training rows has is hardly seen: a value, an hour, a weekday.
RARELY = 0.01
SENTINELS = (-999, 9999, -9999, 99999, -99999, 999999)
DEFAULT_DATES = (datetime(1970, 1, 1), datetime(1900, 1, 1))
OTHER_DAYS = ("%d.%m.%Y", "%m/%d/%Y", "%d %b %Y", "%Y/%m/%d", "%b %d, %Y")
OTHER_CLOCKS = (" %H:%M", " %I:%M %p")

# How often rows are gone through, and a wrong text is drawn anew, before it is given up.
_ROUNDS, _TRIES = 5, 50

Rng = np.random.Generator


class ErrorKind(NamedTuple):
    """A kind of error."""

    group: str  # what is wrong, more broadly
    meets: Callable[[CleanColumn], bool]  # ``meets(column)``: whether it happens in such a column
    # ``corrupt(column, text, rng)`` is the wrong cell, None if it is empty; the text itself where
    # it cannot be made wrong in this way.
    corrupt: Callable[[CleanColumn, str, Rng], str | None]


@dataclass(frozen=True, eq=False)
class Errors:
    """Rows with one wrong cell each."""

    rows: Any  # the rows, as texts
    columns: list[str]  # the column of each row's wrong cell
    places: list[int]  # which normal row each one was


def inject(
    kind: ErrorKind,
    columns: Sequence[CleanColumn],
    normals: Any,
    count: int,
    rng: Rng,
    *,
    fewest: int | None = None,
) -> Errors | None:
    """Put errors of a kind into normal rows."""
    met = [column for column in columns if kind.meets(column)]
    cells: list[tuple[int, str, str | None]] = []
    for place in _drawn(len(normals), rng) if met else ():
        column = met[rng.integers(len(met))]
        text = normals[column.name].iat[place]
        wrong = _wrong(kind, column, text, rng) if isinstance(text, str) else text
        if isinstance(text, str) and wrong != text:
            cells.append((place, column.name, wrong))
        if len(cells) == count:
            break
    enough = len(cells) >= (count if fewest is None else fewest)
    return _written(normals, cells) if cells and enough else None


def _wrong(kind: ErrorKind, column: CleanColumn, text: str, rng: Rng) -> str | None:
    try:
        return kind.corrupt(column, text, rng)
    except (ValueError, OverflowError):  # no such number or date; not what the column holds
        return text


def _drawn(n: int, rng: Rng) -> Iterator[int]:
    for _ in range(_ROUNDS):
        yield from map(int, rng.permutation(n))


def _written(normals: Any, cells: Sequence[tuple[int, str, str | None]]) -> Errors:
    places, columns, wrong = map(list, zip(*cells, strict=True))
    rows = normals.iloc[places].reset_index(drop=True)
    for row, (name, text) in enumerate(zip(columns, wrong, strict=True)):
        rows.iat[row, rows.columns.get_loc(name)] = text
    return Errors(rows, columns, places)


def _first(text: str, good: Callable[[str], bool], draw: Callable[[], str]) -> str:
    """Return the first drawn text that will do; the text itself if there is none."""
    drawn = (draw() for _ in range(_TRIES))
    return next((found for found in drawn if good(found)), text)


def _rarest(column: CleanColumn) -> list[str]:
    """Return values that hardly any row has, and all of them together not many."""
    few = [text for text, n in column.counts.items() if n < RARELY * len(column.texts) / 2]
    together = sum(column.counts[text] for text in few)
    return few if together < 2 * RARELY * len(column.texts) else []


def _unseen(column: CleanColumn, text: str, rng: Rng) -> str:
    """Return a value that looks like this one, but that nobody has seen."""
    like = {"A": string.ascii_uppercase, "a": string.ascii_lowercase, "9": string.digits}
    pattern = [(letter, like.get(kind)) for letter, kind in zip(text, shape(text), strict=True)]

    def draw() -> str:
        return "".join(rng.choice(list(same)) if same else letter for letter, same in pattern)

    return _first(text, lambda found: found not in column.known, draw)


def _rare(column: CleanColumn, text: str, rng: Rng) -> str:
    return str(rng.choice(_rarest(column)))


def _swapped(column: CleanColumn, text: str, rng: Rng) -> str:
    return column.texts[int(rng.integers(len(column.texts)))]


def _typo(column: CleanColumn, text: str, rng: Rng) -> str:
    """Change, insert, leave out or transpose a character; no known value may come of it.

    In codes that are different in most rows any other code would do, so the form must change too.
    """
    letters = string.ascii_uppercase if text.isupper() else string.ascii_lowercase

    def draw() -> str:
        at, letter = int(rng.integers(len(text))), str(rng.choice([*letters, *string.digits]))
        changed = text[:at] + letter + text[at + 1 :]
        inserted = text[:at] + letter + text[at:]
        left_out = text[:at] + text[at + 1 :]
        transposed = text[:at] + text[at : at + 2][::-1] + text[at + 2 :]
        return (changed, inserted, left_out, transposed)[rng.integers(4)]

    def good(found: str) -> bool:
        new = bool(found.strip()) and found not in column.known
        return new and (column.is_category or shape(found) not in column.shapes)

    return _first(text, good, draw)


def _string_format(column: CleanColumn, text: str, rng: Rng) -> str:
    """Write a code in small letters, with other separators or in parts."""
    parts = re.findall(r"[A-Za-z]+|[0-9]+", text)
    joined = "".join(parts)
    middle = len(joined) // 2
    ways = [text.lower(), "-".join(parts), " ".join(parts), joined, f"#{text}", text.capitalize()]
    ways += [joined[:middle] + mark + joined[middle:] for mark in "-_ /."]

    def good(found: str) -> bool:
        return found not in column.known and shape(found) not in column.shapes

    return _first(text, good, lambda: str(rng.choice(ways)))


def number_text(column: CleanColumn, value: float) -> str:
    """Write a number as those of the column are; refuse one that is too large to be written."""
    if not math.isfinite(value):
        raise OverflowError("There is no such number.")
    return f"{value:.{column.decimals}f}"


def _spike(column: CleanColumn, text: str, rng: Rng) -> str:
    """Return a number far beyond its range, 10 to 20 times that of the middle half of the rows."""
    numbers = clean_numbers(column)
    low, quarter, middle, three, high = np.quantile(numbers, [0.0, 0.25, 0.5, 0.75, 1.0])
    far, factor = three - quarter, rng.uniform(10.0, 20.0)
    above = max(middle + factor * far, high + factor / 20 * (high - low))
    below = min(middle - factor * far, low - factor / 20 * (high - low))
    return number_text(column, (above, below)[rng.integers(2)])


def _x1000(column: CleanColumn, text: str, rng: Rng) -> str:
    value = float(text)
    return number_text(column, 1000 * value) if value else text


def _sentinel(column: CleanColumn, text: str, rng: Rng) -> str:
    """Return a number that stands for none: one that is beyond the range."""
    numbers = clean_numbers(column)
    beyond = [s for s in SENTINELS if not numbers.min() <= s <= numbers.max()]
    return str(rng.choice(beyond[:2])) if beyond else text


def clean_numbers(column: CleanColumn) -> Any:
    """Return the numbers of a column that has some."""
    assert column.numbers is not None
    return column.numbers


def _hours(column: CleanColumn) -> list[int]:
    """Return the hours that hardly any row has."""
    return _hardly([moment.hour for moment in column.moments], 24)


def _weekdays(column: CleanColumn) -> list[int]:
    """Return the days of the week, Monday is 0, that hardly any row has."""
    return _hardly([moment.weekday() for moment in column.moments], 7)


def _hardly(values: list[int], n: int) -> list[int]:
    counts = np.bincount(values, minlength=n)
    return [int(value) for value in np.flatnonzero(counts < RARELY * len(values))]


def _night(column: CleanColumn, text: str, rng: Rng) -> str:
    hour = int(rng.choice(_hours(column)))
    return moment_text(column, moment_of(column, text).replace(hour=hour))


def _weekend(column: CleanColumn, text: str, rng: Rng) -> str:
    """Move a date by at most three days to a weekday that hardly any row has."""
    moment, day = moment_of(column, text), int(rng.choice(_weekdays(column)))
    return moment_text(column, moment + timedelta((day - moment.weekday() + 3) % 7 - 3))


def _default_date(column: CleanColumn, text: str, rng: Rng) -> str:
    return moment_text(column, _default_dates(column)[rng.integers(len(_default_dates(column)))])


def _default_dates(column: CleanColumn) -> list[datetime]:
    """Return those that are beyond the range: another one is a date like any other."""
    low, high = min(column.moments), max(column.moments)
    return [date for date in DEFAULT_DATES if not low <= date <= high]


def _date_format(column: CleanColumn, text: str, rng: Rng) -> str:
    """Write the same moment in another way."""
    form = str(rng.choice([day for day in OTHER_DAYS if day not in str(column.format)]))
    if column.has_clock:
        form += str(rng.choice(OTHER_CLOCKS))
    return moment_of(column, text).strftime(form)


def moment_of(column: CleanColumn, text: str) -> datetime:
    """Read a date as those of the column are written."""
    return datetime.strptime(text, str(column.format))


def moment_text(column: CleanColumn, moment: datetime) -> str:
    """Write a date as those of the column are."""
    return moment.strftime(str(column.format))


def has_numbers(column: CleanColumn) -> bool:
    """Whether there are numbers that differ."""
    return column.numbers is not None


def has_dates(column: CleanColumn) -> bool:
    """Whether there are dates, all written in one way."""
    return column.format is not None


KINDS = {
    "unseen": ErrorKind("category", lambda column: column.is_closed, _unseen),
    "rare": ErrorKind("category", lambda column: column.is_closed and bool(_rarest(column)), _rare),
    "typo": ErrorKind("category", lambda column: column.is_category or column.is_code, _typo),
    "swapped": ErrorKind(
        "swapped", lambda column: column.is_category or has_numbers(column), _swapped
    ),
    "spike": ErrorKind("number", has_numbers, _spike),
    "x1000": ErrorKind("number", has_numbers, _x1000),
    "sentinel": ErrorKind("number", has_numbers, _sentinel),
    "night": ErrorKind("date", lambda column: column.has_clock and bool(_hours(column)), _night),
    "weekend": ErrorKind(
        "date", lambda column: has_dates(column) and bool(_weekdays(column)), _weekend
    ),
    "default-date": ErrorKind(
        "date", lambda column: has_dates(column) and bool(_default_dates(column)), _default_date
    ),
    "date-format": ErrorKind("format", has_dates, _date_format),
    "string-format": ErrorKind("format", lambda column: column.is_code, _string_format),
    "missing": ErrorKind("missing", lambda column: column.missing < RARELY, lambda *_: None),
}
GROUPS = tuple(dict.fromkeys(kind.group for kind in KINDS.values()))
