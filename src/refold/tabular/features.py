"""Columns of a table as the numbers that a model sees, and which of them hold numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refold._typing import Floats
from refold.base.needs import needs
from refold.columns.frames import described, floats, is_number, is_text
from refold.columns.missing import is_missing
from refold.tabular import _cells
from refold.tabular._block import Block
from refold.tabular._layout import is_moment
from refold.tabular.errors import InputError, cell_repr, listed
from refold.tabular.table import TableSource

LOOKED_AT = 1000  # rows that say whether a column is text


def no_name(table: TableSource) -> str:
    """Say which column of a table has no name: the beginning of an error."""
    number = table.names.index(table.unnamed[0]) + 1
    return f"{table.name}: column {number} has no name. If it only numbers the rows,"


def not_numbers(block: Block, names: Sequence[str]) -> dict[str, str]:
    """Say what those columns hold that do not hold numbers, but for a few _cells."""
    found = ((name, _not_numbers(block, name)) for name in names)
    return {name: problem for name, problem in found if problem}


def _not_numbers(block: Block, name: str) -> str | None:
    column = block.columns[name]
    if is_number(column.type):
        return None
    if not is_text(column.type):
        return described(column.type)
    texts, decimal = block.numerals(name)
    observed = [
        (k, cell)
        for k, cell in enumerate(texts[:LOOKED_AT].to_pylist())
        if cell is not None and not is_missing(cell)
    ]
    odd = [(k, cell) for k, cell in observed if _cells.kind_of(cell, decimal) is None]
    infinite = sum(cell.strip().lower().lstrip("+-").startswith("inf") for _, cell in odd)
    if 2 * (len(odd) - infinite) <= len(observed):
        return None
    k, cell = odd[0][0], odd[0][1].strip()
    what = "dates or times" if is_moment(cell) else "text"
    return f"{what}, for example {cell_repr(cell)} in {block.where(k)}"


# Between a column's name and a category of it; and the category of what training has not seen.
EQUALS, OTHER = "=", "(other)"


def texts_of(column: Any) -> Any:
    """Return an Arrow column as text; numbers as they are written."""
    return column.cast(needs("pyarrow", "parquet").string())


class Column:
    r"""One column, read as numbers block by block.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refold.tabular import Column, open_table
    >>> file = Path(tempfile.mkdtemp()) / "parts.csv"
    >>> _ = file.write_text("part,torque\n007,75.1\n008,74.9\n")
    >>> with open_table(file) as table:
    ...     [Column("torque").numbers(block) for block in table.blocks()]
    [array([75.1, 74.9])]
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._file: str | None = None
        self._kind: _cells.Kind | None = None  # what its cells hold, if the file is text

    def numbers(self, block: Block, unreadable: _cells.Unreadable | None = None) -> Floats:
        """Return its numbers, NaN where one is missing.

        A cell that is none is an error, or, if there is `unreadable` to be told of it (its number
        in the block from 0, and what is in it), missing.
        """
        if block.file != self._file:
            self._file, self._kind = block.file, None
        column = block.columns[self.name]
        try:
            if is_number(column.type):
                return self._finite(column, unreadable)
            return self._read(*block.numerals(self.name), unreadable)
        except _cells.BadCellError as error:
            where = f"{block.file}, {block.where(error.index)}, column {self.name!r}"
            raise InputError(f"{where}: {error.problem}.", advice=error.advice) from None

    def _read(self, texts: Any, decimal: str, unreadable: _cells.Unreadable | None) -> Floats:
        if self._kind is None and (known := _cells.first_known(texts)):
            self._kind = _cells.kind_of(known[1], decimal)
        if self._kind == "truth":
            return _cells.truths(texts, unreadable)
        return _cells.numbers(texts, decimal, unreadable)

    def _finite(self, column: Any, unreadable: _cells.Unreadable | None) -> Floats:
        if column.null_count < len(column):
            self._kind = "number"  # should the next block come as text
        values = floats(column)
        infinite = np.isinf(values)
        if unreadable is not None and infinite.any():
            values = np.where(infinite, np.nan, values)
            for index in np.flatnonzero(infinite).tolist():
                unreadable(index, str(column[index].as_py()))
        elif infinite.any():
            index = int(infinite.argmax())
            raise _cells.BadCellError(index, f"{values[index]} is not a finite number")
        return values


@dataclass(frozen=True)
class Category:
    """A column of categories: a feature for each that was learned, and one for all others."""

    column: str
    known: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The names of its features."""
        return [f"{self.column}{EQUALS}{category}" for category in (*self.known, OTHER)]

    def numbers(self, texts: Any) -> Floats:
        """Return 1 for a row's category and 0 for the others; NaN where it is missing."""
        coded = texts.dictionary_encode()
        place = {word: k for k, word in enumerate(self.known)}
        other, missing = len(self.known), -1
        places = [
            missing if is_missing(word) else place.get(word.strip(), other)
            for word in coded.dictionary.to_pylist()
        ]
        # A null has no code: it takes the last place of all, that of missing values.
        codes = coded.indices.fill_null(len(places)).to_numpy(zero_copy_only=False)
        at = np.array([*places, missing])[codes]
        X = np.zeros((len(at), other + 1))
        X[np.arange(len(at)), at] = 1.0
        X[at == missing] = np.nan
        return X


class Features:
    r"""How the columns of a table become the features of a model.

    Columns are found by name, in any order; others do not matter. A model that has a feature
    ``machine=(other)`` was trained with a column ``machine`` of categories.

    Parameters
    ----------
    names : sequence of str
        The model's features.
    table : TableSource
        What is to be judged.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refold.tabular import Features, open_table
    >>> file = Path(tempfile.mkdtemp()) / "parts.csv"
    >>> _ = file.write_text("part,torque\n007,75.1\n008,74.9\n")
    >>> with open_table(file) as table:
    ...     features = Features(["torque"], table)
    ...     [features.matrix(block).shape for block in table.blocks()]
    [(2, 1)]
    """

    def __init__(self, names: Sequence[str], table: TableSource) -> None:
        self.names = list(names)
        present = table.kinds
        suffix = EQUALS + OTHER
        categorical = {name.removesuffix(suffix) for name in self.names if name.endswith(suffix)}
        self._numeric: dict[str, int] = {}
        grouped: dict[str, dict[str, int]] = {}
        absent: dict[str, None] = {}
        for k, name in enumerate(self.names):
            column, _, category = name.partition(EQUALS)
            if name in present:
                self._numeric[name] = k
            elif column in categorical and column in present:
                grouped.setdefault(column, {})[category] = k
            else:
                absent[column if column in categorical else name] = None
        if absent:
            raise InputError(
                f"{table.name}: there is no column {listed(list(absent))}, which the model needs. "
                f"The table has {listed(table.names)}."
            )
        self._columns = [Column(name) for name in self._numeric]
        self._categories = [
            (Category(column, tuple(c for c in places if c != OTHER)), places)
            for column, places in grouped.items()
        ]

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        return [*self._numeric, *(category.column for category, _ in self._categories)]

    @property
    def numeric(self) -> dict[str, int]:
        """The columns that are features as they are, and which."""
        return self._numeric

    def matrix(self, block: Block) -> Floats:
        """Return a block's rows as the model wants them; refuse cells that are no numbers."""
        X = np.empty((block.rows, len(self.names)), order="F")
        for column, place in zip(self._columns, self._numeric.values(), strict=True):
            X[:, place] = column.numbers(block)
        for category, places in self._categories:
            at = [places[c] for c in (*category.known, OTHER)]
            X[:, at] = category.numbers(block.texts(category.column))
        return X
