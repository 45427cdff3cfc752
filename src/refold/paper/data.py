"""The paper's six data sets with the author's own five splits.

They come from the author's repository at one commit, are checked by SHA-256 and cached in the
user's cache folder. A local copy goes first: the environment variable ``REFOLD_DATA`` names a
folder that has ``ref-paper/`` with the files in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats, Integers
from refold.experiments.download import DataError, Source
from refold.paper.printed import TaskInfo, table1, tasks

N_SPLITS = 5
# The author's program takes a standard deviation below this for this.
STD_FLOOR = 1e-3

SHA256 = {
    "bankruptcy.mat": "11733198d04e4259171bcae64eb8fb0e9dd4d667a5ac6579438633ce9ce6903d",
    "happiness.mat": "8af68a89302dfb85eba08867661235fa91ad2f853b64c800bac31c1beb5aca75",
    "ionosphere.mat": "a77be2da25b0547041762d7a5e14db052c2c8837111389a20d1b7a1813a0ba85",
    "iris.mat": "4da3de78bc5c8065ba62ab3e57425c782671a89919a77a27f7677e9ad0ea60dc",
    "seeds.mat": "10943115cfbb3924e3ee400562db99e97f985020ebe73c4719bcff30a40f9c3e",
    "sonar.mat": "f69d46904e1947a78ad45a5f77324a4bec105d30a30cd8510759a8dcd87019c8",
}

SOURCE = Source(
    folder="ref-paper",
    url="https://raw.githubusercontent.com/JenniRaitoharju/REF/"
    "5b88a2e415411b878d8e71ae04df1fc779ad2b9b/Datasets",
    sha256=SHA256,
    extra="paper",
)

_PRINTED_NAMES = {
    "bankruptcy": "Qualitative bankruptcy",
    "happiness": "Somerville happiness",
    "ionosphere": "Ionosphere",
    "iris": "Iris",
    "seeds": "Seeds",
    "sonar": "Sonar",
}


@dataclass(frozen=True, eq=False)
class Split:
    """One division of a data set; labels are class numbers from 1, rows are in file order."""

    X_train: Floats
    y_train: Integers
    X_test: Floats
    y_test: Integers


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set as the author divided it.

    Parameters
    ----------
    name : str
        The name of its file, without the suffix.
    class_names : tuple of str
        Names of the classes 1, 2, … as Table I prints them.
    splits : tuple of Split
        The five divisions into training and test rows.
    """

    name: str
    class_names: tuple[str, ...]
    splits: tuple[Split, ...]


@dataclass(frozen=True, eq=False)
class Task:
    """One class of a data set as the target, in one split; 1 is target, -1 outlier.

    Parameters
    ----------
    info : TaskInfo
        The task's row in Table I.
    split : int
        Which of the five divisions, from 0.
    X_train, X_test : ndarray of shape (n, d)
        Rows in file order.
    y_train, y_test : ndarray of int, shape (n,)
        Their labels.
    """

    info: TaskInfo
    split: int
    X_train: Floats
    y_train: Integers
    X_test: Floats
    y_test: Integers

    @property
    def train_target(self) -> Floats:
        """Target rows of the training part: what a one-class model learns from."""
        return _where(self.X_train, self.y_train == 1)

    @property
    def train_outliers(self) -> Floats:
        """Other rows of the training part: for choosing hyperparameters only."""
        return _where(self.X_train, self.y_train == -1)

    def standardized(self) -> Self:
        """Return the task with all rows in units of the target training rows' mean and std."""
        target = self.train_target
        mean, std = target.mean(axis=0), target.std(axis=0, ddof=1)
        std[std < STD_FLOOR] = STD_FLOOR
        return replace(self, X_train=(self.X_train - mean) / std, X_test=(self.X_test - mean) / std)


def load_dataset(name: str) -> Dataset:
    """Load one of the six data sets, from a local copy or from the author's repository.

    Parameters
    ----------
    name : {"iris", "seeds", "ionosphere", "sonar", "bankruptcy", "happiness"}
        Which one.

    Returns
    -------
    Dataset
        With its five splits; the counts are those of Table I.

    Examples
    --------
    >>> from refold.paper.data import load_dataset
    >>> iris = load_dataset("iris")  # doctest: +SKIP
    >>> iris.class_names  # doctest: +SKIP
    ('Setosa', 'Versicolor', 'Virginica')
    """
    if name not in _PRINTED_NAMES:
        raise ValueError(
            f"There is no data set {name!r} in the paper; it has {sorted(_PRINTED_NAMES)}."
        )
    infos = [info for info in table1() if info.dataset == _PRINTED_NAMES[name]]
    mat = _read(SOURCE.path(f"{name}.mat"))
    splits = tuple(_split(mat, i) for i in range(N_SPLITS))
    for i, split in enumerate(splits):
        _check_counts(name, i, split, infos)
    return Dataset(name, tuple(info.target_class for info in infos), splits)


def load_task(name: str, split: int = 0) -> Task:
    """Load one of the fourteen tasks in one of the author's five splits.

    Parameters
    ----------
    name : str
        As in Table I: ``"Iris1"``, …, ``"Happ2"``.
    split : int, default=0
        Which split, 0 to 4.

    Returns
    -------
    Task
        Not standardized; see :meth:`Task.standardized`.

    Examples
    --------
    >>> from refold.paper.data import load_task
    >>> task = load_task("Iris1", split=0)  # doctest: +SKIP
    >>> task.train_target.shape, task.train_outliers.shape, task.X_test.shape  # doctest: +SKIP
    ((35, 4), (70, 4), (45, 4))
    """
    if name not in tasks():
        raise ValueError(f"There is no task {name!r} in the paper; it has {', '.join(tasks())}.")
    if split not in range(N_SPLITS):
        raise ValueError(f"split={split!r}, but the paper has splits 0 to {N_SPLITS - 1}.")
    info = next(info for info in table1() if info.task == name)
    dataset = next(key for key, printed in _PRINTED_NAMES.items() if printed == info.dataset)
    return as_task(load_dataset(dataset), info, split)


def load_tasks() -> list[Task]:
    """Load all fourteen tasks in all five splits, each file once."""
    datasets = {_PRINTED_NAMES[name]: load_dataset(name) for name in _PRINTED_NAMES}
    return [
        as_task(datasets[info.dataset], info, split)
        for info in table1()
        for split in range(N_SPLITS)
    ]


def as_task(dataset: Dataset, info: TaskInfo, split: int) -> Task:
    """Take one class of a data set as the target."""
    rows = dataset.splits[split]
    number = dataset.class_names.index(info.target_class) + 1
    return Task(
        info=info,
        split=split,
        X_train=rows.X_train,
        y_train=np.where(rows.y_train == number, 1, -1),
        X_test=rows.X_test,
        y_test=np.where(rows.y_test == number, 1, -1),
    )


def _where(X: Floats, rows: NDArray[np.bool_]) -> Floats:
    return np.ascontiguousarray(X[rows])


def _read(path: Path) -> dict[str, NDArray[Any]]:
    from scipy.io import loadmat

    return dict(loadmat(path))


def _split(mat: dict[str, NDArray[Any]], i: int) -> Split:
    """Rows in file order and C-ordered: the order of a sum decides chaotic features."""

    def rows(key: str) -> Floats:
        return np.ascontiguousarray(mat[key][i].T, dtype=np.float64)

    return Split(
        X_train=rows("fulltraindata"),
        y_train=mat["fulltrainlabels"][i].astype(np.int64),
        X_test=rows("fulltestdata"),
        y_test=mat["fulltestlabels"][i].astype(np.int64),
    )


def _check_counts(name: str, i: int, split: Split, infos: list[TaskInfo]) -> None:
    labels = np.concatenate([split.y_train, split.y_test])
    found = (
        len(np.unique(labels)),
        len(labels),
        split.X_train.shape[1],
        [int((split.y_train == k + 1).sum()) for k in range(len(infos))],
    )
    printed = (
        infos[0].classes,
        infos[0].n_total,
        infos[0].n_features,
        [info.n_target_train for info in infos],
    )
    if found != printed:
        raise DataError(
            f"{name}, split {i}: classes, rows, features and target training rows per class are "
            f"{found}, but Table I prints {printed}."
        )
