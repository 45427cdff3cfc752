"""What is compared on one's own table: refold's detectors and those that others have.

Methods that know numbers alone are given categories as one feature for each value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from refold._typing import Floats
from refold.studies.tables.methods import METHODS as TABLE_METHODS
from refold.studies.tables.methods import (
    TableMethod,
    TableModel,
    detector,
    one_hot,
    one_hot_peer,
)

# Scores of ECOD change with the rows beside them: at a time so many for each training row.
_BESIDE, _FEWEST_BESIDE = 1 / 50, 20


def _few_at_a_time(method: TableMethod) -> TableMethod:
    """Return a method that sees only a few of the rows to judge at once."""

    def learn(train: Any, seed: int, alpha: float) -> TableModel:
        model, few = (
            method.learn(train, seed, alpha),
            max(_FEWEST_BESIDE, int(len(train) * _BESIDE)),
        )

        def score(rows: Any) -> Floats:
            parts = [rows.iloc[begin : begin + few] for begin in range(0, len(rows), few)]
            return np.concatenate([model.score(part) for part in parts])

        return model._replace(score=score)

    return replace(method, learn=learn, settings=f"{method.settings}, few at a time")


_ALL = (
    detector("Detector", "creased", "texts"),
    detector("Detector-ref", "ref", "texts"),
    one_hot("CreasedREF", "CreasedREF"),
    one_hot("REF", "REF-all"),
    one_hot_peer("kNN-1", "kNN-1", module="pyod"),
    one_hot_peer("kNN-5", "kNN-5", module="pyod"),
    TABLE_METHODS["skrub-kNN"],
    one_hot_peer("LOF", "LOF"),
    one_hot_peer("IsolationForest", "IsolationForest", imputes=False),
    TABLE_METHODS["isotree"],
    one_hot_peer("OneClassSVM", "OneClassSVM"),
    _few_at_a_time(one_hot_peer("ECOD", "ECOD", module="pyod")),
    one_hot_peer("HBOS", "HBOS", module="pyod"),
)

METHODS: dict[str, TableMethod] = {method.name: method for method in _ALL}
# What `refold fit` makes, and what it is asked for then.
FITTED = {"Detector": (), "Detector-ref": ("--method", "ref")}
