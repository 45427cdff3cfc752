"""Tables as text: a line per row, cells between separators."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

from refold.base.needs import needs
from refold.tabular.cells import kind_of
from refold.tabular.dialect import guess
from refold.tabular.errors import InputError
from refold.tabular.table import Block, Table
from refold.tabular.text import Lines

Where = Callable[[int], str]


class DelimitedTable(Table):
    """CSV and its relatives.

    Text without quotes is cut by Arrow, a block at a time. Where there are quotes, Python's reader
    goes record by record and counts the lines; it also finds the line to blame when Arrow cannot
    cut a block.
    """

    def __init__(
        self,
        stream: IO[bytes],
        name: str,
        *,
        header: bool,
        delimiter: str | None,
        decimal: str | None,
        say: Callable[[str], None],
    ) -> None:
        self.name, self._stream = name, stream
        self._lines = Lines(stream, name, say)
        if not self._lines.fill() or not self._skip_blank():
            raise InputError(f"{name} is empty.")
        self._dialect = guess(self._lines.peek(), delimiter, decimal)
        self.decimal, self.format = self._dialect.decimal, f"CSV, {self._dialect}"
        self._reader = csv.reader(
            self._lines, delimiter=self._dialect.delimiter, skipinitialspace=True, strict=True
        )
        self.names = self._header() if header else self._numbered()
        self._check_names()

    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[Block]:
        """Read the rows in their order; only some columns if they are named."""
        wanted = [k for k, name in enumerate(self.names) if columns is None or name in columns]
        first = 1
        while self._lines.fill():
            cells, rows, where = self._plain_block() or self._quoted_block()
            if rows:
                yield Block(first, {self.names[k]: cells[k] for k in wanted}, rows, where)
                first += rows

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def _skip_blank(self) -> bool:
        """Go to the first line that has something in it; it is still to be read."""
        while self._lines.fill():
            if self._lines.peek_line().strip():
                return True
            next(self._lines)
        return False

    def _header(self) -> list[str]:
        line = self._lines.number + 1
        names = [name.strip() for name in self._record()]
        if all(kind_of(name, self.decimal) == "number" for name in names):
            raise InputError(
                f"{self.name}, line {line}: the names of the columns are all numbers. If there are "
                "no names in this file, say --no-header; columns are then called c1, c2, …"
            )
        self.unnamed = [f"unnamed {k}" for k, name in enumerate(names, 1) if not name]
        return [name or f"unnamed {k}" for k, name in enumerate(names, 1)]

    def _numbered(self) -> list[str]:
        (row,) = csv.reader([self._lines.peek_line()], delimiter=self._dialect.delimiter)
        return [f"c{number}" for number in range(1, len(row) + 1)]

    def _plain_block(self) -> tuple[list[Any], int, Where] | None:
        """Let Arrow cut what is at hand; None if it has quotes, or rows that do not fit."""
        text = self._lines.peek()
        if '"' in text:
            return None
        pa, arrow = needs("pyarrow", "cli"), needs("pyarrow.csv", "cli")
        raw = text.encode()
        numbers = [str(k) for k in range(len(self.names))]
        try:
            table = arrow.read_csv(
                io.BytesIO(raw),
                read_options=arrow.ReadOptions(column_names=numbers, block_size=len(raw) + 1),
                parse_options=arrow.ParseOptions(
                    delimiter=self._dialect.delimiter, quote_char=False, double_quote=False
                ),
                convert_options=arrow.ConvertOptions(
                    column_types=dict.fromkeys(numbers, pa.string()), strings_can_be_null=False
                ),
            )
        except pa.ArrowInvalid:
            return None
        before = self._lines.number + 1
        self._lines.take()

        def where(k: int) -> str:
            full = (number for number, line in enumerate(text.split("\n"), before) if line)
            return f"line {next(itertools.islice(full, k, None))}"

        return [table.column(k).combine_chunks() for k in numbers], table.num_rows, where

    def _quoted_block(self) -> tuple[list[Any], int, Where]:
        """Read record by record what is at hand; the last one may need more."""
        pa = needs("pyarrow", "cli")
        rows: list[list[str]] = []
        begins: list[int] = []
        while self._lines.at_hand():
            line = self._lines.number + 1
            row = self._record()
            if not row:
                continue  # an empty line
            if len(row) != len(self.names):
                raise InputError(
                    f"{self.name}, line {line}: the number of cells is {len(row)}, in the first "
                    f"line it is {len(self.names)} (separated by {self._dialect.separator})."
                )
            rows.append(row)
            begins.append(line)
        columns = zip(*rows, strict=True) if rows else [()] * len(self.names)
        cells = [pa.array(column, pa.string()) for column in columns]
        return cells, len(rows), lambda k: f"line {begins[k]}"

    def _record(self) -> list[str]:
        line = self._lines.number + 1
        try:
            return next(self._reader)
        except csv.Error as error:
            raise InputError(
                f"{self.name}, line {line}: the quotes are not right ({error}). A quote that opens "
                'a cell must be closed, and one within quotes is written twice: "".'
            ) from None
