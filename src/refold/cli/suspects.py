"""A list of suspect rows for people to tick those that are wrong, and learning without these."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from refold.base.errors import UserError
from refold.base.findings import Finding, rows_left_out
from refold.base.needs import needs
from refold.base.words import quoted
from refold.cli import options

if TYPE_CHECKING:
    from refold import Detector, Suspects
    from refold.tabular import Training
    from refold.tabular.block import Block

LEAVE_OUT, ROW, FINGERPRINT = "leave_out", "row", "fingerprint"
_OPTION, _REASONS = "--suspects", 3
# Letters alone: a spreadsheet takes 12e45 for a number, and 1-2 for a date.
_LETTERS = str.maketrans("0123456789abcdef", "abcdefghijklmnop")


@dataclass(frozen=True)
class SuspectList:
    """The rows of a training table that look least like the rest."""

    training: Training  # the rows, with all columns of the table
    found: Suspects  # which of them
    out: Path  # where the list goes; the name says how it is written

    @classmethod
    def of(cls, training: Training, model: Detector, budget: int, out: Path) -> SuspectList:
        """Look for suspects among the rows that a model learns from, by its roles and context."""
        from refold import suspects

        found = suspects(
            training.table,
            budget,
            roles=model.roles,
            by=model.by,
            over=model.over,
            context=model.context,
            reasons=_REASONS,
        )
        return cls(training, found, out)

    @property
    def rows(self) -> list[int]:
        """Their numbers in the table, from 1, the oddest first."""
        return [int(number) for number in self.training.numbers[self.found.rows]]

    def write(self, id_column: str | None) -> None:
        """Write a line for each: a box to tick, which row it is, why, and its own cells."""
        from refold.tabular.writing import WriteOptions, writing

        batch, fmt = self._batch(id_column), options.output_format(self.out)
        how = WriteOptions(added=[f"reason_{k + 1}" for k in range(_REASONS)])
        with writing(fmt, self.out, batch.schema, how) as write:
            write(batch)

    def said(self) -> str:
        """Return what to do with the list."""
        return (
            f"The {len(self.found):,} rows that look least like the rest are in {self.out}. Put an "
            f"x into the column {LEAVE_OUT} where a row is wrong, then give the same command with "
            f"--without {self.out} in place of --suspects."
        )

    def _batch(self, id_column: str | None) -> Any:
        pa = needs("pyarrow", "cli")
        cells = self.training.cells.take(pa.array(self.found.rows))
        because = [suspect.because for suspect in self.found]
        own = {
            LEAVE_OUT: pa.nulls(len(self.found), pa.string()),
            ROW: pa.array(self.rows, pa.int64()),
            "score": pa.array([suspect.score for suspect in self.found], pa.float64()),
            **{
                f"reason_{k + 1}": pa.array([_at(said, k) for said in because], pa.string())
                for k in range(_REASONS)
            },
            FINGERPRINT: pa.array(fingerprints(cells), pa.string()),
        }
        given = {_free(name, own): name for name in cells.column_names}
        # What names a row stands beside its number; what only this program reads comes last.
        named = [name for name in given if given[name] == id_column]
        order = dict.fromkeys([LEAVE_OUT, ROW, *named, *own, *given])
        del order[FINGERPRINT]
        columns = {n: own[n] if n in own else _flat(cells[given[n]]) for n in order}
        return pa.record_batch({**columns, FINGERPRINT: own[FINGERPRINT]})


def check_list(out: Path, read: Sequence[str | Path], model: Path) -> None:
    """Refuse, before any work, a place where the list cannot be written."""
    options.output_format(out, _OPTION)
    options.check_output(out, read, _OPTION)
    if out.absolute() == model.absolute():
        raise typer.BadParameter("The model is written there.", param_hint=_OPTION)


def fingerprints(cells: Any) -> list[str]:
    """Return what tells the rows of an Arrow table from others: twelve letters for all cells."""
    return [_fingerprint(row.items()) for row in cells.to_pylist()]


def _fingerprint(row: Iterable[tuple[str, Any]]) -> str:
    text = json.dumps(list(row), default=str)
    return blake2b(text.encode(), digest_size=6).hexdigest().translate(_LETTERS)


def _free(name: str, taken: Collection[str]) -> str:
    """Return a column's name, or one like it where the list has a column of that name."""
    while name in taken:
        name = f"{name} (table)"
    return name


def _at(sentences: Sequence[str], k: int) -> str | None:
    return sentences[k] if k < len(sentences) else None


def _flat(column: Any) -> Any:
    """Return a column as any format can hold it."""
    pa = needs("pyarrow", "cli")
    column = column.combine_chunks()
    if pa.types.is_nested(column.type):
        return pa.array([None if c is None else str(c) for c in column.to_pylist()], pa.string())
    return column


_YES = frozenset({"x", "yes", "y", "1", "1.0", "true", "✓", "✔"})
_NO = frozenset({"", "no", "n", "0", "0.0", "false"})


def without_ticked(training: Training, file: Path, table: str) -> tuple[Training, Finding]:
    """Return the rows that nobody has ticked, and a finding that says how many were.

    `file` is the list that ``refold fit --suspects`` has written, with ticks; `table` is what
    messages call the table.
    """
    import numpy as np

    ticks = _ticked(file)
    numbers = np.array(sorted(ticks), dtype=np.int64)
    places = np.searchsorted(training.numbers, numbers)
    known = np.isin(numbers, training.numbers)
    if not known.all():
        row = int(numbers[~known][0])
        raise UserError(
            f"{file}: row {row:,} is ticked, but is none of the rows of {table} to learn from. "
            f"{_ANEW}"
        )
    prints = fingerprints(training.cells.take(places))
    for row, found in zip(numbers.tolist(), prints, strict=True):
        if found != ticks[row]:
            raise UserError(
                f"{file}: row {row:,} is not the row {row:,} that {table} has now. The table has "
                f"changed since the list was written, or is read with other options. {_ANEW}"
            )
    kept = np.ones(len(training.numbers), dtype=np.bool_)
    kept[places] = False
    if not kept.any():
        raise UserError(f"{file}: all rows of {table} are ticked, so none is left to learn from.")
    return training.only(kept), rows_left_out(numbers.tolist(), len(kept), file.name)


_ANEW = "Write a new list with --suspects."


def _ticked(file: Path) -> dict[int, str]:
    """Return the rows that are ticked, from 1, and their fingerprints."""
    from refold.tabular import open_table
    from refold.tabular.errors import listed

    columns, ticks, lines = (LEAVE_OUT, ROW, FINGERPRINT), dict[int, str](), 0
    with open_table(str(file)) as table:
        absent = [name for name in columns if name not in table.kinds]
        if absent:
            raise UserError(
                f"{file}: there is no column {listed(absent)}: it is no list that --suspects has "
                "written."
            )
        for block in table.blocks(columns):
            lines += block.rows
            ticks |= _ticks_of(block.without_missing())
    if not ticks:
        raise UserError(
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
    word = mark.strip().lower()
    if word not in _YES | _NO:
        raise UserError(
            f"{block.file}, {block.where(k)}: {quoted(mark)} in the column {LEAVE_OUT} is neither "
            "x, yes or 1 (leave the row out) nor empty (learn from it)."
        )
    return word in _YES


def _row(text: str, block: Block, k: int) -> int:
    try:
        number = float(text)
    except ValueError:
        number = 0.5
    if not (number.is_integer() and 1.0 <= number < 2.0**53):
        raise UserError(
            f"{block.file}, {block.where(k)}: {quoted(text)} in the column {ROW} is not a row."
        )
    return int(number)
