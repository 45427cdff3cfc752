"""Rows learned in parts: the first ones decide what columns are, then all are counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from refold.base.once import once
from refold.columns.bring import Brought
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.plan import Plan


@dataclass(frozen=True, eq=False)
class TableState:
    """What was learned of a table so far; nothing is changed in place.

    Parameters
    ----------
    roles : dict of str to str
        What the user has said that columns are.
    n_init : int
        How many rows decide what the others are.
    waiting : tuple of Brought
        Rows that wait until there are so many.
    counts : TableCounts or None
        What is kept of all rows; None as long as rows wait.
    """

    roles: Mapping[str, str]
    n_init: int
    waiting: tuple[Brought, ...] = ()
    counts: TableCounts | None = None

    @property
    def rows(self) -> int:
        """How many rows there were."""
        waiting = sum(part.rows for part in self.waiting)
        return waiting if self.counts is None else self.counts.rows

    @property
    def names(self) -> list[str]:
        """What the columns are called, those that are ignored too."""
        if self.counts is None:
            return self.waiting[0].names
        return [column.name for column in self.counts.plan.columns]

    def plus_rows(self, table: Brought, *, last: bool, n_jobs: int | None = None) -> TableState:
        """Return this and more rows; with `last` no further ones are waited for."""
        if self.counts is not None:
            more = TableCounts.of(self.counts.plan, table, n_jobs=n_jobs)
            return replace(self, counts=self.counts.plus(more))
        waiting = (*self.waiting, table)
        if not last and self.rows + table.rows < self.n_init:
            return replace(self, waiting=waiting)
        rows = Brought.joined(waiting)
        plan = Plan.of(first_rows(rows, self.n_init), self.roles)
        return replace(self, waiting=(), counts=TableCounts.of(plan, rows, n_jobs=n_jobs))

    def with_counts(self, counts: TableCounts) -> TableState:
        """Return the same with other counts; no further rows are waited for."""
        return replace(self, waiting=(), counts=counts)

    @once
    def ready(self) -> TableCounts:
        """What is kept of all rows, as if no further ones came."""
        if self.counts is not None:
            return self.counts
        rows = Brought.joined(self.waiting)
        return TableCounts.of(Plan.of(rows, self.roles), rows)


def first_rows(table: Brought, rows: int) -> Brought:
    """Return the first rows of a table."""
    return table if table.rows <= rows else table.take(np.arange(rows))
