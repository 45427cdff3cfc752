"""A ready CreasedREF as other rooms see it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.models.creased import _reasons, _rows
from refold.models.creased._judge import Judge
from refold.models.creased._threads import blas_threads
from refold.models.scoring import Attribution


@dataclass(frozen=True, eq=False)
class CreasedScorer:
    """Leverage scores in units of their threshold.

    Parameters
    ----------
    judge : Judge
        What was learned.
    n_jobs : int or None
        Threads of the linear algebra.
    """

    judge: Judge
    n_jobs: int | None

    additive: ClassVar[bool] = False
    unexplained: ClassVar[str] = ""

    def distances(self, X: NDArray[Any]) -> Floats:
        """Return each row's distance."""
        _rows.check(X)
        with blas_threads(self.n_jobs):
            return self.judge.distances(X)

    def attribution(self, X: NDArray[Any]) -> Attribution:
        """Return the drops in distance had each feature the value that was expected."""
        _rows.check(X)
        with blas_threads(self.n_jobs):
            found = _reasons.reasons(self.judge, X, [])
        return Attribution(found.distance, np.maximum(found.drop, 0.0), found.expected)

    def on_threads(self, n_jobs: int | None) -> CreasedScorer:
        """Return one that uses so many threads."""
        return replace(self, n_jobs=n_jobs)
