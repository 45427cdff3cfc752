"""Arrow record batches in: sketched, or judged row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from refold.algorithm.engines.exact import threads
from refold.algorithm.engines.sketch import Histogram, Sketch
from refold.algorithm.kernels import SketchTally
from refold.base.errors import TableError
from refold.base.needs import needs
from refold.columns.arrow import floats
from refold.columns.frames import feature_names, features_of
from refold.judgement import Judge, Judgement, answers

Batch = Any

# 32 MB of numbers: much larger than a sketch, so that adding sketches up costs nothing beside it.
_VALUES = 2**22


def batch_rows_for(columns: int) -> int:
    """Return how many rows to take at once from a table with so many columns."""
    return min(max(_VALUES // columns, 1024), 2**19)


def sketch_of(
    batches: Iterable[Batch],
    names: Sequence[str],
    *,
    where: str,
    n_bins: int,
    n_jobs: int | None,
    batch_rows: int | None = None,
) -> Sketch:
    """Sketch a stream of batches; errors say `where`, and number the rows from its beginning."""
    batch_rows = batch_rows or batch_rows_for(len(names))
    tallies = [SketchTally(n_bins) for _ in names]
    rows = 0
    with ThreadPoolExecutor(threads(batch_rows * len(names), n_jobs)) as pool:
        for table in _collected(batches, batch_rows):
            with located(where, names):
                _count_columns(table, tallies, rows, pool)
            rows += table.num_rows
    return Sketch(n_bins, [Histogram(*tally.histogram()) for tally in tallies], rows, rows)


def _collected(batches: Iterable[Batch], batch_rows: int) -> Iterator[Any]:
    """Put small batches together; nothing is copied."""
    pa = needs("pyarrow", "parquet")
    waiting: list[Batch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            rows += batch.num_rows
        if waiting and rows >= batch_rows // 4:
            yield pa.Table.from_batches(waiting)
            waiting, rows = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def _count_columns(
    table: Any, tallies: Sequence[SketchTally], first_row: int, pool: ThreadPoolExecutor
) -> None:
    """Count each column where it lies, rather than copy them into one array."""

    def count_column(number: int) -> TableError | None:
        row = first_row
        for chunk in table.column(number).chunks:
            try:
                tallies[number].add(floats(chunk), first=row, column=number)
            except TableError as error:
                return error
            row += len(chunk)
        return None

    found = pool.map(count_column, range(table.num_columns))
    problems = [error for error in found if error]
    if problems:  # the first row, and there the first column, as everywhere
        raise min(problems, key=lambda error: (error.row, error.column))


@contextmanager
def located(where: str, names: Sequence[str] | None, first_row: int = 0) -> Iterator[None]:
    """Let errors say in which part of the table they are, and call columns by name."""
    try:
        yield
    except TableError as error:
        row = None if error.row is None else first_row + error.row
        named = TableError(error.problem, row=row, column=error.column, names=names)
        # A plain error: it may have to travel between processes.
        raise ValueError(f"{where}: {named}") from None


def judged(judge: Judge, batch: Batch, reasons: int) -> list[Any]:
    """Judge the rows of a batch; return the columns that scoring adds."""
    if judge.encoder is not None:
        columns = {name: batch.column(name) for name in judge.names}
        return answers(table_judged(judge, columns, reasons), reasons)
    X = np.empty((batch.num_rows, len(judge.names)), order="F")
    for column, name in enumerate(judge.names):
        X[:, column] = floats(batch.column(name))
    return answers(judge.rows(X, explained=reasons > 0), reasons)


def judge_of_tables(model: Any, columns: Sequence[str] | None, *, on_worker: bool = False) -> Judge:
    """Return a judge of columns of any kind, called as the tables to come call them."""
    judge = Judge.of(model, on_worker=on_worker)
    if columns is None and hasattr(model, "feature_names_in_"):
        return judge
    called = dict(zip(feature_names(model), features_of(model, columns), strict=True))
    return judge.called(called[name] for name in judge.names)


def table_judged(judge: Judge, columns: Mapping[str, Any], reasons: int = 0) -> Judgement:
    """Judge Arrow columns of any kind, given by the names that the judge has for them."""
    pa = needs("pyarrow", "parquet")
    assert judge.encoder is not None
    own = judge.encoder.counts.plan.names
    known = {name: columns[called] for name, called in zip(own, judge.names, strict=True)}
    return judge.table(pa.table(known), explained=reasons > 0)
