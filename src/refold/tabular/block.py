"""Blocks of rows, and all of them as one Arrow table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Integers
from refold.base.needs import needs
from refold.columns.frames import is_number, is_text, type_text
from refold.columns.missing import IN_MEMORY, SourceFormat
from refold.columns.number_form import NumberForm
from refold.tabular._cell_text import plain_texts, ungrouped, without_missing
from refold.tabular.errors import InputError

if TYPE_CHECKING:
    from refold.tabular.table_source import TableSource


@dataclass(frozen=True)
class Block:
    """Some rows of a table that follow each other, and where a person finds them."""

    first: int  # the number of its first row; the rows of a table are counted from 1
    # Where the file is text, text, or numbers if these were asked for; else as the file has them.
    columns: dict[str, Any]
    rows: int
    where: Callable[[int], str]  # says where the k-th row is, from 0: "line 18" or "row 17"
    file: str  # what messages call the file that it is from
    decimal: str = "."  # what stands before a fraction in its columns of text
    # Columns of text whose numbers are written otherwise.
    marks: Mapping[str, NumberForm] = field(default_factory=dict)
    written: SourceFormat = IN_MEMORY  # how its texts are written, as far as that is known
    chosen: Integers | None = None  # which rows from the first on these are, from 0; None is all

    @property
    def numbers(self) -> Integers:
        """Which rows of the table these are, counted from 1."""
        return self.first + (np.arange(self.rows) if self.chosen is None else self.chosen)

    def place(self, row: int) -> str:
        """Say where a person finds a row of the block, from 0: "parts.csv, line 18"."""
        return f"{self.file}, {self.where(row)}"

    def only(self, chosen: NDArray[np.bool_]) -> Block:
        """Return some of the rows; errors still find them where they are in the file."""
        places = np.flatnonzero(chosen)
        mask = needs("pyarrow", "parquet").array(chosen)
        return replace(
            self,
            columns={name: column.filter(mask) for name, column in self.columns.items()},
            rows=len(places),
            where=lambda k: self.where(int(places[k])),
            chosen=places if self.chosen is None else self.chosen[places],
        )

    def texts(self, name: str) -> Any:
        """Return a column as text; numbers as they are written."""
        pa = needs("pyarrow", "parquet")
        column = self.columns[name]
        try:
            return column.cast(pa.string())
        except pa.ArrowException:
            raise InputError(
                f"{self.file}: column {name!r} holds {type_text(column.type)}."
            ) from None

    def numerals(self, name: str) -> tuple[Any, str]:
        """Return a column as text without marks between thousands, and its decimal mark."""
        form = self.marks.get(name) or NumberForm(self.decimal)
        return ungrouped(self.texts(name), form), form.decimal

    def select(self, names: Sequence[str]) -> Block:
        """Return some of the columns, in that order."""
        return replace(self, columns={name: self.columns[name] for name in names})

    def with_plain_numbers(self) -> Block:
        """Return the block with the numbers in columns of text as Python writes them."""
        usual = NumberForm(self.decimal)
        columns = {
            name: plain_texts(column, self.marks.get(name, usual))
            if is_text(column.type)
            else column
            for name, column in self.columns.items()
        }
        return replace(self, columns=columns, decimal=".", marks={})

    def without_missing(self) -> Block:
        """Return the block with nulls where words for missing values are in columns of text."""
        cleared = {
            name: without_missing(column, self.written.words) if is_text(column.type) else column
            for name, column in self.columns.items()
        }
        return replace(self, columns=cleared)

    def parts(self, rows: int) -> Iterator[Block]:
        """Cut the block into some of at most so many rows; nothing is copied."""
        if self.rows <= rows:
            yield self
            return
        for begin in range(0, self.rows, rows):
            columns = {name: column.slice(begin, rows) for name, column in self.columns.items()}
            part = replace(
                self,
                columns=columns,
                rows=min(rows, self.rows - begin),
                where=self._from(begin),
            )
            if self.chosen is None:
                yield replace(part, first=self.first + begin)
            else:
                yield replace(part, chosen=self.chosen[begin : begin + rows])

    def _from(self, begin: int) -> Callable[[int], str]:
        return lambda k: self.where(begin + k)


def read_arrow(
    table: TableSource,
    *,
    columns: Iterable[str] | None = None,
    count: Callable[[int], None] = lambda rows: None,
) -> Any:
    r"""Read all rows of a table.

    Parameters
    ----------
    table : TableSource
        Opened by `open_table`, or several `Files`.
    columns : iterable of str or None, default=None
        Which columns to read; None is all.
    count : callable, default: nothing is counted
        Is told how many rows have been read since it was last told.

    Returns
    -------
    pyarrow.Table
        Columns of text files as strings, exactly as they are written; others as their file has
        them. Its metadata tells a `Detector` how that is: which words may say that a value is
        missing, and the marks of numbers. Where files do not agree on a type, numbers are floats,
        and what is text in one of them is text.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refold.tabular import open_table, read_arrow
    >>> file = Path(tempfile.mkdtemp()) / "parts.csv"
    >>> _ = file.write_text("part,torque\n007,75.10\n008,n/a\n")
    >>> with open_table(file) as table:
    ...     read_arrow(table).to_pydict()
    {'part': ['007', '008'], 'torque': ['75.10', 'n/a']}
    """
    blocks = []
    for block in table.blocks(columns):
        blocks.append(block)
        count(block.rows)
    return join_blocks(blocks) if blocks else _empty(table, columns)


def join_blocks(blocks: Sequence[Block]) -> Any:
    """Return the rows of blocks with the same columns as one Arrow table."""
    parts = [block_to_arrow(block) for block in blocks]
    kinds = parts[0].schema
    for block, part in zip(blocks, parts, strict=True):
        if part.schema != kinds:
            kinds = _common(kinds, part.schema, block)
    tables = [
        part if part.schema == kinds else part.select(kinds.names).cast(kinds) for part in parts
    ]
    return needs("pyarrow", "parquet").concat_tables(tables)


def block_to_arrow(block: Block) -> Any:
    """Return the rows of a block as they are written, as an Arrow table."""
    return needs("pyarrow", "parquet").table(block.columns, metadata=block.written.metadata())


def _empty(table: TableSource, columns: Iterable[str] | None) -> Any:
    chosen = table.names if columns is None else set(columns)
    kinds = [(name, kind) for name, kind in table.kinds.items() if name in chosen]
    return needs("pyarrow", "parquet").schema(kinds).empty_table()


def _common(known: Any, here: Any, block: Block) -> Any:
    """Return types that hold what came before and the columns of a block."""
    pa = needs("pyarrow", "parquet")
    fields = []
    for name, before in zip(known.names, known.types, strict=True):
        kind, after = common_type(before, here.field(name).type), here.field(name).type
        if kind is None and all(is_number(k) or is_text(k) for k in (before, after)):
            kind = pa.string()
        if kind is None:
            raise InputError(
                f"{block.file}: column {name!r} holds {after}; in the rows before it held {before}."
            )
        fields.append((name, kind))
    return pa.schema(fields, known.metadata)


def common_type(known: Any, here: Any) -> Any:
    """Return a type that holds both, numbers as floats and nulls as anything; None if none does."""
    pa = needs("pyarrow", "parquet")
    if known == here or pa.types.is_null(here):
        return known
    if pa.types.is_null(known):
        return here
    return pa.float64() if is_number(known) and is_number(here) else None
