"""The second pass over the parts of a table: all that is counted of the rows to learn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from refold._typing import Floats
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.plan import Plan
from refold.columns.table import Table
from refold.models.creased._state import TrainingState
from refold.models.detector.learned import RowSample
from refold.models.draws import draws
from refold.models.parts.drawn import HeldOut, matrix


@dataclass(frozen=True, eq=False)
class CreasedCount:
    """Adds up what CreasedREF needs of the rows of a part; it travels to where they are."""

    nothing: TrainingState  # Creases without any row
    held: HeldOut  # The rows that are not learned

    def __call__(self, rows: Table, first: int) -> TrainingState:
        """Count rows that begin at a place of the table."""
        return self.of(matrix(rows), first)

    def of(self, X: Floats, first: int) -> TrainingState:
        """Count rows that are an array."""
        kept = self.held.kept(first, len(X))
        sample = replace(self.nothing.sample, seen=first)  # rows are drawn by their place
        weights = None if kept.all() else kept.astype(np.float64)
        state = replace(self.nothing, sample=sample).plus_rows(X, weights, last=True, n_jobs=1)
        assert state.sketch is not None
        return replace(state, sketch=replace(state.sketch, rows=int(kept.sum())))


@dataclass(frozen=True, eq=False)
class TableTotals:
    """What Detector needs of rows."""

    counts: TableCounts  # All of them, counted
    sample: RowSample  # Some of them
    inside: TrainingState | None  # What CreasedREF needs of them, where all columns are numbers

    def plus(self, other: TableTotals) -> TableTotals:
        """Return what is needed of the rows of both."""
        inside = self.inside
        if inside is not None and other.inside is not None:
            inside = inside.plus(other.inside)
        counts, sample = self.counts.plus(other.counts), self.sample.plus(other.sample)
        return TableTotals(counts, sample, inside)


@dataclass(frozen=True, eq=False)
class TableCount:
    """Counts what Detector needs of the rows of a part; it travels to where they are."""

    plan: Plan  # What the columns are taken for
    seed: int  # Draws the rows that are kept
    held: HeldOut  # The rows that are not learned
    # What counts for the estimator inside, where all columns are numbers
    inside: CreasedCount | None

    def __call__(self, rows: Table, first: int) -> TableTotals:
        """Count rows that begin at a place of the table."""
        rows = rows.select(self.plan.names)
        kept = self.held.kept(first, rows.rows)
        learned = rows if kept.all() else rows.take(kept)
        keys = draws(self.seed, first, rows.rows)[kept]
        drawn = RowSample(self.seed, first + rows.rows, keys, learned)
        counts = TableCounts.of(self.plan, learned, n_jobs=1)
        inside = None
        if self.inside is not None:
            inside = self.inside.of(counts.numbers_of(rows), first)
        return TableTotals(counts, RowSample(self.seed).plus(drawn), inside)
