"""A model file as the commands use it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from refold.cli._options import BadCells

if TYPE_CHECKING:
    from refold.columns.bring import Brought
    from refold.columns.encoding.encoder import TableEncoder
    from refold.explain import Explanation
    from refold.judgement import Judge, Judgement
    from refold.tabular import Block, Table


class LoadedModel:
    """A model, its judge, and where it comes from.

    Parameters
    ----------
    file : path
        A model file.
    """

    def __init__(self, file: Path) -> None:
        from refold.judgement import Judge
        from refold.models.files import load_with_origin

        self.model, self.origin = load_with_origin(file)
        self.judge = Judge.of(self.model)

    def on(self, table: Table, bad_cells: BadCells | None) -> Reader:
        """Find the model's columns in a table."""
        reader = TableReader if self.judge.encoder else NumberReader
        return reader(self.judge, table, bad_cells)

    def explain(
        self, rows: list[int], found: Judgement | None, reasons: int | None
    ) -> list[Explanation]:
        """Say why rows are what they are; `rows` are their numbers in the table."""
        from refold.explain import explain

        if found is None:
            return []
        explained = explain(self.model, found, reasons=reasons)
        return [replace(one, row=row) for one, row in zip(explained, rows, strict=True)]


class NumberReader:
    """Reads the blocks of a table for a model whose features are numbers.

    Attributes
    ----------
    columns : list of str
        The columns that are read.
    numeric : dict of str to int
        Those that are features as they are, and which.
    """

    def __init__(self, judge: Judge, table: Table, bad_cells: BadCells | None) -> None:
        from refold.tabular import Features

        if bad_cells is BadCells.NOTICE:
            raise typer.BadParameter(
                "This model takes nothing but numbers, so other cells are errors. Models of refold "
                "fit take them.",
                param_hint="--bad-cells",
            )
        self._judge, self._features = judge, Features(judge.names, table)
        self.columns, self.numeric = self._features.columns, self._features.numeric

    def blocks(
        self, table: Table, columns: Iterable[str] | None, *, as_written: Collection[str] = ()
    ) -> Iterator[Block]:
        """Read some columns; numbers as such unless they are to be handed on as written."""
        return table.blocks(columns, numbers=set(self.numeric) - set(as_written))

    def judge(self, block: Block, *, explained: bool = False) -> Judgement:
        """Judge the rows of a block."""
        return self._judge.rows(self._features.matrix(block), explained=explained)


class TableReader:
    """Reads the blocks of a table for a model that takes columns of any kind; see NumberReader."""

    def __init__(self, judge: Judge, table: Table, bad_cells: BadCells | None) -> None:
        from refold.tabular import InputError
        from refold.tabular.errors import listed

        self._judge, self._strict = judge, bad_cells is BadCells.ERROR
        self.columns = list(judge.names)
        self.numeric = {judge.names[k]: place for place, k in enumerate(judge.numeric)}
        absent = [name for name in self.columns if name not in table.kinds]
        if absent:
            raise InputError(
                f"{table.name}: there is no column {listed(absent)}, which the model needs. The "
                f"table has {listed(table.names)}."
            )

    def blocks(
        self, table: Table, columns: Iterable[str] | None, *, as_written: Collection[str] = ()
    ) -> Iterator[Block]:
        """Read some columns, as they are written."""
        return table.blocks(columns)

    def judge(self, block: Block, *, explained: bool = False) -> Judgement:
        """Judge the rows of a block; an error says where in the file."""
        from refold.tabular import block_to_arrow

        def where(row: int) -> str:
            return f"{block.file}, {block.where(row)}"

        cells = block_to_arrow(block.select(self.columns).with_plain_numbers())
        with saying_where(where, block.file):
            found = self._judge.table(cells, explained=explained)
        if self._strict and found.cells is not None and self._judge.encoder is not None:
            check_cells(self._judge.encoder, found.cells, where)
        return found


Reader = NumberReader | TableReader


@contextmanager
def saying_where(where: Callable[[int], str], file: str) -> Iterator[None]:
    """Let an error about a row of a table say where a person finds it."""
    from refold.base.errors import TableError
    from refold.tabular import InputError

    try:
        yield
    except TableError as error:
        raise InputError(f"{file if error.row is None else where(error.row)}: {error}") from None


def check_cells(encoder: TableEncoder, cells: Brought, where: Callable[[int], str]) -> None:
    """Refuse cells that are not what their column holds."""
    import numpy as np

    from refold.base.words import quoted
    from refold.columns.bring import as_texts
    from refold.columns.encoding.reading import UNREADABLE
    from refold.tabular import InputError

    plan = encoder.counts.plan
    for column, brought, read in zip(plan.used, cells.columns, plan.read(cells), strict=True):
        bad = np.flatnonzero(read.state == UNREADABLE)
        if len(bad):
            texts, row = as_texts(brought), int(bad[0])
            cell = quoted(texts.values[texts.codes[row]])
            raise InputError(
                f"{where(row)}, column {column.name!r}: {cell} is not a {column.role}. "
                "--bad-cells notice goes on all the same."
            )
