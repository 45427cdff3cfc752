"""What is done for one cell: one method and seed on a table of one's own."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from refold._typing import Booleans, Floats
from refold.studies.measured import MeasuredCell, MeasuredStudy, finite, measuring, timed
from refold.studies.novelty.measures import ranking_measures
from refold.studies.own.table import OwnTable, divide_rows
from refold.studies.tables.methods import METHODS as TABLE_METHODS
from refold.studies.tables.methods import TableMethod, TableModel, detector, one_hot, one_hot_peer
from refold.studies.tables.suite import ANOMALY, NORMAL, Reading, TableTask

# Scores of ECOD change with the rows beside them: at a time so many for each training row.
_BESIDE, _FEWEST_BESIDE = 1 / 50, 20


def _few_at_a_time(method: TableMethod) -> TableMethod:
    """Return a method that sees only a few of the rows to judge at once."""

    def learn(train: Any, seed: int, alpha: float) -> TableModel:
        model = method.learn(train, seed, alpha)
        few = max(_FEWEST_BESIDE, int(len(train) * _BESIDE))

        def score(rows: Any) -> Floats:
            parts = [rows.iloc[begin : begin + few] for begin in range(0, len(rows), few)]
            return np.concatenate([model.score(part) for part in parts])

        return model._replace(score=score)

    return replace(method, learn=learn, settings=f"{method.settings}, few at a time")


_ALL = (
    detector("Detector", "creased", "texts"),
    detector("Detector-ref", "ref", "texts"),
    one_hot("CreasedREF", "CreasedREF"),
    one_hot("REF", "REF-all"),
    one_hot_peer("kNN-1", "kNN-1", module="pyod"),
    one_hot_peer("kNN-5", "kNN-5", module="pyod"),
    TABLE_METHODS["skrub-kNN"],
    one_hot_peer("LOF", "LOF"),
    one_hot_peer("IsolationForest", "IsolationForest", imputes=False),
    TABLE_METHODS["isotree"],
    one_hot_peer("OneClassSVM", "OneClassSVM"),
    _few_at_a_time(one_hot_peer("ECOD", "ECOD", module="pyod")),
    one_hot_peer("HBOS", "HBOS", module="pyod"),
)

METHODS: dict[str, TableMethod] = {method.name: method for method in _ALL}
# What `refold fit` makes, and what it is asked for then.
FITTED = {"Detector": (), "Detector-ref": ("--method", "ref")}


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
    """Cells of one table: versions of libraries, the rows and a method's settings decide one."""

    def __init__(self, table: OwnTable, alpha: float, time_limit: float) -> None:
        super().__init__(time_limit)
        self.table, self.alpha = table, alpha

    def settings(self, job: OwnJob) -> list[Any]:
        """Return what decides a cell beside its job."""
        method = METHODS[job.method].describe()
        return [PROTOCOL, *method, self.alpha, self.table.sha256]

    def compute(self, job: OwnJob) -> MeasuredCell:
        """Run a method; a process keeps the last division that it has made."""
        method, task = METHODS[job.method], _task(self, job.seed)
        reading: Reading = "typed" if self.table.is_typed else method.reading
        return run_cell(method, task, job.seed, self.alpha, reading)


@lru_cache(maxsize=1)
def _task(study: OwnStudy, seed: int) -> TableTask:
    return divide_rows(study.table, seed)


@measuring
def run_cell(
    method: TableMethod, task: TableTask, seed: int, alpha: float, reading: Reading
) -> dict[str, float]:
    """Learn from normal rows, judge the others, and measure."""
    train, test = task.read(reading)
    trained, fit_seconds = timed(lambda: method.learn(train, seed, alpha))
    scores, score_seconds = timed(lambda: finite(trained.score(test)))
    rejected = method.rejecting(trained, train, seed, alpha)(test)
    kinds = np.array(task.kinds)
    found = caught(kinds, rejected)
    if ANOMALY in task.kinds:
        found = ranking_measures(kinds == ANOMALY, scores) | found
    return {
        **found,
        "fit_seconds": fit_seconds,
        "score_seconds": score_seconds * 1000 / len(test),
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
