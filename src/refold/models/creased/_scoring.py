"""From what was learned to a distance: the score in units of its leave-one-out threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.base.once import once
from refold.columns.frames import check_enough
from refold.decisions.thresholds import Calibration
from refold.models.creased._blas import one_thread
from refold.models.creased._creases import Creases
from refold.models.creased._leverage import Leverage
from refold.models.creased._rows import on_threads
from refold.models.creased._state import TrainingState

NO_ROWS = "The model has creases but has not learned any rows yet: call partial_fit first."
# Leave-one-out scores that are kept one by one before they are thinned out.
_AT_ONCE = 2**18


@dataclass(frozen=True, eq=False)
class Scoring:
    """Gives distances.

    Parameters
    ----------
    creases : Creases
        A row's features.
    leverage : Leverage
        Their score s.
    unit : float
        T, the leave-one-out score that a normal row exceeds with probability alpha.
    calibration : Calibration
        The leave-one-out scores over T.
    """

    creases: Creases
    leverage: Leverage
    unit: float
    calibration: Calibration

    @classmethod
    def of(
        cls,
        state: TrainingState,
        X: NDArray[Any],
        weights: Floats,
        *,
        alpha: float,
        ridge: float,
        n_jobs: int | None,
    ) -> Scoring:
        """Factor the sums and calibrate on rows that are in them."""
        creases, leverage = _factored(state, ridge)
        left_out = _left_out(creases, leverage, X, weights, n_jobs)
        unit = left_out.threshold(alpha)
        calibration = Calibration(left_out.scores / unit, left_out.weights, left_out.source)
        return cls(creases, leverage, unit, calibration)

    @one_thread
    def distances(self, X: NDArray[Any], n_jobs: int | None = None) -> Floats:
        """Return s/T of each row."""
        return _scores(self.creases, self.leverage, X, n_jobs) / self.unit


@dataclass(frozen=True, eq=False)
class Unit:
    """What a scoring was calibrated to, for making it again.

    Parameters
    ----------
    ridge : float
        The leverage's.
    unit : float, calibration : Calibration
        The scoring's.
    """

    ridge: float
    unit: float
    calibration: Calibration

    @one_thread
    def scoring(self, state: TrainingState) -> Scoring:
        """Return the scoring of what was learned."""
        return Scoring(*_factored(state, self.ridge), self.unit, self.calibration)


@dataclass(frozen=True, eq=False)
class Learned:
    """What CreasedREF has learned, and how it scores; threads share it without a lock.

    Parameters
    ----------
    state : TrainingState
        What is kept of the rows.
    alpha : float, ridge : float, n_jobs : int or None
        CreasedREF's parameters when it learned.
    unit : Unit or None
        What it was calibrated to before it went through a file.
    """

    state: TrainingState
    alpha: float
    ridge: float
    n_jobs: int | None
    unit: Unit | None = None

    @once
    def scoring(self) -> Scoring:
        """What gives distances, calibrated on the sample unless ``fit`` did so on all rows."""
        if self.unit is not None:
            return self.unit.scoring(self.state)
        return self.calibrated(self.state.sample.rows, self.state.sample.weights)

    @one_thread
    def calibrated(self, X: NDArray[Any], weights: Floats) -> Scoring:
        """Return the scoring by leave-one-out scores of rows that were learned."""
        return Scoring.of(
            self.state, X, weights, alpha=self.alpha, ridge=self.ridge, n_jobs=self.n_jobs
        )


def _factored(state: TrainingState, ridge: float) -> tuple[Creases, Leverage]:
    if state.sketch is None:
        raise ValueError(NO_ROWS)
    rows, weight = state.sketch.rows, state.weight
    check_enough(rows, None if weight == rows else weight)
    ready = state.ready
    assert ready.creases is not None
    assert ready.sums is not None
    return ready.creases, Leverage.of(ready.sums, ridge)


def _scores(creases: Creases, leverage: Leverage, X: NDArray[Any], n_jobs: int | None) -> Floats:
    def work(rows: NDArray[Any]) -> Floats:
        out = np.empty(len(rows))
        for part, phi in creases.features(rows):
            out[part] = leverage.scores(phi)[: part.stop - part.start]
        return out

    return np.concatenate(on_threads(work, X, n_jobs))


def _left_out(
    creases: Creases, leverage: Leverage, X: NDArray[Any], weights: Floats, n_jobs: int | None
) -> Calibration:
    """Return the leave-one-out scores of rows; memory hardly grows with their number."""
    parts = []
    for begin in range(0, len(X), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        w = weights[part]
        scores = leverage.left_out(_scores(creases, leverage, X[part], n_jobs), w)
        parts.append(Calibration.of(scores[w > 0.0], w[w > 0.0], "leave-one-out"))
    if len(parts) == 1:
        return parts[0]
    scores = np.concatenate([part.scores for part in parts])
    counts = np.concatenate([part.weights for part in parts])
    return Calibration.of(scores, counts, "leave-one-out")
