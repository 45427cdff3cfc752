"""An estimator's parameters, checked by its own rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints

from refold.modelfile.errors import ModelFileError
from refold.modelfile.fields import Field


def written(model: BaseEstimator) -> dict[str, Any]:
    """Return the parameters as the document has them."""
    return {
        name: _value_of(value, f"parameters.{name}")
        for name, value in model.get_params(deep=False).items()
    }


def _value_of(value: object, path: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, Mapping) and all(type(v) is str for pair in value.items() for v in pair):
        return dict(value)
    what = "a function" if callable(value) else f"a {type(value).__name__}"
    raise ModelFileError(
        f"{value!r} is {what}; a model file holds data only. Use a named choice, or pickle the "
        "model",
        where=path,
    )


def read(field: Field, estimator: type[BaseEstimator]) -> dict[str, Any]:
    """Return checked parameters; those that an older file does not have take their defaults."""
    field.object()
    parameters = dict(vars(estimator()))  # a new one has its parameters and nothing else
    for name in field.value:
        if name not in parameters:
            field.refuse(
                f"has {name[:60]!r}, which {estimator.__name__} does not know; a newer version of "
                "refold may"
            )
        parameters[name] = _checked(field.member(name), name, estimator)
    return parameters


def _checked(field: Field, name: str, estimator: type[BaseEstimator]) -> Any:
    rules = estimator._parameter_constraints[name]
    value = _plain_value(field)
    if isinstance(value, bool) and not any(rule in ("boolean", bool) for rule in rules):
        field.refuse(f"must not be {str(value).lower()}")
    try:
        validate_parameter_constraints({name: rules}, {name: value}, estimator.__name__)
    except InvalidParameterError as error:
        field.refuse(str(error))
    return value


def _plain_value(field: Field) -> Any:
    value = field.value
    if value is None or type(value) is bool:
        return value
    if type(value) is dict:
        return {name: entry.text() for name, entry in field.entries()}
    if type(value) is int:
        return field.integer()
    return field.text() if type(value) is str else field.number()
