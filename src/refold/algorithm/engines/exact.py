"""The compiled engine: every row, every level, all threads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray

from refold._typing import Floats, Operation
from refold.algorithm import distances as _distances
from refold.algorithm import kernels
from refold.algorithm.chain import FoldChain
from refold.algorithm.engines import reference
from refold.base import errors

# Below this many element-levels a thread costs more than it saves (about 0.2 ms of work).
_SMALL = 500_000


def learn(
    X: NDArray[Any],
    weights: Floats | None,
    *,
    n_iter: int,
    fold: Operation,
    max_gain: float | None,
    n_jobs: int | None = None,
) -> FoldChain:
    """Learn a chain; `n_jobs` changes no bit of it."""
    name, limit = _compiled(fold, max_gain)
    n_threads = threads(X.size * n_iter, n_jobs)
    return FoldChain(name, *kernels.learn(X, weights, name, n_iter, limit, n_threads))


def learn_each(
    columns: Sequence[tuple[Floats, Floats]],
    *,
    n_iter: int,
    fold: Operation,
    max_gain: float | None,
    n_jobs: int | None = None,
) -> FoldChain:
    """Learn a chain from columns that have their own values and weights, all above zero."""
    name, limit = _compiled(fold, max_gain)
    n_threads = threads(sum(len(values) for values, _ in columns) * n_iter, n_jobs)
    return FoldChain(name, *kernels.learn_each(columns, name, n_iter, limit, n_threads))


def leave_one_out(
    X: NDArray[Any],
    parts: int,
    kind: str,
    *,
    path: bool,
    n_iter: int,
    fold: Operation,
    max_gain: float | None,
    n_jobs: int | None = None,
) -> Floats:
    """Distance of each row, i in part i mod `parts`, to the chain learned from the other parts."""
    name, limit = _compiled(fold, max_gain)
    n_threads = threads(X.size * n_iter * parts, n_jobs)
    return kernels.leave_one_out(X, parts, name, n_iter, limit, kind, n_threads, path=path)


def _compiled(fold: Operation, max_gain: float | None) -> tuple[str, float]:
    """Refuse what only the reference engine can do."""
    if not isinstance(fold, str):
        raise ValueError("The compiled engines have the named folds only.")
    if max_gain is None:
        raise ValueError("The compiled engines need a max_gain.")
    return fold, max_gain


def distances(
    chain: FoldChain, X: NDArray[Any], kind: Operation, *, path: bool, n_jobs: int | None = None
) -> Floats:
    """Distance of each row after the last level, or its mean over all levels."""
    if callable(kind):
        if path:
            return np.asarray(reference.distances(chain, X, kind, path=True))
        y = transform(chain, X, n_jobs=n_jobs)
        observed = ~np.isnan(y)
        _check_rows(observed)
        return np.asarray(_distances.distance(np, np.where(observed, y, 0.0), observed, kind))
    return kernels.distances(X, chain.compiled, kind, _threads(chain, X, n_jobs), path=path)


def trace(
    chain: FoldChain, X: NDArray[Any], kind: Operation, *, n_jobs: int | None = None
) -> Floats:
    """Distance of each row after each level."""
    if callable(kind):
        return np.asarray(reference.trace(chain, X, kind))
    return kernels.trace(X, chain.compiled, kind, _threads(chain, X, n_jobs))


def transform(chain: FoldChain, X: NDArray[Any], *, n_jobs: int | None = None) -> Floats:
    """Folded features, NaN where missing."""
    return kernels.transform(X, chain.compiled, _threads(chain, X, n_jobs))


def contributions(
    chain: FoldChain, X: NDArray[Any], kind: str, *, path: bool, n_jobs: int | None = None
) -> tuple[Floats, Floats]:
    """Distance of each row, and the share of each feature in it."""
    return kernels.contributions(X, chain.compiled, kind, _threads(chain, X, n_jobs), path=path)


def _threads(chain: FoldChain, X: NDArray[Any], n_jobs: int | None) -> int:
    return threads(X.size * chain.n_iter, n_jobs)


def threads(work: int, n_jobs: int | None) -> int:
    """How many threads are worth starting; None and -1 are all cores the process may use."""
    if work < _SMALL:
        return 1
    if n_jobs is None:
        return _cores(os.getpid())
    wanted = n_jobs if n_jobs > 0 else _cores(os.getpid()) + 1 + n_jobs
    return min(max(1, wanted), kernels.MOST_THREADS)


@lru_cache(maxsize=1)
def _cores(process: int) -> int:
    """Cores that this process may use (affinity, container limits); forked children ask anew."""
    return int(cpu_count())


def _check_rows(observed: NDArray[np.bool_]) -> None:
    empty = ~observed.any(axis=1)
    if empty.any():
        raise errors.empty_row(int(np.flatnonzero(empty)[0]))
