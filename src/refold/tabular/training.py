"""The rows to learn from: which columns, and which rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refold._typing import Booleans, Integers
from refold.base.advice import set_role
from refold.base.needs import needs
from refold.columns.frames import PERIODS
from refold.tabular._cell_text import cell_kind, cell_number
from refold.tabular.block import Block, join_blocks
from refold.tabular.errors import InputError, listed
from refold.tabular.table_source import TableSource


@dataclass(frozen=True)
class TrainingSelection:
    r"""What someone wants to learn of a table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refold.tabular import TrainingSelection, open_table
    >>> file = Path(tempfile.mkdtemp()) / "parts.csv"
    >>> _ = file.write_text("part,torque\n007,75.1\n008,74.9\n")
    >>> with open_table(file) as table:
    ...     TrainingSelection(ignore=["part"]).of(table)
    ['torque']
    """

    columns: Sequence[str] | None = None  #: the columns to learn; None is all
    ignore: Collection[str] = ()  #: columns that are not learned
    #: target_column, target: learn only the rows that have this value in this column, and not the
    #: column
    target_column: str | None = None
    target: str | None = None
    #: Whether the other columns are read as well, for people to see what a row is
    whole: bool = False

    def of(self, table: TableSource) -> list[str]:
        """Return the columns to learn of a table; refuse what is not there."""
        named = table.names if self.columns is None else list(dict.fromkeys(self.columns))
        target = [] if self.target_column is None else [self.target_column]
        table.require([*named, *self.ignore, *target])
        learned = [name for name in named if name not in target and name not in self.ignore]
        if not learned:
            raise InputError(f"{table.name}: no column is left to learn.")
        refuse_passed_on(table, learned)
        return learned


def refuse_passed_on(table: TableSource, columns: Iterable[str]) -> None:
    """Refuse columns that can only be passed on: lists, and periods of pandas.

    Of a period a file has only a count of an unknown unit.
    """
    for name in columns:
        if name in table.lists:
            raise InputError(
                f"{table.lists[name]}.", advice=set_role("Leave it out", name, "ignore")
            )
        if name in table.periods:
            raise InputError(
                f"{table.name}: column {name!r} {PERIODS}",
                advice=set_role("Or leave it out", name, "ignore"),
            )


@dataclass(frozen=True)
class Training:
    r"""Rows to learn from.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refold.tabular import TrainingSelection, open_table, read_training
    >>> file = Path(tempfile.mkdtemp()) / "parts.csv"
    >>> _ = file.write_text("part,torque\n007,75.1\n008,74.9\n")
    >>> with open_table(file) as table:
    ...     training = read_training(table, TrainingSelection(columns=["torque"]))
    >>> training.rows_read, training.table.column_names
    (2, ['torque'])
    """

    #: The columns to learn, as they are written; its metadata says how, as far as that is known
    table: Any
    rows_read: int  #: how many rows the table has; those with another target are not among these
    #: Says where a person finds a row, counted from 0: "parts.csv, line 18"
    where: Callable[[int], str]
    numbers: Integers  #: which rows of the table these are, counted from 1
    cells: Any  #: the same rows with all columns of the table, if these were wanted

    def only(self, chosen: Booleans) -> Training:
        """Return some of the rows; they are still found where they are."""
        places, mask = np.flatnonzero(chosen), needs("pyarrow", "parquet").array(chosen)
        return replace(
            self,
            table=self.table.filter(mask),
            where=lambda row: self.where(int(places[row])),
            numbers=self.numbers[chosen],
            cells=self.cells.filter(mask),
        )


class TrainingBlocks:
    """The rows to learn from, block by block; they can be read once, and `rows_read` counts on."""

    def __init__(self, table: TableSource, wanted: TrainingSelection) -> None:
        self._table, self._wanted = table, wanted
        self.columns, self.rows_read = wanted.of(table), 0
        self._kept = table.names if wanted.whole else self.columns

    def __iter__(self) -> Iterator[Block]:
        wanted, seen, none = self._wanted, Counter[str](), True
        for block in self._table.blocks({*self._kept, *filter(None, [wanted.target_column])}):
            self.rows_read += block.rows
            chosen = _targets(block, wanted, seen)
            if chosen.any():
                none = False
                rows = block if chosen.all() else block.only(chosen)
                yield rows.select(self._kept)
        if self.rows_read == 0:
            raise InputError(f"{self._table.name} has column names but no rows.")
        if none:
            raise InputError(
                f"{self._table.name}: no row has {wanted.target!r} in column "
                f"{wanted.target_column!r}. Found there: "
                f"{listed([value for value, _ in seen.most_common()])}."
            )

    def training(self, blocks: Sequence[Block]) -> Training:
        """Return all rows that were read."""
        cells = join_blocks(blocks)
        numbers = np.concatenate([block.numbers for block in blocks])
        table = cells.select(self.columns)
        return Training(table, self.rows_read, RowPlaces(blocks), numbers, cells)


def read_training(
    table: TableSource, wanted: TrainingSelection, count: Callable[[int], None] = lambda rows: None
) -> Training:
    r"""Read all rows to learn from; `count` is told how many rows have been read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refold.tabular import TrainingSelection, open_table, read_training
    >>> file = Path(tempfile.mkdtemp()) / "parts.csv"
    >>> _ = file.write_text("part,torque\n007,75.1\n008,74.9\n")
    >>> with open_table(file) as table:
    ...     read_training(table, TrainingSelection()).table.num_rows
    2
    """
    blocks, kept = TrainingBlocks(table, wanted), []
    for block in blocks:
        kept.append(block)
        count(block.rows)
    return blocks.training(kept)


class RowPlaces:
    """Says where rows are that come from several blocks: "parts.csv, line 3"."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._where = [(block.file, block.where) for block in blocks]
        self._ends = np.cumsum([block.rows for block in blocks])

    def __call__(self, row: int) -> str:
        """Say in which file and where in it."""
        part = int(np.searchsorted(self._ends, row, side="right"))
        file, where = self._where[part]
        return f"{file}, {where(row - int(self._ends[part - 1] if part else 0))}"


def _targets(block: Block, wanted: TrainingSelection, seen: Counter[str]) -> Booleans:
    """Say which rows have the target; count what other rows have."""
    if wanted.target_column is None or wanted.target is None:
        return np.ones(block.rows, dtype=np.bool_)
    return has_target(block, wanted.target_column, wanted.target, seen)


def has_target(block: Block, column: str, target: str, seen: Counter[str]) -> Booleans:
    """Say which rows have a value in a column; count in `seen` what is there."""
    coded = block.texts(column).dictionary_encode()
    values = [("" if value is None else value.strip()) for value in coded.dictionary.to_pylist()]
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    for code, rows in Counter(codes.tolist()).items():
        seen[values[code] if code >= 0 else ""] += rows
    right = np.array([*(_same(value, target) for value in values), False])
    return np.asarray(right[codes])


def _same(value: str, target: str) -> bool:
    """Whether two values are the same text, or the same number."""
    if value == target.strip():
        return True
    if cell_kind(value, ".") == cell_kind(target, ".") == "number":
        return cell_number(value, ".") == cell_number(target, ".")
    return False
