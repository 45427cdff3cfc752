"""What a file is: its first bytes say so, whatever its name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence

from refold.base.findings import Finding
from refold.tabular.columnar import ArrowFile, ArrowStream, ParquetTable
from refold.tabular.delimited import DelimitedTable
from refold.tabular.errors import InputError
from refold.tabular.json_table import JsonTable
from refold.tabular.streams import name_of, open_bytes
from refold.tabular.table import FileTable, How, TableSource
from refold.tabular.workbook import Workbook

# The first one that recognizes a file reads it; text is what is left.
FORMATS: list[type[FileTable]] = [
    ParquetTable,
    ArrowFile,
    ArrowStream,
    Workbook,
    JsonTable,
    DelimitedTable,
]

_REFUSED = {
    b"\x93NUMPY": "is a NumPy array: save it as CSV or Parquet",
    b"SQLite format 3": "is an SQLite database: write the table to CSV or Parquet",
    b"%PDF": "is a PDF document: save the table in it as CSV",
    b"FEA1": "is Feather of version 1: write it again, as Feather 2 or Parquet",
    b"\x1f\x8b": "is packed more than once: unpack it first",
}
_MODEL = re.compile(rb'\s*\{\s*"format"\s*:\s*"refold model"')


def open_table(
    source: str | os.PathLike[str],
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    sheet: str | None = None,
    skip_rows: int | None = None,
    missing: Sequence[str] = (),
    keep: Sequence[str] = (),
    totals: bool = True,
    say: Callable[[Finding], None] = lambda finding: None,
) -> TableSource:
    r"""Open a table in a file or on standard input.

    Parameters
    ----------
    source : path
        CSV (comma, semicolon, tab or bar), a workbook of Excel or LibreOffice, JSON, Parquet, Arrow
        IPC file or stream; plain or packed by gzip, bzip2, xz, zstd or ZIP. ``"-"`` is standard
        input.
    header : bool or None, default=None
        Whether a CSV file or sheet names its columns; otherwise they are x0, x1, … None is yes,
        but names that are all numbers, such as years, are an error: True says that they are names.
    delimiter, decimal : str or None, default=None
        What separates the cells of a CSV file and what stands before a fraction; None is guessed.
    thousands : str or None, default=None
        What stands between the thousands of numbers in a CSV file; None is seen by its cells.
    sheet : str or None, default=None
        Which sheet of a workbook to read, by its name or its number from 1; None is the
        largest one.
    skip_rows : int or None, default=None
        How many lines of a CSV file, or rows of a sheet, come before the names of the columns; None
        is none, or title lines where these are clear.
    missing : sequence of str, default=()
        Further words, or numbers, that say that a value is missing; they become null.
    keep : sequence of str, default=()
        Words such as NA that are values all the same.
    totals : bool, default=True
        Whether lines of totals at the end of a CSV file or sheet are left out, which is said.
    say : callable, default: nothing is said
        Takes findings that the user should know, such as a guessed encoding.

    Returns
    -------
    TableSource
        To be used as a context; its ``blocks()`` are read once.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refold.tabular import open_table
    >>> file = Path(tempfile.mkdtemp()) / "parts.txt"
    >>> _ = file.write_text("torque;speed\n75,1;300\n74,9;301\n")
    >>> with open_table(file) as table:
    ...     print(table.names, table.format, [block.rows for block in table.blocks()])
    ['torque', 'speed'] CSV, semicolons, decimal commas [2]
    """
    source = os.fspath(source)
    head, stream = open_bytes(source)
    try:
        table = _recognized(head, source)(
            stream,
            source,
            How(
                *(header, delimiter, decimal, thousands, sheet, skip_rows),
                missing=tuple(missing),
                keep=tuple(keep),
                totals=totals,
                say=say,
            ),
        )
        if sheet is not None and not table.sheets:
            raise InputError(
                f"{table.name} is {table.format} and has no sheets; sheet {sheet!r} was asked for."
            )
    except BaseException:
        stream.close()
        raise
    return table


def is_text(source: str | os.PathLike[str]) -> bool:
    """Whether a file is read as text, if it can be read at all.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refold.tabular.opening import is_text
    >>> file = Path(tempfile.mkdtemp()) / "parts.csv"
    >>> _ = file.write_text("75.1,300")
    >>> is_text(file)
    True
    """
    source = os.fspath(source)
    try:
        head, stream = open_bytes(source)
        with stream:
            return _recognized(head, source) is DelimitedTable
    except InputError:
        return False


def _recognized(head: bytes, source: str) -> type[FileTable]:
    """Return what reads a file that begins so; refuse what nothing here can read."""
    if _MODEL.match(head):
        raise InputError(f"{name_of(source)} is a model of refold, not a table.")
    for magic, problem in _REFUSED.items():
        if head.startswith(magic):
            raise InputError(f"{name_of(source)} {problem}.")
    return next(kind for kind in FORMATS if kind.recognizes(head))
