"""CreasedREF in a model file: creases, sums, training rows, and the unit of its distances."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from refold._typing import Floats
from refold.algorithm.algorithm_file import read_sketch, sketch_written
from refold.columns.columns_file import extremes_written, read_extremes
from refold.columns.extremes import TableExtremes
from refold.decisions.calibration_file import (
    calibration_written,
    read_calibration,
    read_rate,
    read_threshold,
)
from refold.modelfile import arrays
from refold.modelfile.fields import LARGEST_INTEGER, Field
from refold.modelfile.json_text import Budget
from refold.models.creased.creases import Creases
from refold.models.creased.creases_file import (
    MOST_CREASES,
    creases_written,
    largest_features,
    read_creases,
)
from refold.models.creased.estimator import MOST_GAIN, CreasedREF
from refold.models.creased.leverage import Sums
from refold.models.creased.row_sample import SIZE, Sample
from refold.models.creased.scoring import DistanceUnit, Scoring
from refold.models.creased.state import (
    LEAST_CREASES,
    CreasedCut,
    Recipe,
    TrainingState,
    enough_creases,
)
from refold.models.draws import BELOW_ONE
from refold.models.feedback import feedback_file as feedback
from refold.models.trim import read_cut, read_dropped, read_share

ESTIMATOR = CreasedREF
MEMBERS = (
    *("threshold", "alpha", "recipe", "creases", "sums", "waiting", "sample", "sketch"),
    *("edges", "cut", "dropped", "judge", "calibration", feedback.MEMBER),
)
Chunks = tuple[tuple[Floats, Floats], ...]

_MOST_LEVELS = 2**10
_LARGEST_SEED = int(np.iinfo(np.int32).max)
# Multiplications that loading may cost: somewhat more than 10,000 rows with 256 creases do.
_MOST_WORK = 2**32
# Weights that are added up in another order round otherwise.
_SLACK = 1e-6
# A matrix makes a random row longer by at least this part of what it can make any longer by: that
# it is less has a chance of one in a hundred thousand million million.
_CHANCE = 1e-17


def written(model: CreasedREF, budget: Budget) -> dict[str, Any]:
    """Return what CreasedREF has learned."""
    log, model = feedback.log_written(model), model._without_feedback()
    state, calibrated = model._learned.state, model._set_calibration
    return {
        "threshold": model.threshold_,
        "alpha": None if model.alpha_ is None else float(model.alpha_),
        "recipe": asdict(state.recipe),
        **_state_written(state, budget),
        "dropped": model.dropped_,
        "judge": _judge_written(model),
        "calibration": None if calibrated is None else calibration_written(calibrated),
        feedback.MEMBER: log,
    }


def _state_written(state: TrainingState, budget: Budget) -> dict[str, Any]:
    cut = state.cut
    state_written = _waiting_written if state.creases is None else _learned_written
    return {
        **state_written(state, budget),
        "sketch": None if state.sketch is None else sketch_written(state.sketch),
        "edges": None if state.edges is None else extremes_written(state.edges),
        "cut": cut and {"creases": creases_written(cut.creases, budget), "rows": asdict(cut.cut)},
    }


def _waiting_written(state: TrainingState, budget: Budget) -> dict[str, Any]:
    """Return rows that wait, chunk by chunk as they came: otherwise others would be sampled."""
    _charge_sample(budget, state.waiting)
    chunks = [{"rows": arrays.NullableArray(X), "weights": counts} for X, counts in state.waiting]
    return {"creases": None, "sums": None, "waiting": chunks, "sample": None}


def _learned_written(state: TrainingState, budget: Budget) -> dict[str, Any]:
    creases, sums, sample = state.creases, state.sums, state.sample
    assert creases is not None
    assert sums is not None
    _charge_factors(budget, creases.n_outputs, len(sums.counts), "sums")
    return {
        "creases": creases_written(creases, budget),
        "sums": _sums_written(sums, creases, sample),
        "waiting": None,
        "sample": {
            "seen": sample.seen,
            "keys": sample.keys,
            "rows": arrays.NullableArray(sample.rows),
            "weights": sample.weights,
        },
    }


def _sums_written(sums: Sums, creases: Creases, sample: Sample) -> dict[str, Any]:
    """Return the sums; features that those of the sample's rows are, bit for bit, are left out."""
    again = _features(creases, sample, sums.counts) if len(sums.rows) else sums.rows
    known = again is not None and again.tobytes() == sums.rows.tobytes()
    return {
        "weight": sums.weight,
        "total": sums.total,
        "counts": sums.counts,
        "rows": None if known else sums.rows,
        "products": None if sums.gram is None else _triangle(sums.gram),
    }


def _features(creases: Creases, sample: Sample, counts: Floats) -> Floats | None:
    """Return the features of the sample's rows, if it has a row for each count."""
    if len(sample.rows) != len(counts) or len(counts) >= creases.n_outputs:
        return None
    return Sums.of(creases, sample.rows, counts).rows


def _triangle(gram: Floats) -> Floats:
    """Return one half of a symmetric matrix whose lower triangle is there."""
    return np.concatenate([column[i:] for i, column in enumerate(gram.T)])


def _judge_written(model: CreasedREF) -> dict[str, Any] | None:
    """Return what the leverage, which is factored again, is measured by."""
    try:
        scoring = model.scoring_
    except ValueError:  # too few rows yet: the model can be saved, and goes on learning
        return None
    return {
        "ridge": scoring.leverage.ridge,
        "typical": scoring.typical,
        "unit": scoring.unit,
        "left_out": scoring.left_out,
        "calibration": calibration_written(scoring.calibration),
    }


def least_memory(model: CreasedREF, n_features: int) -> int:
    """Return what the directions take while they are read, in bytes."""
    n_creases = LEAST_CREASES if model.n_creases == "auto" else model.n_creases
    return 2 * 8 * n_features * n_creases


def read(members: dict[str, Field], model: CreasedREF) -> None:
    """Give a model what CreasedREF has learned."""
    threshold = read_threshold(members["threshold"])
    recipe = _recipe(members["recipe"], model.n_features_in_)
    waits = members["creases"].is_null()
    state = (_waiting if waits else _creased)(members, recipe, model.n_features_in_)
    model._learn(state)
    model.dropped_ = read_dropped(members["dropped"])
    model._of_magnitudes(recipe.magnitudes)
    model._set_threshold = None if threshold == 1.0 else threshold
    model.alpha_ = read_rate(members["alpha"])
    if not members["calibration"].is_null():
        model._set_calibration = read_calibration(members["calibration"], ties=True)
    _read_judge(members["judge"], model)
    _read_feedback(members[feedback.MEMBER], model)


def _read_judge(field: Field, model: CreasedREF) -> None:
    """Make what scores now, so that rows or sums that cannot be used are refused.

    Where rows wait and it would cost more than a file may, it is made when it is asked for, as
    after ``partial_fit``.
    """
    if not field.is_null():
        rows = len(model._learned.state.sample.rows)
        model._learned = replace(model._learned, unit=_read_unit(field, rows))
    waits = model._learned.state.creases is None
    if waits and not _is_affordable(model._learned.state, field.budget):
        return
    try:
        with np.errstate(all="ignore"):
            scoring = model.scoring_
    except ValueError as error:  # not positive definite, not finite, or no rows
        if not field.is_null():
            field.refuse(f"cannot be made of the {'rows' if waits else 'sums'}: {error}")
        return
    _check_evaluable(field, scoring)


def _read_unit(field: Field, rows: int) -> DistanceUnit:
    """Return what the scoring cannot be made again without; `rows` are kept."""
    ridge, typical, unit, left_out, calibration = field.members(
        "ridge", "typical", "unit", "left_out", "calibration"
    )
    return DistanceUnit(
        float(ridge.positive()),
        float(typical.positive()),
        float(unit.positive()),
        read_calibration(calibration, ties=True),
        arrays.floats(left_out, rows, least=0.0),
    )


def _check_evaluable(field: Field, scoring: Scoring) -> None:
    """Refuse numbers that are possible one by one but overflow together."""
    leverage = scoring.leverage
    with np.errstate(all="ignore"):
        row = largest_features(scoring.creases) + np.abs(leverage.center)
        if leverage.dual:
            gain = 1.0 + (len(leverage.factor) + 1.0) / leverage.ridge
        else:
            # Nobody who writes a file knows this row: it cannot be one that says too little.
            any_row = np.random.default_rng().standard_normal(len(row))
            solved = solve_triangular(leverage.factor, any_row, lower=True, check_finite=False)
            gain = np.square(solved / _CHANCE).sum()
        largest = (1.0 / leverage.weight + gain * np.square(row).sum()) / scoring.typical
        largest = (largest + scoring.most_outside) / scoring.unit
    if not np.isfinite(largest):
        field.refuse(
            "creases, sums and unit overflow together: a row would have no finite distance"
        )


def _read_feedback(field: Field, model: CreasedREF) -> None:
    """Read what was said of rows, and learn now what was accepted, as far as it is possible."""
    log = feedback.read_log(field, model, feedback.number_rows_reader(model.n_features_in_))
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
    _check_evaluable(field, scoring)


def _charge_factors(budget: Budget, p: int, rows: int, where: str) -> None:
    """Charge the sums as a matrix and two factors of them, or of the features of few rows."""
    budget.charge(4 * 8 * p * (rows or p), "The factored sums", where)


def _charge_sample(budget: Budget, chunks: Chunks) -> None:
    """Charge a random number for each row that waits, and which of them are kept."""
    rows = sum(len(weights) for _, weights in chunks)
    budget.charge(4 * 8 * rows, "A sample of the rows", "waiting")


def _is_affordable(state: TrainingState, budget: Budget) -> bool:
    rows, columns = sum(len(weights) for _, weights in state.waiting), state.sample.rows.shape[1]
    n = state.recipe.n_creases or enough_creases(state.weight)
    p = n * state.recipe.n_levels + 1
    memory = 8 * (2 * rows * n + 8 * rows * columns + 2 * n * columns + 4 * p * p)
    return rows * p * p <= _MOST_WORK and budget.has(memory)


def _recipe(field: Field, n_features: int) -> Recipe:
    n_creases, n_levels, ridge, n_init, seed, box, magnitudes, trim = field.members(
        "n_creases", "n_levels", "ridge", "n_init", "seed", "box", "magnitudes", "trim"
    )
    if not 0.0 <= box.number() <= MOST_GAIN:
        box.refuse(f"must be from 0 to {MOST_GAIN:g}")
    return Recipe(
        None if n_creases.is_null() else n_creases.integer(1, MOST_CREASES),
        n_levels.integer(1, _MOST_LEVELS),
        float(ridge.positive()),
        n_init.integer(2),
        seed.integer(0, _LARGEST_SEED),
        float(box.number()),
        magnitudes.integer(0, n_features),
        read_share(trim),
    )


def _creased(members: dict[str, Field], recipe: Recipe, n_features: int) -> TrainingState:
    blind = recipe.box > 0.0
    made = read_creases(members["creases"], n_features, recipe.n_levels, blind=blind)
    if not members["waiting"].is_null():
        members["waiting"].refuse("must be null where there are creases")
    kept = _read_sample(members["sample"], n_features, recipe.seed)
    summed = _read_sums(members["sums"], made, kept)
    sketched = members["sketch"]
    counted = None if sketched.is_null() else read_sketch(sketched, n_features)
    edges = _edges(members["edges"], n_features, learned=counted is not None)
    cut = _cut(members["cut"], recipe, n_features, wanted=recipe.trim > 0.0)
    return TrainingState(recipe, (), made, summed, kept, counted, edges, cut)


def _waiting(members: dict[str, Field], recipe: Recipe, n_features: int) -> TrainingState:
    for name in ("sums", "sample"):
        if not members[name].is_null():
            members[name].refuse("must be null where there are no creases yet")
    chunks = _read_chunks(members["waiting"], n_features)
    _charge_sample(members["waiting"].budget, chunks)
    kept = Sample.empty(recipe.seed, n_features)
    for part, weights in chunks:
        kept = kept.plus_rows(part, weights)
    counted = read_sketch(members["sketch"], n_features)
    edges = _edges(members["edges"], n_features, learned=True)
    _cut(members["cut"], recipe, n_features, wanted=False)
    return TrainingState(recipe, chunks, None, None, kept, counted, edges)


def _edges(field: Field, n_features: int, *, learned: bool) -> TableExtremes | None:
    if field.is_null() == learned:
        field.refuse("must be there if, and only if, rows were learned")
    return read_extremes(field, n_features) if learned else None


def _cut(field: Field, recipe: Recipe, n_features: int, *, wanted: bool) -> CreasedCut | None:
    """Read by what the model leaves rows out, now and when it goes on learning."""
    if field.is_null() == wanted:
        field.refuse("must be there if, and only if, rows are left out and there are creases")
    if field.is_null():
        return None
    creases, rows = field.members("creases", "rows")
    made = read_creases(creases, n_features, recipe.n_levels, blind=recipe.box > 0.0)
    return CreasedCut(made, read_cut(rows))


def _read_sums(field: Field, creases: Creases, sample: Sample) -> Sums:
    """Return checked sums of features."""
    weight, total, counts, rows, products = field.members(
        "weight", "total", "counts", "rows", "products"
    )
    p = creases.n_outputs
    if weight.number() < 0.0:
        weight.refuse(f"must not be negative, is {weight.value!r}")
    # With all products no row is kept by itself; otherwise there are fewer rows than features.
    r = arrays.length_of(counts, p - 1 if products.is_null() else 0, least=0)
    _charge_factors(field.budget, p, r, field.path)
    each = arrays.floats(counts, r, least=0.0)
    counted = float(each.sum())
    if products.is_null() and not abs(counted - weight.number()) <= _SLACK * counted:
        counts.refuse(f"add up to {counted!r}, the weight of all is {weight.value!r}")
    return Sums(
        weight=float(weight.number()),
        total=arrays.floats(total, p),
        rows=_read_features(rows, creases, sample, each),
        counts=each,
        gram=None if products.is_null() else _square(arrays.floats(products, p * (p + 1) // 2), p),
    )


def _read_features(field: Field, creases: Creases, sample: Sample, counts: Floats) -> Floats:
    if not field.is_null():
        return arrays.floats(field, len(counts), creases.n_outputs)
    if len(counts) == 0:
        return np.empty((0, creases.n_outputs))
    with np.errstate(all="ignore"):
        made = _features(creases, sample, counts)
    if made is None or not np.isfinite(made).all():
        field.refuse(f"must be there: the sample does not have {len(counts)} rows to make them of")
    return made


def _square(half: Floats, p: int) -> Floats:
    """Return a symmetric matrix as its lower triangle, in Fortran's order."""
    square, begin = np.zeros((p, p)), 0
    for i in range(p):
        square[i, i:] = half[begin : begin + p - i]
        begin += p - i
    return square.T


def _read_sample(field: Field, n_features: int, seed: int) -> Sample:
    """Return a checked sample; its seed is the recipe's."""
    seen, keys, rows, weights = field.members("seen", "keys", "rows", "weights")
    r = arrays.length_of(keys, SIZE, least=0)
    drawn = arrays.floats(keys, r, least=0.0, most=BELOW_ONE)
    counts = arrays.floats(weights, r, above=0.0)
    kept = arrays.rows_of(rows, r, n_features)
    empty = np.isnan(kept).all(axis=1)
    if empty.any():
        rows.at(int(np.argmax(empty))).refuse("must have a value")
    return Sample(seed, seen.integer(0), drawn, kept, counts)


def _read_chunks(field: Field, n_features: int) -> Chunks:
    """Return checked waiting rows; there is at least one chunk."""
    if type(field.value) is not list or not field.value:
        field.refuse("must be a list of chunks of rows where there are no creases")
    return tuple(_chunk(chunk, n_features) for chunk in field.items())


def _chunk(field: Field, n_features: int) -> tuple[Floats, Floats]:
    rows, weights = field.members("rows", "weights")
    counts = arrays.floats(weights, arrays.length_of(weights, LARGEST_INTEGER), least=0.0)
    return arrays.rows_of(rows, len(counts), n_features), counts
