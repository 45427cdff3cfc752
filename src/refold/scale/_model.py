"""The model on either side of a distributed run: what goes in, what comes out, what travels."""

from __future__ import annotations

from collections.abc import Sequence

from sklearn.utils.validation import check_is_fitted

from refold.models.ref import REF
from refold.models.sketched import check_sketching


def sketching(model: REF | None) -> REF:
    """Return the model to learn, by default a new one; refuse one that cannot be learned so."""
    if model is None:
        return REF(engine="sketch")
    check_sketching(model)
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
