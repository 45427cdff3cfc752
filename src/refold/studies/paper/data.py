"""The paper's six data sets with the author's own five splits.

They come from the author's repository at one commit, are checked by SHA-256 and cached in the
user's cache folder. A local copy goes first: the environment variable ``REFOLD_DATA`` names a
folder that has ``ref-paper/`` with the files in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.io import loadmat

from refold._typing import Floats, Integers
from refold.studies.download import DataError, PublishedFiles
from refold.studies.paper.printed import TaskInfo, table1, tasks

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

SOURCE = PublishedFiles(
    folder="ref-paper",
    url="https://raw.githubusercontent.com/JenniRaitoharju/REF/"
    "5b88a2e415411b878d8e71ae04df1fc779ad2b9b/Datasets",
    sha256=SHA256,
)


@dataclass(frozen=True, eq=False)
class Task:
    """One class of a data set as the target, in one split; 1 is target, -1 outlier."""

    info: TaskInfo  # the task's row in Table I
    split: int  # which of the five divisions, from 0
    X_train: Floats  # rows in file order
    y_train: Integers  # their labels
    X_test: Floats
    y_test: Integers

    @property
    def train_target(self) -> Floats:
        """Target rows of the training part: what a one-class model learns from."""
        return np.ascontiguousarray(self.X_train[self.y_train == 1])

    def standardized(self) -> Self:
        """Return the task with all rows in units of the target training rows' mean and std."""
        target = self.train_target
        mean, std = target.mean(axis=0), target.std(axis=0, ddof=1)
        std[std < STD_FLOOR] = STD_FLOOR
        return replace(self, X_train=(self.X_train - mean) / std, X_test=(self.X_test - mean) / std)


def load_task(name: str, split: int = 0) -> Task:
    """Load one of the fourteen tasks in one of the author's five splits."""
    if name not in tasks():
        raise ValueError(f"There is no task {name!r} in the paper; it has {', '.join(tasks())}.")
    if split not in range(N_SPLITS):
        raise ValueError(f"split={split!r}, but the paper has splits 0 to {N_SPLITS - 1}.")
    info = next(info for info in table1() if info.task == name)
    return _task(_read(info.dataset), info, split)


def load_tasks() -> list[Task]:
    """Load all fourteen tasks in all five splits, each file once."""
    contents = {name: _read(name) for name in dict.fromkeys(info.dataset for info in table1())}
    return [
        _task(contents[info.dataset], info, split) for info in table1() for split in range(N_SPLITS)
    ]


def _read(dataset: str) -> dict[str, Any]:
    # Files have the last word of the printed name.
    return dict(loadmat(SOURCE.path(f"{dataset.split()[-1].lower()}.mat")))


def _task(content: dict[str, Any], info: TaskInfo, split: int) -> Task:
    """Take one class of a data set as the target; classes are numbered from 1, as in Table I.

    Rows stay in file order and are C-ordered: the order of a sum decides chaotic features.
    """
    X_train, X_test = (
        np.ascontiguousarray(content[f"full{part}data"][split].T, dtype=np.float64)
        for part in ("train", "test")
    )
    labels = [content[f"full{part}labels"][split] for part in ("train", "test")]
    classes = [other.target_class for other in table1() if other.dataset == info.dataset]
    number = classes.index(info.target_class) + 1
    y_train, y_test = (np.where(numbers == number, 1, -1) for numbers in labels)
    counted = replace(
        info,
        classes=len(np.unique(np.concatenate(labels))),
        n_total=len(y_train) + len(y_test),
        n_features=X_train.shape[1],
        n_target_train=int(np.sum(y_train == 1)),
    )
    if counted != info:
        raise DataError(
            f"{info.task}, split {split}: the data is {counted}, but Table I prints {info}."
        )
    return Task(counted, split, X_train, y_train, X_test, y_test)
