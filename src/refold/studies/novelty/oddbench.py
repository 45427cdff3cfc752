"""Tasks of OddBench: normal rows to learn from, and labelled rows to judge by, in a local folder.

The environment variable ``REFOLD_DATA`` names a folder that has ``oddbench/`` with one ``.npz``
file per task in it: ``train`` (normal rows), ``test`` and ``test_labels`` (1 is an anomaly).
Whatever is there is run; nothing is downloaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.studies.download import DataError
from refold.studies.local import local_files
from refold.studies.novelty.suite import Suite


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
    wanted = "the tasks of OddBench, .npz files with train, test and test_labels,"
    source = local_files("oddbench", ".npz", wanted)
    files = {name.removesuffix(".npz"): name for name in source.sha256}
    return GivenTraining("OddBench", source, files, "the training rows of a task", seeds=1)
