"""Dask arrays, dataframes and delayed parts: counted where they lie, added up as a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold.base.errors import require_columns
from refold.base.needs import needs
from refold.columns.conversion import to_table
from refold.columns.frames import column_names, features_of, frame_to_numpy
from refold.columns.table import Table
from refold.judgement import Judge, Judgement, answer_names, answers
from refold.models.creased import CreasedREF
from refold.models.detector import Detector
from refold.models.parts import FirstPass, Header, Work, check_learnable, learn_parts
from refold.models.ref import REF
from refold.scale.stream import in_part

# So many sums are added up by one task; a hundred features are some 13 MB each.
_SPLIT_EVERY = 8


def learn(
    X: Any,
    model: REF | CreasedREF | Detector | None = None,
    *,
    columns: Sequence[str] | None = None,
) -> REF | CreasedREF | Detector:
    """Learn what is normal from a table that Dask holds, on whatever scheduler it uses.

    Parameters
    ----------
    X : dask Array of shape (n, d), dask DataFrame, or sequence of Delayed
        Normal rows only, in blocks of any size; each of the delayed parts is an array, a dataframe
        or an Arrow table. NaN is a missing value.
    model : Detector, CreasedREF or REF, default=None
        The model to fit; None is ``Detector()``. As by its own ``fit``, what it knew before is
        replaced; if anything fails, it stays as it was. A REF has the engine ``"auto"`` or
        ``"sketch"``.
    columns : sequence of str, default=None
        The columns of dataframes to learn; None is all. REF and CreasedREF learn numbers.

    Returns
    -------
    Detector, CreasedREF or REF
        The fitted model: that of :func:`refold.scale.learn` on the same rows in files, however they
        are divided into blocks.

    Notes
    -----
    Blocks are computed once for a REF and twice for others, and once more to count their rows
    unless Dask knows these; ``X.persist()`` keeps them. They must have the same rows each time.
    Models and sums travel, and at most 30,000 rows in all.

    Examples
    --------
    >>> import dask.array as da
    >>> from refold import REF, scale
    >>> X = da.random.default_rng(0).normal(size=(50_000, 3), chunks=(1000, 3))
    >>> model = scale.dask.learn(X, REF(alpha=0.05))
    >>> model.calibration_.source
    'held-out'
    >>> scale.dask.score(model, X)  # nothing is computed yet
    dask.array<..., shape=(50000,), dtype=float64, chunksize=(1000,), chunktype=numpy.ndarray>
    """
    model = Detector() if model is None else model
    check_learnable(model)
    table = _table(X, columns)
    read: _NumberColumns
    if isinstance(model, Detector):
        ignored = [name for name, role in (model.roles or {}).items() if role == "ignore"]
        table.check(lambda sample: to_table(sample, ignored))
        read = _AnyColumns(table.header, tuple(ignored), table.chosen)
    else:
        table.check(frame_to_numpy)
        read = _NumberColumns(table.header, (), table.chosen)
    return learn_parts(model, _Blocks(table, read), table.header)


def score(model: REF | CreasedREF | Detector, X: Any, *, reasons: int = 3) -> Any:
    """Judge the rows of a table that Dask holds; nothing is computed until it is asked to.

    Parameters
    ----------
    model : Detector, CreasedREF or REF
        Fitted.
    X : dask Array of shape (n, d), dask DataFrame, or sequence of Delayed
        Rows to judge. A dataframe may have other columns than the model's too, in any order. Each
        of the delayed parts is an array, a dataframe or an Arrow table.
    reasons : int, default=3
        How many reasons to give for rows of a dataframe.

    Returns
    -------
    dask Array of shape (n,), dask DataFrame, or list of Delayed
        Of an array the distances, NaN for a row that is not judged; of a dataframe, with its index,
        the columns ``distance``, ``label`` (1 normal, -1 not, 0 for such a row), ``p_value`` if the
        model is calibrated, and ``reason_1`` … with the names of the columns that matter most. Of
        delayed parts the same, part by part; of dataframes other than pandas', an Arrow table with
        these columns, which are null for such a row.

    Examples
    --------
    >>> import dask.array as da
    >>> from refold import REF, scale
    >>> X = da.random.default_rng(0).normal(size=(2000, 3), chunks=(500, 3))
    >>> scale.dask.score(REF(alpha=0.05).fit(X[:1000].compute()), X).compute().shape
    (2000,)
    """
    judge = Judge.of(model, on_worker=True)
    if isinstance(X, (list, tuple)):
        _check_delayed(X)
        delayed = needs("dask", "dask").delayed
        shared = delayed(judge)  # once in the graph
        return [delayed(_part_judged)(part, shared, reasons, k) for k, part in enumerate(X)]
    if not _is_frame(X):
        X = _whole_rows(X)
        if X.shape[1] != model.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} columns; the model has {model.n_features_in_} features."
            )
        return X.map_blocks(
            _distances, judge=judge, drop_axis=1, dtype=np.float64, meta=np.empty(0)
        )
    features = features_of(model, None) if judge.encoder is None else list(judge.inputs)
    require_columns("X", features, X.columns)
    if judge.encoder is None:
        frame_to_numpy(X._meta[features])
    meta = _judged(X._meta[features], judge=judge, reasons=reasons)
    return X[features].map_partitions(_judged, judge=judge, reasons=reasons, meta=meta)


class _Table:
    """The blocks of a table, how many rows each has, and what the columns are called."""

    def __init__(
        self,
        blocks: Sequence[Any],
        lengths: Sequence[int],
        header: Header,
        meta: Any = None,
        chosen: Sequence[str] | None = None,
    ) -> None:
        self.blocks, self.lengths, self.header = blocks, lengths, header
        self.chosen = None if chosen is None else tuple(chosen)
        self._meta = meta

    def check(self, read: Callable[[Any], object]) -> None:
        """Refuse columns that cannot be read, before anything is computed."""
        if self._meta is not None:
            read(self._meta)


def _table(X: Any, columns: Sequence[str] | None) -> _Table:
    if isinstance(X, (list, tuple)):
        return _of_delayed(X, columns)
    if _is_frame(X):
        names = [str(name) for name in X.columns] if columns is None else list(columns)
        require_columns("X", names, X.columns)
        chosen = X if columns is None else X[names]
        lengths = [int(n) for n in chosen.map_partitions(len, meta=("rows", int)).compute()]
        return _Table(chosen.to_delayed(), lengths, Header(tuple(names)), chosen._meta)
    if columns is not None:
        raise ValueError("columns= names columns of dataframes; an array has no names.")
    X = _whole_rows(X)
    blocks = X.to_delayed().ravel()
    lengths = X.chunks[0]
    if np.isnan(lengths).any():
        lengths = needs("dask", "dask").compute(*map(needs("dask", "dask").delayed(len), blocks))
    return _Table(blocks, [int(n) for n in lengths], Header.of_width(X.shape[1]))


def _of_delayed(parts: Sequence[Any], columns: Sequence[str] | None) -> _Table:
    """Ask parts, which may be anything, how many rows and which columns they have."""
    _check_delayed(parts)
    dask = needs("dask", "dask")
    found = dask.compute(*map(dask.delayed(_shape), parts))
    if not found:
        raise ValueError("The list of parts is empty.")
    lengths, headers = zip(*found, strict=True)
    for number, header in enumerate(headers):
        if header != headers[0]:
            raise ValueError(
                f"Block {number} has other columns than block 0: {list(header.names)[:20]} and "
                f"{list(headers[0].names)[:20]}."
            )
    header = headers[0]
    if columns is not None:
        require_columns("X", columns, header.names)
        header = Header(tuple(columns))
    return _Table(parts, lengths, header, chosen=columns)


def _check_delayed(parts: Sequence[Any]) -> None:
    if not all(needs("dask.base", "dask").is_dask_collection(part) for part in parts):
        raise TypeError("A list must hold what dask.delayed returns; read it as an array instead.")


def _shape(part: Any) -> tuple[int, Header]:
    if isinstance(part, np.ndarray):
        if part.ndim != 2:
            raise ValueError(f"A part has {part.ndim} dimension(s); rows and columns are needed.")
        return len(part), Header.of_width(part.shape[1])
    return len(part), Header(tuple(map(str, column_names(part))))


class _NumberColumns:
    """Reads the columns of a block as numbers."""

    def __init__(
        self, header: Header, ignored: tuple[str, ...], chosen: tuple[str, ...] | None
    ) -> None:
        self.header, self._ignored, self._chosen = header, ignored, chosen

    def __call__(self, block: Any) -> Table:
        return Table.of_numbers(self.header.names, _read(self._selected(block)).T)

    def _selected(self, block: Any) -> Any:
        return block if self._chosen is None else _selected(block, self._chosen)


class _AnyColumns(_NumberColumns):
    """Reads the columns of a block as they are."""

    def __call__(self, block: Any) -> Table:
        if self.header.named:
            return to_table(self._selected(block), self._ignored)
        used = [name for name in self.header.names if name not in self._ignored]
        return Table.of_numbers(self.header.names, _read(block).T).select(used)


def _selected(block: Any, names: Sequence[str]) -> Any:
    select = getattr(block, "select", None)  # Arrow and Polars; pandas has brackets
    return block[list(names)] if select is None else select(list(names))


class _Blocks:
    """The blocks of a table as parts."""

    def __init__(self, table: _Table, read: _NumberColumns) -> None:
        self._table, self._read = table, read

    def added_up(self, work: Work) -> Any:
        """Let Dask do the work on each block, and add up as a tree; return the sum."""
        delayed, lengths = needs("dask", "dask").delayed, self._table.lengths
        if isinstance(work, FirstPass):
            work = work.among(sum(lengths))
        # Once in the graph: a worker that is lost can have it again.
        shared, read = delayed(work), delayed(self._read)
        firsts = np.cumsum([0, *lengths])[:-1].tolist()
        sums = [
            delayed(_done)(shared, read, block, number, first, length)
            for number, (block, first, length) in enumerate(
                zip(self._table.blocks, firsts, lengths, strict=True)
            )
        ]
        while len(sums) > 1:
            sums = [
                delayed(_added)(sums[k : k + _SPLIT_EVERY])
                for k in range(0, len(sums), _SPLIT_EVERY)
            ]
        return sums[0].compute() if sums else None


def _done(
    work: Work, read: _NumberColumns, block: Any, number: int, first: int, length: int
) -> Any:
    where = f"Block {number}"
    if len(block) != length:
        raise ValueError(
            f"{where} had {length:,} rows when they were counted and has {len(block):,} now. "
            "Blocks must have the same rows each time: call persist() first, or write them to "
            "files."
        )
    with in_part(where, read.header.names):
        return work(read(block), first)


def _added(sums: Sequence[Any]) -> Any:
    total = sums[0]
    for one in sums[1:]:
        total = total.plus(one)
    return total


def _is_frame(X: Any) -> bool:
    if not needs("dask.base", "dask").is_dask_collection(X):
        raise TypeError(f"X is a {type(X).__name__}, not a Dask array or dataframe.")
    return hasattr(X, "columns")


def _whole_rows(X: Any) -> Any:
    """Return an array whose blocks have all columns."""
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimension(s); rows and columns are needed.")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X holds {X.dtype}, not numbers.")
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _read(block: Any) -> NDArray[Any]:
    if not isinstance(block, np.ndarray) and hasattr(block, "columns"):
        return frame_to_numpy(block)
    X = np.asarray(block)
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _distances(
    block: Any, *, judge: Judge, block_id: tuple[int, ...] | None = None
) -> NDArray[np.float64]:
    with in_part("A block" if block_id is None else f"Block {block_id[0]}", None):
        return _found(judge, _read(block)).distances


def _found(judge: Judge, rows: Any, *, explained: bool = False) -> Judgement:
    of = judge.rows if judge.encoder is None else judge.table
    return of(rows, explained=explained)


def _part_judged(part: Any, judge: Judge, reasons: int, number: int) -> Any:
    """Judge a part of which nothing was known before it was computed."""
    where = f"Block {number}"
    if isinstance(part, np.ndarray):
        if _shape(part)[1] != Header.of_width(len(judge.names)):
            raise ValueError(
                f"{where} has {part.shape[1]} columns; the model has {len(judge.names)} features."
            )
        with in_part(where, None):
            return _found(judge, _read(part)).distances
    require_columns(where, judge.inputs, list(map(str, column_names(part))))
    features = _selected(part, judge.inputs)
    if hasattr(part, "assign"):  # pandas
        return _judged(features, judge=judge, reasons=reasons, where=where)
    with in_part(where, judge.names):
        rows = frame_to_numpy(features) if judge.encoder is None else features
        found = _found(judge, rows, explained=reasons > 0)
        names = answer_names(judge, reasons, "", ())
        return needs("pyarrow", "parquet").table(answers(found, reasons), names=names)


def _judged(block: Any, *, judge: Judge, reasons: int, where: str = "A block") -> Any:
    with in_part(where, judge.names):
        rows = _read(block) if judge.encoder is None else block
        found = _found(judge, rows, explained=reasons > 0)
        answer = block[[]].assign(distance=found.distances, label=found.labels)
        if found.p_values is not None:
            answer = answer.assign(p_value=found.p_values)
        said = answers(found, reasons)[-reasons:] if reasons else []
    names = answer_names(judge, reasons, "", ())[-reasons:] if reasons else []
    words = [column.to_pandas().set_axis(block.index) for column in said]
    return answer.assign(**dict(zip(names, words, strict=True)))
