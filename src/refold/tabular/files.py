"""Which format a file has, and files that together are one table.

The first bytes of a file say what it is, whatever its name. Of several files all are looked at
before the first row is read, so that nothing is read in vain.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from refold._typing import PathLike
from refold.base.findings import Finding
from refold.base.needs import needs
from refold.columns.frames import is_number, is_text, type_text
from refold.tabular._excel_table import Workbook
from refold.tabular.arrow_table import ArrowFile, ArrowStream, ParquetTable
from refold.tabular.block import Block, common_type
from refold.tabular.csv_table import CsvTable
from refold.tabular.errors import InputError, listed
from refold.tabular.json_table import JsonTable
from refold.tabular.streams import name_of, open_bytes
from refold.tabular.table_source import FileTable, ReadOptions, ScanOptions, TableSource

# The first one that recognizes a file reads it; text is what is left.
FORMATS: list[type[FileTable]] = [
    ParquetTable,
    ArrowFile,
    ArrowStream,
    Workbook,
    JsonTable,
    CsvTable,
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
            ReadOptions(
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


def is_text_file(source: str | os.PathLike[str]) -> bool:
    """Whether a file is read as text, if it can be read at all."""
    source = os.fspath(source)
    try:
        head, stream = open_bytes(source)
        with stream:
            return _recognized(head, source) is CsvTable
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


Paths = PathLike | Sequence[PathLike]


@dataclass(frozen=True)
class _Head:
    """What is known of a file without reading its rows."""

    file: Path
    kinds: dict[str, Any]
    unnamed: Sequence[str]
    rows: int | None
    by_column: bool


class Files(TableSource):
    r"""Files that together are one table, each of any format; they can be read more than once.

    They are files, folders (their files, sorted by name) or patterns such as ``"2024-*.parquet"``;
    `reading` are arguments of `open_table`, such as ``{"decimal": ","}``.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "1.csv").write_text("torque,speed\n75.1,300\n")
    >>> _ = (folder / "2.csv").write_text("speed;torque\n301;74,9\n?;75,0\n")
    >>> for block in Files(folder).blocks(["speed"], numbers=["speed"]):
    ...     print(block.first, block.columns["speed"].to_pylist())
    1 [300.0]
    2 [301.0, None]
    """

    def __init__(
        self,
        paths: Paths,
        say: Callable[[Finding], None] = lambda finding: None,
        reading: Mapping[str, Any] | None = None,
    ) -> None:
        self.files, self._say, self._reading = _files_at(paths), say, dict(reading or {})
        self._heads = [_head(file, self._reading) for file in self.files]
        first, rows = self._heads[0], [head.rows for head in self._heads]
        self.name, self.kinds, self.unnamed = str(first.file), first.kinds, first.unnamed
        self.rows = None if None in rows else sum(filter(None, rows))
        self.by_column = all(head.by_column for head in self._heads)

    def require(self, columns: Iterable[str]) -> None:
        """Refuse columns that are not in every file."""
        for head in self._heads:
            absent = [name for name in columns if name not in head.kinds]
            if absent:
                raise InputError(f"{head.file}: there is no column {listed(absent)}.")

    def require_numbers(self, columns: Sequence[str]) -> None:
        """Refuse columns whose type can be read as numbers in no way; of text, the cells tell."""
        self.require(columns)
        for head in self._heads:
            for name in columns:
                if not (is_number(kind := head.kinds[name]) or is_text(kind)):
                    raise InputError(f"{head.file}: column {name!r} holds {type_text(kind)}.")

    def require_same(self) -> None:
        """Refuse columns that are in some of the files only."""
        first = self._heads[0]
        for head in self._heads[1:]:
            gone = [name for name in first.kinds if name not in head.kinds]
            if gone:
                raise InputError(
                    f"{head.file}: there is no column {gone[0]!r}, which {first.file} has."
                )
            new = [name for name in head.kinds if name not in first.kinds]
            if new:
                raise InputError(
                    f"{head.file}: there is a column {new[0]!r}, which {first.file} does not have. "
                    "Say with columns= which ones are meant."
                )

    def common_kinds(self, numbers: Collection[str]) -> dict[str, Any]:
        """Return types that hold the columns of all files; text of `numbers` is read as such."""
        self.require_same()
        common = _read_as(self._heads[0], numbers)
        for head in self._heads[1:]:
            here = _read_as(head, numbers)
            for name, known in common.items():
                common[name] = common_type(known, here[name])
                if common[name] is None:
                    raise InputError(
                        f"{head.file}: column {name!r} holds {here[name]}; in the files before it "
                        f"held {known}."
                    )
        return common

    def _blocks(self, wanted: list[str], asked: ScanOptions) -> Iterator[Block]:
        first = 1
        for file in self.files:
            with open_table(file, say=self._say, **self._reading) as table:
                for block in table.blocks(wanted, **vars(asked)):
                    yield replace(block, first=first)
                    first += block.rows


def _head(file: Path, reading: Mapping[str, Any]) -> _Head:
    with open_table(file, **reading) as table:
        return _Head(file, table.kinds, table.unnamed, table.rows, table.by_column)


def _read_as(head: _Head, numbers: Collection[str]) -> dict[str, Any]:
    kinds = dict(head.kinds)
    for name in numbers:
        if is_text(kinds[name]):
            kinds[name] = needs("pyarrow", "parquet").float64()
    return kinds


def _files_at(paths: Paths) -> list[Path]:
    """Return the files meant, those of a folder or pattern sorted by name."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files: list[Path] = []
    for path in given:
        found = _files_of(Path(path))
        if not found:
            raise FileNotFoundError(f"There are no files at {str(path)!r}.")
        files += found
    if not files:
        raise FileNotFoundError("The list of paths is empty.")
    return files


def _files_of(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if path.is_dir():
        inside = sorted(p for p in path.rglob("*") if p.is_file())
        # By the convention of Spark, Hive and pyarrow such names are not data.
        return [p for p in inside if not any(s[0] in "._" for s in p.relative_to(path).parts)]
    return sorted(p for p in map(Path, glob.glob(str(path), recursive=True)) if p.is_file())
