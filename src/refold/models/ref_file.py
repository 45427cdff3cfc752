"""REF in a model file: a chain, a threshold, what is remembered of the training rows."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from refold.algorithm.algorithm_file import (
    chain_written,
    check_evaluable,
    read_chain,
    read_sketch,
    sketch_written,
)
from refold.algorithm.engines import ENGINES
from refold.columns.columns_file import read_summary, summary_written
from refold.columns.summary import N_QUANTILES
from refold.decisions.calibration_file import (
    calibration_written,
    read_calibration,
    read_rate,
    read_threshold,
)
from refold.modelfile.errors import ModelFileError
from refold.modelfile.fields import Field
from refold.modelfile.json_text import Budget
from refold.models.feedback import feedback_file as feedback
from refold.models.learned import FromRows, FromSketch
from refold.models.ref import LEVELS, REF
from refold.models.ref_parameters import check_engine
from refold.models.ref_trim import FoldCut
from refold.models.trim import read_cut, read_dropped

ESTIMATOR = REF
MEMBERS = (
    *("engine", "levels", "max_gain", "threshold", "alpha"),
    *("chain", "calibration", "summary", "sketch", "cut", "dropped", feedback.MEMBER),
)


def written(model: REF, budget: Budget) -> dict[str, Any]:
    """Return what REF has learned; the summary of a sketch is made of it again."""
    log, model = feedback.log_written(model), model._without_feedback()
    try:
        _check_engines(model)
    except ValueError as error:
        raise ModelFileError(f"the model cannot be saved: {error}", where="parameters") from None
    calibrated, sketched = getattr(model, "calibration_", None), getattr(model, "sketch_", None)
    return {
        "engine": model.engine_,
        "levels": model.levels_,
        "max_gain": model.max_gain_,
        "threshold": model.threshold_,
        "alpha": model.alpha_,
        "chain": chain_written(model.chain_),
        "calibration": None if calibrated is None else calibration_written(calibrated),
        "summary": summary_written(model.summary_) if sketched is None else None,
        "sketch": None if sketched is None else sketch_written(sketched),
        "cut": None if sketched is None else _cut_written(model._cut),
        "dropped": model.dropped_,
        feedback.MEMBER: log,
    }


def least_memory(model: REF, n_features: int) -> int:
    """Return what shifts, scales and quantiles take while they are read, in bytes."""
    return 2 * 8 * n_features * (2 * model.n_iter + N_QUANTILES)


def read(members: dict[str, Field], model: REF) -> None:
    """Give a model what REF has learned."""
    model.engine_ = members["engine"].text(ENGINES)
    model.threshold_ = read_threshold(members["threshold"])
    try:
        _check_engines(model)
    except ValueError as error:
        members["parameters"].refuse(str(error))
    model.levels_ = members["levels"].text(LEVELS)
    model.max_gain_ = _read_gain(members["max_gain"], model.engine_)
    model._learned = _learned(members, model)
    model._cut = _read_cut(members["cut"], model)
    model.dropped_ = read_dropped(members["dropped"])
    if not members["calibration"].is_null():
        model.calibration_ = read_calibration(members["calibration"])
    model.alpha_ = read_rate(members["alpha"])
    if model.alpha_ is not None and not hasattr(model, "calibration_"):
        members["alpha"].refuse("must be null where there is no calibration")
    _read_feedback(members[feedback.MEMBER], model)


def _read_feedback(field: Field, model: REF) -> None:
    log = feedback.read_log(field, model, feedback.number_rows_reader(model.n_features_in_))
    if log.rows("accepted") is not None and not isinstance(model._learned, FromSketch):
        field.refuse(f"has accepted rows; the engine {model.engine_!r} cannot learn them")
    try:
        with np.errstate(all="ignore"):
            model._apply_feedback(log)
            chain = model.chain_
    except ValueError as error:
        field.refuse(f"cannot be learned: {error}")
    if model._base is not None:
        check_evaluable(field, chain)


def _cut_written(by: FoldCut | None) -> dict[str, Any] | None:
    if by is None:
        return None
    return {"chain": chain_written(by.chain), "rows": asdict(by.cut)}


def _read_cut(field: Field, model: REF) -> FoldCut | None:
    """Read by what the model leaves rows out when it goes on learning."""
    if field.is_null():
        return None
    if model.engine_ != "sketch":
        field.refuse(f"must be null for the engine {model.engine_!r}, which does not go on")
    chain, rows = field.members("chain", "rows")
    learned = read_chain(chain, model.n_features_in_)
    check_evaluable(chain, learned)
    return FoldCut(learned, read_cut(rows))


def _check_engines(model: REF) -> None:
    """Refuse parameters with which the model could not go on learning."""
    for engine in {model.engine, model.engine_} - {"auto"}:
        check_engine(model, engine)


def _read_gain(field: Field, engine: str) -> float | None:
    """Read what ``max_gain`` has come to."""
    if field.is_null():
        if engine != "reference":
            field.refuse(f"must be a number for the engine {engine!r}")
        return None
    gain = float(field.number())
    if gain < 1.0:
        field.refuse(f"must be at least 1, not {gain!r}")
    return gain


def _learned(members: dict[str, Field], model: REF) -> FromRows | FromSketch:
    """Read the chain with the sketch, from which the summary follows, or the summary itself."""
    d = model.n_features_in_
    chain = read_chain(members["chain"], d)
    if model.engine_ != "reference":
        check_evaluable(members["chain"], chain)
    wanted, other = ("sketch", "summary") if model.engine_ == "sketch" else ("summary", "sketch")
    for name in (wanted, other):
        if members[name].is_null() == (name == wanted):
            members[name].refuse(
                f"must be {'there' if name == wanted else 'null'} for the engine {model.engine_!r}"
            )
    if wanted == "summary":
        return FromRows(chain, read_summary(members["summary"], d))
    learned = FromSketch(read_sketch(members["sketch"], d), model._recipe())
    FromSketch.chain.keep(learned, chain)
    return learned
