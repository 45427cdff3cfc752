"""A model that judges plain arrays."""

from __future__ import annotations

from copy import copy

from sklearn.utils.validation import check_is_fitted

from refold._ref import REF


def scorer_of(model: REF, *, on_worker: bool) -> REF:
    """Return a copy of a model that scores arrays whose columns are already in its order.

    It has no names, sketch or calibration, so it travels light. On a worker it uses one thread:
    workers run one task per core already.
    """
    check_is_fitted(model)
    scorer = copy(model)
    scorer._chain = model.chain_
    for attribute in ("sketch_", "feature_names_in_", "calibration_"):
        scorer.__dict__.pop(attribute, None)
    if on_worker:
        scorer.n_jobs = 1
    return scorer
