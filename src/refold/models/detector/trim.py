"""Learning without the rows that look least like the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from refold.columns.bring import Brought
from refold.decisions.thresholds import Calibration
from refold.models.detector.learned import Inside, Learned
from refold.models.detector.scorer import marked

if TYPE_CHECKING:
    from refold.models.detector.estimator import Detector


def trimmed(model: Detector, table: Brought) -> None:
    """Learn again without the rows that are farthest out; calibrate on all of them.

    Rows that were left out are judged by a model that has not seen them; the others have their
    leave-one-out distances. So the rate counts all rows.
    """
    encoded = marked(model.encoder_.encode(table, left_out=True))
    distances = model.scorer().distances(encoded)
    n_dropped = int(model.trim * table.rows)
    if n_dropped == 0:
        return
    order = np.argsort(-distances, kind="stable")
    dropped = order[:n_dropped]
    kept = np.sort(order[n_dropped:])
    learned = model._of_rows(table.take(kept))
    model._learn(learned)
    out = model.scorer().distances(marked(model.encoder_.encode(table.take(dropped))))
    inside = learned.inside
    scores = np.concatenate([inside.calibration.scores, out])
    weights = np.concatenate([inside.calibration.weights, np.ones(len(out))])
    calibration = Calibration.of(scores, weights, inside.calibration.source)
    threshold = calibration.threshold(learned.rate)
    anew = replace(learned)  # without the scorer, which knows the threshold before
    Learned.inside.keep(anew, Inside(inside.scorer, threshold, calibration, inside.model))
    model._learn(anew)
    model.dropped_ = dropped
