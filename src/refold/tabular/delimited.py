"""Tables as text: a line per row, cells between separators."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator
from typing import IO

from refold.base.needs import needs
from refold.tabular.cells import kind_of
from refold.tabular.dialect import guess, records
from refold.tabular.errors import InputError
from refold.tabular.plain import PlainReader, whole
from refold.tabular.table import Asked, Block, FileTable, How, checked_names
from refold.tabular.text import Lines


class DelimitedTable(FileTable):
    """CSV and its relatives.

    Text whose quotes stand around whole cells is decoded by Arrow, a block at a time, columns of
    plain numbers right into numbers. For all else Python's reader goes record by record and counts
    the lines; it also finds the line to blame when Arrow cannot cut a block.
    """

    def __init__(self, stream: IO[bytes], source: str, how: How) -> None:
        super().__init__(stream, source, how)
        self._lines = Lines(stream, self.name, how.say)
        if not self._skip_blank():
            raise InputError(f"{self.name} is empty.")
        self._dialect = guess(self._lines.peek().text, how.delimiter, how.decimal)
        self._decimal, self.format = self._dialect.decimal, f"CSV, {self._dialect}"
        self._records = records(self._lines, self._dialect.delimiter, strict=True)
        names = checked_names(self._header() if how.header else self._numbered(), self.name)
        self.kinds = dict.fromkeys(names, needs("pyarrow", "parquet").string())

    @staticmethod
    def recognizes(head: bytes) -> bool:
        """Any file may be text."""
        return True

    def _blocks(self, wanted: list[str], asked: Asked) -> Iterator[Block]:
        plain = PlainReader(self.names, wanted, asked.numbers, asked.nulls, self._dialect)
        if plain.forgetful:
            self._lines.make_ahead(plain.read)
        first = 1
        while self._lines.fill():
            block = self._plain_block(plain, first)
            if block is None:
                block = self._careful_block(wanted, asked.nulls, first)
                plain.learn(block.columns)
            if block.rows:
                yield block
                first += block.rows

    def _skip_blank(self) -> bool:
        """Go to the first line that has something in it; it is still to be read."""
        while self._lines.fill():
            if self._lines.peek_line().strip():
                return True
            next(self._lines)
        return False

    def _header(self) -> list[str]:
        line = self._lines.number + 1
        names = [name.strip() for name in self._record(self._records)]
        if all(kind_of(name, self._decimal) == "number" for name in names):
            raise InputError(
                f"{self.name}, line {line}: the names of the columns are all numbers. If there are "
                "no names in this file, say --no-header; columns are then called x0, x1, …"
            )
        self.unnamed = [f"unnamed {k}" for k, name in enumerate(names, 1) if not name]
        return [name or f"unnamed {k}" for k, name in enumerate(names, 1)]

    def _numbered(self) -> list[str]:
        row = self._record(records([self._lines.peek_line()], self._dialect.delimiter))
        return [f"x{number}" for number in range(len(row))]

    def _plain_block(self, plain: PlainReader, first: int) -> Block | None:
        """Let Arrow decode what is at hand; None if it cannot."""
        part = self._lines.peek()
        table = plain.read(part.text) if part.made is None else part.made
        if table is None:
            return None
        before = self._lines.number + 1
        self._lines.skip(part)
        blank = part.text if part.lines > table.num_rows else None  # else no need to keep it

        def where(k: int) -> str:
            if blank is None:
                return f"line {before + k}"
            full = (number for number, line in enumerate(blank.split(b"\n"), before) if line)
            return f"line {next(itertools.islice(full, k, None))}"

        columns = dict(zip(table.column_names, map(whole, table.columns), strict=True))
        return Block(first, columns, table.num_rows, where, self.name, self._decimal)

    def _careful_block(self, wanted: list[str], nulls: bool, first: int) -> Block:
        """Read record by record what is at hand; the last one may need more."""
        pa = needs("pyarrow", "parquet")
        rows: list[list[str]] = []
        begins: list[int] = []
        while self._lines.at_hand():
            line = self._lines.number + 1
            row = self._record(self._records)
            if not row:
                continue  # an empty line
            if len(row) != len(self.kinds):
                raise InputError(
                    f"{self.name}, line {line}: the number of cells is {len(row)}, in the first "
                    f"line it is {len(self.kinds)} (separated by {self._dialect.separator})."
                )
            rows.append(row)
            begins.append(line)
        cells = dict(zip(self.kinds, zip(*rows, strict=True), strict=True)) if rows else {}
        columns = {name: pa.array(cells.get(name, ()), pa.string()) for name in wanted}

        def where(k: int) -> str:
            return f"line {begins[k]}"

        block = Block(first, columns, len(rows), where, self.name, self._decimal)
        return block.without_missing() if nulls else block

    def _record(self, reader: Iterator[list[str]]) -> list[str]:
        line = self._lines.number + 1
        try:
            return next(reader)
        except csv.Error as error:
            problem = (
                f"the quotes are not right ({error}). A quote that opens a cell must be closed, "
                'and one within quotes is written twice: "".'
            )
            if "field limit" in str(error):
                problem = (
                    f"a cell has more than {csv.field_size_limit():,} characters. Is a quote not "
                    "closed?"
                )
            raise InputError(f"{self.name}, line {line}: {problem}") from None
