"""Suites that are run as their papers do, and figures that others printed."""

from __future__ import annotations

import csv
import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile
from zlib import crc32

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from refold._typing import Floats
from refold.studies.download import DataError, local_files
from refold.studies.novelty.measures import PUBLISHED
from refold.studies.novelty.suite import Dataset, Division, Suite, grouped

MAX_ROWS = 100_000  # of a task of OddBench, training and test together
MIN_DTE, MAX_DTE = 1_000, 50_000

# The methods that published comparisons share with this one, and ours.
COMPARED = (
    *("CreasedREF", "REF", "REF-all", "kNN-1", "kNN-5", "DTE-NP", "LOF", "FeatureBagging"),
    *("OneClassSVM", "IsolationForest", "HBOS", "ECOD"),
)


class PrintedFigure(NamedTuple):
    """What a paper prints for a method, in percent, as a mean over tasks."""

    method: str
    auroc: float
    auprc: float
    tasks: int
    source: str


def _resource(name: str) -> str:
    return files("refold.studies.novelty").joinpath(name).read_text(encoding="utf-8")


def printed_figures(suite: str) -> list[PrintedFigure]:
    """Return the figures that others printed for a suite, best AUROC first."""
    lines = csv.DictReader(_resource("published.csv").splitlines())
    found = [
        PrintedFigure(
            line["method"],
            float(line["auroc"]),
            float(line["auprc"]),
            int(line["tasks"]),
            line["source"],
        )
        for line in lines
        if line["suite"] == suite
    ]
    return sorted(found, key=lambda figure: -figure.auroc)


class TaskExtent(NamedTuple):
    """How large a task is."""

    train: int
    test: int
    columns: int


_USES = ("development tasks", "other tasks")
_SIZES = (1_000, 5_000, 20_000)
_WIDTHS = (6, 11, 21)


def _ranges(limits: Sequence[int]) -> list[str]:
    """Name the ranges between limits; each begins with its lower one.

    >>> _ranges((6, 11))
    ['up to 5', '6 to 10', 'from 11']
    """
    between = [f"{low:,} to {high - 1:,}" for low, high in pairwise(limits)]
    return [f"up to {limits[0] - 1:,}", *between, f"from {limits[-1]:,}"]


class OddBench(Suite):
    """One-class tasks with splits of their own, run as TaskBridge's paper does."""

    def read(self, path: Path) -> tuple[Floats, NDArray[Any], Floats | None]:
        """Return the test rows, their labels and the training rows."""
        with np.load(path) as file:
            if missing := {"train", "test", "test_labels"}.difference(file.files):
                raise DataError(f"{path} has no {' and no '.join(sorted(missing))}.")
            labels = file["test_labels"].ravel()
            return file["test"].astype(np.float64), labels, file["train"].astype(np.float64)

    def divide(self, dataset: Dataset, seed: int) -> Division:
        """Return the task's own split, at most 100,000 rows of it.

        Of more rows some are drawn; the shares of training rows and of anomalies stay as they are.
        """
        train, n_rows = dataset.given_training(), len(dataset.rows)
        if len(train) + n_rows <= MAX_ROWS:
            return Division(train, dataset.rows, dataset.is_anomaly)
        rng = np.random.default_rng([crc32(dataset.name.encode()), seed])
        n_train = round(MAX_ROWS * len(train) / (len(train) + n_rows))
        n_anomalies = round((MAX_ROWS - n_train) * float(dataset.is_anomaly.mean()))
        kinds = ~dataset.is_anomaly, dataset.is_anomaly
        sizes = MAX_ROWS - n_train - n_anomalies, n_anomalies
        test = np.concatenate(
            [
                rng.choice(np.flatnonzero(kind), size, replace=False)
                for kind, size in zip(kinds, sizes, strict=True)
            ]
        )
        chosen = rng.choice(len(train), n_train, replace=False)
        return Division(train[chosen], dataset.rows[test], dataset.is_anomaly[test])

    def draws_rows(self, name: str) -> bool:
        """Whether a task has more rows than are used."""
        extent = self.extents[name]
        return extent.train + extent.test > MAX_ROWS

    @cached_property
    def extents(self) -> dict[str, TaskExtent]:
        """How large each task is; the arrays themselves are not read."""
        return {name: _extent(self.source.path(file)) for name, file in self.files.items()}

    def groupings(self, names: Sequence[str]) -> dict[str, dict[str, list[str]]]:
        """Return tasks by their use here, training rows, columns and origin."""
        listed = _resource("oddbench-development.txt") if self.title.startswith("OddBench") else ""
        development = set(listed.split())
        uses, sizes, widths = _USES, _ranges(_SIZES), _ranges(_WIDTHS)
        extents = {name: self.extents[name] for name in names}
        by_size = {name: sizes[bisect_right(_SIZES, e.train)] for name, e in extents.items()}
        by_width = {name: widths[bisect_right(_WIDTHS, e.columns)] for name, e in extents.items()}
        by_origin = {name: self._origin(name) for name in names}
        return {
            "Use here": grouped({name: uses[name not in development] for name in names}, uses),
            "Training rows": grouped(by_size, sizes),
            "Columns": grouped(by_width, widths),
            "Origin": grouped(by_origin, sorted(set(by_origin.values()))),
        }

    def _origin(self, name: str) -> str:
        with np.load(self.source.path(self.files[name])) as file:
            return str(file["origin"]) if "origin" in file.files else "not said"


def _extent(path: Path) -> TaskExtent:
    n_train, n_columns = _shape(path, "train")
    return TaskExtent(n_train, _shape(path, "test")[0], n_columns)


def _shape(path: Path, array: str) -> tuple[int, ...]:
    """Return the shape of an array in a file without reading it."""
    try:
        with ZipFile(path) as archive, archive.open(f"{array}.npy") as file:
            header = (
                npy.read_array_header_1_0
                if npy.read_magic(file) == (1, 0)
                else npy.read_array_header_2_0
            )
            return tuple(header(file)[0])
    except (KeyError, ValueError, OSError) as error:
        raise DataError(f"{path} has no {array}, or is damaged: {error}") from error


def oddbench(folder: str = "oddbench", name: str = "OddBench") -> Suite:
    """Return the tasks in a folder of ``REFOLD_DATA``; DataError if there are none.

    OvRBench, its companion, has the same files and the same protocol.
    """
    wanted = f"the tasks of {name}, .npz files with train, test and test_labels,"
    source = local_files(folder, ".npz", wanted)
    names = {name.removesuffix(".npz"): name for name in source.sha256}
    return OddBench(
        name,
        source,
        names,
        "the training rows of a task",
        measures=PUBLISHED,
        time_limit=3_600.0,
    )


class DteADBench(Suite):
    """ADBench as V. Livernoche et al. divide it, whose comparisons other papers continue."""

    def divide(self, dataset: Dataset, seed: int) -> Division:
        """Return the first half of the normal rows, and the rest and all anomalies.

        Of less than 1,000 rows, 1,000 are drawn with replacement, so that rows to judge may be
        among those that are learned; of more than 50,000, 50,000 are drawn. Rows between are in
        file order, which no seed changes. This is what the authors' program does.
        """
        n = len(dataset.rows)
        at = np.arange(n)
        if self.draws(n):
            rng = np.random.default_rng([crc32(dataset.name.encode()), seed])
            at = rng.choice(n, MIN_DTE if n < MIN_DTE else MAX_DTE, replace=n < MIN_DTE)
        rows, is_anomaly = dataset.rows[at], dataset.is_anomaly[at]
        normals, anomalies = rows[~is_anomaly], rows[is_anomaly]
        half = round(0.5 * len(normals))
        return Division(
            train=normals[:half],
            test=np.concatenate([normals[half:], anomalies]),
            is_anomaly=np.repeat([False, True], [len(normals) - half, len(anomalies)]),
        )

    @staticmethod
    def draws(n: int) -> bool:
        """Whether rows are drawn of a set that has so many."""
        return not MIN_DTE <= n <= MAX_DTE

    def draws_rows(self, name: str) -> bool:
        """Whether rows of a set are drawn."""
        return self.draws(_shape(self.source.path(self.files[name]), "X")[0])


def adbench_dte() -> Suite:
    """Return the sets in the folder adbench of ``REFOLD_DATA``; DataError if there are none."""
    source = local_files("adbench", ".npz", "sets of ADBench, .npz files with X and y,")
    numbered = {re.sub(r"^\d+_|\.npz$", "", name): name for name in source.sha256}
    names = sorted(numbered, key=str.lower)
    return DteADBench(
        "ADBench, divided as by DTE",
        source,
        {name: numbered[name] for name in names},
        "the first half of the normal rows",
        measures=PUBLISHED,
        time_limit=3_600.0,
    )
