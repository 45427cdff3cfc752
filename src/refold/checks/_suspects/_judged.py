"""Rows that a model has judged, as many at once as memory allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from refold._typing import Floats, Integers
from refold.columns.table import Table
from refold.judgement import Judge, Judgement
from refold.models.detector import Detector

# What rows become while they are judged must not outgrow the table.
_AT_ONCE = 2**16


@dataclass(frozen=True, eq=False)
class JudgedTable:
    """A table, how far out its rows are, and the model that says why.

    Parameters
    ----------
    table : Table
        The rows.
    model : Detector
        Has not learned from the oddest of them.
    scores : ndarray of shape (n,)
        How far out each row is; NaN where it has no value.
    p_values : ndarray of shape (n,) or None, default=None
        How rare that is among trusted rows, if there were any.
    """

    table: Table
    model: Detector
    scores: Floats
    p_values: Floats | None = None

    @property
    def worst_first(self) -> Integers:
        """The rows that have a value, the farthest out first."""
        order = np.argsort(-self.scores, kind="stable")
        return order[: np.count_nonzero(~np.isnan(self.scores))]

    def judgement(self, rows: Integers) -> Judgement:
        """Return what the model says of some rows."""
        return judgement(self.model, self.table.take(rows))


def judgement(model: Detector, table: Table) -> Judgement:
    """Return what a model says of a table that was read."""
    return Judge.of(model).parsed(model.encoder_.read(table, reset=False))


def distances(model: Detector, table: Table) -> Floats:
    """Return how far out each row is; NaN where it has no value."""
    found = [judgement(model, table.take(rows)).distances for rows in blocks(table)]
    return np.concatenate(found) if found else np.empty(0)


def blocks(table: Table) -> Iterator[Integers]:
    """Give the numbers of the rows, some at a time."""
    for begin in range(0, table.rows, _AT_ONCE):
        yield np.arange(begin, min(begin + _AT_ONCE, table.rows))
