"""The cells of a table that would have to change for a row to be accepted.

Columns are changed one by one, the one that matters most first: a number to what is expected of it,
a category to its most frequent value beside what its partner is. What turns out not to be needed is
put back. The rows are encoded and judged anew each time. Dates and free texts are left alone: there
is no telling what they should be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.surprise import USUAL
from refold.columns.table import Column, NumberColumn, TextColumn, as_texts
from refold.explanation._numbers import as_read
from refold.explanation._ranges import Normal
from refold.explanation._results import Cell
from refold.judgement import Judgement
from refold.models.detector.scorer import TableScorer

_MOST_CHANGES = 3
# Of a number that adds up: it is typical if no more than a quarter of the rows add less.
_TYPICAL = 0.25


def table_changes(
    found: Judgement, normal: Normal | None, expected: Floats | None
) -> list[tuple[Cell, ...]]:
    """Return for each rejected row the changes with which it is accepted; none if not found.

    Parameters
    ----------
    found : Judgement
        Of rows that all have a value.
    normal : Normal or None
        What was learned of the columns of numbers.
    expected : ndarray of shape (n, k) or None
        What is expected of the numbers, if something is.
    """
    out: list[tuple[Cell, ...]] = [()] * len(found)
    rejected = np.flatnonzero(found.outlier)
    if len(rejected) == 0:
        return out
    rows = found.take(rejected)
    other = _Instead.of(rows, normal, None if expected is None else expected[rejected])
    chosen = other.without_needless(other.enough())
    for place, row in enumerate(rejected.tolist()):
        columns = [k for k in rows.by_blame[place].tolist() if chosen[place, k]]
        out[row] = tuple(Cell(found.names[k], other.values[k][place]) for k in columns)
    return out


@dataclass(frozen=True, eq=False)
class _Instead:
    """What the cells of rows may be changed to.

    Parameters
    ----------
    found : Judgement
        The rows, all rejected.
    values : dict of int to list
        The other values of the columns that may change, one for each row.
    """

    found: Judgement
    values: dict[int, list[float] | list[str]]

    @classmethod
    def of(cls, found: Judgement, normal: Normal | None, expected: Floats | None) -> _Instead:
        """Look for values that are likely in each row."""
        assert found.cells is not None
        assert found.judge.encoder is not None
        counts = found.judge.encoder.counts
        cells = found.cells.columns
        codes = counts.plan.codes(cells)
        values: dict[int, list[float] | list[str]] = {}
        if normal is not None:
            if expected is None:
                expected = _typical(found, counts, normal)
            whole = (normal.summary.quantiles % 1.0 == 0.0).all(axis=0)
            expected = normal.short(np.where(whole, np.round(expected), expected))
            for place, k in enumerate(found.judge.numeric):
                values[k] = _numbers_beside(counts, k, codes, expected[:, place], normal)
        for k, column in enumerate(counts.plan.used):
            if column.role == "category" and column.frequent:
                values[k] = [
                    column.frequent[c] for c in _most_likely(counts, k, codes, len(found)).tolist()
                ]
        return cls(found, values)

    def enough(self) -> Booleans:
        """Return which cells to change for rows to be accepted; none where nothing helps."""
        d, columns = len(self.found.names), list(self.values)
        chosen = self._unreadable()
        order = _only(self.found.by_blame, np.isin(np.arange(d), columns))
        scorer = self.found.judge.scorer
        assert isinstance(scorer, TableScorer)
        novel = scorer.unpack(self.found.rows)[1]
        hopeless = np.delete(novel, columns, axis=1).any(axis=1)
        # If what matters most cannot be mended, nobody wants to hear what else could be.
        hopeless |= ~np.isin(self.found.by_blame[:, 0], columns)
        open_ = np.flatnonzero(~hopeless)
        for step in range(min(_MOST_CHANGES, order.shape[1])):
            if len(open_) == 0:
                break
            chosen[open_, order[open_, step]] = True
            open_ = open_[~self._accepted(open_, chosen[open_])]
        chosen[open_], chosen[hopeless] = False, False
        return chosen

    def without_needless(self, chosen: Booleans) -> Booleans:
        """Put back what a row does not need, what matters least first."""
        keep = self._unreadable()
        for step in range(self.found.by_blame.shape[1] - 1, -1, -1):
            columns = self.found.by_blame[:, step]
            rows = np.arange(len(chosen))
            several = chosen.sum(axis=1) > 1
            asked = np.flatnonzero(chosen[rows, columns] & ~keep[rows, columns] & several)
            if len(asked):
                less = chosen[asked]
                less[np.arange(len(asked)), columns[asked]] = False
                fine = self._accepted(asked, less)
                chosen[asked[fine]] = less[fine]
        return chosen

    def _unreadable(self) -> Booleans:
        """Say which cells have to change in any case, being no numbers at all."""
        assert self.found.cells is not None
        cells = self.found.cells.columns
        return np.column_stack([isinstance(c, NumberColumn) & c.unreadable for c in cells])

    def _accepted(self, rows: Integers, chosen: Booleans) -> Booleans:
        """Ask the model about rows with some of their cells changed."""
        judge, cells = self.found.judge, self.found.cells
        assert judge.encoder is not None
        assert cells is not None
        some = cells.take(rows)
        changed = np.flatnonzero(chosen.any(axis=0)).tolist()
        table = some.with_columns(
            {k: self._changed(k, some.columns[k], rows, chosen[:, k]) for k in changed}
        )
        return np.asarray(~judge.table(table).outlier)

    def _changed(self, k: int, column: Column, rows: Integers, chosen: Booleans) -> Column:
        other = [self.values[k][row] for row in rows.tolist()]
        if isinstance(column, NumberColumn):
            return NumberColumn(np.where(chosen, np.array(other), column.values))
        texts = as_texts(column)
        place = {value: code for code, value in enumerate(texts.values)}
        codes = [place.setdefault(str(value), len(place)) for value in other]
        return TextColumn(list(place), np.where(chosen, codes, texts.codes))


def _only(order: Integers, wanted: Booleans) -> Integers:
    """Return the columns of each row, in their order, without those that are not wanted."""
    return order[wanted[order]].reshape(len(order), int(wanted.sum()))


def _typical(found: Judgement, counts: TableCounts, normal: Normal) -> Floats:
    """Return a value of each number that adds little: its median, or near it."""
    assert counts.numbers is not None
    quantiles = normal.summary.quantiles
    sizes = counts.numbers.magnitudes(quantiles)
    small = sizes <= np.quantile(sizes, _TYPICAL, axis=0)
    middle = quantiles[len(quantiles) // 2]
    nearest = np.where(small, np.abs(quantiles - middle), np.inf).argmin(axis=0)
    usual = np.broadcast_to(quantiles[nearest, np.arange(len(middle))], found.numbers.shape)
    return normal.nearest(usual)


def _numbers_beside(
    counts: TableCounts, k: int, codes: list[Integers], expected: Floats, normal: Normal
) -> list[float]:
    """Return what is expected; where that is rare beside the partner, something more likely."""
    column = counts.plan.used[k]
    if column.partner is None or k not in counts.slices or not column.edges:
        return list(map(float, expected))
    at = np.searchsorted(column.edges, expected, side="right")
    rare = counts.slices[k].surprise[codes[column.partner], at] >= USUAL
    place = int(np.searchsorted(counts.plan.numbers, k))
    quantiles = normal.summary.quantiles[:, place]
    bins = np.searchsorted(column.edges, quantiles, side="right")
    inside = [quantiles[bins == code] for code in range(len(column.edges) + 1)]
    middles = np.array([np.median(each) if len(each) else np.nan for each in inside])
    likely = middles[np.minimum(_most_likely(counts, k, codes, len(expected)), len(column.edges))]
    likely = np.array([as_read(value) for value in likely.tolist()])
    return list(map(float, np.where(rare & ~np.isnan(likely), likely, expected)))


def _most_likely(counts: TableCounts, k: int, codes: list[Integers], rows: int) -> Integers:
    """Return the most frequent code of a column beside what its partner is in each row."""
    column = counts.plan.used[k]
    known = len(column.frequent) or len(column.edges) + 1
    if column.partner is None or k not in counts.slices:
        return np.zeros(rows, dtype=np.int64)  # the most frequent comes first
    return np.asarray(counts.slices[k].counts[:, :known].argmax(axis=1)[codes[column.partner]])
