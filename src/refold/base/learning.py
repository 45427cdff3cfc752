"""Models that learn in one thread while others score."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from sklearn.utils.validation import check_is_fitted

from refold.base.once import lock_of

Model = TypeVar("Model", bound=Any)

# What REF, CreasedREF and Detector have beyond the interface of scikit-learn.
_OF_MODELS = frozenset(
    {"partial_fit", "p_values", "explain", "save", "load", "merge", "calibrate", "tune_threshold"}
    | {"accept", "reject", "undo_feedback"}
)


class NoModel:
    """An estimator that says why it lacks a method that REF, CreasedREF and Detector have."""

    _why_no_model: ClassVar[str]

    if not TYPE_CHECKING:  # what is not there is not there for a type checker either

        def __getattr__(self, name: str) -> Any:
            if name in _OF_MODELS:
                raise AttributeError(f"{type(self).__name__} has no {name}: {self._why_no_model}")
            return super().__getattribute__(name)


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
