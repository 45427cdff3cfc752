"""The two passes over the parts of a table: a first look, then all that is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from refold._typing import Floats, Integers
from refold.algorithm.engines.sketch import GrowingSketch, Sketch
from refold.columns.context.context import ContextModel
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.plan import Plan
from refold.columns.table import NumberColumn, Table, check_finite
from refold.models.creased.state import TrainingState
from refold.models.detector.learned import RowSample
from refold.models.draws import draws
from refold.models.parts.drawn import (
    NONE,
    DrawnRows,
    HeldOut,
    below,
    enough,
    matrix,
    number_columns,
    numbers_without,
)

_AT_ONCE = 2**20


@dataclass(frozen=True, eq=False)
class PassResult:
    """What a first look at rows has found."""

    rows: int  # How many there are
    drawn: DrawnRows  # Some of them
    rest: Sketch | None  # All others, or all there are, where no second pass is needed
    apart: bool  # Whether the rows that were drawn are not in the sketch

    def plus(self, other: PassResult) -> PassResult:
        """Return what was found in the rows of both."""
        drawn, over = self.drawn.plus(other.drawn).trimmed()
        rest = self.rest
        if rest is not None and other.rest is not None:
            rest = rest.plus(other.rest)
            if over is not None and self.apart:
                rest = rest.plus(_sketch(over, rest.n_bins))
        return PassResult(self.rows + other.rows, drawn, rest, self.apart)

    @staticmethod
    def beside(looks: Sequence[PassResult]) -> PassResult:
        """Return what was found in the same rows, by who each saw some of their columns."""
        first = looks[0]
        if len(looks) == 1:
            return first
        chunks = (Table.hstack([Table.concat(look.drawn.chunks) for look in looks]),)
        sketches = [look.rest for look in looks if look.rest is not None]
        rest = None
        if sketches:
            histograms = [h for sketch in sketches for h in sketch.histograms]
            rest = replace(sketches[0], histograms=histograms)
        return replace(first, drawn=replace(first.drawn, chunks=chunks), rest=rest)

    def sketch_with(self, rows: Table) -> Sketch:
        """Return the sketch of the rows that were not drawn, and of some that were."""
        assert self.rest is not None
        return self.rest.plus(_sketch(rows, self.rest.n_bins)) if self.apart else self.rest


@dataclass(frozen=True)
class FirstPass:
    """Looks at the rows of a part; it travels to where they are."""

    size: int  # How many rows to draw from all parts together
    n_bins: int | None = None  # The bins of a sketch; None is no sketch
    # Whether the rows that are drawn are left out of the sketch, because some are held out
    apart: bool = True
    limit: float = 1.0  # Rows with a larger number than this will not be drawn

    def __call__(self, rows: Table, first: int) -> PassResult:
        """Look at rows that begin at a place of the table."""
        looking = PiecewisePass(self, len(rows.columns))
        looking.add(rows, first)
        return looking.found()

    def chosen(self, rows: int) -> tuple[Floats, Integers]:
        """Return the numbers and places of the rows that would be drawn from so many."""
        if self.limit == NONE:
            return np.empty(0), np.empty(0, dtype=np.int64)
        parts = [below(self.limit, k, min(_AT_ONCE, rows - k)) for k in range(0, rows, _AT_ONCE)]
        keys, places = (np.concatenate(each) for each in zip(*parts, strict=True))
        return keys, places

    def among(self, rows: int) -> FirstPass:
        """Return the same for a table of so many rows: parts need not send more than will do.

        Where no row is held out, only a table that is small enough to be drawn as a whole needs
        any.
        """
        if not self.apart and rows > self.size:
            return replace(self, limit=NONE)
        return replace(self, limit=min(self.limit, enough(self.size, rows)))

    def after(self, found: PassResult) -> FirstPass:
        """Return the same for who goes from part to part and knows what was found so far."""
        return replace(self, limit=min(self.limit, found.drawn.limit))


class PiecewisePass:
    """Looks at the rows of a part that comes in pieces.

    Parameters
    ----------
    wanted : FirstLook
        What to look for.
    columns : int
        How many columns the rows have.
    """

    def __init__(self, wanted: FirstPass, columns: int) -> None:
        self._wanted, self._rows = wanted, 0
        self._drawn: DrawnRows | None = None
        self._sketch = None if wanted.n_bins is None else GrowingSketch(columns, wanted.n_bins)

    def add(self, rows: Table, first: int) -> None:
        """Look at rows that begin at a place of the table, after all others so far."""
        wanted, sketch = self._wanted, self._sketch
        if wanted.apart:  # a sketch of all rows refuses infinity too
            for number, column in enumerate(rows.columns):
                if isinstance(column, NumberColumn):
                    check_finite(column.values, number, rows.names)
        drawn, chosen = DrawnRows.of(rows, first, size=wanted.size, limit=wanted.limit)
        if sketch is not None:
            sketch.add(numbers_without(rows, chosen) if wanted.apart else number_columns(rows))
        drawn, over = (drawn if self._drawn is None else self._drawn.plus(drawn)).trimmed()
        if sketch is not None and wanted.apart and over is not None:
            sketch.add(number_columns(over))
        self._wanted = replace(wanted, limit=min(wanted.limit, drawn.limit))
        self._drawn, self._rows = drawn, self._rows + rows.rows

    def found(self) -> PassResult:
        """Return what was found so far; there must have been rows."""
        assert self._drawn is not None
        rest = None if self._sketch is None else self._sketch.sketch()
        return PassResult(self._rows, self._drawn, rest, self._wanted.apart)


def _sketch(rows: Table, n_bins: int) -> Sketch:
    sketch = GrowingSketch(len(rows.columns), n_bins)
    sketch.add(number_columns(rows))
    return sketch.sketch()


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
class ContextCount:
    """Adds up what numbers are in their context; it travels to where the rows of a part are."""

    plan: Plan  # How columns are read
    nothing: ContextModel  # What is decided, without any row
    held: HeldOut  # The rows that are not learned

    def __call__(self, rows: Table, first: int) -> ContextModel:
        """Add up rows that begin at a place of the table."""
        kept = rows.select(self.plan.names).take(self.held.kept(first, rows.rows))
        return self.nothing.plus_rows(self.plan.parse(kept), follow=False)


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
    limit: float  # Rows with a larger number than this will not be among them
    held: HeldOut  # The rows that are not learned
    # What counts for the estimator inside, where all columns are numbers
    inside: CreasedCount | None
    context: tuple[Plan, ContextModel] | None = None  # What is expected of rows, and how it is read

    def __call__(self, rows: Table, first: int) -> TableTotals:
        """Count rows that begin at a place of the table."""
        if self.context is not None:
            plan, model = self.context
            rows = model.left_out(plan.parse(rows.select(plan.names)))
        rows = rows.select(self.plan.names)
        kept = self.held.kept(first, rows.rows)
        learned = rows if kept.all() else rows.take(kept)
        keys = draws(self.seed, first, rows.rows)
        drawn = kept & (keys <= self.limit)
        sample = RowSample(self.seed, first + rows.rows, keys[drawn], rows.take(drawn))
        counts = TableCounts.of(self.plan, learned, n_jobs=1)
        inside = None
        if self.inside is not None:
            inside = self.inside.of(counts.numbers_of(rows), first)
        return TableTotals(counts, RowSample(self.seed).plus(sample), inside)
