"""A table that is read from its beginning, block by block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType, TracebackType
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from refold._typing import Integers
from refold.base.advice import NO_ADVICE, Advice
from refold.base.findings import Finding
from refold.base.needs import needs
from refold.columns.frames import described, is_text
from refold.columns.missing import IN_MEMORY, Written
from refold.columns.number_form import NumberForm
from refold.tabular.absent import Absent
from refold.tabular.cells import plain_texts, ungrouped, without_missing
from refold.tabular.dialect import Dialect
from refold.tabular.errors import InputError, listed
from refold.tabular.streams import name_of

# Rows of a block: about 8 MB of numbers, and no more than keeps a reader of its output waiting.
_VALUES, _FEWEST, _MOST = 2**20, 2**10, 2**16


@dataclass(frozen=True)
class Block:
    r"""Some rows of a table that follow each other.

    Parameters
    ----------
    first : int
        The number of its first row; the rows of a table are counted from 1.
    columns : dict of str to pyarrow.Array
        Where the file is text, text, or numbers if these were asked for; else as the file has them.
    rows : int
        How many rows there are.
    where : callable
        Says where a person finds the k-th row of the block, k from 0: "line 18" or "row 17".
    file : str
        What messages call the file that it is from.
    decimal : str
        What stands before a fraction in its columns of text.
    marks : dict of str to NumberForm
        Columns of text whose numbers are written otherwise.
    written : Written
        How its texts are written, as far as the file or its user says so.
    chosen : ndarray of int or None
        Which rows from the first on these are, from 0; None is all.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refold.tabular import open_table
    >>> file = Path(tempfile.mkdtemp()) / "parts.csv"
    >>> _ = file.write_text("part,torque\n007,75.1\n008,74.9\n")
    >>> with open_table(file) as table:
    ...     [(block.first, block.rows, list(block.columns)) for block in table.blocks()]
    [(1, 2, ['part', 'torque'])]
    """

    first: int
    columns: dict[str, Any]
    rows: int
    where: Callable[[int], str]
    file: str
    decimal: str = "."
    marks: Mapping[str, NumberForm] = field(default_factory=dict)
    written: Written = IN_MEMORY
    chosen: Integers | None = None

    @property
    def numbers(self) -> Integers:
        """Which rows of the table these are, counted from 1."""
        return self.first + (np.arange(self.rows) if self.chosen is None else self.chosen)

    def place(self, row: int) -> str:
        """Say where a person finds a row of the block, from 0: "parts.csv, line 18"."""
        return f"{self.file}, {self.where(row)}"

    def only(self, chosen: NDArray[np.bool_]) -> Block:
        """Return some of the rows; errors still find them where they are in the file."""
        places = np.flatnonzero(chosen)
        mask = needs("pyarrow", "parquet").array(chosen)
        return replace(
            self,
            columns={name: column.filter(mask) for name, column in self.columns.items()},
            rows=len(places),
            where=lambda k: self.where(int(places[k])),
            chosen=places if self.chosen is None else self.chosen[places],
        )

    def texts(self, name: str) -> Any:
        """Return a column as text; numbers as they are written."""
        pa = needs("pyarrow", "parquet")
        column = self.columns[name]
        try:
            return column.cast(pa.string())
        except pa.ArrowException:
            raise InputError(
                f"{self.file}: column {name!r} holds {described(column.type)}."
            ) from None

    def numerals(self, name: str) -> tuple[Any, str]:
        """Return a column as text without marks between thousands, and its decimal mark."""
        form = self.marks.get(name) or NumberForm(self.decimal)
        return ungrouped(self.texts(name), form), form.decimal

    def select(self, names: Sequence[str]) -> Block:
        """Return some of the columns, in that order."""
        return replace(self, columns={name: self.columns[name] for name in names})

    def with_plain_numbers(self) -> Block:
        """Return the block with the numbers in columns of text as Python writes them."""
        usual = NumberForm(self.decimal)
        columns = {
            name: plain_texts(column, self.marks.get(name, usual))
            if is_text(column.type)
            else column
            for name, column in self.columns.items()
        }
        return replace(self, columns=columns, decimal=".", marks={})

    def without_missing(self, kept: Mapping[str, Collection[str]] | None = None) -> Block:
        """Return the block with nulls where words for missing values are in columns of text.

        `kept` are words that are values in some of the columns.
        """
        words, kept = self.written.words, kept or {}
        cleared = {
            name: without_missing(column, words.difference(kept.get(name, ())))
            if is_text(column.type)
            else column
            for name, column in self.columns.items()
        }
        return replace(self, columns=cleared)

    def parts(self, rows: int) -> Iterator[Block]:
        """Cut the block into some of at most so many rows; nothing is copied."""
        if self.rows <= rows:
            yield self
            return
        for begin in range(0, self.rows, rows):
            columns = {name: column.slice(begin, rows) for name, column in self.columns.items()}
            part = replace(
                self,
                columns=columns,
                rows=min(rows, self.rows - begin),
                where=self._from(begin),
            )
            if self.chosen is None:
                yield replace(part, first=self.first + begin)
            else:
                yield replace(part, chosen=self.chosen[begin : begin + rows])

    def _from(self, begin: int) -> Callable[[int], str]:
        return lambda k: self.where(begin + k)


@dataclass(frozen=True)
class Asked:
    """How rows are wanted; `TableSource.blocks` says what each means."""

    numbers: frozenset[str]
    rows: int
    nulls: bool


@dataclass(frozen=True)
class How:
    """How a table is read, as far as its content does not say.

    Parameters
    ----------
    header : bool or None, default=None
        Whether the first line of a CSV file names the columns; None is yes, unless all are numbers.
    delimiter, decimal : str or None, default=None
        What separates the cells of a CSV file and what stands before a fraction; None is guessed.
    thousands : str or None, default=None
        What stands between thousands; None is to be seen.
    sheet : str or None, default=None
        Which sheet of a workbook, by its name or its number.
    skip_rows : int or None, default=None
        How many lines or rows come before the names; None is to be seen.
    missing, keep : tuple of str, default=()
        Further words for missing values, and words that are values all the same.
    totals : bool, default=False
        Whether lines of totals at the end are left out.
    say : callable, default: nothing is said
        Takes findings that the user should know.
    """

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

    Attributes
    ----------
    name : str
        What messages call it.
    format : str
        How it is written, in words.
    kinds : dict of str to pyarrow.DataType
        The columns and their types.
    unnamed : sequence of str
        Those of them that the file gives no name; they are called after their number.
    units : dict of str to str
        The units of columns, where a line below their names has them.
    unlearnable : dict of str to str
        Columns that can be passed on but not learned, and why: those of JSON that hold lists.
    rows : int or None
        How many rows there are, if the file says so.
    by_column : bool
        Whether columns lie apart, so that some of them can be read without the others.
    dialect : Dialect or None
        Of text: what separates its cells, and what stands before a fraction.
    sheets, sheet : sequence of str, str
        Of a workbook: what its sheets are called, and the one that is read.

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

    name: str
    format: str
    kinds: dict[str, Any]
    unnamed: Sequence[str] = ()
    units: Mapping[str, str] = MappingProxyType({})
    unlearnable: Mapping[str, str] = MappingProxyType({})
    rows: int | None = None
    by_column: bool = False
    dialect: Dialect | None = None
    sheets: Sequence[str] = ()
    sheet: str = ""
    written = IN_MEMORY
    _absent = Absent(())

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
        nulls: bool = False,
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
        nulls : bool, default=False
            Whether words for missing values, such as NA, are null in columns of text.
        """
        wanted = self.names
        if columns is not None:
            chosen = set(columns)
            self.require(chosen)
            wanted = [name for name in wanted if name in chosen]
        if rows is None:
            rows = min(max(_VALUES // max(len(wanted), 1), _FEWEST), _MOST)
        for block in self._blocks(wanted, Asked(frozenset(numbers), rows, nulls)):
            cleared = self._cleared(block)
            yield from (cleared.without_missing() if nulls else cleared).parts(rows)

    def _cleared(self, block: Block) -> Block:
        """Return a block in which what a user calls missing is null."""
        if self.written != IN_MEMORY:
            block = replace(block, written=self.written)
        if not self._absent:
            return block
        columns = {name: self._absent.without(column) for name, column in block.columns.items()}
        return replace(block, columns=columns)

    @abstractmethod
    def _blocks(self, wanted: list[str], asked: Asked) -> Iterator[Block]:
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
    """A table in one file of some format, or in a pipe.

    Where people write it (`by_people`), words such as NA stand for missing values.

    Parameters
    ----------
    stream : binary file
        Its bytes, unpacked.
    source : str
        Where it is.
    how : How
        How to read it, as far as its content does not say.
    """

    by_people = False

    def __init__(self, stream: IO[bytes], source: str, how: How) -> None:
        self.name, self._stream, self._how = name_of(source), stream, how
        self._absent = Absent(how.missing)
        self.written = Written(
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


def checked_names(names: Sequence[str], file: str) -> Sequence[str]:
    """Refuse a table without columns, and names that appear more than once."""
    if not names:
        raise InputError(f"{file} has no columns.")
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise InputError(
            f"{file}: columns need different names; these appear more than once: {listed(twice)}."
        )
    return names
