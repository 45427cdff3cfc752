"""Rows that somebody has judged, as a model takes them: an array of numbers, or a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.columns.bring import Brought
from refold.columns.observed import Moments, Numbers, Observed, Texts

JudgedRows = Floats | Brought


def taken(rows: JudgedRows, which: Integers | Booleans) -> JudgedRows:
    """Return some of the rows, by number or by mask; a number may come more than once."""
    return rows.take(which) if isinstance(rows, Brought) else rows[which]


def joined(parts: Sequence[JudgedRows]) -> JudgedRows:
    """Return the rows of several tables with the same columns."""
    if isinstance(parts[0], Brought):
        return Brought.joined(cast("Sequence[Brought]", parts))
    return np.concatenate(cast("Sequence[Floats]", parts))


def equal_rows(rows: JudgedRows, others: JudgedRows) -> Booleans:
    """Say which rows are, cell by cell, among others; a gap equals a gap."""
    keys = _keys(joined([rows, others]))
    return np.isin(keys[: len(rows)], keys[len(rows) :])


def _keys(rows: JudgedRows) -> Integers:
    """Return a number for each row, the same for equal ones; that others share one is hopeless."""
    columns: Sequence[Observed | Floats] = (
        rows.columns if isinstance(rows, Brought) else list(rows.T)
    )
    random = np.random.RandomState(0)
    keys = np.zeros(len(rows), dtype=np.int64)
    for column in columns:
        keys += _codes(column) * random.randint(1, 2**62, dtype=np.int64)  # it wraps around
    return keys


def _codes(column: Observed | Floats) -> Integers:
    """Return a number for each cell of a column, the same for equal ones."""
    if isinstance(column, Texts):
        return column.codes
    if isinstance(column, Numbers):
        column = column.values
    elif isinstance(column, Moments):
        column = column.seconds
    return np.unique(column, return_inverse=True)[1].astype(np.int64)  # all NaN are one
