"""Rows to learn from, in memory or, where they are too many, read again when they are needed."""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import IO, Self

from refold import Detector
from refold.base.progress import counting
from refold.cli.failures import as_bad_input
from refold.judgement.reading import check_cells
from refold.models.files import check_columns
from refold.models.parts import Header, learn_parts
from refold.scale.blocks import BlockParts, Ready, typed_tables
from refold.tabular import TableSource, Training, TrainingSelection
from refold.tabular.block import Block
from refold.tabular.training import TrainingBlocks

# More bytes than these, as they were read, are not held in memory: what learns from rows there
# needs several times as much.
LARGE = 2**27


class Rows:
    """The rows of a table to learn from.

    `again` opens the table once more; None of a pipe, whose rows then go through a temporary file.
    """

    def __init__(
        self, table: TableSource, again: Callable[[], TableSource] | None, wanted: TrainingSelection
    ) -> None:
        self._table, self._again, self._wanted = table, again, wanted
        self._blocks = TrainingBlocks(table, wanted)
        self._coming = iter(self._blocks)
        self._first: list[Block] = []
        self._open = ExitStack()

    @property
    def rows_read(self) -> int:
        """How many rows the table has."""
        return self._blocks.rows_read

    def training(self, *, in_memory: bool) -> Training | None:
        """Return all rows; None if these are too many and need not be in memory."""
        size = read = 0
        with counting("reading", self._table.rows, show=True) as count:
            for block in self._coming:
                self._first.append(block)
                count(self.rows_read - read)
                read = self.rows_read
                size += sum(column.nbytes for column in block.columns.values())
                if size > LARGE and not in_memory:
                    return None
        return self._blocks.training(self._first)

    def teach(self, model: Detector, *, strict: bool) -> None:
        """Let a model learn rows that are not in memory."""
        columns, name = self._blocks.columns, self._table.name
        passes = self._passes()
        rows = None if self._wanted.target_column else self._table.rows
        parts = BlockParts(
            lambda _: next(passes), columns, rows=rows, n_jobs=model.n_jobs, show=True
        )
        with as_bad_input(name):
            check_columns(model, len(columns))
            learn_parts(model, parts, Header(tuple(columns)))
        if strict:
            encoder = model.encoder_
            for block, ready in next(passes):
                check_cells(encoder, ready().select(encoder.counts.plan.names), block.place)

    def _passes(self) -> Iterator[Iterator[Ready]]:
        """Go on where reading was stopped; then begin anew as often as it is wanted."""
        first = typed_tables(self._from_here(), self._blocks.columns)
        if self._again is None:
            file = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
            yield _kept(first, file)
            while True:
                yield _from(file, self._table.name)
        yield first
        while True:
            blocks = TrainingBlocks(self._open.enter_context(self._again()), self._wanted)
            yield typed_tables(iter(blocks), self._blocks.columns)

    def _from_here(self) -> Iterator[Block]:
        first, self._first = self._first, []
        while first:  # what was worked on need not stay
            yield first.pop(0)
        yield from self._coming

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()


def _kept(blocks: Iterator[Ready], file: IO[bytes]) -> Iterator[Ready]:
    """Write the rows of a pipe to a file as they come."""
    for block, ready in blocks:
        rows = ready()
        pickle.dump((block.first, rows), file)
        yield block, lambda rows=rows: rows  # type: ignore[misc]


def _from(file: IO[bytes], name: str) -> Iterator[Ready]:
    """Read what `_kept` has written."""
    end = file.seek(0, os.SEEK_END)
    file.seek(0)
    while file.tell() < end:
        first, rows = pickle.load(file)
        block = Block(first, {}, rows.rows, lambda k, first=first: f"row {first + k}", name)  # type: ignore[misc]
        yield block, lambda rows=rows: rows  # type: ignore[misc]
