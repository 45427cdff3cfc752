"""Features of a row's context: groups above its own, categories, numbers, the calendar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress, pairwise
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from scipy import sparse

from refold._typing import Floats, Integers
from refold.base.errors import UserError
from refold.columns.table import DateColumn, NumberColumn, Table, as_texts

# A category with more values than this explains nothing by a coefficient each.
MOST_LEVELS = 1_000
_KNOTS = 10
_DAY = 86_400.0
_YEAR = 365.2425 * _DAY
# A season cannot be told from a trend in less than one and a half years.
SEASON_DAYS = 550.0


def learned_apart() -> UserError:
    """Say that sums of models cannot be added that were not made from one."""
    return UserError(
        "The models have decided apart how numbers depend on their context. Make the others by "
        "empty_like() of one, and train them by partial_fit (fit would decide anew)."
    )


def too_many_groups(column: str, groups: int, rows: int) -> UserError:
    """Say that a column of groups has a value per row."""
    return UserError(
        f"by={column!r} has {groups:,} values in {rows:,} rows: it names rows, not groups. Name a "
        "column whose values come back, or leave by= out."
    )


class ContextFeatures(Protocol):
    """Some features of the context, in blocks that share a ridge."""

    @property
    def blocks(self) -> tuple[int, ...]:
        """How many features each block has."""

    def of(self, table: Table) -> sparse.csr_array:
        """Return the features of rows."""

    def plus(self, other: Self) -> Self:
        """Return the features of both; refuse what was learned apart."""

    def within(self, other: Self) -> sparse.csr_array:
        """Return what turns these features into those of another that has more: ``x @ it``."""

    def plus_rows(self, table: Table) -> Self:
        """Return these features and those of values that only further rows have."""


class _FrozenFeatures:
    """Features that further rows do not change."""

    if TYPE_CHECKING:  # what each brings

        @property
        def blocks(self) -> tuple[int, ...]:
            """How many features each block has."""

    def plus(self, other: Self) -> Self:
        """Return these features; refuse others."""
        if not all(np.array_equal(getattr(other, name), mine) for name, mine in vars(self).items()):
            raise learned_apart()
        return self

    def within(self, other: Self) -> sparse.csr_array:
        """Return the identity."""
        return sparse.eye_array(sum(self.blocks), format="csr")

    def plus_rows(self, table: Table) -> Self:
        """Return itself."""
        return self


@dataclass(frozen=True)
class LevelFeatures:
    """One feature for each value of a column, or of several columns together.

    A value that is not known, or missing, has none of them: it is expected to be as all.
    """

    columns: tuple[str, ...]
    levels: dict[tuple[str, ...], int]

    @classmethod
    def learn(cls, table: Table, columns: Sequence[str]) -> LevelFeatures:
        """Take the values of a table, the most frequent if there are too many."""
        levels = GroupIndex.learn(table, columns)
        codes = levels.codes(table)
        counts = np.bincount(codes[codes >= 0], minlength=len(levels.keys))
        often = np.sort(np.argsort(-counts, kind="stable")[:MOST_LEVELS])
        keys = list(levels.keys)
        return cls(tuple(columns), {keys[k]: place for place, k in enumerate(often.tolist())})

    @property
    def blocks(self) -> tuple[int, ...]:
        """One block."""
        return (len(self.levels),)

    def of(self, table: Table) -> sparse.csr_array:
        """Return 1 where a row has the value."""
        codes = GroupIndex(self.columns, self.levels).codes(table)
        rows = np.flatnonzero(codes >= 0)
        shape = (table.rows, len(self.levels))
        return sparse.csr_array((np.ones(len(rows)), (rows, codes[rows])), shape=shape)

    def plus(self, other: LevelFeatures) -> LevelFeatures:
        """Return the values of both, as long as there are not too many."""
        levels = dict(self.levels)
        for key in other.levels:
            if len(levels) < MOST_LEVELS:
                levels.setdefault(key, len(levels))
        return replace(self, levels=levels)

    def plus_rows(self, table: Table) -> LevelFeatures:
        """Return these values and those of further rows."""
        return self.plus(LevelFeatures.learn(table, self.columns))

    def within(self, other: LevelFeatures) -> sparse.csr_array:
        """Return where each value is among those of another."""
        pairs = [(k, other.levels[key]) for key, k in self.levels.items() if key in other.levels]
        places = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        shape = (len(self.levels), len(other.levels))
        return sparse.csr_array((np.ones(places.shape[1]), tuple(places)), shape=shape)


@dataclass(frozen=True, eq=False)
class NumberFeatures(_FrozenFeatures):
    """A line, and ramps between quantiles, whose coefficients make a smooth curve of any form."""

    column: str
    middle: float
    scale: float
    knots: Floats

    @classmethod
    def learn(cls, table: Table, column: str) -> NumberFeatures:
        """Take range and quantiles of a table."""
        cells = table[column]
        assert isinstance(cells, NumberColumn)
        values = cells.values[~cells.is_null]
        knots = np.unique(np.quantile(values, np.linspace(0.0, 1.0, _KNOTS + 1)))
        return cls(column, float(values.mean()), float(values.std()) or 1.0, knots)

    @property
    def blocks(self) -> tuple[int, ...]:
        """The line; the ramps."""
        return (1, len(self.knots) - 1) if len(self.knots) > 1 else (1,)

    def of(self, table: Table) -> sparse.csr_array:
        """Return the features; a missing number is taken as the mean."""
        cells = table[self.column]
        assert isinstance(cells, NumberColumn)
        values = np.where(cells.is_null, self.middle, cells.values)
        line = (values - self.middle) / self.scale
        return sparse.csr_array(np.column_stack([line, *ramps(values, self.knots)]))


@dataclass(frozen=True)
class CalendarFeatures(_FrozenFeatures):
    """Hour, hour at weekends, weekday, end of the month, season: what a date has of it."""

    column: str
    has_date: bool
    has_clock: bool
    seasonal: bool

    @classmethod
    def learn(cls, table: Table, column: str) -> CalendarFeatures:
        """Take what dates of a table say; a season needs more than 550 days."""
        cells = table[column]
        assert isinstance(cells, DateColumn)
        span = float(np.nanmax(cells.seconds) - np.nanmin(cells.seconds))
        return cls(column, cells.has_date, cells.has_clock, span >= SEASON_DAYS * _DAY)

    @property
    def blocks(self) -> tuple[int, ...]:
        """One block for each."""
        clock = (24,) if self.has_clock else ()
        both = (24,) if self.has_clock and self.has_date else ()
        return (*clock, *both, *((7, 1) if self.has_date else ()), *((6,) if self.seasonal else ()))

    def of(self, table: Table) -> sparse.csr_array:
        """Return the features; a missing date has none."""
        cells = table[self.column]
        assert isinstance(cells, DateColumn)
        parts = []
        if self.has_clock:
            parts.append(_one_of(cells.hour, 24))
        if self.has_clock and self.has_date:
            parts.append(_one_of(np.where(cells.weekday >= 5, cells.hour, -1), 24))
        if self.has_date:
            parts += [_one_of(cells.weekday, 7), _one_of(_month_end(cells), 1)]
        if self.seasonal:
            turns = np.where(cells.is_null, np.nan, cells.seconds / _YEAR * 2.0 * np.pi)
            waves = [wave(k * turns) for k in (1, 2, 3) for wave in (np.sin, np.cos)]
            parts.append(sparse.csr_array(np.nan_to_num(np.column_stack(waves))))
        return sparse.hstack(parts, format="csr")


@dataclass(frozen=True, eq=False)
class Design:
    """All features of the context: a constant comes first."""

    parts: tuple[ContextFeatures, ...]

    @property
    def blocks(self) -> list[int]:
        """How many features each block has."""
        return [1, *(size for part in self.parts for size in part.blocks)]

    def of(self, table: Table) -> sparse.csr_array:
        """Return the features of rows."""
        ends = np.arange(table.rows + 1, dtype=np.int32)
        first = (np.ones(table.rows), np.zeros(table.rows, dtype=np.int32), ends)
        ones = sparse.csr_array(first, shape=(table.rows, 1))
        parts = [part.of(table) for part in self.parts]
        return sparse.hstack([ones, *parts], format="csr") if parts else ones

    def plus(self, other: Design) -> Design:
        """Return the features of both."""
        if list(map(type, self.parts)) != list(map(type, other.parts)):
            raise learned_apart()
        return Design(
            tuple(mine.plus(theirs) for mine, theirs in zip(self.parts, other.parts, strict=True))
        )

    def plus_rows(self, table: Table) -> Design:
        """Return these features and those of values that only further rows have."""
        return Design(tuple(part.plus_rows(table) for part in self.parts))

    def within(self, other: Design) -> sparse.csr_array:
        """Return what turns these features into those of another that has more: ``x @ it``."""
        pairs = zip(self.parts, other.parts, strict=True)
        blocks = [mine.within(theirs) for mine, theirs in pairs]
        return sparse.block_diag([np.ones((1, 1)), *blocks], format="csr")


@dataclass(frozen=True)
class GroupIndex:
    """The groups that were seen, by the values of one or several columns, and their numbers."""

    columns: tuple[str, ...]
    keys: dict[tuple[str, ...], int]

    @classmethod
    def learn(cls, table: Table, columns: Sequence[str]) -> GroupIndex:
        """Take the groups of a table."""
        return cls(tuple(columns), {}).plus(table)

    def plus(self, table: Table) -> GroupIndex:
        """Return these groups and those of a table."""
        keys = {key: k for k, key in enumerate(group_keys(table, self.columns)[0])}
        return self.union(GroupIndex(self.columns, keys))

    def union(self, other: GroupIndex) -> GroupIndex:
        """Return the groups of both; those of this one keep their numbers."""
        keys = dict(self.keys)
        for key in other.keys:
            keys.setdefault(key, len(keys))
        return GroupIndex(self.columns, keys)

    def codes(self, table: Table) -> Integers:
        """Return the group of each row; -1 where it is not known, or a value is missing."""
        keys, codes = group_keys(table, self.columns)
        places = [self.keys.get(key, -1) for key in keys]
        return np.array([*places, -1], dtype=np.int64)[codes]


def group_keys(table: Table, columns: Sequence[str]) -> tuple[list[tuple[str, ...]], Integers]:
    """Return the different values of columns together, and which one each row has; -1 if none."""
    texts = [as_texts(table[name]) for name in columns]
    if len(texts) == 1:
        (text,) = texts
        there = np.flatnonzero(text.counts)
        numbers = np.full(len(text.values) + 1, -1, dtype=np.int64)
        numbers[there] = np.arange(len(there))
        return list(zip(compress(text.values, text.counts > 0), strict=True)), numbers[text.codes]
    codes = np.zeros(table.rows, dtype=np.int64)
    missing = np.zeros(table.rows, dtype=np.bool_)
    for text in texts:
        # Renumbered after each column, so that the products stay small.
        codes = np.unique(codes * (len(text.values) + 1) + text.codes, return_inverse=True)[1]
        missing |= text.is_null
    codes = np.where(missing, -1, codes)
    different, first, places = np.unique(codes, return_index=True, return_inverse=True)
    none = int(len(different) > 0 and different[0] < 0)
    keys = [tuple(text.values[text.codes[row]] for text in texts) for row in first[none:].tolist()]
    return keys, places.ravel() - none


def ramps(values: Floats, knots: Floats) -> list[Floats]:
    """Return for each gap between knots how far a value has come in it, from 0 to 1."""
    return [np.clip((values - low) / (high - low), 0.0, 1.0) for low, high in pairwise(knots)]


def _one_of(codes: Integers, size: int) -> sparse.csr_array:
    rows = np.flatnonzero((codes >= 0) & (codes < size))
    return sparse.csr_array((np.ones(len(rows)), (rows, codes[rows])), shape=(len(codes), size))


def _month_end(cells: DateColumn) -> Integers:
    """Return 0 on the last day of a month, -1 on others."""
    days = np.nan_to_num(cells.seconds // _DAY).astype("M8[D]")
    last = (days + 1).astype("M8[M]") > days.astype("M8[M]")
    return np.where(last & ~cells.is_null, 0, -1)
