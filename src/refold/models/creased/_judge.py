"""From what was seen to a distance: the score in units of its leave-one-out threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.decisions.thresholds import Calibration
from refold.models.creased._creases import Creases
from refold.models.creased._leverage import Leverage
from refold.models.creased._seen import Seen

# Leave-one-out scores that are kept one by one before they are thinned out.
_AT_ONCE = 2**18


@dataclass(frozen=True, eq=False)
class Judge:
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
        cls, seen: Seen, X: NDArray[Any], weights: Floats, *, alpha: float, ridge: float
    ) -> Judge:
        """Factor the sums and calibrate on rows that are in them."""
        assert seen.creases is not None
        assert seen.sums is not None
        leverage = Leverage.of(seen.sums, ridge)
        left_out = _left_out(seen.creases, leverage, X, weights)
        unit = left_out.threshold(alpha)
        calibration = Calibration(left_out.scores / unit, left_out.weights, left_out.source)
        return cls(seen.creases, leverage, unit, calibration)

    def distances(self, X: NDArray[Any]) -> Floats:
        """Return s/T of each row."""
        return _scores(self.creases, self.leverage, X) / self.unit


def _scores(creases: Creases, leverage: Leverage, X: NDArray[Any]) -> Floats:
    out = np.empty(len(X))
    for part, phi in creases.features(X):
        out[part] = leverage.scores(phi)[: part.stop - part.start]
    return out


def _left_out(
    creases: Creases, leverage: Leverage, X: NDArray[Any], weights: Floats
) -> Calibration:
    """Return the leave-one-out scores of rows; memory hardly grows with their number."""
    parts = []
    for begin in range(0, len(X), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        w = weights[part]
        scores = leverage.left_out(_scores(creases, leverage, X[part]), w)
        parts.append(Calibration.of(scores[w > 0.0], w[w > 0.0], "leave-one-out"))
    if len(parts) == 1:
        return parts[0]
    scores = np.concatenate([part.scores for part in parts])
    counts = np.concatenate([part.weights for part in parts])
    return Calibration.of(scores, counts, "leave-one-out")
