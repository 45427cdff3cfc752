"""REF in a model file: a chain, a threshold, what is remembered of the training rows."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from refold.algorithm import chain_file
from refold.algorithm.engines import ENGINES, sketch_file
from refold.columns import summary_file
from refold.columns.summary import N_QUANTILES, Summary
from refold.decisions import calibration_file
from refold.modelfile import arrays
from refold.modelfile.fields import Field
from refold.models import trim_file
from refold.models.feedback import file as feedback
from refold.models.learned import FromRows, FromSketch
from refold.models.ref import LEVELS, REF
from refold.models.ref_trim import FoldCut

ESTIMATOR = REF
ADDED: dict[int, dict[str, Any]] = {
    2: {"levels": None, "max_gain": None, "summary.box": None},
    4: {"cut": None, "dropped": [], feedback.MEMBER: feedback.NONE},
}
MEMBERS = (
    *("engine", "levels", "max_gain", "threshold", "alpha"),
    *("chain", "calibration", "summary", "sketch", "cut", "dropped", feedback.MEMBER),
)


def written(model: REF) -> dict[str, Any]:
    """Return what REF has learned."""
    log, model = model._feedback, model._without_feedback()
    calibrated, sketched = getattr(model, "calibration_", None), getattr(model, "sketch_", None)
    return {
        "engine": model.engine_,
        "levels": model.levels_,
        "max_gain": model.max_gain_,
        "threshold": model.threshold_,
        "alpha": model.alpha_,
        "chain": chain_file.written(model.chain_),
        "calibration": None if calibrated is None else calibration_file.written(calibrated),
        "summary": summary_file.written(model.summary_),
        "sketch": None if sketched is None else sketch_file.written(sketched),
        "cut": None if sketched is None else _cut_written(model._cut),
        "dropped": arrays.written(model.dropped_),
        feedback.MEMBER: feedback.written(log),
    }


def least_memory(model: REF, n_features: int) -> int:
    """Return what shifts, scales and quantiles take while they are read, in bytes."""
    return 2 * 8 * n_features * (2 * model.n_iter + N_QUANTILES)


def read(members: dict[str, Field], model: REF) -> None:
    """Give a model what REF has learned."""
    model.engine_ = members["engine"].text(ENGINES)
    model.threshold_ = calibration_file.read_threshold(members["threshold"])
    _check_engine(members["parameters"], model)
    _read_settled(members["levels"], members["max_gain"], model)
    model._learned = _learned(members, model)
    model._cut = _read_cut(members["cut"], model)
    model.dropped_ = trim_file.read_dropped(members["dropped"])
    if not members["calibration"].is_null():
        model.calibration_ = calibration_file.read(members["calibration"])
    model.alpha_ = calibration_file.read_rate(members["alpha"])
    if model.alpha_ is not None and not hasattr(model, "calibration_"):
        members["alpha"].refuse("must be null where there is no calibration")
    _read_feedback(members[feedback.MEMBER], model)


def _read_feedback(field: Field, model: REF) -> None:
    log = feedback.read(field, feedback.numbers(model.n_features_in_))
    if log.rows("accepted") is not None and not isinstance(model._learned, FromSketch):
        field.refuse(f"has accepted rows; the engine {model.engine_!r} cannot learn them")
    try:
        with np.errstate(all="ignore"):
            model._apply_feedback(log)
            chain = model.chain_
    except ValueError as error:
        field.refuse(f"cannot be learned: {error}")
    if model._base is not None:
        chain_file.check_evaluable(field, chain)


def _cut_written(by: FoldCut | None) -> dict[str, Any] | None:
    if by is None:
        return None
    return {"chain": chain_file.written(by.chain), "rows": trim_file.written(by.cut)}


def _read_cut(field: Field, model: REF) -> FoldCut | None:
    """Read by what the model leaves rows out when it goes on learning."""
    if field.is_null():
        return None
    if model.engine_ != "sketch":
        field.refuse(f"must be null for the engine {model.engine_!r}, which does not go on")
    chain, rows = field.members("chain", "rows")
    learned = chain_file.read(chain, model.n_features_in_)
    chain_file.check_evaluable(chain, learned)
    return FoldCut(learned, trim_file.read(rows))


def _check_engine(field: Field, model: REF) -> None:
    """Refuse parameters with which the model could not go on learning."""
    for engine in {model.engine, model.engine_} - {"auto"}:
        try:
            model._check_engine(engine)
        except ValueError as error:
            field.refuse(str(error))


def _read_settled(levels: Field, gain: Field, model: REF) -> None:
    """Read what ``"auto"`` became; version 1, which had none, says so in its parameters."""
    if levels.is_null():
        if "auto" in (model.levels, model.max_gain):
            levels.refuse("must be there where a parameter is 'auto'")
        model.levels_, model.max_gain_ = str(model.levels), cast("float | None", model.max_gain)
        return
    model.levels_ = levels.text(LEVELS)
    model.max_gain_ = None if gain.is_null() else float(gain.number())
    if model.max_gain_ is None and model.engine_ != "reference":
        gain.refuse(f"must be a number for the engine {model.engine_!r}")
    if model.max_gain_ is not None and model.max_gain_ < 1.0:
        gain.refuse(f"must be at least 1, not {model.max_gain_!r}")


def _learned(members: dict[str, Field], model: REF) -> FromRows | FromSketch:
    """Read the chain with the sketch, from which the summary follows, or the summary itself."""
    d, sketched = model.n_features_in_, members["sketch"]
    chain = chain_file.read(members["chain"], d)
    if model.engine_ != "reference":
        chain_file.check_evaluable(members["chain"], chain)
    summary = summary_file.read(members["summary"], d, sketched=not sketched.is_null())
    if sketched.is_null() == (model.engine_ == "sketch"):
        sketched.refuse(
            "must be there for the engine 'sketch', and null for others; the engine is "
            f"{model.engine_!r}"
        )
    if sketched.is_null():
        return FromRows(chain, summary)
    learned = FromSketch(sketch_file.read(sketched, d), model._recipe())
    FromSketch.chain.keep(learned, chain)
    FromSketch.summary.keep(learned, Summary.of_sketch(learned.sketch))
    return learned
