"""Files of one format that together are one table: which, with which columns, read batch by batch.

All files are looked at before the first row is read: a column that is missing in the last file is
found before the others have been read for nothing.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refold._typing import PathLike
from refold.base.needs import needs
from refold.columns.arrow import is_number

Paths = PathLike | Sequence[PathLike]

_FORMATS = {"parquet": "Parquet", "csv": "CSV", "ipc": "Arrow IPC"}


@dataclass(frozen=True)
class Table:
    """Files read as one table.

    Parameters
    ----------
    fmt : {"parquet", "csv", "ipc"}
        How they are written.
    files : list of Path
        In the order of their rows.
    schema : pyarrow.Schema
        The columns to read, each of a type that holds those of all files.
    """

    fmt: str
    files: list[Path]
    schema: Any

    def batches(self, file: Path, batch_rows: int) -> Iterator[Any]:
        """Read one file in batches of at most so many rows, in their order, one batch ahead."""
        batches = _READERS[self.fmt](file, self.schema, batch_rows)
        with ThreadPoolExecutor(1) as reader, _naming(file, self.fmt):
            coming = reader.submit(next, batches, None)
            while (batch := coming.result()) is not None:
                coming = reader.submit(next, batches, None)
                for begin in range(0, batch.num_rows, batch_rows):
                    yield batch.slice(begin, batch_rows).cast(self.schema)

    def count_rows(self) -> int | None:
        """Count the rows if the files say how many they have, without reading them."""
        if self.fmt == "csv":
            return None
        return sum(int(_dataset(file, self.fmt).count_rows()) for file in self.files)


def find_table(
    paths: Paths, fmt: str, features: Sequence[str] | None = None, *, others: bool = False
) -> Table:
    """Find the files, and check that they have the same columns.

    Parameters
    ----------
    paths : path or sequence of paths
        Files, folders or patterns like ``"2024-*.parquet"``.
    fmt : {"parquet", "csv", "ipc"}
        How they are written.
    features : sequence of str, optional
        Columns that must be there and hold numbers. None is all columns, of any type.
    others : bool
        Whether to read the other columns too.
    """
    files = _files(paths)
    kinds = _kinds(files[0], fmt, features, others)
    for file in files[1:]:
        here = _kinds(file, fmt, features, others)
        _check_same(kinds, files[0], here, file)
        kinds = {name: _common(kind, here[name], name, file) for name, kind in kinds.items()}
    for name in features or ():
        if not is_number(kinds[name]):
            raise ValueError(f"{files[0]}: column {name!r} holds {kinds[name]}, not numbers.")
    pa = needs("pyarrow", "parquet")
    if fmt == "csv":
        kinds = {name: _csv_kind(kind) for name, kind in kinds.items()}
    return Table(fmt, files, pa.schema(list(kinds.items())))


def _files(paths: Paths) -> list[Path]:
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


def _kinds(file: Path, fmt: str, features: Sequence[str] | None, others: bool) -> dict[str, Any]:
    """Return the types of the columns to read from one file."""
    pa = needs("pyarrow", "parquet")
    with _naming(file, fmt):
        schema = _dataset(file, fmt).schema
    names = schema.names
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{file}: columns need different names; more than once: {twice}.")
    absent = [name for name in features or () if name not in names]
    if absent:
        raise ValueError(f"{file}: there is no column {', '.join(map(repr, absent))}.")
    wanted = names if others or features is None else features
    # What is only passed on from a CSV file is passed on as it is written.
    as_text = set(names).difference(features) if fmt == "csv" and features is not None else ()
    return {name: pa.string() if name in as_text else schema.field(name).type for name in wanted}


def _check_same(first: dict[str, Any], first_file: Path, here: dict[str, Any], file: Path) -> None:
    """Refuse columns that are in one of two files only."""
    gone = [name for name in first if name not in here]
    if gone:
        raise ValueError(f"{file}: there is no column {gone[0]!r}, which {first_file} has.")
    new = [name for name in here if name not in first]
    if new:
        raise ValueError(
            f"{file}: there is a column {new[0]!r}, which {first_file} does not have. "
            "Say with columns= which ones are meant."
        )


def _common(known: Any, here: Any, name: str, file: Path) -> Any:
    """Return a type that holds both; numbers of any type are numbers, nulls are of every type."""
    is_ = needs("pyarrow", "parquet").types
    if known == here or is_.is_null(here):
        return known
    if is_.is_null(known):
        return here
    if is_number(known) and is_number(here):
        return needs("pyarrow", "parquet").float64()
    raise ValueError(f"{file}: column {name!r} holds {here}; in the files before it held {known}.")


def _csv_kind(kind: Any) -> Any:
    """Return the type to read; pyarrow's guess from the first rows may be too narrow for later."""
    pa = needs("pyarrow", "parquet")
    is_guess = pa.types.is_integer(kind) or pa.types.is_null(kind)
    return pa.float64() if is_guess else kind


def _dataset(file: Path, fmt: str) -> Any:
    ds = needs("pyarrow.dataset", "parquet")
    how: Any = fmt
    if fmt == "parquet":
        # By default pyarrow keeps what it has read of a file until it is done with it.
        options = ds.ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True)
        how = ds.ParquetFileFormat(default_fragment_scan_options=options)
    return ds.dataset(file, format=how)


# Scanning a whole file, pyarrow reads up to a gigabyte ahead of a slower consumer; no option of the
# scanner changes that. So each reader asks for a bounded part at a time.


def _read_parquet(file: Path, schema: Any, batch_rows: int) -> Iterator[Any]:
    """Scan row groups, as many at a time as make a batch."""
    (fragment,) = _dataset(file, "parquet").get_fragments()
    several: list[int] = []
    rows = 0
    for group in fragment.row_groups:
        several.append(group.id)
        rows += group.num_rows
        if rows >= batch_rows or group.id == fragment.num_row_groups - 1:
            part = fragment.subset(row_group_ids=several)
            yield from part.to_batches(columns=schema.names, batch_size=batch_rows)
            several, rows = [], 0


def _read_csv(file: Path, schema: Any, batch_rows: int) -> Iterator[Any]:
    """Read block by block; pyarrow chooses how many rows that is."""
    csv = needs("pyarrow.csv", "parquet")
    options = csv.ConvertOptions(column_types=schema, include_columns=schema.names)
    # Threads make the streaming reader no faster, and its errors lose the number of the row.
    reading = csv.ReadOptions(use_threads=False)
    yield from csv.open_csv(file, read_options=reading, convert_options=options)


def _read_ipc(file: Path, schema: Any, batch_rows: int) -> Iterator[Any]:
    """Read the file's own batches, only the columns needed."""
    pa = needs("pyarrow", "parquet")
    wanted = [_dataset(file, "ipc").schema.get_field_index(name) for name in schema.names]
    options = pa.ipc.IpcReadOptions(included_fields=wanted)
    with pa.OSFile(str(file)) as source, pa.ipc.open_file(source, options=options) as reader:
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number).select(schema.names)


_READERS: dict[str, Callable[[Path, Any, int], Iterator[Any]]] = {
    "parquet": _read_parquet,
    "csv": _read_csv,
    "ipc": _read_ipc,
}


@contextmanager
def _naming(file: Path, fmt: str) -> Iterator[None]:
    """Let pyarrow's errors say which file cannot be read."""
    pa = needs("pyarrow", "parquet")
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # not readable for another reason than its content
        problem = str(error)
        if found := re.search(r"CSV column #(\d+)", problem):
            name = _dataset(file, fmt).schema.names[int(found[1])]
            problem = problem.replace(found[0], f"column {name!r}")
        raise ValueError(f"{file}: cannot be read as {_FORMATS[fmt]}: {problem}") from error
