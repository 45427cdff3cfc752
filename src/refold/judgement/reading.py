"""The tables of files as a judge reads them, block by block."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import numpy as np

from refold.base.advice import Advice
from refold.base.needs import needs
from refold.base.words import quoted
from refold.columns.context.history import History
from refold.columns.encoding.encoder import TableEncoder
from refold.columns.table import Table, as_texts
from refold.judgement import Judge, Judgement
from refold.tabular import InputError, TableSource, TrainingSelection, read_training
from refold.tabular.block import Block, block_to_arrow
from refold.tabular.errors import listed, located
from refold.tabular.features import BadCells, Features
from refold.tabular.training import RowPlaces, refuse_passed_on


class NumberReader:
    """Reads the blocks of a table for a model whose features are numbers."""

    def __init__(self, judge: Judge, table: TableSource) -> None:
        self._judge, self._features = judge, Features(judge.names, table)
        self.columns = self._features.columns
        self.numeric = {name: place for place, name in enumerate(self.columns)}

    def blocks(
        self,
        table: TableSource,
        columns: Iterable[str] | None,
        *,
        as_written: Collection[str] = (),
        rows: int | None = None,
    ) -> Iterator[Block]:
        """Read some columns; numbers as such unless they are to be handed on as written."""
        return table.blocks(columns, numbers=set(self.numeric) - set(as_written), rows=rows)

    def rows(self, table: TableSource) -> tuple[Any, Callable[[int], str]]:
        """Read all rows as the model takes them, and say where a person finds one."""
        blocks = [block for block in self.blocks(table, self.columns) if block.rows]
        if not blocks:
            raise InputError(f"{table.name} has column names but no rows.")
        matrix = np.concatenate([self._features.matrix(block) for block in blocks])
        cells = dict(zip(self._judge.names, matrix.T, strict=True))
        return needs("pyarrow", "parquet").table(cells), RowPlaces(blocks)

    def judge(
        self, block: Block, *, explained: bool = False, bad: BadCells | None = None
    ) -> Judgement:
        """Judge the rows of a block; a cell that is no number is an error, or noted in `bad`."""
        matrix = self._features.matrix(block, bad)
        with located(block.file, block.where, self._judge.names):
            found = self._judge.rows(matrix, explained=explained)
            found.distances  # noqa: B018  # now: errors say where
        return found


class TableReader:
    """Reads the blocks of a table for a model that takes columns of any kind; see NumberReader.

    If it is `strict`, a cell that is not what its column holds is an error.
    """

    def __init__(self, judge: Judge, table: TableSource, *, strict: bool = False) -> None:
        assert judge.encoder is not None
        self._judge, self._encoder, self._strict = judge, judge.encoder, strict
        self._history = History()  # blocks follow each other: a window reaches into the one before
        self.columns = list(judge.inputs)
        self._id_column = judge.id_column if judge.id_column in table.kinds else None
        self.numeric = {judge.names[k]: place for place, k in enumerate(judge.numeric)}
        absent = [name for name in self.columns if name not in table.kinds]
        if absent:
            raise InputError(
                f"{table.name}: there is no column {listed(absent)}, which the model needs. The "
                f"table has {listed(table.names)}."
            )
        refuse_passed_on(table, self.columns)

    def blocks(
        self,
        table: TableSource,
        columns: Iterable[str] | None,
        *,
        as_written: Collection[str] = (),
        rows: int | None = None,
    ) -> Iterator[Block]:
        """Read some columns, as they are written, and the one that names rows."""
        if columns is not None and self._id_column is not None:
            columns = [*columns, *({self._id_column} - set(columns))]
        return table.blocks(columns, rows=rows)

    def rows(self, table: TableSource) -> tuple[Any, Callable[[int], str]]:
        """Read all rows as ``refold fit`` does, and say where a person finds one."""
        training = read_training(table, TrainingSelection(self.columns))
        plan = self._encoder.inputs
        cells = plan.parse(self._encoder.read(training.table, reset=False).as_read)
        with located(table.name, training.where):
            plan.check_forms(cells)
        if self._strict:
            check_cells(self._encoder, cells, training.where)
        return training.table, training.where

    def judge(self, block: Block, *, explained: bool = False) -> Judgement:
        """Judge the rows of a block; an error says where in the file."""

        def where(row: int) -> str:
            return f"{block.file}, {block.where(row)}"

        cells = block_to_arrow(block.select(self.columns))
        plan = self._encoder.inputs
        if plan.names != self.columns:  # the judge has other names for its columns
            cells = cells.rename_columns(plan.names)
        with located(block.file, block.where, self.columns):
            found = self._judge.table(cells, explained=explained, history=self._history)
            self._history.commit()
            assert found.cells is not None
            plan.check_forms(found.cells.as_read.select(plan.names))
        if self._strict:
            check_cells(self._encoder, found.cells, where)
        if self._id_column is not None:
            names = block.texts(self._id_column).to_pylist()
            found.row_names = [name or "" for name in names]
        return found


Reader = NumberReader | TableReader


def reader_of(judge: Judge, table: TableSource, *, strict: bool = False) -> Reader:
    """Find a model's columns in a table."""
    if judge.encoder is None:
        return NumberReader(judge, table)
    return TableReader(judge, table, strict=strict)


def check_cells(encoder: TableEncoder, table: Table, where: Callable[[int], str]) -> None:
    """Refuse cells that are not what their column holds."""
    plan = encoder.inputs
    for column, cells in zip(plan.used, plan.parse(table.as_read).columns, strict=True):
        if cells.unreadable.any():
            row = int(cells.unreadable.argmax())
            cell = quoted(as_texts(cells).text(row) or "")
            raise InputError(
                f"{where(row)}, column {column.name!r}: {cell} is not a {column.role}.",
                advice=Advice("To go on all the same", "bad_cells", value="notice"),
            )
