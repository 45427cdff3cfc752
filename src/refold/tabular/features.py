"""Columns of a table as the numbers that a model sees, and which of them hold numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from refold._typing import Floats
from refold.columns.frames import float_values, is_number, is_text, type_text
from refold.columns.missing import is_missing
from refold.tabular import _cell_text
from refold.tabular._layout import is_moment
from refold.tabular.block import Block
from refold.tabular.errors import InputError, cell_repr, listed
from refold.tabular.table_source import TableSource

# What is wrong with the first cell of a row that is no number: its column, and a sentence.
BadCells = dict[int, tuple[str, str]]
LOOKED_AT = 1000  # rows that say whether a column is text


def not_numbers(block: Block, names: Sequence[str]) -> dict[str, str]:
    """Say what those columns hold that do not hold numbers, but for a few cells."""
    found = ((name, _not_numbers(block, name)) for name in names)
    return {name: problem for name, problem in found if problem}


def _not_numbers(block: Block, name: str) -> str | None:
    column = block.columns[name]
    if is_number(column.type):
        return None
    if not is_text(column.type):
        return type_text(column.type)
    texts, decimal = block.numerals(name)
    observed = [
        (k, cell)
        for k, cell in enumerate(texts[:LOOKED_AT].to_pylist())
        if cell is not None and not is_missing(cell)
    ]
    odd = [(k, cell) for k, cell in observed if _cell_text.cell_kind(cell, decimal) is None]
    infinite = sum(cell.strip().lower().lstrip("+-").startswith("inf") for _, cell in odd)
    if 2 * (len(odd) - infinite) <= len(observed):
        return None
    k, cell = odd[0][0], odd[0][1].strip()
    what = "dates or times" if is_moment(cell) else "text"
    return f"{what}, for example {cell_repr(cell)} in {block.where(k)}"


class Column:
    """One column, read as numbers block by block."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._file: str | None = None
        self._kind: _cell_text.Kind | None = None  # what its cells hold, if the file is text

    def numbers(self, block: Block, bad: BadCells | None = None) -> Floats:
        """Return its numbers, NaN where one is missing; refuse a cell that is none.

        If there are `bad` cells to be noted, it is noted instead, and NaN.
        """
        if block.file != self._file:
            self._file, self._kind = block.file, None
        column = block.columns[self.name]
        try:
            if is_number(column.type):
                return self._finite(column)
            return self._read(*block.numerals(self.name))
        except _cell_text.BadCellError as error:
            if bad is not None:
                return self._noting(block, bad)
            where = f"{block.file}, {block.where(error.index)}, column {self.name!r}"
            raise InputError(f"{where}: {error.problem}.", advice=error.advice) from None

    def _read(self, texts: Any, decimal: str) -> Floats:
        if self._kind is None and (known := _cell_text.first_known(texts)):
            self._kind = _cell_text.cell_kind(known[1], decimal)
        return (
            _cell_text.column_truths(texts)
            if self._kind == "truth"
            else _cell_text.column_numbers(texts, decimal)
        )

    def _noting(self, block: Block, bad: BadCells) -> Floats:
        column = block.columns[self.name]
        if is_number(column.type):
            values = float_values(column)
            infinite = np.isinf(values)
            problems = {
                row: f"{values[row]} is not a finite number"
                for row in np.flatnonzero(infinite).tolist()
            }
            values = np.where(infinite, np.nan, values)
        else:
            texts, decimal = block.numerals(self.name)
            values, problems = _cell_text.readable_cells(texts, decimal, self._kind or "number")
        for row, problem in problems.items():
            bad.setdefault(row, (self.name, problem))
        return values

    def _finite(self, column: Any) -> Floats:
        if column.null_count < len(column):
            self._kind = "number"  # should the next block come as text
        values = float_values(column)
        if (infinite := np.isinf(values)).any():
            index = int(infinite.argmax())
            raise _cell_text.BadCellError(index, f"{values[index]} is not a finite number")
        return values


class Features:
    """How the columns of a table become the features of a model.

    Columns are found by name, in any order; others do not matter.
    """

    def __init__(self, names: Sequence[str], table: TableSource) -> None:
        self.columns = list(names)
        if absent := [name for name in names if name not in table.kinds]:
            raise InputError(
                f"{table.name}: there is no column {listed(absent)}, which the model needs. "
                f"The table has {listed(table.names)}."
            )
        self._readers = [Column(name) for name in names]

    def matrix(self, block: Block, bad: BadCells | None = None) -> Floats:
        """Return the rows of a block as the model wants them; refuse or note what is no number."""
        X = np.empty((block.rows, len(self._readers)), order="F")
        for place, reader in enumerate(self._readers):
            X[:, place] = reader.numbers(block, bad)
        return X
