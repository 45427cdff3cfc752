"""Learning without the rows that look least like the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from refold._typing import Floats
from refold.columns.bring import Brought
from refold.columns.encoding.counts import TableCounts
from refold.decisions.thresholds import Calibration
from refold.models.detector.learned import LearnedTable
from refold.models.detector.scorer import marked

if TYPE_CHECKING:
    from refold.models.detector.estimator import Detector

# After the first time, rows are compared with others than those that were dropped.
_TIMES = 2


def trimmed(model: Detector, table: Brought) -> None:
    """Learn again without the rows whose cells are the oddest; calibrate on all of them.

    They are ranked column by column whatever the method is: to a model that sees how columns go
    together, a few rows that are alike are a group of their own. Rows that were left out are judged
    by a model that has not seen them; the others have their leave-one-out distances. So the rate
    counts all rows.
    """
    n_dropped = int(model.trim * table.rows)
    if n_dropped == 0:
        return
    for _ in range(_TIMES):
        order = np.argsort(-_oddness(model._learned.table.ready, table), kind="stable")
        dropped, kept = order[:n_dropped], np.sort(order[n_dropped:])
        model._learn(model._of_rows(table.take(kept)))
    learned = model._learned
    out = model.scorer().distances(marked(model.encoder_.encode(table.take(dropped))))
    inside = learned.inside
    calibration = Calibration.of(
        np.concatenate([inside.calibration.scores, out]),
        np.concatenate([inside.calibration.weights, np.ones(len(out))]),
        inside.calibration.source,
    )
    threshold = calibration.threshold(learned.rate)
    anew = replace(learned)  # the scorer has the threshold, and is made once
    LearnedTable.inside.keep(anew, replace(inside, threshold=threshold, calibration=calibration))
    model._learn(anew)
    model.dropped_ = dropped


def _oddness(counts: TableCounts, table: Brought) -> Floats:
    """Return how odd the cells of each row are, on average."""
    if counts.plan.plain:
        assert counts.numbers is not None
        return np.asarray(counts.numbers.magnitudes(counts.numbers_of(table)).mean(axis=1))
    return np.asarray(counts.encode(table, left_out=True).magnitudes.mean(axis=1))
