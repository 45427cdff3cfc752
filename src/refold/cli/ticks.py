"""A list of suspects that somebody has ticked: the rows to learn without."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from refold.base.findings import Finding, left_out
from refold.base.words import quoted
from refold.cli.suspects import FINGERPRINT, LEAVE_OUT, ROW, fingerprints

if TYPE_CHECKING:
    from refold.tabular import Block, Training

_YES = frozenset({"x", "yes", "y", "1", "1.0", "true", "✓", "✔"})
_NO = frozenset({"", "no", "n", "0", "0.0", "false"})


def without_ticked(training: Training, file: Path, table: str) -> tuple[Training, Finding]:
    """Return the rows that nobody has ticked, and a finding that says how many were.

    Parameters
    ----------
    training : Training
        All rows, with all columns of the table.
    file : Path
        The list, as ``refold fit --suspects`` has written it, with ticks.
    table : str
        What messages call the table.
    """
    import numpy as np

    from refold.tabular import InputError

    ticks = _ticked(file)
    numbers = np.array(sorted(ticks), dtype=np.int64)
    places = np.searchsorted(training.numbers, numbers)
    known = np.isin(numbers, training.numbers)
    if not known.all():
        row = int(numbers[~known][0])
        raise InputError(
            f"{file}: row {row:,} is ticked, but is none of the rows of {table} to learn from. "
            f"{_ANEW}"
        )
    prints = fingerprints(training.cells.take(places))
    for row, found in zip(numbers.tolist(), prints, strict=True):
        if found != ticks[row]:
            raise InputError(
                f"{file}: row {row:,} is not the row {row:,} that {table} has now. The table has "
                f"changed since the list was written, or is read with other options. {_ANEW}"
            )
    kept = np.ones(len(training.numbers), dtype=np.bool_)
    kept[places] = False
    if not kept.any():
        raise InputError(f"{file}: all rows of {table} are ticked, so none is left to learn from.")
    return training.only(kept), left_out(numbers.tolist(), len(kept), file.name)


_ANEW = "Write a new list with --suspects."


def _ticked(file: Path) -> dict[int, str]:
    """Return the rows that are ticked, from 1, and their fingerprints."""
    from refold.tabular import InputError, open_table
    from refold.tabular.errors import listed

    columns, ticks, lines = (LEAVE_OUT, ROW, FINGERPRINT), dict[int, str](), 0
    with open_table(str(file)) as table:
        absent = [name for name in columns if name not in table.kinds]
        if absent:
            raise InputError(
                f"{file}: there is no column {listed(absent)}: it is no list that --suspects has "
                "written."
            )
        for block in table.blocks(columns, nulls=True):
            lines += block.rows
            ticks |= _ticks_of(block)
    if not ticks:
        raise InputError(
            f"{file}: none of its {lines:,} rows is ticked. Put an x into the column {LEAVE_OUT} "
            "of each row to leave out; or learn from all rows, without --without."
        )
    return ticks


def _ticks_of(block: Block) -> dict[int, str]:
    marks, rows, prints = (
        [text or "" for text in block.texts(name).to_pylist()]
        for name in (LEAVE_OUT, ROW, FINGERPRINT)
    )
    return {
        _row(rows[k], block, k): prints[k].strip()
        for k, mark in enumerate(marks)
        if _is_ticked(mark, block, k)
    }


def _is_ticked(mark: str, block: Block, k: int) -> bool:
    from refold.tabular import InputError

    word = mark.strip().lower()
    if word not in _YES | _NO:
        raise InputError(
            f"{block.file}, {block.where(k)}: {quoted(mark)} in the column {LEAVE_OUT} is neither "
            "x, yes or 1 (leave the row out) nor empty (learn from it)."
        )
    return word in _YES


def _row(text: str, block: Block, k: int) -> int:
    from refold.tabular import InputError

    try:
        number = float(text)
    except ValueError:
        number = 0.5
    if not (number.is_integer() and 1.0 <= number < 2.0**53):
        raise InputError(
            f"{block.file}, {block.where(k)}: {quoted(text)} in the column {ROW} is no row."
        )
    return int(number)
