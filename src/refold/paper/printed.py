"""What the paper prints: Tables I–III, as small data inside the package.

Source: J. Raitoharju, "Linear-time One-Class Classification with Repeated Element-wise Folding",
Table I (data sets and tasks), Table II (variants of REF) and Table III (comparison of methods),
number for number.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

AVERAGE = "Average"


class Cell(NamedTuple):
    """Mean and standard deviation of Gmean over the splits, in percent."""

    mean: float
    std: float


class Key(NamedTuple):
    """Where a cell of Table II or III stands; `column` is (fold, distance) or (method,)."""

    setting: str
    column: tuple[str, ...]
    task: str


@dataclass(frozen=True)
class TaskInfo:
    """A row of Table I: one class of one data set as the target.

    Parameters
    ----------
    dataset : str
        The data set's name as printed.
    classes, n_total, n_features : int
        Number of classes, of rows (training and test together) and of features.
    task : str
        The task's name in the other tables.
    target_class : str
        The target class's name.
    n_target_train : int
        Target rows in the training part of each split.
    """

    dataset: str
    classes: int
    n_total: int
    n_features: int
    task: str
    target_class: str
    n_target_train: int


@cache
def table1() -> tuple[TaskInfo, ...]:
    """Return the rows of Table I.

    Examples
    --------
    >>> from refold.paper import printed
    >>> printed.table1()[0]
    TaskInfo(dataset='Iris', classes=3, n_total=150, n_features=4, task='Iris1',
             target_class='Setosa', n_target_train=35)
    """
    return tuple(
        TaskInfo(
            dataset=row["dataset"],
            classes=int(row["classes"]),
            n_total=int(row["n_total"]),
            n_features=int(row["n_features"]),
            task=row["task"],
            target_class=row["target_class"],
            n_target_train=int(row["n_target_train"]),
        )
        for row in _rows("table1.csv")
    )


@cache
def tasks() -> tuple[str, ...]:
    """Return the names of the fourteen tasks in the paper's order."""
    return tuple(info.task for info in table1())


@cache
def table2() -> dict[Key, Cell]:
    """Return Table II, averages included; a column is (fold, distance).

    Examples
    --------
    >>> from refold.paper import printed
    >>> printed.table2()["default", ("abs", "L1/D"), "Average"]
    Cell(mean=74.4, std=4.4)
    """
    return _cells("table2.csv", ("fold", "distance"))


@cache
def table3() -> dict[Key, Cell]:
    """Return Table III, averages included; a column is (method,)."""
    return _cells("table3.csv", ("method",))


def _cells(name: str, columns: tuple[str, ...]) -> dict[Key, Cell]:
    return {
        Key(row["setting"], tuple(row[c] for c in columns), row["task"]): Cell(
            float(row["gmean_mean"]), float(row["gmean_std"])
        )
        for row in _rows(name)
    }


def _rows(name: str) -> list[dict[str, str]]:
    text = files("refold.paper").joinpath("printed", name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
