"""Tables as text: a line per row, cells between separators."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import IO

import numpy as np

from refold._typing import Integers
from refold.base.advice import Advice
from refold.base.needs import needs
from refold.tabular.cells import first_known, kind_of
from refold.tabular.csv_records import QuoteError, Record, record_lines, records
from refold.tabular.dialect import guess, sample
from refold.tabular.errors import InputError, listed, quoted
from refold.tabular.heading import about_repeated, distinct, titles_above, units_below
from refold.tabular.marks import Marks, own_marks
from refold.tabular.plain import PlainReader, whole
from refold.tabular.table import Asked, Block, FileTable, How, checked_names
from refold.tabular.text import LONGEST_LINE, Lines


class DelimitedTable(FileTable):
    """CSV and its relatives.

    Text whose quotes stand around whole cells is decoded by Arrow, a block at a time, columns of
    plain numbers right into numbers. All else is read record by record, with the same cells; this
    also finds the line to blame when Arrow cannot decode a block.
    """

    def __init__(self, stream: IO[bytes], source: str, how: How) -> None:
        super().__init__(stream, source, how)
        self._lines = Lines(stream, self.name, how.say)
        for _ in range(how.skip_rows or 0):
            self._lines.skip_line()
        if not self._skip_blank():
            raise InputError(f"{self.name} is empty.")
        self._dialect = replace(
            guess(self._lines.peek().text, how.delimiter, how.decimal),
            encoding=self._lines.encoding,
        )
        self.dialect = self._dialect
        self._decimal, self.format = self._dialect.decimal, f"CSV, {self._dialect}"
        names = self._header() if how.header else self._numbered()
        # Every column that lines have; one called "" only stands behind the last separator.
        self._columns = checked_names(names, self.name)
        string = needs("pyarrow", "parquet").string()
        self.kinds = {name: string for name in self._columns if name}
        self._marks = self._own_marks()

    @staticmethod
    def recognizes(head: bytes) -> bool:
        """Any file may be text."""
        return True

    def _blocks(self, wanted: list[str], asked: Asked) -> Iterator[Block]:
        read = [*wanted, *(name for name in self._columns if not name)]
        numbers = asked.numbers - self._marks.keys()
        plain = PlainReader(self._columns, read, numbers, asked.nulls, self._dialect)
        if plain.forgetful:
            self._lines.make_ahead(plain.read)
        first = 1
        while self._lines.fill():
            block = self._plain_block(plain, first)
            if block is None:
                block = self._careful_block(read, asked.nulls, first)
                plain.learn(block.columns)
            if "" in block.columns:
                self._require_nothing(block)
            if block.rows:
                yield block
                first += block.rows

    def _skip_blank(self) -> bool:
        """Go to the first line that has something in it; it is still to be read."""
        while self._lines.fill():
            if self._lines.peek_line().strip():
                return True
            self._lines.skip_line()
        return False

    def _header(self) -> list[str]:
        self._skip_titles()
        line = self._lines.number + 1
        names = [name.strip() for name in self._read_record()]
        if all(kind_of(name, self._decimal) == "number" for name in names):
            raise InputError(
                f"{self.name}, line {line}: the names of the columns are all numbers.",
                advice=Advice(
                    "If the file has no names",
                    "header",
                    otherwise="and columns are called x0, x1, …",
                ),
            )
        rows = self._sample()
        if units := units_below(rows, names, self._decimal):
            self._read_record()
            self.units, rows = units, rows[1:]
            self._say("units", "the line below the names of the columns has their units.")
        names, behind = self._without_last(names, rows)
        self.unnamed = [f"unnamed {k}" for k, name in enumerate(names, 1) if not name]
        names, changed = distinct([name or f"unnamed {k}" for k, name in enumerate(names, 1)])
        if changed:
            self._say("repeated-names", about_repeated(changed))
        return [*names, ""] if behind else names

    def _skip_titles(self) -> None:
        """Go to the line that names the columns, if it is clear that it is not the first one."""
        if self._how.skip_rows is not None:
            return
        titles = titles_above(self._sample(), self._decimal)
        while titles:
            self._read_record(strict=False)  # quotes do not matter in titles
            titles -= 1
            if not titles and self._skip_blank():
                self._say(
                    "titles",
                    f"line {self._lines.number + 1} names the columns; those before it were "
                    "skipped.",
                )

    def _sample(self) -> list[list[str]]:
        """Return the next records, without reading on."""
        return sample(self._lines.peek().text, self._dialect.delimiter)

    def _without_last(self, names: list[str], rows: list[list[str]]) -> tuple[list[str], bool]:
        """Leave out a column without name and cells: a separator at the end of lines makes one.

        Return the names of the others, and whether lines have it.
        """
        widths = {len(row) for row in rows}
        if len(widths) != 1 or len(names) == 1:
            return names, False
        (width,) = widths
        if not names[-1] and width == len(names) - 1:
            return names[:-1], False
        own = names[:-1] if not names[-1] else names
        if width != len(own) + 1 or any(row[-1].strip() for row in rows):
            return names, False
        self._say("last-separator", "what is behind the last separator of a line was left out.")
        return own, True

    def _own_marks(self) -> dict[str, Marks]:
        """Return how columns write numbers that do not do it as the file does."""
        said, dialect = self._how, self._dialect
        if said.thousands is not None:
            return dict.fromkeys(self.names, Marks(dialect.decimal, said.thousands))
        if said.decimal is not None:
            return {}
        own, readings = own_marks(self._columns, self._sample(), dialect.decimal, dialect.delimiter)
        for reading in sorted(set(readings.values())):
            names = [name for name in readings if readings[name] == reading]
            self._say(
                "ambiguous-number",
                f"in {listed(names)} numbers such as 1,234 were read as {reading}.",
                Advice("Otherwise", "decimal"),
            )
        return own

    def _require_nothing(self, block: Block) -> None:
        """See that nothing is lost with the column behind the last separator."""
        found = first_known(block.columns.pop(""))
        if found:
            raise InputError(
                f"{self.name}, {block.where(found[0])}: there is {quoted(found[1])} behind the "
                "last column that has a name."
            )

    def _numbered(self) -> list[str]:
        text = self._lines.peek().text.decode()
        record = next(records(text, self._dialect.delimiter, strict=False))
        return [f"x{number}" for number in range(len(record.cells))]

    def _plain_block(self, plain: PlainReader, first: int) -> Block | None:
        """Let Arrow decode what is at hand; None if it cannot."""
        part = self._lines.peek()
        table = part.made if part.ahead else plain.read(part.text)
        if table is None:
            return None
        before = self._lines.number + 1
        self._lines.skip(len(part.text), part.lines)
        text = part.text if part.lines > table.num_rows else None  # else no need to keep it

        @cache
        def lines() -> Integers:
            return np.arange(table.num_rows) if text is None else record_lines(text)

        columns = dict(zip(table.column_names, map(whole, table.columns), strict=True))
        return Block(
            first,
            columns,
            table.num_rows,
            lambda k: f"line {before + lines()[k]}",
            self.name,
            self._decimal,
            self._marks,
        )

    def _careful_block(self, wanted: list[str], nulls: bool, first: int) -> Block:
        """Read what is at hand record by record."""
        pa = needs("pyarrow", "parquet")
        before, width = self._lines.number + 1, len(self._columns)
        found = self._read_records()
        for record in found:
            if len(record.cells) != width:
                raise InputError(
                    f"{self.name}, line {before + record.line}: the number of cells is "
                    f"{len(record.cells)}, in the first line it is {width} (separated by "
                    f"{self._dialect.separator})."
                )
        rows, lines = [record.cells for record in found], [record.line for record in found]
        cells = dict(zip(self._columns, zip(*rows, strict=True), strict=True)) if rows else {}
        columns = {name: pa.array(cells.get(name, ()), pa.string()) for name in wanted}

        def where(k: int) -> str:
            return f"line {before + lines[k]}"

        block = Block(first, columns, len(rows), where, self.name, self._decimal, self._marks)
        return block.without_missing() if nulls else block

    def _read_record(self, *, strict: bool = True) -> list[str]:
        return self._read_records(1, strict=strict)[0].cells

    def _read_records(self, most: int | None = None, *, strict: bool = True) -> list[Record]:
        """Take records of what is at hand; the first one may need more."""
        found: list[Record] = []
        text = self._lines.peek().text.decode()
        try:
            coming = records(text, self._dialect.delimiter, strict=strict)
            found.extend(itertools.islice(coming, most))
        except QuoteError as error:
            if not found:
                if error.unclosed and len(text) <= LONGEST_LINE and self._lines.extend():
                    return self._read_records(most, strict=strict)
                raise self._wrong_quote(error) from None
            most = len(found)
        end = len(text) if len(found) != most else found[-1].end
        lines = text.count("\n", 0, end) + (not text.endswith("\n", 0, end))
        self._lines.skip(len(text[:end].encode()), lines)
        return found

    def _wrong_quote(self, error: QuoteError) -> InputError:
        problem = (
            "a quote that opens a cell is not closed"
            if error.unclosed
            else "there is something behind a quote that closes a cell"
        )
        return InputError(
            f"{self.name}, line {self._lines.number + 1 + error.line}: {problem}. A quote within "
            'quotes is written twice: "".'
        )
