"""Tables that are kept while the page is open, and their rows in the order of a column."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.app.jobs import Job
from refold.app.reading import TableFile, as_control
from refold.base.errors import UserError
from refold.base.findings import Finding
from refold.base.needs import needs
from refold.columns.conversion import texts_of_arrow, to_table
from refold.columns.missing import SourceFormat
from refold.columns.number_form import NumberForm
from refold.columns.table import CellState, Column, NumberColumn, Table, TextColumn
from refold.tabular import InputError, Training, TrainingSelection, open_table, read_training
from refold.tabular.files import is_text_file

_KEPT = 8  # columns whose order is kept: somebody goes through pages, and tries another column
_LOOKED_AT = 100
# What can be read comes first, what is missing last.
_LAST = np.zeros(3, dtype=np.int64)
_LAST[[CellState.READABLE, CellState.UNREADABLE, CellState.MISSING]] = 0, 1, 2


@dataclass(frozen=True, eq=False)
class SortKey:
    """By what rows are sorted."""

    values: Floats  # (n,): the smaller, the earlier
    # (n,): 0 where there is a value; others come after all values, in either direction.
    last: Integers

    @classmethod
    def of(cls, values: Floats) -> SortKey:
        """Sort by numbers; NaN is missing."""
        return cls(values, np.isnan(values).astype(np.int64))

    def order(self, rows: Integers, *, down: bool) -> Integers:
        """Return rows in their order; those that are alike stay as they are."""
        values = self.values[rows]
        return rows[np.lexsort((-values if down else values, self.last[rows]))]


class SortKeys:
    """The keys of columns, made when one is first asked for; the last ones are kept."""

    def __init__(self) -> None:
        self._made, self._lock = dict[int, SortKey](), threading.Lock()

    def get(self, place: int, make: Callable[[int], SortKey]) -> SortKey:
        """Return the key of the column at a place; `make` makes it if need be."""
        with self._lock:  # of two that ask at once, one waits for what the other makes
            key = self._made.pop(place, None) or make(place)
            self._made[place] = key
            if len(self._made) > _KEPT:
                del self._made[next(iter(self._made))]
            return key


def key_of(column: Column) -> SortKey:
    """Return by what a column that was parsed sorts rows."""
    if isinstance(column.raw, NumberColumn):
        return SortKey.of(column.raw.values)
    if isinstance(column, TextColumn):
        return _of_texts(column)
    values = column.values if isinstance(column, NumberColumn) else column.seconds
    return SortKey(values, _LAST[column.state])


def _of_texts(texts: TextColumn) -> SortKey:
    numbers = _all_numbers(texts)
    ranks = _ranks(texts) if numbers is None else numbers
    return SortKey.of(np.append(ranks, np.nan)[texts.codes])


def _all_numbers(texts: TextColumn) -> Floats | None:
    """Return texts that are all numbers, such as names that count, as these."""
    form = NumberForm()
    if np.isnan(form.read(texts.values[:_LOOKED_AT])).any():
        return None
    values = form.read(texts.values)
    return None if np.isnan(values).any() else values


def _ranks(texts: TextColumn) -> Floats:
    """Return the places of texts among each other; capital letters are as small ones."""
    folded = [text.casefold() for text in texts.values]
    place = {text: float(k) for k, text in enumerate(sorted(set(folded)))}
    return np.array([place[text] for text in folded])


MOST_CELLS = 30_000_000
_VALUES = 12  # a column with more different values does not say which rows are normal


@dataclass(frozen=True, eq=False)
class KeptTable:
    """A table that somebody has opened."""

    name: str  # what it is called
    format: str  # how it is written, in words
    notes: tuple[str, ...]  # what was said while it was read
    training: Training  # all its rows and columns
    file: TableFile | None = None  # what it was read from; None if it is a part of another one

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.training.table.num_rows)

    @property
    def columns(self) -> list[str]:
        """What the columns are called."""
        return list(self.training.table.column_names)

    @property
    def nested(self) -> list[str]:
        """Columns of lists or records, of which nothing can be learned."""
        nested = needs("pyarrow", "app").types.is_nested
        return [field.name for field in self.training.table.schema if nested(field.type)]

    @cached_property
    def targets(self) -> dict[str, dict[str, int]]:
        """Columns with few different values, and how many rows have each."""
        found = {name: self._values(name) for name in self.columns}
        return {name: values for name, values in found.items() if 2 <= len(values) <= _VALUES}

    def _values(self, name: str) -> dict[str, int]:
        column = self.training.table[name]
        compute = needs("pyarrow.compute", "app")
        if compute.count_distinct(column).as_py() > _VALUES:
            return {}
        counted = self._texts(name).value_counts().to_pylist()
        named = {each["values"]: each["counts"] for each in counted if each["values"] is not None}
        return dict(sorted(named.items(), key=lambda each: -each[1]))

    def _texts(self, name: str) -> Any:
        pa = needs("pyarrow", "app")
        column = self.training.table[name]
        try:
            return column.cast(pa.string())
        except pa.ArrowException:  # a list in a cell is no value to choose by
            return pa.chunked_array([pa.nulls(len(column), pa.string())])

    @cached_property
    def table(self) -> Table:
        """All columns; what cannot be learned, such as lists, as texts or gaps."""
        written = SourceFormat.of_metadata(self.training.table.schema.metadata)
        columns = [self._column(name) for name in self.columns]
        return Table(self.columns, columns, self.rows, written=written)

    def _column(self, name: str) -> Column:
        try:
            return self.learnable(name)
        except UserError:
            return texts_of_arrow(self._texts(name))

    def learnable(self, name: str) -> Column:
        """Return a column; refuse one that cannot be learned."""
        return to_table(self.training.table.select([name])).columns[0]

    def written(self, rows: Integers, columns: Sequence[int]) -> list[list[str]]:
        """Return some cells as people read them, row by row; a missing one is empty."""
        if not columns:
            return [[] for _ in rows]
        table = self.training.table.select(list(columns)).take(rows)
        cells = (column.to_pylist() for column in table.columns)
        return [
            ["" if cell is None else str(cell) for cell in row] for row in zip(*cells, strict=True)
        ]

    def names_of(self, column: str, rows: Integers) -> list[str]:
        """Return what a column calls some rows; the number of the row where there is nothing."""
        numbers = self.training.numbers[rows].tolist()
        if column not in self.columns:
            return [f"{number:,}" for number in numbers]
        cells = self._texts(column).take(rows).to_pylist()
        return [cell or f"{number:,}" for cell, number in zip(cells, numbers, strict=True)]

    def having(self, column: str, value: str) -> Booleans:
        """Say which rows have a value in a column."""
        equal = needs("pyarrow.compute", "app").equal(self._texts(column), value)
        return np.asarray(equal.fill_null(False))

    def containing(self, text: str) -> Booleans:
        """Say which rows have a text in one of their cells, in small letters or large ones."""
        found = np.zeros(self.rows, dtype=np.bool_)
        match = needs("pyarrow.compute", "app").match_substring
        for name in self.columns:
            here = match(self._texts(name), text, ignore_case=True)
            found |= np.asarray(here.fill_null(False))
        return found

    def only(self, chosen: Booleans, name: str) -> KeptTable:
        """Return some of the rows, under another name; they are still found where they are."""
        return KeptTable(name, self.format, (), self.training.only(chosen))


def read_kept(file: TableFile, job: Job, *, most: int = MOST_CELLS) -> KeptTable:
    """Read all of a file; messages call it as people do. `job` is told how far it has come.

    Raises
    ------
    InputError
        If it is none of the formats that are known, is broken, or has too many cells.
    """
    name, notes, read = file.name, list[Finding](), 0
    job.file = file
    try:
        with open_table(file.path, say=notes.append, **file.options()) as table:
            job.file = opened = file.opened(table)
            job.total = table.rows or (_lines(file.path) if is_text_file(file.path) else 0)

            def counted(rows: int) -> None:
                nonlocal read
                read += rows
                if read * len(table.names) > most:
                    raise InputError(
                        f"{name} has more than {most:,} cells, which is too large for this page. "
                        "Take some of its rows; the commands refold fit and refold score have no "
                        "such limit."
                    )
                job.count(rows)

            training = read_training(table, TrainingSelection(whole=True), counted)
            said = tuple(_named(note.render(as_control), file) for note in notes)
            return KeptTable(name, table.format, said, training, opened)
    except InputError as error:
        raise InputError(_named(error.args[0], file), advice=error.advice) from None


def _lines(path: Path) -> int:
    """Return how many lines a file has, about as many as rows."""
    with path.open("rb") as file:
        return sum(part.count(b"\n") for part in iter(lambda: file.read(2**20), b""))


def _named(sentence: str, file: TableFile) -> str:
    """Return a sentence about a file as one about what people call it."""
    return sentence.replace(str(file.path), file.name)
