"""Rows and what scoring says of them: distance, label, p-value, each column's part."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats, Integers
from refold.base.errors import TableError
from refold.models.detector.scorer import TableScorer
from refold.models.scoring import Attribution

if TYPE_CHECKING:
    from refold.judgement.judgement import Judge

Scored = TypeVar("Scored")

_NORMAL, _NOT_NORMAL, _NOT_JUDGED = np.int8(1), np.int8(-1), np.int8(0)


class ScoredRows:
    """Rows as a model takes them, scored at most once; errors name columns and rows."""

    def __init__(self, judge: Judge, rows: NDArray[Any], *, explained: bool) -> None:
        self.judge, self.rows, self.names = judge, rows, judge.names
        self._together = explained and judge.scorer.additive
        self._attribution: Attribution | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def judged(self) -> Booleans:
        """Which rows have a value, or are judged without any, as by a Detector."""
        if isinstance(self.judge.scorer, TableScorer):
            return np.ones(len(self.rows), dtype=np.bool_)
        return np.asarray(~np.isnan(self.rows).all(axis=1))

    @cached_property
    def _all_judged(self) -> bool:
        """Whether every row has a value: nearly always, and then there is less to do."""
        return bool(self.judged.all())

    @cached_property
    def distances(self) -> Floats:
        """How far out each row is."""
        if self._together:
            self.attribution()
        if self._attribution is not None:
            return self._attribution.distances
        return self._spread(self._scored(self.judge.scorer.distances, np.empty(0)), np.nan)

    @cached_property
    def outlier(self) -> Booleans:
        """Which rows are farther out than the threshold."""
        return np.asarray(self.distances > self.judge.threshold)

    @cached_property
    def labels(self) -> NDArray[np.int8]:
        """1 for normal, -1 for not, 0 for rows that are not judged."""
        labels = np.where(self.outlier, _NOT_NORMAL, _NORMAL)
        return labels if self._all_judged else np.where(self.judged, labels, _NOT_JUDGED)

    @cached_property
    def p_values(self) -> Floats | None:
        """How rare each distance is among normal rows; None if the model is not calibrated."""
        if self.judge.calibration is None:
            return None
        p = self.judge.calibration.p_values(self.distances)
        return p if self._all_judged else np.where(self.judged, p, np.nan)

    @property
    def worst_first(self) -> Integers:
        """Which rows are outliers, the farthest out first."""
        out = np.flatnonzero(self.outlier)
        return out[np.argsort(-self.distances[out], kind="stable")]

    def attribution(self) -> Attribution:
        """Return the part of each feature in the distances; rows not judged have none (0)."""
        if self._attribution is None:
            nothing = np.empty((0, len(self.names)))
            found = self._scored(self.judge.scorer.attribution, Attribution(np.empty(0), nothing))
            self._attribution = Attribution(
                self._spread(found.distances, np.nan),
                self._spread(found.parts, 0.0),
                None if found.expected is None else self._spread(found.expected, np.nan),
                None if found.alone is None else self._spread(found.alone, 0.0),
            )
        return self._attribution

    def _scored(self, score: Callable[[Any], Scored], nothing: Scored) -> Scored:
        """Score the rows that have a value; errors name columns, and rows by their place."""
        judged = self.judged
        if not np.count_nonzero(judged):
            return nothing
        try:
            return score(self.rows if self._all_judged else self.rows[judged])
        except TableError as error:
            row = None if error.row is None else int(np.flatnonzero(judged)[error.row])
            raise TableError(
                error.problem, row=row, column=error.column, names=self.names
            ) from None

    def _spread(self, values: Floats, otherwise: float) -> Floats:
        """Give what was found for the judged rows to these, and something else to the others."""
        if self._all_judged:
            return values
        spread = np.full((len(self.rows), *values.shape[1:]), otherwise)
        spread[self.judged] = values
        return spread
