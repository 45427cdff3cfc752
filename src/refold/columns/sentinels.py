"""Values that stand for a missing one: −999 among ages, 1900-01-01 among dates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from refold._typing import Floats, Integers
from refold.columns.row_numbers import is_whole

_NUMBERS = frozenset({s * (10.0**k - 1.0) for k in range(1, 10) for s in (1, -1)})
_DATES = {
    str(day): float(day.astype(np.int64)) * 86400.0
    for day in (
        np.datetime64(day)
        for day in (
            *("0001-01-01", "1753-01-01", "1899-12-30", "1899-12-31", "1900-01-01", "1901-01-01"),
            *("1970-01-01", "2099-12-31", "2999-12-31", "9999-12-31"),
        )
    )
}
_REPEATED = 3
_OTHERS = 5  # different values beside it; of a choice among few, each may be far from the others
_YEAR = 366.0 * 86400.0


def may_be_sentinel(value: float) -> bool:
    """Whether the smallest or largest number of a column may stand for a missing one."""
    return value in _NUMBERS or value == -1.0


def number_sentinels(values: Floats, counts: Integers) -> Iterator[tuple[float, int]]:
    """Find numbers of nines far from all others, and these and −1 among what is never negative.

    Different numbers are given in ascending order, and how many rows have each.
    """
    if len(values) <= _OTHERS:
        return
    for end, rest in ((0, values[1:]), (-1, values[:-1])):
        value, rows = float(values[end]), int(counts[end])
        beside = float(rest[0] if end == 0 else rest[-1])
        apart = abs(beside - value) >= float(rest[-1] - rest[0]) or value < 0.0 <= beside
        far = value in _NUMBERS and apart
        minus_one = value == -1.0 and len(rest) >= 2 * _OTHERS and is_whole(values) and end == 0
        if rows >= _REPEATED and (far or minus_one):
            yield value, rows


def date_sentinels(seconds: Floats, counts: Integers) -> Iterator[tuple[str, int]]:
    """Find days that programs write for none, more than a year from all others, and their rows.

    Different moments are given in ascending order, and how many rows have each.
    """
    if len(seconds) <= _OTHERS:
        return
    for end, beside in ((0, seconds[1]), (-1, seconds[-2])):
        for day, begin in _DATES.items():
            far = abs(float(beside) - begin) > _YEAR
            if seconds[end] == begin and far and counts[end] >= _REPEATED:
                yield day, int(counts[end])
