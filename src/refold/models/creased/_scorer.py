"""A ready CreasedREF as other rooms see it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats, Integers
from refold.models.creased import _reasons, _rows
from refold.models.creased._scoring import Scoring
from refold.models.scoring import Attribution


@dataclass(frozen=True, eq=False)
class CreasedScorer:
    """Leverage scores in units of their threshold."""

    scoring: Scoring  # What was learned
    n_jobs: int | None  # Threads
    # The columns that features are made of, whose parts are then by column; the last features are
    # these columns' magnitudes. None if each feature is its own.
    owners: Integers | None = None

    additive: ClassVar[bool] = False
    unexplained: ClassVar[str] = ""

    def distances(self, X: NDArray[Any]) -> Floats:
        """Return each row's distance."""
        return self.scoring.distances(X, self.n_jobs)

    def attribution(self, X: NDArray[Any]) -> Attribution:
        """Return the drops in distance had each feature the value that was expected."""
        _rows.check(X)
        found = _reasons.reasons(self.scoring, X, [], self.n_jobs, self.owners)
        parts = np.maximum(found.drop, found.alone)
        return Attribution(found.distance, parts, found.expected, found.alone)

    def on_threads(self, n_jobs: int | None) -> CreasedScorer:
        """Return one that uses so many threads."""
        return replace(self, n_jobs=n_jobs)
