"""What a CreasedREF has learned, and judges by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from refold._typing import Floats, Integers
from refold.base.findings import Finding
from refold.base.learning import check_learned
from refold.columns.summary import Summary
from refold.decisions.thresholds import Calibration
from refold.models.creased import accepted
from refold.models.creased.creased_findings import far_cells, trimmed
from refold.models.creased.creases import Creases
from refold.models.creased.leverage import Sums
from refold.models.creased.scoring import NO_ROWS, Learned, Scoring
from refold.models.creased.state import Recipe, TrainingState
from refold.models.feedback import FeedbackMixin


class CreasedMixin(FeedbackMixin):
    """Keeps what was learned, says what of it is in use, and takes feedback about rows."""

    _learned: Learned
    _magnitudes: int = 0
    # What calibrate() has set, until the model learns again.
    _set_threshold: float | None
    _set_calibration: Calibration | None
    # What fit has noticed; None where rows came in parts.
    _noticed: tuple[Finding, ...] | None

    if TYPE_CHECKING:  # what the estimator brings
        n_creases: int | Literal["auto"]
        n_levels: int
        ridge: float
        box: float
        alpha: float | Literal["auto"]
        trim: float
        n_init: int
        random_state: int | np.random.RandomState | None
        n_jobs: int | None
        alpha_: float | None

    @property
    def creases_(self) -> Creases:
        """The frozen part; provisional as long as fewer than `n_init` rows were learned."""
        return self.scoring_.creases

    @property
    def sums_(self) -> Sums:
        """The sums over all rows learned."""
        check_is_fitted(self)
        with self._naming_columns():
            sums = self._learned.state.ready.sums
        assert sums is not None
        return sums

    @property
    def scoring_(self) -> Scoring:
        """What scores; after ``partial_fit`` it is made when asked for."""
        check_learned(self)
        with self._naming_columns():
            return self._learned.scoring

    @property
    def threshold_(self) -> float:
        """The threshold in use."""
        check_learned(self)
        return 1.0 if self._set_threshold is None else self._set_threshold

    @threshold_.setter
    def threshold_(self, value: float) -> None:
        self._set_threshold = value

    @property
    def calibration_(self) -> Calibration:
        """Distances of normal rows that the model has not seen."""
        scoring = self.scoring_
        return scoring.calibration if self._set_calibration is None else self._set_calibration

    @calibration_.setter
    def calibration_(self, value: Calibration) -> None:
        self._set_calibration = value

    @property
    def summary_(self) -> Summary:
        """What is remembered of the training rows, feature by feature."""
        check_is_fitted(self)
        summary = self._learned.state.summary
        if summary is None:
            raise ValueError(NO_ROWS)
        return summary

    @property
    def noticed_(self) -> tuple[Finding, ...]:
        """What was noticed about the table and the threshold."""
        found = vars(self).get("_noticed")
        return (*far_cells(self), *trimmed(self)) if found is None else found

    @noticed_.setter
    def noticed_(self, findings: tuple[Finding, ...]) -> None:
        self._noticed = findings

    def _recipe(self) -> Recipe:
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return Recipe(
            None if self.n_creases == "auto" else self.n_creases,
            self.n_levels,
            float(self.ridge),
            self.n_init,
            int(seed),
            float(self.box),
            magnitudes=self._magnitudes,
            trim=float(self.trim),
        )

    def _learn(self, state: TrainingState) -> None:
        alpha = None if self.alpha == "auto" else float(self.alpha)
        self._learned = Learned(state, alpha, float(self.ridge), self.n_jobs)
        self._set_threshold = self._set_calibration = None
        self._noticed, self.dropped_ = None, np.empty(0, dtype=np.int64)
        self.alpha_ = self._learned.rate

    def _with_accepted(self, base: Learned, rows: Floats, counts: Integers) -> Learned:
        return accepted.with_accepted_rows(base, rows, counts.astype(np.float64))

    def _with(self, state: TrainingState) -> Self:
        """Return a model with the same parameters and columns, and what was learned."""
        model = self._unfitted_copy()
        model._learn(state)
        return model
