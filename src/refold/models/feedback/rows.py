"""Rows that somebody has judged, as a model takes them: an array of numbers, or a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.columns.table import Column, DateColumn, NumberColumn, Table, TextColumn

JudgedRows = Floats | Table


def taken(rows: JudgedRows, which: Integers | Booleans) -> JudgedRows:
    """Return some of the rows, by number or by mask; a number may come more than once."""
    return rows.take(which) if isinstance(rows, Table) else rows[which]


def joined(parts: Sequence[JudgedRows]) -> JudgedRows:
    """Return the rows of several tables with the same columns."""
    if isinstance(parts[0], Table):
        return Table.concat(cast("Sequence[Table]", parts))
    return np.concatenate(cast("Sequence[Floats]", parts))


def equal_rows(rows: JudgedRows, others: JudgedRows) -> Booleans:
    """Say which rows are, cell by cell, among others; a gap equals a gap."""
    keys = _keys(joined([rows, others]))
    return np.isin(keys[: len(rows)], keys[len(rows) :])


def _keys(rows: JudgedRows) -> Integers:
    """Return a number for each row, the same for equal ones; that others share one is hopeless."""
    columns: Sequence[Column | Floats] = rows.columns if isinstance(rows, Table) else list(rows.T)
    random = np.random.RandomState(0)
    keys = np.zeros(len(rows), dtype=np.int64)
    for column in columns:
        keys += _codes(column) * random.randint(1, 2**62, dtype=np.int64)  # it wraps around
    return keys


def _codes(column: Column | Floats) -> Integers:
    """Return a number for each cell of a column, the same for equal ones."""
    if isinstance(column, TextColumn):
        return column.codes
    if isinstance(column, NumberColumn):
        column = column.values
    elif isinstance(column, DateColumn):
        column = column.seconds
    return np.unique(column, return_inverse=True)[1].astype(np.int64)  # all NaN are one
