"""What is done for one cell: one method and one division of the table."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import version
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from refold._typing import Booleans
from refold.studies.measured import MeasuredCell, MeasuredStudy, finite
from refold.studies.novelty.cells import measure
from refold.studies.own.division import divide
from refold.studies.own.methods import METHODS
from refold.studies.own.table import OwnTable
from refold.studies.tables.methods import TableMethod
from refold.studies.tables.suite import ANOMALY, NORMAL, Reading, TableTask

# A cell's numbers follow from the protocol; raise this when the protocol changes.
PROTOCOL = 1


class OwnJob(NamedTuple):
    """One cell to compute."""

    method: str
    seed: int


def caught_of(kind: str) -> str:
    """Return the name of a measure: the share of a kind of faults that is rejected."""
    return f"caught {kind}"


class OwnStudy(MeasuredStudy[OwnJob]):
    """Cells of one table: versions of the libraries, the rows and a method's settings decide one.

    Parameters
    ----------
    table : OwnTable
        The table.
    alpha : float
        The rate of false alarms that methods are asked for.
    time_limit : float
        In seconds. A method that was stopped earlier than this gets another chance.
    """

    def __init__(self, table: OwnTable, alpha: float, time_limit: float) -> None:
        super().__init__(time_limit)
        self.table, self.alpha = table, alpha

    def settings(self, job: OwnJob) -> list[Any]:
        """Return what decides a cell beside its job."""
        method = METHODS[job.method]
        libraries = [version(name) for name in ("scikit-learn", "pandas")]
        own = version(method.module) if method.module else ""
        return [PROTOCOL, *libraries, own, method.settings, self.alpha, self.table.sha256]

    def compute(self, job: OwnJob) -> MeasuredCell:
        """Run a method; a process keeps the last division that it has made."""
        method, task = METHODS[job.method], _task(self, job.seed)
        reading: Reading = "typed" if self.table.is_typed else method.reading
        return run_cell(method, task, job.seed, self.alpha, reading)


@lru_cache(maxsize=1)
def _task(study: OwnStudy, seed: int) -> TableTask:
    return divide(study.table, seed)


def run_cell(
    method: TableMethod, task: TableTask, seed: int, alpha: float, reading: Reading
) -> MeasuredCell:
    """Learn from normal rows, judge the others, and measure; an error becomes the outcome."""
    return MeasuredCell.of(lambda: _measured(method, task, seed, alpha, reading))


def _measured(
    method: TableMethod, task: TableTask, seed: int, alpha: float, reading: Reading
) -> dict[str, float]:
    train, test = task.read(reading)
    started = process_time()
    trained = method.learn(train, seed, alpha)
    fitted = process_time()
    scores = finite(trained.score(test))
    scored = process_time()
    rejected = method.rejecting(trained, train, seed, alpha)(test)
    kinds = np.array(task.kinds)
    found = caught(kinds, rejected)
    if ANOMALY in task.kinds:
        ranked = measure(kinds == ANOMALY, scores, rejected)
        found = {name: ranked[name] for name in ("auroc", "auprc")} | found
    return {
        **found,
        "fit_seconds": fitted - started,
        "score_seconds": (scored - fitted) * 1000 / len(test),
    }


def caught(kinds: np.ndarray[Any, Any], rejected: Booleans) -> dict[str, float]:
    """Return the share of each kind of rows that is rejected; of normal ones, false alarms.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.studies.own.cells import caught
    >>> kinds = np.array(["normal", "normal", "typo", "typo"])
    >>> caught(kinds, np.array([False, True, True, True]))
    {'caught typo': 1.0, 'false_alarms': 0.5}
    """
    others = [kind for kind in dict.fromkeys(kinds.tolist()) if kind != NORMAL]
    found = {caught_of(kind): float(rejected[kinds == kind].mean()) for kind in others}
    return found | {"false_alarms": float(rejected[kinds == NORMAL].mean())}
