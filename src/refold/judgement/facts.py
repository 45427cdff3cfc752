"""What a fitted model is, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Said of calibration_.source.
_SOURCES = {
    "held-out": "normal rows that were held out",
    "leave-one-out": "training rows, each left out in turn",
    "cross-fitted": "training rows, left out by folds",
}


def training_rows(model: Any) -> int:
    """Return how many rows a model has learned from."""
    encoder = getattr(model, "encoder_", None)
    return int(model.summary_.rows if encoder is None else encoder.counts.rows)


def asked_for(model: Any) -> str:
    """Return the estimator with what is not as by default, such as "REF(fold='sqr')"."""
    given, usual = parameters(model), parameters(type(model)())
    said = [f"{name}={value}" for name, value in given.items() if value != usual[name]]
    return f"{type(model).__name__}({', '.join(said)})"


def parameters(model: Any) -> Mapping[str, str]:
    """Return the parameters of an estimator as they are written."""
    return {name: _written(value) for name, value in model.get_params(deep=False).items()}


def _written(value: Any) -> str:
    nothing = isinstance(value, dict) and not value  # no roles is what None says too
    return getattr(value, "__name__", None) or repr(None if nothing else value)


def calibrated_on(model: Any) -> str:
    """Say what the p-values of a model are read from: "300 training rows, left out by folds"."""
    calibration = getattr(model, "calibration_", None)
    if calibration is None:
        return "none"
    return f"{calibration.total:,.6g} {_SOURCES.get(calibration.source, calibration.source)}"
