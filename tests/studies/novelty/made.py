"""Data sets, and comparisons of runs that were never run."""

from __future__ import annotations

import numpy as np

from refold.studies.measured import MeasuredCell
from refold.studies.novelty.cells import NoveltyJob
from refold.studies.novelty.comparison import NoveltyComparison
from refold.studies.novelty.measures import MEASURES
from refold.studies.novelty.suite import Dataset


def made(values, note="no"):
    """Return a comparison; ``values[method][set][seed]`` is every measure, None a failure."""
    n_sets = len(next(iter(values.values())))
    return NoveltyComparison(
        {
            NoveltyJob(f"set{i}", method, seed): cell(value, note)
            for i in range(n_sets)
            for method, table in values.items()
            for seed, value in enumerate(table[i])
        }
    )


def labelled(name, normals, anomalies):
    """Return a data set; its anomalies come last."""
    is_anomaly = np.repeat([False, True], [len(normals), len(anomalies)])
    return Dataset(name, np.concatenate([normals, anomalies]), is_anomaly)


def cell(value, note):
    if value is None:
        return MeasuredCell.failed(ValueError(note))
    return MeasuredCell("done", dict.fromkeys(MEASURES, float(value)))
