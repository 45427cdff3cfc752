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
    """Return how many rows a model has learned from.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.judgement import training_rows
    >>> model = REF(alpha=0.05).fit(np.random.default_rng(0).normal(size=(300, 2)))
    >>> training_rows(model)
    300
    """
    encoder = getattr(model, "encoder_", None)
    return int(model.summary_.rows if encoder is None else encoder.counts.rows)


def asked_for(model: Any) -> str:
    """Return the estimator as it was asked for: what is not as by default.

    Examples
    --------
    >>> from refold import REF
    >>> from refold.judgement import asked_for
    >>> asked_for(REF(fold="sqr"))
    "REF(fold='sqr')"
    """
    given, usual = parameters(model), parameters(type(model)())
    said = [f"{name}={value}" for name, value in given.items() if value != usual[name]]
    return f"{type(model).__name__}({', '.join(said)})"


def parameters(model: Any) -> Mapping[str, str]:
    """Return the parameters of an estimator as they are written.

    Examples
    --------
    >>> from refold import REF
    >>> from refold.judgement import parameters
    >>> parameters(REF(fold="sqr"))["fold"]
    "'sqr'"
    """
    return {name: _written(value) for name, value in model.get_params(deep=False).items()}


def _written(value: Any) -> str:
    nothing = isinstance(value, dict) and not value  # no roles is what None says too
    return getattr(value, "__name__", None) or repr(None if nothing else value)


def calibrated_on(model: Any) -> str:
    """Say what the p-values of a model are read from.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.judgement import calibrated_on
    >>> model = REF(alpha=0.05).fit(np.random.default_rng(0).normal(size=(300, 2)))
    >>> calibrated_on(model)
    '300 training rows, each left out in turn'
    """
    calibration = getattr(model, "calibration_", None)
    if calibration is None:
        return "none"
    return f"{calibration.total:,.6g} {_SOURCES.get(calibration.source, calibration.source)}"
