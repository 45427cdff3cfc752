"""Models that judge plain arrays, whatever their kind."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from refold.models.learned import FromRows
from refold.models.ref import REF


def scorer_of(model: REF, *, on_worker: bool) -> REF:
    """Return a copy of a model that scores arrays whose columns are already in its order.

    It has no names, sketch or calibration, so it travels light. On a worker it uses one thread:
    workers run one task per core already.
    """
    check_is_fitted(model)
    scorer = copy(model)
    scorer._learned = FromRows(model.chain_, model.summary_)
    for attribute in ("feature_names_in_", "calibration_"):
        scorer.__dict__.pop(attribute, None)
    if on_worker:
        scorer.n_jobs = 1
    return scorer


def parts_of(model: Any, X: Any) -> NDArray[np.float64]:
    """Return what each feature adds to each row's distance, shape (n, d); never negative.

    The contributions of REF add up to the distance. For CreasedREF it is the drop in distance if
    the feature had its expected value.
    """
    if hasattr(model, "reasons"):
        return np.asarray(np.maximum(model.reasons(X).drop, 0.0))
    return np.asarray(model.contributions(X))
