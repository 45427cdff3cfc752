"""REF: a chain, a threshold, what is remembered of the training rows."""

from __future__ import annotations

from typing import Any

from refold.algorithm.chain import FoldChain
from refold.algorithm.engines import ENGINES
from refold.modelfile.fields import Field
from refold.modelfile.parts import calibration, chain, rate, sketch, summary
from refold.models.learned import FromRows, FromSketch
from refold.models.ref import REF

ESTIMATOR = REF
MEMBERS = ("engine", "threshold", "alpha", "chain", "calibration", "summary", "sketch")


def written(model: REF) -> dict[str, Any]:
    """Return what REF has learned."""
    calibrated, sketched = getattr(model, "calibration_", None), getattr(model, "sketch_", None)
    return {
        "engine": model.engine_,
        "threshold": model.threshold_,
        "alpha": model.alpha_,
        "chain": chain.written(model.chain_),
        "calibration": None if calibrated is None else calibration.written(calibrated),
        "summary": summary.written(model.summary_),
        "sketch": None if sketched is None else sketch.written(sketched),
    }


def read(members: dict[str, Field], model: REF) -> None:
    """Give a model what REF has learned."""
    model.engine_ = members["engine"].text(ENGINES)
    model.threshold_ = float(members["threshold"].number())
    if model.threshold_ < 0.0:
        members["threshold"].refuse(f"must not be negative, is {model.threshold_!r}")
    read_chain = chain.read(members["chain"], model.n_features_in_)
    if model.engine_ != "reference":
        chain.check_evaluable(members["chain"], read_chain)
    if not members["calibration"].is_null():
        model.calibration_ = calibration.read(members["calibration"])
    model.alpha_ = rate.read(members["alpha"])
    if model.alpha_ is not None and not hasattr(model, "calibration_"):
        members["alpha"].refuse("must be null where there is no calibration")
    model._learned = _read_memory(members, model, read_chain)


def _read_memory(
    members: dict[str, Field], model: REF, read_chain: FoldChain
) -> FromRows | FromSketch:
    """Read the sketch, from which the summary follows, or the summary itself."""
    sketched = members["sketch"]
    remembered = summary.read(
        members["summary"], model.n_features_in_, sketched=not sketched.is_null()
    )
    if sketched.is_null() == (model.engine_ == "sketch"):
        sketched.refuse(
            "must be there for the engine 'sketch', and null for others; the engine is "
            f"{model.engine_!r}"
        )
    if sketched.is_null():
        return FromRows(read_chain, remembered)
    learned = FromSketch(sketch.read(sketched, model.n_features_in_), model._recipe())
    FromSketch.chain.keep(learned, read_chain)
    return learned
