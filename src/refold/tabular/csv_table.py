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
from refold.columns.number_form import NumberForm
from refold.tabular._cell_text import cell_kind, first_known
from refold.tabular._csv_arrow import ArrowCsvReader, one_chunk
from refold.tabular._layout import (
    about_joined,
    about_repeated,
    count_totals,
    distinct,
    is_total_word,
    joined_names,
    refuse_numbers_as_names,
    titles_and_names,
    units_below,
)
from refold.tabular._lines import LONGEST_LINE, Lines
from refold.tabular.block import Block
from refold.tabular.csv_dialect import (
    QuoteError,
    Record,
    column_forms,
    guess_dialect,
    record_lines,
    records,
    sample,
)
from refold.tabular.errors import InputError, cell_repr, listed
from refold.tabular.table_source import (
    FileTable,
    ReadOptions,
    ScanOptions,
    check_width,
    checked_names,
)

_TAIL = 2**16  # bytes at the end of a file that show whether it has totals


class CsvTable(FileTable):
    """CSV and its relatives.

    Text whose quotes stand around whole cells is decoded by Arrow, a block at a time, columns of
    plain numbers right into numbers. All else is read record by record, with the same cells; this
    also finds the line to blame when Arrow cannot decode a block.
    """

    by_people = True

    def __init__(self, stream: IO[bytes], source: str, how: ReadOptions) -> None:
        super().__init__(stream, source, how)
        self._lines = Lines(stream, self.name, how.say)
        for _ in range(how.skip_rows or 0):
            self._lines.skip_line()
        if not self._skip_blank():
            behind = f" behind the first {how.skip_rows:,} lines" if how.skip_rows else ""
            raise InputError(f"{self.name} is empty{behind}.")
        self._dialect = replace(
            guess_dialect(self._lines.peek().text, how.delimiter, how.decimal),
            encoding=self._lines.encoding,
        )
        self.dialect = self._dialect
        self._decimal, self.format = self._dialect.decimal, f"CSV, {self._dialect}"
        if self._dialect.delimiter == ",":
            self.written = replace(self.written, likely=".")
        names = self._numbered() if how.header is False else self._header()
        # Every column that lines have; one called "" only stands behind the last separator.
        self._columns = checked_names(names, self.name)
        string = needs("pyarrow", "parquet").string()
        self.kinds = {name: string for name in self._columns if name}
        self._marks, self._open = self._own_marks()
        if how.totals:
            self._lines.change_end(self._without_totals)

    @staticmethod
    def recognizes(head: bytes) -> bool:
        """Any file may be text."""
        return True

    def _blocks(self, wanted: list[str], asked: ScanOptions) -> Iterator[Block]:
        read = [*wanted, *(name for name in self._columns if not name)]
        numbers = asked.numbers - self._marks.keys()
        if asked.numbers:
            self._say_readings()
        plain = ArrowCsvReader(self._columns, read, numbers, self._dialect)
        if plain.forgetful:
            self._lines.make_ahead(plain.read)
        first = 1
        while self._lines.fill():
            block = self._plain_block(plain, first)
            if block is None:
                block = self._careful_block(read, first)
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
        rows = self._sample()
        titles, joined = titles_and_names(rows, self._decimal)
        if self._how.skip_rows is not None:
            titles, joined = 0, joined_names(rows, self._decimal)
        self._skip_titles(titles)
        line = self._lines.number + 1
        names = [name.strip() for name in self._read_record()]
        check_width(len(names), self.name)
        if joined:
            self._read_record()
            names = joined
            self._say("joined-names", about_joined(names, "lines"))
        elif self._how.header is None:
            refuse_numbers_as_names(names, self._decimal, f"{self.name}, line {line}")
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

    def _skip_titles(self, titles: int) -> None:
        """Go to the line that names the columns."""
        for _ in range(titles):
            self._read_record(strict=False)  # quotes do not matter in titles
        if titles and self._skip_blank():
            line = self._lines.number + 1
            self._say("titles", f"line {line} names the columns; those before it were skipped.")

    def _without_totals(self, text: bytes) -> bytes:
        """Return the last text of a file without lines of totals at its end."""
        delimiter = self._dialect.delimiter
        tail = text[-_TAIL:].decode(errors="ignore")
        last = [record.cells for record in records(tail, delimiter, strict=False)][-3:]
        if not any(map(is_total_word, itertools.chain(*last))) and len(text) > _TAIL:
            return text  # sums that nothing is said of are looked for in small files only
        found = list(records(text.decode(), delimiter, strict=False))
        usual = NumberForm(self._decimal)
        marks = [self._marks.get(name, usual) for name in self._columns]
        rows = [[*map(_plain_number, record.cells, marks)] for record in found]
        width = len(marks)
        if found and len(found[-1].cells) < width and any(map(is_total_word, found[-1].cells)):
            rows[-1] += [""] * (width - len(rows[-1]))  # what is behind the sums was not written
        totals = count_totals(rows, _number)
        if not totals:
            return text
        which = f"the last {totals} lines have" if totals > 1 else "the last line has"
        self._say("totals", f"{which} totals of the rows above: not read as rows.")
        begin = found[-totals - 1].end if len(found) > totals else 0
        return text.decode()[:begin].encode()

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

    def _own_marks(self) -> tuple[dict[str, NumberForm], dict[str, NumberForm]]:
        """Return the forms of columns that are not written as the file is, and those in doubt."""
        said, dialect = self._how, self._dialect
        if said.thousands == dialect.decimal:
            raise InputError(
                f"{self.name}: {said.thousands} stands before fractions here and cannot stand "
                "between thousands too. Choose both marks.",
                advice=Advice(
                    "For example", "decimal", value="," if said.thousands == "." else "."
                ),
            )
        if said.thousands is not None:
            return dict.fromkeys(self.names, NumberForm(dialect.decimal, said.thousands)), {}
        if said.decimal is not None:
            other = "," if said.decimal == "." else "."
            return dict.fromkeys(self.names, NumberForm(said.decimal, other)), {}
        rows = [row for row in self._sample() if len(row) == len(self._columns)]
        readings = zip(self._columns, column_forms(rows, dialect.delimiter), strict=False)
        found = {name: reading for name, reading in readings if reading is not None}
        forms = {name: NumberForm(r.form.decimal, r.form.thousands) for name, r in found.items()}
        usual = NumberForm(dialect.decimal)
        own = {name: form for name, form in forms.items() if form != usual}
        return own, {name: forms[name] for name, reading in found.items() if reading.rival}

    def _say_readings(self) -> None:
        """Say how numbers were read that leave open what a mark means."""
        for form in dict.fromkeys(self._open.values()):
            names = [name for name in self._open if self._open[name] == form]
            mark, reading = form.thousands or form.decimal, "1234" if form.thousands else "1.234"
            self._say(
                "ambiguous-number",
                f"in {listed(names)} numbers such as 1{mark}234 were read as {reading}.",
                Advice("Otherwise", "decimal"),
            )

    def _require_nothing(self, block: Block) -> None:
        """See that nothing is lost with the column behind the last separator."""
        found = first_known(block.columns.pop(""))
        if found:
            raise InputError(
                f"{self.name}, {block.where(found[0])}: there is {cell_repr(found[1])} behind the "
                "last column that has a name."
            )

    def _numbered(self) -> list[str]:
        text = self._lines.peek().text.decode()
        record = next(records(text, self._dialect.delimiter, strict=False))
        return [f"x{number}" for number in range(len(record.cells))]

    def _plain_block(self, plain: ArrowCsvReader, first: int) -> Block | None:
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

        columns = dict(zip(table.column_names, map(one_chunk, table.columns), strict=True))
        return Block(
            first,
            columns,
            table.num_rows,
            lambda k: f"line {before + lines()[k]}",
            self.name,
            self._decimal,
            self._marks,
        )

    def _careful_block(self, wanted: list[str], first: int) -> Block:
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

        return Block(first, columns, len(rows), where, self.name, self._decimal, self._marks)

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


def _plain_number(cell: str, marks: NumberForm) -> str:
    """Return a number as Python writes it, and any other cell as it is."""
    plain = cell.strip().replace(marks.thousands, "").replace(marks.decimal, ".")
    return plain if cell_kind(plain, ".") == "number" else cell


def _number(cell: str) -> float | None:
    return float(cell) if cell_kind(cell, ".") == "number" else None
