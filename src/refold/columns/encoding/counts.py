"""All that is kept of the rows of a table, and how surprising rows are by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.columns.bring import Brought
from refold.columns.encoding import numbers as figures
from refold.columns.encoding.dates import DateCounts
from refold.columns.encoding.dependence import Slices
from refold.columns.encoding.numbers import NumberCounts
from refold.columns.encoding.plan import Plan
from refold.columns.encoding.reading import Cells, Dates, Figures, Words, check_finite
from refold.columns.encoding.texts import TextCounts

ColumnCounts = TextCounts | DateCounts


@dataclass(frozen=True, eq=False)
class Encoded:
    """Rows as numbers.

    Parameters
    ----------
    numbers : ndarray of shape (n, k)
        The columns of numbers; NaN where there is none.
    magnitudes : ndarray of shape (n, d)
        How surprising each cell is, for every column; of a table of numbers alone there is none.
    novel : ndarray of bool, shape (n, d)
        Which cells hold what a column that seemed closed never had: a new value, or none, or one
        that cannot be read.
    judged : ndarray of bool, shape (n,)
        Which rows have a value at all.
    """

    numbers: Floats
    magnitudes: Floats
    novel: Booleans
    judged: Booleans


@dataclass(frozen=True, eq=False)
class TableCounts:
    """What is kept of the rows; it adds, merges and subtracts.

    Parameters
    ----------
    plan : Plan
        What the columns are taken for.
    rows : int
        How many rows there were.
    numbers : NumberCounts or None
        The columns of numbers; None if there is none.
    others : dict of int to (TextCounts or DateCounts)
        The others, by their number among the columns in use.
    slices : dict of int to Slices
        Columns beside their partners.
    """

    plan: Plan
    rows: int
    numbers: NumberCounts | None
    others: dict[int, ColumnCounts]
    slices: dict[int, Slices]

    @classmethod
    def of(cls, plan: Plan, table: Brought, *, n_jobs: int | None = None) -> TableCounts:
        """Count rows."""
        cells = plan.read(table)
        X, state = _numbers(plan, cells, table.rows)
        unreadable = (state == figures.UNREADABLE).sum(axis=0)
        counted = NumberCounts.of(X, unreadable, n_jobs=n_jobs) if X.shape[1] else None
        others: dict[int, ColumnCounts] = {}
        for k, each in enumerate(cells):
            if isinstance(each, Words):
                others[k] = TextCounts.of(each.texts)
            elif isinstance(each, Dates):
                others[k] = DateCounts.of(each.dated)
        codes = [] if plan.plain else plan.codes(cells)
        slices = {
            k: Slices.of(codes[column.partner], codes[k])
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
            {k: both(mine, other.slices[k]) for k, mine in self.slices.items()},
        )

    def encode(
        self,
        table: Brought,
        *,
        left_out: bool = False,
        folded_apart: bool = False,
        n_jobs: int | None = None,
    ) -> Encoded:
        """Return rows as numbers.

        Parameters
        ----------
        table : Brought
            The rows.
        left_out : bool, default=False
            Whether they were counted, and are to be looked at as if they had not been.
        folded_apart : bool, default=False
            Whether that goes for the folds of numbers too: then these are other folds than those of
            new rows, which is right for calibrating and wrong for learning.
        n_jobs : int or None, default=None
            Threads.
        """
        cells = self.plan.read(table)
        X, state = _numbers(self.plan, cells, table.rows)
        states = np.column_stack([each.state for each in cells])
        judged = (states != figures.MISSING).any(axis=1)
        novel = np.zeros(states.shape, dtype=np.bool_)
        if not left_out:
            self._mark_novel(cells, states, novel)
        if self.plan.plain:
            return Encoded(X, np.empty((table.rows, 0)), novel, judged)
        out = np.empty(states.shape)
        for k, each in enumerate(cells):
            if not isinstance(each, Figures):
                out[:, k] = self.views(k, each, left_out=left_out).max(axis=1)
        if self.numbers is not None:
            fold = self.numbers.left_out if folded_apart else self.numbers.magnitudes
            readable = self.numbers.readability(state, left_out=left_out)
            out[:, self.plan.numbers] = np.maximum(fold(X, n_jobs=n_jobs), readable)
        if self.slices:
            self._add_dependence(self.plan.codes(cells), out, left_out)
        return Encoded(X, out, novel, judged)

    def numbers_of(self, table: Brought) -> Floats:
        """Return the columns of numbers of rows."""
        return _numbers(self.plan, self.plan.read(table), table.rows)[0]

    def views(self, k: int, cells: Cells, *, left_out: bool = False) -> Floats:
        """Return how surprising the cells of a column of texts or dates are, in each view."""
        counts = self.others[k]
        if isinstance(cells, Words):
            assert isinstance(counts, TextCounts)
            return counts.views(cells.texts, left_out=left_out)[cells.texts.codes]
        assert isinstance(cells, Dates)
        assert isinstance(counts, DateCounts)
        ranged = self.plan.used[k].ranged
        return counts.views(cells.dated, ranged=ranged, left_out=left_out)

    def _add_dependence(self, codes: list[Integers], out: Floats, left_out: bool) -> None:
        for k, slices in self.slices.items():
            partner = self.plan.used[k].partner
            assert partner is not None
            surprise = slices.surprise_left_out if left_out else slices.surprise
            out[:, k] += surprise[codes[partner], codes[k]]

    def _mark_novel(self, cells: list[Cells], states: Integers, novel: Booleans) -> None:
        for k, each in enumerate(cells):
            known = self.states(k)
            if known.sum() >= _ENOUGH:
                novel[:, k] = (known == 0)[states[:, k]]
            counts = self.others.get(k)
            if isinstance(each, Words) and isinstance(counts, TextCounts):
                novel[:, k] |= counts.surely_new(each.texts)[each.texts.codes]

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


# So many rows without a gap make one a surprise.
_ENOUGH = 20


def _numbers(plan: Plan, cells: list[Cells], rows: int) -> tuple[Floats, Integers]:
    """Return the columns of numbers side by side, and the state of each cell."""
    X = np.empty((rows, len(plan.numbers)), order="F")
    state = np.empty((rows, len(plan.numbers)), dtype=np.int64)
    for place, k in enumerate(plan.numbers.tolist()):
        each = cells[k]
        assert isinstance(each, Figures)
        check_finite(each.values, k)
        X[:, place], state[:, place] = each.values, each.state
    return X, state
