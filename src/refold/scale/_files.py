"""Parquet, CSV and Arrow IPC files: learn from them and score them, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import IO, Any

from refold._typing import PathLike
from refold.algorithm.engines.sketch import Sketch
from refold.base.files import replacing
from refold.base.needs import needs
from refold.base.progress import counting
from refold.columns.arrow import is_number
from refold.judgement import Judge, answer_names, answer_types
from refold.models.ref import REF
from refold.models.sketched import fit_sketch
from refold.scale._batches import batch_rows_for, judged, located, sketch_of
from refold.scale._model import features_of, sketching
from refold.scale._sources import Paths, Table, find_table


def fit_parquet(
    paths: Paths,
    columns: Sequence[str] | None = None,
    *,
    model: REF | None = None,
    ignore_non_numeric: bool = False,
    batch_rows: int | None = None,
    progress: bool = True,
) -> REF:
    """Learn what is normal from Parquet files of any size, in one pass.

    Parameters
    ----------
    paths : path or sequence of paths
        Files, folders (their files, sorted by name) or patterns such as ``"2024-*.parquet"``.
    columns : sequence of str, default=None
        The columns to learn, which must hold numbers; None is all. A null is a missing value.
    model : REF, default=None
        The model to fit, of ``engine="sketch"``; None is ``REF(engine="sketch")``. As by its own
        ``fit``, what it knew before is replaced; if anything fails, it stays as it was.
    ignore_non_numeric : bool, default=False
        With ``columns=None``: leave out columns that do not hold numbers, rather than refuse them.
    batch_rows : int, default=None
        How many rows to take at once; None is about 32 MB of numbers. Bins and counts do not depend
        on it.
    progress : bool, default=True
        Show a bar with rows per second, if rich is installed and there is a terminal.

    Returns
    -------
    REF
        The fitted model. To go on learning, merge it: ``merge(model, fit_parquet(more))``.

    Examples
    --------
    >>> import tempfile, numpy as np, pyarrow as pa, pyarrow.parquet as pq
    >>> from pathlib import Path
    >>> from refold.scale import fit_parquet, score_parquet
    >>> folder = Path(tempfile.mkdtemp())
    >>> heat, flow = np.random.default_rng(0).normal(size=(2, 1000))
    >>> pq.write_table(pa.table({"heat": heat, "flow": flow}), folder / "normal.parquet")
    >>> model = fit_parquet(folder / "normal.parquet")
    >>> pq.write_table(pa.table({"flow": [0.1, 9.0], "heat": [0.2, 0.1]}), folder / "new.parquet")
    >>> rows = score_parquet(model, folder / "new.parquet", folder / "scored.parquet", reasons=1)
    >>> pq.read_table(folder / "scored.parquet").select(["label", "reason_1"]).to_pylist()[1]
    {'label': -1, 'reason_1': 'flow'}
    """
    return _fit("parquet", paths, columns, model, ignore_non_numeric, batch_rows, progress)


def fit_csv(
    paths: Paths,
    columns: Sequence[str] | None = None,
    *,
    model: REF | None = None,
    ignore_non_numeric: bool = False,
    batch_rows: int | None = None,
    progress: bool = True,
) -> REF:
    """Learn what is normal from CSV files of any size; see :func:`fit_parquet`.

    The first line has the names of the columns; an empty field is a missing value.
    """
    return _fit("csv", paths, columns, model, ignore_non_numeric, batch_rows, progress)


def fit_ipc(
    paths: Paths,
    columns: Sequence[str] | None = None,
    *,
    model: REF | None = None,
    ignore_non_numeric: bool = False,
    batch_rows: int | None = None,
    progress: bool = True,
) -> REF:
    """Learn what is normal from Arrow IPC (Feather) files of any size; see :func:`fit_parquet`."""
    return _fit("ipc", paths, columns, model, ignore_non_numeric, batch_rows, progress)


def score_parquet(
    model: REF,
    paths: Paths,
    out: PathLike,
    *,
    reasons: int = 3,
    columns: Sequence[str] | None = None,
    prefix: str = "",
    batch_rows: int | None = None,
    progress: bool = True,
) -> int:
    """Judge every row of Parquet files and write them, with the verdict, to one new file.

    Parameters
    ----------
    model : REF or CreasedREF
        Fitted.
    paths : path or sequence of paths
        Files, folders or patterns, as in :func:`fit_parquet`.
    out : path
        The file to write: all columns and rows of the input in their order, then ``distance``,
        ``label`` (1 normal, -1 not), ``p_value`` if the model is calibrated, and ``reason_1`` …
        with the names of the columns that matter most, null where fewer do. A row without any value
        has no verdict: all of these are null. The file appears under its name only when it is
        complete; until then, and after an error, an older file stays there.
    reasons : int, default=3
        How many reasons to give; without any, shares are not computed, which is faster.
    columns : sequence of str, default=None
        Only for a model that was fitted without names: its columns, in its order.
    prefix : str, default=""
        Stands before the names of the new columns.
    batch_rows : int, default=None
        How many rows to take at once; None is about 32 MB of numbers. No result depends on it.
    progress : bool, default=True
        Show a bar with rows per second, if rich is installed and there is a terminal.

    Returns
    -------
    int
        The number of rows written.
    """
    return _score("parquet", model, paths, out, reasons, columns, prefix, batch_rows, progress)


def score_csv(
    model: REF,
    paths: Paths,
    out: PathLike,
    *,
    reasons: int = 3,
    columns: Sequence[str] | None = None,
    prefix: str = "",
    batch_rows: int | None = None,
    progress: bool = True,
) -> int:
    """Judge every row of CSV files and write one CSV file; see :func:`score_parquet`."""
    return _score("csv", model, paths, out, reasons, columns, prefix, batch_rows, progress)


def score_ipc(
    model: REF,
    paths: Paths,
    out: PathLike,
    *,
    reasons: int = 3,
    columns: Sequence[str] | None = None,
    prefix: str = "",
    batch_rows: int | None = None,
    progress: bool = True,
) -> int:
    """Judge every row of Arrow IPC files and write one such file; see :func:`score_parquet`."""
    return _score("ipc", model, paths, out, reasons, columns, prefix, batch_rows, progress)


def _fit(
    fmt: str,
    paths: Paths,
    columns: Sequence[str] | None,
    model: REF | None,
    ignore_non_numeric: bool,
    batch_rows: int | None,
    progress: bool,
) -> REF:
    model = sketching(model)
    if columns is None:
        columns = _numeric_columns(find_table(paths, fmt), ignore_non_numeric)
    table = find_table(paths, fmt, columns)
    batch_rows = _checked(batch_rows, len(columns))
    with counting("learning", table.count_rows() if progress else None, show=progress) as count:

        def sketch_file(file: Path) -> Sketch:
            return sketch_of(
                _counted(table.batches(file, batch_rows), count),
                columns,
                where=str(file),
                n_bins=model.n_bins,
                n_jobs=model.n_jobs,
                batch_rows=batch_rows,
            )

        sketch = reduce(Sketch.plus, map(sketch_file, table.files))
    if sketch.rows == 0:
        raise ValueError(f"There are no rows in {', '.join(map(str, table.files[:5]))}.")
    return fit_sketch(model, sketch, columns)


def _score(
    fmt: str,
    model: REF,
    paths: Paths,
    out: PathLike,
    reasons: int,
    columns: Sequence[str] | None,
    prefix: str,
    batch_rows: int | None,
    progress: bool,
) -> int:
    out = Path(out)
    features = features_of(model, columns)
    table = find_table(paths, fmt, features, others=True)
    if out.resolve() in (file.resolve() for file in table.files):
        raise ValueError(f"{out} is one of the files to score; write to another one.")
    pa = needs("pyarrow", "parquet")
    judge = Judge.of(model).called(features)
    names = answer_names(judge, reasons, prefix, table.schema.names)
    new = map(pa.field, names, answer_types(judge, reasons))
    schema = pa.schema([*table.schema, *new])
    batch_rows = _checked(batch_rows, len(features))
    total = 0
    with (
        counting("scoring", table.count_rows() if progress else None, show=progress) as count,
        _writing(fmt, out, schema) as write,
    ):
        for file in table.files:
            first = 0
            for batch in _counted(table.batches(file, batch_rows), count):
                with located(str(file), features, first):
                    added = judged(judge, batch, reasons)
                write(pa.record_batch([*batch.columns, *added], schema=schema))
                first += batch.num_rows
            total += first
    return total


def _numeric_columns(table: Table, ignore_others: bool) -> list[str]:
    """Return the columns that hold numbers; refuse the others, or leave them out by choice."""
    others = [field for field in table.schema if not is_number(field.type)]
    if others and not ignore_others:
        said = ", ".join(f"{field.name!r} ({field.type})" for field in others)
        raise ValueError(
            f"{table.files[0]}: columns that do not hold numbers: {said}. Say with columns= which "
            "ones to learn, or leave these out with ignore_non_numeric=True."
        )
    numeric = [name for name in table.schema.names if table.schema.field(name) not in others]
    if not numeric:
        raise ValueError(f"{table.files[0]}: no column holds numbers.")
    return numeric


def _checked(batch_rows: int | None, columns: int) -> int:
    if batch_rows is None:
        return batch_rows_for(columns)
    if batch_rows < 1:
        raise ValueError(f"batch_rows={batch_rows}: at least one row must be taken at once.")
    return batch_rows


def _counted(batches: Iterator[Any], count: Callable[[int], None]) -> Iterator[Any]:
    for batch in batches:
        yield batch
        count(batch.num_rows)


@contextmanager
def _writing(fmt: str, out: Path, schema: Any) -> Iterator[Callable[[Any], None]]:
    """Give a function that writes batches to a file, which appears when it is complete."""
    with replacing(out) as file, _WRITERS[fmt](file, schema) as writer:
        yield writer.write_batch


_WRITERS: dict[str, Callable[[IO[bytes], Any], Any]] = {
    "parquet": lambda file, schema: needs("pyarrow.parquet", "parquet").ParquetWriter(file, schema),
    "csv": lambda file, schema: needs("pyarrow.csv", "parquet").CSVWriter(file, schema),
    "ipc": lambda file, schema: needs("pyarrow.ipc", "parquet").new_file(file, schema),
}
