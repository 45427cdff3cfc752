"""The paper's protocol: what is done for one cell, that is, one column, setting, task and split."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from refold.base.findings import RateWarning
from refold.model_selection import gmean_score
from refold.studies.paper.columns import COLUMNS, TableColumn
from refold.studies.paper.data import Task, load_task
from refold.studies.run import Study

# A cell's numbers follow from the protocol; raise this when the protocol changes.
PROTOCOL = 1
N_FOLDS = 5


class PaperJob(NamedTuple):
    """One cell to compute; the setting is "default" (fixed hyperparameters) or "optimized"."""

    column: str
    setting: str
    task: str
    split: int


@dataclass(frozen=True)
class PaperCell:
    """Gmean on the test rows in percent and the settings used, once for each seed."""

    gmeans: list[float]
    chosen: list[dict[str, Any]]


class PaperStudy(Study[PaperJob, PaperCell]):
    """The cells of Tables II and III; a column's settings decide a cell."""

    def settings(self, job: PaperJob) -> list[Any]:
        """Return what decides a cell beside its job."""
        column = COLUMNS[job.column]
        return [PROTOCOL, column.describe(), column.n_seeds(job.setting)]

    def compute(self, job: PaperJob) -> PaperCell:
        """Run a cell with each of its seeds."""
        column, task = COLUMNS[job.column], load_task(job.task, job.split).standardized()
        seeds = range(column.n_seeds(job.setting))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RateWarning)  # the thresholds are the paper's
            gmeans, chosen = zip(*(_run(column, job.setting, task, s) for s in seeds), strict=True)
        return PaperCell(list(gmeans), list(chosen))

    def read(self, **stored: Any) -> PaperCell:
        """Return a cell from its stored fields."""
        cell = PaperCell(**stored)
        if not len(cell.gmeans) == len(cell.chosen) > 0:
            raise ValueError("There is not one setting for each seed.")
        return cell


def _run(column: TableColumn, setting: str, task: Task, seed: int) -> tuple[float, dict[str, Any]]:
    """Return Gmean and what was chosen: by cross-validation over the training part, or nothing."""
    model, chosen = clone(column.estimator), {}
    if column.draws:
        model.set_params(**{column.draws: _draw(task, seed)})
    if setting == "default":
        model.fit(task.train_target)
    else:
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
        model = column.grid(model.set_params(**column.prepare(task.info)), folds)
        chosen = model.fit(task.X_train, task.y_train).best_params_
    return 100.0 * gmean_score(task.y_test, model.predict(task.X_test)), chosen


def _draw(task: Task, seed: int) -> int:
    """Return a random state of the task's, the split's and the seed's own."""
    entropy = [crc32(task.info.task.encode()), task.split, seed]
    return int(np.random.SeedSequence(entropy).generate_state(1)[0])
