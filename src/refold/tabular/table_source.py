"""A table that is read from its beginning, block by block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType, TracebackType
from typing import IO, Any, Self

from refold.base.advice import NO_ADVICE, Advice
from refold.base.findings import Finding
from refold.columns.missing import IN_MEMORY, SourceFormat
from refold.tabular._cell_text import MissingWords
from refold.tabular.block import Block
from refold.tabular.csv_dialect import Dialect
from refold.tabular.errors import InputError, listed
from refold.tabular.streams import name_of

# Rows of a block: about 8 MB of numbers, and no more than keeps a reader of its output waiting.
_VALUES, _FEWEST, _MOST = 2**20, 2**10, 2**16


@dataclass(frozen=True)
class ScanOptions:
    """How rows are wanted; `TableSource.blocks` says what each means."""

    numbers: frozenset[str]
    rows: int


@dataclass(frozen=True)
class ReadOptions:
    """How a table is read, as far as its content does not say; see `open_table`."""

    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    sheet: str | None = None
    skip_rows: int | None = None
    missing: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    totals: bool = False
    say: Callable[[Finding], None] = lambda finding: None


class TableSource(ABC):
    r"""A table in a file, in several or in a pipe, which can be read once.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refold.tabular import open_table
    >>> file = Path(tempfile.mkdtemp()) / "parts.csv"
    >>> _ = file.write_text("part,torque\n007,75.1\n008,74.9\n")
    >>> with open_table(file) as table:
    ...     print(table.names, table.format)
    ['part', 'torque'] CSV, commas
    """

    name: str  #: what messages call it
    format: str  #: how it is written, in words
    kinds: dict[str, Any]  #: the columns and their types, those of Arrow
    unnamed: Sequence[str] = ()  #: columns that the file gives no name, called after their number
    #: the units of columns, where a line below their names has them
    units: Mapping[str, str] = MappingProxyType({})
    #: columns of JSON with lists, and where the first is: they can only be passed on
    lists: Mapping[str, str] = MappingProxyType({})
    periods: Collection[str] = ()  #: columns of periods of pandas: their cells are only counts
    rows: int | None = None  #: how many rows there are, if the file says so
    by_column: bool = False  #: whether some columns can be read without the others
    dialect: Dialect | None = None  #: of text: what separates cells, and its decimal mark
    sheets: Sequence[str] = ()  #: of a workbook: what its sheets are called
    sheet: str = ""  #: the one that is read
    written = IN_MEMORY
    _missing_words = MissingWords(())

    @property
    def names(self) -> list[str]:
        """The columns."""
        return list(self.kinds)

    def blocks(
        self,
        columns: Iterable[str] | None = None,
        *,
        numbers: Iterable[str] = (),
        rows: int | None = None,
    ) -> Iterator[Block]:
        """Read the rows in their order.

        Parameters
        ----------
        columns : iterable of str or None, default=None
            Which columns to read; None is all.
        numbers : iterable of str, default=()
            Columns of text of which only the numbers matter: where they are plainly written, they
            come as such, which is faster.
        rows : int or None, default=None
            The most rows in a block; None is about 8 MB of numbers.
        """
        wanted = self.names
        if columns is not None:
            chosen = set(columns)
            self.require(chosen)
            wanted = [name for name in wanted if name in chosen]
        if rows is None:
            rows = min(max(_VALUES // max(len(wanted), 1), _FEWEST), _MOST)
        for block in self._blocks(wanted, ScanOptions(frozenset(numbers), rows)):
            yield from self._cleared(block).parts(rows)

    def _cleared(self, block: Block) -> Block:
        """Return a block in which what a user calls missing is null."""
        if self.written != IN_MEMORY:
            block = replace(block, written=self.written)
        if not self._missing_words:
            return block
        columns = {
            name: self._missing_words.without(column) for name, column in block.columns.items()
        }
        return replace(block, columns=columns)

    @abstractmethod
    def _blocks(self, wanted: list[str], asked: ScanOptions) -> Iterator[Block]:
        """Read some columns; a block may have more rows than asked for."""

    def close(self) -> None:  # noqa: B027 - not every table has something to close
        """Close the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def require(self, columns: Iterable[str]) -> None:
        """Refuse columns that are not there."""
        absent = [name for name in columns if name not in self.kinds]
        if absent:
            raise InputError(
                f"{self.name}: there is no column {listed(absent)}. It has {listed(self.names)}."
            )


class FileTable(TableSource):
    """A table in one file of some format, or in a pipe: its bytes, unpacked, and where it is."""

    by_people = False

    def __init__(self, stream: IO[bytes], source: str, how: ReadOptions) -> None:
        self.name, self._stream, self._how = name_of(source), stream, how
        self._missing_words = MissingWords(how.missing)
        self.written = SourceFormat(
            how.decimal or "", how.thousands or "", "", how.missing, how.keep, self.by_people
        )

    def _say(self, kind: str, message: str, advice: Advice = NO_ADVICE) -> None:
        """Tell the user what was noticed while the file was opened."""
        self._how.say(Finding(kind, message=f"{self.name}: {message}", advice=advice))

    @staticmethod
    @abstractmethod
    def recognizes(head: bytes) -> bool:
        """Whether a file that begins so is of this format."""

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


# Columns of a file: each takes some 5 kB of Arrow's memory, however few rows there are.
MOST_COLUMNS = 100_000
_LONGEST_NAME = 10_000  # characters


def check_width(columns: int, file: str) -> None:
    """Refuse a table of more columns than are read."""
    if columns > MOST_COLUMNS:
        raise InputError(
            f"{file} has {columns:,} columns; at most {MOST_COLUMNS:,} are read. If it has fewer, "
            "say what separates them."
        )


def checked_names(names: Sequence[str], file: str) -> Sequence[str]:
    """Refuse a table without columns, or with too many; names that are endless, or appear twice."""
    if not names:
        raise InputError(f"{file} has no columns.")
    check_width(len(names), file)
    if (longest := max(map(len, names))) > _LONGEST_NAME:
        raise InputError(
            f"{file}: the name of a column has {longest:,} characters; at most {_LONGEST_NAME:,} "
            "are read. Is this a table with names in its first line?"
        )
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise InputError(
            f"{file}: columns need different names; these appear more than once: {listed(twice)}."
        )
    return names


class HeldTable(FileTable):
    """A table in memory; its class calls `_hold` when it is opened."""

    def _hold(self, table: Any, where: Callable[[int], str]) -> None:
        """Keep an Arrow table; `where` says where a person finds its k-th row."""
        self._held, self._place, self.rows = table, where, table.num_rows
        self.kinds = dict(zip(table.column_names, table.schema.types, strict=True))

    def _blocks(self, wanted: list[str], asked: ScanOptions) -> Iterator[Block]:
        first = 0
        for batch in self._held.select(wanted).to_batches(max_chunksize=asked.rows):
            columns = dict(zip(wanted, batch.columns, strict=True))
            block = Block(first + 1, columns, batch.num_rows, self._where(first), self.name)
            yield block
            first += batch.num_rows

    def _where(self, first: int) -> Callable[[int], str]:
        return lambda k: self._place(first + k)


def bounded(stream: IO[bytes], source: str, most: int) -> bytes:
    """Read all of a stream that must be held."""
    content = stream.read(most + 1)
    if len(content) > most:
        raise InputError(
            f"{name_of(source)} has more than {most >> 20} MB, too much to be held: save it as CSV "
            "or Parquet."
        )
    return content
