"""Scoring a table of any length: block by block, in order, in bounded memory."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from refold.base.needs import needs
from refold.cli._failures import as_bad_input
from refold.judgement import Judge, Judgement, Worst, answer_names, answer_types, answers
from refold.judgement.reading import Reader
from refold.tabular import Block, InputError, TableSource

pa = needs("pyarrow", "cli")


@dataclass
class Scores:
    """What a table came to."""

    worst: Worst
    rows: int = 0
    normal: int = 0
    outliers: int = 0

    def add(self, block: Block, found: Judgement) -> None:
        """Count a block."""
        outliers = int(found.outlier.sum())
        self.rows += block.rows
        self.outliers += outliers
        self.normal += int(found.judged.sum()) - outliers
        self.worst.add(found, block.first + np.arange(block.rows))


def score_table(
    judge: Judge,
    reader: Reader,
    table: TableSource,
    *,
    writer: Callable[[Any, list[str]], Any] | None,
    fmt: str | None,
    reasons: int,
    worst: int,
    prefix: str,
    count: Callable[[int], None],
) -> Scores:
    """Judge every row of a table, and write it with the verdict if there is a writer.

    `writer` takes the columns to come, and the names of those that are added, and returns a context
    that gives a function of a batch.
    """
    scores = Scores(Worst(worst))
    answer = _Answer(judge, table, reader, fmt, reasons, prefix)
    needed = reader.columns if writer is None else None
    # CSV hands on what was written, so there columns stay text.
    blocks = reader.blocks(table, needed, as_written=reader.numeric if fmt == "csv" else ())
    first = next(blocks, None)
    if first is None:
        raise InputError(f"{table.name} has column names but no rows.")
    opened = nullcontext() if writer is None else writer(answer.schema(first), answer.added)
    with opened as write:
        for block in itertools.chain([first], blocks):
            found = reader.judge(block, explained=reasons > 0)
            if write is not None:
                write(answer.batch(block, found))
            scores.add(block, found)
            count(block.rows)
    return scores


class _Answer:
    """The columns of a table with those that scoring adds."""

    def __init__(
        self,
        judge: Judge,
        table: TableSource,
        reader: Reader,
        fmt: str | None,
        reasons: int,
        prefix: str,
    ) -> None:
        self._judge, self._reasons = judge, reasons
        # CSV hands on what was written; other formats get the numbers that the model saw.
        self._numeric = {} if fmt == "csv" else reader.numeric
        self._csv = fmt == "csv"
        self._table = table.name
        with as_bad_input(table.name):
            self.added = answer_names(judge, reasons, prefix, table.names if fmt else ())

    def schema(self, block: Block) -> Any:
        """Return the columns to come."""
        given = [(name, self._kind(name, column)) for name, column in block.columns.items()]
        kinds = answer_types(self._judge, self._reasons)
        return pa.schema([*given, *zip(self.added, kinds, strict=True)])

    def batch(self, block: Block, found: Judgement) -> Any:
        """Return a block with its verdicts; rows that were not judged have none."""
        X, added = found.numbers, answers(found, self._reasons)
        given = [
            pa.array(X[:, self._numeric[name]], from_pandas=True)
            if name in self._numeric
            else column.cast(self._kind(name, column))
            for name, column in block.columns.items()
        ]
        return pa.record_batch([*given, *added], schema=self.schema(block))

    def _kind(self, name: str, column: Any) -> Any:
        if name in self._numeric:
            return pa.float64()
        kind = column.type
        if self._csv and pa.types.is_dictionary(kind):
            return kind.value_type
        if self._csv and pa.types.is_nested(kind):
            raise InputError(
                f"{self._table}: column {name!r} holds {kind}, which CSV cannot hold. Write "
                ".parquet or .arrow."
            )
        return kind
