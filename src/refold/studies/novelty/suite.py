"""Suites of labelled tables, and how a table is divided for novelty detection.

A suite is a module with a :class:`Suite` in it, such as :mod:`refold.studies.novelty.adbench`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats
from refold.studies.download import DataError, PublishedFiles

MAX_TRAINING = 5_000
MAX_NORMALS = 5_000
MAX_ANOMALIES = 2_000


@dataclass(frozen=True, eq=False)
class Dataset:
    """A labelled table.

    Parameters
    ----------
    name : str
        Unique in its suite.
    normals, anomalies : ndarray of shape (n, d)
        The rows of each kind, in file order.
    """

    name: str
    normals: Floats
    anomalies: Floats


@dataclass(frozen=True)
class Suite:
    """Published data sets, one file each; another format than .npz needs another `read`.

    Parameters
    ----------
    title : str
        What the suite is called.
    source : PublishedFiles
        Where the files are.
    files : dict of str to str
        Each data set's file by the set's name.
    """

    title: str
    source: PublishedFiles
    files: dict[str, str]

    def load(self, name: str) -> Dataset:
        """Load a data set, from a local copy or from where it was published.

        Examples
        --------
        >>> from refold.studies.novelty.adbench import ADBENCH
        >>> ADBENCH.load("wine").normals.shape  # doctest: +SKIP
        (119, 13)
        """
        if name not in self.files:
            raise ValueError(f"There is no data set {name!r}; there are {', '.join(self.files)}.")
        X, y = self.read(self.source.path(self.files[name]))
        if not (np.isin(y, (0, 1)).all() and len(X) == len(y) and np.isfinite(X).all()):
            raise DataError(f"{self.files[name]} should have finite rows, each labelled 0 or 1.")
        return Dataset(name, X[y == 0], X[y == 1])

    def read(self, path: Path) -> tuple[Floats, NDArray[Any]]:
        """Return a file's rows, and for each whether it is normal (0) or an anomaly (1)."""
        with np.load(path) as file:
            return file["X"].astype(np.float64), file["y"].ravel()

    def fetch(self, names: Sequence[str]) -> None:
        """Make sure that data sets can be loaded; if not, DataError names those that are local."""
        local = [name for name in names if self.source.local(self.files[name])]
        try:
            for name in names:
                self.source.path(self.files[name])
        except DataError as error:
            if not local:
                raise
            raise DataError(
                f"{error}\nTo go on with the sets that REFOLD_DATA has: --sets {','.join(local)}"
            ) from error


@dataclass(frozen=True, eq=False)
class Division:
    """What a method learns from and what it is judged by.

    Parameters
    ----------
    train : ndarray of shape (n, d)
        Normal rows.
    test : ndarray of shape (m, d)
        Other normal rows, and after them anomalies.
    is_anomaly : ndarray of bool, shape (m,)
        Which of the test rows are anomalies.
    """

    train: Floats
    test: Floats
    is_anomaly: Booleans


def divide(dataset: Dataset, seed: int) -> Division:
    """Divide a data set: half of the normals to learn from, the rest and the anomalies to judge by.

    Parameters
    ----------
    dataset : Dataset
        With at least two normal rows and an anomaly.
    seed : int
        Decides, with the set's name, which rows go where; at most 5,000 training rows, 5,000 normal
        and 2,000 anomalous test rows are drawn.

    Returns
    -------
    Division
    """
    rng = np.random.default_rng([crc32(dataset.name.encode()), seed])
    normals = rng.permutation(len(dataset.normals))
    half = len(normals) // 2
    test_normals = dataset.normals[normals[half:][:MAX_NORMALS]]
    chosen = rng.permutation(len(dataset.anomalies))[:MAX_ANOMALIES]
    return Division(
        train=dataset.normals[normals[:half][:MAX_TRAINING]],
        test=np.concatenate([test_normals, dataset.anomalies[chosen]]),
        is_anomaly=np.repeat([False, True], [len(test_normals), len(chosen)]),
    )
