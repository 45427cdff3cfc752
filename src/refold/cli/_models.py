"""A model file as the commands use it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

    def on(self, table: Table) -> Reader:
        """Find the model's columns in a table."""
        return Cells(self.judge, table) if self.judge.encoder else Numbered(self.judge, table)

    def explain(
        self, rows: list[int], found: Judgement | None, reasons: int | None
    ) -> list[Explanation]:
        """Say why rows are what they are; `rows` are their numbers in the table."""
        from refold.explain import explain

        if found is None:
            return []
        explained = explain(self.model, found, reasons=reasons)
        return [replace(one, row=row) for one, row in zip(explained, rows, strict=True)]


class Numbered:
    """Reads the blocks of a table for a model whose features are numbers.

    Attributes
    ----------
    columns : list of str
        The columns that are read.
    numeric : dict of str to int
        Those that are features as they are, and which.
    """

    def __init__(self, judge: Judge, table: Table) -> None:
        from refold.tabular import Features

        self._judge, self._features = judge, Features(judge.names, table)
        self.columns, self.numeric = self._features.columns, self._features.numeric

    def blocks(
        self, table: Table, columns: Iterable[str] | None, *, as_written: bool = False
    ) -> Iterator[Block]:
        """Read some columns; numbers as such unless they are to be handed on as written."""
        return table.blocks(columns, numbers=() if as_written else self.numeric)

    def judge(self, block: Block, *, explained: bool = False) -> Judgement:
        """Judge the rows of a block."""
        return self._judge.rows(self._features.matrix(block), explained=explained)


class Cells:
    """Reads the blocks of a table for a model that takes columns of any kind; see Numbered."""

    def __init__(self, judge: Judge, table: Table) -> None:
        from refold.tabular import InputError

        self._judge, self._table = judge, table
        self.columns = list(judge.names)
        self.numeric = {judge.names[k]: place for place, k in enumerate(judge.numeric)}
        absent = [name for name in self.columns if name not in table.kinds]
        if absent:
            raise InputError(
                f"{table.name}: there is no column {', '.join(map(repr, absent[:10]))}, which the "
                f"model needs. The table has {', '.join(map(repr, table.names[:20]))}."
            )

    def blocks(
        self, table: Table, columns: Iterable[str] | None, *, as_written: bool = False
    ) -> Iterator[Block]:
        """Read some columns, as they are written."""
        return table.blocks(columns)

    def judge(self, block: Block, *, explained: bool = False) -> Judgement:
        """Judge the rows of a block; an error says where in the file."""
        from refold.base.errors import TableError
        from refold.tabular import InputError, block_to_arrow

        wanted = replace(block, columns={name: block.columns[name] for name in self.columns})
        try:
            return self._judge.table(block_to_arrow(wanted), explained=explained)
        except TableError as error:
            where = block.file if error.row is None else f"{block.file}, {block.where(error.row)}"
            raise InputError(f"{where}: {error}") from None


Reader = Numbered | Cells


def judged_blocks(
    reader: Reader,
    table: Table,
    *,
    columns: Iterable[str] | None,
    explained: bool,
    count: Callable[[int], None],
) -> Iterator[tuple[Block, Any]]:
    """Give the blocks of a table with what the model says of them."""
    for block in reader.blocks(table, columns):
        yield block, reader.judge(block, explained=explained)
        count(block.rows)
