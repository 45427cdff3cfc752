"""Tasks of OddBench: normal rows to learn from, and labelled rows to judge by, in a local folder.

The environment variable ``REFOLD_DATA`` names a folder that has ``oddbench/`` with one ``.npz``
file per task in it: ``train`` (normal rows), ``test`` and ``test_labels`` (1 is an anomaly).
Whatever is there is run; nothing is downloaded.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.studies.download import DataError
from refold.studies.novelty.suite import Suite


@dataclass(frozen=True)
class LocalFiles:
    """The ``.npz`` files of a folder; their hashes are those that they have.

    Parameters
    ----------
    folder : Path
        Where they are.
    """

    folder: Path

    @cached_property
    def sha256(self) -> dict[str, str]:
        """Each file's hash by its name, in alphabetical order."""
        found = sorted(self.folder.glob("*.npz"), key=lambda path: path.name.lower())
        return {path.name: sha256(path.read_bytes()).hexdigest() for path in found}

    def path(self, name: str) -> Path:
        """Return where a file is."""
        return self.folder / name

    local = path


class GivenTraining(Suite):
    """A suite of tasks that say which rows to learn from."""

    def read(self, path: Path) -> tuple[Floats, NDArray[Any], Floats | None]:
        """Return the test rows, their labels and the training rows."""
        with np.load(path) as file:
            if missing := {"train", "test", "test_labels"}.difference(file.files):
                raise DataError(f"{path} has no {' and no '.join(sorted(missing))}.")
            labels = file["test_labels"].ravel()
            return file["test"].astype(np.float64), labels, file["train"].astype(np.float64)


def oddbench() -> Suite:
    """Return the tasks in ``REFOLD_DATA``; DataError if there are none.

    Examples
    --------
    >>> from refold.studies.novelty.oddbench import oddbench
    >>> oddbench().load("CodeSmell").train.shape  # doctest: +SKIP
    (1065, 13)
    """
    around = os.environ.get("REFOLD_DATA")
    folder = Path(around or "", "oddbench")
    source = LocalFiles(folder)
    if not around or not source.sha256:
        there = f"{folder} has none" if around else "REFOLD_DATA is not set"
        raise DataError(
            f"No tasks of OddBench were found: {there}. Put the tasks, .npz files with train, test "
            "and test_labels, into a folder named oddbench and name the folder around it in "
            "REFOLD_DATA."
        )
    files = {name.removesuffix(".npz"): name for name in source.sha256}
    return GivenTraining("OddBench", source, files, "the training rows of a task", seeds=1)
