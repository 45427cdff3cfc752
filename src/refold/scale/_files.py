"""Files of any format: learn from them and score them, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any
from warnings import warn

from refold._typing import PathLike
from refold.base.errors import TableError
from refold.base.needs import needs
from refold.base.progress import counting
from refold.columns.frames import features_of
from refold.judgement import Judge, Judgement, answer_names, answer_types, answers
from refold.models.creased import CreasedREF, fit_batches
from refold.models.detector import Detector
from refold.models.ref import REF
from refold.models.sketched import fit_sketch
from refold.scale._batches import batch_rows_for, judge_of_tables, sketch_of, table_judged
from refold.scale._model import sketching
from refold.tabular import Block, Column, Features, Files, InputError, Paths, ahead, writing
from refold.tabular.errors import listed
from refold.tabular.numeric import LOOKED_AT, no_name, not_numbers

Model = REF | CreasedREF


def fit_parquet(
    paths: Paths,
    columns: Sequence[str] | None = None,
    *,
    model: Model | None = None,
    ignore_non_numeric: bool = False,
    batch_rows: int | None = None,
    progress: bool = True,
) -> Model:
    """Learn what is normal from Parquet files of any size, in one pass.

    Parameters
    ----------
    paths : path or sequence of paths
        Files, folders (their files, sorted by name) or patterns such as ``"2024-*.parquet"``. What
        they are, their content says: CSV in any dialect, Parquet or Arrow, packed or not.
    columns : sequence of str, default=None
        The columns to learn, which must hold numbers; None is all. A null is a missing value.
    model : REF or CreasedREF, default=None
        The model to fit, a REF of ``engine="sketch"``; None is ``REF(engine="sketch")``. As by its
        own ``fit``, what it knew before is replaced; if anything fails, it stays as it was. A
        CreasedREF learns batch by batch, as by ``partial_fit``.
    ignore_non_numeric : bool, default=False
        With ``columns=None``: leave out columns that do not hold numbers, rather than refuse them.
    batch_rows : int, default=None
        How many rows to take at once; None is about 32 MB of numbers. Bins and counts do not depend
        on it.
    progress : bool, default=True
        Show a bar with rows per second, if rich is installed and there is a terminal.

    Returns
    -------
    REF or CreasedREF
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
    return _fit(paths, columns, model, ignore_non_numeric, batch_rows, progress)


def fit_csv(
    paths: Paths,
    columns: Sequence[str] | None = None,
    *,
    model: Model | None = None,
    ignore_non_numeric: bool = False,
    batch_rows: int | None = None,
    progress: bool = True,
) -> Model:
    """Learn what is normal from CSV files of any size; see :func:`fit_parquet`.

    The first line has the names of the columns. Separators, decimal commas and encodings are
    guessed as by the command line; empty, NA, N/A, NaN, null, None, - and ? are missing values.
    """
    return _fit(paths, columns, model, ignore_non_numeric, batch_rows, progress)


def fit_ipc(
    paths: Paths,
    columns: Sequence[str] | None = None,
    *,
    model: Model | None = None,
    ignore_non_numeric: bool = False,
    batch_rows: int | None = None,
    progress: bool = True,
) -> Model:
    """Learn what is normal from Arrow IPC (Feather) files of any size; see :func:`fit_parquet`."""
    return _fit(paths, columns, model, ignore_non_numeric, batch_rows, progress)


def score_parquet(
    model: Model | Detector,
    paths: Paths,
    out: PathLike,
    *,
    reasons: int = 3,
    columns: Sequence[str] | None = None,
    prefix: str = "",
    batch_rows: int | None = None,
    progress: bool = True,
) -> int:
    """Judge every row of files and write them, with the verdict, to one new Parquet file.

    Parameters
    ----------
    model : REF, CreasedREF or Detector
        Fitted. A Detector reads columns of any kind.
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
    model: Model | Detector,
    paths: Paths,
    out: PathLike,
    *,
    reasons: int = 3,
    columns: Sequence[str] | None = None,
    prefix: str = "",
    batch_rows: int | None = None,
    progress: bool = True,
) -> int:
    """Judge every row of files and write one CSV file; see :func:`score_parquet`."""
    return _score("csv", model, paths, out, reasons, columns, prefix, batch_rows, progress)


def score_ipc(
    model: Model | Detector,
    paths: Paths,
    out: PathLike,
    *,
    reasons: int = 3,
    columns: Sequence[str] | None = None,
    prefix: str = "",
    batch_rows: int | None = None,
    progress: bool = True,
) -> int:
    """Judge every row of files and write one Arrow IPC file; see :func:`score_parquet`."""
    return _score("ipc", model, paths, out, reasons, columns, prefix, batch_rows, progress)


def _fit(
    paths: Paths,
    columns: Sequence[str] | None,
    model: Model | None,
    ignore_non_numeric: bool,
    batch_rows: int | None,
    progress: bool,
) -> Model:
    if not isinstance(model, CreasedREF):
        model = sketching(model)
    table = Files(paths, say=warn)
    columns = _columns_to_learn(table, columns, ignore_non_numeric)
    batch_rows = _checked(batch_rows, len(columns))
    with counting("learning", table.rows if progress else None, show=progress) as count:
        batches = ahead(_numbers(table, columns, batch_rows, count))
        if isinstance(model, CreasedREF):
            return fit_batches(model, batches)
        sketch = sketch_of(
            batches,
            columns,
            where=table.name,
            n_bins=model.n_bins,
            n_jobs=model.n_jobs,
            batch_rows=batch_rows,
        )
    return fit_sketch(model, sketch, columns)


def _columns_to_learn(
    table: Files, columns: Sequence[str] | None, ignore_others: bool
) -> Sequence[str]:
    """Return the columns that hold numbers; refuse the others, or leave them out by choice."""
    ignore_others = ignore_others and columns is None
    if columns is None:
        table.require_same()
        columns = table.names
        if table.unnamed:
            raise InputError(f"{no_name(table)} say with columns= which ones to learn.")
    else:
        table.require(columns)
    first = next(table.blocks(columns, rows=LOOKED_AT), None)
    if first is None:
        raise InputError(f"There are no rows in {', '.join(map(str, table.files[:5]))}.")
    others = not_numbers(first, columns)
    if others and not ignore_others:
        name, problem = next(iter(others.items()))
        more = f" The same goes for {listed(list(others)[1:], 5)}." if len(others) > 1 else ""
        raise InputError(
            f"{first.file}: column {name!r} holds {problem}.{more} Say with columns= which ones to "
            "learn, or leave such columns out with ignore_non_numeric=True."
        )
    numeric = [name for name in columns if name not in others]
    if not numeric:
        raise InputError(f"{table.name}: no column holds numbers.")
    table.require_numbers(numeric)
    return numeric


def _numbers(
    table: Files, columns: Sequence[str], batch_rows: int, count: Callable[[int], None]
) -> Iterator[Any]:
    """Read columns as numbers, NaN where one is missing; where they are such, without a copy."""
    pa = needs("pyarrow", "parquet")
    readers = [Column(name) for name in columns]
    for block in table.blocks(columns, numbers=columns, rows=batch_rows):
        values = [pa.array(reader.numbers(block)) for reader in readers]
        yield pa.record_batch(values, names=columns)
        count(block.rows)


def _score(
    fmt: str,
    model: Model | Detector,
    paths: Paths,
    out: PathLike,
    reasons: int,
    columns: Sequence[str] | None,
    prefix: str,
    batch_rows: int | None,
    progress: bool,
) -> int:
    out = Path(out)
    table = Files(paths, say=warn)
    if out.resolve() in (file.resolve() for file in table.files):
        raise ValueError(f"{out} is one of the files to score; write to another one.")
    rows = _rows_of(model, columns, table)
    pa = needs("pyarrow", "parquet")
    given, judge = pa.schema(table.common_kinds(rows.numeric)), rows.judge
    added = answer_names(judge, reasons, prefix, given.names)
    schema = pa.schema([*given, *map(pa.field, added, answer_types(judge, reasons))])
    batch_rows = _checked(batch_rows, len(judge.names))
    total = 0
    with (
        counting("scoring", table.rows if progress else None, show=progress) as count,
        writing(fmt, out, schema) as write,
    ):
        for block in ahead(table.blocks(numbers=rows.numeric, rows=batch_rows)):
            with _located(block, judge.names):
                found = rows.judged(block, reasons)
                added = answers(found, reasons)
            write(pa.record_batch([*_passed_on(block, found, rows.numeric, given), *added], schema))
            count(block.rows)
            total += block.rows
    return total


class _NumberRows:
    """Rows of files as a model takes them that learned numbers."""

    def __init__(self, model: Any, columns: Sequence[str] | None, table: Files) -> None:
        names = features_of(model, columns)
        self.judge = Judge.of(model).called(names)
        self._features = Features(names, table)
        self.numeric = self._features.numeric
        table.require_numbers(list(self.numeric))

    def judged(self, block: Block, reasons: int) -> Judgement:
        """Judge the rows of a block."""
        return self.judge.rows(self._features.matrix(block), explained=reasons > 0)


class _TableRows:
    """Rows of files as a model takes them that reads columns of any kind."""

    numeric: Mapping[str, int] = MappingProxyType({})  # nothing is read before the model does

    def __init__(self, model: Any, columns: Sequence[str] | None, table: Files) -> None:
        self.judge = judge_of_tables(model, columns)
        table.require(self.judge.names)

    def judged(self, block: Block, reasons: int) -> Judgement:
        """Judge the rows of a block."""
        columns = {name: block.columns[name] for name in self.judge.names}
        known = replace(block, columns=columns).without_missing()
        return table_judged(self.judge, known.columns, reasons)


def _rows_of(model: Any, columns: Sequence[str] | None, table: Files) -> _NumberRows | _TableRows:
    kind = _TableRows if isinstance(model, Detector) else _NumberRows
    return kind(model, columns, table)


def _passed_on(
    block: Block, found: Judgement, numeric: Mapping[str, int], schema: Any
) -> Iterator[Any]:
    """Return the columns of a block as they are written; text that was read as numbers, as such."""
    pa = needs("pyarrow", "parquet")
    for field in schema:
        column = block.columns[field.name]
        if field.name in numeric and pa.types.is_string(column.type):
            column = pa.array(found.rows[:, numeric[field.name]], from_pandas=True)
        yield column if column.type == field.type else column.cast(field.type, safe=False)


@contextmanager
def _located(block: Block, names: Sequence[str]) -> Iterator[None]:
    """Let errors say in which file and line they are, and call columns by name."""
    try:
        yield
    except TableError as error:
        where = "" if error.row is None else block.where(error.row)
        where += "" if error.column is None else f", column {names[error.column]!r}"
        raise InputError(f"{block.file}: {error.at(where)}") from None


def _checked(batch_rows: int | None, columns: int) -> int:
    if batch_rows is None:
        return batch_rows_for(columns)
    if batch_rows < 1:
        raise ValueError(f"batch_rows={batch_rows}: at least one row must be taken at once.")
    return batch_rows
