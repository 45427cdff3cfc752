"""Tables out: CSV, Excel, Parquet and Arrow IPC, written batch by batch."""

from __future__ import annotations

import codecs
import datetime as dt
import math
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from refold.base.files import replacing
from refold.base.needs import needs
from refold.columns.frames import is_bytes, is_text
from refold.tabular.errors import InputError
from refold.tabular.table_source import TableSource

_EXCEL_ROWS, _EXCEL_COLUMNS, _EXCEL_LETTERS = 1_048_576, 16_384, 32_767
_EXACT = 2**53  # larger whole numbers would be rounded; they are written as text
# What a spreadsheet may take for a formula: how its text begins, unless it is a number. Some leave
# out spaces and characters that are not seen before they look.
_FORMULA = r"^(?:[\t\r\n]|[\s\pZ\pC]*[=@+\-＝＠＋－])"
_NUMBER = r"^\s*[+-]?[0-9.,]+(?:[eE][+-]?[0-9]+)?\s*%?$"

FORMATS = {
    ".csv": "csv",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
}


@dataclass(frozen=True)
class WriteOptions:
    """How a table is written."""

    # delimiter, decimal, encoding: Of CSV: what separates cells, what stands before a fraction,
    # and how characters are written.
    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    # Columns that refold adds: of these, cells that a spreadsheet would take for formulas are
    # always made plain text, in CSV by a ' before them; or that of all cells and names.
    added: Collection[str] = ()
    neutralize_formulas: bool = False
    # Sort all rows, which are held then, by these columns, "ascending" or "descending"; nulls last.
    order: tuple[tuple[str, str], ...] = ()

    @classmethod
    def like(cls, table: TableSource, **options: Any) -> WriteOptions:
        """Return options that write CSV as a table of text is written; of others, the usual."""
        if table.dialect is None:
            return cls(**options)
        dialect = table.dialect
        delimiter = dialect.delimiter if dialect.delimiter.isascii() else ","
        return cls(delimiter, dialect.decimal, dialect.encoding, **options)


def format_of(out: Path) -> str:
    """Return how to write a file: its name says so."""
    fmt = FORMATS.get(out.suffix.lower())
    if fmt is None:
        raise InputError(f"{out.name} does not end with one of {', '.join(FORMATS)}.")
    return fmt


@contextmanager
def writing(
    fmt: str, out: Path | IO[bytes], schema: Any, options: WriteOptions | None = None
) -> Iterator[Callable[[Any], None]]:
    r"""Give a function that writes record batches to a file, which appears when it is complete.

    The format is one of ``"csv"``, ``"xlsx"``, ``"parquet"`` and ``"ipc"``; a file that is open
    takes what is written as it comes.

    >>> import io, pyarrow as pa
    >>> batch, out = pa.record_batch({"torque": [74.9], "reason_1": ["=x"]}), io.BytesIO()
    >>> options = WriteOptions(delimiter=";", decimal=",", added=["reason_1"])
    >>> with writing("csv", out, batch.schema, options) as write:
    ...     write(batch)
    >>> out.getvalue().decode().splitlines()[1]
    '"74,9";"\'=x"'
    """
    options = options or WriteOptions()
    if isinstance(out, Path):
        with replacing(out) as file, _opened(fmt, file, schema, options) as write:
            yield write
    else:
        with _opened(fmt, out, schema, options) as write:
            yield write


@contextmanager
def _opened(
    fmt: str, file: IO[bytes], schema: Any, options: WriteOptions
) -> Iterator[Callable[[Any], None]]:
    with _WRITERS[fmt](file, schema, options) as writer:
        if not options.order:
            yield writer.write_batch
            return
        held: list[Any] = []
        yield held.append
        table = needs("pyarrow", "parquet").Table.from_batches(held, schema)
        for batch in table.sort_by(list(options.order)).to_batches(max_chunksize=2**16):
            writer.write_batch(batch)


def _is_formula(column: Any) -> Any:
    """Say which texts of a column a spreadsheet may take for formulas."""
    pc = needs("pyarrow.compute", "parquet")
    begins = pc.match_substring_regex(column, _FORMULA)
    return pc.and_(begins, pc.invert(pc.match_substring_regex(column, _NUMBER)))


class _CsvWriter:
    """CSV has no words by number, and no cells within cells."""

    def __init__(self, file: IO[bytes], schema: Any, options: WriteOptions) -> None:
        pa = needs("pyarrow", "parquet")
        is_ = pa.types
        self._file, self._options = file, options
        for field in schema:
            if is_.is_nested(field.type):
                raise InputError(
                    f"Column {field.name!r} holds {field.type}, which CSV cannot hold. Write "
                    "Parquet or Arrow IPC."
                )
        self._encoder = codecs.getincrementalencoder(options.encoding)("replace")
        names = pa.array(schema.names, pa.string())
        chosen = [options.neutralize_formulas or name in options.added for name in schema.names]
        names = _with_apostrophe(names, pa.array(chosen))
        self._write(pa.table([pa.nulls(0, pa.string()) for _ in schema], names.to_pylist()), True)

    def write_batch(self, batch: Any) -> None:
        columns = [
            self._as_written(name, column)
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        self._write(needs("pyarrow", "parquet").table(columns, batch.schema.names), False)

    def _as_written(self, name: str, column: Any) -> Any:
        pa, pc = needs("pyarrow", "parquet"), needs("pyarrow.compute", "parquet")
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_string_view(column.type):  # Arrow writes no CSV of it
            column = column.cast(pa.large_string())
        neutral = self._options.neutralize_formulas or name in self._options.added
        if neutral and (is_text(column.type) or is_bytes(column.type)):
            return _with_apostrophe(column, True)
        if pa.types.is_floating(column.type) and self._options.decimal != ".":
            return pc.replace_substring(column.cast(pa.string()), ".", self._options.decimal)
        return column

    def _write(self, table: Any, header: bool) -> None:
        pa, csv = needs("pyarrow", "parquet"), needs("pyarrow.csv", "parquet")
        buffer = pa.BufferOutputStream()
        how = csv.WriteOptions(include_header=header, delimiter=self._options.delimiter)
        csv.write_csv(table, buffer, how)
        content: Any = buffer.getvalue()
        if self._options.encoding != "utf-8":
            content = self._encoder.encode(content.to_pybytes().decode())
        self._file.write(content)

    def __enter__(self) -> _CsvWriter:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def _with_apostrophe(texts: Any, where: Any) -> Any:
    """Return a column with a ' before what a spreadsheet may take for a formula."""
    pa, pc = needs("pyarrow", "parquet"), needs("pyarrow.compute", "parquet")
    kind = pa.large_binary() if is_bytes(texts.type) else pa.large_string()
    texts = texts.cast(kind)
    before, between = pa.scalar("'", kind), pa.scalar("", kind)
    found = pc.fill_null(pc.and_(_is_formula(texts), where), False)
    return pc.if_else(found, pc.binary_join_element_wise(before, texts, between), texts)


class _ExcelWriter:
    """A workbook of one sheet with a fixed header and a filter; rows go to the disk as they come.

    What Excel cannot hold is refused, and nothing is left of the file: rows and columns beyond its
    limits and texts that it would cut. A text that looks like a formula or an address stays text;
    where it is neutralized, also after somebody has edited the cell.
    """

    def __init__(self, file: IO[bytes], schema: Any, options: WriteOptions) -> None:
        pa = needs("pyarrow", "parquet")
        if len(schema) > _EXCEL_COLUMNS:
            raise InputError(
                f"The table has {len(schema):,} columns; a sheet of Excel holds "
                f"{_EXCEL_COLUMNS:,}. Write CSV or Parquet."
            )
        for field in schema:
            if pa.types.is_nested(field.type):
                raise InputError(
                    f"Column {field.name!r} holds {field.type}, which Excel cannot hold. Write "
                    "Parquet or Arrow IPC."
                )
        self._names = schema.names
        self._book = needs("xlsxwriter", "excel").Workbook(
            file, {"constant_memory": True, "default_date_format": "yyyy-mm-dd hh:mm:ss"}
        )
        quoted = self._book.add_format({"quote_prefix": True})
        self._formats = [
            quoted if options.neutralize_formulas or name in options.added else None
            for name in self._names
        ]
        self._sheet, self._rows = self._book.add_worksheet(), 1
        self._sheet.freeze_panes(1, 0)
        for place, name in enumerate(self._names):
            self._sheet.write_string(0, place, self._fitting(name, name), self._formats[place])

    def write_batch(self, batch: Any) -> None:
        if self._rows + batch.num_rows > _EXCEL_ROWS:
            raise InputError(
                f"The table has more than {_EXCEL_ROWS - 1:,} rows, which a sheet of Excel cannot "
                "hold. Write CSV or Parquet."
            )
        columns = [column.to_pylist() for column in batch.columns]
        for row, cells in enumerate(zip(*columns, strict=True), self._rows):
            for place, cell in enumerate(cells):
                self._write(row, place, cell)
        self._rows += batch.num_rows

    def _write(self, row: int, place: int, cell: Any) -> None:
        if cell is None or cell == "":
            return
        if isinstance(cell, bool):
            self._sheet.write_boolean(row, place, cell)
        elif _is_number(cell):
            self._sheet.write_number(row, place, cell)
        elif isinstance(cell, dt.datetime) and cell.tzinfo is None and cell.year >= 1900:
            self._sheet.write_datetime(row, place, cell)
        else:
            text = self._fitting(str(cell), self._names[place])
            self._sheet.write_string(row, place, text, self._formats[place])

    def _fitting(self, text: str, column: str) -> str:
        if len(text) > _EXCEL_LETTERS:
            raise InputError(
                f"Column {column!r} has a text of {len(text):,} characters; a cell of Excel holds "
                f"{_EXCEL_LETTERS:,}. Write CSV or Parquet."
            )
        return text

    def __enter__(self) -> _ExcelWriter:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        if self._names:
            self._sheet.autofilter(0, 0, self._rows - 1, len(self._names) - 1)
        self._book.close()


def _is_number(cell: Any) -> bool:
    """Whether Excel holds a cell as the number that it is."""
    if isinstance(cell, int):
        return abs(cell) <= _EXACT
    return isinstance(cell, float) and math.isfinite(cell)


_WRITERS: dict[str, Callable[[IO[bytes], Any, WriteOptions], Any]] = {
    "csv": _CsvWriter,
    "xlsx": _ExcelWriter,
    "parquet": lambda file, schema, _: needs("pyarrow.parquet", "parquet").ParquetWriter(
        file, schema
    ),
    "ipc": lambda file, schema, _: needs("pyarrow.ipc", "parquet").new_file(file, schema),
}
