"""What is odd about a cell, in words: a sentence that begins behind the column's name and value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import nan

from refold._typing import Booleans, Floats, Integers
from refold.columns.encoding import dates, texts
from refold.columns.encoding.beside_words import beside_words
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.date_words import cannot_be_read, date_words, never_or
from refold.columns.encoding.dates import DateCounts
from refold.columns.encoding.surprise import USUAL
from refold.columns.encoding.text_words import text_words, usual_text
from refold.columns.encoding.texts import TextCounts
from refold.columns.table import CellState, DateColumn, NumberColumn, Table, TextColumn, as_texts

# A date so much of the whole span before or after all others is that first of all.
_RANGE, _BEYOND = dates.VIEWS.index("range"), 0.05


@dataclass(frozen=True)
class Said:
    """What is said of a cell.

    Parameters
    ----------
    view : str
        In which respect it is odd: one of the views of its column, "unseen" (a value that
        training has not), "missing", "unreadable" or "beside"; empty if it is usual.
    words : str
        The sentence behind the column's name and the value; may be empty.
    surprise : float
        How surprising the cell is by itself, in the respect in which it is most.
    beside : int or None
        The column that it is odd beside.
    """

    view: str
    words: str
    surprise: float
    beside: int | None = None


class CellWords:
    """Says what is odd about the cells of some rows.

    Parameters
    ----------
    counts : TableCounts
        What is known of the columns.
    table : Table
        The rows.
    magnitudes : ndarray of shape (n, d)
        How surprising the cells are; of a table of numbers alone there is none.
    novel : ndarray of bool, shape (n, d)
        Which cells hold what a column that seemed closed never had.
    """

    def __init__(
        self, counts: TableCounts, table: Table, magnitudes: Floats, novel: Booleans
    ) -> None:
        self._counts, self._magnitudes, self._novel = counts, magnitudes, novel
        self._cells = counts.plan.parse(table).columns
        self._written: dict[int, TextColumn] = {}
        self._views: dict[int, Floats] = {}

    def value(self, row: int, column: int) -> float | str:
        """Return a cell: a number as such, else the text that was written; NaN if missing."""
        cells = self._cells[column]
        if isinstance(cells, NumberColumn) and not cells.unreadable[row]:
            return float(cells.values[row])
        if column not in self._written:
            self._written[column] = as_texts(cells)
        text = self._written[column].text(row)
        return nan if text is None else text

    def said(self, row: int, column: int) -> Said:
        """Return what is odd about a cell."""
        state = int(self._cells[column].state[row])
        if state == CellState.MISSING:
            return Said("missing", self._missing(column), self._surprise(row, column))
        if state == CellState.UNREADABLE:
            return Said("unreadable", self._unreadable(row, column), self._surprise(row, column))
        view, alone = self._leading(row, column)
        beside = self._surprise(row, column) - alone
        unseen = self._unseen(row, column)
        if self._novel[row, column]:
            return Said("unseen", self._odd(row, column, "value"), alone)
        if view == "range":
            return Said(view, self._odd(row, column, view), alone)
        if beside > max(alone, USUAL) and not (unseen and alone >= USUAL):
            return self._beside(row, column, alone)
        if alone < USUAL:
            return Said("", self._not_odd(row, column), alone)
        named = "unseen" if unseen and view == "value" else view
        return Said(named, self._odd(row, column, view), alone)

    def _surprise(self, row: int, column: int) -> float:
        return float(self._magnitudes[row, column]) if self._magnitudes.shape[1] else 0.0

    def _leading(self, row: int, column: int) -> tuple[str, float]:
        """Return the view in which a cell is most surprising, and how much."""
        cells = self._cells[column]
        if isinstance(cells, NumberColumn):
            return "value", self._surprise(row, column) - self._dependence(row, column)
        if column not in self._views:
            self._views[column] = self._counts.views(column, cells)
        views = self._views[column][row]
        names = dates.VIEWS if isinstance(cells, DateColumn) else texts.VIEWS
        if isinstance(cells, DateColumn) and views[_RANGE] > _BEYOND:
            return dates.VIEWS[_RANGE], float(views.max())
        return names[int(views.argmax())], float(views.max())

    def _unseen(self, row: int, column: int) -> bool:
        """Whether a text was never seen: that is odder than where it is."""
        cells, counts = self._cells[column], self._counts.others.get(column)
        if not isinstance(cells, TextColumn) or not isinstance(counts, TextCounts):
            return False
        return counts.values.counts.get(cells.values[int(cells.codes[row])], 0) == 0

    def _dependence(self, row: int, column: int) -> float:
        partner = self._counts.plan.used[column].partner
        if partner is None or column not in self._counts.slices:
            return 0.0
        codes = self._codes[partner][row], self._codes[column][row]
        return float(self._counts.slices[column].surprise[codes])

    @cached_property
    def _codes(self) -> list[Integers]:
        return self._counts.plan.codes(self._cells)

    def _beside(self, row: int, column: int, alone: float) -> Said:
        partner = self._counts.plan.used[column].partner
        assert partner is not None
        own, other = int(self._codes[column][row]), int(self._codes[partner][row])
        return Said("beside", beside_words(self._counts, column, own, other), alone, partner)

    def _odd(self, row: int, column: int, view: str) -> str:
        cells, counts = self._cells[column], self._counts.others.get(column)
        if isinstance(cells, TextColumn) and isinstance(counts, TextCounts):
            return text_words(counts, view, cells.values[int(cells.codes[row])])
        if isinstance(cells, DateColumn) and isinstance(counts, DateCounts):
            return date_words(counts, view, cells, row)
        return ""  # of a number its range says more

    def _not_odd(self, row: int, column: int) -> str:
        cells, counts = self._cells[column], self._counts.others.get(column)
        if isinstance(cells, TextColumn) and isinstance(counts, TextCounts):
            return usual_text(counts, cells.values[int(cells.codes[row])])
        return "is usual by itself" if isinstance(cells, DateColumn) else ""

    def _missing(self, column: int) -> str:
        times = int(self._counts.states(column)[CellState.MISSING])
        if times == 0:
            return "it never was in training"
        return f"so {'was' if times == 1 else 'were'} {times:,} of {self._counts.rows:,} rows"

    def _unreadable(self, row: int, column: int) -> str:
        cells, counts = self._cells[column], self._counts.others.get(column)
        if isinstance(cells, DateColumn) and isinstance(counts, DateCounts):
            return cannot_be_read(counts, cells, row)
        times = int(self._counts.states(column)[CellState.UNREADABLE])
        return f"is not a number; {never_or(times, self._counts.rows)}"
