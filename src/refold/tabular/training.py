"""The rows to learn from: which columns, and which rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold.tabular import cells
from refold.tabular.errors import InputError, listed
from refold.tabular.table import Block, Table
from refold.tabular.whole import joined


@dataclass(frozen=True)
class Wanted:
    """What someone wants to learn of a table.

    Parameters
    ----------
    columns : sequence of str or None, default=None
        The columns to learn; None is all.
    ignore : collection of str, default=()
        Columns that are not learned.
    target_column, target : str or None, default=None
        Learn only the rows that have this value in this column, and not the column.
    """

    columns: Sequence[str] | None = None
    ignore: Collection[str] = ()
    target_column: str | None = None
    target: str | None = None

    def of(self, table: Table) -> list[str]:
        """Return the columns to learn of a table; refuse what is not there."""
        named = table.names if self.columns is None else list(dict.fromkeys(self.columns))
        target = [] if self.target_column is None else [self.target_column]
        table.require([*named, *self.ignore, *target])
        learned = [name for name in named if name not in target and name not in self.ignore]
        if not learned:
            raise InputError(f"{table.name}: no column is left to learn.")
        return learned


@dataclass(frozen=True)
class Training:
    """Rows to learn from.

    Parameters
    ----------
    table : pyarrow.Table
        The columns to learn, as `read_arrow` has them, but for numbers: these are written with a
        decimal point and without marks between thousands.
    rows_read : int
        How many rows the table has; those with another target are not among these.
    where : callable
        Says where a person finds a row, counted from 0: "parts.csv, line 18".
    """

    table: Any
    rows_read: int
    where: Callable[[int], str]


def read_training(
    table: Table, wanted: Wanted, count: Callable[[int], None] = lambda rows: None
) -> Training:
    """Read all rows to learn from; `count` is told how many rows have been read."""
    learned, seen = wanted.of(table), Counter[str]()
    needed = {*learned, *filter(None, [wanted.target_column])}
    kept, read = [], 0
    for block in table.blocks(needed):
        read += block.rows
        count(block.rows)
        rows = _targets(block, wanted, seen)
        if rows.rows:
            kept.append(rows.select(learned).with_plain_numbers().without_missing())
    if read == 0:
        raise InputError(f"{table.name} has column names but no rows.")
    if not kept:
        raise InputError(
            f"{table.name}: no row has {wanted.target!r} in column {wanted.target_column!r}. "
            f"Found there: {listed([value for value, _ in seen.most_common()])}."
        )
    return Training(joined(kept), read, _Places(kept))


class _Places:
    """Where rows are that come from several blocks."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._where = [(block.file, block.where) for block in blocks]
        self._ends = np.cumsum([block.rows for block in blocks])

    def __call__(self, row: int) -> str:
        part = int(np.searchsorted(self._ends, row, side="right"))
        file, where = self._where[part]
        return f"{file}, {where(row - int(self._ends[part - 1] if part else 0))}"


def _targets(block: Block, wanted: Wanted, seen: Counter[str]) -> Block:
    """Return the rows that have the target; count what other rows have."""
    if wanted.target_column is None or wanted.target is None:
        return block
    coded = block.texts(wanted.target_column).dictionary_encode()
    values = [("" if value is None else value.strip()) for value in coded.dictionary.to_pylist()]
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    for code, rows in Counter(codes.tolist()).items():
        seen[values[code] if code >= 0 else ""] += rows
    right = np.array([*(_same(value, wanted.target) for value in values), False])
    chosen: NDArray[np.bool_] = right[codes]
    return block.only(chosen)


def _same(value: str, target: str) -> bool:
    """Whether two values are the same text, or the same number."""
    if value == target.strip():
        return True
    if cells.kind_of(value, ".") == cells.kind_of(target, ".") == "number":
        return cells.number_of(value, ".") == cells.number_of(target, ".")
    return False
