"""Suites of labelled tables, and ADBench with the division of ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats, Integers
from refold.studies.download import DataError, LocalFiles, PublishedFiles
from refold.studies.novelty.measures import MEASURES

MAX_TRAINING = 5_000
MAX_NORMALS = 5_000
MAX_ANOMALIES = 2_000
# A column that takes at most so many values, each by so many training rows on average, is discrete.
_MOST_LEVELS, _ROWS_PER_LEVEL = 100, 5
# Of fewer anomalies a ranking is chance.
LEAST_HARD = 10


@dataclass(frozen=True, eq=False)
class Dataset:
    """A labelled table."""

    name: str  # unique in its suite
    rows: Floats  # in file order
    is_anomaly: Booleans  # which of them are anomalies
    # Normal rows to learn from, where the suite says which; `rows` are then all to judge by.
    train: Floats | None = None
    # Of streams: the number of each row's incident, counted from 0; -1 if it is in none.
    incident: Integers | None = None

    def given_training(self) -> Floats:
        """Return the rows to learn from of a set that says which."""
        if self.train is None:
            raise ValueError(f"{self.name} does not say which rows to learn from.")
        return self.train

    @property
    def normals(self) -> Floats:
        """The normal rows, in file order."""
        return self.rows[~self.is_anomaly]

    @property
    def anomalies(self) -> Floats:
        """The anomalies, in file order."""
        return self.rows[self.is_anomaly]


@dataclass(frozen=True, eq=False)
class Division:
    """What a method learns from and what it is judged by."""

    train: Floats  # normal rows
    test: Floats  # other normal rows, and anomalies
    is_anomaly: Booleans  # which of the test rows are anomalies
    incident: Integers | None = None  # of streams, as in `Dataset`

    def hard(self) -> Division:
        """Return the same without the test rows that a rule for single columns finds.

        It finds a row with a value outside the range of the training rows, or one that no training
        row has in a discrete column. Normal rows that it finds are left out too: otherwise a method
        that sees what the rule sees would be punished for it.
        """
        found = (self.test < self.train.min(axis=0)) | (self.test > self.train.max(axis=0))
        for column, values in enumerate(self.train.T):
            levels = np.unique(values)
            if len(levels) <= min(_MOST_LEVELS, len(values) // _ROWS_PER_LEVEL):
                found[:, column] |= ~np.isin(self.test[:, column], levels)
        rest = ~found.any(axis=1)
        return Division(self.train, self.test[rest], self.is_anomaly[rest])


@dataclass(frozen=True)
class Suite:
    """Data sets, one file each; another layout of the files needs another `read`."""

    title: str  # what the suite is called
    source: LocalFiles | PublishedFiles  # where the files are
    files: dict[str, str]  # each data set's file by the set's name
    learns_from: str = "half of the normal rows"  # which rows a method learns from, in words
    seeds: int = 5  # how many times each set is divided unless something else is asked for
    measures: tuple[str, ...] = MEASURES
    time_limit: float = 120.0  # seconds for one method, unless something else is asked for
    hard: bool = False  # whether only rows are judged that no rule for single columns finds

    def load(self, name: str) -> Dataset:
        """Load a data set, from a local copy or from where it was published.

        Examples
        --------
        >>> from refold.studies.novelty.suite import ADBENCH
        >>> ADBENCH.load("wine").normals.shape  # doctest: +SKIP
        (119, 13)
        """
        if name not in self.files:
            raise ValueError(f"There is no data set {name!r}; there are {', '.join(self.files)}.")
        X, y, train = self.read(self.source.path(self.files[name]))
        finite = np.isfinite(X).all() and (train is None or np.isfinite(train).all())
        if not (np.isin(y, (0, 1)).all() and len(X) == len(y) and finite):
            raise DataError(f"{self.files[name]} should have finite rows, each labelled 0 or 1.")
        return Dataset(name, X, y == 1, train)

    def read(self, path: Path) -> tuple[Floats, NDArray[Any], Floats | None]:
        """Return a file's rows, for each whether it is normal (0) or an anomaly (1), and others.

        The others are normal rows to learn from; None if those are to be drawn.
        """
        with np.load(path) as file:
            return file["X"].astype(np.float64), file["y"].ravel(), None

    def divide(self, dataset: Dataset, seed: int) -> Division:
        """Return half of the normal rows to learn from, and others and anomalies to judge."""
        rng = np.random.default_rng([crc32(dataset.name.encode()), seed])
        normals = rng.permutation(dataset.normals)
        half = len(normals) // 2
        test_normals = normals[half:][:MAX_NORMALS]
        anomalies = rng.permutation(dataset.anomalies)[:MAX_ANOMALIES]
        return Division(
            train=normals[:half][:MAX_TRAINING],
            test=np.concatenate([test_normals, anomalies]),
            is_anomaly=np.repeat([False, True], [len(test_normals), len(anomalies)]),
        )

    def division(self, dataset: Dataset, seed: int) -> Division:
        """Divide a set; of a suite of hard anomalies only the rows that are hard."""
        rows = self.divide(dataset, seed)
        return rows.hard() if self.hard else rows

    def hard_only(self) -> Self:
        """Return the suite in which only rows are judged that no rule for single columns finds."""
        return replace(self, title=f"{self.title}, hard anomalies", hard=True)

    def n_hard(self, name: str) -> int:
        """Return how many anomalies of a set no rule for single columns finds, by seed 0."""
        return int(self.divide(self.load(name), 0).hard().is_anomaly.sum())

    def draws_rows(self, name: str) -> bool:
        """Whether the seed decides which rows of a set are used."""
        return True

    def fingerprint(self, name: str) -> str:
        """Return what changes whenever a set's data does."""
        return self.source.sha256[self.files[name]]

    def groupings(self, names: Sequence[str]) -> dict[str, dict[str, list[str]]]:
        """Return sets in groups that are reported apart: titles, groups, names of sets."""
        return {}

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


def grouped(labels: Mapping[str, str], order: Iterable[str]) -> dict[str, list[str]]:
    """Return names by their labels, in an order; labels that no name has are left out.

    >>> grouped({"a": "small", "b": "large", "c": "small"}, ["tiny", "small", "large"])
    {'small': ['a', 'c'], 'large': ['b']}
    """
    found = {label: [name for name, own in labels.items() if own == label] for label in order}
    return {label: names for label, names in found.items() if names}


# 43 of ADBench's 47, as ``sha256sum`` writes them: backdoor, census, fraud and speech are left out
# for their size.
_HASHES = files("refold.studies.novelty").joinpath("adbench.sha256").read_text(encoding="utf-8")
SHA256 = {file: digest for digest, file in map(str.split, _HASHES.splitlines())}

ADBENCH = Suite(
    title="ADBench",
    source=PublishedFiles(
        folder="adbench",
        url="https://raw.githubusercontent.com/Minqi824/ADBench/"
        "3dac8221081e190f157d78e93bfa8867f90d0965/adbench/datasets/Classical",
        sha256=SHA256,
    ),
    files={
        file.partition("_")[2].removesuffix(".npz"): file
        for file in sorted(SHA256, key=lambda file: file.partition("_")[2].lower())
    },
)
