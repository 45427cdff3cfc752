"""CreasedREF: creases, sums, a sample of the training rows, and the unit of its distances."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from refold.modelfile.fields import Field
from refold.modelfile.parts import calibration, creases, judge, rate, sample, sketch, sums
from refold.models.creased import CreasedREF
from refold.models.creased._blas import one_thread
from refold.models.creased._scoring import Learned
from refold.models.creased._state import Recipe, TrainingState
from refold.models.creased._sums import Sums

ESTIMATOR = CreasedREF
MEMBERS = (
    "threshold",
    "alpha",
    "recipe",
    "creases",
    "sums",
    "waiting",
    "sample",
    "sketch",
    "judge",
    "calibration",
)
_MOST_LEVELS = 2**10
_LARGEST_SEED = int(np.iinfo(np.int32).max)


def written(model: CreasedREF) -> dict[str, Any]:
    """Return what CreasedREF has learned."""
    seen, calibrated = model._learned.state, model._set_calibration
    waits = seen.creases is None
    return {
        "threshold": model.threshold_,
        "alpha": None if model.alpha_ is None else float(model.alpha_),
        "recipe": asdict(seen.recipe),
        "creases": None if seen.creases is None else creases.written(seen.creases),
        "sums": None if seen.sums is None else sums.written(seen.sums),
        "waiting": sample.chunks_written(seen.waiting) if waits else None,
        "sample": None if waits else sample.written(seen.sample),
        "sketch": None if seen.sketch is None else sketch.written(seen.sketch),
        "judge": _judge_written(model),
        "calibration": None if calibrated is None else calibration.written(calibrated),
    }


def _judge_written(model: CreasedREF) -> dict[str, Any] | None:
    try:
        made = model.scoring_
    except ValueError:  # too few rows yet: the model can be saved, and goes on learning
        return None
    return judge.written(made)


def read(members: dict[str, Field], model: CreasedREF) -> None:
    """Give a model what CreasedREF has learned."""
    threshold = float(members["threshold"].number())
    if threshold < 0.0:
        members["threshold"].refuse(f"must not be negative, is {threshold!r}")
    with one_thread:  # BLAS rounds as it did when the model was learned
        _read_seen(members, model)
    model._set_threshold = None if threshold == 1.0 else threshold
    model.alpha_ = rate.read(members["alpha"])
    if not members["calibration"].is_null():
        model._set_calibration = calibration.read(members["calibration"], ties=True)


def _read_seen(members: dict[str, Field], model: CreasedREF) -> None:
    recipe = _recipe(members["recipe"])
    waits = members["creases"].is_null()
    seen = (_waiting if waits else _creased)(members, recipe, model.n_features_in_)
    model._learn(seen)
    field = members["judge"]
    try:
        ready = seen.ready
        if field.is_null():
            model.scoring_  # noqa: B018  # made when asked for, if it can be
    except ValueError as error:
        if not field.is_null():
            field.refuse(f"cannot be made of the rows: {error}")
        return
    if not field.is_null():
        Learned.scoring.keep(model._learned, judge.read(field, ready))


def _recipe(field: Field) -> Recipe:
    n_creases, n_levels, ridge, n_init, seed = field.members(
        "n_creases", "n_levels", "ridge", "n_init", "seed"
    )
    return Recipe(
        n_creases.integer(1, creases.MOST_CREASES),
        n_levels.integer(1, _MOST_LEVELS),
        float(ridge.positive()),
        n_init.integer(2),
        seed.integer(0, _LARGEST_SEED),
    )


def _creased(members: dict[str, Field], recipe: Recipe, n_features: int) -> TrainingState:
    made = creases.read(members["creases"], n_features, recipe.n_levels)
    summed: Sums = sums.read(members["sums"], made.n_outputs)
    if not members["waiting"].is_null():
        members["waiting"].refuse("must be null where there are creases")
    kept = sample.read(members["sample"], n_features, recipe.seed)
    sketched = members["sketch"]
    counted = None if sketched.is_null() else sketch.read(sketched, n_features)
    return TrainingState(recipe, (), made, summed, kept, counted)


def _waiting(members: dict[str, Field], recipe: Recipe, n_features: int) -> TrainingState:
    for name in ("sums", "sample"):
        if not members[name].is_null():
            members[name].refuse("must be null where there are no creases yet")
    chunks = sample.read_chunks(members["waiting"], n_features)
    # What the creases will take once they are made.
    p = recipe.n_creases * recipe.n_levels + 1
    members["recipe"].budget.charge(
        8 * (p * p + 2 * recipe.n_creases * n_features), "The creases", "recipe"
    )
    kept = sample.sample_of(chunks, n_features, recipe.seed)
    counted = sketch.read(members["sketch"], n_features)
    return TrainingState(recipe, chunks, None, None, kept, counted)
