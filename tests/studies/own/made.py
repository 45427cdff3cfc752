"""Tables that the tests make, and comparisons that were never run."""

from __future__ import annotations

import numpy as np
import pandas as pd

from refold.studies.measured import MeasuredCell
from refold.studies.own.cells import OwnJob
from refold.studies.own.comparison import Extent, OwnComparison
from refold.studies.own.table import OwnTable


def texts(**columns):
    """Return a frame of texts."""
    return pd.DataFrame({name: [str(v) for v in values] for name, values in columns.items()})


def twins(n=300, seed=0):
    """Return a table of three columns that say the same, so that only swapping breaks anything."""
    value = np.random.default_rng(seed).uniform(0, 100, n)
    noise = np.random.default_rng(seed + 1).normal(0, 1, (3, n))
    return OwnTable(
        "twins.csv",
        texts(**{name: np.round(value + e, 2) for name, e in zip("abc", noise, strict=True)}),
    )


def comparison(values, alpha=0.05, extent=Extent(200, 100)):  # noqa: B008
    """Return a comparison; ``values[method][seed]`` are measures, a text is a failure."""
    return OwnComparison(
        {
            OwnJob(method, seed): (
                MeasuredCell.failed(ValueError(measures))
                if isinstance(measures, str)
                else MeasuredCell("done", measures)
            )
            for method, seeds in values.items()
            for seed, measures in enumerate(seeds)
        },
        alpha,
        extent,
    )


def caught(share, alarms=0.05):
    """Return measures of a cell in which a share of the faults of two kinds was caught."""
    rest = {"false_alarms": alarms, "fit_seconds": 0.1, "score_seconds": 0.01}
    return {"caught beyond 0.1": share, "caught beyond 1": share, "caught typo": share, **rest}
