"""The columns of a table that a model needs, found by name."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from refold.base.errors import UserError
from refold.columns.conversion import is_table
from refold.columns.frames import column_names, feature_names, frame_to_numpy, whole
from refold.judgement import Judgement, unwrapped

_NAMED = 20


def judged(model: Any, X: Any, which: str) -> Judgement:
    """Judge the rows of a table; columns that the model does not need are left out."""
    if not is_table(X):
        return Judgement.of(model, X)
    X = whole(X)
    encoder = getattr(unwrapped(model), "encoder_", None)
    if encoder is not None and model is unwrapped(model):
        _require(encoder.counts.plan.names, X, which)
        return Judgement.of(model, X)
    if isinstance(X, list):
        raise UserError(
            f"{which} is a {type(model).__name__}, which takes no lists of records: make a "
            "dataframe of X."
        )
    if getattr(model, "feature_names_in_", None) is None:
        return Judgement.of(model, _without_names(model, X, which))
    wanted = feature_names(model)
    _require(wanted, X, which)
    return Judgement.of(model, nw.from_native(X, eager_only=True).select(wanted).to_native())


def _require(wanted: list[str], X: Any, which: str) -> None:
    """Refuse a table without some of the columns."""
    there = (
        {str(name) for record in X for name in record}
        if isinstance(X, list)
        else set(map(str, column_names(X)))
    )
    absent = [name for name in wanted if name not in there]
    if absent:
        more = f" and {len(absent) - _NAMED} more" if len(absent) > _NAMED else ""
        raise UserError(
            f"X has no column {', '.join(map(repr, absent[:_NAMED]))}{more}, which {which} needs. "
            "Both models must find their columns in X."
        )


def _without_names(model: Any, X: Any, which: str) -> Any:
    """Return the numbers of a table for a model that was fitted on an array."""
    found, needed = len(column_names(X)), model.n_features_in_
    if found != needed:
        raise UserError(
            f"{which} was fitted without column names on {needed} columns; X has {found}. Hand "
            "over these columns as an array, in the order of training."
        )
    return frame_to_numpy(X)


def check_same_columns(old: Any, new: Any, X: Any) -> None:
    """Refuse an array, whose columns have no names, for models that give them different ones."""
    names = [getattr(model, "feature_names_in_", None) for model in (old, new)]
    if is_table(X) or names[0] is None or names[1] is None:
        return
    if list(names[0]) != list(names[1]):
        raise UserError(
            "X has no column names, and the models have different columns or another order of "
            "them: hand over a dataframe."
        )
