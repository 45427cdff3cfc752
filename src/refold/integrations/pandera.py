"""pandera: a check and a schema from a model, and rules from a schema."""

from __future__ import annotations

import math
import os
from typing import Any

from refold.base.needs import needs
from refold.integrations._batch import judge_batch
from refold.judgement import Judge
from refold.models.files import load


def normal_rows(model: Any) -> Any:
    """Return a check of dataframes that fails for each row that is an outlier.

    Parameters
    ----------
    model : str, path-like or estimator
        A model file, read now, or a fitted model.

    Returns
    -------
    pandera.Check
        For ``DataFrameSchema(checks=...)``. Failure cases are the cells of the rows that fail;
        with ``lazy=True`` all of them are collected.

    Examples
    --------
    >>> import pandas as pd
    >>> import pandera.pandas as pa
    >>> from refold import REF
    >>> from refold.integrations.pandera import normal_rows
    >>> table = pd.DataFrame({"heat": [20.1, 19.8, 20.3, 20.0], "flow": [5.0, 5.1, 4.9, 5.2]})
    >>> schema = pa.DataFrameSchema(checks=normal_rows(REF().fit(table)))
    >>> len(schema.validate(table))
    4
    """
    pandera = needs("pandera.pandas", "pandera")
    fitted = load(model) if isinstance(model, str | os.PathLike) else model

    def passes(frame: Any) -> Any:
        pd = needs("pandas", "pandera")
        normal = pd.Series(True, index=frame.index)
        if len(frame):
            normal.iloc[judge_batch(fitted, frame, listed=0).outliers] = False
        return normal

    return pandera.Check(passes, name="normal_rows", error="rows are outliers by the model")


def schema_of(model: Any) -> Any:
    """Return a schema: the columns that a model needs, and rows that are normal by it.

    What the model has learned of single columns is a schema too: ``model.rules_.to_pandera()``.

    Parameters
    ----------
    model : str, path-like or estimator
        A model file, read now, or a fitted model.

    Returns
    -------
    pandera.DataFrameSchema

    Examples
    --------
    >>> import pandas as pd
    >>> from refold import REF
    >>> from refold.integrations.pandera import schema_of
    >>> table = pd.DataFrame({"heat": [20.1, 19.8, 20.3, 20.0], "flow": [5.0, 5.1, 4.9, 5.2]})
    >>> list(schema_of(REF().fit(table)).columns)
    ['heat', 'flow']
    """
    pandera = needs("pandera.pandas", "pandera")
    fitted = load(model) if isinstance(model, str | os.PathLike) else model
    columns = {name: pandera.Column(nullable=True) for name in Judge.of(fitted).inputs}
    return pandera.DataFrameSchema(columns, checks=normal_rows(fitted))


def rules_of(schema: Any) -> dict[str, dict[str, Any]]:
    """Return the limits of a schema's columns as rules of a Detector.

    Ranges become ``min`` and ``max`` (beyond a limit that is itself excluded, the next number),
    sets of texts ``allowed``, columns that are not nullable ``required``. Other checks stay with
    pandera.

    Parameters
    ----------
    schema : pandera.DataFrameSchema
        The schema.

    Returns
    -------
    dict of str to dict
        For ``Detector(rules=...)``.

    Examples
    --------
    >>> import pandera.pandas as pa
    >>> from refold.integrations.pandera import rules_of
    >>> weight = pa.Column(float, pa.Check.in_range(0, 5), nullable=True)
    >>> grade = pa.Column(str, pa.Check.isin(["A", "B"]))
    >>> rules_of(pa.DataFrameSchema({"weight": weight, "grade": grade}))
    {'weight': {'min': 0, 'max': 5}, 'grade': {'allowed': ['A', 'B'], 'required': True}}
    """
    rules = {}
    for name, column in schema.columns.items():
        rule: dict[str, Any] = {}
        for check in column.checks:
            for key, value in _limits(check.name, check.statistics or {}).items():
                if key in rule:  # of two limits both hold
                    value = _stricter(key, rule[key], value)
                rule[key] = value
        if not column.nullable:
            rule["required"] = True
        if rule:
            rules[name] = rule
    return rules


def _limits(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return what a check says as keys of a rule."""
    if kind == "isin":
        allowed = list(given["allowed_values"])
        return {"allowed": allowed} if all(isinstance(one, str) for one in allowed) else {}
    found = {}
    if kind in ("greater_than_or_equal_to", "greater_than", "in_range"):
        open_end = kind == "greater_than" or not given.get("include_min", True)
        found["min"] = _beyond(given["min_value"], math.inf) if open_end else given["min_value"]
    if kind in ("less_than_or_equal_to", "less_than", "in_range"):
        open_end = kind == "less_than" or not given.get("include_max", True)
        found["max"] = _beyond(given["max_value"], -math.inf) if open_end else given["max_value"]
    return {key: _plain(value) for key, value in found.items()}


def _beyond(limit: Any, towards: float) -> float:
    """Return the next number after a limit that is itself excluded."""
    return math.nextafter(float(limit), towards)


def _plain(limit: Any) -> Any:
    """Return a limit as rules have it: a number, or a day as text."""
    return limit.isoformat() if hasattr(limit, "isoformat") else limit


def _stricter(key: str, one: Any, other: Any) -> Any:
    if key == "allowed":
        return [value for value in one if value in other]
    return max(one, other) if key == "min" else min(one, other)
