"""Files that together are one table: which they are, and what columns they share.

All files are looked at before the first row is read: a column that is missing in the last file is
found before the others have been read for nothing.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from refold._typing import PathLike
from refold.base.findings import Finding
from refold.base.needs import needs
from refold.columns.frames import described, is_number, is_text
from refold.tabular.errors import InputError, listed
from refold.tabular.opening import open_table
from refold.tabular.table import Asked, Block, TableSource

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

    Parameters
    ----------
    paths : path or sequence of paths
        Files, folders (their files, sorted by name) or patterns such as ``"2024-*.parquet"``.
    say : callable, default: nothing is said
        Takes findings that the user should know, such as a guessed encoding.

    Attributes
    ----------
    files : list of Path
        In the order of their rows.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refold.tabular import Files
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "1.csv").write_text("torque,speed\n75.1,300\n")
    >>> _ = (folder / "2.csv").write_text("speed;torque\n301;74,9\n?;75,0\n")
    >>> for block in Files(folder).blocks(["speed"], numbers=["speed"]):
    ...     print(block.first, block.columns["speed"].to_pylist())
    1 [300.0]
    2 [301.0, None]
    """

    def __init__(self, paths: Paths, say: Callable[[Finding], None] = lambda finding: None) -> None:
        self.files, self._say = _files_at(paths), say
        self._heads = [_head(file) for file in self.files]
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
                    raise InputError(f"{head.file}: column {name!r} holds {described(kind)}.")

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
            common = {
                name: _common(known, here[name], name, head.file) for name, known in common.items()
            }
        return common

    def _blocks(self, wanted: list[str], asked: Asked) -> Iterator[Block]:
        first = 1
        for file in self.files:
            with open_table(file, say=self._say) as table:
                for block in table.blocks(wanted, **vars(asked)):
                    yield replace(block, first=first)
                    first += block.rows


def _head(file: Path) -> _Head:
    with open_table(file) as table:
        return _Head(file, table.kinds, table.unnamed, table.rows, table.by_column)


def _read_as(head: _Head, numbers: Collection[str]) -> dict[str, Any]:
    kinds = dict(head.kinds)
    for name in numbers:
        if is_text(kinds[name]):
            kinds[name] = needs("pyarrow", "parquet").float64()
    return kinds


def _common(known: Any, here: Any, name: str, file: Path) -> Any:
    """Return a type that holds both; numbers of any type are numbers, nulls are of every type."""
    pa = needs("pyarrow", "parquet")
    if known == here or pa.types.is_null(here):
        return known
    if pa.types.is_null(known):
        return here
    if is_number(known) and is_number(here):
        return pa.float64()
    raise InputError(f"{file}: column {name!r} holds {here}; in the files before it held {known}.")


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
