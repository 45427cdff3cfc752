"""What estimators have in common that learn from a table in parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from math import ceil
from typing import Any

import numpy as np

from refold._typing import Floats
from refold.base.findings import Finding
from refold.base.needs import needs
from refold.columns.table import Table
from refold.decisions.noticed import ties
from refold.decisions.thresholds import Calibration
from refold.models.parts.drawn import Header, matrix
from refold.models.parts.look import FirstLook, Look

# The most rows that are held out, unless a small alpha needs more; a table of no more than these is
# learned as ``fit`` does, which makes more of few rows.
HELD_OUT = 20_000
# One row in so many is held out, and so many for each that may be rejected.
_ONE_IN, _FOR_EACH = 10, 2


class Learner(ABC):
    """Teaches one model.

    Parameters
    ----------
    model : REF, CreasedREF or Detector
        Its parameters have been checked. It is what changes.
    header : Header
        What the columns are called.
    """

    model: Any

    def __init__(self, model: Any, header: Header) -> None:
        self.model, self.header = model, header
        if model.trim > 0.0:
            raise ValueError(
                f"trim={model.trim:g} is not for parts that are learned at the same time: use fit "
                "or partial_fit, or set trim=0."
            )
        model._forget_feedback()
        model.dropped_ = np.empty(0, dtype=np.int64)
        self._take_names()
        self._check()

    @property
    @abstractmethod
    def alpha(self) -> float | None:
        """The rate that rows are held out for; None is none."""

    @property
    def n_init(self) -> int:
        """How many rows decide what is frozen before all are counted."""
        return 0

    @property
    def first(self) -> FirstLook:
        """What is done with each part first."""
        return FirstLook(max(HELD_OUT, self._least) + self.n_init)

    def held_out(self, rows: int) -> int:
        """Return how many of so many rows are held out; refuse a rate that needs too many."""
        if self.alpha is None:
            return 0
        if 2 * self._least > rows:
            raise ValueError(
                f"alpha={self.alpha:g} needs at least {2 * self._least:,} rows, half of which are "
                f"held out to set the threshold; there are {rows:,}. Add rows, or allow a larger "
                "alpha."
            )
        return max(min(rows // _ONE_IN, HELD_OUT), self._least)

    @abstractmethod
    def fit(self, rows: Table) -> None:
        """Learn from all rows of a small table."""

    @abstractmethod
    def frozen(self, look: Look, held: int) -> Any:
        """Return what counts the rows of each part then; None if that has been done."""

    @abstractmethod
    def learn(self, look: Look, held: int, counted: Any) -> None:
        """Learn from what was found in all parts."""

    def _check(self) -> None:  # noqa: B027 - not every model has some
        """Refuse parameters with which the model cannot be learned from parts."""

    @property
    def _least(self) -> int:
        return 0 if self.alpha is None else ceil(_FOR_EACH / self.alpha)

    def _take_names(self) -> None:
        """Let the model know its columns."""
        self.model.n_features_in_ = len(self.header.names)
        self.model.__dict__.pop("feature_names_in_", None)
        if self.header.named:
            self.model.feature_names_in_ = np.array(self.header.names, dtype=object)

    def _of_threshold(self) -> Iterator[Finding]:
        """Say what is to be noticed of the threshold."""
        if self.model.alpha_ is not None:
            found = ties(self.model.calibration_, self.model.threshold_, self.model.alpha_)
            yield from filter(None, [found])


class NumberLearner(Learner):
    """Teaches a model whose columns are all numbers."""

    def fit(self, rows: Table) -> None:
        """Learn from all rows of a small table."""
        X: Any = matrix(rows)
        if self.header.named:
            X = needs("pyarrow", "parquet").table([*X.T], names=list(self.header.names))
        self.model.fit(X)


def held_out(distances: Floats) -> Calibration:
    """Return the calibration by rows that were held out."""
    return Calibration.of(np.asarray(distances), None, "held-out")


def observed(X: Floats) -> Floats:
    """Return the rows that have a value: others have no distance."""
    return X[~np.isnan(X).all(axis=1)]
