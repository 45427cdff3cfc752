"""Which rows are learned and which are judged: one division of a table for each seed."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np

from refold.base.needs import needs
from refold.studies.own.faults import put_faults
from refold.studies.own.table import OwnTable
from refold.studies.tables.columns import CleanColumn
from refold.studies.tables.suite import ANOMALY, NORMAL, TableTask

MAX_TRAINING, MAX_NORMALS, MAX_ANOMALIES = 5_000, 2_000, 2_000
ALL_OF_FEW = 20  # anomalies


def sizes(table: OwnTable) -> tuple[int, int]:
    """Return how many normal rows are learned and how many judged: two thirds and the others."""
    n = len(table.normals)
    n_train = 2 * n // 3
    return min(n_train, MAX_TRAINING), min(n - n_train, MAX_NORMALS)


def n_anomalies(table: OwnTable) -> int:
    """Return how many anomalies are judged: half of many, so that seeds show what chance does."""
    n = 0 if table.anomalies is None else len(table.anomalies)
    return min(max(n // 2, min(n, ALL_OF_FEW)), MAX_ANOMALIES)


def usual_rate(table: OwnTable) -> float:
    """Return the rate of false alarms that ``refold fit`` would choose for the training rows."""
    return max(0.01, 5.0 / (sizes(table)[0] + 1))


def divide(table: OwnTable, seed: int) -> TableTask:
    """Draw rows to learn from; judged are others, and anomalies or rows with a fault each.

    Examples
    --------
    >>> import pandas as pd
    >>> from refold.studies.own.division import divide
    >>> from refold.studies.own.table import OwnTable
    >>> rows = pd.DataFrame({"grams": [f"{k % 7}.5" for k in range(60)]})
    >>> task = divide(OwnTable("salt.csv", rows), seed=0)
    >>> len(task.train), task.kinds.count("normal"), task.kinds.count("shift 1")
    (40, 20, 100)
    """
    rng = np.random.default_rng([crc32(b"own"), seed])
    n_train, n_test = sizes(table)
    order = rng.permutation(len(table.normals))
    train, test = (
        table.normals.iloc[places].reset_index(drop=True)
        for places in (order[:n_train], order[len(order) - n_test :])
    )
    if table.anomalies is not None:
        drawn = rng.permutation(len(table.anomalies))[: n_anomalies(table)]
        return _task(train, test, [(ANOMALY, table.anomalies.iloc[drawn], [None] * len(drawn))])
    columns = [_column(train, test, name) for name in train.columns if name not in table.running]
    found = put_faults(columns, test, rng)
    return _task(train, test, [(tag, faults.rows, faults.columns) for tag, faults in found])


def _task(train: Any, test: Any, others: list[tuple[str, Any, Any]]) -> TableTask:
    kinds, wrong = [NORMAL] * len(test), [None] * len(test)
    for kind, rows, columns in others:
        kinds += [kind] * len(rows)
        wrong += columns
    both = needs("pandas", "benchmark").concat(
        [test, *(rows for _, rows, _ in others)], ignore_index=True
    )
    return TableTask(train, both, tuple(kinds), tuple(wrong))


def _column(train: Any, test: Any, name: str) -> CleanColumn:
    there, elsewhere = train[name].dropna().tolist(), frozenset(test[name].dropna())
    return CleanColumn(name, there, float(train[name].isna().mean()), elsewhere)
