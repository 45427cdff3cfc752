"""Dask arrays and dataframes: a sketch per block, added up as a tree by Dask's own reduction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold.algorithm.engines.sketch import Sketch
from refold.base.needs import needs
from refold.columns.frames import features_of, frame_to_numpy
from refold.judgement import Judge, Judgement
from refold.models.creased import CreasedREF
from refold.models.detector import Detector
from refold.models.ref import REF
from refold.models.sketched import fit_sketch
from refold.scale._batches import located
from refold.scale._model import sketching

# So many sketches are added up by one task; a hundred features are some 13 MB each.
_SPLIT_EVERY = 8


def fit(X: Any, model: REF | None = None) -> REF:
    """Learn what is normal from a Dask array or dataframe, on whatever scheduler Dask uses.

    Parameters
    ----------
    X : dask Array of shape (n, d) or dask DataFrame
        Normal rows only, in blocks of any size. NaN is a missing value.
    model : REF, default=None
        The model to fit, of ``engine="sketch"``; None is ``REF(engine="sketch")``. As by its own
        ``fit``, what it knew before is replaced; if anything fails, it stays as it was.

    Returns
    -------
    REF
        The fitted model: bins and counts are those of ``fit`` on all rows in one place.

    Examples
    --------
    >>> import dask.array as da
    >>> from refold import scale
    >>> X = da.random.default_rng(0).normal(size=(10_000, 3), chunks=(1000, 3))
    >>> model = scale.dask.fit(X)
    >>> scale.dask.score(model, X)  # nothing is computed yet
    dask.array<..., shape=(10000,), dtype=float64, chunksize=(1000,), chunktype=numpy.ndarray>
    """
    model = sketching(model)
    delayed = needs("dask", "dask").delayed
    if _is_frame(X):
        frame_to_numpy(X._meta)  # refuses columns without numbers, before anything is computed
        names = [str(name) for name in X.columns]
        blocks = X.to_delayed()
    else:
        names = None
        blocks = _whole_rows(X).to_delayed().ravel()
    # A bag of one sketch per block.
    parts = [
        delayed(_sketch)(block, number, names, model.n_bins) for number, block in enumerate(blocks)
    ]
    bag = needs("dask.bag", "dask").from_delayed(parts)
    total = bag.fold(Sketch.plus, split_every=_SPLIT_EVERY)
    # As delayed, because a bag on its own would start processes.
    return fit_sketch(model, total.to_delayed().compute(), names)


def score(model: REF | CreasedREF | Detector, X: Any) -> Any:
    """Judge the rows of a Dask array or dataframe; nothing is computed until Dask is asked to.

    Parameters
    ----------
    model : REF, CreasedREF or Detector
        Fitted.
    X : dask Array of shape (n, d) or dask DataFrame
        Rows to judge. A dataframe may have other columns than the model's too, in any order.

    Returns
    -------
    dask Array of shape (n,) or dask DataFrame
        Of an array the distances, NaN for a row without any value; of a dataframe, with its index,
        the columns ``distance``, ``label`` (1 normal, -1 not, 0 for such a row) and, if the model
        is calibrated, ``p_value``.
    """
    judge = Judge.of(model, on_worker=True)
    if not _is_frame(X):
        X = _whole_rows(X)
        if X.shape[1] != model.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} columns; the model has {model.n_features_in_} features."
            )
        return X.map_blocks(
            _distances, judge=judge, drop_axis=1, dtype=np.float64, meta=np.empty(0)
        )
    features = features_of(model, None) if judge.encoder is None else list(judge.names)
    absent = [name for name in features if name not in X.columns]
    if absent:
        raise ValueError(f"X has no column {', '.join(map(repr, absent))}.")
    if judge.encoder is None:
        frame_to_numpy(X._meta[features])
    meta = _judged(X._meta[features], judge=judge)
    return X[features].map_partitions(_judged, judge=judge, meta=meta)


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
    if hasattr(block, "columns"):
        return frame_to_numpy(block)
    X = np.asarray(block)
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _sketch(block: Any, number: int, names: Sequence[str] | None, n_bins: int) -> list[Sketch]:
    with located(f"Block {number}", names):
        return [Sketch.of(_read(block), n_bins=n_bins, n_jobs=1)]


def _distances(
    block: Any, *, judge: Judge, block_id: tuple[int, ...] | None = None
) -> NDArray[np.float64]:
    with located("A block" if block_id is None else f"Block {block_id[0]}", None):
        return _found(judge, _read(block)).distances


def _found(judge: Judge, rows: Any) -> Judgement:
    return judge.rows(rows) if judge.encoder is None else judge.table(rows)


def _judged(block: Any, *, judge: Judge) -> Any:
    with located("A block", judge.names):
        found = _found(judge, _read(block) if judge.encoder is None else block)
        answer = block[[]].assign(distance=found.distances, label=found.labels)
    return answer if found.p_values is None else answer.assign(p_value=found.p_values)
