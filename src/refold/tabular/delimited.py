"""Tables as text: a line per row, cells between separators."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator
from typing import IO

from refold.base.needs import needs
from refold.tabular.cells import first_known, kind_of
from refold.tabular.dialect import guess, records, sample
from refold.tabular.errors import InputError, listed, quoted
from refold.tabular.heading import about_repeated, distinct, titles_above, units_below
from refold.tabular.marks import Marks, own_marks
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
        for _ in range(how.skip_rows or 0):
            next(self._lines, None)
        if not self._skip_blank():
            raise InputError(f"{self.name} is empty.")
        self._dialect = self.dialect = guess(self._lines.peek().text, how.delimiter, how.decimal)
        self._decimal, self.format = self._dialect.decimal, f"CSV, {self._dialect}"
        self._records = records(self._lines, self._dialect.delimiter, strict=True)
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
            next(self._lines)
        return False

    def _header(self) -> list[str]:
        self._skip_titles()
        line = self._lines.number + 1
        names = [name.strip() for name in self._record(self._records)]
        if all(kind_of(name, self._decimal) == "number" for name in names):
            raise InputError(
                f"{self.name}, line {line}: the names of the columns are all numbers. If there are "
                "no names in this file, say --no-header; columns are then called x0, x1, …"
            )
        rows = self._sample()
        if units := units_below(rows, names, self._decimal):
            self._record(self._records)
            self.units, rows = units, rows[1:]
            self._how.say(f"{self.name}: the line below the names of the columns has their units.")
        names, behind = self._without_last(names, rows)
        self.unnamed = [f"unnamed {k}" for k, name in enumerate(names, 1) if not name]
        names, changed = distinct([name or f"unnamed {k}" for k, name in enumerate(names, 1)])
        if changed:
            self._how.say(about_repeated(self.name, changed))
        return [*names, ""] if behind else names

    def _skip_titles(self) -> None:
        """Go to the line that names the columns, if it is clear that it is not the first one."""
        if self._how.skip_rows is not None:
            return
        titles = titles_above(self._sample(), self._decimal)
        loosely = records(self._lines, self._dialect.delimiter)  # quotes do not matter in titles
        while titles:
            titles -= bool(self._record(loosely))
            if not titles and self._skip_blank():
                self._how.say(
                    f"{self.name}: line {self._lines.number + 1} names the columns; those before "
                    "it were skipped."
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
        self._how.say(f"{self.name}: what is behind the last separator of a line was left out.")
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
            said.say(
                f"{self.name}: in {listed(names)} numbers such as 1,234 were read as {reading}; "
                "--decimal or --thousands says otherwise."
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
        lines = io.StringIO(self._lines.peek().text.decode(), newline="\n")
        row = self._record(records(lines, self._dialect.delimiter))
        return [f"x{number}" for number in range(len(row))]

    def _plain_block(self, plain: PlainReader, first: int) -> Block | None:
        """Let Arrow decode what is at hand; None if it cannot."""
        part = self._lines.peek()
        table = part.made if part.ahead else plain.read(part.text)
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
        return Block(first, columns, table.num_rows, where, self.name, self._decimal, self._marks)

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
            if len(row) != len(self._columns):
                raise InputError(
                    f"{self.name}, line {line}: the number of cells is {len(row)}, in the first "
                    f"line it is {len(self._columns)} (separated by {self._dialect.separator})."
                )
            rows.append(row)
            begins.append(line)
        cells = dict(zip(self._columns, zip(*rows, strict=True), strict=True)) if rows else {}
        columns = {name: pa.array(cells.get(name, ()), pa.string()) for name in wanted}

        def where(k: int) -> str:
            return f"line {begins[k]}"

        block = Block(first, columns, len(rows), where, self.name, self._decimal, self._marks)
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
