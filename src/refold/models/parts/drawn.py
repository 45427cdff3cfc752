"""Rows of a table drawn at random, by their place in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.columns.table import NumberColumn, Table
from refold.models.draws import draws

# Which rows are drawn depends on their places alone, whatever the model.
_SEED = 1_974_531
NONE = -1.0  # below the number of any row


@dataclass(frozen=True)
class Header:
    """What the columns of a table are called."""

    names: tuple[str, ...]  # In their order
    named: bool = True  # Whether these are the user's names; x0, x1, … where there are none

    @classmethod
    def of_width(cls, columns: int) -> Header:
        """Return the header of a table without names."""
        return cls(tuple(f"x{j}" for j in range(columns)), named=False)


def below(limit: float, first: int, rows: int) -> tuple[Floats, Integers]:
    """Return the numbers of rows from a place on that are not above a limit, and their places."""
    keys = draws(_SEED, first, rows)
    places = np.flatnonzero(keys <= limit)
    return keys[places], first + places


def enough(size: int, rows: int) -> float:
    """Return the number that so many of `rows` are not above, by six standard deviations."""
    return (size + 6.0 * sqrt(size)) / max(rows, 1)


def matrix(rows: Table) -> Floats:
    """Return columns of numbers side by side, each in one piece."""
    X = np.empty((rows.rows, len(rows.columns)), order="F")
    for place, column in enumerate(rows.columns):
        assert isinstance(column, NumberColumn)
        X[:, place] = column.values
    return X


def number_columns(rows: Table) -> list[Floats]:
    """Return columns of numbers, each where it lies."""
    return [column.values for column in rows.columns if isinstance(column, NumberColumn)]


def numbers_without(rows: Table, some: Booleans) -> Iterator[Floats]:
    """Give columns without some of the rows, in any order: the last ones fill the holes.

    Each is there only until the next one is asked for.
    """
    left = rows.rows - int(np.count_nonzero(some))
    holes, last = np.flatnonzero(some[:left]), left + np.flatnonzero(~some[left:])
    room = np.empty(left)
    for values in number_columns(rows):
        np.copyto(room, values[:left])
        room[holes] = values[last]
        yield room


@dataclass(frozen=True)
class HeldOut:
    """Which rows are left out of learning: those with the smallest numbers."""

    cut: float  # The largest of their numbers; none is below 0

    def kept(self, first: int, rows: int) -> Booleans:
        """Say of each of so many rows, from a place on, whether it is learned."""
        return np.asarray(draws(_SEED, first, rows) > self.cut)


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """The rows of a table with the smallest random numbers, at least `size` of them."""

    size: int  # How many are wanted
    limit: float  # Rows with larger numbers than this are not among them
    keys: Floats  # The numbers of the rows and where these are
    places: Integers
    # The rows, in that order; joined only when it must be, for texts take their time
    chunks: tuple[Table, ...]

    @classmethod
    def of(cls, rows: Table, first: int, *, size: int, limit: float) -> tuple[DrawnRows, Booleans]:
        """Draw from the rows of a part; say also which were."""
        if limit == NONE:
            none = np.zeros(rows.rows, dtype=np.bool_)
            return cls(size, limit, np.empty(0), np.empty(0, np.int64), (rows.take(none),)), none
        keys = draws(_SEED, first, rows.rows)
        chosen = np.asarray(keys <= limit)
        if np.count_nonzero(chosen) > size:
            limit = float(np.partition(keys, size - 1)[size - 1])
            chosen = np.asarray(keys <= limit)
        places = np.flatnonzero(chosen)
        return cls(size, limit, keys[places], first + places, (rows.take(places),)), chosen

    def plus(self, other: DrawnRows) -> DrawnRows:
        """Return those of both, perhaps more than wanted; see :meth:`trimmed`."""
        return DrawnRows(
            self.size,
            min(self.limit, other.limit),
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.places, other.places]),
            (*self.chunks, *(chunk for chunk in other.chunks if chunk.rows)),
        )

    def trimmed(self, slack: int = 2) -> tuple[DrawnRows, Table | None]:
        """Return no more rows than wanted, and those that are too many.

        Nothing is done before there are `slack` times as many.
        """
        if len(self.keys) <= slack * self.size:
            return self, None
        order = np.argsort(self.keys, kind="stable")
        kept, over = np.sort(order[: self.size]), order[self.size :]
        rows = Table.concat(self.chunks)
        limit = float(self.keys[order[self.size - 1]])
        drawn = DrawnRows(self.size, limit, self.keys[kept], self.places[kept], (rows.take(kept),))
        return drawn, rows.take(over)

    def whole(self) -> Table:
        """Return all rows, in the order of the table."""
        return Table.concat(self.chunks).take(np.argsort(self.places, kind="stable"))

    def divided(self, *sizes: int) -> list[Table]:
        """Return the rows with the smallest numbers, those with the next, …, and what is left.

        Each in the order of the table.
        """
        rows, order = Table.concat(self.chunks), np.argsort(self.keys, kind="stable")
        parts = np.split(order, np.minimum(np.cumsum(sizes), len(order)))
        return [rows.take(part[np.argsort(self.places[part])]) for part in parts]

    def held_out(self, rows: int) -> HeldOut:
        """Return which rows are held out if it is to be so many."""
        return HeldOut(float(np.sort(self.keys)[rows - 1]) if rows else NONE)
