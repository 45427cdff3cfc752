"""Models learned apart become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, overload

from sklearn.utils.validation import check_is_fitted

from refold.algorithm.engines.sketch import Sketch
from refold.base.findings import Finding
from refold.columns.context.context import ContextModel
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.plan import Plan
from refold.columns.encoding.state import TableState
from refold.models import ref_trim
from refold.models.creased import CreasedREF
from refold.models.creased.state import TrainingState
from refold.models.detector import Detector, refuse_window
from refold.models.detector.learned import RowSample
from refold.models.detector.trim import TableCut
from refold.models.feedback import FeedbackLog
from refold.models.learned import FromSketch
from refold.models.ref import REF
from refold.models.ref_parameters import check_without_alpha

Model = REF | CreasedREF | Detector

# What may differ between models that are merged: it does not enter what they have learned, or
# (the last two) shows in the creases, which are compared themselves.
_FREE = ("n_jobs", "engine", "n_init", "random_state")


@overload
def merge(*models: REF) -> REF: ...
@overload
def merge(*models: CreasedREF) -> CreasedREF: ...
@overload
def merge(*models: Detector) -> Detector: ...
def merge(*models: Model) -> Model:
    """Return one model as if it had been fitted on the rows of all, without needing a row.

    Parameters
    ----------
    *models : Detector, REF or CreasedREF
        On the same columns and with the same parameters. REF: fitted with ``engine="sketch"``.
        CreasedREF: one, and models that were made by its ``empty_like`` and learned by
        ``partial_fit``, so that all share their creases. Detector: likewise, so that all take
        columns for the same.

    Returns
    -------
    Detector, REF or CreasedREF
        A new model; the others stay as they are. A REF has the threshold that is its parameter: a
        calibration is not that of another model. A CreasedREF is calibrated anew, by leave-one-out
        scores of the rows that the models have kept. A Detector has the counts of all rows; what
        judges inside learns anew from the rows that the models have kept. What was accepted and
        rejected in any of them goes for the whole.

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
    bases, merged = [model._without_feedback() for model in models], None
    if isinstance(models[0], Detector):
        merged = _merged_detectors([m for m in bases if isinstance(m, Detector)])
    elif isinstance(models[0], CreasedREF):
        merged = _merged_creased([m for m in bases if isinstance(m, CreasedREF)])
    else:
        merged = _merged([m for m in bases if isinstance(m, REF)])
    said = [entry for model in models for entry in model.feedback_]
    if said:
        log = FeedbackLog.of(sorted(said, key=lambda entry: entry.time))
        merged._apply_feedback(log.decided(merged._decision()))
    return merged


def _merged(models: list[REF]) -> REF:
    first = models[0]
    merged = first._unfitted_copy()
    sketch = reduce(Sketch.plus, (model.sketch_ for model in models))
    merged._settle(sketch.weight)
    merged.dropped_ = first.dropped_[:0]
    merged._cut = ref_trim.merged([model._cut for model in models])
    merged.noticed_ = (*_noticed_of_columns(models), *ref_trim.noticed(merged))
    merged._learned = FromSketch(sketch, merged._recipe())
    merged.engine_ = first.engine_
    merged._decide_at(first.threshold)
    return merged


def _merged_creased(models: list[CreasedREF]) -> CreasedREF:
    states = [model._learned.state for model in models]
    ours = states[0].creases
    for number, state in enumerate(states):
        if ours is None or state.creases is None:
            raise ValueError(
                f"Model {number} has learned {state.weight:g} of n_init={state.recipe.n_init} rows "
                "and has no creases yet. Only models that share their creases can be merged: make "
                "the others by empty_like() of one, and train them by partial_fit."
            )
        if not ours.same_as(state.creases):
            raise ValueError(
                f"Models 0 and {number} have different creases. Make the others by empty_like() of "
                "one, and train them by partial_fit (fit would make new creases)."
            )
    return models[0]._with(reduce(TrainingState.plus, states))


def _merged_detectors(models: list[Detector]) -> Detector:
    for model in models:
        refuse_window(model, "merge")
    states = [model._learned.table for model in models]
    ours = states[0].counts
    for number, state in enumerate(states):
        if ours is None or state.counts is None:
            raise ValueError(
                f"Model {number} has learned {state.rows:,} of {state.n_init:,} rows, and what its "
                "columns are is not final yet. Make the others by empty_like() of one that was "
                "fitted, and train them by partial_fit."
            )
        if different := ours.plan.differing(state.counts.plan):
            raise ValueError(
                f"Models 0 and {number} take columns for different things: "
                f"{', '.join(map(repr, different[:5]))}. Make the others by empty_like() of one, "
                "and train them by partial_fit (fit would decide anew)."
            )
    counts = reduce(TableCounts.plus, (state.counts for state in states if state.counts))
    samples = (model._learned.sample for model in models)
    cuts = [model._learned.cut for model in models if model._learned.cut is not None]
    merged = models[0]._with(
        replace(states[0], counts=counts, context=_merged_contexts(states)),
        reduce(RowSample.plus, samples),
        reduce(TableCut.plus, cuts) if cuts else None,
    )
    merged.noticed_ = (*_noticed_of_columns(models), *merged.noticed_)
    return merged


def _merged_contexts(states: list[TableState]) -> tuple[Plan, ContextModel] | None:
    contexts = [state.context for state in states if state.context is not None]
    if not contexts:
        return None
    return contexts[0][0], reduce(ContextModel.plus, (context for _, context in contexts))


def _noticed_of_columns(models: Sequence[REF | Detector]) -> tuple[Finding, ...]:
    """Return what was noticed of columns; of a threshold it is said anew."""
    found = (found for model in models for found in model.noticed_ if found.column is not None)
    return tuple(dict.fromkeys(found))


def _check_rules(ours: Mapping[str, Any], theirs: Mapping[str, Any], number: int) -> None:
    """Refuse rules that differ, saying where."""
    for name in {**ours, **theirs}:
        if ours.get(name) != theirs.get(name):
            raise ValueError(
                f"Models 0 and {number} have different rules for {name!r}: {ours.get(name)!r} and "
                f"{theirs.get(name)!r}. Train them with the same rules."
            )


def _check(first: Model, model: Model, number: int) -> None:
    """Refuse a model that cannot be merged with the first, saying what differs."""
    check_is_fitted(model)
    if type(first) is not type(model):
        raise ValueError(
            f"Models 0 and {number} are of different kinds: {type(first).__name__} and "
            f"{type(model).__name__}."
        )
    if isinstance(model, REF) and not hasattr(model, "sketch_"):
        raise ValueError(
            f"Model {number} was learned by engine={model.engine_!r}; only models of "
            "engine='sketch' can be merged."
        )
    if isinstance(model, REF):
        check_without_alpha(model)
    ours, theirs = first.get_params(), model.get_params()
    _check_rules(ours.get("rules") or {}, theirs.get("rules") or {}, number)
    different = [k for k in ours if k not in (*_FREE, "rules") and ours[k] != theirs[k]]
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
