"""The model on either side of a distributed run: what goes in, what comes out, what travels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils.validation import check_is_fitted

from refold.algorithm.engines.sketch import Sketch
from refold.models.ref import REF


def sketching(model: REF | None) -> REF:
    """Return the model to learn, by default a new one; refuse one that cannot be learned so."""
    if model is None:
        return REF(engine="sketch")
    if model.engine != "sketch":
        raise ValueError(
            f"The model has engine={model.engine!r}; parts of a table can be added up only by "
            "REF(engine='sketch')."
        )
    model._validate_params()
    model._check_engine("sketch")
    model._check_without_alpha()
    return model


def learned(model: REF, sketch: Sketch, names: Sequence[str] | None) -> REF:
    """Make the model what ``fit`` on the sketched rows would; if it fails, leave it as it was."""
    with model._restored_on_error(), model._naming_columns():
        model.n_features_in_ = len(sketch.histograms)
        model.__dict__.pop("feature_names_in_", None)
        if names is not None:
            model.feature_names_in_ = np.array(names, dtype=object)
        model.sketch_ = sketch
        model.engine_ = "sketch"
        model._decide_at(model.threshold)
        model._chain = model._learn_from_sketch()
    return model


def features_of(model: REF, columns: Sequence[str] | None) -> list[str]:
    """Return the columns that the model scores, in its order."""
    check_is_fitted(model)
    names = getattr(model, "feature_names_in_", None)
    if columns is None:
        if names is None:
            raise ValueError(
                "The model was fitted without column names: say with columns= which "
                f"{model.n_features_in_} columns it scores, in the order of its features."
            )
        return list(map(str, names))
    if len(columns) != model.n_features_in_:
        raise ValueError(
            f"columns= has {len(columns)} names; the model has {model.n_features_in_} features."
        )
    if names is not None and list(columns) != list(names):
        raise ValueError(f"columns= says {list(columns)}; the model was fitted on {list(names)}.")
    return list(columns)
