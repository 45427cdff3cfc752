"""Faults of growing size, and others of every kind, put into normal rows of a table.

Sizes are in spreads of the column: from what a tenth of its training values are below to what a
tenth are above. What is written is rounded as the column is; a fault that changes nothing is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from refold.base.words import shortened
from refold.studies.tables.columns import CleanColumn
from refold.studies.tables.injection import (
    KINDS,
    ErrorKind,
    Errors,
    Rng,
    clean_numbers,
    has_dates,
    has_numbers,
    inject,
    moment_of,
    moment_text,
    number_text,
)
from refold.studies.tables.suite import NORMAL, TableTask

SIGNIFICANT = 0.05


def corrected_p(ours: Sequence[float], theirs: Sequence[float], judged_per_learned: float) -> float:
    """Return the p-value of Nadeau and Bengio's corrected resampled t-test, two-sided."""
    difference = np.round(np.subtract(ours, theirs), 12)  # equal but for rounding is equal
    n = len(difference)
    if n < 2 or not difference.any():
        return 1.0
    error = difference.std(ddof=1) * np.sqrt(1.0 / n + judged_per_learned)
    if error == 0.0:
        return 0.0
    return float(2.0 * stats.t.sf(abs(difference.mean()) / error, n - 1))


_MISSING = "nothing"
_SHOWN = 6  # columns


class InjectedKind(NamedTuple):
    """A kind of faults as it was put into a table."""

    name: str  # the kind, and what was done
    says: str
    rows: int  # how many faults of each size one division has
    columns: list[str]  # the columns that got some
    example: str  # one of them

    @property
    def where(self) -> str:
        """The columns, as many as a line holds."""
        names = [shortened(name) for name in self.columns[:_SHOWN]]
        more = f" and {len(self.columns) - _SHOWN} more" if len(self.columns) > _SHOWN else ""
        return ", ".join(names) + more


def injected(task: TableTask) -> Iterator[InjectedKind]:
    """Yield the kinds of faults of one division."""
    kinds, normals = list(task.kinds), task.kinds.count(NORMAL)
    for kind in FAULTS:
        tags = [tag for tag in kind.tags() if tag in kinds]
        if tags:
            places = [k for k in range(normals, len(kinds)) if kinds[k] in tags]
            columns = [str(task.columns[k]) for k in places]
            yield InjectedKind(
                kind.name,
                kind.says,
                kinds.count(tags[0]),
                [name for name in task.test.columns if name in set(columns)],
                _example(task, places[-1], kinds[places[-1]]),
            )


def _example(task: TableTask, place: int, tag: str) -> str:
    """Return a faulty cell in words."""
    name = str(task.columns[place])
    cell = task.test[name].iat[place]
    written = shortened(cell) if isinstance(cell, str) else _MISSING
    return f"{shortened(name)}: {written} ({tag})"


N_FAULTS, FEWEST_FAULTS = 100, 20  # of a kind and size
SPREADS = (0.1, 0.25, 0.5, 1.0, 2.0, 3.0)
CELLS = (1.0, 2.0, 4.0, 8.0)
_ROUNDS = 5


class FaultKind(NamedTuple):
    """A kind of fault."""

    name: str  # unique
    says: str  # what was done to a row, in words
    sizes: tuple[float, ...] = ()  # how large; empty for a kind that has no size
    unit: str = ""  # what a size counts

    def tags(self) -> list[str]:
        """Return a name for each of its sizes, or its own."""
        return [tag(self.name, size) for size in self.sizes] or [self.name]


def tag(kind: str, size: float) -> str:
    """Return what faults of a kind and size are called.

    Examples
    --------
    >>> from refold.studies.own.faults import tag
    >>> tag("beyond", 0.5)
    'beyond 0.5'
    """
    return f"{kind} {size:g}"


FAULTS = (
    FaultKind(
        "beyond",
        "a number beyond the largest or below the smallest that was learned, by so many spreads",
        SPREADS,
        "spreads beyond",
    ),
    FaultKind(
        "shift",
        "a number moved up or down by so many spreads, wherever that leads",
        SPREADS,
        "spreads moved",
    ),
    FaultKind(
        "date",
        "a date before the first or after the last that was learned, by so many spreads",
        SPREADS,
        "spreads beyond",
    ),
    FaultKind(
        "swapped",
        "so many cells taken from another normal row: each is normal, together they may not be",
        CELLS,
        "cells swapped",
    ),
    FaultKind("x1000", "a number times a thousand, as by a wrong unit"),
    FaultKind("sentinel", "a number such as -999 that stands for none"),
    FaultKind("unseen", "a category that nobody has seen"),
    FaultKind("rare", "a category that hardly any row has"),
    FaultKind("typo", "a category or code with a wrong letter"),
    FaultKind("string-format", "a code written in another way"),
    FaultKind("night", "a time of the day that hardly any row has"),
    FaultKind("weekend", "a day of the week that hardly any row has"),
    FaultKind("default-date", "a date such as 1970-01-01 that stands for none"),
    FaultKind("date-format", "a date written in another way"),
    FaultKind("missing", "no value in a column that nearly always has one"),
)


def put_faults(
    columns: Sequence[CleanColumn], normals: Any, rng: Rng
) -> Iterator[tuple[str, Errors]]:
    """Put faults of all kinds and sizes that a table allows into normal rows."""
    for kind in FAULTS:
        for name, size in zip(kind.tags(), kind.sizes or (0.0,), strict=True):
            if kind.name == "swapped":
                found = swap(columns, normals, int(size), rng)
            else:
                how = _SIZED[kind.name](size) if kind.sizes else KINDS[kind.name]
                found = inject(how, columns, normals, N_FAULTS, rng, fewest=FEWEST_FAULTS)
            found = None if found is None else _with_values(found, columns)
            if found is not None:
                yield name, found


def _with_values(faults: Errors, columns: Sequence[CleanColumn]) -> Errors | None:
    """Return the rows in which something is left to be judged; None if they are too few."""
    there = faults.rows[[column.name for column in columns]].notna().any(axis=1).to_numpy()
    kept = np.flatnonzero(there).tolist()
    if len(kept) < FEWEST_FAULTS:
        return None
    rows = faults.rows.iloc[kept].reset_index(drop=True)
    return Errors(rows, [faults.columns[k] for k in kept], [faults.places[k] for k in kept])


def swap(columns: Sequence[CleanColumn], normals: Any, cells: int, rng: Rng) -> Errors | None:
    """Give rows cells of another one, at most half of a row; None if that cannot be."""
    names = [column.name for column in columns if len(column.counts) > 1]
    if cells > len(names) // 2:
        return None
    drawn = list(islice(_pairs(normals[names], cells, rng), N_FAULTS))
    if len(drawn) < FEWEST_FAULTS:
        return None
    rows = normals.iloc[[place for place, _, _ in drawn]].reset_index(drop=True)
    for row, (_, other, swapped) in enumerate(drawn):
        for name in swapped:
            rows.iat[row, rows.columns.get_loc(name)] = normals[name].iat[other]
    return Errors(rows, [swapped[0] for _, _, swapped in drawn], [place for place, _, _ in drawn])


def _pairs(normals: Any, cells: int, rng: Rng) -> Iterator[tuple[int, int, list[str]]]:
    """Yield a row, another one, and columns in which they have different values."""
    texts, there = normals.to_numpy(dtype=object), normals.notna().to_numpy()
    for place in np.concatenate([rng.permutation(len(texts)) for _ in range(_ROUNDS)]):
        other = int(rng.integers(len(texts)))
        differ = np.flatnonzero((texts[place] != texts[other]) & there[place] & there[other])
        if len(differ) >= cells:
            at = rng.choice(differ, cells, replace=False)
            yield int(place), other, [normals.columns[k] for k in at]


def _beyond(size: float) -> ErrorKind:
    def corrupt(column: CleanColumn, text: str, rng: Rng) -> str:
        values = clean_numbers(column)
        by = size * column.spread
        wrong = number_text(column, (values.max() + by, values.min() - by)[rng.integers(2)])
        return text if values.min() <= float(wrong) <= values.max() else wrong

    return ErrorKind("number", has_numbers, corrupt)


def _shift(size: float) -> ErrorKind:
    def corrupt(column: CleanColumn, text: str, rng: Rng) -> str:
        by, value = size * column.spread, float(text)
        moved = number_text(column, value + (by, -by)[rng.integers(2)])
        return text if float(moved) == value else moved

    return ErrorKind("number", has_numbers, corrupt)


def _date(size: float) -> ErrorKind:
    def corrupt(column: CleanColumn, text: str, rng: Rng) -> str:
        first, last = min(column.moments), max(column.moments)
        by = timedelta(seconds=size * column.spread)
        wrong = moment_text(column, last + by if rng.integers(2) else first - by)
        return text if first <= moment_of(column, wrong) <= last else wrong

    return ErrorKind("date", lambda column: has_dates(column) and len(column.counts) > 1, corrupt)


_SIZED: dict[str, Callable[[float], ErrorKind]] = {
    "beyond": _beyond,
    "shift": _shift,
    "date": _date,
}
