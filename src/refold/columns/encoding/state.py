"""Rows learned in parts: the first ones decide what columns are, then all are counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from refold.base.once import once
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.plan import Plan
from refold.columns.table import Table


@dataclass(frozen=True, eq=False)
class TableState:
    """What was learned of a table so far; nothing is changed in place."""

    roles: Mapping[str, str]  # what the user has said that columns are
    n_init: int  # how many rows decide what the others are
    waiting: tuple[Table, ...] = ()  # rows that wait until there are so many
    counts: TableCounts | None = None  # what is kept of all rows; None as long as rows wait

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

    def plus_rows(self, table: Table, *, n_jobs: int | None = None) -> TableState:
        """Return this and more rows."""
        if self.counts is not None:
            more = TableCounts.of(self.counts.plan, table, n_jobs=n_jobs)
            return replace(self, counts=self.counts.plus(more))
        waiting = (*self.waiting, table)
        if self.rows + table.rows < self.n_init:
            return replace(self, waiting=waiting)
        plan, rows = Plan.of(Table.concat(waiting), self.roles, self.n_init)
        return replace(self, waiting=(), counts=TableCounts.of(plan, rows, n_jobs=n_jobs))

    def with_counts(self, counts: TableCounts) -> TableState:
        """Return the same with other counts; no further rows are waited for."""
        return replace(self, waiting=(), counts=counts)

    @once
    def ready(self) -> TableCounts:
        """What is kept of all rows, as if no further ones came."""
        if self.counts is not None:
            return self.counts
        return TableCounts.of(*Plan.of(Table.concat(self.waiting), self.roles))
