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
from refold.columns.encoding.texts import TextCounts
from refold.columns.name_hints import says_code, words
from refold.columns.table import Column, NumberColumn, TextColumn, as_texts
from refold.judgement import Judgement
from refold.judgement.expected import most_likely
from refold.judgement.normal import Normal, normal_of
from refold.models.detector.scorer import TableScorer

_MOST_CHANGES = 3
_NAMES = 0.05  # a category with more values than this share of the rows names what it is of
# Of a number that adds up: it is typical if no more than a quarter of the rows add less.
_TYPICAL = 0.25


def table_changes(found: Judgement) -> list[dict[int, float | str]]:
    """Return for each outlier the changes with which it is normal, by column; none if not found."""
    out: list[dict[int, float | str]] = [{} for _ in range(len(found))]
    outliers = np.flatnonzero(found.outlier)
    if len(outliers) == 0:
        return out
    rows = found.take(outliers)
    other = _Instead.of(rows)
    chosen = other.without_needless(other.enough())
    for place, row in enumerate(outliers.tolist()):
        order = rows.by_blame[place].tolist()
        columns = [k for k in order if chosen[place, k]]
        if not set(columns).isdisjoint(order[:_MOST_CHANGES]):  # else it mends no reason
            out[row] = {k: other.values[k][place] for k in columns}
    return out


@dataclass(frozen=True, eq=False)
class _Instead:
    """What the cells of outliers may be changed to: by column, a value for each row."""

    found: Judgement
    values: dict[int, list[float] | list[str]]

    @classmethod
    def of(cls, found: Judgement) -> _Instead:
        """Look for values that are likely in each row; nobody is told who else a row may be of."""
        assert found.cells is not None
        assert found.judge.encoder is not None
        counts, summary = found.judge.encoder.counts, found.judge.summary
        codes = counts.plan.codes(found.cells.columns)
        values: dict[int, list[float] | list[str]] = {}
        if summary is not None:
            expected = found.expected
            if expected is None:
                expected = _typical(found, counts, normal_of(summary))
            for place, k in enumerate(found.judge.numeric):
                if not names_rows(found.names[k]):
                    values[k] = expected[:, place].tolist()
        for k, column in enumerate(counts.plan.used):
            if column.role == "category" and column.frequent and not _identifies(counts, k):
                values[k] = [
                    column.frequent[c] for c in most_likely(counts, k, codes, len(found)).tolist()
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


def names_rows(name: str) -> bool:
    """Whether a column's name says that its values are names: nobody is told to change these."""
    return says_code(name) and (len(words(name)) > 1 or says_code(f"{name} x"))


def _identifies(counts: TableCounts, k: int) -> bool:
    """Whether the values of a category tell who or what a row is of: a name, few rows each."""
    tally = counts.others[k]
    assert isinstance(tally, TextCounts)
    values = tally.values
    return names_rows(counts.plan.names[k]) or values.distinct > _NAMES * values.rows


def _typical(found: Judgement, counts: TableCounts, normal: Normal) -> Floats:
    """Return a value of each number that adds little: its median, or near it."""
    assert counts.numbers is not None
    quantiles = normal.summary.quantiles
    sizes = counts.numbers.magnitudes(quantiles)
    small = sizes <= np.quantile(sizes, _TYPICAL, axis=0)
    middle = quantiles[len(quantiles) // 2]
    nearest = np.where(small, np.abs(quantiles - middle), np.inf).argmin(axis=0)
    usual = np.broadcast_to(quantiles[nearest, np.arange(len(middle))], found.numbers.shape)
    return normal.short(normal.nearest(usual))
