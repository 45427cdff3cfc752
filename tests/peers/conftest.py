"""The author's tasks and the figures that the paper prints for them."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.io import loadmat
from threadpoolctl import threadpool_limits

_FILES = (
    ("Iris", "iris", 3),
    ("Seed", "seeds", 3),
    ("Ion", "ionosphere", 2),
    ("Son", "sonar", 2),
    ("Bank", "bankruptcy", 2),
    ("Happ", "happiness", 2),
)
TASKS = {
    f"{name}{target}": (file, target)
    for name, file, classes in _FILES
    for target in range(1, classes + 1)
}
SPLITS = range(5)


class Cell(NamedTuple):
    """Gmean of a task in percent, over the splits."""

    mean: float
    std: float


class Problem(NamedTuple):
    """One split of a task, standardized by its target training rows."""

    train: NDArray[np.float64]
    test: NDArray[np.float64]
    is_target: NDArray[np.bool_]

    def gmean(self, model: Any) -> float:
        accepted = model.fit(self.train).predict(self.test) == 1
        rates = accepted[self.is_target].mean(), (~accepted[~self.is_target]).mean()
        return 100.0 * float(np.sqrt(rates[0] * rates[1]))


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    """Keep BLAS to one thread: on matrices this small, busy cores make more of them far slower."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def problems() -> dict[str, list[Problem]]:
    beside = Path(__file__).parents[2].parent / "shared" / "data"
    folder = Path(os.environ.get("REFOLD_DATA", beside)) / "ref-paper"
    if not folder.is_dir():
        pytest.skip("the author's data is not here: name its folder in REFOLD_DATA")
    files = {name: loadmat(folder / f"{name}.mat") for _, name, _ in _FILES}
    return {
        task: [_problem(files[file], target, split) for split in SPLITS]
        for task, (file, target) in TASKS.items()
    }


def _problem(file: dict[str, Any], target: int, split: int) -> Problem:
    train, test = (
        np.ascontiguousarray(file[name][split].T, dtype=np.float64)
        for name in ("fulltraindata", "fulltestdata")
    )
    train = train[file["fulltrainlabels"][split] == target]
    mean, std = train.mean(axis=0), train.std(axis=0, ddof=1)
    std[std < 1e-3] = 1e-3
    is_target = file["fulltestlabels"][split] == target
    return Problem((train - mean) / std, (test - mean) / std, is_target)


@pytest.fixture(scope="session")
def column(problems: dict[str, list[Problem]]) -> Callable[[Callable[[], Any]], dict[str, Cell]]:
    """Give the column of Table III that a method makes."""

    def run(make: Callable[[], Any]) -> dict[str, Cell]:
        cells = {}
        for task, splits in problems.items():
            gmeans = [problem.gmean(make()) for problem in splits]
            cells[task] = Cell(float(np.mean(gmeans)), float(np.std(gmeans, ddof=1)))
        return cells

    return run


@pytest.fixture(scope="session")
def printed() -> Callable[[str], dict[str, Cell]]:
    """Give a column of Table III, default setting, as the paper prints it."""
    with (Path(__file__).parent / "table3_default.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))

    def of(method: str) -> dict[str, Cell]:
        return {
            row["task"]: Cell(float(row["gmean_mean"]), float(row["gmean_std"]))
            for row in rows
            if row["method"] == method
        }

    return of
