"""The compiled engine: every row, every level, all threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray

from refold._typing import Floats, Operation
from refold.algorithm import distances as _distances
from refold.algorithm.chain import FoldChain
from refold.algorithm.engines import reference
from refold.algorithm.folds import FOLDS
from refold.algorithm.kernels import _kernels
from refold.base import errors

_FOLD_NUMBER = {name: number for number, name in enumerate(FOLDS)}

# Below this many element-levels a thread costs more than it saves (about 0.2 ms of work).
_SMALL = 500_000
_MOST_THREADS = 1024  # a slip of the finger must not take the machine down


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
    n_threads = threads(X.size * n_iter, n_jobs)
    return _learned(
        _kernels.learn, (readable(X), weights), X.shape[1], n_iter, fold, max_gain, n_threads
    )


def learn_each(
    columns: Sequence[tuple[Floats, Floats]],
    *,
    n_iter: int,
    fold: Operation,
    max_gain: float | None,
    n_jobs: int | None = None,
) -> FoldChain:
    """Learn a chain from columns that have their own values and weights, all above zero."""
    n_threads = threads(sum(len(values) for values, _ in columns) * n_iter, n_jobs)
    data = [values for values, _ in columns], [weights for _, weights in columns]
    return _learned(_kernels.learn_each, data, len(columns), n_iter, fold, max_gain, n_threads)


def _learned(
    kernel: Callable[..., tuple[int, int, int]],
    data: tuple[Any, Any],
    n_features: int,
    n_iter: int,
    fold: Operation,
    max_gain: float | None,
    n_threads: int,
) -> FoldChain:
    """Run a learning kernel."""
    if not isinstance(fold, str):
        raise ValueError("The compiled engines have the named folds only.")
    if max_gain is None:
        raise ValueError("The compiled engines need a max_gain.")
    shifts, scales = np.zeros((n_iter, n_features)), np.ones((n_iter, n_features))
    levels, gain = np.zeros(n_features, dtype=np.int64), np.ones(n_features)
    number = _FOLD_NUMBER[fold]
    raise_problem(kernel(*data, number, n_iter, max_gain, n_threads, shifts, scales, levels, gain))
    return FoldChain(fold, shifts, scales, levels, gain)


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
    out = np.empty(X.shape[0])
    return _fill(_kernels.distances, chain, X, _number(kind), path, n_jobs=n_jobs, out=out)


def trace(
    chain: FoldChain, X: NDArray[Any], kind: Operation, *, n_jobs: int | None = None
) -> Floats:
    """Distance of each row after each level."""
    if callable(kind):
        return np.asarray(reference.trace(chain, X, kind))
    out = np.empty((X.shape[0], chain.n_iter))
    return _fill(_kernels.trace, chain, X, _number(kind), n_jobs=n_jobs, out=out)


def transform(chain: FoldChain, X: NDArray[Any], *, n_jobs: int | None = None) -> Floats:
    """Folded features, NaN where missing."""
    return _fill(_kernels.transform, chain, X, n_jobs=n_jobs, out=np.empty(X.shape))


def contributions(
    chain: FoldChain, X: NDArray[Any], kind: str, *, path: bool, n_jobs: int | None = None
) -> tuple[Floats, Floats]:
    """Distance of each row, and the share of each feature in it."""
    out = np.empty(X.shape)
    parts = _fill(_kernels.contributions, chain, X, _number(kind), path, n_jobs=n_jobs, out=out)
    return distances(chain, X, kind, path=path, n_jobs=n_jobs), parts


def _fill(
    kernel: Callable[..., tuple[int, int, int]],
    chain: FoldChain,
    X: NDArray[Any],
    *options: Any,
    n_jobs: int | None,
    out: Floats,
) -> Floats:
    """Run a scoring kernel into `out`."""
    n_threads = threads(X.size * chain.n_iter, n_jobs)
    raise_problem(kernel(readable(X), _steps(chain), *options, n_threads, out))
    return out


def _steps(chain: FoldChain) -> _kernels.Steps:
    return _kernels.Steps(_FOLD_NUMBER[str(chain.fold)], *chain.steps, chain.levels)


def _number(kind: Operation) -> int:
    return _distances.DISTANCES.index(str(kind))


def readable(X: NDArray[Any]) -> NDArray[Any]:
    """Return X itself unless its bytes are laid out as no kernel can read them."""
    regular = X.flags.aligned and all(s % X.itemsize == 0 for s in X.strides)
    return X if regular else np.ascontiguousarray(X)


def threads(work: int, n_jobs: int | None) -> int:
    """How many threads are worth starting; None and -1 are all cores the process may use."""
    if work < _SMALL:
        return 1
    if n_jobs is None:
        return _cores(os.getpid())
    wanted = n_jobs if n_jobs > 0 else _cores(os.getpid()) + 1 + n_jobs
    return min(max(1, wanted), _MOST_THREADS)


@lru_cache(maxsize=1)
def _cores(process: int) -> int:
    """Cores that this process may use (affinity, container limits); forked children ask anew."""
    return int(cpu_count())


def _check_rows(observed: NDArray[np.bool_]) -> None:
    empty = ~observed.any(axis=1)
    if empty.any():
        raise errors.empty_row(int(np.flatnonzero(empty)[0]))


# In this order kernels/table.hpp numbers them; 0 is no problem.
_PROBLEMS: tuple[Callable[[int, int], Exception], ...] = (
    errors.infinite,
    lambda row, column: errors.empty_column(column) if row < 0 else errors.empty_row(row),
    lambda row, column: errors.light_column(column),
)


def raise_problem(problem: tuple[int, int, int]) -> None:
    """Turn what a kernel found wrong into an error."""
    kind, row, column = problem
    if kind:
        raise _PROBLEMS[kind - 1](row, column)
