"""Rows beside some that are known to be good.

Split conformal p-values: a model learns from a part of the trusted rows, and how far out the others
are says how rare a row is. With the Benjamini-Hochberg procedure they keep the false discovery
rate, whatever the distribution and the model (Bates, Candès, Lei, Romano, Sesia: Testing for
outliers with conformal p-values, Annals of Statistics 51, 2023).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from refold.base.errors import UserError
from refold.base.findings import RateWarning
from refold.checks._suspects._judged import JudgedTable, distances
from refold.columns.table import Table
from refold.decisions.thresholds import Calibration
from refold.models.detector import Detector

# One of so many trusted rows is learned from. The smallest p-value is 1/(n + 1), n being the
# others, and few bad rows among many are only found if it is small.
_LEARNED = 3
_SEED = 190_746_253
_FEWEST = 30


def beside_trusted(table: Table, trusted: Table, options: dict[str, Any]) -> JudgedTable:
    """Judge rows by a model of some trusted rows, and say how rare they are among the others."""
    if trusted.rows < _FEWEST:
        raise UserError(
            f"trusted has {trusted.rows} rows, too few to learn from a third of them and to "
            f"compare with the others: at least {_FEWEST} are needed."
        )
    order = np.random.default_rng(_SEED).permutation(trusted.rows)
    first, others = np.split(order, [trusted.rows // _LEARNED])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RateWarning)  # nothing is decided by its threshold
        model = Detector(**options).fit(trusted.take(np.sort(first)))
    far = distances(model, trusted.take(np.sort(others)))
    calibration = Calibration.of(far[~np.isnan(far)], None, "held-out")
    scores = distances(model, table)
    p_values = np.where(np.isnan(scores), np.nan, calibration.p_values(scores))
    return JudgedTable(table, model, scores, p_values)
