"""Arrow record batches in: sketched, or judged row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold.algorithm.engines.exact import raise_problem, threads
from refold.algorithm.engines.sketch import Histogram, Sketch
from refold.algorithm.kernels import _kernels
from refold.base.errors import TableError
from refold.base.needs import needs
from refold.columns.arrow import floats
from refold.models.ref import REF
from refold.models.scorer import parts_of

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
    tallies = [_kernels.Tally(n_bins) for _ in names]
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
    table: Any, tallies: Sequence[_kernels.Tally], first_row: int, pool: ThreadPoolExecutor
) -> None:
    """Count each column where it lies, rather than copy them into one array."""

    def count_column(number: int) -> tuple[int, int, int] | None:
        row = first_row
        for chunk in table.column(number).chunks:
            values = np.ascontiguousarray(floats(chunk))
            problem = tallies[number].add(values, row, number)
            if problem[0]:
                return problem
            row += len(values)
        return None

    found = pool.map(count_column, range(table.num_columns))
    problems = [problem for problem in found if problem]
    if problems:  # the first row, and there the first column, as everywhere
        raise_problem(min(problems, key=lambda problem: problem[1:]))


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


def answer_names(reasons: int, prefix: str, taken: Sequence[str]) -> list[str]:
    """Return the names of the columns that scoring adds; refuse names that are there already."""
    names = [prefix + name for name in ("distance", "label")]
    names += [f"{prefix}reason_{number}" for number in range(1, reasons + 1)]
    clash = [name for name in names if name in taken]
    if clash:
        raise ValueError(
            f"The input already has the columns {clash} that scoring would add. "
            "Give the new ones another beginning with prefix=, for example prefix='refold_'."
        )
    return names


def answer_types(reasons: int) -> list[Any]:
    """Return the Arrow types of the columns that scoring adds."""
    pa = needs("pyarrow", "parquet")
    return [pa.float64(), pa.int8()] + [pa.string()] * reasons


def answers(scorer: REF, batch: Batch, features: Sequence[str], reasons: int) -> list[Any]:
    """Judge the rows of a batch, as :func:`judged` does.

    `scorer` is what :func:`refold.models.scorer.scorer_of` makes of a model.
    """
    X = np.empty((batch.num_rows, len(features)), order="F")
    for column, name in enumerate(features):
        X[:, column] = floats(batch.column(name))
    return judged(scorer, X, features, reasons)


def judged(scorer: REF, X: Any, features: Sequence[str], reasons: int) -> list[Any]:
    """Judge rows: distance, label and the columns with the largest shares."""
    pa = needs("pyarrow", "parquet")
    if len(X) == 0:
        return [pa.array([], kind) for kind in answer_types(reasons)]
    distances = -scorer.score_samples(X)
    columns = [pa.array(distances), pa.array(labels_of(scorer, distances))]
    if reasons:
        columns += reason_columns(parts_of(scorer, X), features, reasons)
    return columns


def labels_of(scorer: REF, distances: NDArray[np.float64]) -> NDArray[np.int8]:
    """Say which distances are normal, as ``predict`` does."""
    return np.where(distances <= scorer.threshold_, 1, -1).astype(np.int8)


def reason_columns(shares: NDArray[np.float64], features: Sequence[str], reasons: int) -> list[Any]:
    """Name the columns with the largest shares; null where a row has fewer above zero."""
    pa = needs("pyarrow", "parquet")
    names = pa.array(features, pa.string())
    order = np.argsort(-shares, axis=1, kind="stable")[:, :reasons]
    nothing = np.take_along_axis(shares, order, axis=1) == 0.0
    columns = [names.take(pa.array(order[:, k], mask=nothing[:, k])) for k in range(order.shape[1])]
    absent = pa.nulls(len(shares), pa.string())
    return columns + [absent] * (reasons - len(columns))
