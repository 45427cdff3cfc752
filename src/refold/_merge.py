"""Models learned apart become one."""

from __future__ import annotations

from functools import reduce

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from refold._ref import REF
from refold.engines.sketch import Sketch


def merge(*models: REF) -> REF:
    """Return one model as if it had been fitted on the rows of all, without needing a row.

    Parameters
    ----------
    *models : REF
        Fitted with ``engine="sketch"``, on the same columns and with the same parameters.

    Returns
    -------
    REF
        A new model, with the threshold that is its parameter: a calibration is not that of
        another model. The others stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF, merge
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> here, there = (REF(engine="sketch").fit(part) for part in (X[:400], X[400:]))
    >>> whole = REF(engine="sketch").fit(X)
    >>> bool((merge(here, there).predict(X) == whole.predict(X)).all())
    True
    """
    if not models:
        raise ValueError("merge needs at least one model.")
    for number, model in enumerate(models):
        _check(models[0], model, number)
    first = models[0]
    merged: REF = clone(first)
    merged.sketch_ = reduce(Sketch.plus, (model.sketch_ for model in models))
    merged._chain = None
    merged.engine_ = first.engine_
    merged._decide_at(first.threshold)
    merged.n_features_in_ = first.n_features_in_
    if hasattr(first, "feature_names_in_"):
        merged.feature_names_in_ = first.feature_names_in_
    return merged


def _check(first: REF, model: REF, number: int) -> None:
    """Refuse a model that cannot be merged with the first, saying what differs."""
    check_is_fitted(model)
    model._check_without_alpha()
    if not hasattr(model, "sketch_"):
        raise ValueError(
            f"Model {number} was learned by engine={model.engine_!r}; only models of "
            "engine='sketch' can be merged."
        )
    ours, theirs = first.get_params(), model.get_params()
    different = [k for k in ours if k not in ("n_jobs", "engine") and ours[k] != theirs[k]]
    if different:
        said = ", ".join(f"{k}={ours[k]!r} and {theirs[k]!r}" for k in different)
        raise ValueError(f"Models 0 and {number} have different parameters: {said}.")
    names = [getattr(m, "feature_names_in_", None) for m in (first, model)]
    columns = [
        list(range(m.n_features_in_)) if n is None else list(n)
        for m, n in zip((first, model), names, strict=True)
    ]
    if columns[0] != columns[1]:
        raise ValueError(
            f"Models 0 and {number} have different columns: {columns[0]} and {columns[1]}."
        )
