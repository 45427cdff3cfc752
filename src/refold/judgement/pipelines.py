"""Pipelines that end in one of refold's models: where its features come from, in which units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

from refold._typing import Floats
from refold.columns.frames import frame_to_numpy
from refold.models.creased import CreasedREF
from refold.models.ref import REF
from refold.models.rescaled import Rescaling, rescale_model

_SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)
# What lets values pass, or puts others in the place of missing ones.
_KEEPERS = (SimpleImputer, KNNImputer, SelectorMixin)


@dataclass(frozen=True, eq=False)
class PipelineSteps:
    """What a pipeline does to rows before its model sees them."""

    pipeline: Pipeline
    units: Rescaling
    judges: Any

    def __call__(self, X: Any) -> Any:
        """Return rows as the last step takes them."""
        return self.pipeline.transform(X)

    def numbers(self, X: Any) -> NDArray[Any]:
        """Return rows as an array of the numbers that the last step sees."""
        rows = self(X)
        return rows if isinstance(rows, np.ndarray) else frame_to_numpy(rows)


def taken_apart(model: Pipeline) -> Any:
    """Return a copy of the last step that speaks of what the first one takes."""
    check_is_fitted(model)
    last = model[-1]
    if isinstance(last, Pipeline):
        return taken_apart(Pipeline([*model.steps[:-1], *last.steps]))
    if not hasattr(last, "scorer"):
        raise TypeError(
            f"The pipeline ends in a {type(last).__name__}: it must end in one of refold's own "
            "models, such as REF, CreasedREF or Detector."
        )
    if len(model) == 1:
        return last
    traced = _Traced.through(model)
    if isinstance(last, REF | CreasedREF):
        units = Rescaling(traced.center, traced.scale)
        again = copy(rescale_model(last, units))
        again.feature_names_in_ = np.array(_different(traced.names), dtype=object)
    else:  # it reads tables itself, and has its own names
        units, again = Rescaling(np.zeros(0), np.ones(0)), copy(last)
    again.steps_before = PipelineSteps(model[:-1], units, last)
    return again


@dataclass(frozen=True, eq=False)
class _Traced:
    """Features on their way through steps: their names, and how to come back to their units."""

    names: list[str]
    center: Floats
    scale: Floats

    @classmethod
    def called(cls, names: Sequence[Any]) -> _Traced:
        """Begin with values as they are."""
        return cls([str(name) for name in names], np.zeros(len(names)), np.ones(len(names)))

    @classmethod
    def through(cls, pipeline: Pipeline) -> _Traced:
        """Follow the features of a table through all steps but the last."""
        first = next(step for _, step in pipeline.steps if hasattr(step, "n_features_in_"))
        names = getattr(first, "feature_names_in_", None)
        start = [f"x{j}" for j in range(first.n_features_in_)] if names is None else names
        traced = cls.called(start)
        for _, step in pipeline.steps[:-1]:
            traced = traced.after(step)
        last = pipeline[-1]
        if len(traced.names) != last.n_features_in_:  # a step that does not say what it does
            traced = cls.called([f"x{j}" for j in range(last.n_features_in_)])
        return traced

    def after(self, step: Any) -> _Traced:
        """Follow the features through a step."""
        if step is None or step == "passthrough":
            return self
        if isinstance(step, FunctionTransformer) and step.func is None:
            return self
        if isinstance(step, Pipeline):
            traced = self
            for _, inner in step.steps:
                traced = traced.after(inner)
            return traced
        if isinstance(step, ColumnTransformer):
            return _joined(list(self._parts(step)))
        if isinstance(step, OneHotEncoder):
            encoder = _nameless(step)
            encoder.feature_name_combiner = lambda name, category: f"{name} = {category!r}"
            return _Traced.called(encoder.get_feature_names_out(self.names))
        if isinstance(step, _SCALERS) and not getattr(step, "clip", False):
            return self._scaled_by(step)
        if not hasattr(step, "get_feature_names_out"):
            return _Traced.called([])
        out = [str(name) for name in _nameless(step).get_feature_names_out(self.names)]
        place = {name: j for j, name in enumerate(self.names)}
        if isinstance(step, _KEEPERS) and all(name in place for name in out):
            return self._of([place[name] for name in out])
        kind = type(step).__name__
        return _Traced.called([f"{kind}({name})" if name in place else name for name in out])

    def _parts(self, step: ColumnTransformer) -> Iterator[_Traced]:
        """Follow the features through the parts of a step, in the order in which they come out."""
        parts = [part for part in step.transformers_ if part[1] != "drop"]
        for name, inner, _ in sorted(parts, key=lambda part: step.output_indices_[part[0]].start):
            yield self._of(step._transformer_to_input_indices[name]).after(inner)

    def _of(self, places: Sequence[int]) -> _Traced:
        chosen = np.asarray(places, dtype=np.int64)
        names = [self.names[j] for j in chosen.tolist()]
        return _Traced(names, self.center[chosen], self.scale[chosen])

    def _scaled_by(self, scaler: Any) -> _Traced:
        ends = np.array([np.zeros(len(self.names)), np.ones(len(self.names))])
        zero, one = _nameless(scaler).inverse_transform(ends)
        center, scale = self.center + self.scale * zero, self.scale * (one - zero)
        return _Traced(self.names, center, scale)


def _joined(parts: list[_Traced]) -> _Traced:
    return _Traced(
        [name for part in parts for name in part.names],
        np.concatenate([part.center for part in parts]),
        np.concatenate([part.scale for part in parts]),
    )


def _nameless(step: Any) -> Any:
    """Return a step that takes features by whatever names."""
    again = copy(step)
    vars(again).pop("feature_names_in_", None)
    return again


def _different(names: list[str]) -> list[str]:
    """Give names that come more than once numbers."""
    twice, seen = {name for name, times in Counter(names).items() if times > 1}, Counter[str]()
    out = []
    for name in names:
        seen[name] += 1
        out.append(f"{name} ({seen[name]})" if name in twice else name)
    return out
