"""All that is kept of the rows of a table, and how surprising rows are by it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.base.once import once
from refold.columns.encoding.dates import DateCounts
from refold.columns.encoding.dependence import ContingencyTable
from refold.columns.encoding.numbers import NumberCounts
from refold.columns.encoding.plan import Plan
from refold.columns.encoding.surprise import LeftOut, Surprise
from refold.columns.encoding.texts import TextCounts
from refold.columns.table import (
    CellState,
    Column,
    DateColumn,
    NumberColumn,
    Table,
    TextColumn,
    check_finite,
)

ColumnCounts = TextCounts | DateCounts

# What a row can have that no row had: one of the three states of a cell, or one of these.
_TEXT, _PAIR, _SIGN, NOVELTY_KINDS = 3, 4, 5, 6


@dataclass(frozen=True, eq=False)
class Encoded:
    """Rows as numbers."""

    numbers: Floats  # (n, k): the columns of numbers; NaN where there is none
    indicators: Floats  # (n, q): which of the frequent values of categories with few a row has
    # (n, d): how surprising each cell is, for every column; of a table of numbers alone there is
    # none.
    magnitudes: Floats
    # Which cells hold what a column that seemed closed never had: a new value, or none, or one that
    # cannot be read.
    novel: Booleans
    judged: Booleans  # which rows have a value at all


@dataclass(frozen=True, eq=False)
class TableCounts:
    """What is kept of the rows; it adds, merges and subtracts."""

    plan: Plan  # what the columns are taken for
    rows: int  # how many rows there were
    numbers: NumberCounts | None  # the columns of numbers; None if there is none
    others: dict[int, ColumnCounts]  # the others, by their number among the columns in use
    contingency_tables: dict[int, ContingencyTable]  # columns beside their partners
    # (d, 6): how many rows that were left out of the counts have what no counted row has, by column
    # and kind: a cell that can be read, none, one that cannot, a text, a pair of values, a sign
    novelties_left_out: Integers = field(
        default_factory=lambda: np.zeros((0, NOVELTY_KINDS), dtype=np.int64)
    )

    def __post_init__(self) -> None:
        if len(self.novelties_left_out) == 0:
            none = np.zeros((len(self.plan.used), NOVELTY_KINDS), dtype=np.int64)
            object.__setattr__(self, "novelties_left_out", none)

    @classmethod
    def of(cls, plan: Plan, table: Table, *, n_jobs: int | None = None) -> TableCounts:
        """Count rows."""
        table = plan.parse(table)
        cells, X = table.columns, _numbers(table)
        unreadable = [c.unreadable.sum() for c in cells if isinstance(c, NumberColumn)]
        counted = NumberCounts.of(X, np.array(unreadable), n_jobs=n_jobs) if X.shape[1] else None
        others: dict[int, ColumnCounts] = {}
        for k, each in enumerate(cells):
            if isinstance(each, TextColumn):
                others[k] = TextCounts.of(each)
            elif isinstance(each, DateColumn):
                others[k] = DateCounts.of(each)
        codes = [] if plan.plain else plan.codes(cells)
        slices = {
            k: ContingencyTable.of(codes[column.partner], codes[k])
            for k, column in enumerate(plan.used)
            if column.partner is not None
        }
        return cls(plan, table.rows, counted, others, slices)

    def plus(self, other: TableCounts) -> TableCounts:
        """Return the counts of the rows of both."""
        return self._with(other, "plus", self.rows + other.rows)

    def minus(self, other: TableCounts) -> TableCounts:
        """Return the counts without those rows."""
        return self._with(other, "minus", self.rows - other.rows)

    def _with(self, other: TableCounts, how: str, rows: int) -> TableCounts:
        def both(mine: Any, theirs: Any) -> Any:
            combine: Callable[[Any], Any] = getattr(mine, how)
            return combine(theirs)

        numbers = None if self.numbers is None else both(self.numbers, other.numbers)
        return TableCounts(
            self.plan,
            rows,
            numbers,
            {k: both(mine, other.others[k]) for k, mine in self.others.items()},
            {
                k: both(mine, other.contingency_tables[k])
                for k, mine in self.contingency_tables.items()
            },
            self.novelties_left_out + (other.novelties_left_out if how == "plus" else 0),
        )

    def leaving_out(self, table: Table) -> TableCounts:
        """Return the same once more rows were left out: what is new in many of them is not novel.

        These rows were seen, and are normal as far as anybody knows.
        """
        alone = replace(self, novelties_left_out=np.zeros_like(self.novelties_left_out))
        return replace(
            self, novelties_left_out=self.novelties_left_out + alone._count_novelties(table)
        )

    def _count_novelties(self, table: Table) -> Integers:
        """Count the rows that have what no counted row has, by column and kind."""
        table = self.plan.parse(table)
        cells, novelties = table.columns, np.zeros_like(self.novelties_left_out)
        for k, each in enumerate(cells):
            states = np.bincount(each.state, minlength=len(CellState))
            novelties[k, :_TEXT] = states * self.novel_states(k)
            counts = self.others.get(k)
            if isinstance(each, TextColumn) and isinstance(counts, TextCounts) and self.closed(k):
                novelties[k, _TEXT] = counts.new(each)[each.codes].sum()
        codes = self.plan.codes(cells)
        for k in self.contingency_tables:
            novelties[k, _PAIR] = self.contradictions(k)[codes[self.partner(k)], codes[k]].sum()
        X, (floor, ceiling) = _numbers(table), self.zero_ends
        novelties[self.plan.numbers, _SIGN] = ((floor > X) | (ceiling < X)).sum(axis=0)
        return novelties

    @once
    def zero_ends(self) -> tuple[Floats, Floats]:
        """(k,) each: zero where a column of numbers never crosses it; see NumberCounts."""
        if self.numbers is None:
            return np.empty(0), np.empty(0)
        crossed = ~self._rare_novelties[self.plan.numbers, _SIGN]
        floor, ceiling = self.numbers.zero_ends
        return np.where(crossed, -np.inf, floor), np.where(crossed, np.inf, ceiling)

    def encode(
        self,
        table: Table,
        *,
        left_out: LeftOut = False,
        without: Collection[str] = (),
        n_jobs: int | None = None,
    ) -> Encoded:
        """Return rows as numbers.

        With `left_out` they were counted, and are looked at as if they had not been; "exactly" is
        for calibrating: each row by the counts and folds of the others, which give it other numbers
        than a new row has. In the views `without`, a text that was never counted does not surprise,
        as an export without them judges it.
        """
        table = self.plan.parse(table)
        cells, X = table.columns, _numbers(table)
        novel = np.zeros((table.rows, len(cells)), dtype=np.bool_, order="F")
        if not left_out:
            self._mark_novel(cells, novel)
        if self.plan.plain:
            nothing = np.empty((table.rows, 0))
            return Encoded(X, nothing, nothing, novel, _judged(cells, table.rows))
        out = np.empty(novel.shape, order="F")
        if self.numbers is not None:
            exactly = left_out == "exactly"
            fold = self.numbers.left_out if exactly else self.numbers.magnitudes
            out[:, self.plan.numbers] = fold(X, n_jobs=n_jobs)
        for k, each in enumerate(cells):
            if isinstance(each, NumberColumn):
                have = self.states(k)
                if each.complete and have[CellState.READABLE] == self.rows:
                    continue  # as all cells were
                states = self._states[k].of_rows(have, left_out=left_out)
                known = states[:1] if each.complete else states[each.state]
                np.maximum(out[:, k], known, out=out[:, k])
            else:
                out[:, k] = self._largest_view(k, each, left_out, without)
        codes = self.plan.codes(cells)
        self._add_dependence(codes, out, left_out)
        if not left_out:
            for k in self.contingency_tables:
                novel[:, k] |= self.contradictions(k)[codes[self.partner(k)], codes[k]]
        shown = self.plan.indicators(codes, table.rows)
        return Encoded(X, shown, out, novel, _judged(cells, table.rows))

    @once
    def _states(self) -> dict[int, Surprise]:
        """How surprising counts of states are, of the columns of numbers."""
        return {k: Surprise.of_counts(self.states(k)) for k in self.plan.numbers.tolist()}

    def _largest_view(
        self, k: int, cells: Column, left_out: LeftOut, without: Collection[str]
    ) -> Floats:
        counts = self.others[k]
        alone = isinstance(cells, TextColumn) and cells.in_group is None
        if alone and isinstance(counts, TextCounts):  # once for each text
            assert isinstance(cells, TextColumn)
            views = counts.views(cells, left_out=left_out, without=without)
            return np.asarray(views.max(axis=1)[cells.codes])
        return np.asarray(self.views(k, cells, left_out=left_out, without=without).max(axis=1))

    def numbers_of(self, table: Table) -> Floats:
        """Return the columns of numbers of rows."""
        return _numbers(self.plan.parse(table))

    def views(
        self, k: int, cells: Column, *, left_out: LeftOut = False, without: Collection[str] = ()
    ) -> Floats:
        """Return how surprising the cells of a column of texts or dates are, in each view."""
        counts = self.others[k]
        if isinstance(cells, TextColumn):
            assert isinstance(counts, TextCounts)
            views = counts.views(cells, left_out=left_out, without=without)[cells.codes]
            if cells.in_group is not None:
                own = views[:, : cells.in_group.shape[1]]
                np.maximum(own + np.minimum(cells.in_group, _CONTRADICTION), 0.0, out=own)
            return views
        assert isinstance(cells, DateColumn)
        assert isinstance(counts, DateCounts)
        ranged = self.plan.used[k].ranged
        return counts.views(cells, ranged=ranged, left_out=left_out)

    def _add_dependence(self, codes: list[Integers], out: Floats, left_out: LeftOut) -> None:
        for k, slices in self.contingency_tables.items():
            surprise = slices.surprise_left_out if left_out else slices.surprise
            if left_out == "exactly":
                surprise = slices.surprise_left_out_exactly
            out[:, k] += surprise[codes[self.partner(k)], codes[k]]

    def partner(self, k: int) -> int:
        """Return the column that a column with slices is looked at beside."""
        partner = self.plan.used[k].partner
        assert partner is not None
        return partner

    def contradictions(self, k: int) -> Booleans:
        """Say which codes of a column are novel beside those of its partner, (partner's, own).

        None of a number: of one, how far out it is says more than ten bins.
        """
        found = self.contingency_tables[k].contradictions
        known = k not in self.plan.numbers and self._rare_novelties[k, _PAIR]
        return found if known else np.zeros_like(found)

    def _mark_novel(self, cells: list[Column], novel: Booleans) -> None:
        for k, each in enumerate(cells):
            if not each.complete:
                novel[:, k] = self.novel_states(k)[each.state]
            counts = self.others.get(k)
            if isinstance(each, TextColumn) and isinstance(counts, TextCounts) and self.closed(k):
                new = counts.new(each)
                if new.any():
                    novel[:, k] |= new[each.codes]
            if isinstance(each, TextColumn) and each.in_group is not None:
                novel[:, k] |= (each.in_group == np.inf).any(axis=1)

    def novel_states(self, k: int) -> Booleans:
        """Say which states a column never had that has shown enough: readable, missing, not."""
        known = self.states(k)
        return np.asarray((known == 0) & (known.sum() >= _ENOUGH) & self._rare_novelties[k, :_TEXT])

    def closed(self, k: int) -> bool:
        """Whether a text that a column of texts never had is novel."""
        counts = self.others[k]
        assert isinstance(counts, TextCounts)
        return counts.surprises[0].closed and bool(self._rare_novelties[k, _TEXT])

    @property
    def novel_left_out(self) -> float:
        """How many of the rows would be novel had they not been counted, at most."""
        return min(float(self._novelties[self._few(self._novelties)].sum()), self.rows / 2.0)

    @once
    def _novelties(self) -> Integers:
        """How many columns one row alone has made readable, missing, unreadable, or unclosed.

        The last is of pairs of columns.
        """
        novelties = np.zeros(NOVELTY_KINDS, dtype=np.int64)
        others = [
            slices for k, slices in self.contingency_tables.items() if k not in self.plan.numbers
        ]
        novelties[_PAIR] = sum(slices.closed_but_for_one for slices in others)
        for k in range(len(self.plan.used)):
            known = self.states(k)
            if known.sum() > _ENOUGH:
                novelties[:_TEXT] += known == 1
            counts = self.others.get(k)
            if isinstance(counts, TextCounts):
                novelties[_TEXT] += counts.surprises[0].closed_but_for_one
        return novelties

    @once
    def _rare_novelties(self) -> Booleans:
        """Say of which columns and kinds novelties are so rare that one is certainly abnormal.

        Of rows that were left out those of all columns together are: where these are more, the
        columns with most of them do not count as such.
        """
        left_out = self.novelties_left_out
        order = left_out.argsort(axis=0, kind="stable")
        rare = np.empty(left_out.shape, dtype=np.bool_)
        together = np.take_along_axis(left_out, order, axis=0).cumsum(axis=0)
        np.put_along_axis(rare, order, self._few(together), axis=0)
        return rare & self._few(self._novelties)

    def _few(self, novelties: Integers) -> Booleans:
        return np.asarray(novelties <= max(1.0, _MOST_NOVELTIES * self.rows))

    def states(self, k: int) -> Integers:
        """Return how many rows of a column are readable, missing, unreadable."""
        counts = self.others.get(k)
        if isinstance(counts, TextCounts):
            return np.array([counts.values.rows - counts.missing, counts.missing, 0])
        if isinstance(counts, DateCounts):
            return counts.states
        assert self.numbers is not None
        place = int(np.searchsorted(self.plan.numbers, k))
        return np.asarray(self.numbers.states[place])


# So many rows without a gap make one a surprise, …
_ENOUGH = 20
# … unless a larger share of the rows brought the first gap of some column.
_MOST_NOVELTIES = 0.004
# What a text that contradicts its group adds to its surprise: it is novel anyway.
_CONTRADICTION = 10.0


def _numbers(table: Table) -> Floats:
    """Return the columns of numbers of a table that was parsed, side by side."""
    numbers = [(k, c) for k, c in enumerate(table.columns) if isinstance(c, NumberColumn)]
    X = np.empty((table.rows, len(numbers)), order="F")
    for place, (k, column) in enumerate(numbers):
        check_finite(column.values, k, table.names)
        X[:, place] = column.values
    return X


def _judged(cells: list[Column], rows: int) -> Booleans:
    """Say which rows have a value."""
    if any(each.complete for each in cells):
        return np.ones(rows, dtype=np.bool_)
    return np.asarray(np.logical_or.reduce([each.state != CellState.MISSING for each in cells]))
