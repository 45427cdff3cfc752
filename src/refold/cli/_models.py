"""A model as the command line uses it: rows in by block, verdicts out."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from refold.base.needs import needs
from refold.tabular import Features, Table

if TYPE_CHECKING:
    from refold._typing import Floats
    from refold.explain import Explanation


class Judge:
    """A model that says of rows, given as plain arrays, how far out they are.

    Parameters
    ----------
    file : path
        A model file.
    """

    def __init__(self, file: Path) -> None:
        import refold

        self.model = refold.load(file)
        self.threshold = float(self.model.threshold_)
        self.alpha: float | None = self.model.alpha_
        names = getattr(self.model, "feature_names_in_", None)
        # Columns are put in the model's order by name here, so it need not look at names again.
        self.plain = copy(self.model)
        self.plain.__dict__.pop("feature_names_in_", None)
        count = self.model.n_features_in_
        self.names = [f"c{k}" for k in range(1, count + 1)] if names is None else list(names)
        self.calibrated = getattr(self.model, "calibration_", None) is not None

    def features_in(self, table: Table) -> Features:
        """Find the model's features in a table."""
        return Features([str(name) for name in self.names], table)

    def frame(self, X: Floats) -> Any:
        """Return rows with the names that the model asks for."""
        if not hasattr(self.model, "feature_names_in_"):
            return X
        return needs("pyarrow", "cli").table(list(X.T), names=[str(name) for name in self.names])

    def explain(self, rows: list[int], X: Floats, reasons: int | None) -> list[Explanation]:
        """Say why rows are what they are; `rows` are their numbers in the table."""
        from dataclasses import replace

        from refold.explain import explain

        if not rows:
            return []
        found = explain(self.model, self.frame(X), reasons=reasons)
        return [replace(one, row=row) for one, row in zip(found, rows, strict=True)]


@dataclass(frozen=True)
class Verdicts:
    """What a model says of the rows of a block; rows without any value cannot be judged.

    Parameters
    ----------
    judged : ndarray of bool
        Which rows have a value.
    distances : ndarray
        Of all rows; NaN for those not judged.
    outlier : ndarray of bool
        Which rows are farther out than the threshold.
    """

    judged: Any
    distances: Floats
    outlier: Any

    @classmethod
    def of(cls, judge: Judge, X: Floats) -> Verdicts:
        """Judge rows."""
        judged = ~np.isnan(X).all(axis=1)
        distances = np.full(len(X), np.nan)
        if judged.any():
            known = X if judged.all() else X[judged]
            distances[judged] = -judge.plain.score_samples(known)
        return cls(judged, distances, distances > judge.threshold)
