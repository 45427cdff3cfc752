"""Arrow record batches in: sketched, or judged row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._errors import TableError
from refold._ref import REF
from refold.engines.sketch import Sketch
from refold.scale._needs import needs

Batch = Any

# 16 MB of numbers: much larger than a sketch, so that adding sketches up costs nothing beside it.
_VALUES = 2**21


def batch_rows_for(columns: int) -> int:
    """Return how many rows to take at once from a table with so many columns."""
    return min(max(_VALUES // columns, 1024), 2**18)


def is_number(kind: Any) -> bool:
    """Whether an Arrow type can be read as numbers; a column of nulls is one of missing values."""
    is_ = needs("pyarrow", "parquet").types
    return bool(
        is_.is_integer(kind)
        or is_.is_floating(kind)
        or is_.is_decimal(kind)
        or is_.is_boolean(kind)
        or is_.is_null(kind)
    )


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
    buffer = np.empty((batch_rows or batch_rows_for(len(names)), len(names)), order="F")
    total = Sketch.of(buffer[:0], n_bins=n_bins)
    for X in _filled(batches, buffer):
        with located(where, names, first_row=total.rows):
            total = total.plus(Sketch.of(X, n_bins=n_bins, n_jobs=n_jobs))
    return total


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


def _filled(batches: Iterable[Batch], buffer: NDArray[np.float64]) -> Iterator[NDArray[Any]]:
    """Collect batches, whatever their sizes, in the buffer; give it out whenever it is full."""
    used = 0
    for batch in batches:
        done = 0
        while done < batch.num_rows:
            size = min(len(buffer) - used, batch.num_rows - done)
            part = batch.slice(done, size)
            for column, values in enumerate(part.columns):
                buffer[used : used + size, column] = _floats(values)
            done, used = done + size, used + size
            if used == len(buffer):
                yield buffer
                used = 0
    if used:
        yield buffer[:used]


def _floats(values: Any) -> NDArray[Any]:
    """Return an Arrow column as numbers, NaN where it is null; without a copy if possible."""
    pa = needs("pyarrow", "parquet")
    is_ = pa.types
    if not (is_.is_integer(values.type) or values.type in (pa.float64(), pa.float32())):
        values = values.cast(pa.float64())
    floats: NDArray[Any] = values.to_numpy(zero_copy_only=False)
    return floats


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
    """Judge the rows of a batch: distance, label and the columns with the largest shares.

    `scorer` is what :func:`refold.scale._model.scorer_of` makes of a model.
    """
    pa = needs("pyarrow", "parquet")
    if batch.num_rows == 0:
        return [pa.array([], kind) for kind in answer_types(reasons)]
    X = np.empty((batch.num_rows, len(features)), order="F")
    for column, name in enumerate(features):
        X[:, column] = _floats(batch.column(name))
    distances = -scorer.score_samples(X)
    columns = [pa.array(distances), pa.array(labels_of(scorer, distances))]
    if reasons:
        columns += _reasons(scorer.contributions(X), features, reasons)
    return columns


def labels_of(scorer: REF, distances: NDArray[np.float64]) -> NDArray[np.int8]:
    """Say which distances are normal, as ``predict`` does."""
    return np.where(distances <= scorer.threshold_, 1, -1).astype(np.int8)


def _reasons(shares: NDArray[np.float64], features: Sequence[str], reasons: int) -> list[Any]:
    """Name the columns with the largest shares; null where a row has fewer above zero."""
    pa = needs("pyarrow", "parquet")
    names = pa.array(features, pa.string())
    order = np.argsort(-shares, axis=1, kind="stable")[:, :reasons]
    nothing = np.take_along_axis(shares, order, axis=1) == 0.0
    columns = [names.take(pa.array(order[:, k], mask=nothing[:, k])) for k in range(order.shape[1])]
    absent = pa.nulls(len(shares), pa.string())
    return columns + [absent] * (reasons - len(columns))
