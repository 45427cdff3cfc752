"""Learning a table without the rows that look least like the rest."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.columns.encoding.counts import Encoded, TableCounts
from refold.columns.encoding.plan import Plan
from refold.columns.encoding.state import TableState
from refold.columns.table import Table
from refold.models.trim import Cut, dropped


@dataclass(frozen=True, eq=False)
class TableCut:
    """A cut, and what was counted of the first rows, by which a row lies beyond it.

    Rows are ranked column by column whatever the method is: to a model that sees how columns go
    together, a few rows that are alike are a group of their own.
    """

    # Of the first rows, without those that were odd at first sight. Later rows do not change it.
    counts: TableCounts
    cut: Cut  # How odd the cells of a row may be on average

    @classmethod
    def of(cls, state: TableState, plan: Plan, table: Table, share: float) -> TableCut:
        """Set the cut by rows that are there at once, parsed; `state` is that before any row."""
        odd = _oddness(TableCounts.of(plan, table), table, left_out=True)
        kept = np.flatnonzero(odd <= Cut.of(odd, np.ones(table.rows), share).limit)
        counts = TableCounts.of(*Plan.of(table.take(kept), state.roles, state.n_init))
        odd = _oddness(counts, table, left_out=False)
        return cls(counts, Cut.of(odd, np.ones(table.rows), share))

    def beyond(self, table: Table) -> Booleans:
        """Say which rows are left out."""
        return np.asarray(_oddness(self.counts, table, left_out=False) > self.cut.limit)

    def dropped(self, table: Table) -> Integers:
        """Return the numbers of the rows that are left out, the oddest first."""
        odd = _oddness(self.counts, table, left_out=False)
        return dropped(odd, np.ones(table.rows), self.cut)

    def plus_rows(
        self, state: TableState, table: Table, *, n_jobs: int | None
    ) -> tuple[TableState, TableCut]:
        """Count the rows of a table but for those beyond the cut, which are counted here."""
        beyond = self.beyond(table)
        state = state.plus_rows(table.take(np.flatnonzero(~beyond)), n_jobs=n_jobs)
        if state.counts is not None:
            state = state.with_counts(state.counts.leaving_out(table.take(np.flatnonzero(beyond))))
        return state, self.counting(beyond)

    def counting(self, beyond: Booleans) -> TableCut:
        """Return the same with more rows counted, some of them beyond the cut."""
        kept = np.where(beyond, 0.0, 1.0)
        return replace(self, cut=self.cut.counting(np.ones(len(beyond)), kept))

    def plus(self, other: TableCut) -> TableCut:
        """Return the same with the rows of both counted."""
        return replace(self, cut=self.cut.plus(other.cut))

    def emptied(self) -> TableCut:
        """Return the same with no rows counted."""
        return replace(self, cut=self.cut.emptied())


def plus_rows(
    state: TableState,
    cut: TableCut | None,
    table: Table,
    *,
    trim: float,
    n_jobs: int | None = None,
) -> tuple[TableState, TableCut | None]:
    """Return what is known with more rows; the cut is set when it is decided what columns are."""
    if trim == 0.0:
        return state.plus_rows(table, n_jobs=n_jobs), None
    if cut is None and state.counts is not None:
        raise ValueError(
            f"trim={trim:g} was not set when the first rows were learned, and it is they that say "
            "which rows look odd. Set trim=0, or fit anew."
        )
    if cut is not None:
        return cut.plus_rows(state, table, n_jobs=n_jobs)
    if state.rows + table.rows < state.n_init:
        return replace(state, waiting=(*state.waiting, table)), None
    table = Table.concat((*state.waiting, table))
    state, cut, _ = of_rows(replace(state, waiting=()), table, trim=trim, n_jobs=n_jobs)
    return state, cut


def of_rows(
    state: TableState, table: Table, *, trim: float, n_jobs: int | None
) -> tuple[TableState, TableCut | None, Table]:
    """Return what is known of all rows at once, and these, parsed; `state` is that before any."""
    plan, table = Plan.of(table, state.roles, state.n_init)
    if trim == 0.0:
        return state.with_counts(TableCounts.of(plan, table, n_jobs=n_jobs)), None, table
    cut = TableCut.of(state, plan, table, trim)
    table = cut.counts.plan.parse(table)
    beyond = cut.beyond(table)  # the context, if there is one, has counted them
    counts = counts_without(cut.counts.plan, table, beyond, n_jobs=n_jobs)
    return state.with_counts(counts), cut.counting(beyond), table


def counts_without(
    plan: Plan, table: Table, beyond: Booleans, *, n_jobs: int | None
) -> TableCounts:
    """Return the counts of rows but for those beyond a cut."""
    counts = TableCounts.of(plan, table.take(np.flatnonzero(~beyond)), n_jobs=n_jobs)
    return counts.leaving_out(table.take(np.flatnonzero(beyond)))


def merged_rows(beyond: Booleans, learned: Encoded, others: Encoded) -> Encoded:
    """Put rows that were encoded apart into their places."""
    whole = {}
    for each in fields(Encoded):
        mine, theirs = getattr(learned, each.name), getattr(others, each.name)
        whole[each.name] = np.empty((len(beyond), *mine.shape[1:]), mine.dtype, order="F")
        whole[each.name][~beyond], whole[each.name][beyond] = mine, theirs
    return Encoded(**whole)


def cell_oddness(counts: TableCounts, table: Table, *, left_out: bool) -> Floats:
    """Return how odd each cell of rows is, by column; if `left_out`, as if it were not counted."""
    if counts.plan.plain:
        assert counts.numbers is not None
        return counts.numbers.magnitudes(counts.numbers_of(table))
    return counts.encode(table, left_out=left_out).magnitudes


def _oddness(counts: TableCounts, table: Table, *, left_out: bool) -> Floats:
    """Return how odd the cells of each row are, on average."""
    return np.asarray(cell_oddness(counts, table, left_out=left_out).mean(axis=1))
