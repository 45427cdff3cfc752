"""Rows learned in parts: the first ones decide what columns are, then all are counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from refold._typing import Integers
from refold.base.errors import UserError
from refold.base.once import once
from refold.columns.context.calendar_columns import calendar_columns
from refold.columns.context.context import NO_CONTEXT, ContextColumns, ContextModel
from refold.columns.context.design import too_many_groups
from refold.columns.context.window import SortedRows, Window, WindowModel
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.plan import Plan
from refold.columns.table import NumberColumn, Table


class RowsInContext(NamedTuple):
    """What rows have decided of their context."""

    state: TableState
    inputs: Table  # all rows, parsed, with their window
    learned: Table  # those to learn from, numbers as scores
    kept: Integers  # where these are among all
    places: Integers  # and in the table that came; rows without a time are left out of both
    rows: SortedRows | None  # the rows one after another; None without a window


@dataclass(frozen=True, eq=False)
class TableState:
    """What was learned of a table so far; nothing is changed in place."""

    roles: Mapping[str, str]  # what the user has said that columns are
    n_init: int  # how many rows decide what the others are
    waiting: tuple[Table, ...] = ()  # rows that wait until there are so many
    counts: TableCounts | None = None  # what is kept of all rows; None as long as rows wait
    given: ContextColumns = NO_CONTEXT  # the columns of the context of rows
    window: Window | None = None  # how far to look back
    # What numbers should be in their context, and how its columns are read; None as long as rows
    # wait, which are as they came, and without a context.
    context: tuple[Plan, ContextModel] | None = None

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
        """Return this and more rows; in a context, as they were foreseen.

        Without a time they are counted as each would be had it been left out.
        """
        if self.counts is not None and self.context is not None and table.inputs is not None:
            plan, model = self.context
            model = model.plus_rows(table.inputs)
            rescored = table if model.axis is not None else model.left_out(table.inputs)
            more = TableCounts.of(self.counts.plan, rescored, n_jobs=n_jobs)
            return replace(self, counts=self.counts.plus(more), context=(plan, model))
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

    def in_context(self, table: Table) -> tuple[TableState, Table]:
        """Decide by rows what is expected in their context; return these as scores."""
        if not self.given.names and self.window is None:
            return self, table
        found = self.learn_context(table)
        return found.state, found.learned

    def learn_context(self, table: Table) -> RowsInContext:
        """Decide by rows what is expected in their context."""
        self.given.check(table.names)
        roles = {**dict.fromkeys(self.given.by, "category"), **self.roles}
        plan, read = Plan.of(table, roles, dependence=False)
        # A running number says nothing by itself; as a time or context it does.
        running = [
            c.name for c in plan.columns if c.role == "ignore" and c.name in self.given.names
        ]
        if running:
            own = {n: "number" if isinstance(table[n], NumberColumn) else "text" for n in running}
            plan, read = Plan.of(table, {**roles, **own}, dependence=False)
        table = read
        table, windows, rows = plan.parse(table), None, None
        timed = np.arange(table.rows)
        for name in self.given.over:
            plan = self._without_calendar(plan, table, name)
            table = table.select(plan.names)
            timed = np.flatnonzero(~table[name].is_null)
            if len(timed) == 0:
                raise UserError(f"over={name!r} has no time in any row: name another column.")
            table = table if len(timed) == table.rows else table.take(timed)
        if self.window is not None:
            windows, table, rows = WindowModel.learn(self.window, self.given, table)
        model, learned, kept = ContextModel.learn(self.given, table, windows)
        if table.rows > 1 and len(model.groups.keys) == table.rows:
            raise too_many_groups(self.given.by[-1], table.rows, table.rows)
        judged: dict[str, str] = {
            c.name: c.role for c in plan.used if c.name not in self.given.names
        }
        if rows is not None and windows is not None:
            judged |= dict.fromkeys(windows.columns, "number")
            # Rows without a history say nothing of it; where nearly all are, there are no others.
            enough = rows.of_table(rows.enough, False)[kept]
            if 2 * enough.sum() >= len(kept):
                learned, kept = learned.take(np.flatnonzero(enough)), kept[enough]
        state = replace(self, roles=judged, waiting=(), context=(plan, model))
        return RowsInContext(state, table, learned, kept, timed[kept], rows)

    def _without_calendar(self, plan: Plan, table: Table, time: str) -> Plan:
        """Leave out columns that repeat the time of rows, parsed; not if nothing else is there."""
        judged = [name for name in plan.names if name not in self.given.names]
        repeated = [*calendar_columns(table, time, [n for n in judged if n not in self.roles])]
        return plan.ignoring(repeated) if len(repeated) < len(judged) else plan

    @once
    def decided(self) -> tuple[TableState, Table]:
        """What rows that wait would decide if no further ones came, and these as scores."""
        return self.in_context(Table.concat(self.waiting))

    @property
    def settled(self) -> TableState:
        """The same as if no further rows came: with a context, if there is one."""
        waits = self.counts is None and self.context is None and self.waiting and self.given.names
        return self.decided[0] if waits else self

    @property
    def read_by(self) -> tuple[Plan, ContextModel] | None:
        """What numbers should be in their context, as if no further rows came."""
        return self.settled.context

    @once
    def ready(self) -> TableCounts:
        """What is kept of all rows, as if no further ones came."""
        if self.counts is not None:
            return self.counts
        if not self.given.names and self.window is None:
            return TableCounts.of(*Plan.of(Table.concat(self.waiting), self.roles))
        state, table = self.decided
        return TableCounts.of(*Plan.of(table, state.roles))
