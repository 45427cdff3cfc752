"""CreasedREF in a model file: creases, sums, training rows, and the unit of its distances."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from refold.algorithm.engines import sketch_file
from refold.columns import box_file
from refold.columns.edges import Edges
from refold.decisions import calibration_file
from refold.modelfile import arrays
from refold.modelfile.fields import Field
from refold.models import trim_file
from refold.models.creased import _creases_file, _sample_file, _scoring_file, _sums_file
from refold.models.creased._creases import FOUR_KINDS, ONE_KIND
from refold.models.creased._estimator import MOST_GAIN, CreasedREF
from refold.models.creased._state import LEAST_CREASES, Recipe, TrainingState, enough_creases
from refold.models.creased._trim import CreasedCut
from refold.models.feedback import file as feedback

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
    "edges",
    "cut",
    "dropped",
    "judge",
    "calibration",
    feedback.MEMBER,
)
# Version 1 knew one kind of creases and no box, and did not recognise the rows it had learned;
# version 2 knew no magnitudes, version 3 left no rows out.
ADDED: dict[int, dict[str, Any]] = {
    2: {
        "parameters.box": 0.0,
        "recipe.box": 0.0,
        "recipe.kinds": ONE_KIND,
        "creases.gauss": None,
        "edges": None,
        "judge.typical": 1.0,
        "judge.left_out": [],
    },
    3: {"recipe.magnitudes": 0},
    4: {"recipe.trim": 0.0, "cut": None, "dropped": [], feedback.MEMBER: feedback.NONE},
}
_MOST_LEVELS = 2**10
_LARGEST_SEED = int(np.iinfo(np.int32).max)
# Multiplications that loading may cost: somewhat more than 10,000 rows with 256 creases do.
_MOST_WORK = 2**32


def written(model: CreasedREF) -> dict[str, Any]:
    """Return what CreasedREF has learned."""
    log, model = model._feedback, model._without_feedback()
    state, calibrated = model._learned.state, model._set_calibration
    waits = state.creases is None
    return {
        "threshold": model.threshold_,
        "alpha": None if model.alpha_ is None else float(model.alpha_),
        "recipe": asdict(state.recipe),
        "creases": None if state.creases is None else _creases_file.written(state.creases),
        "sums": None if state.sums is None else _sums_file.written(state.sums),
        "waiting": _sample_file.chunks_written(state.waiting) if waits else None,
        "sample": None if waits else _sample_file.written(state.sample),
        "sketch": None if state.sketch is None else sketch_file.written(state.sketch),
        "edges": None if state.edges is None else box_file.edges_written(state.edges),
        "cut": None if state.cut is None else _cut_written(state.cut),
        "dropped": arrays.written(model.dropped_),
        "judge": _scoring_written(model),
        "calibration": None if calibrated is None else calibration_file.written(calibrated),
        feedback.MEMBER: feedback.written(log),
    }


def _scoring_written(model: CreasedREF) -> dict[str, Any] | None:
    try:
        scoring = model.scoring_
    except ValueError:  # too few rows yet: the model can be saved, and goes on learning
        return None
    return _scoring_file.written(scoring)


def least_memory(model: CreasedREF, n_features: int) -> int:
    """Return what the directions take while they are read, in bytes."""
    n_creases = LEAST_CREASES if model.n_creases == "auto" else model.n_creases
    return 2 * 8 * n_features * n_creases


def read(members: dict[str, Field], model: CreasedREF) -> None:
    """Give a model what CreasedREF has learned."""
    threshold = calibration_file.read_threshold(members["threshold"])
    recipe = _recipe(members["recipe"], model.n_features_in_)
    waits = members["creases"].is_null()
    state = (_waiting if waits else _creased)(members, recipe, model.n_features_in_)
    model._learn(state)
    model.dropped_ = trim_file.read_dropped(members["dropped"])
    model._of_magnitudes(recipe.magnitudes)
    model._set_threshold = None if threshold == 1.0 else threshold
    model.alpha_ = calibration_file.read_rate(members["alpha"])
    if not members["calibration"].is_null():
        model._set_calibration = calibration_file.read(members["calibration"], ties=True)
    _read_scoring(members["judge"], model)
    _read_feedback(members[feedback.MEMBER], model)


def _read_scoring(field: Field, model: CreasedREF) -> None:
    """Make what scores now, so that rows or sums that cannot be used are refused.

    Where rows wait and it would cost more than a file may, it is made when it is asked for, as
    after ``partial_fit``.
    """
    if not field.is_null():
        rows = len(model._learned.state.sample.rows)
        model._learned = replace(model._learned, unit=_scoring_file.read(field, rows))
    waits = model._learned.state.creases is None
    if not _is_affordable(model._learned.state, field):
        return
    try:
        with np.errstate(all="ignore"):
            scoring = model.scoring_
    except ValueError as error:  # not positive definite, not finite, or no rows
        if not field.is_null():
            field.refuse(f"cannot be made of the {'rows' if waits else 'sums'}: {error}")
        return
    _scoring_file.check_evaluable(field, scoring)


def _read_feedback(field: Field, model: CreasedREF) -> None:
    """Read what was said of rows, and learn now what was accepted, as far as it is possible."""
    log = feedback.read(field, feedback.numbers(model.n_features_in_))
    if log.rows("accepted") is None:
        model._apply_feedback(log)
        return
    if "scoring" not in vars(model._learned):
        field.refuse("cannot be learned: there are too few rows, or more wait than a file may have")
    # What it is made of has been checked, and can be made again: there is memory for one of them.
    model._learned = replace(model._learned)
    try:
        with np.errstate(all="ignore"):
            model._apply_feedback(log)
            scoring = model.scoring_
    except ValueError as error:
        field.refuse(f"cannot be learned: {error}")
    _scoring_file.check_evaluable(field, scoring)


def _is_affordable(state: TrainingState, field: Field) -> bool:
    if state.creases is not None:
        # Two factors, their inverse, and what they are made of.
        memory = 4 * 8 * state.creases.n_outputs**2
        field.budget.charge(memory, "The factored sums", field.path)
        return True
    rows, columns = sum(len(weights) for _, weights in state.waiting), state.sample.rows.shape[1]
    n = state.recipe.n_creases or enough_creases(state.weight)
    p = n * state.recipe.n_levels + 1
    memory = 8 * (2 * rows * n + 8 * rows * columns + 2 * n * columns + 4 * p * p)
    return rows * p * p <= _MOST_WORK and field.budget.has(memory)


def _recipe(field: Field, n_features: int) -> Recipe:
    n_creases, n_levels, ridge, n_init, seed, box, kinds, magnitudes, trim = field.members(
        *("n_creases", "n_levels", "ridge", "n_init", "seed", "box", "kinds", "magnitudes", "trim")
    )
    if not 0.0 <= box.number() <= MOST_GAIN:
        box.refuse(f"must be from 0 to {MOST_GAIN:g}")
    if kinds.integer() not in (ONE_KIND, FOUR_KINDS):
        kinds.refuse(f"must be {ONE_KIND} or {FOUR_KINDS}")
    return Recipe(
        None if n_creases.is_null() else n_creases.integer(1, _creases_file.MOST_CREASES),
        n_levels.integer(1, _MOST_LEVELS),
        float(ridge.positive()),
        n_init.integer(2),
        seed.integer(0, _LARGEST_SEED),
        float(box.number()),
        kinds.integer(),
        magnitudes.integer(0, n_features),
        trim_file.read_share(trim),
    )


def _edges(field: Field, recipe: Recipe, n_features: int, *, learned: bool) -> Edges | None:
    if not field.is_null():
        return box_file.read_edges(field, n_features)
    if learned and recipe.box > 0.0:
        field.refuse("must be there for a model with a box")
    return None


def _cut_written(cut: CreasedCut) -> dict[str, Any]:
    return {"creases": _creases_file.written(cut.creases), "rows": trim_file.written(cut.cut)}


def _cut(field: Field, recipe: Recipe, n_features: int, *, wanted: bool) -> CreasedCut | None:
    """Read by what the model leaves rows out, now and when it goes on learning."""
    if field.is_null() == wanted:
        field.refuse("must be there if, and only if, rows are left out and there are creases")
    if field.is_null():
        return None
    creases, rows = field.members("creases", "rows")
    blind = recipe.box > 0.0
    made = _creases_file.read(creases, n_features, recipe.n_levels, blind=blind)
    return CreasedCut(made, trim_file.read(rows))


def _creased(members: dict[str, Field], recipe: Recipe, n_features: int) -> TrainingState:
    made = _creases_file.read(
        members["creases"], n_features, recipe.n_levels, blind=recipe.box > 0.0
    )
    summed = _sums_file.read(members["sums"], made.n_outputs)
    if not members["waiting"].is_null():
        members["waiting"].refuse("must be null where there are creases")
    kept = _sample_file.read(members["sample"], n_features, recipe.seed)
    sketched = members["sketch"]
    counted = None if sketched.is_null() else sketch_file.read(sketched, n_features)
    edges = _edges(members["edges"], recipe, n_features, learned=counted is not None)
    cut = _cut(members["cut"], recipe, n_features, wanted=recipe.trim > 0.0)
    return TrainingState(recipe, (), made, summed, kept, counted, edges, cut)


def _waiting(members: dict[str, Field], recipe: Recipe, n_features: int) -> TrainingState:
    for name in ("sums", "sample"):
        if not members[name].is_null():
            members[name].refuse("must be null where there are no creases yet")
    chunks = _sample_file.read_chunks(members["waiting"], n_features)
    # A random number for each row, and which of them are kept.
    rows = sum(len(weights) for _, weights in chunks)
    members["waiting"].budget.charge(4 * 8 * rows, "A sample of the rows", "waiting")
    kept = _sample_file.sample_of(chunks, n_features, recipe.seed)
    counted = sketch_file.read(members["sketch"], n_features)
    edges = _edges(members["edges"], recipe, n_features, learned=True)
    _cut(members["cut"], recipe, n_features, wanted=False)
    return TrainingState(recipe, chunks, None, None, kept, counted, edges)
