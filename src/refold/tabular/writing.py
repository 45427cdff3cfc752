"""Tables out: CSV, Excel, Parquet and Arrow IPC, written batch by batch."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from refold.base.files import replacing
from refold.base.needs import needs
from refold.tabular.errors import InputError

_EXCEL_ROWS, _EXCEL_COLUMNS, _EXCEL_LETTERS = 1_048_576, 16_384, 32_767
_EXACT = 2**53  # larger whole numbers would be rounded; they are written as text

FORMATS = {
    ".csv": "csv",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
}


def format_of(out: Path) -> str:
    """Return how to write a file: its name says so."""
    fmt = FORMATS.get(out.suffix.lower())
    if fmt is None:
        raise InputError(f"{out.name} does not end with one of {', '.join(FORMATS)}.")
    return fmt


@contextmanager
def writing(fmt: str, out: Path, schema: Any) -> Iterator[Callable[[Any], None]]:
    r"""Give a function that writes record batches to a file, which appears when it is complete.

    Parameters
    ----------
    fmt : {"csv", "xlsx", "parquet", "ipc"}
        How to write.
    out : Path
        The file.
    schema : pyarrow.Schema
        The columns of all batches.

    Examples
    --------
    >>> import tempfile, pyarrow as pa
    >>> from pathlib import Path
    >>> from refold.tabular import writing
    >>> out = Path(tempfile.mkdtemp()) / "out.csv"
    >>> batch = pa.record_batch({"torque": [75.1, 74.9]})
    >>> with writing("csv", out, batch.schema) as write:
    ...     write(batch)
    >>> out.read_text()
    '"torque"\n75.1\n74.9\n'
    """
    with replacing(out) as file, _WRITERS[fmt](file, schema) as writer:
        yield writer.write_batch


class _CsvWriter:
    """CSV has no words by number, and no cells within cells."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        pa = needs("pyarrow", "parquet")
        is_ = pa.types
        for field in schema:
            if is_.is_nested(field.type):
                raise InputError(
                    f"Column {field.name!r} holds {field.type}, which CSV cannot hold. Write "
                    "Parquet or Arrow IPC."
                )
        kinds = [k.value_type if is_.is_dictionary(k) else k for k in schema.types]
        self._schema = pa.schema(list(zip(schema.names, kinds, strict=True)))
        self._writer = needs("pyarrow.csv", "parquet").CSVWriter(file, self._schema)
        self._decode = self._schema != schema

    def write_batch(self, batch: Any) -> None:
        self._writer.write_batch(batch.cast(self._schema) if self._decode else batch)

    def __enter__(self) -> _CsvWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self._writer.close()


class _ExcelWriter:
    """A workbook of one sheet; rows go to the disk as they come.

    What Excel cannot hold is refused, and nothing is left of the file: rows and columns beyond its
    limits and texts that it would cut. A text that looks like a formula or an address stays text.
    """

    def __init__(self, file: IO[bytes], schema: Any) -> None:
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
        self._sheet, self._rows = self._book.add_worksheet(), 1
        for place, name in enumerate(self._names):
            self._sheet.write_string(0, place, self._fitting(name, name))

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
            self._sheet.write_string(row, place, self._fitting(str(cell), self._names[place]))

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
        self._book.close()


def _is_number(cell: Any) -> bool:
    """Whether Excel holds a cell as the number that it is."""
    if isinstance(cell, int):
        return abs(cell) <= _EXACT
    return isinstance(cell, float) and math.isfinite(cell)


_WRITERS: dict[str, Callable[[IO[bytes], Any], Any]] = {
    "parquet": lambda file, schema: needs("pyarrow.parquet", "parquet").ParquetWriter(file, schema),
    "csv": _CsvWriter,
    "xlsx": _ExcelWriter,
    "ipc": lambda file, schema: needs("pyarrow.ipc", "parquet").new_file(file, schema),
}
