"""Tables of orders that are written by the tests, and comparisons that were never run."""

from __future__ import annotations

import numpy as np
import pandas as pd

from refold.studies.measured import MeasuredCell
from refold.studies.tables.cells import TableJob
from refold.studies.tables.comparison import TableComparison


def orders(n, seed=0):
    """Return orders as texts: every kind of error finds a column."""
    rng = np.random.default_rng(seed)
    hours = pd.to_timedelta(rng.integers(8, 18, n), unit="h")
    days = pd.to_timedelta(rng.integers(0, 200, n) * 7 + rng.integers(0, 5, n), unit="D")
    country = rng.choice(["DE", "FR", "IT", "LU"], n, p=[0.6, 0.25, 0.149, 0.001])
    country[:2] = "LU"
    return pd.DataFrame(
        {
            "placed": (pd.Timestamp("2018-01-01") + days + hours).strftime("%Y-%m-%d %H:%M:%S"),
            "country": country,
            "article": [f"KX-{number}" for number in rng.integers(1000, 9999, n)],
            "price": [f"{price:.2f}" for price in rng.gamma(9.0, 5.0, n)],
            "pieces": rng.integers(1, 20, n).astype(str),
        }
    ).astype(object)


def write_tables(folder, n=400):
    """Write a clean and a labelled table into a folder."""
    folder.mkdir(exist_ok=True)
    orders(n).to_csv(folder / "clean-orders.csv.gz", index=False)
    labelled = orders(n, seed=1).assign(row_is="normal")
    labelled.loc[n - 40 :, ["price", "row_is"]] = ["900.00", "anomaly"]
    labelled.to_csv(folder / "natural-orders.csv.gz", index=False)


def comparison(values):
    """Return a comparison; ``values[method][table][seed]`` are measures, a text is a failure."""
    return TableComparison(
        {
            TableJob(table, method, seed): (
                MeasuredCell.failed(ValueError(measures))
                if isinstance(measures, str)
                else MeasuredCell("done", measures)
            )
            for method, tables in values.items()
            for table, seeds in tables.items()
            for seed, measures in enumerate(seeds)
        }
    )
