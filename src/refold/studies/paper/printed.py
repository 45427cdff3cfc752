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
from typing import Any, NamedTuple

AVERAGE = "Average"


class Gmean(NamedTuple):
    """A cell of Table II or III: mean and standard deviation over the splits, in percent."""

    mean: float
    std: float

    def text(self, separator: str = " ± ") -> str:
        """Return it as the paper prints it."""
        return f"{self.mean:.1f}{separator}{self.std:.1f}"


class Key(NamedTuple):
    """Where a cell of Table II or III stands; `column` is (fold, distance) or (method,)."""

    setting: str
    column: tuple[str, ...]
    task: str


@dataclass(frozen=True)
class TaskInfo:
    """A row of Table I: one class of one data set as the target."""

    dataset: str  # the data set's name as printed
    classes: int  # number of classes, of rows (training and test together) and of features
    n_total: int
    n_features: int
    task: str  # the task's name in the other tables
    target_class: str  # the target class's name
    n_target_train: int  # target rows in the training part of each split


@cache
def table1() -> tuple[TaskInfo, ...]:
    """Return the rows of Table I.

    Examples
    --------
    >>> from refold.studies.paper import printed
    >>> printed.table1()[0]
    TaskInfo(dataset='Iris', classes=3, n_total=150, n_features=4, task='Iris1',
             target_class='Setosa', n_target_train=35)
    """
    values: list[dict[str, Any]] = [
        {name: int(text) if text.isdigit() else text for name, text in row.items()}
        for row in _rows(1)
    ]
    return tuple(TaskInfo(**row) for row in values)


@cache
def tasks() -> tuple[str, ...]:
    """Return the names of the fourteen tasks in the paper's order."""
    return tuple(info.task for info in table1())


@cache
def cells(table: int) -> dict[Key, Gmean]:
    """Return Table II or III, averages included, in the paper's order.

    Examples
    --------
    >>> from refold.studies.paper import printed
    >>> printed.cells(2)["default", ("abs", "L1/D"), "Average"]
    Gmean(mean=74.4, std=4.4)
    """
    found = {}
    for row in _rows(table):
        setting, *column, task, mean, std = row.values()
        found[Key(setting, tuple(column), task)] = Gmean(float(mean), float(std))
    return found


def _rows(table: int) -> list[dict[str, str]]:
    path = files("refold.studies.paper").joinpath("printed", f"table{table}.csv")
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
