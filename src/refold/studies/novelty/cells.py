"""What is done for one cell: one data set, method and seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.metadata import version
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from refold._typing import Booleans, Floats
from refold.studies.download import DataError
from refold.studies.measured import (
    MeasuredCell,
    MeasuredStudy,
    left_out_threshold,
    measuring,
    timed,
)
from refold.studies.novelty.measures import (
    decision_measures,
    incidents_caught,
    ranking_measures,
)
from refold.studies.novelty.methods import METHODS, NoveltyMethod
from refold.studies.novelty.suite import Dataset, Division, Suite

ALPHA = 0.05
BEYOND = 0.25  # of the column's range in training
MAX_ROWS = 2_500  # to learn from
N_FAULTS = 500  # on either side
_AT_ONCE = 20  # scores of ECOD and COPOD change with the rows beside them: few faults at a time


def faults(method: NoveltyMethod, rows: Division, seed: int) -> dict[str, float]:
    """Return the share of faults found above and below the range, and that of false alarms."""
    train, normals = rows.train[:MAX_ROWS], rows.test[~rows.is_anomaly]
    rejects = _at_rate(method, train, seed)
    above, below = faulty(train, normals, seed)
    return {
        "faults_above": _share(rejects, above),
        "faults_below": _share(rejects, below),
        "alarms_05": float(rejects(normals).mean()),
    }


def faulty(train: Floats, normals: Floats, seed: int) -> tuple[Floats, Floats]:
    """Return normal rows with one value above, and the same with it below, its training range.

    Rows and columns are drawn with replacement, 500 times; constant columns have no range and are
    left out.
    """
    low, high = train.min(axis=0), train.max(axis=0)
    varying = np.flatnonzero(high > low)
    if len(varying) == 0:
        raise ValueError("All columns are constant: there is no range to be beyond.")
    rng = np.random.default_rng([crc32(b"faults"), seed])
    at = np.arange(N_FAULTS)
    picked, columns = rng.integers(len(normals), size=N_FAULTS), rng.choice(varying, N_FAULTS)
    above, below = normals[picked], normals[picked]
    above[at, columns] = (high + BEYOND * (high - low))[columns]
    below[at, columns] = (low - BEYOND * (high - low))[columns]
    return above, below


def _share(rejects: Callable[[Floats], Booleans], rows: Floats) -> float:
    parts = np.array_split(rows, len(rows) // _AT_ONCE)
    return float(np.concatenate([rejects(part) for part in parts]).mean())


def _at_rate(method: NoveltyMethod, train: Floats, seed: int) -> Callable[[Floats], Booleans]:
    """Return what decides about rows with 5 % false alarms."""
    if method.make_at_rate is not None:
        model = method.make_at_rate(seed, ALPHA).fit(train)
        return lambda X: np.asarray(model.predict(X) == -1)
    threshold = left_out_threshold(
        len(train),
        ALPHA,
        seed,
        lambda others, part: method.learn(method.make(seed), train[others]).score(train[part]),
    )
    trained = method.learn(method.make(seed), train)
    return lambda X: trained.score(X) > threshold


# A cell's numbers follow from the protocol; raise this when the protocol changes.
PROTOCOL = 4


class NoveltyJob(NamedTuple):
    """One cell to compute."""

    dataset: str
    method: str
    seed: int


class NoveltyStudy(MeasuredStudy[NoveltyJob]):
    """Cells of a suite: versions of the libraries, the data and a method's settings decide one."""

    def __init__(self, suite: Suite, time_limit: float) -> None:
        super().__init__(time_limit)
        self.suite = suite

    def settings(self, job: NoveltyJob) -> list[Any]:
        """Return what decides a cell beside its job."""
        data = self.suite.fingerprint(job.dataset)
        libraries = version("scikit-learn"), version("pyod")
        method = METHODS[job.method].describe(job.seed)
        return [PROTOCOL, self.suite.title, *libraries, method, data]

    def compute(self, job: NoveltyJob) -> MeasuredCell:
        """Run a method; a process keeps the last set that it has read.

        On a set that cannot be used every method fails: the others are still worth hours of work.
        """
        try:
            dataset = _load(self, job.dataset)
        except DataError as error:
            return MeasuredCell.failed(error)
        return run_cell(METHODS[job.method], self.suite, dataset, job.seed)

    def read(self, **stored: Any) -> MeasuredCell:
        """Return a cell from its stored fields."""
        cell = super().read(**stored)
        if cell.measures and tuple(cell.measures) != self.suite.measures:
            raise ValueError("There is not one value for each measure.")
        return cell


@lru_cache(maxsize=1)
def _load(study: NoveltyStudy, name: str) -> Dataset:
    return study.suite.load(name)


def run_cell(method: NoveltyMethod, suite: Suite, dataset: Dataset, seed: int) -> MeasuredCell:
    """Learn from normal rows, judge the others, and measure."""
    return _measured(method, suite.division(dataset, seed), seed, suite.measures)


@measuring
def _measured(
    method: NoveltyMethod, rows: Division, seed: int, measures: Sequence[str]
) -> dict[str, float]:
    model = method.make(seed)
    trained, fit_seconds = timed(lambda: method.learn(model, rows.train))
    scores, score_seconds = timed(lambda: trained.score(rows.test))
    found = ranking_measures(rows.is_anomaly, scores)
    if rows.incident is not None:
        found["incidents"] = incidents_caught(rows.incident, scores)
    if "gmean" in measures:
        found |= decision_measures(rows.is_anomaly, trained.reject(rows.test, scores))
        found |= faults(method, rows, seed)
    n_rows = len(rows.train) + len(rows.test)
    found |= {
        "fit_seconds": fit_seconds,
        "score_seconds": score_seconds,
        "seconds_per_1000": 1000 * (fit_seconds + score_seconds) / n_rows,
    }
    return {name: found[name] for name in measures}
