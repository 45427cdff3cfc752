"""What is done for one cell: one table, method and seed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from refold._typing import Floats
from refold.studies.measured import MeasuredCell, MeasuredStudy, finite, measuring, timed
from refold.studies.tables.methods import METHODS, TableMethod, TableModel
from refold.studies.tables.suite import NORMAL, TableFiles, TableTask

# A cell's numbers follow from the protocol; raise this when the protocol changes.
PROTOCOL = 1
ALPHA = 0.05


class TableJob(NamedTuple):
    """One cell to compute."""

    table: str
    method: str
    seed: int


def auroc_of(kind: str) -> str:
    """Return the name of a measure: how well rows of a kind are told from normal ones."""
    return f"auroc {kind}"


def named_of(kind: str) -> str:
    """Return the name of a measure: the share of a kind whose first reason names the column."""
    return f"named {kind}"


class TableStudy(MeasuredStudy[TableJob]):
    """Cells of tables: versions of the libraries, the data and a method's settings decide one."""

    def __init__(self, files: TableFiles, time_limit: float) -> None:
        super().__init__(time_limit)
        self.files = files

    def settings(self, job: TableJob) -> list[Any]:
        """Return what decides a cell beside its job."""
        return [PROTOCOL, *METHODS[job.method].describe(), self.files.sha256[job.table]]

    def compute(self, job: TableJob) -> MeasuredCell:
        """Run a method; a process keeps the last table that it has divided."""
        return run_cell(METHODS[job.method], _task(self, job.table, job.seed), job.seed)


@lru_cache(maxsize=1)
def _task(study: TableStudy, name: str, seed: int) -> TableTask:
    return study.files.task(name, seed)


@measuring
def run_cell(method: TableMethod, task: TableTask, seed: int) -> dict[str, float]:
    """Learn from normal rows, judge the others, and measure."""
    train, test = task.read(method.reading)
    trained, fit_seconds = timed(lambda: method.learn(train, seed, ALPHA))
    scores, score_seconds = timed(lambda: trained.score(test))
    is_normal = np.array(task.kinds) == NORMAL
    rejected = method.rejecting(trained, train, seed, ALPHA)(test[is_normal])
    return {
        **aurocs(task, scores),
        **_named(task, trained, test),
        "false_alarms": float(rejected.mean()),
        "fit_seconds": fit_seconds,
        "score_seconds": score_seconds,
    }


def aurocs(task: TableTask, scores: Floats) -> dict[str, float]:
    """Return how well the rows of each kind are told from the normal ones.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.studies.tables.cells import aurocs
    >>> from refold.studies.tables.suite import TableTask
    >>> task = TableTask(None, None, ("normal", "normal", "typo", "spike"), (None, None, "a", "b"))
    >>> aurocs(task, np.array([1.0, 2.0, 1.5, 3.0]))
    {'auroc typo': 0.5, 'auroc spike': 1.0}
    """
    finite(scores)
    kinds = np.array(task.kinds)
    found = {}
    for kind in dict.fromkeys(task.kinds):
        if kind != NORMAL:
            rows = np.isin(kinds, (NORMAL, kind))
            found[auroc_of(kind)] = float(roc_auc_score(kinds[rows] == kind, scores[rows]))
    return found


def _named(task: TableTask, trained: TableModel, test: Any) -> dict[str, float]:
    """Return for each kind of error how often the first reason names the column it is in."""
    known = [row for row, column in enumerate(task.columns) if column is not None]
    if trained.blame is None or not known:
        return {}
    hits: dict[str, list[bool]] = {}
    for row, column in zip(known, trained.blame(test.iloc[known]), strict=True):
        hits.setdefault(task.kinds[row], []).append(column == task.columns[row])
    return {named_of(kind): float(np.mean(right)) for kind, right in hits.items()}
