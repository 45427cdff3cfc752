"""The paper's protocol: what is done for one cell, that is, one column, setting, task and split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from refold.model_selection import gmean_score
from refold.paper.data import Task
from refold.paper.registry import Column

N_FOLDS = 5


@dataclass(frozen=True)
class CellResult:
    """Gmean on the test rows in percent and the settings used, once for each seed."""

    gmeans: tuple[float, ...]
    chosen: tuple[dict[str, Any], ...]


def run_cell(column: Column, setting: str, task: Task) -> CellResult:
    """Run one cell with each of its seeds.

    Parameters
    ----------
    column : Column
        The method.
    setting : {"default", "optimized"}
        Fixed hyperparameters, or chosen by cross-validation over the training part.
    task : Task
        As loaded; it is standardized here.

    Returns
    -------
    CellResult
    """
    task = task.standardized()
    run = _run_default if setting == "default" else _run_optimized
    results = [run(column, task, seed) for seed in range(column.n_seeds(setting))]
    return CellResult(*zip(*results, strict=True))


def _run_default(column: Column, task: Task, seed: int) -> tuple[float, dict[str, Any]]:
    model = clone(column.estimator)
    if column.draws:
        model.set_params(**{column.draws: _draw(task, seed)})
    model.fit(task.train_target)
    return _gmean(model, task), {}


def _run_optimized(column: Column, task: Task, seed: int) -> tuple[float, dict[str, Any]]:
    estimator = clone(column.estimator).set_params(**column.prepare(task.info))
    if column.draws:
        estimator.set_params(**{column.draws: _draw(task, seed)})
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    search = column.grid(estimator, folds).fit(task.X_train, task.y_train)
    return _gmean(search, task), search.best_params_


def _gmean(model: Any, task: Task) -> float:
    return 100.0 * gmean_score(task.y_test, model.predict(task.X_test))


def _draw(task: Task, seed: int) -> int:
    """Return a random state of the task's, the split's and the seed's own."""
    entropy = [crc32(task.info.task.encode()), task.split, seed]
    return int(np.random.SeedSequence(entropy).generate_state(1)[0])
