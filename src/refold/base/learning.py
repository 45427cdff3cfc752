"""Models that learn in one thread while others score."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sklearn.utils.validation import check_is_fitted

from refold.base.once import lock_of

Model = TypeVar("Model", bound=Any)


def check_learned(model: Any) -> None:
    """Raise scikit-learn's error unless the model has learned; its own check takes its time."""
    if "_learned" not in vars(model):
        check_is_fitted(model)


def snapshot(model: Model) -> Model:
    """Return the model as it is now: what it learns meanwhile does not show."""
    now: Model = object.__new__(type(model))
    now.__dict__.update(vars(model))
    return now


@contextmanager
def learning(model: Model) -> Iterator[Model]:
    """Give a copy to learn with; when all is learned the model becomes it, in one step.

    One thread learns at a time. Others score the model as it was until then, and if learning fails
    it stays so. Parameters that are set meanwhile are kept.
    """
    with lock_of(model):
        copy = snapshot(model)
        yield copy
        model.__dict__ = {**vars(copy), **model.get_params(deep=False)}
